"""The estimator that everyone runs is one order short: T = N-1, not N."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import lab
from lab.enumeration import enumerate_gradient
from lab.show import plots

CAPTION = """MaxRL at small N: the induced weight of each form, divided by RLOO's. Equations 6 and
7 reach order T = N (Theorem 4.2), and so does the leave-one-out form, which also vanishes where
all rollouts are wrong. Algorithm 1, which drops both terms where all are wrong and is what is run,
reaches T = N-1: at N = 2 it is RLOO. Lines are the exact sums over the binomial; open marks are
enumerations of all 2^N reward vectors of a Bernoulli policy."""

FORMS = ("maxrl", "maxrl_eq6", "maxrl_eq7", "maxrl_loo")
SIZES = (2, 4, 8)
MARKS = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.95])


def enumerated_weight(name: str, N: int, p: float) -> float:
    """The mean gradient over all 2^N outcomes, divided by grad p.

    The policy has one right and one wrong answer.
    """
    truth = enumerate_gradient(name, N, [p, 1 - p], [True, False])
    return truth.mean[0] / truth.grad_p[0]


def table() -> pd.DataFrame:
    p = np.linspace(0.005, 0.995, 199)
    frames = []
    for name in FORMS:
        for N in SIZES:
            line = pd.DataFrame({"p": p, "weight": lab.induced_weight(name, N, p), "by": "sum"})
            marks = pd.DataFrame(
                {"p": MARKS, "weight": [enumerated_weight(name, N, x) for x in MARKS]}
            )
            frames += [
                part.assign(form=name, N=N) for part in (line, marks.assign(by="enumeration"))
            ]
    return pd.concat(frames, ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.4)
    for panel, N in zip(axes, SIZES, strict=True):
        for name in FORMS:
            style = plots.line_style(name)
            part = table[(table["form"] == name) & (table["N"] == N)]
            line, marks = part[part["by"] == "sum"], part[part["by"] == "enumeration"]
            label = "MaxRL Algorithm 1" if name == "maxrl" else style.label
            panel.plot(line["p"], line["weight"], label=label, **style.line)
            panel.plot(
                marks["p"],
                marks["weight"],
                style.marker,
                color=style.color,
                markerfacecolor="white",
            )
        panel.axhline(N, color="#999999", linewidth=0.6)
        panel.annotate("T = N", (1, N), ha="right", va="bottom", fontsize=6, color="#666666")
        panel.set(title=f"N = {N}", xlabel="pass rate p", ylim=(0.5, 1.12 * N), xlim=(0, 1))
    axes[0].set_ylabel("induced weight $w_N(p)$")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
