// Who pushed whom: trainings of sixteen mazes that share a policy, as tools/maze_pushes.py wrote them. panel_pushed.js shows it.
import { safetensors } from "./beside.js";

export class Pushes {
  constructor(buffer) {
    const { flat, tensors, told } = safetensors(buffer);
    this.mazes = JSON.parse(told.mazes).map((rows) => rows.split("/")); // of '#' and '.'
    this.paths = JSON.parse(told.paths); // the shortest way of each, in letters
    this.steps = JSON.parse(told.settings).steps;
    this.methods = Object.keys(tensors).flatMap((name) => name.match(/^(.*)\/without$/)?.[1] ?? []);
    this.of = (name) => {
      const [start, end] = tensors[name].data_offsets;
      return flat.subarray(start / 4, end / 4);
    };
  }

  /** log p of a maze after 0, 1, .. steps; with `away`, in the training without that maze. */
  curve(method, maze, away = null) {
    const count = this.mazes.length,
      table = this.of(`${method}/${away === null ? "log_p" : "without"}`),
      first = away === null ? 0 : away * (this.steps + 1);
    return Array.from({ length: this.steps + 1 }, (_, step) => table[(first + step) * count + maze]);
  }

  /**
   * What moved log p of a maze between two steps: { by: the push of each maze, decay: that of weight decay, change, and
   * missed: what of the change those do not sum to }.
   */
  account(method, maze, from, to) {
    const count = this.mazes.length,
      push = this.of(`${method}/push`),
      decay = this.of(`${method}/decay`),
      curve = this.curve(method, maze),
      steps = Array.from({ length: to - from }, (_, i) => from + i),
      sum = (term) => steps.reduce((total, step) => total + term(step), 0),
      found = {
        by: this.mazes.map((_, other) => sum((step) => push[(step * count + maze) * count + other])),
        decay: sum((step) => decay[step * count + maze]),
        change: curve[to] - curve[from],
      };
    return { ...found, missed: found.by.reduce((left, x) => left - x, found.change - found.decay) };
  }
}
