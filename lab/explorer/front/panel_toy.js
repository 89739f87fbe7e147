// The fifth panel: many small problems, two objectives, the same random numbers; lab/toy/paired.py gives the same.
import { Chart, niceDomain } from "./chart.js";
import { looks } from "./looks.js";
import { ALIASES, ESTIMATORS, labelOf, offered } from "./specs.js";
import { ANSWERS, CERTAIN, EASIEST, HARDEST, Policy, summary } from "./toy.js";
import { equalShares } from "./pass_rates.js";
import { MOST } from "./state.js";
import { LOG, checkbox, field, format, h, rebuild, segmented, select, slider } from "./dom.js";
import { isStill } from "./story_parts.js";

const LONGEST = 2000,
  RUNS = 400;
const SIDES = ["left", "right"];
const WORLD = ["problems", "start", "shared"],
  SET = ["N", "right_N", "left", "right", ...WORLD, "equal", "length", "rate", "seed", "seeds", "across"];
const PARTS = 10; // of the problems, from the hardest to the easiest, whose gains are compared
const WIDE = [1e-6, 1e-4, 0.01, 0.5, 0.99, 0.9999]; // ticks of the axis of pass rates that a file may hold
const NARROW = 520; // pixels of a chart that has no room for ten labels
const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

export class ToyPanel {
  constructor(app) {
    this.app = app;
    const { store } = app,
      names = Object.keys(offered(ESTIMATORS));
    this.N = slider(
      "Rollouts a problem, N",
      store.state.N,
      { least: 2, most: MOST.N, step: 1, scale: LOG(2, MOST.N), first: true },
      (N) => store.set({ N }),
    );
    this.problems = slider(
      "Problems",
      store.state.problems,
      { least: 4, most: 400, step: 1, scale: LOG(4, 400) },
      (problems) => store.set({ problems }),
    );
    this.start = h("div");
    this.source = h("div");
    this.sharing = h("div", { class: "row" });
    this.shared = slider(
      "Shared features",
      store.state.shared || 1,
      {
        least: 1,
        most: MOST.problems,
        step: 1,
        scale: LOG(1, MOST.problems),
        hint: "the fewer, the more problems hinder each other",
      },
      (shared) => store.set({ shared }),
    );
    this.right_N = slider(
      "Rollouts a problem on the right",
      store.state.right_N || store.state.N,
      { least: 2, most: MOST.N, step: 1, scale: LOG(2, MOST.N) },
      (N) => store.set({ right_N: N }),
    );
    this.other = h("div");
    this.equal = h("div");
    this.across = h("div");
    this.length = slider(
      "Step length",
      store.state.length,
      {
        least: 0.005,
        most: 0.5,
        step: 0.005,
        hint: "root mean square, over problems, of the change of their logits in a step",
      },
      (length) => store.set({ length }),
    );
    this.rate = slider("Learning rate", store.state.rate, { least: 0.05, most: 5, step: 0.05 }, (rate) =>
      store.set({ rate }),
    );
    this.seeds = slider("Seeds", store.state.seeds, { least: 1, most: 16, step: 1 }, (seeds) => store.set({ seeds }));
    this.seed = h("input", {
      type: "number",
      min: "0",
      max: String(2 ** 31 - 1),
      step: "1",
      onchange: () => {
        if (this.seed.checkValidity() && this.seed.value !== "") store.set({ seed: Number(this.seed.value) });
      },
    });
    this.menus = Object.fromEntries(SIDES.map((side) => [side, h("div")]));
    this.button = h(
      "button",
      { type: "button", class: "primary", onclick: () => (this.playing ? this.pause() : this.play()) },
      "Play",
    );
    this.clock = h("output", { class: "where" });
    this.charts = Object.fromEntries(
      SIDES.map((side) => [side, new Chart({ label: `pass rates over training, ${side}`, height: 0.72, least: 220 })]),
    );
    this.heads = Object.fromEntries(SIDES.map((side) => [side, h("h3")]));
    this.spread = Object.fromEntries(
      SIDES.map((side) => [side, new Chart({ label: `distribution of pass rates, ${side}`, height: 0.3, least: 110 })]),
    );
    this.mean = new Chart({ label: "mean pass rate and the hardest quarter", height: 0.3, least: 190 });
    this.gain = new Chart({ label: "predicted and realised gain by how hard problems are", height: 0.3, least: 210 });
    this.gains = h("p", { class: "meaning" });
    this.rules = h("p", { class: "rules" });
    this.fault = h("p", { class: "fault", role: "alert" });
    this.line = h("code", { class: "line", tabindex: "0" });
    this.names = names;
    this.element = h(
      "div",
      { class: "panel" },
      h(
        "section",
        { class: "controls", "aria-label": "the run" },
        this.N.element,
        h(
          "div",
          { class: "row first" },
          this.button,
          h(
            "button",
            {
              type: "button",
              onclick: () => {
                this.pause();
                this.advance(1);
              },
            },
            "Step",
          ),
          h(
            "button",
            {
              type: "button",
              onclick: () => {
                this.pause();
                this.reset();
                this.render();
              },
            },
            "Reset",
          ),
          this.clock,
        ),
        SIDES.map((side) => this.menus[side]),
        this.other,
        this.right_N.element,
        h("h3", {}, "What both sides share"),
        this.equal,
        this.length.element,
        this.rate.element,
        this.across,
        this.seeds.element,
        field("First seed", this.seed),
        h("h3", {}, "The problems"),
        this.start,
        this.source,
        this.problems.element,
        this.sharing,
        this.shared.element,
        this.fault,
        this.rules,
        h("h3", {}, "The same numbers in Python; predicted: with sampled=False"),
        this.line,
      ),
      (this.stage = h(
        "section",
        { class: "stage" },
        h(
          "div",
          { class: "pair" },
          SIDES.map((side) => h("div", {}, this.heads[side], this.charts[side].element, this.spread[side].element)),
        ),
        this.mean.element,
        h("h3", {}, "Predicted and realised gain"),
        this.gain.element,
        this.gains,
        app.saver(
          () => this.mean,
          () => this.columns(),
          "toy",
        ),
      )),
    );
    this.key = "";
  }

