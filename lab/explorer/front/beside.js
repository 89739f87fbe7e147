// Files of tensors that lie beside the page as scripts, for a page from disk may read nothing else (lab/explorer/page.py).
import { h, write } from "./dom.js";

/** What a panel shows of a file of the lab: who has it elsewhere chooses it, and `open` gets its promise; a line for faults. */
export class Beside {
  constructor(path, open) {
    this.input = h("input", {
      type: "file",
      accept: ".safetensors",
      "aria-label": path.split("/").at(-1),
      onchange: () => this.input.files.length && open(this.input.files[0].arrayBuffer()),
    });
    this.choice = h("p", { class: "rules first", hidden: true }, `Choose the file ${path} of the lab: `, this.input);
    this.fault = h("p", { class: "fault first", role: "alert" });
  }

  /** What `make` makes of a file; or null, which the line for faults explains. */
  async read(file, make, none) {
    write(this.fault, "");
    try {
      const made = make(await file);
      this.choice.hidden = true;
      return made;
    } catch (error) {
      this.choice.hidden = false;
      write(this.fault, `${none}: ${error.message}`);
      return null;
    }
  }

  /** The panel: `first` says what it is, `controls` stand below the choice and the fault, `rules` below them. */
  panel(first, controls, rules, stage) {
    const parts = [first, this.choice, this.fault, controls, h("p", { class: "rules" }, rules)].flat();
    return h("div", { class: "panel" }, h("section", { class: "controls", "aria-label": "the training" }, parts), stage);
  }
}

/** The safetensors file that the script `name` puts into the global `variable`. */
export function beside(name, variable) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = name;
    script.onload = () => {
      script.remove();
      resolve(Uint8Array.from(atob(globalThis[variable]), (letter) => letter.charCodeAt(0)).buffer);
    };
    script.onerror = () => reject(new Error(`${name} is not beside this page`));
    document.head.append(script);
  });
}

/** { flat, tensors, told }: all float32 numbers of a safetensors file, where each tensor lies in them, and its metadata. */
export function safetensors(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true)),
    { __metadata__: told, ...tensors } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  return { flat: new Float32Array(buffer.slice(8 + length)), tensors, told };
}
