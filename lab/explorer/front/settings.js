// What the settings of a training say of the weighting of its rollouts, by the rules of lab/show/weighting.py: the
// config.yaml of W&B, or the one that Hydra writes for verl, or the params.json of a run of the lab.
import { ESTIMATORS, lifted, resolve, written } from "./specs.js";

const BY_SCALE_REWARDS = {
  group: "grpo(ddof=1, eps=0.0001)",
  true: "grpo(ddof=1, eps=0.0001)",
  batch: "dr_grpo", // one factor for all groups of a step: the shares within it are these
  none: "dr_grpo",
  false: "dr_grpo",
};
const BY_ADV_ESTIMATOR = { rloo: "rloo", rloo_vectorized: "rloo" };
const NOT_OF_THE_ESTIMATOR = ["truncation", "max_tokens"];

const isObject = (value) => typeof value === "object" && value !== null;

/** { spec, note } of a settings file by its text, "" for an estimator that is none of here; null: it says nothing. */
export function settingsWeighting(name, text) {
  return /\.json$/i.test(name) ? ofRun(name, text) : ofConfig(name, text);
}

/** The same of the params.json of a run of the lab. */
function ofRun(name, text) {
  let parameters;
  try {
    ({ parameters } = JSON.parse(text));
  } catch {
    throw new Error(`${name} cannot be read (not JSON): give the params.json of a run`);
  }
  const spec = parameters?.objective || parameters?.estimator;
  if (!spec) return null;
  const note = `trained with ${spec}, by the settings of the run`,
    inside = lifted(spec);
  try {
    resolve(ESTIMATORS, inside ?? spec);
  } catch {
    return { spec: "", note: `${note}: weights that this page does not know` };
  }
  const graded = "; if it was of graded answers, what follows is only the level of the threshold";
  return { spec, note: note + (inside === null ? "" : graded) };
}

function ofConfig(name, text) {
  const settings = Object.fromEntries(
    Object.entries(mapping(text)).map(([key, value]) => [
      key,
      isObject(value) && "value" in value ? value.value : value,
    ]),
  );
  const { scale_rewards, algorithm } = settings;
  let spec, said;
  if (scale_rewards !== undefined) {
    const value = (scale_rewards === null ? "none" : String(scale_rewards)).toLowerCase();
    [spec, said] = [BY_SCALE_REWARDS[value] ?? "", `TRL's scale_rewards=${value}`];
  } else if (isObject(algorithm) && "adv_estimator" in algorithm) {
    const chosen = String(algorithm.adv_estimator);
    [spec, said] = [BY_ADV_ESTIMATOR[chosen] ?? "", `verl's adv_estimator=${chosen}`];
    if (["grpo", "grpo_vectorized"].includes(chosen)) {
      const scaled = algorithm.norm_adv_by_std_in_grpo ?? true;
      said += `, norm_adv_by_std_in_grpo=${typeof scaled === "string" ? scaled : written(scaled)}`;
      spec = scaled ? "grpo(ddof=1, eps=1e-06)" : "dr_grpo";
    } else if (chosen.startsWith("lab.")) {
      const { of, ...options } = isObject(algorithm.lab) ? algorithm.lab : {},
        kept = Object.entries(options).filter(([option]) => !NOT_OF_THE_ESTIMATOR.includes(option)),
        parts = [...(of === undefined ? [] : [of]), ...kept.map(([option, value]) => `${option}=${written(value)}`)];
      spec = chosen.slice("lab.".length) + (parts.length ? `(${parts.join(", ")})` : "");
    }
  } else return null;
  return { spec, note: `trained with ${spec || "no estimator of here"} (${said}), by ${name}` };
}

/**
 * The mapping at the top of a YAML text, as PyYAML and OmegaConf write them: mappings by indentation or in braces, and
 * scalars. What is neither (lists, long texts) stays unread: undefined.
 */
export function mapping(text) {
  const lines = text
    .split(/\r?\n/)
    .filter((line) => line.trim() && !/^\s*#|^---|^\.\.\./.test(line))
    .map((line) => ({ indent: line.search(/\S/), words: line.trim() }));
  return block(lines);
}

/** The entries of the lines that are indented as the first one; what is deeper belongs to the entry above it. */
function block(lines) {
  const found = {},
    indent = lines[0]?.indent;
  lines.forEach(({ indent: at, words }, i) => {
    const entry =
      at === indent && /^(?:"([^"]*)"|'([^']*)'|([^\s"'#{[\-][^:]*?|-[^\s:][^:]*?))\s*:(?:\s+(.*))?$/.exec(words);
    if (!entry) return;
    const end = lines.findIndex((line, k) => k > i && line.indent <= indent),
      below = lines.slice(i + 1, end < 0 ? lines.length : end),
      rest = (entry[4] ?? "").replace(/(^|\s)#.*$/, "").trim();
    found[entry[1] ?? entry[2] ?? entry[3]] = rest
      ? inline([rest, ...below.map(({ words }) => words)].join(" "))
      : below.length
        ? block(below)
        : null;
  });
  return found;
}

/** A scalar, or a mapping in braces; undefined for anything else. */
function inline(text) {
  if (!text.startsWith("{")) return /^[[|>&*!]/.test(text) ? undefined : scalar(text);
  const found = {};
  const entry = /^\s*(?:"([^"]*)"|'([^']*)'|([^\s,:{}"']+))\s*:\s*/;
  let rest = text.slice(1, -1);
  for (let next = entry.exec(rest); next; next = entry.exec(rest)) {
    rest = rest.slice(next[0].length);
    const size = valueLength(rest);
    found[next[1] ?? next[2] ?? next[3]] = inline(rest.slice(0, size).trim());
    rest = rest.slice(size + 1);
  }
  return found;
}

/** How far the first value of a list with commas reaches. */
function valueLength(text) {
  let depth = 0,
    quote = "";
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (quote) quote = letter === quote ? "" : quote;
    else if (`"'`.includes(letter)) quote = letter;
    else if ("{[".includes(letter)) depth++;
    else if ("}]".includes(letter)) depth--;
    else if (letter === "," && !depth) return i;
  }
  return text.length;
}

function scalar(text) {
  const quoted = /^(["'])(.*)\1$/s.exec(text);
  if (quoted) return quoted[2];
  if (/^(true|yes|on)$/i.test(text)) return true;
  if (/^(false|no|off)$/i.test(text)) return false;
  if (/^(null|~)$/i.test(text)) return null;
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]\d+)?$/i.test(text) ? Number(text) : text;
}
