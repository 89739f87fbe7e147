// Documents as rows, one rollout a row: nested, keyed, in lists or in numbered columns; by the rules of lab/rollouts/structure.py.
import {
  ANSWERS,
  DEEP,
  FAILURES,
  FAMILY,
  HINTS,
  LARGEST_N,
  LOOKED_AT,
  NO_NUMBER,
  NUMBERED,
  NUMBERS,
  OF_ROWS,
  OTHERWISE,
  OUTCOMES,
  OWN,
  PROBLEMS,
  RATIO,
  RIGHT,
  ROLLOUTS,
  WRONG,
} from "./names.js";

// --- Cells and names -------------------------------------------------------------------------------------------------

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isList = Array.isArray;

export const missing = (cell) =>
  cell === null ||
  cell === undefined ||
  Number.isNaN(cell) ||
  (typeof cell === "string" && NO_NUMBER.includes(cell.trim().toLowerCase()));

/** A cell as a number: true and false are 1 and 0; null if it is none. */
export function number(cell) {
  if (typeof cell === "boolean" || typeof cell === "number") return Number.isFinite(Number(cell)) ? Number(cell) : null;
  if (typeof cell !== "string" || !cell.trim()) return null;
  const text = cell.trim().toLowerCase(),
    value = { true: 1, false: 0 }[text] ?? (/^[-+.\d]/.test(text) && !/^[-+]?0[xob]/.test(text) ? Number(text) : NaN);
  return Number.isFinite(value) ? value : null;
}

/** A reward as a number: labels such as "correct" and "wrong" are 1 and 0; null if it is none. */
export function verdict(cell) {
  const value = number(cell),
    text = typeof cell === "string" ? cell.trim().toLowerCase() : "";
  return value ?? (RIGHT.includes(text) ? 1 : WRONG.includes(text) ? 0 : null);
}

/** A problem's name as text: canonical JSON for what is no text; see lab.rollouts.structure.identity. */
export const identity = (cell) => (typeof cell === "string" ? cell : JSON.stringify(plain(cell)));

function plain(cell) {
  if (isList(cell)) return cell.map(plain);
  if (!isObject(cell)) return cell ?? null;
  const kept = Object.keys(cell).filter((key) => cell[key] !== null && cell[key] !== undefined);
  return Object.fromEntries(kept.sort().map((key) => [key, plain(cell[key])]));
}

export function short(value) {
  const line = String(value).split(/\s+/).join(" ").trim();
  return line.length <= 60 ? line : `${line.slice(0, 57)}...`;
}

/** A function that gives a row's cell; a dot leads into an object, unless a name holds it. */
export function readerOf(column) {
  const dot = column.indexOf(".");
  if (dot < 0) return (row) => row[column] ?? null;
  const outer = column.slice(0, dot),
    inner = readerOf(column.slice(dot + 1));
  return (row) => (isObject(row[outer]) ? inner(row[outer]) : (row[column] ?? null));
}

/** The place of a name among the hints of a role, or -1; (name) is one of an outer object. */
export function rank(name, role) {
  const small = name.toLowerCase(),
    place = HINTS[role].indexOf(small);
  if (place >= 0 || !["problem", "prompt"].includes(role)) return place;
  return HINTS[role].indexOf(small.replace(/^\(/, "").replace(/\)$/, ""));
}

/** The names that hint at a role, the strongest first. */
export const hinted = (names, role) =>
  names.filter((name) => rank(name, role) >= 0).sort((a, b) => rank(a, role) - rank(b, role));

/** A prompt; of a chat that ends with the model's answer, what stands up to the last question. */
export function asked(cell) {
  const roles = Array.isArray(cell) ? cell.map((each) => each?.role) : [],
    last = roles.lastIndexOf("user");
  return last >= 0 && ["assistant", "tool"].includes(roles.at(-1)) ? cell.slice(0, last + 1) : cell;
}

export const isOfRows = (name) => OF_ROWS.includes(name);

