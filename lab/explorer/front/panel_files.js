// The third panel: pass rates of your own, without their sampling noise, and what they mean for training.
import { Chart, niceDomain } from "./chart.js";
import { looks } from "./catalogue.js";
import { readFile } from "./files.js";
import { analyse } from "./pass_rates.js";
import { LOG, format, h, slider } from "./dom.js";

export class FilesPanel {
  constructor(app) {
    this.app = app;
    const { store } = app;
    this.N = slider("Rollouts a problem, N", store.state.N, { least: 2, most: 1024, step: 1, scale: LOG(2, 1024), first: true }, (N) => store.set({ N }));
    this.input = h("input", { type: "file", accept: ".csv,.jsonl,.parquet", id: "lab-file", onchange: () => { if (this.input.files[0]) this.open(this.input.files[0]); this.input.value = ""; } });
    this.zone = h("div", { class: "drop" }, h("label", { for: "lab-file" }, "Drop a file here, or choose one"), this.input,
      h("p", { class: "rules" }, "One row a problem with n and k (how often it was tried and solved), or one row a rollout with problem and reward (0 or 1). CSV or JSONL"
        + (app.kernel ? ", or parquet." : "; parquet is read in the notebook. Nothing leaves this page.")));
    for (const [name, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
      this.zone.addEventListener(name, (event) => { event.preventDefault(); this.zone.classList.toggle("over", over); });
    }
    this.zone.addEventListener("drop", (event) => { if (event.dataTransfer.files[0]) this.open(event.dataTransfer.files[0]); });
    this.fault = h("p", { class: "fault", role: "alert" });
    this.notes = h("div", { class: "notes" });
    this.example = h("button", { type: "button", onclick: () => this.take(EXAMPLE) }, "Show an invented example");
    this.histogram = new Chart({ label: "pass rates of the problems, with and without sampling noise", height: 0.32, least: 210 });
    this.gradient = new Chart({ label: "share of the gradient by pass rate", height: 0.32, least: 210 });
    this.dead = new Chart({ label: "share of dead groups by group size", height: 0.32, least: 210 });
    this.larger = new Chart({ label: "mean gradient by group size", height: 0.32, least: 210 });
    this.stage = h("section", { class: "stage" }, h("h3", {}, "How hard the problems are"), this.histogram.element, h("h3", {}, "Where each objective spends its gradient"),
      this.gradient.element, h("h3", {}, "Dead groups"), this.dead.element,
      h("h3", {}, "What a larger N would change"), this.larger.element, app.saver(() => this.dead, () => this.columns(), "pass_rates"));
    this.stage.hidden = true;
    this.element = h("div", { class: "panel" }, h("section", { class: "controls", "aria-label": "the file" }, this.N.element, this.zone, this.fault, this.example,
      h("p", { class: "rules" }, "The objectives are those of the first panel."), this.notes), this.stage);
  }

  async open(file) {
    this.fault.textContent = "";
    this.notes.textContent = `reading ${file.name} …`;
    try {
      this.take(this.app.kernel ? await this.app.kernel.read(file) : await readFile(file), file.name);
    } catch (error) {
      this.notes.textContent = "";
      this.fault.textContent = error.message;
    }
  }

  /** Counts { n, correct, notes } or exact pass rates become what is drawn. */
  take(counts) {
    this.counts = counts;
    this.fitted = null;
    this.app.refresh();
  }

  update(state) {
    this.N.show(state.N);
    if (!this.counts) {
      this.app.drawn();
      return;
    }
    const lines = this.app.lines(state).filter(({ sequences }) => sequences);
    const gap = (spec) => (N) => { try { return this.app.estimator(spec, N).sequences?.[0] ?? null; } catch { return null; } };
    try {
      this.found = analyse(this.counts, state.N, Object.fromEntries(lines.map(({ spec }) => [spec, gap(spec)])), this.fitted ??= {});
    } catch (error) {
      this.fault.textContent = error.message;
      return;
    }
    this.stage.hidden = false;
    const { counts, found } = this, theme = this.app.theme(), bins = found.problems.length, m = counts.n.length;
    const dead = counts.n.filter((size, i) => counts.correct[i] === 0 || counts.correct[i] === size).length;
    this.notes.replaceChildren(...counts.notes.map((note) => h("p", {}, note)), h("p", {}, `${counts.correct.reduce((a, b) => a + b, 0)} of ${counts.n.reduce((a, b) => a + b, 0)} rollouts are right, `
      + `${Math.min(...counts.n)} to ${found.reach} a problem; ${format(100 * dead / m, 3)} % of groups are dead as they lie. Noise removed by maximum likelihood, smooth; larger N is extrapolated. Estimates from ${m} problems, without intervals: lab audit gives them.`));
    const percent = found.edges.map((edge) => format(100 * edge)), ticks = found.problems.map((_, i) => [i + 0.5, `${percent[i]}–${percent[i + 1]}`]);
    const x = { kind: "linear", domain: [0, bins], label: "pass rate p, %", ticks };
    const dashed = looks(lines.map(({ name }) => name)), style = dashed.map((look) => this.app.color(look.color));
    this.histogram.draw({ x, y: { kind: "linear", domain: niceDomain([0, ...found.problems, ...found.naive ?? []], "linear"), label: "share of problems" },
      bars: [...found.problems.map((value, i) => ({ from: i + 0.12, to: i + 0.5, value, color: this.app.color("#0072b2"), opacity: 0.85 })),
        ...(found.naive ?? []).map((value, i) => ({ from: i + 0.52, to: i + 0.88, value, color: theme.muted, outline: true }))],
      keys: [{ label: "without noise", color: this.app.color("#0072b2"), block: true }, { label: "k/n taken for p", color: theme.muted, dash: [2, 1] }] }, theme);
    const shares = lines.map(({ spec }) => found.gradients[spec]), slot = 0.8 / Math.max(1, lines.length);
    this.gradient.draw({ x, y: { kind: "linear", domain: niceDomain([0, ...shares.flat()], "linear"), label: `share of gradient, N = ${state.N}` },
      bars: shares.flatMap((values, k) => values.map((value, i) => ({ from: i + 0.1 + slot * k, to: i + 0.1 + slot * (k + 0.86), value, color: style[k], opacity: 0.9 }))),
      keys: lines.map(({ label }, k) => ({ label, color: style[k], block: true })) }, theme);
    const sizes = found.sizes, top = sizes.at(-1);
    this.dead.draw({ x: { kind: "log", domain: [2, Math.max(4, top)], label: "rollouts N (shaded: extrapolated)", ticks: sizes.map((size) => [size, String(size)]) },
      y: { kind: "linear", domain: [0, 1], label: "share of groups that are dead" }, bands: found.reach < top ? [[Math.max(2, found.reach), top]] : [],
      lines: [{ x: sizes, y: found.dead, color: theme.ink, width: 2.2, label: "dead: all wrong or all right" },
        ...(found.deadNaive ? [{ x: sizes, y: found.deadNaive, color: theme.muted, dash: [3, 2], width: 1.6, label: "the same with k/n taken for p" }] : [])],
      dots: sizes.map((size, i) => ({ x: size, y: found.dead[i], color: theme.ink })), mark: state.N }, theme);
    const signals = lines.map(({ spec }) => found.signals[spec]);
    this.larger.draw({ x: this.dead.spec.x, y: { kind: "linear", domain: niceDomain([0, ...signals.flat()], "linear"), label: "mean of p(1−p)|w_N|" }, bands: this.dead.spec.bands,
      lines: lines.map(({ label }, k) => ({ x: sizes, y: signals[k], color: style[k], dash: dashed[k].dash, label })), mark: state.N }, theme);
    this.app.drawn();
  }

  columns() {
    const { edges, problems, naive, gradients, signals, sizes, dead, deadNaive } = this.found;
    return { from: edges.slice(0, -1), to: edges.slice(1), problems, ...(naive ? { "K/n as p": naive } : {}),
      ...Object.fromEntries(Object.entries(gradients).map(([name, values]) => [`gradient ${name}`, values])), N: sizes, dead, ...(deadNaive ? { "dead, K/n as p": deadNaive } : {}),
      ...Object.fromEntries(Object.entries(signals).map(([name, values]) => [`mean gradient ${name}`, values])) };
  }
}

/** Counts that were made up: 120 problems of 16 rollouts, many hard, some easy. It says so wherever it is shown. */
const EXAMPLE = (() => {
  const n = [], correct = [];
  for (const [k, times] of [[0, 38], [1, 17], [2, 11], [3, 8], [5, 8], [8, 9], [11, 7], [13, 6], [15, 6], [16, 10]]) {
    for (let i = 0; i < times; i++) { n.push(16); correct.push(k); }
  }
  return { n, correct, notes: [`an invented example: ${n.length} problems of 16 rollouts`] };
})();
