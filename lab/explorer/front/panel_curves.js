// The first panel: what N rollouts really optimise, beside what they promise.
import { Chart, niceDomain } from "./chart.js";
import { ESTIMATORS, OBJECTIVES, LOOKS, looks, resolve, rules, writeSpec } from "./catalogue.js";
import { Grid, LIMITS, QUANTITIES, passRates } from "./mathematics.js";
import { LOG, checkbox, field, format, h, keepFocus, segmented, select, slider, svg } from "./dom.js";
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
    "How much each pass rate counts: the expected gradient is w(p) ∇p. Solid: what N rollouts give. Thin dashes: the limit of many.",
  objective: "What is climbed: the integral of w, zero at p = ½.",
  efficiency:
    "The squared signal-to-noise ratio kept, beside the oracle baseline r − p (language models: correctness explains little of the score).",
  mass: "The mean size of the advantages that a problem hands out.",
  contrast:
    "The weight on the difference between the mean right and the mean wrong answer; the log-odds are flat here.",
};
const AXES = { log: "log", linear: "linear", logit: "log-odds" };
const SPAN = { log: [1e-4, 1], linear: [0, 1], logit: [1e-4, 1 - 1e-4] };
const CHOICE_WORDS = { true: "yes", false: "no", dr_grpo: "Dr. GRPO", rloo: "RLOO", plug_in: "plug-in" };
const CORNERS = [
  ["rl", "RL", 0, 0],
  ["arcsine", "GRPO", 0.5, 0.5],
  ["maxrl", "MaxRL", 1, 0],
  ["log_odds", "PACS", 1, 1],
];

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
    this.list = h("div", { class: "list" });
    this.others = h("div", { class: "list" });
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
    this.chart = new Chart({ label: "curves over the pass rate", height: 0.52, least: 280 });
    this.chart.svg.setAttribute("tabindex", "0");
    this.chart.svg.setAttribute("aria-description", "left and right arrows move the pass rate that is read out below");
    this.chart.listen((p) => this.read(p));
    this.chart.svg.addEventListener("keydown", (event) => this.key(event));
    this.meaning = h("p", { class: "meaning" });
    this.axes = h("div", { class: "row options" });
    this.table = h("div", { class: "readout" });
    this.element = h(
      "div",
      { class: "panel" },
      h(
        "section",
        { class: "controls", "aria-label": "what is compared" },
        this.N.element,
        h("h3", {}, "Estimators at N rollouts"),
        this.list,
        this.adder("estimator", ESTIMATORS, "curves"),
        h("h3", {}, "Objectives, whatever N"),
        this.others,
        this.adder("objective", OBJECTIVES, "objectives"),
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
    this.rows = "";
  }

  adder(kind, table, key) {
    const names = Object.keys(table).filter((name) => !["drawn", "formula"].includes(name));
    const menu = h(
      "select",
      {
        class: "add",
        "aria-label": `add an ${kind}`,
        onchange: () => {
          const name = menu.value,
            start = Object.fromEntries(
              Object.entries(table[name].options ?? {}).map(([option, rule]) => [option, rule.start]),
            );
          menu.selectedIndex = 0;
          this.app.store.set({ [key]: [...this.app.store.state[key], writeSpec(table, name, start)].slice(0, 8) });
        },
      },
      h("option", { value: "" }, `+ add an ${kind}`),
      names.map((name) => h("option", { value: name }, name)),
    );
    return menu;
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
        lines.push({ kind: "curve", spec, ...this.app.estimator(spec, state.N) });
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
      Object.assign(lines[i], look, { color: this.app.color(look.color) });
    });
    return lines;
  }

  limit(line, quantity, axis) {
    if (!line.w) return quantity === "weight" ? (line.limit ?? null) : null;
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
    this.controls(state);
    this.draw(state);
    cancelAnimationFrame(this.later);
    this.later = requestAnimationFrame(() => {
      this.thumbnails(state);
      this.read(this.at);
    });
    this.app.verify(this, state);
  }

  /** The curves of one quantity on the grid of the axis: { y, limit } a line, scaled to 1 at p = 1/2 if asked. */
  values(state, quantity) {
    const grid = this.grids[state.x];
    return this.lines.map((line) => {
      if (line.error || line.waiting) return { y: null, limit: null };
      const scale = (middle) => (state.normalise && quantity !== "efficiency" && middle ? 1 / middle : 1);
      const limit = this.limit(line, quantity, state.x),
        limitScale = line.w ? scale(line.w(0.5)) : 1;
      const shownLimit = limit && limit.map((x) => x * limitScale);
      if (line.kind === "objective") return { y: null, limit: shownLimit };
      const exact = this.app.authority?.get(line.spec, state, quantity);
      const y = exact ?? QUANTITIES[quantity](grid, line.sequences);
      const own = scale(QUANTITIES.weight(HALF, line.sequences)[0]);
      return { y: own === 1 ? y : y.map((x) => x * own), limit: shownLimit };
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
    const own = found.some(({ y }) => y) ? found.flatMap(({ y }) => [...(y ?? [])]) : solid;
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
      const { y, limit } = found[i],
        { color, dash } = line;
      if (line.kind === "objective" && limit)
        drawn.push({
          x: p,
          y: limit,
          color,
          dash: dash.length ? dash : [3, 2],
          width: 1.6,
          label: line.label,
          name: line.spec,
        });
      if (line.kind === "curve" && y) {
        if (state.limits && limit)
          drawn.push({ x: p, y: limit, color, dash: [2, 3], width: 1, opacity: 0.75, name: `limit ${line.spec}` });
        drawn.push({ x: p, y, color, dash, width: 2.2, label: line.label, name: line.spec });
      }
    });
    const unit = state.normalise && quantity !== "efficiency" ? ", 1 at w(½)" : "";
    this.chart.draw(
      {
        x: { kind: state.x, domain: SPAN[state.x], label: "pass rate p" },
        y: { kind, domain, label: NAMES[quantity] + unit },
        lines: drawn,
        mark: this.at,
      },
      this.app.theme(),
    );
    this.app.drawn();
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
        { x: { kind: state.x, domain: SPAN[state.x], label: "" }, y: { kind, domain, label: "" }, lines },
        this.app.theme(),
      );
    }
  }

  /** Lists and switches, built anew only when what they show has changed. */
  controls(state) {
    const key = JSON.stringify([
      state.curves,
      state.objectives,
      state.theme,
      this.lines.map(({ error, waiting, label }) => [error, waiting, label]),
    ]);
    if (this.editing) {
      // a slider in the list is being moved: it must stay where it is
      this.rows = key;
      [...this.list.children, ...this.others.children].forEach((item, i) => this.reword(item, this.lines[i]));
    } else if (key !== this.rows) {
      this.rows = key;
      keepFocus(this.element, () => {
        this.list.replaceChildren(...state.curves.map((_, i) => this.row(this.lines[i], i, ESTIMATORS, "curves")));
        this.others.replaceChildren(
          ...state.objectives.map((_, i) => this.row(this.lines[state.curves.length + i], i, OBJECTIVES, "objectives")),
        );
      });
    } else {
      [...this.list.children].forEach((item, i) => this.reword(item, this.lines[i]));
    }
    this.pad.update(state);
    this.axes.replaceChildren(
      h("span", { class: "caption" }, "p"),
      segmented("axis of the pass rate", AXES, state.x, (x) => this.app.store.set({ x })),
      h("span", { class: "caption" }, "value"),
      segmented("axis of the value", { log: "log", linear: "linear" }, state.y, (y) => this.app.store.set({ y })),
      checkbox("limits", state.limits, (limits) => this.app.store.set({ limits })),
      checkbox("scale to 1 at p = ½", state.normalise, (normalise) => this.app.store.set({ normalise })),
    );
    this.meaning.textContent = MEANING[state.quantity];
  }

  row(line, i, table, key) {
    const { store } = this.app,
      put = (spec) => {
        const next = [...store.state[key]];
        next[i] = spec;
        store.set({ [key]: next });
      };
    const swatch = svg(
      "svg",
      { width: 30, height: 12, "aria-hidden": "true" },
      svg("line", {
        x1: 1,
        x2: 29,
        y1: 6,
        y2: 6,
        stroke: line.color,
        "stroke-width": 3,
        "stroke-dasharray": line.dash.length ? line.dash.map((x) => 2 * x).join(" ") : "none",
      }),
    );
    const remove = h(
      "button",
      {
        type: "button",
        class: "quiet",
        "aria-label": `remove ${line.label}`,
        onclick: () => store.set({ [key]: store.state[key].filter((_, k) => k !== i) }),
      },
      "×",
    );
    const options = line.options
      ? Object.entries(line.options).filter(
          ([option]) => !["list", "text"].includes(table[line.name].options[option].kind),
        )
      : [];
    const inputs = options
      .filter(([option]) => table[line.name].options[option].only?.(line.options) ?? true)
      .map(([option, value]) => {
        const rule = table[line.name].options[option];
        const change = (next) => {
          const now = resolve(table, store.state[key][i]).options;
          this.editing = rule.kind === "number" || rule.kind === "whole";
          put(writeSpec(table, line.name, { ...now, [option]: next }));
          this.editing = false;
        };
        if (rule.kind === "choice" && rule.values.length < 3) {
          return field(
            option,
            segmented(
              option,
              Object.fromEntries(rule.values.map((one) => [one, CHOICE_WORDS[one] ?? one])),
              value,
              (text) => change(rule.values.find((one) => String(one) === text)),
            ),
          );
        }
        if (rule.kind === "choice") return field(option, select(rule.values, value, change));
        if (rule.kind === "whole" && value === null)
          return field(option, h("button", { type: "button", onclick: () => change(8) }, "N"));
        const scale =
          rule.kind === "whole"
            ? { least: 1, most: 256, step: 1, scale: LOG(1, 256) }
            : { least: rule.least, most: rule.most, step: rule.step };
        return slider(rule.kind === "whole" && option === "order" ? "order T" : option, value, scale, change).element;
      });
    const dead =
      line.kind === "curve" && line.name.startsWith("maxrl")
        ? field(
            "where all are wrong",
            select(
              ["maxrl", "maxrl_eq6", "maxrl_eq7", "maxrl_loo"],
              line.name,
              put,
              (name) =>
                ({
                  maxrl: "both dropped (Algorithm 1)",
                  maxrl_eq6: "no baseline (eq. 6)",
                  maxrl_eq7: "baseline kept (eq. 7)",
                  maxrl_loo: "leave-one-out (ours)",
                })[name],
            ),
          )
        : null;
    dead?.classList.add("wide");
    const item = h(
      "div",
      { class: "item" },
      h("div", { class: "head" }, swatch, h("strong", {}, line.label), remove),
      dead,
      inputs,
      h("p", {}),
    );
    this.reword(item, line);
    return item;
  }

  /** The words of a row: its label, and its rules or what is wrong with it. */
  reword(item, line) {
    item.querySelector("strong").textContent = line.label;
    const said = item.lastElementChild;
    said.className = line.error ? "fault" : "rules";
    said.textContent =
      line.error ?? (line.sequences ? rules(line.sequences) : line.waiting ? "lab is computing it …" : "");
    said.hidden = !said.textContent;
  }

  /** The numbers at one pass rate: every quantity of every curve. */
  read(p) {
    this.at = Math.min(Math.max(p, 1e-4), 1 - 1e-4);
    if (!this.lines) return;
    this.chart.mark(this.at);
    const grid = new Grid([this.at]),
      quantities = Object.keys(NAMES);
    const rows = this.lines
      .filter(({ error, waiting }) => !error && !waiting)
      .map((line) => {
        const cells = line.sequences
          ? quantities.map((quantity) => QUANTITIES[quantity](grid, line.sequences)[0])
          : quantities.map((quantity) => LIMITS[quantity](grid.p, line.w)?.[0] ?? null);
        const limit = line.w ? line.w(this.at) : null;
        return h(
          "tr",
          {},
          h("th", { scope: "row" }, h("span", { class: "dot", style: `background:${line.color}` }), line.label),
          h("td", {}, format(cells[0])),
          h("td", { class: "limit" }, format(line.kind === "curve" ? limit : null)),
          cells.slice(1).map((value) => h("td", {}, format(value))),
        );
      });
    const N = this.app.store.state.N;
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
            [`w at N = ${N}`, "limit w", "J − J(½)", "efficiency", "signal mass", "w p(1−p)"].map((words) =>
              h("th", { scope: "col" }, words),
            ),
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
      const { y, limit } = this.found[i];
      if (y) columns[`${line.spec} N=${state.N}`] = y;
      if (limit && (state.limits || !y)) columns[line.kind === "curve" ? `limit of ${line.spec}` : line.spec] = limit;
    });
    return columns;
  }
}

