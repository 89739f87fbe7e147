"""Coverage of mazes at the end of training beside that of the supervised start."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab import metrics, stats
from lab.runs import Results, results
from lab.show import plots

CAPTION = """Mean pass@1 ends above the supervised start for all four objectives, mean pass@128
for MaxRL alone. Coverage after reinforcement learning on fresh 9x9 mazes; runs and settings as in
maze_dynamics. pass@k on 128 held-out mazes, from 128 rollouts of each at temperature 1. Dotted:
the supervised start of all four (pass@k recorded at k = 1, 8, 32, 64, 128). Lines: mean of 2
seeds; bands: 95% bootstrap intervals over mazes and seeds, drawn again crossed."""

NAMES = ("maxrl", "grpo", "rloo", "pacs_anchor")
KS = np.unique(np.geomspace(1, 128, 22).round().astype(int)).tolist()


def records() -> Results:
    return results("maze", "maze")


def table(recorded: Results) -> pd.DataFrame:
    rows = []
    for objective, part in recorded.groups.groupby("objective"):
        curves = np.stack(
            [
                metrics.pass_at_k(one_seed["n"], one_seed["right"], KS)
                for _, one_seed in part.groupby("seed")
            ]
        )
        for k, interval in zip(
            KS, stats.mean_interval_each(curves, over="both", within=(0, 1)), strict=True
        ):
            rows.append((objective, k, interval.point, interval.low, interval.high))
    start = recorded.metrics[
        (recorded.metrics["step"] == 0) & (recorded.metrics["objective"] == NAMES[0])
    ]
    for column in [column for column in start if column.startswith("pass@")]:
        rows.append(
            ("start", int(column.removeprefix("pass@")), start[column].mean(), np.nan, np.nan)
        )
    return pd.DataFrame(rows, columns=["objective", "k", "pass@k", "low", "high"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(width=plots.COLUMN, height=2.6)
    for name in NAMES:
        part = table[table["objective"] == name]
        plots.band(axes, part["k"], part["low"], part["pass@k"], part["high"], name)
    start = table[table["objective"] == "start"]
    reference = plots.REFERENCE_STYLES["start"]
    axes.plot(start["k"], start["pass@k"], marker=reference.marker, **reference.line)
    axes.set(xscale="log", xlabel="k", ylabel="pass@k", ylim=(0, 1.02), xlim=(0.9, 142))
    axes.set_xticks((1, 8, 32, 128), ("1", "8", "32", "128"))
    axes.minorticks_off()
    ends = {
        name: table[table["objective"] == name].iloc[-1]["pass@k"] for name in (*NAMES, "start")
    }
    looks = {name: plots.line_style(name) for name in NAMES} | {"start": reference}
    plots.label_ends(axes, [(looks[name].label, end, looks[name]) for name, end in ends.items()])
    return figure