const partsOf = (name) => name.toLowerCase().split(/[^a-z0-9]+/);

/** Whether a part of a name is among some words. */
const means = (name, words) => partsOf(name).some((part) => words.includes(part));

/** Whether a name means the number of a rollout, and of no policy. */
export const mayNumber = (name) => means(name, NUMBERS) && !means(name, HINTS.policy);

/** Whether a part of a name means that an answer was wrong: where it is true, nothing was right. */
export const mayFail = (name) => means(name, FAILURES);

/** Those of some columns that are called like a problem, or all but policies and outcomes. */
export function likely(names) {
  const others = names.filter((name) => !means(name, HINTS.policy) && !isNamed(name, OUTCOME)),
    named = others.filter((name) => means(name, PROBLEMS));
  return named.length ? named : others;
}

export function mayReward(name) {
  const parts = partsOf(name),
    ofAll = name.startsWith("(") && name !== "(value)"; // an outer object's
  const others = ofAll || parts.some((part) => OTHERWISE.includes(part)) || ANSWERS.includes(parts.at(-1));
  return parts.some((part) => OUTCOMES.includes(part)) && !others;
}

const OUTCOME = [...OWN, "right", "rate"];
const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

const isNamed = (name, roles) => mayReward(name) || roles.some((role) => rank(name, role) >= 0);

export const isOutcome = (cell) =>
  missing(cell) || (!isList(cell) && !isObject(cell) && (verdict(cell) !== null || RATIO.test(String(cell).slice(0, 40))));

/** Whether a cell is true, false, or a word for right or wrong. */
export function isLabel(cell) {
  const text = typeof cell === "string" ? cell.trim().toLowerCase() : "";
  return typeof cell === "boolean" || (text.length > 1 && [...RIGHT, ...WRONG].includes(text));
}

/** The cells of a row and of the objects in it, whose names are behind a dot. */
export const flat = (row, deep = 3) =>
  Object.entries(row).flatMap(([name, cell]) => {
    const inner = isObject(cell) && deep > 1 ? flat(cell, deep - 1) : [];
    return [[name, cell], ...inner.map(([key, each]) => [`${name}.${key}`, each])];
  });

/** What a list holds, an object of numbered objects too, and of pairs of a number and an object these; null: it is none. */
function listOf(cell) {
  const held = isObject(cell) ? Object.entries(cell) : [];
  if (held.length && held.every(([, each]) => isObject(each))) {
    const stems = new Set(held.map(([name]) => name.toLowerCase().replace(/(.*?)[_\- ]?(\d{1,6})([_\- ]\D*)?/s, "$1$3"))),
      numbers = held.flatMap(([name]) => name.match(/\d+/g) ?? []).map(Number).sort((a, b) => a - b),
      counted = numbers.length === held.length && numbers[0] < 2 && numbers.every((each, i) => each === numbers[0] + i);
    return counted && stems.size === 1 && ROLLOUTS.includes([...stems][0]) ? held.map(([, each]) => each) : null;
  }
  if (!isList(cell)) return null;
  const isPair = (each) => isList(each) && each.length === 2 && Number.isInteger(each[0]) && isObject(each[1]);
  return cell.every(isPair) ? cell.map((each) => each[1]) : cell;
}

const asLists = (row) =>
  Object.values(row).some((cell) => typeof cell === "object" && cell)
    ? Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, listOf(cell) ?? cell]))
    : row;

/** Whether an object holds, or lists in it hold, something named as an outcome. */
function tells(row, deep = DEEP) {
  if (!isObject(row) || !deep) return false;
  return Object.entries(row).some(([name, cell]) => {
    const cells = isList(cell) ? cell : [cell];
    if (isNamed(name, OUTCOME) && cells.length && cells.slice(0, LOOKED_AT).every(isOutcome)) return true;
    return (isList(cell) ? cell.slice(0, 3) : [cell]).some((each) => tells(each, deep - 1));
  });
}

// --- Documents -------------------------------------------------------------------------------------------------------

