// Scene 2: what N tries give leaves what a method promises, from about p = 1/N down.
import { Grid, LIMITS, QUANTITIES, passRates } from "./mathematics.js";
import { onGround } from "./looks.js";
import { ESTIMATORS, coefficients, resolve } from "./specs.js";
import { ChartPicture, figure, isDark, label, percent } from "./story_parts.js";
import { THEMES, scaleOf } from "./chart.js";
import { svg } from "./dom.js";

const SPEC = "maxrl",
  RARE = 0.001,
  LOUD = figure(1 / RARE),
  X = { kind: "log", domain: [1e-4, 1], label: "how often a problem is solved (pass rate p)" },
  TALL = 18, // pixels of a strip, with what is between two
  CELLS = Array.from({ length: 60 }, (_, i) => scaleOf(X).value((i + 0.5) / 60)); // pass rates along a strip

/** The weight of pass rates p at N. */
export const weight = (p, N) => QUANTITIES.weight(new Grid(p), coefficients(resolve(ESTIMATORS, SPEC), N));

/** How often problems of pass rates p are heard: their weight over how loud they are then, 1/p. */
export const heard = (p, N) => weight(p, N).map((w, i) => w * p[i]);

/** Strips on the axis of a chart: of each its words, and how strong it is at every cell. */
function linked(chart, strips) {
  const { left, width } = chart.box,
    rare = chart.x(RARE),
    wide = width / CELLS.length;
  return [
    ...strips.flatMap(([words, strengths], row) => [
      ...Array.from(strengths, (strength, i) =>
        svg("rect", {
          x: left + wide * i,
          y: row * TALL,
          width: wide,
          height: TALL - 4,
          class: "right",
          "fill-opacity": Math.max(0, Math.min(1, strength)),
          "shape-rendering": "crispEdges", // no seams
        }),
      ),
      svg("rect", { x: left, y: row * TALL, width, height: TALL - 4, fill: "none", class: "axis" }),
      label(words, rare + 6, row * TALL + 11, { class: "small over" }), // of problems there
    ]),
    svg("line", { x1: rare, x2: rare, y1: 0, y2: strips.length * TALL, class: "tick" }),
  ];
}

export const limit = {
  name: "limit",
  short: "N and its limit",
  title: "The promise breaks where problems are solved less than once in N tries",
  lead:
    "A method called MaxRL, the right end of the first slider, promises that a problem solved 1 time in 100 " +
    "pulls on the model 100 times as hard as one that is always solved (dashed). The solid line is what N tries " +
    "deliver. Drag for more tries.",
  key: "N",
  drag: {
    name: "Tries in a round",
    values: [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
    start: 16,
    ends: ["few", "many"],
    say: (N) => `N = ${N}`,
  },
  about: [
    "How hard a problem of pass rate p pulls is its weight w(p): the expected update is w(p) times the gradient " +
      "of p. MaxRL's limit is 1/p; at N rollouts its weight is (1 − (1 − p)^(N−1))/p, a polynomial in p, which " +
      "ends at N − 1. The first factor is the chance that N − 1 tries hold a right one: that the problem is heard.",
    "Whatever the method, the weight that N rollouts give is such a polynomial, of degree N − 1 at most. The " +
      "workbench draws that of every estimator.",
  ],
  workbench: (N) => ({ N, curves: [SPEC] }),

  build(view) {
    const p = passRates("log"),
      promised = LIMITS.weight(p, resolve(ESTIMATORS, SPEC).entry.limit({}));
    const spec = () => {
      const theme = THEMES[isDark() ? "dark" : "light"],
        color = onGround("#c42d08", isDark()),
        N = view.value,
        flat = Math.sqrt(1e-4 * Math.min(1 / N, 0.5));
      picture.chart.theme = theme;
      return {
        x: X,
        y: { kind: "log", domain: [0.5, 2000], label: "how hard it pulls" },
        bands: [[1e-4, 1 / N]],
        mark: RARE,
        lines: [
          { x: p, y: promised, color: theme.muted, dash: [4, 3], width: 2, name: "promise" },
          { x: p, y: weight(p, N), color, width: 3, name: "given" },
        ],
        texts: [
          { x: 0.0016, y: 900, words: "the promise, 1/p", color: theme.muted },
          { x: flat, y: weight([flat], N)[0], words: `${N} tries`, color, dy: -10, anchor: "middle" },
        ],
      };
    };
    // Loudness in powers of ten, so that what is not heard is what a strip lacks against the one above it.
    const loud = (w) => Math.log10(w) / 4;
    const strips = (chart) => {
      const N = view.value,
        [rare] = heard([RARE], N);
      return linked(chart, [
        [`how often heard: ${percent(rare, 1)}`, heard(CELLS, N)],
        [`× how loud when heard: ${LOUD}`, CELLS.map((p) => loud(1 / p))],
        [`= how hard it pulls: ${figure(rare / RARE)}`, weight(CELLS, N).map(loud)],
      ]);
    };
    const picture = new ChartPicture("weight by pass rate: the promise and what N tries give", spec, {
      height: 3 * TALL,
      label: "how often heard, how loud when heard, and their product",
      paint: strips,
    });
    return {
      picture: picture.element,
      draw() {
        picture.draw();
        const N = view.value;
        view.say(
          `With ${N} tries, a problem solved 1 time in ${LOUD} pulls ${figure(weight([RARE], N)[0])} times as ` +
            `hard as one that is always solved, not ${LOUD} times. In the shaded part, below 1 in ${N}, the line ` +
            "goes flat: rare and very rare problems look alike.",
        );
      },
    };
  },
};
