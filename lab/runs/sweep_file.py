"""Sweep files: a TOML file that lists runs, read and checked before anything runs.

[[runs]]
experiment = "images"
scale = "laptop"                     # optional
set = { steps = 200 }                # optional
grid = { objective = ["rloo", "maxrl"], seed = [0, 1, 2] }

A line `every_record = ["problem", "pass_rate"]` above the runs names columns of the groups that
`lab record` keeps of every record; without it there are only the groups of the last one.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, NamedTuple

from lab.configurations import Config
from lab.errors import LabError, unknown
from lab.runs.experiments import experiment
from lab.runs.run_folder import Run
from lab.toml_files import read_toml


class Item(NamedTuple):
    """One run of a sweep: what to run, and where it lands."""

    experiment: str
    scale: str
    given: dict[str, Any]
    config: Config
    run: Run


def read_sweep(path: Path) -> list[Item]:
    """Every run of the file, all parameters checked, before anything runs."""
    content = _content(path)
    items: dict[Path, Item] = {}
    tables = content.get("runs", [])
    if not (isinstance(tables, list) and all(isinstance(table, dict) for table in tables)):
        raise LabError(f"{path.name}: runs must be [[runs]] tables, in double brackets")
    for table in tables:
        for item in _expand(path, table):
            items[item.run.path] = item
    if not items:
        raise LabError(f"{path} holds no runs: write at least one [[runs]] table")
    return list(items.values())


def columns_of_every_record(path: Path) -> list[str]:
    """The columns of the groups that are recorded of every record, see above; usually none."""
    return _content(path).get("every_record", [])


def _content(path: Path) -> dict[str, Any]:
    """The file's content, its keys checked."""
    if not path.exists():
        raise LabError(
            f"no sweep file {path}: give the path of a TOML file, for example sweeps/laptop.toml"
        )
    content = read_toml(path)
    for key in content.keys() - {"runs", "every_record"}:
        raise unknown(f"key of {path.name}", key, ["runs", "every_record"])
    columns = content.get("every_record", [])
    if not (isinstance(columns, list) and all(isinstance(name, str) for name in columns)):
        raise LabError(
            f"{path.name}: every_record = {columns!r} must be a list of names of columns, for"
            ' example ["problem", "pass_rate"]'
        )
    return content


def _expand(path: Path, table: dict[str, Any]) -> list[Item]:
    for key in table.keys() - {"experiment", "scale", "set", "grid"}:
        raise unknown(
            f"key of [[runs]] in {path.name}", key, ["experiment", "scale", "set", "grid"]
        )
    if "experiment" not in table:
        raise LabError(f"{path.name}: a [[runs]] table without experiment: name one")
    name, scale = table["experiment"], table.get("scale", "laptop")
    for key, value in (("experiment", name), ("scale", scale)):
        if not isinstance(value, str):
            raise LabError(f"{path.name}: {key} = {value!r} must be a name in quotes")
    fixed, grid = table.get("set", {}), table.get("grid", {})
    for key, value in (("set", fixed), ("grid", grid)):
        if not isinstance(value, dict):
            raise LabError(
                f"{path.name}: {key} = {value!r} must be a table, for example {{ seed = 1 }}"
            )
    for key in fixed.keys() & grid.keys():
        raise LabError(f"{path.name}: {key} is both in set and in grid: keep one")
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise LabError(
                f"{path.name}: grid.{key} = {values!r} must be a list of at least one value"
            )
    chosen = experiment(name)
    items = []
    for values in itertools.product(*grid.values()):
        given = fixed | dict(zip(grid, values, strict=True))
        config = chosen.configure(scale, given)
        items.append(Item(name, scale, given, config, Run.of(config)))
    return items
