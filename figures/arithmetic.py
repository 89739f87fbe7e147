"""A language model on arithmetic it has never been asked: does what is learned carry over?"""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """Where no problem comes twice. The tiny Qwen3 of gsm8k_dynamics on arithmetic of
level 3: 160 steps of 16 new problems x 16 rollouts, AdamW, TRL. (a) pass@1 of training, which
is on problems not asked before, over the last 40 steps, by learning rate, one seed: the rule of
sweeps/arithmetic_rates.toml, written before the runs, chose 1e-4 for all four. (b), (c) pass@k
on 256 test problems from 16 answers each at temperature 0.6 and top-p 0.95. (d) Problems of
training with a right rollout among 16, at temperature 1, over the 40 steps before. Lines: mean
of five fresh seeds; thin: each seed."""

SWEEPS = (("arithmetic_rates", "gsm8k"), ("arithmetic", "gsm8k"))
NAMES = ("maxrl", "grpo", "rloo", "pacs")
METRICS = {"pass@1": "pass@1, test", "pass@16": "pass@16, test", "solved": "solved"}
RATE_METRIC = "train pass@1"
RATES_SEED = 10


def records() -> Results:
    return together([results(sweep, name) for sweep, name in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    metrics = recorded.metrics
    of_rates = metrics["seed"] == RATES_SEED
    tried = metrics[of_rates & (metrics["step"] == metrics["steps"])]
    tried = tried[["objective", "learning_rate", RATE_METRIC]].sort_values("learning_rate")
    parts = [tried.rename(columns={RATE_METRIC: "mean"}).assign(metric="by rate")]
    for metric in METRICS:
        told = replace(recorded, metrics=metrics[~of_rates & metrics[metric].notna()])
        curves = told.over_seeds(metric, ["objective"]).rename(columns={metric: "mean"})
        parts.append(curves.assign(metric=metric))
    return pd.concat(parts, ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=4, width=plots.PAGE, height=2.4)
    for name in NAMES:
        style, part = plots.line_style(name), table[table["objective"] == name]
        plots.rates(axes[0], part[part["metric"] == "by rate"], "mean", style)
        for panel, metric in zip(axes[1:], METRICS, strict=True):
            plots.curve(panel, part[part["metric"] == metric], "step", "mean", style)
    axes[0].set(title="by rate, training", ylabel="pass@1")
    for panel, title in zip(axes[1:], METRICS.values(), strict=True):
        panel.set(title=title, xlabel="step")
        panel.margins(0.06)
    plots.letter(axes)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
