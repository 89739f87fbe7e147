"""The cells of a file's columns as whole numbers, so that a million rows take little memory."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from lab.rollouts.containers import CHUNK, Chunk
from lab.rollouts.meaning import FILE, Wanted
from lab.rollouts.structure import identity, missing
from lab.shapes import Int

Codes = Int[np.ndarray, " rows"]


class Column:
    """The cells of a column as numbers from 0 in the order of the file; equal cells have equal
    ones. Of long texts only hashes are kept.
    """

    def __init__(self, long: bool = False) -> None:
        self.numbers: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
        self.parts: list[Codes] = []
        self.number = hash if long else self.numbers.__getitem__

    def add(self, cells: Sequence[Any]) -> None:
        """Take the cells of further rows."""
        number = self.number
        try:
            found = [number(cell) for cell in cells]
        except TypeError:  # lists or objects
            found = []
            before, text = None, ""
            for cell in cells:
                if isinstance(cell, (list, dict)):
                    if cell != before:  # the rollouts of a prompt stand together
                        before, text = cell, identity(cell)
                    cell = text
                found.append(number(cell))
        self.parts.append(np.array(found, np.int64))


class Columns:
    """Columns of one or several files, row by row; "" is the step that the files are named for.

    Those of no known meaning are dropped if nearly every row has its own cell.
    """

    def __init__(self, found: Wanted) -> None:
        self.held = {name: Column(name in found.long) for name in [*found.names, ""]}
        self.found = found
        self.rows = 0
        self.unfolded = 0  # rows of the files before, of which each held several

    def add(self, chunk: Chunk, step: str | None, file: str) -> None:
        """Take rows of a file."""
        rows = len(next(iter(chunk.values())))
        self.rows += rows
        chunk |= {"": [step] * rows, FILE: [file] * rows}
        if "(row)" in chunk:
            chunk["(row)"] = [self.unfolded + row for row in chunk["(row)"]]
        for name in self.found.lists:
            chunk[name] = [len(cell) if isinstance(cell, list) else None for cell in chunk[name]]
        for name, column in list(self.held.items()):
            column.add(chunk[name])
            if self.rows >= CHUNK and 2 * len(column.numbers) > self.rows:
                if name in self.found.labels:
                    del self.held[name]

    def end_file(self) -> None:
        """Number the unfolded rows of the next file from here."""
        if "(row)" in self.held:
            self.unfolded = 1 + max(self.held["(row)"].numbers, default=-1)

    def has(self, name: str) -> bool:
        """Whether a column has cells that are not empty."""
        numbers = self.held[name].numbers
        return name != "" and (not numbers or not all(map(missing, numbers)))

    def cells(self, name: str) -> list[Any]:
        """The different cells of a column, by their numbers."""
        return list(self.held[name].numbers)

    def codes(self, name: str) -> Codes:
        """The number of each row's cell."""
        column = self.held[name]
        if len(column.parts) != 1:
            column.parts = [np.concatenate(column.parts)]
        return column.parts[0]


def numbered(*codes: Codes) -> Codes:
    """One number for each different row of some columns of numbers, in the order of the rows."""
    import pandas as pd

    found = np.zeros(len(codes[0]), np.int64)
    for each in codes:
        own = pd.factorize(each)[0]  # hashes are large
        found = pd.factorize(found * (int(own.max(initial=0)) + 1) + own)[0]
    return found
