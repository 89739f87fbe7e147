// The ending: the dots of the first screen, trained by the weight that the reader drew, beside three methods.
import { h, svg } from "./dom.js";
import { fitted } from "./scene_draw.js";
import { HARD, Player, RUN, dots, history, sequencesOf, solved } from "./scene_start.js";
import { Picture, label } from "./story_parts.js";

const METHODS = [
  ["RL", "rloo"],
  ["GRPO", "grpo"],
  ["MaxRL", "maxrl"],
];
const STEP = RUN.rounds / 20; // of the slider
const KNOWN = new Map(); // the runs of the methods, which no drawing changes

function known(spec) {
  if (!KNOWN.has(spec)) KNOWN.set(spec, history(sequencesOf(spec)));
  return KNOWN.get(spec);
}

/** The runs by name: that of the drawn weight first. */
export const runs = (points) => [
  ["your weight", history(fitted(points, RUN.rollouts))],
  ...METHODS.map(([name, spec]) => [name, known(spec)]),
];

export const ending = {
  name: "ending",
  short: "Train with it",
  title: "Now train with your weight: which problems does it learn?",
  lead:
    "The problems of the first screen again, four times. One model is pulled by the weight that you drew, the " +
    "others by three methods from papers. They try the same problems with the same luck. Press Train, or drag.",
  key: "round",
  drag: {
    name: "Rounds of practice",
    values: Array.from({ length: 21 }, (_, i) => i * STEP),
    start: 0,
    ends: ["before", "after"],
    say: (round) => `${round} of ${RUN.rounds}`,
  },
  about: [
    `The run of the first screen: ${RUN.problems} problems, ${RUN.rollouts} tries at each in a round, the same random ` +
      "numbers and the same length of every step over all problems together. Your weight is the nearest that " +
      `${RUN.rollouts} tries can give; what a right and a wrong answer get follows from it.`,
    "With one line of Python the same weight trains your own model: the workbench shows it.",
  ],
  workbench: (_, { points }) => ({ panel: "draw", N: RUN.rollouts, points }),

  build(view) {
    const all = runs(view.points),
      picture = new Picture("every problem as a dot, four times: trained by your weight, RL, GRPO and MaxRL", paint),
      player = new Player(view, () => picture.element, show, "Train");
    let dragged = null;

    function paint(width, height) {
      const columns = width < 520 ? 2 : 4,
        rows = all.length / columns,
        [wide, high] = [width / columns, height / rows];
      return all.flatMap(([name, seen], k) => {
        const left = (k % columns) * wide + 6,
          top = Math.floor(k / columns) * high + 26,
          base = top + high - 34,
          x = (i) => left + 3 + ((i + 0.5) * (wide - 18)) / RUN.problems,
          y = (p) => base - p * (base - top),
          edge = (x(HARD - 1) + x(HARD)) / 2;
        return [
          svg("rect", { x: left, y: top - 4, width: edge - left, height: base - top + 4, class: "band" }),
          ...[1, 0.5, 0].map((p) =>
            svg("line", { x1: left, x2: left + wide - 12, y1: y(p), y2: y(p), class: p ? "grid" : "axis" }),
          ),
          label(name, left, top - 9, k ? {} : { class: "hard" }),
          ...dots(seen[player.round], seen[0], x, y, Math.max(1.6, Math.min(4, wide / RUN.problems / 2.3))),
        ];
      });
    }

    const counts = () => all.map(([name, seen]) => [name, ...solved(seen[player.round])]);

    function show() {
      picture.draw();
      view.value = dragged = Math.round(player.round / STEP) * STEP;
      view.slider.show(view.value); // it follows the run
      const [mine, ...others] = counts();
      view.say(
        `After ${player.round} rounds your weight solves ${mine[1]} of the ${HARD} hardest problems more often than not, ` +
          `and ${mine[2]} of the other ${RUN.problems - HARD}; ` +
          `${others.map(([name, hard, rest]) => `${name} ${hard} and ${rest}`).join(", ")}.`,
      );
    }

    /** What one may send to others, with the address of the drawing. */
    function line() {
      const [mine, ...others] = counts();
      return (
        `I drew a weight. After ${player.round} rounds it solves ${mine[1]} of the ${HARD} hardest problems; ` +
        `${others.map(([name, hard]) => `${name} solves ${hard}`).join(", ")}. ${view.bench.href}`
      );
    }

    return {
      picture: picture.element,
      line,
      below: h("div", { class: "row" }, player.button, h("a", { href: "#draw" }, "Draw another weight")),
      draw() {
        if (view.value !== dragged) {
          [player.playing, player.round, dragged] = [false, view.value, view.value];
        }
        player.draw();
      },
    };
  },
};
