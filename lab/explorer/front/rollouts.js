// Counts of right rollouts from rows, by the rules of docs/rollouts.md and of lab/rollouts/counting.py.
import { division, countsUp } from "./labels.js";
import { FILE, candidates, chosen, differ, isBinary, listed, outcomeOf, wanted } from "./meaning.js";
import { LARGEST_N, LOOKED_AT, OWN, RATE_SLACK, RATIO, SCORER, TOLD, VARYING } from "./names.js";
import { asked, hinted, identity, isOfRows, likely, mayNumber, missing, number, rank, readerOf, short, unfolded, verdict } from "./unfold.js";

/**
 * { n, correct, notes, meaning, advantages, steps, problem } of tables { name, rows, step }, rows as objects; `step` is that of
 * rows without one, or null. `advantages` are what a right and a wrong rollout of each group got, NaN where the file
 * does not say, or null; `problem` are the numbers of the groups' problems, from 0. `choice` is what the user says, see lab.rollouts.meaning.Choice.
 */
export function readCounts(tables, choice = {}) {
  const left = [],
    rows = [];
  let found,
    refusal,
    held = 0; // rows of the files before, of which each held several
  for (const { name, rows: given, step } of tables) {
    const own = unfolded(given);
    if (!own.length) throw new Error("cannot be read (it is empty): give one row a problem, or one a rollout");
    let what;
    try {
      what = wanted(own.slice(0, LOOKED_AT), choice, tables.length > 1);
    } catch (error) {
      left.push(name);
      refusal = error;
      continue;
    }
    found ??= what;
    if (what.signature !== found.signature)
      throw new Error(`${name} is read by ${what.signature}, the files before it by ${found.signature}: give one kind`);
    const file = tables.length > 1 ? name.replace(/[-_.\s\d]+/g, " ").trim() : "";
    for (const row of own) {
      if ("(row)" in row) row["(row)"] += held;
      rows.push({ row, step: step ?? null, file });
    }
    held = (own.at(-1)["(row)"] ?? -1) + 1;
  }
  if (!found) throw refusal;
  const counts = new Reading(rows, found, choice).counts();
  if (left.length) {
    counts.notes.push(`${left.length} of ${tables.length} files hold no rollouts and are left out: ${listed(left)}`);
  }
  return counts;
}

function isSuccess(cell, success) {
  const value = number(cell),
    right = number(success);
  if (value !== null && right !== null) return value === right;
  return String(cell).trim().toLowerCase() === success.trim().toLowerCase();
}

/** The smallest n of which all rates are counts, or null. */
function smallestN(rates) {
  if (!rates.some((rate) => rate > 0 && rate < 1)) return null;
  for (let n = 2; n <= 1024; n++)
    if (rates.every((rate) => Math.abs(rate * n - Math.round(rate * n)) <= n * 1e-4 + RATE_SLACK)) return n;
  return null;
}

/** An accuracy in words, with Wilson's 95% interval. */
function wilson(right, n) {
  const z = 1.959964,
    p = right / n,
    half = z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n)),
    ends = [-half, half].map((each) => ((p + (z * z) / (2 * n) + each) / (1 + (z * z) / n)).toFixed(3));
  return `${right.toLocaleString("en")} of ${n.toLocaleString("en")}, ${p.toFixed(3)} [${ends.join(", ")}]`;
}

/** Numbers from 0 for what is equal, in its order. */
function numbered(...columns) {
  return columns.reduce((before, column) => {
    const seen = new Map();
    return column.map((code, i) => {
      const key = before ? `${before[i]} ${code}` : code;
      if (!seen.has(key)) seen.set(key, seen.size);
      return seen.get(key);
    });
  }, null);
}

const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity),
  least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity),
  distinct = (values) => new Set(values).size,
  said = (value) => value.toLocaleString("en"),
  span = (values) => (least(values) === most(values) ? `${least(values)}` : `${least(values)} to ${most(values)}`);

