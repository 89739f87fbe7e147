"""The pass rates behind counts of right rollouts, with the sampling noise removed. Floor 0 (SciPy
inside functions).

K of N right is not p: at p = 0.03 a problem shows 0 of 16 six times in ten, so K/N expects too many
dead groups. Here the distribution of p is estimated by maximum likelihood, and what follows from it
are sums over its points `p` and their shares `mass`. n rollouts tell n moments of p: larger groups
are extrapolated.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, real, whole
from lab.estimators import Estimator
from lab.metrics import Counts, pass_at_k
from lab.objectives import Array, check_pass_rates
from lab.stats import Interval, bootstrap
from lab.weights import induced_weight

EXCESS, STEPS = (
    1e-6,
    200,
)  # a mixture has converged at this excess, ten times the rounding of its steps


class Beta(NamedTuple):
    """A Beta distribution of pass rates, its mean a/(a+b), and the log-likelihood of the rewards in
    their order.
    """

    a: float
    b: float
    log_likelihood: float


class Mixing(NamedTuple):
    """A distribution of pass rates: a share `mass[i]` of the problems has pass rate `p[i]`; both
    "points".

    `excess` proves that it is a maximum: max_p D(p) - 1, D(p) = mean over problems of P(K | p) /
    P(K). No distribution on these points has a log-likelihood higher by more than problems * excess
    (Lindsay 1983).
    """

    p: Array
    mass: Array
    log_likelihood: float
    excess: float


def beta_binomial(n: ArrayLike, correct: ArrayLike) -> Beta:
    """The Beta under which the counts are most likely (beta-binomial, Skellam 1948; Griffiths
    1973).

    Shapes: `correct` is "problems", `n` too or one number. Errors: counts not whole or outside
    0..n; and no Beta is best where every count is 0 or n, or where counts vary no more than one
    pass rate explains (Tarone's score 1979).

    >>> [round(x, 6) for x in beta_binomial(2, [0, 1, 2])[:2]]  # each count once: the uniform distribution
    [1.0, 1.0]
    """
    from scipy.optimize import minimize
    from scipy.special import betaln, digamma

    (size, right), of, times = _cells(n, correct)
    wrong, p, share = size - right, (times @ right) / (times @ size), times / times.sum()
    if (right * wrong == 0).all():
        raise LabError(
            f"all {len(of)} counts are 0 or n: p = 0 and 1 alone are likeliest, and are no Beta:"
            " use mixing"
        )
    if share @ (right * (right - 1) / p + wrong * (wrong - 1) / (1 - p) - size * (size - 1)) <= 0:
        raise LabError(
            f"{len(of)} counts vary no more than at one p: {p:.4g} is likeliest, and is no Beta:"
            " use mixing"
        )

    def loss(logs: Array) -> tuple[float, Array]:
        a, b = np.exp(logs)
        both = digamma(a + b + size) - digamma(a + b)
        slope = (
            a * (digamma(a + right) - digamma(a) - both),
            b * (digamma(b + wrong) - digamma(b) - both),
        )
        return share @ (betaln(a, b) - betaln(a + right, b + wrong)), -np.stack(slope) @ share

    best = minimize(
        loss,
        np.log((p, 1 - p)),
        jac=True,
        method="L-BFGS-B",
        options={"gtol": 1e-10, "ftol": 1e-15},
    )
    return Beta(*np.exp(best.x).tolist(), float(-best.fun * times.sum()))


def mixing(
    n: ArrayLike, correct: ArrayLike, grid: ArrayLike | None = None, slack: float = 0
) -> Mixing:
    """The distribution of pass rates, of whatever form, under which the counts are most likely.

    The non-parametric maximum-likelihood estimate (Kiefer & Wolfowitz 1956; Laird 1978) on the
    points `grid`, by default 0 to 1 and even in arcsin sqrt p: the convex problem of Koenker &
    Mizera 2014, by the constrained Newton steps of Wang 2007. It puts all mass on a few points.
    With `slack` it is smooth and mostly nearer to the truth: the first on EM's way from even mass
    that is no more than `slack` below the highest log-likelihood (Laird & Louis 1991). Shapes and
    errors as `beta_binomial`. p must not depend on n.

    >>> fit = mixing(4, [0, 0, 4])  # only p = 0 and p = 1 give these counts for certain
    >>> fit.mass[[0, -1]].round(6).tolist(), fit.excess < 1e-6
    ([0.666667, 0.333333], True)
    """
    p, chance, peak, _, times = _chances(n, correct, grid)
    mass, excess = _fit(chance, times, real("slack", slack, 0))
    return Mixing(p, mass, float(times @ (np.log(chance @ mass) + peak)), excess)


def intervals(
    n: ArrayLike, correct: ArrayLike, sums: Callable, slack: float = 0, draws: int = 200
) -> list[Interval]:
    """`sums` over the estimated mixing distribution, each number with its bootstrap interval over
    problems.

    `sums(p, mass)` gets "points" and "draws points" and returns "draws numbers". Every draw is
    fitted anew.
    """
    p, chance, _, of, times = _chances(n, correct)

    def statistic(sample: Array, axis: int) -> Array:
        counts = (np.bincount(row.astype(int), minlength=len(times)) for row in sample)
        return sums(p, np.stack([_fit(chance, count, slack)[0] for count in counts]))

    return bootstrap(of, "problems", statistic, draws=draws)


def dead_share(p: ArrayLike, mass: ArrayLike, N: int) -> tuple[Array, Array]:
    """The expected shares of groups of N that are all wrong, E[(1-p)^N], and all right, E[p^N].

    1 minus the first is mean pass@N, the share of problems that N tries are expected to solve.
    Shapes, here and below: `p` is "points", `mass` is "... points" and sums to 1; the results are
    "...".

    >>> [float(share) for share in dead_share([0, 0.5, 1], [0.25, 0.5, 0.25], N=2)]  # 1/4 + 1/2 * 1/4 each
    [0.375, 0.375]
    """
    p, mass, N = check_pass_rates(p), np.asarray(mass), whole("N", N)
    return mass @ (1 - p) ** N, mass @ p**N


def share_by_bin(p: ArrayLike, mass: ArrayLike, edges: ArrayLike) -> Array:
    """The mass with edges[i] < p <= edges[i+1], the first bin with its lower edge too: shape "...
    bins".

    >>> share_by_bin([0, 0.1, 0.5, 1], [0.1, 0.2, 0.3, 0.4], [0, 0.1, 1]).round(12).tolist()
    [0.3, 0.7]
    """
    bins = np.maximum(np.searchsorted(edges, check_pass_rates(p)) - 1, 0)
    return np.asarray(mass) @ np.eye(len(edges) - 1)[bins]


def expected_gradient(p: ArrayLike, mass: ArrayLike, name: str | Estimator, N: int) -> Array:
    """How much of the expected gradient each point brings: mass p(1-p) |w_N(p)|, shape "...
    points".

    The unit is the contrast E[score | right] - E[score | wrong] of lemma L7, taken to be as long
    for every problem. Half of `lab.signal_mass` where groups sum to zero. `share_by_bin` adds it
    up.

    >>> expected_gradient([0.5, 0.9], [0.5, 0.5], "rloo", 8).round(6).tolist()  # w = 1: 0.25/2 and 0.09/2
    [0.125, 0.045]
    """
    p = check_pass_rates(p)
    return np.asarray(mass) * (p * (1 - p) * np.abs(induced_weight(name, N, p)))


def _cells(n: ArrayLike, correct: ArrayLike) -> tuple[Counts, Counts, Counts]:
    """The distinct (n, K) "2 cells", the cell of every problem, and how many problems each has."""
    if np.ndim(correct) != 1 or np.shape(n) not in ((), np.shape(correct)):
        raise LabError(
            f"n has shape {np.shape(n)} and correct {np.shape(correct)}: give one count a problem"
        )
    pass_at_k(n, correct, 1)  # refuses what is not a count
    pairs = np.stack(np.broadcast_arrays(n, correct))
    return np.unique(pairs.astype(np.int64), axis=1, return_inverse=True, return_counts=True)


def _chances(n: ArrayLike, correct: ArrayLike, grid: ArrayLike | None = None) -> tuple[Array, ...]:
    """The grid p; p^K (1-p)^(n-K), "cells points", over its peak; log peak; problems' cells; cells'
    times.
    """
    from scipy.special import xlog1py, xlogy

    (size, right), of, times = _cells(n, correct)
    steps = max(
        200, math.ceil(4 * math.pi * math.sqrt(size.max()))
    )  # arcsin sqrt(K/n) has noise 1/(2 sqrt n)
    p = (
        np.sin(np.linspace(0, np.pi / 2, steps + 1)) ** 2
        if grid is None
        else check_pass_rates(grid).ravel()
    )
    logs = xlogy(right[:, None], p) + xlog1py((size - right)[:, None], -p)
    if np.isinf(peak := logs.max(axis=1)).any():
        raise LabError(
            f"grid {p} gives {right[np.isinf(peak)][0]} right rollouts no chance: add points in"
            " (0, 1)"
        )
    return p, np.exp(logs - peak[:, None]), peak, of, times


def _fit(chance: Array, times: Counts, slack: float) -> tuple[Array, float]:
    """(mass, excess): the mixture of the columns of `chance` under which rows that came `times` are
    most likely.
    """
    from scipy.optimize import nnls

    chance, root = chance[times > 0], np.sqrt(times[times > 0] / times.sum())
    mass, smooth = np.full((2, chance.shape[1]), 1 / chance.shape[1])
    for _ in range(STEPS):
        ratio = chance / (chance @ mass)[:, None]
        slope = root**2 @ ratio  # D(p)
        if slope.max() <= 1 + EXCESS:
            break
        rows = np.vstack(
            (root[:, None] * (ratio - 2), np.ones(len(mass)))
        )  # Newton's model, its sum held at 1
        newton, step = (
            nnls(rows, np.eye(len(rows))[-1])[0],
            0.99,
        )  # short of 1, it leaves every count a chance
        change = ratio @ newton / newton.sum() - 1
        while root**2 @ np.log1p(step * change) < 0.1 * step * (root**2 @ change):
            step /= 2
        mass += step * (newton / newton.sum() - mass)
    else:
        raise LabError(
            f"no convergence in {STEPS} steps (excess {slope.max() - 1:.1g}): give a coarser grid"
        )
    while slack and root**2 @ np.log(chance @ smooth / (chance @ mass)) < -slack / times.sum():
        smooth *= (root**2 / (chance @ smooth)) @ chance
    return smooth if slack else mass, float(slope.max() - 1 + slack / times.sum())
