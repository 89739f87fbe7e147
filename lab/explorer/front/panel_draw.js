// The second panel: draw or write w(p), see what N rollouts reach of it, and take the estimator along.
import { Chart, niceDomain } from "./chart.js";
import { ESTIMATORS, resolve, writeSpec } from "./specs.js";
import { LARGEST } from "./design.js";
import { Grid, QUANTITIES, passRates } from "./mathematics.js";
import { MOST } from "./state.js";
import { LOG, checkbox, field, format, h, segmented, slider } from "./dom.js";

const COUNT = 21,
  P = Array.from({ length: COUNT }, (_, i) => Number((i / (COUNT - 1)).toFixed(2)));
const CHARTING = { kind: "linear", domain: [0, 1], label: "pass rate p" };
const SHAPES = {
  "only the middle": (p) => (p > 0.25 && p < 0.65 ? 4 : p === 0.25 || p === 0.65 ? 2 : 0),
  "hard ones": (p) => 4 * (1 - p) ** 3,
  "1/p, cut": (p) => 1 / Math.max(p, 0.1),
  level: () => 1,
  "easy and hard": (p) => 1 + 12 * (p - 0.5) ** 2,
};
const FORMULAS = ["exp(-5*p)", "1/(p + 0.05)", "step(0.3 - p)", "4*p*q", "p^-0.5 * q^-0.5", "1 + p"];

/** The estimator of a drawing as text, that lab.estimator reads. */
export function specOf(state) {
  const common = { zero_mean: state.zero_mean };
  return state.by === "hand"
    ? writeSpec(ESTIMATORS, "drawn", { p: P, w: state.points, ...common })
    : writeSpec(ESTIMATORS, "formula", { text: state.formula, ...common });
}

export class DrawPanel {
  constructor(app) {
    this.app = app;
    const { store } = app;
    this.grid = new Grid(passRates("linear"));
    this.N = slider(
      "Rollouts a problem, N",
      store.state.N,
      { least: 2, most: MOST.N, step: 1, scale: LOG(2, MOST.N), first: true },
      (N) => store.set({ N }),
    );
    this.way = h("div");
    this.formula = h("input", {
      type: "text",
      class: "state",
      spellcheck: "false",
      autocomplete: "off",
      oninput: () => store.set({ formula: this.formula.value }),
    });
    this.hand = h(
      "div",
      { class: "row" },
      Object.entries(SHAPES).map(([words, f]) =>
        h(
          "button",
          { type: "button", onclick: () => store.set({ points: P.map((p) => Number(f(p).toFixed(3))) }) },
          words,
        ),
      ),
    );
    this.written = h(
      "div",
      {},
      field("w(p) =", this.formula),
      h(
        "div",
        { class: "row" },
        FORMULAS.map((text) =>
          h(
            "button",
            {
              type: "button",
              onclick: () => {
                this.formula.value = text;
                store.set({ formula: text });
              },
            },
            text,
          ),
        ),
      ),
    );
    this.fault = h("p", { class: "fault", role: "alert" });
    this.zero = h("div");
    this.line = h("code", { class: "line", tabindex: "0" });
    this.copied = h("output", {});
    this.facts = h("p", { class: "meaning" });
    this.chart = new Chart({ label: "the drawn weight, and the best that N rollouts reach", height: 0.44, least: 260 });
    this.residual = new Chart({ label: "residual", height: 0.2, least: 120 });
    this.sequences = new Chart({ label: "the two sequences, gap and offset, by j", height: 0.3, least: 160 });
    this.chart.svg.setAttribute("tabindex", "0");
    this.chart.svg.setAttribute("role", "slider");
    this.chart.svg.setAttribute("aria-label", "drawn weight: left and right choose a point, up and down move it");
    this.chosen = 6;
    this.chart.listen((p, w) => this.pull(p, w), {
      drag: true,
      done: () => {
        this.before = null;
        this.frozen = null;
        this.app.refresh();
      },
    });
    this.chart.svg.addEventListener("keydown", (event) => this.key(event));
    this.element = h(
      "div",
      { class: "panel" },
      h(
        "section",
        { class: "controls", "aria-label": "the weight" },
        this.N.element,
        this.way,
        this.hand,
        this.written,
        this.fault,
        this.zero,
        h("h3", {}, "Train with it"),
        this.line,
        h(
          "div",
          { class: "row" },
          h("button", { type: "button", onclick: () => this.copy() }, "Copy this line"),
          h("button", { type: "button", onclick: () => this.add() }, "Add to the curves"),
          this.copied,
        ),
      ),
      h(
        "section",
        { class: "stage" },
        this.facts,
        this.chart.element,
        this.residual.element,
        this.sequences.element,
        app.saver(
          () => this.chart,
          () => this.columns(),
          "drawn",
        ),
      ),
    );
  }

