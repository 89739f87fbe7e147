"""MaxRL Figure 4 for as many epochs as its curves need to cross: MaxRL and GRPO on a fixed set."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """Thirty epochs on a fixed set (MaxRL Figure 4, there SmolLM2-360M on GSM8K): MaxRL and
GRPO from the same tiny Qwen3, 128 problems of arithmetic, 16 problems x 16 rollouts a step, so that
8 steps are an epoch; AdamW 1e-4, TRL. (a), (b) pass@k on 128 other problems from 64 answers each at
temperature 1; (c) pass@1 of the training rollouts and (d) entropy a token, in nats, means over the
steps since the record before. Lines: mean of 6 seeds; bands: 95% interval. The claims in
sweeps/gsm8k_epochs.toml were written before the runs."""

METRICS = {
    "pass@1": "pass@1",
    "pass@64": "pass@64",
    "train pass@1": "train pass@1",
    "entropy": "entropy a token",
}


def records() -> Results:
    return results("gsm8k_epochs", "gsm8k")


def table(recorded: Results) -> pd.DataFrame:
    return recorded.each_over_seeds(METRICS, ["estimator"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.by_step(table, ("maxrl", "grpo"), METRICS, 2.3, sharex=True)
    for panel in axes:
        panel.set_ylim(0, None)
    return figure
