"""What a trainer tells: one `Record` at a time. Floor 0.

A trainer is a generator of records. It knows no folder, no logger and no figure; whoever runs it writes them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Record:
    """The truth about one step.

    `metrics`: finite numbers by name. `groups`: columns of equal length, one row a group of rollouts (problem,
    rollouts N, right K). `state` makes the named tensors from which the trainer would go on after this step.
    """

    step: int
    metrics: dict[str, float]
    state: Callable[[], dict[str, Any]]
    groups: dict[str, np.ndarray] = field(default_factory=dict)
