// Built by `npm run build` from lab/explorer/front; sources sha256 7127f10b4cbb6b22bcebd6f68a64a75336966a5ec6d74d24c4bd01c28f9abd87

// dom.js
function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && typeof value !== "string") element[key] = value;
    else if (value !== null && value !== void 0 && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== void 0));
  return element;
}
function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
var labels = 0;
function field(name, input, hint) {
  input.id ||= `lab-field-${++labels}`;
  return h("div", { class: "field" }, h("label", { for: input.id, title: hint ?? null }, name), input);
}
function select(values, chosen, change, names = (x) => x) {
  return h(
    "select",
    { onchange: (event) => change(values[event.target.selectedIndex]) },
    values.map((value) => h("option", { selected: value === chosen }, String(names(value))))
  );
}
function segmented(label, choices, chosen, change) {
  return h(
    "div",
    { class: "segmented", role: "group", "aria-label": label },
    Object.entries(choices).map(
      ([value, words]) => h(
        "button",
        { type: "button", "aria-pressed": String(value === String(chosen)), onclick: () => change(value) },
        words
      )
    )
  );
}
function checkbox(words, checked2, change) {
  return h(
    "label",
    { class: "check" },
    h("input", { type: "checkbox", checked: checked2, onchange: (event) => change(event.target.checked) }),
    words
  );
}
function slider(name, value, { least, most, step, scale, hint, first = false }, change) {
  const forth = scale ?? { to: (x) => x, from: (x) => x };
  const bar = h("input", {
    type: "range",
    min: scale ? "0" : String(least),
    max: scale ? "1" : String(most),
    step: scale ? "any" : String(step)
  });
  const number2 = h("input", {
    type: "number",
    min: String(least),
    max: String(most),
    step: String(step),
    "aria-label": `${name}, as a number`
  });
  const round = (x) => Math.min(most, Math.max(least, Number((Math.round(x / step) * step).toPrecision(12))));
  const show = (x) => {
    bar.value = forth.from(x);
    bar.setAttribute("aria-valuetext", String(x));
    if (document.activeElement !== number2) number2.value = x;
  };
  const give = (x) => {
    if (Number.isFinite(x)) {
      const next = round(x);
      show(next);
      change(next);
    }
  };
  bar.addEventListener("input", () => give(forth.to(Number(bar.value))));
  bar.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    give(round(Number(number2.value)) + move * step);
  });
  const typed = () => {
    if (number2.value !== "") give(Number(number2.value));
    number2.value = round(Number(number2.value) || least);
  };
  number2.addEventListener("change", typed);
  number2.addEventListener("keydown", (event) => {
    if (event.key === "Enter") typed();
  });
  show(value);
  const element = field(name, bar, hint);
  element.classList.add("slider", ...first ? ["first"] : []);
  element.append(number2);
  return {
    element,
    show: (x) => {
      number2.value = x;
      show(x);
    }
  };
}
function write(element, words) {
  if (element.textContent !== words) element.textContent = words;
}
var SHOWN = /* @__PURE__ */ new WeakMap();
function rebuild(element, facts, build) {
  const key = JSON.stringify(facts);
  if (SHOWN.get(element) === key) return;
  SHOWN.set(element, key);
  const places = () => [...element.querySelectorAll("button, input, select, [tabindex]")];
  const held = places().indexOf(document.activeElement);
  element.replaceChildren(...build());
  if (held >= 0) places()[held]?.focus({ preventScroll: true });
}
var LOG = (least, most) => ({
  to: (x) => Math.round(least * (most / least) ** x),
  from: (value) => Math.log(value / least) / Math.log(most / least)
});
function format(x, figures = 4) {
  if (x === null || x === void 0) return "";
  if (Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "-∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size < 1e-4 || size >= 1e6)
    return x.toExponential(2).replace(/\.?0*e/, "e").replaceAll("-", "−").replace("e+", "e");
  return String(Number(x.toPrecision(figures))).replace("-", "−");
}

// chart.js
var THEMES = {
  light: { ground: "#ffffff", ink: "#1c1e21", muted: "#686d76", grid: "#ebecef", axis: "#b9bdc5", band: "#f4f5f7" },
  dark: { ground: "#16181c", ink: "#eceef1", muted: "#a2a8b3", grid: "#2a2d33", axis: "#50555f", band: "#1f2227" }
};
var FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
var logit = (p) => Math.log(p) - Math.log1p(-p);
function scaleOf({ kind, domain: [low, high2] }) {
  const forth = { linear: (x) => x, log: Math.log, logit }[kind], back = { linear: (x) => x, log: Math.exp, logit: (z) => 1 / (1 + Math.exp(-z)) }[kind];
  const start2 = forth(low), length = forth(high2) - start2;
  return { at: (value) => (forth(value) - start2) / length, value: (share) => back(start2 + share * length) };
}
function ticksOf({ kind, domain: [low, high2], ticks }, room) {
  if (ticks) return ticks;
  if (kind === "logit")
    return [1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999].filter((p) => p >= low * 0.99 && 1 - p >= (1 - high2) * 0.99).map((p) => [p, format(p)]);
  if (kind === "log") {
    const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high2) + 1e-9), jump = Math.max(1, Math.ceil((last - first) / room));
    const decades = [];
    const minor = last - first < 2 ? [1, 2, 5] : [1];
    for (let k = first - 1; k <= last; k += jump) {
      for (const m of minor)
        if (m * 10 ** k >= low * 0.999 && m * 10 ** k <= high2 * 1.001)
          decades.push([m * 10 ** k, Math.abs(k) > 4 ? `1e${k}`.replace("-", "−") : format(m * 10 ** k)]);
    }
    return decades;
  }
  const rough = (high2 - low) / room, size = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((m) => m * size >= rough * 0.999) * size;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high2 + 1e-9 * step; k++)
    found.push([k * step, format(Number((k * step).toPrecision(10)))]);
  return found;
}
function niceDomain(values, kind, floor = 1e-6) {
  let low = Infinity, high2 = -Infinity;
  for (const x of values)
    if (Number.isFinite(x) && (kind !== "log" || x > 0)) {
      if (x < low) low = x;
      if (x > high2) high2 = x;
    }
  if (!(high2 >= low)) return kind === "log" ? [0.1, 10] : [0, 1];
  if (kind === "log") {
    low = Math.max(low, high2 * floor);
    const pair2 = [10 ** Math.floor(Math.log10(low) * 2 - 0.1), 10 ** Math.ceil(Math.log10(high2) * 2 + 0.1)].map(
      (x) => 10 ** (Math.log10(x) / 2)
    );
    return pair2[0] === pair2[1] ? [pair2[0] / Math.sqrt(10), pair2[1] * Math.sqrt(10)] : pair2;
  }
  if (low > 0 && low < 0.6 * high2) low = 0;
  if (high2 === low) [low, high2] = high2 === 0 ? [-1, 1] : [Math.min(0, 1.25 * high2), Math.max(0, 1.25 * high2)];
  const rough = (high2 - low) / 5, size = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((m) => m * size >= rough) * size;
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high2 / step - 1e-9) * step];
}
var Chart = class {
  constructor({ label, height = 0.5, least = 150, small = false }) {
    Object.assign(this, { label, height, least, small, spec: null, theme: THEMES.light, pointer: null });
    this.svg = svg("svg", {
      role: "img",
      "aria-label": label,
      "font-family": FONT,
      xmlns: "http://www.w3.org/2000/svg"
    });
    this.parts = Object.fromEntries(
      ["ground", "axes", "bars", "lines", "dots", "mark", "legend"].map((name) => [name, svg("g", { class: name })])
    );
    this.svg.append(...Object.values(this.parts));
    this.element = h("div", { class: "chart" }, this.svg);
    this.drawn = "";
    this.kept = /* @__PURE__ */ new WeakMap();
    new ResizeObserver(() => {
      if (this.spec && this.element.clientWidth) this.draw(this.spec, this.theme);
    }).observe(this.element);
  }
  /** `spec`: x, y (kind, domain, label), lines [{x, y, color, dash, width, label}], bars, dots, mark (a value of x). */
  draw(spec, theme = this.theme) {
    this.spec = spec;
    this.theme = theme;
    const width = this.element.clientWidth || 640, tall = Math.max(this.least, Math.round(this.height * width));
    this.frame(spec, theme, width, tall);
    this.lines(spec.lines ?? []);
    this.fill(
      "bars",
      (spec.bars ?? []).map((bar) => this.bar(bar))
    );
    const whiskers = (spec.whiskers ?? []).map(
      ({ x, low, high: high2, color }) => svg("line", {
        x1: this.x(x),
        x2: this.x(x),
        y1: this.y(low),
        y2: this.y(high2),
        stroke: color ?? theme.ink,
        "stroke-width": 1.3,
        "data-low": low,
        "data-high": high2
      })
    );
    this.fill(
      "dots",
      whiskers.concat(
        (spec.dots ?? []).map(
          ({ x, y, color, r = 3, hollow = false }) => svg("circle", {
            cx: this.x(x),
            cy: this.y(y),
            r,
            fill: hollow ? theme.ground : color,
            stroke: color,
            "stroke-width": 1.4
          })
        )
      )
    );
    this.mark(spec.mark);
  }
  frame(spec, theme, width, tall) {
    const legend = (spec.lines ?? []).concat(spec.keys ?? []).filter((line2) => line2.label);
    const key = JSON.stringify([
      spec.x,
      spec.y,
      width,
      tall,
      theme.ground,
      legend.map(({ label, color, dash }) => [label, color, dash]),
      spec.bands
    ]);
    if (key === this.drawn) return;
    this.drawn = key;
    const size = this.small ? 10 : 12, places = this.small ? [] : this.place(legend, width - 62, size);
    const top = this.small ? 8 : 8 + 20 * (places.length ? places.at(-1).line + 1 : 0);
    this.box = { left: this.small ? 6 : 56, top, width: 0, height: 0 };
    this.box.width = width - this.box.left - (this.small ? 6 : 14);
    this.box.height = tall - top - (this.small ? 6 : 42);
    const { left, width: wide, height: high2 } = this.box, bottom = top + high2, xs = scaleOf(spec.x), ys = scaleOf(spec.y);
    this.x = (value) => left + wide * xs.at(value);
    this.y = (value) => top + high2 * (1 - ys.at(value));
    this.invert = (px, py) => [xs.value((px - left) / wide), ys.value(1 - (py - top) / high2)];
    for (const [name, value] of Object.entries({ width, height: tall, viewBox: `0 0 ${width} ${tall}` }))
      this.svg.setAttribute(name, value);
    this.fill("ground", [
      svg("rect", { width, height: tall, fill: theme.ground }),
      ...(spec.bands ?? []).map(
        ([from, to]) => svg("rect", { x: this.x(from), y: top, width: this.x(to) - this.x(from), height: high2, fill: theme.band })
      )
    ]);
    const axes = [];
    const text2 = (words, attributes) => axes.push(svg("text", { fill: theme.muted, "font-size": size, ...attributes }, words));
    const line = (x1, y1, x2, y2, stroke) => axes.push(svg("line", { x1, y1, x2, y2, stroke, "stroke-width": 1 }));
    if (!this.small) {
      for (const [value, words] of ticksOf(spec.x, Math.max(3, wide / 75))) {
        line(this.x(value), top, this.x(value), bottom, theme.grid);
        text2(words, { x: this.x(value), y: bottom + 16, "text-anchor": "middle" });
      }
      for (const [value, words] of ticksOf(spec.y, Math.max(3, high2 / 40))) {
        line(left, this.y(value), left + wide, this.y(value), theme.grid);
        text2(words, { x: left - 8, y: this.y(value) + 4, "text-anchor": "end" });
      }
      text2(spec.x.label, { x: left + wide / 2, y: tall - 6, "text-anchor": "middle", fill: theme.ink });
      text2(spec.y.label, {
        transform: `translate(13 ${top + high2 / 2}) rotate(-90)`,
        "text-anchor": "middle",
        fill: theme.ink
      });
    }
    line(left, bottom, left + wide, bottom, theme.axis);
    line(left, top, left, bottom, theme.axis);
    this.fill("axes", axes);
    this.fill(
      "legend",
      places.flatMap(({ item, x, line: row2 }) => [
        item.block ? svg("rect", {
          x: x + 8,
          y: 6 + 20 * row2,
          width: 12,
          height: 10,
          fill: item.color,
          "fill-opacity": item.opacity ?? 1
        }) : svg("line", {
          x1: x,
          x2: x + 26,
          y1: 11 + 20 * row2,
          y2: 11 + 20 * row2,
          stroke: item.color,
          "stroke-width": item.width ?? 2,
          "stroke-dasharray": dashes(item)
        }),
        svg("text", { x: x + 32, y: 15 + 20 * row2, "font-size": size, fill: theme.ink }, item.label)
      ])
    );
    this.clip ??= `lab-clip-${Math.random().toString(36).slice(2)}`;
    this.parts.ground.append(
      svg("clipPath", { id: this.clip }, svg("rect", { x: left, y: top - 2, width: wide + 2, height: high2 + 4 }))
    );
    this.parts.lines.setAttribute("clip-path", `url(#${this.clip})`);
  }
  /** Where the legend's entries go: in rows above the frame. */
  place(items, room, size) {
    let x = 0, line = 0;
    return items.map((item) => {
      const long = 48 + 0.56 * size * item.label.length;
      if (x > 0 && x + long > room) [x, line] = [0, line + 1];
      x += long;
      return { item, x: 56 + x - long, line };
    });
  }
  lines(lines) {
    const group = this.parts.lines;
    while (group.childElementCount > lines.length) group.lastChild.remove();
    while (group.childElementCount < lines.length)
      group.append(svg("path", { fill: "none", "stroke-linejoin": "round" }));
    lines.forEach((line, i) => {
      const path = group.children[i];
      const drawn = this.kept.get(path);
      if (!drawn || drawn.x !== line.x || drawn.y !== line.y || drawn.frame !== this.drawn) {
        path.setAttribute("d", this.path(line));
        this.kept.set(path, { x: line.x, y: line.y, frame: this.drawn });
      }
      for (const [name, value] of [
        ["stroke", line.color],
        ["stroke-width", line.width ?? 2],
        ["stroke-dasharray", dashes(line)],
        ["stroke-opacity", line.opacity ?? 1],
        ["data-name", line.name ?? line.label ?? ""]
      ]) {
        if (path.getAttribute(name) !== String(value)) path.setAttribute(name, value);
      }
    });
  }
  path({ x, y }) {
    let text2 = "", pen = "M";
    for (let i = 0; i < x.length; i++) {
      const py = this.y(y[i]);
      if (!Number.isFinite(py)) {
        pen = "M";
        continue;
      }
      text2 += `${pen}${this.x(x[i]).toFixed(2)} ${Math.max(-1e4, Math.min(1e4, py)).toFixed(2)}`;
      pen = "L";
    }
    return text2;
  }
  bar({ from, to, value, color, opacity = 1, outline }) {
    const x = this.x(from), y = this.y(Math.max(value, this.spec.y.domain[0])), base = this.y(this.spec.y.domain[0]);
    return svg("rect", {
      x,
      y,
      width: Math.max(0.5, this.x(to) - x),
      height: Math.max(0, base - y),
      fill: outline ? "none" : color,
      "fill-opacity": opacity,
      stroke: outline ? color : "none",
      "stroke-dasharray": outline ? "3 2" : "none",
      "data-value": value
    });
  }
  mark(value) {
    const { left, top, width, height } = this.box, at = value === void 0 ? NaN : this.x(value);
    const seen = at >= left - 1 && at <= left + width + 1;
    this.fill(
      "mark",
      seen ? [
        svg("line", {
          x1: at,
          x2: at,
          y1: top,
          y2: top + height,
          stroke: this.theme.muted,
          "stroke-width": 1,
          "stroke-dasharray": "2 3"
        })
      ] : []
    );
  }
  fill(part, children) {
    this.parts[part].replaceChildren(...children);
  }
  /** Call `moved(x, y)` with values of the axes while a pointer moves over the frame; `drag` only while it is down. */
  listen(moved, { drag = false, done = () => {
  } } = {}) {
    let down = false;
    const tell2 = (event) => {
      const bounds = this.svg.getBoundingClientRect(), zoom = this.svg.width.baseVal.value / bounds.width;
      const { left, top, width, height } = this.box, clamp = (x, low, high2) => Math.min(high2, Math.max(low, x));
      moved(
        ...this.invert(
          clamp((event.clientX - bounds.left) * zoom, left, left + width),
          clamp((event.clientY - bounds.top) * zoom, top, top + height)
        )
      );
    };
    this.svg.style.touchAction = drag ? "none" : "pan-y";
    this.svg.addEventListener("pointerdown", (event) => {
      down = true;
      if (drag) this.svg.setPointerCapture(event.pointerId);
      tell2(event);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (down || !drag) tell2(event);
    });
    for (const end of ["pointerup", "pointercancel"])
      this.svg.addEventListener(end, () => {
        if (down) done();
        down = false;
      });
  }
};
var dashes = ({ dash, width = 2 }) => dash?.length ? dash.map((x) => x * width).join(" ") : "none";

// looks.js
var BLUE = "#0072b2";
var ORANGE = "#e6a31e";
var RED = "#c42d08";
var GREEN = "#00a78a";
var PURPLE = "#c42a96";
var SKY = "#30c2fa";
var INDIGO = "#1e0a5a";
var OLIVE = "#999933";
var DARK = {
  [BLUE]: "#4aa8e8",
  [ORANGE]: "#f0b43c",
  [RED]: "#ff8a4c",
  [GREEN]: "#2fc79a",
  [PURPLE]: "#d98ad0",
  [SKY]: "#8fd0f5",
  [INDIGO]: "#a79bf5",
  [OLIVE]: "#c8c86a",
  "#000000": "#ffffff",
  "#777777": "#aaaaaa"
};
var LOOKS = {};
var OTHERS = [
  [PURPLE, []],
  [OLIVE, []],
  [SKY, []],
  ["#777777", []],
  ["#000000", [5, 1]],
  [PURPLE, [2, 1]],
  [OLIVE, [6, 1]]
];
var VARIANTS = [[], [6, 2], [2, 1.2], [7, 1.5, 1.5, 1.5], [1, 1.2], [9, 2, 4, 2]];
function looks(names) {
  const taken = /* @__PURE__ */ new Set();
  return names.map((name) => {
    let look = LOOKS[["drawn", "formula"].includes(name) ? "from_weight" : name];
    look ??= OTHERS.find((one2) => !taken.has(String(one2))) ?? OTHERS[0];
    const [color, dash] = look;
    const free = taken.has(String(look)) ? VARIANTS.find((one2) => !taken.has(String([color, one2]))) ?? dash : dash;
    taken.add(String([color, free]));
    return { color, dash: free };
  });
}

// mathematics.js
function row(n, f) {
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) out[i] = f(i);
  return out;
}
function binomialTable(n, p, least = 1e-25) {
  const rise = row(n, (j) => (n - j) / (j + 1)), scratch = new Float64Array(n + 1);
  return Array.from(p, (x) => {
    const mode = Math.min(n, Math.floor((n + 1) * x)), up = x / (1 - x), down = (1 - x) / x;
    let sum = scratch[mode] = 1, low = mode, high2 = mode;
    for (; high2 < n && scratch[high2] > least; high2++) sum += scratch[high2 + 1] = scratch[high2] * rise[high2] * up;
    for (; low > 0 && scratch[low] > least; low--) sum += scratch[low - 1] = scratch[low] / rise[low - 1] * down;
    const chance = scratch.slice(low, high2 + 1);
    for (let j = 0; j < chance.length; j++) chance[j] /= sum;
    return { low, chance };
  });
}
function expect(table, values) {
  return row(table.length, (i) => {
    const { low, chance } = table[i];
    let sum = 0;
    for (let j = 0; j < chance.length; j++) sum += chance[j] * values[low + j];
    return sum;
  });
}
function successFailure([gap, offset]) {
  const N = gap.length, a1 = new Float64Array(N + 1), a0 = new Float64Array(N + 1);
  for (let j = 0; j < N; j++) {
    a1[j + 1] = gap[j] + offset[j];
    a0[j] = offset[j];
  }
  return [a1, a0];
}
var Grid = class {
  constructor(p) {
    this.p = Float64Array.from(p);
    this.tables = /* @__PURE__ */ new Map();
  }
  table(n) {
    if (!this.tables.has(n)) {
      if (this.tables.size > 3) this.tables.clear();
      this.tables.set(n, binomialTable(n, this.p));
    }
    return this.tables.get(n);
  }
};
var QUANTITIES = {
  weight: (grid, [gap]) => expect(grid.table(gap.length - 1), gap),
  /** J_N(p) - J_N(1/2), J_N = E[sum of gap below X]/N, X ~ Binomial(N, p). */
  objective(grid, [gap]) {
    const N = gap.length, sums = new Float64Array(N + 1);
    for (let j = 0; j < N; j++) sums[j + 1] = sums[j] + gap[j] / N;
    const [middle2] = expect(binomialTable(N, [0.5]), sums);
    return expect(grid.table(N), sums).map((value) => value - middle2);
  },
  efficiency(grid, [gap, offset]) {
    const table = grid.table(gap.length - 1), [a1] = successFailure([gap, offset]);
    const square = (x) => x * x;
    const right = expect(table, a1.subarray(1).map(square)), wrong = expect(table, offset.map(square));
    return expect(table, gap).map((w, i) => {
      const p = grid.p[i];
      return p * (1 - p) * w * w / (p * right[i] + (1 - p) * wrong[i]);
    });
  },
  mass(grid, [gap, offset]) {
    const table = grid.table(gap.length - 1);
    const right = expect(
      table,
      gap.map((g, j) => Math.abs(g + offset[j]))
    );
    const wrong = expect(table, offset.map(Math.abs));
    return right.map((value, i) => grid.p[i] * value + (1 - grid.p[i]) * wrong[i]);
  },
  contrast: (grid, sequences) => QUANTITIES.weight(grid, sequences).map((w, i) => w * grid.p[i] * (1 - grid.p[i]))
};
var LIMITS = {
  weight: (p, w) => p.map(w),
  objective: (p, w) => p.map((x) => integral(w, x)),
  efficiency: () => null,
  mass: () => null,
  contrast: (p, w) => p.map((x) => w(x) * x * (1 - x))
};
var NODES = /* @__PURE__ */ new Map();
function gaussLegendre(n) {
  if (NODES.has(n)) return NODES.get(n);
  const x = new Float64Array(n), share = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let z = -Math.cos(Math.PI * (i + 0.75) / (n + 0.5)), slope = 1;
    for (let step = 0; step < 100; step++) {
      let one2 = 1, two = 0;
      for (let k = 0; k < n; k++) [one2, two] = [((2 * k + 1) * z * one2 - k * two) / (k + 1), one2];
      slope = n * (z * one2 - two) / (z * z - 1);
      const change = one2 / slope;
      z -= change;
      if (Math.abs(change) < 1e-16) break;
    }
    x[i] = z;
    share[i] = 2 / ((1 - z * z) * slope * slope);
  }
  NODES.set(n, [x, share]);
  return NODES.get(n);
}
function integral(w, p) {
  const [x, share] = gaussLegendre(128), end = Math.log(p) - Math.log1p(-p);
  let sum = 0;
  for (let i = 0; i < x.length; i++) {
    const s = 1 / (1 + Math.exp(-end * (x[i] + 1) / 2));
    sum += w(s) * s * (1 - s) * share[i];
  }
  return sum * end / 2;
}
function passRates(axis, count = 241) {
  const at = (i) => i / (count - 1), odds = Math.log(9999);
  const forms = {
    linear: (i) => (i + 0.5) / count,
    log: (i) => 10 ** (-4 + 4 * at(i)) * 0.9999 ** at(i),
    logit: (i) => 1 / (1 + Math.exp(odds * (1 - 2 * at(i))))
  };
  return row(count, forms[axis]);
}

