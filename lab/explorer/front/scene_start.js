// The first screen: a population of problems that is being learned, and what becomes of the hard ones.
import { h, svg } from "./dom.js";
import { ESTIMATORS, coefficients, resolve } from "./specs.js";
import { Picture, isStill, label, mean, percent } from "./story_parts.js";
import { EASIEST, HARDEST, Policy, uniforms } from "./toy.js";

/** The run; a test runs it in Python. */
export const RUN = { problems: 60, rollouts: 16, length: 0.05, seed: 0, rounds: 200 };
export const HARD = RUN.problems / 4;
const SECONDS = 9;
export const sequencesOf = (spec) => coefficients(resolve(ESTIMATORS, spec), RUN.rollouts);

const KEPT = new Map();

/** The run's random numbers, which are the same wherever the slider stands. */
function numbers(seed, round, problem, rollouts) {
  const place = round * RUN.problems + problem;
  if (!KEPT.has(place)) KEPT.set(place, uniforms(seed, round, problem, rollouts));
  return KEPT.get(place);
}

/** The pass rates of every problem before the first round and after each, by the (gap, offset) of an estimator. */
export function history(sequences) {
  const policy = new Policy({ ...RUN, sequences, numbers });
  const seen = [policy.passRates()];
  for (let round = 0; round < RUN.rounds; round++) {
    policy.step();
    seen.push(policy.passRates());
  }
  return seen;
}

/** How many of the hardest problems, and of the others, are solved more often than not. */
export function solved(p) {
  const count = (some) => some.reduce((sum, x) => sum + (x > 0.5), 0);
  return [count(p.slice(0, HARD)), count(p.slice(HARD))];
}

/** A dot for every problem at its pass rate, on a line from where it was at first. */
export function dots(p, first, x, y, r) {
  const kind = (i) => (i < HARD ? "hard" : "rest");
  return [
    ...Array.from(p, (now, i) =>
      svg("line", { x1: x(i), x2: x(i), y1: y(first[i]), y2: y(now), class: `stem ${kind(i)}` }),
    ),
    ...Array.from(p, (now, i) => svg("circle", { cx: x(i), cy: y(now), r, class: kind(i), "data-p": now })),
  ];
}

/** A dash for every problem where another run has it. */
const ghosts = (p, x, y, r) =>
  Array.from(p, (other, i) =>
    svg("line", { x1: x(i) - r, x2: x(i) + r, y1: y(other), y2: y(other), class: "ghost" }),
  );

/** A button that plays the rounds of the run in SECONDS; `show(round)` draws one. */
export class Player {
  constructor(view, element, show, words = "Play") {
    Object.assign(this, { view, element, show, words, round: isStill() ? RUN.rounds : 0, playing: false });
    this.button = h("button", { type: "button", onclick: () => (this.playing ? this.pause() : this.play()) });
  }

  draw() {
    this.button.textContent = this.playing ? "Pause" : this.round >= RUN.rounds ? `${this.words} again` : this.words;
    this.show();
  }

