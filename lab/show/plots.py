"""The house style, one line style per objective, and figures that carry their data.

A figure is one script in figures/ with three parts: `CAPTION`, `table()`, and `draw(table)`. A
figure of recorded runs also has `records()`, which loads them, and its table is `table(records)`.
It is saved as five files:

NAME.pdf, NAME.png   the picture
NAME.csv             the data that is drawn
NAME.json            caption, commit, versions, runs, hashes of the inputs
NAME.txt             the caption, with scale, seeds, n, device and commit
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import itertools
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.errors import LabError, parse_call, unknown
from lab.estimators import estimator
from lab.objectives import objective, objective_names
from lab.runs.provenance import ROOT, commit_of, versions
from lab.runs.run_folder import write_atomically, write_json
from lab.runs.sweep_results import Results
from lab.show import staleness

if TYPE_CHECKING:
    import pandas as pd

SCRIPTS = ROOT / "figures"
# Widths in inches. ICML: one column and the text width. NeurIPS has one column: half of its text
# width, for two figures side by side, and the text width.
COLUMN = 3.25
PAGE = 6.75
VENUES = {"icml": (COLUMN, PAGE), "neurips": (2.65, 5.5)}
_venue = ContextVar("venue", default="icml")


class LineStyle(NamedTuple):
    """How an objective is drawn in every figure; dashes and markers tell lines apart in grey."""

    label: str
    color: str
    dash: Any = "-"
    marker: str = "o"

    @property
    def line(self) -> dict[str, Any]:
        """Colour and dashes, as keyword arguments for matplotlib."""
        return {"color": self.color, "linestyle": self.dash}


# The palette of Okabe and Ito, told apart by colour-blind readers, ...
BLUE = "#0072b2"
ORANGE = "#e69f00"
RED = "#d55e00"
GREEN = "#009e73"
SKY = "#56b4e9"
BLACK = "#000000"
# ... and two colours of Paul Tol's.
PURPLE = "#aa4499"
OLIVE = "#999933"
# Objectives of one family share a colour. A dash is (offset, (on, off, ...)) in line widths.
LINE_STYLES = {
    "rl": LineStyle("RL", BLUE, "-", "s"),
    "rloo": LineStyle("RLOO", BLUE, "-", "s"),
    "reinforce_mean": LineStyle("REINFORCE", BLUE, (0, (5, 1.5)), "s"),
    "reinforce": LineStyle("REINFORCE, no baseline", SKY, (0, (1, 1)), "s"),
    "arcsine": LineStyle("GRPO", ORANGE, (0, (4, 1, 1, 1)), "^"),
    "grpo": LineStyle("GRPO", ORANGE, (0, (4, 1, 1, 1)), "^"),
    "maxrl": LineStyle("MaxRL", RED, "-", "o"),
    "truncated": LineStyle("MaxRL", RED, "-", "o"),
    "maxrl_eq6": LineStyle("MaxRL eq. 6", PURPLE, (0, (3, 1)), "v"),
    "maxrl_eq7": LineStyle("MaxRL eq. 7", SKY, (0, (2, 1)), "D"),
    "maxrl_loo": LineStyle("MaxRL leave-one-out", GREEN, (0, (6, 1, 1, 1, 1, 1)), "P"),
    "ml": LineStyle("maximum likelihood", BLACK, (0, (1, 1)), "*"),
    "log_odds": LineStyle("PACS", GREEN, (0, (6, 1.5, 1, 1.5)), "D"),
    "pacs_anchor": LineStyle("PACS", GREEN, (0, (6, 1.5, 1, 1.5)), "D"),
    "pacs": LineStyle("PACS", GREEN, (0, (6, 1.5, 1, 1.5)), "D"),
    "pkpo": LineStyle("PKPO", OLIVE, (0, (2, 1, 1, 1)), "<"),
    "from_weight": LineStyle("drawn", PURPLE, (0, (4, 1, 2, 1)), "X"),
}
# For estimators without a style above.
FURTHER_DASHES = ((0, (7, 1)), (0, (3, 1, 1, 1)), (0, (1, 2)), (0, (2, 2)), (0, (5, 1, 2, 1)))


def line_style(name: str) -> LineStyle:
    """The line style of an objective or estimator, by its name or spec.

    One without a style of its own has its label and a colour, dash and marker that follow from its
    name, so that it looks the same in every figure.
    """
    key = parse_call(name)[0]
    if key in LINE_STYLES:
        return LINE_STYLES[key]
    found = objective(name) if key in objective_names() else estimator(name)
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big")
    looks = list(itertools.product((PURPLE, OLIVE, SKY, BLACK), FURTHER_DASHES, "vD<>pXh"))
    return LineStyle(found.label, *looks[number % len(looks)])


STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "figure.constrained_layout.use": True,
    "figure.dpi": 120,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,
    "svg.hashsalt": "lab",
    "axes.titlelocation": "left",
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
}


@contextmanager
def drawn_for(venue: str) -> Iterator[None]:
    """While it is active, `panels` takes COLUMN and PAGE for the widths of this venue."""
    if venue not in VENUES:
        raise unknown("venue", venue, VENUES)
    token = _venue.set(venue)
    try:
        yield
    finally:
        _venue.reset(token)


def use_style() -> None:
    """Set the house style for all figures drawn from now on."""
    plt.style.use(STYLE)


def panels(
    columns: int = 1,
    rows: int = 1,
    width: float = COLUMN,
    height: float | None = None,
    **kwargs: Any,
) -> tuple[Figure, Any]:
    """A figure of `rows` x `columns` panels in house style; returns (figure, axes).

    `width` and `height` are in inches. The widths COLUMN and PAGE are replaced by those of the
    current venue. Further arguments go to `plt.subplots`, which also decides the form of `axes`.
    """
    use_style()
    venue_widths = dict(zip(VENUES["icml"], VENUES[_venue.get()], strict=True))
    width = venue_widths.get(width, width)
    if not height:
        height = rows * 0.72 * width / columns
    return plt.subplots(rows, columns, figsize=(width, height), **kwargs)


def band(
    axes: Axes,
    x: pd.Series,
    low: pd.Series,
    middle: pd.Series,
    high: pd.Series,
    name: str,
    label: str | None = None,
    **kwargs: Any,
) -> None:
    """A line with its interval as a band, in the line style of the objective `name`.

    A few markers tell the line apart in grey. Further arguments go to `axes.plot`.
    """
    style = line_style(name)
    marks = {"marker": style.marker, "markersize": 3, "markevery": max(1, len(x) // 7)}
    axes.plot(x, middle, label=label or style.label, **(style.line | marks | kwargs))
    axes.fill_between(x, low, high, color=style.color, alpha=0.18, linewidth=0)


def out_folder() -> Path:
    """Where figures are saved: the folder in the variable LAB_FIGURES, else figures/out.

    Figures for a venue other than ICML are saved in a subfolder named after it.
    """
    folder = Path(os.environ.get("LAB_FIGURES") or SCRIPTS / "out")
    return folder if _venue.get() == "icml" else folder / _venue.get()


def save(
    figure: Figure, name: str, table: pd.DataFrame, caption: str, records: Results | None = None
) -> None:
    """Write the five files of a figure; the same inputs give the same bytes.

    `table` is the table that is drawn, `records` the runs that it was computed from.
    """
    folder = out_folder()
    folder.mkdir(parents=True, exist_ok=True)
    data = table.to_csv(index=False, float_format="%.10g", lineterminator="\n")
    # No dates and no program versions, so that the bytes depend on the picture alone.
    metadata: dict[str, dict[str, str | None]] = {
        "pdf": {"Title": name, "Creator": None, "Producer": None, "CreationDate": None},
        "png": {"Title": name, "Software": None},
    }
    for kind, facts in metadata.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, metadata=facts)
        write_atomically(folder / f"{name}.{kind}", buffer.getvalue())
    plt.close(figure)
    write_atomically(folder / f"{name}.csv", data)
    script = SCRIPTS / f"{name}.py"
    inputs = staleness.input_hashes(script, records) if script.exists() else {}
    input_paths = inputs.keys() - {"records"}
    record = {
        "figure": name,
        "caption": " ".join(caption.split()),
        "command": f"lab figures {name}",
        "commit": commit_of(*(input_paths or ["lab"])),
        "versions": versions(),
        "inputs": inputs,
        "data": f"{name}.csv",
        "data_sha256": hashlib.sha256(data.encode()).hexdigest(),
        "problems": _problem_counts(records),
        "runs": {id: _origin(run) for id, run in sorted(records.runs.items())} if records else {},
    }
    write_json(folder / f"{name}.json", record)
    write_atomically(folder / f"{name}.txt", caption_text(record))


def _origin(run: dict[str, Any]) -> dict[str, Any]:
    """What the record of a figure says of one run."""
    origin = run["provenance"]
    values = run["params"]["parameters"]
    return {
        "scale": run["params"]["scale"],
        "seed": values.get("seed"),
        "command": origin["command"],
        "commit": origin["commit"],
        "device": origin["device"],
        "seconds": run["seconds"],
    }


def _problem_counts(records: Results | None) -> list[int]:
    """How many problems each run measured at its last step, without repetitions, sorted."""
    return sorted(set(records.groups.groupby("run").size().tolist())) if records else []


def caption_text(record: dict[str, Any]) -> str:
    """The caption for a paper: what is shown, then scale, seeds, n, device and commits."""
    runs = record["runs"].values()

    def all_of(key: str) -> str:
        return ", ".join(sorted({str(run[key]) for run in runs})) or "none"

    if runs:
        n = " or ".join(map(str, record["problems"]))
        lines = [
            (
                f"Scale: {all_of('scale')}. Runs: {len(runs)}. Seeds: {all_of('seed')}. n: {n}"
                " problems a run."
            ),
            f"Device: {all_of('device')}. Runs made at commit {all_of('commit')}.",
        ]
    else:
        lines = ["Scale: none, formulas and no runs. Seeds: none. n: none. Device: any."]
    drawn_by = f"Drawn by {record['command']} at commit {record['commit']}."
    return "\n".join([record["caption"], "", *lines, drawn_by]) + "\n"


def figure_names() -> list[str]:
    """The names of all figures: one script each. LabError: this is no clone of the project."""
    if not SCRIPTS.is_dir():
        raise LabError(f"no {SCRIPTS}: draw figures in a clone of the project, which holds them")
    return sorted(path.stem for path in SCRIPTS.glob("*.py"))


def draw_figures(names: Iterable[str] = (), venue: str = "icml") -> dict[str, str]:
    """Draw the figures called `names`, or all of them if it is empty.

    Returns the figures that could not be drawn, each with the error message.
    """
    plt.switch_backend("agg")  # draws into files, where there may be no screen
    names = list(names) or figure_names()
    for name in names:
        if name not in figure_names():
            raise unknown("figure", name, figure_names())
    failed = {}
    with drawn_for(venue):
        for name in names:
            try:
                draw_figure(name)
                print(f"{name}: {out_folder() / name}.pdf", flush=True)
            except LabError as error:
                failed[name] = str(error)
    return failed


def draw_figure(name: str) -> None:
    """Run one figure script: load the records, compute the table, draw it, save five files."""
    script = load(name)
    records = script.records() if hasattr(script, "records") else None
    table = script.table() if records is None else script.table(records)
    save(script.draw(table), name, table, script.CAPTION, records)


def load(name: str) -> ModuleType:
    """The script of a figure, as a module."""
    specification = importlib.util.spec_from_file_location(
        f"figures.{name}", SCRIPTS / f"{name}.py"
    )
    assert specification is not None and specification.loader is not None
    script = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(script)
    return script


def figure_record(name: str) -> dict[str, Any] | None:
    """NAME.json, the record of a figure; None if the figure was not drawn."""
    path = out_folder() / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def stale(name: str) -> list[str]:
    """The inputs of a figure that changed since it was drawn; ["not drawn"] if it never was."""
    if (record := figure_record(name)) is None:
        return ["not drawn"]
    script = load(name)
    records = script.records() if hasattr(script, "records") else None
    then = record.get("inputs", {})
    now = staleness.input_hashes(SCRIPTS / f"{name}.py", records)
    return sorted(key for key in then.keys() | now.keys() if then.get(key) != now.get(key))
