"""Files of any kind as rows: csv with any separator, json, jsonl, parquet, and gz of them.

A row is a dictionary. Rows are read one after another, so that a large file needs little memory.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from lab.errors import LabError
from lab.rollouts.episodes import Row, rows_of_episodes
from lab.rollouts.wide_tables import rows_of_wide_tables

SEPARATORS = (",", ";", "\t", "|")
LOOKED_AT = 100  # rows from which the columns of a file are known
LONGEST = 2**31  # characters of a line, or of a JSON document
KINDS = {
    "csv": "csv",
    "tsv": "csv",
    "json": "json",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
}
GIVE = "give a run, a folder, or files of .csv, .tsv, .json, .jsonl, .parquet, or .gz of them"


@dataclass(frozen=True)
class Table:
    """A file as a table. `first` are its first rows, `columns` theirs; `rows(columns)` are all.

    `rows` may be called once; it gives at least the columns that are asked for.
    """

    path: Path
    columns: list[str]
    first: list[Row]
    rows: Callable[[Sequence[str]], Iterator[Row]]


def kind_of(path: Path) -> str | None:
    """One of the values of KINDS, by the file's name; None: not a table."""
    name = path.name.lower().removesuffix(".gz")
    return KINDS.get(name.rpartition(".")[2]) if "." in name else None


def table_files(path: Path) -> list[Path]:
    """The file itself, or the tables in a folder and its subfolders, in the order of their steps.

    LabError: there is none.
    """
    if not path.exists():
        raise LabError(f"{path} cannot be read (there is no such file): {GIVE}")
    if not path.is_dir():
        if not path.is_file():  # a device need not have an end
            raise LabError(f"{path} cannot be read (it is no regular file): {GIVE}")
        if kind_of(path) is None:
            raise LabError(f"{path} cannot be read (a kind of file that holds no table): {GIVE}")
        return [path]
    files = [
        file
        for file in path.rglob("*")
        if file.is_file() and kind_of(file) and not file.name.startswith(".")
    ]
    if not files:
        raise LabError(f"{path} cannot be read (no table lies in it): {GIVE}")
    return sorted(files, key=lambda file: _natural(str(file)))


def _natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts 9.jsonl before 10.jsonl."""
    parts = ["".join(part) for _, part in itertools.groupby(text, str.isdecimal)]
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def open_table(path: Path) -> Table:
    """A file as a table. LabError: it cannot be read, is empty, or a row is none."""
    kind = kind_of(path)
    try:
        if kind == "parquet":
            return _parquet(path)
        found = {"csv": _csv, "jsonl": _jsonl, "json": _json}[str(kind)](path)
        rows = rows_of_wide_tables(rows_of_episodes(found))
        first = list(itertools.islice(rows, LOOKED_AT))
    except LabError:
        raise
    except (OSError, EOFError, ValueError, RecursionError, csv.Error) as error:
        raise _unreadable(path, error) from error
    if not first:
        raise LabError(f"{path} cannot be read (it is empty): {GIVE}")
    columns = list(dict.fromkeys(itertools.chain.from_iterable(first)))
    return Table(path, columns, first, lambda _: _told(path, itertools.chain(first, rows)))


def _told(path: Path, rows: Iterator[Row]) -> Iterator[Row]:
    """The rows, with what cannot be read as one sentence."""
    try:
        yield from rows
    except LabError:
        raise
    except (OSError, EOFError, ValueError, RecursionError, csv.Error) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> LabError:
    words = " ".join(str(error).split())[:200]
    if isinstance(error, UnicodeDecodeError):
        words = "it is not text in UTF-8: save it so"
    return LabError(f"{path} cannot be read ({words}): {GIVE}")


def _open_text(path: Path) -> TextIO:
    """The text of a file, unpacked if its name ends in .gz; a byte order mark is skipped."""
    if path.name.lower().endswith(".gz"):
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8-sig", newline="")
    return open(path, encoding="utf-8-sig", newline="")


def _lines(file: TextIO) -> Iterator[str]:
    """The lines of a file. ValueError: one is too long to be a row."""
    while line := file.readline(LONGEST):
        if len(line) == LONGEST:
            raise ValueError(f"a line is longer than {LONGEST:,} characters")
        yield line


def _check_distinct(names: list[str]) -> None:
    """ValueError: one of the names of columns, or of an object's cells, stands there twice."""
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"{short(twice)!r} stands there twice: rename one of them")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. ValueError: a name stands there twice."""
    cells = dict(pairs)
    if len(cells) < len(pairs):
        _check_distinct([name for name, _ in pairs])
    return cells


DECODER = json.JSONDecoder(object_pairs_hook=_object)


def _csv(path: Path) -> Iterator[Row]:
    """The rows of a csv file; its separator is the one that splits the head into most cells."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    with _open_text(path) as file:
        line = next(_lines(file), "")
        file.seek(0)
        split = {
            separator: len(next(csv.reader([line], delimiter=separator), []))
            for separator in SEPARATORS
        }
        cells = csv.reader(_lines(file), delimiter=max(SEPARATORS, key=split.__getitem__))
        head = [name.strip() for name in next(cells, [])]
        _check_distinct([name for name in head if name])
        number = 0
        for row in cells:
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            number += 1
            if len(row) != len(head):
                raise LabError(
                    f"{path}: row {number} has {len(row)} cells and the head {len(head)}: mend"
                    " that row"
                )
            yield dict(zip(head, row, strict=True))


