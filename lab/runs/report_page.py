"""Where the report on some runs is written, and what it shows, without what it takes to draw it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from lab.configurations import Config
from lab.errors import LabError
from lab.runs.experiments import experiment, experiments
from lab.runs.run_folder import Run

PAGE = "report.html"  # in the run folder of the notebook


def can_report() -> bool:
    """Whether `lab report` works here: it executes a notebook of the project, and draws."""
    packages = ("papermill", "nbconvert", "matplotlib", "seaborn")
    known = "report" in experiments() and experiment("report").notebook.exists()
    return known and all(map(find_spec, packages))


def report_config(paths: Sequence[Path], parameters: Mapping[str, str]) -> Config:
    """The configuration of notebook 90 for a report on `paths`."""
    chosen = experiment("report")
    folder = chosen.notebook.parent
    sources = [os.path.relpath(path, folder) for path in paths]
    return chosen.configure("laptop", {"sources": sources, "experiment": "", **parameters})


def page_of(paths: Sequence[Path], parameters: Mapping[str, str]) -> Path:
    """Where `lab report` writes the page on these runs, if no file is named."""
    return Run.of(report_config(paths, parameters)).path / PAGE


def natural_metric(run: Run) -> str:
    """The metric that a report on this finished run shows: pass@1, or its first one without that.

    LabError: the run measured nothing.
    """
    names = [name for name in run.done["last"] if name != "step"]
    if not names:
        raise LabError(f"{run.path} holds no measurements: a report needs a run that trained")
    return "pass@1" if "pass@1" in names else names[0]
