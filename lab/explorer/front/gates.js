// Gates: which groups enter the step, and what an estimator weighs behind one; as in lab/mathematics/recipes.py.
import { expect, row, successFailure } from "./mathematics.js";

/** { name, low, high } of "none", "drop", "redraw" or "between(low, high)"; throws a sentence. */
export function parseGate(text) {
  if (["none", "drop", "redraw"].includes(text)) return { name: text, low: 0, high: 1 };
  const found = /^between\(\s*([\d.e+-]+)\s*,\s*([\d.e+-]+)\s*\)$/.exec(text);
  const [low, high] = found ? found.slice(1).map(Number) : [NaN, NaN];
  if (!(low >= 0 && low <= high && high <= 1)) {
    throw new Error(
      `gate = ${JSON.stringify(text)}: it must be none, drop, redraw or between(low, high) with 0 <= low <= high <= 1`,
    );
  }
  return { name: "between", low, high };
}

/** 1 where a group with K of N right is kept, K = 0 .. N. */
export function keeps({ name, low, high }, N) {
  const kept = {
    none: () => true,
    drop: (K) => K > 0 && K < N,
    redraw: (K) => K > 0 && K < N,
    between: (K) => low <= K / N && K / N <= high,
  }[name];
  return row(N + 1, (K) => Number(kept(K)));
}

export const keepsSome = (gate, N) => keeps(gate, N).includes(1);

/** Behind a gate: the weight, the rollouts that a problem costs, and the chance that its group enters the step. */
export function behind(grid, sequences, gate) {
  const N = sequences[0].length,
    kept = keeps(gate, N),
    [a1, a0] = successFailure(sequences);
  const gap = row(N, (j) => kept[j + 1] * a1[j + 1] - kept[j] * a0[j]);
  const weight = expect(grid.table(N - 1), gap),
    share = expect(grid.table(N), kept);
  if (gate.name !== "redraw") return { weight, cost: share.map(() => N), kept: share };
  return { weight: weight.map((w, i) => w / share[i]), cost: share.map((m) => N / m), kept: share.map(() => 1) };
}

/** What is drawn of an estimator behind a gate: its mean, which is the weight in one form or another. */
export const GATED = {
  weight: (grid, sequences, gate) => behind(grid, sequences, gate).weight,
  contrast: (grid, sequences, gate) =>
    behind(grid, sequences, gate).weight.map((w, i) => w * grid.p[i] * (1 - grid.p[i])),
};

/** Whether the state asks for curves behind a gate that keeps any group of N rollouts. */
export function isGated({ gate, quantity, N }) {
  return gate !== "none" && quantity in GATED && keepsSome(parseGate(gate), N);
}
