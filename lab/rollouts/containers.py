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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from lab.errors import LabError
from lab.rollouts.names import LOOKED_AT
from lab.rollouts.structure import Row, check_distinct, rows_of_document, unfolded

if TYPE_CHECKING:
    import pyarrow as pa

SEPARATORS = (",", ";", "\t", "|")
BATCH = 16_384  # rows that are taken at once
BLOCK = 2**24  # bytes of csv that are; a row must fit
_ONE = r"\s*(?:-?\d+(?:\.\d+)?|[Tt]rue|[Ff]alse|None|null|nan)\s*"
LIST = re.compile(rf"\[{_ONE}(?:,{_ONE})*\]")  # of numbers and truth values in a cell of csv
KINDS = {f".{kind}": kind for kind in ("csv", "json", "jsonl", "parquet", "arrow")}
KINDS |= {".tsv": "csv", ".ndjson": "jsonl", ".feather": "arrow"}
PACKED = {".gz": "gzip", ".zst": "zstd"}
GIVE = (
    "give a run, a folder, or files of .csv, .tsv, .json, .jsonl, .parquet, .arrow, or .gz or .zst"
    " of texts"
)
BROKEN = (OSError, ValueError, csv.Error, MemoryError, NotImplementedError, RecursionError)

Chunk: TypeAlias = "list[Row] | pa.RecordBatch"
Chunks = Callable[[Sequence[str]], Iterator[Chunk]]
# The columns that a file holds, and a function that gives some of them.
Table: TypeAlias = "tuple[list[str], Callable[[Sequence[str]], Iterable[pa.RecordBatch]]]"


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
        raise LabError(f"{path} cannot be read ({why}): {GIVE}")
    parts = {file: re.split(r"(\d+)", str(file)) for file in files}  # 9.jsonl before 10.jsonl
    return sorted(files, key=lambda file: [int(x) if x.isdecimal() else x for x in parts[file]])


def open_table(path: Path) -> tuple[list[Row], Chunks]:
    """The first rows of a file, and a function that gives all, with some columns or more, once, in
    lists of rows or in batches of Arrow; a dot in a column leads into an object. Both are called
    within `readable`.
    """
    kind = str(kind_of(path))
    held: list[str] = []
    if kind in TEXTS:
        rows = unfolded(TEXTS[kind](path))
    else:
        held, batches = TABLES[kind](path)
        every = itertools.chain.from_iterable(map(_rows, batches(held)))
        rows = unfolded(map(_with_lists, every) if kind == "csv" else every)
    first = list(itertools.islice(rows, LOOKED_AT))
    if not first:
        raise LabError("it is empty")
    cells = itertools.chain.from_iterable(row.values() for row in first)
    of_texts = kind == "csv" and any(isinstance(cell, list) for cell in cells)

    def chunks(columns: Sequence[str]) -> Iterator[Chunk]:
        outer = {*columns, *(name.partition(".")[0] for name in columns)}
        if [*first[0]] == held and not of_texts:
            yield from batches([name for name in held if name in outer])
        else:  # one after another, or unfolded
            every = itertools.chain(first, rows)
            while some := list(itertools.islice(every, BATCH)):
                yield some

    return first, chunks


def _rows(batch: pa.RecordBatch) -> Iterator[Row]:
    """The rows of a batch, few at a time, because often only the first are looked at."""
    for start in range(0, len(batch), LOOKED_AT):
        yield from batch.slice(start, LOOKED_AT).to_pylist()


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """What cannot be read, as one sentence of a LabError, with the path."""
    try:
        yield
    except (LabError, *BROKEN) as error:
        if isinstance(error, LabError):
            raise LabError(f"{path} cannot be read ({error})") from error
        words = " ".join(str(error).split())[:200]
        if isinstance(error, UnicodeDecodeError):
            words = "it is not text in UTF-8: save it so"
        raise LabError(f"{path} cannot be read ({words}): {GIVE}") from error


def _open_text(path: Path) -> TextIO:
    """The text of a file, unpacked if its name says so; a byte order mark is skipped."""
    return io.TextIOWrapper(_open_bytes(path), encoding="utf-8-sig", newline="")


