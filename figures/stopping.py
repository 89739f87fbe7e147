"""Stopping rules beside MaxRL at fixed N, at equal mean cost: what is spent where, and for what."""

from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import lab
from lab.mathematics.stopping import StoppingRule, until
from lab.show import plots

CAPTION = """At equal mean cost a rule that stops at the first right answer, without a baseline,
is more efficient than MaxRL with N = 16 rollouts on hard problems and less efficient on easy
ones. Drawing until something happens, against MaxRL (Algorithm 1), by pass rate on a log-odds
scale. The caps are those at which a rule spends closest to 16 rollouts a problem on average over
problems whose pass rates are spread evenly in log-odds from 0.001 to 0.9 (shaded), and a baseline
b other than 0 is the one with the least noise over them. (a) Rollouts spent on a problem, which
is also a rule's weight w(p). (b) Noise of its gradient in units of the score's variance, for
scores of equal spread in both classes and where correctness explains little of them. (c)
Efficiency per rollout spent, the squared signal-to-noise ratio relative to the oracle baseline;
of a rule it depends on b alone. MaxRL's baseline follows the group; one constant serves the pass
rates around it. Exact, no data."""

N = 16
PASS_RATES = 1 / (1 + np.exp(-np.linspace(np.log(0.001 / 0.999), np.log(0.9 / 0.1), 65)))


def of_equal_cost(rule: StoppingRule) -> StoppingRule:
    """The rule with the cap at which it spends closest to N rollouts a problem."""
    low, high = rule.cap, 4096
    while high - low > 1:
        middle = (low + high) // 2
        if replace(rule, cap=middle).weight(PASS_RATES).mean() < N:
            low = middle
        else:
            high = middle
    caps = [replace(rule, cap=cap) for cap in (low, high)]
    return min(caps, key=lambda rule: abs(rule.weight(PASS_RATES).mean() - N))


def rules() -> dict[str, StoppingRule]:
    """The rules that are drawn, by their labels."""
    right = of_equal_cost(until(right=1, cap=1))
    both = of_equal_cost(until(right=1, wrong=1, cap=2))
    b = {rule: round(rule.one_baseline(PASS_RATES), 3) for rule in (right, both)}
    return {
        f"until right, at most {right.cap}, b = 0": right,
        f"until right, at most {right.cap}, b = {b[right]:g}": replace(right, baseline=b[right]),
        f"until right and wrong, at most {both.cap}, b = {b[both]:g}": replace(
            both, baseline=b[both]
        ),
    }


def table() -> pd.DataFrame:
    p = 1 / (1 + np.exp(-np.linspace(np.log(1e-4), -np.log(1e-2), 161)))
    moments = lab.second_moments("maxrl", N, p)
    parts = [
        pd.DataFrame(
            {
                "p": p,
                "method": f"MaxRL, N = {N}",
                "rollouts": float(N),
                "noise": (moments.right + moments.wrong) / N,
                "efficiency": lab.efficiency("maxrl", N, p),
            }
        )
    ]
    for label, rule in rules().items():
        w, moments = rule.weight(p), rule.second_moments(p)
        noise = w * (moments.right + moments.wrong)
        columns = {"rollouts": w, "noise": noise, "efficiency": rule.efficiency(p)}
        parts.append(pd.DataFrame({"p": p, "method": label, **columns}))
    return pd.concat(parts, ignore_index=True)


LOOKS = (
    plots.line_style("maxrl").line,
    plots.VARIANT_STYLES["until right"].line,
    plots.VARIANT_STYLES["until right, baseline"].line,
    plots.VARIANT_STYLES["until both"].line,
)
PANELS = {
    "rollouts": "rollouts spent on a problem",
    "noise": "noise of its gradient",
    "efficiency": "efficiency per rollout spent",
}


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.6)
    log_odds = np.log10(PASS_RATES / (1 - PASS_RATES))
    for panel, (column, label) in zip(axes, PANELS.items(), strict=True):
        for (method, part), look in zip(table.groupby("method", sort=False), LOOKS, strict=True):
            p = part["p"]
            panel.plot(np.log10(p / (1 - p)), part[column], label=method, **look)
        panel.axvspan(log_odds[0], log_odds[-1], color="0.95")
        shown = np.array([1e-4, 0.01, 0.5, 0.99])
        panel.set_xticks(np.log10(shown / (1 - shown)), ["$10^{-4}$", "0.01", "0.5", "0.99"])
        scale = "linear" if column == "efficiency" else "log"
        panel.set(xlabel="pass rate p", ylabel=label, yscale=scale)
    plots.letter(axes)
    axes[2].set_ylim(0, 1.02)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=6.6
    )
    return figure
