"""MaxRL Figures 7 and 12 (GSM8K) at laptop scale: how many training problems still teach."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """The mean share of training problems that are solved at least once rises under all four
objectives; that of groups all right or all wrong, which teach nothing, falls under MaxRL and rises
under the others. MaxRL Figures 7 and 12, there SmolLM2-360M on GSM8K with 128 rollouts; here the
runs of gsm8k_dynamics: 256 problems of arithmetic, 16 problems x 16 rollouts a step. (a) The share
of problems with at least one right rollout; (b) of those whose rollouts are all right or all wrong;
(c) entropy per token of the policy, in nats. Means over the steps since the record before; each
panel has its own scale. Lines: mean of 3 seeds; thin: each seed."""

NAMES = ("maxrl", "grpo", "rloo", "pacs")
METRICS = {
    "solved": "at least one right",
    "dead groups": "all right or all wrong",
    "entropy": "entropy, nats",
}


def records() -> Results:
    return results("gsm8k", "gsm8k")


def table(recorded: Results) -> pd.DataFrame:
    return recorded.each_over_seeds(METRICS, ["estimator"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.by_step(table, NAMES, METRICS, 2.3, sharex=True)
    axes[0].set_ylabel("training problems")
    return figure
