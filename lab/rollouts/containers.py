"""Files of any kind as rows: csv with any separator, json, jsonl, parquet, arrow, and packed ones.

A row is a dictionary. Rows are read one after another, so that a large file needs little memory.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from lab.errors import LabError
from lab.rollouts.names import LOOKED_AT
from lab.rollouts.structure import (
    Row,
    check_distinct,
    plan_of,
    rows_of_document,
    unfolded,
)

SEPARATORS = (",", ";", "\t", "|")
BATCH = 16_384  # rows of parquet and arrow that are read at once
_ONE = r"\s*(?:-?\d+(?:\.\d+)?|[Tt]rue|[Ff]alse|None|null|nan)\s*"
LIST = re.compile(rf"\[{_ONE}(?:,{_ONE})*\]")  # of numbers and truth values in a cell of csv
LONGEST = 2**31  # characters of a line, or of a JSON document
KINDS = {kind: kind for kind in ("csv", "json", "jsonl", "parquet", "arrow")}
KINDS |= {"tsv": "csv", "ndjson": "jsonl", "feather": "arrow"}
PACKED = (".gz", ".zst")
GIVE = (
    "give a run, a folder, or files of .csv, .tsv, .json, .jsonl, .parquet, .arrow, or .gz or .zst"
    " of texts"
)
A_LINE = "give one object a line"
OUT_OF_BOUNDS = (MemoryError, NotImplementedError, RecursionError)
BROKEN = (OSError, EOFError, ValueError, csv.Error, zlib.error, *OUT_OF_BOUNDS)

RowsWith = Callable[[Sequence[str]], Iterator[Row]]


def unreadable(path: Path, why: str, give: str = GIVE) -> LabError:
    """The sentence on a file that cannot be read."""
    return LabError(f"{path} cannot be read ({why}): {give}")


def kind_of(path: Path) -> str | None:
    """One of the values of KINDS, by the file's name; None: not a table."""
    name = path.name.lower()
    packed = name.endswith(PACKED)
    for ending in PACKED:
        name = name.removesuffix(ending)
    kind = KINDS.get(name.rpartition(".")[2]) if "." in name else None
    return None if packed and kind in ("parquet", "arrow") else kind


def table_files(path: Path) -> list[Path]:
    """The file itself, or the tables in a folder and its subfolders, in the order of their steps.

    LabError: there is none.
    """
    files, why = [path], ""
    if path.is_dir():
        files = [
            file
            for file in path.rglob("*")
            if file.is_file() and kind_of(file) and not file.name.startswith(".")
        ]
        why = "" if files else "no table lies in it"
    elif not path.exists():
        why = "there is no such file"
    elif not path.is_file():  # a device need not have an end
        why = "it is no regular file"
    elif kind_of(path) is None:
        why = "a kind of file that holds no table"
    if why:
        raise unreadable(path, why)
    return sorted(files, key=lambda file: _natural(str(file)))


def _natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts 9.jsonl before 10.jsonl."""
    parts = ["".join(part) for _, part in itertools.groupby(text, str.isdecimal)]
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def open_table(path: Path) -> tuple[list[Row], RowsWith]:
    """The first rows of a file, and a function that gives all, with some columns or more, once; a
    dot in a column leads into an object. LabError: it cannot be read, is empty, or a row is none.
    """
    kind = kind_of(path)
    with _told(path):
        if kind == "arrow" or kind == "parquet":
            names, rows_with = _arrow(path, kind)
            rows = rows_with(names)
            first = list(itertools.islice(rows, LOOKED_AT))
            if first and not plan_of(first):
                return first, partial(_with, path, names, rows_with)
            rows = unfolded(itertools.chain(first, rows))
        else:
            rows = unfolded({"csv": _csv, "jsonl": _jsonl, "json": _json}[str(kind)](path))
        first = list(itertools.islice(rows, LOOKED_AT))
    if not first:
        raise unreadable(path, "it is empty")
    return first, partial(_with, path, [], lambda _: itertools.chain(first, rows))


def _with(
    path: Path, held: list[str], rows_with: RowsWith, columns: Sequence[str]
) -> Iterator[Row]:
    """All rows of a file, with those of its columns that some are, or lie in."""
    outer = {*columns, *(name.partition(".")[0] for name in columns)}
    with _told(path):
        yield from rows_with([name for name in held if name in outer])


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What cannot be read, as one sentence of a LabError, with the path."""
    try:
        yield
    except LabError as error:
        if str(path) in str(error):
            raise
        raise LabError(f"{path} cannot be read: {error}") from error
    except BROKEN as error:
        words = " ".join(str(error).split())[:200]
        if isinstance(error, UnicodeDecodeError):
            words = "it is not text in UTF-8: save it so"
        raise unreadable(path, words) from error


