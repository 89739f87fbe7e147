// The panel "Be the verifier": a language model answers, the reader ticks what is right, and the page takes the real gradient step.
import { Beside, beside } from "./beside.js";
import { Chart } from "./chart.js";
import { LOOKS } from "./looks.js";
import { ANSWERS, Practice, QUESTIONS, RATE, Run } from "./verifier.js";
import { h, rebuild, segmented, slider, write } from "./dom.js";

const NAMES = { rloo: "RLOO", grpo: "GRPO", maxrl: "MaxRL" },
  KINDS = { practised: "The sixteen questions that it practises", others: "Sixteen others, which it never practises" },
  MANY = 10; // steps at one press
const share = (x) => x.toFixed(2),
  percent = (x) => `${Math.round(100 * x)} %`;

export class VerifierPanel {
  constructor(app) {
    this.app = app;
    const { store } = app;
    Object.assign(this, {
      practice: null,
      runs: new Map(),
      run: null,
      question: 0,
      busy: "",
      going: false,
      seconds: null,
    });
    const button = (words, act, more = {}) => h("button", { type: "button", onclick: act, ...more }, words);
    this.model = new Beside("data/models/terse/model.safetensors", (file) => this.open(file));
    const load = () => this.open(beside("tiny-language-model.js", "labLanguageModel"));
    this.load = button("Load the model (2.2 MB)", load, { class: "primary" });
    this.estimator = h("div", { class: "first" });
    this.wrong = slider(
      "Ticks made for you that are wrong",
      store.state.wrong,
      { least: 0, most: 0.5, step: 0.05, hint: "0.1: one in ten", first: true },
      (wrong) => store.set({ wrong }),
    );
    this.buttons = {
      learn: button("Take the step", () => this.go(1), { class: "primary" }),
      many: button(`${MANY} steps, ticked for me`, () => this.go(MANY)),
      stop: button("Stop", () => (this.going = false)),
      begin: button("Begin again", () => this.begin()),
    };
    this.clock = h("output", { class: "where first" });
    this.head = h("h3");
    this.sheet = h("div", { class: "sheet" });
    this.charts = Object.fromEntries(
      Object.entries(KINDS).map(([kind, words]) => [
        kind,
        new Chart({ label: `pass@1 and pass@16 by step: ${words}`, height: 0.62, least: 200 }),
      ]),
    );
    this.found = h("p", { class: "meaning", role: "status" });
    const turn = (by) => () => {
      this.question = (this.question + by + QUESTIONS.practised.length) % QUESTIONS.practised.length;
      this.render();
    };
    this.stage = h(
      "section",
      { class: "stage", hidden: true },
      h(
        "div",
        { class: "row" },
        button("‹", turn(-1), { "aria-label": "previous question" }),
        button("›", turn(1), { "aria-label": "next question" }),
        this.head,
        button("Tick for me", () => {
          this.run.tick(this.question);
          this.render();
        }),
      ),
      this.sheet,
      h(
        "div",
        { class: "pair" },
        Object.entries(KINDS).map(([kind, words]) => h("div", {}, h("h3", {}, words), this.charts[kind].element)),
      ),
      this.found,
      app.saver(
        () => this.charts.practised,
        () => this.columns(),
        "verifier",
      ),
    );
    this.work = h("div", { class: "row first", hidden: true }, Object.values(this.buttons));
    const first = h(
      "p",
      { class: "first" },
      "A language model of 412,800 weights answers sixteen questions, sixteen times each. ",
      h("b", {}, "You say which answers are right"),
      ", and this page computes the gradient and moves the model.",
    );
    this.element = this.model.panel(
      [first, h("div", { class: "row first" }, this.load)],
      [this.estimator, this.wrong.element, this.work, this.clock],
      RULES,
      this.stage,
    );
  }

  /** Take in the model's file, and let it answer for the first time. */
  async open(file) {
    if (this.busy) return;
    await this.during("reading the model", async () => {
      this.practice = await this.model.read(file, (buffer) => new Practice(buffer), "no model was read");
    });
    if (this.practice) this.choose();
  }

  /** Do what takes seconds; `words` say what it is, and a fault becomes a sentence. */
  async during(words, act) {
    this.busy = words;
    write(this.model.fault, "");
    this.app.refresh();
    const began = performance.now();
    try {
      await act();
      this.seconds = (performance.now() - began) / 1000;
    } catch (error) {
      this.going = false;
      write(this.model.fault, error.message);
    }
    this.busy = "";
    this.app.refresh();
  }

  get key() {
    const { estimator, wrong } = this.app.store.state;
    return `${estimator} ${wrong}`;
  }

  /** The run of the estimator and the share of wrong ticks on the screen; a new one begins at the model as it was made. */
  async choose() {
    const { key } = this,
      { estimator, wrong } = this.app.store.state;
    if (!this.practice || this.busy || this.going || this.run?.key === key) return;
    if (!this.runs.has(key)) {
      const run = new Run(this.practice, this.app.estimator(estimator, ANSWERS).sequences, wrong);
      Object.assign(run, {
        key,
        name: estimator,
        label: NAMES[estimator] + (wrong ? `, ${percent(wrong)} of ticks wrong` : ""),
      });
      this.runs.set(key, run);
      await this.during("the model answers", () => run.answer());
      if (!run.points.length) this.runs.delete(key);
    }
    if (!this.runs.has(key)) return;
    this.run = this.runs.get(key);
    this.app.refresh();
  }

  begin() {
    if (this.busy || !this.run) return;
    this.runs.delete(this.run.key);
    this.run = null;
    this.choose();
  }

