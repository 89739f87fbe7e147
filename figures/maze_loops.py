"""Mazes with loops: what becomes of the many right answers under each objective."""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """Mazes of 9x9 with a tenth of the inner walls open, held out, exact pass rates within a
tenth. All from the same 250 supervised steps on one shortest path of each maze. Supervised learning
goes on for 200 steps at its own rate (1e-3); the others take 200 steps of 32 mazes at 1e-4: exact
maximum likelihood samples nothing, MaxRL, GRPO and RLOO draw N = 64 rollouts. (a) The effective
number of right answers, exp of the entropy of an answer given that it is right, mean over mazes.
(b) The share of p on one shortest path. (c) Mean log p. The claims in sweeps/maze_loops.toml were
written before the runs. Lines: mean of 3 seeds; thin: each seed."""

LOOKS = {
    "supervised": ("supervised", plots.REFERENCE_STYLES["start"]),
    "exact ML": ("ml", plots.line_style("ml")),
    "MaxRL": ("maxrl", plots.line_style("maxrl")),
    "GRPO": ("grpo", plots.line_style("grpo")),
    "RLOO": ("rloo", plots.line_style("rloo")),
}
PANELS = {
    "diversity": "effective right answers",
    "shortest path share": "share of p on a shortest path",
    "log-likelihood": "mean log p",
}
TAUGHT = 450  # supervised steps of the runs that show what 200 more of them give


def records() -> Results:
    return results("maze_loops", "maze")


def table(recorded: Results) -> pd.DataFrame:
    metrics = recorded.metrics
    longer = metrics["start_steps"] == TAUGHT
    begun = metrics[~longer & (metrics["estimator"] == "ml") & (metrics["step"] == 0)]
    ended = metrics[longer & (metrics["step"] == 0)].assign(step=metrics["step"].max())
    supervised = pd.concat([begun, ended]).assign(estimator="supervised")
    together = pd.concat([metrics[~longer], supervised], ignore_index=True)
    return replace(recorded, metrics=together).each_over_seeds(PANELS, ["estimator"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.4)
    for panel, (metric, title) in zip(axes, PANELS.items(), strict=True):
        for label, (name, style) in LOOKS.items():
            part = table[(table["estimator"] == name) & (table["metric"] == metric)]
            plots.curve(panel, part, "step", "mean", style, label)
        panel.set(title=title, xlabel="step")
    plots.letter(axes)
    axes[0].set_ylabel("128 held-out mazes")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
