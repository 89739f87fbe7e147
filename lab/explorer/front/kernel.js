// In a notebook the lab is the authority: what the page computes at once is computed again by Python when the hand
// rests, drawn from Python's numbers, and the largest difference is shown. What the page cannot know it asks for.
import { write } from "./dom.js";
import { QUANTITIES } from "./mathematics.js";

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
  ask(what, facts, buffers = []) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.model.send({ id, what, ...facts }, undefined, buffers);
    });
  }

  /** The counts of a dropped file, read by Python. */
  async read(file) {
    const largest = 50e6;
    if (file.size > largest)
      throw new Error(
        `${file.name} has ${Math.round(file.size / 1e6)} MB: drop up to ${largest / 1e6}, ` +
          "or give its path: Explorer(pass_rates=...)",
      );
    return counts(await this.ask("file", { name: file.name }, [await file.arrayBuffer()]));
  }

  authority(refresh) {
    return new Authority(this, refresh);
  }
}

/** { n, correct, notes } or { exact } from the lab's answer. */
export function counts([{ notes, exact }, arrays]) {
  return exact
    ? { n: [], correct: [], exact: Array.from(arrays[0]), notes }
    : { n: Array.from(arrays[0]), correct: Array.from(arrays[1]), notes };
}

class Authority {
  constructor(kernel, refresh) {
    Object.assign(this, { kernel, refresh, known: new Map(), asked: new Set() });
  }

  keep(key, value) {
    if (this.known.size > 300) this.known.clear();
    this.known.set(key, value);
  }

  /** The curve of `spec` as Python gave it, if it has. */
  get(spec, { N, x }, quantity) {
    return this.known.get(`${quantity} ${spec} ${N} ${x}`);
  }

  sequences(spec, N) {
    return this.known.get(`sequences ${spec} ${N}`);
  }

  /** An estimator that only Python knows, asked for once a size. */
  own(spec, N, x) {
    const key = `own ${spec} ${N} ${x}`,
      found = this.known.get(key);
    if (found?.error) throw new Error(found.error);
    if (found) return found;
    this.once(key, () =>
      this.kernel.ask("estimator", { spec, N, axis: x }).then(
        ([content, arrays]) => {
          this.keep(key, {
            spec,
            name: spec.split("(")[0],
            label: content.label,
            sequences: [arrays[0], arrays[1]],
            limit: arrays[2] ?? null,
          });
        },
        (error) => this.keep(key, { error: error.message }),
      ),
    );
    return { spec, name: spec, label: spec, waiting: true, sequences: null };
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
    const missing = specs.filter((spec) => !this.get(spec, state, state.quantity));
    if (!missing.length) return;
    write(badge, "");
    this.timer = setTimeout(
      () =>
        this.once(JSON.stringify(["curves", missing, state.N, state.x, state.quantity]), async () => {
          badge.textContent = "lab is computing …";
          try {
            const [, arrays] = await this.kernel.ask("curves", {
              specs: missing,
              N: state.N,
              quantity: state.quantity,
              axis: state.x,
            });
            let worst = 0;
            const grid = panel.grids[state.x];
            missing.forEach((spec, i) => {
              this.keep(`${state.quantity} ${spec} ${state.N} ${state.x}`, arrays[i]);
              const line = panel.lines.find((one) => one.spec === spec);
              if (!line?.sequences || line.sequences[0].length !== state.N) return;
              const ours = QUANTITIES[state.quantity](grid, line.sequences),
                size = Math.max(...arrays[i].map(Math.abs), 1e-300);
              ours.forEach((y, k) => {
                worst = Math.max(worst, Math.abs(y - arrays[i][k]) / size);
              });
            });
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
