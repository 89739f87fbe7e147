"""The cells of a file's columns as whole numbers, so that a million rows take little memory, and
what the numbers tell: which rows are alike, and which columns divide the rollouts of a problem.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lab.rollouts.meaning import FILE, Wanted
from lab.rollouts.names import ENOUGH, SHARE
from lab.rollouts.structure import Row, identity, reader_of
from lab.shapes import Int

if TYPE_CHECKING:
    import pandas as pd

CHUNK = 16_384  # rows that are taken at once


class Columns:
    """Columns of one or several files, row by row; "" is the step that the files are named for.

    The different cells of a column have numbers from 0 in the order of the file; of long texts only
    hashes are kept. Columns of no known meaning are dropped if nearly every row has its own cell.
    """

    def __init__(self, found: Wanted) -> None:
        self.found = found
        self.readers = {name: reader_of(name) for name in found.names}
        self.numbers: dict[str, defaultdict[Any, int]] = {
            name: defaultdict(itertools.count().__next__) for name in [*found.names, ""]
        }
        self.codes: dict[str, list[np.ndarray]] = {name: [] for name in self.numbers}
        self.read = 0
        self.unfolded = 0  # rows of the files before, of which each held several

    def add_file(self, rows: Iterator[Row], step: str | None, file: str) -> None:
        """Take the rows of a file, whose name says a step or nothing."""
        of_file = {"": step, FILE: file}
        while some := list(itertools.islice(rows, CHUNK)):
            self.read += len(some)
            for name in list(self.numbers):
                if name in of_file:
                    self._add(name, [of_file[name]] * len(some))
                else:
                    self._add(name, list(map(self.readers[name], some)))
        self.unfolded = 1 + max(self.numbers.get("(row)", ()), default=-1)

    def _add(self, name: str, cells: list[Any]) -> None:
        numbers = self.numbers[name]
        if name in self.found.lists:
            cells = [len(cell) if isinstance(cell, list) else None for cell in cells]
        elif name == "(row)":
            cells = [self.unfolded + row for row in cells]
        number = hash if name in self.found.long else numbers.__getitem__
        try:
            codes = list(map(number, cells))
        except TypeError:  # lists or objects
            codes = list(map(number, _texts(cells)))
        self.codes[name].append(np.array(codes, np.int64))
        many = self.read >= CHUNK and 2 * len(numbers) > self.read
        if many and name in self.found.labels:
            del self.numbers[name], self.codes[name]

    def cells(self) -> dict[str, list[Any]]:
        """The different cells of each column; none of long texts."""
        return {name: list(numbers) for name, numbers in self.numbers.items()}

    def rows(self) -> pd.DataFrame:
        """Of each row the places of its cells among `cells`; of long texts their hashes."""
        import pandas as pd

        return pd.DataFrame({name: np.concatenate(parts) for name, parts in self.codes.items()})


def _texts(cells: Sequence[Any]) -> Iterator[Any]:
    """Cells, of lists and objects their canonical text."""
    for cell, equal in itertools.groupby(cells):  # the rollouts of a prompt stand together
        text = identity(cell) if isinstance(cell, (list, dict)) else cell
        yield from [text] * len(list(equal))


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

Division = Literal["groups", "singles", ""]


def counts_up(values: Sequence[Any]) -> bool:
    """Whether values are 0, 1, 2, ... or 1, 2, 3, ..."""
    try:
        numbers = sorted(float(value) for value in values)
    except (TypeError, ValueError):
        return False
    return numbers in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))


def division(problem: Int[np.ndarray, " rows"], label: Int[np.ndarray, " rows"]) -> Division:
    """Whether a column divides problems: into "groups" of several rollouts or "singles", or not.

    Both are whole numbers from 0. A cell is what one problem has of one value; only problems with
    several values count. Groups: most cells have as many rollouts as is usual for their problem, or
    for their value, two or more. Singles: most problems have one rollout of every value.

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
    every = problems * divided["label"].nunique()
    return "singles" if (shared & (divided["size"] == 1)).sum() >= SHARE * every else ""