/** The rows of a JSON object; what is no table is refused. `distinct` refuses names that stand twice. */
export function rowsOfDocument(document, distinct) {
  const rows = isObject(document) ? (tableIn(document, DEEP, distinct) ?? oneRollout(document)) : null;
  if (rows) return rows;
  throw new Error(
    "cannot be read: a JSON object that is no table of what rollouts got: give a list of objects, one object a line, or " +
      "an object of what the rollouts of each problem got; a mean alone says nothing of single problems",
  );
}

/** The row of a file that holds one rollout, of a problem that is named; null: it does not. */
function oneRollout(document) {
  const held = [document, ...Object.values(document).filter(isObject)],
    names = held.flatMap((each) => ["problem", "sample"].flatMap((role) => hinted(Object.keys(each), role)));
  return tells(document, 2) && !names.every(isOfRows) ? [document] : null;
}

function tableIn(document, deep, distinct) {
  const { columns, data } = document;
  if (isList(columns) && isList(data)) {
    distinct(columns.map(String)); // W&B's tables
    return data.map((row) => Object.fromEntries(columns.map((name, i) => [String(name), row[i]])));
  }
  const rows = byColumn(document) ?? byKey(document);
  if (rows) return rows;
  const found = [],
    n = number(document[hinted(Object.keys(document), "size")[0]]) ?? 0,
    isCounts = (value) => value.every(Number.isInteger) && most(value) > 1 && most(value) <= (n || LARGEST_N);
  for (const [name, value] of Object.entries(document)) {
    if (isList(value) && isNamed(name, OUTCOME) && isCounts(value))
      found.push([name, value.map((count, i) => ({ "(key)": i, "(value)": count }))]);
    else if (isList(value) && value.length && value.every(isObject)) found.push([name, value]);
    else if (isObject(value) && deep) {
      const inner = tableIn(value, deep - 1, distinct);
      if (inner?.length) found.push([name, inner]);
    }
  }
  const telling = found.filter(([, rows]) => rows.slice(0, 3).some((row) => tells(row))),
    kept = found.length === 1 ? found : telling;
  if (kept.length > 1) {
    const names = kept.map(([name]) => short(name)).join(", ");
    throw new Error(`cannot be read: it holds several tables, ${names}: give one of them in a file of its own`);
  }
  if (!kept.length) return null;
  const ofAll = (name) => (isNamed(name, OUTCOME) && rank(name, "size") < 0 ? `(${name})` : name), // no row's own
    scalars = Object.entries(document).filter(([, cell]) => !isList(cell) && !isObject(cell)),
    constants = Object.fromEntries(scalars.map(([name, cell]) => [ofAll(name), cell]));
  return kept[0][1].map((row) => ({ ...constants, ...row }));
}

/** Lists or objects of cells, one for each column; their names must be those of columns. */
function byColumn(document) {
  const all = Object.entries(document);
  for (const [is, size] of [
    [isList, (each) => each.length],
    [isObject, (each) => Object.keys(each).length],
  ]) {
    const held = all.filter(([, each]) => is(each) && size(each));
    if (!held.some(([name]) => isNamed(name, OUTCOME))) continue;
    const row = (key) => Object.fromEntries(held.map(([name, each]) => [name, each[key]])),
      sizes = new Set(held.map(([, each]) => size(each)));
    if (is === isList && held.length > 1 && held.length === all.length && sizes.size === 1)
      return [...held[0][1].keys()].map(row);
    if (is === isList) continue;
    const keys = Object.keys(held[0][1]);
    if (sizes.size > 1 || held.some(([, each]) => keys.some((key) => !(key in each) || isObject(each[key])))) continue;
    return keys.map((key) => ({ "(key)": key, ...row(key) }));
  }
  return null;
}

