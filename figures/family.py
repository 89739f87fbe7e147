"""The two-parameter family that holds the objectives of both papers at its corners."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import lab
from lab.show import plots

CAPTION = """One family, w(p) = p^(-a) (1-p)^(-b), holds four methods at its corners: RL (0, 0),
GRPO's limit (1/2, 1/2), MaxRL's limit (1, 0) and PACS with balanced class weights (1, 1). (a)
Where they lie; a says how much hard problems count, b how much easy ones. (b) Their weights; the
dot on each line is at p = 1/2, where PACS is scaled to 1 by its factor 1/4. Formulas, no data.
The view of objectives as transforms of p is that of Davis and Recht (2510.13651)."""

CORNERS = {"rl": (0.0, 0.0), "arcsine": (0.5, 0.5), "ml": (1.0, 0.0), "log_odds": (1.0, 1.0)}
NAMES = {"rl": "RL, RLOO", "arcsine": "GRPO", "ml": "MaxRL", "log_odds": "PACS"}
SCALE = {"log_odds": 0.25}  # beta/4 with beta = 1
STYLES = {"rl": "rl", "arcsine": "grpo", "ml": "maxrl", "log_odds": "pacs_anchor"}


def table() -> pd.DataFrame:
    p = 1 / (1 + np.exp(-np.linspace(-7, 7, 281)))
    columns = {"p": p}
    for name, (a, b) in CORNERS.items():
        weight = lab.objective("power", a=a, b=b).weight(p)
        columns[f"{name} (a={a:g}, b={b:g})"] = weight * SCALE.get(name, 1)
    return pd.DataFrame(columns)


def draw(table: pd.DataFrame) -> Figure:
    figure, (left, right) = plots.panels(
        columns=2, width=plots.PAGE, height=2.6, width_ratios=(1, 1.5)
    )
    left.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=0.8, zorder=0)
    left.annotate(
        "a = b: easy and hard alike",
        (0.8, 0.72),
        rotation=45,
        rotation_mode="anchor",
        ha="center",
        va="top",
        fontsize=6,
        color="#666666",
    )
    for name, (a, b) in CORNERS.items():
        style = plots.line_style(STYLES[name])
        left.plot(a, b, style.marker, color=style.color, markersize=8, clip_on=False, zorder=3)
        left.annotate(
            NAMES[name],
            (a, b),
            (7, 2) if name == "rl" else (-6, 4) if name == "arcsine" else (0, 9),
            textcoords="offset points",
            ha="left" if name == "rl" else "right" if name == "arcsine" else "center",
            color=style.color,
            weight="bold",
        )
    left.set(
        xlabel="a: weight on hard problems, $p^{-a}$",
        ylabel="b: weight on easy ones, $(1-p)^{-b}$",
        xlim=(-0.2, 1.25),
        ylim=(-0.15, 1.25),
        xticks=(0, 0.5, 1),
        yticks=(0, 0.5, 1),
    )
    for name, column in zip(CORNERS, table.columns[1:], strict=True):
        style = plots.line_style(STYLES[name])
        right.plot(
            np.log10(table["p"] / (1 - table["p"])), table[column], label=NAMES[name], **style.line
        )
        right.plot(0, table[column][len(table) // 2], style.marker, color=style.color)
    shown = np.array([0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999])
    right.set(yscale="log", ylabel="weight w(p)", xlabel="pass rate p (log-odds scale)")
    right.set_xticks(np.log10(shown / (1 - shown)), [f"{p:g}" for p in shown])
    right.legend(loc="upper center", ncols=2)
    plots.letter((left, right))
    return figure
