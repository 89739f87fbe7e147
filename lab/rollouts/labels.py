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

from lab.shapes import Int

SHARE = 0.8  # of the cells that must agree: some rollouts are lost
ENOUGH = 8  # problems that tell a rule from chance, where a column varies in few of them

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
    values = int(label.max()) + 1
    cells, size = np.unique(problem * values + label, return_counts=True)
    problem, label = np.divmod(cells, values)
    problems = len(np.unique(problem))
    several = (np.bincount(problem) > 1)[problem]
    undivided = np.sort(size[~several])
    problem, label, size = problem[several], label[several], size[several]
    varied = len(np.unique(problem))
    if varied < min(ENOUGH, problems / 2):
        # Chance divides few problems into parts, but not each into parts as large as the others.
        whole = undivided[(len(undivided) - 1) // 2]
        return "groups" if varied and whole > 1 and (size == whole).all() else ""
    shared = (np.bincount(label) > 1)[label]  # a value of one problem agrees with itself alone
    for usual, comparable in ((_usual(problem, size), True), (_usual(label, size), shared)):
        agree = (usual > 1) & (np.abs(size - usual) <= usual // 8) & comparable
        if agree.mean() >= SHARE:
            return "groups"
    every = problems * len(np.unique(label))
    return "singles" if (shared & (size == 1)).sum() >= SHARE * every else ""


def _usual(group: Int[np.ndarray, " cells"], size: Int[np.ndarray, " cells"]) -> np.ndarray:
    """The median size of each cell's group, the lower of two."""
    number = np.bincount(group)
    middle = np.cumsum(number) - number + (number - 1) // 2
    return size[np.lexsort((size, group))][middle[group]]