  /** Who comes by the tab sees it train. */
  arrive() {
    if (this.time === 0 && !isStill()) this.play();
  }

  reset() {
    const { state } = this.app.store;
    this.runs = null;
    this.fault.textContent = "";
    try {
      const sizes = [state.N, state.right_N || state.N];
      this.found = SIDES.map((side, k) => this.app.estimator(state[side], sizes[k]));
      if (this.found.some(({ waiting, stale }) => waiting || stale)) return;
      const start = this.rates(state);
      this.runs = this.found.map(({ sequences }, k) => new Run(sequences, sizes[k], { ...state, start }));
    } catch (error) {
      this.pause();
      this.fault.textContent = error.message;
    }
  }

  /** The problems' pass rates at the start, the hardest first; null: even in log-odds. */
  rates({ start, problems }) {
    if (start === "even") return null;
    const { given } = this.app;
    if (!given) throw new Error("this run starts from pass rates of your own, and the page has read none yet");
    const { exact, times, fit } = given;
    return exact ? equalShares(exact, times, problems) : equalShares(fit.p, fit.mass, problems);
  }

  play() {
    if (!this.runs) return;
    this.playing = true;
    this.button.textContent = "Pause";
    const tick = () => {
      if (!this.playing || !this.element.isConnected || this.element.hidden) {
        this.pause();
        return;
      }
      const began = performance.now();
      do this.forward();
      while (performance.now() - began < 6 && this.time % 4); // up to four steps a frame
      this.render();
      if (this.time >= RUNS && this.time % RUNS === 0) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.playing = false;
    this.button.textContent = this.runs && this.time > 0 ? "Go on" : "Play";
  }

  get time() {
    return this.runs ? Math.max(...this.runs.map(({ time }) => time)) : 0;
  }

  /** A step on both sides; or, at equal rollouts, on the side that has used fewer. */
  forward() {
    if (this.time >= LONGEST) {
      this.pause();
      return;
    }
    const least = Math.min(...this.runs.map(({ used }) => used));
    for (const run of this.runs) if (!this.atRollouts || run.used === least) run.step();
  }

  get atRollouts() {
    return this.app.store.state.across === "rollouts";
  }

  advance(steps) {
    if (!this.runs) return;
    for (let i = 0; i < steps; i++) this.forward();
    this.render();
  }

  update(state) {
    const { store, given } = this.app,
      key = JSON.stringify([...SET.map((name) => state[name]), state.start === "own" && given?.number]);
    this.N.show(state.N);
    this.right_N.show(state.right_N || state.N);
    this.right_N.element.hidden = !state.right_N;
    this.problems.show(state.problems);
    this.length.show(state.length);
    this.rate.show(state.rate);
    this.length.element.hidden = state.equal !== "length";
    this.rate.element.hidden = state.equal !== "rate";
    this.seeds.show(state.seeds);
    if (document.activeElement !== this.seed) this.seed.value = state.seed;
    rebuild(this.other, [state.right_N > 0, state.N], () => [
      checkbox("another N on the right", state.right_N > 0, (is) => store.set({ right_N: is ? state.N : 0 })),
    ]);
    this.shared.show(state.shared || 1);
    this.shared.element.hidden = !state.shared;
    rebuild(this.start, state.start, () => [
      segmented("where pass rates start", { even: "evenly spread", own: "your own" }, state.start, (start) =>
        store.set({ start }),
      ),
    ]);
    rebuild(this.source, [state.start, given?.notes[0]], () =>
      state.start === "even"
        ? []
        : [
            ...(given ? [h("p", { class: "rules" }, `From ${given.notes[0]}.`)] : []),
            h(
              "button",
              { type: "button", onclick: () => store.set({ panel: "files" }) },
              given ? "See them, or give others" : "Give a file",
            ),
          ],
    );
    rebuild(this.sharing, [state.shared > 0, state.problems], () => [
      checkbox("problems share parameters", state.shared > 0, (is) =>
        store.set({ shared: is ? Math.ceil(state.problems / 4) : 0 }),
      ),
    ]);
    this.rules.textContent = rulesOf(state);
    rebuild(this.equal, state.equal, () => [
      segmented("what both sides share", { length: "step length", rate: "learning rate" }, state.equal, (equal) =>
        store.set({ equal }),
      ),
    ]);
    rebuild(this.across, state.across, () => [
      segmented("compared at equal", { steps: "equal steps", rollouts: "equal rollouts" }, state.across, (across) =>
        store.set({ across }),
      ),
    ]);
    if (key !== this.key || !this.runs) {
      this.key = key;
      for (const side of SIDES) {
        const all = this.names.includes(state[side]) ? this.names : [state[side], ...this.names];
        const start = (name) => this.app.start(name);
        const menu = select(all, state[side], (name) => store.set({ [side]: start(name) }));
        const name = state[side].split("(")[0];
        this.menus[side].replaceChildren(
          field(side === "left" ? "Left objective" : "Right objective", menu),
          h(
            "p",
            { class: "rules" },
            "What it is: ",
            this.app.explained(ESTIMATORS, ALIASES[name] ?? name, labelOf(ESTIMATORS, state[side]), state[side]),
          ),
        );
      }
      this.pause();
      this.reset();
    }
    this.stage.hidden = this.fault.textContent !== "";
    if (this.stage.hidden) this.app.drawn();
    this.render();
  }

  /** What gives the same numbers in Python: a call, a call a seed, or such a line a side. */
  python(state) {
    const { seed, seeds } = state,
      file = state.start === "own" && this.app.panels.files.python(state.problems),
      start = file || `[${this.runs[0].history[0].join(", ")}]`;
    const call = (names, N, steps) =>
      `paired.pass_rates([${names.map((name) => JSON.stringify(name)).join(", ")}], rollouts=${N}, ` +
      `${state.start === "own" ? "start=start" : `problems=${state.problems}`}, ` +
      `${state.shared ? `shared=${state.shared}, ` : ""}steps=${Math.max(steps, 1)}, ` +
      `${state.equal === "rate" ? `learning_rate=${state.rate}` : `step_length=${state.length}`}, ` +
      (seeds > 1 ? `seed=seed)` : `seed=${seed})`);
    const every = (text) => (seeds > 1 ? `[${text} for seed in range(${seed}, ${seed + seeds})]` : text);
    const { left, right, N } = state,
      calls = state.right_N
        ? [
            [[left], N, this.runs[0].time],
            [[right], state.right_N, this.runs[1].time],
          ]
        : [[[left, right], N, this.time]];
    const load = file ? `from lab.show.audit import ${file.includes("Choice(") ? "Choice, " : ""}population; ` : "",
      given = state.start === "own" ? `start = ${start}; ` : "";
    return `${load}from lab.toy import paired; ${given}${calls.map((one) => every(call(...one))).join("; ")}`;
  }

  render() {
    const { state } = this.app.store,
      theme = this.app.theme();
    if (!this.runs) return;
    this.line.textContent = this.python(state);
    const used = Math.max(...this.runs.map((run) => run.used)),
      end = this.time >= LONGEST ? ", the end" : "";
    this.clock.textContent = this.atRollouts ? `${used} rollouts a problem${end}` : `step ${this.time}${end}`;
    const style = looks(this.found.map(({ name }) => name)).map((look) => ({
      ...look,
      color: this.app.color(look.color),
    }));
    const ends = [50, 100, 200, 400, 800, 1200, LONGEST].map((end) => (this.atRollouts ? end * state.N : end)),
      reach = this.atRollouts ? used : this.time,
      last = ends.find((end) => end >= reach) ?? reach;
    const x = {
      kind: "linear",
      domain: [0, last],
      label: this.atRollouts ? "rollouts a problem" : "step",
    };
    const rates =
      state.start === "even"
        ? { kind: "logit", domain: [1e-4, 0.9999] }
        : { kind: "logit", domain: [CERTAIN, 1 - CERTAIN], ticks: WIDE.map((p) => [p, format(p)]) };
    // The same scale on both sides, and one that moves in whole steps.
    const bins = this.runs.map((run) => histogram(run.now)),
      most = niceDomain([0, state.problems / 4, ...bins.flat()], "linear")[1];
    const lines = [],
      areas = [];
    SIDES.forEach((side, k) => {
      const run = this.runs[k],
        { color, dash } = style[k],
        { label } = this.found[k],
        at = run.shown(),
        places = at.map((t) => (this.atRollouts ? t * run.N : t)),
        paths = [];
      for (let i = 0; i < state.problems; i += Math.ceil(state.problems / 48))
        paths.push({ x: places, y: at.map((t) => run.history[t][i]), color, width: 1, opacity: 0.5 });
      const told = (name) => {
        const { middle, low, high } = run.across(name, [run.time]);
        return `${format(middle[0], 3)}${state.seeds > 1 ? ` (${format(low[0], 3)} to ${format(high[0], 3)})` : ""}`;
      };
      this.heads[side].textContent = `${label}: mean ${told("mean")}, hardest quarter ${told("hard")}`;
      this.charts[side].draw({ x, y: { ...rates, label: "pass rate, a line a problem" }, lines: paths }, theme);
      this.spread[side].draw(
        {
          x: { kind: "linear", domain: [0, 1], label: "pass rate now" },
          y: { kind: "linear", domain: [0, most], label: "problems" },
          bars: bins[k].map((value, i) => ({
            from: i / 20 + 0.004,
            to: (i + 1) / 20 - 0.004,
            value,
            color,
            opacity: 0.8,
          })),
        },
        theme,
      );
      for (const [name, words, width] of [
        ["mean", "all", 2.4],
        ["hard", "hardest quarter", 1.2],
      ]) {
        const { middle, low, high } = run.across(name, at);
        lines.push({ x: places, y: middle, color, dash, width, label: `${label}, ${words}` });
        if (state.seeds > 1) areas.push({ x: places, low, high, color });
      }
    });
    this.mean.draw(
      {
        x,
        y: {
          kind: "linear",
          domain: [0, 1],
          label: state.seeds > 1 ? `mean and range, ${state.seeds} seeds` : "mean pass rate",
        },
        lines,
        areas,
      },
      theme,
    );
    this.compare(style, theme);
    this.app.drawn();
  }

  /** What the weight w_N predicts that problems have gained since the start, beside what they have. */
  compare(style, theme) {
    const compared = this.runs.map((run) => run.gains()),
      [first] = compared,
      every = compared.flatMap(({ parts }) => parts.flatMap(({ predicted, low, high }) => [predicted, low, high])),
      place = (i, k) => i + 0.42 + 0.16 * k,
      both = (draw) => compared.flatMap(({ parts }, k) => parts.map((part, i) => draw(part, i, k))),
      name = (k) => this.found[k].label;
    this.gain.draw(
      {
        x: {
          kind: "linear",
          domain: [0, first.parts.length],
          label: `pass rate at the start, ${first.parts.length === PARTS ? "means of tenths" : "a problem each"}`,
          ticks: first.parts
            .map(({ start }, i) => [i + 0.5, format(start, 2)])
            .filter((_, i) => i % (this.gain.element.clientWidth < NARROW ? 3 : 1) === 0),
        },
        y: { kind: "linear", domain: niceDomain([0, ...every], "linear"), label: "gain in pass rate" },
        lines: compared.map(({ parts }, k) => ({
          x: parts.map((_, i) => place(i, k)),
          y: parts.map(({ predicted }) => predicted),
          color: style[k].color,
          dash: style[k].dash,
          label: `${name(k)}, predicted`,
        })),
        dots: both(({ realised }, i, k) => ({ x: place(i, k), y: realised, color: style[k].color })),
        whiskers: both(({ low, high }, i, k) => ({ x: place(i, k), low, high, color: style[k].color })),
        keys: compared.map((_, k) => ({ label: `${name(k)}, realised`, color: style[k].color, dot: true })),
      },
      theme,
    );
    const { seeds } = this.app.store.state,
      told = compared.map(
        ({ all: { predicted, realised, low, high } }, k) =>
          `${name(k)}: ${format(predicted, 3)} predicted, ${format(realised, 3)} realised` +
          `${seeds > 1 ? ` (${format(low, 3)} to ${format(high, 3)})` : ""}.`,
      );
    this.gains.textContent = `Mean gain since the start. ${told.join(" ")} ${PREDICTED}`;
  }

  /** One row a step: the pass rate of every problem on both sides with the first seed, and the means of every seed. */
  columns() {
    const { seed, seeds, problems } = this.app.store.state,
      columns = { step: Array.from({ length: this.time + 1 }, (_, t) => t) };
    SIDES.forEach((side, k) => {
      const { history, forecast, summaries } = this.runs[k];
      for (let i = 0; i < problems; i++) columns[`${side} ${i}`] = history.map((p) => p[i]);
      for (let i = 0; i < problems; i++) columns[`${side} ${i}, predicted`] = forecast.map((p) => p[i]);
      if (seeds > 1)
        summaries.forEach((one, s) => {
          columns[`${side} mean, seed ${seed + s}`] = one.map(({ mean }) => mean);
          columns[`${side} hardest quarter, seed ${seed + s}`] = one.map(({ hard }) => hard);
        });
    });
    return columns;
  }
}

const histogram = (p) => {
  const bins = new Array(20).fill(0);
  for (const x of p) bins[Math.min(19, Math.floor(20 * x))]++;
  return bins;
};

const PREDICTED =
  "Predicted: every step by its expectation, w_N(p) grad p, with the length that it has in the root mean square; " +
  "nothing is drawn. Dots: means over the seeds, and their range.";

/** What the problems are, in words. */
function rulesOf({ start, problems, shared }) {
  const begin =
    start === "even"
      ? `pass rates start even in log-odds from ${HARDEST} to ${EASIEST}`
      : `pass rates start at those of your file without their sampling noise: ${problems} equal shares of the ` +
        `problems, each by its mean, held between ${format(CERTAIN)} and 1 − ${format(CERTAIN)}`;
  const world = shared
    ? `Problems share the parameters of ${shared} features, which are random signs: two problems help each other if ` +
      "more than half of their signs agree, and hinder each other if fewer do. "
    : "";
  return (
    `Each problem is a softmax over ${ANSWERS} answers, one of them right; ${begin}. ${world}` +
    "Steps of equal length change the logits of a problem equally on both sides, in the root mean square over " +
    "problems; with one learning rate an estimator of a larger scale also takes longer steps. Both sides draw with " +
    "the same random numbers (Philox4x32-10, one counter a problem, step and rollout)."
  );
}

/**
 * One side: a policy a seed, and one that is predicted. Every problem's pass rates are kept of the first seed and of the
 * prediction, of the other seeds their summaries and what is now.
 */
class Run {
  constructor(sequences, N, { problems, start, shared, equal, length, rate, seed, seeds }) {
    this.N = N;
    const settings = {
      sequences,
      problems,
      start,
      shared,
      rollouts: N,
      rate,
      length: equal === "length" ? length : null,
    };
    this.policies = Array.from({ length: seeds }, (_, s) => new Policy({ ...settings, seed: seed + s }));
    this.prediction = new Policy({ ...settings, sampled: false });
    this.history = [];
    this.forecast = [];
    this.summaries = this.policies.map(() => []);
    this.note();
  }

