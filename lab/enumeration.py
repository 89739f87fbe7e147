"""The truth by brute force: expectations over every outcome of every rollout. Floor 0.

For a softmax policy over a few answers, N rollouts have answers^N outcomes; summing over all of
them gives the mean and the spread of any estimator's gradient without formula or sampling. Small N
only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.errors import LabError
from lab.estimators import Estimator, advantages

Array = NDArray[np.float64]
MOST_OUTCOMES = 2_000_000


class Enumerated(NamedTuple):
    """`mean` "answers" and `spread` (trace of the covariance) of the gradient with respect to the
    logits, and `grad_p` "answers", the gradient of the pass rate `p`.
    """

    mean: Array
    spread: float
    p: float
    grad_p: Array


def enumerate_gradient(
    name: str | Estimator, N: int, probabilities: ArrayLike, right: ArrayLike
) -> Enumerated:
    """The exact distribution of g = (1/N) sum_i A_i grad log pi(y_i) for a softmax policy.

    `probabilities` "answers" sum to 1; `right` "answers" is the boolean mask of right ones.

    >>> g = enumerate_gradient("rloo", 3, [0.25, 0.75], [True, False])
    >>> np.allclose(g.mean, g.grad_p)
    True
    """
    pi, right = np.asarray(probabilities, dtype=np.float64), np.asarray(right, dtype=bool)
    if pi.ndim != 1 or pi.shape != right.shape or not abs(pi.sum() - 1) <= 1e-9 or (pi < 0).any():
        raise LabError(
            f"probabilities {pi.tolist()} with right {right.tolist()}: give two lists of equal"
            " length, the first summing to 1"
        )
    if len(pi) ** N > MOST_OUTCOMES:
        raise LabError(
            f"{len(pi)} answers and N = {N} have {len(pi) ** N:,} outcomes: at most"
            f" {MOST_OUTCOMES:,}"
        )
    answers = np.stack(
        np.unravel_index(np.arange(len(pi) ** N), (len(pi),) * N), axis=-1
    )  # "outcomes rollouts"
    chance = pi[answers].prod(axis=1)
    scores = np.eye(len(pi)) - pi  # row y: grad log pi(y)
    gradients = (
        np.einsum(
            "oi,oia->oa", advantages(name, right[answers].astype(np.float64)), scores[answers]
        )
        / N
    )
    mean = chance @ gradients
    p = float(pi[right].sum())
    return Enumerated(
        mean, float(chance @ (gradients**2).sum(axis=1) - mean @ mean), p, pi * (right - p)
    )
