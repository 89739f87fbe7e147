"""Mazes that were never trained on, twelve times the rollouts of maze_long, on one GPU."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import rates_and_steps

CAPTION = """After twelve times the rollouts of maze_long MaxRL keeps nearly every maze that any of
the fifteen runs solves; by step 500 GRPO's pass@128 falls from 0.89 to 0.65 and RLOO's to 0.48, and
little comes back. 2,000 steps on mazes of 9x9, from 250 supervised steps: 32 mazes x 64 rollouts a
step, AdamW, bfloat16, 256 held-out mazes x 512 rollouts. (a) pass@1 after 500 steps by learning
rate, one seed; a ring marks each objective's best rate, by a rule in sweeps/maze_gpu_rates.toml,
written with the claims before the runs; all are at the upper end. (b, c) each objective at its best
rate, by step. Thick lines: mean of five fresh seeds, which are thin; dotted: the 240 of 256 mazes
whose path goes only right and down: no run learned to go up or left, and so none solves the others.
The difference in pass@1 between MaxRL and GRPO, +0.22 [+0.04, +0.40], is undecided after Holm's
correction over four tests."""

SWEEPS = ("maze_gpu_rates", "maze_gpu")
NAMES = ("maxrl", "grpo", "rloo")
METRICS = {"pass@1": "pass@1", "pass@128": "pass@128"}
RATES_SEED = 70
REACHABLE = 240 / 256


def records() -> Results:
    return together([results(sweep, "maze") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    return rates_and_steps.table(recorded, RATES_SEED, "pass@1", METRICS)


def draw(table: pd.DataFrame) -> Figure:
    figure = rates_and_steps.draw(table, NAMES, "pass@1, by rate", METRICS)
    for axes in figure.axes[1:]:
        axes.axhline(REACHABLE, color="0.5", linestyle=":", linewidth=0.8)
    return figure
