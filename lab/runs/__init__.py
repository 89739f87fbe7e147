"""Experiments, run folders, training into them, notebooks, sweeps and their recorded results.

The functions that train are imported when they are first used, so that drawing a figure from
recorded results does not load a trainer.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lab.runs.experiments import Experiment, configure, experiment, experiments
from lab.runs.run_folder import Run
from lab.runs.sweep_results import (
    Results,
    results,
    results_of_every_record,
    results_of_sweep,
    together,
)

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    """The names of lab.runs.training, which is loaded when one of them is first asked for."""
    # `experiments` is not lazy: it is also the name of a submodule, whose import would hide it.
    if name in ("start_of", "state_of", "train"):
        return getattr(importlib.import_module("lab.runs.training"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
