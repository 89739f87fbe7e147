// Elements without a framework.

/** An element: attributes, "on..." listeners, properties of inputs; children are elements or text. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && typeof value !== "string") element[key] = value;
    else if (value !== false) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

let labels = 0;

/** A named field: the name is the input's label for readers of the screen too. */
export function field(name, input, hint) {
  input.id ||= `lab-field-${++labels}`;
  return h("div", { class: "field" }, h("label", { for: input.id, title: hint ?? null }, name), input);
}

export function select(values, chosen, change, names = (x) => x) {
  return h(
    "select",
    { onchange: (event) => change(values[event.target.selectedIndex]) },
    values.map((value) => h("option", { selected: value === chosen }, String(names(value)))),
  );
}

/** A row of buttons of which one is pressed. */
export function segmented(label, choices, chosen, change) {
  return h(
    "div",
    { class: "segmented", role: "group", "aria-label": label },
    Object.entries(choices).map(([value, words]) =>
      h(
        "button",
        { type: "button", "aria-pressed": String(value === String(chosen)), onclick: () => change(value) },
        words,
      ),
    ),
  );
}

export function checkbox(words, checked, change) {
  return h(
    "label",
    { class: "check" },
    h("input", { type: "checkbox", checked, onchange: (event) => change(event.target.checked) }),
    words,
  );
}

/** A slider with its number beside it. `scale` maps the slider's place in [0, 1] to a value and back. */
export function slider(name, value, { least, most, step, scale, hint, first = false }, change) {
  const forth = scale ?? { to: (x) => x, from: (x) => x };
  const bar = h("input", {
    type: "range",
    min: scale ? "0" : String(least),
    max: scale ? "1" : String(most),
    step: scale ? "any" : String(step),
  });
  const number = h("input", {
    type: "number",
    min: String(least),
    max: String(most),
    step: String(step),
    "aria-label": `${name}, as a number`,
  });
  const round = (x) => Math.min(most, Math.max(least, Number((Math.round(x / step) * step).toPrecision(12))));
  const show = (x) => {
    bar.value = forth.from(x);
    bar.setAttribute("aria-valuetext", String(x));
    if (document.activeElement !== number) number.value = x;
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
    give(round(Number(number.value)) + move * step);
  });
  const typed = () => {
    if (number.value !== "") give(Number(number.value));
    number.value = round(Number(number.value) || least);
  };
  number.addEventListener("change", typed);
  number.addEventListener("keydown", (event) => {
    if (event.key === "Enter") typed();
  });
  show(value);
  const element = field(name, bar, hint);
  element.classList.add("slider", ...(first ? ["first"] : []));
  element.append(number);
  return {
    element,
    show: (x) => {
      number.value = x;
      show(x);
    },
  };
}

/** Put words into an element; the same words again would make the browser lay it out again. */
export function write(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

const SHOWN = new WeakMap();

/** Build what is in an element anew, if the facts that it shows have changed; the focus stays in its place. */
export function rebuild(element, facts, build) {
  const key = JSON.stringify(facts);
  if (SHOWN.get(element) === key) return;
  SHOWN.set(element, key);
  const places = () => [...element.querySelectorAll("button, input, select, [tabindex]")];
  const held = places().indexOf(document.activeElement);
  element.replaceChildren(...build());
  if (held >= 0) places()[held]?.focus({ preventScroll: true });
}

export const LOG = (least, most) => ({
  to: (x) => Math.round(least * (most / least) ** x),
  from: (value) => Math.log(value / least) / Math.log(most / least),
});

/** A number for people: four figures, no long tails. */
export function format(x, figures = 4) {
  if (x === null || x === undefined) return "";
  if (Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "-∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size < 1e-4 || size >= 1e6)
    return x
      .toExponential(2)
      .replace(/\.?0*e/, "e")
      .replaceAll("-", "−")
      .replace("e+", "e");
  return String(Number(x.toPrecision(figures))).replace("-", "−");
}