def _open_text(path: Path) -> TextIO:
    """The text of a file, unpacked if its name says so; a byte order mark is skipped."""
    if path.name.lower().endswith(".gz"):
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8-sig", newline="")
    if path.name.lower().endswith(".zst"):
        import pyarrow as pa

        unpacked = pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
        return io.TextIOWrapper(unpacked, encoding="utf-8-sig", newline="")
    return open(path, encoding="utf-8-sig", newline="")


def _lines(file: TextIO) -> Iterator[str]:
    """The lines of a file. ValueError: one is too long to be a row."""
    while line := file.readline(LONGEST):
        if len(line) == LONGEST:
            raise ValueError(f"a line is longer than {LONGEST:,} characters")
        yield line


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. ValueError: a name stands there twice."""
    cells = dict(pairs)
    if len(cells) < len(pairs):
        check_distinct([name for name, _ in pairs])
    return cells


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=lambda _: None)


def _csv(path: Path) -> Iterator[Row]:
    """The rows of a csv file; its separator is the one that splits the head into most cells."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    with _open_text(path) as file:
        line = next(_lines(file), "")
        file.seek(0)
        heads = {each: next(csv.reader([line], delimiter=each), []) for each in SEPARATORS}
        separator = max(SEPARATORS, key=lambda each: len(heads[each]))
        cells = csv.reader(_lines(file), delimiter=separator)
        head = [name.strip() for name in next(cells, [])]
        check_distinct([name for name in head if name])
        filled = (row for row in cells if len(row) > 1 or (row and row[0].strip()))
        for number, row in enumerate(filled, 1):
            if len(row) != len(head):
                raise LabError(
                    f"{path}: row {number} has {len(row)} cells and the head {len(head)}: mend"
                    " that row"
                )
            yield {name: _cell(cell) for name, cell in zip(head, row, strict=True)}


def _cell(cell: str) -> Any:
    """A cell of a csv file: a list, as pandas writes them, or the text."""
    if cell[:1] == "[" and LIST.fullmatch(cell):
        return json.loads(cell.lower().replace("none", "null").replace("nan", "null"))
    return cell


def _jsonl(path: Path) -> Iterator[Row]:
    """The rows of a file with one object a line."""
    with _open_text(path) as file:
        for number, line in enumerate(_lines(file), 1):
            if line.isspace():
                continue
            try:
                row = DECODER.decode(line)
            except (json.JSONDecodeError, RecursionError):
                raise unreadable(path, f"line {number} is not JSON", A_LINE) from None
            except ValueError as error:
                raise LabError(f"{path} cannot be read (line {number}: {error})") from error
            if type(row) is not dict:
                raise unreadable(path, f"line {number} is not an object", A_LINE)
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
    document, end = DECODER.raw_decode(text, begin)
    if text[end:].strip():
        yield from _jsonl(path)
    else:
        yield from rows_of_document(document)


def _listed(path: Path, text: str, place: int) -> Iterator[Row]:
    """The objects of a JSON list, one after another: the text is in memory, its objects are not."""
    for number in itertools.count(1):
        while text[place : place + 1].isspace() or text[place : place + 1] == ",":
            place += 1
        if text[place : place + 1] == "]":
            return
        row, place = DECODER.raw_decode(text, place)
        if type(row) not in (list, dict):
            why = f"element {number} of the list is not an object"
            raise unreadable(path, why, "give a list of objects")
        yield row if type(row) is dict else {"(value)": row}


def _arrow(path: Path, kind: str) -> tuple[list[str], RowsWith]:
    """The columns of a parquet or arrow file, and a function that gives the rows of some."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if kind == "parquet":
        file = pq.ParquetFile(path)
        names = list(file.schema_arrow.names)
        batches: Callable[..., Iterable[Any]] = partial(file.iter_batches, BATCH)
    else:
        source = pa.memory_map(str(path))
        try:
            table = pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:  # datasets writes streams
            source.seek(0)
            table = pa.ipc.open_stream(source).read_all()
        names = table.column_names
        batches = lambda columns: table.select(columns).to_batches(BATCH)  # noqa: E731
    check_distinct(names)

    def rows(columns: Sequence[str]) -> Iterator[Row]:
        for batch in batches(columns=columns):
            yield from batch.to_pylist()

    return names, rows
