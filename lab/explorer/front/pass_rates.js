// Pass rates behind counts, with the sampling noise removed: lab/pass_rates.py and lab/audit.py, without intervals.
import { binomialTable, expect } from "./mathematics.js";
import { nonNegative } from "./linear.js";

const EXCESS = 1e-6, STEPS = 200, SLACK = 1;
export const EDGES = [0.01, 0.1, 0.3, 0.7, 0.9, 0.99];

const total = (values) => values.reduce((a, b) => a + b, 0);

/** The distribution of p under which the counts are likely: smooth, SLACK below the highest log-likelihood. */
export function mixing(n, correct, slack = SLACK) {
  const cells = new Map();
  n.forEach((size, i) => {
    const key = `${size} ${correct[i]}`, cell = cells.get(key) ?? { size, right: correct[i], times: 0 };
    cell.times++;
    cells.set(key, cell);
  });
  const rows = [...cells.values()].sort((a, b) => a.size - b.size || a.right - b.right);
  const steps = Math.max(200, Math.ceil(4 * Math.PI * Math.sqrt(Math.max(...rows.map(({ size }) => size)))));
  const p = Float64Array.from({ length: steps + 1 }, (_, i) => Math.sin(Math.PI / 2 * i / steps) ** 2);
  const power = (k, x) => (k === 0 ? 0 : k * x);
  const chance = rows.map(({ size, right }) => {
    const logs = p.map((x) => power(right, Math.log(x)) + power(size - right, Math.log1p(-x))), peak = Math.max(...logs);
    return logs.map((value) => Math.exp(value - peak));
  });
  return { p, mass: mix(chance, rows.map(({ times }) => times), slack) };
}

const product = (chance, mass) => chance.map((row) => { let sum = 0; for (let i = 0; i < mass.length; i++) sum += row[i] * mass[i]; return sum; });

/** Constrained Newton steps (Wang 2007) to the top, then EM from even mass until it is within `slack` of it. */
function mix(chance, times, slack) {
  const problems = total(times), share = times.map((t) => t / problems), width = chance[0].length;
  let mass = new Float64Array(width).fill(1 / width);
  for (let step = 0; ; step++) {
    if (step === STEPS) throw new Error("the pass rates do not settle: give counts of fewer different sizes");
    const mixed = product(chance, mass), ratio = chance.map((row, c) => row.map((value) => value / mixed[c]));
    const slope = mass.map((_, i) => total(ratio.map((row, c) => share[c] * row[i])));
    if (Math.max(...slope) <= 1 + EXCESS) break;
    const columns = Array.from(mass, (_, i) => [...ratio.map((row, c) => Math.sqrt(share[c]) * (row[i] - 2)), 1]);
    let newton = nonNegative(columns, [...share.map(() => 0), 1]);
    const size = total(newton);
    newton = newton.map((value) => value / size);
    const change = product(ratio, newton).map((value) => value - 1), rise = total(change.map((value, c) => share[c] * value));
    let length = 0.99;
    while (total(change.map((value, c) => share[c] * Math.log1p(length * value))) < 0.1 * length * rise) length /= 2;
    mass = mass.map((value, i) => value + length * (newton[i] - value));
  }
  if (!slack) return mass;
  const top = product(chance, mass);
  let smooth = new Float64Array(width).fill(1 / width);
  for (;;) {
    const mixed = product(chance, smooth);
    if (total(share.map((s, c) => s * Math.log(mixed[c] / top[c]))) >= -slack / problems) return smooth;
    const factor = new Float64Array(width);
    chance.forEach((row, c) => row.forEach((value, i) => { factor[i] += share[c] / mixed[c] * value; }));
    smooth = smooth.map((value, i) => value * factor[i]);
  }
}

/** The mass with edges[i] < p <= edges[i+1], the first bin with its lower edge too. */
export function shareByBin(p, mass, edges) {
  const bins = new Float64Array(edges.length - 1);
  p.forEach((x, i) => {
    const above = edges.findIndex((edge) => edge >= x);
    bins[Math.max(above - 1, 0)] += mass[i];
  });
  return Array.from(bins);
}

/** What a file says of training: `estimators` maps a name to its gap by N (null where N is too small); `kept` holds the fit. */
export function analyse({ n, correct, exact }, N, estimators, kept = {}) {
  const reach = exact ? Infinity : Math.max(...n);
  const naive = exact ?? n.map((size, i) => correct[i] / size), even = naive.map(() => 1 / naive.length);
  const { p, mass } = exact ? { p: exact, mass: even } : kept.fit ??= mixing(n, correct);
  const edges = [0, ...EDGES.filter((edge) => Math.min(edge, 1 - edge) >= 0.5 / reach), 1];
  const sizes = [];
  for (let size = 2; size <= 4 * N; size *= 2) sizes.push(size);
  const dead = (points, weights) => sizes.map((size) => total(Array.from(weights, (m, i) => m * ((1 - points[i]) ** size + points[i] ** size))));
  const gradient = (gap) => {
    const w = expect(binomialTable(gap.length - 1, p), gap);
    return Array.from(mass, (m, i) => m * p[i] * (1 - p[i]) * Math.abs(w[i]));
  };
  const gradients = {}, signals = {};
  for (const [name, gap] of Object.entries(estimators)) {
    const bins = shareByBin(p, gradient(gap(N)), edges), all = Math.max(total(bins), 1e-6);
    gradients[name] = bins.map((value) => value / all);
    signals[name] = sizes.map((size) => (gap(size) ? total(gradient(gap(size))) : NaN));
  }
  return {
    edges, sizes, reach, gradients, signals, problems: shareByBin(p, mass, edges), naive: exact ? null : shareByBin(naive, even, edges),
    dead: dead(p, mass), deadNaive: exact ? null : dead(naive, even), p, mass,
  };
}
