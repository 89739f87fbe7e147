// What is on the screen, as one flat dictionary: in the page's address, and as Explorer.state in Python.
import { parseGate } from "./gates.js";

export const DEFAULTS = {
  panel: "curves",
  N: 16,
  curves: ["rloo", "grpo", "maxrl", "pacs"],
  objectives: [],
  quantity: "weight",
  gate: "none",
  x: "log",
  y: "log",
  normalise: false,
  limits: true,
  by: "hand",
  points: [0, 0, 0, 0, 0, 2, 4, 4, 4, 4, 4, 4, 4, 2, 0, 0, 0, 0, 0, 0, 0],
  formula: "exp(-5*p)",
  zero_mean: false,
  left: "rloo",
  right: "maxrl",
  problems: 96,
  start: "even",
  shared: 0, // features that problems share; 0: each has parameters of its own
  right_N: 0, // 0: as many as on the left
  equal: "length",
  length: 0.05,
  rate: 0.5,
  seed: 0,
  seeds: 5,
  across: "steps",
  theme: "auto",
};
export const MOST = { N: 4096, problems: 400 };
const CHOICES = {
  panel: ["curves", "draw", "files", "toy"],
  quantity: ["weight", "objective", "efficiency", "mass", "contrast"],
  x: ["log", "deep", "linear", "logit"],
  y: ["log", "linear"],
  by: ["hand", "formula"],
  start: ["even", "own"],
  equal: ["length", "rate"],
  across: ["steps", "rollouts"],
  theme: ["auto", "light", "dark"],
};
const RANGES = {
  N: [2, MOST.N, true],
  problems: [4, MOST.problems, true],
  shared: [0, MOST.problems, true],
  right_N: [0, MOST.N, true],
  length: [0.001, 1, false],
  rate: [0.001, 10, false],
  seed: [0, 2 ** 31 - 1, true],
  seeds: [1, 16, true],
};

/** A state with every key, from a partial one; throws a sentence for what no state can hold. */
export function checked(given) {
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw new Error("a state is a dictionary");
  for (const [key, value] of Object.entries(given)) {
    const usual = Object.hasOwn(DEFAULTS, key) ? DEFAULTS[key] : undefined,
      fault = (words) => new Error(`${key} = ${JSON.stringify(value)}: ${words}`);
    if (usual === undefined)
      throw new Error(`unknown key '${key}' of a state. Valid: ${Object.keys(DEFAULTS).join(", ")}`);
    if (CHOICES[key] && !CHOICES[key].includes(value)) throw fault(`it must be one of ${CHOICES[key].join(", ")}`);
    if (RANGES[key]) {
      const [least, most, whole] = RANGES[key];
      if (typeof value !== "number" || !(value >= least && value <= most) || (whole && !Number.isInteger(value))) {
        throw fault(`it must be a ${whole ? "whole " : ""}number from ${least} to ${most}`);
      }
    }
    if (typeof usual === "boolean" && typeof value !== "boolean") throw fault("it must be true or false");
    if (typeof usual === "string" && typeof value !== "string") throw fault("it must be text");
    if (key === "gate") parseGate(value);
    if (Array.isArray(usual) && !Array.isArray(value)) throw fault("it must be a list");
    if (key === "points" && !(value.length === usual.length && value.every(Number.isFinite)))
      throw fault(`it must be ${usual.length} numbers`);
    if (
      ["curves", "objectives"].includes(key) &&
      !(value.length <= 8 && value.every((one) => typeof one === "string"))
    ) {
      throw fault("it must be at most 8 names");
    }
  }
  return { ...structuredClone(DEFAULTS), ...structuredClone(given) };
}

/** Only what differs from the start: short addresses, and a short line of Python. */
export function changes(state) {
  return Object.fromEntries(
    Object.entries(state).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(DEFAULTS[key])),
  );
}

export const toHash = (state) => {
  const changed = changes(state);
  return Object.keys(changed).length
    ? `#${encodeURIComponent(JSON.stringify(changed)).replaceAll("%2C", ",").replaceAll("%3A", ":")}`
    : "";
};

export function fromHash(hash) {
  if (hash.length < 2) return checked({});
  let given;
  try {
    given = JSON.parse(decodeURIComponent(hash.slice(1)));
  } catch {
    throw new Error("the address holds no state that can be read");
  }
  return checked(given);
}

/** The state, and who wants to hear of its changes. */
export class Store {
  constructor(state) {
    this.state = state;
    this.listeners = [];
  }

  set(patch) {
    const changed = Object.keys(patch).filter((key) => JSON.stringify(patch[key]) !== JSON.stringify(this.state[key]));
    if (!changed.length) return;
    this.state = { ...this.state, ...structuredClone(patch) };
    for (const listener of this.listeners) listener(this.state, new Set(changed));
  }

  listen(listener) {
    this.listeners.push(listener);
  }
}
