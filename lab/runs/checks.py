"""`lab check`: every fault that can be found before anything runs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any

from lab.errors import LabError
from lab.project import CHECKOUT, IN_CHECKOUT, project
from lab.runs.experiments import experiment, experiments
from lab.runs.notebooks import check_notebook
from lab.runs.run_folder import Run, runs_root
from lab.runs.sweep_file import read_sweep


def checks() -> Iterator[tuple[str, str]]:
    """Yield (subject, fault) pairs; an empty fault means that nothing is wrong with the subject."""
    supported = sys.version_info >= (3, 11)
    yield "Python", "" if supported else f"found {sys.version.split()[0]}: install 3.11 or newer"
    yield "installed versions", _versions()
    yield "data: handwritten digits", _fault(_digits)
    for name in experiments():
        yield f"preset {name}", _fault(_preset, name)
        yield f"notebook of {name}", _fault(_notebook, name)
    for path in sorted(project().sweeps.glob("*.toml")):
        yield f"sweep {path.stem}", _fault(read_sweep, path)


def check_runs() -> Iterator[tuple[str, str]]:
    """Yield (run, fault) for every run folder: whether its files are what its training wrote."""
    from lab.runs.training import check_stored

    # Any of its files makes a run: one of them may be what is missing.
    files = ("params.json", "metrics.jsonl", "done.json")
    folders = {path.parent for name in files for path in runs_root().rglob(name)}
    for folder in sorted(folders):
        if (folder / "settings.json").exists():
            continue  # of an evaluation
        run = Run(folder)
        yield f"run {run.id}", _fault(check_stored, run)


def _fault(check: Callable[..., object], *subject: Any) -> str:
    """The refusal of a check as text, empty if it passes."""
    try:
        check(*subject)
    except LabError as error:
        return str(error)
    return ""


def _versions() -> str:
    """Compare installed packages with constraints.txt; a package that is missing is not a fault.

    A wheel comes without that file.
    """
    if not IN_CHECKOUT:
        return ""
    wrong = []
    for line in (CHECKOUT / "constraints.txt").read_text().splitlines():
        if match := re.fullmatch(r"([A-Za-z0-9_.\-]+)==(\S+)", line.strip()):
            try:
                # A local build label, such as that of torch+cpu, is not part of the pin.
                version = metadata.version(match[1]).split("+")[0]
            except metadata.PackageNotFoundError:
                continue
            if version != match[2]:
                wrong.append(f"{match[1]} {version} instead of {match[2]}")
    if not wrong:
        return ""
    return ", ".join(wrong) + ": install with -c constraints.txt"


def _digits() -> None:
    from sklearn.datasets import load_digits

    images = len(load_digits().images)
    if images != 1797:
        raise LabError(f"found {images} digits instead of 1797: reinstall scikit-learn")


def _notebook(name: str) -> None:
    check_notebook(experiment(name))


def _preset(name: str) -> None:
    chosen = experiment(name)
    for scale in chosen.scales:
        chosen.configure(scale)