/** An object of problems: of each an object, a list of objects, or a list of cells. */
function byKey(document) {
  const all = Object.entries(document);
  if (all.length < 2) return null;
  if (all.every(([, each]) => isObject(each) && Object.keys(each).length && Object.values(each).every(isObject)))
    return byKey(Object.fromEntries(all.map(([key, each]) => [key, Object.values(each)])));
  if (all.every(([, each]) => isObject(each)))
    return all.slice(0, LOOKED_AT).every(([, each]) => tells(each) || Object.values(each).some((cell) => typeof cell === "boolean"))
      ? all.map(([key, row]) => ({ "(key)": key, ...row }))
      : null;
  if (!all.every(([, each]) => isList(each))) return null;
  const cells = all.flatMap(([, each]) => listOf(each));
  if (!cells.length) return null;
  if (cells.every(isObject))
    return all.flatMap(([key, rows], i) =>
      listOf(rows).map((row, j) => ({ "(key)": key, ...row, "(row)": i, "(position)": j })),
    );
  return cells.every(isOutcome) ? all.map(([key, each]) => ({ "(key)": key, "(value)": each })) : null;
}

// --- Rows ------------------------------------------------------------------------------------------------------------

/** Rows with one rollout each, or as they are. */
export function unfolded(given, deep = DEEP) {
  const rows = given.map(asLists),
    plan = deep ? planOf(rows.slice(0, LOOKED_AT)) : null;
  return plan ? unfolded(plan(rows), deep - 1) : rows;
}

function planOf(first) {
  if (first.some((row) => isList(row.traces) && isObject(row.task))) return rowsOfEpisodes;
  const cells = {};
  for (const row of first)
    for (const [name, cell] of Object.entries(row)) if (!missing(cell)) (cells[name] ??= []).push(cell);
  const names = Object.keys(cells),
    scalar = names.filter((name) => !isList(cells[name][0]) && !isObject(cells[name][0])),
    own = OWN.some((role) => hinted(scalar, role).length),
    lists = names.filter((name) => cells[name].every(isList)),
    telling = lists.filter((name) => cells[name].some((each) => each.some((row) => tells(row)))),
    named = telling.filter((name) => ROLLOUTS.includes(name.toLowerCase())),
    nested = telling.filter((name) => named.includes(name) || areProblems(cells[name]));
  if (nested.length > 1 && named.length !== 1 && !own)
    throw new Error(`cannot be read: the rollouts may lie in ${nested.map(short).join(" or ")}: keep one of them`);
  if (named.length || (nested.length && !own)) return (every) => ofObjects(every, (named.length ? named : nested)[0]);
  if (own) return null;
  const full = lists.filter((name) => cells[name].some((each) => each.length)),
    found = full.filter((name) => cells[name].every((each) => each.every(isOutcome))),
    strong = OWN.flatMap((role) => hinted(found, role)),
    weak = found.filter(mayReward),
    ofTruth = full.filter((name) => cells[name].every((each) => each.every(isLabel))),
    list = strong[0] ?? weak[0] ?? (ofTruth.length === 1 ? ofTruth[0] : null);
  if (list) {
    const beside = full.filter((name) =>
      first.every((row) => !row[name]?.length || !row[list]?.length || row[name].length === row[list].length),
    );
    return (every) => ofLists(every, list, beside);
  }
  const families = familiesOf(names, cells);
  return families.length ? (every) => ofFamilies(every, families) : null;
}

/** Whether lists hold problems or what holds them, and not the steps of a rollout, say. */
function areProblems(lists) {
  const rows = lists.flat().filter(isObject),
    names = [...new Set(rows.flatMap(Object.keys))],
    isHeld = (cell) => isList(cell) && cell.slice(0, 3).some((each) => tells(each));
  return rows.some((row) => Object.values(row).some(isHeld)) || ["problem", "prompt"].some((role) => hinted(names, role).length);
}

/** What a row says of all its rollouts; its own outcomes are no outcomes of theirs. */
const outer = (row, without) =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => !without.includes(name))
      .map(([name, cell]) => [isNamed(name, [...OWN, "rate"]) && name !== "(value)" ? `(${name})` : name, cell]),
  );

