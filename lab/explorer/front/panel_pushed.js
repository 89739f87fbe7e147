// The panel "Who pushed me?": sixteen mazes share a policy; what each of them did to the one that is chosen, step by step.
import { Beside, beside } from "./beside.js";
import { Chart } from "./chart.js";
import { Pushes } from "./pushed.js";
import { h, rebuild, segmented, slider, svg, write } from "./dom.js";

const METHODS = { grpo: "GRPO", maxrl: "MaxRL" },
  SPANS = { true: "all steps so far", false: "the last step alone" },
  UP = "#0072b2",
  DOWN = "#c42d08",
  ACROSS = 4, // mazes in a row
  LEAST = 0.04; // of the largest push: a smaller one has no arrow
const share = (logP) => {
    const percent = 100 * Math.exp(logP);
    if (percent < 0.001) return "<0.001 %";
    return `${percent >= 10 ? Math.round(percent) : Number(percent.toPrecision(percent < 0.01 ? 1 : 2))} %`;
  },
  signed = (x) => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(Math.abs(x) < 0.1 ? 3 : Math.abs(x) < 10 ? 2 : 1)}`,
  total = (numbers) => numbers.reduce((sum, x) => sum + x, 0),
  listed = (words) => words.join(", ").replace(/, ([^,]*)$/, " and $1");

/** The walls of a maze, and the way through it, in a square of 7 x 7. */
function picture(rows, path) {
  const walls = rows.flatMap((row, y) => [...row].map((cell, x) => (cell === "#" ? `M${x} ${y}h1v1h-1z` : ""))),
    move = { U: "v-1", D: "v1", L: "h-1", R: "h1" };
  return svg(
    "svg",
    { viewBox: `0 0 ${rows.length} ${rows.length}`, "aria-hidden": "true" },
    svg("path", { d: walls.join(""), class: "wall" }),
    svg("path", { d: `M1.5 1.5${[...path].map((letter) => move[letter]).join("")}`, class: "way" }),
  );
}

export class PushedPanel {
  constructor(app) {
    Object.assign(this, { app, data: null, asked: false });
    const { store } = app;
    this.record = new Beside("data/models/mazes/pushes.safetensors", (file) => this.open(file));
    this.method = h("div", { class: "first" });
    this.until = slider("Steps taken", store.state.until, { least: 0, most: 32, step: 1, first: true }, (until) =>
      store.set({ until }),
    );
    this.span = h("div", { class: "first" });
    this.board = h("div", { class: "mazes", role: "group", "aria-label": "sixteen mazes" });
    this.arrows = svg("svg", { class: "arrows", viewBox: `0 0 ${ACROSS} ${ACROSS}`, "aria-hidden": "true" });
    this.head = h("h3");
    this.bars = h("ol", { class: "pushes" });
    this.found = h("p", { class: "meaning", role: "status" });
    this.chart = new Chart({ label: "how often the chosen maze is solved, by step", height: 0.34, least: 220 });
    this.replayed = h("p", { class: "meaning", role: "status" });
    this.title = h("h3");
    this.stage = h(
      "section",
      { class: "stage", hidden: true },
      this.found,
      h(
        "div",
        { class: "pair pushed" },
        h("div", {}, h("div", { class: "board" }, this.board, this.arrows)),
        h("div", {}, this.head, this.bars),
      ),
      this.replayed,
      this.title,
      this.chart.element,
      app.saver(
        () => this.chart,
        () => this.columns(),
        "pushed",
      ),
    );
    const first = h(
      "p",
      { class: "first" },
      "Sixteen mazes are practised by one small transformer. They share its weights, so what one maze teaches moves all others. ",
      h("b", {}, "Click a maze: who moved it?"),
    );
    this.element = this.record.panel(first, [this.method, this.until.element, this.span], RULES, this.stage);
    if (app.kernel) this.record.choice.hidden = false; // nothing lies beside a notebook
  }

  async open(file) {
    this.data = await this.record.read(file, (buffer) => new Pushes(buffer), "no trainings were read");
    this.app.refresh();
  }

  update(state) {
    const { store, kernel } = this.app;
    if (!this.asked && !kernel) {
      this.asked = true;
      this.open(beside("maze-pushes.js", "labMazePushes"));
    }
    this.until.show(state.until);
    rebuild(this.span, state.together, () => [
      segmented("pushes of", SPANS, state.together, (together) => store.set({ together: together === "true" })),
    ]);
    this.stage.hidden = !this.data;
    if (this.data) {
      const { methods } = this.data, // that were recorded
        method = methods.includes(state.method) ? state.method : methods[0],
        choices = Object.fromEntries(methods.map((name) => [name, METHODS[name]]));
      rebuild(this.method, method, () => [segmented("estimator", choices, method, (method) => store.set({ method }))]);
      this.draw({ ...state, method: (this.shown = method) });
    }
    this.app.drawn();
  }

  draw(state) {
    const { data, app } = this,
      { method, until } = state,
      maze = state.maze - 1,
      away = state.away ? state.away - 1 : null,
      from = state.together ? 0 : Math.max(0, until - 1),
      account = data.account(method, maze, from, until),
      order = account.by.map((_, other) => other).sort((a, b) => Math.abs(account.by[b]) - Math.abs(account.by[a])),
      most = Math.max(...account.by.map(Math.abs));
    this.stage.style.setProperty("--up", app.color(UP));
    this.stage.style.setProperty("--down", app.color(DOWN));
    this.tiles(state, maze, away);
    this.arrows.replaceChildren(
      ...order
        .filter((other) => other !== maze && Math.abs(account.by[other]) > LEAST * most)
        .map((other) => arrow(other, maze, account.by[other] / most)),
    );
    const span = state.together ? (until === 1 ? "in the first step" : `in ${until} steps`) : `in step ${until}`;
    write(this.head, until ? `Who moved maze ${maze + 1} ${span}, in log p` : "Nothing has moved yet");
    rebuild(this.bars, [method, until, from, maze, away], () =>
      until ? order.map((other) => this.bar(other, maze, away, account.by[other], most)) : [],
    );
    write(this.found, this.words(account, method, maze, until, from, span));
    this.replay(method, maze, away, until);
  }

  /** The mazes as buttons, tinted by what became of each since the start. */
  tiles({ method, until }, maze, away) {
    const { data, app } = this;
    rebuild(this.board, [method, until, maze, away], () =>
      data.mazes.map((rows, i) => {
        const curve = data.curve(method, i),
          change = curve[until] - curve[0],
          tint = Math.round(100 * Math.min(0.75, Math.abs(change) / 3)),
          ground = `color-mix(in srgb, var(--${change < 0 ? "down" : "up"}) ${tint}%, var(--ground))`;
        return h(
          "button",
          {
            type: "button",
            "aria-pressed": String(i === maze),
            "aria-label": `maze ${i + 1} ${share(curve[until])} of tries solved, ${share(curve[0])} at the start`,
            "data-away": i === away ? "" : null,
            style: `--tint: ${ground}`,
            onclick: () => app.store.set({ maze: i + 1, away: 0 }),
          },
          picture(rows, data.paths[i]),
          h("span", {}, h("b", {}, String(i + 1)), ` ${share(curve[until])}`),
        );
      }),
    );
  }

  bar(other, maze, away, push, most) {
    const { app } = this,
      pressed = other === away;
    return h(
      "li",
      {},
      h("span", {}, other === maze ? "itself" : `maze ${other + 1}`),
      h(
        "span",
        { class: "track" },
        h("span", {
          class: push < 0 ? "down" : "up",
          style: `width: ${((50 * Math.abs(push)) / most || 0).toFixed(1)}%`,
        }),
      ),
      h("output", {}, signed(push)),
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(pressed),
          "aria-label": pressed ? `put back maze ${other + 1}` : `take away maze ${other + 1} and replay`,
          onclick: () => app.store.set({ away: pressed ? 0 : other + 1 }),
        },
        pressed ? "put back" : "take away",
      ),
    );
  }

  words(account, method, maze, until, from, span) {
    const curve = this.data.curve(method, maze);
    if (!until) return `Maze ${maze + 1} is solved in ${share(curve[0])} of tries. Move on to see who moves it.`;
    const others = account.by.map((push, other) => ({ push, other })).filter(({ other }) => other !== maze),
      [up, down] = [1, -1].map((sign) => others.filter(({ push }) => sign * push > 0)),
      sum = (some) => signed(total(some.map(({ push }) => push))),
      strongest = down.sort((a, b) => a.push - b.push).slice(0, 3).map(({ other }) => other + 1);
    return (
      `Maze ${maze + 1}, ${span}: solved in ${share(curve[from])} of tries, then in ${share(curve[until])} ` +
      `(log p ${signed(account.change)}). It pushed itself by ${signed(account.by[maze])}. ` +
      `${up.length} others pushed it up, by ${sum(up)} together, and ${down.length} down, by ${sum(down)}` +
      `${strongest.length ? `, most of all by ${listed(strongest)}` : ""}. ` +
      `Weight decay: ${signed(account.decay)}; what all these miss: ${signed(account.missed)}.`
    );
  }

  /** The chosen maze's curve, and beside it that of the training without the maze that was taken away. */
  replay(method, maze, away, until) {
    const { data, app } = this,
      steps = Array.from({ length: data.steps + 1 }, (_, step) => step),
      curve = data.curve(method, maze),
      gain = (other) => data.curve(method, maze, other)[until] - curve[until],
      { by } = data.account(method, maze, 0, until),
      p = (from) => data.curve(method, maze, from).map(Math.exp),
      all = p(null),
      without = away === null ? null : p(away),
      lines = [{ x: steps, y: all, color: app.theme().ink, width: 2.4, label: "with all sixteen" }];
    if (without) {
      const look = { color: app.color("#c42a96"), dash: [6, 3], width: 2.4 };
      lines.push({ x: steps, y: without, label: `without maze ${away + 1}`, ...look });
    }
    write(this.title, `How often maze ${maze + 1} is solved: pass rate by step`);
    const low = Math.min(...lines.flatMap(({ y }) => y));
    this.chart.draw(
      {
        x: { kind: "linear", domain: [0, data.steps], label: "step" },
        y: { kind: "log", domain: [10 ** Math.floor(Math.log10(low)), 1], label: "" },
        lines,
        dots: lines.map(({ y, color }) => ({ x: until, y: y[until], color, r: 4 })),
      },
      app.theme(),
    );
    if (!without) {
      const others = data.paths.map((_, other) => other).filter((other) => other !== maze),
        agree = others.filter((other) => gain(other) * by[other] < 0).length;
      write(
        this.replayed,
        until
          ? "Take a maze away, and the training is replayed without it. Replayed without each of the fifteen others, maze " +
              `${maze + 1} moves as that one's bar of all steps says in ${agree} cases, and the other way in ${others.length - agree}.`
          : "",
      );
      return;
    }
    write(
      this.replayed,
      `Without maze ${away + 1}, maze ${maze + 1} is solved in ${share(Math.log(without[until]))} of tries after ` +
        `${until} ${until === 1 ? "step" : "steps"}, in place of ${share(Math.log(all[until]))}: log p differs by ` +
        `${signed(gain(away))}. Its bar alone would have said ${signed(-by[away])}; but without it the others push otherwise.`,
    );
  }

  columns() {
    const { maze, away } = this.app.store.state,
      { data, shown: method } = this,
      curve = (of) => data.curve(method, maze - 1, of),
      columns = { step: Array.from({ length: data.steps + 1 }, (_, step) => step), "log p": curve(null) };
    if (away) columns[`log p without maze ${away}`] = curve(away - 1);
    const pushes = Array.from({ length: data.steps }, (_, step) => data.account(method, maze - 1, step, step + 1));
    data.mazes.forEach((_, other) => {
      columns[`push of maze ${other + 1}`] = pushes.map(({ by }) => by[other]);
    });
    return columns;
  }
}

