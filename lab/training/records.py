"""What a trainer yields after each step: a `Record` or a `Pause`.

A trainer is a generator of these. It knows no folder, no logger and no figure; whoever runs it
writes them down. Between two of its values it is suspended, and only then can its state be read:
the tensors are its own, not copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lab.errors import LabError


@dataclass(frozen=True)
class Record:
    """The measurements of one step.

    `metrics`: finite numbers by name. `groups`: columns of equal length with one row for each group
    of rollouts (problem, rollouts N, right K). `rollouts`: the same with one row for each rollout
    that the step was made from; empty where the trainer tells none. `state` returns the named
    tensors from which training would go on after this step. Call it before the trainer's next
    value, and copy what must last longer.
    """

    step: int
    metrics: dict[str, float]
    state: Callable[[], dict[str, Any]]
    groups: dict[str, np.ndarray] = field(default_factory=dict)
    rollouts: dict[str, list[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Pause:
    """A step without measurements, yielded so that its `state` and `rollouts` can be saved."""

    step: int
    state: Callable[[], dict[str, Any]]
    rollouts: dict[str, list[Any]] = field(default_factory=dict)


def records(steps: Iterable[Record | Pause]) -> Iterator[Record]:
    """The records alone, for callers that save nothing in between."""
    return (step for step in steps if isinstance(step, Record))


class Standing:
    """The state of a trainer that is suspended after `step`: `read(step)`, until `move_on`."""

    def __init__(self, step: int, read: Callable[[int], dict[str, Any]]) -> None:
        self.step = step
        self._read: Callable[[int], dict[str, Any]] | None = read

    def __call__(self) -> dict[str, Any]:
        """The named tensors. LabError: training has gone on, so they belong to a later step."""
        if self._read is None:
            raise LabError(
                f"the state after step {self.step} is asked for too late, training has gone "
                "on: call state() before the trainer's next value, and copy what must last"
            )
        return self._read(self.step)

    def move_on(self) -> None:
        """Called by the trainer before it changes any tensor."""
        self._read = None
