// Scene 1: a hard problem is solved in few rounds, and the rounds without a right answer teach nothing.
import { svg } from "./dom.js";
import { Picture, percent } from "./story_parts.js";
import { uniforms } from "./toy.js";

export const P = 0.01,
  ROUNDS = 20,
  SEED = 0;

const pixel = (x) => x.toFixed(2);
const COLUMNS = [4, 5, 7, 10, 20];

/** Whether each of N tries is right, a row a round. More tries are the same tries and some more. */
export const rounds = (N) =>
  Array.from({ length: ROUNDS }, (_, round) => Array.from(uniforms(SEED, 0, round, N), (u) => u < P));

export const unseen = {
  name: "unseen",
  short: "What N does",
  title: "The hard problem that training never sees",
  lead:
    "One problem that the model solves once in 100 tries. Each box is a round, each small square a try. A box " +
    "with a right try has a solid frame. In all others every try is wrong: nothing tells the model which way to " +
    "go. Drag N, the number of tries in a round.",
  key: "N",
  drag: {
    name: "Tries in a round",
    values: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    start: 8,
    ends: ["few", "many"],
    say: (N) => `N = ${N}`,
  },
  about: [
    "Each try is right with probability p = 0.01, independently; the squares are drawn with the page's own " +
      "random numbers. The chance that all of N tries are wrong is (1 − p)^N, exactly.",
    "The N tries of one problem in one round are called a group, and N the number of rollouts; p is the pass rate.",
  ],
  workbench: (N) => ({ panel: "toy", N: Math.max(2, N) }),

  build(view) {
    const picture = new Picture("twenty rounds as boxes, each try a square, right tries marked", (width, height) => {
      const sizeOf = (across) => Math.min(width / across, height / Math.ceil(ROUNDS / across)),
        across = COLUMNS.reduce((best, count) => (sizeOf(count) > sizeOf(best) ? count : best)),
        down = Math.ceil(ROUNDS / across),
        size = sizeOf(across),
        left = (width - size * across) / 2,
        top = (height - size * down) / 2,
        inner = size - 10,
        side = Math.ceil(Math.sqrt(view.value)),
        cell = inner / side;
      return rounds(view.value).flatMap((tries, round) => {
        const x = left + size * (round % across) + 5,
          y = top + size * Math.floor(round / across) + 5,
          seen = tries.includes(true);
        const square = (i) => {
          const place = [x + cell * ((i % side) + 0.12), y + cell * (Math.floor(i / side) + 0.12)];
          return `M${place.map(pixel).join(" ")}h${pixel(0.76 * cell)}v${pixel(0.76 * cell)}h${pixel(-0.76 * cell)}z`;
        };
        const squares = (kind) => tries.map((right, i) => (right === kind ? square(i) : "")).join("");
        return [
          svg("rect", { x: x - 2, y: y - 2, width: inner + 4, height: inner + 4, class: seen ? "box seen" : "box" }),
          svg("path", { d: squares(false), class: "wrong" }),
          svg("path", { d: squares(true), class: "right" }),
        ];
      });
    });
    return {
      picture: picture.element,
      draw() {
        const N = view.value,
          seen = rounds(N).filter((tries) => tries.includes(true)).length;
        picture.draw();
        view.say(
          `With ${N} ${N === 1 ? "try" : "tries"} a round, ${seen} of these ${ROUNDS} rounds ` +
            `${seen === 1 ? "contains" : "contain"} a right answer. In the long run ` +
            `${percent((1 - P) ** N)} contain none, and teach nothing.`,
        );
      },
    };
  },
};
