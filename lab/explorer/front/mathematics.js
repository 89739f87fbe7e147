// Exact finite-N sums, as in lab/mathematics/weights.py: an estimator is (gap, offset), and everything drawn is an expectation.

/** An array of n numbers by their index. */
export function row(n, f) {
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) out[i] = f(i);
  return out;
}

/**
 * P(j of n are right), one { low, chance } a pass rate, the chances of j = low, low + 1, ...; by ratios outward from
 * the mode, so nothing overflows. Those below `least` of the mode's are left out: a thousand rollouts cost little more
 * than ten.
 */
export function binomialTable(n, p, least = 1e-25) {
  const rise = row(n, (j) => (n - j) / (j + 1)),
    scratch = new Float64Array(n + 1);
  return Array.from(p, (x) => {
    const mode = Math.min(n, Math.floor((n + 1) * x)),
      up = x / (1 - x),
      down = (1 - x) / x;
    let sum = (scratch[mode] = 1),
      low = mode,
      high = mode;
    for (; high < n && scratch[high] > least; high++) sum += scratch[high + 1] = scratch[high] * rise[high] * up;
    for (; low > 0 && scratch[low] > least; low--) sum += scratch[low - 1] = (scratch[low] / rise[low - 1]) * down;
    const chance = scratch.slice(low, high + 1);
    for (let j = 0; j < chance.length; j++) chance[j] /= sum;
    return { low, chance };
  });
}

/** E[values[j]] for every pass rate of a binomial table. */
export function expect(table, values) {
  return row(table.length, (i) => {
    const { low, chance } = table[i];
    let sum = 0;
    for (let j = 0; j < chance.length; j++) sum += chance[j] * values[low + j];
    return sum;
  });
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
    const table = grid.table(gap.length - 1),
      [a1] = successFailure([gap, offset]);
    const square = (x) => x * x;
    const right = expect(table, a1.subarray(1).map(square)),
      wrong = expect(table, offset.map(square));
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

/** The integral of w from 1/2 to p, in the log-odds, where w p (1-p) is mild (lab.mathematics.objectives.integral). */
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
    deep: (i) => 10 ** (-6 + 6 * at(i)) * 0.9999 ** at(i),
    logit: (i) => 1 / (1 + Math.exp(odds * (1 - 2 * at(i)))),
  };
  return row(count, forms[axis]);
}
