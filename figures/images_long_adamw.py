"""Images from one success in a thousand, 1,500 steps: does AdamW close the gap that SGD leaves?"""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """AdamW closes nearly all of MaxRL's lead over GRPO. Images from one success in a
thousand, N = 1,024, 1,500 steps. (a) With AdamW, pass@1 on validation images by learning rate, one
seed: 300 steps (pale, open) and 1,500 (filled). (b), (c) Pass@1 on test images with each objective
at its best rate for its optimizer and these steps; means over five seeds and each seed. The open
marks are separate runs of 300 steps, at the best rates for 300 (exact maximum likelihood was not
run so with AdamW). Rules and claims were written before the runs (sweeps/images_long_rates.toml,
images_long_adamw_rates.toml). Rates are a factor of about 3 apart and were chosen on one seed, so
that differences of a few hundredths between two objectives may be those of their rates."""

SWEEPS = (
    "images_best",
    "images_optimizers",
    "images_optimizers_rates",
    "images_long",
    "images_long_adamw",
    "images_long_adamw_rates",
)
NAMES = ("ml", "maxrl", "grpo", "reinforce_mean")
OPTIMIZERS = {"sgd": "SGD, 1,500 steps", "adamw": "AdamW, 1,500 steps"}
SEEDS = range(200, 205)  # of all these sweeps; images_best has five more
METRIC = "pass@1"


def records() -> Results:
    return together([results(sweep, "images") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    # gradient_norm = 0: gradients are not rescaled.
    metrics = recorded.metrics[recorded.metrics["gradient_norm"] == 0]
    last = metrics[metrics["step"] == metrics["steps"]]
    columns = ["optimizer", "steps", "estimator", "learning_rate", METRIC]
    tried = last[(last["evaluated_on"] == "validation") & (last["optimizer"] == "adamw")]
    tried = tried[columns].sort_values("learning_rate").assign(kind="validation")
    test = metrics[(metrics["evaluated_on"] == "test") & metrics["seed"].isin(SEEDS)]
    curves = replace(recorded, metrics=test).over_seeds(METRIC, ["optimizer", "steps", "estimator"])
    return pd.concat([tried, curves.assign(kind="test")], ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.6, sharey=True)
    for name in NAMES:
        style, part = plots.image_style(name), table[table["estimator"] == name]
        for steps, fill, alpha in ((300, "none", 0.5), (1500, style.color, 1.0)):
            rates = part[(part["kind"] == "validation") & (part["steps"] == steps)]
            if rates.empty:  # exact maximum likelihood, 300 steps
                continue
            line = style.line | {"marker": style.marker, "markersize": 4, "markerfacecolor": fill}
            axes[0].plot(rates["learning_rate"], rates[METRIC], alpha=alpha, **line)
        for panel, (optimizer, title) in zip(axes[1:], OPTIMIZERS.items(), strict=True):
            test = part[(part["kind"] == "test") & (part["optimizer"] == optimizer)]
            plots.curve(panel, test[test["steps"] == 1500], "step", METRIC, style)
            short = test[(test["steps"] == 300) & (test["step"] == 300)]
            if not short.empty:
                mark = {"marker": style.marker, "markersize": 5, "markerfacecolor": "white"}
                panel.plot(
                    short["step"], short[METRIC], linestyle="none", color=style.color, **mark
                )
            panel.set(title=title, xlabel="step")
    axes[0].set(xscale="log", xlabel="peak learning rate", title="AdamW, by rate")
    axes[0].set_ylabel("pass@1")
    plots.logit_axis(axes[0].yaxis, 0.0006, 0.9997)
    plots.letter(axes)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