/** What the columns of a file mean, decided step by step; `kept` are the rows that count. */
class Reading {
  constructor(rows, found, choice) {
    Object.assign(this, { rows, found, choice, notes: [], held: new Map() });
    this.kept = [...rows.keys()];
    this.names = found.names.filter((name) => this.column(name).cells.some((cell) => !missing(cell)));
    this.choose();
    const cells = this.names.filter((name) => !found.long.includes(name)).map((name) => [name, this.column(name).cells.filter((cell) => !missing(cell))]),
      outcome = outcomeOf(Object.fromEntries(cells), choice, found.lists);
    if (!outcome) throw new Error(`${found.signature} hold no reward: name another`);
    Object.assign(this, { kind: outcome.kind, outcomes: outcome.names, size: outcome.size });
    if ([choice.problem, ...(choice.within ?? []), ...chosen(choice).map(([name]) => name)].includes(this.outcomes[0]))
      throw new Error(
        `column ${this.outcomes[0]} is the reward and cannot say which problem a rollout is of, or which rows are read: ` +
          "name another",
      );
    this.stepName = this.hinted("step") ?? "";
    if (!this.stepName && this.kind === "rate" && this.outcomes[0] === "(value)") this.stepName = "(position)";
    this.within = [...hinted(this.names, "within").slice(0, 1), ...(choice.within ?? [])];
    this.problem = choice.problem || this.problemColumn();
    this.problemOf = this.problem ? (row) => identity(this.cell(this.problem, row)) : (row) => `row ${row}`;
    this.group = this.groups();
  }

  /** The different cells of a column, and the number of each row's: { cells, codes }. "" is the step of the file. */
  column(name) {
    if (this.held.has(name)) return this.held.get(name);
    const own = { "": ({ step }) => step, [FILE]: ({ file }) => file }[name],
      read = readerOf(name),
      isName = rank(name, "problem") >= 0 || name === this.choice.problem,
      numbers = new Map(),
      codes = this.rows.map((each) => {
        let cell = own ? own(each) : read(each.row);
        if (this.found.lists.includes(name)) cell = Array.isArray(cell) ? cell.length : null;
        if (rank(name, "prompt") >= 0) cell = asked(cell);
        if (typeof cell === "object" && cell !== null) cell = identity(cell);
        if (isName && Number.isFinite(cell)) cell = identity(cell); // 7 and "7" are one problem
        const key = Number.isNaN(cell) ? null : typeof cell === "boolean" ? Number(cell) : (cell ?? null);
        if (!numbers.has(key)) numbers.set(key, { code: numbers.size, cell: cell ?? null });
        return numbers.get(key).code;
      });
    this.held.set(name, { codes, cells: [...numbers.values()].map(({ cell }) => cell) });
    return this.held.get(name);
  }

  hinted = (role) => hinted(this.names, role)[0];
  codes = (name) => this.kept.map((row) => this.column(name).codes[row]);
  cell = (name, row) => this.column(name).cells[this.column(name).codes[row]];
  cellsOf = (name) => this.kept.map((row) => this.cell(name, row));
  values = (name) => this.cellsOf(name).map((cell) => (missing(cell) ? NaN : (verdict(cell) ?? NaN)));
  steps = () => this.codes(this.stepName);
  apart = () => [this.steps(), ...this.within.map(this.codes)];
  name = (row) => [...this.within.toReversed().map((name) => identity(this.cell(name, row))), this.problemOf(row)].join(" ");

  keep(fits) {
    this.group = this.group && numbered(this.group.filter((_, i) => fits(i)));
    this.kept = this.kept.filter((_, i) => fits(i));
  }

  /** The rows that `only` leaves, and of those judged several times the first judgement. */
  choose() {
    for (const [name, value] of chosen(this.choice)) {
      this.kept = this.kept.filter((row) => isSuccess(this.cell(name, row), value));
      this.notes.push(`only rows with ${name} = ${short(value)} are read`);
    }
    if (!this.kept.length) throw new Error(`no row has ${listed(this.choice.only)}: choose another value`);
    const name = this.hinted("filter");
    if (!name || !this.hinted("problem")) return;
    const first = this.cell(name, this.kept[0]),
      others = Map.groupBy(this.cellsOf(name), (cell) => cell);
    others.delete(first);
    if (!others.size) return;
    const left = [...others].map(([cell, rows]) => `${cell} (${rows.length})`);
    this.notes.push(`only the first ${name} is read; left out: ${listed(left)} rows`);
    this.kept = this.kept.filter((row) => this.cell(name, row) === first);
  }

