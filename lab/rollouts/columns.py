"""The cells of a file's columns as whole numbers, so that a million rows take little memory."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.rollouts.containers import CHUNK, Chunk
from lab.rollouts.meaning import FILE, Wanted
from lab.rollouts.structure import identity
from lab.shapes import Int

if TYPE_CHECKING:
    import pandas as pd


class Columns:
    """Columns of one or several files, row by row; "" is the step that the files are named for.

    The different cells of a column have numbers from 0 in the order of the file; of long texts only
    hashes are kept. Columns of no known meaning are dropped if nearly every row has its own cell.
    """

    def __init__(self, found: Wanted) -> None:
        self.found = found
        self.numbers: dict[str, defaultdict[Any, int]] = {
            name: defaultdict(itertools.count().__next__) for name in [*found.names, ""]
        }
        self.codes: dict[str, list[np.ndarray]] = {name: [] for name in self.numbers}
        self.read = 0
        self.unfolded = 0  # rows of the files before, of which each held several

    def add(self, chunk: Chunk, step: str | None, file: str) -> None:
        """Take rows of a file."""
        rows = len(next(iter(chunk.values())))
        self.read += rows
        chunk |= {"": [step] * rows, FILE: [file] * rows}
        if "(row)" in chunk:
            chunk["(row)"] = [self.unfolded + row for row in chunk["(row)"]]
        for name in self.found.lists:
            chunk[name] = [len(cell) if isinstance(cell, list) else None for cell in chunk[name]]
        for name, numbers in list(self.numbers.items()):
            number = hash if name in self.found.long else numbers.__getitem__
            try:
                codes = list(map(number, chunk[name]))
            except TypeError:  # lists or objects
                codes = list(map(number, _texts(chunk[name])))
            self.codes[name].append(np.array(codes, np.int64))
            many = self.read >= CHUNK and 2 * len(numbers) > self.read
            if many and name in self.found.labels:
                del self.numbers[name], self.codes[name]

    def end_file(self) -> None:
        """Number the unfolded rows of the next file from here."""
        self.unfolded = 1 + max(self.numbers.get("(row)", ()), default=-1)

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
