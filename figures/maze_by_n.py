"""Mazes with few rollouts: what each objective makes of the same number of rollouts."""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """For as many rollouts MaxRL with N = 64 ends higher in pass@1 than with N = 256, by more
than 0.05, and with N = 256 it keeps more coverage than GRPO, by more than 0.1; other differences
between N are undecided. All 192 mazes of 7x7, exact pass rates, from 50 supervised steps, 32 mazes
x N rollouts a step, AdamW, by all rollouts so far: 800 steps with N = 4 and 16, 200 with N = 64, 50
with N = 256. Each objective has its best rate for its N and pass@1, by rules in
sweeps/maze_by_n_rates.toml, maze_best_rates.toml and maze_by_n_256_rates.toml, written with the
claims before the runs. Lines: mean of five seeds, with N = 64 of fifteen; bands: 95% intervals."""

SWEEPS = ("maze_by_n", "maze_best", "maze_best_again", "maze_by_n_256")
NAMES = ("maxrl", "grpo")
BEST_OF_64 = {"maxrl": 3e-4, "grpo": 1e-4}  # of the two rates in maze_best, the one for pass@1
SIZES = (4, 16, 64, 256)
METRICS = ("pass@1", "pass@128")


def records() -> Results:
    return together([results(sweep, "maze") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    metrics = recorded.metrics[recorded.metrics["estimator"].isin(NAMES)]
    best = metrics["learning_rate"] == metrics["estimator"].map(BEST_OF_64)
    told = replace(recorded, metrics=metrics[(metrics["rollouts"] != 64) | best])
    curves = told.each_over_seeds(METRICS, ["estimator", "rollouts"])
    spent = curves["step"] * curves["rollouts"] * metrics["batch"].iloc[0]
    return curves.assign(**{"thousand rollouts": spent / 1000})


def draw(table: pd.DataFrame) -> Figure:
    shape = {"columns": len(SIZES), "rows": len(METRICS), "sharex": True, "sharey": "row"}
    figure, axes = plots.panels(width=plots.PAGE, height=3.8, **shape)
    for row, metric in zip(axes, METRICS, strict=True):
        for panel, N in zip(row, SIZES, strict=True):
            shown = table[(table["metric"] == metric) & (table["rollouts"] == N)]
            for name in NAMES:
                part = shown[shown["estimator"] == name]
                plots.curve(panel, part, "thousand rollouts", "mean", plots.line_style(name))
            panel.set_title(f"N = {N}")
        row[0].set_ylabel(metric)
    for panel in axes[-1]:
        panel.set_xlabel("thousand rollouts")
    plots.letter(axes.flat)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
