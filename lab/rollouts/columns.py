"""The cells of a file's columns as whole numbers, so that a million rows take little memory, and
what the numbers tell: which rows are alike, and which columns divide the rollouts of a problem.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.errors import LabError
from lab.rollouts.containers import Chunk
from lab.rollouts.meaning import FILE, Choice, is_history, outcome_of, unclear
from lab.rollouts.names import (
    ENOUGH,
    HINTS,
    KEPT,
    ROLLOUTS,
    SHARE,
    SHORT,
    hinted,
    may_outcome,
)
from lab.rollouts.structure import Row, asked, cell_of, flat, identity, missing, number, refusal
from lab.shapes import Int

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MANY = 16_384  # rows after which it is clear whether a column has few different cells
MOST = 2000  # texts that are kept of a column, and pairs of answer and gold that are judged


class Columns:
    """Columns of one or several files, row by row; "" is the step that the files are named for.

    The different cells of a column have numbers from 0 in the order of the file; of `long` texts
    hashes are kept, and in `texts` the first MOST of each by their hashes; of `lists` lengths.
    `all` are the columns of the file, `names` those that are read. Short ones of no known meaning
    are dropped if nearly every row has its own cell.
    """

    def __init__(self, first: Sequence[Row], choice: Choice, several: bool = False) -> None:
        """Choose the columns by the first rows, with the names of `several` files. LabError: they
        hold no outcome, or one is missing.
        """
        self.all = [name for name in dict.fromkeys(itertools.chain(*first)) if name[:1] != "("]
        cells = self._told(first, choice, several)
        scalar = {
            name: told
            for name, told in cells.items()
            if not any(isinstance(cell, (list, dict)) or len(str(cell)) > SHORT for cell in told)
        }
        given = {name: cells[name] for name in choice.columns if name in cells}
        known = (*ROLLOUTS, *HINTS["text"], *HINTS["answer"])
        lists = [x for x in cells if x not in given and {*map(type, cells[x])} == {list}]
        lists = [name for name in lists if name.lower() in known]
        outcome = outcome_of(scalar | given, choice, lists)
        if outcome is None or (outcome.kind == "rate" and is_history(self.all, cells)):
            raise LabError(unclear(self.all, cells, choice))
        problems = [*hinted(scalar, "problem"), *hinted(cells, "prompt")[:2]]
        self.lists = [name for name in lists if name == outcome.size]
        used = {*problems, *self.lists, *choice.columns}
        texts = [name for name in cells if name not in used and {*map(type, cells[name])} - {float}]
        self.long = [*hinted(texts, "text")[:1], *hinted(texts, "answer")[:1]]
        others = [*filter(may_outcome, scalar), *hinted(scalar, *KEPT), *self.long, *self.lists]
        kept = dict.fromkeys([*choice.columns, *problems, *outcome.names, *others])
        self.labels = [name for name in [*scalar, *[FILE] * several] if name not in kept]
        self.names = [*kept, *self.labels]
        unread = [x for x in self.all if x not in self.names and {*map(type, cells[x])} == {str}]
        self.unread = [x for x in unread if 1 < len({*cells[x]}) < len(cells[x])]  # as prompts do
        self.signature = f"columns {', '.join([*problems[:1], outcome.names[0]])}"
        self.numbers: dict[str, defaultdict[Any, int]] = {
            name: defaultdict(itertools.count().__next__) for name in [*self.names, ""]
        }
        self.codes: dict[str, list[np.ndarray]] = {name: [] for name in self.numbers}
        self.texts: dict[str, dict[int, Any]] = {name: {} for name in self.long}
        self.read = 0

    def _told(self, first: Sequence[Row], choice: Choice, several: bool) -> dict[str, list[Any]]:
        """The cells of each column that are not empty, also of those in an object and of those that
        the user names. LabError: one of these is not there.
        """
        cells: dict[str, list[Any]] = {}
        for row in first:
            for place, value in flat(row):
                cells.setdefault(place, []).extend([] if missing(value) else [value])
        inner = [name for name in cells if name.count(".") > 1 and name not in self.all]
        for name in [x for x in inner if 2 * len(cells[x]) < len(first)]:  # of some rows alone
            del cells[name]
        for name in choice.columns:
            if name not in cells and not (several and name == FILE):
                cells[name] = [x for row in first if not missing(x := cell_of(row, name))]
                if not cells[name]:
                    raise refusal("no_column", columns=self.all, name=name)
        return cells

    def add_file(
        self, chunks: Callable[[Sequence[str]], Iterator[Chunk]], step: str | None, file: str
    ) -> None:
        """Take the rows of a file, whose path says a step or nothing, and a policy."""
        of_file = {"": step, FILE: file}
        before = self.numbers.get("(row)", {}).keys() - {None}
        unfolded = 1 + max(before, default=-1)  # of the files before
        for chunk in chunks([name for name in self.numbers if name not in of_file]):
            rows = len(next(iter(chunk.values())))
            self.read += rows
            for name in list(self.numbers):
                cells: Any = [of_file[name]] * rows if name in of_file else chunk[name]
                if name == "(row)":
                    cells = [None if row is None else unfolded + row for row in cells]
                self._add(name, cells)

    def _add(self, name: str, given: list[Any] | pa.Array) -> None:
        """Take cells of a column."""
        cells, places = _different(given, name in self.long)
        if name in self.lists:
            cells = [len(cell) if isinstance(cell, list) else None for cell in cells]
        numbers = self.numbers[name]
        number = _hash if name in self.long else numbers.__getitem__
        try:
            codes = list(map(number, cells))
        except TypeError:  # lists or objects
            codes = list(map(number, _texts(cells)))
        self.codes[name].append(np.array(codes, np.int64)[places])
        if len(self.texts.get(name, range(MOST))) < MOST:
            self.texts[name].update(zip(codes, cells, strict=True))
        many = self.read >= MANY and 2 * len(numbers) > self.read
        if many and name in self.labels:
            del self.numbers[name], self.codes[name]


def _hash(cell: Any) -> int:
    """The hash of a cell; -1, which none has, of an empty one."""
    if isinstance(cell, (list, dict)):
        cell = repr(cell)
    return -1 if cell is None or cell == "" else hash(cell)


def _texts(cells: Sequence[Any]) -> Iterator[Any]:
    """Cells, of lists and objects their canonical text, of chats what they ask."""
    for cell, equal in itertools.groupby(cells):  # the rollouts of a prompt stand together
        text = identity(asked(cell)) if isinstance(cell, (list, dict)) else cell
        yield from [text] * len(list(equal))


def _different(given: list[Any] | pa.Array, by_key: bool) -> tuple[list[Any], Any]:
    """The different cells of a column of Arrow, or all, and the place of each row's own in them.

    Lists and objects that are only to be told apart, `by_key`, are tuples of what is in them.
    """
    import pyarrow as pa

    if isinstance(given, list):
        return given, slice(None)
    kinds = pa.types.is_primitive, pa.types.is_string, pa.types.is_large_string
    if not any(is_kind(given.type) for is_kind in kinds):
        return _keys(given) if by_key else given.to_pylist(), slice(None)
    encoded = given.dictionary_encode()
    cells = encoded.dictionary.to_pylist()
    empty = [None] * bool(encoded.null_count)
    return cells + empty, encoded.indices.fill_null(len(cells)).to_numpy()


def _keys(array: pa.Array) -> list[Any]:
    """For each cell of a column of Arrow what is equal for equal cells alone."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_struct(kind) and kind.num_fields:
        return list(zip(*map(_keys, array.flatten()), strict=True))
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        cells = array.to_pylist()
        is_nested = pa.types.is_nested(kind)
        return [repr(cell) if is_nested and cell is not None else cell for cell in cells]
    inner = iter(_keys(array.flatten()))
    lengths = array.value_lengths().to_pylist()
    return [None if n is None else tuple(itertools.islice(inner, n)) for n in lengths]