def _jsonl(path: Path) -> Iterator[Row]:
    """The rows of a file with one object a line."""
    with _open_text(path) as file:
        for number, line in enumerate(_lines(file), 1):
            if line.isspace():
                continue
            try:
                row = DECODER.decode(line)
            except (json.JSONDecodeError, RecursionError):
                raise LabError(
                    f"{path} cannot be read (line {number} is not JSON): give one object a line"
                ) from None
            except ValueError as error:
                raise LabError(f"{path} cannot be read (line {number}: {error})") from error
            if type(row) is not dict:
                raise LabError(
                    f"{path} cannot be read (line {number} is not an object): give one object a"
                    " line"
                )
            yield row


def _json(path: Path) -> Iterator[Row]:
    """The rows of a JSON document: a list of objects, a table by columns, or W&B's columns and
    data; a file of one object a line is read too.
    """
    with _open_text(path) as file:
        text = file.read(LONGEST)
    if len(text) == LONGEST:
        raise ValueError(f"it is longer than {LONGEST:,} characters: give one object a line")
    begin = len(text) - len(text.lstrip())
    if text[begin : begin + 1] == "[":
        yield from _listed(path, text, begin + 1)
        return
    if not text.strip():
        return
    try:
        document, end = DECODER.raw_decode(text, begin)
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, error) from error
    if text[end:].strip():
        yield from _jsonl(path)
    else:
        yield from rows_of_document(document, str(path))


def _listed(path: Path, text: str, place: int) -> Iterator[Row]:
    """The objects of a JSON list, one after another: the text is in memory, its objects are not."""
    decode = DECODER.raw_decode
    for number in itertools.count(1):
        while text[place : place + 1].isspace() or text[place : place + 1] == ",":
            place += 1
        if text[place : place + 1] == "]":
            return
        try:
            row, place = decode(text, place)
        except (ValueError, RecursionError) as error:
            raise _unreadable(path, error) from error
        if type(row) is not dict:
            raise LabError(
                f"{path} cannot be read (element {number} of the list is not an object): give a"
                " list of objects"
            )
        yield row


def rows_of_document(document: Any, name: str) -> Iterator[Row]:
    """The rows of an object: W&B's {columns, data}, lists by column, or one list of objects."""
    if isinstance(document, dict):
        columns, data = document.get("columns"), document.get("data")
        if isinstance(columns, list) and isinstance(data, list):
            names = [str(name) for name in columns]
            _check_distinct(names)
            yield from (dict(zip(names, row, strict=True)) for row in data)
            return
        values = list(document.values())
        if values and all(isinstance(value, list) for value in values):
            if len(values) > 1 and len({len(value) for value in values}) == 1:
                for row in zip(*values, strict=True):
                    yield dict(zip(document, row, strict=True))
                return
        # pandas' to_json: {column: {row: cell}}
        if (
            values
            and all(isinstance(value, dict) for value in values)
            and len({tuple(value) for value in values}) == 1
        ):
            for index in values[0]:
                yield {column: cells[index] for column, cells in document.items()}
            return
        tables = [
            value
            for value in values
            if isinstance(value, list) and value and all(isinstance(row, dict) for row in value)
        ]
        if len(tables) == 1:
            yield from tables[0]
            return
    raise LabError(
        f"{name} cannot be read (a JSON object that is no table): give a list of objects, or one"
        " object a line"
    )


def reader_of(column: str) -> Callable[[Row], Any]:
    """A function that gives a row's cell; a dot leads into an object, unless a name holds it."""
    if "." not in column:
        return lambda row: row.get(column)
    outer, _, inner = column.partition(".")

    def nested(row: Row) -> Any:
        cells = row.get(outer)
        return cells.get(inner) if isinstance(cells, dict) else row.get(column)

    return nested


def short(text: str) -> str:
    """A text that fits a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def _parquet(path: Path) -> Table:
    """A parquet file; only the columns that are needed are read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        columns = list(file.schema_arrow.names)
        _check_distinct(columns)
        batch = next(file.iter_batches(LOOKED_AT), None)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    if batch is None or not batch.num_rows:
        raise LabError(f"{path} cannot be read (it is empty): {GIVE}")

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        # A dot leads into a column; then only that part of it is read.
        held = {*columns}
        kept = [name for name in wanted if name in held or name.partition(".")[0] in held]
        try:
            for batch in file.iter_batches(16384, columns=kept or columns):
                yield from batch.to_pylist()
        except pa.ArrowException as error:
            raise _unreadable(path, error) from error

    return Table(path, columns, batch.to_pylist(), rows)
