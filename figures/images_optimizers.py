"""Images from one success in a thousand: is the order of objectives that of one optimizer?"""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """How far objectives lie apart depends on the optimizer: AdamW takes most of MaxRL's
lead. 1,000 procedural classes from a pass rate of about 1/1000, N = 1,024, 300 steps. Pass@1 by
the peak learning rate, on a log-odds scale: lines, on validation images, one seed; strokes, on
test images, each seed of 5 others, at the best rate of each objective. (a) SGD; (b) SGD with
each gradient rescaled to norm 1, which takes an objective's scale away; (c) AdamW, which takes
it away weight by weight. The rules of choice and the claims were written before the runs
(sweeps/images_rates.toml, images_optimizers_rates.toml)."""

SWEEPS = ("images_rates", "images_optimizers_rates", "images_best", "images_optimizers")
NAMES = ("maxrl", "grpo", "reinforce_mean")
SETTINGS = {"sgd": "SGD, as published", "norm": "SGD, gradient norm 1", "adamw": "AdamW"}
SEEDS = range(200, 205)  # of images_optimizers; images_best has five more
METRIC = "pass@1"


def records() -> Results:
    return together([results(sweep, "images") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    metrics = recorded.metrics[recorded.metrics["estimator"].isin(NAMES)]
    # gradient_norm = 0: gradients are not rescaled, and the setting is named after the optimizer.
    setting = metrics["optimizer"].where(metrics["gradient_norm"] == 0, "norm")
    last = metrics.assign(setting=setting)[metrics["step"] == metrics["steps"]]
    columns = ["setting", "estimator", "evaluated_on", "learning_rate"]
    chosen = last[(last["evaluated_on"] == "validation") | last["seed"].isin(SEEDS)]
    ends = chosen.pivot(index=columns, columns="seed", values=METRIC).add_prefix("seed ")
    return ends.assign(**{METRIC: ends.mean(axis=1)}).reset_index()


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.6, sharey=True)
    for panel, (setting, title) in zip(axes, SETTINGS.items(), strict=True):
        for name in NAMES:
            style = plots.line_style(name)
            part = table[(table["setting"] == setting) & (table["estimator"] == name)]
            tried = part[part["evaluated_on"] == "validation"]
            [test] = part[part["evaluated_on"] == "test"].to_dict("records")
            line = {"marker": style.marker, "markersize": 3, "label": style.label}
            panel.plot(tried["learning_rate"], tried[METRIC], **line, **style.line)
            seeds = [test[f"seed {seed}"] for seed in SEEDS]
            rates = [test["learning_rate"]] * len(seeds)
            panel.plot(rates, seeds, "_", color=style.color, markersize=12, alpha=0.8)
        panel.set(xscale="log", xlabel="peak learning rate", title=title)
    axes[0].set_ylabel("pass@1 after 300 steps")
    plots.logit_axis(axes[0].yaxis, 0.0006, 0.96)
    plots.letter(axes)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
