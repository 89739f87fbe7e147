// The choice of a gate beside the curves: its name, and the bounds of one that has bounds.
import { h, rebuild, segmented, slider, write } from "./dom.js";
import { GATED, keepsSome, parseGate } from "./gates.js";

const NAMES = { none: "none", drop: "drop", redraw: "redraw", between: "between" };
const MEANING = {
  none: "Every group enters the step.",
  drop: "Groups that agree are dropped, and another problem is drawn: dynamic sampling.",
  redraw: "Groups that agree are drawn again from the same problem, until they are mixed.",
  between: "Groups with K/N outside these bounds are dropped, and another problem is drawn.",
};
const START = "between(0.2, 0.8)";

export class GateControl {
  constructor({ store }) {
    this.store = store;
    this.names = h("div");
    this.said = h("p", { class: "rules" });
    const bound = (name, set) =>
      slider(name, 0, { least: 0, most: 1, step: 0.05 }, (x) => {
        const { low, high } = set(parseGate(this.store.state.gate), x);
        store.set({ gate: `between(${low}, ${high})` });
      });
    this.low = bound("lowest K/N", ({ high }, x) => ({ low: x, high: Math.max(x, high) }));
    this.high = bound("highest K/N", ({ low }, x) => ({ low: Math.min(x, low), high: x }));
    this.bounds = h("div", {}, this.low.element, this.high.element);
    this.element = h("div", { class: "gate" }, h("h3", {}, "Gate"), this.names, this.bounds, this.said);
  }

  update({ gate, quantity, N }) {
    const { name, low, high } = parseGate(gate);
    rebuild(this.names, name, () => [
      segmented("gate", NAMES, name, (next) => this.store.set({ gate: next === "between" ? START : next })),
    ]);
    this.bounds.hidden = name !== "between";
    this.low.show(low);
    this.high.show(high);
    const keepsNone = !keepsSome(parseGate(gate), N);
    this.said.className = keepsNone ? "fault" : "rules";
    const where = quantity in GATED ? " Bold: behind the gate." : " It is drawn for weight and contrast.",
      drawn = name === "none" ? "" : where;
    write(
      this.said,
      keepsNone ? `This gate keeps no group of ${N} rollouts: raise N, or widen it.` : `${MEANING[name]}${drawn}`,
    );
  }
}
