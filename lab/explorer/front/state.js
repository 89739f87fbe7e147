// What is on the screen, as one flat dictionary: in the page's address, and as Explorer.state in Python.
import { parseGate } from "./gates.js";
import TABLE from "./state.json" with { type: "json" };

export const DEFAULTS = TABLE.defaults;
const RANGES = { ...TABLE.wholes, ...TABLE.reals };
export const MOST = { N: RANGES.N[1], problems: RANGES.problems[1] };

/** A state with every key, from a partial one; throws a sentence for what no state can hold. */
export function checked(given) {
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw new Error("a state is a dictionary");
  for (const [key, value] of Object.entries(given)) {
    const usual = Object.hasOwn(DEFAULTS, key) ? DEFAULTS[key] : undefined,
      fault = (words) => new Error(`${key} = ${JSON.stringify(value)}: ${words}`);
    if (usual === undefined)
      throw new Error(`unknown key '${key}' of a state. Valid: ${Object.keys(DEFAULTS).join(", ")}`);
    const choices = TABLE.choices[key];
    if (choices && !choices.includes(value)) throw fault(`it must be one of ${choices.join(", ")}`);
    if (RANGES[key]) {
      const [least, most] = RANGES[key],
        whole = key in TABLE.wholes;
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
      !(value.length <= TABLE.most_curves && value.every((one) => typeof one === "string"))
    ) {
      throw fault(`it must be at most ${TABLE.most_curves} names`);
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
