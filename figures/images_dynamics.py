"""MaxRL Figures 2 and 9 (first three panels) at laptop scale: from one success in a thousand."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """From a pass rate of about 1/1000, MaxRL's mean pass@1 comes the closer to that of exact
cross-entropy, the more labels are sampled; REINFORCE's stays below 0.01 at every N. MaxRL Figures 2
and 9, here a small residual network on 1,000 procedural classes at 32 pixels, SGD with the
published rate 0.1. Rows: pass@1 (mean probability of the label, on a log-odds scale), pass@128 and
top-1 accuracy (majority vote) on 2,048 test images; columns: N labels sampled an image. Lines: mean
of 3 seeds; thin: each seed."""

NAMES = ("ml", "maxrl", "grpo", "reinforce_mean")
METRICS = {"pass@1": "pass@1", "pass@128": "pass@128", "accuracy": "top-1 accuracy"}


def records() -> Results:
    return results("images", "images")


def table(recorded: Results) -> pd.DataFrame:
    return recorded.each_over_seeds(METRICS, ["estimator", "rollouts"])


def draw(table: pd.DataFrame) -> Figure:
    sizes = sorted(set(table[table["estimator"] != "ml"]["rollouts"]))
    figure, axes = plots.panels(
        columns=len(sizes), rows=3, width=plots.PAGE, height=5.4, sharex=True, sharey="row"
    )
    for row, (metric, label) in zip(axes, METRICS.items(), strict=True):
        for panel, N in zip(row, sizes, strict=True):
            for name in NAMES:
                part = table[(table["estimator"] == name) & (table["metric"] == metric)]
                # Exact maximum likelihood samples no labels: it is the same in every column.
                part = part if name == "ml" else part[part["rollouts"] == N]
                plots.curve(panel, part, "step", "mean", plots.image_style(name))
            panel.set_ylim(-0.04, 1.04)
            panel.set_title(f"N = {N}")
        row[0].set_ylabel(label)
    # The pass rate starts at 0.001, and where it stays is a finding.
    plots.logit_axis(axes[0, 0].yaxis, 0.0006, 0.99)
    for panel in axes[-1]:
        panel.set_xlabel("step")
    plots.letter(axes.flat)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
