// The third panel: what is left of an estimator's weight in practice, with several clipped updates, a judge that errs, a
// sampler and a rule for lengths; the numbers are those of lab.recipe(...).on(lab.SoftmaxPolicy(...)).
import { Chart, niceDomain } from "./chart.js";
import { looks } from "./looks.js";
import { Grid, QUANTITIES, passRates } from "./mathematics.js";
import { AXES, SPAN, kindOf } from "./panel_curves.js";
import { counted, meanTokens, policy } from "./recipe.js";
import { ESTIMATORS, offered } from "./specs.js";
import { DEFAULTS, MOST } from "./state.js";
import { LOG, checkbox, field, format, h, rebuild, segmented, select, slider, write } from "./dom.js";
import { Work } from "./work.js";

const SIDES = ["left", "right"];
const WORK = new Work();
const BUDGET = 3e6, // steps of groups that a line may cost: few groups are drawn at many pass rates
  [FEW, MANY] = [13, 61];
const PARTS = [
  ...["updates", "step", "clipped", "clip", "clip_high", "false_positive", "false_negative"],
  ...["temperature", "top_p", "same_temperature", "averaged", "right_tokens", "wrong_tokens"],
];
/** What a recipe is without anything of practice: one step on a group. */
const PLAIN = { ...Object.fromEntries(PARTS.map((name) => [name, DEFAULTS[name]])), updates: 1 };
const EXAMPLES = {
  "one update": {},
  "64 updates": { updates: 64 },
  "a judge that errs": { false_positive: 0.1 },
  "a placebo": { false_positive: 0.5, false_negative: 0.5, updates: 16, step: 0.5, clipped: false },
  "top-p 0.9": { top_p: 0.9 },
  "each answer's mean": { averaged: true },
};

const recipeOf = (state) => Object.fromEntries([...PARTS, "wrong_answers"].map((name) => [name, state[name]]));
const isPlacebo = ({ false_positive, false_negative }) => Math.abs(1 - false_positive - false_negative) < 1e-9;
const isOffPolicy = ({ temperature, top_p, same_temperature }) => top_p < 1 || (temperature !== 1 && !same_temperature);
const percent = (share) => (Number.isFinite(share) ? `${format(Number((100 * share).toFixed(6)), 3)} %` : "–");

/** What a recipe climbs, in sentences; `p` is where the last one is said. */
function meaning(recipe, p) {
  const { updates, clipped, false_positive: a, false_negative: b, temperature, top_p, averaged } = recipe,
    { right_tokens: right, wrong_tokens: wrong } = recipe,
    said = [];
  if (isPlacebo(recipe)) said.push("A placebo: the verdicts know nothing of the answer, and no pass rate is climbed.");
  else if (a || b)
    said.push(
      `The judge accepts q = ${format(a)} + ${format(1 - a - b)} p. Errors that know no answer leave the direction of ∇p; ` +
        `one small step has the weight ${format(1 - a - b)} w(q).`,
    );
  if (isOffPolicy(recipe))
    said.push(
      "Rollouts come from another policy than the one that is trained, so a part of the move follows no gradient of what is " +
        `rewarded (last column)${top_p < 1 ? "; a right answer that top-p cuts off is never drawn" : ""}.`,
    );
  else if (temperature !== 1)
    said.push(`Drawn and trained at temperature ${format(temperature)}: the pass rate of that policy is climbed.`);
  if (averaged) {
    const weight = ` Where groups sum to zero, a small step has the weight w(p) L ((1 − p)/${right} + p/${wrong}), L the mean tokens`,
      here = `: ${format(factor(recipe, p), 3)} w(p) at p = ${format(p, 3)}.`,
      isKnown = !a && !b && top_p === 1 && temperature === 1;
    said.push(`Each rollout counts by one over its tokens.${isKnown ? weight + here : ""}`);
  }
  if (updates > 1)
    said.push(
      clipped
        ? `${updates} steps on the same groups: each goes on until its ratios pass the clip. The more steps, the less the size ` +
            "of an advantage says, and the more alike is what estimators climb."
        : `${updates} steps on the same groups without a clip: ratios go stale, and the move is more than one step's.`,
    );
  return said.length
    ? said
    : ["One step on groups of the policy's own, with a judge that never errs: the recipe climbs p with the estimator's weight."];
}

