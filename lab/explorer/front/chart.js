// One chart: axes, lines, bars and dots as SVG, so that a picture can be saved as it is seen.
import { h, svg, format } from "./dom.js";

export const THEMES = {
  light: { ground: "#ffffff", ink: "#1c1e21", muted: "#4d525a", grid: "#ebecef", axis: "#868b94", band: "#f4f5f7" },
  dark: { ground: "#16181c", ink: "#eceef1", muted: "#a9afba", grid: "#2a2d33", axis: "#6d727c", band: "#1f2227" },
};
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const logit = (p) => Math.log(p) - Math.log1p(-p);

/** Where a value lies on an axis, as a share of its length, and back. */
export function scaleOf({ kind, domain: [low, high] }) {
  const forth = { linear: (x) => x, log: Math.log, logit }[kind],
    back = { linear: (x) => x, log: Math.exp, logit: (z) => 1 / (1 + Math.exp(-z)) }[kind];
  const start = forth(low),
    length = forth(high) - start;
  return { at: (value) => (forth(value) - start) / length, value: (share) => back(start + share * length) };
}

function ticksOf({ kind, domain: [low, high], ticks }, room) {
  if (ticks) return ticks;
  if (kind === "logit")
    return [1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999]
      .filter((p) => p >= low * 0.99 && 1 - p >= (1 - high) * 0.99)
      .map((p) => [p, format(p)]);
  if (kind === "log") {
    const first = Math.ceil(Math.log10(low) - 1e-9),
      last = Math.floor(Math.log10(high) + 1e-9),
      jump = Math.max(1, Math.ceil((last - first) / room));
    const decades = [];
    const minor = last - first < 2 ? [1, 2, 5] : [1];
    for (let k = first - 1; k <= last; k += jump) {
      for (const m of minor)
        if (m * 10 ** k >= low * 0.999 && m * 10 ** k <= high * 1.001)
          decades.push([m * 10 ** k, Math.abs(k) > 4 ? `1e${k}`.replace("-", "−") : format(m * 10 ** k)]);
    }
    return decades;
  }
  const rough = (high - low) / room,
    size = 10 ** Math.floor(Math.log10(rough)),
    step = [1, 2, 5, 10].find((m) => m * size >= rough * 0.999) * size;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++)
    found.push([k * step, format(Number((k * step).toPrecision(10)))]);
  return found;
}

