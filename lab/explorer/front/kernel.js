// In a notebook the lab is the authority: what the page computes at once is computed again by Python when the hand
// rests, drawn from Python's numbers, and the largest difference is shown. What the page cannot know it asks for.
import { write } from "./dom.js";
import { GATED, isGated, parseGate } from "./gates.js";
import { QUANTITIES } from "./mathematics.js";

const AHEAD = 128; // sizes of an estimator of Python's own that are sent at once
const REST = 120; // milliseconds without a change before the lab is asked

export class Kernel {
  constructor(model) {
    this.model = model;
    this.waiting = new Map();
    this.next = 1;
    model.on("msg:custom", (content, buffers) => {
      const answer = this.waiting.get(content.id);
      if (!answer) return;
      this.waiting.delete(content.id);
      if (content.error) answer.reject(new Error(content.error));
      else
        answer.resolve([
          content,
          buffers.map(
            (view) => new Float64Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength)),
          ),
        ]);
    });
  }

  /** Ask the lab one of the questions of lab/explorer/widget.py. Resolves to [content, arrays of float64]. */
  ask(what, facts) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.model.send({ id, what, ...facts });
    });
  }

  authority(refresh) {
    return new Authority(this, refresh);
  }
}

/** { n, correct, problem, notes, fit } or { exact } from the lab's answer: the noise is removed by the lab. */
export function counts([{ notes, exact }, arrays]) {
  const [n, correct, p, mass, problem] = arrays.map((row) => Array.from(row));
  return exact ? { n: [], correct: [], exact: n, notes } : { n, correct, problem, notes, fit: { p, mass } };
}

class Authority {
  constructor(kernel, refresh) {
    Object.assign(this, { kernel, refresh, known: new Map(), asked: new Set() });
  }

  keep(key, value) {
    if (this.known.size > 2000) this.known.clear();
    this.known.set(key, value);
  }

  /** The curve of `spec` behind the gate, which may be "none", as Python gave it, if it has. */
  get(spec, { N, x, gate }, quantity) {
    return this.known.get(`${quantity} ${spec} ${gate} ${N} ${x}`);
  }

  sequences(spec, N) {
    return this.known.get(`sequences ${spec} ${N}`);
  }

  /** An estimator that only Python knows: its label and limit are asked for once, its sequences for many N at once. */
  own(spec, N, axis) {
    const failed = this.known.get(`failed ${spec} ${N}`);
    if (failed) throw new Error(failed);
    const label = this.known.get(`label ${spec}`),
      limit = this.known.get(`limit ${spec} ${axis}`),
      sequences = this.sequences(spec, N);
    const name = spec.split("(")[0];
    if (label && sequences && limit !== undefined)
      return { spec, name, label, sequences, limit: (quantity) => (quantity === "weight" ? limit : null) };
    this.once(`own ${spec} ${N} ${axis}`, async () => {
      try {
        const [content, arrays] = await this.kernel.ask("estimator", { spec, N, axis });
        this.keep(`label ${spec}`, content.label);
        this.keep(`limit ${spec} ${axis}`, arrays[2] ?? null);
        this.keep(`sequences ${spec} ${N}`, arrays.slice(0, 2));
        if (!label) this.prefetch(spec);
      } catch (error) {
        this.keep(`failed ${spec} ${N}`, error.message);
      }
    });
    return { spec, name, label: label ?? spec, waiting: true, sequences: null };
  }

  /** The sequences of the sizes most looked at, sent once: the slider then waits for nobody. */
  async prefetch(spec) {
    const [{ sizes }, arrays] = await this.kernel.ask("sizes", { spec, most: AHEAD });
    sizes.forEach((N, i) => this.keep(`sequences ${spec} ${N}`, [arrays[i].slice(0, N), arrays[i].slice(N)]));
  }

  async once(key, question) {
    if (this.asked.has(key)) return;
    this.asked.add(key);
    await question();
    this.asked.delete(key);
    this.refresh();
  }

  /** When the hand rests, have the lab compute what is shown, draw its numbers, and say how far the page's were. */
  verify(panel, state, badge) {
    clearTimeout(this.timer);
    const specs = panel.lines
      ?.filter(({ sequences, kind }) => sequences && kind !== "objective")
      .map(({ spec }) => spec);
    if (!specs) return this.design(panel, state, badge);
    const missing = (isGated(state) ? ["none", state.gate] : ["none"])
      .map((gate) => [gate, specs.filter((spec) => !this.get(spec, { ...state, gate }, state.quantity))])
      .filter(([, asked]) => asked.length);
    if (!missing.length) return;
    write(badge, "");
    this.timer = setTimeout(
      () =>
        this.once(JSON.stringify(["curves", missing, state.N, state.x, state.quantity]), async () => {
          badge.textContent = "lab is computing …";
          try {
            let worst = 0;
            const grid = panel.grids[state.x],
              { N, x: axis, quantity } = state;
            for (const [gate, specs] of missing) {
              const [, arrays] = await this.kernel.ask("curves", { specs, N, quantity, axis, gate });
              specs.forEach((spec, i) => {
                this.keep(`${quantity} ${spec} ${gate} ${N} ${axis}`, arrays[i]);
                const line = panel.lines.find((one) => one.spec === spec);
                if (!line?.sequences || line.sequences[0].length !== N) return;
                const ours =
                    gate === "none"
                      ? QUANTITIES[quantity](grid, line.sequences)
                      : GATED[quantity](grid, line.sequences, parseGate(gate)),
                  size = Math.max(...arrays[i].map(Math.abs), 1e-300);
                ours.forEach((y, k) => {
                  worst = Math.max(worst, Math.abs(y - arrays[i][k]) / size);
                });
              });
            }
            badge.textContent = `computed by lab; the page differed by ${worst.toExponential(0)}`;
            badge.dataset.worst = String(worst);
          } catch (error) {
            badge.textContent = error.message;
          }
        }),
      REST,
    );
  }

  design(panel, state, badge) {
    if (!panel.line || !("points" in state) || state.panel !== "draw") return;
    const spec = panel.spec(state);
    if (!spec || this.sequences(spec, state.N)) return;
    write(badge, "");
    this.timer = setTimeout(
      () =>
        this.once(`design ${spec} ${state.N}`, async () => {
          try {
            const [, [gap, offset]] = await this.kernel.ask("estimator", { spec, N: state.N, axis: state.x });
            this.keep(`sequences ${spec} ${state.N}`, [gap, offset]);
            badge.textContent = "fitted by lab";
          } catch (error) {
            badge.textContent = error.message;
            this.keep(`sequences ${spec} ${state.N}`, null);
          }
        }),
      REST,
    );
  }
}
