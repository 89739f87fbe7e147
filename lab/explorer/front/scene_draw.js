// Scene 7: a wish that is drawn, and the best that N tries can make of it.
import { THEMES } from "./chart.js";
import { throughPoints } from "./catalogue.js";
import { h } from "./dom.js";
import { Fits } from "./fits.js";
import { Grid, QUANTITIES, passRates } from "./mathematics.js";
import { onGround } from "./looks.js";
import { ESTIMATORS, coefficients, resolve, writeSpec } from "./specs.js";
import { DEFAULTS } from "./state.js";
import { ChartPicture, figure, isDark } from "./story_parts.js";

const P = DEFAULTS.points.map((_, i, all) => Number((i / (all.length - 1)).toFixed(2))),
  HIGHEST = 8,
  DOMAIN = [-2, 10]; // it stays while one draws; a fit may go beyond the drawing

const nearest = (points) =>
  resolve(ESTIMATORS, writeSpec(ESTIMATORS, "drawn", { p: P, w: points, zero_mean: false }));

/** (gap, offset) at N of the estimator that comes nearest to the drawing. */
export const fitted = (points, N) => coefficients(nearest(points), N);

export const draw = {
  name: "draw",
  short: "Draw your own",
  title: "Draw which problems should count. N tries come as near as they can",
  lead:
    "Pull the grey line up where problems should pull hard and down where they should not. The pink line is the " +
    "nearest that N tries can give: the more tries, the sharper it may bend.",
  key: "N",
  drag: {
    name: "Tries in a round",
    values: [4, 6, 8, 12, 16, 24, 32, 48, 64],
    start: 16,
    ends: ["few", "many"],
    say: (N) => `N = ${N}`,
  },
  about: [
    "Every weight that N rollouts can give is a polynomial of degree N − 1 in the pass rate. The page fits its " +
      "Bernstein coefficients, with a price on noise: they are what a right answer gets more than a wrong one, by " +
      "the number of right answers among the others.",
    "The workbench gives the estimator as one line of code that trains, and takes formulas too.",
  ],
  workbench: (N, { points }) => ({ panel: "draw", N, points }),

  build(view) {
    const grid = new Grid(passRates("linear"));
    const drawings = []; // before each stroke, key and button
    let chosen = 6,
      before = null,
      fit = null; // of what is shown: the picture is drawn again at every size
    const points = () => view.points,
      fits = new Fits(() => picture.element.isConnected && show()),
      reach = () => {
        const { sequences, stale } = fits.sequences(nearest(points()), view.value);
        return { reached: sequences && QUANTITIES.weight(grid, sequences), stale };
      };
    const picture = new ChartPicture("the drawn weight, and the best that N tries reach", () => {
      const dark = isDark(),
        theme = THEMES[dark ? "dark" : "light"],
        pink = onGround("#c42a96", dark);
      fit ??= reach();
      const { reached } = fit;
      picture.chart.theme = theme;
      return {
        x: { kind: "linear", domain: [0, 1], label: "how often a problem is solved" },
        y: {
          kind: "linear",
          domain: DOMAIN,
          label: "how hard it pulls",
        },
        lines: [
          {
            x: grid.p,
            y: grid.p.map(throughPoints(P, points())),
            color: theme.muted,
            dash: [4, 2],
            width: 2,
            name: "wish",
          },
          ...(reached ? [{ x: grid.p, y: reached, color: pink, width: 3, name: "reached" }] : []),
        ],
        dots: points().map((y, i) => ({
          x: P[i],
          y,
          color: i === chosen ? pink : theme.muted,
          r: i === chosen ? 6 : 4,
          hollow: i !== chosen,
        })),
      };
    });
    const { chart } = picture,
      handle = chart.svg;
    for (const [name, value] of Object.entries({
      tabindex: "0",
      role: "slider",
      "aria-label": "drawn weight: left and right choose a point, up and down move it",
      "aria-valuemin": "0",
      "aria-valuemax": String(HIGHEST),
    }))
      handle.setAttribute(name, value);
    const put = (next) => {
      view.keep({ points: next });
      undo.setAttribute("aria-disabled", String(!drawings.length));
      show();
    };
    const replace = (next) => {
      drawings.push(points());
      put(next);
    };
    const undo = h(
      "button",
      { type: "button", "aria-disabled": "true", onclick: () => drawings.length && put(drawings.pop()) },
      "Undo",
    );
    chart.listen(
      (p, w) => {
        if (!before) drawings.push(points());
        const here = Math.round(p * (P.length - 1)),
          [from, start] = before ?? [here, w],
          value = Math.min(HIGHEST, Math.max(0, w)),
          next = [...points()];
        for (let i = Math.min(from, here); i <= Math.max(from, here); i++) {
          const share = here === from ? 1 : (i - from) / (here - from);
          next[i] = Number((start + share * (value - start)).toPrecision(3));
        }
        before = [here, value];
        chosen = here;
        put(next);
      },
      { drag: true, done: () => (before = null) },
    );
    handle.addEventListener("keydown", (event) => {
      const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0,
        up = { ArrowUp: 1, ArrowDown: -1 }[event.key] ?? 0;
      if (!along && !up) return;
      event.preventDefault();
      chosen = Math.min(P.length - 1, Math.max(0, chosen + along));
      const value = Math.min(HIGHEST, Math.max(0, points()[chosen] + 0.2 * up));
      const next = points().with(chosen, Number(value.toPrecision(3)));
      if (!up) show();
      else if (event.repeat) put(next);
      else replace(next);
    });
    function show() {
      fit = reach();
      picture.draw();
      handle.setAttribute("aria-valuenow", String(points()[chosen]));
      handle.setAttribute("aria-valuetext", `${points()[chosen]} at a pass rate of ${P[chosen]}`);
      const wish = throughPoints(P, points()),
        { reached, stale } = fit;
      if (stale) {
        view.say(`With ${view.value} tries … the pink line is being fitted.`);
        return;
      }
      const far = reached.reduce((worst, y, i) => Math.max(worst, Math.abs(y - wish(grid.p[i]))), 0);
      view.say(
        far < 0.005
          ? `With ${view.value} tries the drawing is reached.`
          : `With ${view.value} tries the pink line is up to ${figure(far)} away from the drawing.`,
      );
    }
    return {
      picture: picture.element,
      below: h(
        "div",
        { class: "row" },
        undo,
        h("button", { type: "button", onclick: () => replace(DEFAULTS.points) }, "First drawing"),
        h("button", { type: "button", onclick: () => replace(P.map(() => 1)) }, "Flat"),
      ),
      draw: show,
    };
  },
};
