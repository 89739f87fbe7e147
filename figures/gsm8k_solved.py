"""MaxRL Figures 7 and 12 (GSM8K) at laptop scale: how many training problems still teach."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """Training problems that teach (MaxRL Figures 7 and 12, there SmolLM2-360M on GSM8K with
128 rollouts), the runs of gsm8k_dynamics: 256 problems of arithmetic, 16 problems x 16 rollouts a
step. Left: the share of problems with at least one right rollout; middle: of those whose rollouts
are all right or all wrong; right: entropy per token of the policy, in nats. Means over the steps
since the record before. Lines: mean of 3 seeds; bands: from the lower to the higher seed."""

NAMES = ("maxrl", "grpo", "rloo", "pacs")
METRICS = {
    "solved": "at least one right",
    "dead groups": "all right or all wrong",
    "entropy": "entropy, nats",
}


def records() -> Results:
    return results("gsm8k", "gsm8k")


def table(recorded: Results) -> pd.DataFrame:
    measured = Results(
        recorded.metrics[recorded.metrics["solved"].notna()], recorded.groups, recorded.runs
    )
    return pd.concat(
        [
            measured.over_seeds(metric, ["objective"])
            .rename(columns={metric: "mean"})
            .assign(metric=metric)
            for metric in METRICS
        ],
        ignore_index=True,
    )


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.2, sharex=True)
    for panel, (metric, label) in zip(axes, METRICS.items(), strict=True):
        for name in NAMES:
            part = table[(table["objective"] == name) & (table["metric"] == metric)]
            plots.band(panel, part["step"], part["low"], part["mean"], part["high"], name)
        panel.set(title=label, xlabel="step", ylim=(0.8, 1) if metric == "solved" else (0, None))
    axes[0].set_ylabel("share of training problems")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
