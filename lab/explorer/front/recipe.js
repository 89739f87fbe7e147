// What practice adds to an estimator, summed over every group that a small policy can draw; as in
// lab/mathematics/exact_updates.py. The policy has one right answer with chance p and wrong ones that share the rest.
import { dot } from "./linear.js";
import { row, successFailure } from "./mathematics.js";

const WRONG = { one: [1], two: [0.7, 0.3] }; // shares of the wrong answers in what p leaves
const MOST_GROUPS = 25_000; // beyond it a picture takes many seconds
const NEGLIGIBLE = 1e-12; // as in Sampler.of

const divided = (values) => {
  const sum = values.reduce((a, b) => a + b);
  return values.map((value) => value / sum);
};

/** The chances of being drawn at a temperature, then cut to the fewest answers that hold `top_p`. */
function drawn(pi, { temperature, top_p }) {
  const heated = divided(pi.map((chance) => chance ** (1 / temperature))),
    order = [...heated.keys()].sort((i, j) => heated[j] - heated[i] || i - j);
  let before = 0;
  const kept = new Array(pi.length).fill(0);
  for (const i of order) {
    if (before < top_p - NEGLIGIBLE) kept[i] = heated[i];
    before += heated[i];
  }
  return divided(kept);
}

/** The chance that each answer, the right one first, is accepted by a judge with errors that know no answer. */
const acceptance = ({ false_positive, false_negative }, answers) =>
  row(answers, (y) => (y ? false_positive : 1 - false_negative));

/** The kinds of rollouts that can occur: [answer, reward, chance]. */
function kinds(pi, recipe) {
  const accepts = acceptance(recipe, pi.length);
  return drawn(pi, recipe)
    .flatMap((chance, y) => [
      [y, 1, chance * accepts[y]],
      [y, 0, chance * (1 - accepts[y])],
    ])
    .filter(([, , chance]) => chance > 0);
}

/** How many groups N rollouts of `count` kinds can be. */
function groups(N, count) {
  let found = 1;
  for (let i = 1; i < count; i++) found = (found * (N + i)) / i;
  return Math.round(found);
}

/** The most groups of a recipe, those of a sampler that cuts nothing, or a sentence thrown where they are too many. */
export function counted(recipe, N) {
  const count = kinds(policy(recipe, 0.5), { ...recipe, top_p: 1 }).length,
    found = groups(N, count);
  if (found > MOST_GROUPS)
    throw new Error(
      `${N} rollouts of ${count} kinds are ${found.toLocaleString("en")} groups: the page sums up to ` +
        `${MOST_GROUPS.toLocaleString("en")}; lower N, or go on with lab.recipe`,
    );
  return found;
}

/** The answers' chances, the right one first. */
export const policy = ({ wrong_answers }, p) => [p, ...WRONG[wrong_answers].map((share) => share * (1 - p))];

/** The mean tokens of an answer. */
export const meanTokens = ({ right_tokens, wrong_tokens }, p) => p * right_tokens + (1 - p) * wrong_tokens;

/**
 * What a batch does to the policy with pass rate p: the part of its mean move along grad p (`weight`), the share of the
 * mean that nobody rewards (`drift`, of its length), and the expected change of the log-odds. Where answers are averaged
 * over their tokens, rate and weight are in units of the mean length, so that all lengths alike change nothing.
 */