const HALF = new Grid([0.5]);

/** The square of the family w = p^-a (1-p)^-b, with the four methods at their places and a point to drag. */
class Pad {
  constructor(app) {
    this.app = app;
    this.svg = svg("svg", {
      viewBox: "0 14 220 202",
      class: "pad",
      tabindex: "0",
      role: "application",
      "aria-label": "the family p to the minus a times 1-p to the minus b: arrows move the point",
    });
    this.words = h("p", { class: "rules" });
    this.element = h("div", { class: "family" }, h("h3", {}, "One family: w = p⁻ᵃ(1−p)⁻ᵇ"), this.svg, this.words);
    const at = (event) => {
      const bounds = this.svg.getBoundingClientRect();
      this.put(
        ((((event.clientX - bounds.left) / bounds.width) * 220 - 34) / 150) * 1.25 - 0.1,
        ((162 - ((event.clientY - bounds.top) / bounds.height) * 202) / 150) * 1.25 - 0.1,
      );
    };
    let down = false;
    this.svg.style.touchAction = "none";
    this.svg.addEventListener("pointerdown", (event) => {
      down = true;
      this.svg.setPointerCapture(event.pointerId);
      at(event);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (down) at(event);
    });
    for (const end of ["pointerup", "pointercancel"])
      this.svg.addEventListener(end, () => {
        down = false;
      });
    this.svg.addEventListener("keydown", (event) => {
      const [da, db] = { ArrowRight: [0.05, 0], ArrowLeft: [-0.05, 0], ArrowUp: [0, 0.05], ArrowDown: [0, -0.05] }[
        event.key
      ] ?? [0, 0];
      if (!da && !db) return;
      event.preventDefault();
      const { a, b } = this.point(this.app.store.state) ?? { a: 0.5, b: 0.5 };
      this.put(a + da, b + db);
    });
  }

