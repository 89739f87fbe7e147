"""MaxRL Figure 10 at laptop scale: one walk that reaches the goal, one that does not."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import maze_pictures, plots

CAPTION = """In each of three mazes the most frequent wrong walk begins as the most frequent right
one does. Rollouts of the model that MaxRL trained (MaxRL Figure 10, there 17x17) on held-out 9x9
mazes: the most frequent right one (green) and the most frequent wrong one (red and dashed, to the
cross where it meets a wall or stops), with how many of 128 rollouts were right. Mazes: the first
three that were solved by some rollouts but fewer than nine in ten. Seed 0."""


def records() -> Results:
    return results("maze", "maze")


def table(recorded: Results) -> pd.DataFrame:
    groups = recorded.groups
    part = groups[(groups["estimator"] == "maxrl") & (groups["seed"] == 0)]
    mixed = part[(part["right"] > 0) & (part["right"] < 0.9 * part["n"])]
    return mixed[["problem", "n", "right", "grid", "right_walk", "wrong_walk"]].head(3)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE)
    figure.set_figheight(figure.get_figwidth() / 3 + 0.45)  # square mazes, a title and a legend
    for panel, row in zip(axes, table.itertuples(), strict=False):
        maze_pictures.draw_walks(panel, row.grid, [row.right_walk, row.wrong_walk])
        panel.set_title(f"maze {row.problem}: {row.right} of {row.n} right")
    plots.letter(axes)
    walks = {line.get_color(): line for line in axes[0].lines if line.get_marker() == "None"}
    figure.legend(
        [walks[plots.GREEN], walks[plots.RED]],
        ["most frequent right walk", "most frequent wrong walk"],
        loc="outside lower center",
        ncols=2,
    )
    return figure
