// Looks: those of the figures, with lighter forms of the colours for a dark ground.

const BLUE = "#0072b2",
  ORANGE = "#e6a31e",
  RED = "#c42d08",
  GREEN = "#00a78a",
  PURPLE = "#c42a96",
  SKY = "#30c2fa",
  INDIGO = "#1e0a5a",
  OLIVE = "#999933";
const DARK = {
  [BLUE]: "#4aa8e8",
  [ORANGE]: "#f0b43c",
  [RED]: "#ff8a4c",
  [GREEN]: "#2fc79a",
  [PURPLE]: "#d98ad0",
  [SKY]: "#8fd0f5",
  [INDIGO]: "#a79bf5",
  [OLIVE]: "#c8c86a",
  "#000000": "#ffffff",
  "#777777": "#aaaaaa",
};
/** The light ones of the figures, darker: a line is to stand out from white by three to one. */
const LIGHT = { [ORANGE]: "#b97d00", [SKY]: "#0d90c4", [OLIVE]: "#85852b" };

/** A look's colour on a light or dark ground. */
export const onGround = (color, dark) => (dark ? DARK : LIGHT)[color] ?? color;

/** Those of lab/show/line_styles.py, which Python tells: { name: [colour, dashes] }. */
export const LOOKS = Object.create(null);
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
    let look = LOOKS[["drawn", "formula"].includes(name) ? "from_weight" : name];
    look ??= OTHERS.find((one) => !taken.has(String(one))) ?? OTHERS[0];
    const [color, dash] = look;
    const free = taken.has(String(look)) ? (VARIANTS.find((one) => !taken.has(String([color, one]))) ?? dash) : dash;
    taken.add(String([color, free]));
    return { color, dash: free };
  });
}
