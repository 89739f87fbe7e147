"""PACS as its paper trains it, four updates a batch, beside GRPO with as many."""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """PACS with four updates a batch and a reference of up to 40 steps ago, beside GRPO with
four updates. The world of arithmetic: a tiny Qwen3, steps of 16 new problems x 8 rollouts, AdamW
1e-4, TRL. (a) pass@1 on 128 test problems, 16 answers each at temperature 0.6 and top-p 0.95, of
which the start has 0.23; (b) entropy a token, mean of all steps; (c) the mean |log-ratio| of a
rollout to PACS's reference. The claims in sweeps/pacs_four.toml,
pacs_four_beta.toml and pacs_four_long.toml were written before the runs. Marks: mean and 95%
interval over six seeds, of 96 steps over eight others; strokes: each seed. Claims are about paired
differences."""

SWEEPS = ("pacs_four", "pacs_four_beta", "pacs_four_long")
METRICS = {
    "pass@1": "pass@1, test",
    "entropy": "entropy a token",
    "log-ratio": "|log-ratio|",
}
METHOD = ["estimator", "beta", "steps"]
ROWS = {
    ("grpo", 1.0, 32): "GRPO",
    ("pacs", 0.1, 32): "PACS, beta 0.1",
    ("pacs", 1.0, 32): "PACS, beta 1",
    ("pacs", 10.0, 32): "PACS, beta 10",
    ("grpo", 1.0, 96): "GRPO, 96 steps",
    ("pacs", 1.0, 96): "PACS, 96 steps",
}


def records() -> Results:
    return together([results(sweep, "gsm8k") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    metrics = recorded.metrics
    last = metrics[metrics["step"] == metrics["steps"]]
    measured = replace(recorded, metrics=last).each_over_seeds(METRICS, METHOD)
    return measured.assign(row=plots.heights(measured, METHOD, ROWS))


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=2.2, sharey=True)
    for panel, (metric, title) in zip(axes, METRICS.items(), strict=True):
        for row, (objective, *_) in enumerate(ROWS):
            rows = table[(table["metric"] == metric) & (table["row"] == row)]
            plots.spread(panel, rows, plots.line_style(objective))
        panel.set(title=title, ylim=(len(ROWS) - 0.5, -0.5))
    axes[0].set_yticks(range(len(ROWS)), list(ROWS.values()))
    plots.letter(axes)
    return figure