/** A word before its buttons, on one line. */
const labelled = (words, buttons) =>
  h("span", { class: "labelled" }, h("span", { class: "caption" }, words), buttons);

/** What a mean over each answer's tokens makes of the weight, in groups that sum to zero. */
const factor = (recipe, p) => meanTokens(recipe, p) * ((1 - p) / recipe.right_tokens + p / recipe.wrong_tokens);

export class RecipePanel {
  constructor(app) {
    this.app = app;
    const { store } = app,
      bar = (name, words, least, most, step, more = {}) =>
        slider(words, store.state[name], { least, most, step, ...more }, (value) => store.set({ [name]: value }));
    this.at = 0.01;
    this.grids = new Map();
    this.N = bar("N", "Rollouts a problem, N", 2, MOST.N, 1, { scale: LOG(2, MOST.N), first: true });
    this.menus = Object.fromEntries(SIDES.map((side) => [side, h("div")]));
    this.bars = {
      updates: bar("updates", "Steps on the same groups", 1, 256, 1, { scale: LOG(1, 256) }),
      step: bar("step", "Learning rate of a step (SGD)", 0.01, 1, 0.01),
      clip: bar("clip", "Clip low: ratios end at 1 − this", 0, 1, 0.01),
      clip_high: bar("clip_high", "Clip high: ratios end at 1 + this", 0, 2, 0.01),
      false_positive: bar("false_positive", "Accepts a wrong answer, a", 0, 1, 0.01),
      false_negative: bar("false_negative", "Refuses a right answer, b", 0, 1, 0.01),
      temperature: bar("temperature", "Temperature", 0.1, 2, 0.05),
      top_p: bar("top_p", "Top-p", 0.05, 1, 0.01),
      right_tokens: bar("right_tokens", "Tokens of a right answer", 1, 1000, 1, { scale: LOG(1, 1000) }),
      wrong_tokens: bar("wrong_tokens", "Tokens of a wrong answer", 1, 1000, 1, { scale: LOG(1, 1000) }),
    };
    this.switches = Object.fromEntries(["clipped", "heated", "averaged", "wrong_answers"].map((name) => [name, h("div")]));
    this.axes = h("div", { class: "row options" });
    this.said = h("p", { class: "meaning", "aria-live": "polite" });
    this.fault = h("p", { class: "fault", role: "alert" });
    this.chart = new Chart({ label: "weight of the recipe over the pass rate", height: 0.46, least: 260 });
    this.odds = new Chart({ label: "change of the log-odds in a batch over the pass rate", height: 0.26, least: 160 });
    this.chart.svg.setAttribute("tabindex", "0");
    this.chart.svg.setAttribute("aria-description", "left and right arrows move the pass rate that is read out below");
    this.chart.svg.addEventListener("keydown", (event) => this.key(event));
    for (const chart of [this.chart, this.odds]) chart.listen((p) => this.read(p));
    this.table = h("div", { class: "readout", tabindex: "0", role: "region", "aria-label": "numbers at one pass rate" });
    this.ratio = h("p", { class: "meaning" });
    this.line = h("code", { class: "line", tabindex: "0" });
    const { bars, switches } = this;
    this.element = h(
      "div",
      { class: "panel" },
      h(
        "section",
        { class: "controls", "aria-label": "the recipe" },
        this.N.element,
        this.fault,
        SIDES.map((side) => this.menus[side]),
        h(
          "div",
          { class: "row" },
          Object.entries(EXAMPLES).map(([words, patch]) =>
            h("button", { type: "button", onclick: () => store.set({ ...PLAIN, ...patch }) }, words),
          ),
        ),
        h("h3", {}, "Updates"),
        [bars.updates.element, bars.step.element, switches.clipped, bars.clip.element, bars.clip_high.element],
        h("h3", {}, "Judge"),
        [bars.false_positive.element, bars.false_negative.element],
        h("h3", {}, "Sampler"),
        [bars.temperature.element, bars.top_p.element, switches.heated],
        h("h3", {}, "Tokens of the loss"),
        [switches.averaged, bars.right_tokens.element, bars.wrong_tokens.element],
        h("h3", {}, "Wrong answers"),
        switches.wrong_answers,
      ),
      (this.stage = h(
        "section",
        { class: "stage" },
        this.said,
        this.axes,
        this.chart.element,
        this.odds.element,
        this.table,
        this.ratio,
        h("h3", {}, "The same weight in Python"),
        this.line,
        app.saver(
          () => this.chart,
          () => this.columns(),
          "recipe",
        ),
      )),
    );
  }

