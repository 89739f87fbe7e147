"""The shapes of arrays in signatures: `Float[np.ndarray, "problems rollouts"]`.

Axes have names, and one name has one length in a call; "*batch" stands for any number of axes, and
a number for itself. The notation is jaxtyping's. Nothing is checked for users and jaxtyping need
not be installed: annotations are text that nobody reads. The tests import jaxtyping first and check
every call (tests/shape_checks.py).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int, Num, Shaped
elif "jaxtyping" in sys.modules:
    from jaxtyping import Bool, Float, Int, Num, Shaped
else:

    class _Unchecked:
        def __class_getitem__(cls, axes: Any) -> type[_Unchecked]:
            return cls

    Bool = Float = Int = Num = Shaped = _Unchecked

__all__ = ["Bool", "Float", "Int", "Num", "Shaped"]
