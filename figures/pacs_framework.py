"""PACS Figure 2 with numbers: one group of rollouts through equations 6 to 8."""

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure

from lab.losses import class_weights, pacs, pacs_scores
from lab.show import plots

CAPTION = """PACS turns a reward that is to be predicted into what acts as an advantage, in four
steps (PACS Figure 2), here with numbers: one group of G = 8 rollouts of which two are right;
made-up log-ratios, formulas of the lab's loss, beta = 1. (a) The reward proxy, beta times the
log-ratio of policy and reference (equation 6). (b) Its score psi against the others of the group
(equation 7, RLOO). (c) The probability sigma(psi) that is to predict the reward, and the reward
(crosses). (d) Minus the gradient of the loss (equation 8) by the log-ratio, as computed by
automatic differentiation, with balanced class weights and without: what acts on each rollout as
an advantage."""

RATIOS = (0.4, -0.3, 0.1, 0.6, -0.5, 0.2, -0.1, 0.3)
REWARDS = (1, 1, 0, 0, 0, 0, 0, 0)


def advantage(balanced: bool) -> np.ndarray:
    """G times minus the gradient of the loss, a mean over rollouts."""
    ratios = torch.tensor(RATIOS, dtype=torch.float64, requires_grad=True)
    pacs(ratios, torch.tensor(REWARDS, dtype=torch.float64), balanced=balanced).backward()
    return -ratios.grad.numpy() * len(RATIOS)


def table() -> pd.DataFrame:
    ratios, rewards = (torch.tensor(values, dtype=torch.float64) for values in (RATIOS, REWARDS))
    psi = pacs_scores(ratios, torch.ones(len(RATIOS), dtype=torch.bool), "rloo")
    return pd.DataFrame(
        {
            "rollout": range(1, len(RATIOS) + 1),
            "reward": rewards,
            "proxy": ratios,
            "psi": psi,
            "sigma": torch.sigmoid(psi),
            "class weight": class_weights(rewards),
            "advantage": advantage(True),
            "without weights": advantage(False),
        }
    )


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=4, width=plots.PAGE, height=2.2)
    right = table["reward"] == 1
    for panel, column in zip(axes, ("proxy", "psi", "sigma", "advantage"), strict=True):
        for kind, color, label in ((right, plots.GREEN, "right"), (~right, "#e8e8e8", "wrong")):
            part = table[kind]
            panel.bar(
                part["rollout"],
                part[column],
                color=color,
                edgecolor="black",
                linewidth=0.5,
                label=label,
            )
        panel.axhline(0, color="black", linewidth=0.6)
        panel.set(xlabel="rollout", xticks=table["rollout"])
        panel.grid(axis="x", visible=False)
    axes[2].plot(table["rollout"], table["reward"], "x", color="black", label="reward")
    axes[3].plot(
        table["rollout"],
        table["without weights"],
        "o",
        color="black",
        markerfacecolor="white",
        label="without class weights",
    )
    for panel, title in zip(
        axes,
        (
            "proxy $\\hat{r}$",
            "score $\\psi$",
            "prediction $\\sigma(\\psi)$",
            "as advantage",
        ),
        strict=True,
    ):
        panel.set_title(title)
    plots.letter(axes)
    axes[2].set_ylim(-0.06, 1.06)
    marked = [axes[place].get_legend_handles_labels() for place in (2, 3)]
    known = {
        label: handle
        for handles, labels in marked
        for handle, label in zip(handles, labels, strict=True)
    }
    figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=4)
    return figure
