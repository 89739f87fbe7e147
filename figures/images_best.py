"""Images from one success in a thousand, each objective at its best learning rate."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """No learning rate does for REINFORCE what the weights of MaxRL and PACS do. 1,000
procedural classes from a pass rate of about 1/1000, N = 1,024, SGD, 300 steps of 128 images;
PACS at its anchor, whose weight is a quarter of MaxRL's where p is small. (a) Pass@1 on
validation images after the last step, one seed, by the peak learning rate: the best of each
objective (ringed) lies inside those that were tried. (b) Test pass@1 at these rates, on other
seeds. Both on a log-odds scale. Lines of (b): mean of 10 seeds; bands: 95% intervals. The rules of
choice and the claims were written before the runs (sweeps/images_rates.toml, images_best.toml,
images_pacs_rates.toml)."""

SWEEPS = ("images_rates", "images_pacs_rates", "images_best", "images_pacs")
NAMES = ("ml", "pacs", "maxrl", "grpo", "reinforce_mean")
METRIC = "pass@1"


def records() -> Results:
    return together([results(sweep, "images") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    chosen_on = recorded.metrics["evaluated_on"] == "validation"
    rates = recorded.metrics[chosen_on]
    last = rates[rates["step"] == rates["step"].max()].sort_values("learning_rate")
    best = last.groupby("estimator")[METRIC].transform("max")
    tried = last[["estimator", "learning_rate", METRIC]].assign(
        kind="validation", best=last[METRIC] == best
    )
    at_best = Results(recorded.metrics[~chosen_on], recorded.groups, recorded.runs)
    curves = at_best.over_seeds(METRIC, ["estimator"]).assign(kind="test")
    return pd.concat([tried, curves], ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, (left, right) = plots.panels(columns=2, width=plots.PAGE, height=2.8, sharey=True)
    for name in NAMES:
        style, part = plots.image_style(name), table[table["estimator"] == name]
        tried, curve = (part[part["kind"] == kind] for kind in ("validation", "test"))
        plots.rates(left, tried, METRIC, style, best=tried[tried["best"].astype(bool)])
        plots.curve(right, curve, "step", METRIC, style)
    left.set(xlabel="peak learning rate", title="after 300 steps, by rate")
    left.set_ylabel("pass@1")
    right.set(xlabel="step", title="at the best rate")
    plots.logit_axis(left.yaxis, 0.0006, 0.99)
    plots.letter((left, right))
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
