"""MaxRL Figure 6 at laptop scale: gradient norm against pass rate of a tiny language model."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab.llm.evals.gradient_norms import norms
from lab.mathematics import stats
from lab.runs import Results, results
from lab.show import plots

CAPTION = """On hard problems MaxRL's gradients are the largest, as they must be: on equal rollouts
they are sqrt((N-K)/K) times GRPO's where K of N are right. One point a problem (MaxRL Figure 6,
there Qwen2.5-1.5B-Instruct on MATH-500; here a model of 412,800 parameters, as it is, on 100
problems of arithmetic). N = 32 rollouts at temperature 1, two draws of them; the norm is that of
these rollouts' gradient over all weights, for all objectives from the same two backward passes a
problem. Bars: mean over the problems of a range of pass rates, both draws, with its 95% intervals
over problems. Problems that are always or never right have norm 0 and are left out."""

NAMES = ("maxrl", "grpo", "rloo", "pacs_anchor")
RANGES, EDGES = ("hard", "middle", "easy"), (0, 0.25, 0.75, 1)


def records() -> Results:
    return results("inside", "inside")


def table(recorded: Results) -> pd.DataFrame:
    groups = recorded.groups.rename(columns={"n": "N", "right": "K"})
    points = norms(groups, NAMES).assign(seed=np.tile(groups["seed"], len(NAMES)))
    points = points[points["pass_rate"].between(0, 1, inclusive="neither")]
    points = points.assign(range=pd.cut(points["pass_rate"], EDGES, labels=RANGES).astype(str))
    rows = []
    for name in NAMES:
        for difficulty, low, high in zip(RANGES, EDGES, EDGES[1:], strict=False):
            part = points[(points["estimator"] == name) & (points["range"] == difficulty)]
            interval = stats.mean_interval(part.groupby("problem")["gradient_norm"].mean())
            rows.append(
                (
                    f"mean of {difficulty}",
                    name,
                    (low + high) / 2,
                    interval.point,
                    interval.low,
                    interval.high,
                    interval.n["problems"],
                )
            )
    means = pd.DataFrame(
        rows, columns=["problem", "estimator", "pass_rate", "gradient_norm", "low", "high", "n"]
    )
    per_problem = points[["problem", "seed", "estimator", "pass_rate", "gradient_norm", "range"]]
    return pd.concat([per_problem, means], ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=4, width=plots.PAGE, height=2.1, sharex=True, sharey=True)
    for panel, name in zip(axes, NAMES, strict=True):
        part, style = table[table["estimator"] == name], plots.line_style(name)
        # The rows of single problems have a seed, the means over a range of pass rates have none.
        points, means = part[part["seed"].notna()], part[part["seed"].isna()]
        panel.plot(
            points["pass_rate"],
            points["gradient_norm"],
            style.marker,
            color=style.color,
            alpha=0.45,
            markersize=2.5,
            markeredgewidth=0,
        )
        errors = [means["gradient_norm"] - means["low"], means["high"] - means["gradient_norm"]]
        panel.errorbar(
            means["pass_rate"],
            means["gradient_norm"],
            errors,
            fmt="_",
            color="black",
            markersize=14,
            capsize=2,
            elinewidth=0.9,
        )
        panel.set(title=style.label, xlim=(-0.02, 1.02))
    plots.letter(axes)
    axes[0].set_ylabel("gradient norm")
    axes[0].set_ylim(bottom=0)
    figure.supxlabel("pass rate of the problem", fontsize=8)
    return figure
