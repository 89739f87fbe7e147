"""Exact pass rates of every maze of 7x7 while each objective trains the same transformer."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """In the mean of 3 seeds exact maximum likelihood raises the hard mazes; under every
objective of finite N they fall, under the mean gradient at N = 1,024 too. All 192 mazes of 7x7,
with exact pass rates, from the same supervised starts: (a) mean pass@1, (b) mean pass@128, (c)
mean log p of the 20 mazes whose shortest path has 12 moves. They begin at about e^-21, where the
weight w_N(p), at most N, is far below 1/p, so that what other mazes do to them decides. Exact
maximum likelihood and the mean gradient of MaxRL with N = 1,024 sample nothing; the others sample
N = 64 rollouts of 32 mazes a step. Each objective at its best of two or three learning rates, by a
rule written before on another seed (exact maximum likelihood's is the largest tried, GRPO's and
RLOO's the smallest); the mean gradient at exact maximum likelihood's. Lines: mean of 3 seeds; thin:
each seed."""

LOOKS = {
    "exact ML": ("ml", "exact", plots.line_style("ml")),
    "MaxRL, mean, N = 1,024": ("maxrl", "expected", plots.line_style("maxrl_eq6")),
    "MaxRL": ("maxrl", "sampled", plots.line_style("maxrl")),
    "GRPO": ("grpo", "sampled", plots.line_style("grpo")),
    "RLOO": ("rloo", "sampled", plots.line_style("rloo")),
}
PANELS = {
    "pass@1": "pass@1",
    "pass@128": "pass@128",
    "log-likelihood, 12 moves": "mean log p, 12 moves",
}


def records() -> Results:
    return results("maze_exact", "maze")


def table(recorded: Results) -> pd.DataFrame:
    return recorded.each_over_seeds(PANELS, ["estimator", "gradient"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.4)
    for panel, (metric, title) in zip(axes, PANELS.items(), strict=True):
        for label, (name, gradient, style) in LOOKS.items():
            chosen = (table["estimator"] == name) & (table["gradient"] == gradient)
            part = table[chosen & (table["metric"] == metric)]
            plots.curve(panel, part, "step", "mean", style, label)
        panel.set(title=title, xlabel="step")
        if metric.startswith("pass@"):
            panel.set(ylim=(-0.02, 1.02))
    plots.letter(axes)
    axes[0].set_ylabel("all 192 mazes")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
