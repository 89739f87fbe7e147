// Counts of right rollouts from a CSV or JSONL file, by the same rules as lab.show.audit.read_counts.

const IDS = ["problem", "uid", "prompt_id", "index"],
  TEXTS = ["prompt", "input"];
const SIZES = ["n", "N", "rollouts", "samples"],
  RIGHT = ["k", "K", "correct", "right"];
const REWARDS = ["correct", "acc", "reward", "score"];
const LARGEST = 30e6; // a table of this size takes some two seconds and a gigabyte

/** { n, correct, notes } of a File, or one sentence thrown. */
export async function readFile(file) {
  const kind = file.name.split(".").pop().toLowerCase();
  if (kind === "parquet") {
    throw new Error(`${file.name}: a page cannot read parquet; the explorer in a notebook can, and so can lab audit`);
  }
  if (!["csv", "jsonl"].includes(kind)) throw new Error(`${file.name}: give a .csv or .jsonl file`);
  if (file.size > LARGEST) {
    throw new Error(
      `${file.name} has ${Math.round(file.size / 1e6)} MB: the page reads up to ${LARGEST / 1e6}; lab audit reads more`,
    );
  }
  const text = await file.text();
  if (!text.trim()) throw new Error(`${file.name} is empty: give one row a problem with n and k, or one row a rollout`);
  try {
    return readCounts(kind === "csv" ? csv(text) : jsonl(text));
  } catch (error) {
    throw new Error(`${file.name}: ${error.message}`);
  }
}

/** Rows as objects; quoted cells may hold commas, quotes and line breaks. */
export function csv(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text
    .replace(/\r\n?/g, "\n")
    .matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\n") rows.push([]);
    if (end === "") break;
  }
  const [head, ...body] = rows.filter((row) => row.length > 1 || row[0].trim());
  body.forEach((row, i) => {
    if (row.length !== head.length)
      throw new Error(`row ${i + 1} has ${row.length} cells and the head ${head.length}: mend that row`);
  });
  return body.map((row) => Object.fromEntries(head.map((name, i) => [name.trim(), row[i]])));
}

function jsonl(text) {
  return text.split("\n").flatMap((line, i) => {
    if (!line.trim()) return [];
    let row;
    try {
      row = JSON.parse(line);
    } catch {
      throw new Error(`line ${i + 1} is not JSON: give one object a line`);
    }
    if (typeof row !== "object" || row === null || Array.isArray(row))
      throw new Error(`line ${i + 1} is not an object: give one object a line`);
    return [row];
  });
}

const number = (value) =>
  typeof value === "boolean"
    ? Number(value)
    : typeof value === "string"
      ? ({ true: 1, false: 0 }[value.trim().toLowerCase()] ?? (value.trim() ? Number(value) : NaN))
      : value === null || value === undefined
        ? NaN
        : Number(value);
const missing = (value) => value === null || value === undefined || (typeof value === "string" && !value.trim());

/** Counts of a table given as row objects: one row a problem with n and k, or one row a rollout with a reward. */
export function readCounts(rows) {
  if (!rows.length) throw new Error("no rows below the head: give one row a problem, or one a rollout");
  const columns = [...new Set(rows.slice(0, 1000).flatMap(Object.keys))],
    find = (names) => names.find((name) => columns.includes(name));
  const size = find(SIZES),
    right = find(RIGHT),
    name = find([...IDS, ...TEXTS]),
    reward = find(REWARDS);
  if (size && right) return counts(rows, size, right, name);
  if (!name || !reward) {
    throw new Error(
      `found columns ${columns.join(", ")}: give ${SIZES.join("|")} and ${RIGHT.join("|")}, ` +
        `or ${[...IDS, ...TEXTS].join("|")} and ${REWARDS.join("|")}`,
    );
  }
  return rollouts(rows, name, reward);
}

function counts(rows, size, right, name) {
  const last = rows.reduce((most, row) => Math.max(most, number(row.step ?? 0)), -Infinity);
  const kept = "step" in rows[0] ? rows.filter((row) => number(row.step) === last) : rows;
  const n = kept.map((row) => number(row[size])),
    correct = kept.map((row) => number(row[right])),
    seen = new Set();
  kept.forEach((row, i) => {
    const problem = name ? String(row[name]) : `row ${i}`;
    if (seen.has(problem)) throw new Error(`problem ${problem} has several rows of counts: add them up`);
    seen.add(problem);
    if (!Number.isInteger(n[i]) || !Number.isInteger(correct[i]) || n[i] < 1 || correct[i] < 0 || correct[i] > n[i]) {
      throw new Error(
        `problem ${problem} has ${right} = ${row[right]} of ${size} = ${row[size]}: ` +
          `counts must be whole, with 0 <= ${right} <= ${size}`,
      );
    }
  });
  return { n, correct, notes: [`${kept.length} problems, counts from columns ${size} and ${right}`] };
}

function rollouts(rows, name, reward) {
  const groups = new Map();
  let lost = 0;
  rows.forEach((row, i) => {
    if (missing(row[name])) throw new Error(`row ${i + 1} has no ${name}: every rollout needs its problem`);
    if (missing(row[reward])) {
      lost++;
      return;
    }
    const value = number(row[reward]);
    if (value !== 0 && value !== 1)
      throw new Error(`reward ${row[reward]} in row ${i + 1} (${name} ${row[name]}): rewards must be 0 or 1`);
    const key = JSON.stringify([String(row[name]), "step" in row ? row.step : null]),
      group = groups.get(key) ?? [0, 0];
    group[0]++;
    group[1] += value;
    groups.set(key, group);
  });
  const n = [...groups.values()].map(([size]) => size),
    correct = [...groups.values()].map(([, right]) => right);
  if (n.every((size) => size <= 1))
    throw new Error(`column ${name} gives every rollout a problem of its own: name the problems in a column problem`);
  const notes = [`${n.length} problems from column ${name}, rewards from column ${reward}`];
  if (lost) notes.push(`${lost} of ${rows.length} rollouts have no reward and are left out`);
  return { n, correct, notes };
}