  // --- Problems ------------------------------------------------------------------------------------------------------

  problemColumn() {
    const named = [...hinted(this.names, "problem"), ...hinted(this.names, "prompt")];
    if (this.kind !== "reward") return this.problemOfCounts(named);
    const full = named.filter((name) => !this.column(name).cells.some(missing)),
      found = [...(full.length ? full : named), ...(this.names.includes("(row)") ? ["(row)"] : [])];
    if (!found.length) this.refuseNameless();
    const groups = Object.fromEntries(found.map((name) => [name, numbered(...this.apart(), this.codes(name))])),
      several = found.filter((name) => most(groups[name]) + 1 < this.kept.length);
    if (!several.length || !(several.includes(found[0]) || isOfRows(found[0]))) return found[0];
    const [first] = several;
    for (const other of found.filter((name) => several.includes(name) || (isOfRows(first) && named.includes(name)))) {
      const joint = numbered(groups[first], groups[other]),
        cells = most(joint) + 1,
        problems = most(groups[first]) + 1;
      // another spelling, a coarser name, or a number of the rollouts
      const isNumber = cells === joint.length && !(rank(other, "prompt") >= 0 && isOfRows(first));
      if ((other === "(row)" && first !== "(key)") || cells === problems || isNumber) continue;
      const of = Map.groupBy([...new Map(joint.map((cell, i) => [cell, groups[first][i]]))], ([, problem]) => problem),
        divided = [...of.values()].filter((each) => each.length > 1).length;
      if (divided >= 0.05 * problems || rank(other, "prompt") < 0)
        throw new Error(
          `the problem may be ${first} (${said(problems)} values) or ${other} (${said(most(groups[other]) + 1)}), which ` +
            `divides it: name one as the problem, or ${other} as what problems differ by if both name it`,
        );
      this.notes.push(`some problems of one ${first} differ in ${other}`);
    }
    return first;
  }

  problemOfCounts(named) {
    if (named.length && !(this.policies().length && isOfRows(named[0]))) return named[0];
    const known = [...this.outcomes, this.size, "step", "k"];
    if (this.found.all.some((name) => !known.includes(name))) this.refuseNameless();
    return "";
  }

  /** Columns of policies that differ in every row. */
  policies = () =>
    hinted(this.names, "policy").filter((name) => this.kept.length > 1 && distinct(this.codes(name)) === this.kept.length);

  refuseNameless() {
    const known = [...this.outcomes, this.size, "step"],
      others = this.found.all.filter((name) => !known.includes(name)),
      inner = this.names.filter((name) => name.includes(".") && rank(name.split(".").at(-1), "problem") >= 0),
      asked = this.kind === "reward" ? likely(others) : others;
    throw new Error(
      `found columns ${listed(this.found.all)}: name the problem${candidates(inner.length ? inner : asked)}` +
        this.policies().slice(0, 1).map(differ).join(""),
    );
  }

  /** The number of each row's group: a problem of a step. */
  groups() {
    if (!this.problem) return [...this.kept.keys()];
    const lost = this.kept.find((row) => missing(this.cell(this.problem, row)));
    if (lost !== undefined) throw new Error(`row ${lost + 1} has no ${this.problem}: every rollout needs its problem`);
    const codes = this.codes(this.problem),
      groups = numbered(...this.apart(), codes),
      parts = this.column(this.problem).cells.map((cell) => /^(.+)_(\d+)_\d+$/.exec(identity(cell)));
    if (this.problem !== "uid" || most(groups) + 1 < codes.length || !parts.every((match) => match)) return groups;
    // verl's uid is problem_rollout_output where every rollout has its own
    const seen = new Set();
    for (const [, problem, rollout] of parts) {
      const key = JSON.stringify([problem, rollout]);
      if (seen.has(key))
        throw new Error(
          `rollout ${rollout} of problem '${problem}' appears twice: give every rollout of a problem its own index`,
        );
      seen.add(key);
    }
    this.problemOf = (row) => parts[this.column(this.problem).codes[row]][1];
    return numbered(...this.apart(), this.kept.map(this.problemOf));
  }

