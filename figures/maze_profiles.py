"""Profiles of pass rates: which share of mazes does a policy solve more often than that?"""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """MaxRL solves more mazes at least now and then, GRPO and RLOO more of them nearly
always, in the means of 2 seeds. Performance profiles (Agarwal et al. 2021) of 128 held-out 9x9
mazes after 160 steps; runs and settings as in maze_dynamics: the share of mazes whose pass rate, K
of 128 rollouts, is above a threshold. Left end: mazes that were solved at least once; right end:
mazes that are always solved. One line for each of 2 seeds. The mean pass rate is the area under a
line."""

NAMES = ("maxrl", "pacs_anchor", "grpo", "rloo")


def records() -> Results:
    return results("maze", "maze")


def table(recorded: Results) -> pd.DataFrame:
    rows = []
    for (objective, seed), part in recorded.groups.groupby(["estimator", "seed"]):
        n = int(part["n"].max())
        share = [(part["right"] > k).mean() for k in range(n + 1)]
        columns = {"pass rate": [k / n for k in range(n + 1)], "share of mazes above": share}
        rows.append(pd.DataFrame(columns).assign(estimator=objective, seed=seed))
    return pd.concat(rows, ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=len(NAMES), width=plots.PAGE, height=1.9, sharey=True)
    for panel, name in zip(axes, NAMES, strict=True):
        for other in NAMES:
            look = {"color": "#cccccc", "linewidth": 0.8, "zorder": 1}
            if other == name:
                look = {"color": plots.line_style(name).color, "linewidth": 1.2, "zorder": 3}
            for _, rows in table[table["estimator"] == other].groupby("seed"):
                panel.plot("pass rate", "share of mazes above", data=rows, ds="steps-post", **look)
        panel.set(
            title=plots.line_style(name).label,
            xlabel="pass rate of a maze",
            xlim=(-0.02, 1.02),
            ylim=(0, 1.02),
        )
    axes[0].set_ylabel("share of mazes above")
    plots.letter(axes)
    return figure
