"""Mazes that no rollout solves: is it the estimator that lowers them, or its learning rate?"""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """Held-out mazes of 9x9 before and after 160 steps of 16 mazes x 32 rollouts, on six
fresh starts (thin lines; thick: their mean): MaxRL at its best learning rate and at GRPO's, a tenth
of it, and GRPO at its best. (a) Mean log p of the mazes whose path has 16 moves, which goes up or
left: a right rollout among 32 is rare from the start. (b) Mean log p of all 256 mazes."""

METRICS = {
    "log-likelihood, 16 moves": "mazes of 16 moves",
    "log-likelihood": "all mazes",
}
COURSES = (("maxrl", 3e-4), ("maxrl", 3e-5), ("grpo", 3e-5))


def records() -> Results:
    return results("maze_unseen", "maze")


def table(recorded: Results) -> pd.DataFrame:
    return recorded.metrics[["estimator", "learning_rate", "seed", "step", *METRICS]]


def draw(table: pd.DataFrame) -> Figure:
    figure, panels = plots.panels(columns=2, width=plots.PAGE, height=2.6)
    for axes, (metric, label) in zip(panels, METRICS.items(), strict=True):
        for place, (name, rate) in enumerate(COURSES):
            of_course = table[(table["estimator"] == name) & (table["learning_rate"] == rate)]
            ends = of_course.pivot(index="step", columns="seed", values=metric)
            x, style = [place - 0.25, place + 0.25], plots.line_style(name)
            axes.plot(x, ends, linewidth=0.6, **style.line)
            axes.plot(x, ends.mean(axis=1), linewidth=2.2, marker=style.marker, **style.line)
        names = [f"{plots.line_style(name).label}\nrate {rate:g}" for name, rate in COURSES]
        axes.set_xticks(range(len(COURSES)), names)
        axes.set(title=label, ylabel="mean log p")
    plots.letter(panels)
    return figure
