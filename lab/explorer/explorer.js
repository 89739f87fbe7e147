// Built by `npm run build` from lab/explorer/front; sources sha256 f74d86841800171c78393e846728ff83c295a73fbbf73e3bdbff6275d7721f61

// dom.js
function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === void 0) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && typeof value !== "string") element[key] = value;
    else if (value !== false) element.setAttribute(key, value);
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
function segmented(label2, choices, chosen, change) {
  return h(
    "div",
    { class: "segmented", role: "group", "aria-label": label2 },
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

// card.js
var BEFORE = 200;
var AFTER = 250;
var cards = 0;
var marked = (words) => words.split("`").map((part, i) => i % 2 ? h("code", {}, part) : part);
var Card = class {
  constructor(root) {
    this.root = root;
    this.element = h("div", { class: "card", role: "tooltip", id: `lab-card-${++cards}`, hidden: true });
    this.element.addEventListener("pointerenter", () => clearTimeout(this.timer));
    this.element.addEventListener("pointerleave", () => this.leave());
    document.addEventListener(
      "keydown",
      (event) => {
        if (event.key !== "Escape" || !this.term) return;
        event.stopPropagation();
        this.close();
      },
      true
    );
    document.addEventListener("pointerdown", ({ target }) => {
      if (this.term && !this.element.contains(target) && !this.term.contains(target)) this.close();
    });
  }
  /** A name with its card: a button, since a finger and the keyboard must reach it. `facts` are asked for when it opens. */
  name(label2, facts) {
    const term = h("button", { type: "button", class: "term" }, h("strong", {}, label2)), open2 = () => this.open(term, facts());
    term.addEventListener("pointerenter", ({ pointerType }) => {
      clearTimeout(this.timer);
      if (pointerType === "mouse") this.timer = setTimeout(open2, BEFORE);
    });
    term.addEventListener("pointerleave", () => this.leave());
    term.addEventListener("focus", open2);
    term.addEventListener("blur", () => this.term === term && this.close());
    term.addEventListener("click", open2);
    return term;
  }
  leave() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.term !== document.activeElement && this.close(), AFTER);
  }
  open(term, { label: label2, spec, about, citation }) {
    clearTimeout(this.timer);
    if (!term.isConnected) return;
    if (this.term !== term) this.close();
    this.term = term;
    const paragraphs = about.split(/\n\s*\n/).map((words) => words.replace(/\s+/g, " "));
    this.element.replaceChildren(
      h("p", { class: "named" }, h("strong", {}, label2), " ", h("code", {}, spec)),
      ...paragraphs.map((words) => h("p", {}, marked(words))),
      ...citation ? [h("p", { class: "source" }, `Source: ${citation}`)] : []
    );
    this.element.hidden = false;
    term.setAttribute("aria-describedby", this.element.id);
    this.place(term.getBoundingClientRect(), this.root.getBoundingClientRect());
  }
  /** Below the name, or above it where the window ends; never beyond the sides. */
  place(term, root) {
    const { offsetWidth: width, offsetHeight: height } = this.element, left = Math.max(8, Math.min(term.left - root.left, root.width - width - 8)), below = term.bottom + 6, above = term.top - height - 6, top = below + height > innerHeight && above > 0 ? above : below;
    Object.assign(this.element.style, { left: `${left}px`, top: `${top - root.top}px` });
  }
  close() {
    clearTimeout(this.timer);
    this.term?.removeAttribute("aria-describedby");
    this.term = null;
    this.element.hidden = true;
  }
};

