"""The axes of the pass rate: the points at which both Python and the page draw curves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lab.errors import unknown
from lab.shapes import Array

POINTS = 241  # of a curve
# Pass rates from a position on the axis in [0, 1]; the page has the same formulas.
AXES: dict[str, Callable[[Array], Array]] = {
    "linear": lambda position: (position * (POINTS - 1) + 0.5) / POINTS,
    "log": lambda position: 10 ** (-4 + 4 * position) * 0.9999**position,
    "deep": lambda position: 10 ** (-6 + 6 * position) * 0.9999**position,
    "logit": lambda position: 1 / (1 + np.exp(np.log(9999) * (1 - 2 * position))),
}


def pass_rates(axis: str) -> Array:
    """The pass rates at which curves are drawn, "points"."""
    if axis not in AXES:
        raise unknown("axis", axis, AXES)
    return AXES[axis](np.linspace(0, 1, POINTS))
