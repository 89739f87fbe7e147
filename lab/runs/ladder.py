"""The notebooks as a ladder: which to read first, its question, minutes, picture and needs.

`lab lessons --index` writes the page that `make lab` opens, notebooks/README.md, and its pictures.
The site's page of lessons is made of the same tables. All of it is read from presets and notebooks.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.runs.experiments import NOTEBOOKS, Experiment, experiment, experiments
from lab.runs.lessons import small_picture
from lab.runs.run_folder import write_atomically

# Who begins reads these first; the others follow, both by their numbers.
FIRST = ("from_zero", "lemmas")
BEGIN = "Start here"
SECTIONS = {  # by the first digit of the number
    "0": "Objectives, and worlds small enough to compute",
    "1": "Images",
    "2": "Mazes",
    "4": "Rollouts and how to measure them",
    "5": "Training language models",
    "9": "Any runs of yours",
}
TRACKS = {  # name: what one takes along, and the numbers of the lessons
    "One evening": (
        "What an objective does to a model, and to mazes it has never seen",
        "05 20 21",
    ),
    "Theory": ("What N rollouts can optimise, with proofs", "05 06 01 02 07 08 09"),
    "Practice": ("Measure, audit and train language models", "40 41 42 44 50"),
}
NUMBERS = {"a": 1, "an": 1, "two": 2, "forty": 40}
WIDTH = 320  # pixels of a picture, shown at half of that on a sharp screen
SHOWN = WIDTH // 2
PAGE = NOTEBOOKS / "README.md"
PICTURES = NOTEBOOKS / "pictures"
HEAD = """# The lab, lesson by lesson

Each notebook asks one question and answers it by something you can turn. Read from the top; if you
know the subject, start anywhere. To try something else, change a number in a notebook's first cell
of code and choose *Run*, *Run All Cells*.

"""
TIME = re.compile(r"\*\*Time\.\*\*\s*(.*?)\s*(?=\*\*Before this|\n\n|\Z)", re.DOTALL)
BEFORE = re.compile(r"\*\*Before this:\*\*\s*(.*?)\s*(?=\*\*After this|\n\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """One notebook of the ladder. `time` and `before` are Markdown, empty where it says none."""

    notebook: Path
    section: str
    question: str
    time: str
    before: str
    language_models: bool  # needs `make setup-llm`
    picture: bytes | None  # a PNG file


def ladder() -> list[Entry]:
    """Every notebook of the project, in the order of reading; those of plugins are left out."""
    chosen = [experiment(name) for name in experiments()]
    ours = [one for one in chosen if one.notebook.parent == NOTEBOOKS]
    ours.sort(key=lambda one: (one.name not in FIRST, one.notebook.name))
    return [_entry(one) for one in ours]


def _entry(chosen: Experiment) -> Entry:
    import nbformat

    notebook = nbformat.read(chosen.notebook, as_version=4)
    words = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    drawn = [
        output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})
    ]
    return Entry(
        notebook=chosen.notebook,
        section=BEGIN if chosen.name in FIRST else SECTIONS[chosen.notebook.name[0]],
        question=chosen.title,
        time=_found(TIME, words),
        before=_found(BEFORE, words),
        language_models=bool({"model", "models"} & chosen.rules.keys()),
        picture=small_picture(base64.b64decode(drawn[0]), WIDTH) if drawn else None,
    )


def _found(pattern: re.Pattern[str], words: str) -> str:
    match = pattern.search(words)
    return " ".join(match[1].split()) if match else ""


def tracks(entries: Iterable[Entry], folder: str) -> Iterator[str]:
    """The lines of a Markdown list: ways through the lessons, with the time that they take."""
    by_number = {entry.notebook.name[:2]: entry for entry in entries}
    for name, (gain, numbers) in TRACKS.items():
        chosen = [by_number[number] for number in numbers.split()]
        hours, minutes = divmod(sum(map(_minutes, chosen)), 60)
        links = (f"[{one.notebook.name[:2]}]({folder}{one.notebook.name})" for one in chosen)
        yield f"- **{name}** ({hours} h {minutes} min): {', '.join(links)}. {gain}."


def _minutes(entry: Entry) -> int:
    """The minutes that a lesson says it takes: "40 minutes to read", "Two hours with pencil"."""
    count, unit = entry.time.lower().split()[:2]
    amount = int(count) if count.isdigit() else NUMBERS[count]
    return amount * (60 if unit.startswith("hour") else 1)


def sections(entries: Iterable[Entry], folder: str = "") -> Iterator[str]:
    """The lines of a Markdown page: the ways through, then a table for each section.

    `folder` is where the notebooks are, seen from the page: "" or "notebooks/".
    """
    entries = list(entries)
    section = None
    yield from ("The story of `lab explore` takes ten minutes. From there:", "")
    yield from tracks(entries, folder)
    for entry in entries:
        if entry.section != section:
            section = entry.section
            yield from ("", f"## {section}", "", "| | |", "|---|---|")
        link = f"{folder}{entry.notebook.name}"
        shown = ""
        if entry.picture:
            place = f"{folder}{PICTURES.name}/{entry.notebook.stem}.png"
            shown = f'<img src="{place}" width="{SHOWN}" alt="">'
        # Links of a notebook begin in its folder.
        before = re.sub(r"\]\((?!https?:)", f"]({folder}", entry.before)
        remarks = [entry.time, before and f"Before it: {before}"]
        remarks.append("Needs `make setup-llm`." if entry.language_models else "")
        said = " ".join(filter(None, remarks))
        number, _, _ = entry.notebook.name.partition("_")
        yield f"| {shown} | **[{number}. {entry.question}]({link})**<br>{said} |"


def page(entries: Iterable[Entry]) -> str:
    return HEAD + "\n".join(sections(entries)) + "\n"


def write() -> list[Path]:
    """Write the page and its pictures; pictures of notebooks that are gone are removed."""
    entries = ladder()
    PICTURES.mkdir(exist_ok=True)
    pictures = {PICTURES / f"{entry.notebook.stem}.png": entry.picture for entry in entries}
    for stale in set(PICTURES.glob("*.png")) - {path for path, one in pictures.items() if one}:
        stale.unlink()
    for path, picture in pictures.items():
        if picture:
            write_atomically(path, picture)
    write_atomically(PAGE, page(entries))
    return [PAGE, *sorted(PICTURES.glob("*.png"))]
