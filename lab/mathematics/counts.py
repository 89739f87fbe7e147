"""What counts of right rollouts say of one model or two, without a law of their pass rates.

With K of n right, every polynomial in p up to degree n has an unbiased estimate: an average over
the subsets of the n. So nothing here takes K = 0 for p = 0, or K/n for p: what a problem showed in
some rollouts is compared with what it showed in others, and the mean over problems of an unbiased
number has the interval of any mean (`lab.stats`). Arrays are "problems".
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, whole
from lab.mathematics.metrics import pass_at_k
from lab.mathematics.stats import POWER, Interval, bootstrap, mean_bands
from lab.shapes import Array, Float

REACH_DRAWS = 2000  # bootstrap draws where every draw needs the whole curve of pass@k
ROUNDING = 1e-12  # of a mean pass@k that is to reach its target
MOST_ROLLOUTS = 4096  # a problem, in a search for how many are needed


class NeverRight(NamedTuple):
    """How many problems have p = 0, as far as counts can say.

    Of all problems the share `seen` had no right rollout. At most `most` have p = 0; no count shows
    that any has. At least `least` have p <= `rare`, above which fewer than 5% show K = 0.
    """

    seen: float
    most: float
    least: float
    rare: float


def never_right(n: ArrayLike, correct: ArrayLike) -> NeverRight:
    """The share of problems with p = 0: one-sided bounds over problems (Clopper and Pearson 1934).

    They hold at 95%. P(p = 0) <= P(K = 0), and P(K = 0) <= P(p <= rare) + 0.05 P(p > rare).

    >>> [round(x, 3) for x in never_right(16, [0] * 10)]
    [1.0, 1.0, 0.728, 0.171]
    """
    from scipy.stats import beta

    size, right = np.broadcast_arrays(n, correct)
    zeros, problems = int((right == 0).sum()), right.size
    low = beta.ppf(0.05, zeros, problems - zeros + 1) if zeros else 0.0
    most = beta.ppf(0.95, zeros + 1, problems - zeros) if zeros < problems else 1.0
    least = max(0.0, (low - 0.05) / 0.95)
    rare = 1 - 0.05 ** (1 / int(size.min()))
    return NeverRight(zeros / problems, float(most), float(least), rare)


def right_after_misses(n: ArrayLike, correct: ArrayLike, misses: int) -> Float[Array, " problems"]:
    """Unbiased for (1-p)^m p: the chance that m rollouts are wrong and one more is right.

    >>> right_after_misses(2, [0, 1, 2], misses=1).tolist()  # wrong, right: one order of two
    [0.0, 0.5, 0.0]
    """
    size, right = np.broadcast_arrays(n, correct)
    m = whole("misses", misses, 0)
    if m >= size.min():
        raise LabError(f"misses = {m} of n = {size.min()}: one more rollout is needed")
    missed = 1 - pass_at_k(size, right, m) if m else 1.0
    return missed * right / (size - m)


class Gain(NamedTuple):
    """The gain in pass@1 of each problem, in two parts, and how it would look to the eye.

    `within` is what was gained where m rollouts of the first model find a right one (sharpening),
    `beyond` where they do not (problems new to it). `naive` is `beyond` as it seems if problems
    without a right one in m are taken for p = 0; `luck` is the part of it that the first model
    itself shows in its other rollouts: regression to the mean. naive = luck + beyond.
    """

    within: Array
    beyond: Array
    naive: Array
    luck: Array


def divided_gain(
    n: ArrayLike, first: ArrayLike, size: ArrayLike, second: ArrayLike, misses: int
) -> Gain:
    """The gain of a second model over a first one, by what m of the first one's rollouts find.

    `n` and `first` are the counts of the first model, `size` and `second` those of the second; m is
    `misses`, below n. Every part is unbiased: `beyond` for (1-p)^m (q-p), with pass rates p and q.

    >>> parts = divided_gain(2, [0, 1], 2, [1, 1], misses=1)
    >>> [part.tolist() for part in parts]
    [[0.0, 0.25], [0.5, -0.25], [0.5, 0.25], [0.0, 0.5]]
    """
    luck = right_after_misses(n, first, misses)
    rate = np.asarray(second, np.float64) / np.asarray(size)
    missed = 1 - pass_at_k(n, first, misses) if misses else np.ones_like(rate)
    naive = missed * rate
    beyond = naive - luck
    return Gain(rate - np.asarray(first) / np.asarray(n) - beyond, beyond, naive, luck)


def gain_bands(
    n: ArrayLike, first: ArrayLike, size: ArrayLike, second: ArrayLike, misses: Sequence[int]
) -> tuple[list[Interval], ...]:
    """The means of the parts of a `Gain` at several m, each part with bands that hold together.

    The problems that are added count 1/sqrt n, as in `pass_bands`: few problems hold what is rare.
    """
    parts = zip(*(divided_gain(n, first, size, second, m) for m in misses), strict=True)
    added = np.full(len(misses), np.min(n) ** -0.5)
    return tuple(mean_bands(np.stack(part, axis=1), added) for part in parts)


def turnover(
    n: ArrayLike, first: ArrayLike, size: ArrayLike, second: ArrayLike, k: int
) -> tuple[Array, Array, Array | None]:
    """(gained, lost, by chance): what k rollouts of one model solve and k of the other do not.

    Unbiased for (1-p)^k (1 - (1-q)^k) and the reverse; gained - lost is the difference in pass@k.
    `by chance` is what the first model would gain and lose against itself, (1-p)^k - (1-p)^2k; None
    where 2k is above n, and nothing unbiased is known of it.
    """
    of_first, of_second = pass_at_k(n, first, k), pass_at_k(size, second, k)
    known = 2 * k <= np.min(n)
    chance = pass_at_k(n, first, 2 * k) - of_first if known else None
    return of_second * (1 - of_first), of_first * (1 - of_second), chance


def pass_bands(
    n: ArrayLike, first: ArrayLike, size: ArrayLike, second: ArrayLike, ks: Sequence[int]
) -> list[Interval]:
    """The difference in mean pass@k, second - first, at several k, with bands that hold together.

    They are `lab.stats.mean_bands`. The two problems that are added, one gained and one lost, count
    min(1, k / sqrt n), for what a pass rate of 1/sqrt n would give.
    """
    added = np.minimum(1, np.asarray(ks) / np.sqrt(min(np.min(n), np.min(size))))
    return mean_bands(pass_at_k(size, second, ks) - pass_at_k(n, first, ks), added)


def samples_ratio(
    n: ArrayLike, first: ArrayLike, size: ArrayLike, second: ArrayLike, k: int
) -> Interval:
    """How many times fewer samples the second model needs for the mean pass@k of the first.

    MaxRL's "2.3x - 19.2x" against GRPO (Figure 5). Both, and so the target, are resampled on the
    same problems. The ratio is 0 where the second does not reach it with all its answers, and 1
    where the first never succeeds.
    """
    problems = pass_at_k(n, first, k).size  # raises LabError for a k out of range
    curves = [
        pass_at_k(tried, right, range(1, int(np.min(tried)) + 1))
        for tried, right in ((n, first), (size, second))
    ]

    def ratio(sample: Array, axis: int | tuple[int, ...]) -> Array:
        draws, problems = sample.shape
        occurrences = np.zeros((draws, problems))  # how often each problem occurs in each draw
        np.add.at(occurrences, (np.arange(draws)[:, None], sample.astype(int)), 1)
        shares = occurrences / problems
        of_base, of_ours = (shares @ curve for curve in curves)
        target = np.maximum(of_base[:, k - 1], ROUNDING)
        return _reach(of_base, target) / _reach(of_ours, target)

    (found,) = bootstrap(np.arange(problems), ratio, draws=REACH_DRAWS)
    return found


def _reach(curves: Array, target: Array) -> Array:
    """The smallest k at which each mean curve, "draws k", is at its target, "draws".

    It is made continuous by the straight line between k-1 and k. At least 1; infinite where the
    whole curve falls short.
    """
    first = (curves < target[:, None] - ROUNDING).sum(axis=1)  # k - 1, of the k that reaches it
    draw, last = np.arange(len(curves)), curves.shape[1] - 1
    below = curves[draw, np.maximum(first, 1) - 1]
    above = curves[draw, np.minimum(first, last)]
    step = np.divide(target - below, above - below, out=np.ones(len(curves)), where=above > below)
    interpolated = first + np.minimum(1.0, step)
    return np.where(first > last, np.inf, np.where(first == 0, 1.0, interpolated))


def crossing(bands: Sequence[Interval], ks: Sequence[int]) -> tuple[str, str]:
    """Whether a difference in pass@k changes its sign, by simultaneous bands: a word, and where.

    Real: it is above zero at one k and below at another. Not: it has one sign at all of them.
    """
    above = [k for k, band in zip(ks, bands, strict=True) if band.low > 0]
    below = [k for k, band in zip(ks, bands, strict=True) if band.high < 0]
    said = [
        f"{word} at k = {', '.join(map(str, at))}"
        for word, at in (("above", above), ("below", below))
        if at
    ]
    where = "; ".join(said) or "neither above nor below at any k"
    if above and below:
        early, late = sorted((above, below))
        ends = max(k for k in early if k < late[0]), late[0]
        return "real", f"between k = {ends[0]} and {ends[1]} ({where})"
    return ("not" if len(above or below) == len(ks) else "undecided"), where


def sampling_variance(p: ArrayLike, mass: ArrayLike, k: int, n: int) -> float:
    """The mean over problems of the variance of pass@k from n rollouts, for pass rates p with mass.

    `p` and `mass` are "points", such as those of `lab.mathematics.pass_rates.mixing`.

    >>> sampling_variance([0.5], [1.0], k=1, n=4)
    0.0625
    """
    from scipy.stats import binom

    p, right = np.asarray(p), np.arange(n + 1)
    chance, found = binom.pmf(right, n, p[:, None]), pass_at_k(n, right, k)
    return float(np.asarray(mass) @ (chance @ found**2 - (chance @ found) ** 2))


def rollouts_to_decide(
    laws: Sequence[tuple[Array, Array]], k: int, problems: int, effect: float, between: float
) -> tuple[int | None, float]:
    """(rollouts, problems) that would show a difference `effect` of two models' mean pass@k.

    Shown is at 5% with a chance of 80%. `laws` are the (p, mass) of both models, and `between` the
    variance of the true differences of problems. The first is the smallest k, 2k, 4k, ... rollouts
    a problem with as many `problems`; None: no number will do. The second is the number of problems
    that would be needed with infinitely many rollouts of each.
    """
    n, alone = k, problems_to_decide(between, effect)
    while n <= MOST_ROLLOUTS:
        noise = sum(sampling_variance(p, mass, k, n) for p, mass in laws)
        if problems_to_decide(between + noise, effect) <= problems:
            return n, alone
        n *= 2
    return None, alone


def problems_to_decide(variance: float, effect: float) -> float:
    """How many problems show a mean difference `effect` at 5% with a chance of 80%.

    `variance` is that of the differences of problems.

    >>> round(problems_to_decide(0.04, 0.1), 2)
    31.4
    """
    from scipy.stats import norm

    return float((norm.ppf(0.975) + norm.ppf(POWER)) ** 2 * variance / effect**2)


def trend(step: ArrayLike, problem: ArrayLike, rate: ArrayLike) -> Interval:
    """How much the pass rate rises from the first to the last of some groups, on the same problems.

    Each group has a `step`, a `problem` (numbers from 0) and a K/n. What problems differ by is
    taken out by their means; the steps form eight blocks of equal length, and a line through the
    blocks' means has Student's interval with six degrees of freedom. So a change that all
    problems of a block share counts as noise, as it should.
    """
    from scipy.stats import linregress, t

    blocks, numbers, rates = 8, np.asarray(problem), np.asarray(rate, np.float64)
    steps, order = np.unique(step, return_inverse=True)
    times = np.bincount(numbers)
    seen_again = times[numbers] > 1
    if steps.size < blocks or seen_again.sum() < 2 * blocks:
        raise LabError(
            f"{steps.size} steps with {seen_again.sum()} groups of problems that return: a trend"
            f" needs {blocks} steps and problems that are seen again"
        )
    # two-way: what the block of a group explains when every problem has a level of its own
    of_block = np.eye(blocks)[order * blocks // steps.size]
    columns = np.column_stack((of_block, rates))[seen_again]
    numbers = numbers[seen_again]
    sums = np.stack([np.bincount(numbers, column, times.size) for column in columns.T], axis=1)
    columns = columns - (sums / np.maximum(times, 1)[:, None])[numbers]
    effects, *_ = np.linalg.lstsq(columns[:, :-1], columns[:, -1], rcond=None)
    line = linregress(np.arange(blocks), effects)
    half = t.ppf(0.975, blocks - 2) * line.stderr
    rise, wide = (blocks - 1) * line.slope, (blocks - 1) * half
    return Interval(rise, rise - wide, rise + wide, 0.95, {"blocks of steps": blocks})
