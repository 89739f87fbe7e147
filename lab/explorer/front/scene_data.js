// Scene 5: the reader's own counts: where the problems lie, and where each method spends its pull.
import { THEMES, niceDomain } from "./chart.js";
import { h } from "./dom.js";
import { onGround } from "./looks.js";
import { EXAMPLE } from "./panel_files.js";
import { analyse } from "./pass_rates.js";
import { ESTIMATORS, coefficients, resolve } from "./specs.js";
import { ChartPicture, isDark, percent } from "./story_parts.js";
import { FILES } from "./work.js";

const METHODS = [
  ["rloo", "RLOO", "#0072b2"],
  ["grpo", "GRPO", "#e6a31e"],
  ["maxrl", "MaxRL", "#c42d08"],
];
const GAPS = Object.fromEntries(METHODS.map(([spec]) => [spec, (N) => coefficients(resolve(ESTIMATORS, spec), N)[0]]));

export const data = {
  name: "your-data",
  short: "Your own data",
  title: "Your own problems: each method is pulled by different ones",
  lead:
    "Give a file that says how often each problem was tried and solved. It is read here and sent nowhere. Until " +
    "then you see an invented example. Drag for larger groups.",
  key: "N",
  drag: {
    name: "Tries in a group",
    values: [2, 4, 8, 16, 32, 64, 128],
    start: 16,
    ends: ["few", "many"],
    say: (N) => `N = ${N}`,
  },
  about: [
    "The pass rates behind the counts are estimated by maximum likelihood, so that 0 of 16 is not taken for " +
      "never. A bar of a method is the share of its expected gradient, p(1 − p)|w_N(p)| summed over the problems " +
      "of the bin.",
    "The file: problem, n, k, a row a problem; or problem and reward, a row a rollout; also what TRL and verl " +
      "write. The workbench adds intervals, the choice of columns, and other estimators.",
  ],
  workbench: (N) => ({ panel: "files", N }),

  build(view) {
    let counts = EXAMPLE,
      kept = {},
      name = "the invented example";
    const fault = h("p", { class: "fault", role: "alert" });
    const found = () => analyse(counts, view.value, GAPS, kept);
    const picture = new ChartPicture("share of problems and of each method's gradient, by pass rate", () => {
      const dark = isDark(),
        theme = THEMES[dark ? "dark" : "light"],
        { edges, problems, gradients } = found(),
        series = [
          [problems, "problems", theme.muted],
          ...METHODS.map(([spec, words, color]) => [gradients[spec], `pull of ${words}`, onGround(color, dark)]),
        ],
        slot = 0.84 / series.length;
      picture.chart.theme = theme;
      const ends = edges.map((edge) => String(Number((100 * edge).toPrecision(3))));
      return {
        x: {
          kind: "linear",
          domain: [0, problems.length],
          label: "how often a problem is solved, %",
          ticks: problems.map((_, i) => [i + 0.5, `${ends[i]}–${ends[i + 1]}`]),
        },
        y: {
          kind: "linear",
          domain: niceDomain([0, ...series.flatMap(([values]) => values)], "linear"),
          label: "share",
        },
        bars: series.flatMap(([values, , color], k) =>
          values.map((value, i) => ({ from: i + 0.08 + slot * k, to: i + 0.08 + slot * (k + 0.88), value, color })),
        ),
        keys: series.map(([, words, color]) => ({ label: words, color, block: true })),
      };
    });
    const input = h("input", { type: "file", id: "lab-own", accept: ".csv,.tsv,.json,.jsonl,.ndjson,.gz,.parquet" });
    input.addEventListener("change", async () => {
      if (!input.files[0]) return;
      const before = [counts, kept, name];
      try {
        const [file] = input.files;
        fault.textContent = "";
        view.say(`Reading ${file.name} …`);
        counts = await FILES.ask("read", { files: [file], said: {} });
        [kept, name] = [counts.fit ? { fit: counts.fit } : {}, file.name];
        found();
      } catch (error) {
        [counts, kept, name] = before;
        fault.textContent = error.message;
      }
      show();
    });
    function show() {
      picture.draw();
      const { problems, gradients, sizes, dead, edges } = found(),
        hard = (values) => percent(values[0]);
      view.say(
        `In ${name}, ${hard(problems)} of the problems are solved less than ${percent(edges[1])} of the time. ` +
          `With groups of ${view.value} they get ${hard(gradients.rloo)} of RLOO's pull, ${hard(gradients.grpo)} ` +
          `of GRPO's and ${hard(gradients.maxrl)} of MaxRL's; ${percent(dead[sizes.indexOf(view.value)])} of the ` +
          "groups are dead.",
      );
    }
    return {
      picture: picture.element,
      below: h("div", { class: "row" }, h("label", { for: "lab-own" }, "Your file"), input, fault),
      draw: show,
    };
  },
};
