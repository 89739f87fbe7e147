"""The shapes in signatures: checked in the tests, free for users."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import shape_checks
from beartype.roar import BeartypeCallHintViolation

from lab.errors import LabError
from lab.mathematics.estimators import Sequences

ROOT = Path(__file__).parents[1]
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


def example(axis: int):
    names: dict = {"__name__": "example", "AXIS": axis}
    exec(EXAMPLE, names)  # our own text
    return shape_checks.checked(names["row_means"])


def mean_over(function, axis: int) -> None:
    """Let an `example` take its means over another axis."""
    function.__wrapped__.__globals__["AXIS"] = axis


def test_a_false_shape_is_found_in_arguments_and_results():
    assert example(1)(np.ones((2, 3))).shape == (2,)
    with pytest.raises(BeartypeCallHintViolation):
        example(0)(np.ones((2, 3)))  # the mean over the wrong axis
    with pytest.raises(BeartypeCallHintViolation):
        example(1)(np.ones((2, 3, 4)))
    with pytest.raises(BeartypeCallHintViolation):
        example(1)(np.ones((2, 3), dtype=int))
    with pytest.raises(LabError, match="no axes"):
        example(1)(np.float64(1.0).reshape(()))


def test_a_call_that_looks_like_a_right_one_is_held_to_the_shape_of_its_own_result():
    means = example(1)
    rewards = np.ones((2, 3))
    assert means(rewards).shape == means(rewards).shape == (2,)
    mean_over(means, 0)
    with pytest.raises(BeartypeCallHintViolation):
        means(rewards)
    mean_over(means, 1)
    assert means(rewards).shape == (2,)
    with pytest.raises(BeartypeCallHintViolation):
        means(rewards.astype(int))
    with pytest.raises(BeartypeCallHintViolation):
        means(rewards[None])


CHECKED = (
    "catalogue design estimators groups metrics objectives pass_rates real_rewards stats weights"
).split()


@pytest.mark.parametrize("module", [f"lab.mathematics.{name}" for name in CHECKED] + ["lab.losses"])
def test_the_mathematics_is_checked(module):
    import_module(module)
    functions = {name for name in shape_checks.functions if name.startswith(f"{module}.")}
    assert len(functions) > 2, functions


def test_a_shape_in_an_alias_is_checked():

    def unequal(N: int) -> Sequences:
        return np.ones(N), np.ones(N + 1)

    with pytest.raises(BeartypeCallHintViolation):
        shape_checks.checked(unequal)(3)


def test_users_need_no_jaxtyping():
    code = "import sys; import lab; import lab.shapes; assert 'jaxtyping' not in sys.modules"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
