// Closed forms of lab/mathematics/catalogue.py and lab/mathematics/objectives.py: a test holds every number of them to the lab's. Options,
// labels that no option changes, and estimators that have no form here come from Python, see given.js.
import { fit } from "./design.js";
import { parseFormula } from "./formula.js";
import { row } from "./mathematics.js";

/** C(n-c, k)/C(n, k), c = 0 .. n: the chance that k draws from n miss all of c marked ones; its logarithm. */
function logMiss(n, k) {
  const sums = new Float64Array(n + 1);
  for (let c = 0; c < n; c++) sums[c + 1] = sums[c] + Math.log1p(-Math.min(1, k / (n - c)));
  return sums;
}
const miss = (n, k) => logMiss(n, k).map(Math.exp);
const hit = (n, k) => logMiss(n, k).map((x) => -Math.expm1(x));
const inverse = (x) => (x > 0 ? 1 / x : 0);
const pair = (a1, a0) => [row(a1.length - 1, (j) => a1[j + 1] - a0[j]), a0.slice(0, -1)];
const leaveOneOut = (gap) => [gap, gap.map((g, j) => -g * (j / (gap.length - 1)))];
const std = (mean, N, ddof = 0) => Math.sqrt((mean * (1 - mean) * N) / (N - ddof));

/** A = (r - mean) scale(mean), from the scale as a function of the group's mean (or of K): groups sum to zero. */
function centred(N, scale) {
  const s = row(N + 1, (K) => scale(K / N, K));
  return pair(
    s.map((x, K) => (1 - K / N) * x),
    s.map((x, K) => (-K / N) * x),
  );
}

/** A = (r - m)/(sqrt(m (1-m)) + eps), from a mean m(K) that is not the group's own: groups do not sum to zero. */
function standardised(N, mean, factor = 1, eps = 0) {
  const m = row(N + 1, mean),
    scale = m.map((x) => inverse(Math.sqrt(x * (1 - x) * factor) + eps));
  return pair(
    m.map((x, K) => (1 - x) * scale[K]),
    m.map((x, K) => -x * scale[K]),
  );
}

const one = () => 1,
  reciprocal = (p) => 1 / p,
  logOdds = (p) => 1 / (p * (1 - p));
const power = (a, b) => (p) => p ** -a * (1 - p) ** -b;
const truncatedWeight = (T) => (p) => (p > 0 ? -Math.expm1(T * Math.log1p(-p)) / p : T);
const passAt = (k) => (p) => k * (1 - p) ** (k - 1);

/** The weight through points (p, w): straight lines between them, level outside. */
export function throughPoints(p, w) {
  return (x) => {
    let i = p.findIndex((at) => at >= x);
    if (i < 0) return w[w.length - 1];
    if (i === 0) return w[0];
    return w[i - 1] + ((w[i] - w[i - 1]) * (x - p[i - 1])) / (p[i] - p[i - 1]);
  };
}

export const OBJECTIVES = {
  rl: { w: () => one },
  ml: { w: () => reciprocal },
  arcsine: { w: () => power(0.5, 0.5) },
  log_odds: { w: () => logOdds },
  power: {
    label: ({ a, b }) => `p^−${a} (1−p)^−${b}`,
    w: ({ a, b }) => power(a, b),
  },
  truncated: {
    label: ({ order }) => `MaxRL T=${order}`,
    w: ({ order }) => truncatedWeight(order),
  },
  pass_at: { label: ({ k }) => `pass@${k}`, w: ({ k }) => passAt(k) },
};

const groupMean = (N) => [row(N, () => (N - 1) / N), row(N, (j) => -j / N)];
const positive = (N) => [row(N, one), row(N, () => 0)];

/** Other names of estimators, which older links and recorded runs hold; Python tells them. */
export const ALIASES = {};

