"""PACS Figure 1: the reward as a return to be raised, or as a label to be predicted."""

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure

import lab
from lab.losses import pacs, pacs_scores
from lab.show import plots

CAPTION = """Without class weights and at the reference, rewards used as labels give the same step
as rewards used as returns. PACS Figure 1: (a) RLVR turns rewards into advantages of a policy
gradient; (b) PACS takes them as labels that a score of the policy (its log-ratio against the
others) is to predict, and descends the cross-entropy. Four rollouts, one right, policy equal to
reference, beta = 1. The numbers are computed: advantages of RLOO, the cross-entropy of each
rollout (log 2 for all), and G times minus its gradient by automatic differentiation. Balanced
class weights make the step that of the log-odds."""

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
    figure, axes = plots.panels(columns=2, width=plots.PAGE, height=2.6)
    texts = {
        column: ", ".join(f"{value:.2f}".replace("-0.00", "0.00") for value in table[column])
        for column in table
    }
    flows = {
        "RLVR: the reward is a return": (
            "rloo",
            f"rewards r = {texts['reward']}",
            f"advantages A = {texts['rloo']}\n(r minus the mean of the others)",
            "ascend the mean of $A_i \\nabla \\log\\pi(o_i|q)$",
        ),
        "PACS: the reward is a label": (
            "pacs",
            f"labels R = {texts['reward']}",
            f"predictions $\\sigma(\\psi)$ = {texts['sigma']}\n"
            f"cross-entropy {table['loss'][0]:.3f}",
            f"descend: acts as {texts['pacs']}\nbalanced: {texts['pacs balanced']}",
        ),
    }
    for panel, (title, (method, *steps)) in zip(axes, flows.items(), strict=True):
        panel.set(title=title, xlim=(0, 1), ylim=(0, 1))
        panel.axis("off")
        frame = {"boxstyle": "round,pad=0.4", "facecolor": "white", "linewidth": 0.9}
        frame["edgecolor"] = plots.line_style(method).color
        heights = (0.94, 0.68, 0.39, 0.09)
        for place, step in enumerate(("query q, answers $o_1, \\ldots, o_4$ sampled", *steps)):
            panel.text(
                0.5,
                heights[place],
                step,
                ha="center",
                va="center",
                fontsize=6.5,
                linespacing=1.4,
                bbox=frame,
            )
            if place:
                top = heights[place - 1] - (0.07 if place < 3 else 0.11)
                bottom = heights[place] + (0.07 if place < 2 else 0.11)
                arrow = {"arrowstyle": "-|>", "color": "black", "shrinkA": 0, "shrinkB": 0}
                panel.annotate("", (0.5, bottom), (0.5, top), arrowprops=arrow)
    plots.letter(axes)
    return figure