function law(recipe, sequences, p) {
  const { updates, clipped, averaged, same_temperature } = recipe,
    N = sequences[0].length,
    pi = policy(recipe, p),
    heat = same_temperature ? recipe.temperature : 1,
    rows = kinds(pi, recipe),
    answers = rows.map(([y]) => y),
    rewards = rows.map(([, reward]) => reward),
    logChances = Float64Array.from(rows, ([, , chance]) => Math.log(chance)),
    unit = averaged ? meanTokens(recipe, p) : 1,
    rate = recipe.step * unit,
    tokens = answers.map((y) => (averaged ? (y ? recipe.wrong_tokens : recipe.right_tokens) : 1)),
    low = clipped ? 1 - recipe.clip : -Infinity,
    high = clipped ? 1 + recipe.clip_high : Infinity,
    [a1, a0] = successFailure(sequences),
    start = Float64Array.from(pi, Math.log),
    old = softmax(start, heat, new Float64Array(pi.length)),
    logFactorials = row(N + 1, () => 0);
  for (let n = 1; n <= N; n++) logFactorials[n] = logFactorials[n - 1] + Math.log(n);

  const mean = new Float64Array(pi.length),
    logits = new Float64Array(pi.length),
    now = new Float64Array(pi.length),
    pull = new Float64Array(pi.length),
    worth = new Float64Array(rows.length); // of each kind: the share of its rollouts, their advantage and 1/tokens
  let odds = 0;

  /** Add a group, as rollouts of each kind. */
  function add(counts) {
    let log = logFactorials[N],
      K = 0,
      isDead = true;
    for (let k = 0; k < counts.length; k++) {
      log += counts[k] * logChances[k] - logFactorials[counts[k]];
      K += counts[k] * rewards[k];
    }
    for (let k = 0; k < counts.length; k++) {
      worth[k] = (counts[k] * (rewards[k] ? a1[K] : a0[K])) / (N * tokens[k]);
      isDead &&= worth[k] === 0;
    }
    if (isDead) return;
    logits.set(start);
    now.set(old);
    for (let t = 0; t < updates; t++) {
      let total = 0,
        moves = false;
      pull.fill(0);
      for (let k = 0; k < worth.length; k++) {
        const y = answers[k],
          ratio = now[y] / old[y];
        if (worth[k] > 0 ? ratio > high : ratio < low) continue;
        pull[y] += worth[k] * ratio;
        total += worth[k] * ratio;
      }
      for (let y = 0; y < logits.length; y++) {
        const move = (rate * (pull[y] - now[y] * total)) / heat;
        logits[y] += move;
        moves ||= move !== 0;
      }
      if (!moves) break; // every ratio is past its clip, and stays
      softmax(logits, heat, now);
    }
    const chance = Math.exp(log);
    for (let y = 0; y < logits.length; y++) mean[y] += (chance * (logits[y] - start[y])) / (rate * updates);
    odds += chance * (logOdds(logits) - logOdds(start));
  }
  everyGroup(N, rows.length, add);

  const up = gradient(pi, row(pi.length, (y) => Number(y === 0))),
    along = gradient(pi, acceptance(recipe, pi.length)),
    rewarded = part(mean, along),
    unrewarded = mean.map((value, y) => value - rewarded * along[y]);
  return { weight: unit * part(mean, up), drift: size(unrewarded) / size(mean), odds };
}

/** Weight, drift and change of the log-odds at each of the pass rates. */
export function laws(recipe, sequences, p) {
  const found = Array.from(p, (rate) => law(recipe, sequences, rate));
  return Object.fromEntries(["weight", "drift", "odds"].map((name) => [name, found.map((one) => one[name])]));
}

/** The gradient of the expected worth of an answer with respect to the logits. */
const gradient = (pi, worth) => {
  const expected = dot(pi, worth);
  return pi.map((chance, y) => chance * (worth[y] - expected));
};

const size = (vector) => Math.sqrt(dot(vector, vector));

/** The part of a vector along a direction; 0 along none. */
function part(vector, direction) {
  const square = dot(direction, direction);
  return square > 1e-24 ? dot(vector, direction) / square : 0;
}

/** Log-odds of the right answer, the first. */
function logOdds(logits) {
  let sum = 0;
  for (let y = 1; y < logits.length; y++) sum += Math.exp(logits[y] - logits[0]);
  return -Math.log(sum);
}

/** The softmax of logits at a temperature, into `chances`. */
function softmax(logits, heat, chances) {
  let top = -Infinity,
    sum = 0;
  for (const logit of logits) if (logit > top) top = logit;
  for (let y = 0; y < logits.length; y++) sum += chances[y] = Math.exp((logits[y] - top) / heat);
  for (let y = 0; y < logits.length; y++) chances[y] /= sum;
  return chances;
}

/** Call `visit` with each way to give N rollouts to the kinds; it is one array, written anew. */
function everyGroup(N, count, visit) {
  const counts = new Array(count).fill(0);
  const give = (k, left) => {
    if (k === count - 1) {
      counts[k] = left;
      visit(counts);
      return;
    }
    for (counts[k] = 0; counts[k] <= left; counts[k]++) give(k + 1, left - counts[k]);
  };
  give(0, N);
}
