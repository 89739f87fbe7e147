"""Estimators with a memory: what earlier batches showed decides how the next one is weighed.

A memory is a value. `observe` takes a batch's numbers of right rollouts and returns the memory
after it; `estimator` is the group estimator that the memory gives the next batch. Until then it is
frozen: its weight, noise and objective are exact like those of any other (`lab.induced_weight`),
because the batch that is weighed does not enter (docs/mathematics.md, "Estimators with a memory").
`arrays` are what a checkpoint holds. Only NumPy is needed, and nothing here is random.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import complete_options, parse_call, real, unknown, whole
from lab.mathematics.estimators import WITH_MEMORY, Estimator
from lab.mathematics.objectives import objective
from lab.mathematics.sequences import centred
from lab.mathematics.weights import induced_weight
from lab.shapes import Float, Int

# The line that the header of a run has on it.
IN_THE_HEADER = "  it has a memory of earlier batches, which every checkpoint holds"
# Pass rates at which a record says the frozen weight.
SHOWN_RATES = (0.1, 0.5, 0.9)


class Memory(ABC):
    """What every memory can do; each method leaves the memory as it was."""

    held: ClassVar[str]  # the array that holds all that was seen

    @abstractmethod
    def observe(self, K: ArrayLike, N: ArrayLike) -> Self:
        """The memory after a batch: K right rollouts of N in each group, N one number or several.

        Groups of another size than the setting's (lost rollouts) count by their pass rate.
        """

    @abstractmethod
    def estimator(self) -> Estimator:
        """The estimator of the next batch."""

    def arrays(self) -> dict[str, np.ndarray]:
        """All that the memory holds, for a checkpoint."""
        return {self.held: getattr(self, self.held)}

    def restored(self, arrays: Mapping[str, np.ndarray]) -> Self:
        """A memory of the same settings that holds what `arrays` returned."""
        return replace(cast(Any, self), **{self.held: np.array(arrays[self.held])})


@dataclass(frozen=True, eq=False)
class CurveRL(Memory):
    """A = w(r̄)(r - r̄) with w = f(r̄)/F(r̄), of the pass rates in the last `batches` batches.

    f is the share of mixed groups at a pass rate, F their share at that rate or below: a problem
    counts by its rank among the others, and the hardest ones seen count most, w = 1. Groups that
    agree are neither weighed nor remembered, and a rate that the window has not seen gets no
    weight. Where it has seen no mixed group, w = 1; the official code instead takes that batch as
    its own reference.

    `window`: mixed groups by batch and bin, the latest batch last; bin k holds the pass rates from
    k/(N+1) to below (k+1)/(N+1), which with N rollouts are K = k.
    """

    window: Int[np.ndarray, "batches bins"]
    held: ClassVar = "window"

    def observe(self, K: ArrayLike, N: ArrayLike) -> CurveRL:
        right, size = np.broadcast_arrays(K, N)
        mixed = (right > 0) & (right < size)
        bins = self.window.shape[1]
        latest = np.bincount(self._bin(right[mixed], size[mixed]), minlength=bins)
        return CurveRL(np.concatenate((self.window[1:], latest[None])))

    def _bin(self, K: np.ndarray, N: np.ndarray | int) -> np.ndarray:
        bins = self.window.shape[1]
        return np.minimum(K * bins // N, bins - 1)

    def estimator(self) -> Estimator:
        seen = self.window.sum(axis=0)
        below = np.cumsum(seen)
        weight = np.divide(seen, below, out=np.zeros(len(seen)), where=below > 0)
        if not seen.any():
            weight = np.ones(len(seen))
        return Estimator(
            "curverl",
            lambda N: centred(weight[self._bin(np.arange(N + 1), N)]),
            label="CurveRL",
            citation="Sun et al. 2026, arXiv 2605.24331, as in the official code",
            least=2,
            options={"batches": len(self.window)},
            about=inspect.getdoc(CurveRL) or "",
        )


@dataclass(frozen=True, eq=False)
class MovingBaseline(Memory):
    """A = r - b, b the moving average of the mean rewards of earlier batches: b += rate (mean - b).

    The oldest baseline of policy gradients, and one for all problems. It moves the offset alone, so
    w_N = 1 whatever it remembers; e_N = pq/(pq + (p-b)²), which is 1 where p = b. Before the first
    batch b = 0. The average is divided by the weight that it has gathered, so that early values are
    means of what was seen.

    `total`: the sum of the batches' mean rewards and of 1, each batch with its weight.
    """

    rate: float
    total: Float[np.ndarray, " 2"]
    held: ClassVar = "total"

    @property
    def baseline(self) -> float:
        mean, weight = self.total
        return float(mean / weight) if weight else 0.0

    def observe(self, K: ArrayLike, N: ArrayLike) -> MovingBaseline:
        right, size = np.broadcast_arrays(K, N)
        if not right.size:  # every rollout was lost
            return self
        latest = np.array([right.sum() / size.sum(), 1.0])
        return replace(self, total=(1 - self.rate) * self.total + self.rate * latest)

    def estimator(self) -> Estimator:
        baseline = self.baseline
        return Estimator(
            "moving_baseline",
            lambda N: (np.ones(N), np.full(N, -baseline)),
            label="REINFORCE, moving baseline",
            citation="Williams 1992; for language models Ahmadian et al. 2024, arXiv 2402.14740,"
            " not read again for this",
            limit=objective("rl"),
            options={"rate": self.rate},
            about=inspect.getdoc(MovingBaseline) or "",
        )


def curverl(N: int, *, batches: int = 10) -> Memory:
    """CurveRL before its first batch; the paper's window is of 10 batches."""
    return CurveRL(np.zeros((whole("batches", batches), N + 1), dtype=np.int64))


def moving_baseline(N: int, *, rate: float = 0.1) -> Memory:
    """A moving baseline before the first batch."""
    return MovingBaseline(real("rate", rate, 1e-6, 1), np.zeros(2))


# A new memory is a function here and a class above.
MEMORIES: dict[str, Callable[..., Memory]] = {
    "curverl": curverl,
    "moving_baseline": moving_baseline,
}
WITH_MEMORY.update(MEMORIES)


def has_memory(name: str) -> bool:
    """Whether this is the name or spec of an estimator with a memory, and not of anything else."""
    return name.partition("(")[0].strip() in MEMORIES


def with_memory(name: str, N: int) -> Memory:
    """The memory called `name`, before its first batch, for groups of N rollouts.

    `name` is a name or a call written as text. LabError: an unknown name or option; it names the
    nearest valid one.

    >>> memory = with_memory("curverl(batches=2)", 4).observe([1, 1, 2, 3], 4)
    >>> induced_weight(memory.estimator(), 4, [0.1, 0.9]).round(3)   # 1, 1/3, 1/4 at K = 1, 2, 3
    array([0.654, 0.204])
    """
    key, options = parse_call(name)
    if key not in MEMORIES:
        raise unknown("estimator with a memory", key, MEMORIES)
    options = complete_options("estimator", key, MEMORIES[key], options, skip=1)
    return MEMORIES[key](whole("N", N), **options)


def frozen_weights(memory: Memory, N: int) -> dict[str, float]:
    """The weight that the memory gives the next batch, for a record: at SHOWN_RATES, by name."""
    weights: Any = induced_weight(memory.estimator(), N, SHOWN_RATES)
    return {f"weight at p={p:g}": float(w) for p, w in zip(SHOWN_RATES, weights, strict=True)}
