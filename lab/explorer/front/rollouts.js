// Counts of right rollouts from rows, by the rules of docs/rollouts.md and of lab/rollouts/counting.py.
import { FORMATS, IDS, LARGEST_N, RIGHT, SIZES, TEXTS } from "./formats.js";
import { Labels, labelColumns } from "./labels.js";

const REWARDS = FORMATS.find(({ tool, reward }) => !tool && reward.length).reward;
const ADVANTAGES = ["advantage", "advantages"];
const BINARY = ["0", "1", "-1", "0.0", "1.0", "true", "false", "True", "False"];
const NO_NUMBER = ["n/a", "na", "nan", "none", "null"];
const LOOKED_AT = 100; // rows from which the columns are known
const LISTED = 20; // names in a sentence
const RATE_SLACK = 1e-3; // how far k = rate * n may be from a whole number

/**
 * { n, correct, notes, tool, advantages, steps } of tables { name, rows, step }, rows as objects, of which all have the
 * same columns; `step` is that of rows without one, or null: `advantages` are what a right and a wrong rollout
 * of each group got, NaN where the file does not say, or null. `choice` is what the user says: the columns `problem` and `reward`,
 * and a rollout is right if its reward is at least `threshold` or is `success`; and lists: of texts `only`, "column=value"
 * of the rows that are read, and of columns `within`, by which problems differ, and `pooled`, which make no difference.
 */
export function readCounts(tables, choice = {}) {
  const left = [],
    kept = [];
  let tally, refusal;
  for (const { name, rows, step } of tables) {
    if (!rows.length) throw new Error("cannot be read (it is empty): give one row a problem, or one a rollout");
    const long = rows.flatMap(rowsOfEpisode).flatMap(rowsOfWideTable);
    let layout;
    try {
      layout = layoutOf(long, choice);
    } catch (error) {
      left.push(name);
      refusal = error;
      continue;
    }
    tally ??= new Tally(layout, choice);
    if (named(layout) !== named(tally.layout))
      throw new Error(
        `${name} is read by ${named(layout)}, the files before it by ${named(tally.layout)}: give one kind`,
      );
    if (layout.cell === "counts") kept.push(...long);
    else tally.add(long, step);
  }
  if (!tally) throw refusal;
  const found = tally.layout.cell === "counts" ? countsOf(kept, tally.layout) : tally.counts();
  if (left.length) {
    const some = `${left.slice(0, 3).join(", ")}${left.length > 3 ? ", ..." : ""}`;
    found.notes.push(`${left.length} of ${tables.length} files hold no rollouts and are left out: ${some}`);
  }
  return found;
}

/** The tool and the columns of a layout, in words. */
const named = ({ tool, problem, size, reward }) =>
  `${tool ? `${tool}: ` : ""}columns ${[problem, size, reward].filter((column) => column).join(", ")}`;

/** An episode of verifiers v1 as one row a trace that trains, by the rules of lab/rollouts/episodes.py; or the row. */
function rowsOfEpisode(row, i) {
  if (!Array.isArray(row.traces) || !isObject(row.task)) return [row];
  const work = row.run?.work ?? {},
    name = (work.type === "eval" ? "evaluation " : "") + (row.env?.name || row.env?.id || ""),
    step = "step" in work ? { step: work.step } : {},
    taskOf = ({ task }) => {
      if (task.key || task.hash) return String(task.key || task.hash);
      throw new Error(
        `the task of episode ${i + 1} has no key and no hash: write the episodes with a newer version of verifiers`,
      );
    };
  if (!row.traces.length)
    return [{ task: taskOf(row), env_agent: `${name} agent`, trace: row.id ?? "", reward: null, ...step }];
  return row.traces.flatMap((trace) => {
    if (trace.agent?.trainable === false) return [];
    const scores = Object.values(trace.rewards ?? {}).filter((reward) => reward !== null);
    return [
      {
        task: taskOf(trace.task ? trace : row),
        env_agent: `${name} ${trace.agent?.name || "agent"}`,
        trace: trace.id ?? "",
        reward: scores.length ? scores.reduce((sum, { score, weight = 1 }) => sum + score * weight, 0) : null,
        ...step,
      },
    ];
  });
}

