"""The state of the explorer's screen as one flat dictionary; front/state.js has the same table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from lab.errors import LabError, one_of, unknown, whole
from lab.mathematics.estimators import estimator
from lab.mathematics.objectives import objective
from lab.mathematics.recipes import parse_gate

# The drawn weight at the start: large for pass rates in the middle.
BUMP = [0, 0, 0, 0, 0, 2, 4, 4, 4, 4, 4, 4, 4, 2, 0, 0, 0, 0, 0, 0, 0]
DEFAULTS: dict[str, Any] = {
    "panel": "curves",
    "N": 16,
    "curves": ["rloo", "grpo", "maxrl", "pacs"],
    "objectives": [],
    "quantity": "weight",
    "gate": "none",
    "x": "log",
    "y": "log",
    "normalise": False,
    "limits": True,
    "by": "hand",
    "points": BUMP,
    "formula": "exp(-5*p)",
    "zero_mean": False,
    "left": "rloo",
    "right": "maxrl",
    "problems": 96,
    "start": "even",
    "shared": 0,  # features that problems share; 0: each has parameters of its own
    "right_N": 0,  # 0: as many as on the left
    "equal": "length",
    "length": 0.05,
    "rate": 0.5,
    "seed": 0,
    "seeds": 5,
    "across": "steps",
    "theme": "auto",
}
CHOICES = {
    "panel": ("curves", "draw", "files", "toy"),
    "quantity": ("weight", "objective", "efficiency", "mass", "contrast"),
    "x": ("log", "deep", "linear", "logit"),
    "y": ("log", "linear"),
    "by": ("hand", "formula"),
    "start": ("even", "own"),
    "equal": ("length", "rate"),
    "across": ("steps", "rollouts"),
    "theme": ("auto", "light", "dark"),
}
RANGES = {
    "N": (2, 4096),
    "problems": (4, 400),
    "shared": (0, 400),
    "right_N": (0, 4096),
    "seed": (0, 2**31 - 1),
    "seeds": (1, 16),
}
REALS = {"length": (0.001, 1), "rate": (0.001, 10)}
MOST_CURVES = 8


def checked(partial: Mapping[str, Any], own: Mapping[str, Any] = {}) -> dict[str, Any]:
    """The full state from a partial one; the names in `own` count as estimators.

    Unknown keys, unknown names and values out of range are errors.
    """
    for key, value in partial.items():
        if key not in DEFAULTS:
            raise unknown("key of the explorer's state", key, DEFAULTS)
        usual = DEFAULTS[key]
        if key in CHOICES:
            one_of(key, value, CHOICES[key])
        elif key in RANGES and whole(key, value, RANGES[key][0]) > RANGES[key][1]:
            raise LabError(f"{key} = {value}: it must be at most {RANGES[key][1]}")
        elif key in REALS and not (_is_number(value) and REALS[key][0] <= value <= REALS[key][1]):
            least, most = REALS[key]
            raise LabError(f"{key} = {value!r}: it must be a number from {least} to {most}")
        elif type(usual) in (bool, str) and type(value) is not type(usual):
            raise LabError(
                f"{key} = {value!r}: it must be"
                f" {'True or False' if usual in (True, False) else 'text'}"
            )
        elif key == "gate" and value != "none":
            parse_gate(value)
    state = DEFAULTS | dict(partial)
    for key, read in (("curves", estimator), ("objectives", objective)):
        specs = _a_list(key, state[key])
        if len(specs) > MOST_CURVES:
            raise LabError(
                f"{key}: {len(specs)} are too many to tell apart, give at most {MOST_CURVES}"
            )
        for spec in specs:
            if not isinstance(spec, str):
                raise LabError(
                    f"{key}: found {type(spec).__name__}; give names, and estimators in own="
                )
            if spec not in own:
                read(spec)
    for key in ("left", "right"):
        if state[key] not in own:
            estimator(state[key])
    points = _a_list("points", state["points"])
    if len(points) != len(BUMP) or not all(_is_number(w) for w in points):
        raise LabError(f"points: give {len(BUMP)} finite numbers, the weight at p = 0, 0.05, .. 1")
    return state


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _a_list(key: str, value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise LabError(f"{key} = {value!r}: it must be a list")
    return list(value)
