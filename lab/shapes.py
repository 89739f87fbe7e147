"""The shapes of arrays in signatures: `Float[np.ndarray, "problems rollouts"]`.

Axes have names, and one name has one length in a call. "*batch" stands for any number of axes, a
number for itself, and "..." for axes that do not matter. The notation is jaxtyping's. A single axis
is written with a leading space, " rollouts", so that linters do not take it for a type.

Users need no jaxtyping, and nothing is checked for them. The tests import jaxtyping first, which
makes the annotations real, and check every call (tests/shape_checks.py).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int, Num, Shaped
elif "jaxtyping" in sys.modules:
    import jaxtyping

    class _Checked:
        """An annotation of jaxtyping that takes NumPy's scalars for arrays without axes.

        Arithmetic on arrays without axes returns scalars, so both come out of one function.
        """

        def __init__(self, kind: Any, scalar: type[np.generic]) -> None:
            self.kind, self.scalar = kind, scalar

        def __getitem__(self, array_and_axes: tuple[Any, str]) -> Any:
            array, axes = array_and_axes
            annotation = self.kind[array, axes]
            may_have_no_axes = all(axis == "..." or axis[0] == "*" for axis in axes.split())
            if array is np.ndarray and may_have_no_axes:
                return annotation | self.scalar
            return annotation

    Bool = _Checked(jaxtyping.Bool, np.bool_)
    Float = _Checked(jaxtyping.Float, np.floating)
    Int = _Checked(jaxtyping.Int, np.integer)
    Num = _Checked(jaxtyping.Num, np.number)
    Shaped = _Checked(jaxtyping.Shaped, np.generic)
else:

    class _Unchecked:
        """Takes any array and axes, and stands for nothing."""

        def __class_getitem__(cls, array_and_axes: Any) -> type[_Unchecked]:
            return cls

    Bool = Float = Int = Num = Shaped = _Unchecked

Array = NDArray[np.float64]  # of any shape
Counts = NDArray[np.int64]

__all__ = ["Array", "Bool", "Counts", "Float", "Int", "Num", "Shaped"]
