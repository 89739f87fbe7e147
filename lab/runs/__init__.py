"""Experiments, run folders, training into them, notebooks, sweeps and their recorded results.

Importing it needs NumPy and SciPy alone: the functions load torch, pandas and tqdm where they use
them.
"""

from lab.runs.experiments import Experiment as Experiment
from lab.runs.experiments import configure as configure
from lab.runs.experiments import experiment as experiment
from lab.runs.experiments import experiments as experiments
from lab.runs.run_folder import Run as Run
from lab.runs.sweep_results import Results as Results
from lab.runs.sweep_results import results as results
from lab.runs.sweep_results import results_of_every_record as results_of_every_record
from lab.runs.sweep_results import results_of_sweep as results_of_sweep
from lab.runs.sweep_results import together as together
from lab.runs.training import start_of as start_of
from lab.runs.training import state_of as state_of
from lab.runs.training import train as train
