"""How the pass rates of a training go on, forecast from the counts of its first visits.

A visit is a turn of a problem: its next group of rollouts. The log-odds x of each problem move from
visit to visit by

    x' = x + d g(p) + s² (p - 1/2) + s e,   e standard normal,

and what a group shows is binomial at x plus noise of the visit alone, of standard deviation
`noise`. The shift d is shared and another at each visit; g is 1, or p(1-p) w_N(p) of the estimator
that trains, scaled to a largest value of 1 (docs/mathematics.md, L1). The term s² (p - 1/2) makes
the pass rate a martingale where d = 0, so that what is not known of single problems moves no mean.
Whether g is 1, s and `noise` have the largest marginal likelihood; the shifts are its maxima, visit
by visit; the distribution at the first visit is that of `pass_rates`, smooth. All sums are over a
grid of x. The shifts to come follow a power of the visit, whose size, exponent and noise are
integrated over. docs/forecast.md says how well that holds. SciPy is imported inside functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, whole
from lab.mathematics.estimators import Estimator
from lab.mathematics.weights import induced_weight
from lab.shapes import Array, Float, Int

LOG_ODDS = np.linspace(-9, 9, 181)
P = 1 / (1 + np.exp(-LOG_ODDS))
SPREADS = (0.05, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 0.9, 1.3)  # s
NOISES = (0.0, 0.25, 0.5, 0.8, 1.2)
ENOUGH = 200  # problems that tell s, `noise` and g
LARGEST_SHIFT = 0.5  # standard deviation of the normal prior of a shift
EXPONENTS = np.linspace(0, 1.5, 7)
SHOCKS = np.array([0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16])  # noise of a shift
# What the power itself leaves open of a mean shift to come, in root mean squares of those seen.
MISFIT = 0.5
PATHS = 15
# In single precision a chance below it is 0: a product of two is none of the numbers near 0 then,
# with which processors are many times slower.
NOTHING = 1e-19


class Later(NamedTuple):
    """A later visit: `mass` is "problems points", over the points `forecast.P`.

    `population`, "paths points", is the mean over problems for each of some equally likely paths of
    the shared shifts.
    """

    visit: int
    mass: Float[np.ndarray, "problems points"]
    population: Float[np.ndarray, "paths points"]


class Fit(NamedTuple):
    """What the first visits tell: `mass`, "problems points", is the distribution at the last.

    `shifts` and their standard `errors` are "visits-1"; `drift` is g at the points, and `weighted`
    says that it is not 1.
    """

    weighted: bool
    drift: Float[np.ndarray, " points"]
    spread: float
    noise: float
    shifts: Float[np.ndarray, " steps"]
    errors: Float[np.ndarray, " steps"]
    mass: Float[np.ndarray, "problems points"]

    def later(self, ahead: int) -> Iterator[Later]:
        """The visits after the last one that was seen, one after the other."""
        smear = kernel(LOG_ODDS, self.noise)
        moved = [np.eye(len(P), dtype=np.float32)] * PATHS  # enough for chances, and twice as fast
        before = np.zeros(PATHS)
        for step, sums in enumerate(_paths(self.shifts, self.errors, whole("ahead", ahead)).T, 1):
            moves = [move(d, self.drift, self.spread) for d in sums - before]
            moved = [_single(a @ _single(b)) for a, b in zip(moved, moves, strict=True)]
            before = sums
            seen = np.stack(moved) @ smear
            mean = self.mass.mean(axis=0)
            yield Later(len(self.shifts) + 1 + step, self.mass @ seen.mean(axis=0), mean @ seen)


def fit(n: ArrayLike, right: ArrayLike, estimator: str | Estimator | None = None) -> Fit:
    """Fit the model to the counts of the first visits.

    `n` and `right` are "problems visits"; n is 0 where a problem has no such visit. `estimator` is
    what the training used, with N the most frequent n; without it g is 1. LabError: fewer than two
    visits or problems, or what is no count.
    """
    n, right = np.asarray(n), np.asarray(right)
    if n.ndim != 2 or n.shape != right.shape or min(n.shape) < 2:
        raise LabError(
            f"n has shape {n.shape} and right {right.shape}: give two problems or more, and two"
            " visits or more, of each"
        )
    if not ((n >= 0) & (right >= 0) & (right <= n) & (n % 1 == 0) & (right % 1 == 0)).all():
        raise LabError("right must be whole numbers from 0 to n: correct the counts")
    n, right = n.astype(np.int64), right.astype(np.int64)
    chance, cell = chances(n, right)
    start = smooth(chance[cell[:, 0]] * chance[cell[:, 1]])
    few = cell[np.random.default_rng(0).permutation(len(cell))[:ENOUGH]]
    drifts = [np.ones(len(P))]
    if estimator is not None:
        slope = (
            P * (1 - P) * np.abs(induced_weight(estimator, int(np.bincount(n[n > 0]).argmax()), P))
        )
        drifts.append(slope / slope.max())
    each = [_settings(few, chance, start, drift) for drift in drifts]
    _, drift, spread, noise = max(each, key=itemgetter(0))
    chance = chance @ kernel(LOG_ODDS, noise).T
    shifts = filtered(cell, chance, start, drift, spread)[2]
    start = smooth(backward(cell, chance, drift, spread, shifts))
    _, mass, shifts, errors = filtered(cell, chance, start, drift, spread)
    return Fit(drift is not drifts[0], drift, spread, noise, shifts, errors, mass)


def chances(
    n: Int[np.ndarray, "problems visits"], right: Int[np.ndarray, "problems visits"]
) -> tuple[Float[np.ndarray, "cells points"], Int[np.ndarray, "problems visits"]]:
    """The binomial chance of each distinct pair (n, right), and which pair is where."""
    from scipy.stats import binom

    pairs, cell = np.unique(np.stack((n.ravel(), right.ravel())), axis=1, return_inverse=True)
    return binom.pmf(pairs[1][:, None], pairs[0][:, None], P), cell.reshape(n.shape)


def smooth(chance: Float[np.ndarray, "problems points"]) -> Float[np.ndarray, " points"]:
    """A distribution of x under which the problems are likely: 100 steps of EM from even mass."""
    mass = np.full(len(P), 1 / len(P))
    for _ in range(100):
        mass = mass * (chance / (chance @ mass)[:, None]).mean(axis=0)
    return mass


def kernel(to: Float[np.ndarray, " points"], spread: float) -> Float[np.ndarray, "points points"]:
    """Where each point goes: normal about `to`, on the grid."""
    if spread == 0:
        return np.eye(len(P))
    distance = (LOG_ODDS - np.clip(to, LOG_ODDS[0], LOG_ODDS[-1])[:, None]) / spread
    chance = np.exp(-(distance**2) / 2)
    return chance / chance.sum(axis=1, keepdims=True)


def move(
    shift: float, drift: Float[np.ndarray, " points"], spread: float
) -> Float[np.ndarray, "points points"]:
    """The step from one visit to the next, the drift in parts of at most 0.2."""
    to, parts = LOG_ODDS, max(1, int(np.ceil(max(abs(shift), spread**2) / 0.2)))
    for _ in range(parts):
        outward = spread**2 * (1 / (1 + np.exp(-to)) - 0.5)
        to = to + (shift * np.interp(to, LOG_ODDS, drift) + outward) / parts
    return kernel(to, spread)


def _single(chances: Float[np.ndarray, "points points"]) -> Float[np.ndarray, "points points"]:
    """Chances in single precision; see `NOTHING`."""
    return np.where(chances < NOTHING, 0, chances).astype(np.float32)


def filtered(
    cell: Int[np.ndarray, "problems visits"],
    chance: Float[np.ndarray, "cells points"],
    start: Float[np.ndarray, " points"],
    drift: Float[np.ndarray, " points"],
    spread: float,
    shifts: Float[np.ndarray, " steps"] | None = None,
) -> tuple[float, Array, Array, Array]:
    """(log-likelihood, mass at the last visit, shifts, errors); without `shifts` the likeliest
    ones, by Newton's steps.
    """
    mass = np.tile(start, (len(cell), 1))
    total, found, errors, shift = 0.0, [], [], 0.0
    for visit, cells in enumerate(cell.T):
        if visit:

            def log_posterior(d: float, mass: Array = mass, cells: Array = cells) -> float:
                ahead = chance @ move(d, drift, spread).T
                likelihood = np.einsum("ij,ij->i", mass, ahead[cells])
                return float(np.log(likelihood).sum()) - d**2 / (2 * LARGEST_SHIFT**2)

            if shifts is None:
                for _ in range(3):
                    low, here, high = (log_posterior(shift + step) for step in (-0.05, 0, 0.05))
                    bend = min((low - 2 * here + high) / 0.05**2, -1.0)
                    step = float(np.clip((low - high) / 0.1 / bend, -0.5, 0.5))
                    shift += step
                    if abs(step) < 0.01:
                        break
                errors.append((-bend) ** -0.5)
            else:
                shift = shifts[visit - 1]
            found.append(shift)
            mass = mass @ move(shift, drift, spread)
        mass = mass * chance[cells]
        likelihood = mass.sum(axis=1)
        total += float(np.log(likelihood).sum())
        mass = mass / likelihood[:, None]
    return total, mass, np.array(found), np.array(errors)


def backward(
    cell: Int[np.ndarray, "problems visits"],
    chance: Float[np.ndarray, "cells points"],
    drift: Float[np.ndarray, " points"],
    spread: float,
    shifts: Float[np.ndarray, " steps"],
) -> Float[np.ndarray, "problems points"]:
    """The chance of all counts of a problem given x at its first visit, up to a factor."""
    likelihood = chance[cell[:, -1]]
    for visit in range(len(shifts) - 1, -1, -1):
        likelihood = likelihood @ move(shifts[visit], drift, spread).T * chance[cell[:, visit]]
        likelihood = likelihood / likelihood.max(axis=1, keepdims=True)
    return likelihood


def _settings(
    cell: Int[np.ndarray, "problems visits"],
    chance: Float[np.ndarray, "cells points"],
    start: Float[np.ndarray, " points"],
    drift: Float[np.ndarray, " points"],
) -> tuple[float, Float[np.ndarray, " points"], float, float]:
    """(log-likelihood, drift, spread, noise), likeliest among their neighbours on the grid."""
    at = i, j = 3, 0
    places = {*product(range(len(SPREADS)), range(len(NOISES)))}
    shifts = filtered(cell, chance, start, drift, SPREADS[3])[2]
    known: dict[tuple[int, int], float] = {}

    def likelihood(place: tuple[int, int], shifts: Array | None = shifts) -> float:
        noisy = chance @ kernel(LOG_ODDS, NOISES[place[1]]).T
        return filtered(cell, noisy, start, drift, SPREADS[place[0]], shifts)[0]

    while True:
        around = (at, (i - 1, j), (i + 1, j), (i, j + 1), (i, j - 1), (i - 1, j + 1))
        near = [each for each in around if each in places]
        known |= {place: likelihood(place) for place in near if place not in known}
        best = max(near, key=known.__getitem__)
        if best == at:
            return likelihood(at, None), drift, SPREADS[at[0]], NOISES[at[1]]
        at = i, j = best


def _paths(
    shifts: Float[np.ndarray, " steps"], errors: Float[np.ndarray, " steps"], ahead: int
) -> Float[np.ndarray, "paths ahead"]:
    """The sums of the next shifts: at each visit equally likely quantiles of what they may be.

    A shift is size · visit^-exponent plus noise; the size has a normal prior, the exponent a flat
    one, the noise t a prior proportional to 1/(1 + (t/0.05)²). That no power holds for ever leaves
    open more, the farther ahead.
    """
    from scipy.special import ndtr

    seen, visits = len(shifts), np.arange(1, len(shifts) + ahead + 1)
    steps = np.arange(1, ahead + 1)
    misfit = MISFIT**2 * (shifts**2).mean() * steps**2 * np.log1p(steps / (seen + 1))
    power = visits ** -EXPONENTS[:, None]
    power = power / np.sqrt((power[:, :seen] ** 2).mean(axis=1, keepdims=True))
    variance = SHOCKS[:, None] ** 2 + errors**2
    # From here on "exponents shocks", and last the visits.
    precision = 1 / 0.3**2 + (power[:, None, :seen] ** 2 / variance).sum(axis=-1)
    size = (power[:, None, :seen] * shifts / variance).sum(axis=-1) / precision
    fits = (np.log(variance) + shifts**2 / variance).sum(axis=-1) + np.log(precision)
    log_chances = (size**2 * precision - fits) / 2 - np.log1p((SHOCKS / 0.05) ** 2)
    sums = power[:, None, seen:].cumsum(axis=-1)
    variances = sums**2 / precision[..., None] + SHOCKS[:, None] ** 2 * steps + misfit
    mean = (size[..., None] * sums).reshape(-1, ahead)
    deviation = np.sqrt(variances).reshape(-1, ahead)
    weights = np.exp(log_chances - log_chances.max()).ravel()
    quantiles = (np.arange(PATHS) + 0.5) / PATHS
    paths = np.empty((PATHS, ahead))
    for step in range(ahead):
        m, s = mean[:, step], deviation[:, step]
        values = np.linspace((m - 6 * s).min(), (m + 6 * s).max(), 2001)
        below = ndtr((values[:, None] - m) / s) @ (weights / weights.sum())
        paths[:, step] = np.interp(quantiles, below, values)
    return paths
