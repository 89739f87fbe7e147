"""A report on any runs: curves with intervals, a table, a paired comparison, provenance.

`lab report` executes notebook 90, which calls the functions here, and writes the results of its
cells as one HTML file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from lab.errors import LabError, unknown
from lab.runs.experiments import NOTEBOOKS, experiment
from lab.runs.former_names import FORMER
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
STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:58rem;margin:2rem auto;padding:0 1rem;
color:#1b1b1b}table{border-collapse:collapse;font-size:.85rem}
td,th{border-bottom:1px solid #ddd;padding:.2rem .7rem .2rem 0;text-align:left}
img{max-width:100%}pre{white-space:pre-wrap;font-size:.8rem;color:#444}.anchor-link{display:none}"""


def gather(sources: Sequence[str | Path], name: str = "") -> Results:
    """The runs of a sweep file (your own, or those recorded in the project), or of run folders.

    It is an error if a sweep trains several experiments and `name` does not choose one, and if
    folders hold runs of different experiments or unfinished runs.
    """
    paths = [Path(source) for source in sources]
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


def settings(results: Results, by: str = "") -> list[str]:
    """The parameters named in `by`; if it is empty, all but the seed that differ between runs."""
    parameters = next(iter(results.runs.values()))["params"]["parameters"]
    # The tables hold some parameters under their former names; both are accepted.
    chosen = [key if key in parameters else FORMER.get(key, key) for key in by.split()]
    for key in chosen:
        if key not in parameters:
            raise unknown("parameter", key, parameters)
    varied = [key for key in parameters if key != "seed" and results.metrics[key].nunique() > 1]
    return chosen or varied or [next(iter(parameters))]


def curves(results: Results, metric: str, by: Sequence[str]) -> pd.DataFrame:
    """The mean of `metric` over seeds with its interval: one row for each setting and step.

    The column `setting` holds the values of the parameters `by`, joined by commas.
    """
    parameters = {"step", "run", *next(iter(results.runs.values()))["params"]["parameters"]}
    if metric not in results.metrics or metric in parameters:
        raise unknown("metric", metric, set(results.metrics) - parameters)
    # Not every record holds every metric: evaluations are less frequent than training steps.
    has_metric = results.metrics[metric].notna()
    measured = Results(results.metrics[has_metric], results.groups, results.runs)
    if measured.metrics.duplicated([*by, "seed", "step"]).any():
        raise LabError(
            f"runs differ in more than {', '.join(by)} and the seed: add"
            f" {', '.join(settings(results))}"
        )
    table = measured.over_seeds(metric, list(by))
    return table.assign(setting=table[list(by)].astype(str).agg(", ".join, axis=1))


