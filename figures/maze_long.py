"""Mazes that were never trained on, four times as many steps: pass@1 begins to separate."""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import rates_and_steps

CAPTION = """On mazes never trained on GRPO loses coverage, by more than 0.1, where MaxRL ends more
than 0.1 above it (six of the seeds, maze_long_again; pass@1 was tested on the five others and is
undecided). 640 steps on mazes of 9x9, from 250 supervised steps: 16 mazes x 32 rollouts a step,
AdamW, 64 held-out mazes with exact pass rates. (a) pass@1 after the last step by learning rate, one
seed; a ring marks each objective's best rate, by a rule in sweeps/maze_long_rates.toml, written
with the claims before the runs. (b, c, d) each objective at its best rate, by step. Lines: mean of
eleven fresh seeds, of RLOO five; bands: 95% intervals."""

SWEEPS = ("maze_long_rates", "maze_long", "maze_long_again")
NAMES = ("maxrl", "grpo", "rloo")
METRICS = {"pass@1": "pass@1", "pass@128": "pass@128", "log-likelihood": "mean log p"}
RATES_SEED = 40


def records() -> Results:
    return together([results(sweep, "maze") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    return rates_and_steps.table(recorded, RATES_SEED, "pass@1", METRICS)


def draw(table: pd.DataFrame) -> Figure:
    return rates_and_steps.draw(table, NAMES, "pass@1, by rate", METRICS)
