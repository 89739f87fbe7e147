"""Language models' claims that five seeds left undecided, beside eight seeds more."""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """The world of the figure arithmetic, first with its five seeds (sweeps/arithmetic.toml),
then with eight fresh ones (sweeps/arithmetic_again.toml, its claims written before the runs). Means
over the last 40 of 160 steps, MaxRL minus the other on the same seed: (a) the share of training
problems with a right rollout among 16, (b) entropy a token, in nats. Marks: mean and 95% interval
over seeds; strokes: each seed."""

METRICS = {"solved": "solved, difference", "entropy": "entropy, difference"}
OTHERS = {"grpo": "GRPO", "rloo": "RLOO"}
SWEEPS = {"arithmetic": "5 seeds", "arithmetic_again": "8 more"}


def records() -> Results:
    parts = {sweep: results(sweep, "gsm8k") for sweep in SWEEPS}
    return together(
        [replace(part, metrics=part.metrics.assign(sweep=sweep)) for sweep, part in parts.items()]
    )


def table(recorded: Results) -> pd.DataFrame:
    metrics = recorded.metrics
    last = metrics[(metrics["step"] == metrics["steps"]) & (metrics["estimator"] != "pacs")]
    wide = last.set_index(["estimator", "sweep", "seed", "step", "steps"])[list(METRICS)]
    gained = wide.loc["maxrl"] - wide.drop("maxrl", level="estimator")
    parts = []
    for sweep, seeds in SWEEPS.items():
        one = replace(recorded, metrics=gained.xs(sweep, level="sweep").reset_index())
        parts.append(one.each_over_seeds(METRICS, ["estimator"]).assign(seeds=seeds))
    return pd.concat(parts, ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=2, width=plots.PAGE, height=1.9, sharey=True)
    rows = [(seeds, other) for seeds in SWEEPS.values() for other in OTHERS]
    table = table.assign(row=plots.heights(table, ["seeds", "estimator"], rows))
    for panel, (metric, title) in zip(axes, METRICS.items(), strict=True):
        for row, (_, other) in enumerate(rows):
            found = table[(table["metric"] == metric) & (table["row"] == row)]
            plots.spread(panel, found, plots.line_style(other))
        panel.axvline(0, color=plots.GREY, linewidth=0.6)
        panel.set(title=title, ylim=(len(rows) - 0.5, -0.5))
    names = [f"MaxRL - {OTHERS[other]}, {seeds}" for seeds, other in rows]
    axes[0].set_yticks(range(len(rows)), names)
    plots.letter(axes)
    return figure
