// Two ways in: the page of its own, which finds its place and starts, and the widget of a notebook.
import { Explorer } from "./explorer.js";
import { learn } from "./given.js";
import { Kernel, counts } from "./kernel.js";
import { Store, checked, fromHash, toHash } from "./state.js";

/** The widget: Python's `state` and the page's are one. */
function render({ model, el }) {
  learn(model.get("catalogue"));
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

function start(root) {
  learn(JSON.parse(document.getElementById("lab-explorer-catalogue").textContent));
  let store,
    fault = "";
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

const page = globalThis.document?.getElementById("lab-explorer-page");
if (page) start(page);

export default { render };
