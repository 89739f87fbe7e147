"""Mazes below their start: what was noticed in maze_flow, on five fresh seeds."""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results_of_every_record
from lab.show import plots, rate_flow

CAPTION = """What maze_flow showed after the fact, on five starts that nobody had seen: of 192 mazes
of 7x7 exact maximum likelihood leaves 2 below the pass rate that they began with, MaxRL 35 and GRPO
119, in the mean; and the hardest class, which exact maximum likelihood raises, falls under both.
Exact pass rates: (a) mazes below their start, (b) mean pass@128, (c) mean log p of the 20 mazes
whose shortest path has 12 moves, minus that of the start. Exact maximum likelihood samples nothing;
MaxRL and GRPO sample N = 64 rollouts of 32 mazes a step. The six claims in
sweeps/maze_exact_again.toml were written before these runs; learning rates as in maze_exact. Lines:
mean of 5 seeds; thin: each seed."""

LOOKS = {
    "ml": plots.line_style("ml")._replace(label="exact ML"),
    "maxrl": plots.line_style("maxrl"),
    "grpo": plots.line_style("grpo"),
}
PANELS = {
    "fallen": "mazes below their start",
    "pass@128": "pass@128",
    "gained": "log p gained, 12 moves",
}


def records() -> Results:
    return results_of_every_record("maze_exact_again", "maze")


def table(recorded: Results) -> pd.DataFrame:
    metrics = recorded.metrics.merge(rate_flow.fallen(recorded.groups), on=["run", "step"])
    hard = metrics["log-likelihood, 12 moves"]
    metrics["gained"] = hard - hard.groupby(metrics["run"]).transform("first")
    return replace(recorded, metrics=metrics).each_over_seeds(PANELS, ["estimator"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.by_step(table, LOOKS, PANELS, 2.4)
    axes[0].set(ylim=(-5, 197), ylabel="all 192 mazes")
    axes[1].set(ylim=(-0.02, 1.02))
    return figure
