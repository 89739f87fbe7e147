"""Metrics of repeated sampling: what k samples achieve, from n samples of which c are right.

They are pure functions of counts: exact averages over the k-subsets of the n samples, which are
drawn without replacement. `lab.stats` adds the intervals.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError
from lab.shapes import Float, Int

UNBOUNDED = 2**53  # up to here a whole number is exact as a float


def pass_at_k(
    n: ArrayLike, correct: ArrayLike, k: int | Sequence[int]
) -> Float[np.ndarray, "*problems"]:
    """Pass@k: the chance that at least one of k samples is right.

    1 - C(n-c, k) / C(n, k), unbiased for 1 - (1-p)^k (Chen et al. 2021, 2107.03374, eq. 1). At
    k = n it is exactly 1 if any sample is right, where drawing with replacement would give
    1 - (1-c/n)^n.

    `n` and `correct` broadcast, for example to "seeds problems"; n may differ between problems. The
    result has their shape; a list of k adds a last axis. LabError: counts that are not whole or
    outside 0..n; k outside 1..n.

    >>> [round(float(x), 12) for x in pass_at_k(4, 1, [1, 2, 4])]  # one right of four: k/4
    [0.25, 0.5, 1.0]
    """
    size, right = checked_counts(n, correct)
    # 0.0 - x and not -x, which would be -0.0 where nothing succeeded
    return 0.0 - np.expm1(_log_share(size, right, k))


def k_values(n: int) -> list[int]:
    """The values of k that are reported for n answers: the powers of two below n, and n.

    >>> k_values(6)
    [1, 2, 4, 6]
    """
    return [2**i for i in range((n - 1).bit_length())] + [n]


def exact_pass_at_k(p: ArrayLike, k: int | Sequence[int]) -> Float[np.ndarray, "*problems"]:
    """Pass@k of known pass rates, 1 - (1-p)^k; several k add a last axis."""
    ks = np.asarray(k)
    log_miss_of_one = np.log1p(-np.clip(p, 0, 1 - 1e-15))  # finite where p = 1
    if ks.ndim:
        log_miss_of_one = log_miss_of_one[..., None]
    return -np.expm1(ks * log_miss_of_one)


def pass_all_k(
    n: ArrayLike, correct: ArrayLike, k: int | Sequence[int]
) -> Float[np.ndarray, "*problems"]:
    """Pass^k: the chance that all of k samples are right.

    C(c, k) / C(n, k), unbiased for p^k (tau-bench, 2406.12045). It measures reliability, where
    pass@k measures coverage. Shapes and errors as in `pass_at_k`.

    >>> [round(float(x), 12) for x in pass_all_k(4, 3, [1, 2, 4])]  # three right of four: 1 - k/4
    [0.75, 0.5, 0.0]
    """
    size, right = checked_counts(n, correct)
    return np.exp(_log_share(size, size - right, k))


def majority(right: int, wrong: Sequence[int]) -> float:
    """Maj@n of one problem: whether the right answer wins the vote of its n samples.

    A tie among t answers is broken uniformly at random, and counts 1/t. `right` is how often the
    right answer came, `wrong` how often each of the others did; samples without an answer are left
    out.

    >>> majority(2, [1, 1]), majority(2, [2, 1]), majority(1, [2])
    (1.0, 0.5, 0.0)
    """
    if right == 0 or right < max(wrong, default=0):
        return 0.0
    return 1 / (1 + list(wrong).count(right))


def _whole(
    name: str, values: ArrayLike, low: int, high: ArrayLike, cure: str
) -> Int[np.ndarray, "*counts"]:
    """`values` as int64, refused unless all are whole and in low..high."""
    array, most = np.broadcast_arrays(values, high)
    if array.size == 0 or array.dtype.kind not in "iuf":
        raise LabError(f"{name} is {array.dtype} of shape {array.shape}: {cure} (booleans: sum)")
    wrong = np.argwhere(~((array >= low) & (array <= most) & (array == np.floor(array))))
    if len(wrong):
        index = tuple(wrong[0].tolist())
        place = f" at {', '.join(map(str, index))}" if index else ""
        limit = "" if most[index] == UNBOUNDED else f", where n is {most[index]}"
        raise LabError(f"{name}{place} is {array[index]}{limit}: {cure}")
    return array.astype(np.int64)


def checked_counts(
    n: ArrayLike, correct: ArrayLike
) -> tuple[Int[np.ndarray, "*problems"], Int[np.ndarray, "*problems"]]:
    """(n, correct), checked and of one shape."""
    size = _whole("n", n, 1, UNBOUNDED, "give a whole number of samples, at least 1")
    right = _whole("correct", correct, 0, size, "give the number of right samples, 0 to n")
    return np.broadcast_to(size, right.shape), right


def _log_share(
    n: Int[np.ndarray, "*problems"], marked: Int[np.ndarray, "*problems"], k: int | Sequence[int]
) -> Float[np.ndarray, "*values"]:
    """The logarithm of the share of k-subsets without any of m marked samples, C(n-m, k)/C(n, k).

    A list of k adds a last axis.
    """
    ks = _whole("k", k, 1, UNBOUNDED, "give whole numbers of at least 1").ravel()
    _whole("k", ks.max(), 1, n, "draw more samples or lower k")
    logs = np.empty((*n.shape, ks.size))
    # One table for each n serves every k and every m.
    for size in np.unique(n):
        of_this_size = n == size
        logs[of_this_size] = log_miss(int(size), ks)[:, marked[of_this_size]].T
    return logs[..., 0] if np.ndim(k) == 0 else logs


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
