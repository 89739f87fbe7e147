// Specs: "grpo(ddof=1)", read and written as Python does, and the estimators and objectives that they name.
import { ALIASES, ESTIMATORS, OBJECTIVES, exponent } from "./catalogue.js";

export { ALIASES, ESTIMATORS, OBJECTIVES };

const LITERALS = { True: true, False: false, None: null };

/** Read `name` or `name(option=literal, ...)`; nothing is evaluated. Throws a sentence. */
export function parseSpec(text) {
  const cure = new Error(`cannot read ${text}: write a name, or name(option=value, ...), for example grpo(ddof=1)`);
  const found = /^\s*([\p{L}_][\p{L}\p{N}_]*)\s*(?:\((.*)\))?\s*$/su.exec(text);
  if (!found) throw cure;
  const options = {};
  let rest = (found[2] ?? "").trim();
  const token = /^(\w+)\s*=\s*(True|False|None|'[^']*'|"[^"]*"|\[[^[\]]*\]|[-+]?[\d.]+(?:e[-+]?\d+)?)\s*(?:,\s*|$)/i;
  while (rest) {
    const next = token.exec(rest);
    if (!next) throw cure;
    options[next[1]] = literal(next[2], cure);
    rest = rest.slice(next[0].length);
  }
  return [found[1], options];
}

/** The spec inside lift(spec), or null. On right-or-wrong rewards a lifted estimator is the one inside, to the bit. */
export function lifted(spec) {
  const found = /^\s*lift\s*\(\s*(.*?)(?:\s*,\s*(?:low|high)\s*=\s*[-+\w.]+)*\s*\)\s*$/su.exec(spec);
  if (found && !found[1]) throw new Error("lift needs an estimator: write lift(maxrl)");
  return found?.[1] ?? null;
}

function literal(text, cure) {
  if (text in LITERALS) return LITERALS[text];
  if (text[0] === "[")
    return text
      .slice(1, -1)
      .split(",")
      .filter((x) => x.trim())
      .map((x) => literal(x.trim(), cure));
  if (/^['"]/.test(text)) return text.slice(1, -1);
  const number = Number(text);
  if (!Number.isFinite(number)) throw cure;
  return number;
}

export function written(value) {
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return `'${value}'`;
  return exponent(value);
}

/** A spec with its options, from one of the tables above: { name, options, label, color... } or a sentence thrown. */
export function resolve(table, spec) {
  const [spelled, given] = parseSpec(spec);
  const kind = table === ESTIMATORS ? "estimator" : "objective";
  const name = kind === "estimator" && Object.hasOwn(ALIASES, spelled) ? ALIASES[spelled] : spelled;
  if (!Object.hasOwn(table, name))
    throw new Error(`unknown ${kind} '${name}'. Valid: ${Object.keys(table).sort().join(", ")}`);
  const entry = table[name],
    known = entry.options ?? {};
  for (const option of Object.keys(given)) {
    if (!Object.hasOwn(known, option))
      throw new Error(
        `unknown option of ${kind} '${name}' '${option}'. Valid: ${Object.keys(known).join(", ") || "none"}`,
      );
    check(`${option} of ${name}`, given[option], known[option]);
  }
  const options = Object.fromEntries(
    Object.entries(known).map(([key, rule]) => [key, key in given ? given[key] : rule.start]),
  );
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) throw new Error(`${kind} '${name}' needs ${key}: write ${name}(${key}=...)`);
  }
  return {
    name,
    options,
    entry,
    spec: writeSpec(table, name, options),
    label: typeof entry.label === "string" ? entry.label : entry.label(options),
  };
}

function check(what, value, rule) {
  const number = typeof value === "number";
  if (rule.kind === "choice" && typeof rule.start !== "number" && !rule.values.includes(value)) {
    throw new Error(`${what} = ${written(value)}: it must be one of ${rule.values.map(written).join(", ")}`);
  }
  if (
    rule.kind === "whole" &&
    value !== null &&
    !(Number.isInteger(value) && value >= rule.least && value <= rule.most)
  ) {
    throw new Error(`${what} = ${written(value)}: it must be a whole number from ${rule.least} to ${rule.most}`);
  }
  if ((rule.kind === "number" || (rule.kind === "choice" && typeof rule.start === "number")) && !number) {
    throw new Error(`${what} = ${written(value)}: it must be a number`);
  }
  if (rule.kind === "list" && !(Array.isArray(value) && value.length > 1 && value.every(Number.isFinite))) {
    throw new Error(`${what} = ${written(value)}: it must be a list of two numbers or more`);
  }
}

export function writeSpec(table, name, options) {
  const known = table[name].options ?? {};
  const shown = Object.entries(options).filter(
    ([key, value]) => known[key].required || !(key in known) || value !== known[key].start || table === OBJECTIVES,
  );
  return shown.length ? `${name}(${shown.map(([key, value]) => `${key}=${written(value)}`).join(", ")})` : name;
}

/** (gap, offset) of a resolved estimator at N, or a sentence thrown. */
export function coefficients({ entry, options, spec }, N) {
  const least = typeof entry.least === "function" ? entry.least(options) : (entry.least ?? 1);
  if (N < least) throw tooSmall(spec, least);
  return entry.sequences(N, options);
}

export const tooSmall = (spec, least) =>
  new Error(`${spec} needs groups of at least ${least} rollouts: raise N, or lower its order`);

/** What menus offer, { name: spec }: all but what is drawn, and what has a required option that nobody can guess. */
export function offered(table) {
  const starts = (name) => Object.entries(table[name].options ?? {}).map(([option, rule]) => [option, rule.start]);
  return Object.fromEntries(
    Object.keys(table)
      .filter((name) => !["drawn", "formula"].includes(name) && starts(name).every(([, start]) => start !== undefined))
      .map((name) => [name, writeSpec(table, name, Object.fromEntries(starts(name)))]),
  );
}

/** The label of a spec; where it cannot be read, the spec. */
export function labelOf(table, spec) {
  try {
    return resolve(table, spec).label;
  } catch {
    return spec;
  }
}

/** What is said of an estimator's odd groups, read off its sequences. */
export function rules([gap, offset]) {
  const N = gap.length,
    last = gap[N - 1] + offset[N - 1];
  let sum = 0,
    size = 0;
  for (let K = 0; K <= N; K++) {
    const right = K > 0 ? gap[K - 1] + offset[K - 1] : 0,
      wrong = K < N ? offset[K] : 0;
    sum = Math.max(sum, Math.abs(K * right + (N - K) * wrong));
    size = Math.max(size, Math.abs(right) * N);
  }
  const word = (x) => (x === 0 ? "zero" : "kept");
  const groups = sum <= 1e-9 * size ? "sum" : "do not sum";
  return `all wrong: ${word(offset[0])} · all right: ${word(last)} · groups ${groups} to zero`;
}
