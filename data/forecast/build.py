"""The counts of the trainings of protocol.toml: `python data/forecast/build.py [USE ...]`.

Those with these uses that have not finished are trained (about ten minutes of one core each).
counts.parquet then holds of every group its training, problem, visit, n and right: of the runs that
are here, and of the others as before.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from lab.runs.experiments import configure, read_assignments  # noqa: E402
from lab.runs.run_folder import Run  # noqa: E402

LARGEST = 64  # rollouts that are drawn of an exact pass rate


def counts(run: Run) -> pd.DataFrame:
    """The groups of a run: of its rollouts if it stored them, else of its records."""
    if run.rollouts:
        rollouts = pd.concat(map(pd.read_parquet, run.rollouts))
        groups = rollouts.groupby(["step", "problem"])["reward"].agg(["count", "sum"]).reset_index()
        groups.columns = ["step", "problem", "n", "right"]
        groups["problem"] = groups["problem"].factorize()[0]
    else:
        groups = run.groups()
        if "pass_rate" in groups:
            parameters = run.params["parameters"]
            draws = np.random.default_rng(parameters["seed"])
            groups["n"] = min(parameters["rollouts"], LARGEST)
            groups["right"] = draws.binomial(groups["n"], groups["pass_rate"].clip(0, 1))
    groups = groups.sort_values(["problem", "step"])
    groups["visit"] = groups.groupby("problem").cumcount()
    return groups[["problem", "visit", "n", "right"]].astype(np.int32)


if __name__ == "__main__":
    recorded = pd.read_parquet(HERE / "counts.parquet")
    tables = []
    for training in tomllib.loads((HERE / "protocol.toml").read_text())["training"]:
        if "command" not in training:  # others' trainings are in data/outside
            continue
        name, *values = training["command"].split()
        if training["use"] in sys.argv[1:]:
            command = [sys.executable, "-m", "lab", "train", name, *values]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        run = Run.of(configure(name, **read_assignments(values)))
        if run.finished:
            tables.append(counts(run).assign(training=training["name"]))
        else:
            tables.append(recorded[recorded["training"] == training["name"]])
            if tables[-1].empty:
                print(f"{training['name']} has not been trained")
    pd.concat(tables).to_parquet(HERE / "counts.parquet", compression="zstd", index=False)
