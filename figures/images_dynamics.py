"""MaxRL Figures 2 and 9 (first three panels) at laptop scale: from one success in a thousand."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """From a pass rate of about 1/1000 (MaxRL Figures 2 and 9, here a small residual network
on 1,000 procedural classes at 32 pixels, SGD with the published rate 0.1). Rows: pass@1 (mean
probability of the label), pass@128 and top-1 accuracy (majority vote) on 2,048 test images;
columns: N labels sampled an image. Cross-entropy is exact maximum likelihood. Lines: mean of 3
seeds; bands: 95% bootstrap intervals over seeds, which with 3 seeds reach from the lowest to the
highest."""

NAMES = ("ml", "maxrl", "grpo", "reinforce_mean")
METRICS = {"pass@1": "pass@1", "pass@128": "pass@128", "accuracy": "top-1 accuracy"}


def records() -> Results:
    return results("images", "images")


def table(recorded: Results) -> pd.DataFrame:
    parts = {metric: recorded.over_seeds(metric, ["objective", "rollouts"]) for metric in METRICS}
    return pd.concat(
        [
            part.rename(columns={metric: "mean"}).assign(metric=metric)
            for metric, part in parts.items()
        ],
        ignore_index=True,
    )


def draw(table: pd.DataFrame) -> Figure:
    sizes = sorted(set(table[table["objective"] != "ml"]["rollouts"]))
    figure, axes = plots.panels(
        columns=len(sizes), rows=3, width=plots.PAGE, height=5.2, sharex=True, sharey="row"
    )
    for row, (metric, label) in zip(axes, METRICS.items(), strict=True):
        for panel, N in zip(row, sizes, strict=True):
            for name in NAMES:
                part = table[(table["objective"] == name) & (table["metric"] == metric)]
                # Exact maximum likelihood samples no labels: it is the same in every column.
                part = part if name == "ml" else part[part["rollouts"] == N]
                plots.band(
                    panel,
                    part["step"],
                    part["low"],
                    part["mean"],
                    part["high"],
                    name,
                    "cross-entropy (exact ML)" if name == "ml" else None,
                )
            panel.set_ylim(0, 1)
        row[0].set_ylabel(label)
    for panel, N in zip(axes[0], sizes, strict=True):
        panel.set_title(f"N = {N}")
    for panel in axes[-1]:
        panel.set_xlabel("step")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
