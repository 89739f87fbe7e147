"""Rows of questions and answers from files or from the hub, read by the library `datasets`.

`trust_remote_code` is never set, so no code of a repository is run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.extras import missing

KINDS = {".parquet": "parquet", ".jsonl": "json", ".json": "json", ".csv": "csv"}


def find_files(name: str, folder: Path, heads: Sequence[str] = ()) -> list[Path]:
    """The files of the set `name` in an offline folder, sorted; none when it is not there.

    They are `<name>.parquet` (or .jsonl, .json, .csv), or all such files of the sub-folder
    `<name>`. Where file names begin with one of `heads` (the split, the configuration), only those
    count. LabError: there is no such folder, or the kinds are mixed.
    """
    if not folder.is_dir():
        raise LabError(f"there is no folder {folder}: give the one that holds the data sets")
    if (folder / name).is_dir():
        candidates = sorted((folder / name).iterdir())
    else:
        candidates = [folder / f"{name}{suffix}" for suffix in KINDS]
    paths = [path for path in candidates if path.suffix in KINDS and path.is_file()]
    # A folder may hold other splits too; files named in another way are all of the set.
    paths = [path for path in paths if path.name.startswith(tuple(heads))] or paths
    if len({KINDS[path.suffix] for path in paths}) > 1:
        raise LabError(
            f"{describe_files(paths)} are of different kinds: keep one kind of file for {name}"
        )
    return paths


def describe_files(paths: Sequence[Path]) -> str:
    """Where the rows lie, for a message."""
    if len(paths) == 1:
        return str(paths[0])
    return f"{paths[0].parent} ({', '.join(path.name for path in paths)})"


def read_files(paths: Sequence[Path], fields: Sequence[str]) -> Any:
    """Files of one kind as one `datasets.Dataset`; the columns `fields` of a CSV stay text."""
    for path in paths:
        if not path.is_file():
            raise LabError(f"there is no file {path}: check the path")
    table = _library().Dataset
    kind = KINDS[paths[0].suffix]
    names = [str(path) for path in paths]
    try:
        if kind == "csv":
            # Without these options pandas reads 007 as 7 and "None" as missing.
            return table.from_csv(
                names, converters=dict.fromkeys(fields, str), keep_default_na=False
            )
        return table.from_parquet(names) if kind == "parquet" else table.from_json(names)
    except Exception as error:  # pyarrow, pandas and datasets each raise their own exceptions
        raise LabError(
            f"{describe_files(paths)} is not readable as {kind} ({_root_message(error)}): "
            "download it again, or write at least one row into it"
        ) from error


def download(hub: str, config: str, revision: str, split: str, cure: str) -> Any:
    """One split from the hub, or from the library's cache of it, as a `datasets.Dataset`.

    `cure` ends the error message: what the reader can do.
    """
    load = _library().load_dataset
    try:
        return load(hub, config or None, split=split, revision=revision or None)
    except Exception as error:  # the hub, a proxy and the parsers each raise their own exceptions
        raise LabError(
            f"{hub} did not come from the hub ({_root_message(error)}): {cure}"
        ) from error


def cell_text(value: Any) -> str:
    """A cell as text: numbers too, 27.0 as "27"; empty for any other type.

    Other types, such as a list or a date that a parser guessed, are no answer.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    # bool is a subclass of int, and no answer.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _library() -> Any:
    """The package `datasets`, imported when it is first needed."""
    try:
        import datasets
    except ImportError as error:
        raise missing("datasets") from error
    return datasets


def _root_message(error: BaseException) -> str:
    """The first line of the message of the exception at the root of a chain."""
    while error.__cause__:
        error = error.__cause__
    return (str(error).splitlines() or [type(error).__name__])[0]
