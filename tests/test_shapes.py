"""The shapes in signatures are checked in the tests; users need no jaxtyping (test_layers.py)."""

from importlib import import_module

import numpy as np
import pytest
import shape_checks
from beartype.roar import BeartypeCallHintViolation

from lab.errors import LabError

EXAMPLE = """
from __future__ import annotations
import numpy as np
from lab.errors import LabError
from lab.shapes import Float

def row_means(rewards: Float[np.ndarray, "problems rollouts"]) -> Float[np.ndarray, "problems"]:
    if rewards.ndim == 0:
        raise LabError("no axes")
    return rewards.mean(axis=AXIS)
"""


HALF_TYPED = {"lab.toy", "lab.mathematics.formula"}  # with few shapes in their signatures


@pytest.fixture
def example():
    """`row_means`, checked; `example.__wrapped__.__globals__["AXIS"]` is the axis of its means."""
    names: dict = {"__name__": "example", "AXIS": 1}
    exec(EXAMPLE, names)  # our own text
    return shape_checks.checked(names["row_means"])


def test_a_false_shape_is_found_in_arguments_and_in_results_that_look_like_right_ones(example):
    rewards = np.ones((2, 3))
    assert example(rewards).shape == example(rewards).shape == (2,)
    example.__wrapped__.__globals__["AXIS"] = 0
    with pytest.raises(BeartypeCallHintViolation):
        example(rewards)
    example.__wrapped__.__globals__["AXIS"] = 1
    assert example(rewards).shape == (2,)
    for wrong in (rewards[None], rewards.astype(int)):
        with pytest.raises(BeartypeCallHintViolation):
            example(wrong)
    with pytest.raises(LabError, match="no axes"):
        example(np.float64(1.0).reshape(()))


@pytest.mark.parametrize("module", sorted({*shape_checks.CHECKED} - HALF_TYPED))
def test_the_mathematics_is_checked(module):
    import_module(module)
    functions = {name for name in shape_checks.functions if name.startswith(f"{module}.")}
    assert len(functions) > 2, functions
