"""Mazes with few rollouts for 2,000 steps: do the objectives go on separating?"""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import rates_and_steps

CAPTION = """2,000 steps with few rollouts do not decide: the spread between seeds grows with the
difference of the means, and both objectives lose coverage in the mean. All 192 mazes of 7x7, exact
pass rates, from 50 supervised steps: 2,000 steps of 32 mazes x 16 rollouts, AdamW. (a) pass@1 after
the last step by learning rate, one seed; a ring marks each objective's best rate, by a rule in
sweeps/maze_2000_rates.toml, written with the claims before the runs. (b, c, d) each objective at
its best rate, by step. One run of MaxRL and two of GRPO come to rest with a fifth of the mazes.
Lines: mean of five fresh seeds; thin: each seed."""

SWEEPS = ("maze_2000_rates", "maze_2000")
NAMES = ("maxrl", "grpo")
METRICS = {"pass@1": "pass@1", "pass@128": "pass@128", "log-likelihood": "mean log p"}
RATES_SEED = 10


def records() -> Results:
    return together([results(sweep, "maze") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    return rates_and_steps.table(recorded, RATES_SEED, "pass@1", METRICS)


def draw(table: pd.DataFrame) -> Figure:
    return rates_and_steps.draw(table, NAMES, "pass@1, by rate", METRICS)
