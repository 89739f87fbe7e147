"""A number with its interval: bootstrap over problems or over seeds, and paired comparison. Floor
0.

Two questions that must not be mixed: over "problems" asks how far the number would move with
another test set, over "seeds" with another training run. Every interval says which it answers, and
from how many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.errors import LabError, unknown

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Over = Literal["problems", "seeds", "both"]
Statistic = Callable[[Array, int | tuple[int, ...]], ArrayLike]

AXES = {"problems": ("problems",), "seeds": ("seeds",), "both": ("seeds", "problems")}
CHUNK = 2**20  # numbers resampled at a time: bounds the memory and does not move the result


@dataclass(frozen=True)
class Interval:
    """A number, its interval, and where the interval comes from; `n` is the size of each resampled
    axis.

    >>> print(Interval(0.431, 0.402, 0.460, 0.95, "problems", {"problems": 1000}, draws=10_000, seed=0))
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
        over = " and ".join(f"{size} {axis}" for axis, size in self.n.items())
        return (
            f"{self.point:.3f} [{self.low:.3f}, {self.high:.3f}] ({100 * self.level:g}% over"
            f" {over})"
        )


Intervals = Interval | list["Intervals"]  # lists mirror the axes that were carried along


@dataclass(frozen=True)
class Comparison:
    """a against b on the same items: the interval of a - b, and of P(a > b) + P(a = b)/2 over the
    items.
    """

    difference: Intervals
    probability_of_improvement: Intervals
    n: dict[str, int]


def single_interval(intervals: Intervals) -> Interval:
    """The interval of values that have no axes beyond those that were resampled.

    `bootstrap` and `compare` return a list where further axes were carried along; a caller whose
    values have none says so here. LabError: it is a list.
    """
    if isinstance(intervals, list):
        raise LabError(f"{len(intervals)} intervals, one was expected: give values of one metric")
    return intervals