  key(event) {
    const move = { ArrowRight: 1.1, ArrowLeft: 1 / 1.1 }[event.key];
    if (!move) return;
    event.preventDefault();
    this.read(this.at * move);
  }

  read(p) {
    this.at = Number(Math.min(Math.max(p, 1e-6), 1 - 1e-4).toPrecision(4));
    this.want();
  }

  update(state) {
    const recipe = recipeOf(state);
    this.N.show(state.N);
    for (const [name, bar] of Object.entries(this.bars)) bar.show(state[name]);
    for (const name of ["clip", "clip_high"]) this.bars[name].element.hidden = !state.clipped;
    for (const name of ["right_tokens", "wrong_tokens"]) this.bars[name].element.hidden = !state.averaged;
    this.controls(state);
    try {
      this.found = SIDES.map((side) => this.app.estimator(state[side], state.N));
      counted(recipe, state.N);
      this.refuse("");
    } catch (error) {
      this.found = null;
      this.refuse(error.message);
      this.app.drawn();
      return;
    }
    if (this.found.some(({ waiting, stale }) => waiting || stale)) return;
    this.wish = { recipe, x: state.x, N: state.N, sequences: this.found.map(({ sequences }) => sequences) };
    this.name = JSON.stringify([recipe, state.x, state.N, ...SIDES.map((side) => state[side])]);
    this.want();
  }

  /** Say what cannot be computed, "" for nothing; what was drawn before is then out of sight. */
  refuse(words) {
    write(this.fault, words);
    this.stage.hidden = words !== "";
  }

  controls(state) {
    const { store } = this.app,
      { switches } = this;
    for (const side of SIDES)
      rebuild(this.menus[side], state[side], () => {
        const names = Object.keys(offered(ESTIMATORS)),
          all = names.includes(state[side]) ? names : [state[side], ...names],
          words = { left: "Estimator", right: "Another beside it" }[side];
        return [field(words, select(all, state[side], (name) => store.set({ [side]: this.app.start(name) })))];
      });
    rebuild(switches.clipped, state.clipped, () => [
      checkbox("ratios are clipped", state.clipped, (clipped) => store.set({ clipped })),
    ]);
    rebuild(switches.heated, state.same_temperature, () => [
      checkbox("trained at this temperature too (TRL, verl)", state.same_temperature, (same_temperature) =>
        store.set({ same_temperature }),
      ),
    ]);
    rebuild(switches.averaged, state.averaged, () => [
      segmented("tokens of the loss", { false: "all alike", true: "by answer" }, state.averaged, (value) =>
        store.set({ averaged: value === "true" }),
      ),
    ]);
    rebuild(switches.wrong_answers, state.wrong_answers, () => [
      segmented("wrong answers", { one: "one", two: "two, 7 to 3" }, state.wrong_answers, (wrong_answers) =>
        store.set({ wrong_answers }),
      ),
    ]);
    rebuild(this.axes, [state.x, state.y], () => [
      labelled("p", segmented("axis of the pass rate", AXES, state.x, (x) => store.set({ x }))),
      labelled(
        "value",
        segmented("axis of the value", { log: "log", linear: "linear" }, state.y, (y) => store.set({ y })),
      ),
      h("span", { class: "caption" }, "Bold: with the recipe. Thin: the estimator alone."),
    ]);
  }

