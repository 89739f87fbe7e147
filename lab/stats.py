"""A number with its interval: bootstrap over problems or over seeds, and paired comparison.

Two questions must not be mixed: over "problems" asks how far the number would move with another
test set, over "seeds" with another training run. Every interval says which question it answers, and
from how many items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, unknown
from lab.shapes import Array, Float, Int

Over = Literal["problems", "seeds", "both"]
# (resamples, axis or axes of the items) -> one number or several for each resample
Statistic = Callable[[Array, Any], ArrayLike]

AXES = {"problems": ("problems",), "seeds": ("seeds",), "both": ("seeds", "problems")}
CHUNK = 2**20  # numbers resampled at a time: it bounds the memory and does not change the result


@dataclass(frozen=True)
class Interval:
    """A number, its interval, and where the interval comes from.

    `n` is the size of each resampled axis.

    >>> n = {"problems": 1000}
    >>> print(Interval(0.431, 0.402, 0.460, 0.95, "problems", n, draws=10_000, seed=0))
    0.431 [0.402, 0.460] (95% over 1000 problems)
    """

    point: float
    low: float
    high: float
    level: float
    over: str
    n: dict[str, int]
    draws: int
    seed: int

    def __str__(self) -> str:
        sizes = " and ".join(f"{size} {axis}" for axis, size in self.n.items())
        return (
            f"{self.point:.3f} [{self.low:.3f}, {self.high:.3f}] ({100 * self.level:g}% over"
            f" {sizes})"
        )


@dataclass(frozen=True)
class Comparison:
    """a against b on the same items: the intervals of a - b, and of P(a > b) + P(a = b)/2."""

    difference: Interval
    probability_of_improvement: Interval
    n: dict[str, int]


def bootstrap(
    values: ArrayLike,
    over: Over = "problems",
    statistic: Statistic | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Interval:
    """A number and its percentile bootstrap interval.

    The ends are the (1-level)/2 and (1+level)/2 order statistics of `draws` resampled values (Efron
    and Tibshirani 1993, ch. 13). Over "both", seeds and problems are drawn independently and
    crossed.

    **Few seeds.** With n seeds the interval stays within their minimum and maximum, so it covers
    the median of all seeds with probability at most 1 - 2^(1-n), whatever `level` says: 75% for 3
    seeds, 94% for 5.

    | argument | shape | meaning |
    |---|---|---|
    | `values` | "problems", "seeds" or, over both, "seeds problems" | one number for each item |
    | `statistic` | | `statistic(resamples, axis)`, the mean where None, which is far faster |

    A statistic gets "draws problems ..." (over both, "draws seeds problems ...") and reduces `axis`
    to one number for each draw: 1, or (1, 2) over both. LabError: values that are not finite; fewer
    than two items; a level outside (0, 1); too few draws for the level; several numbers instead of
    one, for which there is `bootstrap_each`.

    One resample in four is 0 0, and one in four is 1 1:

    >>> print(bootstrap([0, 1], draws=1000))
    0.500 [0.000, 1.000] (95% over 2 problems)
    """
    intervals = _bootstrap(values, over, statistic, level, draws, seed)
    if isinstance(intervals, list):
        raise LabError(
            f"values of shape {np.shape(values)} give {len(intervals)} numbers over {over}: take"
            " bootstrap_each, which gives an interval for each"
        )
    return intervals


def bootstrap_each(
    values: ArrayLike,
    over: Over = "problems",
    statistic: Statistic | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> list[Interval]:
    """Several numbers of the same items, each with its interval: `bootstrap` on every column.

    `values` has one more axis, "problems columns" for example, and `statistic` keeps it: it returns
    "draws columns". All columns see the same resamples. LabError: as `bootstrap`; no such axis.

    >>> always, never = bootstrap_each([[1, 0], [1, 0]], draws=100)
    >>> print(always)
    1.000 [1.000, 1.000] (95% over 2 problems)
    """
    intervals = _bootstrap(values, over, statistic, level, draws, seed)
    if isinstance(intervals, Interval):
        raise LabError(
            f"values of shape {np.shape(values)} give one number over {over}: take bootstrap"
        )
    return intervals


def _bootstrap(
    values: ArrayLike,
    over: Over,
    statistic: Statistic | None,
    level: float,
    draws: int,
    seed: int,
) -> Interval | list[Interval]:
    """The interval of a number, or a list of them where there is a column axis."""
    array = _checked(values, over)
    item_axes = len(AXES[over])
    if not 0 < level < 1 or draws * (1 - level) < 2:
        raise LabError(
            f"level is {level} with {draws} draws: give a level in (0, 1) and 2/(1-level) draws"
        )
    reduced = (1, 2) if item_axes == 2 else 1
    point = np.asarray((statistic or np.mean)(array[None], reduced), dtype=np.float64)
    if point.shape[:1] != (1,):
        raise LabError(
            f"statistic gave shape {point.shape} for one draw: reduce only the axis it is given"
        )
    if point.ndim > 2:
        raise LabError(
            f"values of shape {array.shape} keep the axes {point.shape[1:]}: at most one may be"
            " left, so reshape them to columns"
        )
    if statistic is None:
        chunks = _means(array, item_axes, draws, seed)
    else:
        chunks = _statistics(array, item_axes, draws, seed, statistic)
    resampled = np.concatenate(list(chunks))
    undefined = int(np.isnan(resampled).sum())
    if undefined or np.isnan(point).any():
        raise LabError(
            f"statistic is NaN {undefined} times in {draws} draws: define it for every resample"
        )
    # Order statistics without interpolation, which would make NaN between two infinite numbers.
    low = np.quantile(resampled, (1 - level) / 2, axis=0, method="lower")
    high = np.quantile(resampled, (1 + level) / 2, axis=0, method="higher")
    sizes = _sizes(array, over)

    def interval(point: float, low: float, high: float) -> Interval:
        ends = float(point), float(low), float(high)
        return Interval(*ends, level, " and ".join(sizes), sizes, len(resampled), seed)

    if point.ndim == 1:
        return interval(point[0], low, high)
    return [interval(*column) for column in zip(point[0], low, high, strict=True)]


def compare(
    a: ArrayLike,
    b: ArrayLike,
    over: Over = "problems",
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Two runs on the same items, paired: their difference, and how often a is better.

    Pairing removes what the runs share: the difference of means has variance (Var a + Var b - 2 Cov
    a,b) / n. The probability of improvement is P(a > b) + P(a = b)/2 within pairs (across all pairs
    of seeds in Agarwal et al. 2021, 2108.13264).

    `a` and `b` have the same shape, as in `bootstrap`; item i of one belongs to item i of the
    other. LabError: shapes that differ; as `bootstrap`.

    Here a is 0.1 better on every problem:

    >>> duel = compare([0.5, 0.7, 0.2, 0.9], [0.4, 0.6, 0.1, 0.8], draws=100)
    >>> print(duel.difference, duel.probability_of_improvement, sep="; ")
    0.100 [0.100, 0.100] (95% over 4 problems); 1.000 [1.000, 1.000] (95% over 4 problems)
    """
    first, second = _checked(a, over), _checked(b, over)
    if first.shape != second.shape:
        raise LabError(
            f"a has shape {first.shape}, b has shape {second.shape}: give both on the same items"
        )
    wins = (first > second) + 0.5 * (first == second)
    return Comparison(
        difference=bootstrap(first - second, over, None, level, draws, seed),
        probability_of_improvement=bootstrap(wins, over, None, level, draws, seed),
        n=_sizes(first, over),
    )


