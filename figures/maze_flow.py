"""The exact pass rate of every maze of 7x7 while each objective trains the same transformer."""

from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results_of_every_record
from lab.show import plots, rate_flow

CAPTION = """Exact maximum likelihood leaves the fewest mazes with a lower pass rate than they
began with: in the mean 8 of 192, MaxRL with sampled rollouts 30, GRPO 104 and RLOO 151. Runs of
maze_exact; exact pass rates on a scale of log-odds. (a) to (e) One line a maze, seed 0, by the
moves of its shortest path, with the median of each class as a thick line; rates below 1e-12 are
drawn at 1e-12; (c) is the mean gradient of N = 1,024 rollouts. (f) Mazes whose pass rate is below
that of the start; lines: mean of 3 seeds; thin: each seed. That mazes are counted this way was
decided after a look at these runs."""

LOOKS = {
    "exact ML": ("ml", "exact", plots.line_style("ml")),
    "MaxRL": ("maxrl", "sampled", plots.line_style("maxrl")),
    "MaxRL, mean": ("maxrl", "expected", plots.line_style("maxrl_eq6")),
    "GRPO": ("grpo", "sampled", plots.line_style("grpo")),
    "RLOO": ("rloo", "sampled", plots.line_style("rloo")),
}
LEAST = 1e-12
EVERY = 80  # steps, of the flows


def records() -> Results:
    return results_of_every_record("maze_exact", "maze")


def table(recorded: Results) -> pd.DataFrame:
    groups = recorded.groups
    counts = replace(
        recorded, metrics=recorded.metrics.merge(rate_flow.fallen(groups), on=["run", "step"])
    )
    fallen = counts.over_seeds("fallen", ["estimator", "gradient"])
    lines = groups[(groups["seed"] == 0) & (groups["step"] % EVERY == 0)]
    odds = rate_flow.log_odds(np.maximum(lines["pass_rate"], LEAST)).round(4)
    columns = ["estimator", "gradient", "step", "moves", "problem"]
    return pd.concat([lines[columns].assign(log_odds=odds), fallen], ignore_index=True)


def draw(table: pd.DataFrame) -> Figure:
    figure, axes = plots.panels(columns=3, rows=2, width=plots.PAGE, height=4.4)
    count = axes[1, 2]
    for panel, (label, look) in zip(axes.flat, LOOKS.items(), strict=False):
        name, gradient, style = look
        part = table[(table["estimator"] == name) & (table["gradient"] == gradient)]
        rate_flow.draw_flow(panel, part[part["fallen"].isna()].astype({"moves": int}))
        panel.set(title=label, xlabel="step")
        plots.curve(count, part[part["fallen"].notna()], "step", "fallen", style, label)
    count.set(title="mazes below their start", xlabel="step", ylim=(-5, 197))
    for panel in axes[:, 0]:
        panel.set_ylabel("pass rate of a maze")
    plots.letter(axes.flat)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    last = table[table["step"] == table["step"].max()].dropna(subset="fallen")
    heights = last.set_index(["estimator", "gradient"])["fallen"]
    ends = [(label, heights[look[:2]], look[2]) for label, look in LOOKS.items()]
    plots.label_ends(count, ends)
    return figure
