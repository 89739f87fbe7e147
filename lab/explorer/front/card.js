// What a name stands for: description with formula, and source, as `lab explain` says them. The card opens under the
// pointer, at the focus of the keyboard and at a tap, stays while it is read, and Escape closes it.
import { h } from "./dom.js";

const BEFORE = 200, // milliseconds that a pointer rests on a name before the card opens: in passing none does
  AFTER = 250; // ... and that it may take from the name to the card
let cards = 0;

/** Words in which `code` stands between backticks. */
const marked = (words) => words.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));

export class Card {
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
      true,
    );
    document.addEventListener("pointerdown", ({ target }) => {
      if (this.term && !this.element.contains(target) && !this.term.contains(target)) this.close();
    });
  }

  /** A name with its card: a button, since a finger and the keyboard must reach it. `facts` are asked for when it opens. */
  name(label, facts) {
    const term = h("button", { type: "button", class: "term" }, h("strong", {}, label)),
      open = () => this.open(term, facts());
    term.addEventListener("pointerenter", ({ pointerType }) => {
      clearTimeout(this.timer);
      if (pointerType === "mouse") this.timer = setTimeout(open, BEFORE);
    });
    term.addEventListener("pointerleave", () => this.leave());
    term.addEventListener("focus", open);
    term.addEventListener("blur", () => this.term === term && this.close());
    term.addEventListener("click", open); // a tap does not focus everywhere
    return term;
  }

  leave() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.term !== document.activeElement && this.close(), AFTER);
  }

  open(term, { label, spec, about, citation }) {
    clearTimeout(this.timer);
    if (!term.isConnected) return;
    if (this.term !== term) this.close();
    this.term = term;
    const paragraphs = about.split(/\n\s*\n/).map((words) => words.replace(/\s+/g, " "));
    this.element.replaceChildren(
      h("p", { class: "named" }, h("strong", {}, label), " ", h("code", {}, spec)),
      ...paragraphs.map((words) => h("p", {}, marked(words))),
      ...(citation ? [h("p", { class: "source" }, `Source: ${citation}`)] : []),
    );
    this.element.hidden = false;
    term.setAttribute("aria-describedby", this.element.id);
    this.place(term.getBoundingClientRect(), this.root.getBoundingClientRect());
  }

  /** Below the name, or above it where the window ends; never beyond the sides. */
  place(term, root) {
    const { offsetWidth: width, offsetHeight: height } = this.element,
      left = Math.max(8, Math.min(term.left - root.left, root.width - width - 8)),
      below = term.bottom + 6,
      above = term.top - height - 6,
      top = below + height > innerHeight && above > 0 ? above : below;
    Object.assign(this.element.style, { left: `${left}px`, top: `${top - root.top}px` });
  }

  close() {
    clearTimeout(this.timer);
    this.term?.removeAttribute("aria-describedby");
    this.term = null;
    this.element.hidden = true;
  }
}
