"""The two sequences of an estimator, (gap, offset), and the ways that formulas write them.

Notation: of N rollouts of one problem K are right, and their mean reward is r̄ = K/N; j is the
number of successes among the other N-1. Rollout i gets the advantage A_i = gap[j] r_i + offset[j].
"""

import numpy as np

from lab.shapes import Float

Sequences = tuple[Float[np.ndarray, " N"], Float[np.ndarray, " N"]]


def from_success_failure(
    a1: Float[np.ndarray, " N_plus_1"], a0: Float[np.ndarray, " N_plus_1"]
) -> Sequences:
    """(gap, offset) from the advantage of a right rollout, a1(K), and of a wrong one, a0(K).

    Both are given for K = 0 .. N. With j successes among the others, a right rollout is in a group
    of K = j+1 and a wrong one in a group of K = j: gap[j] = a1(j+1) - a0(j), offset[j] = a0(j).
    """
    return a1[1:] - a0[:-1], a0[:-1]


def centred(scale: Float[np.ndarray, " N_plus_1"]) -> Sequences:
    """A = (r - r̄) scale(K), with K = 0 .. N: the advantages of every group sum to zero."""
    mean = np.linspace(0, 1, len(scale))
    return from_success_failure((1 - mean) * scale, -mean * scale)


def leave_one_out(gap: Float[np.ndarray, " N"]) -> Sequences:
    """A_i = gap[j] (r_i - mean of the others): the offset -gap[j] j/(N-1).

    The offset depends on the other rollouts alone, so it adds no bias. It is zero where all are
    wrong.
    """
    N = len(gap)
    # Divide first: j/(N-1) is then exactly 1 where all the others are right, and A exactly 0.
    mean_of_others = np.arange(N) / (N - 1)
    return gap, -gap * mean_of_others