  point(state) {
    for (const spec of state.objectives) {
      try {
        const found = resolve(OBJECTIVES, spec);
        if (found.name === "power") return found.options;
      } catch {
        /* its row says what is wrong */
      }
    }
    return null;
  }

  put(a, b) {
    const near = (x) => Number(Math.min(1.15, Math.max(0, Math.round(x * 20) / 20)).toFixed(2)),
      { store } = this.app;
    const spec = writeSpec(OBJECTIVES, "power", { a: near(a), b: near(b) }),
      at = store.state.objectives.findIndex((one) => one.startsWith("power"));
    store.set({
      objectives: at < 0 ? [...store.state.objectives, spec].slice(-8) : store.state.objectives.with(at, spec),
    });
  }

  update(state) {
    const theme = this.app.theme(),
      X = (a) => 34 + ((a + 0.1) / 1.25) * 150,
      Y = (b) => 176 - ((b + 0.1) / 1.25) * 150,
      point = this.point(state);
    const text = (words, attributes) => svg("text", { "font-size": 11, fill: theme.muted, ...attributes }, words);
    this.svg.replaceChildren(
      svg("rect", { x: 34, y: 26, width: 150, height: 150, fill: theme.band, rx: 4 }),
      ...[0, 0.5, 1].flatMap((x) => [
        svg("line", { x1: X(x), x2: X(x), y1: 26, y2: 176, stroke: theme.grid }),
        svg("line", { x1: 34, x2: 184, y1: Y(x), y2: Y(x), stroke: theme.grid }),
        text(x || "0", { x: X(x), y: 190, "text-anchor": "middle" }),
        text(x || "0", { x: 28, y: Y(x) + 4, "text-anchor": "end" }),
      ]),
      text("a: hard problems count", { x: 109, y: 208, "text-anchor": "middle" }),
      text("b: easy ones count", { transform: "translate(10 101) rotate(-90)", "text-anchor": "middle" }),
      ...CORNERS.flatMap(([name, words, a, b]) => [
        svg("circle", { cx: X(a), cy: Y(b), r: 5, fill: this.app.color(LOOKS[name][0]) }),
        text(words, {
          x: X(a) + (a > 0.9 ? -4 : 9),
          y: Y(b) + (a > 0.9 ? -10 : 4),
          "text-anchor": a > 0.9 ? "middle" : "start",
          fill: theme.ink,
        }),
      ]),
      ...(point
        ? [
            svg("circle", { cx: X(point.a), cy: Y(point.b), r: 8, fill: "none", stroke: theme.ink, "stroke-width": 2 }),
            svg("circle", { cx: X(point.a), cy: Y(point.b), r: 2, fill: theme.ink }),
          ]
        : []),
    );
    this.words.textContent = point
      ? `a = ${point.a}, b = ${point.b}`
      : "Drag in the square to draw a member of the family.";
  }
}
