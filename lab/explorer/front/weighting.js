// What weighted the rollouts of a file in training, and what others would have given: by the rules of
// lab/show/weighting.py, as far as the advantages in the file tell. Settings files are read by settings.js.
import { shareByBin } from "./pass_rates.js";
import { ESTIMATORS, coefficients, lifted, resolve } from "./specs.js";

// Estimators with options whose advantages files hold, and who writes them.
const WRITTEN_BY = {
  dr_grpo: "TRL's scale_rewards=none",
  "grpo(ddof=1, eps=0.0001)": "TRL's scale_rewards=group",
  "grpo(ddof=1, eps=1e-06)": "verl's grpo",
  grpo: "open-instruct's standard",
  rloo: "verl's rloo",
};
const NEAR = 2e-5; // relative, of float32 advantages

const close = (a, b) => Math.abs(a - b) <= 1e-6 + NEAR * Math.abs(b);

/** The advantages [right, wrong] of a spec in a group of n with K right; a sentence thrown where n is too small. */
function advantagesOf(spec) {
  const found = resolve(ESTIMATORS, spec),
    sizes = new Map();
  return (n, K) => {
    if (!sizes.has(n)) sizes.set(n, coefficients(found, n));
    const [gap, offset] = sizes.get(n);
    return [K > 0 ? gap[K - 1] + offset[K - 1] : 0, K < n ? offset[K] : 0];
  };
}

/** { spec, note }: the estimator that gives the advantages of the file, "" for none of them; null: it holds none. */
export function trainedWeighting({ n, correct, advantages, steps }) {
  if (!advantages) return null;
  const groups = n
    .map((size, i) => ({ n: size, K: correct[i], found: advantages[i], step: steps[i] }))
    .filter(({ n: size, K, found }) => K > 0 && K < size && found.every(Number.isFinite));
  if (!groups.length) return null;
  const plain = Object.keys(ESTIMATORS).filter((name) => {
    const rules = Object.values(ESTIMATORS[name].options ?? {});
    return ESTIMATORS[name].sequences && rules.every(({ required, start }) => !required && start !== undefined);
  });
  for (const spec of new Set([...Object.keys(WRITTEN_BY), ...plain.sort()])) {
    try {
      const expected = advantagesOf(spec);
      if (groups.every(({ n: size, K, found }) => expected(size, K).every((value, i) => close(found[i], value)))) {
        const by = WRITTEN_BY[spec] ? ` (${WRITTEN_BY[spec]})` : "";
        return { spec, note: `trained with ${spec}${by}, by the advantages in the file` };
      }
    } catch {
      // its groups are larger than these
    }
  }
  const gaps = new Map();
  const batch = groups.every(({ n: size, K, found: [right, wrong], step }) => {
    if (!gaps.has(step)) gaps.set(step, right - wrong);
    return close(right, (right - wrong) * (1 - K / size)) && close(right - wrong, gaps.get(step));
  });
  return batch
    ? {
        spec: "dr_grpo",
        note:
          "trained with TRL's scale_rewards=batch, by the advantages in the file: within a step the weights of " +
          "dr_grpo, times a factor",
      }
    : { spec: "", note: "the advantages in the file are those of no estimator without options here" };
}

/** Whether the page has the advantages of a spec, or of what it lifts: those of a closed form. */
export function isWeighed(spec) {
  try {
    return Boolean(resolve(ESTIMATORS, lifted(spec) ?? spec).entry.sequences);
  } catch {
    return false;
  }
}

/** The share of the sum of |advantage| by K/n, in bins: what a spec would have given these groups. */
export function weightShares({ n, correct, times = n.map(() => 1) }, spec, edges) {
  const expected = advantagesOf(spec),
    sums = n.map((size, i) => {
      try {
        const [right, wrong] = expected(size, correct[i]);
        return times[i] * (correct[i] * Math.abs(right) + (size - correct[i]) * Math.abs(wrong));
      } catch {
        return 0; // too small for the estimator
      }
    }),
    bins = shareByBin(
      n.map((size, i) => correct[i] / size),
      sums,
      edges,
    ),
    all = bins.reduce((a, b) => a + b, 0);
  return bins.map((bin) => bin / Math.max(all, 1e-12));
}