/** verl's table in W&B as one row a sample, by the rules of lab/rollouts/wide_tables.py; or the row. */
function rowsOfWideTable(row) {
  if (!["step", "input_1", "output_1", "score_1"].every((name) => name in row)) return [row];
  const samples = [];
  for (let i = 1; `input_${i}` in row; i++) {
    const [input, output, score] = ["input", "output", "score"].map((name) => row[`${name}_${i}`] ?? null);
    if ([input, output, score].every((cell) => cell === null || cell === "")) continue;
    samples.push({ step: row.step, input, output, score, sample: `${row.step}/${i}` });
  }
  return samples;
}

// --- Columns ---------------------------------------------------------------------------------------------------------

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** A format with the columns of these rows, or a sentence with the columns that may be meant. */
function layoutOf(rows, choice) {
  const first = rows.slice(0, LOOKED_AT),
    columns = [...new Set(first.flatMap(Object.keys))],
    names = new Set(columns);
  for (const row of first) {
    for (const [outer, cells] of Object.entries(row)) {
      if (isObject(cells)) for (const inner of Object.keys(cells)) names.add(`${outer}.${inner}`);
    }
  }
  const only = (choice.only ?? []).map((text) => {
      const at = text.indexOf("=");
      if (at < 0) throw new Error(`only = '${text}': write COLUMN=VALUE`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
    { within = [], pooled = [] } = choice;
  for (const column of [choice.problem, choice.reward, ...only.map(([name]) => name), ...within, ...pooled]) {
    if (column && !names.has(column))
      throw new Error(`found columns ${listed(columns)}, and no ${short(column)}: name one of them`);
  }
  const find = (list) => list.find((name) => names.has(name)) ?? "",
    size = find(SIZES),
    right = find(RIGHT);
  if (size && right && holdsCounts(first, size, right, choice)) {
    const problem = choice.problem || find([...IDS, ...TEXTS]),
      others = columns.filter((name) => ![size, right, "step"].includes(name));
    if (others.length && !problem)
      throw new Error(`found columns ${listed(columns)}: name the problem${candidates(others)}`);
    return { tool: "", cell: "counts", problem, reward: right, size, within, only, pooled };
  }
  const numbers = columns.filter((name) => {
    const cells = first.map((row) => row[name]);
    return cells.every((cell) => missing(cell) || number(cell) !== null) && !cells.every(missing);
  });
  for (const form of FORMATS) {
    if (!form.columns.every((column) => names.has(column))) continue;
    const problem = choice.problem || find(form.problem);
    let reward = choice.reward || find(form.reward);
    const advantage = find(ADVANTAGES);
    if (!reward && !form.reward.length && advantage) {
      const besides = [...form.besides, ...form.problem, problem, ...ADVANTAGES],
        left = numbers.filter((name) => !besides.includes(name));
      reward = left.length === 1 ? left[0] : "";
    }
    if (!problem || !reward) continue;
    if (form.cell !== "reward" && !form.reward.includes(reward)) continue; // the user's column holds something else
    if (form.cell === "ratio" && !first.some((row) => String(row[reward]).includes("/"))) continue;
    const apart = [find(form.within), ...within].filter((name) => name),
      known = ["step", problem, reward, size, ...apart, ...ADVANTAGES, ...pooled, form.one, form.once];
    // Of a ratio or a rate a row is a problem, and two that differ are refused.
    const labels = labelColumns(
      ["ratio", "rate"].includes(form.cell) ? [] : first,
      new Set([...known, ...form.columns, ...form.besides]),
    );
    return { ...form, problem, reward, within: apart, size, advantage, only, pooled, labels };
  }
  throw new Error(unclear(first, columns, numbers, choice));
}

/** Whether a row counts the rollouts of a problem; what is unclear is refused. */
function holdsCounts(first, size, right, choice) {
  const of = (name) => first.map((row) => number(row[name] ?? null));
  // `correct` may also be the reward of a rollout
  if (choice.reward) return choice.reward === right && of(right).some((k) => k > 1);
  const [sizes, rights] = [of(size), of(right)],
    [n, k] = [sizes[0], rights[0]];
  if (first.length > 1 && sizes.every((each) => each === n) && rights.every((each) => each === k) && 0 < k && k < n)
    throw new Error(
      `columns ${size} and ${right} are ${n} and ${k} in every row: name ${right} as the column of the reward if that ` +
        `many of ${size} rollouts were right, or the column that is`,
    );
  return true;
}

const candidates = (list) => (list.length ? ` (${listed(list, " or ")}?)` : "");

/** Names or values for a sentence, however many and long they are. */
function listed(names, between = ", ") {
  const more = names.length > LISTED ? ` and ${(names.length - LISTED).toLocaleString("en")} more` : "";
  return names.slice(0, LISTED).map(said).join(between) + more;
}

function unclear(first, columns, numbers, choice) {
  const chart = columns.some((name) => /__(MIN|MAX)$/.test(name));
  if (chart || (columns.includes("_step") && columns.includes("_runtime"))) {
    return "a history of metrics exported from W&B, which holds means and no rollouts: export the table of completions";
  }
  const others = ["step", ...ADVANTAGES, ...IDS, ...TEXTS, choice.problem],
    rewards = numbers.filter((name) => !others.includes(name));
  const problems = columns.filter((name) => {
    const cells = first.flatMap((row) => (missing(row[name]) ? [] : [identity(row[name])])),
      different = new Set(cells);
    return name !== "step" && different.size < cells.length && ![...different].every((cell) => BINARY.includes(cell));
  });
  const has = (list) => list.some((name) => columns.includes(name)),
    ask = [];
  if (!choice.problem && !has([...IDS, ...TEXTS])) ask.push(`the problem${candidates(problems)}`);
  if (!choice.reward && !has(REWARDS)) ask.push(`the reward${candidates(rewards)}`);
  return (
    `found columns ${listed(columns)}: name ${ask.join(" and ") || "others"}; or give ${SIZES.join("|")} and ` +
    `${RIGHT.join("|")}, or ${[...IDS, ...TEXTS].join("|")} in every row and ${REWARDS.join("|")}`
  );
}

// --- Cells -----------------------------------------------------------------------------------------------------------

const missing = (cell) =>
  cell === null ||
  cell === undefined ||
  Number.isNaN(cell) ||
  (typeof cell === "string" && (!cell.trim() || NO_NUMBER.includes(cell.trim().toLowerCase())));

/** A cell as a number: true and false are 1 and 0; null if it is none. */
function number(cell) {
  if (typeof cell === "boolean" || typeof cell === "number") return Number(cell);
  if (typeof cell !== "string" || !cell.trim()) return null;
  const text = cell.trim().toLowerCase(),
    value = { true: 1, false: 0 }[text] ?? (/^[-+.\d]/.test(text) && !/^[-+]?0[xob]/.test(text) ? Number(text) : NaN);
  return Number.isFinite(value) ? value : null;
}

/** A problem's name as text: canonical JSON for what is no text; see lab.rollouts.counting.identity. */
export function identity(cell) {
  return typeof cell === "string" ? cell : JSON.stringify(plain(cell));
}

function plain(cell) {
  if (Array.isArray(cell)) return cell.map(plain);
  if (!isObject(cell)) return cell ?? null;
  const kept = Object.keys(cell).filter((key) => cell[key] !== null && cell[key] !== undefined);
  return Object.fromEntries(kept.sort().map((key) => [key, plain(cell[key])]));
}

function readerOf(column) {
  const dot = column.indexOf(".");
  if (dot < 0) return (row) => row[column];
  const outer = column.slice(0, dot),
    inner = column.slice(dot + 1);
  return (row) => (isObject(row[outer]) ? row[outer][inner] : row[column]);
}

function short(value) {
  const line = String(value).split(/\s+/).join(" ").trim();
  return line.length <= 60 ? line : `${line.slice(0, 57)}...`;
}

/** A reward as Python writes it, so that both say the same sentence. */
const said = (cell) => short(identity(cell));

function isSuccess(cell, success) {
  const value = number(cell),
    wanted = number(success);
  if (value !== null && wanted !== null) return value === wanted;
  return String(cell).trim().toLowerCase() === success.trim().toLowerCase();
}

function checkSize(n, problem) {
  if (n > LARGEST_N) {
    throw new Error(
      `problem ${short(problem)} has n = ${n} rollouts: the audit takes up to ${LARGEST_N} a problem; ` +
        "give fewer, or correct the file",
    );
  }
}

// --- Counting --------------------------------------------------------------------------------------------------------

const isChosen = (row, only) => only.every(([name, value]) => isSuccess(readerOf(name)(row) ?? null, value));

/** The last step of a table with one row a problem. */
function countsOf(rows, { problem, reward, size, within, only }) {
  const nameOf = [...within.toReversed(), problem].map(readerOf),
    steps = rows.map((row) => ("step" in row ? number(row.step) : null)),
    last = steps.reduce((most, step, i) => (step > most && isChosen(rows[i], only) ? step : most), -Infinity);
  const n = [],
    correct = [],
    seen = new Set();
  rows.forEach((row, i) => {
    if (!isChosen(row, only) || (steps[i] !== null && steps[i] < last)) return;
    const name = problem ? nameOf.map((of) => identity(of(row) ?? null)).join(" ") : `row ${i}`,
      [tried, right] = [number(row[size]), number(row[reward])];
    if (seen.has(name))
      throw new Error(
        `problem ${short(name)} has several rows of counts: choose some, name what sets problems apart, or add them up`,
      );
    seen.add(name);
    if (!Number.isInteger(tried) || !Number.isInteger(right) || tried < 1 || right < 0 || right > tried) {
      throw new Error(
        `problem ${name} has ${reward} = ${row[reward]} of ${size} = ${row[size]}: ` +
          `counts must be whole, with 0 <= ${reward} <= ${size}`,
      );
    }
    checkSize(tried, name);
    n.push(tried);
    correct.push(right);
  });
  const notes = [`${n.length} problems, counts from columns ${size} and ${reward}`];
  if (steps.some((step, i) => step !== null && step < last && isChosen(rows[i], only))) {
    if (!problem && n.length === 1)
      throw new Error(
        "every step has one row of counts, as a table of checkpoints has: give the counts of each problem",
      );
    notes.push(`only the last step is read: ${last}`);
  }
  return { n, correct, notes, tool: "" };
}

class Tally {
  constructor(layout, choice) {
    Object.assign(this, { layout, choice, rows: 0, lost: 0 });
    this.groups = new Map(); // [step, problem] as text: { step, problem, n, right }
    this.values = new Set(); // the rewards seen: some of -1, 0, 1
    this.shares = new Map(); // the ratio or rate of each group
    this.others = new Map(); // values of `one` that are not read
    this.seen = new Set(); // the rollouts, where a column names them
    this.repeated = 0;
    this.content = new Map(); // the rows of each step, where a step may be logged twice
    this.numbers = new Map(); // of each problem of a step, and of what is pooled in it
    this.labels = new Labels((layout.labels ?? []).map((name) => [name, readerOf(name)]));
  }

  /** Count rows, those without a step as of `given`. */
  add(rows, given) {
    const { layout } = this,
      problemOf = readerOf(layout.problem),
      rewardOf = readerOf(layout.reward),
      withinOf = layout.within.map(readerOf),
      pooledOf = layout.pooled.map(readerOf),
      advantageOf = layout.advantage ? readerOf(layout.advantage) : null,
      outcome = { ratio: this.addRatio, rate: this.addRate, metrics: this.addMetrics }[layout.cell] ?? this.addReward;
    let kept;
    for (const row of rows) {
      this.rows++;
      if (!isChosen(row, layout.only)) continue;
      if (layout.one) {
        const value = String(row[layout.one]);
        kept ??= value;
        if (value !== kept) {
          this.others.set(value, (this.others.get(value) ?? 0) + 1);
          continue;
        }
      }
      if (layout.once) {
        if (this.seen.has(row[layout.once])) {
          this.repeated++;
          continue;
        }
        this.seen.add(row[layout.once]);
      }
      let problem = problemOf(row);
      if (problem === null || problem === undefined || problem === "")
        throw new Error(`row ${this.rows} has no ${layout.problem}: every rollout needs its problem`);
      problem = identity(problem);
      for (const of of withinOf) problem = `${identity(of(row) ?? null)} ${problem}`;
      const at = "step" in row ? row.step : given,
        step = missing(at) ? null : identity(at),
        key = JSON.stringify([step, problem]);
      if (layout.logged_twice) {
        const { step: _, ...content } = row;
        if (!this.content.has(step)) this.content.set(step, []);
        this.content.get(step).push(identity(content));
      }
      if (!this.groups.has(key)) this.groups.set(key, { step, problem, n: 0, right: 0, got: [NaN, NaN] });
      const group = this.groups.get(key),
        { n, right } = group;
      outcome.call(this, rewardOf(row), group, row, key);
      const advantage = advantageOf && group.n === n + 1 ? number(advantageOf(row)) : null;
      if (advantage !== null) group.got[group.right > right ? 0 : 1] = advantage;
      const place = JSON.stringify([key, ...pooledOf.map((of) => identity(of(row) ?? null))]);
      if (!this.numbers.has(place)) this.numbers.set(place, this.numbers.size);
      this.labels.add(row, this.numbers.get(place));
    }
    return this;
  }

  addReward(cell, group, row, key) {
    const { threshold, success } = this.choice;
    if (Array.isArray(cell)) {
      for (const each of cell) this.addReward(each, group, row, key);
      return;
    }
    if (missing(cell)) {
      this.lost++;
      return;
    }
    group.n++;
    if (success !== undefined && success !== null) {
      group.right += isSuccess(cell, success);
      return;
    }
    const value = number(cell);
    if (threshold !== undefined && threshold !== null && value !== null) {
      group.right += value >= threshold;
      return;
    }
    if (value !== 0 && value !== 1 && value !== -1) {
      throw new Error(
        `reward ${said(cell)} in row ${this.rows} (${this.layout.problem} ${short(group.problem)}): a reward must be ` +
          "0 or 1, or -1 or 1; give the threshold from which it is right, or the value that is",
      );
    }
    this.values.add(value);
    group.right += value === 1;
  }

  addRatio(cell, group, row, key) {
    const match = /^\s*(\d+)\s*\/\s*(\d+)\s*$/.exec(String(cell)),
      [right, all] = match ? [Number(match[1]), Number(match[2])] : [];
    if (missing(cell)) this.lost++;
    else if (this.toldBefore(key, group, cell)) return;
    else if (!match || right > all || !all)
      throw new Error(`${this.layout.reward} ${said(cell)} in row ${this.rows}: it must be right of all, such as 5/8`);
    else {
      checkSize(all, group.problem);
      group.n += all;
      group.right += right;
    }
  }

  addRate(cell, group, row, key) {
    if (missing(cell)) {
      this.lost++;
      return;
    }
    const rate = number(cell);
    if (rate === null || rate < 0 || rate > 1)
      throw new Error(`${this.layout.reward} ${said(cell)} in row ${this.rows}: a pass rate must be in [0, 1]`);
    const n = this.layout.size ? number(row[this.layout.size]) : this.layout.n;
    if (!this.toldBefore(key, group, rate) && n) {
      checkSize(n, group.problem);
      group.n += n;
      group.right += this.whole(rate, n, group.problem);
    }
  }

  addMetrics(cell, group) {
    for (const [name, value] of Object.entries(isObject(cell) ? cell : {})) {
      const match = /^(?:pass@k:k=1&n=|avg@n:n=)(\d+)$/.exec(name);
      if (value !== null && (match || name === "extractive_match" || name === "acc")) {
        const n = match ? Number(match[1]) : 1;
        checkSize(n, group.problem);
        group.n += n;
        group.right += this.whole(Number(value), n, group.problem);
        return;
      }
    }
    this.lost++;
  }

  /** Whether a problem's ratio or rate was in a row before; another one is refused. */
  toldBefore(key, group, share) {
    if (!this.shares.has(key)) this.shares.set(key, share);
    const before = this.shares.get(key);
    if (before !== share) {
      throw new Error(
        `problem ${short(group.problem)} has ${this.layout.reward} ${before} and ${share}: give each problem one`,
      );
    }
    return group.n > 0;
  }

  whole(rate, n, problem) {
    const right = Math.round(rate * n);
    if (Math.abs(right - rate * n) > Math.max(RATE_SLACK, n * 1e-4)) {
      throw new Error(
        `problem ${short(problem)} has the pass rate ${rate}, which is no whole number of ${n} rollouts: ` +
          `look at the column ${this.layout.reward}`,
      );
    }
    return right;
  }

  counts() {
    const { layout, values } = this,
      notes = [
        `${layout.tool ? `${layout.tool}: ` : ""}problems from column ${layout.problem}, ` +
          `rewards from column ${layout.reward}`,
      ];
    if (layout.cell === "rate" && !layout.size && !layout.n) notes.push(this.addRates());
    notes.push(...this.divisions());
    if (values.has(0) && values.has(-1))
      throw new Error(
        `column ${layout.reward} holds rewards of -1, 0 and 1: give a threshold, from which one is right`,
      );
    if (values.has(-1)) notes.push("a reward of -1 is wrong, 1 is right");
    if (this.others.size) {
      const left = listed([...this.others].map(([name, rows]) => `${name} (${rows})`));
      notes.push(`only the first ${layout.one} is read; left out: ${left} rows`);
    }
    if (this.repeated) notes.push(`${this.repeated} rollouts stand there twice and count once`);
    let groups = [...this.groups.values()];
    const steps = new Set(groups.map(({ step }) => step)).size;
    if (steps > 1) {
      let words = `${steps} steps, their problems kept apart`;
      if (layout.logged_twice) {
        const seen = new Set(),
          twice = new Set();
        for (const [step, rows] of this.content) {
          const content = rows.join("\n");
          if (seen.has(content)) twice.add(step);
          seen.add(content);
        }
        groups = groups.filter(({ step }) => !twice.has(step));
        words += `; ${twice.size} repeat another and are dropped`;
      }
      notes.push(words);
    }
    groups = mergedUids(layout, groups).filter((group) => group.n);
    if (!this.groups.size && layout.only.length)
      throw new Error(`no row has ${listed(this.choice.only)}: choose another value`);
    if (!groups.length) throw new Error(`column ${layout.reward} holds no reward: name another`);
    const n = groups.map((group) => group.n);
    for (const group of groups) checkSize(group.n, group.problem);
    if (n.every((size) => size <= 1)) {
      throw new Error(
        `column ${layout.problem} gives every rollout a problem of its own: name the problems in a column problem`,
      );
    }
    if (this.lost) {
      const rollouts = [...this.groups.values()].reduce((sum, group) => sum + group.n, this.lost),
        of = layout.cell === "reward" ? `${rollouts} rollouts` : `${this.rows} rows`;
      notes.push(`${this.lost} of ${of} have no reward and are left out`);
    }
    if (TEXTS.includes(layout.problem)) {
      const sorted = n.toSorted((a, b) => a - b),
        middle = (sorted[(n.length - 1) >> 1] + sorted[n.length >> 1]) / 2;
      notes.push(
        `equal prompts are one problem: ${n.filter((size) => size > middle).length} of ${n.length} have more rows ` +
          "than most",
      );
    }
    return {
      n,
      correct: groups.map((group) => group.right),
      notes,
      tool: layout.tool,
      advantages: layout.advantage ? groups.map(({ got }) => got ?? [NaN, NaN]) : null,
      steps: groups.map(({ step }) => step),
    };
  }

  /** What is to be said of columns that divide problems; one that is not clear is refused. */
  divisions() {
    const { only, pooled } = this.layout,
      { within = [] } = this.choice,
      found = this.labels.dividing(),
      unclear = found.filter(({ singles, counts }) => !(singles && counts)),
      // Of rollouts that are numbered and divided, the number is the lesser news.
      label = unclear.find(({ counts }) => !counts) ?? unclear[0];
    if (label) {
      const name = short(label.column);
      throw new Error(
        `the rollouts of a problem differ in column ${name}, whose ${label.values.length} values ` +
          `(${listed(label.values)}) stand in the same problems: say which are read, as ${name}=` +
          `${said(label.values.at(-1))} for one policy, that problems differ by ${name}, or that it makes no difference`,
      );
    }
    return [
      ...only.map(([name, value]) => `only rows with ${name} = ${short(value)} are read`),
      ...within.map((name) => `problems of different ${name} are different`),
      ...pooled.map((name) => `rollouts of different ${name} are pooled`),
      ...found.map(({ column }) => `column ${column} numbers the rollouts of a problem`),
    ];
  }

  /** Count the rates whose n no column gives: the smallest that all of them are counts of. */
  addRates() {
    const rates = [...this.shares.values()],
      some = rates.some((rate) => rate > 0 && rate < 1),
      fits = (n) => rates.every((rate) => Math.abs(rate * n - Math.round(rate * n)) <= n * 1e-4 + RATE_SLACK);
    let n = 2;
    while (n <= 1024 && !(some && fits(n))) n++;
    if (n > 1024 || new Set(rates).size < 3 || n >= rates.length) {
      throw new Error(
        `column ${this.layout.reward} gives rates and no column how many rollouts they are of: ` +
          `add one named ${SIZES.join("|")}`,
      );
    }
    for (const [key, rate] of this.shares) {
      this.groups.get(key).n += n;
      this.groups.get(key).right += Math.round(rate * n);
    }
    return `n = ${n} is the smallest of which all rates in ${this.layout.reward} are counts`;
  }
}

/** verl's uid is problem_rollout_output where every rollout has its own: groups by problem. */
function mergedUids(layout, groups) {
  if (layout.problem !== "uid" || groups.some(({ n }) => n > 1)) return groups;
  const merged = new Map(),
    seen = new Set();
  for (const { step, problem, n, right } of groups) {
    const match = /^(.+)_(\d+)_\d+$/.exec(problem);
    if (!match) return groups;
    const key = JSON.stringify([step, match[1]]),
      rollout = JSON.stringify([step, match[1], match[2]]);
    if (seen.has(rollout)) {
      throw new Error(
        `rollout ${match[2]} of problem '${match[1]}' appears twice: give every rollout of a problem its own index`,
      );
    }
    seen.add(rollout);
    if (!merged.has(key)) merged.set(key, { step, problem: match[1], n: 0, right: 0 });
    merged.get(key).n += n;
    merged.get(key).right += right;
  }
  return [...merged.values()];
}
