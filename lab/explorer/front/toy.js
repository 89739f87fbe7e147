// A tabular policy trained by sampling, number for number that of lab/toy/paired.py.
import { successFailure } from "./mathematics.js";

const M0 = 0xd2511f53,
  M1 = 0xcd9e8d57,
  W0 = 0x9e3779b9,
  W1 = 0xbb67ae85;

/** The high word of a 32 x 32 bit product. */
function high(a, b) {
  const al = a & 0xffff,
    ah = a >>> 16,
    bl = b & 0xffff,
    bh = b >>> 16;
  const middle = ah * bl + ((al * bl) >>> 16),
    cross = al * bh + (middle & 0xffff);
  return (ah * bh + Math.floor(middle / 65536) + Math.floor(cross / 65536)) >>> 0;
}

/** Philox4x32-10 (Salmon et al. 2011): four random 32-bit words from a counter of four and a key of two. */
export function philox([c0, c1, c2, c3], [k0, k1]) {
  for (let round = 0; round < 10; round++) {
    const h0 = high(M0, c0),
      l0 = Math.imul(M0, c0) >>> 0,
      h1 = high(M1, c2),
      l1 = Math.imul(M1, c2) >>> 0;
    [c0, c1, c2, c3] = [(h1 ^ c1 ^ k0) >>> 0, l1, (h0 ^ c3 ^ k1) >>> 0, l0];
    k0 = (k0 + W0) >>> 0;
    k1 = (k1 + W1) >>> 0;
  }
  return [c0, c1, c2, c3];
}

export const ANSWERS = 8,
  HARDEST = 0.001,
  EASIEST = 0.9;
const logit = (p) => Math.log(p) - Math.log1p(-p);

/** Numbers in (0, 1), one a rollout of problem x at a step, by seed, step and problem as in lab/toy/paired.py. */
export function uniforms(seed, step, x, rollouts) {
  const u = new Float64Array(rollouts);
  for (let block = 0; 4 * block < rollouts; block++) {
    const words = philox([block, x, step, 0], [seed, 0x6c6162]);
    for (let i = 0; i < 4 && 4 * block + i < rollouts; i++) u[4 * block + i] = (words[i] + 0.5) / 2 ** 32;
  }
  return u;
}

/**
 * One policy: a row of logits a problem, answer 0 is the right one; pass rates start even in log-odds. A step adds
 * `rate` times the sampled gradient; or, given a `length`, the gradient scaled so that rows of logits change by that
 * much in the root mean square over problems, whatever the estimator's scale. `numbers` gives uniforms: a run that is
 * repeated with other estimators may keep them.
 */
export class Policy {
  constructor({ sequences, problems, rollouts, rate, length, seed, numbers = uniforms }) {
    Object.assign(this, { problems, rollouts, rate, length, seed, numbers, time: 0 });
    [this.right, this.wrong] = successFailure(sequences);
    this.logits = new Float64Array(problems * ANSWERS);
    for (let x = 0; x < problems; x++) {
      const share = problems > 1 ? x / (problems - 1) : 0;
      this.logits[x * ANSWERS] = logit(HARDEST) * (1 - share) + share * logit(EASIEST) + Math.log(ANSWERS - 1);
    }
  }

  softmax(x) {
    const pi = this.logits.slice(x * ANSWERS, (x + 1) * ANSWERS);
    let most = -Infinity,
      sum = 0;
    for (const value of pi) if (value > most) most = value;
    for (let a = 0; a < ANSWERS; a++) sum += pi[a] = Math.exp(pi[a] - most);
    for (let a = 0; a < ANSWERS; a++) pi[a] /= sum;
    return pi;
  }

  passRates() {
    return Float64Array.from({ length: this.problems }, (_, x) => this.softmax(x)[0]);
  }

  /** N answers a problem by common random numbers, their advantages, one step up the gradient. Returns K by problem. */
  step() {
    const { rollouts: N } = this,
      solved = new Int32Array(this.problems),
      gradient = new Float64Array(this.logits.length);
    for (let x = 0; x < this.problems; x++) {
      const pi = this.softmax(x),
        counts = new Float64Array(ANSWERS);
      for (const u of this.numbers(this.seed, this.time, x, N)) {
        let answer = 0;
        for (let reach = pi[0]; answer < ANSWERS - 1 && u >= reach; reach += pi[answer]) answer++;
        counts[answer]++;
      }
      const K = (solved[x] = counts[0]),
        sum = this.right[K] * K + this.wrong[K] * (N - K);
      for (let a = 0; a < ANSWERS; a++) {
        const paid = counts[a] * (a === 0 ? this.right[K] : this.wrong[K]);
        gradient[x * ANSWERS + a] = (paid - sum * pi[a]) / N;
      }
    }
    const rate = this.length ? (this.length * Math.sqrt(this.problems)) / norm(gradient) : this.rate;
    // Dead groups alone have no direction: nothing moves.
    if (Number.isFinite(rate)) gradient.forEach((slope, i) => (this.logits[i] += rate * slope));
    this.time++;
    return solved;
  }
}

const norm = (vector) => Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));

/** The numbers under each panel: mean pass rate, that of the hardest quarter, mean log-likelihood. */
export function summary(p) {
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  return { mean: mean(p), hard: mean(p.slice(0, Math.floor(p.length / 4))), likelihood: mean(p.map(Math.log)) };
}
