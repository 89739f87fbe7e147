// The lists beside the chart: one row a curve, with its options, its rules, or what is wrong with it.
import { LOG, field, h, rebuild, segmented, select, slider, svg, write } from "./dom.js";
import { labelOf, lifted, offered, parseSpec, resolve, rules, writeSpec, written } from "./specs.js";

const WORDS = { true: "yes", false: "no", dr_grpo: "Dr. GRPO", rloo: "RLOO", plug_in: "plug-in" };
const DEAD_GROUPS = {
  maxrl: "both dropped (Algorithm 1)",
  maxrl_eq6: "no baseline (eq. 6)",
  maxrl_eq7: "baseline kept (eq. 7)",
  maxrl_loo: "leave-one-out (ours)",
};
const MOST = 8;

export class CurveList {
  /** `table`: ESTIMATORS or OBJECTIVES; `key`: where their specs stand in the state. */
  constructor(app, kind, table, key) {
    Object.assign(this, { app, table, key });
    this.list = h("div", { class: "list" });
    this.element = h("div", {}, this.list, this.adder(kind), this.glossary(kind));
  }

  /** Every name that there is, so that one can read what it stands for before it is drawn. */
  glossary(kind) {
    const starts = offered(this.table);
    const terms = Object.keys(this.table).map((name) =>
      this.app.explained(this.table, name, labelOf(this.table, starts[name] ?? name), name),
    );
    return h(
      "details",
      { class: "glossary" },
      h("summary", {}, `What each ${kind} is`),
      h("div", { class: "row" }, terms),
    );
  }

  get specs() {
    return this.app.store.state[this.key];
  }

  put(specs) {
    this.app.store.set({ [this.key]: specs });
  }

  adder(kind) {
    const starts = offered(this.table);
    const add = () => {
      const spec = starts[menu.value];
      menu.selectedIndex = 0;
      this.put([...this.specs, spec].slice(-MOST));
    };
    const choices = Object.keys(starts).map((name) => h("option", { value: name }, name));
    const menu = h("select", { class: "add", "aria-label": `add an ${kind}`, onchange: add });
    menu.append(h("option", { value: "" }, `+ add an ${kind}`), ...choices);
    return menu;
  }

  /** Rows are built anew only when what they show has changed, and never while a slider of theirs is being moved. */
  update(lines, theme) {
    const shown = lines.map(({ spec, error, label }) => [spec, error, label]);
    rebuild(this.list, [theme, shown], () =>
      this.moving ? [...this.list.children] : lines.map((line, i) => this.row(line, i)),
    );
    [...this.list.children].forEach((row, i) => this.reword(row, lines[i]));
  }

  row(line, i) {
    const dash = line.dash.length ? line.dash.map((x) => 2 * x).join(" ") : "none";
    const stroke = { stroke: line.color, "stroke-width": 3, "stroke-dasharray": dash };
    const swatch = svg("svg", { width: 30, height: 12, "aria-hidden": "true" });
    swatch.append(svg("line", { x1: 1, x2: 29, y1: 6, y2: 6, ...stroke }));
    const remove = h("button", { type: "button", class: "quiet", "aria-label": `remove ${line.label}` }, "×");
    remove.addEventListener("click", () => this.put(this.specs.filter((_, k) => k !== i)));
    const head = h("div", { class: "head" }, swatch, this.app.explained(this.table, line.name, line.label, line.spec), remove);
    return h("div", { class: "item" }, head, this.deadGroups(line, i), this.options(line, i), h("p", {}));
  }

  /** MaxRL's estimators differ only in what a group does where all are wrong: one choice, not four names. */
  deadGroups(line, i) {
    if (!(line.name in DEAD_GROUPS) || line.error || lifted(line.spec)) return null;
    const menu = select(
      Object.keys(DEAD_GROUPS),
      line.name,
      (name) => this.put(this.specs.with(i, name)),
      (name) => DEAD_GROUPS[name],
    );
    const row = field("where all are wrong", menu);
    row.classList.add("wide");
    return row;
  }

  options(line, i) {
    const known = this.table[line.name]?.options ?? {};
    const shown = Object.entries(line.options ?? {}).filter(
      ([option]) => !["list", "text"].includes(known[option].kind),
    );
    return shown.map(([option, value]) => this.input(option, value, known[option], i));
  }

  input(option, value, rule, i) {
    const change = (next) => {
      const { name, options } = resolve(this.table, this.specs[i]);
      this.moving = rule.kind === "number" || rule.kind === "whole";
      this.put(this.specs.with(i, writeSpec(this.table, name, { ...options, [option]: next })));
      this.moving = false;
    };
    if (rule.kind === "written") return field(option, this.text(option, value, change));
    if (rule.kind === "choice" && rule.values.length < 3) {
      const words = Object.fromEntries(rule.values.map((one) => [one, WORDS[one] ?? one]));
      return field(
        option,
        segmented(option, words, value, (text) => change(rule.values.find((one) => String(one) === text))),
      );
    }
    if (rule.kind === "choice") return field(option, select(rule.values, value, change));
    if (value === null) return field(option, h("button", { type: "button", onclick: () => change(8) }, "N"));
    if (rule.kind === "number") return slider(option, value, rule, change).element;
    return slider(
      option === "order" ? "order T" : option,
      value,
      { least: 1, most: 256, step: 1, scale: LOG(1, 256) },
      change,
    ).element;
  }

  /** An option as Python's literal; what is none is marked, and not taken. */
  text(option, value, change) {
    const input = h("input", { type: "text", value: written(value), spellcheck: "false" });
    input.addEventListener("change", () => {
      try {
        input.setCustomValidity("");
        change(parseSpec(`estimator(${option}=${input.value})`)[1][option]);
      } catch {
        input.setCustomValidity("write a number, 'text', [a, list], True, False or None");
        input.reportValidity();
      }
    });
    return input;
  }

  /** What a lifted estimator has to do with the curve that is drawn for it. */
  ofRewards({ spec }) {
    const inner = lifted(spec);
    return inner === null ? "" : `takes real rewards; where they are right or wrong it is ${inner}, whose curve this is · `;
  }

  /** The words of a row: its label, and its rules or what is wrong with it. */
  reword(row, line) {
    write(row.querySelector("strong"), line.label);
    const said = row.lastElementChild;
    said.className = line.error ? "fault" : "rules";
    const by = this.app.kernel ? "lab is computing it …" : "it is being fitted …",
      waiting = line.waiting ? by : "";
    write(said, line.error ?? (line.sequences ? `${this.ofRewards(line)}${rules(line.sequences)}` : waiting));
    said.hidden = !said.textContent;
  }
}
