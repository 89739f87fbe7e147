// The fourth panel: many small problems, two objectives, the same random numbers; lab/toy/paired.py gives the same.
import { Chart, niceDomain } from "./chart.js";
import { looks } from "./looks.js";
import { ALIASES, ESTIMATORS, labelOf, offered } from "./specs.js";
import { ANSWERS, EASIEST, HARDEST, Policy, summary } from "./toy.js";
import { MOST } from "./state.js";
import { LOG, checkbox, field, format, h, rebuild, segmented, select, slider } from "./dom.js";

const LONGEST = 2000,
  RUNS = 400;
const SIDES = ["left", "right"];
const SET = ["N", "right_N", "left", "right", "problems", "equal", "length", "rate", "seed", "seeds", "across"];
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
    this.play = h(
      "button",
      { type: "button", class: "primary", onclick: () => (this.playing ? this.pause() : this.start()) },
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
          this.play,
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
        this.problems.element,
        this.seeds.element,
        field("First seed", this.seed),
        this.fault,
        h(
          "p",
          { class: "rules" },
          `Each problem is a softmax over ${ANSWERS} answers, one of them right; pass rates start even in ` +
            `log-odds from ${HARDEST} to ${EASIEST}. Steps of equal length change the logits of a problem equally ` +
            "on both sides, in the root mean square over problems; with one learning rate an estimator of a " +
            "larger scale also takes longer steps. Both sides draw with the same random numbers (Philox4x32-10, " +
            "one counter a problem, step and rollout).",
        ),
        h("h3", {}, "The same numbers in Python"),
        this.line,
      ),
      h(
        "section",
        { class: "stage" },
        h(
          "div",
          { class: "pair" },
          SIDES.map((side) => h("div", {}, this.heads[side], this.charts[side].element, this.spread[side].element)),
        ),
        this.mean.element,
        app.saver(
          () => this.mean,
          () => this.columns(),
          "toy",
        ),
      ),
    );
    this.key = "";
  }

  reset() {
    const { state } = this.app.store;
    this.runs = null;
    this.fault.textContent = "";
    try {
      const sizes = [state.N, state.right_N || state.N];
      this.found = SIDES.map((side, k) => this.app.estimator(state[side], sizes[k]));
      if (this.found.some(({ waiting, stale }) => waiting || stale)) return;
      this.runs = this.found.map(({ sequences }, k) => new Run(sequences, sizes[k], state));
    } catch (error) {
      this.pause();
      this.fault.textContent = error.message;
    }
  }

  start() {
    if (!this.runs) return;
    this.playing = true;
    this.play.textContent = "Pause";
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
    this.play.textContent = this.runs && this.time > 0 ? "Go on" : "Play";
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
    const key = JSON.stringify(SET.map((name) => state[name])),
      { store } = this.app;
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
    this.render();
  }

  /** What gives the same numbers in Python: a call, a call a seed, or such a line a side. */
  python(state) {
    const { seed, seeds } = state;
    const call = (names, N, steps) =>
      `paired.pass_rates([${names.map((name) => JSON.stringify(name)).join(", ")}], rollouts=${N}, ` +
      `problems=${state.problems}, steps=${Math.max(steps, 1)}, ` +
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
    return `from lab.toy import paired; ${calls.map((one) => every(call(...one))).join("; ")}`;
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
      this.charts[side].draw(
        { x, y: { kind: "logit", domain: [1e-4, 0.9999], label: "pass rate, a line a problem" }, lines: paths },
        theme,
      );
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
    this.app.drawn();
  }

  /** One row a step: the pass rate of every problem on both sides with the first seed, and the means of every seed. */
  columns() {
    const { seed, seeds, problems } = this.app.store.state,
      columns = { step: Array.from({ length: this.time + 1 }, (_, t) => t) };
    SIDES.forEach((side, k) => {
      const { history, summaries } = this.runs[k];
      for (let i = 0; i < problems; i++) columns[`${side} ${i}`] = history.map((p) => p[i]);
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

/** One side: a policy a seed. Every problem's pass rates are kept of the first seed, of the others their summaries. */
class Run {
  constructor(sequences, N, { problems, equal, length, rate, seed, seeds }) {
    this.N = N;
    this.policies = Array.from(
      { length: seeds },
      (_, s) =>
        new Policy({
          sequences,
          problems,
          rollouts: N,
          rate,
          length: equal === "length" ? length : null,
          seed: seed + s,
        }),
    );
    this.history = [];
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
    for (const policy of this.policies) policy.step();
    this.note();
  }

  note() {
    this.policies.forEach((policy, s) => {
      const p = policy.passRates();
      if (s === 0) this.history.push(p);
      this.summaries[s].push(summary(p));
    });
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
