"""Tables of one step a row as rows: verl's table in W&B holds all samples of a validation in one.

Columns step, input_1, output_1, score_1, input_2, ...; each table holds the rows of those before it
too. From verl/utils/tracking.py (ValidationGenerationsLogger, val/generations). The page follows
the same rules: lab/explorer/front/rollouts.js.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from lab.rollouts.episodes import Row

FIRST = ("step", "input_1", "output_1", "score_1")


def rows_of_wide_tables(rows: Iterable[Row]) -> Iterator[Row]:
    """One row for each sample of a wide row, other rows as they are.

    Columns: `step`, `input`, `output`, `score`, and `sample`, its step and number, by which one
    that stands in two tables is known.
    """
    for row in rows:
        if all(name in row for name in FIRST):
            yield from _samples(row)
        else:
            yield row


def _samples(row: Row) -> Iterator[Row]:
    for number in itertools.count(1):
        if f"input_{number}" not in row:
            return
        names = ("input", "output", "score")
        sample = {name: row.get(f"{name}_{number}") for name in names}
        # A step with fewer samples than another leaves the last columns empty.
        if any(cell not in (None, "") for cell in sample.values()):
            yield {"step": row["step"], **sample, "sample": f"{row['step']}/{number}"}
