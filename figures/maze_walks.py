"""MaxRL Figure 10 at laptop scale: one walk that reaches the goal, one that does not."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import maze_pictures, plots

CAPTION = """A right and a wrong walk of the model that MaxRL trained (MaxRL Figure 10, there
17x17): on each of three held-out 9x9 mazes, the most frequent right rollout (green) and the most
frequent wrong one (red, to the cross where it meets a wall or stops), with how many of 128
rollouts were right. Mazes: the first three that were solved by some rollouts but fewer than nine
in ten. Seed 0."""


def records() -> Results:
    return results("maze", "maze")


def table(recorded: Results) -> pd.DataFrame:
    groups = recorded.groups
    part = groups[(groups["objective"] == "maxrl") & (groups["seed"] == 0)]
    mixed = part[(part["right"] > 0) & (part["right"] < 0.9 * part["n"])]
    return mixed[["problem", "n", "right", "grid", "right_walk", "wrong_walk"]].head(3)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.5)
    for panel, row in zip(axes, table.itertuples(), strict=False):
        maze_pictures.draw_walks(panel, row.grid, [row.right_walk, row.wrong_walk])
        panel.set_title(f"maze {row.problem}: {row.right} of {row.n} right")
    return figure