const ofObjects = (rows, name) =>
  rows.flatMap((row, i) => {
    const held = Object.entries(outer(row, [name]));
    return (row[name] ?? []).map((each, j) => {
      const inner = isObject(each) ? each : {},
        kept = held.map(([key, cell]) => [key in inner ? `(${key})` : key, cell]);
      return { ...Object.fromEntries(kept), ...inner, "(row)": i, "(position)": j };
    });
  });

const ofLists = (rows, name, beside) => {
  const nameOf = (each) => (each === name && !isNamed(name, OUTCOME) ? "(value)" : each);
  return rows.flatMap((row, i) => {
    if (!isList(row[name])) return [{ ...row, "(row)": i }];
    const eachOf = beside.filter((each) => isList(row[each])),
      held = outer(row, eachOf);
    return row[name].map((_, j) => ({
      ...held,
      ...Object.fromEntries(eachOf.filter((each) => j < row[each].length).map((each) => [nameOf(each), row[each][j]])),
      "(row)": i,
      "(position)": j,
    }));
  });
};

/** Numbered columns of equal numbers, as [what their names begin with, [[number, name]]], if outcomes are in one. */
function familiesOf(names, cells) {
  const found = new Map();
  for (const name of names) {
    const match = NUMBERED.exec(name);
    if (!match) continue;
    const family = match[1] + (match[3] ?? "");
    if (!found.has(family)) found.set(family, []);
    found.get(family).push([Number(match[2]), name]);
  }
  for (const columns of found.values()) columns.sort(([a], [b]) => a - b);
  const numbersOf = (columns) => columns.map(([i]) => i);
  for (const [prefix, columns] of found) {
    const numbers = numbersOf(columns),
      fits =
        (ROLLOUTS.includes(prefix.toLowerCase()) || (mayReward(prefix) && partsOf(prefix).every((part) => FAMILY.includes(part)))) &&
        numbers.length > 1 &&
        numbers[0] < 2 &&
        numbers.every((i, j) => i === numbers[0] + j) &&
        columns.every(([, name]) => cells[name].every(isOutcome));
    if (fits) return [...found].filter(([, others]) => String(numbersOf(others)) === String(numbers));
  }
  return [];
}

const ofFamilies = (rows, families) => {
  const numbered = families.flatMap(([, columns]) => columns.map(([, name]) => name)),
    isKnown = (prefix) => [...HINTS.prompt, ...HINTS.text].includes(prefix) || mayReward(prefix);
  return rows.flatMap((row, i) => {
    const held = outer(row, numbered);
    return families[0][1].flatMap(([position], j) => {
      const cells = families.map(([prefix, columns]) => [isKnown(prefix) ? prefix : "(value)", row[columns[j][1]] ?? null]);
      // A row with fewer rollouts than another leaves the last columns empty.
      if (cells.every(([, cell]) => missing(cell))) return [];
      return [{ ...held, ...Object.fromEntries(cells), "(row)": i, "(position)": position }];
    });
  });
};

/** One row for each trace of an episode of verifiers v1 that trains the policy. */
const rowsOfEpisodes = (rows) =>
  rows.flatMap((episode) => {
    const work = episode.run?.work ?? {},
      place = (work.type === "eval" ? "evaluation " : "") + (episode.env?.name || episode.env?.id || ""),
      traces = episode.traces?.length ? episode.traces : [{ id: episode.id }];
    return traces.flatMap((trace) => {
      if (trace.agent?.trainable === false) return [];
      const task = trace.task ?? episode.task;
      const scores = Object.values(trace.rewards ?? {}).filter((reward) => reward !== null);
      return [
        {
          problem_id: task.key || task.hash || null,
          env_agent: `${place} ${trace.agent?.name || "agent"}`,
          trace: trace.id ?? "",
          reward: scores.length ? scores.reduce((sum, { score, weight = 1 }) => sum + score * weight, 0) : null,
          ...("step" in work ? { step: work.step } : {}),
        },
      ];
    });
  });
