// Two ways in: the page of its own, which holds the story and the workbench, and the widget of a notebook.
import { h } from "./dom.js";
import { Explorer } from "./explorer.js";
import { learn } from "./given.js";
import { Kernel, counts } from "./kernel.js";
import { Store, checked, fromHash, toHash } from "./state.js";
import { Story } from "./story.js";
import { makeWorkersOf, serve } from "./work.js";

/** The widget: Python's `state` and the page's are one. */
function render({ model, el }) {
  learn(model.get("catalogue"));
  makeWorkersOf(model.get("_esm"));
  const store = new Store(checked(model.get("state"))),
    root = document.createElement("div");
  el.append(root);
  const kernel = new Kernel(model),
    explorer = new Explorer(root, store, kernel);
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

const NAMED = /^#(?:workbench|(verifier|pushed))$/i; // the workbench as it opens, or a panel that has an address of its own

/** Whether an address is the workbench's; all links of before the story hold a state. */
const isWorkbench = (hash) => NAMED.test(hash) || /^#(\{|%7B)/i.test(hash);

/** The page of its own: the story, and the workbench behind it, whichever the address names. */
function open(main) {
  learn(JSON.parse(document.getElementById("lab-explorer-catalogue").textContent));
  makeWorkersOf(document.getElementById("lab-explorer-script").textContent);
  const embed = new URLSearchParams(location.search).has("embed");
  let story, workbench;
  const show = (focus) => {
    const { hash } = location,
      wanted = isWorkbench(hash) ? "workbench" : "story";
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
    if (focus) scrollTo(0, 0);
  };
  addEventListener("hashchange", () => show(true));
  // A page that shows this one in a frame may say that it is light or dark.
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || !["light", "dark"].includes(data?.theme)) return;
    document.documentElement.dataset.theme = data.theme;
    if (story?.root.isConnected) story.drawn.draw();
  });
  show(false);
}

/** { root, read(hash), refresh() } of a workbench that keeps its state in the page's address. */
function openWorkbench(hash, embed) {
  const stateOf = (hash) => {
    const named = NAMED.exec(hash);
    if (!named) return fromHash(hash);
    return checked(named[1] ? { panel: named[1].toLowerCase() } : {});
  };
  let store,
    fault = "";
  try {
    store = new Store(stateOf(hash));
  } catch (error) {
    store = new Store(checked({}));
    fault = `${error.message}; this is the start instead`;
  }
  const root = document.createElement("div"),
    explorer = new Explorer(root, store);
  explorer.say.textContent = fault;
  root.toggleAttribute("data-embed", embed);
  root.querySelector(".tools").prepend(h("a", { class: "story", href: "#start" }, "The story from the start"));
  let timer;
  store.listen(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (root.isConnected) history.replaceState(null, "", toHash(store.state) || "#workbench");
    }, 150);
  });
  const read = (hash) => {
    try {
      store.set(stateOf(hash));
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
    },
  };
}

const page = globalThis.document?.getElementById("lab-explorer-page");
if (page) open(page);
else if (globalThis.WorkerGlobalScope && globalThis instanceof WorkerGlobalScope) serve(globalThis);

export default { render };
