"""Metrics of repeated sampling: what k tries would achieve, from n samples of which c were right.
Floor 0.

Pure functions of counts: exact averages over the k-subsets of the n samples. `lab.stats` adds the
intervals.
"""

import bisect
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.errors import LabError
from lab.subsets import log_miss

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
UNBOUNDED = 2**53  # up to here a whole number is exact as a float


def pass_at_k(n: ArrayLike, correct: ArrayLike, k: int | Sequence[int]) -> Array:
    """Pass@k: the chance that at least one of k samples is right.

    1 - C(n-c, k) / C(n, k), unbiased for 1 - (1-p)^k (Chen et al. 2021, 2107.03374, eq. 1). Finite
    n: exactly 1 at k = n once anything succeeded, where drawing with replacement would give 1 -
    (1-c/n)^n.

    Shapes: `n` and `correct` broadcast, say to "seeds problems"; n may differ by problem. A whole
    number k keeps that shape, a list adds a last axis. Errors: counts not whole or outside 0..n; k
    outside 1..n.

    >>> [round(float(x), 12) for x in pass_at_k(4, 1, [1, 2, 4])]  # one right of four: k/4
    [0.25, 0.5, 1.0]
    """
    size, right = _counts(n, correct)
    return 0.0 - np.expm1(
        _log_share(size, right, k)
    )  # a bare minus would print -0.0 where nothing succeeded


def pass_all_k(n: ArrayLike, correct: ArrayLike, k: int | Sequence[int]) -> Array:
    """Pass^k: the chance that all of k samples are right (reliability, where pass@k is reach).

    C(c, k) / C(n, k), unbiased for p^k (tau-bench, 2406.12045). Shapes and errors as `pass_at_k`.

    >>> [round(float(x), 12) for x in pass_all_k(4, 3, [1, 2, 4])]  # three right of four: 1 - k/4
    [0.75, 0.5, 0.0]
    """
    size, right = _counts(n, correct)
    return np.exp(_log_share(size, size - right, k))


def majority_at_k(counts: Sequence[int] | Counts, k: int, correct: int | None = 0) -> float:
    """Maj@k of one problem: the chance that the right answer wins a vote among k of its n samples.

    The mean over k-subsets of [the right answer has the most votes] / (answers that have as many):
    **a tie among t answers is broken uniformly at random** and counts 1/t. Absolute error below
    1e-12.

    Shapes: `counts` is "answers", how often each distinct one came (samples without one: leave them
    out, or count them as an answer); `correct` is the index of the right one, None (so 0.0) if it
    never came. Errors: counts not whole, negative or of several problems; k outside 1..n; no such
    index.

    >>> round(majority_at_k([2, 1, 1], 1), 12), majority_at_k([2, 1, 1], 4)  # pass@1; all drawn: it wins
    (0.5, 1.0)
    >>> round(majority_at_k([2, 1, 1], 2), 12)  # six pairs: right twice 1, right and wrong 4 times 1/2
    0.5
    """
    votes = _whole("counts at answer", counts, 0, None, "give how often each distinct answer came")
    if votes.ndim != 1 or correct not in (None, *range(votes.size)):
        raise LabError(
            f"correct is {correct} and counts has shape {votes.shape}: give counts of one problem "
            "and the index of its right answer or None"
        )
    n, (k,) = int(votes.sum()), _draws(k, votes.sum()).tolist()
    if correct is None:
        return 0.0
    if k == n:
        return float((votes[correct] == votes.max()) / (votes == votes.max()).sum())
    others, own = np.delete(votes, correct), _binomial(int(votes[correct]), k / n)[: k + 1]
    joint = sum(p * _wins(others, s, k, k / n) for s, p in enumerate(own) if s and p > 1e-20)
    return float(np.clip(joint / _binomial(n, k / n)[k], 0.0, 1.0))


def samples_to_reach(n: ArrayLike, correct: ArrayLike, target: float) -> float:
    """How many samples per problem bring the mean pass@k to `target`: inference efficiency.

    The smallest k with mean pass@k >= target (it never falls with k), then the line between k-1 and
    k; at least 1; infinite if even k = min(n) falls short. Shapes and errors as `pass_at_k`; target
    in (0, 1].

    >>> samples_to_reach(4, [1, 1], 0.5), samples_to_reach(4, [1, 1], 0.625), samples_to_reach(4, [1, 0], 0.8)
    (2.0, 2.5, inf)
    """
    if not 0 < target <= 1:
        raise LabError(
            f"target is {target}: mean pass@k lies in [0, 1], so give a target in (0, 1]"
        )
    size, right = _counts(n, correct)

    def curve(k: int) -> float:
        return float(pass_at_k(size, right, k).mean())

    k = 1 + bisect.bisect_left(
        range(1, int(size.min()) + 1), target - 1e-12, key=curve
    )  # 1e-12: rounding
    if 1 < k <= size.min():
        return k - 1 + min(1.0, (target - curve(k - 1)) / (curve(k) - curve(k - 1)))
    return 1.0 if k == 1 else math.inf


def samples_ratio(
    n: ArrayLike, correct_base: ArrayLike, correct_ours: ArrayLike, target: float
) -> float:
    """How many times fewer samples ours needs than the base to reach `target`: base / ours ("x20"
    in MaxRL).

    Infinite if only ours reaches it, 0 if only the base does, NaN if neither.

    >>> samples_ratio(4, [1, 1], [2, 2], 0.5)  # two samples against one
    2.0
    """
    return samples_to_reach(n, correct_base, target) / samples_to_reach(n, correct_ours, target)