  // --- Rollouts ------------------------------------------------------------------------------------------------------

  /** Leave out rollouts that stand in two files, and steps that repeat another word for word. */
  dropRepeated() {
    const text = this.found.long.find((name) => rank(name, "text") >= 0),
      traces = hinted(this.names, "trace").filter((name) => distinct(this.codes(name)) > 1),
      name = traces[0] ?? (text ? this.hinted("sample") : undefined);
    if (name) {
      const spoken = [text, this.outcomes[0]].filter((each) => each).map(this.codes),
        rollout = numbered(this.group, this.codes(name)),
        first = new Map(),
        all = rollout.length;
      rollout.forEach((each, i) => first.has(each) || first.set(each, i));
      const twice = all - first.size;
      if (twice && most(numbered(rollout, ...spoken)) === most(rollout)) {
        this.keep((i) => first.get(rollout[i]) === i);
        this.notes.push(`${twice} rollouts stand there twice and count once`);
      } else if (2 * twice >= first.size && name !== "(position)" && !this.choice.pooled?.includes(name))
        throw new Error(
          `column ${name} numbers rollouts and says the same of ${said(twice)} with different texts or rewards, as if ` +
            `several policies were in the file: name what sets them apart, or say that ${name} makes no difference`,
        );
    }
    if (!text || !this.stepName || !this.hinted("advantage")) return;
    const steps = this.steps(), // TRL's
      rows = numbered(...[this.problem, text, this.outcomes[0]].map(this.codes)),
      content = Map.groupBy([...steps.keys()], (i) => steps[i]),
      first = new Map();
    for (const [step, places] of content) {
      const key = places.map((i) => rows[i]).join(" ");
      if (!first.has(key)) first.set(key, step);
    }
    const last = [...first.values()];
    this.keep((i) => last.includes(steps[i]));
    if (content.size > first.size) this.notes.push(`${content.size - first.size} steps repeat another and are dropped`);
  }

  /** [rewards of each row, right ones]. */
  rewards() {
    this.dropRepeated();
    const [name] = this.outcomes,
      { threshold = null, success = null } = this.choice,
      cells = this.cellsOf(name),
      values = this.values(name),
      told = cells.map((cell) => !missing(cell)),
      right = cells.map((cell, i) =>
        success !== null ? isSuccess(cell, success) : threshold !== null ? values[i] >= threshold : values[i] === 1,
      );
    if (success !== null && !right.includes(true)) this.notes.push(`no ${name} is ${short(success)}: see that it is meant so`);
    const odd = success === null && threshold !== null ? told.findIndex((each, i) => each && Number.isNaN(values[i])) : -1;
    if (odd >= 0)
      throw new Error(
        `${name} ${short(identity(cells[odd]))} in row ${this.kept[odd] + 1} is no number: say which value is right, or name ` +
          "another column",
      );
    const sums = new Map(),
      kinds = new Set(values.filter((_, i) => told[i])),
      isGiven = this.choice.reward || success !== null || threshold !== null;
    this.group.forEach((group, i) => sums.set(group, (sums.get(group) ?? 0) + told[i]));
    if (most([...sums.values()]) <= 1 && told.some((each) => each))
      this.refuseSingles(
        values.filter((_, i) => told[i]),
        right.filter((_, i) => told[i]),
      );
    if (!isGiven && !OWN.some((role) => rank(name, role) >= 0) && kinds.size === 1)
      throw new Error(
        `column ${name} is ${[...kinds][0]} in all of ${said(told.filter(Boolean).length)} rows, as a setting may be: say ` +
          `reward ${name} if rollouts got that`,
      );
    for (const other of this.outcomes.slice(1)) {
      const others = this.values(other),
        both = values.filter((value, i) => Number.isFinite(value) && Number.isFinite(others[i])).length,
        differ = values.filter(
          (value, i) => Number.isFinite(value) && Number.isFinite(others[i]) && (value === 1) !== (others[i] === 1),
        ).length;
      if (differ)
        throw new Error(
          `columns ${name} and ${other} may both be the reward and differ in ${said(differ)} of ${said(both)} rows: name ` +
            `the reward${candidates(this.outcomes)}`,
        );
    }
    if (success === null && threshold === null) this.checkBinary(cells, values);
    return [told.map(Number), right.map((each, i) => Number(each && told[i]))];
  }