// linear.js
var dot = (a, b) => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
};
function svd(columns) {
  const n = columns.length, u = columns.map((column) => Float64Array.from(column));
  const v = u.map((_, k) => Float64Array.from({ length: n }, (_2, j) => Number(j === k)));
  const rotate = (a, b, c, s2) => {
    for (let i = 0; i < a.length; i++) {
      const x = a[i];
      a[i] = c * x - s2 * b[i];
      b[i] = s2 * x + c * b[i];
    }
  };
  for (let sweep = 0, turned = true; turned && sweep < 60; sweep++) {
    turned = false;
    for (let j = 0; j < n - 1; j++) {
      for (let k = j + 1; k < n; k++) {
        const both = dot(u[j], u[k]), one2 = dot(u[j], u[j]), two = dot(u[k], u[k]);
        if (Math.abs(both) <= 1e-15 * Math.sqrt(one2 * two) || both === 0) continue;
        turned = true;
        const ratio = (two - one2) / (2 * both);
        const t = Math.sign(ratio || 1) / (Math.abs(ratio) + Math.sqrt(1 + ratio * ratio)), c = 1 / Math.sqrt(1 + t * t);
        rotate(u[j], u[k], c, c * t);
        rotate(v[j], v[k], c, c * t);
      }
    }
  }
  const s = u.map((column) => Math.sqrt(dot(column, column)));
  u.forEach(
    (column, k) => column.forEach((_, i) => {
      column[i] = s[k] > 0 ? column[i] / s[k] : 0;
    })
  );
  return { u, s: Float64Array.from(s), v };
}
function leastSquares(columns, b) {
  const a = columns.map((column) => Float64Array.from(column)), right = Float64Array.from(b), n = a.length, diagonal = [];
  for (let k = 0; k < n; k++) {
    const x = a[k].subarray(k), size = Math.sqrt(dot(x, x)) * (x[0] > 0 ? -1 : 1);
    diagonal.push(size);
    x[0] -= size;
    const square = dot(x, x);
    if (square === 0) continue;
    for (const other of [...a.slice(k + 1), right]) {
      const rest = other.subarray(k), factor = 2 * dot(x, rest) / square;
      for (let i = 0; i < rest.length; i++) rest[i] -= factor * x[i];
    }
  }
  const out = new Float64Array(n);
  for (let k = n - 1; k >= 0; k--) {
    let sum = right[k];
    for (let j = k + 1; j < n; j++) sum -= a[j][k] * out[j];
    out[k] = diagonal[k] === 0 ? 0 : sum / diagonal[k];
  }
  return out;
}
function nonNegative(columns, b) {
  const n = columns.length, x = new Float64Array(n), free = /* @__PURE__ */ new Set();
  for (let round = 0; round < 3 * n; round++) {
    const left = Float64Array.from(b);
    for (const j of free) for (let i = 0; i < left.length; i++) left[i] -= x[j] * columns[j][i];
    let best = -1, most = 1e-13;
    for (let j = 0; j < n; j++) {
      const slope = free.has(j) ? 0 : dot(columns[j], left);
      if (slope > most) [best, most] = [j, slope];
    }
    if (best < 0 || free.size >= b.length) break;
    free.add(best);
    for (; ; ) {
      const set = [...free], solution = leastSquares(
        set.map((j) => columns[j]),
        b
      );
      if (solution.every((value) => value > 0)) {
        x.fill(0);
        set.forEach((j, i) => {
          x[j] = solution[i];
        });
        break;
      }
      let step = 1;
      set.forEach((j, i) => {
        if (solution[i] <= 0) step = Math.min(step, x[j] / (x[j] - solution[i]));
      });
      set.forEach((j, i) => {
        x[j] += step * (solution[i] - x[j]);
        if (x[j] <= 1e-15) {
          x[j] = 0;
          free.delete(j);
        }
      });
      if (!free.size) break;
    }
  }
  return x;
}

// design.js
var TINY = 1e-12;
var BIAS_PRICE = 10;
var ERROR_PRICE = 1e-4;
var LARGEST = 128;
var READY = /* @__PURE__ */ new Map();
function prepared(degree, N) {
  const key = `${degree} ${N}`;
  if (READY.has(key)) return READY.get(key);
  const [x, node] = gaussLegendre(Math.max(200, 2 * N));
  const angle = x.map((value) => Math.PI * (value + 1) / 2);
  const p = angle.map((value) => Math.sin(value / 2) ** 2);
  const share = node.map((value, i) => value * Math.sin(angle[i]) * (p[i] * (1 - p[i])) ** 2);
  const basis = binomialTable(degree, p, 1e-300);
  const columns = Array.from({ length: degree + 1 }, () => new Float64Array(p.length)), noise = new Float64Array(degree + 1);
  basis.forEach(
    ({ low, chance }, i) => chance.forEach((value, k) => {
      columns[low + k][i] = Math.sqrt(share[i]) * value;
      noise[low + k] += share[i] * value;
    })
  );
  const scaled = columns.map((column, j) => column.map((value) => value / Math.sqrt(noise[j])));
  const ready = { p, share, basis, noise, plain: svd(columns), ridge: svd(scaled) };
  if (READY.size > 8) READY.clear();
  READY.set(key, ready);
  return ready;
}
var dot2 = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
function fit(degree, N, at, w) {
  if (N > LARGEST)
    throw new Error(`N = ${N}: the page fits drawn weights up to N = ${LARGEST}; lab.from_weight goes on from there`);
  const { p, share, basis, noise, plain: plain2, ridge } = prepared(degree, N);
  const finite = (x) => {
    const value = w(x);
    if (!Number.isFinite(value))
      throw new Error(`w(${Number(x.toPrecision(6))}) is not finite: a drawn weight must be finite inside (0, 1)`);
    return value;
  };
  const wanted = p.map(finite), start2 = Float64Array.from({ length: degree + 1 }, (_, j) => finite(at(j)));
  const reached = expect(basis, start2);
  const missing2 = wanted.map((value, i) => Math.sqrt(share[i]) * (value - reached[i]));
  const size = wanted.reduce((sum, value, i) => sum + share[i] * value * value, 0);
  const cut = TINY * Math.max(...plain2.s), change = new Float64Array(degree + 1), left = missing2.slice();
  plain2.s.forEach((s, k) => {
    if (s <= cut) return;
    const along = dot2(plain2.u[k], missing2);
    plain2.u[k].forEach((value, i) => {
      left[i] -= along * value;
    });
    plain2.v[k].forEach((value, j) => {
      change[j] += along / s * value;
    });
  });
  const unreachable = dot2(left, left);
  if (unreachable <= 1e-18 * size) return start2.map((value, j) => value + change[j]);
  const price = (BIAS_PRICE * unreachable + ERROR_PRICE * size) / (dot2(
    noise,
    start2.map((value) => value * value)
  ) || 1);
  const step = new Float64Array(degree + 1);
  ridge.s.forEach((s, k) => {
    const along = dot2(ridge.u[k], missing2) * s / (s * s + price);
    ridge.v[k].forEach((value, j) => {
      step[j] += along * value;
    });
  });
  return start2.map((value, j) => value + step[j] / Math.sqrt(noise[j]));
}

// formula.js
var FUNCTIONS = {
  exp: [1, Math.exp],
  log: [1, Math.log],
  sqrt: [1, Math.sqrt],
  abs: [1, Math.abs],
  sin: [1, Math.sin],
  cos: [1, Math.cos],
  tanh: [1, Math.tanh],
  step: [1, (x) => x >= 0 ? 1 : Number.isNaN(x) ? NaN : 0],
  min: [2, Math.min],
  max: [2, Math.max]
};
var LONGEST = 200;
var DEEPEST = 30;
function parseFormula(text2) {
  if (text2.length > LONGEST) throw new Error(`the formula has ${text2.length} characters: write at most ${LONGEST}`);
  const tokens = [
    ...text2.matchAll(
      /\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*)|(\*\*|[-+*/^(),])|(\S))/g
    )
  ].map(([, number2, name, sign, other]) => ({ number: number2, name, sign, other }));
  let at = 0, depth = 0;
  const said2 = (token) => token.number ?? token.name ?? token.sign ?? token.other;
  const where = () => at < tokens.length ? `at '${said2(tokens[at])}'` : "at its end";
  const fault = (wanted) => new Error(
    `cannot read the formula ${where()}: expected ${wanted}; write p, q = 1-p, numbers, + - * / ^ and ${Object.keys(FUNCTIONS).join(", ")}, for example exp(-5*p)`
  );
  const take = (...signs) => signs.includes(tokens[at]?.sign) ? tokens[at++].sign : null;
  const need = (sign) => {
    if (!take(sign)) throw fault(`'${sign}'`);
  };
  function sum() {
    if (++depth > DEEPEST) throw new Error(`the formula is nested more than ${DEEPEST} deep: write it flatter`);
    let left = product2();
    for (let sign; sign = take("+", "-"); ) {
      const one2 = left, two = product2();
      left = sign === "+" ? (p) => one2(p) + two(p) : (p) => one2(p) - two(p);
    }
    depth--;
    return left;
  }
  function product2() {
    let left = signed();
    for (let sign; sign = take("*", "/"); ) {
      const one2 = left, two = signed();
      left = sign === "*" ? (p) => one2(p) * two(p) : (p) => one2(p) / two(p);
    }
    return left;
  }
  function signed() {
    const sign = take("+", "-");
    if (!sign) return power2();
    if (++depth > DEEPEST) throw new Error(`the formula is nested more than ${DEEPEST} deep: write it flatter`);
    const inner = signed();
    depth--;
    return sign === "-" ? (p) => -inner(p) : inner;
  }
  function power2() {
    const base = atom();
    if (!take("^", "**")) return base;
    const exponent2 = signed();
    return (p) => base(p) ** exponent2(p);
  }
  function atom() {
    const token = tokens[at];
    if (token?.number) {
      const value = Number(token.number);
      at++;
      return () => value;
    }
    if (take("(")) {
      const inner = sum();
      need(")");
      return inner;
    }
    if (!token?.name) throw fault("a number, p or a function");
    if (token.name in FUNCTIONS && Object.hasOwn(FUNCTIONS, token.name)) {
      const [count, f] = FUNCTIONS[token.name];
      at++;
      need("(");
      const inner = [sum()];
      while (inner.length < count) {
        need(",");
        inner.push(sum());
      }
      need(")");
      return count === 1 ? (p) => f(inner[0](p)) : (p) => f(inner[0](p), inner[1](p));
    }
    const names = { p: (p) => p, q: (p) => 1 - p, pi: () => Math.PI, e: () => Math.E };
    if (!Object.hasOwn(names, token.name)) throw fault("p, q, pi, e or a function");
    at++;
    return names[token.name];
  }
  const whole = sum();
  if (at < tokens.length) throw fault("the end, or an operator");
  return whole;
}

// catalogue.js
function logMiss(n, k) {
  const sums = new Float64Array(n + 1);
  for (let c = 0; c < n; c++) sums[c + 1] = sums[c] + Math.log1p(-Math.min(1, k / (n - c)));
  return sums;
}
var miss = (n, k) => logMiss(n, k).map(Math.exp);
var hit = (n, k) => logMiss(n, k).map((x) => -Math.expm1(x));
var inverse = (x) => x > 0 ? 1 / x : 0;
var pair = (a1, a0) => [row(a1.length - 1, (j) => a1[j + 1] - a0[j]), a0.slice(0, -1)];
var leaveOneOut = (gap) => [gap, gap.map((g, j) => -g * (j / (gap.length - 1)))];
var std = (mean, N, ddof = 0) => Math.sqrt(mean * (1 - mean) * N / (N - ddof));
function centred(N, scale) {
  const s = row(N + 1, (K) => scale(K / N, K));
  return pair(
    s.map((x, K) => (1 - K / N) * x),
    s.map((x, K) => -K / N * x)
  );
}
function standardised(N, mean, factor = 1, eps = 0) {
  const m = row(N + 1, mean), scale = m.map((x) => inverse(Math.sqrt(x * (1 - x) * factor) + eps));
  return pair(
    m.map((x, K) => (1 - x) * scale[K]),
    m.map((x, K) => -x * scale[K])
  );
}
var one = () => 1;
var reciprocal = (p) => 1 / p;
var logOdds = (p) => 1 / (p * (1 - p));
var power = (a, b) => (p) => p ** -a * (1 - p) ** -b;
var truncatedWeight = (T) => (p) => p > 0 ? -Math.expm1(T * Math.log1p(-p)) / p : T;
var passAt = (k) => (p) => k * (1 - p) ** (k - 1);
function series(alpha, T) {
  const terms = [1];
  for (let m = 0; m < T - 1; m++) terms.push(terms[m] * (alpha + m) / (m + 1));
  return (p) => terms.reduceRight((sum, term) => sum * (1 - p) + term, 0);
}
function throughPoints(p, w) {
  return (x) => {
    let i = p.findIndex((at) => at >= x);
    if (i < 0) return w[w.length - 1];
    if (i === 0) return w[0];
    return w[i - 1] + (w[i] - w[i - 1]) * (x - p[i - 1]) / (p[i] - p[i - 1]);
  };
}
var OBJECTIVES = {
  rl: { w: () => one },
  ml: { w: () => reciprocal },
  arcsine: { w: () => power(0.5, 0.5) },
  log_odds: { w: () => logOdds },
  power: {
    label: ({ a, b }) => `p^−${a} (1−p)^−${b}`,
    w: ({ a, b }) => power(a, b)
  },
  truncated: {
    label: ({ order }) => `MaxRL T=${order}`,
    w: ({ order }) => truncatedWeight(order)
  },
  pass_at: { label: ({ k }) => `pass@${k}`, w: ({ k }) => passAt(k) }
};
var groupMean = (N) => [row(N, () => (N - 1) / N), row(N, (j) => -j / N)];
var positive = (N) => [row(N, one), row(N, () => 0)];
var ALIASES = {};
var ESTIMATORS = {
  rloo: { least: 2, limit: () => one, sequences: (N) => leaveOneOut(row(N, one)) },
  reinforce: { limit: () => one, sequences: positive },
  reinforce_mean: { least: 2, limit: () => one, sequences: groupMean },
  dr_grpo: { least: 2, limit: () => one, sequences: groupMean },
  psr: { limit: () => one, sequences: positive },
  nsr: { limit: () => one, sequences: (N) => [row(N, one), row(N, () => -1)] },
  w_reinforce: {
    limit: ({ lam }) => () => 1 + lam,
    sequences: (N, { lam }) => [row(N, () => 1 + lam), row(N, () => -1)]
  },
  grpo: {
    label: ({ ddof, eps }) => ddof === 0 && eps === 0 ? "GRPO" : `GRPO (ddof ${ddof}, eps ${exponent(eps)})`,
    least: 2,
    limit: () => power(0.5, 0.5),
    sequences: (N, { ddof, eps }) => centred(N, (mean) => inverse(std(mean, N, ddof) + eps))
  },
  ngrpo: {
    label: ({ ddof, eps }) => ddof === 0 && eps === 0 ? "NGRPO" : `NGRPO (ddof ${ddof}, eps ${exponent(eps)})`,
    limit: () => power(0.5, 0.5),
    sequences: (N, { ddof, eps }) => standardised(N, (K) => (K + 1) / (N + 1), (N + 1) / (N + 1 - ddof), eps)
  },
  beta_prior: {
    label: ({ alpha, beta }) => `Beta(${alpha}, ${beta}) prior`,
    limit: () => power(0.5, 0.5),
    sequences: (N, { alpha, beta }) => standardised(N, (K) => (K + alpha) / (N + alpha + beta))
  },
  one_sided_grpo: {
    least: 2,
    limit: () => power(0.5, 0),
    sequences: (N) => centred(N, (mean) => inverse(mean) ** 0.5)
  },
  f_grpo: {
    label: ({ gamma }) => `F-GRPO (gamma ${gamma})`,
    least: 2,
    limit: ({ gamma }) => power(0.5, 0.5 - gamma),
    sequences: (N, { gamma }) => centred(N, (mean) => (1 - mean) ** gamma * inverse(std(mean, N)))
  },
  dgpo: {
    least: 2,
    limit: () => (p) => 0.5 * logOdds(p),
    sequences: (N) => centred(N, (mean) => inverse(2 * std(mean, N) ** 2))
  },
  mapo: {
    least: 2,
    limit: () => (p) => 4 * Math.sqrt(p * (1 - p)) + (1 - 4 * p * (1 - p)) / p,
    sequences: (N) => centred(N, (mean) => {
      const trust = 4 * mean * (1 - mean);
      return trust * inverse(std(mean, N)) + (1 - trust) * inverse(mean);
    })
  },
  maxrl: {
    least: 2,
    limit: () => reciprocal,
    sequences: (N) => [row(N, (j) => N / (j + 1) - (j === 0)), row(N, (j) => j > 0 ? -1 : 0)]
  },
  maxrl_eq6: {
    limit: () => reciprocal,
    sequences: (N) => [row(N, (j) => N / (j + 1)), row(N, () => 0)]
  },
  maxrl_eq7: {
    limit: () => reciprocal,
    sequences: (N) => [row(N, (j) => N / (j + 1)), row(N, () => -1)]
  },
  maxrl_loo: {
    least: 2,
    limit: () => reciprocal,
    sequences: (N) => leaveOneOut(row(N, (j) => N / (j + 1)))
  },
  truncated: {
    label: ({ order }) => `MaxRL T=${order}`,
    least: ({ order, form }) => ({ raw: order, zero_mean: Math.max(2, order + 1), loo: Math.max(2, order) })[form],
    limit: ({ order }) => truncatedWeight(order),
    sequences(N, { order, form }) {
      if (form === "zero_mean") {
        const pass2 = hit(N - 1, order);
        return centred(N, (mean, K) => (K < N ? pass2[K] : 1) * inverse(mean));
      }
      const pass = hit(N, order), gap = row(N, (j) => N / (j + 1) * pass[j + 1]);
      return form === "raw" ? [gap, row(N, () => 0)] : leaveOneOut(gap);
    }
  },
  alpha: {
    label: ({ alpha }) => `alpha ${alpha}`,
    least: ({ form, order }) => form === "series" ? order ?? 1 : 2,
    limit: ({ alpha, order }) => order === null ? power(alpha, 0) : series(alpha, order),
    sequences(N, { alpha, form, order }) {
      if (form === "plug_in") return centred(N, (mean) => inverse(mean) ** alpha);
      if (form === "shifted") {
        const shift = (1 - alpha) / 2;
        return leaveOneOut(row(N, (j) => ((j + 1 - shift) / (N - shift)) ** -alpha));
      }
      const gap = new Float64Array(N), term = row(N, one);
      for (let m = 0; m < (order ?? N); m++) {
        for (let j = 0; j < N; j++) {
          gap[j] += term[j];
          term[j] *= (alpha + m) / (m + 1) * Math.max(N - 1 - j - m, 0) / Math.max(N - 1 - m, 1);
        }
      }
      return [gap, row(N, () => 0)];
    }
  },
  pkpo: {
    label: ({ k }) => `PKPO k=${k}`,
    least: ({ k, form }) => form === "sloo" ? k + 1 : k,
    limit: ({ k }) => passAt(k),
    sequences(N, { k, form }) {
      const gap = miss(N - 1, k - 1).map((x) => k * x);
      if (form === "sloom1") return [gap, row(N, () => 0)];
      const offset = hit(N - 1, k - 1).map((x) => k * x);
      if (form === "s") return [gap, offset];
      const all = hit(N - 1, k);
      return [gap, offset.map((x, j) => x - N * k / (N - 1) * all[j])];
    }
  },
  pass_at_k_group: {
    label: ({ k }) => `Pass@${k} Training`,
    least: ({ k }) => Math.max(2, k),
    limit: ({ k }) => (p) => (1 - p) ** (k / 2 - 1) / Math.sqrt(-Math.expm1(k * Math.log1p(-p))),
    sequences(N, { k }) {
      const fail = miss(N, k), solved = hit(N, k), alone = miss(N - 1, k - 1);
      const scale = fail.map((x, K) => inverse(Math.sqrt(x * solved[K])));
      return pair(
        fail.map((x, K) => x * scale[K]),
        fail.map((x, K) => (x - (K < N ? alone[K] : 0)) * scale[K])
      );
    }
  },
  pacs: {
    label: ({ balanced }) => balanced ? "PACS" : "PACS, no class weights",
    least: 2,
    limit: ({ beta, balanced }) => (p) => beta * (balanced ? 0.25 * logOdds(p) : 1),
    sequences(N, { beta, score, balanced }) {
      const factor = score === "rloo" ? beta : beta * (N - 1) / N;
      if (!balanced) return leaveOneOut(row(N, () => factor));
      return ESTIMATORS.dgpo.sequences(N).map((values) => values.map((x) => factor * N / (2 * (N - 1)) * x));
    }
  },
  real_anchor: {
    label: ({ tau }) => `REAL (tau ${tau})`,
    limit: ({ tau }) => (p) => logOdds(p) / tau,
    sequences: (N, { tau }) => pair(
      row(N + 1, (K) => N / (tau * (1 + K))),
      row(N + 1, (K) => -N / (tau * (1 + N - K)))
    )
  },
  entropic: {
    label: ({ eta }) => `entropic (eta ${eta})`,
    least: 2,
    limit: ({ eta }) => (p) => Math.expm1(eta) / (eta * (1 + Math.expm1(eta) * p)),
    sequences: (N, { eta }) => centred(N, (mean) => Math.expm1(eta) / eta / (1 + Math.expm1(eta) * mean))
  },
  drawn: {
    least: ({ zero_mean }) => zero_mean ? 3 : 2,
    limit: ({ p, w }) => throughPoints(p, w),
    sequences: (N, { p, w, zero_mean }) => fromWeight(throughPoints(p, w), N, zero_mean)
  },
  formula: {
    label: ({ text: text2 }) => `w = ${text2}`,
    least: ({ zero_mean }) => zero_mean ? 3 : 2,
    limit: ({ text: text2 }) => parseFormula(text2),
    sequences: (N, { text: text2, zero_mean }) => fromWeight(parseFormula(text2), N, zero_mean)
  }
};
function exponent(x) {
  return x !== 0 && Math.abs(x) < 1e-4 ? x.toExponential().replace(/e([+-])(\d)$/, "e$10$2") : String(x);
}
function fromWeight(w, N, zeroMean = false) {
  if (!zeroMean) return leaveOneOut(fit(N - 1, N, (j) => (j + 0.5) / N, w));
  const phi = fit(N - 2, N, (i) => (i + 1) / N, w);
  return centred(N, (_, K) => K > 0 && K < N ? N / (N - 1) * phi[K - 1] : 0);
}

