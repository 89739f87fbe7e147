"""A page on any runs: curves with intervals, a table, a paired comparison, provenance. Floor 3.

`lab report` executes notebook 90, which calls the functions here, and writes its cells' results as
one HTML file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import LabError, unknown
from lab.runs.experiments import NOTEBOOKS, experiment
from lab.runs.notebooks import run_notebook
from lab.runs.run_folder import Run, write_atomically
from lab.runs.sweep_file import read_sweep
from lab.runs.sweep_results import Results, results_of_runs, results_of_sweep
from lab.show import plots
from lab.stats import compare

if TYPE_CHECKING:
    import pandas as pd

DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (2, 1)), (0, (6, 1, 1, 1, 1, 1)))
COLORS = (
    plots.BLUE,
    plots.RED,
    plots.GREEN,
    plots.ORANGE,
    plots.PURPLE,
    plots.BLACK,
    plots.SKY,
    plots.OLIVE,
)
STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:58rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}
table{border-collapse:collapse;font-size:.85rem}td,th{border-bottom:1px solid #ddd;padding:.2rem .7rem .2rem 0;
text-align:left}img{max-width:100%}pre{white-space:pre-wrap;font-size:.8rem;color:#444}.anchor-link{display:none}"""


def gather(paths: Sequence[str | Path], name: str = "") -> Results:
    """The runs of a sweep file (your own, else as recorded), or those in the folders given.

    Errors: a sweep of several trained experiments without a `name`; folders of different
    experiments, or unfinished.
    """
    paths = [Path(path) for path in paths]
    if paths[0].suffix == ".toml":
        if len(paths) > 1:
            raise LabError(
                f"{len(paths)} paths, the first a sweep file: give one sweep file, or run folders"
            )
        trained = sorted(
            {
                item.experiment
                for item in read_sweep(paths[0])
                if experiment(item.experiment).trainer
            }
        )
        if not name and len(trained) != 1:
            raise LabError(
                f"{paths[0].name} trains {', '.join(trained) or 'nothing'}: name one experiment"
            )
        if name and name not in trained:
            raise unknown(f"trained experiment of {paths[0].name}", name, trained)
        return results_of_sweep(paths[0], name or trained[0])
    runs = [Run(path) for path in paths]
    kinds = {run.params["experiment"] for run in runs}
    if len(kinds) > 1:
        raise LabError(
            f"runs of {', '.join(sorted(kinds))}: a report is on one experiment, give its runs only"
        )
    if waiting := [run.path for run in runs if not run.finished]:
        raise LabError(f"{waiting[0]} has not finished: run its command again, or leave it out")
    return results_of_runs(runs)


def settings(found: Results, by: str = "") -> list[str]:
    """The parameters in `by`, checked; all that vary between the runs, but the seed, where it is
    empty.
    """
    parameters = next(iter(found.runs.values()))["params"]["parameters"]
    for key in by.split():
        if key not in parameters:
            raise unknown("parameter", key, parameters)
    varied = [key for key in parameters if key != "seed" and found.metrics[key].nunique() > 1]
    return by.split() or varied or [next(iter(parameters))]


def curves(found: Results, metric: str, by: Sequence[str]) -> pd.DataFrame:
    """Mean over seeds of `metric` with its interval, a row a setting and step; `setting` names it
    in words.
    """
    parameters = {"step", "run", *next(iter(found.runs.values()))["params"]["parameters"]}
    if metric not in found.metrics or metric in parameters:
        raise unknown("metric", metric, set(found.metrics) - parameters)
    told = Results(found.metrics[found.metrics[metric].notna()], found.groups, found.runs)
    if told.metrics.duplicated([*by, "seed", "step"]).any():
        raise LabError(
            f"runs differ in more than {', '.join(by)} and the seed: add"
            f" {', '.join(settings(found))}"
        )
    table = told.over_seeds(metric, list(by))
    return table.assign(setting=table[list(by)].astype(str).agg(", ".join, axis=1))