def _open_bytes(path: Path) -> pa.NativeFile:
    import pyarrow as pa

    return pa.input_stream(str(path), compression=PACKED.get(path.suffix.lower()))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. ValueError: a name stands there twice."""
    cells = dict(pairs)
    if len(cells) < len(pairs):
        check_distinct([name for name, _ in pairs])
    return cells


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=lambda _: None)


def _csv(path: Path) -> Table:
    """The columns of a csv file; its separator is the one that splits the head into most cells."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    with _open_text(path) as file:
        skipped, line = next(((i, line) for i, line in enumerate(file, 1) if line.strip()), (0, ""))
    if not line:
        return [], lambda columns: ()
    csv.field_size_limit(2**31 - 1)  # a head of thousands of names has one cell by most of these
    heads = {each: next(csv.reader([line], delimiter=each), []) for each in SEPARATORS}
    separator = max(SEPARATORS, key=lambda each: len(heads[each]))
    head = [name.strip() or f"(column {i})" for i, name in enumerate(heads[separator], 1)]
    check_distinct(head)

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        odd: list[arrow.InvalidRow] = []

        def refuse(row: arrow.InvalidRow) -> str:
            if not row.text.strip():
                return "skip"
            odd.append(row)
            return "error"

        try:
            yield from arrow.open_csv(
                _open_bytes(path),
                read_options=arrow.ReadOptions(
                    use_threads=False, block_size=BLOCK, skip_rows=skipped, column_names=head
                ),
                parse_options=arrow.ParseOptions(
                    delimiter=separator,
                    newlines_in_values=True,
                    invalid_row_handler=refuse,
                ),
                convert_options=arrow.ConvertOptions(
                    column_types=dict.fromkeys(head, pa.string()),
                    strings_can_be_null=False,
                    include_columns=columns,
                ),
            )
        except pa.ArrowInvalid:
            if not odd:
                raise
            raise LabError(
                f"row {odd[0].number - skipped} has {odd[0].actual_columns} cells and the head"
                f" {len(head)}: mend that row"
            ) from None

    return head, batches


def _with_lists(row: Row) -> Row:
    """A row of csv; cells that pandas wrote lists into are lists."""
    for name, cell in row.items():
        if cell[:1] == "[" and LIST.fullmatch(cell):
            row[name] = json.loads(cell.lower().replace("none", "null").replace("nan", "null"))
    return row


def _jsonl(path: Path) -> Iterator[Row]:
    """The rows of a file with one object a line."""
    with _open_text(path) as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line:
                continue
            try:
                row, end = DECODER.raw_decode(line)
            except (json.JSONDecodeError, RecursionError):
                end = 0
            except ValueError as error:
                raise LabError(f"line {number}: {error}") from error
            if end < len(line):
                raise LabError(f"line {number} is not JSON: give one object a line")
            if type(row) is list and row and number == 1:  # a document
                yield from rows_of_document(row)
            elif type(row) is not dict:
                raise LabError(f"line {number} is not an object: give one object a line")
            else:
                yield row


def _json(path: Path) -> Iterator[Row]:
    """The rows of a JSON document: a list of objects, a table by columns, or W&B's columns and
    data; a file of one object a line is read too.
    """
    with _open_text(path) as file:
        text = file.read().strip()
    if not text:
        return
    document, end = DECODER.raw_decode(text)
    yield from rows_of_document(document) if end == len(text) else _jsonl(path)


def _parquet(path: Path) -> Table:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    check_distinct(file.schema_arrow.names)
    return file.schema_arrow.names, partial(file.iter_batches, BATCH, None)


def _arrow(path: Path) -> Table:
    import pyarrow as pa

    source = pa.memory_map(str(path))
    try:
        table = pa.ipc.open_file(source).read_all()
    except pa.ArrowInvalid:  # datasets writes streams
        source.seek(0)
        table = pa.ipc.open_stream(source).read_all()
    check_distinct(table.column_names)
    return table.column_names, lambda columns: table.select(columns).to_batches(BATCH)


TEXTS = {"jsonl": _jsonl, "json": _json}
TABLES = {"csv": _csv, "parquet": _parquet, "arrow": _arrow}
