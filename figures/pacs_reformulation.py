"""PACS Figure 1: the reward as a return to be raised, or as a label to be predicted."""

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure

import lab
from lab.losses import pacs, pacs_scores
from lab.show import plots

CAPTION = """The same rewards used twice (PACS Figure 1): RLVR turns them into advantages of a
policy gradient; PACS takes them as labels that a score of the policy is to predict, and descends
the cross-entropy. Four rollouts, one right, policy equal to reference, beta = 1. The numbers are
computed: advantages of RLOO, the cross-entropy of each rollout (log 2 for all), and G times minus
its gradient by automatic differentiation. Without class weights the two ways are the same step;
balanced class weights make it that of the log-odds."""

REWARDS = (1.0, 0.0, 0.0, 0.0)


def supervised(balanced: bool) -> tuple[float, list[float]]:
    """The loss, and what it does to each rollout: minus its gradient by the log-ratio, times G."""
    ratios = torch.zeros(len(REWARDS), dtype=torch.float64, requires_grad=True)
    loss = pacs(ratios, torch.tensor(REWARDS, dtype=torch.float64), balanced=balanced)
    loss.backward()
    return loss.item(), (-ratios.grad * len(REWARDS)).tolist()


def table() -> pd.DataFrame:
    loss, plain = supervised(False)
    psi = pacs_scores(torch.zeros(4), torch.ones(4, dtype=torch.bool), "rloo")
    return pd.DataFrame(
        {
            "rollout": range(1, 5),
            "reward": REWARDS,
            "rloo": lab.advantages("rloo", np.array(REWARDS)),
            "score": psi,
            "sigma": torch.sigmoid(psi),
            "loss": loss,
            "pacs": plain,
            "pacs balanced": supervised(True)[1],
        }
    )


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=2, width=plots.PAGE, height=2.3)
    texts = {
        column: ", ".join(f"{value:.2f}".replace("-0.00", "0.00") for value in table[column])
        for column in table
    }
    flows = {
        "RLVR: the reward is a return": (
            "query q,  answers $o_1 .. o_4$ sampled",
            f"rewards r = {texts['reward']}",
            f"advantages A = {texts['rloo']}\n(r minus the mean of the others)",
            "ascend  $\\frac{1}{G}\\sum_i A_i \\nabla \\log\\pi(o_i|q)$",
        ),
        "PACS: the reward is a label": (
            "query q,  answers $o_1 .. o_4$ sampled",
            f"labels R = {texts['reward']}",
            (
                f"prediction $\\sigma(\\psi)$ = {texts['sigma']};  loss {table['loss'][0]:.3f}\n"
                "($\\psi$: log-ratio against the others)"
            ),
            f"descend: acts as {texts['pacs']}\nwith class weights {texts['pacs balanced']}",
        ),
    }
    for panel, (title, steps) in zip(axes, flows.items(), strict=True):
        panel.set(title=title, xlim=(0, 1), ylim=(0, 1))
        panel.axis("off")
        for place, step in enumerate(steps):
            y = 0.93 - 0.27 * place
            panel.text(
                0.5,
                y,
                step,
                ha="center",
                va="center",
                fontsize=7,
                linespacing=1.4,
                bbox={
                    "boxstyle": "round,pad=0.4",
                    "facecolor": "white",
                    "edgecolor": "black",
                    "linewidth": 0.7,
                },
            )
            if place:
                panel.annotate(
                    "",
                    (0.5, y + 0.1),
                    (0.5, y + 0.18),
                    arrowprops={"arrowstyle": "-|>", "color": "black"},
                )
    return figure
