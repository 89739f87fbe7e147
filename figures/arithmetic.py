"""A language model on arithmetic it has never been asked: does what is learned carry over?"""

import pandas as pd
from matplotlib.figure import Figure

from lab.runs import Results, results, together
from lab.show import rates_and_steps

CAPTION = """Where no problem comes twice. The tiny Qwen3 of gsm8k_dynamics on arithmetic of
level 3: 160 steps of 16 new problems x 16 rollouts, AdamW, TRL. (a) pass@1 of training, which
is on problems not asked before, over the last 40 steps, by learning rate, one seed; a ring marks
each objective's best rate, 1e-4 for all four, by a rule in sweeps/arithmetic_rates.toml, written
before the runs. (b), (c) pass@k on 256 test problems from 16 answers each at temperature 0.6 and
top-p 0.95. (d) Problems of training with a right rollout among 16, at temperature 1, over the 40
steps before. Lines: mean of five fresh seeds; thin: each seed."""

SWEEPS = ("arithmetic_rates", "arithmetic")
NAMES = ("maxrl", "grpo", "rloo", "pacs")
METRICS = {"pass@1": "pass@1, test", "pass@16": "pass@16, test", "solved": "solved"}
RATES_SEED = 10


def records() -> Results:
    return together([results(sweep, "gsm8k") for sweep in SWEEPS])


def table(recorded: Results) -> pd.DataFrame:
    return rates_and_steps.table(recorded, RATES_SEED, "train pass@1", METRICS)


def draw(table: pd.DataFrame) -> Figure:
    return rates_and_steps.draw(table, NAMES, "pass@1, training", METRICS)