def draw(table: pd.DataFrame, metric: str) -> Figure:
    """The curves, each setting with its own colour and dash."""
    figure, axes = plots.panels(width=plots.PAGE, height=3.4)
    for number, (setting, part) in enumerate(table.groupby("setting", sort=False)):
        # All colours with the first dash, then all colours with the next one.
        color = COLORS[number % len(COLORS)]
        dash = DASHES[number // len(COLORS) % len(DASHES)]
        axes.plot(part["step"], part[metric], color=color, linestyle=dash, label=setting)
        axes.fill_between(
            part["step"], part["low"], part["high"], color=color, alpha=0.15, linewidth=0
        )
    axes.set(xlabel="step", ylabel=metric)
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def final(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The last step of every setting: the metric, its interval over seeds, number of seeds."""
    last = table.sort_values("step").groupby("setting", sort=False).tail(1)
    intervals = [
        f"[{low:.3f}, {high:.3f}]" if low == low else "one seed"  # low is nan: not equal to itself
        for low, high in zip(last["low"], last["high"], strict=True)
    ]
    return (
        last.assign(interval=intervals)[["setting", "step", metric, "interval", "seeds"]]
        .sort_values(metric, ascending=False)
        .reset_index(drop=True)
    )


def paired(results: Results, by: Sequence[str], against: str = "") -> pd.DataFrame:
    """Every setting minus one of them, on the same problems and seeds at the last step.

    Columns: setting, difference of mean pass rates, its 95% interval, the share of problems on
    which the setting is better (ties count half), problems, seeds. The bootstrap resamples problems
    and, where there are two or more, seeds. `against` names the setting that is subtracted (the
    first, if it is empty).
    """
    import pandas as pd

    setting = results.groups[list(by)].astype(str).agg(", ".join, axis=1)
    groups = results.groups.assign(setting=setting)
    if "pass_rate" not in groups:
        groups["pass_rate"] = groups["right"] / groups["n"]
    pass_rates = {
        name: part.pivot(index="seed", columns="problem", values="pass_rate")
        for name, part in groups.groupby("setting", sort=False)
    }
    against = against or next(iter(pass_rates))
    if against not in pass_rates:
        raise unknown("setting", against, pass_rates)
    rows = []
    for name, all_rates in pass_rates.items():
        # Both tables, "seeds problems", keep only the seeds and problems that they share.
        rates, reference = all_rates.align(pass_rates[against], join="inner")
        if name == against or not rates.size:
            continue
        seeds, problems = rates.shape
        if seeds > 1:
            comparison = compare(rates.to_numpy(), reference.to_numpy(), over="both", draws=2000)
        else:
            comparison = compare(
                rates.to_numpy()[0], reference.to_numpy()[0], over="problems", draws=2000
            )
        difference = comparison.difference
        better = comparison.probability_of_improvement
        interval = f"[{difference.low:.4f}, {difference.high:.4f}]"
        rows.append((name, difference.point, interval, better.point, problems, seeds))
    return pd.DataFrame(
        rows, columns=["setting", f"minus {against}", "interval", "better on", "problems", "seeds"]
    )


def origins(results: Results) -> pd.DataFrame:
    """Where each run came from: its command, commit, device and seconds."""
    import pandas as pd

    rows = []
    for id, run in results.runs.items():
        provenance = run["provenance"]
        commit = (provenance["commit"] or "none")[:10]
        rows.append((id, provenance["command"], commit, provenance["device"], run["seconds"]))
    return pd.DataFrame(rows, columns=["run", "command", "commit", "device", "seconds"])


def report(paths: Sequence[Path], file: Path | None = None, **parameters: str) -> Path:
    """Execute notebook 90 on these runs and write its results as one HTML file.

    The file is `file`, or report.html in the notebook's run folder. `parameters` are those of the
    notebook.
    """
    if missing := [path for path in paths if not path.exists()]:
        raise LabError(
            f"no {missing[0]}: give a sweep file, for example sweeps/laptop.toml, or run folders"
        )
    given: dict[str, Any] = {
        "sources": [os.path.relpath(path, NOTEBOOKS) for path in paths],
        "experiment": "",
    } | parameters
    gather(paths, given["experiment"])  # raises its errors before a kernel starts
    config = experiment("report").configure("laptop", given)
    run = Run.of(config)
    # Execute again even if this report exists: more runs may have finished since.
    (run.path / "done.json").unlink(missing_ok=True)
    run = run_notebook(config)
    file = file or run.path / "report.html"
    write_atomically(file, _html(run.path / "notebook.ipynb"))
    return file


def _html(notebook: Path) -> str:
    """The text and results of an executed notebook as one page, pictures included."""
    from nbconvert.exporters import HTMLExporter

    exporter = HTMLExporter(template_name="basic", exclude_input=True, exclude_output_prompt=True)
    body, _ = exporter.from_filename(str(notebook))
    head = (
        "<!doctype html><html lang=en><meta"
        f" charset=utf-8><title>Report</title><style>{STYLE}</style>"
    )
    return f"{head}{body}</html>\n"