  get time() {
    return this.policies[0].time;
  }

  /** Rollouts a problem so far. */
  get used() {
    return this.time * this.N;
  }

  get now() {
    return this.history.at(-1);
  }

  step() {
    for (const policy of [...this.policies, this.prediction]) policy.step();
    this.note();
  }

  note() {
    this.latest = this.policies.map((policy) => policy.passRates());
    this.history.push(this.latest[0]);
    this.forecast.push(this.prediction.passRates());
    this.latest.forEach((p, s) => this.summaries[s].push(summary(p)));
  }

  /** Of all problems and of PARTS of them: the pass rate at the start, the gain predicted, and the seeds' mean and range. */
  gains() {
    const [start] = this.history,
      predicted = this.forecast.at(-1),
      parts = Math.min(PARTS, start.length),
      edge = (i) => Math.floor((i * start.length) / parts);
    const between = (from, to) => {
      const of = (p) => mean(p.slice(from, to)),
        begin = of(start),
        each = this.latest.map((p) => of(p) - begin);
      return {
        start: begin,
        predicted: of(predicted) - begin,
        realised: mean(each),
        low: Math.min(...each),
        high: Math.max(...each),
      };
    };
    return {
      all: between(0, start.length),
      parts: Array.from({ length: parts }, (_, i) => between(edge(i), edge(i + 1))),
    };
  }

  /** Some 120 of the steps, the last one with them: enough for a line. */
  shown() {
    const every = Math.max(1, Math.floor(this.time / 120)),
      at = [];
    for (let t = 0; t < this.time; t += every) at.push(t);
    return [...at, this.time];
  }

  /** { middle, low, high } over the seeds of a summary's number at some steps: mean, least and most. */
  across(name, at) {
    const values = at.map((t) => this.summaries.map((one) => one[t][name]));
    return {
      middle: values.map(mean),
      low: values.map((some) => Math.min(...some)),
      high: values.map((some) => Math.max(...some)),
    };
  }
}
