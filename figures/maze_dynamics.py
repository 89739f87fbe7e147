"""MaxRL Figures 17 and 12 (maze) at laptop scale: reinforcement learning on fresh mazes."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """Mean pass@1 rises under all four objectives, while mean pass@128 stays near its start
under MaxRL and PACS and falls under GRPO and RLOO. Reinforcement learning on fresh 9x9 mazes (MaxRL
Figures 17 and 12, there 17x17), every objective from the same supervised start; 32 mazes x 64
rollouts a step, AdamW 1e-4 as published. (a) to (c) pass@k on 128 held-out mazes from 128 rollouts
each. (d) The share of training mazes with at least one right rollout, a mean over the steps since
the record before. Lines: mean of 2 seeds; thin: each seed."""

NAMES = ("maxrl", "grpo", "rloo", "pacs_anchor")
METRICS = {
    "pass@1": "pass@1",
    "pass@32": "pass@32",
    "pass@128": "pass@128",
    "solved": "mazes solved",
}


def records() -> Results:
    return results("maze", "maze")


def table(recorded: Results) -> pd.DataFrame:
    return recorded.each_over_seeds(METRICS, ["estimator"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.by_step(table, NAMES, METRICS, 2.2, sharex=True, sharey=True)
    axes[0].set(ylabel="share of mazes", ylim=(0, 1.02))
    return figure
