"""The weight of a maze, measured on sampled gradients of a transformer, against w_N(p)."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import lab
from lab.runs import Results, results
from lab.show import plots

CAPTION = """Do N rollouts move a transformer too by w_N(p) grad p? Maze by maze, the mean gradient
of sampled groups of N = 64 rollouts, projected on grad p and in units of it, against the formula
(black). All mazes of 7x7 in which 10 of the rollouts or more are right on average; 32 groups a
maze; policies of 100 and 250 supervised steps, each seed of 3. Strokes: a standard error to each
side. The rows "within 2 errors" and "least cosine" of the data are what the claims judge: the
smallest and the largest share, over estimators, of weights within two standard errors of w_N(p),
and the smallest cosine of the summed gradients, each by seed."""

NAMES = ("maxrl", "grpo", "rloo", "pacs_anchor")
N = 64
STARTS = {100: "o", 250: "^"}


def records() -> Results:
    return results("maze_gradients", "maze_gradients")


def table(recorded: Results) -> pd.DataFrame:
    groups = recorded.groups
    found = groups[(groups["kind"] == "weight") & (groups["N"] == N)]
    kept = ["start_steps", "seed", "estimator", "problem", "pass_rate", "weight"]
    measured = found[kept].assign(
        low=found["weight"] - found["error"], high=found["weight"] + found["error"]
    )
    span = np.log(measured["pass_rate"] / (1 - measured["pass_rate"])).agg(["min", "max"])
    p = 1 / (1 + np.exp(-np.linspace(*span, 60)))
    theory = [
        pd.DataFrame({"estimator": name, "pass_rate": p, "theory": lab.induced_weight(name, N, p)})
        for name in NAMES
    ]
    known = [lab.induced_weight(*row) for row in found[["estimator", "N", "pass_rate"]].to_numpy()]
    inside = ((found["weight"] - known).abs() < 2 * found["error"]).astype(float)
    shares = inside.groupby([found["seed"], found["estimator"]]).mean().unstack()
    last = recorded.metrics.set_index("seed")[[f"cosine {name} N={N}" for name in NAMES]]
    judged = {
        "least share within 2 errors": shares.min(axis=1),
        "largest share within 2 errors": shares.max(axis=1),
        "least cosine": last.min(axis=1).groupby("seed").min(),
    }
    rows = [
        {"measure": name, "value": one.mean()} | one.add_prefix("seed ").to_dict()
        for name, one in judged.items()
    ]
    return pd.concat([measured, *theory, pd.DataFrame(rows)], ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=len(NAMES), width=plots.PAGE, height=2.3)
    for panel, name in zip(axes, NAMES, strict=True):
        style, part = plots.line_style(name), table[table["estimator"] == name]
        for steps, marker in STARTS.items():
            one = part[part["start_steps"] == steps]
            p, look = one["pass_rate"], {"color": style.color, "rasterized": True}
            panel.vlines(p, one["low"], one["high"], alpha=0.4, linewidth=0.5, **look)
            panel.plot(p, one["weight"], marker, alpha=0.6, markersize=2, **look)
        curve = part.dropna(subset="theory")
        panel.plot(curve["pass_rate"], curve["theory"], color=plots.BLACK)
        panel.set(title=style.label, xlabel="pass rate")
        plots.logit_axis(panel.xaxis, 0.003, 0.99, (0.01, 0.1, 0.5, 0.9))
    plots.letter(axes)
    axes[0].set_ylabel("weight")
    return figure
