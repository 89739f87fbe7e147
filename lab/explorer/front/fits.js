// Fits of drawn weights that hold nobody up: what a fit at a new N needs first comes from a worker, and until it is
// there the last fit stands in.
import { LARGEST, isDecomposed, keepDecomposition } from "./design.js";
import { coefficients } from "./specs.js";
import { Work } from "./work.js";

const AT_ONCE = 24; // the largest N whose decomposition takes less than a frame
const WORK = new Work();

export class Fits {
  /** `changed`: called when a fit can be drawn that could not before. */
  constructor(changed) {
    Object.assign(this, { changed, last: new Map(), wanted: null, busy: false, rest: Promise.resolve() });
  }

  /**
   * { sequences, stale } of a resolved estimator at N. Where its fit is still to come, the sequences are those of its
   * last fit, of the drawing before this one perhaps, or null; `changed` is called when it is there.
   */
  sequences(found, N) {
    const { name, spec, options } = found;
    if (name !== "drawn" && name !== "formula") return { sequences: coefficients(found, N), stale: false };
    const degree = N - (options.zero_mean ? 2 : 1),
      later = N > AT_ONCE && N <= LARGEST && !isDecomposed(degree, N);
    if (later && WORK.away) {
      this.want({ degree, N });
      return { sequences: this.last.get(spec) ?? this.last.get(name) ?? null, stale: true };
    }
    const sequences = coefficients(found, N);
    if (this.last.size > 50) this.last.clear();
    this.last.set(spec, sequences).set(name, sequences);
    return { sequences, stale: false };
  }

  /** Only the last wish counts: what a slider passed over is not worth the work. */
  want(wanted) {
    this.wanted = wanted;
    if (!this.busy) this.rest = this.work();
  }

  async work() {
    this.busy = true;
    while (this.wanted) {
      const { degree, N } = this.wanted;
      this.wanted = null;
      keepDecomposition(degree, N, await WORK.ask("decompose", { degree, N }));
      this.changed();
    }
    this.busy = false;
  }

  /** Resolves when every fit that is shown is its own. */
  settled() {
    return this.rest;
  }
}