// chart.js
var THEMES = {
  light: { ground: "#ffffff", ink: "#1c1e21", muted: "#4d525a", grid: "#ebecef", axis: "#868b94", band: "#f4f5f7" },
  dark: { ground: "#16181c", ink: "#eceef1", muted: "#a9afba", grid: "#2a2d33", axis: "#6d727c", band: "#1f2227" }
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
    const first = Math.ceil(Math.log10(low) - 1e-9), last2 = Math.floor(Math.log10(high2) + 1e-9), jump = Math.max(1, Math.ceil((last2 - first) / room));
    const decades = [];
    const minor = last2 - first < 2 ? [1, 2, 5] : [1];
    for (let k = first - 1; k <= last2; k += jump) {
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
  constructor({ label: label2, height = 0.5, least = 150, small = false }) {
    Object.assign(this, { label: label2, height, least, small, spec: null, theme: THEMES.light, pointer: null });
    this.svg = svg("svg", {
      role: "img",
      "aria-label": label2,
      "font-family": FONT,
      xmlns: "http://www.w3.org/2000/svg"
    });
    this.parts = Object.fromEntries(
      ["ground", "axes", "bars", "lines", "dots", "mark", "texts", "legend"].map((name) => [
        name,
        svg("g", { class: name })
      ])
    );
    this.svg.append(...Object.values(this.parts));
    this.element = h("div", { class: "chart" }, this.svg);
    this.drawn = "";
    this.kept = /* @__PURE__ */ new WeakMap();
    new ResizeObserver(() => {
      if (this.spec && this.element.clientWidth) this.draw(this.spec, this.theme);
    }).observe(this.element);
  }
  /**
   * `spec`: x, y (kind, domain, label), lines [{x, y, color, dash, width, label}], bars, areas [{x, low, high, color}],
   * dots, mark (a value of x), texts [{x, y, words, color}] or `named`: every line has its label beside it.
   */
  draw(spec, theme = this.theme) {
    this.spec = spec;
    this.theme = theme;
    const width = this.element.clientWidth || 640, tall = Math.max(this.least, Math.round(this.height * width));
    this.frame(spec, theme, width, tall);
    this.lines(spec.lines ?? []);
    this.fill(
      "bars",
      (spec.bars ?? []).map((bar) => this.bar(bar)).concat((spec.areas ?? []).map((area) => this.area(area)))
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
    this.fill(
      "texts",
      (spec.named ? this.names(spec.lines) : spec.texts ?? []).map(
        ({ x, y, words, color, anchor = "start", dx = 0, dy = 0 }) => svg(
          "text",
          {
            x: this.x(x) + dx,
            y: this.y(y) + dy,
            "text-anchor": anchor,
            fill: forWords(color, theme),
            "font-size": 12,
            "font-weight": 600,
            stroke: theme.ground,
            "stroke-width": 4,
            "paint-order": "stroke"
          },
          words
        )
      )
    );
  }
  frame(spec, theme, width, tall) {
    const legend = (spec.lines ?? []).concat(spec.keys ?? []).filter((line2) => line2.label);
    const key = JSON.stringify([
      spec.x,
      spec.y,
      width,
      tall,
      theme.ground,
      legend.map(({ label: label2, color, dash }) => [label2, color, dash]),
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
  /** Texts beside the lines that have labels, each where it covers least of other lines; none where it would hide one. */
  names(lines) {
    const { left, top, width, height } = this.box, points = lines.flatMap(({ x, y }) => {
      const some = [];
      for (let i = 0; i < x.length; i += 3) some.push({ px: this.x(x[i]), py: this.y(y[i]) });
      return some;
    }), taken = [];
    return lines.flatMap(({ x, y, label: words, color }) => {
      if (!words || !x.length) return [];
      const wide = 7.4 * words.length;
      let best = null;
      for (const share of NAME_PLACES) {
        const i = Math.round(share * (x.length - 1)), px = this.x(x[i]), py = this.y(y[i]);
        for (const dy of [-8, 18]) {
          const box = { left: px - wide / 2, right: px + wide / 2, top: py + dy - 12, bottom: py + dy + 4 };
          const inside = box.left > left && box.right < left + width && box.top > top && box.bottom < top + height;
          if (!inside || taken.some((one2) => meets(box, one2))) continue;
          const covered = points.filter((point) => covers(box, point)).length;
          if (!best || covered < best.covered) best = { covered, box, text: { x: x[i], y: y[i], words, color, dy } };
        }
      }
      if (!best || best.covered > 2) return [];
      taken.push(best.box);
      return [{ ...best.text, anchor: "middle" }];
    });
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
    const group2 = this.parts.lines;
    while (group2.childElementCount > lines.length) group2.lastChild.remove();
    while (group2.childElementCount < lines.length)
      group2.append(svg("path", { fill: "none", "stroke-linejoin": "round" }));
    lines.forEach((line, i) => {
      const path = group2.children[i];
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
  /** The band between two lines. */
  area({ x, low, high: high2, color }) {
    const back = { x: x.toReversed(), y: low.toReversed() };
    return svg("path", {
      d: `${this.path({ x, y: high2 })}${this.path(back).replace("M", "L")}z`,
      fill: color,
      "fill-opacity": 0.22
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
  listen(moved, { drag: drag2 = false, done = () => {
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
    this.svg.style.touchAction = drag2 ? "none" : "pan-y";
    this.svg.addEventListener("pointerdown", (event) => {
      down = true;
      if (drag2) this.svg.setPointerCapture(event.pointerId);
      tell2(event);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (down || !drag2) tell2(event);
    });
    for (const end of ["pointerup", "pointercancel"])
      this.svg.addEventListener(end, () => {
        if (down) done();
        down = false;
      });
  }
};
function forWords(color, theme) {
  if (theme.ground !== THEMES.light.ground) return color;
  const channels = [1, 3, 5].map((i) => Math.round(0.7 * parseInt(color.slice(i, i + 2), 16)));
  return `#${channels.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
var NAME_PLACES = [0.12, 0.22, 0.32, 0.42, 0.52, 0.62, 0.72, 0.82];
var meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
var covers = ({ left, right, top, bottom }, { px, py }) => px > left && px < right && py > top && py < bottom;
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
var LIGHT = { [ORANGE]: "#b97d00", [SKY]: "#0d90c4", [OLIVE]: "#85852b" };
var onGround = (color, dark) => (dark ? DARK : LIGHT)[color] ?? color;
var LOOKS = /* @__PURE__ */ Object.create(null);
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
  const N2 = gap.length, a1 = new Float64Array(N2 + 1), a0 = new Float64Array(N2 + 1);
  for (let j = 0; j < N2; j++) {
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
    const N2 = gap.length, sums = new Float64Array(N2 + 1);
    for (let j = 0; j < N2; j++) sums[j + 1] = sums[j] + gap[j] / N2;
    const [middle2] = expect(binomialTable(N2, [0.5]), sums);
    return expect(grid.table(N2), sums).map((value) => value - middle2);
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
  contrast: (grid, sequences2) => QUANTITIES.weight(grid, sequences2).map((w, i) => w * grid.p[i] * (1 - grid.p[i]))
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
    deep: (i) => 10 ** (-6 + 6 * at(i)) * 0.9999 ** at(i),
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
var MOST_READY = 24;
var keyOf = (degree, N2) => `${degree} ${N2}`;
var isDecomposed = (degree, N2) => READY.has(keyOf(degree, N2));
function keepDecomposition(degree, N2, ready) {
  if (READY.size >= MOST_READY) READY.delete(READY.keys().next().value);
  READY.set(keyOf(degree, N2), ready);
}
function decomposition(degree, N2) {
  const [x, node] = gaussLegendre(Math.max(200, 2 * N2));
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
  return { p, share, basis, noise, plain: svd(columns), ridge: svd(scaled) };
}
var dot2 = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
function fit(degree, N2, at, w) {
  if (N2 > LARGEST)
    throw new Error(`N = ${N2}: the page fits drawn weights up to N = ${LARGEST}; lab.from_weight goes on from there`);
  if (!isDecomposed(degree, N2)) keepDecomposition(degree, N2, decomposition(degree, N2));
  const { p, share, basis, noise, plain: plain2, ridge } = READY.get(keyOf(degree, N2));
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
    let left = signed2();
    for (let sign; sign = take("*", "/"); ) {
      const one2 = left, two = signed2();
      left = sign === "*" ? (p) => one2(p) * two(p) : (p) => one2(p) / two(p);
    }
    return left;
  }
  function signed2() {
    const sign = take("+", "-");
    if (!sign) return power2();
    if (++depth > DEEPEST) throw new Error(`the formula is nested more than ${DEEPEST} deep: write it flatter`);
    const inner = signed2();
    depth--;
    return sign === "-" ? (p) => -inner(p) : inner;
  }
  function power2() {
    const base = atom();
    if (!take("^", "**")) return base;
    const exponent2 = signed2();
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
var std = (mean3, N2, ddof = 0) => Math.sqrt(mean3 * (1 - mean3) * N2 / (N2 - ddof));
function centred(N2, scale) {
  const s = row(N2 + 1, (K) => scale(K / N2, K));
  return pair(
    s.map((x, K) => (1 - K / N2) * x),
    s.map((x, K) => -K / N2 * x)
  );
}
function standardised(N2, mean3, factor = 1, eps = 0) {
  const m = row(N2 + 1, mean3), scale = m.map((x) => inverse(Math.sqrt(x * (1 - x) * factor) + eps));
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
var groupMean = (N2) => [row(N2, () => (N2 - 1) / N2), row(N2, (j) => -j / N2)];
var positive = (N2) => [row(N2, one), row(N2, () => 0)];
var ALIASES = {};
var ESTIMATORS = {
  rloo: { least: 2, limit: () => one, sequences: (N2) => leaveOneOut(row(N2, one)) },
  reinforce: { limit: () => one, sequences: positive },
  reinforce_mean: { least: 2, limit: () => one, sequences: groupMean },
  dr_grpo: { least: 2, limit: () => one, sequences: groupMean },
  psr: { limit: () => one, sequences: positive },
  nsr: { limit: () => one, sequences: (N2) => [row(N2, one), row(N2, () => -1)] },
  w_reinforce: {
    limit: ({ lam }) => () => 1 + lam,
    sequences: (N2, { lam }) => [row(N2, () => 1 + lam), row(N2, () => -1)]
  },
  grpo: {
    label: ({ ddof, eps }) => ddof === 0 && eps === 0 ? "GRPO" : `GRPO (ddof ${ddof}, eps ${exponent(eps)})`,
    least: 2,
    limit: () => power(0.5, 0.5),
    sequences: (N2, { ddof, eps }) => centred(N2, (mean3) => inverse(std(mean3, N2, ddof) + eps))
  },
  ngrpo: {
    label: ({ ddof, eps }) => ddof === 0 && eps === 0 ? "NGRPO" : `NGRPO (ddof ${ddof}, eps ${exponent(eps)})`,
    limit: () => power(0.5, 0.5),
    sequences: (N2, { ddof, eps }) => standardised(N2, (K) => (K + 1) / (N2 + 1), (N2 + 1) / (N2 + 1 - ddof), eps)
  },
  beta_prior: {
    label: ({ alpha, beta }) => `Beta(${alpha}, ${beta}) prior`,
    limit: () => power(0.5, 0.5),
    sequences: (N2, { alpha, beta }) => standardised(N2, (K) => (K + alpha) / (N2 + alpha + beta))
  },
  one_sided_grpo: {
    least: 2,
    limit: () => power(0.5, 0),
    sequences: (N2) => centred(N2, (mean3) => inverse(mean3) ** 0.5)
  },
  f_grpo: {
    label: ({ gamma }) => `F-GRPO (gamma ${gamma})`,
    least: 2,
    limit: ({ gamma }) => power(0.5, 0.5 - gamma),
    sequences: (N2, { gamma }) => centred(N2, (mean3) => (1 - mean3) ** gamma * inverse(std(mean3, N2)))
  },
  dgpo: {
    least: 2,
    limit: () => (p) => 0.5 * logOdds(p),
    sequences: (N2) => centred(N2, (mean3) => inverse(2 * std(mean3, N2) ** 2))
  },
  mapo: {
    least: 2,
    limit: () => (p) => 4 * Math.sqrt(p * (1 - p)) + (1 - 4 * p * (1 - p)) / p,
    sequences: (N2) => centred(N2, (mean3) => {
      const trust = 4 * mean3 * (1 - mean3);
      return trust * inverse(std(mean3, N2)) + (1 - trust) * inverse(mean3);
    })
  },
  maxrl: {
    least: 2,
    limit: () => reciprocal,
    sequences: (N2) => [row(N2, (j) => N2 / (j + 1) - (j === 0)), row(N2, (j) => j > 0 ? -1 : 0)]
  },
  maxrl_eq6: {
    limit: () => reciprocal,
    sequences: (N2) => [row(N2, (j) => N2 / (j + 1)), row(N2, () => 0)]
  },
  maxrl_eq7: {
    limit: () => reciprocal,
    sequences: (N2) => [row(N2, (j) => N2 / (j + 1)), row(N2, () => -1)]
  },
  maxrl_loo: {
    least: 2,
    limit: () => reciprocal,
    sequences: (N2) => leaveOneOut(row(N2, (j) => N2 / (j + 1)))
  },
  truncated: {
    label: ({ order }) => `MaxRL T=${order}`,
    least: ({ order, form }) => ({ raw: order, zero_mean: Math.max(2, order + 1), loo: Math.max(2, order) })[form],
    limit: ({ order }) => truncatedWeight(order),
    sequences(N2, { order, form }) {
      if (form === "zero_mean") {
        const pass2 = hit(N2 - 1, order);
        return centred(N2, (mean3, K) => (K < N2 ? pass2[K] : 1) * inverse(mean3));
      }
      const pass = hit(N2, order), gap = row(N2, (j) => N2 / (j + 1) * pass[j + 1]);
      return form === "raw" ? [gap, row(N2, () => 0)] : leaveOneOut(gap);
    }
  },
  alpha: {
    label: ({ alpha }) => `alpha ${alpha}`,
    least: ({ form, order }) => form === "series" ? order ?? 1 : 2,
    limit: ({ alpha, order }) => order === null ? power(alpha, 0) : series(alpha, order),
    sequences(N2, { alpha, form, order }) {
      if (form === "plug_in") return centred(N2, (mean3) => inverse(mean3) ** alpha);
      if (form === "shifted") {
        const shift = (1 - alpha) / 2;
        return leaveOneOut(row(N2, (j) => ((j + 1 - shift) / (N2 - shift)) ** -alpha));
      }
      const gap = new Float64Array(N2), term = row(N2, one);
      for (let m = 0; m < (order ?? N2); m++) {
        for (let j = 0; j < N2; j++) {
          gap[j] += term[j];
          term[j] *= (alpha + m) / (m + 1) * Math.max(N2 - 1 - j - m, 0) / Math.max(N2 - 1 - m, 1);
        }
      }
      return [gap, row(N2, () => 0)];
    }
  },
  pkpo: {
    label: ({ k }) => `PKPO k=${k}`,
    least: ({ k, form }) => form === "sloo" ? k + 1 : k,
    limit: ({ k }) => passAt(k),
    sequences(N2, { k, form }) {
      const gap = miss(N2 - 1, k - 1).map((x) => k * x);
      if (form === "sloom1") return [gap, row(N2, () => 0)];
      const offset = hit(N2 - 1, k - 1).map((x) => k * x);
      if (form === "s") return [gap, offset];
      const all = hit(N2 - 1, k);
      return [gap, offset.map((x, j) => x - N2 * k / (N2 - 1) * all[j])];
    }
  },
  pass_at_k_group: {
    label: ({ k }) => `Pass@${k} Training`,
    least: ({ k }) => Math.max(2, k),
    limit: ({ k }) => (p) => (1 - p) ** (k / 2 - 1) / Math.sqrt(-Math.expm1(k * Math.log1p(-p))),
    sequences(N2, { k }) {
      const fail = miss(N2, k), solved2 = hit(N2, k), alone = miss(N2 - 1, k - 1);
      const scale = fail.map((x, K) => inverse(Math.sqrt(x * solved2[K])));
      return pair(
        fail.map((x, K) => x * scale[K]),
        fail.map((x, K) => (x - (K < N2 ? alone[K] : 0)) * scale[K])
      );
    }
  },
  pacs: {
    label: ({ balanced }) => balanced ? "PACS" : "PACS, no class weights",
    least: 2,
    limit: ({ beta, balanced }) => (p) => beta * (balanced ? 0.25 * logOdds(p) : 1),
    sequences(N2, { beta, score, balanced }) {
      const factor = score === "rloo" ? beta : beta * (N2 - 1) / N2;
      if (!balanced) return leaveOneOut(row(N2, () => factor));
      return ESTIMATORS.dgpo.sequences(N2).map((values) => values.map((x) => factor * N2 / (2 * (N2 - 1)) * x));
    }
  },
  real_anchor: {
    label: ({ tau }) => `REAL (tau ${tau})`,
    limit: ({ tau }) => (p) => logOdds(p) / tau,
    sequences: (N2, { tau }) => pair(
      row(N2 + 1, (K) => N2 / (tau * (1 + K))),
      row(N2 + 1, (K) => -N2 / (tau * (1 + N2 - K)))
    )
  },
  entropic: {
    label: ({ eta }) => `entropic (eta ${eta})`,
    least: 2,
    limit: ({ eta }) => (p) => Math.expm1(eta) / (eta * (1 + Math.expm1(eta) * p)),
    sequences: (N2, { eta }) => centred(N2, (mean3) => Math.expm1(eta) / eta / (1 + Math.expm1(eta) * mean3))
  },
  drawn: {
    least: ({ zero_mean }) => zero_mean ? 3 : 2,
    limit: ({ p, w }) => throughPoints(p, w),
    sequences: (N2, { p, w, zero_mean }) => fromWeight(throughPoints(p, w), N2, zero_mean)
  },
  formula: {
    label: ({ text: text2 }) => `w = ${text2}`,
    least: ({ zero_mean }) => zero_mean ? 3 : 2,
    limit: ({ text: text2 }) => parseFormula(text2),
    sequences: (N2, { text: text2, zero_mean }) => fromWeight(parseFormula(text2), N2, zero_mean)
  }
};
function exponent(x) {
  return x !== 0 && Math.abs(x) < 1e-4 ? x.toExponential().replace(/e([+-])(\d)$/, "e$10$2") : String(x);
}
function fromWeight(w, N2, zeroMean = false) {
  if (!zeroMean) return leaveOneOut(fit(N2 - 1, N2, (j) => (j + 0.5) / N2, w));
  const phi = fit(N2 - 2, N2, (i) => (i + 1) / N2, w);
  return centred(N2, (_, K) => K > 0 && K < N2 ? N2 / (N2 - 1) * phi[K - 1] : 0);
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
function lifted(spec) {
  const found = /^\s*lift\s*\(\s*(.*?)(?:\s*,\s*(?:low|high)\s*=\s*[-+\w.]+)*\s*\)\s*$/su.exec(spec);
  if (found && !found[1]) throw new Error("lift needs an estimator: write lift(maxrl)");
  return found?.[1] ?? null;
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
  const name = kind === "estimator" && Object.hasOwn(ALIASES, spelled) ? ALIASES[spelled] : spelled;
  if (!Object.hasOwn(table, name))
    throw new Error(`unknown ${kind} '${name}'. Valid: ${Object.keys(table).sort().join(", ")}`);
  const entry = table[name], known = entry.options ?? {};
  for (const option of Object.keys(given)) {
    if (!Object.hasOwn(known, option))
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
function coefficients({ entry, options, spec }, N2) {
  const least = typeof entry.least === "function" ? entry.least(options) : entry.least ?? 1;
  if (N2 < least) throw tooSmall(spec, least);
  return entry.sequences(N2, options);
}
var tooSmall = (spec, least) => new Error(`${spec} needs groups of at least ${least} rollouts: raise N, or lower its order`);
function offered(table) {
  const starts = (name) => Object.entries(table[name].options ?? {}).map(([option, rule]) => [option, rule.start]);
  return Object.fromEntries(
    Object.keys(table).filter((name) => !["drawn", "formula"].includes(name) && starts(name).every(([, start2]) => start2 !== void 0)).map((name) => [name, writeSpec(table, name, Object.fromEntries(starts(name)))])
  );
}
function labelOf(table, spec) {
  try {
    return resolve(table, spec).label;
  } catch {
    return spec;
  }
}
function rules([gap, offset]) {
  const N2 = gap.length, last2 = gap[N2 - 1] + offset[N2 - 1];
  let sum = 0, size = 0;
  for (let K = 0; K <= N2; K++) {
    const right = K > 0 ? gap[K - 1] + offset[K - 1] : 0, wrong = K < N2 ? offset[K] : 0;
    sum = Math.max(sum, Math.abs(K * right + (N2 - K) * wrong));
    size = Math.max(size, Math.abs(right) * N2);
  }
  const word = (x) => x === 0 ? "zero" : "kept";
  const groups = sum <= 1e-9 * size ? "sum" : "do not sum";
  return `all wrong: ${word(offset[0])} · all right: ${word(last2)} · groups ${groups} to zero`;
}

// given.js
var TABLES = /* @__PURE__ */ new Map();
var heard = null;
var told = () => heard;
function learn({ estimators, objectives, aliases, looks: looks2, tables = [] }) {
  heard = { estimators, objectives, aliases, looks: looks2 };
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
function describe(entry, name, { label: label2, about, citation, options }) {
  Object.assign(entry, { about, citation, options });
  if (typeof entry.label !== "function") entry.label = label2 ?? name;
}
function tabled({ name, spec, entry }, N2, nearest2) {
  const table = TABLES.get(spec);
  if (!table)
    throw new Error(`this page holds no numbers of ${spec}: write it with lab explore curves=..., or use a notebook`);
  if (N2 < table.least) throw tooSmall(spec, table.least);
  const sizes = Object.keys(table.coefficients).map(Number);
  const at = sizes.reduce((best, size) => Math.abs(size - N2) < Math.abs(best - N2) ? size : best, Infinity);
  if (!Number.isFinite(at)) throw new Error(`${spec} is defined for no N that this page holds: use a notebook`);
  if (at !== N2 && !nearest2)
    throw new Error(`of ${spec} this page holds no N = ${N2}, the nearest is ${at}: a notebook has every N`);
  return {
    name,
    spec,
    label: at === N2 ? table.label : `${table.label} at N = ${at}`,
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
    "tool": "verl, its table in W&B",
    "source": "verl/utils/tracking.py, val/generations, as lab.rollouts.wide_tables unfolds it",
    "columns": [
      "input",
      "output",
      "score",
      "step",
      "sample"
    ],
    "problem": [
      "input"
    ],
    "reward": [
      "score"
    ],
    "within": [],
    "besides": [],
    "one": "",
    "once": "sample",
    "cell": "reward",
    "n": 0,
    "logged_twice": false
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
  rows = rows.flatMap(rowsOfEpisode).flatMap(rowsOfWideTable);
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
        reward: scores.length ? scores.reduce((sum, { score, weight: weight2 = 1 }) => sum + score * weight2, 0) : null,
        ...step
      }
    ];
  });
}
function rowsOfWideTable(row2) {
  if (!["step", "input_1", "output_1", "score_1"].every((name) => name in row2)) return [row2];
  const samples = [];
  for (let i = 1; `input_${i}` in row2; i++) {
    const [input, output, score] = ["input", "output", "score"].map((name) => row2[`${name}_${i}`] ?? null);
    if ([input, output, score].every((cell) => cell === null || cell === "")) continue;
    samples.push({ step: row2.step, input, output, score, sample: `${row2.step}/${i}` });
  }
  return samples;
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
  const numbers2 = columns.filter((name) => {
    const cells2 = first.map((row2) => row2[name]);
    return cells2.every((cell) => missing(cell) || number(cell) !== null) && !cells2.every(missing);
  });
  for (const form of FORMATS) {
    if (!form.columns.every((column) => names.has(column))) continue;
    const problem = choice.problem || find(form.problem);
    let reward = choice.reward || find(form.reward);
    if (!reward && !form.reward.length) {
      const besides = [...form.besides, ...form.problem, problem, ...ADVANTAGES], left = numbers2.filter((name) => !besides.includes(name));
      reward = left.length === 1 ? left[0] : "";
    }
    if (!problem || !reward) continue;
    if (form.cell !== "reward" && !form.reward.includes(reward)) continue;
    if (form.cell === "ratio" && !first.some((row2) => String(row2[reward]).includes("/"))) continue;
    return { ...form, problem, reward, within: find(form.within), size, advantage: find(ADVANTAGES) };
  }
  throw new Error(unclear(first, columns, numbers2, choice));
}
function unclear(first, columns, numbers2, choice) {
  const chart = columns.some((name) => /__(MIN|MAX)$/.test(name));
  if (chart || columns.includes("_step") && columns.includes("_runtime")) {
    return "a history of metrics exported from W&B, which holds means and no rollouts: export the table of completions";
  }
  const rewards = numbers2.filter((name) => name !== "step" && !ADVANTAGES.includes(name));
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
  const steps = rows.map((row2) => "step" in row2 ? number(row2.step) : null), last2 = steps.reduce((most, step) => step !== null && step > most ? step : most, -Infinity);
  const n = [], correct = [], seen = /* @__PURE__ */ new Set();
  rows.forEach((row2, i) => {
    if (steps[i] !== null && steps[i] < last2) return;
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
    const { layout } = this, problemOf = readerOf(layout.problem), rewardOf = readerOf(layout.reward), withinOf = layout.within ? readerOf(layout.within) : null, advantageOf = layout.advantage ? readerOf(layout.advantage) : null, outcome = { ratio: this.addRatio, rate: this.addRate, metrics: this.addMetrics }[layout.cell] ?? this.addReward;
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
      if (!this.groups.has(key)) this.groups.set(key, { step, problem, n: 0, right: 0, got: [NaN, NaN] });
      const group2 = this.groups.get(key), { n, right } = group2;
      outcome.call(this, rewardOf(row2), group2, row2, key);
      const advantage = advantageOf && group2.n === n + 1 ? number(advantageOf(row2)) : null;
      if (advantage !== null) group2.got[group2.right > right ? 0 : 1] = advantage;
    }
    return this;
  }
  addReward(cell, group2, row2, key) {
    const { threshold, success } = this.choice;
    if (Array.isArray(cell)) {
      for (const each of cell) this.addReward(each, group2, row2, key);
      return;
    }
    if (missing(cell)) {
      this.lost++;
      return;
    }
    group2.n++;
    if (success !== void 0 && success !== null) {
      group2.right += isSuccess(cell, success);
      return;
    }
    const value = number(cell);
    if (threshold !== void 0 && threshold !== null && value !== null) {
      group2.right += value >= threshold;
      return;
    }
    if (value !== 0 && value !== 1 && value !== -1) {
      throw new Error(
        `reward ${said(cell)} in row ${this.rows} (${this.layout.problem} ${short(group2.problem)}): a reward must be 0 or 1, or -1 or 1; give the threshold from which it is right, or the value that is`
      );
    }
    this.values.add(value);
    group2.right += value === 1;
  }
  addRatio(cell, group2, row2, key) {
    const match = /^\s*(\d+)\s*\/\s*(\d+)\s*$/.exec(String(cell)), [right, all] = match ? [Number(match[1]), Number(match[2])] : [];
    if (missing(cell)) this.lost++;
    else if (this.toldBefore(key, group2, cell)) return;
    else if (!match || right > all || !all)
      throw new Error(`${this.layout.reward} ${said(cell)} in row ${this.rows}: it must be right of all, such as 5/8`);
    else {
      checkSize(all, group2.problem);
      group2.n += all;
      group2.right += right;
    }
  }
  addRate(cell, group2, row2, key) {
    if (missing(cell)) {
      this.lost++;
      return;
    }
    const rate = number(cell);
    if (rate === null || rate < 0 || rate > 1)
      throw new Error(`${this.layout.reward} ${said(cell)} in row ${this.rows}: a pass rate must be in [0, 1]`);
    const n = this.layout.size ? number(row2[this.layout.size]) : this.layout.n;
    if (!this.toldBefore(key, group2, rate) && n) {
      checkSize(n, group2.problem);
      group2.n += n;
      group2.right += this.whole(rate, n, group2.problem);
    }
  }
  addMetrics(cell, group2) {
    for (const [name, value] of Object.entries(isObject(cell) ? cell : {})) {
      const match = /^(?:pass@k:k=1&n=|avg@n:n=)(\d+)$/.exec(name);
      if (value !== null && (match || name === "extractive_match" || name === "acc")) {
        const n = match ? Number(match[1]) : 1;
        checkSize(n, group2.problem);
        group2.n += n;
        group2.right += this.whole(Number(value), n, group2.problem);
        return;
      }
    }
    this.lost++;
  }
  /** Whether a problem's ratio or rate was in a row before; another one is refused. */
  toldBefore(key, group2, share) {
    if (!this.shares.has(key)) this.shares.set(key, share);
    const before = this.shares.get(key);
    if (before !== share) {
      throw new Error(
        `problem ${short(group2.problem)} has ${this.layout.reward} ${before} and ${share}: give each problem one`
      );
    }
    return group2.n > 0;
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
    groups = mergedUids(layout, groups).filter((group2) => group2.n);
    if (!groups.length) throw new Error(`column ${layout.reward} holds no reward: name another`);
    const n = groups.map((group2) => group2.n);
    for (const group2 of groups) checkSize(group2.n, group2.problem);
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
    return {
      n,
      correct: groups.map((group2) => group2.right),
      notes,
      tool: layout.tool,
      advantages: layout.advantage ? groups.map(({ got }) => got ?? [NaN, NaN]) : null,
      steps: groups.map(({ step }) => step)
    };
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
    const { columns, data: data2 } = document2, names = Object.keys(document2), values = Object.values(document2), together = (keys, cell) => keys.map((key) => Object.fromEntries(names.map((name) => [name, cell(name, key)])));
    if (Array.isArray(columns) && Array.isArray(data2))
      return data2.map((row2) => Object.fromEntries(columns.map((name, i) => [String(name), row2[i]])));
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
function uniforms(seed, step, x, rollouts) {
  const u = new Float64Array(rollouts);
  for (let block = 0; 4 * block < rollouts; block++) {
    const words = philox([block, x, step, 0], [seed, 7102818]);
    for (let i = 0; i < 4 && 4 * block + i < rollouts; i++) u[4 * block + i] = (words[i] + 0.5) / 2 ** 32;
  }
  return u;
}
var Policy = class {
  constructor({ sequences: sequences2, problems, rollouts, rate, length, seed, numbers: numbers2 = uniforms }) {
    Object.assign(this, { problems, rollouts, rate, length, seed, numbers: numbers2, time: 0 });
    [this.right, this.wrong] = successFailure(sequences2);
    this.logits = new Float64Array(problems * ANSWERS);
    for (let x = 0; x < problems; x++) {
      const share = problems > 1 ? x / (problems - 1) : 0;
      this.logits[x * ANSWERS] = logit2(HARDEST) * (1 - share) + share * logit2(EASIEST) + Math.log(ANSWERS - 1);
    }
  }
  softmax(x) {
    const pi = this.logits.slice(x * ANSWERS, (x + 1) * ANSWERS);
    let most = -Infinity, sum = 0;
    for (const value of pi) if (value > most) most = value;
    for (let a = 0; a < ANSWERS; a++) sum += pi[a] = Math.exp(pi[a] - most);
    for (let a = 0; a < ANSWERS; a++) pi[a] /= sum;
    return pi;
  }
  passRates() {
    return Float64Array.from({ length: this.problems }, (_, x) => this.softmax(x)[0]);
  }
  /** N answers a problem by common random numbers, their advantages, one step up the gradient. Returns K by problem. */
  step() {
    const { rollouts: N2 } = this, solved2 = new Int32Array(this.problems), gradient = new Float64Array(this.logits.length);
    for (let x = 0; x < this.problems; x++) {
      const pi = this.softmax(x), counts2 = new Float64Array(ANSWERS);
      for (const u of this.numbers(this.seed, this.time, x, N2)) {
        let answer = 0;
        for (let reach = pi[0]; answer < ANSWERS - 1 && u >= reach; reach += pi[answer]) answer++;
        counts2[answer]++;
      }
      const K = solved2[x] = counts2[0], sum = this.right[K] * K + this.wrong[K] * (N2 - K);
      for (let a = 0; a < ANSWERS; a++) {
        const paid = counts2[a] * (a === 0 ? this.right[K] : this.wrong[K]);
        gradient[x * ANSWERS + a] = (paid - sum * pi[a]) / N2;
      }
    }
    const rate = this.length ? this.length * Math.sqrt(this.problems) / norm(gradient) : this.rate;
    if (Number.isFinite(rate)) gradient.forEach((slope, i) => this.logits[i] += rate * slope);
    this.time++;
    return solved2;
  }
};
var norm = (vector) => Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
function summary(p) {
  const mean3 = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  return { mean: mean3(p), hard: mean3(p.slice(0, Math.floor(p.length / 4))), likelihood: mean3(p.map(Math.log)) };
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
var counted = (of, cells2, times) => {
  const sums = new Array(cells2).fill(0);
  of.forEach((c, i) => {
    sums[c] += times ? times[i] : 1;
  });
  return sums;
};
function condensed({ n, correct, exact }) {
  const cells2 = /* @__PURE__ */ new Map();
  (exact ?? n).forEach((value, i) => {
    const key = exact ? value : `${value} ${correct[i]}`, cell = cells2.get(key);
    if (cell) cell.times++;
    else cells2.set(key, { value, right: exact ? 0 : correct[i], times: 1 });
  });
  const all = [...cells2.values()], values = all.map(({ value }) => value), times = all.map((cell) => cell.times);
  return exact ? { n: [], correct: [], exact: values, times } : { n: values, correct: all.map(({ right }) => right), times };
}
function mixing(n, correct, slack = SLACK, times = null) {
  const { p, chance, of } = cellsOf(n, correct);
  return { p, mass: mix(chance, counted(of, chance.length, times), slack) };
}
function resampled(n, correct) {
  const { p, chance, of } = cellsOf(n, correct);
  return (draw2) => {
    const again = of.map((_, i) => of[Math.floor(philox([i, draw2, 0, 0], [0, 1651470196])[0] / 2 ** 32 * of.length)]);
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
  const sorted = Float64Array.from(values).sort(), last2 = sorted.length - 1;
  return [sorted[Math.floor(0.025 * last2)], sorted[Math.ceil(0.975 * last2)]];
}
function readings({ n, exact }, N2) {
  const reach = exact ? Infinity : n.reduce((a, b) => Math.max(a, b)), sizes = [];
  for (let size = 2; size <= 4 * N2; size *= 2) sizes.push(size);
  return { reach, sizes, edges: [0, ...EDGES.filter((edge) => Math.min(edge, 1 - edge) >= 0.5 / reach), 1] };
}
var strengths = (p, gap) => expect(binomialTable(gap.length - 1, p), gap).map((w, i) => p[i] * (1 - p[i]) * Math.abs(w));
function tell(p, { edges, sizes }, N2, gaps) {
  const at = Object.entries(gaps).map(([name, gap]) => [
    name,
    strengths(p, gap(N2)),
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
function analyse(counts2, N2, gaps, kept = {}) {
  const { n, correct, exact } = counts2, places = readings(counts2, N2);
  const naive = exact ?? n.map((size, i) => correct[i] / size), times = counts2.times ?? naive.map(() => 1), problems = total(times), even = times.map((count) => count / problems);
  kept.fit ??= exact ? { p: exact, mass: even } : mixing(n, correct, SLACK, times);
  const found = tell(kept.fit.p, places, N2, gaps)(kept.fit.mass);
  if (exact) return { ...places, ...found };
  const alone = tell(naive, places, N2, {})(even);
  return { ...places, ...found, naive: alone.problems, deadNaive: alone.dead };
}

// weighting.js
var WRITTEN_BY = {
  dr_grpo: "TRL's scale_rewards=none",
  "grpo(ddof=1, eps=0.0001)": "TRL's scale_rewards=group",
  "grpo(ddof=1, eps=1e-06)": "verl's grpo",
  grpo: "open-instruct's standard",
  rloo: "verl's rloo"
};
var NEAR = 2e-5;
var close = (a, b) => Math.abs(a - b) <= 1e-6 + NEAR * Math.abs(b);
function advantagesOf(spec) {
  const found = resolve(ESTIMATORS, spec), sizes = /* @__PURE__ */ new Map();
  return (n, K) => {
    if (!sizes.has(n)) sizes.set(n, coefficients(found, n));
    const [gap, offset] = sizes.get(n);
    return [K > 0 ? gap[K - 1] + offset[K - 1] : 0, K < n ? offset[K] : 0];
  };
}
function trainedWeighting({ n, correct, advantages, steps }) {
  if (!advantages) return null;
  const groups = n.map((size, i) => ({ n: size, K: correct[i], found: advantages[i], step: steps[i] })).filter(({ n: size, K, found }) => K > 0 && K < size && found.every(Number.isFinite));
  if (!groups.length) return null;
  const plain2 = Object.keys(ESTIMATORS).filter((name) => {
    const rules2 = Object.values(ESTIMATORS[name].options ?? {});
    return ESTIMATORS[name].sequences && rules2.every(({ required, start: start2 }) => !required && start2 !== void 0);
  });
  for (const spec of /* @__PURE__ */ new Set([...Object.keys(WRITTEN_BY), ...plain2.sort()])) {
    try {
      const expected = advantagesOf(spec);
      if (groups.every(({ n: size, K, found }) => expected(size, K).every((value, i) => close(found[i], value)))) {
        const by = WRITTEN_BY[spec] ? ` (${WRITTEN_BY[spec]})` : "";
        return { spec, note: `trained with ${spec}${by}, by the advantages in the file` };
      }
    } catch {
    }
  }
  const gaps = /* @__PURE__ */ new Map();
  const batch = groups.every(({ n: size, K, found: [right, wrong], step }) => {
    if (!gaps.has(step)) gaps.set(step, right - wrong);
    return close(right, (right - wrong) * (1 - K / size)) && close(right - wrong, gaps.get(step));
  });
  return batch ? {
    spec: "dr_grpo",
    note: "trained with TRL's scale_rewards=batch, by the advantages in the file: within a step the weights of dr_grpo, times a factor"
  } : { spec: "", note: "the advantages in the file are those of no estimator without options here" };
}
function weightShares({ n, correct, times = n.map(() => 1) }, spec, edges) {
  const expected = advantagesOf(spec), sums = n.map((size, i) => {
    try {
      const [right, wrong] = expected(size, correct[i]);
      return times[i] * (correct[i] * Math.abs(right) + (size - correct[i]) * Math.abs(wrong));
    } catch {
      return 0;
    }
  }), bins = shareByBin(
    n.map((size, i) => correct[i] / size),
    sums,
    edges
  ), all = bins.reduce((a, b) => a + b, 0);
  return bins.map((bin) => bin / Math.max(all, 1e-12));
}

// work.js
var SLICE = 25;
var FEW = 64;
var MOST_RATES = 2e4;
var last = { number: 0, again: null };
function settled(counts2) {
  const short2 = condensed(counts2), { n, correct, exact, times } = short2;
  if (exact && exact.length > MOST_RATES)
    throw new Error(`${exact.length} different pass rates: the page shows up to ${MOST_RATES}; lab audit shows all`);
  const trained = trainedWeighting(counts2), fit2 = counts2.fit ?? (exact ? null : mixing(n, correct, void 0, times)), again = !exact && n.length <= FEW ? resampled(counts2.n, counts2.correct) : null;
  last = { number: last.number + 1, again };
  return { ...short2, notes: counts2.notes, trained, fit: fit2, number: last.number, few: again !== null };
}
var TASKS = {
  learn,
  decompose: ({ degree, N: N2 }) => decomposition(degree, N2),
  read: async ({ file, said: said2 }) => settled(await readFile(file, said2)),
  settle: ({ counts: counts2 }) => settled(counts2),
  /** The masses of draws `from` and as many of the next as a moment allows, up to `to`; none of a file before the last. */
  draws({ number: number2, from, to }) {
    const began = performance.now(), masses = [];
    if (number2 !== last.number) return masses;
    do
      masses.push(last.again(from + masses.length).mass);
    while (from + masses.length < to && performance.now() - began < SLICE);
    return masses;
  }
};
var bundle = null;
var EXPORT = /\nexport \{[^}]*\};\s*$/;
function makeWorkersOf(text2) {
  if (EXPORT.test(text2 ?? "")) bundle = `"use strict";${text2.replace(EXPORT, "")}`;
}
function serve(scope) {
  scope.addEventListener("message", async ({ data: { id, task, facts } }) => {
    try {
      scope.postMessage({ id, answer: await TASKS[task](facts) });
    } catch (error) {
      scope.postMessage({ id, fault: error.message });
    }
  });
}
var Work = class {
  constructor() {
    Object.assign(this, { worker: null, refused: false, waiting: /* @__PURE__ */ new Map(), next: 1 });
  }
  /** Whether a worker does the work; false where the browser has refused to start one. */
  get away() {
    if (!this.worker && !this.refused) this.start();
    return !this.refused;
  }
  start() {
    try {
      if (!bundle) throw new Error("no bundle");
      const address = URL.createObjectURL(new Blob([bundle], { type: "text/javascript" }));
      this.worker = new Worker(address);
    } catch {
      this.refuse();
      return;
    }
    this.worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.refuse();
    });
    this.worker.addEventListener("message", ({ data: { id, answer, fault } }) => {
      const { resolve: resolve2, reject } = this.waiting.get(id);
      this.waiting.delete(id);
      if (fault === void 0) resolve2(answer);
      else reject(new Error(fault));
    });
    this.ask("learn", told());
  }
  /** From here on the page itself works, also at what the worker had been asked. */
  refuse() {
    const left = [...this.waiting.values()];
    this.worker?.terminate();
    Object.assign(this, { refused: true, worker: null });
    this.waiting.clear();
    for (const { task, facts, resolve: resolve2, reject } of left) this.here(task, facts).then(resolve2, reject);
  }
  async here(task, facts) {
    await new Promise((done) => setTimeout(done));
    return TASKS[task](facts);
  }
  /** The answer to one of TASKS, or its sentence thrown. */
  ask(task, facts) {
    if (!this.away) return this.here(task, facts);
    return new Promise((resolve2, reject) => {
      const id = this.next++;
      this.waiting.set(id, { task, facts, resolve: resolve2, reject });
      this.worker.postMessage({ id, task, facts });
    });
  }
};
var FILES = new Work();

// fits.js
var AT_ONCE = 24;
var WORK = new Work();
var Fits = class {
  /** `changed`: called when a fit can be drawn that could not before. */
  constructor(changed) {
    Object.assign(this, { changed, last: /* @__PURE__ */ new Map(), wanted: null, busy: false, rest: Promise.resolve() });
  }
  /**
   * { sequences, stale } of a resolved estimator at N. Where its fit is still to come, the sequences are those of its
   * last fit, of the drawing before this one perhaps, or null; `changed` is called when it is there.
   */
  sequences(found, N2) {
    const { name, spec, options } = found;
    if (name !== "drawn" && name !== "formula") return { sequences: coefficients(found, N2), stale: false };
    const degree = N2 - (options.zero_mean ? 2 : 1), later = N2 > AT_ONCE && N2 <= LARGEST && !isDecomposed(degree, N2);
    if (later && WORK.away) {
      this.want({ degree, N: N2 });
      return { sequences: this.last.get(spec) ?? this.last.get(name) ?? null, stale: true };
    }
    const sequences2 = coefficients(found, N2);
    if (this.last.size > 50) this.last.clear();
    this.last.set(spec, sequences2).set(name, sequences2);
    return { sequences: sequences2, stale: false };
  }
  /** Only the last wish counts: what a slider passed over is not worth the work. */
  want(wanted) {
    this.wanted = wanted;
    if (!this.busy) this.rest = this.work();
  }
  async work() {
    this.busy = true;
    while (this.wanted) {
      const { degree, N: N2 } = this.wanted;
      this.wanted = null;
      keepDecomposition(degree, N2, await WORK.ask("decompose", { degree, N: N2 }));
      this.changed();
    }
    this.busy = false;
  }
  /** Resolves when every fit that is shown is its own. */
  settled() {
    return this.rest;
  }
};

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
function keeps({ name, low, high: high2 }, N2) {
  const kept = {
    none: () => true,
    drop: (K) => K > 0 && K < N2,
    redraw: (K) => K > 0 && K < N2,
    between: (K) => low <= K / N2 && K / N2 <= high2
  }[name];
  return row(N2 + 1, (K) => Number(kept(K)));
}
var keepsSome = (gate, N2) => keeps(gate, N2).includes(1);
function behind(grid, sequences2, gate) {
  const N2 = sequences2[0].length, kept = keeps(gate, N2), [a1, a0] = successFailure(sequences2);
  const gap = row(N2, (j) => kept[j + 1] * a1[j + 1] - kept[j] * a0[j]);
  const weight2 = expect(grid.table(N2 - 1), gap), share = expect(grid.table(N2), kept);
  if (gate.name !== "redraw") return { weight: weight2, cost: share.map(() => N2), kept: share };
  return { weight: weight2.map((w, i) => w / share[i]), cost: share.map((m) => N2 / m), kept: share.map(() => 1) };
}
var GATED = {
  weight: (grid, sequences2, gate) => behind(grid, sequences2, gate).weight,
  contrast: (grid, sequences2, gate) => behind(grid, sequences2, gate).weight.map((w, i) => w * grid.p[i] * (1 - grid.p[i]))
};
function isGated({ gate, quantity, N: N2 }) {
  return gate !== "none" && quantity in GATED && keepsSome(parseGate(gate), N2);
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
  update({ gate, quantity, N: N2 }) {
    const { name, low, high: high2 } = parseGate(gate);
    rebuild(this.names, name, () => [
      segmented("gate", NAMES, name, (next) => this.store.set({ gate: next === "between" ? START : next }))
    ]);
    this.bounds.hidden = name !== "between";
    this.low.show(low);
    this.high.show(high2);
    const keepsNone = !keepsSome(parseGate(gate), N2);
    this.said.className = keepsNone ? "fault" : "rules";
    const where = quantity in GATED ? " Bold: behind the gate." : " It is drawn for weight and contrast.", drawn = name === "none" ? "" : where;
    write(
      this.said,
      keepsNone ? `This gate keeps no group of ${N2} rollouts: raise N, or widen it.` : `${MEANING[name]}${drawn}`
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
    this.element = h("div", {}, this.list, this.adder(kind), this.glossary(kind));
  }
  /** Every name that there is, so that one can read what it stands for before it is drawn. */
  glossary(kind) {
    const starts = offered(this.table);
    const terms = Object.keys(this.table).map(
      (name) => this.app.explained(this.table, name, labelOf(this.table, starts[name] ?? name), name)
    );
    return h(
      "details",
      { class: "glossary" },
      h("summary", {}, `What each ${kind} is`),
      h("div", { class: "row" }, terms)
    );
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
    const shown = lines.map(({ spec, error, label: label2 }) => [spec, error, label2]);
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
    const head = h("div", { class: "head" }, swatch, this.app.explained(this.table, line.name, line.label, line.spec), remove);
    return h("div", { class: "item" }, head, this.deadGroups(line, i), this.options(line, i), h("p", {}));
  }
  /** MaxRL's estimators differ only in what a group does where all are wrong: one choice, not four names. */
  deadGroups(line, i) {
    if (!(line.name in DEAD_GROUPS) || line.error || lifted(line.spec)) return null;
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
  /** What a lifted estimator has to do with the curve that is drawn for it. */
  ofRewards({ spec }) {
    const inner = lifted(spec);
    return inner === null ? "" : `takes real rewards; where they are right or wrong it is ${inner}, whose curve this is · `;
  }
  /** The words of a row: its label, and its rules or what is wrong with it. */
  reword(row2, line) {
    write(row2.querySelector("strong"), line.label);
    const said2 = row2.lastElementChild;
    said2.className = line.error ? "fault" : "rules";
    const by = this.app.kernel ? "lab is computing it …" : "it is being fitted …", waiting = line.waiting ? by : "";
    write(said2, line.error ?? (line.sequences ? `${this.ofRewards(line)}${rules(line.sequences)}` : waiting));
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
  right_N: 0,
  // 0: as many as on the left
  equal: "length",
  length: 0.05,
  rate: 0.5,
  seed: 0,
  seeds: 5,
  across: "steps",
  theme: "auto"
};
var MOST2 = { N: 4096, problems: 400 };
var CHOICES = {
  panel: ["curves", "draw", "files", "toy"],
  quantity: ["weight", "objective", "efficiency", "mass", "contrast"],
  x: ["log", "deep", "linear", "logit"],
  y: ["log", "linear"],
  by: ["hand", "formula"],
  equal: ["length", "rate"],
  across: ["steps", "rollouts"],
  theme: ["auto", "light", "dark"]
};
var RANGES = {
  N: [2, MOST2.N, true],
  problems: [4, MOST2.problems, true],
  right_N: [0, MOST2.N, true],
  length: [1e-3, 1, false],
  rate: [1e-3, 10, false],
  seed: [0, 2 ** 31 - 1, true],
  seeds: [1, 16, true]
};
function checked(given) {
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw new Error("a state is a dictionary");
  for (const [key, value] of Object.entries(given)) {
    const usual = Object.hasOwn(DEFAULTS, key) ? DEFAULTS[key] : void 0, fault = (words) => new Error(`${key} = ${JSON.stringify(value)}: ${words}`);
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
var AXES = { log: "log", deep: "log to 10⁻⁶", linear: "linear", logit: "log-odds" };
var SPAN = { log: [1e-4, 1], deep: [1e-6, 1], linear: [0, 1], logit: [1e-4, 1 - 1e-4] };
var kindOf = (axis) => axis === "deep" ? "log" : axis;
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
      (N2) => store.set({ N: N2 })
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
    this.table = h("div", {
      class: "readout",
      tabindex: "0",
      role: "region",
      "aria-label": "numbers at one pass rate"
    });
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
      const limit3 = this.limit(line, quantity, state.x);
      const half = line.w ? line.w(0.5) : line.half;
      const shownLimit = scaled && limit3 ? half ? to(limit3, half) : null : limit3;
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
    const solid = found.flatMap(({ y, limit: limit3 }, i) => [
      ...y ?? (this.lines[i].kind === "objective" && limit3 ? limit3 : [])
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
      const { y, limit: limit3, gated } = found[i], { color, dash, label: label2 } = line;
      if (line.waiting) drawn.push({ x: [], y: [], color, dash, width: 2.2, label: line.label, name: line.spec });
      if (line.kind === "objective" && limit3)
        drawn.push({
          x: p,
          y: limit3,
          color,
          dash,
          width: 1.6,
          label: line.label,
          name: line.spec
        });
      if (line.kind === "curve" && y) {
        if (state.limits && limit3)
          drawn.push({ x: p, y: limit3, color, dash: [2, 3], width: 1, name: `limit ${line.spec}` });
        const plain2 = { x: p, y, color, dash, name: line.spec };
        if (!gated) drawn.push({ ...plain2, width: 2.2, label: label2 });
        else {
          drawn.push({ ...plain2, width: 1, opacity: 0.85 });
          drawn.push({ x: p, y: gated, color, dash, width: 2.6, label: label2, name: this.recipe(line, state) });
        }
      }
    });
    const unit = state.normalise && quantity !== "efficiency" ? ", 1 at w(½)" : "";
    this.chart.draw(
      {
        x: { kind: kindOf(state.x), domain: SPAN[state.x], label: "pass rate p" },
        y: { kind, domain, label: NAMES2[quantity] + unit },
        lines: drawn,
        named: true,
        mark: this.at
      },
      this.app.theme()
    );
    this.app.drawn();
  }
  /** The text from which lab.recipe reads what is drawn of a line behind the gate. */
  recipe({ spec, sequences: sequences2 }, { gate }) {
    return `${spec}, N=${sequences2[0].length}, gate=${gate}`;
  }
  thumbnails(state) {
    const coarse = this.coarse ??= Object.fromEntries(
      Object.keys(AXES).map((axis) => [axis, new Grid(passRates(axis, 61))])
    );
    for (const [quantity, { chart, tab }] of Object.entries(this.small)) {
      tab.setAttribute("aria-selected", String(quantity === state.quantity));
      tab.tabIndex = quantity === state.quantity ? 0 : -1;
      const lines = this.lines.filter(({ sequences: sequences2 }) => sequences2).map(({ sequences: sequences2, color, dash }) => ({
        x: coarse[state.x].p,
        y: QUANTITIES[quantity](coarse[state.x], sequences2),
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
        { x: { kind: kindOf(state.x), domain: SPAN[state.x], label: "" }, y: { kind, domain, label: "" }, lines },
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
    this.at = Math.min(Math.max(p, 1e-6), 1 - 1e-4);
    if (!this.lines) return;
    this.chart.mark(this.at);
    const { state } = this.app.store, grid = new Grid([this.at]), gate = parseGate(state.gate), gated = gate.name !== "none" && keepsSome(gate, state.N);
    const shown = this.lines.filter(({ error, waiting }) => !error && !waiting);
    const rows = shown.map((line) => {
      const value = (quantity) => line.sequences ? QUANTITIES[quantity](grid, line.sequences)[0] : LIMITS[quantity](grid.p, line.w)?.[0];
      const limit3 = line.kind === "curve" && line.w ? line.w(this.at) : null;
      const part = gated && line.sequences ? behind(grid, line.sequences, gate) : null;
      const cells2 = gated ? [part?.weight[0], part?.cost[0], part?.kept[0], value("efficiency")] : ["objective", "efficiency", "mass", "contrast"].map(value);
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, h("span", { class: "dot", style: `background:${line.color}` }), line.label),
        h("td", {}, format(value("weight"))),
        h("td", { class: "limit" }, format(limit3)),
        cells2.map((number2) => h("td", {}, format(number2)))
      );
    });
    const sizes = new Set(shown.flatMap(({ sequences: sequences2 }) => sequences2 ? [sequences2[0].length] : []));
    const N2 = [...sizes].sort((a, b) => a - b).join(", ") || state.N;
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
            [`w at N = ${N2}`, "limit w", ...words].map((word) => h("th", { scope: "col" }, word))
          )
        ),
        h("tbody", {}, rows)
      )
    );
  }
  columns() {
    const { state } = this.app.store, columns = { p: this.grids[state.x].p };
    this.lines.forEach((line, i) => {
      const { y, limit: limit3, gated } = this.found[i];
      if (y) columns[`${line.spec} N=${line.sequences[0].length}`] = y;
      if (gated) columns[this.recipe(line, state)] = gated;
      if (limit3 && (state.limits || !y)) columns[line.kind === "curve" ? `limit of ${line.spec}` : line.spec] = limit3;
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
      { least: 2, most: MOST2.N, step: 1, scale: LOG(2, MOST2.N), first: true },
      (N2) => store.set({ N: N2 })
    );
    this.way = h("div");
    this.formula = h("input", {
      type: "text",
      class: "state",
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
    if (this.formula.value !== state.formula) this.formula.value = state.formula;
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
    const known = this.app.authority?.sequences(found.spec, state.N) ?? null, { sequences: sequences2, stale } = known || waits ? { sequences: known, stale: false } : this.app.fits.sequences(found, state.N);
    const target = this.grid.p.map(w);
    this.element.toggleAttribute("data-fitting", stale);
    if (stale) this.facts.textContent = `Fitting ${state.N} rollouts …`;
    if (!sequences2) {
      this.draw(state, { w, target });
      return;
    }
    const reached = QUANTITIES.weight(this.grid, sequences2), left = reached.map((x, i) => x - target[i]);
    this.drawn = { target, reached, left, sequences: sequences2, spec: found.spec };
    this.residual.element.hidden = this.sequences.element.hidden = false;
    this.draw(state, { w, target, reached, N: sequences2[0].length });
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
    const [gap, offset] = sequences2, j = gap.map((_, i) => i);
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
    if (stale) return;
    const kept = QUANTITIES.efficiency(MIDDLE, sequences2);
    const off = Math.sqrt(
      left.reduce((sum, x, i) => sum + (x * weigh(this.grid.p[i])) ** 2, 0) / target.reduce((sum, x, i) => sum + (x * weigh(this.grid.p[i])) ** 2, 0)
    );
    const told2 = `${format(100 * off, 3)} % of the weight, measured where the gradient is, by p(1−p)`;
    const efficiencies = Array.from(MIDDLE.p, (p, i) => `${format(kept[i], 3)} at p = ${p}`).join(", ");
    this.facts.textContent = `At N = ${state.N} the residual is ${off < 1e-8 ? "zero: the weight is reached exactly" : told2}. Efficiency ${efficiencies}.`;
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
        label: `the best that N = ${found.N} reach`,
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
    this.chart.svg.setAttribute("aria-valuenow", String(state.points[this.chosen]));
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

// panel_files.js
var ASKED = {
  problem: "column of the problem",
  reward: "column of the reward",
  threshold: "right from a reward of",
  success: "or: right if it is"
};
var DRAWS = 200;
var FilesPanel = class {
  constructor(app) {
    this.app = app;
    const { store } = app;
    this.N = slider(
      "Rollouts a problem, N",
      store.state.N,
      { least: 2, most: MOST2.N, step: 1, scale: LOG(2, MOST2.N), first: true },
      (N2) => store.set({ N: N2 })
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
      ...Object.entries(ASKED).map(([name, label2]) => field(label2, this.choice[name]))
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
    this.example = h(
      "button",
      { type: "button", onclick: () => this.open(null, () => FILES.ask("settle", { counts: EXAMPLE })) },
      "Show an invented example"
    );
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
  /** Show what `read` resolves to, see `settled` of work.js: that of a file, unless another was given meanwhile. */
  async open(file, read = () => this.read(file)) {
    const turn = this.turn = {};
    this.file = file;
    this.fault.textContent = "";
    this.notes.textContent = file ? `reading ${file.name} …` : "";
    try {
      const counts2 = await read();
      if (turn !== this.turn) return;
      this.counts = counts2;
      this.kept = counts2.fit ? { fit: counts2.fit } : {};
      this.draws = [];
      this.app.refresh();
    } catch (error) {
      if (turn !== this.turn) return;
      this.notes.textContent = "";
      this.fault.textContent = error.message;
    }
  }
  async read(file) {
    if (!this.app.kernel) return FILES.ask("read", { file, said: this.said() });
    return FILES.ask("settle", { counts: await this.app.kernel.read(file) });
  }
  /** Counts { n, correct, notes } or exact pass rates that the notebook gave; `fit` is the lab's. */
  take(counts2) {
    this.open(null, () => FILES.ask("settle", { counts: counts2 }));
  }
  update(state) {
    this.N.show(state.N);
    clearTimeout(this.later);
    if (!this.counts) {
      this.app.drawn();
      return;
    }
    this.lines = this.app.lines(state).filter(({ sequences: sequences2, stale }) => sequences2 && !stale);
    this.gaps = Object.fromEntries(
      this.lines.map(({ spec }) => [
        spec,
        (N2) => {
          try {
            const { sequences: sequences2, stale } = this.app.estimator(spec, N2);
            return stale ? null : sequences2?.[0] ?? null;
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
    if (this.counts.few) this.later = setTimeout(() => this.bootstrap(state), 30);
  }
  /** Intervals over problems, drawn again DRAWS times; every draw is fitted anew, and kept. */
  async bootstrap(state) {
    const { draws } = this;
    if (draws.length < DRAWS) {
      if (this.drawing === draws) return;
      this.drawing = draws;
      const { number: number2 } = this.counts;
      while (draws.length < DRAWS && draws === this.draws) {
        const more = await FILES.ask("draws", { number: number2, from: draws.length, to: DRAWS });
        if (!more.length) return;
        draws.push(...more);
      }
      if (draws === this.draws) this.app.refresh();
      return;
    }
    const speak = tell(this.kept.fit.p, this.found, state.N, this.gaps), told2 = this.draws.map(speak);
    const spread2 = (pick) => pick(told2[0]).map((_, i) => interval(told2.map((one2) => pick(one2)[i])));
    this.intervals = {
      problems: spread2((one2) => one2.problems),
      dead: spread2((one2) => one2.dead),
      gradients: Object.fromEntries(Object.keys(this.gaps).map((name) => [name, spread2((one2) => one2.gradients[name])]))
    };
    this.render(state);
  }
  words() {
    const { n, correct, exact, notes, times, few } = this.counts, paragraphs = notes.map((note) => h("p", {}, note));
    if (exact) return paragraphs;
    const sum = (values) => values.reduce((all, value, i) => all + times[i] * value, 0), problems = sum(n.map(() => 1)), least = n.reduce((a, b) => Math.min(a, b)), dead2 = sum(n.map((size, i) => Number(correct[i] === 0 || correct[i] === size)));
    return [
      ...paragraphs,
      h(
        "p",
        {},
        `${sum(correct)} of ${sum(n)} rollouts are right, ${least} to ${this.found.reach} a problem; ${format(100 * dead2 / problems, 3)} % of groups are dead as they lie.`
      ),
      h(
        "p",
        {},
        "Noise removed by maximum likelihood, smooth. " + (this.intervals ? `Lines: 95 % over ${problems} problems, ${DRAWS} draws.` : few ? "Intervals are being drawn …" : "So many different counts are shown without intervals: lab audit gives them.")
      )
    ];
  }
  /** What the training's weighting was, and a table of it and of the estimators on the page. */
  weighting() {
    if (!this.counts.trained) return [];
    const { spec, note } = this.counts.trained, { edges } = this.found, percent2 = edges.map((edge) => format(100 * edge)), specs = [.../* @__PURE__ */ new Set([spec, ...this.lines.map((line) => line.spec)])].filter((one2) => one2), shares2 = specs.map((one2) => weightShares(this.counts, lifted(one2) ?? one2, edges)), head = [h("th", { scope: "col" }, "K/n, %"), ...specs.map((one2) => h("th", { scope: "col" }, one2))], rows = edges.slice(1).map(
      (_, i) => h(
        "tr",
        {},
        h("th", { scope: "row" }, `${percent2[i]}–${percent2[i + 1]}`),
        ...shares2.map((bins) => h("td", {}, bins[i].toFixed(3)))
      )
    );
    return [
      h("p", {}, `${note[0].toUpperCase()}${note.slice(1)}. Share of the weight of these rollouts, sum of |advantage|:`),
      h(
        "div",
        { class: "readout", tabindex: "0", role: "region", "aria-label": "weights of these rollouts" },
        h("table", { class: "weights" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows))
      )
    ];
  }
  render(state) {
    const { found, lines } = this, theme = this.app.theme(), bins = found.problems.length, blue = this.app.color("#0072b2");
    this.notes.replaceChildren(...this.words(), ...this.weighting());
    const percent2 = found.edges.map((edge) => format(100 * edge)), ticks = found.problems.map((_, i) => [i + 0.5, `${percent2[i]}–${percent2[i + 1]}`]);
    const x = { kind: "linear", domain: [0, bins], label: "pass rate p, %", ticks };
    const style = looks(lines.map(({ name }) => name)).map((look) => ({ ...look, color: this.app.color(look.color) }));
    const whiskers = (pairs, place) => (pairs ?? []).map(([low, high2], i) => ({ x: place(i), low, high: high2 }));
    const spread2 = this.intervals;
    const tops = (values, pairs) => niceDomain([0, ...values, ...(pairs ?? []).flat()], "linear");
    this.histogram.draw(
      {
        x,
        y: {
          kind: "linear",
          domain: tops([...found.problems, ...found.naive ?? []], spread2?.problems),
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
        whiskers: whiskers(spread2?.problems, (i) => i + 0.31),
        keys: [
          { label: found.naive ? "without noise" : "as computed", color: blue, block: true },
          ...found.naive ? [{ label: "k/n taken for p", color: theme.muted, dash: [2, 1] }] : []
        ]
      },
      theme
    );
    const shares2 = lines.map(({ spec }) => found.gradients[spec]), slot = 0.8 / Math.max(1, lines.length);
    this.gradient.draw(
      {
        x,
        y: {
          kind: "linear",
          domain: tops(shares2.flat(), spread2 && Object.values(spread2.gradients).flat()),
          label: `share of gradient, N = ${state.N}`
        },
        bars: shares2.flatMap(
          (values, k) => values.map((value, i) => ({
            from: i + 0.1 + slot * k,
            to: i + 0.1 + slot * (k + 0.86),
            value,
            color: style[k].color,
            opacity: 0.9
          }))
        ),
        whiskers: spread2 ? lines.flatMap(({ spec }, k) => whiskers(spread2.gradients[spec], (i) => i + 0.1 + slot * (k + 0.43))) : [],
        keys: lines.map(({ label: label2 }, k) => ({ label: label2, color: style[k].color, block: true }))
      },
      theme
    );
    const sizes = found.sizes, top = sizes.at(-1), beyond = found.reach < top;
    const N2 = {
      kind: "log",
      domain: [2, Math.max(4, top)],
      label: `rollouts N${beyond ? " (shaded: extrapolated)" : ""}`,
      ticks: sizes.map((size) => [size, String(size)])
    };
    const bands = beyond ? [[Math.max(2, found.reach), top]] : [];
    this.dead.draw(
      {
        x: N2,
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
        whiskers: whiskers(spread2?.dead, (i) => sizes[i]),
        dots: sizes.map((size, i) => ({ x: size, y: found.dead[i], color: theme.ink }))
      },
      theme
    );
    const signals = lines.map(({ spec }) => found.signals[spec]);
    this.larger.draw(
      {
        x: N2,
        y: { kind: "linear", domain: tops(signals.flat()), label: "mean of p(1−p)|w_N|" },
        bands,
        mark: state.N,
        lines: lines.map(({ label: label2 }, k) => ({
          x: sizes,
          y: signals[k],
          color: style[k].color,
          dash: style[k].dash,
          label: label2
        }))
      },
      theme
    );
    this.app.drawn();
  }
  columns() {
    const { edges, problems, naive, gradients, signals, sizes, dead: dead2, deadNaive } = this.found, spread2 = this.intervals;
    const ends3 = (name, pairs) => pairs ? { [`${name}, low`]: pairs.map(([low]) => low), [`${name}, high`]: pairs.map(([, high2]) => high2) } : {};
    return {
      from: edges.slice(0, -1),
      to: edges.slice(1),
      problems,
      ...ends3("problems", spread2?.problems),
      ...naive ? { "K/n as p": naive } : {},
      ...Object.fromEntries(Object.entries(gradients).map(([name, values]) => [`gradient ${name}`, values])),
      N: sizes,
      dead: dead2,
      ...ends3("dead", spread2?.dead),
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
var SET = ["N", "right_N", "left", "right", "problems", "equal", "length", "rate", "seed", "seeds", "across"];
var mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
var ToyPanel = class {
  constructor(app) {
    this.app = app;
    const { store } = app, names = Object.keys(offered(ESTIMATORS));
    this.N = slider(
      "Rollouts a problem, N",
      store.state.N,
      { least: 2, most: MOST2.N, step: 1, scale: LOG(2, MOST2.N), first: true },
      (N2) => store.set({ N: N2 })
    );
    this.problems = slider(
      "Problems",
      store.state.problems,
      { least: 4, most: 400, step: 1, scale: LOG(4, 400) },
      (problems) => store.set({ problems })
    );
    this.right_N = slider(
      "Rollouts a problem on the right",
      store.state.right_N || store.state.N,
      { least: 2, most: MOST2.N, step: 1, scale: LOG(2, MOST2.N) },
      (N2) => store.set({ right_N: N2 })
    );
    this.other = h("div");
    this.equal = h("div");
    this.across = h("div");
    this.length = slider(
      "Step length",
      store.state.length,
      {
        least: 5e-3,
        most: 0.5,
        step: 5e-3,
        hint: "root mean square, over problems, of the change of their logits in a step"
      },
      (length) => store.set({ length })
    );
    this.rate = slider(
      "Learning rate",
      store.state.rate,
      { least: 0.05, most: 5, step: 0.05 },
      (rate) => store.set({ rate })
    );
    this.seeds = slider("Seeds", store.state.seeds, { least: 1, most: 16, step: 1 }, (seeds) => store.set({ seeds }));
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
        h(
          "div",
          { class: "row first" },
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
        SIDES.map((side) => this.menus[side]),
        this.other,
        this.right_N.element,
        h("h3", {}, "What both sides share"),
        this.equal,
        this.length.element,
        this.rate.element,
        this.across,
        this.problems.element,
        this.seeds.element,
        field("First seed", this.seed),
        this.fault,
        h(
          "p",
          { class: "rules" },
          `Each problem is a softmax over ${ANSWERS} answers, one of them right; pass rates start even in log-odds from ${HARDEST} to ${EASIEST}. Steps of equal length change the logits of a problem equally on both sides, in the root mean square over problems; with one learning rate an estimator of a larger scale also takes longer steps. Both sides draw with the same random numbers (Philox4x32-10, one counter a problem, step and rollout).`
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
      const sizes = [state.N, state.right_N || state.N];
      this.found = SIDES.map((side, k) => this.app.estimator(state[side], sizes[k]));
      if (this.found.some(({ waiting, stale }) => waiting || stale)) return;
      this.runs = this.found.map(({ sequences: sequences2 }, k) => new Run(sequences2, sizes[k], state));
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
    return this.runs ? Math.max(...this.runs.map(({ time }) => time)) : 0;
  }
  /** A step on both sides; or, at equal rollouts, on the side that has used fewer. */
  forward() {
    if (this.time >= LONGEST2) {
      this.pause();
      return;
    }
    const least = Math.min(...this.runs.map(({ used }) => used));
    for (const run of this.runs) if (!this.atRollouts || run.used === least) run.step();
  }
  get atRollouts() {
    return this.app.store.state.across === "rollouts";
  }
  advance(steps) {
    if (!this.runs) return;
    for (let i = 0; i < steps; i++) this.forward();
    this.render();
  }
  update(state) {
    const key = JSON.stringify(SET.map((name) => state[name])), { store } = this.app;
    this.N.show(state.N);
    this.right_N.show(state.right_N || state.N);
    this.right_N.element.hidden = !state.right_N;
    this.problems.show(state.problems);
    this.length.show(state.length);
    this.rate.show(state.rate);
    this.length.element.hidden = state.equal !== "length";
    this.rate.element.hidden = state.equal !== "rate";
    this.seeds.show(state.seeds);
    if (document.activeElement !== this.seed) this.seed.value = state.seed;
    rebuild(this.other, [state.right_N > 0, state.N], () => [
      checkbox("another N on the right", state.right_N > 0, (is) => store.set({ right_N: is ? state.N : 0 }))
    ]);
    rebuild(this.equal, state.equal, () => [
      segmented(
        "what both sides share",
        { length: "step length", rate: "learning rate" },
        state.equal,
        (equal) => store.set({ equal })
      )
    ]);
    rebuild(this.across, state.across, () => [
      segmented(
        "compared at equal",
        { steps: "equal steps", rollouts: "equal rollouts" },
        state.across,
        (across) => store.set({ across })
      )
    ]);
    if (key !== this.key || !this.runs) {
      this.key = key;
      for (const side of SIDES) {
        const all = this.names.includes(state[side]) ? this.names : [state[side], ...this.names];
        const start2 = (name2) => this.app.start(name2);
        const menu = select(all, state[side], (name2) => store.set({ [side]: start2(name2) }));
        const name = state[side].split("(")[0];
        this.menus[side].replaceChildren(
          field(side === "left" ? "Left objective" : "Right objective", menu),
          h(
            "p",
            { class: "rules" },
            "What it is: ",
            this.app.explained(ESTIMATORS, ALIASES[name] ?? name, labelOf(ESTIMATORS, state[side]), state[side])
          )
        );
      }
      this.pause();
      this.reset();
    }
    this.render();
  }
  /** What gives the same numbers in Python: a call, a call a seed, or such a line a side. */
  python(state) {
    const { seed, seeds } = state;
    const call = (names, N3, steps) => `paired.pass_rates([${names.map((name) => JSON.stringify(name)).join(", ")}], rollouts=${N3}, problems=${state.problems}, steps=${Math.max(steps, 1)}, ${state.equal === "rate" ? `learning_rate=${state.rate}` : `step_length=${state.length}`}, ` + (seeds > 1 ? `seed=seed)` : `seed=${seed})`);
    const every = (text2) => seeds > 1 ? `[${text2} for seed in range(${seed}, ${seed + seeds})]` : text2;
    const { left, right, N: N2 } = state, calls = state.right_N ? [
      [[left], N2, this.runs[0].time],
      [[right], state.right_N, this.runs[1].time]
    ] : [[[left, right], N2, this.time]];
    return `from lab.toy import paired; ${calls.map((one2) => every(call(...one2))).join("; ")}`;
  }
  render() {
    const { state } = this.app.store, theme = this.app.theme();
    if (!this.runs) return;
    this.line.textContent = this.python(state);
    const used = Math.max(...this.runs.map((run) => run.used)), end = this.time >= LONGEST2 ? ", the end" : "";
    this.clock.textContent = this.atRollouts ? `${used} rollouts a problem${end}` : `step ${this.time}${end}`;
    const style = looks(this.found.map(({ name }) => name)).map((look) => ({
      ...look,
      color: this.app.color(look.color)
    }));
    const ends3 = [50, 100, 200, 400, 800, 1200, LONGEST2].map((end2) => this.atRollouts ? end2 * state.N : end2), reach = this.atRollouts ? used : this.time, last2 = ends3.find((end2) => end2 >= reach) ?? reach;
    const x = {
      kind: "linear",
      domain: [0, last2],
      label: this.atRollouts ? "rollouts a problem" : "step"
    };
    const bins = this.runs.map((run) => histogram(run.now)), most = niceDomain([0, state.problems / 4, ...bins.flat()], "linear")[1];
    const lines = [], areas = [];
    SIDES.forEach((side, k) => {
      const run = this.runs[k], { color, dash } = style[k], { label: label2 } = this.found[k], at = run.shown(), places = at.map((t) => this.atRollouts ? t * run.N : t), paths = [];
      for (let i = 0; i < state.problems; i += Math.ceil(state.problems / 48))
        paths.push({ x: places, y: at.map((t) => run.history[t][i]), color, width: 1, opacity: 0.5 });
      const told2 = (name) => {
        const { middle: middle2, low, high: high2 } = run.across(name, [run.time]);
        return `${format(middle2[0], 3)}${state.seeds > 1 ? ` (${format(low[0], 3)} to ${format(high2[0], 3)})` : ""}`;
      };
      this.heads[side].textContent = `${label2}: mean ${told2("mean")}, hardest quarter ${told2("hard")}`;
      this.charts[side].draw(
        { x, y: { kind: "logit", domain: [1e-4, 0.9999], label: "pass rate, a line a problem" }, lines: paths },
        theme
      );
      this.spread[side].draw(
        {
          x: { kind: "linear", domain: [0, 1], label: "pass rate now" },
          y: { kind: "linear", domain: [0, most], label: "problems" },
          bars: bins[k].map((value, i) => ({
            from: i / 20 + 4e-3,
            to: (i + 1) / 20 - 4e-3,
            value,
            color,
            opacity: 0.8
          }))
        },
        theme
      );
      for (const [name, words, width] of [
        ["mean", "all", 2.4],
        ["hard", "hardest quarter", 1.2]
      ]) {
        const { middle: middle2, low, high: high2 } = run.across(name, at);
        lines.push({ x: places, y: middle2, color, dash, width, label: `${label2}, ${words}` });
        if (state.seeds > 1) areas.push({ x: places, low, high: high2, color });
      }
    });
    this.mean.draw(
      {
        x,
        y: {
          kind: "linear",
          domain: [0, 1],
          label: state.seeds > 1 ? `mean and range, ${state.seeds} seeds` : "mean pass rate"
        },
        lines,
        areas
      },
      theme
    );
    this.app.drawn();
  }
  /** One row a step: the pass rate of every problem on both sides with the first seed, and the means of every seed. */
  columns() {
    const { seed, seeds, problems } = this.app.store.state, columns = { step: Array.from({ length: this.time + 1 }, (_, t) => t) };
    SIDES.forEach((side, k) => {
      const { history: history3, summaries } = this.runs[k];
      for (let i = 0; i < problems; i++) columns[`${side} ${i}`] = history3.map((p) => p[i]);
      if (seeds > 1)
        summaries.forEach((one2, s) => {
          columns[`${side} mean, seed ${seed + s}`] = one2.map(({ mean: mean3 }) => mean3);
          columns[`${side} hardest quarter, seed ${seed + s}`] = one2.map(({ hard }) => hard);
        });
    });
    return columns;
  }
};
var histogram = (p) => {
  const bins = new Array(20).fill(0);
  for (const x of p) bins[Math.min(19, Math.floor(20 * x))]++;
  return bins;
};
var Run = class {
  constructor(sequences2, N2, { problems, equal, length, rate, seed, seeds }) {
    this.N = N2;
    this.policies = Array.from(
      { length: seeds },
      (_, s) => new Policy({
        sequences: sequences2,
        problems,
        rollouts: N2,
        rate,
        length: equal === "length" ? length : null,
        seed: seed + s
      })
    );
    this.history = [];
    this.summaries = this.policies.map(() => []);
    this.note();
  }
  get time() {
    return this.policies[0].time;
  }
  /** Rollouts a problem so far. */
  get used() {
    return this.time * this.N;
  }
  get now() {
    return this.history.at(-1);
  }
  step() {
    for (const policy of this.policies) policy.step();
    this.note();
  }
  note() {
    this.policies.forEach((policy, s) => {
      const p = policy.passRates();
      if (s === 0) this.history.push(p);
      this.summaries[s].push(summary(p));
    });
  }
  /** Some 120 of the steps, the last one with them: enough for a line. */
  shown() {
    const every = Math.max(1, Math.floor(this.time / 120)), at = [];
    for (let t = 0; t < this.time; t += every) at.push(t);
    return [...at, this.time];
  }
  /** { middle, low, high } over the seeds of a summary's number at some steps: mean, least and most. */
  across(name, at) {
    const values = at.map((t) => this.summaries.map((one2) => one2[t][name]));
    return {
      middle: values.map(mean),
      low: values.map((some) => Math.min(...some)),
      high: values.map((some) => Math.max(...some))
    };
  }
};

// history.js
var MOST3 = 200;
var VIEWS = ["panel", "theme"];
var History = class {
  constructor(store) {
    Object.assign(this, { store, done: [], undone: [], last: store.state, gesture: null });
    store.listen((state, changed) => this.record(state, changed));
  }
  /** The events under `root` that say where a step begins and ends: a drag, a text being typed, a key held down. */
  watch(root) {
    let pointer = null, typing = null, key = null;
    const tell2 = () => {
      this.gesture = pointer ?? typing ?? key;
    };
    const on = (types, note, target = root) => {
      for (const type of types)
        target.addEventListener(
          type,
          (event) => {
            note(event);
            tell2();
          },
          true
          // before the control itself hears of it
        );
    };
    on(["pointerdown"], () => pointer = {});
    on(["pointerup", "pointercancel"], () => pointer = null, window);
    on(["input"], () => typing ??= pointer ?? {});
    on(["change"], () => typing = null);
    on(["keydown"], ({ repeat }) => key = repeat ? key : {});
    on(["keyup"], () => key = null);
  }
  record(state, changed) {
    const before = this.last;
    this.last = state;
    if (this.going || [...changed].every((key) => VIEWS.includes(key))) return;
    this.undone = [];
    const step = this.done.at(-1);
    if (step && this.gesture && step.gesture === this.gesture) step.after = state;
    else this.done = [...this.done, { before, after: state, gesture: this.gesture }].slice(-MOST3);
  }
  undo() {
    this.go(this.done, this.undone, "before");
  }
  redo() {
    this.go(this.undone, this.done, "after");
  }
  /** Take a step off one pile, show one end of it, and lay it on the other. The looks stay as they are. */
  go(from, to, end) {
    const step = from.pop();
    if (!step) return;
    to.push({ ...step, gesture: null });
    this.going = true;
    this.store.set({ ...step[end], theme: this.store.state.theme });
    this.going = false;
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
    this.history = new History(store);
    this.history.watch(root);
    this.first = kernel ? store.state : DEFAULTS;
    this.steps = {
      undo: h("button", { type: "button", title: "Ctrl-Z", onclick: () => this.history.undo() }, "Undo"),
      redo: h("button", { type: "button", title: "Ctrl-Shift-Z", onclick: () => this.history.redo() }, "Redo")
    };
    this.say = h("p", { class: "fault", role: "alert" });
    this.badge = h("output", { class: "badge" });
    this.nav = h("nav", { "aria-label": "panels" });
    this.panels = {};
    this.card = new Card(root);
    this.fits = new Fits(() => this.refresh());
    this.title = h("h2", { class: "unseen" });
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
          h(kernel ? "h2" : "h1", {}, "Which problems does an objective care about?"),
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
          this.steps.undo,
          this.steps.redo,
          h("button", { type: "button", onclick: () => this.reset() }, "Reset all"),
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
      this.title,
      this.body,
      this.card.element
    );
    store.listen((state) => {
      write(this.say, "");
      this.update(state);
    });
    (kernel ? root : document).addEventListener("keydown", (event) => this.key(event));
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
    return onGround(color, this.dark);
  }
  update(state) {
    this.root.dataset.theme = this.dark ? "dark" : "light";
    rebuild(this.nav, state.panel, () => [
      segmented("panel", PANELS, state.panel, (panel) => this.store.set({ panel }))
    ]);
    write(this.title, PANELS[state.panel]);
    this.steps.undo.setAttribute("aria-disabled", String(!this.history.done.length));
    this.steps.redo.setAttribute("aria-disabled", String(!this.history.undone.length));
    this.panel(state.panel);
    for (const [name, panel] of Object.entries(this.panels)) panel.element.hidden = name !== state.panel;
    this.panels[state.panel].update(state);
  }
  /** Ctrl-Z, Ctrl-Shift-Z and Ctrl-Y; a text that is no state before it is finished keeps its own. */
  key(event) {
    const { target, shiftKey } = event, letter = event.key.toLowerCase();
    if (!this.root.isConnected || !(event.ctrlKey || event.metaKey) || event.altKey || !"zy".includes(letter)) return;
    if (target.matches?.("input[type=text]:not(.state)")) return;
    event.preventDefault();
    event.stopPropagation();
    if (letter === "y" || shiftKey) this.history.redo();
    else this.history.undo();
  }
  /** Everything as at the start, but the panel and the looks; this too can be undone. */
  reset() {
    const { panel, theme } = this.store.state;
    this.store.set({ ...this.first, panel, theme });
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
   * An estimator at N by its spec: { spec, name, label, options, w, sequences }. In a notebook one that has no
   * closed form may be `waiting` for Python; elsewhere it has no options to change, and may be at the `nearest` N. One
   * that is being fitted has the sequences of its last fit and is `stale`, or waits.
   */
  estimator(spec, N2, nearest2 = false) {
    const inner = lifted(spec);
    if (inner !== null) return { ...this.estimator(inner, N2, nearest2), spec, label: `lift(${inner})`, options: {} };
    const name = spec.split("(")[0].trim(), large = ["drawn", "formula"].includes(name) && N2 > LARGEST;
    if (this.kernel && !(name in ESTIMATORS || name in ALIASES)) return this.authority.own(spec, N2, this.store.state.x);
    const found = resolve(ESTIMATORS, spec);
    if (this.kernel && (large || !found.entry.sequences))
      return { ...found, ...this.authority.own(spec, N2, this.store.state.x) };
    if (!found.entry.sequences) return tabled(found, N2, nearest2);
    const known = this.authority?.sequences(found.spec, N2), { sequences: sequences2, stale } = known ? { sequences: known, stale: false } : this.fits.sequences(found, N2);
    return { ...found, w: found.entry.limit(found.options), sequences: sequences2, stale, waiting: sequences2 === null };
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
  /** The name of an entry of ESTIMATORS or OBJECTIVES, `label` its words here, which says what it is. */
  explained(table, name, label2, spec = name) {
    const entry = Object.hasOwn(table, name) ? table[name] : null;
    if (!entry?.about) return h("strong", {}, label2);
    const { about, citation } = entry;
    return this.card.name(label2, () => ({ label: label2, spec, about, citation }));
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
        await this.fits.settled();
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
  get(spec, { N: N2, x, gate }, quantity) {
    return this.known.get(`${quantity} ${spec} ${gate} ${N2} ${x}`);
  }
  sequences(spec, N2) {
    return this.known.get(`sequences ${spec} ${N2}`);
  }
  /** An estimator that only Python knows: its label and limit are asked for once, its sequences for many N at once. */
  own(spec, N2, axis) {
    const failed = this.known.get(`failed ${spec} ${N2}`);
    if (failed) throw new Error(failed);
    const label2 = this.known.get(`label ${spec}`), limit3 = this.known.get(`limit ${spec} ${axis}`), sequences2 = this.sequences(spec, N2);
    const name = spec.split("(")[0];
    if (label2 && sequences2 && limit3 !== void 0)
      return { spec, name, label: label2, sequences: sequences2, limit: (quantity) => quantity === "weight" ? limit3 : null };
    this.once(`own ${spec} ${N2} ${axis}`, async () => {
      try {
        const [content, arrays] = await this.kernel.ask("estimator", { spec, N: N2, axis });
        this.keep(`label ${spec}`, content.label);
        this.keep(`limit ${spec} ${axis}`, arrays[2] ?? null);
        this.keep(`sequences ${spec} ${N2}`, arrays.slice(0, 2));
        if (!label2) this.prefetch(spec);
      } catch (error) {
        this.keep(`failed ${spec} ${N2}`, error.message);
      }
    });
    return { spec, name, label: label2 ?? spec, waiting: true, sequences: null };
  }
  /** The sequences of the sizes most looked at, sent once: the slider then waits for nobody. */
  async prefetch(spec) {
    const [{ sizes }, arrays] = await this.kernel.ask("sizes", { spec, most: AHEAD });
    sizes.forEach((N2, i) => this.keep(`sequences ${spec} ${N2}`, [arrays[i].slice(0, N2), arrays[i].slice(N2)]));
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
    const specs = panel.lines?.filter(({ sequences: sequences2, kind }) => sequences2 && kind !== "objective").map(({ spec }) => spec);
    if (!specs) return this.design(panel, state, badge);
    const missing2 = (isGated(state) ? ["none", state.gate] : ["none"]).map((gate) => [gate, specs.filter((spec) => !this.get(spec, { ...state, gate }, state.quantity))]).filter(([, asked]) => asked.length);
    if (!missing2.length) return;
    write(badge, "");
    this.timer = setTimeout(
      () => this.once(JSON.stringify(["curves", missing2, state.N, state.x, state.quantity]), async () => {
        badge.textContent = "lab is computing …";
        try {
          let worst = 0;
          const grid = panel.grids[state.x], { N: N2, x: axis, quantity } = state;
          for (const [gate, specs2] of missing2) {
            const [, arrays] = await this.kernel.ask("curves", { specs: specs2, N: N2, quantity, axis, gate });
            specs2.forEach((spec, i) => {
              this.keep(`${quantity} ${spec} ${gate} ${N2} ${axis}`, arrays[i]);
              const line = panel.lines.find((one2) => one2.spec === spec);
              if (!line?.sequences || line.sequences[0].length !== N2) return;
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

// story_parts.js
var isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
var isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
var Picture = class {
  constructor(label2, paint) {
    this.paint = paint;
    this.svg = svg("svg", { role: "img", "aria-label": label2 });
    this.element = h("div", { class: "picture" }, this.svg);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }
  draw() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
      this.svg.setAttribute(name, value);
    this.svg.replaceChildren(...this.paint(width, height));
  }
};
var ChartPicture = class {
  constructor(label2, spec) {
    this.chart = new Chart({ label: label2 });
    this.spec = spec;
    this.element = h("div", { class: "picture" }, this.chart.element);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }
  draw() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    Object.assign(this.chart, { height: height / width, least: 0 });
    this.chart.draw(this.spec());
  }
};
var label = (words, x, y, more = {}) => svg("text", { x, y, ...more }, words);
function drag({ name, values, start: start2, ends: ends3, say }, change) {
  const shown = h("output", { "aria-live": "off" }), bar = h("input", { type: "range", id: "lab-drag", min: "0", max: String(values.length - 1), step: "1" });
  const show = (value) => {
    bar.value = String(values.indexOf(value));
    bar.setAttribute("aria-valuetext", say(value));
    shown.textContent = say(value);
  };
  bar.addEventListener("input", () => {
    const value = values[Number(bar.value)];
    show(value);
    change(value);
  });
  show(start2);
  return h(
    "div",
    { class: "drag" },
    h("div", { class: "named" }, h("label", { for: bar.id }, name), shown),
    bar,
    h("div", { class: "ends", "aria-hidden": "true" }, h("span", {}, ends3[0]), h("span", {}, ends3[1]))
  );
}
function percent(share, figures = share < 0.01 || share > 0.99 ? 1 : 0) {
  const value = 100 * share;
  if (value === 0 || value === 100) return `${value} %`;
  if (value > 0 && value < 0.05) return "less than 0.1 %";
  if (value < 100 && value >= 99.95) return "more than 99.9 %";
  return `${value.toFixed(figures)} %`;
}
function figure(x) {
  return Number(x.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 3 }).replace("-", "−");
}
var signed = (x) => x > 0 ? `+${x.toFixed(2)}` : x < 0 ? `−${Math.abs(x).toFixed(2)}` : "0";
var mean2 = (values) => values.reduce((a, b) => a + b, 0) / values.length;

// scene_data.js
var METHODS = [
  ["rloo", "RLOO", "#0072b2"],
  ["grpo", "GRPO", "#e6a31e"],
  ["maxrl", "MaxRL", "#c42d08"]
];
var GAPS = Object.fromEntries(METHODS.map(([spec]) => [spec, (N2) => coefficients(resolve(ESTIMATORS, spec), N2)[0]]));
var data = {
  name: "your-data",
  short: "Your own data",
  title: "Your own problems: each method is pulled by different ones",
  lead: "Give a file that says how often each problem was tried and solved. It is read here and sent nowhere. Until then you see an invented example.",
  key: "N",
  drag: {
    name: "Tries in a group",
    values: [2, 4, 8, 16, 32, 64, 128],
    start: 16,
    ends: ["few", "many"],
    say: (N2) => `N = ${N2}`
  },
  about: [
    "The pass rates behind the counts are estimated by maximum likelihood, so that 0 of 16 is not taken for never. A bar of a method is the share of its expected gradient, p(1 − p)|w_N(p)| summed over the problems of the bin.",
    "The file: problem, n, k, a row a problem; or problem and reward, a row a rollout; also what TRL and verl write. The workbench adds intervals, the choice of columns, and other estimators."
  ],
  workbench: (N2) => ({ panel: "files", N: N2 }),
  build(view) {
    let counts2 = EXAMPLE, kept = {}, name = "the invented example";
    const fault = h("p", { class: "fault", role: "alert" });
    const found = () => analyse(counts2, view.value, GAPS, kept);
    const picture = new ChartPicture("share of problems and of each method's gradient, by pass rate", () => {
      const dark = isDark(), theme = THEMES[dark ? "dark" : "light"], { edges, problems, gradients } = found(), series2 = [
        [problems, "problems", theme.muted],
        ...METHODS.map(([spec, words, color]) => [gradients[spec], `pull of ${words}`, onGround(color, dark)])
      ], slot = 0.84 / series2.length;
      picture.chart.theme = theme;
      const ends3 = edges.map((edge) => String(Number((100 * edge).toPrecision(3))));
      return {
        x: {
          kind: "linear",
          domain: [0, problems.length],
          label: "how often a problem is solved, %",
          ticks: problems.map((_, i) => [i + 0.5, `${ends3[i]}–${ends3[i + 1]}`])
        },
        y: {
          kind: "linear",
          domain: niceDomain([0, ...series2.flatMap(([values]) => values)], "linear"),
          label: "share"
        },
        bars: series2.flatMap(
          ([values, , color], k) => values.map((value, i) => ({ from: i + 0.08 + slot * k, to: i + 0.08 + slot * (k + 0.88), value, color }))
        ),
        keys: series2.map(([, words, color]) => ({ label: words, color, block: true }))
      };
    });
    const input = h("input", { type: "file", id: "lab-own", accept: ".csv,.tsv,.json,.jsonl,.ndjson,.gz" });
    input.addEventListener("change", async () => {
      if (!input.files[0]) return;
      const before = [counts2, kept, name];
      try {
        const [file] = input.files;
        fault.textContent = "";
        view.say(`Reading ${file.name} …`);
        counts2 = await FILES.ask("read", { file, said: {} });
        [kept, name] = [counts2.fit ? { fit: counts2.fit } : {}, file.name];
        found();
      } catch (error) {
        [counts2, kept, name] = before;
        fault.textContent = error.message;
      }
      show();
    });
    function show() {
      picture.draw();
      const { problems, gradients, sizes, dead: dead2, edges } = found(), hard = (values) => percent(values[0]);
      view.say(
        `In ${name}, ${hard(problems)} of the problems are solved less than ${percent(edges[1])} of the time. With groups of ${view.value} they get ${hard(gradients.rloo)} of RLOO's pull, ${hard(gradients.grpo)} of GRPO's and ${hard(gradients.maxrl)} of MaxRL's; ${percent(dead2[sizes.indexOf(view.value)])} of the groups are dead.`
      );
    }
    return {
      picture: picture.element,
      below: h("div", { class: "row" }, h("label", { for: "lab-own" }, "Your file"), input, fault),
      draw: show
    };
  }
};

// scene_dead.js
var PROBLEMS = 60;
var AXIS = scaleOf({ kind: "logit", domain: [1e-3, 0.999] });
var ends = [HARDEST, EASIEST].map((p) => AXIS.at(p));
var POPULATION = Array.from(
  { length: PROBLEMS },
  (_, i) => AXIS.value(ends[0] + (ends[1] - ends[0]) * i / (PROBLEMS - 1))
);
var shares = (N2) => [mean2(POPULATION.map((p) => (1 - p) ** N2)), mean2(POPULATION.map((p) => p ** N2))];
var dead = {
  name: "dead-groups",
  short: "Dead groups",
  title: "Dead groups: all wrong or all right, paid for and worth nothing",
  lead: "The tries at one problem in one round are a group. A group teaches by the contrast of right and wrong answers; without contrast it is dead. Above every difficulty stands its share of dead groups.",
  key: "N",
  drag: {
    name: "Tries in a group",
    values: [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256],
    start: 8,
    ends: ["few", "many"],
    say: (N2) => `N = ${N2}`
  },
  about: [
    "The chance that a group of N is all wrong is (1 − p)^N, all right p^N, exactly. The ticks below are the 60 problems of the first screen before its first round; the shares in the sentence are means over them.",
    "Estimators differ in what they do with dead groups: most pay nothing, some push all wrong answers down."
  ],
  workbench: (N2) => ({ N: N2, quantity: "mass" }),
  build(view) {
    const p = Array.from({ length: 201 }, (_, i) => AXIS.value(i / 200));
    const picture = new Picture(
      "share of groups that are all wrong, mixed and all right, by pass rate",
      (width, height) => {
        const N2 = view.value, left = 46, right = width - 10, top = 8, base = height - 44, x = (value) => left + AXIS.at(value) * (right - left), y = (share) => base - share * (base - top);
        const area = (low, high2, name) => {
          const way = (f, points) => points.map((value) => `${x(value).toFixed(1)} ${y(f(value)).toFixed(1)}`).join("L");
          return svg("path", { d: `M${way(low, p)}L${way(high2, p.toReversed())}z`, class: name });
        };
        const wrong = (value) => (1 - value) ** N2, solved2 = (value) => 1 - value ** N2;
        const half = (f) => p.find((value) => f(value));
        const lives = Math.sqrt((half((v) => wrong(v) < 0.5) ?? 0.1) * (half((v) => solved2(v) < 0.5) ?? 0.9));
        return [
          area(() => 0, wrong, "dead-wrong"),
          area(wrong, solved2, "alive"),
          area(solved2, () => 1, "dead-right"),
          ...[0, 0.5, 1].flatMap((share) => [
            svg("line", { x1: left, x2: right, y1: y(share), y2: y(share), class: share ? "grid" : "axis" }),
            label(percent(share), left - 6, y(share) + 4, { "text-anchor": "end", class: "small" })
          ]),
          ...POPULATION.map(
            (value) => svg("line", { x1: x(value), x2: x(value), y1: base + 2, y2: base + 9, class: "tick" })
          ),
          ...[
            [1e-3, "1 in 1,000"],
            [0.1, "10 %"],
            [0.5, "half"],
            [0.9, "90 %"]
          ].map(
            ([value, words]) => label(words, x(value), base + 24, { "text-anchor": value < 0.01 ? "start" : "middle", class: "small" })
          ),
          label("how often a problem is solved", (left + right) / 2, height - 4, {
            "text-anchor": "middle",
            class: "small"
          }),
          label("all wrong", left + 12, base - 12, { class: "on" }),
          label("teaches", x(Math.min(0.9, Math.max(0.05, lives))), (top + base) / 2, { "text-anchor": "middle" }),
          label("all right", right - 8, top + 20, { "text-anchor": "end", class: "on" })
        ];
      }
    );
    return {
      picture: picture.element,
      draw() {
        picture.draw();
        const [wrong, right] = shares(view.value);
        view.say(
          `With groups of ${view.value}, ${percent(wrong, 1)} of all groups are all wrong and ${percent(right, 1)} all right: ${percent(wrong + right, 1)} of the tries teach nothing.`
        );
      }
    };
  }
};

// scene_draw.js
var P2 = DEFAULTS.points.map((_, i, all) => Number((i / (all.length - 1)).toFixed(2)));
var HIGHEST = 8;
var nearest = (points) => resolve(ESTIMATORS, writeSpec(ESTIMATORS, "drawn", { p: P2, w: points, zero_mean: false }));
var draw = {
  name: "draw",
  short: "Draw your own",
  title: "Draw which problems should count. N tries come as near as they can",
  lead: "Pull the grey line up where problems should pull hard and down where they should not. The purple line is the nearest that N tries can give: the more tries, the sharper it may bend.",
  key: "N",
  drag: {
    name: "Tries in a round",
    values: [4, 6, 8, 12, 16, 24, 32, 48, 64],
    start: 16,
    ends: ["few", "many"],
    say: (N2) => `N = ${N2}`
  },
  about: [
    "Every weight that N rollouts can give is a polynomial of degree N − 1 in the pass rate. The page fits its Bernstein coefficients, with a price on noise: they are what a right answer gets more than a wrong one, by the number of right answers among the others.",
    "The workbench gives the estimator as one line of code that trains, and takes formulas too."
  ],
  workbench: (N2, { points }) => ({ panel: "draw", N: N2, points }),
  build(view) {
    const grid = new Grid(passRates("linear"));
    let chosen = 6, before = null;
    const points = () => view.points, fits = new Fits(() => picture.element.isConnected && show()), reach = () => {
      const { sequences: sequences2, stale } = fits.sequences(nearest(points()), view.value);
      return { reached: sequences2 && QUANTITIES.weight(grid, sequences2), stale };
    };
    const picture = new ChartPicture("the drawn weight, and the best that N tries reach", () => {
      const dark = isDark(), theme = THEMES[dark ? "dark" : "light"], purple = onGround("#c42a96", dark), { reached } = reach();
      picture.chart.theme = theme;
      return {
        x: { kind: "linear", domain: [0, 1], label: "how often a problem is solved" },
        y: {
          kind: "linear",
          domain: niceDomain([0, HIGHEST * 0.75, ...points(), ...reached ?? []], "linear"),
          label: "how hard it pulls"
        },
        lines: [
          {
            x: grid.p,
            y: grid.p.map(throughPoints(P2, points())),
            color: theme.muted,
            dash: [4, 2],
            width: 2,
            name: "wish"
          },
          ...reached ? [{ x: grid.p, y: reached, color: purple, width: 3, name: "reached" }] : []
        ],
        dots: points().map((y, i) => ({
          x: P2[i],
          y,
          color: i === chosen ? purple : theme.muted,
          r: i === chosen ? 6 : 4,
          hollow: i !== chosen
        }))
      };
    });
    const { chart } = picture, handle = chart.svg;
    for (const [name, value] of Object.entries({
      tabindex: "0",
      role: "slider",
      "aria-label": "drawn weight: left and right choose a point, up and down move it",
      "aria-valuemin": "0",
      "aria-valuemax": String(HIGHEST)
    }))
      handle.setAttribute(name, value);
    const put = (next) => {
      view.keep({ points: next });
      show();
    };
    chart.listen(
      (p, w) => {
        const here = Math.round(p * (P2.length - 1)), [from, start2] = before ?? [here, w], value = Math.min(HIGHEST, Math.max(0, w)), next = [...points()];
        for (let i = Math.min(from, here); i <= Math.max(from, here); i++) {
          const share = here === from ? 1 : (i - from) / (here - from);
          next[i] = Number((start2 + share * (value - start2)).toPrecision(3));
        }
        before = [here, value];
        chosen = here;
        put(next);
      },
      { drag: true, done: () => before = null }
    );
    handle.addEventListener("keydown", (event) => {
      const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0, up = { ArrowUp: 1, ArrowDown: -1 }[event.key] ?? 0;
      if (!along && !up) return;
      event.preventDefault();
      chosen = Math.min(P2.length - 1, Math.max(0, chosen + along));
      const value = Math.min(HIGHEST, Math.max(0, points()[chosen] + 0.2 * up));
      put(points().with(chosen, Number(value.toPrecision(3))));
    });
    function show() {
      picture.draw();
      handle.setAttribute("aria-valuenow", String(points()[chosen]));
      handle.setAttribute("aria-valuetext", `${points()[chosen]} at a pass rate of ${P2[chosen]}`);
      const wish = throughPoints(P2, points()), { reached, stale } = reach();
      if (stale) {
        view.say(`With ${view.value} tries … the purple line is being fitted.`);
        return;
      }
      const far = reached.reduce((worst, y, i) => Math.max(worst, Math.abs(y - wish(grid.p[i]))), 0);
      view.say(
        far < 5e-3 ? `With ${view.value} tries the drawing is reached.` : `With ${view.value} tries the purple line is up to ${figure(far)} away from the drawing.`
      );
    }
    return {
      picture: picture.element,
      below: h(
        "div",
        { class: "row" },
        h("button", { type: "button", onclick: () => put(DEFAULTS.points) }, "First drawing"),
        h("button", { type: "button", onclick: () => put(P2.map(() => 1)) }, "Level")
      ),
      draw: show
    };
  }
};

// scene_ends.js
var N = 8;
var sequences = (spec) => coefficients(resolve(ESTIMATORS, spec), N);
function group(K) {
  const [a1, a0] = successFailure(sequences("grpo")), u = uniforms(0, 0, 0, N), rank = u.map((value) => u.filter((other) => other < value).length);
  return Array.from(rank, (place) => ({ right: place < K, advantage: place < K ? a1[K] : a0[K] }));
}
var spread = (K) => Math.sqrt(K / N * (1 - K / N));
var ends2 = {
  name: "both-ends",
  short: "Both ends",
  title: "GRPO lifts both ends, because it divides by the spread",
  lead: `The model answers one problem ${N} times. GRPO, a widely used method, pays each answer its distance from the group's average, divided by the group's spread. The spread is small when answers are almost all wrong, and when they are almost all right.`,
  key: "K",
  drag: {
    name: `Right answers among the ${N}`,
    values: Array.from({ length: N + 1 }, (_, K) => K),
    start: 1,
    ends: ["all wrong", "all right"],
    say: (K) => `${K} of ${N}`
  },
  about: [
    "GRPO with the population's standard deviation (ddof 0, eps 0): a right answer gets (1 − mean)/std, a wrong one −mean/std, and groups that are all right or all wrong get 0. The difference of the two is 1/std.",
    "Averaged over the groups that a problem of pass rate p gives, this is the curve: near 1/√(p(1−p)) where N allows, and at both ends √(N−1). RLOO (dashed), which does not divide, is level."
  ],
  workbench: () => ({ N, curves: ["rloo", "grpo"], x: "linear", y: "linear" }),
  build(view) {
    const p = passRates("linear"), grid = new Grid(p), weights = ["grpo", "rloo"].map((spec) => QUANTITIES.weight(grid, sequences(spec)));
    let chosen = group(1).findIndex(({ right }) => right);
    const bars = new Picture(`what each of the ${N} answers gets`, (width, height) => {
      const most = Math.sqrt(N - 1), x = (i) => 8 + (i + 0.5) * (width - 16) / N, wide = Math.min(46, 0.7 * width / N), middle2 = height / 2, y = (a) => middle2 - a / most * (middle2 - 26);
      return group(view.value).flatMap(({ right, advantage }, i) => [
        ...i === chosen ? [
          svg("rect", {
            x: x(i) - 0.62 * wide,
            y: 2,
            width: 1.24 * wide,
            height: height - 4,
            rx: 5,
            class: "chosen"
          })
        ] : [],
        svg("rect", {
          x: x(i) - wide / 2,
          width: wide,
          y: Math.min(y(advantage), middle2),
          height: Math.max(1.5, Math.abs(y(advantage) - middle2)),
          class: right ? "right" : "wrong",
          "data-advantage": advantage
        }),
        // In a narrow box the numbers would run into each other: there only the chosen answer has its own.
        ...i === chosen || width / N > 38 ? [
          label(signed(advantage), x(i), advantage > 0 ? y(advantage) - 6 : y(advantage) + 16, {
            "text-anchor": "middle",
            class: "small"
          })
        ] : [],
        label(right ? "✓" : "✗", x(i), advantage > 0 ? middle2 + 17 : middle2 - 7, { "text-anchor": "middle" })
      ]);
    });
    const curve = new ChartPicture("weight by pass rate under GRPO", () => {
      const theme = THEMES[isDark() ? "dark" : "light"], color = (name) => onGround({ grpo: "#e6a31e", rloo: "#0072b2" }[name], isDark()), at = Math.min(0.998, Math.max(2e-3, view.value / N));
      curve.chart.theme = theme;
      return {
        x: { kind: "linear", domain: [0, 1], label: "how often a problem is solved" },
        y: { kind: "linear", domain: [0, 3], label: "how hard it pulls" },
        mark: at,
        lines: [
          { x: p, y: weights[1], color: color("rloo"), dash: [8, 2], width: 2, name: "rloo" },
          { x: p, y: weights[0], color: color("grpo"), width: 3, name: "grpo" }
        ],
        dots: [{ x: at, y: QUANTITIES.weight(new Grid([at]), sequences("grpo"))[0], color: color("grpo"), r: 5 }],
        texts: [
          { x: 0.5, y: 2.08, words: "GRPO", color: color("grpo"), dy: -10, anchor: "middle" },
          { x: 0.5, y: 1, words: "RLOO: no division", color: color("rloo"), dy: 16, anchor: "middle" }
        ]
      };
    });
    const why = h("p", { class: "why" }), where = h("span", { class: "where" });
    const step = (by) => () => {
      chosen = (chosen + by + N) % N;
      draw2();
    };
    function draw2() {
      const K = view.value, { right, advantage } = group(K)[chosen];
      bars.draw();
      curve.draw();
      where.textContent = `Answer ${chosen + 1} of ${N}`;
      const average = figure(K / N), width = figure(spread(K)), kind = right ? "right" : "wrong";
      if (K === 0 || K === N) {
        why.textContent = `It is ${kind} like all the others: no answer is better than another, so it gets 0.`;
        view.say(
          `All ${N} answers are ${kind}: there is no spread to divide by, every answer gets 0, and the group teaches nothing.`
        );
        return;
      }
      why.textContent = `It is ${kind}. The group's average is ${average}, its spread ${width}: (${Number(right)} − ${average}) / ${width} = ${signed(advantage)}, so the model will give it ${right ? "more" : "less"} often.`;
      view.say(
        `With ${K} of ${N} right the spread is ${width}, and right and wrong answers are ${figure(1 / spread(K))} apart. ` + (K === N / 2 ? "That is the least: the middle counts least." : `With ${N / 2} of ${N} right it would be ${figure(1 / spread(N / 2))}.`)
      );
    }
    return {
      picture: h("div", { class: "pictures" }, bars.element, curve.element),
      below: h(
        "div",
        { class: "stepper" },
        h("button", { type: "button", onclick: step(-1), "aria-label": "previous answer" }, "‹"),
        where,
        h("button", { type: "button", onclick: step(1), "aria-label": "next answer" }, "›"),
        h("div", { role: "status" }, why)
      ),
      draw: draw2
    };
  }
};

// scene_limit.js
var SPEC = "maxrl";
var RARE = 1e-3;
var weight = (p, N2) => QUANTITIES.weight(new Grid(p), coefficients(resolve(ESTIMATORS, SPEC), N2));
var limit2 = {
  name: "limit",
  short: "N and its limit",
  title: "The promise breaks where problems are solved less than once in N tries",
  lead: "MaxRL, the right end of the first slider, promises (dashed): a problem solved 1 time in 100 pulls on the model 100 times as hard as one that is always solved. The solid line is what N tries really give.",
  key: "N",
  drag: {
    name: "Tries in a round",
    values: [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
    start: 16,
    ends: ["few", "many"],
    say: (N2) => `N = ${N2}`
  },
  about: [
    "How hard a problem of pass rate p pulls is its weight w(p): the expected update is w(p) times the gradient of p. MaxRL's limit is 1/p; at N rollouts its weight is (1 − (1 − p)^(N−1))/p, a polynomial in p, which ends at N − 1.",
    "Whatever the method, the weight that N rollouts give is such a polynomial, of degree N − 1 at most. The workbench draws that of every estimator."
  ],
  workbench: (N2) => ({ N: N2, curves: [SPEC] }),
  build(view) {
    const p = passRates("log"), promised = LIMITS.weight(p, resolve(ESTIMATORS, SPEC).entry.limit({}));
    const picture = new ChartPicture("weight by pass rate: the promise and what N tries give", () => {
      const theme = THEMES[isDark() ? "dark" : "light"], color = onGround("#c42d08", isDark()), N2 = view.value, flat = Math.sqrt(1e-4 * Math.min(1 / N2, 0.5));
      picture.chart.theme = theme;
      return {
        x: { kind: "log", domain: [1e-4, 1], label: "how often a problem is solved (pass rate p)" },
        y: { kind: "log", domain: [0.5, 2e3], label: "how hard it pulls" },
        bands: [[1e-4, 1 / N2]],
        lines: [
          { x: p, y: promised, color: theme.muted, dash: [4, 3], width: 2, name: "promise" },
          { x: p, y: weight(p, N2), color, width: 3, name: "given" }
        ],
        texts: [
          { x: 16e-4, y: 900, words: "the promise, 1/p", color: theme.muted },
          { x: flat, y: weight([flat], N2)[0], words: `${N2} tries`, color, dy: -10, anchor: "middle" }
        ]
      };
    });
    return {
      picture: picture.element,
      draw() {
        picture.draw();
        const N2 = view.value;
        view.say(
          `With ${N2} tries, a problem solved 1 time in 1,000 pulls ${figure(weight([RARE], N2)[0])} times as hard as one that is always solved, not 1,000 times. In the shaded part, below 1 in ${N2}, the line goes flat: rare and very rare problems look alike.`
        );
      }
    };
  }
};

// scene_start.js
var RUN = { problems: 60, rollouts: 16, length: 0.05, seed: 0, rounds: 200 };
var HARD = RUN.problems / 4;
var SECONDS = 9;
var specOf2 = (alpha) => `alpha(alpha=${alpha})`;
var KEPT = /* @__PURE__ */ new Map();
function numbers(seed, round, problem, rollouts) {
  const place = round * RUN.problems + problem;
  if (!KEPT.has(place)) KEPT.set(place, uniforms(seed, round, problem, rollouts));
  return KEPT.get(place);
}
function history2(alpha) {
  const sequences2 = coefficients(resolve(ESTIMATORS, specOf2(alpha)), RUN.rollouts), policy = new Policy({ ...RUN, sequences: sequences2, numbers });
  const seen = [policy.passRates()];
  for (let round = 0; round < RUN.rounds; round++) {
    policy.step();
    seen.push(policy.passRates());
  }
  return seen;
}
var solved = (p) => p.reduce((count, x) => count + (x > 0.5), 0);
var start = {
  name: "start",
  short: "Start",
  title: "A model practises. Which problems does it learn?",
  lead: `Each dot is a problem, and its height is how often the model gets it right. In every round the model tries each problem ${RUN.rollouts} times and moves towards the answers that were right. Drag the slider, and watch the hardest.`,
  key: "count",
  drag: {
    name: "Rare right answers count",
    values: Array.from({ length: 21 }, (_, i) => i / 20),
    start: 0,
    ends: ["like any other", "the rarer, the more"],
    say: (alpha) => alpha === 0 ? "like any other" : `${(8 ** alpha).toFixed(1)} × as much`
  },
  about: [
    `A simulation that runs in this page: ${RUN.problems} problems with 8 possible answers each, solved between ${HARDEST * 1e3} time in 1,000 and ${EASIEST * 10} times in 10 at the start. Random numbers, and the length of every step over all problems together, are the same wherever the slider stands; only what the answers count differs.`,
    "A lone right answer among 16 is compared with one of 8 right ones among 16: it counts 8^alpha times as much, and alpha is the place of the slider, from 0 to 1. The left end is plain policy gradient with the group's mean as baseline, the right end is MaxRL (Algorithm 1); in between, the advantage is (r − mean)/mean^alpha."
  ],
  workbench: () => ({
    panel: "toy",
    problems: RUN.problems,
    length: RUN.length,
    left: "reinforce_mean",
    right: "maxrl"
  }),
  build(view) {
    const known = /* @__PURE__ */ new Map();
    const run = (alpha) => {
      if (!known.has(alpha)) known.set(alpha, history2(alpha));
      return known.get(alpha);
    };
    let round = isStill() ? RUN.rounds : 0, playing = false, frame;
    const now = () => run(view.value)[round];
    const picture = new Picture("every problem as a dot, hard ones left, as high as the model solves it often", paint);
    const button = h("button", { type: "button", onclick: () => playing ? pause() : play() });
    function paint(width, height) {
      const first = run(view.value)[0], left = 52, top = 44, base = height - 30, x = (i) => left + 10 + (i + 0.5) * (width - left - 20) / RUN.problems, y = (p) => base - p * (base - top), r = Math.max(2.4, Math.min(6, (width - left) / RUN.problems / 2.3));
      const lines = [
        ["always", 1],
        ["half", 0.5],
        ["never", 0]
      ].flatMap(([words, p]) => [
        svg("line", { x1: left, x2: width - 6, y1: y(p), y2: y(p), class: p === 0 ? "axis" : "grid" }),
        label(words, left - 8, y(p) + 4, { "text-anchor": "end" })
      ]);
      const edge = (x(HARD - 1) + x(HARD)) / 2;
      return [
        svg("rect", { x: left, y: top - 8, width: edge - left, height: base - top + 8, class: "band" }),
        ...lines,
        label(`the ${HARD} hardest`, (left + edge) / 2, base + 20, { "text-anchor": "middle", class: "hard" }),
        label("easier →", width - 6, base + 20, { "text-anchor": "end" }),
        label(`round ${round} of ${RUN.rounds}`, width - 6, 22, { "text-anchor": "end" }),
        ...Array.from(
          now(),
          (p, i) => svg("line", { x1: x(i), x2: x(i), y1: y(first[i]), y2: y(p), class: i < HARD ? "stem hard" : "stem" })
        ),
        ...Array.from(
          now(),
          (p, i) => svg("circle", { cx: x(i), cy: y(p), r, class: i < HARD ? "hard" : "rest", "data-p": p })
        )
      ];
    }
    function tell2() {
      const hard = (seen) => solved(seen.slice(0, HARD)), rest = solved(now().slice(HARD));
      const compared = view.value === 0 ? "" : ` With the slider at the left end it would be ${hard(run(0)[round])}.`;
      view.say(
        `After ${round} rounds the model solves ${hard(now())} of the ${HARD} hardest problems more often than not, and ${rest} of the other ${RUN.problems - HARD}.${compared}`
      );
    }
    function draw2() {
      button.textContent = playing ? "Pause" : round >= RUN.rounds ? "Play again" : "Play";
      picture.draw();
      tell2();
    }
    function play() {
      if (round >= RUN.rounds) round = 0;
      const from = performance.now() - round / RUN.rounds * SECONDS * 1e3;
      playing = true;
      view.quiet(true);
      const tick = (time) => {
        if (!playing || !picture.element.isConnected) return;
        round = Math.max(0, Math.min(RUN.rounds, Math.floor((time - from) / 1e3 / SECONDS * RUN.rounds)));
        if (round >= RUN.rounds) pause();
        else {
          draw2();
          frame = requestAnimationFrame(tick);
        }
      };
      frame = requestAnimationFrame(tick);
    }
    function pause() {
      playing = false;
      cancelAnimationFrame(frame);
      view.quiet(false);
      draw2();
    }
    if (!isStill()) play();
    picture.element.append(button);
    return { picture: picture.element, draw: draw2 };
  }
};

// scene_unseen.js
var P3 = 0.01;
var ROUNDS = 20;
var SEED = 0;
var pixel = (x) => x.toFixed(2);
var COLUMNS = [4, 5, 7, 10, 20];
var rounds = (N2) => Array.from({ length: ROUNDS }, (_, round) => Array.from(uniforms(SEED, 0, round, N2), (u) => u < P3));
var unseen = {
  name: "unseen",
  short: "Unseen",
  title: "The hard problem that training never sees",
  lead: "One problem that the model solves once in 100 tries. Each box is a round, each small square a try. A box with a right try has a solid frame. In all others every try is wrong: nothing tells the model which way to go.",
  key: "N",
  drag: {
    name: "Tries in a round",
    values: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    start: 8,
    ends: ["few", "many"],
    say: (N2) => `N = ${N2}`
  },
  about: [
    "Each try is right with probability p = 0.01, independently; the squares are drawn with the page's own random numbers. The chance that all of N tries are wrong is (1 − p)^N, exactly.",
    "The N tries of one problem in one round are called a group, and N the number of rollouts; p is the pass rate."
  ],
  workbench: (N2) => ({ panel: "toy", N: Math.max(2, N2) }),
  build(view) {
    const picture = new Picture("twenty rounds as boxes, each try a square, right tries marked", (width, height) => {
      const sizeOf = (across2) => Math.min(width / across2, height / Math.ceil(ROUNDS / across2)), across = COLUMNS.reduce((best, count) => sizeOf(count) > sizeOf(best) ? count : best), down = Math.ceil(ROUNDS / across), size = sizeOf(across), left = (width - size * across) / 2, top = (height - size * down) / 2, inner = size - 10, side = Math.ceil(Math.sqrt(view.value)), cell = inner / side;
      return rounds(view.value).flatMap((tries, round) => {
        const x = left + size * (round % across) + 5, y = top + size * Math.floor(round / across) + 5, seen = tries.includes(true);
        const square = (i) => {
          const place = [x + cell * (i % side + 0.12), y + cell * (Math.floor(i / side) + 0.12)];
          return `M${place.map(pixel).join(" ")}h${pixel(0.76 * cell)}v${pixel(0.76 * cell)}h${pixel(-0.76 * cell)}z`;
        };
        const squares = (kind) => tries.map((right, i) => right === kind ? square(i) : "").join("");
        return [
          svg("rect", { x: x - 2, y: y - 2, width: inner + 4, height: inner + 4, class: seen ? "box seen" : "box" }),
          svg("path", { d: squares(false), class: "wrong" }),
          svg("path", { d: squares(true), class: "right" })
        ];
      });
    });
    return {
      picture: picture.element,
      draw() {
        const N2 = view.value, seen = rounds(N2).filter((tries) => tries.includes(true)).length;
        picture.draw();
        view.say(
          `With ${N2} ${N2 === 1 ? "try" : "tries"} a round, ${seen} of these ${ROUNDS} rounds ${seen === 1 ? "contains" : "contain"} a right answer. Over endless rounds, ${percent((1 - P3) ** N2)} would contain none.`
        );
      }
    };
  }
};

// story.js
var SCENES = [start, unseen, limit2, ends2, dead, draw, data];
var BETWEEN = 250;
function readAddress(hash) {
  const [name, ...facts] = hash.replace(/^#/, "").split("&");
  const scene = name === "" ? start : SCENES.find((one2) => one2.name === name);
  if (!scene)
    throw new Error(`the address names no scene '${name}'. There are: ${SCENES.map((one2) => one2.name).join(", ")}`);
  const read = { scene, value: scene.drag.start, embed: false };
  for (const fact of facts) {
    const [key, text2] = fact.split("=");
    if (key === "embed" && text2 === void 0) read.embed = true;
    else if (key === scene.key && text2 !== "" && scene.drag.values.includes(Number(text2))) read.value = Number(text2);
    else throw new Error(`the address says '${fact}'; this scene has ${scene.key} = ${scene.drag.values.join(", ")}`);
  }
  return read;
}
var writeAddress = (scene, value) => `#${scene.name}${value === scene.drag.start ? "" : `&${scene.key}=${value}`}`;
var Story = class {
  /** `embed`: one scene alone, for a frame in another page. */
  constructor(root, { embed = false } = {}) {
    Object.assign(this, { root, embed, points: DEFAULTS.points });
    root.className = "lab-story";
    this.finding = h("p", { class: "finding", role: "status" });
    this.fault = h("p", { class: "fault", role: "alert" });
    for (const query of ["(prefers-color-scheme: dark)", "(prefers-reduced-motion: reduce)"])
      matchMedia(query).addEventListener("change", () => this.drawn?.draw());
  }
  // What a scene sees of the story: its value, its drawing, and where to say what changed.
  say(words) {
    if (this.finding.textContent !== words) this.finding.textContent = words;
    this.root.dataset.drawn = String(Number(this.root.dataset.drawn ?? 0) + 1);
  }
  /** While a picture moves by itself, the sentence below it is not read out at every change. */
  quiet(is) {
    this.finding.setAttribute("aria-live", is ? "off" : "polite");
  }
  keep({ points }) {
    this.points = points;
    this.link();
  }
  /** Show what an address says; `focus` goes to the claim, so that it is read first. */
  show(hash, focus) {
    let read;
    this.fault.textContent = "";
    try {
      read = readAddress(hash);
    } catch (error) {
      read = { scene: start, value: start.drag.start, embed: false };
      this.fault.textContent = `${error.message}; this is the start instead`;
    }
    const { scene, value } = read;
    Object.assign(this, { scene, value });
    this.root.toggleAttribute("data-embed", this.embed || read.embed);
    document.title = `${scene.title} · The explorer of the lab`;
    this.quiet(false);
    this.finding.textContent = "";
    this.bench = h("a", { class: "bench" }, "Open this in the workbench");
    this.drawn = scene.build(this);
    const claim = h(scene === start ? "h1" : "h2", { tabindex: "-1" }, scene.title);
    this.root.replaceChildren(
      ...scene === start ? [] : [h("h1", { class: "unseen" }, "Which problems does a model learn?")],
      this.header(),
      this.fault,
      claim,
      h("p", { class: "lead" }, scene.lead),
      this.drawn.picture,
      drag({ ...scene.drag, start: value }, (next) => this.move(next)),
      this.finding,
      ...this.drawn.below ? [this.drawn.below] : [],
      this.steps(),
      h(
        "details",
        { class: "about" },
        h("summary", {}, "What exactly is computed"),
        scene.about.map((words) => h("p", {}, words)),
        h("p", {}, this.bench)
      ),
      this.footer()
    );
    this.root.dataset.scene = scene.name;
    this.drawn.draw();
    this.link();
    if (focus) {
      scrollTo(0, 0);
      claim.focus({ preventScroll: true });
    }
  }
  move(value) {
    this.value = value;
    this.drawn.draw();
    this.link();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => history.replaceState(null, "", this.address()), BETWEEN);
  }
  /** The link to the workbench shows there what the scene shows. */
  link() {
    this.bench.href = toHash({ ...DEFAULTS, ...this.scene.workbench(this.value, this) }) || "#workbench";
  }
  address() {
    return writeAddress(this.scene, this.value) + (this.root.hasAttribute("data-embed") ? "&embed" : "");
  }
  stop() {
    clearTimeout(this.timer);
    this.root.replaceChildren();
  }
  header() {
    return h(
      "header",
      {},
      h(
        "nav",
        { "aria-label": "scenes" },
        h(
          "ol",
          {},
          SCENES.map(
            (scene, i) => h(
              "li",
              {},
              h(
                "a",
                {
                  href: `#${scene.name}`,
                  title: scene.short,
                  "aria-label": `${i}: ${scene.short}`,
                  "aria-current": scene === this.scene ? "step" : null
                },
                String(i)
              )
            )
          )
        )
      ),
      h("a", { href: "#workbench" }, "Workbench")
    );
  }
  steps() {
    const at = SCENES.indexOf(this.scene), [before, after] = [SCENES[at - 1], SCENES[at + 1]];
    return h(
      "div",
      { class: "steps" },
      before ? h("a", { class: "step", href: `#${before.name}` }, `← ${before.short}`) : h("span", {}),
      after ? h("a", { class: "step next", href: `#${after.name}` }, `Next: ${after.short} →`) : h("a", { class: "step next", href: "#workbench" }, "Next: the workbench →")
    );
  }
  footer() {
    const whole = () => location.href.split(/[?#]/)[0] + writeAddress(this.scene, this.value);
    const frame = () => `<iframe src="${whole()}&embed" width="700" height="420" style="border:0" loading="lazy" title="${this.scene.title}"></iframe>`;
    const told2 = h("span", { role: "status" });
    const copy = (text2, words) => async () => {
      const note = location.protocol === "file:" ? " It works on this computer; put the page on the web to share it." : "";
      try {
        await navigator.clipboard.writeText(text2());
        told2.textContent = `${words} copied.${note}`;
      } catch {
        told2.textContent = `Copy this: ${text2()}`;
      }
    };
    return h(
      "footer",
      {},
      h("button", { type: "button", onclick: copy(whole, "Link") }, "Copy link"),
      h("button", { type: "button", onclick: copy(frame, "Embed code") }, "Copy embed code"),
      h("a", { class: "whole", href: writeAddress(this.scene, this.value), target: "_blank" }, "Open the whole page"),
      told2
    );
  }
};

// main.js
function render({ model, el }) {
  learn(model.get("catalogue"));
  makeWorkersOf(model.get("_esm"));
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
var isWorkbench = (hash) => /^#(workbench$|\{|%7B)/i.test(hash);
function open(main) {
  learn(JSON.parse(document.getElementById("lab-explorer-catalogue").textContent));
  makeWorkersOf(document.getElementById("lab-explorer-script").textContent);
  const embed = new URLSearchParams(location.search).has("embed");
  let story, workbench;
  const show = (focus) => {
    const { hash } = location, wanted = isWorkbench(hash) ? "workbench" : "story";
    if (wanted === "story") {
      workbench?.root.remove();
      if (!story) main.replaceChildren((story = new Story(document.createElement("div"), { embed })).root);
      else if (!story.root.isConnected) main.append(story.root);
      story.show(hash, focus);
      return;
    }
    story?.root.remove();
    story?.stop();
    if (!workbench) workbench = openWorkbench(hash, embed);
    else workbench.read(hash);
    if (!workbench.root.isConnected) main.replaceChildren(workbench.root);
    workbench.refresh();
  };
  addEventListener("hashchange", () => show(true));
  show(false);
}
function openWorkbench(hash, embed) {
  const stateOf = (hash2) => fromHash(/^#workbench$/i.test(hash2) ? "" : hash2);
  let store, fault = "";
  try {
    store = new Store(stateOf(hash));
  } catch (error) {
    store = new Store(checked({}));
    fault = `${error.message}; this is the start instead`;
  }
  const root = document.createElement("div"), explorer = new Explorer(root, store);
  explorer.say.textContent = fault;
  root.toggleAttribute("data-embed", embed);
  root.querySelector(".tools").prepend(h("a", { class: "story", href: "#start" }, "The story in seven steps"));
  let timer;
  store.listen(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (root.isConnected) history.replaceState(null, "", toHash(store.state) || "#workbench");
    }, 150);
  });
  const read = (hash2) => {
    try {
      store.set(stateOf(hash2));
    } catch (error) {
      explorer.say.textContent = error.message;
    }
  };
  return {
    root,
    read,
    refresh() {
      document.title = "The workbench · The explorer of the lab";
      if (!explorer.say.textContent) explorer.refresh();
    }
  };
}
var page = globalThis.document?.getElementById("lab-explorer-page");
if (page) open(page);
else if (globalThis.WorkerGlobalScope && globalThis instanceof WorkerGlobalScope) serve(globalThis);
var main_default = { render };
export {
  main_default as default
};
