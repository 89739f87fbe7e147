"""Remembering: experiments, run folders, training into them, notebooks, sweeps. Floor 3."""

from lab.runs.experiments import Experiment as Experiment
from lab.runs.experiments import experiment as experiment
from lab.runs.experiments import experiments as experiments
from lab.runs.experiments import preflight as preflight
from lab.runs.run_folder import Run as Run
from lab.runs.sweep_results import Results as Results
from lab.runs.sweep_results import results as results
from lab.runs.training import start_of as start_of
from lab.runs.training import state_of as state_of
from lab.runs.training import train as train