  /** Have what is wished computed; only the last wish counts. */
  want() {
    this.wanted = Boolean(this.found);
    if (this.wanted && !this.busy) this.work();
  }

  async work() {
    this.busy = true;
    while (this.wanted) {
      this.wanted = false;
      const { wish, name, at, found } = this,
        { recipe, sequences } = wish,
        grid = this.drawnOf === name ? this.lines.grid : this.grid(wish);
      try {
        if (this.drawnOf !== name) {
          if (grid.p.length === FEW) write(this.ratio, "Summing over all groups; until then what was drawn before is shown …");
          const each = await WORK.ask("laws", { recipe, sequences, p: grid.p });
          this.lines = { grid, each, wish, found };
          this.drawnOf = name;
        }
        this.here = { p: at, each: await WORK.ask("laws", { recipe, sequences, p: [at] }), name };
      } catch (error) {
        this.refuse(error.message);
        continue;
      }
      if (this.here.name === this.name && this.found) this.draw();
    }
    this.busy = false;
  }

  /** As many pass rates as can be summed at once. */
  grid({ recipe, N, x }) {
    const cost = counted(recipe, N) * recipe.updates,
      points = Math.max(FEW, Math.min(MANY, Math.floor(BUDGET / cost))),
      key = `${x} ${points}`;
    if (!this.grids.has(key)) this.grids.set(key, new Grid(passRates(x, points)));
    return this.grids.get(key);
  }

  draw() {
    const { state } = this.app.store,
      { grid, each, wish, found } = this.lines,
      theme = this.app.theme(),
      p = grid.p,
      styles = looks(found.map(({ name }) => name)).map((look) => ({ ...look, color: this.app.color(look.color) })),
      alone = wish.sequences.map((sequences) => QUANTITIES.weight(grid, sequences)),
      values = [...alone, ...each.map(({ weight }) => weight)].flatMap((row) => [...row]),
      kind = values.every((value) => value > 0) ? state.y : "linear",
      x = { kind: kindOf(state.x), domain: SPAN[state.x], label: "pass rate p" };
    this.chart.draw(
      {
        x,
        y: { kind, domain: niceDomain(values, kind, 1e-5), label: "weight w(p)" },
        lines: found.flatMap(({ label }, k) => [
          { x: p, y: alone[k], ...styles[k], width: 1, opacity: 0.85, name: `${state[SIDES[k]]} alone` },
          { x: p, y: each[k].weight, ...styles[k], width: 2.6, label, name: `${state[SIDES[k]]} recipe` },
        ]),
        named: true,
        mark: this.at,
      },
      theme,
    );
    this.odds.draw(
      {
        x,
        y: {
          kind: "linear",
          domain: niceDomain([0, ...each.flatMap(({ odds }) => odds)], "linear"),
          label: "log-odds a batch",
        },
        lines: [
          { x: [...SPAN[state.x]], y: [0, 0], color: theme.axis, width: 1 },
          ...found.map((_, k) => ({ x: p, y: each[k].odds, ...styles[k], width: 2, name: `${state[SIDES[k]]} odds` })),
        ],
        mark: this.at,
      },
      theme,
    );
    this.tell(state, wish, found, styles);
    this.app.drawn();
  }

