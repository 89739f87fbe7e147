// What the columns of a table of rollouts mean, by the rules of lab/rollouts/meaning.py.
import { HINTS, KEPT, LISTED, OWN, RATE_OF, RATIO, ROLLOUTS, SHORT, SIZES, SUMMARY } from "./names.js";
import { flat, hinted, identity, isLabel, isOutcome, likely, mayFail, mayReward, missing, number, rank, readerOf, short, verdict } from "./unfold.js";

export const FILE = "(file)"; // a column of the names of several files, without their numbers

/** Names or values for a sentence, however many and long they are. */
export function listed(names, between = ", ") {
  const more = names.length > LISTED ? ` and ${(names.length - LISTED).toLocaleString("en")} more` : "";
  return names.slice(0, LISTED).map((name) => short(identity(name))).join(between) + more; // prettier-ignore
}

export const candidates = (names) => (names.length ? ` (${listed(names, " or ")}?)` : "");

const told = (cells) => cells.filter((cell) => !missing(cell)),
  isShort = (cell) => typeof cell !== "object" && !(typeof cell === "string" && cell.length > SHORT),
  every = (cells, fits) => {
    const values = told(cells).map(number);
    return values.length > 0 && values.every((value) => value !== null && fits(value));
  },
  isRate = (cells) => every(cells, (value) => value >= 0 && value <= 1),
  isCount = (cells) => every(cells, (value) => value % 1 === 0 && value >= 0),
  areRatios = (cells) => told(cells).length > 0 && told(cells).every((cell) => RATIO.test(String(cell)));

/** Whether cells are rewards of which it is clear what is right: 0, 1, -1, or labels. */
export function isBinary(cells) {
  const values = new Set(told(cells).map(verdict));
  return values.size > 0 && [...values].every((value) => [0, 1, -1].includes(value)) && !(values.has(0) && values.has(-1));
}

/** The columns to read, by the first rows: { all, names, long, lists, labels, signature }; what is unclear is refused. */
export function wanted(first, choice, several) {
  const cells = new Map();
  const add = (name, cell) => (cells.has(name) ? cells.get(name).push(cell) : cells.set(name, [cell]));
  for (const row of first) for (const [name, cell] of flat(row)) add(name, cell);
  const all = [...new Set(first.flatMap(Object.keys))].filter((name) => !name.startsWith("(")),
    named = namedColumns(choice);
  for (const [name, each] of cells)
    if (name.split(".").length > 2 && !all.includes(name) && 2 * told(each).length < first.length) cells.delete(name);
  for (const name of named) {
    if (cells.has(name) || (several && name === FILE)) continue;
    const own = first.map(readerOf(name));
    if (own.every(missing)) throw new Error(`found columns ${listed(all)}, and no ${short(name)}: name one of them`);
    cells.set(name, own);
  }
  const full = Object.fromEntries([...cells].map(([name, each]) => [name, told(each)])),
    names = Object.keys(full),
    scalar = names.filter((name) => full[name].every(isShort)),
    known = [...ROLLOUTS, ...HINTS.text, ...HINTS.answer],
    isOther = (name) => !named.includes(name),
    lists = names
      .filter(isOther)
      .filter((name) => full[name].length && full[name].every(Array.isArray) && known.includes(name.toLowerCase())),
    seen = [...new Set([...scalar, ...named.filter((name) => name in full)])],
    found = outcomeOf(Object.fromEntries(seen.map((name) => [name, full[name]])), choice, lists);
  if (!found) throw new Error(unclear(all, full, choice));
  const problems = [...hinted(scalar, "problem"), ...hinted(names, "prompt").slice(0, 2)],
    lengths = lists.includes(found.size) ? [found.size] : [],
    long = ["text", "answer"].flatMap((role) =>
      hinted(names.filter(isOther), role)
        .filter((name) => !problems.includes(name) && !lengths.includes(name) && full[name].some((cell) => typeof cell !== "number"))
        .slice(0, 1),
    ),
    rows = scalar.filter((name) => mayReward(name) || [...OWN, "right", "rate"].some((role) => rank(name, role) >= 0)),
    kept = [...named, ...problems, ...found.names, ...rows, ...KEPT.flatMap((role) => hinted(scalar, role))],
    labels = scalar.filter((name) => full[name].length && !kept.includes(name) && !long.includes(name));
  return {
    all,
    names: [...new Set([...kept, ...long, ...lengths, ...labels, FILE])],
    long,
    lists: lengths,
    labels,
    signature: `columns ${[...problems.slice(0, 1), ...found.names.slice(0, 1)].join(", ")}`,
  };
}

