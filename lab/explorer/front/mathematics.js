// Exact finite-N sums, as in lab/weights.py: an estimator is (gap, offset), and everything drawn is an expectation.

/**
 * P(j of n are right) for every pass rate: "points n+1", by ratios outward from the mode, so nothing overflows. Chances
 * below `least` of the mode's are left 0, and `low`, `high` bound the others: a thousand rollouts cost little more than
 * ten.
 */
export function binomialTable(n, p, least = 1e-25) {
  const width = n + 1,
    chance = new Float64Array(p.length * width);
  const low = new Int32Array(p.length),
    high = new Int32Array(p.length);
  const rise = Float64Array.from({ length: n }, (_, j) => (n - j) / (j + 1));
  for (let i = 0; i < p.length; i++) {
    const row = chance.subarray(i * width, (i + 1) * width);
    const mode = Math.min(n, Math.floor(width * p[i]));
    const up = p[i] / (1 - p[i]),
      down = (1 - p[i]) / p[i];
    let sum = (row[mode] = 1),
      last = mode,
      first = mode;
    for (; last < n && row[last] > least; last++) sum += row[last + 1] = row[last] * rise[last] * up;
    for (; first > 0 && row[first] > least; first--) sum += row[first - 1] = (row[first] / rise[first - 1]) * down;
    for (let j = first; j <= last; j++) row[j] /= sum;
    low[i] = first;
    high[i] = last;
  }
  return { chance, width, low, high };
}

/** E[values[j]] for every row of a binomial table. */
export function expect({ chance, width, low, high }, values) {
  const out = new Float64Array(low.length);
  for (let i = 0; i < out.length; i++) {
    let sum = 0;
    for (let j = low[i], at = i * width + j; j <= high[i]; j++) sum += chance[at++] * values[j];
    out[i] = sum;
  }
  return out;
}

/** a1(K) of a right and a0(K) of a wrong rollout, K = 0 .. N, from (gap, offset). */
export function successFailure([gap, offset]) {
  const N = gap.length,
    a1 = new Float64Array(N + 1),
    a0 = new Float64Array(N + 1);
  for (let j = 0; j < N; j++) {
    a1[j + 1] = gap[j] + offset[j];
    a0[j] = offset[j];
  }
  return [a1, a0];
}

/** Pass rates with the binomial tables of the N in use, made when first asked for. */
export class Grid {
  constructor(p) {
    this.p = Float64Array.from(p);
    this.tables = new Map();
  }

  table(n) {
    if (!this.tables.has(n)) {
      if (this.tables.size > 3) this.tables.clear(); // N and N-1 of the last two settings are enough
      this.tables.set(n, binomialTable(n, this.p));
    }
    return this.tables.get(n);
  }
}

/** What can be drawn of an estimator at N: each a Float64Array over the grid. */
export const QUANTITIES = {
  weight: (grid, [gap]) => expect(grid.table(gap.length - 1), gap),

  /** J_N(p) - J_N(1/2), J_N = E[sum of gap below X]/N, X ~ Binomial(N, p). */
  objective(grid, [gap]) {
    const N = gap.length,
      sums = new Float64Array(N + 1);
    for (let j = 0; j < N; j++) sums[j + 1] = sums[j] + gap[j] / N;
    const [middle] = expect(binomialTable(N, [0.5]), sums);
    return expect(grid.table(N), sums).map((value) => value - middle);
  },

  efficiency(grid, [gap, offset]) {
    const table = grid.table(gap.length - 1);
    const right = expect(
      table,
      gap.map((g, j) => (g + offset[j]) ** 2),
    );
    const wrong = expect(
      table,
      offset.map((a) => a * a),
    );
    return expect(table, gap).map((w, i) => {
      const p = grid.p[i];
      return (p * (1 - p) * w * w) / (p * right[i] + (1 - p) * wrong[i]);
    });
  },

  mass(grid, [gap, offset]) {
    const table = grid.table(gap.length - 1);
    const right = expect(
      table,
      gap.map((g, j) => Math.abs(g + offset[j])),
    );
    const wrong = expect(table, offset.map(Math.abs));
    return right.map((value, i) => grid.p[i] * value + (1 - grid.p[i]) * wrong[i]);
  },

  contrast: (grid, sequences) => QUANTITIES.weight(grid, sequences).map((w, i) => w * grid.p[i] * (1 - grid.p[i])),
};

/** The same of an objective w(p), which has no N; null where the quantity has no meaning for it. */
export const LIMITS = {
  weight: (p, w) => p.map(w),
  objective: (p, w) => p.map((x) => integral(w, x)),
  efficiency: () => null,
  mass: () => null,
  contrast: (p, w) => p.map((x) => w(x) * x * (1 - x)),
};

const NODES = new Map();

/** Gauss-Legendre nodes and weights on [-1, 1], by Newton's method on the Legendre polynomial. */
export function gaussLegendre(n) {
  if (NODES.has(n)) return NODES.get(n);
  const x = new Float64Array(n),
    share = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let z = -Math.cos((Math.PI * (i + 0.75)) / (n + 0.5)),
      slope = 1;
    for (let step = 0; step < 100; step++) {
      let one = 1,
        two = 0;
      for (let k = 0; k < n; k++) [one, two] = [((2 * k + 1) * z * one - k * two) / (k + 1), one];
      slope = (n * (z * one - two)) / (z * z - 1);
      const change = one / slope;
      z -= change;
      if (Math.abs(change) < 1e-16) break;
    }
    x[i] = z;
    share[i] = 2 / ((1 - z * z) * slope * slope);
  }
  NODES.set(n, [x, share]);
  return NODES.get(n);
}

/** The integral of w from 1/2 to p, in the log-odds, where w p (1-p) is mild (lab.objectives.integral). */
export function integral(w, p) {
  const [x, share] = gaussLegendre(128),
    end = Math.log(p) - Math.log1p(-p);
  let sum = 0;
  for (let i = 0; i < x.length; i++) {
    const s = 1 / (1 + Math.exp((-end * (x[i] + 1)) / 2));
    sum += w(s) * s * (1 - s) * share[i];
  }
  return (sum * end) / 2;
}

/** Pass rates to draw at, for each kind of axis. */
export function passRates(axis, count = 241) {
  const at = (i) => i / (count - 1),
    odds = Math.log(9999);
  const forms = {
    linear: (i) => (i + 0.5) / count,
    log: (i) => 10 ** (-4 + 4 * at(i)) * 0.9999 ** at(i),
    logit: (i) => 1 / (1 + Math.exp(odds * (1 - 2 * at(i)))),
  };
  return Float64Array.from({ length: count }, (_, i) => forms[axis](i));
}
