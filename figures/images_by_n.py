"""Images from one success in a thousand: what each objective makes of more rollouts."""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """More rollouts take MaxRL towards exact maximum likelihood, GRPO a little way, and
REINFORCE nowhere. 1,000 procedural classes from a pass rate of about 1/1000, SGD, 300 steps of 128
images, each objective at its best of six learning rates for its N, by a rule written before on
validation images (sweeps/images_rates_by_n.toml). After the last step, on test images: (a) pass@1,
(b) pass@128, which guessing brings to 0.12; both on a log-odds scale, by the rollouts of an image
and step. Lines: mean of 10 seeds (of 5 for N = 16 and for REINFORCE with N = 4,096); strokes: each
seed. Open marks: with AdamW at its own best rates, 5 seeds (sweeps/images_optimizers.toml,
images_adamw_128.toml). The claims in sweeps/images_by_n.toml and images_adamw_128.toml were written
before these runs."""

SWEEPS = ("images_best", "images_by_n", "images_optimizers", "images_adamw_128")
NAMES = ("maxrl", "grpo", "reinforce_mean")
WITH_ADAMW = ("maxrl", "grpo")  # at N = 128 and 1,024
PANELS = ("pass@1", "pass@128")


def records() -> Results:
    return together([results(sweep, "images") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    metrics = recorded.metrics[recorded.metrics["gradient_norm"] == 0]
    adamw = metrics["optimizer"] == "adamw"
    told = replace(recorded, metrics=metrics[~adamw | metrics["estimator"].isin(WITH_ADAMW)])
    curves = told.each_over_seeds(PANELS, ["estimator", "optimizer", "rollouts"])
    ends = curves[curves["step"] == curves["step"].max()]
    return ends.sort_values(["metric", "optimizer", "rollouts"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=2, width=plots.PAGE, height=2.8)
    for panel, metric in zip(axes, PANELS, strict=True):
        of_metric = table[table["metric"] == metric]
        shown = of_metric[of_metric["optimizer"] == "sgd"]
        exact = plots.image_style("ml")
        [limit] = shown.loc[shown["estimator"] == "ml", "mean"]
        panel.axhline(limit, label=exact.label, **exact.line)
        for name in NAMES:
            part, style = shown[shown["estimator"] == name], plots.line_style(name)
            N = part["rollouts"]
            panel.plot(N, part["mean"], marker=style.marker, label=style.label, **style.line)
            for seed in part.filter(like="seed "):
                panel.plot(N, part[seed], "_", color=style.color, markersize=6, alpha=0.6)
        adamw = of_metric[of_metric["optimizer"] == "adamw"]
        for name in WITH_ADAMW:
            part, style = adamw[adamw["estimator"] == name], plots.line_style(name)
            look = style.published | {"marker": style.marker, "label": f"{style.label}, AdamW"}
            panel.plot(part["rollouts"], part["mean"], markersize=5, **look)
        panel.set(xscale="log", xlabel="rollouts N", title=metric)
        panel.set_xticks([16, 128, 1024, 4096], ["16", "128", "1,024", "4,096"], minor=False)
        panel.minorticks_off()
    plots.logit_axis(axes[0].yaxis, 0.003, 0.98)
    plots.logit_axis(axes[1].yaxis, 0.05, 0.99997)
    plots.letter(axes)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
