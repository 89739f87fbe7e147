"""Shape or scale: the published comparison, and two controls that remove the weight's scale."""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """The mean pass@1 of MaxRL, GRPO and REINFORCE keep their order in all three settings,
and their distances do not: under AdamW GRPO and REINFORCE come far closer. Is it the shape of the
weight, or only its scale? Under SGD a weight of 641 at p = 1/1000 (MaxRL, N = 1,024) against 1
(REINFORCE) is first of all a 641 times larger step. Test pass@1 at N = 1,024, on a log-odds scale,
with (a) SGD at the published rate; (b) every gradient rescaled to norm 1, so that objectives differ
in direction only; (c) AdamW. The rates of the two controls were chosen by cross-entropy alone.
Lines: mean of 3 seeds; thin: each seed."""

NAMES = ("ml", "maxrl", "grpo", "reinforce_mean")
SETTINGS = {"sgd": "SGD, as published", "norm": "SGD, gradient norm 1", "adamw": "AdamW"}
METRIC = "pass@1"


def records() -> Results:
    return results("images_control", "images")


def table(recorded: Results) -> pd.DataFrame:
    # gradient_norm = 0: gradients are not rescaled, and the setting is named after the optimizer.
    setting = recorded.metrics["optimizer"].where(recorded.metrics["gradient_norm"] == 0, "norm")
    return replace(recorded, metrics=recorded.metrics.assign(setting=setting)).over_seeds(
        METRIC, ["setting", "estimator"]
    )


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.5, sharey=True)
    for panel, (setting, label) in zip(axes, SETTINGS.items(), strict=True):
        for name in NAMES:
            part = table[(table["setting"] == setting) & (table["estimator"] == name)]
            plots.curve(panel, part, "step", METRIC, plots.image_style(name))
        panel.set(title=label, xlabel="step")
        plots.logit_axis(panel.yaxis, 0.0006, 0.99)
    plots.letter(axes)
    axes[0].set_ylabel("test pass@1")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
