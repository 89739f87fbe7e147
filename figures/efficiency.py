"""How much of the possible signal-to-noise each estimator keeps."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import lab
from lab.show import plots

CAPTION = """Keeping the control variate of MaxRL eq. 7 where all rollouts are wrong destroys the
signal of hard problems: at p = 1e-4 its efficiency is 0.025, that of Algorithm 1 is 0.937.
Efficiency e_N(p) = p(1-p) w_N²/(D1 + D0) at N = 16: the squared signal-to-noise ratio relative to
the oracle baseline (1), exact, for scores of equal spread in both classes. On hard problems
equation 6 and the leave-one-out form come closest to the oracle. Formulas, no data."""

N = 16
CURVES = ("rloo", "grpo", "maxrl", "maxrl_eq6", "maxrl_eq7", "maxrl_loo")


def table() -> pd.DataFrame:
    p = 1 / (1 + np.exp(-np.linspace(np.log(1e-4), -np.log(1e-3), 241)))
    return pd.DataFrame({"p": p} | {name: lab.efficiency(name, N, p) for name in CURVES})


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(width=plots.COLUMN, height=3.0)
    for name in CURVES:
        style = plots.line_style(name)
        axes.plot(
            np.log10(table["p"] / (1 - table["p"])),
            table[name],
            label="MaxRL Algorithm 1" if name == "maxrl" else style.label,
            **style.line,
        )
    shown = np.array([1e-4, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99])
    axes.set_xticks(
        np.log10(shown / (1 - shown)), ["$10^{-4}$", "0.001", "0.01", "0.1", "0.5", "0.9", "0.99"]
    )
    axes.set(
        ylim=(0, 1.02), xlabel="pass rate p (log-odds scale)", ylabel=f"efficiency $e_{{{N}}}(p)$"
    )
    figure.legend(loc="outside lower center", fontsize=6.2, ncols=2)
    return figure
