"""Coverage of mazes at the end of training beside that of the supervised start."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """Mean pass@1 ends above the supervised start for all four objectives, mean pass@128 for
MaxRL alone. Coverage after reinforcement learning on fresh 9x9 mazes; runs and settings as in
maze_dynamics. pass@k on 128 held-out mazes, from 128 rollouts of each at temperature 1. Dotted: the
supervised start of all four (pass@k recorded at k = 1, 8, 32, 64, 128). Lines: mean of 2 seeds;
thin: each seed."""

NAMES = ("maxrl", "grpo", "rloo", "pacs_anchor")
KS = np.unique(np.geomspace(1, 128, 22).round().astype(int)).tolist()


def records() -> Results:
    return results("maze", "maze")


def table(recorded: Results) -> pd.DataFrame:
    first = recorded.metrics[recorded.metrics["step"] == 0].groupby("seed").first()
    start = [
        {"estimator": "start", "k": int(name.removeprefix("pass@")), "pass@k": first[name].mean()}
        for name in first
        if name.startswith("pass@")
    ]
    measured = recorded.pass_at_k(KS, ["estimator"])
    return pd.concat([measured, pd.DataFrame(start)], ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(width=plots.COLUMN, height=2.6)
    for name in NAMES:
        part = table[table["estimator"] == name]
        plots.curve(axes, part, "k", "pass@k", plots.line_style(name))
    start = table[table["estimator"] == "start"]
    reference = plots.REFERENCE_STYLES["start"]
    axes.plot(start["k"], start["pass@k"], marker=reference.marker, **reference.line)
    axes.set(xscale="log", xlabel="k", ylabel="pass@k", ylim=(0, 1.02), xlim=(0.9, 142))
    axes.set_xticks((1, 8, 32, 128), ("1", "8", "32", "128"))
    axes.minorticks_off()
    ends = {
        name: table[table["estimator"] == name].iloc[-1]["pass@k"] for name in (*NAMES, "start")
    }
    looks = {name: plots.line_style(name) for name in NAMES} | {"start": reference}
    plots.label_ends(axes, [(looks[name].label, end, looks[name]) for name, end in ends.items()])
    return figure
