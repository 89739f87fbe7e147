"""What N rollouts really optimise: induced weights against their limits."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import lab
from lab.show import plots

CAPTION = """Groups of N rollouts follow the weight of their objective only where neither right
nor wrong answers are rarer than about one in N. The weight w_N(p) on grad p, exact, for N = 2, 4,
16, 64, 256 (light to dark), against the limit for many rollouts (dotted). At N = 2 all four are
RL. RLOO is exact at every N. MaxRL (Algorithm 1) stops at order T = N-1. GRPO (ddof 0) saturates
at sqrt(N-1) on both sides; PACS (balanced weights, beta 1, at its anchor) at N²/(4(N-1)).
Formulas, no data."""

SIZES = (2, 4, 16, 64, 256)
ESTIMATORS = {"rloo": "RLOO", "grpo": "GRPO", "maxrl": "MaxRL", "pacs_anchor": "PACS"}


def table() -> pd.DataFrame:
    p = 1 / (1 + np.exp(-np.linspace(np.log(1e-4), -np.log(1e-4), 201)))
    frames = []
    for name in ESTIMATORS:
        chosen = lab.estimator(name)
        curves: dict[float, np.ndarray] = {N: lab.induced_weight(chosen, N, p) for N in SIZES}
        curves[np.inf] = chosen.limit.weight(p)
        frames += [
            pd.DataFrame({"estimator": name, "N": N, "p": p, "weight": w})
            for N, w in curves.items()
        ]
    return pd.concat(frames, ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=4, width=plots.PAGE, height=2.1, sharey=True)
    limit = plots.REFERENCE_STYLES["exact"].line
    for panel, (name, label) in zip(axes, ESTIMATORS.items(), strict=True):
        style = plots.line_style(name)
        labelled = 0.0
        for N, part in table[table["estimator"] == name].groupby("N"):
            if np.isinf(N):
                panel.plot(part["p"], part["weight"], linewidth=1, **limit)
                continue
            color = style.shades(len(SIZES))[SIZES.index(N)]
            panel.plot(part["p"], part["weight"], color=color, linewidth=1.1)
            # A line is labelled where it is far enough above the last label.
            if name != "rloo" and part["weight"].iloc[0] > 1.5 * labelled:
                labelled = part["weight"].iloc[0]
                panel.annotate(
                    f"{N:g}",
                    (part["p"].iloc[0], labelled),
                    (-2, 0),
                    textcoords="offset points",
                    ha="right",
                    va="center",
                    fontsize=5.5,
                    color=style.ink,
                )
        plots.logit_axis(panel.xaxis, 5e-7, 0.99995, (1e-4, 0.5, 0.999))
        panel.set(title=label, yscale="log", ylim=(0.5, 15000))
    plots.letter(axes)
    axes[0].set_ylabel("induced weight $w_N(p)$")
    figure.supxlabel("pass rate p (log-odds scale)", fontsize=8)
    return figure
