// The first panel: what N rollouts really optimise, beside what they promise.
import { Chart, niceDomain } from "./chart.js";
import { GateControl } from "./gate_control.js";
import { GATED, behind, isGated, keepsSome, parseGate } from "./gates.js";
import { looks } from "./looks.js";
import { Pad } from "./pad.js";
import { CurveList } from "./rows.js";
import { ESTIMATORS, OBJECTIVES, resolve } from "./specs.js";
import { Grid, LIMITS, QUANTITIES, passRates } from "./mathematics.js";
import { LOG, checkbox, format, h, rebuild, segmented, slider, write } from "./dom.js";
import { MOST } from "./state.js";

export const NAMES = {
  weight: "weight w(p)",
  objective: "objective J(p) − J(½)",
  efficiency: "efficiency e(p)",
  mass: "signal mass E|A|",
  contrast: "contrast w p(1−p)",
};
const MEANING = {
  weight:
    "How much each pass rate counts: the expected gradient is w(p) ∇p. " +
    "Solid: what N rollouts give. Thin dashes: the limit of many.",
  objective: "What is climbed: the integral of w, zero at p = ½.",
  efficiency:
    "The squared signal-to-noise ratio kept, beside the oracle baseline r − p " +
    "(as in language models, where correctness explains little of the score).",
  mass: "The mean size of the advantages that a problem hands out.",
  contrast:
    "The weight on the difference between the mean right and the mean wrong answer; the log-odds are flat here.",
};
export const AXES = { log: "log", deep: "log to 10⁻⁶", linear: "linear", logit: "log-odds" };
export const SPAN = { log: [1e-4, 1], deep: [1e-6, 1], linear: [0, 1], logit: [1e-4, 1 - 1e-4] };
export const kindOf = (axis) => (axis === "deep" ? "log" : axis);

export class CurvesPanel {
  constructor(app) {
    this.app = app;
    this.grids = Object.fromEntries(Object.keys(AXES).map((axis) => [axis, new Grid(passRates(axis))]));
    this.limits = new Map();
    this.at = 0.1;
    const { store } = app;
    this.N = slider(
      "Rollouts a problem, N",
      store.state.N,
      { least: 2, most: MOST.N, step: 1, scale: LOG(2, MOST.N), first: true },
      (N) => store.set({ N }),
    );
    this.gate = new GateControl(app);
    this.estimators = new CurveList(app, "estimator", ESTIMATORS, "curves");
    this.objectives = new CurveList(app, "objective", OBJECTIVES, "objectives");
    this.pad = new Pad(app);
    this.tabs = h("div", {
      class: "tabs",
      role: "tablist",
      "aria-label": "what is drawn",
      onkeydown: (event) => this.turn(event),
    });
    this.small = {};
    for (const quantity of Object.keys(NAMES)) {
      const chart = new Chart({ label: NAMES[quantity], height: 0.42, least: 44, small: true });
      const tab = h(
        "button",
        {
          type: "button",
          role: "tab",
          onclick: () => store.set({ quantity, ...(quantity === "weight" ? {} : { y: "linear" }) }),
        },
        h("span", {}, NAMES[quantity]),
        chart.element,
      );
      this.small[quantity] = { chart, tab };
      this.tabs.append(tab);
    }
    this.chart = new Chart({ label: "curves over the pass rate", height: app.kernel ? 0.33 : 0.52, least: 250 });
    this.chart.svg.setAttribute("tabindex", "0");
    this.chart.svg.setAttribute("aria-description", "left and right arrows move the pass rate that is read out below");
    this.chart.listen((p) => this.read(p));
    this.chart.svg.addEventListener("keydown", (event) => this.key(event));
    this.meaning = h("p", { class: "meaning" });
    this.axes = h("div", { class: "row options" });
    this.table = h("div", {
      class: "readout",
      tabindex: "0",
      role: "region",
      "aria-label": "numbers at one pass rate",
    });
    this.element = h(
      "div",
      { class: "panel" },
      h(
        "section",
        { class: "controls", "aria-label": "what is compared" },
        this.N.element,
        this.gate.element,
        h("h3", {}, "Estimators at N rollouts"),
        this.estimators.element,
        h("h3", {}, "Objectives, whatever N"),
        this.objectives.element,
      ),
      h(
        "section",
        { class: "stage" },
        this.tabs,
        this.axes,
        this.chart.element,
        this.meaning,
        h("div", { class: "below" }, this.table, this.pad.element),
        app.saver(
          () => this.chart,
          () => this.columns(),
          "curves",
        ),
      ),
    );
  }

