"""House style, one colour and name per objective, and figures that carry their data. Floor 3.

A figure is one script in figures/: `CAPTION`, `table()` (or `records()`, which finds the runs, and
`table(found)`), and `draw(table)`. It is saved as NAME.pdf, .png, .csv (what is drawn), .json
(caption, commit, versions, runs, hashes of its inputs) and .txt (the caption, with scale, seeds, n,
device and commit).
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt

from lab.errors import LabError, parse_call, unknown
from lab.runs.provenance import ROOT, commit_of, versions
from lab.runs.run_folder import write_atomically, write_json
from lab.runs.sweep_results import Results
from lab.show import staleness

SCRIPTS = ROOT / "figures"
COLUMN, PAGE = 3.25, 6.75  # inches: one column and the text width of ICML
VENUES = {
    "icml": (COLUMN, PAGE),
    "neurips": (2.65, 5.5),
}  # NeurIPS: two figures side by side, and its text width
_venue = ContextVar("venue", default="icml")


class LineStyle(NamedTuple):
    """How an objective is drawn everywhere. Dashes and markers tell the lines apart in grey."""

    label: str
    color: str
    dash: Any = "-"
    marker: str = "o"

    @property
    def line(self) -> dict[str, Any]:
        return {"color": self.color, "linestyle": self.dash}


BLUE, ORANGE, RED, GREEN, PURPLE, SKY, BLACK = (
    "#0072b2",
    "#e69f00",
    "#d55e00",
    "#009e73",
    "#aa4499",
    "#56b4e9",
    "#000000",
)  # Okabe and Ito
OLIVE = "#999933"  # Tol
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


def line_style(name: str) -> LineStyle:
    """The look of an objective or estimator, by its name or spec."""
    key = parse_call(name)[0]
    if key not in LINE_STYLES:
        raise unknown("line style for", key, LINE_STYLES)
    return LINE_STYLES[key]


STYLE = {
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
    """Within it, COLUMN and PAGE stand for the widths of this venue."""
    if venue not in VENUES:
        raise unknown("venue", venue, VENUES)
    token = _venue.set(venue)
    try:
        yield
    finally:
        _venue.reset(token)


def use_style() -> None:
    """Set the house style for every figure drawn after."""
    plt.rcParams.update(STYLE)


def panels(
    columns: int = 1, rows: int = 1, width: float = COLUMN, height: float | None = None, **kwargs
):
    """A figure of `rows` x `columns` panels in house style; returns (figure, axes).

    `width` in inches; COLUMN and PAGE become those of the venue that is drawn for.
    """
    use_style()
    width = dict(zip(VENUES["icml"], VENUES[_venue.get()], strict=True)).get(width, width)
    return plt.subplots(
        rows, columns, figsize=(width, height or rows * 0.72 * width / columns), **kwargs
    )


def band(axes, x, low, middle, high, name: str, label: str | None = None, **kwargs) -> None:
    """A line with its interval as a band, in the look of `name`; a few marks tell it apart in grey."""
    style = line_style(name)
    marks = {"marker": style.marker, "markersize": 3, "markevery": max(1, len(x) // 7)}
    axes.plot(x, middle, label=label or style.label, **(style.line | marks | kwargs))
    axes.fill_between(x, low, high, color=style.color, alpha=0.18, linewidth=0)


def out_folder() -> Path:
    """Where figures are saved: the folder named by the variable LAB_FIGURES, else figures/out in
    the project.

    Those for another venue than ICML have a folder of its name in it.
    """
    folder = Path(os.environ.get("LAB_FIGURES") or SCRIPTS / "out")
    return folder if _venue.get() == "icml" else folder / _venue.get()


def save(figure, name: str, table, caption: str, found: Results | None = None) -> None:
    """Write the five files of a figure; the same inputs give the same bytes.

    `table` is the pandas table that is drawn, `found` the runs behind it.
    """
    folder = out_folder()
    folder.mkdir(parents=True, exist_ok=True)
    data = table.to_csv(index=False, float_format="%.10g", lineterminator="\n")
    metadata = {
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
    made_from = staleness.input_hashes(script, found) if script.exists() else {}
    record = {
        "figure": name,
        "caption": " ".join(caption.split()),
        "command": f"lab figures {name}",
        "commit": commit_of(*(made_from.keys() - {"records"} or ["lab"])),
        "versions": versions(),
        "inputs": made_from,
        "data": f"{name}.csv",
        "data_sha256": hashlib.sha256(data.encode()).hexdigest(),
        "problems": _problems(found),
        "runs": {run: _facts(one) for run, one in sorted(found.runs.items())} if found else {},
    }
    write_json(folder / f"{name}.json", record)
    write_atomically(folder / f"{name}.txt", legend(record))


def _facts(run: dict[str, Any]) -> dict[str, Any]:
    origin, values = run["provenance"], run["params"]["parameters"]
    return {
        "scale": run["params"]["scale"],
        "seed": values.get("seed"),
        "command": origin["command"],
        "commit": origin["commit"],
        "device": origin["device"],
        "seconds": run["seconds"],
    }


def _problems(found: Results | None) -> list[int]:
    """How many problems the runs measured at their last step: one number, or several where runs
    differ.
    """
    return sorted(set(found.groups.groupby("run").size().tolist())) if found else []


def legend(told: dict[str, Any]) -> str:
    """The caption of a figure as it goes into a paper: what it shows, then scale, seeds, n, device
    and commits.
    """
    runs = told["runs"].values()

    def all_of(key):
        return ", ".join(sorted({str(run[key]) for run in runs})) or "none"

    if runs:
        n = " or ".join(map(str, told["problems"]))
        lines = [
            (
                f"Scale: {all_of('scale')}. Runs: {len(runs)}. Seeds: {all_of('seed')}. n: {n}"
                " problems a run."
            ),
            f"Device: {all_of('device')}. Runs made at commit {all_of('commit')}.",
        ]
    else:
        lines = ["Scale: none, formulas and no runs. Seeds: none. n: none. Device: any."]
    return (
        "\n".join(
            [told["caption"], "", *lines, f"Drawn by {told['command']} at commit {told['commit']}."]
        )
        + "\n"
    )


def figure_names() -> list[str]:
    return sorted(path.stem for path in SCRIPTS.glob("*.py"))


def draw_figures(names: Iterable[str] = (), venue: str = "icml") -> dict[str, str]:
    """Draw the figures called `names`, all of them where it is empty; returns those not drawn, with
    the reason.
    """
    plt.switch_backend("agg")
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
    """Run one figure script: records in, table, drawing, five files out."""
    script = load(name)
    found = script.records() if hasattr(script, "records") else None
    table = script.table() if found is None else script.table(found)
    save(script.draw(table), name, table, script.CAPTION, found)


def load(name: str):
    """The script of a figure, as a module."""
    specification = importlib.util.spec_from_file_location(
        f"figures.{name}", SCRIPTS / f"{name}.py"
    )
    script = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(script)
    return script


def figure_record(name: str) -> dict[str, Any] | None:
    """What is written about a figure that was drawn: NAME.json; None where it was not."""
    path = out_folder() / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def stale(name: str) -> list[str]:
    """The inputs of a figure that have changed since it was drawn; ["not drawn"] where it never
    was.
    """
    if (kept := figure_record(name)) is None:
        return ["not drawn"]
    then, script = kept.get("inputs", {}), load(name)
    now = staleness.input_hashes(
        SCRIPTS / f"{name}.py", script.records() if hasattr(script, "records") else None
    )
    return sorted(key for key in then.keys() | now.keys() if then.get(key) != now.get(key))