  refuseSingles(values, right) {
    const [name] = this.outcomes,
      steps = distinct(this.steps()),
      at = steps < this.kept.length ? `, at ${steps} steps` : ", as every row is a step of its own",
      clear = (this.choice.success ?? this.choice.threshold ?? null) !== null || this.kind === "counts" || isBinary(values),
      known = values.filter(Number.isFinite),
      rightBy = (each) => (each === name ? right : this.values(each).map((value) => value === 1)),
      shares = Map.groupBy(this.outcomes, (each) => wilson(rightBy(each).filter(Boolean).length, rightBy(each).length)),
      tells = clear
        ? `the accuracy ${[...shares].map(([share, names]) => `by ${names.join(" or ")} is ${share}`).join(" and ")}`
        : !known.length ? `${name} holds no numbers` : `the mean of ${name} is ${(known.reduce((a, b) => a + b, 0) / known.length).toFixed(3)}`;
    throw new Error(
      `column ${this.problem} gives every rollout a problem of its own${steps > 1 ? at : ""}: one ` +
        `rollout a problem tells no pass rates, and ${tells}; give several rollouts of a problem, or name its column`,
    );
  }

  checkBinary(cells, values) {
    const different = new Set(cells.filter((cell) => !missing(cell)).map(verdict)),
      wrong = different.has(0) && different.has(-1) ? 0 : -1, // of -1, 0 and 1 it is not clear what is right
      isSign = (value) => [0, 1, wrong].includes(value);
    if (![...different].every(isSign)) {
      const i = cells.findIndex((cell) => !missing(cell) && !isSign(verdict(cell))),
        rates = [...new Set(values.filter(Number.isFinite))],
        isRate = rates.length && rates.every((rate) => rate >= 0 && rate <= 1),
        n = smallestN(rates) ?? Infinity,
        of = n < values.filter(Number.isFinite).length ? n : "how many",
        words = isRate ? `; if it is the rate of several rollouts, say that n is ${of}` : "";
      throw new Error(
        `reward ${short(identity(cells[i]))} in row ${this.kept[i] + 1} (${this.problem} ${short(this.name(this.kept[i]))}): ` +
          `a reward must be 0 or 1, or -1 or 1; give the threshold from which it is right, or the value that is${words}`,
      );
    }
    if (different.has(-1)) this.notes.push("a reward of -1 is wrong, 1 is right");
  }

  // --- Counts and rates ----------------------------------------------------------------------------------------------

