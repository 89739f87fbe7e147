// Pass rates behind counts, with the sampling noise removed: lab/mathematics/pass_rates.py and lab/show/audit.py.
import { binomialTable, expect } from "./mathematics.js";
import { nonNegative } from "./linear.js";
import { philox } from "./toy.js";

const EXCESS = 1e-6,
  STEPS = 200,
  SLACK = 1;
const MOST_CELLS = 150; // a quarter of a second; the work grows with the cube
export const EDGES = [0.01, 0.1, 0.3, 0.7, 0.9, 0.99];

const total = (values) => values.reduce((a, b) => a + b, 0);

/** Points p, the chance of each distinct (n, K) at them over its peak, and the cell that every problem is in. */
function cellsOf(n, correct) {
  const key = (i) => `${n[i]} ${correct[i]}`,
    cells = new Map(n.map((size, i) => [key(i), { size, right: correct[i] }]));
  if (cells.size > MOST_CELLS) {
    throw new Error(
      `${cells.size} different counts: the page fits up to ${MOST_CELLS}; in a notebook, or by lab audit, all`,
    );
  }
  const rows = [...cells.values()].sort((a, b) => a.size - b.size || a.right - b.right);
  const place = new Map(rows.map(({ size, right }, c) => [`${size} ${right}`, c]));
  const steps = Math.max(200, Math.ceil(4 * Math.PI * Math.sqrt(Math.max(...rows.map(({ size }) => size)))));
  const p = Float64Array.from({ length: steps + 1 }, (_, i) => Math.sin(((Math.PI / 2) * i) / steps) ** 2);
  const power = (k, x) => (k === 0 ? 0 : k * x);
  const chance = rows.map(({ size, right }) => {
    const logs = p.map((x) => power(right, Math.log(x)) + power(size - right, Math.log1p(-x))),
      peak = Math.max(...logs);
    return logs.map((value) => Math.exp(value - peak));
  });
  return { p, chance, of: n.map((_, i) => place.get(key(i))) };
}

/** How many problems are in each cell; `times`: for how many problems each entry stands, one without it. */
const counted = (of, cells, times) => {
  const sums = new Array(cells).fill(0);
  of.forEach((c, i) => {
    sums[c] += times ? times[i] : 1;
  });
  return sums;
};

/** Counts or exact pass rates with one entry for all problems that are alike, and how many those are: `times`. */
export function condensed({ n, correct, exact }) {
  const cells = new Map();
  (exact ?? n).forEach((value, i) => {
    const key = exact ? value : `${value} ${correct[i]}`,
      cell = cells.get(key);
    if (cell) cell.times++;
    else cells.set(key, { value, right: exact ? 0 : correct[i], times: 1 });
  });
  const all = [...cells.values()],
    values = all.map(({ value }) => value),
    times = all.map((cell) => cell.times);
  return exact
    ? { n: [], correct: [], exact: values, times }
    : { n: values, correct: all.map(({ right }) => right), times };
}

/** The distribution of p under which the counts are likely: smooth, SLACK below the highest log-likelihood. */
export function mixing(n, correct, slack = SLACK, times = null) {
  const { p, chance, of } = cellsOf(n, correct);
  return { p, mass: mix(chance, counted(of, chance.length, times), slack) };
}

/**
 * The same for problems drawn again with replacement: a function of the draw's number, its randomness Philox's.
 * `problem` are the numbers of the counts' problems, from 0, where a problem has several: all are drawn, or none.
 */
export function resampled(n, correct, problem = [...n.keys()]) {
  const { p, chance, of } = cellsOf(n, correct),
    problems = new Set(problem).size;
  return (draw) => {
    const times = new Array(problems).fill(0);
    for (let i = 0; i < problems; i++)
      times[Math.floor((philox([i, draw, 0, 0], [0, 0x626f6f74])[0] / 2 ** 32) * problems)]++;
    const again = problem.map((each) => times[each]);
    return { p, mass: mix(chance, counted(of, chance.length, again), SLACK) };
  };
}

const product = (chance, mass) =>
  chance.map((row) => {
    let sum = 0;
    for (let i = 0; i < mass.length; i++) sum += row[i] * mass[i];
    return sum;
  });

/** The sum of the rows, each times its weight. */
function combined(rows, weights) {
  const sums = new Float64Array(rows[0].length);
  rows.forEach((row, c) => {
    const weight = weights[c];
    for (let i = 0; i < sums.length; i++) sums[i] += weight * row[i];
  });
  return sums;
}

