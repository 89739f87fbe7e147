"""Mazes that were never trained on, four times as many steps: pass@1 begins to separate."""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """GRPO and RLOO lose coverage where MaxRL keeps it, and pass@1 hardly separates. 640
steps on mazes of 9x9, from 250 supervised steps: 16 mazes x 32 rollouts a step, AdamW, 64 held-out
mazes with exact pass rates. (a) pass@1 after the last step by learning rate, one seed; a ring marks
each objective's best rate, by a rule in sweeps/maze_long_rates.toml, written with the claims before
the runs. (b, c, d) each objective at its best rate, by step. Lines: mean of five fresh seeds; thin:
each seed."""

SWEEPS = (("maze_long_rates", "maze"), ("maze_long", "maze"))
NAMES = ("maxrl", "grpo", "rloo")
METRICS = {"pass@1": "pass@1", "pass@128": "pass@128", "log-likelihood": "mean log p"}
RATES_SEED = 40


def records() -> Results:
    return together([results(sweep, name) for sweep, name in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    metrics = recorded.metrics
    of_rates = metrics["seed"] == RATES_SEED
    tried = metrics[of_rates & (metrics["step"] == metrics["steps"])]
    tried = tried[["objective", "learning_rate", "pass@1"]].sort_values("learning_rate")
    parts = [tried.rename(columns={"pass@1": "mean"}).assign(metric="by rate")]
    tested = replace(recorded, metrics=metrics[~of_rates])
    parts.append(tested.each_over_seeds(METRICS, ["objective"]))
    return pd.concat(parts, ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=4, width=plots.PAGE, height=2.4)
    for name in NAMES:
        style, part = plots.line_style(name), table[table["objective"] == name]
        tried = part[part["metric"] == "by rate"]
        plots.rates(axes[0], tried, "mean", style, best=tried.loc[[tried["mean"].idxmax()]])
        for panel, metric in zip(axes[1:], METRICS, strict=True):
            plots.curve(panel, part[part["metric"] == metric], "step", "mean", style)
    axes[0].set(title="pass@1, by rate")
    for panel, title in zip(axes[1:], METRICS.values(), strict=True):
        panel.set(title=title, xlabel="step")
        panel.margins(0.06)
    plots.letter(axes)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
