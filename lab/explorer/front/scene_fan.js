// Scene 6: a recorded training is stopped; what `lab forecast` said of the rest, and then the rest.
import { THEMES, niceDomain } from "./chart.js";
import { h } from "./dom.js";
import { FANS } from "./fans.js";
import { onGround } from "./looks.js";
import { ChartPicture, isDark, percent } from "./story_parts.js";

export { FANS };
const share = (thousandths) => thousandths.map((value) => value / 1000);

/** A training stopped after `part` percent of its visits: what was seen, the fan by visit, and the rest of the means. */
export function stopped({ means, stops }, part) {
  const [seen, middle, low, high] = stops[part],
    end = seen + low.length;
  return {
    seen,
    end,
    before: share(means.slice(0, seen)),
    rest: share(means.slice(seen, end)),
    ...Object.fromEntries(Object.entries({ middle, low, high }).map(([name, values]) => [name, share(values)])),
  };
}

/** In how many trainings the mean at the end of the fan is inside it. */
export const inside = (part) =>
  FANS.filter((training) => {
    const { rest, low, high } = stopped(training, part);
    return low.at(-1) <= rest.at(-1) && rest.at(-1) <= high.at(-1);
  }).length;

export const fan = {
  name: "go-on",
  short: "Would you go on?",
  title: "Would you go on? The first part of a training says a part of the rest",
  lead:
    "A recorded training, stopped. The line is how many answers were right so far; the shaded fan is where a forecast, " +
    "made from that part alone, expects the rest with 90\u00a0%. Drag to stop later, decide, then look.",
  key: "seen",
  drag: {
    name: "Stopped after",
    values: Object.keys(FANS[0].stops).map(Number),
    start: 30,
    ends: ["early", "late"],
    say: (part) => `${part}\u00a0% of the training`,
  },
  about: [
    "A visit is a turn of a problem: its next group of answers. The forecast lets the log-odds of every problem wander, " +
      "with a shift that all share and that follows a power of the visit; what is not known of it makes the fan. It looks " +
      "at most four times as far ahead as was seen.",
    "The fans are those of lab forecast, written down: the page computes none. On trainings that nothing was chosen " +
      "on, docs/forecast.md counts how often they held. Before the fourth visit there is none.",
  ],
  workbench: () => ({ panel: "files" }),

  build(view) {
    let chosen = 0,
      told = false;
    const now = () => stopped(FANS[chosen], view.value);
    const picture = new ChartPicture("share of right answers by visit: what was seen, and the forecast of the rest", () => {
      const dark = isDark(),
        theme = THEMES[dark ? "dark" : "light"],
        { seen, end, before, rest, middle, low, high } = now(),
        visits = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i),
        later = visits(seen, end),
        [blue, red] = ["#0072b2", "#c42d08"].map((color) => onGround(color, dark)),
        last = before.at(-1);
      picture.chart.theme = theme;
      return {
        x: { kind: "linear", domain: [1, FANS[chosen].means.length], label: "visit of every problem" },
        y: { kind: "linear", domain: niceDomain([0, ...share(FANS[chosen].means), ...high], "linear"), label: "right answers" },
        mark: seen,
        areas: [{ x: later, low: [last, ...low], high: [last, ...high], color: blue }],
        lines: [
          { x: later, y: [last, ...middle], color: blue, dash: [4, 3], width: 2, name: "forecast" },
          { x: visits(1, seen), y: before, color: theme.ink, width: 3, name: "seen" },
          ...(told ? [{ x: later, y: [last, ...rest], color: red, width: 3, name: "rest" }] : []),
        ],
      };
    });
    const where = h("span", { class: "where" }),
      reveal = h("button", { type: "button", onclick: () => ((told = !told), draw()) });
    const step = (by) => () => {
      chosen = (chosen + by + FANS.length) % FANS.length;
      told = false;
      draw();
    };
    function draw() {
      picture.draw();
      const { seen, end, before, rest, low, high } = now(),
        { words, problems } = FANS[chosen],
        found = rest.at(-1),
        words90 = `between ${percent(low.at(-1))} and ${percent(high.at(-1))}`;
      where.textContent = `Training ${chosen + 1} of ${FANS.length}: ${words}, ${problems.toLocaleString("en")} problems`;
      reveal.textContent = told ? "Hide the rest" : "Show the rest";
      view.say(
        `After ${seen} visits ${percent(before.at(-1))} of the answers are right. The forecast of visit ${end}: ` +
          `${words90}.` +
          (told
            ? ` It was ${percent(found)}: ${low.at(-1) <= found && found <= high.at(-1) ? "inside" : "outside"}. ` +
              `Stopped here, ${inside(view.value)} of the ${FANS.length} trainings end inside.`
            : " Would you pay for the rest?"),
      );
    }
    return {
      picture: picture.element,
      below: h(
        "div",
        { class: "stepper" },
        h("button", { type: "button", onclick: step(-1), "aria-label": "previous training" }, "‹"),
        h("button", { type: "button", onclick: step(1), "aria-label": "next training" }, "›"),
        reveal,
        where,
      ),
      draw,
    };
  },
};
