"""`lab check`: every fault that can be found before anything runs. Floor 3."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from importlib import metadata

from lab.errors import LabError
from lab.runs.experiments import experiment, experiments
from lab.runs.notebooks import check_notebook
from lab.runs.provenance import ROOT


def checks() -> Iterator[tuple[str, str]]:
    """(subject, fault) pairs; an empty fault means that all is well with the subject."""
    yield (
        "Python",
        ""
        if sys.version_info >= (3, 11)
        else f"found {sys.version.split()[0]}: install 3.11 or newer",
    )
    yield "installed versions", _versions()
    yield "data: handwritten digits", _fault(_digits)
    for name in experiments():
        yield f"preset {name}", _fault(lambda name=name: _preset(name))
        yield f"notebook of {name}", _fault(lambda name=name: check_notebook(experiment(name)))
    for path in sorted((ROOT / "sweeps").glob("*.toml")):
        yield f"sweep {path.stem}", _fault(lambda path=path: _sweep(path))


def _fault(check: Callable[[], None]) -> str:
    try:
        check()
    except LabError as error:
        return str(error)
    return ""


def _versions() -> str:
    """Installed packages against constraints.txt; one that is not installed is no fault."""
    wrong = []
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if match := re.fullmatch(r"([A-Za-z0-9_.\-]+)==(\S+)", line.strip()):
            try:
                found = metadata.version(match[1]).split("+")[0]
            except metadata.PackageNotFoundError:
                continue
            if found != match[2]:
                wrong.append(f"{match[1]} {found} instead of {match[2]}")
    return "" if not wrong else ", ".join(wrong) + ": install with -c constraints.txt"


def _digits() -> None:
    from sklearn.datasets import load_digits

    images = len(load_digits().images)
    if images != 1797:
        raise LabError(f"found {images} digits instead of 1797: reinstall scikit-learn")


def _preset(name: str) -> None:
    chosen = experiment(name)
    if chosen.trainer:
        module, _, function = chosen.trainer.partition(":")
        if not (
            importlib.util.find_spec(module) and hasattr(importlib.import_module(module), function)
        ):
            raise LabError(
                f'{name}.toml: trainer {chosen.trainer!r} does not exist: write "module:function"'
            )
    for scale in chosen.scales:
        chosen.parameters(scale)


def _sweep(path) -> None:
    from lab.runs.sweep_file import read_sweep

    read_sweep(path)
