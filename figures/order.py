"""The estimator that everyone runs is one order short: T = N-1, not N."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import lab
from lab.show import plots

CAPTION = """Algorithm 1 of MaxRL, which is what is run, reaches order T = N-1; equations 6 and 7
and the leave-one-out form reach T = N. The induced weight of each form at small N, divided by
RLOO's. Equations 6 and 7 are those of Theorem 4.2; the leave-one-out form also vanishes where all
rollouts are wrong; Algorithm 1 drops both terms there, and at N = 2 it is RLOO. The three forms
of order N coincide, so their dashes and marks take turns. Lines are the exact sums over the
binomial; open marks are enumerations of all 2^N reward vectors of a Bernoulli policy."""

FORMS = ("maxrl", "maxrl_eq6", "maxrl_eq7", "maxrl_loo")
SIZES = (2, 4, 8)
MARKS = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.95])


def enumerated_weight(name: str, N: int, p: float) -> float:
    """The mean gradient over all groups of a policy with one right and one wrong answer, divided
    by grad p.
    """
    truth = lab.recipe(name, N=N).on(lab.SoftmaxPolicy([p, 1 - p], [True, False]))
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


# The three forms of order N coincide: their dashes take turns along one line, (offset, (on, off)).
TURNS = {"maxrl_eq6": (0, (6, 8)), "maxrl_eq7": (-6, (5, 9)), "maxrl_loo": (-11, (3, 11))}


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.5)
    for panel, N in zip(axes, SIZES, strict=True):
        for place, name in enumerate(FORMS):
            style = plots.line_style(name)
            part = table[(table["form"] == name) & (table["N"] == N)]
            line, marks = part[part["by"] == "sum"], part[part["by"] == "enumeration"]
            # Their marks take turns too; the CSV holds all of them.
            marks = marks.iloc[place % 3 :: 3] if name in TURNS else marks
            panel.plot(line["p"], line["weight"], color=style.color, linestyle=TURNS.get(name, "-"))
            shown = {"color": style.color, "markerfacecolor": "white"}
            panel.plot(marks["p"], marks["weight"], style.marker, **shown)
        panel.axhline(N, color="#999999", linewidth=0.6)
        panel.annotate("T = N", (1, N), ha="right", va="bottom", fontsize=6, color="#666666")
        panel.set(title=f"N = {N}", xlabel="pass rate p", ylim=(0.5, 1.12 * N), xlim=(-0.03, 1.03))
    plots.letter(axes)
    axes[0].set_ylabel("induced weight $w_N(p)$")
    handles = [
        Line2D([], [], marker=style.marker, markerfacecolor="white", **style.line)
        for style in map(plots.line_style, FORMS)
    ]
    labels = ["MaxRL Algorithm 1", *(plots.line_style(name).label for name in FORMS[1:])]
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure
