"""`make site REPOSITORY=owner/name`: under the title of a lesson, a link that opens it in Colab."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat

from lab.runs.experiments import experiment, experiments

BRANCH = "main"
# Lessons read recorded runs beside their folder: an installed package alone does not hold them.
# The last line stands for a restart, after which an editable install would be found.
CELL = """!git clone --depth 1 https://github.com/{owner}/{name} /content/{name}
%pip install -q -e "/content/{name}[{extra}]" anywidget matplotlib
%cd /content/{name}/notebooks
import sys; sys.path.insert(0, "/content/{name}")"""
SHOWN = """[Open this lesson in Colab](https://colab.research.google.com/github/{owner}/{name}/blob/{branch}/notebooks/{notebook})

:::{{dropdown}} What to run there first
```text
{cell}
```

Colab opens the notebook alone. Run this in a new cell above the others: it brings the lab and the
recorded runs that lessons read.
:::
"""


def checked(repository: str) -> tuple[str, str] | None:
    """Owner and name of a repository on GitHub; None of an empty text."""
    if not repository:
        return None
    if not re.fullmatch(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+", repository):
        raise SystemExit(
            f"REPOSITORY={repository}: say owner/name, as in https://github.com/owner/name"
        )
    owner, _, name = repository.partition("/")
    return owner, name


def add(folder: Path, owner: str, name: str) -> None:
    """Put the link under the titles of the notebooks in `folder`, which are copies."""
    for lesson in map(experiment, experiments()):
        path = folder / lesson.notebook.name
        extra = "llm" if {"model", "models"} & lesson.rules.keys() else "toy"
        cell = CELL.format(owner=owner, name=name, extra=extra)
        words = SHOWN.format(owner=owner, name=name, branch=BRANCH, notebook=path.name, cell=cell)
        notebook = nbformat.read(path, as_version=4)
        notebook.cells.insert(1, nbformat.v4.new_markdown_cell(words, id="colab"))
        nbformat.write(notebook, path)