def draw(table: pd.DataFrame, metric: str):
    """The curves, each setting with its own colour and dash."""
    figure, axes = plots.panels(width=plots.PAGE, height=3.4)
    for place, (setting, part) in enumerate(table.groupby("setting", sort=False)):
        color, dash = COLORS[place % len(COLORS)], DASHES[place // len(COLORS) % len(DASHES)]
        axes.plot(part["step"], part[metric], color=color, linestyle=dash, label=setting)
        axes.fill_between(
            part["step"], part["low"], part["high"], color=color, alpha=0.15, linewidth=0
        )
    axes.set(xlabel="step", ylabel=metric)
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def final(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The last step of every setting: the metric with its interval over seeds, and how many there
    are.
    """
    last = table.sort_values("step").groupby("setting", sort=False).tail(1)
    interval = [
        f"[{low:.3f}, {high:.3f}]" if low == low else "one seed"
        for low, high in zip(last["low"], last["high"], strict=True)
    ]
    return (
        last.assign(interval=interval)[["setting", "step", metric, "interval", "seeds"]]
        .sort_values(metric, ascending=False)
        .reset_index(drop=True)
    )


def paired(found: Results, by: Sequence[str], against: str = "") -> pd.DataFrame:
    """Every setting minus one of them, on the same problems of the same seeds at the last step.

    Columns: setting, difference of mean pass rates, its 95% interval, the share of problems on
    which it is better (ties count half), problems, seeds. Intervals draw problems and, where there
    are two or more, seeds again.
    """
    import pandas as pd

    groups = found.groups.assign(setting=found.groups[list(by)].astype(str).agg(", ".join, axis=1))
    if "pass_rate" not in groups:
        groups["pass_rate"] = groups["right"] / groups["n"]
    cells = {
        name: part.pivot(index="seed", columns="problem", values="pass_rate")
        for name, part in groups.groupby("setting", sort=False)
    }
    against = against or next(iter(cells))
    if against not in cells:
        raise unknown("setting", against, cells)
    rows = []
    for name, ours in cells.items():
        ours, theirs = ours.align(cells[against], join="inner")
        if name == against or not ours.size:
            continue
        several = len(ours) > 1
        duel = compare(
            *(part.to_numpy() if several else part.to_numpy()[0] for part in (ours, theirs)),
            over="both" if several else "problems",
            draws=2000,
        )
        one, better = duel.difference, duel.probability_of_improvement
        rows.append(
            (
                name,
                one.point,
                f"[{one.low:.4f}, {one.high:.4f}]",
                better.point,
                ours.shape[1],
                len(ours),
            )
        )
    return pd.DataFrame(
        rows, columns=["setting", f"minus {against}", "interval", "better on", "problems", "seeds"]
    )


def origins(found: Results) -> pd.DataFrame:
    """Where each run came from: its command, commit, device and seconds."""
    import pandas as pd

    return pd.DataFrame(
        [
            (
                run,
                one["provenance"]["command"],
                (one["provenance"]["commit"] or "none")[:10],
                one["provenance"]["device"],
                one["seconds"],
            )
            for run, one in found.runs.items()
        ],
        columns=["run", "command", "commit", "device", "seconds"],
    )


def report(paths: Sequence[Path], file: Path | None = None, **given: str) -> Path:
    """Execute notebook 90 on these runs and write its results as one HTML file, report.html in its
    run folder.
    """
    if missing := [path for path in paths if not path.exists()]:
        raise LabError(
            f"no {missing[0]}: give a sweep file, for example sweeps/laptop.toml, or run folders"
        )
    given = {
        "sources": [os.path.relpath(path, NOTEBOOKS) for path in paths],
        "experiment": "",
    } | given
    gather(paths, given["experiment"])  # refuses before a kernel starts
    run = Run.place("report", experiment("report").parameters("laptop", given))
    (run.path / "done.json").unlink(missing_ok=True)  # runs may have finished since
    run = run_notebook("report", "laptop", given)
    file = file or run.path / "report.html"
    write_atomically(file, _html(run.path / "notebook.ipynb"))
    return file


def _html(notebook: Path) -> str:
    """The words and the results of an executed notebook, pictures inside, nothing from elsewhere."""
    from nbconvert.exporters import HTMLExporter

    exporter = HTMLExporter(template_name="basic", exclude_input=True, exclude_output_prompt=True)
    body, _ = exporter.from_filename(str(notebook))
    head = (
        "<!doctype html><html lang=en><meta"
        f" charset=utf-8><title>Report</title><style>{STYLE}</style>"
    )
    return f"{head}{body}</html>\n"
