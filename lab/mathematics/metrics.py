"""Metrics of repeated sampling: what k samples achieve, from n samples of which c are right.

They are pure functions of counts: exact averages over the k-subsets of the n samples. `lab.stats`
adds the intervals.
"""

import bisect
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError
from lab.mathematics.subsets import log_miss
from lab.shapes import Counts, Float, Int

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
    size, right = _counts(n, correct)
    # 0.0 - x and not -x, which would be -0.0 where nothing succeeded
    return 0.0 - np.expm1(_log_share(size, right, k))


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
    size, right = _counts(n, correct)
    return np.exp(_log_share(size, size - right, k))


def majority_at_k(counts: Sequence[int] | Counts, k: int, correct: int | None = 0) -> float:
    """Maj@k of one problem: the chance that the right answer wins a vote among k of its n samples.

    The mean over k-subsets of [the right answer has the most votes] / (answers with as many): **a
    tie among t answers is broken uniformly at random** and counts 1/t. The absolute error is below
    1e-12.

    `counts` "answers" says how often each distinct answer was given; leave out samples without an
    answer, or count them as an answer of their own. `correct` is the index of the right answer,
    None (which gives 0.0) if nobody gave it. LabError: counts that are not whole, negative or of
    several problems; k outside 1..n; no such index.

    One draw is pass@1, and all four draws elect the right answer. Of the six pairs one has it twice
    (1), and four have it once, beside a wrong answer (1/2 each):

    >>> round(majority_at_k([2, 1, 1], 1), 12), majority_at_k([2, 1, 1], 4)
    (0.5, 1.0)
    >>> round(majority_at_k([2, 1, 1], 2), 12)
    0.5
    """
    votes = _whole("counts at answer", counts, 0, None, "give how often each distinct answer came")
    if votes.ndim != 1 or correct not in (None, *range(votes.size)):
        raise LabError(
            f"correct is {correct} and counts has shape {votes.shape}: give counts of one problem "
            "and the index of its right answer or None"
        )
    n = int(votes.sum())
    (k,) = _draws(k, votes.sum()).tolist()
    if correct is None:
        return 0.0
    if k == n:
        winners = votes == votes.max()
        return float(winners[correct] / winners.sum())
    # Votes are independent binomials given that they sum to k (see `_wins`), so this is the chance
    # of winning and of k votes in all, over the chance of k votes in all.
    rivals = np.delete(votes, correct)
    chance_of_votes = _binomial(int(votes[correct]), k / n)[: k + 1]
    joint = sum(
        chance * _wins(rivals, own_votes, k, k / n)
        for own_votes, chance in enumerate(chance_of_votes)
        if own_votes and chance > 1e-20
    )
    return float(np.clip(joint / _binomial(n, k / n)[k], 0.0, 1.0))


def samples_to_reach(n: ArrayLike, correct: ArrayLike, target: float) -> float:
    """How many samples per problem bring the mean pass@k to `target`: inference efficiency.

    It is the smallest k with mean pass@k >= target, made continuous by the straight line between
    k-1 and k. At least 1; infinite if even k = min(n) falls short. Shapes and errors as in
    `pass_at_k`; target in (0, 1].

    >>> samples_to_reach(4, [1, 1], 0.5), samples_to_reach(4, [1, 1], 0.625)
    (2.0, 2.5)
    >>> samples_to_reach(4, [1, 0], 0.8)
    inf
    """
    if not 0 < target <= 1:
        raise LabError(
            f"target is {target}: mean pass@k lies in [0, 1], so give a target in (0, 1]"
        )
    size, right = _counts(n, correct)

    def curve(k: int) -> float:
        return float(pass_at_k(size, right, k).mean())

    # The curve never falls with k, so bisection finds its first point at or above the target.
    rounding = 1e-12
    most = int(size.min())
    k = 1 + bisect.bisect_left(range(1, most + 1), target - rounding, key=curve)
    if k == 1:
        return 1.0
    if k > most:
        return math.inf
    below, above = curve(k - 1), curve(k)
    return k - 1 + min(1.0, (target - below) / (above - below))