def numbered(rows: pd.DataFrame, *names: str) -> Int[np.ndarray, " rows"]:
    """One number for each different row of some columns, in the order of the rows; without columns
    every row has its own.
    """
    if not names:
        return np.arange(len(rows))
    return rows.groupby(list(dict.fromkeys(names)), sort=False).ngroup().to_numpy()


# --- Columns that divide the rollouts of a problem ------------------------------------------------
# A file of three checkpoints, or of two data sets that both number their problems from 0, looks
# like one file of larger groups. Its columns tell, whatever they are called: in one that chance
# fills (a length, a judge's word) the number of rollouts with one value differs from problem to
# problem, in one that somebody assigned it does not. lab/explorer/front/labels.js does the same.


def counts_up(values: Sequence[Any]) -> bool:
    """Whether values are 0, 1, 2, ... or 1, 2, 3, ..."""
    numbers = sorted(math.nan if (x := number(value)) is None else x for value in values)
    return numbers in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))


def division(problem: Int[np.ndarray, " rows"], label: Int[np.ndarray, " rows"]) -> str:
    """Whether a column divides problems: into "groups" of several rollouts or "singles", or not.

    Both are whole numbers from 0. A cell is what one problem has of one value; only problems with
    several values count. Groups: most cells have as many rollouts as is usual for their problem, or
    for their value, two or more; or most problems have of every value, of three or more, as many as
    is usual for it. Singles: most problems have one rollout of every value.

    Two problems with three rollouts of each of two policies, then with what chance gave:

    >>> problem = np.repeat([0, 1], 6)
    >>> division(problem, np.tile([0, 0, 0, 1, 1, 1], 2))
    'groups'
    >>> division(problem, np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0]))
    ''
    """
    import pandas as pd

    rows = pd.DataFrame({"problem": problem, "label": label})
    cells = rows.groupby(["problem", "label"]).size().rename("size").reset_index()
    parts = cells.groupby("problem")["label"].transform("size")
    divided = cells[parts > 1]
    problems, varied = cells["problem"].nunique(), divided["problem"].nunique()
    if varied < min(ENOUGH, problems / 2):
        # Chance divides few problems into parts, but not each into parts as large as the others.
        whole = cells["size"][parts == 1].quantile(interpolation="lower")
        return "groups" if varied and whole > 1 and (divided["size"] == whole).all() else ""
    shared = divided.groupby("label")["label"].transform("size") > 1
    for name in ("problem", "label"):
        usual = divided[name].map(divided.groupby(name)["size"].quantile(interpolation="lower"))
        agree = (usual > 1) & ((divided["size"] - usual).abs() <= usual // 8)
        if name == "label":  # a value of one problem agrees with itself alone
            agree &= shared
        if agree.mean() >= SHARE:
            return "groups"
    values = divided["label"].nunique()
    same = shared & (divided["size"] == (usual if values > 2 else 1))  # usual for the value
    if same.sum() < SHARE * problems * values:
        return ""
    return "groups" if (divided["size"][same] > 1).any() else "singles"
