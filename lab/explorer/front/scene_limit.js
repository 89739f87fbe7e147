// Scene 2: what N tries give leaves what a method promises, from about p = 1/N down.
import { Grid, LIMITS, QUANTITIES, passRates } from "./mathematics.js";
import { onGround } from "./looks.js";
import { ESTIMATORS, coefficients, resolve } from "./specs.js";
import { ChartPicture, figure, isDark } from "./story_parts.js";
import { THEMES } from "./chart.js";

const SPEC = "maxrl",
  RARE = 0.001;

/** The weight of pass rates p at N. */
export const weight = (p, N) => QUANTITIES.weight(new Grid(p), coefficients(resolve(ESTIMATORS, SPEC), N));

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
      "ends at N − 1.",
    "Whatever the method, the weight that N rollouts give is such a polynomial, of degree N − 1 at most. The " +
      "workbench draws that of every estimator.",
  ],
  workbench: (N) => ({ N, curves: [SPEC] }),

  build(view) {
    const p = passRates("log"),
      promised = LIMITS.weight(p, resolve(ESTIMATORS, SPEC).entry.limit({}));
    const picture = new ChartPicture("weight by pass rate: the promise and what N tries give", () => {
      const theme = THEMES[isDark() ? "dark" : "light"],
        color = onGround("#c42d08", isDark()),
        N = view.value,
        flat = Math.sqrt(1e-4 * Math.min(1 / N, 0.5));
      picture.chart.theme = theme;
      return {
        x: { kind: "log", domain: [1e-4, 1], label: "how often a problem is solved (pass rate p)" },
        y: { kind: "log", domain: [0.5, 2000], label: "how hard it pulls" },
        bands: [[1e-4, 1 / N]],
        lines: [
          { x: p, y: promised, color: theme.muted, dash: [4, 3], width: 2, name: "promise" },
          { x: p, y: weight(p, N), color, width: 3, name: "given" },
        ],
        texts: [
          { x: 0.0016, y: 900, words: "the promise, 1/p", color: theme.muted },
          { x: flat, y: weight([flat], N)[0], words: `${N} tries`, color, dy: -10, anchor: "middle" },
        ],
      };
    });
    return {
      picture: picture.element,
      draw() {
        picture.draw();
        const N = view.value;
        view.say(
          `With ${N} tries, a problem solved 1 time in 1,000 pulls ${figure(weight([RARE], N)[0])} times as ` +
            `hard as one that is always solved, not 1,000 times. In the shaded part, below 1 in ${N}, the line ` +
            "goes flat: rare and very rare problems look alike.",
        );
      },
    };
  },
};