def bootstrap(
    values: ArrayLike,
    over: Over = "problems",
    statistic: Statistic | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Intervals:
    """The percentile interval of a statistic when its problems, or seeds, are drawn again with
    replacement.

    low and high are the (1-level)/2 and (1+level)/2 order statistics of `draws` resampled values
    (Efron and Tibshirani 1993, ch. 13). Over "both", seeds and problems are drawn independently and
    crossed.

    **Few seeds.** With n seeds the interval stays within their minimum and maximum, so it covers
    the median of all seeds with probability at most 1 - 2^(1-n), whatever `level` says: 75% for 3
    seeds, 94% for 5.

    Shapes: `values` is "problems ...", "seeds ..." or, over both, "seeds problems ..."; further
    axes, say ten values of k, are carried along. `statistic(sample, axis)` gets "draws problems
    ..." and reduces `axis`: 1 (over both, "draws seeds problems ..." and the pair 1, 2). The mean,
    used without one, is far faster. Returns one Interval, or a list (of lists) of them along the
    axes that are kept. Errors: values not finite; fewer than two items; a level outside (0, 1); too
    few draws for the level.

    >>> print(bootstrap([0, 1], draws=1000))  # one resample in four is 0 0, one in four is 1 1
    0.500 [0.000, 1.000] (95% over 2 problems)
    """
    array, axes = _checked(values, over), len(AXES[over])
    if not 0 < level < 1 or draws * (1 - level) < 2:
        raise LabError(
            f"level is {level} with {draws} draws: give a level in (0, 1) and 2/(1-level) draws"
        )
    point = np.asarray(
        (statistic or np.mean)(array[None], (1, 2) if axes == 2 else 1), dtype=np.float64
    )
    if point.shape[:1] != (1,):
        raise LabError(
            f"statistic gave shape {point.shape} for one draw: reduce only the axis it is given"
        )
    resampled = np.concatenate(
        list(
            _means(array, axes, draws, seed)
            if statistic is None
            else _apply(array, axes, draws, seed, statistic)
        )
    )
    if (lost := int(np.isnan(resampled).sum())) or np.isnan(point).any():
        raise LabError(
            f"statistic is NaN {lost} times in {draws} draws: define it for every resample"
        )
    return _intervals(point[0], resampled, level, _sizes(array, over), seed)


def compare(
    a: ArrayLike,
    b: ArrayLike,
    over: Over = "problems",
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Two runs on the same problems (or the same seeds), paired: the difference, and how often a is
    better.

    Pairing removes what the runs share: the difference of means has variance (Var a + Var b - 2 Cov
    a,b) / n. The probability of improvement is P(a > b) + P(a = b)/2 within pairs (across all pairs
    of seeds in Agarwal et al. 2021, 2108.13264).

    Shapes: `a` and `b` alike, as in `bootstrap`; item i of one belongs to item i of the other.
    Errors: shapes that differ; those of `bootstrap`.

    >>> duel = compare([0.5, 0.7, 0.2, 0.9], [0.4, 0.6, 0.1, 0.8], draws=100)  # 0.1 better on every problem
    >>> print(duel.difference, duel.probability_of_improvement, sep="; ")
    0.100 [0.100, 0.100] (95% over 4 problems); 1.000 [1.000, 1.000] (95% over 4 problems)
    """
    ours, theirs = _checked(a, over), _checked(b, over)
    if ours.shape != theirs.shape:
        raise LabError(
            f"a has shape {ours.shape}, b has shape {theirs.shape}: give both on the same items"
        )
    wins = (ours > theirs) + 0.5 * (ours == theirs)
    difference, improvement = (
        bootstrap(x, over, None, level, draws, seed) for x in (ours - theirs, wins)
    )
    return Comparison(difference, improvement, _sizes(ours, over))


def _intervals(
    point: Array, resampled: Array, level: float, n: dict[str, int], seed: int
) -> Intervals:
    # Order statistics without interpolation, which would make NaN between two infinite sample
    # counts.
    low = np.quantile(resampled, (1 - level) / 2, axis=0, method="lower")
    high = np.quantile(resampled, (1 + level) / 2, axis=0, method="higher")
    made = np.empty(point.shape, dtype=object)
    for i in np.ndindex(point.shape):
        ends = float(point[i]), float(low[i]), float(high[i])
        made[i] = Interval(*ends, level, " and ".join(n), n, len(resampled), seed)
    return made.tolist()


def _sizes(array: Array, over: Over) -> dict[str, int]:
    return dict(sorted(zip(AXES[over], array.shape, strict=False)))


def _checked(values: ArrayLike, over: Over) -> Array:
    """`values` as float64, refused unless finite, with at least two items on each axis to be
    resampled.
    """
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


def _resamples(sizes: tuple[int, ...], draws: int, seed: int, cost: int) -> Iterator[list[Index]]:
    """For each chunk of draws, one index array "draws n" per axis; each axis has its own random
    stream.
    """
    streams = np.random.default_rng(seed).spawn(len(sizes))
    step = max(1, CHUNK // cost)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        yield [rng.integers(0, n, (rows, n)) for rng, n in zip(streams, sizes, strict=True)]


def _means(array: Array, axes: int, draws: int, seed: int) -> Iterator[Array]:
    """Resampled means as counts @ values, where an item counts as often as it was drawn."""
    sizes, kept = array.shape[:axes], array.shape[axes:]
    columns = np.moveaxis(array, axes - 1, 0).reshape(sizes[-1], -1)
    for chunk in _resamples(sizes, draws, seed, max(sum(sizes), columns[0].size)):
        *seeds, items = (_times_drawn(index) for index in chunk)
        sums = items @ columns
        if seeds:
            sums = np.einsum("ds,dsr->dr", seeds[0], sums.reshape(len(sums), sizes[0], -1))
        yield sums.reshape(-1, *kept) / np.prod(sizes)


def _times_drawn(index: Index) -> Array:
    rows, n = index.shape
    flat = (index + n * np.arange(rows)[:, None]).ravel()
    return np.bincount(flat, minlength=rows * n).reshape(rows, n).astype(np.float64)


def _apply(array: Array, axes: int, draws: int, seed: int, statistic: Statistic) -> Iterator[Array]:
    for chunk in _resamples(array.shape[:axes], draws, seed, array.size):
        if axes == 1:
            yield np.asarray(statistic(array[chunk[0]], 1), dtype=np.float64)
        else:
            crossed = array[chunk[0][:, :, None], chunk[1][:, None, :]]
            yield np.asarray(statistic(crossed, (1, 2)), dtype=np.float64)