/** An arrow between two tiles of the board, as thick as its push; `size` is the push, of the largest one. */
function arrow(from, to, size) {
  const [[x, y], [toX, toY]] = [from, to].map((i) => [(i % ACROSS) + 0.5, Math.floor(i / ACROSS) + 0.5]),
    long = Math.hypot(toX - x, toY - y),
    [dx, dy] = [(toX - x) / long, (toY - y) / long],
    wide = 0.012 + 0.06 * Math.abs(size),
    head = 1.2 * wide + 0.03,
    at = (along, aside) => `${(x + along * dx - aside * dy).toFixed(3)} ${(y + along * dy + aside * dx).toFixed(3)}`,
    [start, neck, end] = [0.2, long - 0.22 - 1.6 * head, long - 0.22],
    half = wide / 2;
  const corners = [
    at(start, half), at(neck, half), at(neck, head), at(end, 0), at(neck, -head), at(neck, -half), at(start, -half),
  ];
  return svg("path", { d: `M${corners.join("L")}z`, class: size < 0 ? "down" : "up" });
}

const RULES =
  "Blue pushes up, red down. A step of AdamW is a sum over mazes: each has its own part of the momentum. A push is what that part does " +
  "to log p of the chosen maze, along the mean of its gradients before and after the step; what pushes miss is said. They are an account of what " +
  "moved, not of who is to blame: mazes with the same way through push alike, and one that is gone is replaced by its like. So a replay is no sum: " +
  "for every maze the lab trained anew on the other fifteen, from the same start, and recorded it. Seen are one start, the first 16 of 192 mazes " +
  "of 7×7, and 32 steps at rate 0.0003 with the mean gradient of N = 64, without the luck of sampling. Other starts, rates and mazes were not tried.";
