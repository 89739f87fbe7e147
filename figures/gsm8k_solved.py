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
    measured = Results(
        recorded.metrics[recorded.metrics["solved"].notna()], recorded.groups, recorded.runs
    )
    return measured.each_over_seeds(METRICS, ["objective"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.3, sharex=True)
    for panel, (metric, label) in zip(axes, METRICS.items(), strict=True):
        for name in NAMES:
            part = table[(table["objective"] == name) & (table["metric"] == metric)]
            plots.curve(panel, part, "step", "mean", plots.line_style(name))
        panel.set(title=label, xlabel="step")
        panel.margins(0.06)
    plots.letter(axes)
    axes[0].set_ylabel("training problems")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
