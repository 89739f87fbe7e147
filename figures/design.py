"""Draw a weight, get an estimator: what N rollouts can reach of it."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import lab
from lab.show import plots

CAPTION = """The more rollouts a group has, the closer its estimator follows a weight that was
drawn by hand. (a) The drawing (dotted: only problems of middling difficulty count) and the
induced weight of the best estimator, a polynomial of degree N-1, at N = 8, 32, 128 (light to
dark); the gap to the drawing is the residual that no group estimator of that size removes
cheaply. (b) The sequence gap[j] at N = 32 (bars), from which rollouts get gap[j] (r - mean of the
others); for comparison the drawing read at (j+1/2)/N. Exact fits, no data."""

POINTS = ([0.0, 0.2, 0.3, 0.6, 0.7, 1.0], [0.0, 0.0, 4.0, 4.0, 0.0, 0.0])
SIZES = (8, 32, 128)
AGREES_TO = 1e-4  # least squares in N unknowns: from processor to processor a gap moves by 2e-5


def table() -> pd.DataFrame:
    p = np.linspace(0, 1, 201)
    drawn = lab.drawn_weight(*POINTS)
    frames = [pd.DataFrame({"what": "drawn", "N": 0, "x": p, "y": drawn.weight(p)})]
    for N in SIZES:
        fitted = lab.from_weight(drawn, N)
        frames.append(
            pd.DataFrame(
                {"what": "induced weight", "N": N, "x": p, "y": lab.induced_weight(fitted, N, p)}
            )
        )
        j = np.arange(N)
        frames.append(pd.DataFrame({"what": "gap", "N": N, "x": j, "y": fitted.coefficients(N)[0]}))
        frames.append(
            pd.DataFrame({"what": "drawing", "N": N, "x": j, "y": drawn.weight((j + 0.5) / N)})
        )
    return pd.concat(frames, ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, (left, right) = plots.panels(columns=2, width=plots.PAGE, height=2.3)
    drawn = table[table["what"] == "drawn"]
    style = plots.line_style("from_weight")
    exact = plots.REFERENCE_STYLES["exact"].line
    left.plot(drawn["x"], drawn["y"], label="drawn w(p)", **exact)
    for number, N in enumerate(SIZES):
        part = table[(table["what"] == "induced weight") & (table["N"] == N)]
        left.plot(part["x"], part["y"], color=style.shades(len(SIZES))[number], label=f"N = {N}")
    left.set(xlabel="pass rate p", ylabel="weight", ylim=(None, 6.5))
    left.legend(loc="upper center", ncols=2)
    bars = table[(table["what"] == "gap") & (table["N"] == 32)]
    right.bar(
        bars["x"], bars["y"], color=style.shades(len(SIZES))[1], width=0.8, label="gap[j], fitted"
    )
    dots = table[(table["what"] == "drawing") & (table["N"] == 32)]
    right.plot(dots["x"], dots["y"], ".", color="black", label="drawing at (j+1/2)/N")
    right.set(
        xlabel="j, right ones among the other 31",
        ylabel="gap[j]",
        ylim=(None, 1.6 * bars["y"].max()),
    )
    right.legend(loc="upper right")
    plots.letter((left, right))
    return figure