// specs.js
var LITERALS = { True: true, False: false, None: null };
function parseSpec(text2) {
  const cure = new Error(`cannot read ${text2}: write a name, or name(option=value, ...), for example grpo(ddof=1)`);
  const found = /^\s*([\p{L}_][\p{L}\p{N}_]*)\s*(?:\((.*)\))?\s*$/su.exec(text2);
  if (!found) throw cure;
  const options = {};
  let rest = (found[2] ?? "").trim();
  const token = /^(\w+)\s*=\s*(True|False|None|'[^']*'|"[^"]*"|\[[^[\]]*\]|[-+]?[\d.]+(?:e[-+]?\d+)?)\s*(?:,\s*|$)/i;
  while (rest) {
    const next = token.exec(rest);
    if (!next) throw cure;
    options[next[1]] = literal(next[2], cure);
    rest = rest.slice(next[0].length);
  }
  return [found[1], options];
}
function literal(text2, cure) {
  if (text2 in LITERALS) return LITERALS[text2];
  if (text2[0] === "[")
    return text2.slice(1, -1).split(",").filter((x) => x.trim()).map((x) => literal(x.trim(), cure));
  if (/^['"]/.test(text2)) return text2.slice(1, -1);
  const number2 = Number(text2);
  if (!Number.isFinite(number2)) throw cure;
  return number2;
}
function written(value) {
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return `'${value}'`;
  return exponent(value);
}
function resolve(table, spec) {
  const [spelled, given] = parseSpec(spec);
  const kind = table === ESTIMATORS ? "estimator" : "objective";
  const name = kind === "estimator" ? ALIASES[spelled] ?? spelled : spelled;
  if (!(name in table)) throw new Error(`unknown ${kind} '${name}'. Valid: ${Object.keys(table).sort().join(", ")}`);
  const entry = table[name], known = entry.options ?? {};
  for (const option of Object.keys(given)) {
    if (!(option in known))
      throw new Error(
        `unknown option of ${kind} '${name}' '${option}'. Valid: ${Object.keys(known).join(", ") || "none"}`
      );
    check(`${option} of ${name}`, given[option], known[option]);
  }
  const options = Object.fromEntries(
    Object.entries(known).map(([key, rule]) => [key, key in given ? given[key] : rule.start])
  );
  for (const [key, value] of Object.entries(options)) {
    if (value === void 0) throw new Error(`${kind} '${name}' needs ${key}: write ${name}(${key}=...)`);
  }
  return {
    name,
    options,
    entry,
    spec: writeSpec(table, name, options),
    label: typeof entry.label === "string" ? entry.label : entry.label(options)
  };
}
function check(what, value, rule) {
  const number2 = typeof value === "number";
  if (rule.kind === "choice" && typeof rule.start !== "number" && !rule.values.includes(value)) {
    throw new Error(`${what} = ${written(value)}: it must be one of ${rule.values.map(written).join(", ")}`);
  }
  if (rule.kind === "whole" && value !== null && !(Number.isInteger(value) && value >= rule.least && value <= rule.most)) {
    throw new Error(`${what} = ${written(value)}: it must be a whole number from ${rule.least} to ${rule.most}`);
  }
  if ((rule.kind === "number" || rule.kind === "choice" && typeof rule.start === "number") && !number2) {
    throw new Error(`${what} = ${written(value)}: it must be a number`);
  }
  if (rule.kind === "list" && !(Array.isArray(value) && value.length > 1 && value.every(Number.isFinite))) {
    throw new Error(`${what} = ${written(value)}: it must be a list of two numbers or more`);
  }
}
function writeSpec(table, name, options) {
  const known = table[name].options ?? {};
  const shown = Object.entries(options).filter(
    ([key, value]) => known[key].required || !(key in known) || value !== known[key].start || table === OBJECTIVES
  );
  return shown.length ? `${name}(${shown.map(([key, value]) => `${key}=${written(value)}`).join(", ")})` : name;
}
function coefficients({ entry, options, spec }, N) {
  const least = typeof entry.least === "function" ? entry.least(options) : entry.least ?? 1;
  if (N < least) throw tooSmall(spec, least);
  return entry.sequences(N, options);
}
var tooSmall = (spec, least) => new Error(`${spec} needs groups of at least ${least} rollouts: raise N, or lower its order`);
function offered(table) {
  const starts = (name) => Object.entries(table[name].options ?? {}).map(([option, rule]) => [option, rule.start]);
  return Object.fromEntries(
    Object.keys(table).filter((name) => !["drawn", "formula"].includes(name) && starts(name).every(([, start2]) => start2 !== void 0)).map((name) => [name, writeSpec(table, name, Object.fromEntries(starts(name)))])
  );
}
function rules([gap, offset]) {
  const N = gap.length, last = gap[N - 1] + offset[N - 1];
  let sum = 0, size = 0;
  for (let K = 0; K <= N; K++) {
    const right = K > 0 ? gap[K - 1] + offset[K - 1] : 0, wrong = K < N ? offset[K] : 0;
    sum = Math.max(sum, Math.abs(K * right + (N - K) * wrong));
    size = Math.max(size, Math.abs(right) * N);
  }
  const word = (x) => x === 0 ? "zero" : "kept";
  const groups = sum <= 1e-9 * size ? "sum" : "do not sum";
  return `all wrong: ${word(offset[0])} · all right: ${word(last)} · groups ${groups} to zero`;
}

// given.js
var TABLES = /* @__PURE__ */ new Map();
function learn({ estimators, objectives, aliases, looks: looks2, tables = [] }) {
  Object.assign(ALIASES, aliases);
  Object.assign(LOOKS, looks2);
  for (const [name, facts] of Object.entries(estimators)) describe(ESTIMATORS[name] ??= {}, name, facts);
  for (const [name, entry] of Object.entries(OBJECTIVES)) describe(entry, name, objectives[name]);
  for (const table of tables) {
    try {
      TABLES.set(resolve(ESTIMATORS, table.spec).spec, table);
    } catch {
    }
  }
}
function describe(entry, name, { label, about, options }) {
  Object.assign(entry, { about, options });
  if (typeof entry.label !== "function") entry.label = label ?? name;
}
function tabled({ name, spec, entry }, N, nearest) {
  const table = TABLES.get(spec);
  if (!table)
    throw new Error(`this page holds no numbers of ${spec}: write it with lab explore curves=..., or use a notebook`);
  if (N < table.least) throw tooSmall(spec, table.least);
  const sizes = Object.keys(table.coefficients).map(Number);
  const at = sizes.reduce((best, size) => Math.abs(size - N) < Math.abs(best - N) ? size : best, Infinity);
  if (!Number.isFinite(at)) throw new Error(`${spec} is defined for no N that this page holds: use a notebook`);
  if (at !== N && !nearest)
    throw new Error(`of ${spec} this page holds no N = ${N}, the nearest is ${at}: a notebook has every N`);
  return {
    name,
    spec,
    about: entry.about,
    label: at === N ? table.label : `${table.label} at N = ${at}`,
    sequences: table.coefficients[at].map((values) => Float64Array.from(values)),
    limit: (quantity, axis) => limit(table, quantity, axis),
    half: table.limit && middle(table.limit.linear.weight)
  };
}
function limit(table, quantity, axis) {
  const known = table.limit?.[axis];
  if (!known || !["weight", "objective", "contrast"].includes(quantity)) return null;
  const values = Float64Array.from(known[quantity === "objective" ? "objective" : "weight"], (x) => x ?? NaN);
  return quantity === "contrast" ? passRates(axis).map((p, i) => p * (1 - p) * values[i]) : values;
}
var middle = (values) => values[(values.length - 1) / 2];

// gates.js
function parseGate(text2) {
  if (["none", "drop", "redraw"].includes(text2)) return { name: text2, low: 0, high: 1 };
  const found = /^between\(\s*([\d.e+-]+)\s*,\s*([\d.e+-]+)\s*\)$/.exec(text2);
  const [low, high2] = found ? found.slice(1).map(Number) : [NaN, NaN];
  if (!(low >= 0 && low <= high2 && high2 <= 1)) {
    throw new Error(
      `gate = ${JSON.stringify(text2)}: it must be none, drop, redraw or between(low, high) with 0 <= low <= high <= 1`
    );
  }
  return { name: "between", low, high: high2 };
}
function keeps({ name, low, high: high2 }, N) {
  const kept = {
    none: () => true,
    drop: (K) => K > 0 && K < N,
    redraw: (K) => K > 0 && K < N,
    between: (K) => low <= K / N && K / N <= high2
  }[name];
  return row(N + 1, (K) => Number(kept(K)));
}
var keepsSome = (gate, N) => keeps(gate, N).includes(1);
function behind(grid, sequences, gate) {
  const N = sequences[0].length, kept = keeps(gate, N), [a1, a0] = successFailure(sequences);
  const gap = row(N, (j) => kept[j + 1] * a1[j + 1] - kept[j] * a0[j]);
  const weight = expect(grid.table(N - 1), gap), share = expect(grid.table(N), kept);
  if (gate.name !== "redraw") return { weight, cost: share.map(() => N), kept: share };
  return { weight: weight.map((w, i) => w / share[i]), cost: share.map((m) => N / m), kept: share.map(() => 1) };
}
var GATED = {
  weight: (grid, sequences, gate) => behind(grid, sequences, gate).weight,
  contrast: (grid, sequences, gate) => behind(grid, sequences, gate).weight.map((w, i) => w * grid.p[i] * (1 - grid.p[i]))
};
function isGated({ gate, quantity, N }) {
  return gate !== "none" && quantity in GATED && keepsSome(parseGate(gate), N);
}

// gate_control.js
var NAMES = { none: "none", drop: "drop", redraw: "redraw", between: "between" };
var MEANING = {
  none: "Every group enters the step.",
  drop: "Groups that agree are dropped, and another problem is drawn: dynamic sampling.",
  redraw: "Groups that agree are drawn again from the same problem, until they are mixed.",
  between: "Groups with K/N outside these bounds are dropped, and another problem is drawn."
};
var START = "between(0.2, 0.8)";
var GateControl = class {
  constructor({ store }) {
    this.store = store;
    this.names = h("div");
    this.said = h("p", { class: "rules" });
    const bound = (name, set) => slider(name, 0, { least: 0, most: 1, step: 0.05 }, (x) => {
      const { low, high: high2 } = set(parseGate(this.store.state.gate), x);
      store.set({ gate: `between(${low}, ${high2})` });
    });
    this.low = bound("lowest K/N", ({ high: high2 }, x) => ({ low: x, high: Math.max(x, high2) }));
    this.high = bound("highest K/N", ({ low }, x) => ({ low: Math.min(x, low), high: x }));
    this.bounds = h("div", {}, this.low.element, this.high.element);
    this.element = h("div", { class: "gate" }, h("h3", {}, "Gate"), this.names, this.bounds, this.said);
  }
  update({ gate, quantity, N }) {
    const { name, low, high: high2 } = parseGate(gate);
    rebuild(this.names, name, () => [
      segmented("gate", NAMES, name, (next) => this.store.set({ gate: next === "between" ? START : next }))
    ]);
    this.bounds.hidden = name !== "between";
    this.low.show(low);
    this.high.show(high2);
    const keepsNone = !keepsSome(parseGate(gate), N);
    this.said.className = keepsNone ? "fault" : "rules";
    const where = quantity in GATED ? " Bold: behind the gate." : " It is drawn for weight and contrast.", drawn = name === "none" ? "" : where;
    write(
      this.said,
      keepsNone ? `This gate keeps no group of ${N} rollouts: raise N, or widen it.` : `${MEANING[name]}${drawn}`
    );
  }
};

// pad.js
var CORNERS = [
  ["rl", "RL", 0, 0],
  ["arcsine", "GRPO", 0.5, 0.5],
  ["maxrl", "MaxRL", 1, 0],
  ["log_odds", "PACS", 1, 1]
];
var Pad = class {
  constructor(app) {
    this.app = app;
    this.svg = svg("svg", {
      viewBox: "0 14 220 202",
      class: "pad",
      tabindex: "0",
      role: "application",
      "aria-label": "the family p to the minus a times 1-p to the minus b: arrows move the point"
    });
    this.words = h("p", { class: "rules" });
    this.element = h("div", { class: "family" }, h("h3", {}, "One family: w = p⁻ᵃ(1−p)⁻ᵇ"), this.svg, this.words);
    const at = (event) => {
      const bounds = this.svg.getBoundingClientRect();
      this.put(
        ((event.clientX - bounds.left) / bounds.width * 220 - 34) / 150 * 1.25 - 0.1,
        (162 - (event.clientY - bounds.top) / bounds.height * 202) / 150 * 1.25 - 0.1
      );
    };
    let down = false;
    this.svg.style.touchAction = "none";
    this.svg.addEventListener("pointerdown", (event) => {
      down = true;
      this.svg.setPointerCapture(event.pointerId);
      at(event);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (down) at(event);
    });
    for (const end of ["pointerup", "pointercancel"])
      this.svg.addEventListener(end, () => {
        down = false;
      });
    this.svg.addEventListener("keydown", (event) => {
      const [da, db] = { ArrowRight: [0.05, 0], ArrowLeft: [-0.05, 0], ArrowUp: [0, 0.05], ArrowDown: [0, -0.05] }[event.key] ?? [0, 0];
      if (!da && !db) return;
      event.preventDefault();
      const { a, b } = this.point(this.app.store.state) ?? { a: 0.5, b: 0.5 };
      this.put(a + da, b + db);
    });
  }
  point(state) {
    for (const spec of state.objectives) {
      try {
        const found = resolve(OBJECTIVES, spec);
        if (found.name === "power") return found.options;
      } catch {
      }
    }
    return null;
  }
  put(a, b) {
    const near = (x) => Number(Math.min(1.15, Math.max(0, Math.round(x * 20) / 20)).toFixed(2)), { store } = this.app;
    const spec = writeSpec(OBJECTIVES, "power", { a: near(a), b: near(b) }), at = store.state.objectives.findIndex((one2) => one2.startsWith("power"));
    store.set({
      objectives: at < 0 ? [...store.state.objectives, spec].slice(-8) : store.state.objectives.with(at, spec)
    });
  }
  update(state) {
    const theme = this.app.theme(), X = (a) => 34 + (a + 0.1) / 1.25 * 150, Y = (b) => 176 - (b + 0.1) / 1.25 * 150, point = this.point(state);
    const text2 = (words, attributes) => svg("text", { "font-size": 11, fill: theme.muted, ...attributes }, words);
    rebuild(this.svg, [point, theme.ground], () => [
      svg("rect", { x: 34, y: 26, width: 150, height: 150, fill: theme.band, rx: 4 }),
      ...[0, 0.5, 1].flatMap((x) => [
        svg("line", { x1: X(x), x2: X(x), y1: 26, y2: 176, stroke: theme.grid }),
        svg("line", { x1: 34, x2: 184, y1: Y(x), y2: Y(x), stroke: theme.grid }),
        text2({ 0: "0", 0.5: "½", 1: "1" }[x], { x: X(x), y: 190, "text-anchor": "middle" }),
        text2({ 0: "0", 0.5: "½", 1: "1" }[x], { x: 28, y: Y(x) + 4, "text-anchor": "end" })
      ]),
      text2("a: hard problems count", { x: 109, y: 208, "text-anchor": "middle" }),
      text2("b: easy ones count", { transform: "translate(10 101) rotate(-90)", "text-anchor": "middle" }),
      ...CORNERS.flatMap(([name, words, a, b]) => [
        svg("circle", { cx: X(a), cy: Y(b), r: 5, fill: this.app.color(LOOKS[name][0]) }),
        text2(words, {
          x: X(a) + (a > 0.9 ? -4 : 9),
          y: Y(b) + (a > 0.9 ? -10 : 4),
          "text-anchor": a > 0.9 ? "middle" : "start",
          fill: theme.ink
        })
      ]),
      ...point ? [
        svg("circle", { cx: X(point.a), cy: Y(point.b), r: 8, fill: "none", stroke: theme.ink, "stroke-width": 2 }),
        svg("circle", { cx: X(point.a), cy: Y(point.b), r: 2, fill: theme.ink })
      ] : []
    ]);
    this.words.textContent = point ? `a = ${point.a}, b = ${point.b}` : "Drag in the square to draw a member of the family.";
  }
};

// rows.js
var WORDS = { true: "yes", false: "no", dr_grpo: "Dr. GRPO", rloo: "RLOO", plug_in: "plug-in" };
var DEAD_GROUPS = {
  maxrl: "both dropped (Algorithm 1)",
  maxrl_eq6: "no baseline (eq. 6)",
  maxrl_eq7: "baseline kept (eq. 7)",
  maxrl_loo: "leave-one-out (ours)"
};
var MOST = 8;
var CurveList = class {
  /** `table`: ESTIMATORS or OBJECTIVES; `key`: where their specs stand in the state. */
  constructor(app, kind, table, key) {
    Object.assign(this, { app, table, key });
    this.list = h("div", { class: "list" });
    this.element = h("div", {}, this.list, this.adder(kind));
  }
  get specs() {
    return this.app.store.state[this.key];
  }
  put(specs) {
    this.app.store.set({ [this.key]: specs });
  }
  adder(kind) {
    const starts = offered(this.table);
    const add = () => {
      const spec = starts[menu.value];
      menu.selectedIndex = 0;
      this.put([...this.specs, spec].slice(-MOST));
    };
    const choices = Object.keys(starts).map((name) => h("option", { value: name }, name));
    const menu = h("select", { class: "add", "aria-label": `add an ${kind}`, onchange: add });
    menu.append(h("option", { value: "" }, `+ add an ${kind}`), ...choices);
    return menu;
  }
  /** Rows are built anew only when what they show has changed, and never while a slider of theirs is being moved. */
  update(lines, theme) {
    const shown = lines.map(({ spec, error, label }) => [spec, error, label]);
    rebuild(
      this.list,
      [theme, shown],
      () => this.moving ? [...this.list.children] : lines.map((line, i) => this.row(line, i))
    );
    [...this.list.children].forEach((row2, i) => this.reword(row2, lines[i]));
  }
  row(line, i) {
    const dash = line.dash.length ? line.dash.map((x) => 2 * x).join(" ") : "none";
    const stroke = { stroke: line.color, "stroke-width": 3, "stroke-dasharray": dash };
    const swatch = svg("svg", { width: 30, height: 12, "aria-hidden": "true" });
    swatch.append(svg("line", { x1: 1, x2: 29, y1: 6, y2: 6, ...stroke }));
    const remove = h("button", { type: "button", class: "quiet", "aria-label": `remove ${line.label}` }, "×");
    remove.addEventListener("click", () => this.put(this.specs.filter((_, k) => k !== i)));
    const head = h("div", { class: "head" }, swatch, h("strong", { title: line.about ?? "" }, line.label), remove);
    return h("div", { class: "item" }, head, this.deadGroups(line, i), this.options(line, i), h("p", {}));
  }
  /** MaxRL's estimators differ only in what a group does where all are wrong: one choice, not four names. */
  deadGroups(line, i) {
    if (!(line.name in DEAD_GROUPS) || line.error) return null;
    const menu = select(
      Object.keys(DEAD_GROUPS),
      line.name,
      (name) => this.put(this.specs.with(i, name)),
      (name) => DEAD_GROUPS[name]
    );
    const row2 = field("where all are wrong", menu);
    row2.classList.add("wide");
    return row2;
  }
  options(line, i) {
    const known = this.table[line.name]?.options ?? {};
    const shown = Object.entries(line.options ?? {}).filter(([option]) => {
      const { kind, only = {} } = known[option];
      return !["list", "text"].includes(kind) && Object.entries(only).every(([other, value]) => line.options[other] === value);
    });
    return shown.map(([option, value]) => this.input(option, value, known[option], i));
  }
  input(option, value, rule, i) {
    const change = (next) => {
      const { name, options } = resolve(this.table, this.specs[i]);
      this.moving = rule.kind === "number" || rule.kind === "whole";
      this.put(this.specs.with(i, writeSpec(this.table, name, { ...options, [option]: next })));
      this.moving = false;
    };
    if (rule.kind === "written") return field(option, this.text(option, value, change));
    if (rule.kind === "choice" && rule.values.length < 3) {
      const words = Object.fromEntries(rule.values.map((one2) => [one2, WORDS[one2] ?? one2]));
      return field(
        option,
        segmented(option, words, value, (text2) => change(rule.values.find((one2) => String(one2) === text2)))
      );
    }
    if (rule.kind === "choice") return field(option, select(rule.values, value, change));
    if (value === null) return field(option, h("button", { type: "button", onclick: () => change(8) }, "N"));
    if (rule.kind === "number") return slider(option, value, rule, change).element;
    return slider(
      option === "order" ? "order T" : option,
      value,
      { least: 1, most: 256, step: 1, scale: LOG(1, 256) },
      change
    ).element;
  }
  /** An option as Python's literal; what is none is marked, and not taken. */
  text(option, value, change) {
    const input = h("input", { type: "text", value: written(value), spellcheck: "false" });
    input.addEventListener("change", () => {
      try {
        input.setCustomValidity("");
        change(parseSpec(`estimator(${option}=${input.value})`)[1][option]);
      } catch {
        input.setCustomValidity("write a number, 'text', [a, list], True, False or None");
        input.reportValidity();
      }
    });
    return input;
  }
  /** The words of a row: its label, and its rules or what is wrong with it. */
  reword(row2, line) {
    write(row2.querySelector("strong"), line.label);
    const said2 = row2.lastElementChild;
    said2.className = line.error ? "fault" : "rules";
    const waiting = line.waiting ? "lab is computing it …" : "";
    write(said2, line.error ?? (line.sequences ? rules(line.sequences) : waiting));
    said2.hidden = !said2.textContent;
  }
};

// state.js
var DEFAULTS = {
  panel: "curves",
  N: 16,
  curves: ["rloo", "grpo", "maxrl", "pacs"],
  objectives: [],
  quantity: "weight",
  gate: "none",
  x: "log",
  y: "log",
  normalise: false,
  limits: true,
  by: "hand",
  points: [0, 0, 0, 0, 0, 2, 4, 4, 4, 4, 4, 4, 4, 2, 0, 0, 0, 0, 0, 0, 0],
  formula: "exp(-5*p)",
  zero_mean: false,
  left: "rloo",
  right: "maxrl",
  problems: 96,
  rate: 0.5,
  seed: 0,
  theme: "auto"
};
var MOST2 = { N: 1024, problems: 400 };
var CHOICES = {
  panel: ["curves", "draw", "files", "toy"],
  quantity: ["weight", "objective", "efficiency", "mass", "contrast"],
  x: ["log", "linear", "logit"],
  y: ["log", "linear"],
  by: ["hand", "formula"],
  theme: ["auto", "light", "dark"]
};
var RANGES = {
  N: [2, MOST2.N, true],
  problems: [4, MOST2.problems, true],
  rate: [1e-3, 10, false],
  seed: [0, 2 ** 31 - 1, true]
};
function checked(given) {
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw new Error("a state is a dictionary");
  for (const [key, value] of Object.entries(given)) {
    const usual = DEFAULTS[key], fault = (words) => new Error(`${key} = ${JSON.stringify(value)}: ${words}`);
    if (usual === void 0)
      throw new Error(`unknown key '${key}' of a state. Valid: ${Object.keys(DEFAULTS).join(", ")}`);
    if (CHOICES[key] && !CHOICES[key].includes(value)) throw fault(`it must be one of ${CHOICES[key].join(", ")}`);
    if (RANGES[key]) {
      const [least, most, whole] = RANGES[key];
      if (typeof value !== "number" || !(value >= least && value <= most) || whole && !Number.isInteger(value)) {
        throw fault(`it must be a ${whole ? "whole " : ""}number from ${least} to ${most}`);
      }
    }
    if (typeof usual === "boolean" && typeof value !== "boolean") throw fault("it must be true or false");
    if (typeof usual === "string" && typeof value !== "string") throw fault("it must be text");
    if (key === "gate") parseGate(value);
    if (Array.isArray(usual) && !Array.isArray(value)) throw fault("it must be a list");
    if (key === "points" && !(value.length === usual.length && value.every(Number.isFinite)))
      throw fault(`it must be ${usual.length} numbers`);
    if (["curves", "objectives"].includes(key) && !(value.length <= 8 && value.every((one2) => typeof one2 === "string"))) {
      throw fault("it must be at most 8 names");
    }
  }
  return { ...structuredClone(DEFAULTS), ...structuredClone(given) };
}
function changes(state) {
  return Object.fromEntries(
    Object.entries(state).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(DEFAULTS[key]))
  );
}
var toHash = (state) => {
  const changed = changes(state);
  return Object.keys(changed).length ? `#${encodeURIComponent(JSON.stringify(changed)).replaceAll("%2C", ",").replaceAll("%3A", ":")}` : "";
};
function fromHash(hash) {
  if (hash.length < 2) return checked({});
  let given;
  try {
    given = JSON.parse(decodeURIComponent(hash.slice(1)));
  } catch {
    throw new Error("the address holds no state that can be read");
  }
  return checked(given);
}
var Store = class {
  constructor(state) {
    this.state = state;
    this.listeners = [];
  }
  set(patch) {
    const changed = Object.keys(patch).filter((key) => JSON.stringify(patch[key]) !== JSON.stringify(this.state[key]));
    if (!changed.length) return;
    this.state = { ...this.state, ...structuredClone(patch) };
    for (const listener of this.listeners) listener(this.state, new Set(changed));
  }
  listen(listener) {
    this.listeners.push(listener);
  }
};

// panel_curves.js
var NAMES2 = {
  weight: "weight w(p)",
  objective: "objective J(p) − J(½)",
  efficiency: "efficiency e(p)",
  mass: "signal mass E|A|",
  contrast: "contrast w p(1−p)"
};
var MEANING2 = {
  weight: "How much each pass rate counts: the expected gradient is w(p) ∇p. Solid: what N rollouts give. Thin dashes: the limit of many.",
  objective: "What is climbed: the integral of w, zero at p = ½.",
  efficiency: "The squared signal-to-noise ratio kept, beside the oracle baseline r − p (as in language models, where correctness explains little of the score).",
  mass: "The mean size of the advantages that a problem hands out.",
  contrast: "The weight on the difference between the mean right and the mean wrong answer; the log-odds are flat here."
};
var AXES = { log: "log", linear: "linear", logit: "log-odds" };
var SPAN = { log: [1e-4, 1], linear: [0, 1], logit: [1e-4, 1 - 1e-4] };
var CurvesPanel = class {
  constructor(app) {
    this.app = app;
    this.grids = Object.fromEntries(Object.keys(AXES).map((axis) => [axis, new Grid(passRates(axis))]));
    this.limits = /* @__PURE__ */ new Map();
    this.at = 0.1;
    const { store } = app;
    this.N = slider(
      "Rollouts a problem, N",
      store.state.N,
      { least: 2, most: MOST2.N, step: 1, scale: LOG(2, MOST2.N), first: true },
      (N) => store.set({ N })
    );
    this.gate = new GateControl(app);
    this.estimators = new CurveList(app, "estimator", ESTIMATORS, "curves");
    this.objectives = new CurveList(app, "objective", OBJECTIVES, "objectives");
    this.pad = new Pad(app);
    this.tabs = h("div", {
      class: "tabs",
      role: "tablist",
      "aria-label": "what is drawn",
      onkeydown: (event) => this.turn(event)
    });
    this.small = {};
    for (const quantity of Object.keys(NAMES2)) {
      const chart = new Chart({ label: NAMES2[quantity], height: 0.42, least: 44, small: true });
      const tab = h(
        "button",
        {
          type: "button",
          role: "tab",
          onclick: () => store.set({ quantity, ...quantity === "weight" ? {} : { y: "linear" } })
        },
        h("span", {}, NAMES2[quantity]),
        chart.element
      );
      this.small[quantity] = { chart, tab };
      this.tabs.append(tab);
    }
    this.chart = new Chart({ label: "curves over the pass rate", height: 0.52, least: 280 });
    this.chart.svg.setAttribute("tabindex", "0");
    this.chart.svg.setAttribute("aria-description", "left and right arrows move the pass rate that is read out below");
    this.chart.listen((p) => this.read(p));
    this.chart.svg.addEventListener("keydown", (event) => this.key(event));
    this.meaning = h("p", { class: "meaning" });
    this.axes = h("div", { class: "row options" });
    this.table = h("div", { class: "readout" });
    this.element = h(
      "div",
      { class: "panel" },
      h(
        "section",
        { class: "controls", "aria-label": "what is compared" },
        this.N.element,
        this.gate.element,
        h("h3", {}, "Estimators at N rollouts"),
        this.estimators.element,
        h("h3", {}, "Objectives, whatever N"),
        this.objectives.element
      ),
      h(
        "section",
        { class: "stage" },
        this.tabs,
        this.axes,
        this.chart.element,
        this.meaning,
        h("div", { class: "below" }, this.table, this.pad.element),
        app.saver(
          () => this.chart,
          () => this.columns(),
          "curves"
        )
      )
    );
  }
  /** Arrows move along the tabs. */
  turn(event) {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key], names = Object.keys(NAMES2);
    if (!move) return;
    event.preventDefault();
    const next = this.small[names[(names.indexOf(this.app.store.state.quantity) + move + names.length) % names.length]].tab;
    next.click();
    next.focus();
  }
  key(event) {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const p = this.grids[this.app.store.state.x].p, near = p.findIndex((x) => x >= this.at * (1 - 1e-12));
    this.read(
      p[Math.max(0, Math.min(p.length - 1, (near < 0 ? p.length - 1 : near) + move * (event.shiftKey ? 10 : 1)))]
    );
  }
  /** Everything that is drawn: { label, name, w, sequences or null, error } a curve. */
  gather(state) {
    const lines = [];
    for (const spec of state.curves) {
      try {
        lines.push({ kind: "curve", spec, ...this.app.estimator(spec, state.N, true) });
      } catch (error) {
        lines.push({ kind: "curve", spec, name: spec, label: spec, error: error.message });
      }
    }
    for (const spec of state.objectives) {
      try {
        const found = resolve(OBJECTIVES, spec);
        lines.push({
          kind: "objective",
          spec,
          name: found.name,
          label: found.label,
          about: found.entry.about,
          options: found.options,
          w: found.entry.w(found.options)
        });
      } catch (error) {
        lines.push({ kind: "objective", spec, name: spec, label: spec, error: error.message });
      }
    }
    looks(lines.map(({ name }) => name)).forEach((look, i) => {
      const dash = lines[i].kind === "objective" && !look.dash.length ? [3, 2] : look.dash;
      Object.assign(lines[i], { color: this.app.color(look.color), dash });
    });
    return lines;
  }
  limit(line, quantity, axis) {
    if (!line.w) return line.limit?.(quantity, axis) ?? null;
    const key = `${line.spec} ${quantity} ${axis}`;
    if (!this.limits.has(key)) {
      if (this.limits.size > 200) this.limits.clear();
      this.limits.set(key, LIMITS[quantity](this.grids[axis].p, line.w));
    }
    return this.limits.get(key);
  }
  update(state) {
    this.lines = this.gather(state);
    this.N.show(state.N);
    this.gate.update(state);
    this.controls(state);
    this.draw(state);
    cancelAnimationFrame(this.later);
    this.later = requestAnimationFrame(() => {
      this.thumbnails(state);
      this.read(this.at);
    });
    this.app.verify(this, state);
  }
  /**
   * The curves of one quantity on the grid of the axis, scaled to 1 at p = 1/2 if asked: { y, limit, gated } a line,
   * each null where there is none.
   */
  values(state, quantity) {
    const grid = this.grids[state.x], gate = isGated(state) ? parseGate(state.gate) : null;
    return this.lines.map((line) => {
      if (line.error || line.waiting) return { y: null, limit: null, gated: null };
      const to = (values, middle2) => values.map((value) => value / (middle2 || 1));
      const scaled = state.normalise && quantity !== "efficiency";
      const limit2 = this.limit(line, quantity, state.x);
      const half = line.w ? line.w(0.5) : line.half;
      const shownLimit = scaled && limit2 ? half ? to(limit2, half) : null : limit2;
      if (line.kind === "objective") return { y: null, limit: shownLimit, gated: null };
      const known = (gate2) => this.app.authority?.get(line.spec, { ...state, gate: gate2 }, quantity);
      const y = known("none") ?? QUANTITIES[quantity](grid, line.sequences);
      const gated = gate && (known(state.gate) ?? GATED[quantity](grid, line.sequences, gate));
      return {
        y: scaled ? to(y, QUANTITIES.weight(HALF, line.sequences)[0]) : y,
        limit: shownLimit,
        gated: gated && scaled ? to(gated, GATED.weight(HALF, line.sequences, gate)[0]) : gated
      };
    });
  }
  draw(state) {
    const { quantity } = state, p = this.grids[state.x].p, found = this.values(state, quantity);
    const kind = quantity === "objective" || quantity === "efficiency" ? "linear" : state.y;
    const solid = found.flatMap(({ y, limit: limit2 }, i) => [
      ...y ?? (this.lines[i].kind === "objective" && limit2 ? limit2 : [])
    ]);
    const own = found.some(({ y }) => y) ? found.flatMap(({ y, gated }) => [...y ?? [], ...gated ?? []]) : solid;
    const domain = quantity === "efficiency" ? [0, 1] : niceDomain(own, kind, 1e-5);
    if (quantity === "objective") {
      const cap = 1.2 * Math.max(...own.map(Math.abs));
      [domain[0], domain[1]] = niceDomain(
        [-cap, cap].map((x) => Math.max(-12, Math.min(12, x))),
        "linear"
      );
    }
    this.found = found;
    const drawn = [];
    this.lines.forEach((line, i) => {
      const { y, limit: limit2, gated } = found[i], { color, dash, label } = line;
      if (line.waiting) drawn.push({ x: [], y: [], color, dash, width: 2.2, label: line.label, name: line.spec });
      if (line.kind === "objective" && limit2)
        drawn.push({
          x: p,
          y: limit2,
          color,
          dash,
          width: 1.6,
          label: line.label,
          name: line.spec
        });
      if (line.kind === "curve" && y) {
        if (state.limits && limit2)
          drawn.push({ x: p, y: limit2, color, dash: [2, 3], width: 1, opacity: 0.75, name: `limit ${line.spec}` });
        const plain2 = { x: p, y, color, dash, name: line.spec };
        if (!gated) drawn.push({ ...plain2, width: 2.2, label });
        else {
          drawn.push({ ...plain2, width: 1, opacity: 0.85 });
          drawn.push({ x: p, y: gated, color, dash, width: 2.6, label, name: this.recipe(line, state) });
        }
      }
    });
    const unit = state.normalise && quantity !== "efficiency" ? ", 1 at w(½)" : "";
    this.chart.draw(
      {
        x: { kind: state.x, domain: SPAN[state.x], label: "pass rate p" },
        y: { kind, domain, label: NAMES2[quantity] + unit },
        lines: drawn,
        mark: this.at
      },
      this.app.theme()
    );
    this.app.drawn();
  }
  /** The text from which lab.recipe reads what is drawn of a line behind the gate. */
  recipe({ spec, sequences }, { gate }) {
    return `${spec}, N=${sequences[0].length}, gate=${gate}`;
  }
  thumbnails(state) {
    const coarse = this.coarse ??= Object.fromEntries(
      Object.keys(AXES).map((axis) => [axis, new Grid(passRates(axis, 61))])
    );
    for (const [quantity, { chart, tab }] of Object.entries(this.small)) {
      tab.setAttribute("aria-selected", String(quantity === state.quantity));
      tab.tabIndex = quantity === state.quantity ? 0 : -1;
      const lines = this.lines.filter(({ sequences }) => sequences).map(({ sequences, color, dash }) => ({
        x: coarse[state.x].p,
        y: QUANTITIES[quantity](coarse[state.x], sequences),
        color,
        dash,
        width: 1.3
      }));
      const kind = quantity === "weight" || quantity === "contrast" ? state.y : "linear";
      const domain = quantity === "efficiency" ? [0, 1] : niceDomain(
        lines.flatMap(({ y }) => [...y]),
        kind,
        1e-4
      );
      chart.draw(
        { x: { kind: state.x, domain: SPAN[state.x], label: "" }, y: { kind, domain, label: "" }, lines },
        this.app.theme()
      );
    }
  }
  /** The lists, the square, and the switches above the chart. */
  controls(state) {
    this.estimators.update(this.lines.slice(0, state.curves.length), state.theme);
    this.objectives.update(this.lines.slice(state.curves.length), state.theme);
    this.pad.update(state);
    const { store } = this.app;
    rebuild(this.axes, [state.x, state.y, state.limits, state.normalise], () => [
      h("span", { class: "caption" }, "p"),
      segmented("axis of the pass rate", AXES, state.x, (x) => store.set({ x })),
      h("span", { class: "caption" }, "value"),
      segmented("axis of the value", { log: "log", linear: "linear" }, state.y, (y) => store.set({ y })),
      checkbox("limits", state.limits, (limits) => store.set({ limits })),
      checkbox("scale to 1 at p = ½", state.normalise, (normalise) => store.set({ normalise }))
    ]);
    write(this.meaning, MEANING2[state.quantity]);
  }
  /** The numbers at one pass rate: every quantity of every curve; behind a gate, what the gate makes of the weight. */
  read(p) {
    this.at = Math.min(Math.max(p, 1e-4), 1 - 1e-4);
    if (!this.lines) return;
    this.chart.mark(this.at);
    const { state } = this.app.store, grid = new Grid([this.at]), gate = parseGate(state.gate), gated = gate.name !== "none" && keepsSome(gate, state.N);
    const shown = this.lines.filter(({ error, waiting }) => !error && !waiting);
    const rows = shown.map((line) => {
      const value = (quantity) => line.sequences ? QUANTITIES[quantity](grid, line.sequences)[0] : LIMITS[quantity](grid.p, line.w)?.[0];
      const limit2 = line.kind === "curve" && line.w ? line.w(this.at) : null;
      const part = gated && line.sequences ? behind(grid, line.sequences, gate) : null;
      const cells2 = gated ? [part?.weight[0], part?.cost[0], part?.kept[0], value("efficiency")] : ["objective", "efficiency", "mass", "contrast"].map(value);
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, h("span", { class: "dot", style: `background:${line.color}` }), line.label),
        h("td", {}, format(value("weight"))),
        h("td", { class: "limit" }, format(limit2)),
        cells2.map((number2) => h("td", {}, format(number2)))
      );
    });
    const sizes = new Set(shown.flatMap(({ sequences }) => sequences ? [sequences[0].length] : []));
    const N = [...sizes].sort((a, b) => a - b).join(", ") || state.N;
    const words = gated ? [`w, gate ${gate.name}`, "rollouts", "share kept", "efficiency"] : ["J − J(½)", "efficiency", "signal mass", "w p(1−p)"];
    this.table.replaceChildren(
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, h("output", { class: "where" }, `p = ${format(this.at, 3)}`)),
            [`w at N = ${N}`, "limit w", ...words].map((word) => h("th", { scope: "col" }, word))
          )
        ),
        h("tbody", {}, rows)
      )
    );
  }
  columns() {
    const { state } = this.app.store, columns = { p: this.grids[state.x].p };
    this.lines.forEach((line, i) => {
      const { y, limit: limit2, gated } = this.found[i];
      if (y) columns[`${line.spec} N=${line.sequences[0].length}`] = y;
      if (gated) columns[this.recipe(line, state)] = gated;
      if (limit2 && (state.limits || !y)) columns[line.kind === "curve" ? `limit of ${line.spec}` : line.spec] = limit2;
    });
    return columns;
  }
};
var HALF = new Grid([0.5]);

// panel_draw.js
var COUNT = 21;
var P = Array.from({ length: COUNT }, (_, i) => Number((i / (COUNT - 1)).toFixed(2)));
var CHARTING = { kind: "linear", domain: [0, 1], label: "pass rate p" };
var SHAPES = {
  "only the middle": (p) => p > 0.25 && p < 0.65 ? 4 : p === 0.25 || p === 0.65 ? 2 : 0,
  "hard ones": (p) => 4 * (1 - p) ** 3,
  "1/p, cut": (p) => 1 / Math.max(p, 0.1),
  level: () => 1,
  "easy and hard": (p) => 1 + 12 * (p - 0.5) ** 2
};
var FORMULAS = ["exp(-5*p)", "1/(p + 0.05)", "step(0.3 - p)", "4*p*q", "p^-0.5 * q^-0.5", "1 + p"];
function specOf(state) {
  const common = { zero_mean: state.zero_mean };
  return state.by === "hand" ? writeSpec(ESTIMATORS, "drawn", { p: P, w: state.points, ...common }) : writeSpec(ESTIMATORS, "formula", { text: state.formula, ...common });
}
var DrawPanel = class {
  constructor(app) {
    this.app = app;
    const { store } = app;
    this.grid = new Grid(passRates("linear"));
    this.N = slider(
      "Rollouts a problem, N",
      store.state.N,
      { least: 2, most: 1024, step: 1, scale: LOG(2, 1024), first: true },
      (N) => store.set({ N })
    );
    this.way = h("div");
    this.formula = h("input", {
      type: "text",
      spellcheck: "false",
      autocomplete: "off",
      oninput: () => store.set({ formula: this.formula.value })
    });
    this.hand = h(
      "div",
      { class: "row" },
      Object.entries(SHAPES).map(
        ([words, f]) => h(
          "button",
          { type: "button", onclick: () => store.set({ points: P.map((p) => Number(f(p).toFixed(3))) }) },
          words
        )
      )
    );
    this.written = h(
      "div",
      {},
      field("w(p) =", this.formula),
      h(
        "div",
        { class: "row" },
        FORMULAS.map(
          (text2) => h(
            "button",
            {
              type: "button",
              onclick: () => {
                this.formula.value = text2;
                store.set({ formula: text2 });
              }
            },
            text2
          )
        )
      )
    );
    this.fault = h("p", { class: "fault", role: "alert" });
    this.zero = h("div");
    this.line = h("code", { class: "line", tabindex: "0" });
    this.copied = h("output", {});
    this.facts = h("p", { class: "meaning" });
    this.chart = new Chart({ label: "the drawn weight, and the best that N rollouts reach", height: 0.44, least: 260 });
    this.residual = new Chart({ label: "residual", height: 0.2, least: 120 });
    this.sequences = new Chart({ label: "the two sequences, gap and offset, by j", height: 0.3, least: 160 });
    this.chart.svg.setAttribute("tabindex", "0");
    this.chart.svg.setAttribute("role", "slider");
    this.chart.svg.setAttribute("aria-label", "drawn weight: left and right choose a point, up and down move it");
    this.chosen = 6;
    this.chart.listen((p, w) => this.pull(p, w), {
      drag: true,
      done: () => {
        this.before = null;
        this.frozen = null;
        this.app.refresh();
      }
    });
    this.chart.svg.addEventListener("keydown", (event) => this.key(event));
    this.element = h(
      "div",
      { class: "panel" },
      h(
        "section",
        { class: "controls", "aria-label": "the weight" },
        this.N.element,
        this.way,
        this.hand,
        this.written,
        this.fault,
        this.zero,
        h("h3", {}, "Train with it"),
        this.line,
        h(
          "div",
          { class: "row" },
          h("button", { type: "button", onclick: () => this.copy() }, "Copy this line"),
          h("button", { type: "button", onclick: () => this.add() }, "Add to the curves"),
          this.copied
        )
      ),
      h(
        "section",
        { class: "stage" },
        this.facts,
        this.chart.element,
        this.residual.element,
        this.sequences.element,
        app.saver(
          () => this.chart,
          () => this.columns(),
          "drawn"
        )
      )
    );
  }
  /** The pointer sets the points that it passes over. */
  pull(p, w) {
    const { state } = this.app.store;
    if (state.by !== "hand") return;
    const here = Math.round(p * (COUNT - 1)), [from, start2] = this.before ?? [here, w], points = [...state.points];
    const value = Number(w.toPrecision(3));
    for (let i = Math.min(from, here); i <= Math.max(from, here); i++) {
      const share = here === from ? 1 : (i - from) / (here - from);
      points[i] = Number((start2 + share * (value - start2)).toPrecision(3));
    }
    this.before = [here, value];
    this.frozen ??= this.domain;
    this.chosen = here;
    this.app.store.set({ points });
  }
  key(event) {
    const { state } = this.app.store, along = { ArrowRight: 1, ArrowLeft: -1 }[event.key], up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (state.by !== "hand" || !along && !up) return;
    event.preventDefault();
    if (along) {
      this.chosen = Math.min(COUNT - 1, Math.max(0, this.chosen + along));
      this.update(state);
    } else {
      const size = Math.max(...state.points.map(Math.abs), 1);
      this.app.store.set({
        points: state.points.with(this.chosen, Number((state.points[this.chosen] + up * size / 40).toPrecision(3)))
      });
    }
  }
  /** `from lab import runs; ...`: the line that trains; every character of it is lab's own language. */
  python(state) {
    const objective = JSON.stringify(specOf(state));
    return `from lab import runs; runs.train(runs.configure("tabular", estimator=${objective}, rollouts=${state.N}))`;
  }
  /** What the lab is asked to fit: nothing while the formula cannot be read. */
  spec(state) {
    try {
      return resolve(ESTIMATORS, specOf(state)).spec && this.fault.textContent === "" ? specOf(state) : null;
    } catch {
      return null;
    }
  }
  async copy() {
    try {
      await navigator.clipboard.writeText(this.line.textContent);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(this.line);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand("copy");
    }
    this.copied.textContent = "copied";
    setTimeout(() => {
      this.copied.textContent = "";
    }, 2e3);
  }
  add() {
    const { store } = this.app, spec = specOf(store.state);
    store.set({ panel: "curves", curves: [...store.state.curves.filter((one2) => one2 !== spec), spec].slice(-8) });
  }
  update(state) {
    const { store } = this.app;
    this.N.show(state.N);
    this.way.replaceChildren(
      segmented(
        "how the weight is given",
        { hand: "Draw by hand", formula: "Write a formula" },
        state.by,
        (by) => store.set({ by })
      )
    );
    this.hand.hidden = state.by !== "hand";
    this.written.hidden = state.by === "hand";
    if (document.activeElement !== this.formula) this.formula.value = state.formula;
    this.zero.replaceChildren(
      checkbox(
        "the advantages of every group sum to zero (one degree less)",
        state.zero_mean,
        (zero_mean) => store.set({ zero_mean })
      )
    );
    this.line.textContent = this.python(state);
    this.fault.textContent = "";
    try {
      this.show(state);
      this.app.verify(this, state);
    } catch (error) {
      this.fault.textContent = error.message;
      this.residual.element.hidden = this.sequences.element.hidden = true;
      this.drawn = null;
      this.draw(state, null);
    }
  }
  show(state) {
    const found = resolve(ESTIMATORS, specOf(state)), w = found.entry.limit(found.options);
    const waits = state.N > LARGEST && this.app.kernel;
    const sequences = this.app.authority?.sequences(found.spec, state.N) ?? (waits ? null : coefficients(found, state.N));
    const target = this.grid.p.map(w);
    if (!sequences) {
      this.draw(state, { w, target });
      return;
    }
    const reached = QUANTITIES.weight(this.grid, sequences), left = reached.map((x, i) => x - target[i]);
    this.drawn = { target, reached, left, sequences, spec: found.spec };
    this.residual.element.hidden = this.sequences.element.hidden = false;
    this.draw(state, { w, target, reached });
    const theme = this.app.theme(), color = this.app.color("#c42a96"), blue = this.app.color("#0072b2");
    const large = Math.max(...target.map(Math.abs));
    this.residual.draw(
      {
        x: CHARTING,
        y: { kind: "linear", domain: niceDomain([...left, 0.02 * large, -0.02 * large], "linear"), label: "w_N − w" },
        lines: [
          { x: [0, 1], y: [0, 0], color: theme.axis, width: 1 },
          {
            x: this.grid.p,
            y: left,
            color,
            width: 1.6,
            label: "what N rollouts do not reach: w_N − w",
            name: "residual"
          }
        ]
      },
      theme
    );
    const [gap, offset] = sequences, j = gap.map((_, i) => i);
    this.sequences.draw(
      {
        x: {
          kind: "linear",
          domain: [-0.5, Math.max(1, gap.length - 0.5)],
          label: "j, right ones among the other N−1 rollouts"
        },
        y: { kind: "linear", domain: niceDomain([...gap, ...offset, 0], "linear"), label: "advantage" },
        lines: [
          { x: [-0.5, gap.length], y: [0, 0], color: theme.axis, width: 1 },
          { x: j, y: gap, color, width: 1, label: "gap[j]: what is optimised" },
          { x: j, y: offset, color: blue, width: 1, dash: [3, 2], label: "offset[j]: how noisily" }
        ],
        dots: gap.length > 80 ? [] : [
          ...Array.from(gap, (y, x) => ({ x, y, color })),
          ...Array.from(offset, (y, x) => ({ x, y, color: blue, hollow: true }))
        ]
      },
      theme
    );
    const kept = QUANTITIES.efficiency(MIDDLE, sequences);
    const off = Math.sqrt(
      left.reduce((sum, x, i) => sum + (x * weigh(this.grid.p[i])) ** 2, 0) / target.reduce((sum, x, i) => sum + (x * weigh(this.grid.p[i])) ** 2, 0)
    );
    const told = `${format(100 * off, 3)} % of the weight, measured where the gradient is, by p(1−p)`;
    const efficiencies = Array.from(MIDDLE.p, (p, i) => `${format(kept[i], 3)} at p = ${p}`).join(", ");
    this.facts.textContent = `At N = ${state.N} the residual is ${off < 1e-8 ? "zero: the weight is reached exactly" : told}. Efficiency ${efficiencies}.`;
  }
  draw(state, found) {
    const theme = this.app.theme(), purple = this.app.color("#c42a96"), lines = [], dots = [];
    const values = found ? [...found.target, ...found.reached ?? []] : [0, 1];
    const tame = values.filter(Number.isFinite).map((x) => Math.min(x, 1e4));
    this.domain = this.frozen ?? niceDomain([...tame, 0, state.by === "hand" ? 1.3 * Math.max(...tame, 0) : 0], "linear");
    if (found)
      lines.push({
        x: this.grid.p,
        y: found.target,
        color: theme.ink,
        width: 1.6,
        dash: [3, 2],
        label: state.by === "hand" ? "your w(p)" : `w(p) = ${state.formula}`,
        name: "target"
      });
    if (found?.reached)
      lines.push({
        x: this.grid.p,
        y: found.reached,
        color: purple,
        width: 2.6,
        label: `the best that N = ${state.N} reach`,
        name: "reached"
      });
    if (state.by === "hand")
      state.points.forEach(
        (y, i) => dots.push({
          x: P[i],
          y,
          color: i === this.chosen ? purple : theme.ink,
          r: i === this.chosen ? 5 : 3.2,
          hollow: i !== this.chosen
        })
      );
    this.chart.svg.style.cursor = state.by === "hand" ? "crosshair" : "default";
    this.chart.svg.setAttribute("aria-valuetext", `w(${P[this.chosen]}) = ${state.points[this.chosen]}`);
    this.chart.draw(
      { x: CHARTING, y: { kind: "linear", domain: this.domain, label: "weight w(p)" }, lines, dots },
      theme
    );
    this.app.drawn();
  }
  columns() {
    if (!this.drawn) return { p: this.grid.p };
    const {
      target,
      reached,
      left,
      sequences: [gap, offset]
    } = this.drawn;
    return { p: this.grid.p, w: target, w_N: reached, residual: left, j: gap.map((_, i) => i), gap, offset };
  }
};
var MIDDLE = new Grid([0.01, 0.1, 0.5, 0.9]);
var weigh = (p) => p * (1 - p);