def solved_fraction(correct: ArrayLike) -> float:
    """The share of problems with at least one success, over any shape: mean [c > 0]. It grows with
    n.

    >>> solved_fraction([0, 1, 4, 0])
    0.5
    """
    right = _whole("correct at problem", correct, 0, None, "give the number of right samples")
    return float((right > 0).mean())


def pass_rate_histogram(n: ArrayLike, correct: ArrayLike, bins: int = 10) -> tuple[Array, Counts]:
    """How many problems have which pass rate c/n, with "never" and "always" in bins of their own.

    Returns `edges` (bins + 1, 0 to 1) and `counts` (bins + 2): counts[0] has c = 0, counts[-1] has
    c = n, and counts[i] between has edges[i-1] < c/n <= edges[i] without c = n, that is i = ceil(c
    bins / n).

    >>> edges, counts = pass_rate_histogram(4, [0, 0, 1, 2, 3, 4], bins=2)
    >>> edges.tolist(), counts.tolist()  # two zeros; 1/4 and 1/2; 3/4; one one
    ([0.0, 0.5, 1.0], [2, 2, 1, 1])
    """
    bins = int(_whole("bins", bins, 1, None, "give a whole number of at least 1"))
    size, right = _counts(n, correct)
    place = np.where(right == size, bins + 1, -(-right * bins // size))
    return np.linspace(0.0, 1.0, bins + 1), np.bincount(place.ravel(), minlength=bins + 2)


def _whole(name: str, values: ArrayLike, low: int, n: ArrayLike | None, cure: str) -> Counts:
    """`values` as int64 if all are whole and in low..n; `name` ends with what an index counts."""
    array = np.asarray(values)
    if array.size == 0 or array.dtype.kind not in "iuf":
        raise LabError(
            f"{name.split()[0]} is {array.dtype} of shape {array.shape}: {cure} (booleans: sum)"
        )
    array, high = np.broadcast_arrays(array, UNBOUNDED if n is None else n)
    if (wrong := ~((array >= low) & (array <= high) & (array == np.floor(array)))).any():
        at = tuple(np.argwhere(wrong)[0].tolist())
        place = f"{name} {', '.join(map(str, at))}" if at else name.split()[0]
        raise LabError(
            f"{place} is {array[at]}{'' if n is None else f', where n is {high[at]}'}: {cure}"
        )
    return array.astype(np.int64)


def _counts(n: ArrayLike, correct: ArrayLike) -> tuple[Counts, Counts]:
    size = _whole("n at problem", n, 1, None, "give a whole number of samples, at least 1")
    right = _whole(
        "correct at problem", correct, 0, size, "give the number of right samples, 0 to n"
    )
    return np.broadcast_to(size, right.shape), right


def _draws(k: int | Sequence[int], n: Counts) -> Counts:
    ks = _whole("k at index", k, 1, None, "give whole numbers of at least 1").ravel()
    _whole("k at problem", ks.max(), 1, n, "draw more samples or lower k")
    return ks


def _log_share(n: Counts, marked: Counts, k: int | Sequence[int]) -> Array:
    """Log share of k-subsets that avoid m marked samples: C(n-m, k) / C(n, k) = prod_{i<m} (1 -
    k/(n-i)).
    """
    ks = _draws(k, n)
    out = np.empty((*n.shape, ks.size))
    for size in np.unique(n):  # one running sum per (n, k) serves every m
        here = n == size
        out[here] = log_miss(int(size), ks)[:, marked[here]].T
    return out[..., 0] if np.ndim(k) == 0 else out


def _binomial(n: int, theta: float) -> Array:
    """Binomial(n, theta) on 0..n, 0 < theta < 1, by ratios outward from the mode: nothing
    overflows.
    """
    mode, i = min(int((n + 1) * theta), n), np.arange(n)
    ratio = (n - i) / (1 + i) * (theta / (1 - theta))
    p = np.concatenate([np.cumprod(1 / ratio[:mode][::-1])[::-1], [1.0], np.cumprod(ratio[mode:])])
    return p / p.sum()


def _wins(others: Counts, s: int, k: int, theta: float) -> float:
    """P(the others have k - s votes and none more than s), a tie with t of them counting 1/(t+1).

    In k draws the votes V_i are independent Binomial(c_i, k/n) given their total. Answers with c_i
    < s merge into one binomial; any other is A_i(z) + u b_i z^s, its votes below s and its tie.
    Fourier reads off z^(k-s); t ties carry u^t, whose integral over [0, 1] is 1/(t+1), exact by
    Gauss-Legendre.
    """
    if k - s > np.minimum(others, s).sum():
        return 0.0
    size = int(others.sum()) + 1  # enough points that no power of z wraps onto another
    z = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    rivals, copies = np.unique(others[others >= s], return_counts=True)
    pmfs = [_binomial(int(c), theta) for c in rivals]
    factors = [
        (np.fft.rfft(p[:s], size), p[s] * z**s, int(c)) for p, c in zip(pmfs, copies, strict=True)
    ]
    nodes, weights = np.polynomial.legendre.leggauss(min(int(copies.sum()), (k - s) // s) // 2 + 1)
    products = (math.prod((a + (1 + x) / 2 * b) ** c for a, b, c in factors) for x in nodes)
    mean = sum(weight / 2 * product for weight, product in zip(weights, products, strict=True))
    return float(
        np.fft.irfft(mean * (1 - theta + theta * z) ** int(others[others < s].sum()), size)[k - s]
    )
