// Undo and redo over the workbench's state. What one hand movement changes is one step, however many states it passes.
const MOST = 200,
  VIEWS = ["panel", "theme"]; // where one looks, not what is set: changing these alone is no step

export class History {
  constructor(store) {
    Object.assign(this, { store, done: [], undone: [], last: store.state, gesture: null });
    store.listen((state, changed) => this.record(state, changed));
  }

  /** The events under `root` that say where a step begins and ends: a drag, a text being typed, a key held down. */
  watch(root) {
    let pointer = null,
      typing = null,
      key = null;
    const tell = () => {
      this.gesture = pointer ?? typing ?? key;
    };
    const on = (types, note, target = root) => {
      for (const type of types)
        target.addEventListener(
          type,
          (event) => {
            note(event);
            tell();
          },
          true, // before the control itself hears of it
        );
    };
    on(["pointerdown"], () => (pointer = {}));
    on(["pointerup", "pointercancel"], () => (pointer = null), window); // the hand may leave the workbench
    on(["input"], () => (typing ??= pointer ?? {}));
    on(["change"], () => (typing = null));
    on(["keydown"], ({ repeat }) => (key = repeat ? key : {}));
    on(["keyup"], () => (key = null));
  }

  record(state, changed) {
    const before = this.last;
    this.last = state;
    if (this.going || [...changed].every((key) => VIEWS.includes(key))) return;
    this.undone = [];
    const step = this.done.at(-1);
    if (step && this.gesture && step.gesture === this.gesture) step.after = state;
    else this.done = [...this.done, { before, after: state, gesture: this.gesture }].slice(-MOST);
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
}
