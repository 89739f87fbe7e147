// What Python tells of the catalogue: labels, options, descriptions and looks, and the numbers of estimators that have
// no closed form here.
import { ALIASES, ESTIMATORS, OBJECTIVES } from "./catalogue.js";
import { LOOKS } from "./looks.js";
import { passRates } from "./mathematics.js";
import { resolve, tooSmall } from "./specs.js";

/** The tables of lab/explorer/page_catalogue.py by the page's specs. A notebook has none: there Python answers. */
const TABLES = new Map();

let heard = null;

/** What was taken in, but for the tables: for a worker that is to know the same. */
export const told = () => heard;

/** Take in what lab/explorer/page_catalogue.py wrote; what was taken in before is kept or written over. */
export function learn({ estimators, objectives, aliases, looks, tables = [] }) {
  heard = { estimators, objectives, aliases, looks };
  Object.assign(ALIASES, aliases);
  Object.assign(LOOKS, looks);
  for (const [name, facts] of Object.entries(estimators)) describe((ESTIMATORS[name] ??= {}), name, facts);
  for (const [name, entry] of Object.entries(OBJECTIVES)) describe(entry, name, objectives[name]);
  for (const table of tables) {
    try {
      TABLES.set(resolve(ESTIMATORS, table.spec).spec, table);
    } catch {
      /* an option that the page does not know: the row of this spec says so */
    }
  }
}

function describe(entry, name, { label, about, citation, options }) {
  Object.assign(entry, { about, citation, options });
  if (typeof entry.label !== "function") entry.label = label ?? name;
}

/**
 * A resolved estimator that has no closed form, from its table: at N, or at the `nearest` N that the page holds, which
 * its label then says. Throws a sentence.
 */
export function tabled({ name, spec, entry }, N, nearest) {
  const table = TABLES.get(spec);
  if (!table)
    throw new Error(`this page holds no numbers of ${spec}: write it with lab explore curves=..., or use a notebook`);
  if (N < table.least) throw tooSmall(spec, table.least);
  const sizes = Object.keys(table.coefficients).map(Number);
  const at = sizes.reduce((best, size) => (Math.abs(size - N) < Math.abs(best - N) ? size : best), Infinity);
  if (!Number.isFinite(at)) throw new Error(`${spec} is defined for no N that this page holds: use a notebook`);
  if (at !== N && !nearest)
    throw new Error(`of ${spec} this page holds no N = ${N}, the nearest is ${at}: a notebook has every N`);
  return {
    name,
    spec,
    label: at === N ? table.label : `${table.label} at N = ${at}`,
    sequences: table.coefficients[at].map((values) => Float64Array.from(values)),
    limit: (quantity, axis) => limit(table, quantity, axis),
    half: table.limit && middle(table.limit.linear.weight),
  };
}

/** The limit at the points of an axis; null where the table has none for the quantity. */
function limit(table, quantity, axis) {
  const known = table.limit?.[axis];
  if (!known || !["weight", "objective", "contrast"].includes(quantity)) return null;
  const values = Float64Array.from(known[quantity === "objective" ? "objective" : "weight"], (x) => x ?? NaN);
  return quantity === "contrast" ? passRates(axis).map((p, i) => p * (1 - p) * values[i]) : values;
}

/** The value at p = 1/2, which is the middle of the linear axis. */
const middle = (values) => values[(values.length - 1) / 2];
