"""The parts of PACS one at a time: class weights, score, and a reference that stays."""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import plots

CAPTION = """Without class weights PACS has less coverage in the mean, and with score grpo less
pass@1 of training (both undecided against a margin of 0.02); a reference that stays costs less than
0.02. The world of arithmetic: a tiny Qwen3, 80 steps of 16 new problems x 16 rollouts, AdamW 1e-4,
TRL, beta = 1. Score rloo with class weights and a reference of up to 40 steps ago (the runs of
pacs_reference), and the same seeds with one part changed. (a) pass@1 of training over the last 20
steps, on problems not asked before; (b) pass@1 and (c) pass@16 on 128 test problems, 16 answers
each at temperature 0.6 and top-p 0.95. The claims in sweeps/pacs_parts.toml were written before the
runs. Marks: mean and 95% interval over five seeds; strokes: each seed. Claims are about paired
differences."""

SWEEPS = ("pacs_reference", "pacs_parts")
METRICS = {
    "train pass@1": "pass@1, training",
    "pass@1": "pass@1, test",
    "pass@16": "pass@16, test",
}
PARTS = ["balanced", "score", "reference_every"]
VARIANTS = {
    "all parts": (True, "rloo", 40),
    "no class weights": (False, "rloo", 40),
    "score grpo": (True, "grpo", 40),
    "reference: who sampled": (True, "rloo", 0),
}


def records() -> Results:
    return together([results(sweep, "gsm8k") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    metrics = recorded.metrics
    last = metrics[(metrics["step"] == metrics["steps"]) & (metrics["beta"] == 1)]
    measured = replace(recorded, metrics=last).each_over_seeds(METRICS, PARTS)
    rows = plots.heights(measured, PARTS, VARIANTS.values())
    return measured.assign(row=rows).sort_values(["metric", "row"])


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, width=plots.PAGE, height=1.9, sharey=True)
    for panel, (metric, title) in zip(axes, METRICS.items(), strict=True):
        plots.spread(panel, table[table["metric"] == metric], plots.line_style("pacs"))
        panel.set(title=title, ylim=(len(VARIANTS) - 0.5, -0.5))
    axes[0].set_yticks(range(len(VARIANTS)), list(VARIANTS))
    plots.letter(axes)
    return figure
