// Scene 4: groups that are all wrong or all right are paid for and teach nothing.
import { svg } from "./dom.js";
import { scaleOf } from "./chart.js";
import { Picture, label, mean, percent } from "./story_parts.js";
import { EASIEST, HARDEST } from "./toy.js";

const PROBLEMS = 60,
  AXIS = scaleOf({ kind: "logit", domain: [1e-3, 0.999] });
const ends = [HARDEST, EASIEST].map((p) => AXIS.at(p));

/** The pass rates of the problems: those of the first screen at its start, even in log-odds. */
export const POPULATION = Array.from({ length: PROBLEMS }, (_, i) =>
  AXIS.value(ends[0] + ((ends[1] - ends[0]) * i) / (PROBLEMS - 1)),
);

/** The shares of groups of N that are all wrong and all right, over the population. */
export const shares = (N) => [mean(POPULATION.map((p) => (1 - p) ** N)), mean(POPULATION.map((p) => p ** N))];

export const dead = {
  name: "dead-groups",
  short: "Dead groups",
  title: "Dead groups: all wrong or all right, paid for and worth nothing",
  lead:
    "The tries at one problem in one round are a group. A group teaches by the contrast of right and wrong " +
    "answers; without contrast it is dead. Above every difficulty stands its share of dead groups. Drag for larger ones.",
  key: "N",
  drag: {
    name: "Tries in a group",
    values: [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256],
    start: 8,
    ends: ["few", "many"],
    say: (N) => `N = ${N}`,
  },
  about: [
    "The chance that a group of N is all wrong is (1 − p)^N, all right p^N, exactly. The ticks below are the 60 " +
      "problems of the first screen before its first round; the shares in the sentence are means over them.",
    "Estimators differ in what they do with dead groups: most pay nothing, some push all wrong answers down.",
  ],
  workbench: (N) => ({ N, quantity: "mass" }),

  build(view) {
    const p = Array.from({ length: 201 }, (_, i) => AXIS.value(i / 200));
    const picture = new Picture(
      "share of groups that are all wrong, mixed and all right, by pass rate",
      (width, height) => {
        const N = view.value,
          left = 46,
          right = width - 10,
          top = 8,
          base = height - 44,
          x = (value) => left + AXIS.at(value) * (right - left),
          y = (share) => base - share * (base - top);
        const area = (low, high, name) => {
          const way = (f, points) =>
            points.map((value) => `${x(value).toFixed(1)} ${y(f(value)).toFixed(1)}`).join("L");
          return svg("path", { d: `M${way(low, p)}L${way(high, p.toReversed())}z`, class: name });
        };
        const wrong = (value) => (1 - value) ** N,
          solved = (value) => 1 - value ** N;
        const half = (f) => p.find((value) => f(value));
        const lives = Math.sqrt((half((v) => wrong(v) < 0.5) ?? 0.1) * (half((v) => solved(v) < 0.5) ?? 0.9));
        return [
          area(() => 0, wrong, "dead-wrong"),
          area(wrong, solved, "alive"),
          area(solved, () => 1, "dead-right"),
          ...[0, 0.5, 1].flatMap((share) => [
            svg("line", { x1: left, x2: right, y1: y(share), y2: y(share), class: share ? "grid" : "axis" }),
            label(percent(share), left - 6, y(share) + 4, { "text-anchor": "end", class: "small" }),
          ]),
          ...POPULATION.map((value) =>
            svg("line", { x1: x(value), x2: x(value), y1: base + 2, y2: base + 9, class: "tick" }),
          ),
          ...[
            [1e-3, "1 in 1,000"],
            [0.1, "10 %"],
            [0.5, "half"],
            [0.9, "90 %"],
          ].map(([value, words]) =>
            label(words, x(value), base + 24, { "text-anchor": value < 0.01 ? "start" : "middle", class: "small" }),
          ),
          label("how often solved; a tick is a problem", (left + right) / 2, height - 4, {
            "text-anchor": "middle",
            class: "small",
          }),
          label("all wrong", left + 12, base - 12, { class: "on wrong" }),
          label("teaches", x(Math.min(0.9, Math.max(0.05, lives))), (top + base) / 2, { "text-anchor": "middle" }),
          label("all right", right - 8, top + 20, { "text-anchor": "end", class: "on right" }),
        ];
      },
    );
    return {
      picture: picture.element,
      draw() {
        picture.draw();
        const [wrong, right] = shares(view.value);
        view.say(
          `With groups of ${view.value}, ${percent(wrong, 1)} of all groups are all wrong and ` +
            `${percent(right, 1)} all right: ${percent(wrong + right, 1)} of the tries teach nothing.`,
        );
      },
    };
  },
};