  /** The pointer sets the points that it passes over. */
  pull(p, w) {
    const { state } = this.app.store;
    if (state.by !== "hand") return;
    const here = Math.round(p * (COUNT - 1)),
      [from, start] = this.before ?? [here, w],
      points = [...state.points];
    const value = Number(w.toPrecision(3));
    for (let i = Math.min(from, here); i <= Math.max(from, here); i++) {
      const share = here === from ? 1 : (i - from) / (here - from);
      points[i] = Number((start + share * (value - start)).toPrecision(3));
    }
    this.before = [here, value];
    this.frozen ??= this.domain; // the axis stands still under the hand
    this.chosen = here;
    this.app.store.set({ points });
  }

  key(event) {
    const { state } = this.app.store,
      along = { ArrowRight: 1, ArrowLeft: -1 }[event.key],
      up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (state.by !== "hand" || (!along && !up)) return;
    event.preventDefault();
    if (along) {
      this.chosen = Math.min(COUNT - 1, Math.max(0, this.chosen + along));
      this.update(state);
    } else {
      const size = Math.max(...state.points.map(Math.abs), 1);
      this.app.store.set({
        points: state.points.with(this.chosen, Number((state.points[this.chosen] + (up * size) / 40).toPrecision(3))),
      });
    }
  }

  /** `from lab import runs; ...`: the line that trains; every character of it is lab's own language. */
  python(state) {
    const objective = JSON.stringify(specOf(state));
    return `from lab import runs; runs.train(runs.configure("tabular", estimator=${objective}, rollouts=${state.N}))`;
  }

