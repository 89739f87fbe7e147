"""Drawing without replacement: the chance that k of n items miss, or hit, the marked ones."""

import numpy as np
from numpy.typing import ArrayLike

from lab.shapes import Float


def log_miss(n: int, k: ArrayLike) -> Float[np.ndarray, "*k {n}+1"]:
    """log C(n-c, k)/C(n, k) for c = 0 .. n, on a new last axis: the logarithm of `miss`.

    Accurate for any n: it is the sum over i < c of log(1 - k/(n-i)). Where k > n-c no draw misses
    all marked items, and the logarithm is -inf.
    """
    share = np.asarray(k)[..., None] / (n - np.arange(n))
    with np.errstate(divide="ignore"):
        steps = np.log1p(-np.minimum(1.0, share))
    start = np.zeros((*share.shape[:-1], 1))
    return np.concatenate((start, np.cumsum(steps, axis=-1)), axis=-1)


def miss(n: int, k: int) -> Float[np.ndarray, " {n}+1"]:
    """C(n-c, k)/C(n, k) for c = 0 .. n: the chance that k draws from n miss all of c marked items.

    >>> miss(4, 2).round(3)
    array([1.   , 0.5  , 0.167, 0.   , 0.   ])
    """
    return np.exp(log_miss(n, k))


def hit(n: int, k: int) -> Float[np.ndarray, " {n}+1"]:
    """1 - miss(n, k), accurate where it is small: the unbiased pass@k for c = 0 .. n successes."""
    return -np.expm1(log_miss(n, k))
