// The fourth panel: many small problems, two objectives, the same random numbers; lab/toy/paired.py gives the same.
import { Chart, niceDomain } from "./chart.js";
import { looks } from "./looks.js";
import { ESTIMATORS, offered } from "./specs.js";
import { ANSWERS, EASIEST, HARDEST, Policy, summary } from "./toy.js";
import { LOG, field, format, h, select, slider } from "./dom.js";

const LONGEST = 2000,
  RUNS = 400;
const SIDES = ["left", "right"];

export class ToyPanel {
  constructor(app) {
    this.app = app;
    const { store } = app,
      names = Object.keys(offered(ESTIMATORS));
    this.N = slider(
      "Rollouts a problem, N",
      store.state.N,
      { least: 2, most: 1024, step: 1, scale: LOG(2, 1024), first: true },
      (N) => store.set({ N }),
    );
    this.problems = slider(
      "Problems",
      store.state.problems,
      { least: 4, most: 400, step: 1, scale: LOG(4, 400) },
      (problems) => store.set({ problems }),
    );
    this.rate = slider("Learning rate", store.state.rate, { least: 0.05, most: 5, step: 0.05 }, (rate) =>
      store.set({ rate }),
    );
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
        SIDES.map((side) => this.menus[side]),
        this.problems.element,
        this.rate.element,
        field("Seed", this.seed),
        h(
          "div",
          { class: "row" },
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
        this.fault,
        h(
          "p",
          { class: "rules" },
          `Each problem is a softmax over ${ANSWERS} answers, one of them right; ` +
            `pass rates start even in log-odds from ${HARDEST} to ${EASIEST}. ` +
            "Both sides draw with the same random numbers (Philox4x32-10, one counter a problem, step and rollout).",
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
      this.found = SIDES.map((side) => this.app.estimator(state[side], state.N));
      if (this.found.some(({ waiting }) => waiting)) return;
      this.runs = this.found.map(({ sequences }) => {
        const policy = new Policy({
          sequences,
          problems: state.problems,
          rollouts: state.N,
          rate: state.rate,
          seed: state.seed,
        });
        return { policy, history: [policy.passRates()] };
      });
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
    return this.runs ? this.runs[0].policy.time : 0;
  }

  forward() {
    if (this.time >= LONGEST) {
      this.pause();
      return;
    }
    for (const { policy, history } of this.runs) {
      policy.step();
      history.push(policy.passRates());
    }
  }

  advance(steps) {
    if (!this.runs) return;
    for (let i = 0; i < steps; i++) this.forward();
    this.render();
  }

  update(state) {
    const key = JSON.stringify(["N", "left", "right", "problems", "rate", "seed"].map((name) => state[name]));
    this.N.show(state.N);
    this.problems.show(state.problems);
    this.rate.show(state.rate);
    if (document.activeElement !== this.seed) this.seed.value = state.seed;
    if (key !== this.key || !this.runs) {
      this.key = key;
      for (const side of SIDES) {
        const all = this.names.includes(state[side]) ? this.names : [state[side], ...this.names];
        const start = (name) => this.app.start(name);
        const menu = select(all, state[side], (name) => this.app.store.set({ [side]: start(name) }));
        this.menus[side].replaceChildren(field(side === "left" ? "Left objective" : "Right objective", menu));
      }
      this.pause();
      this.reset();
    }
    const names = SIDES.map((side) => JSON.stringify(state[side])).join(", ");
    this.line.textContent =
      `from lab.toy import paired; paired.pass_rates([${names}], rollouts=${state.N}, ` +
      `problems=${state.problems}, steps=${Math.max(this.time, 1)}, learning_rate=${state.rate}, seed=${state.seed})`;
    this.render();
  }

  render() {
    const { state } = this.app.store,
      theme = this.app.theme();
    if (!this.runs) return;
    this.clock.textContent = `step ${this.time}${this.time >= LONGEST ? ", the end" : ""}`;
    this.line.textContent = this.line.textContent.replace(/steps=\d+/, `steps=${Math.max(this.time, 1)}`);
    const style = looks(this.found.map(({ name }) => name)).map((look) => ({
      ...look,
      color: this.app.color(look.color),
    }));
    const last = [50, 100, 200, 400, 800, 1200].find((end) => end >= this.time) ?? LONGEST,
      x = { kind: "linear", domain: [0, last], label: "step" };
    const every = Math.max(1, Math.floor(this.time / 120)),
      at = [];
    for (let t = 0; t <= this.time; t += every) at.push(t);
    if (at.at(-1) !== this.time) at.push(this.time);
    const lines = [];
    SIDES.forEach((side, k) => {
      const { history } = this.runs[k],
        { color, dash } = style[k],
        shown = Math.ceil(state.problems / 48),
        now = history.at(-1),
        numbers = summary(now);
      const paths = [];
      for (let i = 0; i < state.problems; i += shown)
        paths.push({ x: at, y: at.map((t) => history[t][i]), color, width: 1, opacity: 0.5 });
      const means = at.map((t) => summary(history[t]));
      this.heads[side].textContent =
        `${this.found[k].label}: mean ${format(numbers.mean, 3)}, hardest quarter ${format(numbers.hard, 3)}`;
      this.charts[side].draw(
        { x, y: { kind: "logit", domain: [1e-4, 0.9999], label: "pass rate, a line a problem" }, lines: paths },
        theme,
      );
      const bins = new Array(20).fill(0);
      now.forEach((p) => {
        bins[Math.min(19, Math.floor(20 * p))]++;
      });
      this.spread[side].draw(
        {
          x: { kind: "linear", domain: [0, 1], label: "pass rate now" },
          y: {
            kind: "linear",
            domain: [0, niceDomain([0, state.problems / 2, ...bins], "linear")[1]],
            label: "problems",
          },
          bars: bins.map((value, i) => ({
            from: i / 20 + 0.004,
            to: (i + 1) / 20 - 0.004,
            value,
            color,
            opacity: 0.8,
          })),
        },
        theme,
      );
      lines.push(
        { x: at, y: means.map(({ mean }) => mean), color, dash, width: 2.4, label: `${this.found[k].label}, all` },
        {
          x: at,
          y: means.map(({ hard }) => hard),
          color,
          dash,
          width: 1.2,
          label: `${this.found[k].label}, hardest quarter`,
        },
      );
    });
    this.mean.draw({ x, y: { kind: "linear", domain: [0, 1], label: "mean pass rate" }, lines }, theme);
    this.app.drawn();
  }

  /** One row a step: the pass rate of every problem on both sides. */
  columns() {
    const columns = { step: this.runs[0].history.map((_, t) => t) };
    SIDES.forEach((side, k) => {
      for (let i = 0; i < this.app.store.state.problems; i++)
        columns[`${side} ${i}`] = this.runs[k].history.map((p) => p[i]);
    });
    return columns;
  }
}
