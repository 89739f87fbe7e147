"""PACS Figure 4 at laptop scale: pass@k by beta and k, after training with four updates a batch."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab.mathematics.metrics import pass_at_k
from lab.mathematics.stats import mean_interval_each
from lab.runs import Results, results
from lab.show import plots

CAPTION = """The mean pass@k changes less with PACS's beta than its intervals are wide, and lies
below the start at every beta and k. PACS Figure 4, there Qwen3 on DeepScaleR: a tiny Qwen3 (413
thousand weights), 256 training problems of arithmetic, 120 steps of 32 problems x 8 rollouts, 4
updates a batch, AdamW 1e-4; 64 other problems, 64 answers each at temperature 0.6 and top-p 0.95.
(a) pass@k of each of five values of beta, 0.1 to 10. (b) k = 1, 8 and 64 by beta with 95% intervals
over problems; one seed, so differences between seeds are not shown. Dotted: the start."""


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
    figure, (left, right) = plots.panels(columns=2, width=plots.PAGE, height=2.5, sharey=True)
    style, start = plots.line_style("pacs"), plots.REFERENCE_STYLES["start"]
    ks, betas = sorted(set(table["k"])), sorted(set(table["beta"]))
    for _, part in table.groupby("beta"):
        left.plot(part["k"], part["pass@k"], color=style.color, linewidth=0.9)
    left.plot(ks, part["start"], marker=start.marker, **start.line)
    left.set(xscale="log", xlabel="k", ylabel="pass@k", ylim=(0, 1.02), title="five values of beta")
    left.set_xticks(ks, [str(k) for k in ks])
    left.minorticks_off()
    left.legend(left.lines[-2:], ["PACS, one line a beta", start.label], loc="upper left")
    shown = (ks[0], 8, ks[-1])
    for k, mark, shift in zip(shown, "oDs", (-0.12, 0, 0.12), strict=True):
        part = table[table["k"] == k]
        reach = [part["pass@k"] - part["low"], part["high"] - part["pass@k"]]
        marks = {"color": style.color, "marker": mark, "linestyle": "none", "capsize": 2}
        right.errorbar(np.arange(len(part)) + shift, part["pass@k"], reach, **marks)
        right.axhline(part["start"].iloc[0], **start.line)
    right.set(xlabel="beta", title="intervals over problems", xlim=(-0.4, len(betas) - 0.6))
    right.set_xticks(range(len(betas)), [f"{beta:g}" for beta in betas])
    plots.letter((left, right))
    ends = table[table["beta"] == betas[-1]].set_index("k")["pass@k"]
    plots.label_ends(right, [(f"k = {k}", ends[k], style) for k in shown])
    return figure
