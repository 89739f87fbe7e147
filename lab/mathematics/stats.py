"""A number with its interval, paired comparison, and tests: what a verdict rests on.

Two questions must not be mixed: over "problems" asks how far the number would move with another
test set, over "seeds" with another training run; over "both" asks for both at once. Every interval
says which question it answers, and from how many items.

One rule for every mean: `mean_interval`. It is Student's t over seeds or over problems, and over
both the t interval of the seeds widened by what problems differ among themselves. With few seeds it
is wide, as it should be: t has a factor of 12.7 for two seeds, 4.3 for three and 2.8 for five,
where 1.96 would belong to infinitely many. What each interval covers was measured by simulation
(docs/statistics.md). `bootstrap` is for statistics of problems that are no means.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, real, unknown
from lab.shapes import Array, Float

Over = Literal["problems", "seeds", "both"]
Range = tuple[float, float]
# (resamples, axis of the problems) -> one number or several for each resample
Statistic = Callable[[Array, Any], ArrayLike]

AXES = {"problems": ("problems",), "seeds": ("seeds",), "both": ("seeds", "problems")}
CHUNK = 2**20  # numbers resampled at a time: it bounds the memory and does not change the result
BAND_DRAWS = 20_000  # of the largest t
POWER = 0.8  # the chance that a `detectable` effect is seen


@dataclass(frozen=True)
class Interval:
    """A number and its interval; `n` is the number of items on each axis that it is over.

    >>> interval = Interval(0.431, 0.402, 0.460, 0.95, {"problems": 1000})
    >>> print(interval), print(f"{interval:+.2f}")
    0.431 [0.402, 0.460] (95% over 1000 problems)
    +0.43 [+0.40, +0.46]
    (None, None)
    """

    point: float
    low: float
    high: float
    level: float
    n: dict[str, int]

    @property
    def over(self) -> str:
        """The axes that it is over, "problems and seeds" for example."""
        return " and ".join(self.n)

    def __str__(self) -> str:
        sizes = " and ".join(f"{size} {axis}" for axis, size in self.n.items())
        return f"{self:.3f} ({100 * self.level:g}% over {sizes})"

    def __format__(self, form: str) -> str:
        """The three numbers in one form; without any as `str` has it."""
        numbers = f"{self.point:{form}} [{self.low:{form}}, {self.high:{form}}]"
        return numbers if form else str(self)


@dataclass(frozen=True)
class Comparison:
    """a against b on the same items.

    | field | meaning |
    |---|---|
    | `difference` | the mean of a - b |
    | `probability_of_improvement` | P(a > b) + P(a = b)/2 of one item |
    | `p_value` | of no difference, two-sided: the smallest 1 - level without zero in the interval |
    """

    difference: Interval
    probability_of_improvement: Interval
    p_value: float


# A part of the variance of a mean, and its degrees of freedom.
Part = tuple[float, int]


def mean_interval(
    values: ArrayLike, over: Over = "problems", level: float = 0.95, within: Range | None = None
) -> Interval:
    """A mean and its t interval.

    Over seeds, or over problems, it is Student's: mean +- t sqrt(s^2/n). Over both, with S seeds
    and P problems, it is

        mean +- sqrt(t[S-1]^2 MS_seeds/(SP) + t[P-1]^2 max(MS_problems - MS_rest, 0)/(SP)),

    MS being the mean squares of the two-way table (Searle et al. 1992, Variance Components, ch. 4).
    The first term alone is Student's interval over the means of seeds, which answers for seeds and
    for sampling; the second adds what the problems themselves differ by. Each part keeps a t of its
    own (Howe 1974), so that a small variance among two seeds by luck is no licence to forget them.

    `within` is the range of what is averaged, (0, 1) for pass rates. The ends stay inside. Where
    all values are at one end of the range the other end of the interval is 1 - (alpha/2)^(1/n) away
    from it, in units of the range: 30 problems of which none was solved do not show that none can
    be, and this bound holds whatever the distribution.

    | argument | shape | meaning |
    |---|---|---|
    | `values` | "problems", "seeds" or, over both, "seeds problems" | one number for each item |

    LabError: values that are not finite, or outside `within`; fewer than two items; a level outside
    [0, 1]; several numbers instead of one, for which there is `mean_interval_each`.

    >>> print(mean_interval([0.4, 0.5, 0.6], over="seeds"))
    0.500 [0.252, 0.748] (95% over 3 seeds)
    >>> print(mean_interval([0.0] * 30, within=(0, 1)))
    0.000 [0.000, 0.116] (95% over 30 problems)
    """
    array = _items(values, over, one=True)
    real("level", level, 0, 1)
    half = math.sqrt(sum(_t((1 + level) / 2, f) ** 2 * part for part, f in _parts(array, over)))
    point = float(array.mean())
    low, high = point - half, point + half
    if within is not None:
        start, end = within
        rounding = 1e-9 * (end - start)
        if array.min() < start - rounding or array.max() > end + rounding:
            raise LabError(
                f"values lie in [{array.min():g}, {array.max():g}], which is not within"
                f" [{start:g}, {end:g}]: give the range of what is averaged"
            )
        low, high = max(low, start), min(high, end)
        reach = (end - start) * (1 - ((1 - level) / 2) ** (1 / array.shape[-1]))
        if array.max() == start:
            high = start + reach
        elif array.min() == end:
            low = end - reach
    sizes = sorted(zip(AXES[over], array.shape, strict=False))
    return Interval(point, low, high, level, dict(sizes))


def mean_interval_each(
    values: ArrayLike, over: Over = "problems", within: Range | None = None
) -> list[Interval]:
    """Several means of the same items, each with its interval: `mean_interval` on every column.

    `values` has one more axis, "problems columns" for example. LabError: as `mean_interval`; no
    such axis.
    """
    columns = np.asarray(values, dtype=np.float64)
    if columns.ndim != len(_axes(over)) + 1:
        raise LabError(
            f"values of shape {columns.shape} over {over}: give one axis of columns behind the"
            " items; of one number take mean_interval"
        )
    return [mean_interval(column, over, within=within) for column in np.moveaxis(columns, -1, 0)]


def mean_bands(values: ArrayLike, added: ArrayLike) -> list[Interval]:
    """Means of differences in (-1, 1), with 95% intervals that all hold together.

    `values` is "problems columns". Student's t is replaced by the quantile of the largest of all
    columns' |t|, which are as correlated as the columns are. Two more problems are added, one with
    `added` and one with minus that, so that what no problem showed is not taken for impossible
    (after Agresti and Min 2005, who add two pairs to a table of matched pairs).

    LabError: as `mean_interval_each`; sizes that are not in (0, 1].

    >>> print(*mean_bands([[0.0, 0.0]] * 30, added=[0.1, 1.0]), sep="; ")
    0.000 [-0.009, 0.009] (95% over 30 problems); 0.000 [-0.092, 0.092] (95% over 30 problems)
    """
    array, sizes = _items(values, "problems"), np.asarray(added, np.float64)
    if array.ndim != 2 or sizes.shape != array.shape[1:] or not ((sizes > 0) & (sizes <= 1)).all():
        raise LabError(
            f"values of shape {array.shape} with added = {sizes}: give problems by columns, and a"
            " size in (0, 1] for each column"
        )
    more = np.vstack((array, sizes, -sizes))
    n, centre, spread = len(more), more.mean(axis=0), more.std(axis=0, ddof=1)
    scaled = (more - centre) / spread
    variances, directions = np.linalg.eigh(scaled.T @ scaled / (n - 1))
    stream = np.random.default_rng(0)
    normal = stream.standard_normal((BAND_DRAWS, len(sizes))) * np.sqrt(np.maximum(variances, 0))
    largest = np.abs(normal @ directions.T).max(axis=1)
    t = largest / np.sqrt(stream.chisquare(n - 1, BAND_DRAWS) / (n - 1))
    half = np.quantile(t, 0.95) * spread / math.sqrt(n)
    point = array.mean(axis=0)
    low, high = np.minimum(centre - half, point), np.maximum(centre + half, point)
    columns = np.clip([point, low, high], -1, 1).T.tolist()
    return [Interval(x, start, end, 0.95, {"problems": len(array)}) for x, start, end in columns]


def compare(
    a: ArrayLike,
    b: ArrayLike,
    over: Over = "problems",
    level: float = 0.95,
    within: Range | None = None,
) -> Comparison:
    """Two runs on the same items, paired: their difference, and how often a is better.

    Pairing removes what the runs share: the difference of means has variance (Var a + Var b - 2 Cov
    a,b) / n. The probability of improvement is P(a > b) + P(a = b)/2 within pairs (across all pairs
    of seeds in Agarwal et al. 2021, 2108.13264).

    `a` and `b` have the same shape, as in `mean_interval`; item i of one belongs to item i of the
    other. `within` is the range of both, (0, 1) for pass rates: their difference stays in (-1, 1).
    LabError: shapes that differ; as `mean_interval`.

    >>> duel = compare([0.5, 0.7, 0.2, 0.9], [0.4, 0.5, 0.1, 0.8])
    >>> print(duel.difference, f"p = {duel.p_value:.3f}", sep="; ")
    0.125 [0.045, 0.205] (95% over 4 problems); p = 0.015
    """
    first = _items(a, over, one=True)
    second = _items(b, over, one=True)
    if first.shape != second.shape:
        raise LabError(
            f"a has shape {first.shape}, b has shape {second.shape}: give both on the same items"
        )
    wins = (first > second) + 0.5 * (first == second)
    width = None if within is None else (within[0] - within[1], within[1] - within[0])
    return Comparison(
        mean_interval(first - second, over, level, width),
        mean_interval(wins, over, level, (0.0, 1.0)),
        p_value(first - second, over),
    )


def p_value(values: ArrayLike, over: Over = "problems", null: float = 0.0) -> float:
    """Two-sided p-value of a mean of `null`: the smallest 1 - level whose interval excludes it.

    Values without any spread have p = 0, or 1 where they equal `null`. LabError: as
    `mean_interval`.
    """
    array = _items(values, over, one=True)
    return _p_value(abs(float(array.mean()) - null), _parts(array, over))


def p_value_of_equality(values: ArrayLike, over: Over = "problems", *, margin: float) -> float:
    """p-value of a mean outside (-margin, margin), to be rejected before one may say "equal".

    Two one-sided tests (Schuirmann 1987): the larger of their p-values. LabError: as
    `mean_interval`; a margin that is not above 0.
    """
    real("margin", margin)
    if margin <= 0:
        raise LabError(f"margin = {margin}: give the largest difference that still counts as equal")
    array = _items(values, over, one=True)
    room = margin - abs(float(array.mean()))  # to the nearer end
    one_sided = _p_value(abs(room), _parts(array, over)) / 2
    return one_sided if room > 0 else 1 - one_sided


def detectable(values: ArrayLike, over: Over = "problems", level: float = 0.95) -> float:
    """The mean that an interval at `level` would have excluded zero for with a chance of 80%.

    With the spread that was found: sqrt(sum over parts of (t[(1+level)/2] + t[0.8])^2 variance),
    after the formula for one t test. It is what an experiment could have shown, so it belongs
    beside every "undecided". LabError: as `mean_interval`.
    """
    real("level", level, 0, 1)
    parts = _parts(_items(values, over, one=True), over)
    return math.sqrt(
        sum((_t((1 + level) / 2, f) + _t(POWER, f)) ** 2 * variance for variance, f in parts)
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for how many claims were tested (Holm 1979), in the order given.

    Claims whose adjusted p-value is at most alpha are all true with chance 1 - alpha or more,
    whatever the dependence among them.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    still_tested = len(p_values) - np.arange(len(p_values))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.maximum.accumulate(still_tested * np.asarray(p_values)[order])
    return np.minimum(adjusted, 1.0).tolist()


def bootstrap(values: ArrayLike, statistic: Statistic, draws: int = 10_000) -> list[Interval]:
    """Statistics of problems, each with its percentile bootstrap interval at 95%.

    The ends are the 2.5% and 97.5% order statistics of `draws` resampled values (Efron and
    Tibshirani 1993, ch. 13); all statistics see the same resamples. Of a mean take `mean_interval`.
    There is no bootstrap over seeds: with n of them it stays within their minimum and maximum, and
    so covers the median of all seeds with probability at most 1 - 2^(1-n), whatever its level says:
    75% for 3 seeds, 94% for 5.

    | argument | shape | meaning |
    |---|---|---|
    | `values` | "problems ..." | what is resampled, by problem |
    | `statistic` | | `statistic(resamples, 1)` of "draws problems ..." returns "draws" or |
    | | | "draws statistics" |

    LabError: values that are not finite; fewer than two problems; fewer than 40 draws.

    >>> print(*bootstrap([0, 1, 1, 4, 9], np.median, draws=1000))
    1.000 [0.000, 9.000] (95% over 5 problems)
    """
    array = _items(values, "problems")
    if draws < 40:
        raise LabError(f"{draws} draws: give at least 40, of which the ends leave one on each side")
    point = np.asarray(statistic(array[None], 1), dtype=np.float64)
    if point.shape[:1] != (1,) or point.ndim > 2:
        raise LabError(
            f"statistic gave shape {point.shape} for one draw: reduce only the axis it is given,"
            " and leave at most one beside it"
        )
    stream = np.random.default_rng(0).spawn(1)[0]
    n, step = len(array), max(1, CHUNK // array.size)
    sizes = [min(step, draws - start) for start in range(0, draws, step)]
    chunks = (statistic(array[stream.integers(0, n, (rows, n))], 1) for rows in sizes)
    resampled = np.concatenate([np.asarray(chunk, dtype=np.float64) for chunk in chunks])
    undefined = int(np.isnan(resampled).sum())
    if undefined or np.isnan(point).any():
        raise LabError(
            f"statistic is NaN {undefined} times in {draws} draws: define it for every resample"
        )
    # Order statistics without interpolation, which would make NaN between two infinite numbers.
    low = np.quantile(resampled, 0.025, axis=0, method="lower")
    high = np.quantile(resampled, 0.975, axis=0, method="higher")
    columns = np.column_stack((point.ravel(), low.ravel(), high.ravel())).tolist()
    return [Interval(middle, start, end, 0.95, {"problems": n}) for middle, start, end in columns]


def _parts(array: Float[np.ndarray, "*values"], over: Over) -> list[Part]:
    """The variance of the mean of an array, in parts with a t of their own."""
    n = array.size
    if over != "both":
        return [(float(array.var(ddof=1)) / n, n - 1)]
    seeds, problems = array.shape
    of_seeds, of_problems = array.mean(axis=1), array.mean(axis=0)
    rest = array - of_seeds[:, None] - of_problems + array.mean()
    square_of_seeds = problems * float(of_seeds.var(ddof=1))
    square_of_problems = seeds * float(of_problems.var(ddof=1))
    square_of_rest = float((rest**2).sum()) / ((seeds - 1) * (problems - 1))
    return [
        (square_of_seeds / n, seeds - 1),
        (max(square_of_problems - square_of_rest, 0.0) / n, problems - 1),
    ]


def _p_value(distance: float, parts: Sequence[Part]) -> float:
    """The 1 - level at which the half width equals a distance."""
    from scipy.optimize import brentq

    if distance == 0:
        return 1.0
    parts = [(variance, f) for variance, f in parts if variance > 0]
    if not parts:
        return 0.0

    def excess(log_p: float) -> float:
        # t of p/2 from its own tail: 1 - p/2 would lose all digits of a small p
        widths = (_t(math.exp(log_p) / 2, f) ** 2 * variance for variance, f in parts)
        return math.sqrt(sum(widths)) - distance

    smallest = math.log(1e-150)  # t of one degree of freedom, squared, stays a number
    if excess(smallest) < 0:
        return 0.0
    return math.exp(brentq(excess, smallest, 0.0, xtol=1e-12))


def _t(chance: float, freedom: int) -> float:
    """The quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, chance))


def _axes(over: Over) -> tuple[str, ...]:
    if over not in AXES:
        raise unknown("over", over, AXES)
    return AXES[over]


def _items(values: ArrayLike, over: Over, one: bool = False) -> Float[np.ndarray, "*values"]:
    """`values` as float64, refused unless finite, with two items or more on each axis of items.

    With `one` they have no further axis.
    """
    axes = _axes(over)
    array = np.asarray(values, dtype=np.float64)
    if array.ndim < len(axes) or array.size == 0:
        raise LabError(
            f"values of shape {array.shape}: over={over!r} needs an array with the axes"
            f" {', '.join(axes)}, none of them empty"
        )
    if 1 in array.shape[: len(axes)]:
        raise LabError(
            f"values of shape {array.shape} for {', '.join(axes)}: one item has no interval, give"
            " at least two of each"
        )
    if not np.isfinite(array).all():
        index = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        raise LabError(
            f"values is {array[index]} at index {index}: repair it, or leave that item out"
        )
    if one and array.ndim > len(axes):
        raise LabError(
            f"values of shape {array.shape} give several numbers over {over}: give one column, or"
            " take mean_interval_each"
        )
    return array
