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


def test_the_mathematics_is_checked():
    for module in ("lab.estimators", "lab.losses", "lab.metrics", "lab.weights"):
        import_module(module)
    modules = {name.rsplit(".", 1)[0] for name in shape_checks.functions}
    assert {"lab.estimators", "lab.losses", "lab.weights", "lab.metrics"} <= modules


def test_users_need_no_jaxtyping():
    code = "import sys; import lab; import lab.shapes; assert 'jaxtyping' not in sys.modules"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