def _whole(
    name: str, values: ArrayLike, low: int, n: ArrayLike | None, cure: str
) -> Int[np.ndarray, "*counts"]:
    """`values` as int64 if all are whole and in low..n; `name` ends with what an index counts."""
    array = np.asarray(values)
    if array.size == 0 or array.dtype.kind not in "iuf":
        raise LabError(
            f"{name.split()[0]} is {array.dtype} of shape {array.shape}: {cure} (booleans: sum)"
        )
    array, high = np.broadcast_arrays(array, UNBOUNDED if n is None else n)
    valid = (array >= low) & (array <= high) & (array == np.floor(array))
    if not valid.all():
        index = tuple(np.argwhere(~valid)[0].tolist())
        place = f"{name} {', '.join(map(str, index))}" if index else name.split()[0]
        limit = "" if n is None else f", where n is {high[index]}"
        raise LabError(f"{place} is {array[index]}{limit}: {cure}")
    return array.astype(np.int64)


def _counts(
    n: ArrayLike, correct: ArrayLike
) -> tuple[Int[np.ndarray, "*problems"], Int[np.ndarray, "*problems"]]:
    """(n, correct), checked and of one shape."""
    size = _whole("n at problem", n, 1, None, "give a whole number of samples, at least 1")
    right = _whole(
        "correct at problem", correct, 0, size, "give the number of right samples, 0 to n"
    )
    return np.broadcast_to(size, right.shape), right


def _draws(k: int | Sequence[int], n: Int[np.ndarray, "*problems"]) -> Int[np.ndarray, " ks"]:
    """`k` as a list, refused unless it is in 1..n for every problem."""
    ks = _whole("k at index", k, 1, None, "give whole numbers of at least 1").ravel()
    _whole("k at problem", ks.max(), 1, n, "draw more samples or lower k")
    return ks


def _log_share(
    n: Int[np.ndarray, "*problems"], marked: Int[np.ndarray, "*problems"], k: int | Sequence[int]
) -> Float[np.ndarray, "*values"]:
    """The logarithm of the share of k-subsets without any of m marked samples, C(n-m, k)/C(n, k).

    A list of k adds a last axis.
    """
    ks = _draws(k, n)
    logs = np.empty((*n.shape, ks.size))
    # One table for each n serves every k and every m.
    for size in np.unique(n):
        of_this_size = n == size
        logs[of_this_size] = log_miss(int(size), ks)[:, marked[of_this_size]].T
    return logs[..., 0] if np.ndim(k) == 0 else logs


def _binomial(n: int, theta: float) -> Float[np.ndarray, " {n}+1"]:
    """The Binomial(n, theta) probabilities of 0..n, for 0 < theta < 1.

    They come from ratios outward from the mode, so that nothing overflows.
    """
    mode = min(int((n + 1) * theta), n)
    i = np.arange(n)
    ratio = (n - i) / (1 + i) * (theta / (1 - theta))
    below = np.cumprod(1 / ratio[:mode][::-1])[::-1]
    above = np.cumprod(ratio[mode:])
    p = np.concatenate([below, [1.0], above])
    return p / p.sum()


def _wins(rivals: Int[np.ndarray, " answers"], s: int, k: int, theta: float) -> float:
    """P(the rivals have k - s votes and none more than s), a tie with t of them counting 1/(t+1).

    In k draws the votes V_i are independent Binomial(c_i, k/n) given their total. Answers with
    c_i < s merge into one binomial; any other is A_i(z) + u b_i z^s, its votes below s and its tie.
    A Fourier transform reads off z^(k-s). t ties carry u^t, whose integral over [0, 1] is 1/(t+1);
    Gauss-Legendre quadrature is exact for it.
    """
    if k - s > np.minimum(rivals, s).sum():
        return 0.0
    size = int(rivals.sum()) + 1  # enough points that no power of z wraps onto another
    z = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    # Rivals of equal count have equal factors.
    distinct, copies = np.unique(rivals[rivals >= s], return_counts=True)
    factors = []
    for count, power in zip(distinct, copies, strict=True):
        chance = _binomial(int(count), theta)
        factors.append((np.fft.rfft(chance[:s], size), chance[s] * z**s, int(power)))
    most_ties = min(int(copies.sum()), (k - s) // s)
    nodes, quadrature = np.polynomial.legendre.leggauss(most_ties // 2 + 1)
    integral = np.zeros_like(z)
    for x, share in zip(nodes, quadrature, strict=True):
        u = (1 + x) / 2
        integral += share / 2 * math.prod((a + u * b) ** power for a, b, power in factors)
    merged = (1 - theta + theta * z) ** int(rivals[rivals < s].sum())
    return float(np.fft.irfft(integral * merged, size)[k - s])
