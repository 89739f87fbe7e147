"""Rows of questions and answers from files or from the hub, read by the library `datasets`.

`datasets` is imported when it is first needed, and `trust_remote_code` is never set: no code of a
repository is run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.errors import LabError

KINDS = {".parquet": "parquet", ".jsonl": "json", ".json": "json", ".csv": "csv"}


def find_files(name: str, folder: Path, heads: Sequence[str] = ()) -> list[Path]:
    """The files of the set `name` in an offline folder, sorted; none when it is not there.

    They are `<name>.parquet` (or .jsonl, .json, .csv), or all such files of the sub-folder
    `<name>`; where names begin with one of `heads` (the split, the configuration), only those. A
    `folder` that is itself a file is the set.
    """
    if folder.is_file():
        found = [folder]
        if folder.suffix not in KINDS:
            raise LabError(
                f"{folder} is not a file of rows: give one that ends in {', '.join(KINDS)}"
            )
    elif folder.is_dir():
        inside = folder / name
        found = (
            sorted(inside.iterdir())
            if inside.is_dir()
            else [folder / f"{name}{kind}" for kind in KINDS]
        )
        found = [path for path in found if path.suffix in KINDS and path.is_file()]
        found = [path for path in found if path.name.startswith(tuple(heads))] or found
    else:
        raise LabError(f"there is no folder {folder}: give the one that holds the data sets")
    if len({KINDS[path.suffix] for path in found}) > 1:
        raise LabError(
            f"{describe_files(found)} are of different kinds: keep one kind of file for {name}"
        )
    return found


def describe_files(paths: Sequence[Path]) -> str:
    """Where the rows lie, for a sentence."""
    return (
        str(paths[0])
        if len(paths) == 1
        else f"{paths[0].parent} ({', '.join(path.name for path in paths)})"
    )


def read_files(paths: Sequence[Path], fields: Sequence[str]) -> Any:
    """Files of one kind as one `datasets.Dataset`; in CSV the columns `fields` are text as it
    stands.
    """
    for path in paths:
        if not path.is_file():
            raise LabError(f"there is no file {path}: check the path")
    table, kind, names = _library().Dataset, KINDS[paths[0].suffix], list(map(str, paths))
    try:
        if kind == "csv":  # else pandas reads 007 as 7 and "None" as missing
            return table.from_csv(
                names, converters=dict.fromkeys(fields, str), keep_default_na=False
            )
        return table.from_parquet(names) if kind == "parquet" else table.from_json(names)
    except Exception as error:  # pyarrow, pandas and datasets each raise kinds of their own
        raise LabError(
            f"{describe_files(paths)} is not readable as {kind} ({_said(error)}): "
            "download it again, or write at least one row into it"
        ) from error


def download(hub: str, config: str, revision: str, split: str, files: str, cure: str) -> Any:
    """One split from the hub, or from the library's cache of it, as a `datasets.Dataset`.

    `files` is a pattern of JSON lines in the repository, for one whose loading script `datasets` no
    longer runs. `cure` ends the sentence of the error.
    """
    library = _library()
    try:
        if files:
            at = f"@{revision}" if revision else ""
            return library.load_dataset(
                "json", data_files=f"hf://datasets/{hub}{at}/{files}", split="train"
            )
        return library.load_dataset(hub, config or None, split=split, revision=revision or None)
    except Exception as error:  # the hub, a proxy and the parsers each raise kinds of their own
        raise LabError(f"{hub} did not come from the hub ({_said(error)}): {cure}") from error


def cell_text(value: Any) -> str:
    """A cell as text: numbers too, 27.0 as 27; anything else (a date that a parser guessed, a list)
    is no answer.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _library() -> Any:
    try:
        import datasets
    except ImportError as error:
        raise LabError(
            "the package datasets is missing: pip install -c constraints.txt -e '.[llm]'"
        ) from error
    return datasets


def _said(error: BaseException) -> str:
    """The first line of the deepest thing that a library said."""
    while error.__cause__:
        error = error.__cause__
    return (str(error).splitlines() or [type(error).__name__])[0]