/** `least(o)`: the smallest N; `sequences(N, o)`: (gap, offset); `limit(o)`: w(p); o are the options. */
export const ESTIMATORS = {
  rloo: { least: 2, limit: () => one, sequences: (N) => leaveOneOut(row(N, one)) },
  reinforce: { limit: () => one, sequences: positive },
  reinforce_mean: { least: 2, limit: () => one, sequences: groupMean },
  dr_grpo: { least: 2, limit: () => one, sequences: groupMean },
  nsr: { limit: () => one, sequences: (N) => [row(N, one), row(N, () => -1)] },
  w_reinforce: {
    limit:
      ({ lam }) =>
      () =>
        1 + lam,
    sequences: (N, { lam }) => [row(N, () => 1 + lam), row(N, () => -1)],
  },
  grpo: {
    label: ({ ddof, eps }) => (ddof === 0 && eps === 0 ? "GRPO" : `GRPO (ddof ${ddof}, eps ${exponent(eps)})`),
    least: 2,
    limit: () => power(0.5, 0.5),
    sequences: (N, { ddof, eps }) => centred(N, (mean) => inverse(std(mean, N, ddof) + eps)),
  },
  ngrpo: {
    label: ({ ddof, eps }) => (ddof === 0 && eps === 0 ? "NGRPO" : `NGRPO (ddof ${ddof}, eps ${exponent(eps)})`),
    limit: () => power(0.5, 0.5),
    sequences: (N, { ddof, eps }) => standardised(N, (K) => (K + 1) / (N + 1), (N + 1) / (N + 1 - ddof), eps),
  },
  f_grpo: {
    label: ({ gamma }) => `F-GRPO (gamma ${gamma})`,
    least: 2,
    limit: ({ gamma }) => power(0.5, 0.5 - gamma),
    sequences: (N, { gamma }) => centred(N, (mean) => (1 - mean) ** gamma * inverse(std(mean, N))),
  },
  dgpo: {
    least: 2,
    limit: () => (p) => 0.5 * logOdds(p),
    sequences: (N) => centred(N, (mean) => inverse(2 * std(mean, N) ** 2)),
  },
  mapo: {
    least: 2,
    limit: () => (p) => 4 * Math.sqrt(p * (1 - p)) + (1 - 4 * p * (1 - p)) / p,
    sequences: (N) =>
      centred(N, (mean) => {
        const trust = 4 * mean * (1 - mean);
        return trust * inverse(std(mean, N)) + (1 - trust) * inverse(mean);
      }),
  },
  maxrl: {
    least: 2,
    limit: () => reciprocal,
    sequences: (N) => [row(N, (j) => N / (j + 1) - (j === 0)), row(N, (j) => (j > 0 ? -1 : 0))],
  },
  maxrl_eq6: {
    limit: () => reciprocal,
    sequences: (N) => [row(N, (j) => N / (j + 1)), row(N, () => 0)],
  },
  maxrl_eq7: {
    limit: () => reciprocal,
    sequences: (N) => [row(N, (j) => N / (j + 1)), row(N, () => -1)],
  },
  maxrl_loo: {
    least: 2,
    limit: () => reciprocal,
    sequences: (N) => leaveOneOut(row(N, (j) => N / (j + 1))),
  },
  truncated: {
    label: ({ order }) => `MaxRL T=${order}`,
    least: ({ order, form }) => (form === "loo" ? Math.max(2, order) : order),
    limit: ({ order }) => truncatedWeight(order),
    sequences(N, { order, form }) {
      const pass = hit(N, order),
        gap = row(N, (j) => (N / (j + 1)) * pass[j + 1]);
      return form === "raw" ? [gap, row(N, () => 0)] : leaveOneOut(gap);
    },
  },
  alpha: {
    label: ({ alpha }) => `alpha ${alpha}`,
    least: 2,
    limit: ({ alpha }) => power(alpha, 0),
    sequences: (N, { alpha }) => centred(N, (mean) => inverse(mean) ** alpha),
  },
  pkpo: {
    label: ({ k }) => `PKPO k=${k}`,
    least: ({ k, form }) => (form === "sloo" ? k + 1 : k),
    limit: ({ k }) => passAt(k),
    sequences(N, { k, form }) {
      const gap = miss(N - 1, k - 1).map((x) => k * x);
      if (form === "sloom1") return [gap, row(N, () => 0)];
      const offset = hit(N - 1, k - 1).map((x) => k * x);
      if (form === "s") return [gap, offset];
      const all = hit(N - 1, k);
      return [gap, offset.map((x, j) => x - ((N * k) / (N - 1)) * all[j])];
    },
  },
  pass_at_k_group: {
    label: ({ k }) => `Pass@${k} Training`,
    least: ({ k }) => Math.max(2, k),
    limit:
      ({ k }) =>
      (p) =>
        (1 - p) ** (k / 2 - 1) / Math.sqrt(-Math.expm1(k * Math.log1p(-p))),
    sequences(N, { k }) {
      const fail = miss(N, k),
        solved = hit(N, k),
        alone = miss(N - 1, k - 1);
      const scale = fail.map((x, K) => inverse(Math.sqrt(x * solved[K])));
      return pair(
        fail.map((x, K) => x * scale[K]),
        fail.map((x, K) => (x - (K < N ? alone[K] : 0)) * scale[K]),
      );
    },
  },
  pacs: {
    label: ({ balanced }) => (balanced ? "PACS" : "PACS, no class weights"),
    least: 2,
    limit:
      ({ beta, balanced }) =>
      (p) =>
        beta * (balanced ? 0.25 * logOdds(p) : 1),
    sequences(N, { beta, score, balanced }) {
      const factor = score === "rloo" ? beta : (beta * (N - 1)) / N;
      if (!balanced) return leaveOneOut(row(N, () => factor));
      return ESTIMATORS.dgpo.sequences(N).map((values) => values.map((x) => ((factor * N) / (2 * (N - 1))) * x));
    },
  },
  real_anchor: {
    label: ({ tau }) => `REAL (tau ${tau})`,
    limit:
      ({ tau }) =>
      (p) =>
        logOdds(p) / tau,
    sequences: (N, { tau }) =>
      pair(
        row(N + 1, (K) => N / (tau * (1 + K))),
        row(N + 1, (K) => -N / (tau * (1 + N - K))),
      ),
  },
  entropic: {
    label: ({ eta }) => `entropic (eta ${eta})`,
    least: 2,
    limit:
      ({ eta }) =>
      (p) =>
        Math.expm1(eta) / (eta * (1 + Math.expm1(eta) * p)),
    sequences: (N, { eta }) => centred(N, (mean) => Math.expm1(eta) / eta / (1 + Math.expm1(eta) * mean)),
  },
  drawn: {
    least: ({ zero_mean }) => (zero_mean ? 3 : 2),
    limit: ({ p, w }) => throughPoints(p, w),
    sequences: (N, { p, w, zero_mean }) => fromWeight(throughPoints(p, w), N, zero_mean),
  },
  formula: {
    label: ({ text }) => `w = ${text}`,
    least: ({ zero_mean }) => (zero_mean ? 3 : 2),
    limit: ({ text }) => parseFormula(text),
    sequences: (N, { text, zero_mean }) => fromWeight(parseFormula(text), N, zero_mean),
  },
};

/** The smallest differences that text shows: 1e-06, as Python writes it. */
export function exponent(x) {
  return x !== 0 && Math.abs(x) < 1e-4 ? x.toExponential().replace(/e([+-])(\d)$/, "e$10$2") : String(x);
}

/** lab.from_weight: the (gap, offset) at N whose induced weight is as near to w as N rollouts allow. */
export function fromWeight(w, N, zeroMean = false) {
  if (!zeroMean) return leaveOneOut(fit(N - 1, N, (j) => (j + 0.5) / N, w));
  const phi = fit(N - 2, N, (i) => (i + 1) / N, w);
  return centred(N, (_, K) => (K > 0 && K < N ? (N / (N - 1)) * phi[K - 1] : 0));
}
