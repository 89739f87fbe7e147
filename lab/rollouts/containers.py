"""Files of any kind as rows: csv with any separator, json, jsonl, parquet, arrow, and packed ones.

A row is a dictionary. Rows are read one after another, so that a large file needs little memory;
a JSON document is in memory as a whole.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from lab.errors import LabError
from lab.rollouts.names import LOOKED_AT
from lab.rollouts.structure import Row, check_distinct, rows_of_document, unfolded

SEPARATORS = (",", ";", "\t", "|")
BATCH = 16_384  # rows of parquet and arrow that are read at once
_ONE = r"\s*(?:-?\d+(?:\.\d+)?|[Tt]rue|[Ff]alse|None|null|nan)\s*"
LIST = re.compile(rf"\[{_ONE}(?:,{_ONE})*\]")  # of numbers and truth values in a cell of csv
LONGEST = 2**31 - 1  # characters of a line, or of a JSON document
KINDS = {f".{kind}": kind for kind in ("csv", "json", "jsonl", "parquet", "arrow")}
KINDS |= {".tsv": "csv", ".ndjson": "jsonl", ".feather": "arrow"}
PACKED = {".gz": "gzip", ".zst": "zstd"}
GIVE = (
    "give a run, a folder, or files of .csv, .tsv, .json, .jsonl, .parquet, .arrow, or .gz or .zst"
    " of texts"
)
A_LINE = "give one object a line"
BROKEN = (OSError, ValueError, csv.Error, MemoryError, NotImplementedError, RecursionError)

RowsWith = Callable[[Sequence[str]], Iterator[Row]]


def unreadable(path: Path, why: str, give: str = GIVE) -> LabError:
    """The sentence on a file that cannot be read."""
    return LabError(f"{path} cannot be read ({why}): {give}")


def kind_of(path: Path) -> str | None:
    """One of the values of KINDS, by the file's name; None: not a table."""
    packed = path.suffix.lower() in PACKED
    kind = KINDS.get(Path(path.stem if packed else path.name).suffix.lower())
    return None if packed and kind in ("parquet", "arrow") else kind


def table_files(path: Path) -> list[Path]:
    """The file itself, or the tables in a folder and its subfolders, in the order of their steps.

    LabError: there is none.
    """
    files, why = [path], ""
    if path.is_dir():
        files = [file for file in path.rglob("[!.]*") if file.is_file() and kind_of(file)]
        why = "" if files else "no table lies in it"
    elif not path.is_file():  # a device need not have an end
        why = "it is no regular file" if path.exists() else "there is no such file"
    elif kind_of(path) is None:
        why = "a kind of file that holds no table"
    if why:
        raise unreadable(path, why)
    parts = {file: re.split(r"(\d+)", str(file)) for file in files}  # 9.jsonl before 10.jsonl
    return sorted(files, key=lambda file: [int(x) if x.isdecimal() else x for x in parts[file]])


def open_table(path: Path) -> tuple[list[Row], RowsWith]:
    """The first rows of a file, and a function that gives all, with some columns or more, once; a
    dot in a column leads into an object. LabError: it cannot be read, is empty, or a row is none.
    """
    kind = str(kind_of(path))
    with _told(path):
        if kind in TEXTS:
            rows = unfolded(TEXTS[kind](path))
        else:
            held, rows_with = _arrow(path, kind)
            rows = unfolded(rows_with(held))
        first = list(itertools.islice(rows, LOOKED_AT))
    if not first:
        raise unreadable(path, "it is empty")

    def all_rows(columns: Sequence[str]) -> Iterator[Row]:
        outer = {*columns, *(name.partition(".")[0] for name in columns)}
        with _told(path):
            if kind in TEXTS or [*first[0]] != held:  # one after another, or unfolded
                yield from itertools.chain(first, rows)
            else:
                yield from rows_with([name for name in held if name in outer])

    return first, all_rows


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
    packed = PACKED.get(path.suffix.lower())
    if not packed:
        return open(path, encoding="utf-8-sig", newline="")
    import pyarrow as pa

    return io.TextIOWrapper(
        pa.input_stream(str(path), compression=packed), encoding="utf-8-sig", newline=""
    )


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
    csv.field_size_limit(LONGEST)
    with _open_text(path) as file:
        lines = _lines(file)
        line = next(lines, "")
        heads = {each: next(csv.reader([line], delimiter=each), []) for each in SEPARATORS}
        separator = max(SEPARATORS, key=lambda each: len(heads[each]))
        cells = csv.reader(itertools.chain([line], lines), delimiter=separator)
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
        raise ValueError(f"it is longer than {LONGEST:,} characters: {A_LINE}")
    text = text.strip()
    if not text:
        return
    document, end = DECODER.raw_decode(text)
    yield from rows_of_document(document) if end == len(text) else _jsonl(path)


TEXTS = {"csv": _csv, "jsonl": _jsonl, "json": _json}


def _arrow(path: Path, kind: str) -> tuple[list[str], RowsWith]:
    """The columns of a parquet or arrow file, and a function that gives the rows of some."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow.dataset import dataset

    if kind == "parquet":
        file = pq.ParquetFile(path)
        names, batches = file.schema_arrow.names, file.iter_batches
    else:
        source = pa.memory_map(str(path))
        try:
            reader = pa.ipc.open_file(source)
        except pa.ArrowInvalid:  # datasets writes streams
            source.seek(0)
            reader = pa.ipc.open_stream(source)
        table = dataset(reader.read_all())
        names, batches = table.schema.names, table.to_batches
    check_distinct(names)

    def rows(columns: Sequence[str]) -> Iterator[Row]:
        for batch in batches(columns=columns, batch_size=BATCH):
            yield from batch.to_pylist()

    return names, rows