def _sizes(array: Float[np.ndarray, "*values"], over: Over) -> dict[str, int]:
    """How many problems and seeds there are."""
    return dict(sorted(zip(AXES[over], array.shape, strict=False)))


def _checked(values: ArrayLike, over: Over) -> Float[np.ndarray, "*values"]:
    """`values` as float64, refused unless finite, with two items or more on each resampled axis."""
    if over not in AXES:
        raise unknown("over", over, AXES)
    array = np.asarray(values, dtype=np.float64)
    if array.ndim < len(AXES[over]) or array.size == 0:
        raise LabError(
            f"values has shape {array.shape}: over={over!r} needs non-empty axes {AXES[over]}"
        )
    if 1 in array.shape[: len(AXES[over])]:
        raise LabError(
            f"values has sizes {_sizes(array, over)}: one item has no interval, give at least two"
        )
    if not np.isfinite(array).all():
        index = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        raise LabError(
            f"values is {array[index]} at index {index}: repair it, or leave that item out"
        )
    return array


def _resamples(
    sizes: tuple[int, ...], draws: int, seed: int, cost: int
) -> Iterator[list[Int[np.ndarray, "rows items"]]]:
    """For each chunk of draws one index array "draws items" per axis.

    Each axis has its own random stream. `cost` is how many numbers one draw takes in memory.
    """
    streams = np.random.default_rng(seed).spawn(len(sizes))
    step = max(1, CHUNK // cost)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        yield [
            stream.integers(0, size, (rows, size))
            for stream, size in zip(streams, sizes, strict=True)
        ]


def _means(
    array: Float[np.ndarray, "*values"], item_axes: int, draws: int, seed: int
) -> Iterator[Array]:
    """Resampled means as counts @ values, where an item counts as often as it was drawn."""
    sizes, column_axes = array.shape[:item_axes], array.shape[item_axes:]
    # one row for each item of the last item axis
    rows = np.moveaxis(array, item_axes - 1, 0).reshape(sizes[-1], -1)
    for chunk in _resamples(sizes, draws, seed, max(sum(sizes), rows[0].size)):
        *seed_counts, item_counts = (_times_drawn(index) for index in chunk)
        sums = item_counts @ rows
        if seed_counts:
            by_seed = sums.reshape(len(sums), sizes[0], -1)
            sums = np.einsum("ds,dsr->dr", seed_counts[0], by_seed)
        yield sums.reshape(-1, *column_axes) / np.prod(sizes)


def _times_drawn(index: Int[np.ndarray, "draws items"]) -> Float[np.ndarray, "draws items"]:
    """How often each item was drawn."""
    rows, n = index.shape
    flat = (index + n * np.arange(rows)[:, None]).ravel()
    return np.bincount(flat, minlength=rows * n).reshape(rows, n).astype(np.float64)


def _statistics(
    array: Float[np.ndarray, "*values"], item_axes: int, draws: int, seed: int, statistic: Statistic
) -> Iterator[Array]:
    """The statistic of resampled arrays."""
    for chunk in _resamples(array.shape[:item_axes], draws, seed, array.size):
        if item_axes == 1:
            values = statistic(array[chunk[0]], 1)
        else:
            seeds, problems = chunk
            values = statistic(array[seeds[:, :, None], problems[:, None, :]], (1, 2))
        yield np.asarray(values, dtype=np.float64)
