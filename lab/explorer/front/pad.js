// The family w = p^-a (1-p)^-b as a square, with the four methods at their places and a point to drag.
import { h, rebuild, svg } from "./dom.js";
import { LOOKS } from "./looks.js";
import { OBJECTIVES, resolve, writeSpec } from "./specs.js";

const CORNERS = [
  ["rl", "RL", 0, 0],
  ["arcsine", "GRPO", 0.5, 0.5],
  ["maxrl", "MaxRL", 1, 0],
  ["log_odds", "PACS", 1, 1],
];

export class Pad {
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
    rebuild(this.svg, [point, theme.ground], () => [
      svg("rect", { x: 34, y: 26, width: 150, height: 150, fill: theme.band, rx: 4 }),
      ...[0, 0.5, 1].flatMap((x) => [
        svg("line", { x1: X(x), x2: X(x), y1: 26, y2: 176, stroke: theme.grid }),
        svg("line", { x1: 34, x2: 184, y1: Y(x), y2: Y(x), stroke: theme.grid }),
        text({ 0: "0", 0.5: "½", 1: "1" }[x], { x: X(x), y: 190, "text-anchor": "middle" }),
        text({ 0: "0", 0.5: "½", 1: "1" }[x], { x: 28, y: Y(x) + 4, "text-anchor": "end" }),
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
    ]);
    this.words.textContent = point
      ? `a = ${point.a}, b = ${point.b}`
      : "Drag in the square to draw a member of the family.";
  }
}