/** Text "column=value" of the rows that are read, as [column, value]. */
export const chosen = ({ only = [] }) =>
  only.map((text) => {
    const at = text.indexOf("=");
    if (at < 0) throw new Error(`only = '${text}': write COLUMN=VALUE`);
    return [text.slice(0, at), text.slice(at + 1)];
  });

const namedColumns = (choice) =>
  [choice.problem, choice.reward, ...chosen(choice).map(([name]) => name), ...(choice.within ?? []), ...(choice.pooled ?? [])].filter(
    (name) => name,
  );

/** What says that rollouts are right: { kind, names, size }, null for nothing; `lists` are columns whose lengths may be n. */
export function outcomeOf(cells, choice, lists) {
  const names = Object.keys(cells),
    n = choice.n ?? null,
    isUnjudged = (choice.threshold ?? choice.success ?? null) === null,
    sizes = hinted(names, "size").filter((name) => name.toLowerCase() !== "k"),
    last = names.filter((name) => name === "k" && hinted(names, "right")[0] !== "k"),
    size = n ?? sizes[0] ?? (lists.length === 1 ? lists[0] : null) ?? last[0] ?? null;
  if (choice.reward && !(choice.reward in cells)) return null; // it is empty
  if (choice.reward && mayFail(choice.reward) && isUnjudged)
    throw new Error(`column ${choice.reward} says what went wrong: say which value is right, such as false, or name another`);
  if (choice.reward) return { kind: kindOf(choice.reward, cells[choice.reward], n, size, isUnjudged), names: [choice.reward], size };
  const rights = names.includes("(row)")
    ? []
    : hinted(names, "right").filter(
        (name) => name !== size && !(cells[name].length && cells[name].every((cell) => typeof cell === "boolean")),
      );
  if (rights.length && size !== null) return { kind: "counts", names: rights.slice(0, 1), size };
  let graded = null;
  for (const role of OWN) {
    const own = hinted(names, role).filter((name) => cells[name].every(isOutcome)),
      binary = own.filter((name) => isBinary(cells[name]));
    if (binary.length) return { kind: "reward", names: binary, size: null };
    graded ??= own[0] ?? hinted(names, role).find((name) => !cells[name].some((cell) => typeof cell === "object" && cell)) ?? null;
  }
  const ofN = Object.fromEntries(names.flatMap((name) => (RATE_OF.test(name) ? [[name, Number(RATE_OF.exec(name)[1])]] : [])));
  for (const name of [...Object.keys(ofN), ...hinted(names, "rate")]) {
    const known = ofN[name] ?? SIZES[name.toLowerCase()] ?? n ?? size;
    if (areRatios(cells[name])) return { kind: "ratio", names: [name], size: null };
    if (isRate(cells[name]) && !SUMMARY.test(name) && (known !== null || !isBinary(cells[name])))
      return { kind: "rate", names: [name], size: known };
  }
  if (graded && size !== null && rank(graded, "correct") >= 0 && isUnjudged && every(cells[graded], (x) => x % 1 === 0 && x >= 0))
    return { kind: "counts", names: [graded], size };
  if (graded) return { kind: n && isRate(cells[graded]) && isUnjudged ? "rate" : "reward", names: [graded], size };
  const roles = Object.keys(HINTS).filter((role) => !["right", "rate"].includes(role)),
    besides = names.filter((name) => every(cells[name], () => true) && !roles.some((role) => rank(name, role) >= 0));
  if (names.some((name) => rank(name, "advantage") >= 0))
    return besides.length === 1 ? { kind: "reward", names: besides, size: null } : null;
  const may = names.filter((name) => mayReward(name) || rank(name, "rate") >= 0),
    known = may.filter((name) => name.toLowerCase() !== "ok" || names.includes("(row)")), // of a call: it did not fail
    weak = known.filter((name) => isBinary(cells[name]) && !SUMMARY.test(name));
  if (rights.length && !weak.length)
    throw new Error(`column ${rights[0]} counts right rollouts and nothing says of how many: say n`);
  // Words for right and wrong, of both kinds, say as much as a weak name.
  const isWord = (cell) => typeof cell === "string" && isLabel(cell),
    isWorded = (name) => cells[name].every(isWord) && new Set(cells[name].map(verdict)).size > 1;
  if (weak.length) weak.push(...names.filter((name) => !weak.includes(name) && isWorded(name)));
  return weak.length ? { kind: "reward", names: weak, size: null } : null;
}