  /** Arrows move along the tabs. */
  turn(event) {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key],
      names = Object.keys(NAMES);
    if (!move) return;
    event.preventDefault();
    const next =
      this.small[names[(names.indexOf(this.app.store.state.quantity) + move + names.length) % names.length]].tab;
    next.click();
    next.focus();
  }

  key(event) {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const p = this.grids[this.app.store.state.x].p,
      near = p.findIndex((x) => x >= this.at * (1 - 1e-12));
    this.read(
      p[Math.max(0, Math.min(p.length - 1, (near < 0 ? p.length - 1 : near) + move * (event.shiftKey ? 10 : 1)))],
    );
  }

  /** Everything that is drawn: { label, name, w, sequences or null, error } a curve. */
  gather(state) {
    const lines = [];
    for (const spec of state.curves) {
      try {
        lines.push({ kind: "curve", spec, ...this.app.estimator(spec, state.N, true) });
      } catch (error) {
        lines.push({ kind: "curve", spec, name: spec, label: spec, error: error.message });
      }
    }
    for (const spec of state.objectives) {
      try {
        const found = resolve(OBJECTIVES, spec);
        lines.push({
          kind: "objective",
          spec,
          name: found.name,
          label: found.label,
          options: found.options,
          w: found.entry.w(found.options),
        });
      } catch (error) {
        lines.push({ kind: "objective", spec, name: spec, label: spec, error: error.message });
      }
    }
    looks(lines.map(({ name }) => name)).forEach((look, i) => {
      const dash = lines[i].kind === "objective" && !look.dash.length ? [3, 2] : look.dash; // no solid line but at an N
      Object.assign(lines[i], { color: this.app.color(look.color), dash });
    });
    return lines;
  }

  limit(line, quantity, axis) {
    if (!line.w) return line.limit?.(quantity, axis) ?? null;
    const key = `${line.spec} ${quantity} ${axis}`;
    if (!this.limits.has(key)) {
      if (this.limits.size > 200) this.limits.clear();
      this.limits.set(key, LIMITS[quantity](this.grids[axis].p, line.w));
    }
    return this.limits.get(key);
  }

  update(state) {
    this.lines = this.gather(state);
    this.N.show(state.N);
    this.gate.update(state);
    this.controls(state);
    this.draw(state);
    cancelAnimationFrame(this.later);
    this.later = requestAnimationFrame(() => {
      this.thumbnails(state);
      this.read(this.at);
    });
    this.app.verify(this, state);
  }

  /**
   * The curves of one quantity on the grid of the axis, scaled to 1 at p = 1/2 if asked: { y, limit, gated } a line,
   * each null where there is none.
   */
  values(state, quantity) {
    const grid = this.grids[state.x],
      gate = isGated(state) ? parseGate(state.gate) : null;
    return this.lines.map((line) => {
      if (line.error || line.waiting) return { y: null, limit: null, gated: null };
      const to = (values, middle) => values.map((value) => value / (middle || 1));
      const scaled = state.normalise && quantity !== "efficiency";
      const limit = this.limit(line, quantity, state.x);
      const half = line.w ? line.w(0.5) : line.half;
      const shownLimit = scaled && limit ? (half ? to(limit, half) : null) : limit;
      if (line.kind === "objective") return { y: null, limit: shownLimit, gated: null };
      const known = (gate) => this.app.authority?.get(line.spec, { ...state, gate }, quantity);
      const y = known("none") ?? QUANTITIES[quantity](grid, line.sequences);
      const gated = gate && (known(state.gate) ?? GATED[quantity](grid, line.sequences, gate));
      return {
        y: scaled ? to(y, QUANTITIES.weight(HALF, line.sequences)[0]) : y,
        limit: shownLimit,
        gated: gated && scaled ? to(gated, GATED.weight(HALF, line.sequences, gate)[0]) : gated,
      };
    });
  }

  draw(state) {
    const { quantity } = state,
      p = this.grids[state.x].p,
      found = this.values(state, quantity);
    const kind = quantity === "objective" || quantity === "efficiency" ? "linear" : state.y;
    const solid = found.flatMap(({ y, limit }, i) => [
      ...(y ?? (this.lines[i].kind === "objective" && limit ? limit : [])),
    ]);
    const own = found.some(({ y }) => y) ? found.flatMap(({ y, gated }) => [...(y ?? []), ...(gated ?? [])]) : solid;
    const domain = quantity === "efficiency" ? [0, 1] : niceDomain(own, kind, 1e-5);
    if (quantity === "objective") {
      const cap = 1.2 * Math.max(...own.map(Math.abs));
      [domain[0], domain[1]] = niceDomain(
        [-cap, cap].map((x) => Math.max(-12, Math.min(12, x))),
        "linear",
      );
    }
    this.found = found;
    const drawn = [];
    this.lines.forEach((line, i) => {
      const { y, limit, gated } = found[i],
        { color, dash, label } = line;
      if (line.waiting) drawn.push({ x: [], y: [], color, dash, width: 2.2, label: line.label, name: line.spec });
      if (line.kind === "objective" && limit)
        drawn.push({
          x: p,
          y: limit,
          color,
          dash,
          width: 1.6,
          label: line.label,
          name: line.spec,
        });
      if (line.kind === "curve" && y) {
        if (state.limits && limit)
          drawn.push({ x: p, y: limit, color, dash: [2, 3], width: 1, name: `limit ${line.spec}` });
        const plain = { x: p, y, color, dash, name: line.spec };
        if (!gated) drawn.push({ ...plain, width: 2.2, label });
        else {
          drawn.push({ ...plain, width: 1, opacity: 0.85 });
          drawn.push({ x: p, y: gated, color, dash, width: 2.6, label, name: this.recipe(line, state) });
        }
      }
    });
    const unit = state.normalise && quantity !== "efficiency" ? ", 1 at w(½)" : "";
    this.chart.draw(
      {
        x: { kind: kindOf(state.x), domain: SPAN[state.x], label: "pass rate p" },
        y: { kind, domain, label: NAMES[quantity] + unit },
        lines: drawn,
        named: true,
        mark: this.at,
      },
      this.app.theme(),
    );
    this.app.drawn();
  }

  /** The text from which lab.recipe reads what is drawn of a line behind the gate. */
  recipe({ spec, sequences }, { gate }) {
    return `${spec}, N=${sequences[0].length}, gate=${gate}`;
  }

  thumbnails(state) {
    const coarse = (this.coarse ??= Object.fromEntries(
      Object.keys(AXES).map((axis) => [axis, new Grid(passRates(axis, 61))]),
    ));
    for (const [quantity, { chart, tab }] of Object.entries(this.small)) {
      tab.setAttribute("aria-selected", String(quantity === state.quantity));
      tab.tabIndex = quantity === state.quantity ? 0 : -1;
      const lines = this.lines
        .filter(({ sequences }) => sequences)
        .map(({ sequences, color, dash }) => ({
          x: coarse[state.x].p,
          y: QUANTITIES[quantity](coarse[state.x], sequences),
          color,
          dash,
          width: 1.3,
        }));
      const kind = quantity === "weight" || quantity === "contrast" ? state.y : "linear";
      const domain =
        quantity === "efficiency"
          ? [0, 1]
          : niceDomain(
              lines.flatMap(({ y }) => [...y]),
              kind,
              1e-4,
            );
      chart.draw(
        { x: { kind: kindOf(state.x), domain: SPAN[state.x], label: "" }, y: { kind, domain, label: "" }, lines },
        this.app.theme(),
      );
    }
  }

  /** The lists, the square, and the switches above the chart. */
  controls(state) {
    this.estimators.update(this.lines.slice(0, state.curves.length), state.theme);
    this.objectives.update(this.lines.slice(state.curves.length), state.theme);
    this.pad.update(state);
    const { store } = this.app;
    rebuild(this.axes, [state.x, state.y, state.limits, state.normalise], () => [
      h("span", { class: "caption" }, "p"),
      segmented("axis of the pass rate", AXES, state.x, (x) => store.set({ x })),
      h("span", { class: "caption" }, "value"),
      segmented("axis of the value", { log: "log", linear: "linear" }, state.y, (y) => store.set({ y })),
      checkbox("limits", state.limits, (limits) => store.set({ limits })),
      checkbox("scale to 1 at p = ½", state.normalise, (normalise) => store.set({ normalise })),
    ]);
    write(this.meaning, MEANING[state.quantity]);
  }

  /** The numbers at one pass rate: every quantity of every curve; behind a gate, what the gate makes of the weight. */
  read(p) {
    this.at = Math.min(Math.max(p, 1e-6), 1 - 1e-4);
    if (!this.lines) return;
    this.chart.mark(this.at);
    const { state } = this.app.store,
      grid = new Grid([this.at]),
      gate = parseGate(state.gate),
      gated = gate.name !== "none" && keepsSome(gate, state.N);
    const shown = this.lines.filter(({ error, waiting }) => !error && !waiting);
    const rows = shown.map((line) => {
      const value = (quantity) =>
        line.sequences ? QUANTITIES[quantity](grid, line.sequences)[0] : LIMITS[quantity](grid.p, line.w)?.[0];
      const limit = line.kind === "curve" && line.w ? line.w(this.at) : null;
      const part = gated && line.sequences ? behind(grid, line.sequences, gate) : null;
      const cells = gated
        ? [part?.weight[0], part?.cost[0], part?.kept[0], value("efficiency")]
        : ["objective", "efficiency", "mass", "contrast"].map(value);
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, h("span", { class: "dot", style: `background:${line.color}` }), line.label),
        h("td", {}, format(value("weight"))),
        h("td", { class: "limit" }, format(limit)),
        cells.map((number) => h("td", {}, format(number))),
      );
    });
    // A page that stands alone may hold a curve at another N than the one that is set.
    const sizes = new Set(shown.flatMap(({ sequences }) => (sequences ? [sequences[0].length] : [])));
    const N = [...sizes].sort((a, b) => a - b).join(", ") || state.N;
    const words = gated
      ? [`w, gate ${gate.name}`, "rollouts", "share kept", "efficiency"]
      : ["J − J(½)", "efficiency", "signal mass", "w p(1−p)"];
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
            h("th", { scope: "col" }, h("output", { class: "where" }, `p = ${format(this.at, 3)}`)),
            [`w at N = ${N}`, "limit w", ...words].map((word) => h("th", { scope: "col" }, word)),
          ),
        ),
        h("tbody", {}, rows),
      ),
    );
  }

  columns() {
    const { state } = this.app.store,
      columns = { p: this.grids[state.x].p };
    this.lines.forEach((line, i) => {
      const { y, limit, gated } = this.found[i];
      if (y) columns[`${line.spec} N=${line.sequences[0].length}`] = y;
      if (gated) columns[this.recipe(line, state)] = gated;
      if (limit && (state.limits || !y)) columns[line.kind === "curve" ? `limit of ${line.spec}` : line.spec] = limit;
    });
    return columns;
  }
}

const HALF = new Grid([0.5]);
