"""What N rollouts really optimise: induced weights against their limits."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import lab
from lab.show import plots

CAPTION = """The weight w_N(p) that groups of N rollouts put on grad p, exact, for N = 2, 4, 16,
64, 256 (light to dark), against the limit for many rollouts (dotted). At N = 2 all four are RL.
RLOO is exact at every N. MaxRL (Algorithm 1) stops at order T = N-1. GRPO (ddof 0) saturates at
sqrt(N-1) on both sides; PACS (balanced weights, beta 1, at its anchor) at N²/(4(N-1)). Formulas,
no data."""

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
    figure, axes = plots.panels(columns=4, width=plots.PAGE, height=2.0, sharey=True)
    for panel, (name, label) in zip(axes, ESTIMATORS.items(), strict=True):
        color = plots.line_style(name).color
        labelled = 0.0
        for N, part in table[table["estimator"] == name].groupby("N"):
            x = np.log10(part["p"] / (1 - part["p"]))
            if np.isinf(N):
                panel.plot(x, part["weight"], color="black", linestyle=(0, (1, 1)), linewidth=1)
                continue
            alpha = 0.25 + 0.75 * SIZES.index(N) / (len(SIZES) - 1)
            panel.plot(x, part["weight"], color=color, alpha=alpha, linewidth=1.1)
            # A line is labelled where it is far enough above the last label.
            if name != "rloo" and part["weight"].iloc[0] > 1.5 * labelled:
                labelled = part["weight"].iloc[0]
                panel.annotate(
                    f"{N:g}",
                    (x.iloc[0], part["weight"].iloc[0]),
                    (-1, 0),
                    textcoords="offset points",
                    ha="right",
                    va="center",
                    fontsize=5.5,
                    color=color,
                )
        panel.set(title=label, yscale="log", ylim=(0.3, 3000), xlim=(-5.1, 4.1))
        panel.set_xticks([-4, -2, 0, 2, 4], ["$10^{-4}$", "0.01", "0.5", "0.99", ""])
    axes[0].set_ylabel("induced weight $w_N(p)$")
    figure.supxlabel("pass rate p (log-odds scale)", fontsize=8)
    return figure
