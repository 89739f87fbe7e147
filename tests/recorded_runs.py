"""Recorded runs as run folders of one's own: what training them again would leave, in no time."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from lab.runs.run_folder import write_json
from lab.runs.sweep_file import read_sweep
from lab.runs.sweep_results import recorded


def write_recorded_runs(
    sweep: Path,
    experiment: str,
    change: Callable[[pd.DataFrame], pd.DataFrame] = lambda metrics: metrics,
) -> None:
    """Finished run folders for the runs of `experiment`, whose records `change` may replace."""
    found = recorded(sweep, experiment)
    metrics = change(found.metrics)
    for run in (item.run for item in read_sweep(sweep).items if item.experiment == experiment):
        params = found.runs[run.id]["params"]
        measured = metrics.columns.difference(["run", *params["parameters"]])
        run.path.mkdir(parents=True)
        write_json(run.path / "params.json", params)
        write_json(run.path / "provenance.json", found.runs[run.id]["provenance"])
        rows = metrics.loc[metrics["run"] == run.id, measured].to_dict("records")
        lines = [
            json.dumps({name: value for name, value in row.items() if pd.notna(value)})
            for row in rows
        ]
        (run.path / "metrics.jsonl").write_text("".join(f"{line}\n" for line in lines))
        groups = found.groups[found.groups["run"] == run.id]
        groups.drop(columns=["run", *params["parameters"]]).to_parquet(run.path / "groups.parquet")
        run.finish(found.runs[run.id]["seconds"])