  /** [n, right ones] of each row that counts all rollouts of a problem, 0 for none. */
  shares() {
    const [name] = this.outcomes,
      counted = this.kind === "counts";
    if (counted && this.stepName === "step") this.keepLastStep();
    const cells = this.cellsOf(name),
      values = this.values(name),
      sizes = typeof this.size === "string" ? this.values(this.size) : null,
      first = new Map(),
      told = cells.map((cell, i) => {
        if (!counted && missing(cell)) return false;
        const before = first.get(this.group[i]);
        if (before === undefined) return Boolean(first.set(this.group[i], i));
        if (counted || cells[before] !== cell) {
          const [one, two] = [this.kept[before], this.kept[i]],
            apart = this.names.filter((each) => each !== name && this.cell(each, one) !== this.cell(each, two));
          throw new Error(
            `problem ${short(this.name(two))} has ${name} ${cells[before]} and ${cell}, several rows of counts` +
              `${candidates(apart)}: choose some, name what sets problems apart, or add them up`,
          );
        }
        return false; // a data set repeats a problem's rate beside each of its answers
      }),
      rates = values.filter((_, i) => told[i]),
      inferred = this.kind === "rate" && this.size === null ? this.inferred(rates) : null;
    const pairs = cells.map((cell, i) => {
      if (!told[i]) return [0, 0];
      const match = this.kind === "ratio" ? RATIO.exec(String(cell)) : null,
        n = match ? Number(match[2]) : sizes ? sizes[i] : (inferred ?? this.size ?? 0),
        right = match ? Number(match[1]) : this.kind === "rate" ? Math.round(values[i] * n) : values[i],
        problem = short(this.name(this.kept[i])),
        of = this.size ?? "n";
      if (this.kind === "rate" && !(Math.abs(right - values[i] * n) <= Math.max(RATE_SLACK, n * 1e-4)))
        throw new Error(
          `problem ${problem} has the pass rate ${cell}, which is no whole number of ${n} rollouts: look at the column ${name}`,
        );
      if (!(Number.isInteger(n) && Number.isInteger(right) && n >= 1 && right >= 0 && right <= n))
        throw new Error(
          `problem ${problem} has ${name} = ${cell} of ${of} = ${sizes ? this.cell(this.size, this.kept[i]) : n}: counts ` +
            `must be whole, with 0 <= ${name} <= ${of}`,
        );
      return [n, right];
    });
    const [n, right] = [0, 1].map((i) => pairs.map((pair) => pair[i]));
    if (this.problem === "(key)" && !this.choice.problem && name !== "(value)" && most(n) > n.length)
      throw new Error(
        `the names of its counts (${listed(this.kept.map((row) => this.name(row)))}) may be problems, or models that tried ` +
          `up to ${most(n)}: name (key) as the problem if they are problems`,
      );
    const isSetting = counted && name.toLowerCase() === "k" && !this.choice.reward && n.length > 1;
    if (isSetting && distinct(n) === 1 && distinct(right) === 1 && 0 < right[0] && right[0] < n[0])
      throw new Error(
        `columns ${this.size} and ${name} are ${n[0]} and ${right[0]} in every row: name ${name} as the column of the ` +
          `reward if that many of ${this.size} rollouts were right, or the column that is`,
      );
    if (counted && most(n) === 1)
      this.refuseSingles(
        right,
        right.map((each) => each === 1),
      );
    return [n, right];
  }

  keepLastStep() {
    const steps = this.stepName ? this.values(this.stepName) : [],
      known = steps.filter(Number.isFinite),
      last = most(known);
    if (!known.length || least(known) === last) return;
    this.keep((i) => steps[i] === last);
    if (!this.problem && this.kept.length === 1)
      throw new Error("every step has one row of counts, as a table of checkpoints has: give the counts of each problem");
    this.notes.push(`only the last step is read: ${last}`);
  }

  inferred(rates) {
    const [name] = this.outcomes,
      different = [...new Set(rates)],
      n = smallestN(different);
    if (n === null || different.length < 3 || n >= rates.length)
      throw new Error(`column ${name} gives rates and no column how many rollouts they are of: say n, or add a column n`);
    this.notes.push(`n = ${n} is the smallest of which all rates in ${name} are counts`);
    return n;
  }

  // --- All together --------------------------------------------------------------------------------------------------

