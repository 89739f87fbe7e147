// A tabular policy trained by sampling, number for number that of lab/toy/paired.py.
import { dot } from "./linear.js";
import { binomialTable, expect, row, successFailure } from "./mathematics.js";

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
  EASIEST = 0.9,
  CERTAIN = 1e-6; // no start is nearer to 0 or 1, from where nothing could move it
const STREAM = 0x6c6162;
const logit = (p) => Math.log(p) - Math.log1p(-p);

/** Numbers in (0, 1), one a rollout of problem x at a step, by seed, step and problem as in lab/toy/paired.py. */
export function uniforms(seed, step, x, rollouts) {
  const u = new Float64Array(rollouts);
  for (let block = 0; 4 * block < rollouts; block++) {
    const words = philox([block, x, step, 0], [seed, STREAM]);
    for (let i = 0; i < 4 && 4 * block + i < rollouts; i++) u[4 * block + i] = (words[i] + 0.5) / 2 ** 32;
  }
  return u;
}

/** What shared parameters know of each problem: rows of random signs, of length 1, the same for every seed. */
export function features(problems, shared) {
  return Array.from({ length: problems }, (_, x) => {
    const words = Array.from({ length: Math.ceil(shared / 4) }, (_, block) =>
      philox([block, x, 0, 1], [0, STREAM]),
    ).flat();
    return row(shared, (f) => (words[f] >>> 31 ? 1 : -1) / Math.sqrt(shared));
  });
}

/** Log-odds of problems that start even in them. */
const even = (problems) =>
  Array.from({ length: problems }, (_, x) => {
    const share = problems > 1 ? x / (problems - 1) : 0;
    return logit(HARDEST) * (1 - share) + share * logit(EASIEST);
  });

/**
 * One policy: a row of logits a problem, answer 0 is the right one; pass rates start even in log-odds, or at those of
 * `start`. With `shared` features the rows are those of the start plus the features times parameters of all problems.
 * A step adds `rate` times the sampled gradient; or, given a `length`, the gradient scaled so that rows of logits
 * change by that much in the root mean square over problems, whatever the estimator's scale. `numbers` gives uniforms:
 * a run that is repeated with other estimators may keep them. Not `sampled` is the prediction: the expected gradient,
 * as far as makes `length` the root mean square of sampled steps.
 */
export class Policy {
  constructor({
    sequences,
    problems,
    rollouts,
    rate,
    length,
    seed,
    start = null,
    shared = 0,
    sampled = true,
    numbers = uniforms,
  }) {
    Object.assign(this, { sequences, problems, rollouts, rate, length, seed, sampled, numbers, time: 0 });
    [this.right, this.wrong] = successFailure(sequences);
    this.logits = new Float64Array(problems * ANSWERS);
    const odds = start ? start.map((p) => logit(Math.min(1 - CERTAIN, Math.max(CERTAIN, p)))) : even(problems);
    for (let x = 0; x < problems; x++) this.logits[x * ANSWERS] = odds[x] + Math.log(ANSWERS - 1);
    this.basis = shared ? features(problems, shared) : null;
    this.reach = sampled ? null : reachOf(problems, this.basis);
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

  step() {
    const { gradient, noise } = this.sampled ? this.drawn() : this.expected(),
      change = this.spread(gradient),
      size = change.reduce((sum, value) => sum + value * value, noise);
    const rate = this.length ? this.length * Math.sqrt(this.problems / size) : this.rate;
    // Dead groups alone have no direction: nothing moves.
    if (Number.isFinite(rate)) change.forEach((slope, i) => (this.logits[i] += rate * slope));
    this.time++;
  }

  /** The gradient by the logits from N answers a problem, by common random numbers. */
  drawn() {
    const { rollouts: N } = this,
      gradient = new Float64Array(this.logits.length);
    for (let x = 0; x < this.problems; x++) {
      const pi = this.softmax(x),
        counts = new Float64Array(ANSWERS);
      for (const u of this.numbers(this.seed, this.time, x, N)) {
        let answer = 0;
        for (let reach = pi[0]; answer < ANSWERS - 1 && u >= reach; reach += pi[answer]) answer++;
        counts[answer]++;
      }
      const K = counts[0],
        sum = this.right[K] * K + this.wrong[K] * (N - K);
      for (let a = 0; a < ANSWERS; a++) {
        const paid = counts[a] * (a === 0 ? this.right[K] : this.wrong[K]);
        gradient[x * ANSWERS + a] = (paid - sum * pi[a]) / N;
      }
    }
    return { gradient, noise: 0 };
  }

  /** Its mean, w_N(p) grad p, and by how much its noise makes the squared change of the logits larger on average. */
  expected() {
    const { rollouts: N, right, wrong } = this,
      gradient = new Float64Array(this.logits.length);
    let noise = 0;
    for (let x = 0; x < this.problems; x++) {
      const pi = this.softmax(x),
        p = pi[0];
      const [w] = expect(binomialTable(N - 1, [p]), this.sequences[0]);
      let length = 0,
        wrongs = 0,
        squares = 0;
      for (let a = 0; a < ANSWERS; a++) {
        const slope = (gradient[x * ANSWERS + a] = w * p * ((a === 0) - pi[a]));
        length += slope * slope;
        if (a) {
          wrongs += pi[a];
          squares += pi[a] * pi[a];
        }
      }
      const alike = squares / (wrongs * wrongs);
      const square = row(N + 1, (K) => {
        const off = right[K] * K - (right[K] * K + wrong[K] * (N - K)) * p;
        return (1 + alike) * off * off + (1 - alike) * (N - K) * wrong[K] * wrong[K];
      });
      const [mean] = expect(binomialTable(N, [p]), square);
      noise += this.reach[x] * (mean / (N * N) - length);
    }
    return { gradient, noise };
  }

  /** How the logits change along a gradient: with shared parameters by every problem's, as far as features are alike. */
  spread(gradient) {
    if (!this.basis) return gradient;
    const shared = this.basis[0].length,
      parameters = new Float64Array(shared * ANSWERS),
      change = new Float64Array(gradient.length);
    this.basis.forEach((signs, x) => {
      for (let f = 0; f < shared; f++)
        for (let a = 0; a < ANSWERS; a++) parameters[f * ANSWERS + a] += signs[f] * gradient[x * ANSWERS + a];
    });
    this.basis.forEach((signs, x) => {
      for (let f = 0; f < shared; f++)
        for (let a = 0; a < ANSWERS; a++) change[x * ANSWERS + a] += signs[f] * parameters[f * ANSWERS + a];
    });
    return change;
  }
}

/** The squared length of the change that a gradient of length 1 of each problem makes to the logits of all. */
function reachOf(problems, basis) {
  if (!basis) return new Float64Array(problems).fill(1);
  return row(problems, (x) => basis.reduce((sum, signs) => sum + dot(signs, basis[x]) ** 2, 0));
}

/** The numbers under each panel: mean pass rate, that of the hardest quarter, mean log-likelihood. */
export function summary(p) {
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  return { mean: mean(p), hard: mean(p.slice(0, Math.floor(p.length / 4))), likelihood: mean(p.map(Math.log)) };
}
