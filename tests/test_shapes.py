"""The shapes in signatures are checked in the tests; users need no jaxtyping (test_layers.py)."""

from importlib import import_module

import numpy as np
import pytest
import shape_checks
from beartype.roar import BeartypeCallHintViolation

from lab.shapes import Float

HALF_TYPED = {"lab.toy", "lab.mathematics.formula"}  # with few shapes in their signatures
MEANS = 'def means(x: Float[np.ndarray, "a b"]) -> Float[np.ndarray, "a"]: return x.mean(axis=AXIS)'


def test_a_false_shape_is_found_in_arguments_and_in_results_that_look_like_right_ones():
    names = {"__name__": "example", "np": np, "Float": Float, "AXIS": 1}
    exec(MEANS, names)  # our own text
    means, x = shape_checks.checked(names["means"]), np.ones((2, 3))
    assert means(x).shape == means(x).shape == (2,)
    names["AXIS"] = 0
    for wrong in (x, x[None], x.astype(int)):
        with pytest.raises(BeartypeCallHintViolation):
            means(wrong)


@pytest.mark.parametrize("module", sorted({*shape_checks.CHECKED} - HALF_TYPED))
def test_the_mathematics_is_checked(module):
    import_module(module)
    functions = {name for name in shape_checks.functions if name.startswith(f"{module}.")}
    assert len(functions) > 1, functions
