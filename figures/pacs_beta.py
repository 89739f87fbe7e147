"""PACS Figure 4 at laptop scale: pass@k by beta and k, after training with four updates a batch."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab.metrics import pass_at_k
from lab.runs import Results, results
from lab.show import plots
from lab.stats import mean_interval_each

CAPTION = """Pass@k by PACS's beta (PACS Figure 4, there Qwen3 on DeepScaleR): a tiny Qwen3 (413
thousand weights), 256 training problems of arithmetic, 120 steps of 32 problems x 8 rollouts, 4
updates a batch, AdamW 1e-4; 64 other problems, 64 answers each at temperature 0.6 and top-p 0.95.
Left: pass@k, darker is higher. Right: its ends k = 1 and k = 64 with 95% bootstrap intervals over
problems; one seed, so differences between seeds are not shown. Dotted: the start."""


def records() -> Results:
    return results("pacs", "pacs")


def table(recorded: Results) -> pd.DataFrame:
    rows = []
    for beta, part in recorded.groups.groupby("beta"):
        n = int(part["n"].min())
        ks = [2**power for power in range(n.bit_length())]
        curves = pass_at_k(part["n"].to_numpy(), part["right"].to_numpy(), ks)
        start = recorded.metrics[
            (recorded.metrics["beta"] == beta) & (recorded.metrics["step"] == 0)
        ].iloc[0]
        for k, interval in zip(ks, mean_interval_each(curves, within=(0, 1)), strict=True):
            numbers = (interval.point, interval.low, interval.high)
            rows.append((beta, k, *numbers, len(part), start[f"pass@{k}"]))
    return pd.DataFrame(rows, columns=["beta", "k", "pass@k", "low", "high", "problems", "start"])


def draw(table: pd.DataFrame) -> Figure:
    figure, (left, right) = plots.panels(columns=2, width=plots.PAGE, height=2.6)
    grid = table.pivot(index="beta", columns="k", values="pass@k")
    left.imshow(grid, cmap="Greys", vmin=0, vmax=1.2, aspect="auto", origin="lower")
    for row, column in np.ndindex(grid.shape):
        left.text(
            column, row, f"{grid.iloc[row, column]:.2f}", ha="center", va="center", fontsize=7
        )
    left.set(
        xticks=range(grid.shape[1]),
        xticklabels=grid.columns,
        yticks=range(grid.shape[0]),
        yticklabels=[f"{beta:g}" for beta in grid.index],
        xlabel="k",
        ylabel="beta",
        title="pass@k",
    )
    left.grid(False)
    for k, mark in ((1, "o"), (int(table["k"].max()), "s")):
        part = table[table["k"] == k]
        places = np.arange(len(part))
        right.errorbar(
            places,
            part["pass@k"],
            [part["pass@k"] - part["low"], part["high"] - part["pass@k"]],
            color=plots.line_style("pacs").color,
            marker=mark,
            linestyle="-",
            capsize=2,
            label=f"pass@{k}",
        )
        right.axhline(part["start"].iloc[0], color="black", linewidth=0.8, linestyle=":")
        right.set(xticks=places, xticklabels=[f"{beta:g}" for beta in part["beta"]])
    right.set(xlabel="beta", ylabel="pass@k", ylim=(0, 1.02))
    right.legend()
    return figure
