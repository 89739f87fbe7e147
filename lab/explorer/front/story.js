// The story: a first screen, seven scenes and an ending, each of one claim and one thing to drag. The address holds the scene.
import { h } from "./dom.js";
import { data } from "./scene_data.js";
import { dead } from "./scene_dead.js";
import { draw } from "./scene_draw.js";
import { ending } from "./scene_ending.js";
import { ends } from "./scene_ends.js";
import { fan } from "./scene_fan.js";
import { limit } from "./scene_limit.js";
import { start } from "./scene_start.js";
import { unseen } from "./scene_unseen.js";
import { DEFAULTS, toHash } from "./state.js";
import { drag } from "./story_parts.js";

export const SCENES = [start, unseen, limit, ends, dead, data, fan, draw, ending];
const BETWEEN = 250; // milliseconds without a change before the address is written

/** "#limit&N=64" as { scene, value, embed }; what it does not hold is the scene's own start. Throws a sentence. */
export function readAddress(hash) {
  const [name, ...facts] = hash.replace(/^#/, "").split("&");
  const scene = name === "" ? start : SCENES.find((one) => one.name === name);
  if (!scene)
    throw new Error(`the address names no scene '${name}'. There are: ${SCENES.map((one) => one.name).join(", ")}`);
  const read = { scene, value: scene.drag.start, embed: false };
  for (const fact of facts) {
    const [key, text] = fact.split("=");
    if (key === "embed" && text === undefined) read.embed = true;
    else if (key === scene.key && text !== "" && scene.drag.values.includes(Number(text))) read.value = Number(text);
    else throw new Error(`the address says '${fact}'; this scene has ${scene.key} = ${scene.drag.values.join(", ")}`);
  }
  return read;
}

/** The address of a scene at a value, short where the value is the scene's start. */
export const writeAddress = (scene, value) =>
  `#${scene.name}${value === scene.drag.start ? "" : `&${scene.key}=${value}`}`;

/** A scene's address on a site that has a page for each, which shows a picture where the link is shared; or null. */
function shared(scene, value) {
  const folder = document.querySelector('meta[name="lab-scenes"]')?.content;
  return folder ? new URL(`${folder}${scene.name}.html#${scene.key}=${value}`, location.href).href : null;
}

export class Story {
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
    this.slider = drag({ ...scene.drag, start: value }, (next) => this.move(next));
    const claim = h(scene === start ? "h1" : "h2", { tabindex: "-1" }, scene.title);
    this.root.replaceChildren(
      ...(scene === start ? [] : [h("h1", { class: "unseen" }, "Which problems does a model learn?")]),
      this.header(),
      this.fault,
      claim,
      h("p", { class: "lead" }, scene.lead),
      this.drawn.picture,
      this.slider,
      this.finding,
      ...(this.drawn.below ? [this.drawn.below] : []),
      this.steps(),
      h(
        "details",
        { class: "about" },
        h("summary", {}, "What exactly is computed"),
        scene.about.map((words) => h("p", {}, words)),
        h("p", {}, this.bench),
      ),
      this.footer(),
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
          SCENES.map((scene, i) =>
            h(
              "li",
              {},
              h(
                "a",
                {
                  href: `#${scene.name}`,
                  title: scene.short,
                  "aria-label": `${i}: ${scene.short}`,
                  "aria-current": scene === this.scene ? "step" : null,
                },
                String(i),
              ),
            ),
          ),
        ),
      ),
      h("a", { href: "#workbench" }, "Workbench"),
    );
  }

  steps() {
    const at = SCENES.indexOf(this.scene),
      [before, after] = [SCENES[at - 1], SCENES[at + 1]];
    return h(
      "div",
      { class: "steps" },
      before ? h("a", { class: "step", href: `#${before.name}` }, `← ${before.short}`) : h("span", {}),
      after
        ? h("a", { class: "step next", href: `#${after.name}` }, `Next: ${after.short} →`)
        : h(
            "span",
            { class: "onward" },
            "Go on: ",
            h("a", { href: "#verifier" }, "be the verifier"),
            " of a language model, or answer a maze: ",
            h("a", { href: "#pushed" }, "“Who pushed me?”"),
          ),
    );
  }

  footer() {
    const whole = () => location.href.split(/[?#]/)[0] + writeAddress(this.scene, this.value);
    const frame = () =>
      `<iframe src="${whole()}&embed" width="100%" height="420" style="border:0;max-width:700px" loading="lazy" ` +
      `title="${this.scene.title}"></iframe>`;
    const told = h("span", { role: "status" });
    const copy = (text, words) => async () => {
      const note =
        location.protocol === "file:" ? " It works on this computer; put the page on the web to share it." : "";
      try {
        await navigator.clipboard.writeText(text());
        told.textContent = `${words} copied.${note}`;
      } catch {
        told.textContent = `Copy this: ${text()}`;
      }
    };
    return h(
      "footer",
      {},
      h(
        "button",
        { type: "button", onclick: copy(() => shared(this.scene, this.value) ?? whole(), "Link") },
        "Copy link",
      ),
      h("button", { type: "button", onclick: copy(frame, "Embed code") }, "Copy embed code"),
      this.drawn.line && h("button", { type: "button", onclick: copy(this.drawn.line, "Result") }, "Copy my result"),
      h("a", { class: "whole", href: writeAddress(this.scene, this.value), target: "_blank" }, "Open the whole page"),
      told,
    );
  }
}
