"""Estimators with a memory: what earlier batches showed decides how the next one is weighed.

A memory is a value. `observe` takes a batch's numbers of right rollouts and returns the memory
after it; `estimator` is the group estimator that the memory gives the next batch. Until then it is
frozen: its weight, noise and objective are exact like those of any other (`lab.induced_weight`),
because the batch that is weighed does not enter (docs/mathematics.md, "Estimators with a memory").
Only NumPy is needed, and nothing here is random.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import complete_options, parse_call, unknown, whole
from lab.mathematics.estimators import MEMORIES, Estimator, centred
from lab.mathematics.metrics import checked_counts
from lab.mathematics.weights import induced_weight
from lab.shapes import Int

# The line that the header of a run has on it.
IN_THE_HEADER = "  it has a memory of earlier batches, which every checkpoint holds"
# Pass rates at which a record says the frozen weight.
SHOWN_RATES = (0.1, 0.5, 0.9)


@dataclass(frozen=True, eq=False)
class Memory:
    """CurveRL: A = w(r̄)(r - r̄) with w = f(r̄)/F(r̄), of the pass rates in the last batches.

    f is the share of mixed groups at a pass rate, F their share at that rate or below: a problem
    counts by its rank among the others, and the hardest ones seen count most, w = 1. Groups that
    agree are neither weighed nor remembered, and a rate that the window has not seen gets no
    weight. Where it has seen no mixed group, w = 1; the official code instead takes that batch as
    its own reference.

    `window`, all that it holds: mixed groups by batch and bin, the latest batch last; bin k holds
    the pass rates from k/(N+1) to below (k+1)/(N+1), which with N rollouts are K = k.
    """

    window: Int[np.ndarray, "batches bins"]

    def observe(self, K: ArrayLike, N: ArrayLike) -> Memory:
        """The memory after a batch: K right rollouts of N in each group, N one number or several.

        Groups of another size than the setting's (lost rollouts) count by their pass rate.
        LabError: K that are not whole or outside 0..N.
        """
        size, right = checked_counts(N, K)
        mixed = (right > 0) & (right < size)
        bins = self.window.shape[1]
        latest = np.bincount(self._bin(right[mixed], size[mixed]), minlength=bins)
        return Memory(np.concatenate((self.window[1:], latest[None])))

    def _bin(self, K: np.ndarray, N: np.ndarray | int) -> np.ndarray:
        bins = self.window.shape[1]
        return np.minimum(K * bins // N, bins - 1)

    def estimator(self) -> Estimator:
        """The estimator of the next batch."""
        seen = self.window.sum(axis=0)
        below = np.cumsum(seen)
        weight = np.divide(seen, below, out=np.zeros(len(seen)), where=below > 0)
        weight = weight if seen.any() else np.ones(len(seen))
        return Estimator(
            "curverl",
            lambda N: centred(weight[self._bin(np.arange(N + 1), N)]),
            label="CurveRL",
            citation="Sun et al. 2026, arXiv 2605.24331, as in the official code",
            least=2,
            options={"batches": len(self.window)},
            about=inspect.getdoc(Memory) or "",
        )


def curverl(N: int, *, batches: int = 10) -> Memory:
    """CurveRL before its first batch; the paper's window is of 10 batches."""
    return Memory(np.zeros((whole("batches", batches), N + 1), dtype=np.int64))


MEMORIES["curverl"] = curverl


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