  counts() {
    const isReward = this.kind === "reward",
      before = this.notes;
    this.notes = [];
    const [tried, right] = isReward ? this.rewards() : this.shares();
    this.notes = [...before, ...this.divisions(), ...this.notes];
    const advantage = this.hinted("advantage"),
      got = advantage && isReward ? this.values(advantage) : null,
      all = [];
    this.group.forEach((group, i) => {
      const each = (all[group] ??= { n: 0, right: 0, row: this.kept[i], got: [NaN, NaN] });
      each.n += tried[i];
      each.right += right[i];
      if (got && tried[i]) each.got[1 - right[i]] = got[i];
    });
    const kept = all.filter(({ n }) => n),
      n = kept.map((each) => each.n),
      steps = distinct(this.steps());
    if (!kept.length) throw new Error(`column ${this.outcomes[0]} holds no reward: name another`);
    for (const each of kept)
      if (each.n > LARGEST_N)
        throw new Error(
          `problem ${short(this.name(each.row))} has n = ${each.n} rollouts: the audit takes up to ${LARGEST_N} a problem; ` +
            "give fewer, or correct the file",
        );
    if (this.problem && rank(this.problem, "prompt") >= 0 && this.kind !== "counts") {
      const sorted = n.toSorted((a, b) => a - b),
        middle = (sorted[(n.length - 1) >> 1] + sorted[n.length >> 1]) / 2,
        more = n.filter((size) => size > middle).length;
      this.notes.push(`equal prompts are one problem: ${more} of ${n.length} have more rows than most`);
    }
    if (steps > 1) this.notes.push(`${steps} steps, their problems kept apart`);
    const lost = isReward ? tried.filter((each) => !each).length : all.length - kept.length;
    if (lost) this.notes.push(`${lost} of ${tried.length} ${isReward ? "rollouts" : "rows"} have no reward and are left out`);
    const total = this.hinted("right");
    if (this.names.includes("(row)") && total && !this.outcomes.includes(total)) {
      const differ = all.filter((each) => {
        const value = verdict(this.cell(total, each.row));
        return value !== null && value !== each.right;
      }).length;
      this.notes.push(`${total} says another number of right rollouts in ${differ || "none"} of ${said(all.length)} problems`);
    }
    const prompt = this.hinted("prompt") ?? "",
      sum = (key) => kept.reduce((all, each) => all + each[key], 0),
      isMixed = kept.some((each) => each.right > 0 && each.right < each.n);
    if (isReward && !isMixed && kept.length > 3 && sum("right") > 0 && sum("right") < sum("n"))
      this.notes.push(
        `all rollouts of each problem have the same ${this.outcomes[0]}: see that it is theirs, and not their problem's`,
      );
    if (isReward) this.noteAnswers(tried, right);
    return {
      n,
      correct: kept.map((each) => each.right),
      notes: this.notes,
      meaning: this.meaning(kept),
      advantages: got && kept.some((each) => each.got.some(Number.isFinite)) ? kept.map((each) => each.got) : null,
      steps: kept.map((each) => this.cell(this.stepName, each.row)),
      // numbers of problems may begin anew at each step; their prompts then differ
      problem: numbered(
        ...[this.name, (row) => this.cell(prompt, row)].map((of) => kept.map(({ row }) => of(row))),
      ),
    };
  }

  /** What is to be said of columns that divide problems; one that is not clear is refused. */
  divisions() {
    const { pooled = [], within = [] } = this.choice,
      notes = [
        ...within.map((name) => `problems of different ${name} are different`),
        ...pooled.map((name) => `rollouts of different ${name} are pooled`),
      ],
      unclear = [];
    this.sample = "";
    if (this.kind !== "reward") return notes;
    if (this.choice.n) notes.push(`n = ${this.choice.n} is not used: each row is a rollout`);
    const problems = numbered(this.group, ...pooled.map(this.codes)),
      known = [this.problem, this.stepName, ...this.within, ...pooled, ...this.outcomes, ...this.found.long, "(row)", "(position)"];
    for (const name of this.names) {
      if (known.includes(name) || VARYING.some((role) => rank(name, role) >= 0)) continue;
      const codes = numbered(this.codes(name)),
        { cells } = this.column(name),
        kind = most(codes) > 0 ? division(problems, codes) : "",
        isEpoch = name === "epoch" && SCORER.test(this.outcomes[0]),
        counting = countsUp(cells) && (mayNumber(name) || isEpoch);
      if (kind === "singles" && counting) {
        this.sample = name;
        notes.push(`column ${name} numbers the rollouts of a problem`);
      } else if (kind) unclear.push({ name, cells, counting });
    }
    // Of rollouts that are numbered and divided, the number is the lesser news.
    const label = unclear.find(({ counting }) => !counting) ?? unclear[0];
    if (!label) return notes;
    const name = short(label.name);
    throw new Error(
      `the rollouts of a problem differ in column ${name}, whose ${label.cells.length} values (${listed(label.cells)}) stand ` +
        `in the same problems: say which are read, as ${name}=${short(identity(label.cells.at(-1)))} for one policy, that ` +
        `problems differ by ${name}, or that it makes no difference`,
    );
  }

