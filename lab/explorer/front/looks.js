// Looks: those of lab/show/plots.py, with lighter forms of the colours for a dark ground.
import { ESTIMATORS } from "./catalogue.js";

const BLUE = "#0072b2",
  ORANGE = "#e69f00",
  RED = "#d55e00",
  GREEN = "#009e73",
  PURPLE = "#aa4499",
  SKY = "#56b4e9",
  OLIVE = "#999933";
export const DARK = {
  [BLUE]: "#4aa8e8",
  [ORANGE]: "#f0b43c",
  [RED]: "#ff8a4c",
  [GREEN]: "#2fc79a",
  [PURPLE]: "#d98ad0",
  [SKY]: "#8fd0f5",
  [OLIVE]: "#c8c86a",
  "#000000": "#ffffff",
  "#777777": "#aaaaaa",
};
export const LOOKS = {
  rl: [BLUE, []],
  rloo: [BLUE, []],
  reinforce_mean: [BLUE, [5, 1.5]],
  reinforce: [SKY, [1, 1]],
  arcsine: [ORANGE, [4, 1, 1, 1]],
  grpo: [ORANGE, [4, 1, 1, 1]],
  maxrl: [RED, []],
  truncated: [RED, []],
  maxrl_eq6: [PURPLE, [3, 1]],
  maxrl_eq7: [SKY, [2, 1]],
  maxrl_loo: [GREEN, [6, 1, 1, 1, 1, 1]],
  ml: ["#000000", [1, 1]],
  log_odds: [GREEN, [6, 1.5, 1, 1.5]],
  pacs: [GREEN, [6, 1.5, 1, 1.5]],
  pkpo: [OLIVE, [2, 1, 1, 1]],
  from_weight: [PURPLE, [4, 1, 2, 1]],
};
const OTHERS = [
  [PURPLE, []],
  [OLIVE, []],
  [SKY, []],
  ["#777777", []],
  ["#000000", [5, 1]],
  [PURPLE, [2, 1]],
  [OLIVE, [6, 1]],
];
const VARIANTS = [[], [6, 2], [2, 1.2], [7, 1.5, 1.5, 1.5], [1, 1.2], [9, 2, 4, 2]];

/** A colour and dashes for each name: the house look, or a free one; no two lines that are both alike. */
export function looks(names) {
  const taken = new Set();
  return names.map((name) => {
    let look = LOOKS[name in ESTIMATORS && /drawn|formula/.test(name) ? "from_weight" : name];
    look ??= OTHERS.find((one) => !taken.has(String(one))) ?? OTHERS[0];
    const [color, dash] = look;
    const free = taken.has(String(look)) ? (VARIANTS.find((one) => !taken.has(String([color, one]))) ?? dash) : dash;
    taken.add(String([color, free]));
    return { color, dash: free };
  });
}