  /** What is climbed, and the numbers at one pass rate. */
  tell(state, { recipe, sequences }, found, styles) {
    const { p, each } = this.here,
      alone = sequences.map((rows) => QUANTITIES.weight(new Grid([p]), rows)[0]),
      after = each.map(({ weight }) => weight[0]),
      names = found.map(({ label }) => label),
      drifts = each.map(({ odds }, k) => `${format(odds[0], 3)} (${names[k]})`).join(" and ");
    write(
      this.said,
      [
        ...meaning(recipe, p),
        ...(isPlacebo(recipe) ? [`At p = ${format(p, 3)} a batch still moves the log-odds by ${drifts}.`] : []),
      ].join(" "),
    );
    const words = ["w alone", "w with the recipe", "log-odds a batch", "move that nobody rewards"],
      cells = (k) => [format(alone[k]), format(after[k]), format(each[k].odds[0]), percent(each[k].drift[0])];
    this.table.replaceChildren(
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, h("output", { class: "where" }, `p = ${format(p, 3)}`)),
            words.map((word) => h("th", { scope: "col" }, word)),
          ),
        ),
        h(
          "tbody",
          {},
          found.map(({ label }, k) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, h("span", { class: "dot", style: `background:${styles[k].color}` }), label),
              cells(k).map((cell) => h("td", {}, cell)),
            ),
          ),
        ),
      ),
    );
    const ratio = (of) => format(of[1] / of[0], 3),
      kept = after[0] ? `${ratio(after)} with the recipe` : "and with the recipe nothing moves";
    write(
      this.ratio,
      isPlacebo(recipe) ? "" : `${names[1]} / ${names[0]} at p = ${format(p, 3)}: ${ratio(alone)} alone, ${kept}.`,
    );
    write(this.line, python(state.right, state.N, recipe, p));
  }

  columns() {
    const { state } = this.app.store,
      { grid, each, wish } = this.lines,
      columns = { p: grid.p };
    SIDES.forEach((side, k) => {
      columns[`${state[side]} alone`] = QUANTITIES.weight(grid, wish.sequences[k]);
      columns[`${state[side]} recipe`] = each[k].weight;
      columns[`${state[side]} log-odds`] = each[k].odds;
      columns[`${state[side]} drift`] = each[k].drift;
    });
    return columns;
  }
}

/** The line of Python that gives the weight of an estimator with the recipe at a pass rate. */
export function python(spec, N, recipe, p) {
  const { updates, clipped, averaged, temperature, wrong_answers } = recipe,
    short = (x) => Number(x.toPrecision(12)),
    L = short(meanTokens(recipe, p)),
    parts = { updates, rate: short(recipe.step * (averaged ? L : 1)) };
  if (clipped) Object.assign(parts, { clip: recipe.clip, clip_high: recipe.clip_high });
  for (const name of ["false_positive", "false_negative"]) if (recipe[name]) parts[name] = recipe[name];
  if (temperature !== 1) parts.temperature = temperature;
  if (temperature !== 1 && recipe.same_temperature) parts.score_temperature = temperature;
  if (recipe.top_p < 1) parts.top_p = recipe.top_p;
  if (averaged) parts.aggregation = '"sequence-mean"';
  const { right_tokens, wrong_tokens } = recipe,
    others = wrong_answers === "one" ? "" : `, "b" * ${wrong_tokens}`,
    texts = averaged ? `, answers=["r" * ${right_tokens}, "a" * ${wrong_tokens}${others}]` : "",
    chances = policy(recipe, p).map(short).join(", "),
    right = wrong_answers === "one" ? "1, 0" : "1, 0, 0",
    given = Object.entries(parts).map(([name, value]) => `${name}=${value}`);
  return (
    `import lab; lab.recipe(${JSON.stringify(spec)}, N=${N}, ${given.join(", ")})` +
    `.on(lab.SoftmaxPolicy([${chances}], [${right}]${texts})).weight${averaged ? ` * ${L}` : ""}`
  );
}