  /** Notes of dead groups by what their rollouts said, and of rollouts that were truncated or have no answer. */
  noteAnswers(tried, right) {
    const count = (fits) => said(fits.filter(Boolean).length),
      noteSome = (some, words) => {
        const those = some.map((each, i) => each && tried[i]);
        if (those.includes(1))
          this.notes.push(`${count(those)} of ${count(tried)} rollouts ${words}, ${count(those.map((each, i) => each && right[i]))} of them right`);
      },
      truncated = this.hinted("truncated"),
      answer = this.hinted("answer"),
      [text] = hinted(this.found.long, "text"),
      told = answer ?? text;
    if (truncated) noteSome(this.values(truncated).map((value) => value === 1), `are \`${truncated}\``); // prettier-ignore
    if (text) {
      const seen = new Set(),
        isAgain = (key) => seen.has(key) || !seen.add(key),
        spoken = numbered(this.group, this.codes(text), this.codes(this.outcomes[0]));
      noteSome(
        this.cellsOf(text).map((cell, i) => cell !== null && cell !== "" && isAgain(spoken[i])),
        `say in \`${text}\` what another of the group does (copied, or drawn twice)`,
      );
    }
    if (!told || this.outcomes.includes(told)) return;
    const cells = this.cellsOf(told),
      groups = [...Map.groupBy([...this.group.keys()].filter((i) => tried[i]), (i) => this.group[i]).values()].map((rows) => ({
        n: rows.length,
        right: rows.filter((i) => right[i]).length,
        different: distinct(rows.map((i) => (missing(cells[i]) ? "" : identity(cells[i])))),
      })),
      mixed = groups.filter((each) => each.right > 0 && each.right < each.n),
      wrong = groups.filter((each) => each.n > 1 && !each.right),
      allRight = groups.filter((each) => each.n > 1 && each.right === each.n).length,
      what = answer ? "answer" : "text";
    if (mixed.length && mixed.every(({ different }) => different === 1)) return; // their problem's
    if (answer) noteSome(cells.map(missing), `have no \`${told}\``);
    if (!allRight && !wrong.length) return;
    const one = wrong.filter(({ different }) => different === 1).length;
    this.notes.push(
      `dead groups: ${said(allRight)} all right, ${said(wrong.length - one)} all wrong with different ${what}s, ${said(one)} ` +
        `all wrong with one ${what} (\`${told}\`)`,
    );
  }

  /** What the file was taken for, with the columns that say so. */
  meaning(kept) {
    const { threshold = null, success = null } = this.choice,
      [name] = this.outcomes,
      values = this.values(name).filter(Number.isFinite),
      n = kept.map((each) => each.n),
      right = kept.reduce((sum, each) => sum + each.right, 0),
      rows = [...Map.groupBy(this.kept, this.problemOf).values()].map((each) => each.length),
      held = this.names.includes("(row)") ? most(this.values("(row)")) + 1 : 0,
      steps = distinct(this.steps()),
      ofN = this.size !== null && this.kind !== "reward",
      column = (each) => (typeof each === "string" ? `\`${each}\`` : `${each}`),
      meaning = {
        row:
          (this.kind === "reward" ? "a rollout" : `a problem and its ${this.kind}`) +
          (held ? `, unfolded from ${said(held)} rows that hold several` : ""),
        problem: this.problem ? `\`${this.problem}\`, ${said(rows.length)} values, ${span(rows)} rows each` : "each row",
        sample: this.sample ? `\`${this.sample}\`` : "by its place",
        reward:
          `\`${name}\`${values.length ? `, ${span(values)}` : ""}${ofN ? ` of n = ${column(this.size)}` : ""}` +
          `${threshold === null ? "" : `, right from ${threshold}`}${success === null ? "" : `, right if ${success}`}` +
          `; ${said(right)} of ${said(n.reduce((a, b) => a + b, 0))} rollouts right`,
        group: `a problem${steps > 1 ? " of a step" : ""}: ${said(kept.length)} of ${span(n)} rollouts`,
        step:
          this.stepName || steps > 1
            ? `${this.stepName ? `\`${this.stepName}\`` : "names of files"}, ${said(steps)} values`
            : "none",
      };
    for (const role of TOLD) {
      const [first] = hinted([...this.found.long, ...this.names], role);
      meaning[role] = first ? `\`${first}\`` : "none";
    }
    const told = Object.values(meaning).join(" "),
      unused = this.found.all.filter((each) => !told.includes(`\`${each}\``));
    return { ...meaning, "not used": unused.length ? listed(unused) : "none" };
  }
}