// formats.js
var IDS = [
  "problem",
  "uid",
  "prompt_id",
  "index"
];
var TEXTS = [
  "prompt",
  "input",
  "question",
  "messages",
  "doc.query"
];
var SIZES = [
  "n",
  "N",
  "rollouts",
  "samples"
];
var RIGHT = [
  "k",
  "K",
  "correct",
  "right"
];
var LARGEST_N = 1e4;
var FORMATS = [
  {
    "tool": "the lab's training",
    "source": "lab/runs/rollout_store.py",
    "columns": [
      "step",
      "problem",
      "index",
      "tokens",
      "truncated"
    ],
    "problem": [
      "problem"
    ],
    "reward": [
      "reward"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "open-instruct",
    "source": "open_instruct/rl_utils.py, save_rollouts_to_disk (allenai/open-instruct)",
    "columns": [
      "step",
      "prompt_idx",
      "response_tokens"
    ],
    "problem": [
      "prompt_idx"
    ],
    "reward": [
      "reward"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "NeMo Gym",
    "source": "nemo_gym/rollout_collection.py, TASK_INDEX_KEY_NAME (NVIDIA-NeMo/Gym)",
    "columns": [
      "_ng_task_index"
    ],
    "problem": [
      "_ng_task_index"
    ],
    "reward": [
      "reward"
    ],
    "within": [
      "agent_ref.name"
    ],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "verifiers v1, prime-rl",
    "source": "verifiers/v1/episode.py, Episode.to_record, as lab.rollouts.episodes unfolds it",
    "columns": [
      "task",
      "env_agent",
      "trace"
    ],
    "problem": [
      "task"
    ],
    "reward": [
      "reward"
    ],
    "within": [
      "env_agent"
    ],
    "besides": [],
    "one": "",
    "once": "trace",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "verifiers, prime-rl",
    "source": "verifiers/legacy/utils/save_utils.py, state_to_output (PrimeIntellect-ai/verifiers)",
    "columns": [
      "example_id",
      "completion"
    ],
    "problem": [
      "example_id"
    ],
    "reward": [
      "reward"
    ],
    "within": [
      "task",
      "env_id"
    ],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "TRL",
    "source": "trl/trainer/grpo_trainer.py, GRPOTrainer.log with log_completions",
    "columns": [
      "step",
      "prompt",
      "completion"
    ],
    "problem": [
      "prompt"
    ],
    "reward": [],
    "within": [],
    "besides": [
      "step",
      "completion",
      "advantage"
    ],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": true
  },
  {
    "tool": "verl",
    "source": "verl/trainer/ppo/ray_trainer.py, _write_generations (trainer.rollout_data_dir)",
    "columns": [
      "input",
      "output",
      "score",
      "step"
    ],
    "problem": [
      "uid",
      "input"
    ],
    "reward": [
      "acc",
      "score"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "OpenRLHF",
    "source": "openrlhf/cli/batch_inference.py of OpenRLHF up to 0.9.6 (removed in March 2026)",
    "columns": [
      "input",
      "output"
    ],
    "problem": [
      "input"
    ],
    "reward": [
      "reward"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "lm-eval",
    "source": "lm_eval/evaluator.py, evaluate with log_samples; samples_TASK_DATE.jsonl",
    "columns": [
      "doc_id",
      "doc_hash",
      "filter"
    ],
    "problem": [
      "doc_hash"
    ],
    "reward": [
      "exact_match",
      "math_verify",
      "acc",
      "pass@1"
    ],
    "within": [],
    "besides": [],
    "one": "filter",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "lighteval",
    "source": "src/lighteval/logging/info_loggers.py, DetailsLogger.Detail (huggingface/lighteval)",
    "columns": [
      "doc",
      "metric",
      "model_response"
    ],
    "problem": [
      "doc.query"
    ],
    "reward": [
      "metric"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "metrics",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "Qwen2.5-Math",
    "source": "evaluation/math_eval.py, save_jsonl of all_samples (QwenLM/Qwen2.5-Math)",
    "columns": [
      "idx",
      "code",
      "pred"
    ],
    "problem": [
      "question",
      "idx"
    ],
    "reward": [
      "score"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "Open-R1 generations",
    "source": "the data sets open-r1/OpenR1-Math-220k and their kind on the Hugging Face hub",
    "columns": [
      "generations"
    ],
    "problem": [
      "uuid",
      "problem",
      "prompt"
    ],
    "reward": [
      "correctness_math_verify",
      "correctness",
      "correctness_llama"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "Big-Math",
    "source": "the data set SynthLabsAI/Big-Math-RL-Verified: 64 rollouts of Llama-3.1-8B a problem",
    "columns": [
      "llama8b_solve_rate"
    ],
    "problem": [
      "problem",
      "prompt"
    ],
    "reward": [
      "llama8b_solve_rate"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "rate",
    "n": 64,
    "logged_twice": false
  },
  {
    "tool": "OpenMathReasoning",
    "source": "the data set nvidia/OpenMathReasoning: 32 rollouts of Qwen2.5-Math-72B a problem",
    "columns": [
      "pass_rate_72b_tir"
    ],
    "problem": [
      "problem"
    ],
    "reward": [
      "pass_rate_72b_tir"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "rate",
    "n": 32,
    "logged_twice": false
  },
  {
    "tool": "POLARIS",
    "source": "the data set POLARIS-Project/Polaris-Dataset-53K",
    "columns": [
      "problem",
      "difficulty"
    ],
    "problem": [
      "problem"
    ],
    "reward": [
      "difficulty"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "ratio",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "",
    "source": "any tool",
    "columns": [],
    "problem": [
      "problem",
      "uid",
      "prompt_id",
      "index",
      "prompt",
      "input",
      "question",
      "messages",
      "doc.query"
    ],
    "reward": [
      "correct",
      "acc",
      "reward",
      "score"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "pass rates",
    "source": "a column of that name, as in many data sets",
    "columns": [],
    "problem": [
      "problem",
      "uid",
      "prompt_id",
      "index",
      "prompt",
      "input",
      "question",
      "messages",
      "doc.query"
    ],
    "reward": [
      "pass_rate",
      "solve_rate",
      "success_rate",
      "pass@1"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "",
    "cell": "rate",
    "n": 0,
    "logged_twice": false
  },
  {
    "tool": "",
    "source": "any tool",
    "columns": [],
    "problem": [
      "problem",
      "uid",
      "prompt_id",
      "index",
      "prompt",
      "input",
      "question",
      "messages",
      "doc.query"
    ],
    "reward": [],
    "within": [],
    "besides": [
      "step"
    ],
    "one": "",
    "once": "",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
  }
];

// rollouts.js
var REWARDS = FORMATS.find(({ tool, reward }) => !tool && reward.length).reward;
var ADVANTAGES = ["advantage", "advantages"];
var BINARY = ["0", "1", "-1", "0.0", "1.0", "true", "false", "True", "False"];
var NO_NUMBER = ["n/a", "na", "nan", "none", "null"];
var LOOKED_AT = 100;
var RATE_SLACK = 1e-3;
function readCounts(rows, choice = {}) {
  if (!rows.length) throw new Error("cannot be read (it is empty): give one row a problem, or one a rollout");
  rows = rows.flatMap(rowsOfEpisode);
  const layout = layoutOf(rows, choice);
  return layout.cell === "counts" ? countsOf(rows, layout) : new Tally(layout, choice).add(rows).counts();
}
function rowsOfEpisode(row2, i) {
  if (!Array.isArray(row2.traces) || !isObject(row2.task)) return [row2];
  const work = row2.run?.work ?? {}, name = (work.type === "eval" ? "evaluation " : "") + (row2.env?.name || row2.env?.id || ""), step = "step" in work ? { step: work.step } : {}, taskOf = ({ task }) => {
    if (task.key || task.hash) return String(task.key || task.hash);
    throw new Error(
      `the task of episode ${i + 1} has no key and no hash: write the episodes with a newer version of verifiers`
    );
  };
  if (!row2.traces.length)
    return [{ task: taskOf(row2), env_agent: `${name} agent`, trace: row2.id ?? "", reward: null, ...step }];
  return row2.traces.flatMap((trace) => {
    if (trace.agent?.trainable === false) return [];
    const scores = Object.values(trace.rewards ?? {}).filter((reward) => reward !== null);
    return [
      {
        task: taskOf(trace.task ? trace : row2),
        env_agent: `${name} ${trace.agent?.name || "agent"}`,
        trace: trace.id ?? "",
        reward: scores.length ? scores.reduce((sum, { score, weight = 1 }) => sum + score * weight, 0) : null,
        ...step
      }
    ];
  });
}
var isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
function layoutOf(rows, choice) {
  const first = rows.slice(0, LOOKED_AT), columns = [...new Set(first.flatMap(Object.keys))], names = new Set(columns);
  for (const row2 of first) {
    for (const [outer, cells2] of Object.entries(row2)) {
      if (isObject(cells2)) for (const inner of Object.keys(cells2)) names.add(`${outer}.${inner}`);
    }
  }
  for (const column of [choice.problem, choice.reward]) {
    if (column && !names.has(column))
      throw new Error(`found columns ${columns.join(", ")}, and no ${column}: name one of them`);
  }
  const find = (list) => list.find((name) => names.has(name)) ?? "", size = find(SIZES), right = find(RIGHT);
  if (size && right && !choice.reward)
    return { tool: "", cell: "counts", problem: choice.problem || find([...IDS, ...TEXTS]), reward: right, size };
  const numbers = columns.filter((name) => {
    const cells2 = first.map((row2) => row2[name]);
    return cells2.every((cell) => missing(cell) || number(cell) !== null) && !cells2.every(missing);
  });
  for (const form of FORMATS) {
    if (!form.columns.every((column) => names.has(column))) continue;
    const problem = choice.problem || find(form.problem);
    let reward = choice.reward || find(form.reward);
    if (!reward && !form.reward.length) {
      const besides = [...form.besides, ...form.problem, problem, ...ADVANTAGES], left = numbers.filter((name) => !besides.includes(name));
      reward = left.length === 1 ? left[0] : "";
    }
    if (!problem || !reward) continue;
    if (form.cell !== "reward" && !form.reward.includes(reward)) continue;
    if (form.cell === "ratio" && !first.some((row2) => String(row2[reward]).includes("/"))) continue;
    return { ...form, problem, reward, within: find(form.within), size };
  }
  throw new Error(unclear(first, columns, numbers, choice));
}
function unclear(first, columns, numbers, choice) {
  if (columns.includes("_step") && columns.includes("_runtime")) {
    return "a history of metrics exported from W&B, which holds means and no rollouts: export the table of completions";
  }
  const rewards = numbers.filter((name) => name !== "step" && !ADVANTAGES.includes(name));
  const problems = columns.filter((name) => {
    const cells2 = first.flatMap((row2) => missing(row2[name]) ? [] : [identity(row2[name])]), different = new Set(cells2);
    return name !== "step" && different.size < cells2.length && ![...different].every((cell) => BINARY.includes(cell));
  });
  const candidates = (list) => list.length ? ` (${list.join(" or ")}?)` : "", has = (list) => list.some((name) => columns.includes(name)), ask = [];
  if (!choice.problem && !has([...IDS, ...TEXTS])) ask.push(`the problem${candidates(problems)}`);
  if (!choice.reward && !has(REWARDS)) ask.push(`the reward${candidates(rewards)}`);
  return `found columns ${columns.join(", ")}: name ${ask.join(" and ") || "others"}; or give ${SIZES.join("|")} and ${RIGHT.join("|")}, or ${[...IDS, ...TEXTS].join("|")} in every row and ${REWARDS.join("|")}`;
}
var missing = (cell) => cell === null || cell === void 0 || Number.isNaN(cell) || typeof cell === "string" && (!cell.trim() || NO_NUMBER.includes(cell.trim().toLowerCase()));
function number(cell) {
  if (typeof cell === "boolean" || typeof cell === "number") return Number(cell);
  if (typeof cell !== "string" || !cell.trim()) return null;
  const text2 = cell.trim().toLowerCase(), value = { true: 1, false: 0 }[text2] ?? (/^[-+.\d]/.test(text2) && !/^[-+]?0[xob]/.test(text2) ? Number(text2) : NaN);
  return Number.isFinite(value) ? value : null;
}
function identity(cell) {
  return typeof cell === "string" ? cell : JSON.stringify(plain(cell));
}
function plain(cell) {
  if (Array.isArray(cell)) return cell.map(plain);
  if (!isObject(cell)) return cell ?? null;
  const kept = Object.keys(cell).filter((key) => cell[key] !== null && cell[key] !== void 0);
  return Object.fromEntries(kept.sort().map((key) => [key, plain(cell[key])]));
}
function readerOf(column) {
  const dot3 = column.indexOf(".");
  if (dot3 < 0) return (row2) => row2[column];
  const outer = column.slice(0, dot3), inner = column.slice(dot3 + 1);
  return (row2) => isObject(row2[outer]) ? row2[outer][inner] : row2[column];
}
function short(value) {
  const line = String(value).split(/\s+/).join(" ").trim();
  return line.length <= 60 ? line : `${line.slice(0, 57)}...`;
}
var said = (cell) => short(identity(cell));
function isSuccess(cell, success) {
  const value = number(cell), wanted = number(success);
  if (value !== null && wanted !== null) return value === wanted;
  return String(cell).trim().toLowerCase() === success.trim().toLowerCase();
}
function checkSize(n, problem) {
  if (n > LARGEST_N) {
    throw new Error(
      `problem ${short(problem)} has n = ${n} rollouts: the audit takes up to ${LARGEST_N} a problem; give fewer, or correct the file`
    );
  }
}
function countsOf(rows, { problem, reward, size }) {
  const steps = rows.map((row2) => "step" in row2 ? number(row2.step) : null), last = steps.reduce((most, step) => step !== null && step > most ? step : most, -Infinity);
  const n = [], correct = [], seen = /* @__PURE__ */ new Set();
  rows.forEach((row2, i) => {
    if (steps[i] !== null && steps[i] < last) return;
    const name = problem ? identity(row2[problem] ?? null) : `row ${i}`, [tried, right] = [number(row2[size]), number(row2[reward])];
    if (seen.has(name)) throw new Error(`problem ${name} has several rows of counts: add them up`);
    seen.add(name);
    if (!Number.isInteger(tried) || !Number.isInteger(right) || tried < 1 || right < 0 || right > tried) {
      throw new Error(
        `problem ${name} has ${reward} = ${row2[reward]} of ${size} = ${row2[size]}: counts must be whole, with 0 <= ${reward} <= ${size}`
      );
    }
    checkSize(tried, name);
    n.push(tried);
    correct.push(right);
  });
  return { n, correct, notes: [`${n.length} problems, counts from columns ${size} and ${reward}`], tool: "" };
}
var Tally = class {
  constructor(layout, choice) {
    Object.assign(this, { layout, choice, rows: 0, lost: 0 });
    this.groups = /* @__PURE__ */ new Map();
    this.values = /* @__PURE__ */ new Set();
    this.shares = /* @__PURE__ */ new Map();
    this.others = /* @__PURE__ */ new Map();
    this.seen = /* @__PURE__ */ new Set();
    this.repeated = 0;
    this.content = /* @__PURE__ */ new Map();
  }
  add(rows) {
    const { layout } = this, problemOf = readerOf(layout.problem), rewardOf = readerOf(layout.reward), withinOf = layout.within ? readerOf(layout.within) : null, outcome = { ratio: this.addRatio, rate: this.addRate, metrics: this.addMetrics }[layout.cell] ?? this.addReward;
    let kept;
    for (const row2 of rows) {
      this.rows++;
      if (layout.one) {
        const value = String(row2[layout.one]);
        kept ??= value;
        if (value !== kept) {
          this.others.set(value, (this.others.get(value) ?? 0) + 1);
          continue;
        }
      }
      if (layout.once) {
        if (this.seen.has(row2[layout.once])) {
          this.repeated++;
          continue;
        }
        this.seen.add(row2[layout.once]);
      }
      let problem = problemOf(row2);
      if (problem === null || problem === void 0 || problem === "")
        throw new Error(`row ${this.rows} has no ${layout.problem}: every rollout needs its problem`);
      problem = identity(problem);
      if (withinOf) problem = `${identity(withinOf(row2) ?? null)} ${problem}`;
      const step = missing(row2.step) ? null : identity(row2.step), key = JSON.stringify([step, problem]);
      if (layout.logged_twice) {
        const { step: _, ...content } = row2;
        if (!this.content.has(step)) this.content.set(step, []);
        this.content.get(step).push(identity(content));
      }
      if (!this.groups.has(key)) this.groups.set(key, { step, problem, n: 0, right: 0 });
      outcome.call(this, rewardOf(row2), this.groups.get(key), row2, key);
    }
    return this;
  }
  addReward(cell, group, row2, key) {
    const { threshold, success } = this.choice;
    if (Array.isArray(cell)) {
      for (const each of cell) this.addReward(each, group, row2, key);
      return;
    }
    if (missing(cell)) {
      this.lost++;
      return;
    }
    group.n++;
    if (success !== void 0 && success !== null) {
      group.right += isSuccess(cell, success);
      return;
    }
    const value = number(cell);
    if (threshold !== void 0 && threshold !== null && value !== null) {
      group.right += value >= threshold;
      return;
    }
    if (value !== 0 && value !== 1 && value !== -1) {
      throw new Error(
        `reward ${said(cell)} in row ${this.rows} (${this.layout.problem} ${short(group.problem)}): a reward must be 0 or 1, or -1 or 1; give the threshold from which it is right, or the value that is`
      );
    }
    this.values.add(value);
    group.right += value === 1;
  }
  addRatio(cell, group, row2, key) {
    const match = /^\s*(\d+)\s*\/\s*(\d+)\s*$/.exec(String(cell)), [right, all] = match ? [Number(match[1]), Number(match[2])] : [];
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
  addRate(cell, group, row2, key) {
    if (missing(cell)) {
      this.lost++;
      return;
    }
    const rate = number(cell);
    if (rate === null || rate < 0 || rate > 1)
      throw new Error(`${this.layout.reward} ${said(cell)} in row ${this.rows}: a pass rate must be in [0, 1]`);
    const n = this.layout.size ? number(row2[this.layout.size]) : this.layout.n;
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
        `problem ${short(group.problem)} has ${this.layout.reward} ${before} and ${share}: give each problem one`
      );
    }
    return group.n > 0;
  }
  whole(rate, n, problem) {
    const right = Math.round(rate * n);
    if (Math.abs(right - rate * n) > Math.max(RATE_SLACK, n * 1e-4)) {
      throw new Error(
        `problem ${short(problem)} has the pass rate ${rate}, which is no whole number of ${n} rollouts: look at the column ${this.layout.reward}`
      );
    }
    return right;
  }
  counts() {
    const { layout, values } = this, notes = [
      `${layout.tool ? `${layout.tool}: ` : ""}problems from column ${layout.problem}, rewards from column ${layout.reward}`
    ];
    if (layout.cell === "rate" && !layout.size && !layout.n) notes.push(this.addRates());
    if (values.has(0) && values.has(-1))
      throw new Error(`column ${layout.reward} holds rewards of -1, 0 and 1: give a threshold, from which one is right`);
    if (values.has(-1)) notes.push("a reward of -1 is wrong, 1 is right");
    if (this.others.size) {
      const left = [...this.others].map(([name, rows]) => `${name} (${rows})`).join(", ");
      notes.push(`only the first ${layout.one} is read; left out: ${left} rows`);
    }
    if (this.repeated) notes.push(`${this.repeated} rollouts stand there twice and count once`);
    let groups = [...this.groups.values()];
    const steps = new Set(groups.map(({ step }) => step)).size;
    if (steps > 1) {
      let words = `${steps} steps, their problems kept apart`;
      if (layout.logged_twice) {
        const seen = /* @__PURE__ */ new Set(), twice = /* @__PURE__ */ new Set();
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
    if (!groups.length) throw new Error(`column ${layout.reward} holds no reward: name another`);
    const n = groups.map((group) => group.n);
    for (const group of groups) checkSize(group.n, group.problem);
    if (n.every((size) => size <= 1)) {
      throw new Error(
        `column ${layout.problem} gives every rollout a problem of its own: name the problems in a column problem`
      );
    }
    if (this.lost) notes.push(`${this.lost} of ${this.rows} rollouts have no reward and are left out`);
    if (TEXTS.includes(layout.problem)) {
      const sorted = n.toSorted((a, b) => a - b), middle2 = (sorted[n.length - 1 >> 1] + sorted[n.length >> 1]) / 2;
      notes.push(
        `equal prompts are one problem: ${n.filter((size) => size > middle2).length} of ${n.length} have more rows than most`
      );
    }
    return { n, correct: groups.map((group) => group.right), notes, tool: layout.tool };
  }
  /** Count the rates whose n no column gives: the smallest that all of them are counts of. */
  addRates() {
    const rates = [...this.shares.values()], some = rates.some((rate) => rate > 0 && rate < 1), fits = (n2) => rates.every((rate) => Math.abs(rate * n2 - Math.round(rate * n2)) <= n2 * 1e-4 + RATE_SLACK);
    let n = 2;
    while (n <= 1024 && !(some && fits(n))) n++;
    if (n > 1024 || new Set(rates).size < 3 || n >= rates.length) {
      throw new Error(
        `column ${this.layout.reward} gives rates and no column how many rollouts they are of: add one named ${SIZES.join("|")}`
      );
    }
    for (const [key, rate] of this.shares) {
      this.groups.get(key).n += n;
      this.groups.get(key).right += Math.round(rate * n);
    }
    return `n = ${n} is the smallest of which all rates in ${this.layout.reward} are counts`;
  }
};
function mergedUids(layout, groups) {
  if (layout.problem !== "uid" || groups.some(({ n }) => n > 1)) return groups;
  const merged = /* @__PURE__ */ new Map(), seen = /* @__PURE__ */ new Set();
  for (const { step, problem, n, right } of groups) {
    const match = /^(.+)_(\d+)_\d+$/.exec(problem);
    if (!match) return groups;
    const key = JSON.stringify([step, match[1]]), rollout = JSON.stringify([step, match[1], match[2]]);
    if (seen.has(rollout)) {
      throw new Error(
        `rollout ${match[2]} of problem '${match[1]}' appears twice: give every rollout of a problem its own index`
      );
    }
    seen.add(rollout);
    if (!merged.has(key)) merged.set(key, { step, problem: match[1], n: 0, right: 0 });
    merged.get(key).n += n;
    merged.get(key).right += right;
  }
  return [...merged.values()];
}

// files.js
var LARGEST2 = 3e7;
var SEPARATORS = [",", ";", "	", "|"];
var KINDS = { csv, tsv: csv, json, jsonl, ndjson: jsonl };
var GIVE = "give a file of .csv, .tsv, .json, .jsonl, or .gz of them";
async function readFile(file, choice = {}) {
  const packed = file.name.toLowerCase().endsWith(".gz");
  const kind = file.name.toLowerCase().replace(/\.gz$/, "").split(".").pop();
  if (kind === "parquet") {
    throw new Error(`${file.name}: a page cannot read parquet; the explorer in a notebook can, and so can lab audit`);
  }
  if (!(kind in KINDS)) throw new Error(`${file.name} cannot be read (a kind of file that holds no table): ${GIVE}`);
  if (file.size > LARGEST2) throw tooLarge(file.name, file.size);
  const text2 = packed ? await unpacked(file) : (await file.text()).replace(/^\ufeff/, "");
  try {
    return readCounts(text2.trim() ? KINDS[kind](text2) : [], choice);
  } catch (error) {
    throw new Error(`${file.name}: ${error.message}`);
  }
}
var tooLarge = (name, size) => new Error(
  `${name} has ${Math.round(size / 1e6)} MB: the page reads up to ${LARGEST2 / 1e6}; lab audit reads more`
);
async function unpacked(file) {
  const reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader(), decoder = new TextDecoder(), parts = [];
  let size = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > LARGEST2) break;
      parts.push(decoder.decode(part.value, { stream: true }));
    }
  } catch {
    throw new Error(`${file.name} cannot be read (not a gz file, or half of one): ${GIVE}`);
  }
  if (size > LARGEST2) {
    await reader.cancel();
    throw tooLarge(file.name, size);
  }
  return parts.join("") + decoder.decode();
}
function csv(text2) {
  const lines = text2.replace(/\r\n?/g, "\n"), end = lines.indexOf("\n"), first = end < 0 ? lines : lines.slice(0, end), split = SEPARATORS.map((separator) => cells(first, separator)[0].length), rows = cells(lines, SEPARATORS[split.indexOf(Math.max(...split))]);
  const [head, ...body] = rows.filter((row2) => row2.length > 1 || row2[0].trim());
  body.forEach((row2, i) => {
    if (row2.length !== head.length)
      throw new Error(`row ${i + 1} has ${row2.length} cells and the head ${head.length}: mend that row`);
  });
  return body.map((row2) => Object.fromEntries(head.map((name, i) => [name.trim(), row2[i]])));
}
function cells(text2, separator) {
  const mark = separator === "|" ? "\\|" : separator, rows = [[]];
  for (const [, quoted, plain2, end] of text2.matchAll(
    new RegExp(`(?:"((?:[^"]|"")*)"|([^${mark}
]*))(${mark}|
|$)`, "g")
  )) {
    rows.at(-1).push(quoted === void 0 ? plain2 : quoted.replaceAll('""', '"'));
    if (end === "\n") rows.push([]);
    if (end === "") break;
  }
  return rows;
}
function jsonl(text2) {
  return text2.split("\n").flatMap((line, i) => {
    if (!line.trim()) return [];
    let row2;
    try {
      row2 = JSON.parse(line);
    } catch {
      throw new Error(`cannot be read (line ${i + 1} is not JSON): give one object a line`);
    }
    if (typeof row2 !== "object" || row2 === null || Array.isArray(row2))
      throw new Error(`cannot be read (line ${i + 1} is not an object): give one object a line`);
    return [row2];
  });
}
function json(text2) {
  let document2;
  try {
    document2 = JSON.parse(text2);
  } catch {
    return jsonl(text2);
  }
  const isObject2 = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  if (Array.isArray(document2)) {
    const wrong = document2.findIndex((row2) => !isObject2(row2));
    if (wrong >= 0)
      throw new Error(`cannot be read (element ${wrong + 1} of the list is not an object): give a list of objects`);
    return document2;
  }
  if (isObject2(document2)) {
    const { columns, data } = document2, names = Object.keys(document2), values = Object.values(document2), together = (keys, cell) => keys.map((key) => Object.fromEntries(names.map((name) => [name, cell(name, key)])));
    if (Array.isArray(columns) && Array.isArray(data))
      return data.map((row2) => Object.fromEntries(columns.map((name, i) => [String(name), row2[i]])));
    if (values.length > 1 && values.every((value) => Array.isArray(value)) && new Set(values.map((value) => value.length)).size === 1)
      return together([...values[0].keys()], (name, i) => document2[name][i]);
    if (values.length && values.every(isObject2) && new Set(values.map((value) => JSON.stringify(Object.keys(value)))).size === 1)
      return together(Object.keys(values[0]), (name, key) => document2[name][key]);
    const tables = values.filter((value) => Array.isArray(value) && value.length && value.every(isObject2));
    if (tables.length === 1) return tables[0];
  }
  throw new Error(
    "cannot be read (a JSON object that is no table): give a list of objects, or one object a line"
  );
}

// toy.js
var M0 = 3528531795;
var M1 = 3449720151;
var W0 = 2654435769;
var W1 = 3144134277;
function high(a, b) {
  const al = a & 65535, ah = a >>> 16, bl = b & 65535, bh = b >>> 16;
  const middle2 = ah * bl + (al * bl >>> 16), cross = al * bh + (middle2 & 65535);
  return ah * bh + Math.floor(middle2 / 65536) + Math.floor(cross / 65536) >>> 0;
}
function philox([c0, c1, c2, c3], [k0, k1]) {
  for (let round = 0; round < 10; round++) {
    const h0 = high(M0, c0), l0 = Math.imul(M0, c0) >>> 0, h1 = high(M1, c2), l1 = Math.imul(M1, c2) >>> 0;
    [c0, c1, c2, c3] = [(h1 ^ c1 ^ k0) >>> 0, l1, (h0 ^ c3 ^ k1) >>> 0, l0];
    k0 = k0 + W0 >>> 0;
    k1 = k1 + W1 >>> 0;
  }
  return [c0, c1, c2, c3];
}
var ANSWERS = 8;
var HARDEST = 1e-3;
var EASIEST = 0.9;
var logit2 = (p) => Math.log(p) - Math.log1p(-p);
var Policy = class {
  constructor({ sequences, problems, rollouts, rate, seed }) {
    Object.assign(this, { problems, rollouts, rate, seed, time: 0 });
    [this.right, this.wrong] = successFailure(sequences);
    this.logits = new Float64Array(problems * ANSWERS);
    for (let x = 0; x < problems; x++) {
      const share = problems > 1 ? x / (problems - 1) : 0;
      this.logits[x * ANSWERS] = logit2(HARDEST) * (1 - share) + share * logit2(EASIEST) + Math.log(ANSWERS - 1);
    }
  }
  softmax(x) {
    const row2 = this.logits.subarray(x * ANSWERS, (x + 1) * ANSWERS), most = Math.max(...row2);
    const out = row2.map((value) => Math.exp(value - most)), sum = out.reduce((a, b) => a + b);
    return out.map((value) => value / sum);
  }
  passRates() {
    return Float64Array.from({ length: this.problems }, (_, x) => this.softmax(x)[0]);
  }
  /** N answers a problem by common random numbers, their advantages, one step up the gradient. Returns K by problem. */
  step() {
    const { rollouts: N, rate } = this, solved = new Int32Array(this.problems);
    for (let x = 0; x < this.problems; x++) {
      const pi = this.softmax(x), counts2 = new Float64Array(ANSWERS);
      for (let block = 0; 4 * block < N; block++) {
        const words = philox([block, x, this.time, 0], [this.seed, 7102818]);
        for (let i = 0; i < 4 && 4 * block + i < N; i++) {
          const u = (words[i] + 0.5) / 2 ** 32;
          let answer = 0;
          for (let reach = pi[0]; answer < ANSWERS - 1 && u >= reach; reach += pi[answer]) answer++;
          counts2[answer]++;
        }
      }
      const K = solved[x] = counts2[0], sum = this.right[K] * K + this.wrong[K] * (N - K);
      for (let a = 0; a < ANSWERS; a++) {
        const paid = counts2[a] * (a === 0 ? this.right[K] : this.wrong[K]);
        this.logits[x * ANSWERS + a] += rate * (paid - sum * pi[a]) / N;
      }
    }
    this.time++;
    return solved;
  }
};
function summary(p) {
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  return { mean: mean(p), hard: mean(p.slice(0, Math.floor(p.length / 4))), likelihood: mean(p.map(Math.log)) };
}

// pass_rates.js
var EXCESS = 1e-6;
var STEPS = 200;
var SLACK = 1;
var MOST_CELLS = 150;
var EDGES = [0.01, 0.1, 0.3, 0.7, 0.9, 0.99];
var total = (values) => values.reduce((a, b) => a + b, 0);
function cellsOf(n, correct) {
  const key = (i) => `${n[i]} ${correct[i]}`, cells2 = new Map(n.map((size, i) => [key(i), { size, right: correct[i] }]));
  if (cells2.size > MOST_CELLS) {
    throw new Error(
      `${cells2.size} different counts: the page fits up to ${MOST_CELLS}; in a notebook, or by lab audit, all`
    );
  }
  const rows = [...cells2.values()].sort((a, b) => a.size - b.size || a.right - b.right);
  const place = new Map(rows.map(({ size, right }, c) => [`${size} ${right}`, c]));
  const steps = Math.max(200, Math.ceil(4 * Math.PI * Math.sqrt(Math.max(...rows.map(({ size }) => size)))));
  const p = Float64Array.from({ length: steps + 1 }, (_, i) => Math.sin(Math.PI / 2 * i / steps) ** 2);
  const power2 = (k, x) => k === 0 ? 0 : k * x;
  const chance = rows.map(({ size, right }) => {
    const logs = p.map((x) => power2(right, Math.log(x)) + power2(size - right, Math.log1p(-x))), peak = Math.max(...logs);
    return logs.map((value) => Math.exp(value - peak));
  });
  return { p, chance, of: n.map((_, i) => place.get(key(i))) };
}
var counted = (of, cells2) => of.reduce((times, c) => {
  times[c]++;
  return times;
}, new Array(cells2).fill(0));
function mixing(n, correct, slack = SLACK) {
  const { p, chance, of } = cellsOf(n, correct);
  return { p, mass: mix(chance, counted(of, chance.length), slack) };
}
function resampled(n, correct) {
  const { p, chance, of } = cellsOf(n, correct);
  return (draw) => {
    const again = of.map((_, i) => of[Math.floor(philox([i, draw, 0, 0], [0, 1651470196])[0] / 2 ** 32 * of.length)]);
    return { p, mass: mix(chance, counted(again, chance.length), SLACK) };
  };
}
var product = (chance, mass) => chance.map((row2) => {
  let sum = 0;
  for (let i = 0; i < mass.length; i++) sum += row2[i] * mass[i];
  return sum;
});
function mix(every, all, slack) {
  const chance = every.filter((_, c) => all[c] > 0), times = all.filter((count) => count > 0);
  const problems = total(times), share = times.map((t) => t / problems), width = chance[0].length;
  let mass = new Float64Array(width).fill(1 / width);
  for (let step = 0; ; step++) {
    if (step === STEPS) throw new Error("the pass rates do not settle: give counts of fewer different sizes");
    const mixed = product(chance, mass), ratio = chance.map((row2, c) => row2.map((value) => value / mixed[c]));
    const slope = mass.map((_, i) => total(ratio.map((row2, c) => share[c] * row2[i])));
    if (Math.max(...slope) <= 1 + EXCESS) break;
    const columns = Array.from(mass, (_, i) => [...ratio.map((row2, c) => Math.sqrt(share[c]) * (row2[i] - 2)), 1]);
    let newton = nonNegative(columns, [...share.map(() => 0), 1]);
    const size = total(newton);
    newton = newton.map((value) => value / size);
    const change = product(ratio, newton).map((value) => value - 1), rise = total(change.map((value, c) => share[c] * value));
    let length = 0.99;
    while (total(change.map((value, c) => share[c] * Math.log1p(length * value))) < 0.1 * length * rise) length /= 2;
    mass = mass.map((value, i) => value + length * (newton[i] - value));
  }
  if (!slack) return mass;
  const top = product(chance, mass);
  let smooth = new Float64Array(width).fill(1 / width);
  for (; ; ) {
    const mixed = product(chance, smooth);
    if (total(share.map((s, c) => s * Math.log(mixed[c] / top[c]))) >= -slack / problems) return smooth;
    const factor = new Float64Array(width);
    chance.forEach(
      (row2, c) => row2.forEach((value, i) => {
        factor[i] += share[c] / mixed[c] * value;
      })
    );
    smooth = smooth.map((value, i) => value * factor[i]);
  }
}
function shareByBin(p, mass, edges) {
  const bins = new Float64Array(edges.length - 1);
  p.forEach((x, i) => {
    const above = edges.findIndex((edge) => edge >= x);
    bins[Math.max(above - 1, 0)] += mass[i];
  });
  return Array.from(bins);
}
function interval(values) {
  const sorted = Float64Array.from(values).sort(), last = sorted.length - 1;
  return [sorted[Math.floor(0.025 * last)], sorted[Math.ceil(0.975 * last)]];
}
function readings({ n, exact }, N) {
  const reach = exact ? Infinity : n.reduce((a, b) => Math.max(a, b)), sizes = [];
  for (let size = 2; size <= 4 * N; size *= 2) sizes.push(size);
  return { reach, sizes, edges: [0, ...EDGES.filter((edge) => Math.min(edge, 1 - edge) >= 0.5 / reach), 1] };
}
var strengths = (p, gap) => expect(binomialTable(gap.length - 1, p), gap).map((w, i) => p[i] * (1 - p[i]) * Math.abs(w));
function tell(p, { edges, sizes }, N, gaps) {
  const at = Object.entries(gaps).map(([name, gap]) => [
    name,
    strengths(p, gap(N)),
    sizes.map((size) => gap(size) && strengths(p, gap(size)))
  ]);
  const lost = sizes.map((size) => Array.from(p, (x) => (1 - x) ** size + x ** size));
  const weigh2 = (mass, values) => total(Array.from(mass, (m, i) => m * values[i]));
  return (mass) => {
    const gradients = {}, signals = {};
    for (const [name, here, elsewhere] of at) {
      const bins = shareByBin(
        p,
        Array.from(mass, (m, i) => m * here[i]),
        edges
      ), all = Math.max(total(bins), 1e-6);
      gradients[name] = bins.map((value) => value / all);
      signals[name] = elsewhere.map((values) => values ? weigh2(mass, values) : NaN);
    }
    return {
      problems: shareByBin(p, mass, edges),
      dead: lost.map((values) => weigh2(mass, values)),
      gradients,
      signals
    };
  };
}
function analyse(counts2, N, gaps, kept = {}) {
  const { n, correct, exact } = counts2, places = readings(counts2, N);
  const naive = exact ?? n.map((size, i) => correct[i] / size), even = naive.map(() => 1 / naive.length);
  kept.fit ??= exact ? { p: exact, mass: even } : mixing(n, correct);
  const found = tell(kept.fit.p, places, N, gaps)(kept.fit.mass);
  if (exact) return { ...places, ...found };
  const { problems, dead } = tell(naive, places, N, {})(even);
  return { ...places, ...found, naive: problems, deadNaive: dead };
}

// panel_files.js
var ASKED = {
  problem: "column of the problem",
  reward: "column of the reward",
  threshold: "right from a reward of",
  success: "or: right if it is"
};
var DRAWS = 200;
var FEW = 64;
var FilesPanel = class {
  constructor(app) {
    this.app = app;
    const { store } = app;
    this.N = slider(
      "Rollouts a problem, N",
      store.state.N,
      { least: 2, most: 1024, step: 1, scale: LOG(2, 1024), first: true },
      (N) => store.set({ N })
    );
    const again = () => this.file && this.open(this.file);
    this.input = h("input", {
      type: "file",
      accept: ".csv,.tsv,.json,.jsonl,.ndjson,.gz,.parquet",
      id: "lab-file",
      onchange: () => {
        if (this.input.files[0]) this.open(this.input.files[0]);
        this.input.value = "";
      }
    });
    this.zone = h(
      "div",
      { class: "drop" },
      h("label", { for: "lab-file" }, "Drop a file here, or choose one"),
      this.input,
      h(
        "p",
        { class: "rules" },
        "Rollouts as TRL, verl and others write them, or one row a problem with n and k (how often it was tried and solved), or one row a rollout with problem and reward (0 or 1). CSV, JSON or JSONL, also packed (gz)" + (app.kernel ? ", or parquet." : "; parquet is read in the notebook. Nothing leaves this page.")
      )
    );
    this.choice = Object.fromEntries(
      Object.keys(ASKED).map((name) => [name, h("input", { type: "text", spellcheck: "false", onchange: again })])
    );
    this.asked = app.kernel ? null : h(
      "details",
      {},
      h("summary", {}, "Columns and right rewards"),
      ...Object.entries(ASKED).map(([name, label]) => field(label, this.choice[name]))
    );
    for (const [name, over] of [
      ["dragenter", true],
      ["dragover", true],
      ["dragleave", false],
      ["drop", false]
    ]) {
      this.zone.addEventListener(name, (event) => {
        event.preventDefault();
        this.zone.classList.toggle("over", over);
      });
    }
    this.zone.addEventListener("drop", (event) => {
      if (event.dataTransfer.files[0]) this.open(event.dataTransfer.files[0]);
    });
    this.fault = h("p", { class: "fault", role: "alert", style: "overflow-wrap: anywhere" });
    this.notes = h("div", { class: "notes" });
    this.example = h("button", { type: "button", onclick: () => this.take(EXAMPLE) }, "Show an invented example");
    this.histogram = new Chart({
      label: "pass rates of the problems, with and without sampling noise",
      height: 0.32,
      least: 210
    });
    this.gradient = new Chart({ label: "share of the gradient by pass rate", height: 0.32, least: 210 });
    this.dead = new Chart({ label: "share of dead groups by group size", height: 0.32, least: 210 });
    this.larger = new Chart({ label: "mean gradient by group size", height: 0.32, least: 210 });
    this.stage = h(
      "section",
      { class: "stage" },
      h("h3", {}, "How hard the problems are"),
      this.histogram.element,
      h("h3", {}, "Where each objective spends its gradient"),
      this.gradient.element,
      h("h3", {}, "Dead groups"),
      this.dead.element,
      h("h3", {}, "What a larger N would change"),
      this.larger.element,
      app.saver(
        () => this.dead,
        () => this.columns(),
        "pass_rates"
      )
    );
    this.stage.hidden = true;
    this.element = h(
      "div",
      { class: "panel" },
      h(
        "section",
        { class: "controls", "aria-label": "the file" },
        this.N.element,
        this.zone,
        this.asked,
        this.fault,
        this.example,
        h("p", { class: "rules" }, "The objectives are those of the first panel."),
        this.notes
      ),
      this.stage
    );
  }
  /** What the user says of the file, see readCounts. */
  said() {
    const words = Object.entries(this.choice).map(([name, { value }]) => [name, value.trim()]), said2 = Object.fromEntries(words.filter(([, word]) => word));
    if (said2.threshold === void 0) return said2;
    if (said2.success !== void 0) throw new Error("a threshold and a value that is right: give one of them");
    if (!Number.isFinite(Number(said2.threshold))) throw new Error(`threshold ${said2.threshold}: give a number`);
    return { ...said2, threshold: Number(said2.threshold) };
  }
  async open(file) {
    this.file = file;
    this.fault.textContent = "";
    this.notes.textContent = `reading ${file.name} …`;
    try {
      this.take(this.app.kernel ? await this.app.kernel.read(file) : await readFile(file, this.said()), file.name);
    } catch (error) {
      this.notes.textContent = "";
      this.fault.textContent = error.message;
    }
  }
  /** Counts { n, correct, notes } or exact pass rates become what is drawn; `fit` is the lab's, where there is one. */
  take(counts2) {
    this.counts = counts2;
    this.kept = counts2.fit ? { fit: counts2.fit } : {};
    this.draws = [];
    const few = !counts2.exact && new Set(counts2.n.map((size, i) => `${size} ${counts2.correct[i]}`)).size <= FEW;
    this.again = few ? resampled(counts2.n, counts2.correct) : null;
    this.fault.textContent = "";
    this.app.refresh();
  }
  update(state) {
    this.N.show(state.N);
    clearTimeout(this.later);
    if (!this.counts) {
      this.app.drawn();
      return;
    }
    this.lines = this.app.lines(state).filter(({ sequences }) => sequences);
    this.gaps = Object.fromEntries(
      this.lines.map(({ spec }) => [
        spec,
        (N) => {
          try {
            return this.app.estimator(spec, N).sequences?.[0] ?? null;
          } catch {
            return null;
          }
        }
      ])
    );
    try {
      this.found = analyse(this.counts, state.N, this.gaps, this.kept);
    } catch (error) {
      this.fault.textContent = error.message;
      this.stage.hidden = true;
      this.notes.textContent = "";
      this.app.drawn();
      return;
    }
    this.stage.hidden = false;
    this.intervals = null;
    this.render(state);
    if (this.again) this.later = setTimeout(() => this.bootstrap(state), 30);
  }
  /** Intervals over problems, drawn again DRAWS times between other things; every draw is fitted anew, and kept. */
  bootstrap(state) {
    const began = performance.now();
    while (this.draws.length < DRAWS && performance.now() - began < 25)
      this.draws.push(this.again(this.draws.length).mass);
    if (this.draws.length < DRAWS) {
      this.later = setTimeout(() => this.bootstrap(state), 5);
      return;
    }
    const speak = tell(this.kept.fit.p, this.found, state.N, this.gaps), told = this.draws.map(speak);
    const spread = (pick) => pick(told[0]).map((_, i) => interval(told.map((one2) => pick(one2)[i])));
    this.intervals = {
      problems: spread((one2) => one2.problems),
      dead: spread((one2) => one2.dead),
      gradients: Object.fromEntries(Object.keys(this.gaps).map((name) => [name, spread((one2) => one2.gradients[name])]))
    };
    this.render(state);
  }
  words() {
    const { n, correct, exact, notes } = this.counts, paragraphs = notes.map((note) => h("p", {}, note));
    if (exact) return paragraphs;
    const sum = (values) => values.reduce((a, b) => a + b, 0), least = n.reduce((a, b) => Math.min(a, b)), dead = n.filter((size, i) => correct[i] === 0 || correct[i] === size).length;
    return [
      ...paragraphs,
      h(
        "p",
        {},
        `${sum(correct)} of ${sum(n)} rollouts are right, ${least} to ${this.found.reach} a problem; ${format(100 * dead / n.length, 3)} % of groups are dead as they lie.`
      ),
      h(
        "p",
        {},
        "Noise removed by maximum likelihood, smooth. " + (this.intervals ? `Lines: 95 % over ${n.length} problems, ${DRAWS} draws.` : this.again ? "Intervals are being drawn …" : "So many different counts are shown without intervals: lab audit gives them.")
      )
    ];
  }
  render(state) {
    const { found, lines } = this, theme = this.app.theme(), bins = found.problems.length, blue = this.app.color("#0072b2");
    this.notes.replaceChildren(...this.words());
    const percent = found.edges.map((edge) => format(100 * edge)), ticks = found.problems.map((_, i) => [i + 0.5, `${percent[i]}–${percent[i + 1]}`]);
    const x = { kind: "linear", domain: [0, bins], label: "pass rate p, %", ticks };
    const style = looks(lines.map(({ name }) => name)).map((look) => ({ ...look, color: this.app.color(look.color) }));
    const whiskers = (pairs, place) => (pairs ?? []).map(([low, high2], i) => ({ x: place(i), low, high: high2 }));
    const spread = this.intervals;
    const tops = (values, pairs) => niceDomain([0, ...values, ...(pairs ?? []).flat()], "linear");
    this.histogram.draw(
      {
        x,
        y: {
          kind: "linear",
          domain: tops([...found.problems, ...found.naive ?? []], spread?.problems),
          label: "share of problems"
        },
        bars: [
          ...found.problems.map((value, i) => ({ from: i + 0.12, to: i + 0.5, value, color: blue, opacity: 0.85 })),
          ...(found.naive ?? []).map((value, i) => ({
            from: i + 0.52,
            to: i + 0.88,
            value,
            color: theme.muted,
            outline: true
          }))
        ],
        whiskers: whiskers(spread?.problems, (i) => i + 0.31),
        keys: [
          { label: found.naive ? "without noise" : "as computed", color: blue, block: true },
          ...found.naive ? [{ label: "k/n taken for p", color: theme.muted, dash: [2, 1] }] : []
        ]
      },
      theme
    );
    const shares = lines.map(({ spec }) => found.gradients[spec]), slot = 0.8 / Math.max(1, lines.length);
    this.gradient.draw(
      {
        x,
        y: {
          kind: "linear",
          domain: tops(shares.flat(), spread && Object.values(spread.gradients).flat()),
          label: `share of gradient, N = ${state.N}`
        },
        bars: shares.flatMap(
          (values, k) => values.map((value, i) => ({
            from: i + 0.1 + slot * k,
            to: i + 0.1 + slot * (k + 0.86),
            value,
            color: style[k].color,
            opacity: 0.9
          }))
        ),
        whiskers: spread ? lines.flatMap(({ spec }, k) => whiskers(spread.gradients[spec], (i) => i + 0.1 + slot * (k + 0.43))) : [],
        keys: lines.map(({ label }, k) => ({ label, color: style[k].color, block: true }))
      },
      theme
    );
    const sizes = found.sizes, top = sizes.at(-1), beyond = found.reach < top;
    const N = {
      kind: "log",
      domain: [2, Math.max(4, top)],
      label: `rollouts N${beyond ? " (shaded: extrapolated)" : ""}`,
      ticks: sizes.map((size) => [size, String(size)])
    };
    const bands = beyond ? [[Math.max(2, found.reach), top]] : [];
    this.dead.draw(
      {
        x: N,
        y: { kind: "linear", domain: [0, 1], label: "share of groups that are dead" },
        bands,
        mark: state.N,
        lines: [
          { x: sizes, y: found.dead, color: theme.ink, width: 2.2, label: "dead: all wrong or all right" },
          ...found.deadNaive ? [
            {
              x: sizes,
              y: found.deadNaive,
              color: theme.muted,
              dash: [3, 2],
              width: 1.6,
              label: "the same with k/n taken for p"
            }
          ] : []
        ],
        whiskers: whiskers(spread?.dead, (i) => sizes[i]),
        dots: sizes.map((size, i) => ({ x: size, y: found.dead[i], color: theme.ink }))
      },
      theme
    );
    const signals = lines.map(({ spec }) => found.signals[spec]);
    this.larger.draw(
      {
        x: N,
        y: { kind: "linear", domain: tops(signals.flat()), label: "mean of p(1−p)|w_N|" },
        bands,
        mark: state.N,
        lines: lines.map(({ label }, k) => ({
          x: sizes,
          y: signals[k],
          color: style[k].color,
          dash: style[k].dash,
          label
        }))
      },
      theme
    );
    this.app.drawn();
  }
  columns() {
    const { edges, problems, naive, gradients, signals, sizes, dead, deadNaive } = this.found, spread = this.intervals;
    const ends = (name, pairs) => pairs ? { [`${name}, low`]: pairs.map(([low]) => low), [`${name}, high`]: pairs.map(([, high2]) => high2) } : {};
    return {
      from: edges.slice(0, -1),
      to: edges.slice(1),
      problems,
      ...ends("problems", spread?.problems),
      ...naive ? { "K/n as p": naive } : {},
      ...Object.fromEntries(Object.entries(gradients).map(([name, values]) => [`gradient ${name}`, values])),
      N: sizes,
      dead,
      ...ends("dead", spread?.dead),
      ...deadNaive ? { "dead, K/n as p": deadNaive } : {},
      ...Object.fromEntries(Object.entries(signals).map(([name, values]) => [`mean gradient ${name}`, values]))
    };
  }
};
var EXAMPLE = (() => {
  const n = [], correct = [];
  for (const [k, times] of [
    [0, 38],
    [1, 17],
    [2, 11],
    [3, 8],
    [5, 8],
    [8, 9],
    [11, 7],
    [13, 6],
    [15, 6],
    [16, 10]
  ]) {
    for (let i = 0; i < times; i++) {
      n.push(16);
      correct.push(k);
    }
  }
  return { n, correct, notes: [`an invented example: ${n.length} problems of 16 rollouts`] };
})();

// panel_toy.js
var LONGEST2 = 2e3;
var RUNS = 400;
var SIDES = ["left", "right"];
var ToyPanel = class {
  constructor(app) {
    this.app = app;
    const { store } = app, names = Object.keys(offered(ESTIMATORS));
    this.N = slider(
      "Rollouts a problem, N",
      store.state.N,
      { least: 2, most: 1024, step: 1, scale: LOG(2, 1024), first: true },
      (N) => store.set({ N })
    );
    this.problems = slider(
      "Problems",
      store.state.problems,
      { least: 4, most: 400, step: 1, scale: LOG(4, 400) },
      (problems) => store.set({ problems })
    );
    this.rate = slider(
      "Learning rate",
      store.state.rate,
      { least: 0.05, most: 5, step: 0.05 },
      (rate) => store.set({ rate })
    );
    this.seed = h("input", {
      type: "number",
      min: "0",
      max: String(2 ** 31 - 1),
      step: "1",
      onchange: () => {
        if (this.seed.checkValidity() && this.seed.value !== "") store.set({ seed: Number(this.seed.value) });
      }
    });
    this.menus = Object.fromEntries(SIDES.map((side) => [side, h("div")]));
    this.play = h(
      "button",
      { type: "button", class: "primary", onclick: () => this.playing ? this.pause() : this.start() },
      "Play"
    );
    this.clock = h("output", { class: "where" });
    this.charts = Object.fromEntries(
      SIDES.map((side) => [side, new Chart({ label: `pass rates over training, ${side}`, height: 0.72, least: 220 })])
    );
    this.heads = Object.fromEntries(SIDES.map((side) => [side, h("h3")]));
    this.spread = Object.fromEntries(
      SIDES.map((side) => [side, new Chart({ label: `distribution of pass rates, ${side}`, height: 0.3, least: 110 })])
    );
    this.mean = new Chart({ label: "mean pass rate and the hardest quarter", height: 0.3, least: 190 });
    this.fault = h("p", { class: "fault", role: "alert" });
    this.line = h("code", { class: "line", tabindex: "0" });
    this.names = names;
    this.element = h(
      "div",
      { class: "panel" },
      h(
        "section",
        { class: "controls", "aria-label": "the run" },
        this.N.element,
        SIDES.map((side) => this.menus[side]),
        this.problems.element,
        this.rate.element,
        field("Seed", this.seed),
        h(
          "div",
          { class: "row" },
          this.play,
          h(
            "button",
            {
              type: "button",
              onclick: () => {
                this.pause();
                this.advance(1);
              }
            },
            "Step"
          ),
          h(
            "button",
            {
              type: "button",
              onclick: () => {
                this.pause();
                this.reset();
                this.render();
              }
            },
            "Reset"
          ),
          this.clock
        ),
        this.fault,
        h(
          "p",
          { class: "rules" },
          `Each problem is a softmax over ${ANSWERS} answers, one of them right; pass rates start even in log-odds from ${HARDEST} to ${EASIEST}. Both sides draw with the same random numbers (Philox4x32-10, one counter a problem, step and rollout).`
        ),
        h("h3", {}, "The same numbers in Python"),
        this.line
      ),
      h(
        "section",
        { class: "stage" },
        h(
          "div",
          { class: "pair" },
          SIDES.map((side) => h("div", {}, this.heads[side], this.charts[side].element, this.spread[side].element))
        ),
        this.mean.element,
        app.saver(
          () => this.mean,
          () => this.columns(),
          "toy"
        )
      )
    );
    this.key = "";
  }
  reset() {
    const { state } = this.app.store;
    this.runs = null;
    this.fault.textContent = "";
    try {
      this.found = SIDES.map((side) => this.app.estimator(state[side], state.N));
      if (this.found.some(({ waiting }) => waiting)) return;
      this.runs = this.found.map(({ sequences }) => {
        const policy = new Policy({
          sequences,
          problems: state.problems,
          rollouts: state.N,
          rate: state.rate,
          seed: state.seed
        });
        return { policy, history: [policy.passRates()] };
      });
    } catch (error) {
      this.pause();
      this.fault.textContent = error.message;
    }
  }
  start() {
    if (!this.runs) return;
    this.playing = true;
    this.play.textContent = "Pause";
    const tick = () => {
      if (!this.playing || !this.element.isConnected || this.element.hidden) {
        this.pause();
        return;
      }
      const began = performance.now();
      do
        this.forward();
      while (performance.now() - began < 6 && this.time % 4);
      this.render();
      if (this.time >= RUNS && this.time % RUNS === 0) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }
  pause() {
    this.playing = false;
    this.play.textContent = this.runs && this.time > 0 ? "Go on" : "Play";
  }
  get time() {
    return this.runs ? this.runs[0].policy.time : 0;
  }
  forward() {
    if (this.time >= LONGEST2) {
      this.pause();
      return;
    }
    for (const { policy, history: history2 } of this.runs) {
      policy.step();
      history2.push(policy.passRates());
    }
  }
  advance(steps) {
    if (!this.runs) return;
    for (let i = 0; i < steps; i++) this.forward();
    this.render();
  }
  update(state) {
    const key = JSON.stringify(["N", "left", "right", "problems", "rate", "seed"].map((name) => state[name]));
    this.N.show(state.N);
    this.problems.show(state.problems);
    this.rate.show(state.rate);
    if (document.activeElement !== this.seed) this.seed.value = state.seed;
    if (key !== this.key || !this.runs) {
      this.key = key;
      for (const side of SIDES) {
        const all = this.names.includes(state[side]) ? this.names : [state[side], ...this.names];
        const start2 = (name) => this.app.start(name);
        const menu = select(all, state[side], (name) => this.app.store.set({ [side]: start2(name) }));
        this.menus[side].replaceChildren(field(side === "left" ? "Left objective" : "Right objective", menu));
      }
      this.pause();
      this.reset();
    }
    const names = SIDES.map((side) => JSON.stringify(state[side])).join(", ");
    this.line.textContent = `from lab.toy import paired; paired.pass_rates([${names}], rollouts=${state.N}, problems=${state.problems}, steps=${Math.max(this.time, 1)}, learning_rate=${state.rate}, seed=${state.seed})`;
    this.render();
  }
  render() {
    const { state } = this.app.store, theme = this.app.theme();
    if (!this.runs) return;
    this.clock.textContent = `step ${this.time}${this.time >= LONGEST2 ? ", the end" : ""}`;
    this.line.textContent = this.line.textContent.replace(/steps=\d+/, `steps=${Math.max(this.time, 1)}`);
    const style = looks(this.found.map(({ name }) => name)).map((look) => ({
      ...look,
      color: this.app.color(look.color)
    }));
    const last = [50, 100, 200, 400, 800, 1200].find((end) => end >= this.time) ?? LONGEST2, x = { kind: "linear", domain: [0, last], label: "step" };
    const every = Math.max(1, Math.floor(this.time / 120)), at = [];
    for (let t = 0; t <= this.time; t += every) at.push(t);
    if (at.at(-1) !== this.time) at.push(this.time);
    const lines = [];
    SIDES.forEach((side, k) => {
      const { history: history2 } = this.runs[k], { color, dash } = style[k], shown = Math.ceil(state.problems / 48), now = history2.at(-1), numbers = summary(now);
      const paths = [];
      for (let i = 0; i < state.problems; i += shown)
        paths.push({ x: at, y: at.map((t) => history2[t][i]), color, width: 1, opacity: 0.5 });
      const means = at.map((t) => summary(history2[t]));
      this.heads[side].textContent = `${this.found[k].label}: mean ${format(numbers.mean, 3)}, hardest quarter ${format(numbers.hard, 3)}`;
      this.charts[side].draw(
        { x, y: { kind: "logit", domain: [1e-4, 0.9999], label: "pass rate, a line a problem" }, lines: paths },
        theme
      );
      const bins = new Array(20).fill(0);
      now.forEach((p) => {
        bins[Math.min(19, Math.floor(20 * p))]++;
      });
      this.spread[side].draw(
        {
          x: { kind: "linear", domain: [0, 1], label: "pass rate now" },
          y: {
            kind: "linear",
            domain: [0, niceDomain([0, state.problems / 2, ...bins], "linear")[1]],
            label: "problems"
          },
          bars: bins.map((value, i) => ({
            from: i / 20 + 4e-3,
            to: (i + 1) / 20 - 4e-3,
            value,
            color,
            opacity: 0.8
          }))
        },
        theme
      );
      lines.push(
        { x: at, y: means.map(({ mean }) => mean), color, dash, width: 2.4, label: `${this.found[k].label}, all` },
        {
          x: at,
          y: means.map(({ hard }) => hard),
          color,
          dash,
          width: 1.2,
          label: `${this.found[k].label}, hardest quarter`
        }
      );
    });
    this.mean.draw({ x, y: { kind: "linear", domain: [0, 1], label: "mean pass rate" }, lines }, theme);
    this.app.drawn();
  }
  /** One row a step: the pass rate of every problem on both sides. */
  columns() {
    const columns = { step: this.runs[0].history.map((_, t) => t) };
    SIDES.forEach((side, k) => {
      for (let i = 0; i < this.app.store.state.problems; i++)
        columns[`${side} ${i}`] = this.runs[k].history.map((p) => p[i]);
    });
    return columns;
  }
};

// save.js
function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
}
var text = (chart) => new XMLSerializer().serializeToString(chart.svg);
var saveSvg = (chart, name) => download(`${name}.svg`, new Blob([text(chart)], { type: "image/svg+xml" }));
async function savePng(chart, name) {
  const image = new Image(), canvas = document.createElement("canvas");
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text(chart))}`;
  await image.decode();
  canvas.width = 3 * chart.svg.width.baseVal.value;
  canvas.height = 3 * chart.svg.height.baseVal.value;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => download(`${name}.png`, blob), "image/png");
}
function saveCsv(columns, name) {
  const names = Object.keys(columns), length = Math.max(...Object.values(columns).map((values) => values.length));
  const quoted = (word) => /[",\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word;
  const rows = [names.map(quoted).join(",")];
  for (let i = 0; i < length; i++) rows.push(names.map((column) => columns[column][i] ?? "").join(","));
  download(`${name}.csv`, new Blob([`${rows.join("\n")}
`], { type: "text/csv" }));
}

// explorer.js
var PANELS = { curves: "Curves", draw: "Draw your own", files: "Your pass rates", toy: "Live toy" };
var Explorer = class {
  /** `kernel`: the lab in a notebook (see kernel.js), or null where the page stands alone. */
  constructor(root, store, kernel = null) {
    Object.assign(this, { root, store, kernel });
    this.authority = kernel?.authority(() => this.refresh()) ?? null;
    this.revision = 0;
    this.say = h("p", { class: "fault", role: "alert" });
    this.badge = h("output", { class: "badge" });
    this.nav = h("nav", { "aria-label": "panels" });
    this.panels = {};
    this.body = h("div", { class: "body" });
    root.classList.add("lab-explorer");
    root.dataset.lmSuppressShortcuts = "true";
    root.replaceChildren(
      h(
        "header",
        {},
        h(
          "div",
          {},
          h("h2", {}, "Which problems does an objective care about?"),
          h(
            "p",
            { class: "idea" },
            "With right-or-wrong rewards a group estimator is two sequences: rollout i gets ",
            h("b", {}, "gap[j] r", h("sub", {}, "i"), " + offset[j]"),
            ", with j right ones among the others. What is optimised is ",
            h("b", {}, "w(p) = E[gap[j]]"),
            "; offset only decides how noisily."
          )
        ),
        h(
          "div",
          { class: "tools" },
          this.badge,
          h(
            "button",
            { type: "button", onclick: (event) => this.share(event.target) },
            kernel ? "Copy as Python" : "Copy link"
          ),
          h(
            "button",
            {
              type: "button",
              "aria-label": "light or dark",
              onclick: () => store.set({ theme: this.dark ? "light" : "dark" })
            },
            "◐"
          )
        )
      ),
      this.nav,
      this.say,
      this.body
    );
    store.listen((state) => {
      write(this.say, "");
      this.update(state);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.update(store.state));
    this.update(store.state);
  }
  get dark() {
    const { theme } = this.store.state, jupyter = document.body.dataset.jpThemeLight;
    return theme === "auto" ? jupyter ? jupyter === "false" : matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
  }
  theme() {
    return THEMES[this.dark ? "dark" : "light"];
  }
  color(color) {
    return this.dark ? DARK[color] ?? color : color;
  }
  update(state) {
    this.root.dataset.theme = this.dark ? "dark" : "light";
    rebuild(this.nav, state.panel, () => [
      segmented("panel", PANELS, state.panel, (panel) => this.store.set({ panel }))
    ]);
    this.panel(state.panel);
    for (const [name, panel] of Object.entries(this.panels)) panel.element.hidden = name !== state.panel;
    this.panels[state.panel].update(state);
  }
  /** A panel by name, made when it is first needed. */
  panel(name) {
    const kinds = { curves: CurvesPanel, draw: DrawPanel, files: FilesPanel, toy: ToyPanel };
    if (!this.panels[name]) {
      this.panels[name] = new kinds[name](this);
      this.body.append(this.panels[name].element);
    }
    return this.panels[name];
  }
  /** Counts that the notebook gave. */
  counts(counts2) {
    this.panel("files").take(counts2);
  }
  refresh() {
    this.update(this.store.state);
  }
  /**
   * An estimator at N by its spec: { spec, name, label, about, options, w, sequences }. In a notebook one that has no
   * closed form may be `waiting` for Python; elsewhere it has no options to change, and may be at the `nearest` N.
   */
  estimator(spec, N, nearest = false) {
    const name = spec.split("(")[0].trim(), large = ["drawn", "formula"].includes(name) && N > LARGEST;
    if (this.kernel && !(name in ESTIMATORS || name in ALIASES))
      return this.authority.own(spec, N, this.store.state.x);
    const found = resolve(ESTIMATORS, spec), { about } = found.entry;
    if (this.kernel && (large || !found.entry.sequences))
      return { ...found, about, ...this.authority.own(spec, N, this.store.state.x) };
    if (!found.entry.sequences) return tabled(found, N, nearest);
    return {
      ...found,
      about,
      w: found.entry.limit(found.options),
      sequences: this.authority?.sequences(found.spec, N) ?? coefficients(found, N)
    };
  }
  /** The curves of the state with their estimators; those that fail are left out. */
  lines(state) {
    return state.curves.flatMap((spec) => {
      try {
        return [{ ...this.estimator(spec, state.N), spec }];
      } catch {
        return [];
      }
    });
  }
  /** The spec of an estimator as it is first shown. */
  start(name) {
    return offered(ESTIMATORS)[name] ?? name;
  }
  verify(panel, state) {
    this.authority?.verify(panel, state, this.badge);
  }
  /** Counted for tests and benchmarks: a picture is on the page. */
  drawn() {
    this.root.dataset.revision = String(++this.revision);
  }
  /** Buttons that save a panel's chart and numbers. */
  saver(chart, columns, name) {
    const attempt = (save) => async () => {
      try {
        await save();
      } catch (error) {
        this.say.textContent = `not saved: ${error.message}`;
      }
    };
    return h(
      "div",
      { class: "row saver" },
      h("span", { class: "caption" }, "Save"),
      h("button", { type: "button", onclick: attempt(() => saveSvg(chart(), `lab_${name}`)) }, "SVG"),
      h("button", { type: "button", onclick: attempt(() => savePng(chart(), `lab_${name}`)) }, "PNG"),
      h("button", { type: "button", onclick: attempt(() => saveCsv(columns(), `lab_${name}`)) }, "CSV")
    );
  }
  /** The state as a link, or in a notebook as the line that makes this explorer again. */
  async share(button) {
    const text2 = this.kernel ? pythonOf(this.store.state) : `${location.href.split("#")[0]}${toHash(this.store.state)}`;
    try {
      await navigator.clipboard.writeText(text2);
      const words = button.textContent;
      button.textContent = "Copied";
      setTimeout(() => {
        button.textContent = words;
      }, 1500);
    } catch {
      this.say.textContent = `copy this: ${text2}`;
    }
  }
};
function pythonOf(state) {
  const literal2 = (value) => typeof value === "boolean" ? value ? "True" : "False" : Array.isArray(value) ? `[${value.map(literal2).join(", ")}]` : JSON.stringify(value);
  return `from lab.explorer import Explorer; Explorer(${Object.entries(changes(state)).map(([key, value]) => `${key}=${literal2(value)}`).join(", ")})`;
}

// kernel.js
var AHEAD = 128;
var REST = 120;
var Kernel = class {
  constructor(model) {
    this.model = model;
    this.waiting = /* @__PURE__ */ new Map();
    this.next = 1;
    model.on("msg:custom", (content, buffers) => {
      const answer = this.waiting.get(content.id);
      if (!answer) return;
      this.waiting.delete(content.id);
      if (content.error) answer.reject(new Error(content.error));
      else
        answer.resolve([
          content,
          buffers.map(
            (view) => new Float64Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength))
          )
        ]);
    });
  }
  /** Ask the lab one of the questions of lab/explorer/widget.py. Resolves to [content, arrays of float64]. */
  ask(what, facts, buffers = []) {
    const id = this.next++;
    return new Promise((resolve2, reject) => {
      this.waiting.set(id, { resolve: resolve2, reject });
      this.model.send({ id, what, ...facts }, void 0, buffers);
    });
  }
  /** The counts of a dropped file, read by Python. */
  async read(file) {
    const largest = 5e7;
    if (file.size > largest)
      throw new Error(
        `${file.name} has ${Math.round(file.size / 1e6)} MB: drop up to ${largest / 1e6}, or give its path: Explorer(pass_rates=...)`
      );
    return counts(await this.ask("file", { name: file.name }, [await file.arrayBuffer()]));
  }
  authority(refresh) {
    return new Authority(this, refresh);
  }
};
function counts([{ notes, exact }, arrays]) {
  const [n, correct, p, mass] = arrays.map((row2) => Array.from(row2));
  return exact ? { n: [], correct: [], exact: n, notes } : { n, correct, notes, fit: { p, mass } };
}
var Authority = class {
  constructor(kernel, refresh) {
    Object.assign(this, { kernel, refresh, known: /* @__PURE__ */ new Map(), asked: /* @__PURE__ */ new Set() });
  }
  keep(key, value) {
    if (this.known.size > 2e3) this.known.clear();
    this.known.set(key, value);
  }
  /** The curve of `spec` behind the gate, which may be "none", as Python gave it, if it has. */
  get(spec, { N, x, gate }, quantity) {
    return this.known.get(`${quantity} ${spec} ${gate} ${N} ${x}`);
  }
  sequences(spec, N) {
    return this.known.get(`sequences ${spec} ${N}`);
  }
  /** An estimator that only Python knows: its label and limit are asked for once, its sequences for many N at once. */
  own(spec, N, axis) {
    const failed = this.known.get(`failed ${spec} ${N}`);
    if (failed) throw new Error(failed);
    const label = this.known.get(`label ${spec}`), limit2 = this.known.get(`limit ${spec} ${axis}`), sequences = this.sequences(spec, N);
    const name = spec.split("(")[0];
    if (label && sequences && limit2 !== void 0)
      return { spec, name, label, sequences, limit: (quantity) => quantity === "weight" ? limit2 : null };
    this.once(`own ${spec} ${N} ${axis}`, async () => {
      try {
        const [content, arrays] = await this.kernel.ask("estimator", { spec, N, axis });
        this.keep(`label ${spec}`, content.label);
        this.keep(`limit ${spec} ${axis}`, arrays[2] ?? null);
        this.keep(`sequences ${spec} ${N}`, arrays.slice(0, 2));
        if (!label) this.prefetch(spec);
      } catch (error) {
        this.keep(`failed ${spec} ${N}`, error.message);
      }
    });
    return { spec, name, label: label ?? spec, waiting: true, sequences: null };
  }
  /** The sequences of the sizes most looked at, sent once: the slider then waits for nobody. */
  async prefetch(spec) {
    const [{ sizes }, arrays] = await this.kernel.ask("sizes", { spec, most: AHEAD });
    sizes.forEach((N, i) => this.keep(`sequences ${spec} ${N}`, [arrays[i].slice(0, N), arrays[i].slice(N)]));
  }
  async once(key, question) {
    if (this.asked.has(key)) return;
    this.asked.add(key);
    await question();
    this.asked.delete(key);
    this.refresh();
  }
  /** When the hand rests, have the lab compute what is shown, draw its numbers, and say how far the page's were. */
  verify(panel, state, badge) {
    clearTimeout(this.timer);
    const specs = panel.lines?.filter(({ sequences, kind }) => sequences && kind !== "objective").map(({ spec }) => spec);
    if (!specs) return this.design(panel, state, badge);
    const missing2 = (isGated(state) ? ["none", state.gate] : ["none"]).map((gate) => [gate, specs.filter((spec) => !this.get(spec, { ...state, gate }, state.quantity))]).filter(([, asked]) => asked.length);
    if (!missing2.length) return;
    write(badge, "");
    this.timer = setTimeout(
      () => this.once(JSON.stringify(["curves", missing2, state.N, state.x, state.quantity]), async () => {
        badge.textContent = "lab is computing …";
        try {
          let worst = 0;
          const grid = panel.grids[state.x], { N, x: axis, quantity } = state;
          for (const [gate, specs2] of missing2) {
            const [, arrays] = await this.kernel.ask("curves", { specs: specs2, N, quantity, axis, gate });
            specs2.forEach((spec, i) => {
              this.keep(`${quantity} ${spec} ${gate} ${N} ${axis}`, arrays[i]);
              const line = panel.lines.find((one2) => one2.spec === spec);
              if (!line?.sequences || line.sequences[0].length !== N) return;
              const ours = gate === "none" ? QUANTITIES[quantity](grid, line.sequences) : GATED[quantity](grid, line.sequences, parseGate(gate)), size = Math.max(...arrays[i].map(Math.abs), 1e-300);
              ours.forEach((y, k) => {
                worst = Math.max(worst, Math.abs(y - arrays[i][k]) / size);
              });
            });
          }
          badge.textContent = `computed by lab; the page differed by ${worst.toExponential(0)}`;
          badge.dataset.worst = String(worst);
        } catch (error) {
          badge.textContent = error.message;
        }
      }),
      REST
    );
  }
  design(panel, state, badge) {
    if (!panel.line || !("points" in state) || state.panel !== "draw") return;
    const spec = panel.spec(state);
    if (!spec || this.sequences(spec, state.N)) return;
    write(badge, "");
    this.timer = setTimeout(
      () => this.once(`design ${spec} ${state.N}`, async () => {
        try {
          const [, [gap, offset]] = await this.kernel.ask("estimator", { spec, N: state.N, axis: state.x });
          this.keep(`sequences ${spec} ${state.N}`, [gap, offset]);
          badge.textContent = "fitted by lab";
        } catch (error) {
          badge.textContent = error.message;
          this.keep(`sequences ${spec} ${state.N}`, null);
        }
      }),
      REST
    );
  }
};

// main.js
function render({ model, el }) {
  learn(model.get("catalogue"));
  const store = new Store(checked(model.get("state"))), root = document.createElement("div");
  el.append(root);
  const kernel = new Kernel(model), explorer = new Explorer(root, store, kernel);
  let timer;
  store.listen(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      model.set("state", store.state);
      model.save_changes();
    }, 60);
  });
  model.on("change:state", () => store.set(checked(model.get("state"))));
  if (model.get("has_counts")) kernel.ask("counts", {}).then((answer) => explorer.counts(counts(answer)));
  explorer.refresh();
  return () => root.remove();
}
function start(root) {
  learn(JSON.parse(document.getElementById("lab-explorer-catalogue").textContent));
  let store, fault = "";
  try {
    store = new Store(fromHash(location.hash));
  } catch (error) {
    store = new Store(checked({}));
    fault = `${error.message}; this is the start instead`;
  }
  const explorer = new Explorer(root, store);
  explorer.say.textContent = fault;
  let timer;
  store.listen(() => {
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState(null, "", toHash(store.state) || location.pathname), 150);
  });
  addEventListener("hashchange", () => {
    try {
      store.set(fromHash(location.hash));
    } catch (error) {
      explorer.say.textContent = error.message;
    }
  });
}
var page = globalThis.document?.getElementById("lab-explorer-page");
if (page) start(page);
var main_default = { render };
export {
  main_default as default
};
