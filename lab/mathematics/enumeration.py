"""The truth by brute force: expectations over every outcome of every rollout.

For a softmax policy over a few answers, N rollouts have answers^N outcomes. The sum over all of
them gives the mean and the covariance of any estimator's gradient, without formulas or sampling. It
is feasible for small N only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError
from lab.mathematics.estimators import Estimator, advantages
from lab.shapes import Array

MOST_OUTCOMES = 2_000_000


class Enumerated(NamedTuple):
    """The exact moments of a gradient estimate with respect to the logits, one for each answer."""

    mean: Array  # "answers"
    spread: float  # the trace of the covariance
    p: float  # the pass rate
    grad_p: Array  # "answers", the gradient of the pass rate


def enumerate_gradient(
    name: str | Estimator, N: int, probabilities: ArrayLike, right: ArrayLike
) -> Enumerated:
    """The exact moments of g = (1/N) sum_i A_i grad log pi(y_i) for a softmax policy.

    `probabilities` "answers" sum to 1; `right` "answers" is True for right answers. LabError: other
    shapes, no probabilities, or more than MOST_OUTCOMES outcomes.

    >>> g = enumerate_gradient("rloo", 3, [0.25, 0.75], [True, False])
    >>> np.allclose(g.mean, g.grad_p)
    True
    """
    pi = np.asarray(probabilities, dtype=np.float64)
    is_right = np.asarray(right, dtype=bool)
    sums_to_one = abs(pi.sum() - 1) <= 1e-9
    if pi.ndim != 1 or pi.shape != is_right.shape or not sums_to_one or (pi < 0).any():
        raise LabError(
            f"probabilities {pi.tolist()} with right {is_right.tolist()}: give two lists of equal"
            " length, the first summing to 1"
        )
    count = len(pi) ** N
    if count > MOST_OUTCOMES:
        raise LabError(
            f"{len(pi)} answers and N = {N} have {count:,} outcomes: at most {MOST_OUTCOMES:,}"
        )
    # "outcomes rollouts": the answer of each rollout in each outcome
    answers = np.stack(np.unravel_index(np.arange(count), (len(pi),) * N), axis=-1)
    chance = pi[answers].prod(axis=1)
    scores = np.eye(len(pi)) - pi  # row y: grad log pi(y)
    weights = advantages(name, is_right[answers].astype(np.float64))
    gradients = np.einsum("oi,oia->oa", weights, scores[answers]) / N
    mean = chance @ gradients
    mean_square = chance @ (gradients**2).sum(axis=1)
    p = float(pi[is_right].sum())
    return Enumerated(mean, float(mean_square - mean @ mean), p, pi * (is_right - p))