function kindOf(name, cells, n, size, isUnjudged) {
  if (!isUnjudged) return "reward";
  if (areRatios(cells)) return "ratio";
  if ((n || rank(name, "right") >= 0) && size !== null && isCount(cells) && !isBinary(cells)) return "counts";
  return isRate(cells) && (n || rank(name, "rate") >= 0 || RATE_OF.test(name)) ? "rate" : "reward";
}

function unclear(all, full, choice) {
  if ((all.includes("_step") && all.includes("_runtime")) || all.some((name) => /__(MIN|MAX)$/.test(name)))
    return "a history of metrics exported from W&B, which holds means and no rollouts: export the table of completions";
  const numbers = all.filter((name) => every(full[name], () => true));
  const history = all.includes("step") && numbers.length === all.length && !namedColumns(choice).length,
    half = Object.values(full).reduce((most, each) => Math.max(most, each.length), 0) / 2, // an event of a stream has its own columns
    means = all.some((name) => SUMMARY.test(name) && full[name].length >= half);
  if (history || (means && !hinted(all, "problem").length))
    return (
      `found columns ${listed(all)}: ${history ? "a history of metrics, one row a step, which holds means" : "means and other summaries"} ` +
      `and no rollouts; give what the rollouts of each problem got${history ? "" : ", or the reward and the n that its means are of"}`
    );
  const other = Object.keys(HINTS).filter((role) => ![...OWN, "right", "rate"].includes(role)),
    isFree = (name) => name !== choice.problem && !other.some((role) => rank(name.split(".").at(-1), role) >= 0),
    free = all.filter(isFree),
    seen = Object.keys(full).filter((name) => !name.startsWith("(") && isFree(name)),
    worded = seen.filter((name) => full[name].some(isLabel)),
    varied = seen.filter((name) => new Set(full[name].map(verdict)).size > 1 - mayReward(name)), // others are settings
    binary = [...worded, ...varied.filter((name) => isBinary(full[name]) && !worded.includes(name))],
    outer = binary.filter((name) => free.includes(name)),
    graded = varied.filter((name) => name.includes(".") && mayReward(name) && full[name].every(isOutcome)),
    labels = [outer, graded].find((names) => names.length) ?? binary,
    texts = free.filter((name) => !labels.includes(name) && !numbers.includes(name)),
    returns = (name) => new Set(full[name].map(identity)).size < full[name].length,
    problems = likely(free.filter((name) => !labels.includes(name) && returns(name))),
    ask = [];
  if (!choice.problem && !hinted(Object.keys(full), "problem").length && !hinted(Object.keys(full), "prompt").length)
    ask.push(`the problem${candidates(problems.length ? problems : texts)}`);
  const isNameless = !["problem", "prompt"].some((role) => hinted(Object.keys(full), role).length),
    policy = choice.problem || !isNameless ? [] : hinted(all, "policy");
  if (!choice.reward)
    ask.push(`the reward${candidates(labels.length ? labels : numbers.filter((name) => isFree(name) && varied.includes(name))) || " (none that may be it holds 0 and 1, true and false, or correct and wrong)"}`);
  return (
    `found columns ${listed(all)}: name ${ask.join(" and ") || "others"}; or give n and k of each problem, or a problem ` +
    `and a reward in every row${policy.slice(0, 1).map(differ).join("")}`
  );
}

/** Why the rows of a table of checkpoints or models are no problems, to end a sentence. */
export const differ = (policy) =>
  `; the rows differ in ${policy}, as checkpoints or models do, and a mean over all problems says nothing of single ones`;
