"""Lessons: notebooks that are committed with their outputs.

A notebook whose metadata say `keep_output` is a lesson; nbstripout reads the same mark and leaves
it alone. `lab lessons` executes lessons with the settings of a laptop and writes what they print
and draw into notebooks/, without anything that another execution would change: counts, times,
the kernel's version, papermill's metadata. The tests execute them again and compare. The first
picture of each of the lab's own stands, small, in the list of lessons, notebooks/README.md.

A lesson whose training takes longer than a reader of its source should wait for has a table
`[lesson]` in its preset, with the settings that are shorter in the committed outputs. Only its
outputs are made with them: `lab run` and a reader's own run have the laptop's. A cell tagged
`own-run` shows what training in float32 gives, which another processor may take another way: its
outputs are compared by their kinds alone.
"""

from __future__ import annotations

import base64
import io
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from lab.configurations import Config
from lab.errors import LabError
from lab.project import CHECKOUT
from lab.runs.experiments import NOTEBOOKS, experiment, experiments
from lab.runs.notebooks import run_notebook
from lab.runs.run_folder import write_atomically

if TYPE_CHECKING:
    from nbformat import NotebookNode

KEEP = "keep_output"
SCALE = "laptop"
# The same for all who execute a lesson: a run's header names the device and the threads.
MACHINE = {"LAB_DEVICE": "cpu", "OMP_NUM_THREADS": "1"}
PICTURES = NOTEBOOKS / "pictures"
WIDTH = 320  # pixels of a picture there, shown at half of that on a sharp screen
COLOURS = 64  # of a picture: lines on white need no more, and it takes a third of the bytes
WIDGET = "application/vnd.jupyter.widget-view+json"
EXPLORER = "<lab.explorer."  # how its text begins, in place of the widget
STILL = CHECKOUT / "docs" / "explorer.png"
BAR = re.compile(r"\r[^\r\n]*")  # of progress, as text: a terminal draws it again in its place


def lessons() -> list[str]:
    """The experiments whose notebooks are lessons."""
    return [name for name in experiments() if is_lesson(experiment(name).notebook)]


def is_lesson(path: Path) -> bool:
    """Whether a notebook is committed with its outputs. A plugin may have no notebook."""
    return path.exists() and bool(_read(path).metadata.get(KEEP))


def lesson_configuration(name: str) -> Config:
    """What the outputs of a lesson are made with: the laptop's settings, then those of [lesson].

    LabError: a value of the table cannot be.
    """
    chosen = experiment(name)
    return chosen.configure(SCALE, chosen.lesson)


def write_lesson(name: str) -> Path:
    """Execute the notebook of an experiment anew and write its outputs into it; makes it a lesson.

    LabError: a cell fails; the notebook is then as it was.
    """
    import nbformat

    notebook = experiment(name).notebook
    with tempfile.TemporaryDirectory() as folder:
        # A folder of its own, so that nothing is taken from earlier runs.
        with mock.patch.dict(os.environ, MACHINE, LAB_RUNS=folder):
            run = run_notebook(lesson_configuration(name))
        lesson = with_outputs(notebook, run.path / "notebook.ipynb")
    write_atomically(notebook, nbformat.writes(lesson) + "\n")
    if notebook.parent == NOTEBOOKS and (picture := first_picture(lesson)):
        write_atomically(PICTURES / f"{notebook.stem}.png", picture)
    return notebook


def first_picture(lesson: NotebookNode) -> bytes | None:
    """The first picture that a lesson shows, small, as a PNG file; None without one."""
    outputs = (output for cell in lesson.cells for output in cell.get("outputs", []))
    pictures = (output.get("data", {}).get("image/png") for output in outputs)
    first = next(filter(None, pictures), None)
    return None if first is None else small_picture(base64.b64decode(first), WIDTH)


def with_outputs(source: Path, executed: Path) -> NotebookNode:
    """The notebook `source` with the outputs of its execution.

    LabError: it has other cells than what was executed.
    """
    lesson = _read(source)
    lesson.metadata[KEEP] = True
    cells = [cell for cell in lesson.cells if cell.cell_type == "code"]
    made = [
        cell
        for cell in _read(executed).cells
        if cell.cell_type == "code" and "injected-parameters" not in cell.metadata.get("tags", [])
    ]
    if [cell.source for cell in cells] != [cell.source for cell in made]:
        raise LabError(f"{source.name} has changed since {executed} was made: run it again")
    for cell, done in zip(cells, made, strict=True):
        cell.outputs = list(_kept(done.outputs))
        cell.execution_count = None
    return lesson


def _read(path: Path) -> NotebookNode:
    import nbformat

    return nbformat.read(path, as_version=4)


def _kept(outputs: list[NotebookNode]) -> Iterator[NotebookNode]:
    """The outputs of a cell as they are committed: no counts, small pictures, no widgets.

    A widget lives in its kernel. In place of the explorer a reader without one sees a still
    picture; others are bars of progress, which some kernels show as text: both are left out.
    """
    import nbformat

    last: NotebookNode | None = None
    for output in outputs:
        data = output.get("data", {})
        if WIDGET in data:
            if not data.get("text/plain", "").startswith(EXPLORER):
                continue
            still = base64.b64encode(STILL.read_bytes()).decode()
            output = nbformat.v4.new_output("display_data", {"image/png": still})
            data = output.data
        if output.get("name") == "stderr":
            output.text = BAR.sub("", output.text)
            if not output.text.strip():
                continue
        if "execution_count" in output:
            output.execution_count = None
        if "image/png" in data:
            picture = small_picture(base64.b64decode(data["image/png"]))
            data["image/png"] = base64.b64encode(picture).decode()
        if last is not None and last.get("name") is not None and last.name == output.get("name"):
            last.text += output.text  # a kernel may send one stream in several parts
            continue
        last = output
        yield output


def small_picture(picture: bytes, width: int | None = None) -> bytes:
    """A PNG file with few colours, of at most `width` pixels; the same picture gives the same."""
    from PIL import Image

    image = Image.open(io.BytesIO(picture)).convert("RGB")
    if width:
        image.thumbnail((width, width), Image.Resampling.LANCZOS)
    small = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(small, "png", optimize=True)
    return small.getvalue()
