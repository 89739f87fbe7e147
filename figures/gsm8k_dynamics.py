"""MaxRL Figure 4 at laptop scale: many epochs on few problems, pass@k on others."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """On other problems the mean pass@8 and pass@64 fall under all four objectives, while
pass@1 on the training problems rises. Many epochs on few problems (MaxRL Figure 4, there
SmolLM2-360M on GSM8K), every objective from the same tiny Qwen3 (413 thousand weights, supervised
on arithmetic): 256 training problems of level 3, 16 problems x 16 rollouts a step, 10 epochs, AdamW
1e-4, TRL. (a) to (c) pass@k on 64 other problems from 64 answers each at temperature 0.6 and top-p
0.95. (d) pass@1 of the training rollouts at temperature 1, a mean over the steps since the record
before. Lines: mean of 3 seeds; thin: each seed."""

NAMES = ("maxrl", "grpo", "rloo", "pacs")
METRICS = {
    "pass@1": "pass@1",
    "pass@8": "pass@8",
    "pass@64": "pass@64",
    "train pass@1": "train pass@1",
}


def records() -> Results:
    return results("gsm8k", "gsm8k")


def table(recorded: Results) -> pd.DataFrame:
    return recorded.each_over_seeds(METRICS, ["estimator"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.by_step(table, NAMES, METRICS, 2.3, sharex=True)
    axes[0].set_ylabel("share of problems")
    for panel in axes:
        panel.set_ylim(0, None)
    return figure
