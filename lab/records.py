"""What a trainer tells: one `Record` or `Pause` after each step. Floor 0.

A trainer is a generator of them. It knows no folder, no logger and no figure; whoever runs it
writes them. Between two of its values it stands still, and only then can its state be read: the
tensors are its own, not copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lab.errors import LabError


@dataclass(frozen=True)
class Record:
    """The truth about one step.

    `metrics`: finite numbers by name. `groups`: columns of equal length, one row a group of
    rollouts (problem, rollouts N, right K). `state` gives the named tensors from which the trainer
    would go on after this step. Call it before the trainer is asked for its next value, and copy
    what must outlive that.
    """

    step: int
    metrics: dict[str, float]
    state: Callable[[], dict[str, Any]]
    groups: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Pause:
    """A step of which there is nothing to write down, told so that its `state` can be saved."""

    step: int
    state: Callable[[], dict[str, Any]]


def records(told: Iterable[Record | Pause]) -> Iterator[Record]:
    """The records alone, for whoever saves nothing between them."""
    return (one for one in told if isinstance(one, Record))


class Standing:
    """The state of a trainer that stands still after `step`: `read(step)`, until `move_on`."""

    def __init__(self, step: int, read: Callable[[int], dict[str, Any]]) -> None:
        self.step = step
        self._read: Callable[[int], dict[str, Any]] | None = read

    def __call__(self) -> dict[str, Any]:
        """The named tensors. LabError: training has gone on, and they are those of a later step."""
        if self._read is None:
            raise LabError(
                f"the state after step {self.step} is asked for too late, training has gone "
                "on: call state() before the trainer's next value, and copy what must last"
            )
        return self._read(self.step)

    def move_on(self) -> None:
        """To be called by the trainer before it changes anything."""
        self._read = None