/** Constrained Newton steps (Wang 2007) to the top, then EM from even mass until it is within `slack` of it. */
function mix(every, all, slack) {
  const chance = every.filter((_, c) => all[c] > 0),
    times = all.filter((count) => count > 0);
  const problems = total(times),
    share = times.map((t) => t / problems),
    width = chance[0].length;
  let mass = new Float64Array(width).fill(1 / width);
  for (let step = 0; ; step++) {
    if (step === STEPS) throw new Error("the pass rates do not settle: give counts of fewer different sizes");
    const mixed = product(chance, mass),
      ratio = chance.map((row, c) => row.map((value) => value / mixed[c]));
    if (Math.max(...combined(ratio, share)) <= 1 + EXCESS) break;
    const columns = Array.from(mass, () => new Float64Array(share.length + 1).fill(1));
    ratio.forEach((row, c) => {
      const root = Math.sqrt(share[c]);
      for (let i = 0; i < width; i++) columns[i][c] = root * (row[i] - 2);
    });
    let newton = nonNegative(columns, [...share.map(() => 0), 1]);
    const size = total(newton);
    newton = newton.map((value) => value / size);
    const change = product(ratio, newton).map((value) => value - 1),
      rise = total(change.map((value, c) => share[c] * value));
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
    const factor = combined(
      chance,
      share.map((s, c) => s / mixed[c]),
    );
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

/** Pass rates of some problems that stand for a distribution, the hardest first: means over equal shares of its mass. */
export function equalShares(p, mass, problems) {
  const below = [0],
    sums = [0];
  for (const i of [...p.keys()].sort((a, b) => p[a] - p[b])) {
    below.push(below.at(-1) + mass[i]);
    sums.push(sums.at(-1) + mass[i] * p[i]);
  }
  const all = below.at(-1);
  let k = 0;
  const edges = Array.from({ length: problems + 1 }, (_, i) => {
    const edge = (i / problems) * all;
    while (k < p.length - 1 && below[k + 1] < edge) k++;
    const width = below[k + 1] - below[k];
    return sums[k] + (width > 0 ? ((edge - below[k]) / width) * (sums[k + 1] - sums[k]) : 0);
  });
  return edges.slice(1).map((sum, i) => Math.min(1, Math.max(0, ((sum - edges[i]) * problems) / all)));
}

/** The lowest and highest of 95 in 100 values: order statistics, as lab.stats takes them. */
export function interval(values) {
  const sorted = Float64Array.from(values).sort(),
    last = sorted.length - 1;
  return [sorted[Math.floor(0.025 * last)], sorted[Math.ceil(0.975 * last)]];
}

/** Where the numbers of a file are read off: bins that its group sizes can tell apart, and sizes up to four times N. */
export function readings({ n, exact }, N) {
  const reach = exact ? Infinity : n.reduce((a, b) => Math.max(a, b)),
    sizes = [];
  for (let size = 2; size <= 4 * N; size *= 2) sizes.push(size);
  return { reach, sizes, edges: [0, ...EDGES.filter((edge) => Math.min(edge, 1 - edge) >= 0.5 / reach), 1] };
}

/** p(1-p)|w| of each estimator at the points p, for groups of N: what expected gradients are sums of. */
const strengths = (p, gap) =>
  expect(binomialTable(gap.length - 1, p), gap).map((w, i) => p[i] * (1 - p[i]) * Math.abs(w));

/** What a distribution of pass rates says of training. `gaps`: each estimator's gap by N, null where N is too small. */
export function tell(p, { edges, sizes }, N, gaps) {
  const at = Object.entries(gaps).map(([name, gap]) => [
    name,
    strengths(p, gap(N)),
    sizes.map((size) => gap(size) && strengths(p, gap(size))),
  ]);
  const lost = sizes.map((size) => Array.from(p, (x) => (1 - x) ** size + x ** size));
  const weigh = (mass, values) => total(Array.from(mass, (m, i) => m * values[i]));
  return (mass) => {
    const gradients = {},
      signals = {};
    for (const [name, here, elsewhere] of at) {
      const bins = shareByBin(
          p,
          Array.from(mass, (m, i) => m * here[i]),
          edges,
        ),
        all = Math.max(total(bins), 1e-6);
      gradients[name] = bins.map((value) => value / all);
      signals[name] = elsewhere.map((values) => (values ? weigh(mass, values) : NaN));
    }
    return {
      problems: shareByBin(p, mass, edges),
      dead: lost.map((values) => weigh(mass, values)),
      gradients,
      signals,
    };
  };
}

/** What a file says of training, and what K/n taken for p would say. `kept` holds the fit from one N to the next. */
export function analyse(counts, N, gaps, kept = {}) {
  const { n, correct, exact } = counts,
    places = readings(counts, N);
  const naive = exact ?? n.map((size, i) => correct[i] / size),
    times = counts.times ?? naive.map(() => 1),
    problems = total(times),
    even = times.map((count) => count / problems);
  kept.fit ??= exact ? { p: exact, mass: even } : mixing(n, correct, SLACK, times);
  const found = tell(kept.fit.p, places, N, gaps)(kept.fit.mass);
  if (exact) return { ...places, ...found };
  const alone = tell(naive, places, N, {})(even);
  return { ...places, ...found, naive: alone.problems, deadNaive: alone.dead };
}
