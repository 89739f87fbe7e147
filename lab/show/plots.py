"""The house style, one line style per objective, and figures that carry their data.

A figure is one script in figures/ with three parts: `CAPTION`, `table()`, and `draw(table)`. A
figure of recorded runs also has `records()`, which loads them, and its table is `table(records)`.
It is saved as five files and a sixth:

NAME.pdf, NAME.png     the picture
NAME.csv               the data that is drawn
NAME.json              caption, runs with their commands, hashes of the data and of the records
NAME.tex               for LaTeX: a figure environment with the caption, scale, seeds and n
provenance/NAME.json   commits, versions, and each run's device and seconds

The picture is drawn from the data file, and a data file stays where the numbers are the same but
for another processor's last digits: so whoever draws the same gets the same bytes of all five. What
else varies is in the sixth, which git ignores; of recorded runs, data/results keeps it too.

A figure is judged by its data: tests/test_figures.py computes every table again and compares it
with the committed file.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

from lab.errors import LabError, unknown
from lab.latex import escaped
from lab.project import project
from lab.runs.experiments import experiment
from lab.runs.provenance import commits, versions
from lab.runs.run_folder import runs_root, write_atomically, write_json
from lab.runs.sweep_results import Results, own_runs, reads_own_runs
from lab.show.line_styles import (  # noqa: F401  (figures find them here)
    BLACK,
    BLUE,
    GREEN,
    GREY,
    INDIGO,
    LOOKS,
    OLIVE,
    ORANGE,
    PURPLE,
    RED,
    REFERENCE_STYLES,
    SKY,
    TABLE_3_STYLES,
    VARIANT_STYLES,
    LineStyle,
    image_style,
    line_style,
    method_style,
)

# Widths in inches. ICML: one column and the text width. NeurIPS has one column: half of its text
# width, for two figures side by side, and the text width.
COLUMN = 3.25
PAGE = 6.75
VENUES = {"icml": (COLUMN, PAGE), "neurips": (2.65, 5.5)}
_venue = ContextVar("venue", default="icml")
AGREEMENT = 1e-6  # relative, of numbers that another processor gives for the same runs
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


def curve(
    axes: Axes, rows: pd.DataFrame, x: str, y: str, style: LineStyle, label: str | None = None
) -> None:
    """The column `y` over `x` as a line, and each seed as a thin one.

    The seeds are the columns of `rows` that `Results.over_seeds` calls "seed S". A few markers tell
    the line apart in grey.
    """
    every = max(1, len(rows) // 7)
    marks = {"marker": style.marker, "markersize": 3, "markevery": every}
    axes.plot(rows[x], rows[y], label=label or style.label, **(style.line | marks))
    for column in rows:
        if column.startswith("seed "):
            axes.plot(rows[x], rows[column], linewidth=0.5, alpha=0.6, **style.line)


def by_step(
    table: pd.DataFrame,
    names: Iterable[str] | Mapping[str, LineStyle],
    titles: Mapping[str, str],
    height: float,
    **shared: Any,
) -> tuple[Figure, Any]:
    """A panel for each metric of `titles`, in it the curves of objectives by step, and a legend.

    `names` may hold styles of their own. `height` is in inches; further arguments go to `panels`.
    """
    styles = names if isinstance(names, Mapping) else {name: line_style(name) for name in names}
    figure, axes = panels(columns=len(titles), width=PAGE, height=height, **shared)
    draw_by_step(axes, table, styles, titles)
    letter(axes)
    columns = min(len(styles), 4)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=columns)
    return figure, axes


def draw_by_step(
    axes: Iterable[Axes],
    table: pd.DataFrame,
    styles: Mapping[str, LineStyle],
    titles: Mapping[str, str],
) -> None:
    """The curves of objectives by step: in each of `axes` one metric of `titles`.

    `table` is that of `Results.each_over_seeds`, by objective.
    """
    for panel, (metric, title) in zip(axes, titles.items(), strict=True):
        for name, style in styles.items():
            part = table[(table["objective"] == name) & (table["metric"] == metric)]
            curve(panel, part, "step", "mean", style)
        panel.set(title=title, xlabel="step")
        panel.margins(0.06)


def rates(
    axes: Axes, tried: pd.DataFrame, metric: str, style: LineStyle, best: pd.DataFrame
) -> None:
    """The column `metric` over `learning_rate`, each rate a mark; a ring around those of `best`."""
    marks = {"marker": style.marker, "markersize": 4, "label": style.label}
    axes.plot(tried["learning_rate"], tried[metric], **(style.line | marks))
    ring = (best["learning_rate"], best[metric], "o")
    axes.plot(*ring, color=BLACK, markersize=9, markerfacecolor="none")
    axes.set(xscale="log", xlabel="learning rate")


def letter(axes: Iterable[Axes]) -> None:
    """Put (a), (b), ... before the titles of panels, so that a caption can name them."""
    for place, panel in enumerate(axes):
        title = panel.get_title(loc="left")
        panel.set_title(f"({chr(ord('a') + place)}) {title}".rstrip(), loc="left")


TICKS = (1e-9, 1e-6, 1e-4, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)


def logit_axis(axis: Axis, low: float, high: float, ticks: Iterable[float] = TICKS) -> None:
    """Show rates from `low` to `high` in log-odds, where 0.001 is as far from 0.01 as from 1e-4.

    Those of `ticks` that lie between are labelled.
    """
    axes = axis.axes
    name = "x" if axis is axes.xaxis else "y"
    axes.set(**{f"{name}scale": "logit", f"{name}lim": (low, high)})
    shown = [tick for tick in ticks if low <= tick <= high]
    words = [f"{p:g}" if p >= 0.001 else f"$10^{{{round(math.log10(p))}}}$" for p in shown]
    axis.set_ticks(shown, labels=words)
    axis.set_ticks([], minor=True)


def label_ends(axes: Axes, ends: Iterable[tuple[str, float, LineStyle]]) -> None:
    """Write labels to the right of a panel in place of a legend: (text, height in data, look).

    They are moved apart where they would overlap. Call it last: the limits of the panel count.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    ordered = sorted(ends, key=lambda end: end[1])
    texts = [
        axes.annotate(
            label,
            (1, height),
            (4, 0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
            color=style.ink,
            annotation_clip=False,
        )
        for label, height, style in ordered
    ]
    figure.draw_without_rendering()
    places = [axes.transData.transform((0, height))[1] for _, height, _ in ordered]
    # The room a line of text takes, with a twentieth of it between two.
    room = 1.05 * max(text.get_window_extent().height for text in texts)
    # Moved as little as possible, in squares: places less their rank times `room` may not fall.
    least = room * np.arange(len(places))
    apart = isotonic_regression(np.subtract(places, least)).x + least
    for text, place, moved in zip(texts, places, apart, strict=True):
        text.set_position((4, (moved - place) * 72 / figure.dpi))


def scripts() -> Path:
    """The folder of the project's figures, one script each."""
    return project().figures


def out_folder() -> Path:
    """Where figures are saved: the folder in the variable LAB_FIGURES, else figures/out.

    Within `own_runs` it is not figures/out, which shows recorded runs, but the folder "figures"
    beside the runs. Figures for a venue other than ICML are saved in a subfolder named after it.
    """
    usual = runs_root() / "figures" if reads_own_runs() else scripts() / "out"
    folder = Path(os.environ.get("LAB_FIGURES") or usual)
    return folder if _venue.get() == "icml" else folder / _venue.get()


def save(
    figure: Figure, name: str, table: pd.DataFrame, caption: str, records: Results | None = None
) -> None:
    """Write the files of a figure.

    `table` is the table that is drawn, `records` the runs that it was computed from.
    """
    folder = out_folder()
    kept_data(name, table)
    runs = dict(sorted(records.runs.items())) if records else {}
    problems = set(records.groups.groupby("run")["problem"].nunique()) if records else set()
    record = {
        "figure": name,
        "caption": " ".join(caption.split()),
        "command": f"lab figures {'--own ' if reads_own_runs() else ''}{name}",
        "data": f"{name}.csv",
        "data_sha256": hashlib.sha256((folder / f"{name}.csv").read_bytes()).hexdigest(),
        "records_sha256": _digest(records) if records else None,
        "problems": sorted(problems),  # that each run measured
        "intervals": _interval_counts(table),
        "runs": _identities(runs),
    }
    wide = figure.get_figwidth() > VENUES[_venue.get()][0]
    for kind, content in picture_files(figure, name).items():
        write_atomically(folder / f"{name}.{kind}", content)
    write_json(folder / f"{name}.json", record)
    write_atomically(folder / f"{name}.tex", latex_text(record, wide))
    (folder / "provenance").mkdir(exist_ok=True)  # git ignores it, so that a clone has none
    provenance = {
        "figure": name,
        **commits(),
        "versions": versions(),
        "runs": {id: run["provenance"] | {"seconds": run["seconds"]} for id, run in runs.items()},
    }
    write_json(folder / "provenance" / f"{name}.json", provenance)


def kept_data(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """What NAME.csv holds, after it was written unless it holds these numbers already.

    The same numbers from another processor differ in their last digits: what is within AGREEMENT
    of the stored numbers leaves the file as it is.
    """
    path = out_folder() / f"{name}.csv"
    # Processors differ in the last of the 16 digits of a float64.
    text = table.to_csv(index=False, float_format="%.10g", lineterminator="\n")
    if not path.exists() or not agree(pd.read_csv(path), pd.read_csv(io.StringIO(text))):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    return pd.read_csv(path)


def agree(then: pd.DataFrame, now: pd.DataFrame, near: float = AGREEMENT) -> bool:
    """Whether two tables hold the same but for rounding.

    Numbers agree to a relative `near`, or to a tenth of `near` of the largest in their column.
    """
    if list(then) != list(now) or len(then) != len(now):
        return False
    for column in now:
        if not pd.api.types.is_float_dtype(now[column]):
            if not then[column].equals(now[column]):
                return False
            continue
        values = now[column].to_numpy()
        largest = np.abs(values[np.isfinite(values)]).max(initial=0)
        if not np.allclose(
            then[column], values, rtol=near, atol=near * largest / 10, equal_nan=True
        ):
            return False
    return True


def _digest(records: Results) -> str:
    """The hash of what was recorded."""
    from pandas.util import hash_pandas_object

    content = hashlib.sha256()
    for table in (records.metrics, records.groups):
        content.update(" ".join(table).encode())
        content.update(hash_pandas_object(table, index=False).to_numpy().tobytes())
    return content.hexdigest()


def picture_files(figure: Figure, name: str) -> dict[str, bytes]:
    """The content of NAME.pdf and NAME.png by their endings; the figure is closed.

    They hold no dates and no program versions, so that the bytes depend on the picture alone.
    """
    metadata: dict[str, dict[str, str | None]] = {
        "png": {"Title": name, "Software": None},
        "pdf": {"Title": name, "Creator": None, "Producer": None, "CreationDate": None},
    }
    files = {}
    for kind, facts in metadata.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, metadata=facts)
        figure.set_layout_engine("none")  # laid out once, for both
        files[kind] = buffer.getvalue()
    plt.close(figure)
    return files


def _identities(runs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What the record of a figure says of its runs: it follows from their parameters alone."""
    names = {run["params"]["experiment"] for run in runs.values()}
    experiments = {name: experiment(name) for name in names}  # each preset is read once
    identities = {}
    for id, run in runs.items():
        scale, parameters = run["params"]["scale"], run["params"]["parameters"]
        identities[id] = {
            "scale": scale,
            "seed": parameters.get("seed"),
            "command": experiments[run["params"]["experiment"]].command(scale, parameters),
        }
    return identities


def _interval_counts(table: pd.DataFrame) -> dict[str, Any]:
    """How many rows are drawn, how many with an interval, and over how many items, where stated.

    The sizes are those in the columns "seeds", "problems" or "n" of the rows with an interval.
    """
    if "low" not in table:
        return {}
    with_interval = table[table["low"].notna()]
    items = {"seeds": "seeds", "problems": "problems", "n": "problems"}
    sizes = {
        items[column]: sorted({int(size) for size in with_interval[column]})
        for column in items
        if column in table
    }
    return {"rows": len(table), "with_interval": len(with_interval), "over": sizes}


def latex_text(record: dict[str, Any], wide: bool) -> str:
    """The figure environment of a paper; `wide` is wider than a column of the current venue."""
    # NeurIPS has one column, so that no figure spans two.
    environment = "figure*" if wide and _venue.get() == "icml" else "figure"
    return rf"""\begin{{{environment}}}[t]
\centering
\includegraphics{{{record["figure"]}.pdf}}
\caption{{{escaped(record["caption"])} {escaped(footer(record))}}}
\label{{fig:{record["figure"]}}}
\end{{{environment}}}
"""


def footer(record: dict[str, Any]) -> str:
    """What a figure was drawn from: scale, runs, seeds and n, as its record holds them."""
    runs = record["runs"].values()

    def all_of(key: str) -> str:
        return ", ".join(sorted({str(run[key]) for run in runs})) or "none"

    if not runs:
        return "Scale: none, formulas and no runs. Seeds: none. n: none. Device: any."
    n = " or ".join(map(str, record["problems"]))
    words = (
        f"Scale: {all_of('scale')}. Runs: {len(runs)}. Seeds: {all_of('seed')}. n: {n}"
        " problems a run."
    )
    if drawn := record["intervals"]:
        over = "".join(
            f", over {' or '.join(map(str, sizes))} {items}"
            for items, sizes in drawn["over"].items()
        )
        words += f" Rows drawn: {drawn['rows']}, {drawn['with_interval']} with an interval{over}."
    return words


def figure_names() -> list[str]:
    """The names of all figures: one script each. LabError: this project has none."""
    if not scripts().is_dir():
        raise LabError(f"no {scripts()}: work in a project (lab init makes one) that has figures")
    return sorted(path.stem for path in scripts().glob("*.py"))


def draw_figures(
    names: Iterable[str] = (), venue: str = "icml", own: bool = False
) -> dict[str, str]:
    """Draw the figures called `names`, or all of them if it is empty.

    They show the recorded runs, or with `own` your own. Returns the figures that could not be
    drawn, each with the error message.
    """
    plt.switch_backend("agg")  # draws into files, where there may be no screen
    names = list(names) or figure_names()
    for name in names:
        if name not in figure_names():
            raise unknown("figure", name, figure_names())
    failed = {}
    with drawn_for(venue), own_runs() if own else nullcontext():
        for name in names:
            try:
                draw_figure(name)
                print(f"{name}: {out_folder() / name}.pdf", flush=True)
            except LabError as error:
                failed[name] = str(error)
    return failed


def draw_figure(name: str) -> None:
    """Run one figure script: load the records, compute the table, draw it, save its files."""
    script = load(name)
    records = script.records() if hasattr(script, "records") else None
    table = kept_data(name, script.table() if records is None else script.table(records))
    save(script.draw(table), name, table, script.CAPTION, records)


def load(name: str) -> ModuleType:
    """The script of a figure, as a module."""
    specification = importlib.util.spec_from_file_location(
        f"figures.{name}", scripts() / f"{name}.py"
    )
    assert specification is not None and specification.loader is not None
    script = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(script)
    return script


def figure_record(name: str) -> dict[str, Any] | None:
    """NAME.json, the record of a figure; None if the figure was not drawn."""
    path = out_folder() / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None