/** A domain that holds the values and moves in whole steps, so that axes do not tremble under a slider. */
export function niceDomain(values, kind, floor = 1e-6) {
  let low = Infinity,
    high = -Infinity;
  for (const x of values)
    if (Number.isFinite(x) && (kind !== "log" || x > 0)) {
      if (x < low) low = x;
      if (x > high) high = x;
    }
  if (!(high >= low)) return kind === "log" ? [0.1, 10] : [0, 1];
  if (kind === "log") {
    low = Math.max(low, high * floor);
    const pair = [10 ** Math.floor(Math.log10(low) * 2 - 0.1), 10 ** Math.ceil(Math.log10(high) * 2 + 0.1)].map(
      (x) => 10 ** (Math.log10(x) / 2),
    );
    return pair[0] === pair[1] ? [pair[0] / Math.sqrt(10), pair[1] * Math.sqrt(10)] : pair;
  }
  if (low > 0 && low < 0.6 * high) low = 0;
  if (high === low) [low, high] = high === 0 ? [-1, 1] : [Math.min(0, 1.25 * high), Math.max(0, 1.25 * high)];
  const rough = (high - low) / 5,
    size = 10 ** Math.floor(Math.log10(rough)),
    step = [1, 2, 5, 10].find((m) => m * size >= rough) * size;
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

export class Chart {
  constructor({ label, height = 0.5, least = 150, small = false }) {
    Object.assign(this, { label, height, least, small, spec: null, theme: THEMES.light, pointer: null });
    this.svg = svg("svg", {
      role: "img",
      "aria-label": label,
      "font-family": FONT,
      xmlns: "http://www.w3.org/2000/svg",
    });
    this.parts = Object.fromEntries(
      ["ground", "axes", "bars", "lines", "dots", "mark", "texts", "legend"].map((name) => [
        name,
        svg("g", { class: name }),
      ]),
    );
    this.svg.append(...Object.values(this.parts));
    this.element = h("div", { class: "chart" }, this.svg);
    this.drawn = ""; // what the frame shows
    this.kept = new WeakMap(); // what the paths show: limits stand still while N moves
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
    const width = this.element.clientWidth || 640,
      tall = Math.max(this.least, Math.round(this.height * width));
    this.frame(spec, theme, width, tall);
    this.lines(spec.lines ?? []);
    this.fill(
      "bars",
      (spec.bars ?? []).map((bar) => this.bar(bar)).concat((spec.areas ?? []).map((area) => this.area(area))),
    );
    const whiskers = (spec.whiskers ?? []).map(({ x, low, high, color }) =>
      svg("line", {
        x1: this.x(x),
        x2: this.x(x),
        y1: this.y(low),
        y2: this.y(high),
        stroke: color ?? theme.ink,
        "stroke-width": 1.3,
        "data-low": low,
        "data-high": high,
      }),
    );
    this.fill(
      "dots",
      whiskers.concat(
        (spec.dots ?? []).map(({ x, y, color, r = 3, hollow = false }) =>
          svg("circle", {
            cx: this.x(x),
            cy: this.y(y),
            r,
            fill: hollow ? theme.ground : color,
            stroke: color,
            "stroke-width": 1.4,
          }),
        ),
      ),
    );
    this.mark(spec.mark);
    this.fill(
      "texts",
      (spec.named ? this.names(spec.lines) : (spec.texts ?? [])).map(
        ({ x, y, words, color, anchor = "start", dx = 0, dy = 0 }) =>
          svg(
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
              "paint-order": "stroke",
            },
            words,
          ),
      ),
    );
  }

  frame(spec, theme, width, tall) {
    const legend = (spec.lines ?? []).concat(spec.keys ?? []).filter((line) => line.label);
    const key = JSON.stringify([
      spec.x,
      spec.y,
      width,
      tall,
      theme.ground,
      legend.map(({ label, color, dash }) => [label, color, dash]),
      spec.bands,
    ]);
    if (key === this.drawn) return;
    this.drawn = key;
    const size = this.small ? 10 : 12,
      places = this.small ? [] : this.place(legend, width - 62, size);
    const top = this.small ? 8 : 8 + 20 * (places.length ? places.at(-1).line + 1 : 0);
    this.box = { left: this.small ? 6 : 56, top, width: 0, height: 0 };
    this.box.width = width - this.box.left - (this.small ? 6 : 14);
    this.box.height = tall - top - (this.small ? 6 : 42);
    const { left, width: wide, height: high } = this.box,
      bottom = top + high,
      xs = scaleOf(spec.x),
      ys = scaleOf(spec.y);
    this.x = (value) => left + wide * xs.at(value);
    this.y = (value) => top + high * (1 - ys.at(value));
    this.invert = (px, py) => [xs.value((px - left) / wide), ys.value(1 - (py - top) / high)];
    for (const [name, value] of Object.entries({ width, height: tall, viewBox: `0 0 ${width} ${tall}` }))
      this.svg.setAttribute(name, value);
    this.fill("ground", [
      svg("rect", { width, height: tall, fill: theme.ground }),
      ...(spec.bands ?? []).map(([from, to]) =>
        svg("rect", { x: this.x(from), y: top, width: this.x(to) - this.x(from), height: high, fill: theme.band }),
      ),
    ]);
    const axes = [];
    const text = (words, attributes) =>
      axes.push(svg("text", { fill: theme.muted, "font-size": size, ...attributes }, words));
    const line = (x1, y1, x2, y2, stroke) => axes.push(svg("line", { x1, y1, x2, y2, stroke, "stroke-width": 1 }));
    if (!this.small) {
      for (const [value, words] of ticksOf(spec.x, Math.max(3, wide / 75))) {
        line(this.x(value), top, this.x(value), bottom, theme.grid);
        text(words, { x: this.x(value), y: bottom + 16, "text-anchor": "middle" });
      }
      for (const [value, words] of ticksOf(spec.y, Math.max(3, high / 40))) {
        line(left, this.y(value), left + wide, this.y(value), theme.grid);
        text(words, { x: left - 8, y: this.y(value) + 4, "text-anchor": "end" });
      }
      text(spec.x.label, { x: left + wide / 2, y: tall - 6, "text-anchor": "middle", fill: theme.ink });
      text(spec.y.label, {
        transform: `translate(13 ${top + high / 2}) rotate(-90)`,
        "text-anchor": "middle",
        fill: theme.ink,
      });
    }
    line(left, bottom, left + wide, bottom, theme.axis);
    line(left, top, left, bottom, theme.axis);
    this.fill("axes", axes);
    this.fill(
      "legend",
      places.flatMap(({ item, x, line: row }) => [
        item.dot
          ? svg("circle", { cx: x + 16, cy: 11 + 20 * row, r: 4, fill: item.color })
          : item.block
            ? svg("rect", {
                x: x + 8,
                y: 6 + 20 * row,
                width: 12,
                height: 10,
                fill: item.color,
                "fill-opacity": item.opacity ?? 1,
              })
            : svg("line", {
                x1: x,
                x2: x + 26,
                y1: 11 + 20 * row,
                y2: 11 + 20 * row,
                stroke: item.color,
                "stroke-width": item.width ?? 2,
                "stroke-dasharray": dashes(item),
              }),
        svg("text", { x: x + 32, y: 15 + 20 * row, "font-size": size, fill: theme.ink }, item.label),
      ]),
    );
    this.clip ??= `lab-clip-${Math.random().toString(36).slice(2)}`;
    this.parts.ground.append(
      svg("clipPath", { id: this.clip }, svg("rect", { x: left, y: top - 2, width: wide + 2, height: high + 4 })),
    );
    this.parts.lines.setAttribute("clip-path", `url(#${this.clip})`);
  }

  /** Texts beside the lines that have labels, each where it covers least of other lines; none where it would hide one. */
  names(lines) {
    const { left, top, width, height } = this.box,
      points = lines.flatMap(({ x, y }) => {
        const some = [];
        for (let i = 0; i < x.length; i += 3) some.push({ px: this.x(x[i]), py: this.y(y[i]) });
        return some;
      }),
      taken = [];
    return lines.flatMap(({ x, y, label: words, color }) => {
      if (!words || !x.length) return [];
      const wide = 7.4 * words.length;
      let best = null;
      for (const share of NAME_PLACES) {
        const i = Math.round(share * (x.length - 1)),
          px = this.x(x[i]),
          py = this.y(y[i]);
        for (const dy of [-8, 18]) {
          const box = { left: px - wide / 2, right: px + wide / 2, top: py + dy - 12, bottom: py + dy + 4 };
          const inside = box.left > left && box.right < left + width && box.top > top && box.bottom < top + height;
          if (!inside || taken.some((one) => meets(box, one))) continue;
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
    let x = 0,
      line = 0;
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
        ["data-name", line.name ?? line.label ?? ""],
      ]) {
        if (path.getAttribute(name) !== String(value)) path.setAttribute(name, value);
      }
    });
  }

  path({ x, y }) {
    let text = "",
      pen = "M";
    for (let i = 0; i < x.length; i++) {
      const py = this.y(y[i]);
      if (!Number.isFinite(py)) {
        pen = "M";
        continue;
      }
      text += `${pen}${this.x(x[i]).toFixed(2)} ${Math.max(-1e4, Math.min(1e4, py)).toFixed(2)}`;
      pen = "L";
    }
    return text;
  }

  bar({ from, to, value, color, opacity = 1, outline }) {
    const x = this.x(from),
      y = this.y(Math.max(value, this.spec.y.domain[0])),
      base = this.y(this.spec.y.domain[0]);
    return svg("rect", {
      x,
      y,
      width: Math.max(0.5, this.x(to) - x),
      height: Math.max(0, base - y),
      fill: outline ? "none" : color,
      "fill-opacity": opacity,
      stroke: outline ? color : "none",
      "stroke-dasharray": outline ? "3 2" : "none",
      "data-value": value,
    });
  }

  /** The band between two lines. */
  area({ x, low, high, color }) {
    const back = { x: x.toReversed(), y: low.toReversed() };
    return svg("path", {
      d: `${this.path({ x, y: high })}${this.path(back).replace("M", "L")}z`,
      fill: color,
      "fill-opacity": 0.22,
    });
  }

  mark(value) {
    const { left, top, width, height } = this.box,
      at = value === undefined ? NaN : this.x(value);
    const seen = at >= left - 1 && at <= left + width + 1;
    this.fill(
      "mark",
      seen
        ? [
            svg("line", {
              x1: at,
              x2: at,
              y1: top,
              y2: top + height,
              stroke: this.theme.muted,
              "stroke-width": 1,
              "stroke-dasharray": "2 3",
            }),
          ]
        : [],
    );
  }

  fill(part, children) {
    this.parts[part].replaceChildren(...children);
  }

  /** Call `moved(x, y)` with values of the axes while a pointer moves over the frame; `drag` only while it is down. */
  listen(moved, { drag = false, done = () => {} } = {}) {
    let down = false;
    const tell = (event) => {
      const bounds = this.svg.getBoundingClientRect(),
        zoom = this.svg.width.baseVal.value / bounds.width;
      const { left, top, width, height } = this.box,
        clamp = (x, low, high) => Math.min(high, Math.max(low, x));
      moved(
        ...this.invert(
          clamp((event.clientX - bounds.left) * zoom, left, left + width),
          clamp((event.clientY - bounds.top) * zoom, top, top + height),
        ),
      );
    };
    this.svg.style.touchAction = drag ? "none" : "pan-y";
    this.svg.addEventListener("pointerdown", (event) => {
      down = true;
      if (drag) this.svg.setPointerCapture(event.pointerId);
      tell(event);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (down || !drag) tell(event);
    });
    for (const end of ["pointerup", "pointercancel"])
      this.svg.addEventListener(end, () => {
        if (down) done();
        down = false;
      });
  }
}

/** A line's colour for words: a little darker on a light ground, as LineStyle.ink of lab/show/line_styles.py. */
function forWords(color, theme) {
  if (theme.ground !== THEMES.light.ground) return color;
  const channels = [1, 3, 5].map((i) => Math.round(0.7 * parseInt(color.slice(i, i + 2), 16)));
  return `#${channels.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

const NAME_PLACES = [0.12, 0.22, 0.32, 0.42, 0.52, 0.62, 0.72, 0.82];
const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const covers = ({ left, right, top, bottom }, { px, py }) => px > left && px < right && py > top && py < bottom;
const dashes = ({ dash, width = 2 }) => (dash?.length ? dash.map((x) => x * width).join(" ") : "none");
