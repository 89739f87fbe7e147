"""Images from one success in a thousand, five times as long: is GRPO only slower?"""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """Images from one success in a thousand, five times as long: N = 1,024, SGD. (a) pass@1
on validation images by learning rate, one seed, after 300 steps (pale, open) and 1,500 (filled).
The best rate is a third of that for 300 steps, but for exact maximum likelihood's. (b), (c)
pass@1 on test images with each objective at its best rate for that many steps; means over five
seeds and each seed. GRPO gains much and ends below where MaxRL was after 300 steps; MaxRL halves
its distance to exact maximum likelihood and more. With AdamW MaxRL's lead after 300 steps is
small (images_optimizers), and after 1,500 it is smaller (images_long_adamw)."""

SWEEPS = ("images_rates", "images_long_rates", "images_best", "images_long")
NAMES = ("ml", "maxrl", "grpo", "reinforce_mean")
SEEDS = range(200, 205)  # of images_long; images_best has five more
METRIC = "pass@1"


def records() -> Results:
    return together([results(sweep, "images") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    metrics = recorded.metrics
    chosen_on = metrics["evaluated_on"] == "validation"
    tried = metrics[chosen_on & (metrics["step"] == metrics["steps"])]
    tried = tried[["steps", "estimator", "learning_rate", METRIC]].sort_values("learning_rate")
    test = replace(recorded, metrics=metrics[~chosen_on & metrics["seed"].isin(SEEDS)])
    curves = test.over_seeds(METRIC, ["steps", "estimator"]).assign(kind="test")
    seeds = [METRIC, *(f"seed {seed}" for seed in SEEDS)]
    ends = curves[curves["step"] == curves["steps"]].set_index(["steps", "estimator"])[seeds]
    behind = ends.xs("ml", level="estimator") - ends.xs("maxrl", level="estimator")
    behind = behind.reset_index().assign(kind="MaxRL behind exact ML")
    return pd.concat([tried.assign(kind="validation"), curves, behind], ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.6, sharey=True)
    for name in NAMES:
        style, part = plots.image_style(name), table[table["estimator"] == name]
        tried = part[part["kind"] == "validation"]
        for steps, mark, alpha in ((300, "none", 0.5), (1500, style.color, 1.0)):
            rates = tried[tried["steps"] == steps]
            x, y = rates["learning_rate"], rates[METRIC]
            line = style.line | {"marker": style.marker, "markersize": 4, "markerfacecolor": mark}
            axes[0].plot(x, y, alpha=alpha, **line)
        for panel, steps in zip(axes[1:], (300, 1500), strict=True):
            ends = part[(part["kind"] == "test") & (part["steps"] == steps)]
            plots.curve(panel, ends, "step", METRIC, style)
            panel.set(title=f"{steps:,} steps", xlabel="step")
    axes[0].set(xscale="log", xlabel="peak learning rate", title="at the end, by rate")
    axes[0].set_ylabel("pass@1")
    plots.logit_axis(axes[0].yaxis, 0.0006, 0.9995)
    plots.letter(axes)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
