"""Real rewards: what four lifted estimators and GRPO's z-score climb, beside the exact optimum."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results
from lab.show import plots

CAPTION = """Lifted MaxRL ends highest in both means among five estimators, short of the exact
gradient. Training 256 softmax problems whose eight answers are worth 1, 6/7 .. 0, with N = 16
rollouts, each estimator at its best of four or five learning rates
(sweeps/real_rewards_rates.toml). (a) The integral of log P(r >= tau) over tau, which lifted MaxRL
climbs; (b) the mean reward, which lifted RLOO climbs. Points: mean and 95% interval over 5 seeds,
often smaller than the mark; dotted: the exact gradient of that integral, without sampling, at the
largest of five rates."""

LABELS = {
    "lift(maxrl)": "lifted MaxRL",
    "lift(rloo)": "lifted RLOO",
    "lift(grpo)": "lifted GRPO",
    "grpo_zscore": "GRPO's z-score",
    "lift(pkpo(k=4), low=0, high=1)": "max@4",
}
METRICS = {"tail log-likelihood": "tail log-likelihood", "mean reward": "mean reward"}


def records() -> Results:
    return results("real_rewards", "tabular")


def table(recorded: Results) -> pd.DataFrame:
    by = ["estimator", "gradient"]
    parts = [
        recorded.over_seeds(metric, by).rename(columns={metric: "value"}).assign(metric=metric)
        for metric in METRICS
    ]
    return pd.concat(parts, ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=2, width=plots.PAGE, height=2.6)
    for panel, (metric, name) in zip(axes, METRICS.items(), strict=True):
        part = table[table["metric"] == metric]
        exact = part[part["gradient"] == "exact"]
        reference = plots.REFERENCE_STYLES["exact"]
        panel.plot(exact["step"], exact["value"], label=reference.label, **reference.line)
        for spec, label in LABELS.items():
            line = part[(part["estimator"] == spec) & (part["gradient"] == "sampled")]
            style = plots.line_style(spec)
            reach = (line["value"] - line["low"], line["high"] - line["value"])
            panel.errorbar(
                line["step"],
                line["value"],
                reach,
                marker=style.marker,
                markersize=3,
                elinewidth=0.8,
                label=label,
                **style.line,
            )
        panel.set(xlabel="step", title=name)
    plots.letter(axes)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
