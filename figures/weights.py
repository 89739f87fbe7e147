"""MaxRL Figure 1 and Table 2: the population weights w(p)."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import lab
from lab.show import plots

CAPTION = """Objectives differ in how much each pass rate counts: RL counts every problem the
same, maximum likelihood by 1/p, and MaxRL of order T follows 1/p down to p of about 1/T and is
flat below. The weight w(p) of MaxRL Figure 1 and Table 2. GRPO's limit for many rollouts lies
between at small p and rises again towards p = 1. Formulas, no data."""

ORDERS = (2, 8, 64)
CURVES = ("rl", "arcsine", *(f"truncated(order={T})" for T in ORDERS), "ml")


def table() -> pd.DataFrame:
    p = np.concatenate((np.geomspace(1e-3, 0.1, 120), np.linspace(0.1, 0.999, 180)[1:]))
    return pd.DataFrame({"p": p} | {name: lab.objective(name).weight(p) for name in CURVES})


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(width=plots.COLUMN, height=2.5)
    for name in CURVES:
        style = plots.line_style(name)
        line = style.line | ({"linewidth": 0.9} if name.startswith("truncated") else {})
        axes.plot(
            table["p"],
            table[name],
            label=None if name.startswith("truncated") else style.label,
            **line,
        )
    for T in ORDERS:
        axes.annotate(
            f"MaxRL T = {T}",
            (1.1e-3, 1.04 * T),
            va="bottom",
            fontsize=6.5,
            color=plots.line_style("maxrl").color,
        )
    axes.set(xscale="log", yscale="log", xlabel="pass rate p", ylabel="weight w(p)", xlim=(1e-3, 1))
    axes.legend(loc="upper right")
    return figure