  play() {
    if (isStill()) {
      this.round = RUN.rounds;
      this.draw();
      return;
    }
    if (this.round >= RUN.rounds) this.round = 0;
    const from = performance.now() - (this.round / RUN.rounds) * SECONDS * 1000;
    this.playing = true;
    this.view.quiet(true);
    const tick = (time) => {
      if (!this.playing || !this.element().isConnected) return;
      this.round = Math.max(0, Math.min(RUN.rounds, Math.floor(((time - from) / 1000 / SECONDS) * RUN.rounds)));
      if (this.round >= RUN.rounds) this.pause();
      else {
        this.draw();
        requestAnimationFrame(tick);
      }
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.playing = false;
    this.view.quiet(false);
    this.draw();
  }
}

export const start = {
  name: "start",
  short: "Start",
  title: "A model practises. Which problems does it learn?",
  lead:
    "Each dot is a problem, and its height is how often the model gets it right; the thin line begins where it " +
    `began. Every round has N = ${RUN.rollouts} tries at each problem, and the model moves towards the right ones. ` +
    `If all ${RUN.rollouts} are wrong, it learns nothing there. Drag the slider, and watch the hardest.`,
  key: "count",
  drag: {
    name: "Rare right answers count",
    values: Array.from({ length: 21 }, (_, i) => i / 20),
    start: 0,
    ends: ["like any other", "the rarer, the more"],
    say: (alpha) => (alpha === 0 ? "like any other" : `${(8 ** alpha).toFixed(1)} × others`),
  },
  about: [
    `A simulation that runs in this page: ${RUN.problems} problems with 8 possible answers each, solved between ` +
      `${HARDEST * 1000} time in 1,000 and ${EASIEST * 10} times in 10 at the start. Random numbers, and the ` +
      "length of every step over all problems together, are the same wherever the slider stands; only what the " +
      "answers count differs.",
    "A lone right answer among 16 is compared with one of 8 right ones among 16: it counts 8^alpha times as " +
      "much, and alpha is the place of the slider, from 0 to 1. The left end is plain policy gradient with the " +
      "group's mean as baseline, the right end is MaxRL (Algorithm 1); in between, the advantage is (r − " +
      "mean)/mean^alpha.",
  ],
  workbench: () => ({
    panel: "toy",
    problems: RUN.problems,
    length: RUN.length,
    left: "reinforce_mean",
    right: "maxrl",
  }),

  build(view) {
    const known = new Map();
    const run = (alpha) => {
      if (!known.has(alpha)) known.set(alpha, history(sequencesOf(`alpha(alpha=${alpha})`)));
      return known.get(alpha);
    };
    const now = () => run(view.value)[player.round];
    const picture = new Picture("every problem as a dot, hard ones left, as high as the model solves it often", paint);
    const player = new Player(view, () => picture.element, show);

    function paint(width, height) {
      const first = run(view.value)[0],
        left = 52,
        top = 44,
        base = height - 30,
        x = (i) => left + 10 + ((i + 0.5) * (width - left - 20)) / RUN.problems,
        y = (p) => base - p * (base - top),
        r = Math.max(2.4, Math.min(6, (width - left) / RUN.problems / 2.3));
      const lines = [
        ["always", 1],
        ["half", 0.5],
        ["never", 0],
      ].flatMap(([words, p]) => [
        svg("line", { x1: left, x2: width - 6, y1: y(p), y2: y(p), class: p === 0 ? "axis" : "grid" }),
        label(words, left - 8, y(p) + 4, { "text-anchor": "end" }),
      ]);
      const edge = (x(HARD - 1) + x(HARD)) / 2;
      return [
        svg("rect", { x: left, y: top - 8, width: edge - left, height: base - top + 8, class: "band" }),
        ...lines,
        label(`the ${HARD} hardest`, (left + edge) / 2, base + 20, { "text-anchor": "middle", class: "hard" }),
        label("easier →", width - 6, base + 20, { "text-anchor": "end" }),
        label(`round ${player.round} of ${RUN.rounds}`, width - 6, 22, { "text-anchor": "end" }),
        ...(view.value === 0 ? [] : ghosts(run(0)[player.round], x, y, r)),
        ...dots(now(), first, x, y, r),
      ];
    }

    function show() {
      picture.draw();
      const [hard, rest] = solved(now()),
        left = run(0)[player.round],
        easy = (p) => percent(mean(Array.from(p.slice(-HARD))), 0),
        compared =
          view.value === 0
            ? ""
            : ` With the slider at the left end (dashes) it would be ${solved(left)[0]} of the ${HARD}. The price: it ` +
              `gets the ${HARD} easiest right ${easy(now())} of the time, there ${easy(left)}.`;
      view.say(
        `After ${player.round} rounds the model solves ${hard} of the ${HARD} hardest problems more often than ` +
          `not, and ${rest} of the other ${RUN.problems - HARD}.${compared}`,
      );
    }

    if (!isStill()) player.play();
    picture.element.append(player.button);
    return { picture: picture.element, draw: () => player.draw() };
  },
};
