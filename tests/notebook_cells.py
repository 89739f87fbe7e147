"""The notebooks of the project, all of them lessons, and what their cells say."""

from pathlib import Path

import nbformat
import pytest

from lab.runs import experiments
from lab.runs.experiments import NOTEBOOKS, experiment

BOOKS = sorted(NOTEBOOKS.glob("*.ipynb"))
BY_NAME = pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)


def name_of(path: Path) -> str:
    """The experiment of a notebook."""
    (name,) = [name for name in experiments() if experiment(name).notebook == path]
    return name


def markdown(path: Path) -> list[str]:
    """The text cells of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    """The code cells of a notebook, with their outputs."""
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def turned(path: Path, given: dict) -> list[str]:
    """The code of a notebook's cells, its first with other settings."""
    first, *others = [cell.source for cell in code_cells(path)]
    return ["\n".join([first, *(f"{key} = {value!r}" for key, value in given.items())]), *others]
