"""PACS Figure 5(a) and MaxRL Figures 13 and 16, here on mazes: the entropy of the policy."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """The mean entropy of the policy falls under all four objectives on fresh 9x9 mazes. Runs
and settings as in maze_dynamics. PACS Figure 5(a) and MaxRL Figures 13 and 16 show it of Qwen3
models, which are another world: this says what the objectives do to a small transformer. Nats a
token, a mean over the training rollouts since the record before. Lines: mean of 2 seeds; thin: each
seed."""

NAMES = ("maxrl", "pacs_anchor", "grpo", "rloo")


def records() -> Results:
    return results("maze", "maze")


def table(recorded: Results) -> pd.DataFrame:
    return recorded.over_seeds("entropy", ["estimator"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(width=plots.COLUMN, height=2.5)
    for name in NAMES:
        part = table[table["estimator"] == name]
        plots.curve(axes, part, "step", "entropy", plots.line_style(name))
    axes.set(xlabel="step", ylabel="entropy, nats a token", ylim=(0, None))
    last = table[table["step"] == table["step"].max()].set_index("estimator")["entropy"]
    looks = {name: plots.line_style(name) for name in NAMES}
    plots.label_ends(axes, [(look.label, last[name], look) for name, look in looks.items()])
    return figure
