// Columns that divide the rollouts of a problem, by the rules of lab/rollouts/labels.py.
const LONGEST = 200; // characters of a cell that may be a label
const SHARE = 0.8; // of the cells that must agree: some rollouts are lost
const ENOUGH = 8; // problems that tell a rule from chance, where a column varies in few of them

const isHolder = (cell) => typeof cell === "object" && cell !== null,
  isShort = (cell) => !isHolder(cell) && !(typeof cell === "string" && cell.length > LONGEST);

/** The columns, also those in an object, whose cells in `rows` are all short; not those of the Set `besides`. */
export function labelColumns(rows, besides) {
  const short = new Map();
  for (const row of rows)
    for (const [name, cell] of Object.entries(row)) {
      const inner =
        isHolder(cell) && !Array.isArray(cell)
          ? Object.entries(cell).map(([key, value]) => [`${name}.${key}`, value])
          : [[name, cell]];
      for (const [place, value] of inner) short.set(place, (short.get(place) ?? true) && isShort(value));
    }
  return [...short].flatMap(([name, fits]) => (fits && !besides.has(name) ? [name] : []));
}

/** The short cells of some columns, given as [name, function of a row]. */
export class Labels {
  constructor(readers) {
    this.columns = readers.map(([name, read]) => ({ name, read, codes: new Map(), coded: [] }));
    this.problems = [];
  }

  /** Take a row, of the problem of that number. */
  add(row, problem) {
    this.problems.push(problem);
    for (const { read, codes, coded } of this.columns) {
      const cell = read(row) ?? null,
        value = isHolder(cell) ? JSON.stringify(cell) : typeof cell === "boolean" ? Number(cell) : cell;
      if (!codes.has(value)) codes.set(value, { code: codes.size, cell });
      coded.push(codes.get(value).code);
    }
  }

  /** The columns that divide: { column, values, singles, counts }; counts: the values are 0, 1, 2, ... or 1, 2, 3, ... */
  dividing() {
    return this.columns.flatMap(({ name, codes, coded }) => {
      const kind = codes.size > 1 ? division(this.problems, coded) : "";
      if (!kind) return [];
      const numbers = [...codes.keys()].map((value) => (value === null ? NaN : Number(value))).toSorted((a, b) => a - b),
        counts = [0, 1].some((first) => numbers.every((value, i) => value === first + i)),
        values = [...codes.values()].map(({ cell }) => cell);
      return [{ column: name, values, singles: kind === "singles", counts }];
    });
  }
}

/** Whether labels divide problems, both whole numbers from 0: "groups", "singles", or "". */
function division(problems, labels) {
  const all = new Map(),
    values = labels.reduce((most, label) => Math.max(most, label), 0) + 1;
  problems.forEach((problem, i) => {
    const place = problem * values + labels[i];
    all.set(place, (all.get(place) ?? 0) + 1);
  });
  const every = [...all].map(([place, size]) => ({
      problem: Math.floor(place / values),
      label: place % values,
      size,
    })),
    ofProblem = Map.groupBy(every, ({ problem }) => problem),
    cells = every.filter(({ problem }) => ofProblem.get(problem).length > 1),
    varied = new Set(cells.map(({ problem }) => problem)).size;
  if (varied < Math.min(ENOUGH, ofProblem.size / 2)) {
    // Chance divides few problems into parts, but not each into parts as large as the others.
    const undivided = every.filter(({ problem }) => ofProblem.get(problem).length === 1),
      whole = usual(new Map([["", undivided]])).get("");
    return varied && whole > 1 && cells.every(({ size }) => size === whole) ? "groups" : "";
  }
  const ofLabel = Map.groupBy(cells, ({ label }) => label),
    shared = ({ label }) => ofLabel.get(label).length > 1, // a value of one problem agrees with itself alone
    agree = ({ size }, usual) => usual > 1 && Math.abs(size - usual) <= Math.floor(usual / 8),
    byProblem = usual(ofProblem),
    byLabel = usual(ofLabel);
  for (const agrees of [
    (cell) => agree(cell, byProblem.get(cell.problem)),
    (cell) => shared(cell) && agree(cell, byLabel.get(cell.label)),
  ])
    if (cells.filter(agrees).length >= SHARE * cells.length) return "groups";
  const single = cells.filter((cell) => shared(cell) && cell.size === 1).length;
  return single >= SHARE * ofProblem.size * ofLabel.size ? "singles" : "";
}

/** The median size of the cells of each group, the lower of two. */
const usual = (groups) =>
  new Map(
    [...groups].map(([key, cells]) => {
      const sizes = cells.map(({ size }) => size).toSorted((a, b) => a - b);
      return [key, sizes[(sizes.length - 1) >> 1]];
    }),
  );
