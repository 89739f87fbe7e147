// The page itself: one state, seven panels, and what they share.
import { Card } from "./card.js";
import { THEMES } from "./chart.js";
import { onGround } from "./looks.js";
import { tabled } from "./given.js";
import { ALIASES, ESTIMATORS, lifted, offered, resolve } from "./specs.js";
import { LARGEST } from "./design.js";
import { Fits } from "./fits.js";
import { h, rebuild, segmented, write } from "./dom.js";
import { CurvesPanel } from "./panel_curves.js";
import { DrawPanel } from "./panel_draw.js";
import { FilesPanel } from "./panel_files.js";
import { PushedPanel } from "./panel_pushed.js";
import { RecipePanel } from "./panel_recipe.js";
import { ToyPanel } from "./panel_toy.js";
import { VerifierPanel } from "./panel_verifier.js";
import { History } from "./history.js";
import { saveCsv, savePng, saveSvg } from "./save.js";
import { DEFAULTS, changes, toHash } from "./state.js";

const PANELS = {
  curves: "Curves",
  draw: "Draw your own",
  recipe: "In practice",
  files: "Your pass rates",
  toy: "Live toy",
  verifier: "Be the verifier",
  pushed: "Who pushed me?",
};

export class Explorer {
  /** `kernel`: the lab in a notebook (see kernel.js), or null where the page stands alone. */
  constructor(root, store, kernel = null) {
    Object.assign(this, { root, store, kernel });
    this.authority = kernel?.authority(() => this.refresh()) ?? null;
    this.revision = 0;
    this.history = new History(store);
    this.history.watch(root);
    this.first = kernel ? store.state : DEFAULTS; // in a notebook the cell says where it starts
    this.steps = {
      undo: h("button", { type: "button", title: "Ctrl-Z", onclick: () => this.history.undo() }, "Undo"),
      redo: h("button", { type: "button", title: "Ctrl-Shift-Z", onclick: () => this.history.redo() }, "Redo"),
    };
    this.say = h("p", { class: "fault", role: "alert" });
    this.badge = h("output", { class: "badge" });
    this.nav = h("nav", { "aria-label": "panels" });
    this.panels = {};
    this.card = new Card(root);
    this.fits = new Fits(() => this.refresh());
    this.title = h("h2", { class: "unseen" }); // readers of the screen hear which panel they are in
    this.body = h("div", { class: "body" });
    root.classList.add("lab-explorer");
    root.dataset.lmSuppressShortcuts = "true"; // in JupyterLab keys pressed here are not the notebook's
    root.classList.toggle("notebook", Boolean(kernel)); // there the chart is to be seen below its cell
    const idea = h(
      "p",
      { class: "idea" },
      kernel
        ? ""
        : "Everything of the story, with all settings: a try is a rollout, how often a problem is solved is its " +
            "pass rate p, how hard it pulls is the weight w(p). Move N and watch the curves. ",
      "With right-or-wrong rewards a group estimator is two sequences: rollout i gets ",
      h("b", {}, "gap[j] r", h("sub", {}, "i"), " + offset[j]"),
      ", with j right ones among the others. What is optimised is ",
      h("b", {}, "w(p) = E[gap[j]]"),
      "; offset only decides how noisily.",
    );
    root.replaceChildren(
      h(
        "header",
        {},
        kernel ? this.nav : h("div", {}, h("h1", {}, "Which problems does an objective care about?"), idea),
        h(
          "div",
          { class: "tools" },
          this.badge,
          this.steps.undo,
          this.steps.redo,
          h("button", { type: "button", onclick: () => this.reset() }, "Reset all"),
          h(
            "button",
            { type: "button", onclick: (event) => this.share(event.target) },
            kernel ? "Copy as Python" : "Copy link",
          ),
          h(
            "button",
            {
              type: "button",
              "aria-label": "light or dark",
              onclick: () => store.set({ theme: this.dark ? "light" : "dark" }),
            },
            "◐",
          ),
        ),
      ),
      kernel ? "" : this.nav,
      this.say,
      this.title,
      this.body,
      kernel ? idea : "",
      this.card.element,
    );
    store.listen((state) => {
      write(this.say, "");
      this.update(state);
    });
    // On a page of its own the keys count wherever the focus is; in a notebook only inside.
    (kernel ? root : document).addEventListener("keydown", (event) => this.key(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.update(store.state));
    this.update(store.state);
  }

  get dark() {
    const { theme } = this.store.state,
      jupyter = document.body.dataset.jpThemeLight;
    return theme === "auto"
      ? jupyter
        ? jupyter === "false"
        : matchMedia("(prefers-color-scheme: dark)").matches
      : theme === "dark";
  }

  theme() {
    return THEMES[this.dark ? "dark" : "light"];
  }

  color(color) {
    return onGround(color, this.dark);
  }

  update(state) {
    this.root.dataset.theme = this.dark ? "dark" : "light";
    rebuild(this.nav, state.panel, () => [
      segmented("panel", PANELS, state.panel, (panel) => {
        this.store.set({ panel });
        this.panels[panel].arrive?.();
      }),
    ]);
    write(this.title, PANELS[state.panel]);
    // Not disabled, which would take the focus away from under the finger.
    this.steps.undo.setAttribute("aria-disabled", String(!this.history.done.length));
    this.steps.redo.setAttribute("aria-disabled", String(!this.history.undone.length));
    this.panel(state.panel);
    for (const [name, panel] of Object.entries(this.panels)) panel.element.hidden = name !== state.panel;
    this.panels[state.panel].update(state);
  }

  /** Ctrl-Z, Ctrl-Shift-Z and Ctrl-Y; a text that is no state before it is finished keeps its own. */
  key(event) {
    const { target, shiftKey } = event,
      letter = event.key.toLowerCase();
    if (!this.root.isConnected || !(event.ctrlKey || event.metaKey) || event.altKey || !"zy".includes(letter)) return;
    if (target.matches?.("input[type=text]:not(.state)")) return;
    event.preventDefault();
    event.stopPropagation();
    if (letter === "y" || shiftKey) this.history.redo();
    else this.history.undo();
  }

  /** Everything as at the start, but the panel and the looks; this too can be undone. */
  reset() {
    const { panel, theme } = this.store.state;
    this.store.set({ ...this.first, panel, theme });
  }

  /** A panel by name, made when it is first needed. */
  panel(name) {
    const kinds = {
      curves: CurvesPanel,
      draw: DrawPanel,
      recipe: RecipePanel,
      files: FilesPanel,
      toy: ToyPanel,
      verifier: VerifierPanel,
      pushed: PushedPanel,
    };
    if (!this.panels[name]) {
      this.panels[name] = new kinds[name](this);
      this.body.append(this.panels[name].element);
    }
    return this.panels[name];
  }

  /** The file of pass rates that the page has read, see `settled` of work.js; null: none. */
  get given() {
    return this.panels.files?.counts ?? null;
  }

  /** Counts that the notebook gave. */
  counts(counts) {
    this.panel("files").take(counts);
  }

  refresh() {
    this.update(this.store.state);
  }

  /**
   * An estimator at N by its spec: { spec, name, label, options, w, sequences }. In a notebook one that has no
   * closed form may be `waiting` for Python; elsewhere it has no options to change, and may be at the `nearest` N. One
   * that is being fitted has the sequences of its last fit and is `stale`, or waits.
   */
  estimator(spec, N, nearest = false) {
    const inner = lifted(spec);
    if (inner !== null) return { ...this.estimator(inner, N, nearest), spec, label: `lift(${inner})`, options: {} };
    const name = spec.split("(")[0].trim(),
      large = ["drawn", "formula"].includes(name) && N > LARGEST;
    if (this.kernel && !(name in ESTIMATORS || name in ALIASES)) return this.authority.own(spec, N, this.store.state.x);
    const found = resolve(ESTIMATORS, spec);
    if (this.kernel && (large || !found.entry.sequences))
      return { ...found, ...this.authority.own(spec, N, this.store.state.x) };
    if (!found.entry.sequences) return tabled(found, N, nearest);
    const known = this.authority?.sequences(found.spec, N),
      { sequences, stale } = known ? { sequences: known, stale: false } : this.fits.sequences(found, N);
    return { ...found, w: found.entry.limit(found.options), sequences, stale, waiting: sequences === null };
  }

  /** The curves of the state with their estimators; those that fail are left out. */
  lines(state) {
    return state.curves.flatMap((spec) => {
      try {
        return [{ ...this.estimator(spec, state.N), spec }];
      } catch {
        return [];
      }
    });
  }

  /** The name of an entry of ESTIMATORS or OBJECTIVES, `label` its words here, which says what it is. */
  explained(table, name, label, spec = name) {
    const entry = Object.hasOwn(table, name) ? table[name] : null;
    if (!entry?.about) return h("strong", {}, label); // an estimator of the notebook's own
    const { about, citation } = entry;
    return this.card.name(label, () => ({ label, spec, about, citation }));
  }

  /** The spec of an estimator as it is first shown. */
  start(name) {
    return offered(ESTIMATORS)[name] ?? name;
  }

  verify(panel, state) {
    this.authority?.verify(panel, state, this.badge);
  }

  /** Counted for tests and benchmarks: a picture is on the page. */
  drawn() {
    this.root.dataset.revision = String(++this.revision);
  }

  /** Buttons that save a panel's chart and numbers. */
  saver(chart, columns, name) {
    const attempt = (save) => async () => {
      try {
        await this.fits.settled(); // what is saved is what was asked for
        await save();
      } catch (error) {
        this.say.textContent = `not saved: ${error.message}`;
      }
    };
    return h(
      "div",
      { class: "row saver" },
      h("span", { class: "caption" }, "Save"),
      h("button", { type: "button", onclick: attempt(() => saveSvg(chart(), `lab_${name}`)) }, "SVG"),
      h("button", { type: "button", onclick: attempt(() => savePng(chart(), `lab_${name}`)) }, "PNG"),
      h("button", { type: "button", onclick: attempt(() => saveCsv(columns(), `lab_${name}`)) }, "CSV"),
    );
  }

  /** The state as a link, or in a notebook as the line that makes this explorer again. */
  async share(button) {
    const text = this.kernel ? pythonOf(this.store.state) : `${location.href.split("#")[0]}${toHash(this.store.state)}`;
    try {
      await navigator.clipboard.writeText(text);
      const words = button.textContent;
      button.textContent = "Copied";
      setTimeout(() => {
        button.textContent = words;
      }, 1500);
    } catch {
      this.say.textContent = `copy this: ${text}`;
    }
  }
}

/** Explorer(N=64, ...), with what differs from the start. */
export function pythonOf(state) {
  const literal = (value) =>
    typeof value === "boolean"
      ? value
        ? "True"
        : "False"
      : Array.isArray(value)
        ? `[${value.map(literal).join(", ")}]`
        : JSON.stringify(value);
  return `from lab.explorer import Explorer; Explorer(${Object.entries(changes(state))
    .map(([key, value]) => `${key}=${literal(value)}`)
    .join(", ")})`;
}
