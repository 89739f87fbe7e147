"""Experiments, run folders, training into them, notebooks, sweeps and their recorded results.

Importing it needs NumPy and SciPy alone: the functions load torch, pandas and tqdm where they use
them.
"""

from lab.runs.experiments import Experiment, configure, experiment, experiments
from lab.runs.run_folder import Run
from lab.runs.sweep_results import (
    Results,
    results,
    results_of_every_record,
    results_of_sweep,
    together,
)
from lab.runs.training import start_of, state_of, train

__all__ = [
    "Experiment",
    "Results",
    "Run",
    "configure",
    "experiment",
    "experiments",
    "results",
    "results_of_every_record",
    "results_of_sweep",
    "start_of",
    "state_of",
    "together",
    "train",
]
