// Scene 3: GRPO divides by the spread of a group, which is small at both ends. And one group, answer by answer.
import { h, svg } from "./dom.js";
import { Grid, QUANTITIES, passRates, successFailure } from "./mathematics.js";
import { onGround } from "./looks.js";
import { ESTIMATORS, coefficients, resolve } from "./specs.js";
import { ChartPicture, Picture, figure, isDark, label, signed } from "./story_parts.js";
import { THEMES } from "./chart.js";
import { uniforms } from "./toy.js";

const N = 8;
const sequences = (spec) => coefficients(resolve(ESTIMATORS, spec), N);

/** What the answers of a group get, K of them right: a list of { right, advantage }, in the order of the answers. */
export function group(K) {
  const [a1, a0] = successFailure(sequences("grpo")),
    u = uniforms(0, 0, 0, N),
    rank = u.map((value) => u.filter((other) => other < value).length);
  return Array.from(rank, (place) => ({ right: place < K, advantage: place < K ? a1[K] : a0[K] }));
}

const spread = (K) => Math.sqrt((K / N) * (1 - K / N));

export const ends = {
  name: "both-ends",
  short: "Both ends",
  title: "GRPO lifts both ends, because it divides by the spread",
  lead:
    `The model answers one problem ${N} times. GRPO, a widely used method, pays each answer its distance from ` +
    "the group's average, divided by the group's spread. The spread is small when answers are almost all wrong, " +
    "and when they are almost all right. Drag, and watch the bars.",
  key: "K",
  drag: {
    name: `Right answers among the ${N}`,
    values: Array.from({ length: N + 1 }, (_, K) => K),
    start: 1,
    ends: ["all wrong", "all right"],
    say: (K) => `${K} of ${N}`,
  },
  about: [
    "GRPO with the population's standard deviation (ddof 0, eps 0): a right answer gets (1 − mean)/std, a wrong " +
      "one −mean/std, and groups that are all right or all wrong get 0. The difference of the two is 1/std.",
    "Averaged over the groups that a problem of pass rate p gives, this is the curve: near 1/√(p(1−p)) where N " +
      "allows, and at both ends √(N−1). RLOO (dashed), which does not divide, is level.",
  ],
  workbench: () => ({ N, curves: ["rloo", "grpo"], x: "linear", y: "linear" }),

  build(view) {
    const p = passRates("linear"),
      grid = new Grid(p),
      weights = ["grpo", "rloo"].map((spec) => QUANTITIES.weight(grid, sequences(spec)));
    let chosen = group(1).findIndex(({ right }) => right);
    const bars = new Picture(`what each of the ${N} answers gets`, (width, height) => {
      const most = Math.sqrt(N - 1),
        x = (i) => 8 + ((i + 0.5) * (width - 16)) / N,
        wide = Math.min(46, (0.7 * width) / N),
        middle = height / 2,
        y = (a) => middle - (a / most) * (middle - 26);
      return group(view.value).flatMap(({ right, advantage }, i) => [
        ...(i === chosen
          ? [
              svg("rect", {
                x: x(i) - 0.62 * wide,
                y: 2,
                width: 1.24 * wide,
                height: height - 4,
                rx: 5,
                class: "chosen",
              }),
            ]
          : []),
        svg("rect", {
          x: x(i) - wide / 2,
          width: wide,
          y: Math.min(y(advantage), middle),
          height: Math.max(1.5, Math.abs(y(advantage) - middle)),
          class: right ? "right" : "wrong",
          "data-advantage": advantage,
        }),
        // In a narrow box the numbers would run into each other: there only the chosen answer has its own.
        ...(i === chosen || width / N > 38
          ? [
              label(signed(advantage), x(i), advantage > 0 ? y(advantage) - 6 : y(advantage) + 16, {
                "text-anchor": "middle",
                class: "small",
              }),
            ]
          : []),
        label(right ? "✓" : "✗", x(i), advantage > 0 ? middle + 17 : middle - 7, { "text-anchor": "middle" }),
      ]);
    });
    const curve = new ChartPicture("weight by pass rate under GRPO", () => {
      const theme = THEMES[isDark() ? "dark" : "light"],
        color = (name) => onGround({ grpo: "#e6a31e", rloo: "#0072b2" }[name], isDark()),
        at = view.value / N,
        lives = at > 0 && at < 1; // a dead group lies nowhere on a curve of what groups teach on average
      curve.chart.theme = theme;
      return {
        x: { kind: "linear", domain: [0, 1], label: "how often a problem is solved" },
        y: { kind: "linear", domain: [0, 3], label: "mean pull over groups" },
        mark: lives ? at : undefined,
        lines: [
          { x: p, y: weights[1], color: color("rloo"), dash: [8, 2], width: 2, name: "rloo" },
          { x: p, y: weights[0], color: color("grpo"), width: 3, name: "grpo" },
        ],
        dots: lives
          ? [{ x: at, y: QUANTITIES.weight(new Grid([at]), sequences("grpo"))[0], color: color("grpo"), r: 5 }]
          : [],
        texts: [
          { x: 0.5, y: 2.08, words: "GRPO", color: color("grpo"), dy: -10, anchor: "middle" },
          { x: 0.5, y: 1, words: "RLOO: the same, not divided", color: color("rloo"), dy: 16, anchor: "middle" },
        ],
      };
    });
    const why = h("p", { class: "why" }),
      where = h("span", { class: "where" });
    const step = (by) => () => {
      chosen = (chosen + by + N) % N;
      draw();
    };
    function draw() {
      const K = view.value,
        { right, advantage } = group(K)[chosen];
      bars.draw();
      curve.draw();
      where.textContent = `Answer ${chosen + 1} of ${N}`;
      const average = figure(K / N),
        width = figure(spread(K)),
        kind = right ? "right" : "wrong";
      if (K === 0 || K === N) {
        why.textContent = `It is ${kind} like all the others: no answer is better than another, so it gets 0.`;
        view.say(
          `All ${N} answers are ${kind}: there is no spread to divide by, every answer gets 0, and the group teaches ` +
            "nothing.",
        );
        return;
      }
      why.textContent =
        `It is ${kind}. The group's average is ${average}, its spread ${width}: ` +
        `(${Number(right)} − ${average}) / ${width} = ${signed(advantage)}, ` +
        `so the model will give it ${right ? "more" : "less"} often.`;
      view.say(
        `With ${K} of ${N} right, a right answer gets ${figure(1 / spread(K))} more than a wrong one` +
          (K === N / 2
            ? ". That is the least: the middle counts least."
            : `; with ${N / 2} of ${N}, only ${figure(1 / spread(N / 2))} more.`),
      );
    }
    return {
      picture: h("div", { class: "pictures" }, bars.element, curve.element),
      below: h(
        "div",
        { class: "stepper" },
        h("button", { type: "button", onclick: step(-1), "aria-label": "previous answer" }, "‹"),
        where,
        h("button", { type: "button", onclick: step(1), "aria-label": "next answer" }, "›"),
        h("div", { role: "status" }, why),
      ),
      draw,
    };
  },
};
