"""MaxRL Figure 9 (fourth panel) at laptop scale: coverage of the final models."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab import stats
from lab.metrics import exact_pass_at_k
from lab.runs import Results, results
from lab.show import plots

CAPTION = """At N = 1,024, MaxRL's mean coverage hardly grows with k, while GRPO's rises and
REINFORCE's ends near that of guessing. Coverage of the final models (MaxRL Figure 9, last panel):
pass@k = mean of 1-(1-p)^k over 2,048 test images, exact (MaxRL D.4), for k up to 1,024; runs and
settings as in images_dynamics. Dotted, grey: a model that guesses among 1,000 classes. Lines:
mean of 3 seeds; bands: 95% bootstrap intervals over seeds, which with 3 seeds reach from the
lowest to the highest."""

NAMES = ("ml", "maxrl", "grpo", "reinforce_mean")
KS = np.unique(np.geomspace(1, 1024, 41).round().astype(int))


def records() -> Results:
    return results("images", "images")


def table(recorded: Results) -> pd.DataFrame:
    rows = []
    for (objective, rollouts), part in recorded.groups.groupby(["objective", "rollouts"]):
        curves = np.array(
            [
                exact_pass_at_k(one_seed["pass_rate"].to_numpy(), KS)
                for _, one_seed in part.groupby("seed")
            ]
        )
        for k, interval in zip(
            KS, stats.mean_interval_each(curves, over="both", within=(0, 1)), strict=True
        ):
            rows.append(
                (
                    objective,
                    rollouts,
                    k,
                    interval.point,
                    interval.low,
                    interval.high,
                    interval.n["seeds"],
                )
            )
    rows += [("guessing", 0, k, 1 - (1 - 1e-3) ** int(k), np.nan, np.nan, 0) for k in KS]
    return pd.DataFrame(
        rows, columns=["objective", "rollouts", "k", "pass@k", "low", "high", "seeds"]
    )


def draw(table: pd.DataFrame) -> Figure:
    guess = table[table["objective"] == "guessing"]
    sizes = sorted(set(table[table["objective"] == "maxrl"]["rollouts"]))
    figure, axes = plots.panels(columns=len(sizes), width=plots.PAGE, height=2.6, sharey=True)
    for panel, N in zip(axes, sizes, strict=True):
        for name in NAMES:
            part = table[table["objective"] == name]
            # Exact maximum likelihood samples no labels: it is the same in every column.
            part = part if name == "ml" else part[part["rollouts"] == N]
            plots.band(
                panel,
                part["k"],
                part["low"],
                part["pass@k"],
                part["high"],
                name,
                "cross-entropy (exact ML)" if name == "ml" else None,
            )
        style = plots.REFERENCE_STYLES["guessing"]
        panel.plot(guess["k"], guess["pass@k"], label=style.label, **style.line)
        panel.set(xscale="log", xlabel="k", title=f"N = {N}", xlim=(0.8, 1300))
        # Not in log-odds: the pass@k of cross-entropy reaches 1.
        panel.set(yscale="log", ylim=(0.0006, 1.6))
        panel.set_yticks((0.001, 0.01, 0.1, 1), ("0.001", "0.01", "0.1", "1"))
    plots.letter(axes)
    axes[0].set_ylabel("pass@k")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