  /** What the lab is asked to fit: nothing while the formula cannot be read. */
  spec(state) {
    try {
      return resolve(ESTIMATORS, specOf(state)).spec && this.fault.textContent === "" ? specOf(state) : null;
    } catch {
      return null;
    }
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.line.textContent);
    } catch {
      // pages from disk may have no clipboard: select the line instead
      const range = document.createRange();
      range.selectNodeContents(this.line);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand("copy");
    }
    this.copied.textContent = "copied";
    setTimeout(() => {
      this.copied.textContent = "";
    }, 2000);
  }

  add() {
    const { store } = this.app,
      spec = specOf(store.state);
    store.set({ panel: "curves", curves: [...store.state.curves.filter((one) => one !== spec), spec].slice(-8) });
  }

  update(state) {
    const { store } = this.app;
    this.N.show(state.N);
    this.way.replaceChildren(
      segmented("how the weight is given", { hand: "Draw by hand", formula: "Write a formula" }, state.by, (by) =>
        store.set({ by }),
      ),
    );
    this.hand.hidden = state.by !== "hand";
    this.written.hidden = state.by === "hand";
    if (this.formula.value !== state.formula) this.formula.value = state.formula;
    this.zero.replaceChildren(
      checkbox("the advantages of every group sum to zero (one degree less)", state.zero_mean, (zero_mean) =>
        store.set({ zero_mean }),
      ),
    );
    this.line.textContent = this.python(state);
    this.fault.textContent = "";
    try {
      this.show(state);
      this.app.verify(this, state);
    } catch (error) {
      this.fault.textContent = error.message;
      this.residual.element.hidden = this.sequences.element.hidden = true;
      this.facts.textContent = "";
      this.drawn = null;
      this.draw(state, this.target(state));
    }
  }

  /** The drawing alone, where nothing can be fitted to it; null while a formula cannot be read. */
  target(state) {
    try {
      const { entry, options } = resolve(ESTIMATORS, specOf(state)),
        w = entry.limit(options);
      return { w, target: this.grid.p.map(w) };
    } catch {
      return null;
    }
  }

  show(state) {
    const found = resolve(ESTIMATORS, specOf(state)),
      w = found.entry.limit(found.options);
    const waits = state.N > LARGEST && this.app.kernel; // the lab fits any size
    const known = this.app.authority?.sequences(found.spec, state.N) ?? null,
      { sequences, stale } = known || waits ? { sequences: known, stale: false } : this.app.fits.sequences(found, state.N);
    const target = this.grid.p.map(w);
    this.element.toggleAttribute("data-fitting", stale);
    if (stale) this.facts.textContent = `Fitting ${state.N} rollouts …`;
    if (!sequences) {
      this.draw(state, { w, target });
      return;
    }
    const reached = QUANTITIES.weight(this.grid, sequences),
      left = reached.map((x, i) => x - target[i]);
    this.drawn = { target, reached, left, sequences, spec: found.spec };
    this.residual.element.hidden = this.sequences.element.hidden = false;
    this.draw(state, { w, target, reached, N: sequences[0].length });
    const theme = this.app.theme(),
      color = this.app.color("#c42a96"),
      blue = this.app.color("#0072b2");
    const large = Math.max(...target.map(Math.abs)); // so that rounding is not drawn as if it were a residual
    this.residual.draw(
      {
        x: CHARTING,
        y: { kind: "linear", domain: niceDomain([...left, 0.02 * large, -0.02 * large], "linear"), label: "w_N − w" },
        lines: [
          { x: [0, 1], y: [0, 0], color: theme.axis, width: 1 },
          {
            x: this.grid.p,
            y: left,
            color,
            width: 1.6,
            label: "what N rollouts do not reach: w_N − w",
            name: "residual",
          },
        ],
      },
      theme,
    );
    const [gap, offset] = sequences,
      j = gap.map((_, i) => i);
    this.sequences.draw(
      {
        x: {
          kind: "linear",
          domain: [-0.5, Math.max(1, gap.length - 0.5)],
          label: "j, right ones among the other N−1 rollouts",
        },
        y: { kind: "linear", domain: niceDomain([...gap, ...offset, 0], "linear"), label: "advantage" },
        lines: [
          { x: [-0.5, gap.length], y: [0, 0], color: theme.axis, width: 1 },
          { x: j, y: gap, color, width: 1, label: "gap[j]: what is optimised" },
          { x: j, y: offset, color: blue, width: 1, dash: [3, 2], label: "offset[j]: how noisily" },
        ],
        dots:
          gap.length > 80
            ? []
            : [
                ...Array.from(gap, (y, x) => ({ x, y, color })),
                ...Array.from(offset, (y, x) => ({ x, y, color: blue, hollow: true })),
              ],
      },
      theme,
    );
    if (stale) return;
    const kept = QUANTITIES.efficiency(MIDDLE, sequences);
    const off = Math.sqrt(
      left.reduce((sum, x, i) => sum + (x * weigh(this.grid.p[i])) ** 2, 0) /
        target.reduce((sum, x, i) => sum + (x * weigh(this.grid.p[i])) ** 2, 0),
    );
    const told = `${format(100 * off, 3)} % of the weight, measured where the gradient is, by p(1−p)`;
    const efficiencies = Array.from(MIDDLE.p, (p, i) => `${format(kept[i], 3)} at p = ${p}`).join(", ");
    this.facts.textContent =
      `At N = ${state.N} the residual is ${off < 1e-8 ? "zero: the weight is reached exactly" : told}. ` +
      `Efficiency ${efficiencies}.`;
  }

  draw(state, found) {
    const theme = this.app.theme(),
      purple = this.app.color("#c42a96"),
      lines = [],
      dots = [];
    const values = found ? [...found.target, ...(found.reached ?? [])] : [0, 1];
    const tame = values.filter(Number.isFinite).map((x) => Math.min(x, 1e4));
    this.domain =
      this.frozen ?? niceDomain([...tame, 0, state.by === "hand" ? 1.3 * Math.max(...tame, 0) : 0], "linear");
    if (found)
      lines.push({
        x: this.grid.p,
        y: found.target,
        color: theme.ink,
        width: 1.6,
        dash: [3, 2],
        label: state.by === "hand" ? "your w(p)" : `w(p) = ${state.formula}`,
        name: "target",
      });
    if (found?.reached)
      lines.push({
        x: this.grid.p,
        y: found.reached,
        color: purple,
        width: 2.6,
        label: `the best that N = ${found.N} reach`,
        name: "reached",
      });
    if (state.by === "hand")
      state.points.forEach((y, i) =>
        dots.push({
          x: P[i],
          y,
          color: i === this.chosen ? purple : theme.ink,
          r: i === this.chosen ? 5 : 3.2,
          hollow: i !== this.chosen,
        }),
      );
    this.chart.svg.style.cursor = state.by === "hand" ? "crosshair" : "default";
    this.chart.svg.setAttribute("aria-valuenow", String(state.points[this.chosen]));
    this.chart.svg.setAttribute("aria-valuetext", `w(${P[this.chosen]}) = ${state.points[this.chosen]}`);
    this.chart.draw(
      { x: CHARTING, y: { kind: "linear", domain: this.domain, label: "weight w(p)" }, lines, dots },
      theme,
    );
    this.app.drawn();
  }

  columns() {
    if (!this.drawn) return { p: this.grid.p };
    const {
      target,
      reached,
      left,
      sequences: [gap, offset],
    } = this.drawn;
    return { p: this.grid.p, w: target, w_N: reached, residual: left, j: gap.map((_, i) => i), gap, offset };
  }
}

const MIDDLE = new Grid([0.01, 0.1, 0.5, 0.9]);
const weigh = (p) => p * (1 - p);
