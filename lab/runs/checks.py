"""`lab check`: every fault that can be found before anything runs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.plugins import load_plugins, plugin_presets
from lab.project import CHECKOUT, IN_CHECKOUT, declared, project
from lab.runs.experiments import NOTEBOOKS, experiment, experiments
from lab.runs.notebooks import check_notebook
from lab.runs.provenance import installed_version
from lab.runs.run_folder import Run, runs_root


def checks(
    check_claims: Callable[[Path], object], check_figure: Callable[[str], object]
) -> Iterator[tuple[str, str]]:
    """Yield (subject, fault) pairs; an empty fault means that nothing is wrong with the subject.

    In a project of one's own the presets are those of its plugins: the lab's are the lab's matter.
    """
    supported = sys.version_info >= (3, 11)
    yield "Python", "" if supported else f"found {sys.version.split()[0]}: install 3.11 or newer"
    yield "installed versions", _versions()
    yield "plugins", _fault(load_plugins)
    here = declared(Path.cwd())
    is_own = here is not None and here.root != CHECKOUT
    for name in [path.stem for path in plugin_presets()] if is_own else experiments():
        yield f"preset {name}", _fault(_preset, name)
        yield f"notebook of {name}", _fault(_notebook, name)
    for path in sorted(project().sweeps.glob("*.toml")):
        yield f"sweep {path.stem}", _fault(check_claims, path)
    for path in sorted(project().figures.glob("*.py")):
        yield f"figure {path.stem}", _fault(check_figure, path.stem)


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
    text = (CHECKOUT / "constraints.txt").read_text() if IN_CHECKOUT else ""
    wrong = [
        f"{package} {version} instead of {pin}"
        for package, pin in re.findall(r"^([\w.\-]+)==(\S+)$", text, re.MULTILINE)
        # A local build label, such as that of torch+cpu, is not part of the pin.
        if (version := installed_version(package).split("+")[0]) not in ("", pin)
    ]
    return f"{', '.join(wrong)}: install with -c constraints.txt" if wrong else ""


def _preset(name: str) -> None:
    chosen = experiment(name)
    for scale in chosen.scales:
        chosen.configure(scale)


def _notebook(name: str) -> None:
    chosen = experiment(name)
    needed = not chosen.trainer or chosen.notebook.parent == NOTEBOOKS  # a plugin's world has none
    if needed or chosen.notebook.exists():
        check_notebook(chosen)