  async go(steps) {
    const { run } = this;
    if (!run || this.busy) return;
    this.going = true;
    for (let i = 0; i < steps && this.going; i++) {
      await this.during(steps > 1 ? `step ${i + 1} of ${steps}` : "the step", () => run.learn());
      this.question = (this.question + 1) % QUESTIONS.practised.length;
    }
    this.going = false;
    this.app.refresh();
  }

  update(state) {
    const { store } = this.app;
    rebuild(this.estimator, state.estimator, () => [
      segmented("estimator", NAMES, state.estimator, (estimator) => store.set({ estimator })),
    ]);
    this.wrong.show(state.wrong);
    if (this.run && this.run.key !== this.key) this.going = false; // the step in hand is finished
    if (this.practice) this.choose();
    this.render();
  }

  render() {
    const { run, app, busy } = this;
    this.load.hidden = this.practice !== null;
    this.load.setAttribute("aria-disabled", String(Boolean(busy)));
    this.stage.hidden = this.work.hidden = !run;
    for (const name of ["learn", "many", "begin"])
      this.buttons[name].setAttribute("aria-disabled", String(Boolean(busy)));
    this.buttons.stop.setAttribute("aria-disabled", String(!this.going));
    const what = run?.step ? "the last" : "the answers",
      took = this.seconds === null ? "" : `; ${what} took ${this.seconds.toFixed(1)} s`;
    write(this.clock, busy ? `${busy} …` : run ? `${run.label}: step ${run.step}${took}` : "");
    if (run) {
      this.answers(run);
      this.draw();
    }
    app.drawn();
  }

  /** The sixteen answers to the question on the screen, each a button to tick. */
  answers(run) {
    const { question } = QUESTIONS.practised[this.question],
      group = run.groups[this.question],
      ticks = run.ticks[this.question];
    write(
      this.head,
      `Question ${this.question + 1} of ${QUESTIONS.practised.length}: ${question} Tick the right answers.`,
    );
    rebuild(this.sheet, [run.key, run.step, this.question, ticks], () =>
      group.map(({ text }, i) =>
        h(
          "button",
          {
            type: "button",
            "aria-pressed": String(Boolean(ticks?.[i])),
            onclick: () => {
              const ticks = (this.run.ticks[this.question] ??= group.map(() => false));
              ticks[i] = !ticks[i];
              this.render();
            },
          },
          h("span", { "aria-hidden": "true" }, ticks?.[i] ? "✓" : ""),
          h("code", {}, text || "(nothing)"),
        ),
      ),
    );
  }

  draw() {
    const { app, run } = this,
      runs = [...this.runs.values()].filter(({ step, key }) => step > 0 || key === run.key),
      last = Math.max(MANY, ...runs.map(({ step }) => step));
    for (const [kind, chart] of Object.entries(this.charts)) {
      const lines = runs.flatMap(({ points, label, name, wrong }) =>
        [16, 1].map((tries, j) => ({
          x: points.map((_, step) => step),
          y: points.map((point) => point[kind][1 - j]),
          color: app.color(LOOKS[name][0]),
          dash: wrong ? [5, 3] : [],
          width: j ? 1.4 : 2.8,
          label: `${label}, pass@${tries}`,
        })),
      );
      const dots = lines.filter(({ x }) => x.length === 1).map(({ x, y, color }) => ({ x: x[0], y: y[0], color }));
      chart.draw(
        {
          x: { kind: "linear", domain: [0, last], label: "step" },
          y: { kind: "linear", domain: [0, 1], label: "pass@1 (thin), pass@16 (thick)" },
          lines,
          dots,
        },
        app.theme(),
      );
    }
    const [first, now] = [run.points[0], run.points.at(-1)],
      told = (kind) =>
        [0, 1]
          .map((k) => [first, ...(run.step ? [now] : [])].map((point) => share(point[kind][k])).join(" → "))
          .map((shares, k) => `pass@${k ? 16 : 1} ${shares}`)
          .join(", "),
      when = run.step ? `${run.step} ${run.step === 1 ? "step" : "steps"}` : "before the first step";
    write(this.found, `${run.label}, ${when}. Practised: ${told("practised")}. Others: ${told("others")}.`);
  }

  columns() {
    const columns = {
      step: [...this.runs.values()]
        .reduce((all, { points }) => (points.length > all.length ? points : all), [])
        .map((_, i) => i),
    };
    for (const { label, points } of this.runs.values())
      for (const kind of Object.keys(KINDS))
        [1, 16].forEach((tries, k) => {
          columns[`${label}, ${kind}, pass@${tries}`] = points.map((point) => point[kind][k]);
        });
    return columns;
  }
}

const RULES =
  "Answers are drawn at temperature 1, with the same random numbers for every estimator. A right answer moves the model " +
  `towards itself, a wrong one away; by how much, the estimator says. The step is that of the lab's trainer: AdamW, rate ${RATE}, ` +
  "gradients clipped to 1. Questions that you leave unticked are ticked for you. A step takes seconds on a fast machine, " +
  "half a minute on a slow one. What to expect, from ten steps in torch on these questions, with one seed and 32 answers " +
  "to each other question: on the others pass@1 goes from 0.25 to 0.32 (RLOO), 0.38 (GRPO), 0.34 (MaxRL); pass@16 first rises " +
  "from 0.85 to 0.90, by the second step, and then drains to 0.76, 0.74, 0.78. With one tick in ten wrong RLOO ends at 0.24 and " +
  "0.70. Between estimators sixteen questions cannot tell.";
