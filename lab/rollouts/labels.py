"""Columns that divide the rollouts of a problem, as a policy's name or a data set's does.

A file of three checkpoints, or of two data sets that both number their problems from 0, looks like
one file of larger groups. Its columns tell, whatever they are called: in one that chance fills (a
length, a judge's word) the number of rollouts with one value differs from problem to problem, in
one that somebody assigned it does not. The page (lab/explorer/front/labels.js) has the same rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from lab.rollouts.names import ENOUGH, SHARE
from lab.shapes import Int

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
