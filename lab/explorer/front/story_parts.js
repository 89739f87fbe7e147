// What every scene of the story is made of: a picture that fills its box, one slider, and words for numbers.
import { Chart } from "./chart.js";
import { h, svg } from "./dom.js";

/** What the page around a frame says (main.js), or else the system. */
export const isDark = () => {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};
export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** A picture in a box of any size: `paint(width, height)` returns what its svg holds; story.css has the colours. */
export class Picture {
  constructor(label, paint) {
    this.paint = paint;
    this.svg = svg("svg", { role: "img", "aria-label": label });
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
}

/**
 * A chart with axes in a box of any size: `spec()` returns what Chart draws. `above` is a picture on the same axis over
 * it: the pixels of its height, its label, and `paint(chart)`, which returns what its svg holds.
 */
export class ChartPicture {
  constructor(label, spec, above = null) {
    this.chart = new Chart({ label });
    this.spec = spec;
    this.element = h("div", { class: "picture" }, this.chart.element);
    new ResizeObserver(() => this.draw()).observe(this.element);
    if (!above) return;
    this.above = new Picture(above.label, () => (this.chart.spec ? above.paint(this.chart) : []));
    this.above.element.style.height = this.chart.element.style.top = `${above.height}px`;
    this.element.prepend(this.above.element);
  }

  draw() {
    const { clientWidth: width, clientHeight: whole } = this.element,
      height = whole - (this.above?.element.clientHeight ?? 0);
    if (!width || height <= 0) return;
    Object.assign(this.chart, { height: height / width, least: 0 });
    this.chart.draw(this.spec());
    this.above?.draw();
  }
}

/** Text in a picture. */
export const label = (words, x, y, more = {}) => svg("text", { x, y, ...more }, words);

/**
 * The one slider of a scene, over a list of values. `ends` are words below its two ends, `say(value)` is the value in
 * words, shown beside the label and read out; `show` of the element moves it to another value.
 */
export function drag({ name, values, start, ends, say }, change) {
  const shown = h("output", { "aria-live": "off" }), // the slider itself says its value
    bar = h("input", { type: "range", id: "lab-drag", min: "0", max: String(values.length - 1), step: "1" });
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
  show(start);
  const element = h(
    "div",
    { class: "drag" },
    h("div", { class: "named" }, h("label", { for: bar.id }, name), shown),
    bar,
    h("div", { class: "ends", "aria-hidden": "true" }, h("span", {}, ends[0]), h("span", {}, ends[1])),
  );
  return Object.assign(element, { show });
}

/** A share as people say it: 12 %, 0.3 %. */
export function percent(share, figures = share < 0.01 || share > 0.99 ? 1 : 0) {
  const value = 100 * share;
  if (value === 0 || value === 100) return `${value}\u00a0%`;
  if (value > 0 && value < 0.05) return "less than 0.1\u00a0%";
  if (value < 100 && value >= 99.95) return "more than 99.9\u00a0%";
  return `${value.toFixed(figures)}\u00a0%`;
}

/** A number with three figures, and thousands apart. */
export function figure(x) {
  return Number(x.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 3 }).replace("-", "−");
}

export const signed = (x) => (x > 0 ? `+${x.toFixed(2)}` : x < 0 ? `−${Math.abs(x).toFixed(2)}` : "0");
export const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
