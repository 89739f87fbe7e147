"""MaxRL Figure 18 at laptop scale: training curves of MaxRL and of the methods of other papers."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """Mean pass@128 ends a little above the supervised start for PKPO with its baseline,
MaxRL and SELF, and below it for the other methods. Training curves of MaxRL and of the methods of
other papers (MaxRL Figure 18, there 17x17), from the same supervised start of their seed: pass@1,
pass@32 and pass@128 on 128 held-out 9x9 mazes, 128 rollouts each, along 160 steps of 32 mazes x 64
rollouts. Entropy bonus 0.01 and smoothing 0.05 were not tuned; the paper states neither. Lines:
mean of 3 seeds; thin: each seed."""

METRICS = ("pass@1", "pass@32", "pass@128")


def records() -> Results:
    return results("maze_baselines", "maze")


def table(recorded: Results) -> pd.DataFrame:
    methods = [plots.method_style(row).label for row in recorded.metrics.itertuples()]
    named = recorded.metrics.assign(method=methods)
    return Results(named, recorded.groups, recorded.runs).each_over_seeds(METRICS, ["method"])


def draw(table: pd.DataFrame) -> Figure:
    renamed = table.rename(columns={"method": "estimator"})
    figure, axes = plots.by_step(
        renamed, plots.TABLE_3_STYLES, dict(zip(METRICS, METRICS, strict=True)), 2.4, sharey=True
    )
    axes[0].set(ylabel="held-out mazes", ylim=(0, 1.02))
    return figure
