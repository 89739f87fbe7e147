"""MaxRL Figure 3 at laptop scale: what more rollouts a maze are worth."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab import metrics, stats
from lab.runs import Results, results
from lab.show import plots

CAPTION = """With more rollouts a maze the mean pass@128 rises for MaxRL and GRPO, from 4 to 64,
and RLOO's does not. What more rollouts are worth (MaxRL Figure 3, there 4 to 128 rollouts of 256
mazes of 17x17 for 9,000 steps): pass@k after the same 160 steps of 32 fresh 9x9 mazes, so that
four times the rollouts cost more. 128 held-out mazes, 128 rollouts each. Dotted: the supervised
start. Points: mean of 2 seeds; bars: 95% bootstrap intervals over mazes and seeds, drawn again
crossed."""

NAMES = ("maxrl", "grpo", "rloo")
KS = [1, 32, 128]


def records() -> Results:
    return results("maze_rollouts", "maze")


def table(recorded: Results) -> pd.DataFrame:
    rows = []
    for (objective, rollouts), part in recorded.groups.groupby(["objective", "rollouts"]):
        curves = np.stack(
            [
                metrics.pass_at_k(one_seed["n"], one_seed["right"], KS)
                for _, one_seed in part.groupby("seed")
            ]
        )
        for k, interval in zip(
            KS, stats.mean_interval_each(curves, over="both", within=(0, 1)), strict=True
        ):
            rows.append((objective, rollouts, k, interval.point, interval.low, interval.high))
    start = recorded.metrics[
        (recorded.metrics["step"] == 0) & (recorded.metrics["objective"] == NAMES[0])
    ]
    rows += [
        ("start", 0, k, start.groupby("seed")[f"pass@{k}"].first().mean(), np.nan, np.nan)
        for k in KS
    ]
    return pd.DataFrame(rows, columns=["objective", "rollouts", "k", "pass@k", "low", "high"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=len(KS), width=plots.PAGE, height=2.3, sharey=True)
    sizes = sorted(set(table["rollouts"]) - {0})
    for panel, k in zip(axes, KS, strict=True):
        # Shifted a little sideways, so that the error bars do not cover each other.
        for shift, name in zip((0.94, 1, 1.06), NAMES, strict=True):
            style = plots.line_style(name)
            part = table[(table["objective"] == name) & (table["k"] == k)]
            errors = [part["pass@k"] - part["low"], part["high"] - part["pass@k"]]
            panel.errorbar(
                part["rollouts"] * shift,
                part["pass@k"],
                errors,
                marker=style.marker,
                capsize=2,
                label=style.label,
                **style.line,
            )
        start = table[(table["objective"] == "start") & (table["k"] == k)]["pass@k"].item()
        reference = plots.REFERENCE_STYLES["start"]
        panel.axhline(start, label=reference.label, **reference.line)
        panel.set(xscale="log", xlabel="rollouts a maze", title=f"pass@{k}", ylim=(0, 1.02))
        panel.set_xticks(sizes, sizes)
        panel.minorticks_off()
    plots.letter(axes)
    axes[0].set_ylabel("held-out mazes")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
