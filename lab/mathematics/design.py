"""From a weight that you draw to an estimator that trains it.

N rollouts reach exactly the polynomials in p of degree N-1 (N-2 if every group must sum to zero),
and the coefficients of w_N in the Bernstein basis are the sequence `gap` itself (lemmas L3, L4 of
docs/mathematics.md). So a drawn w(p) is a fit of N numbers, and `residual` shows what cannot be
fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, one_of, whole
from lab.mathematics.estimators import Estimator, Sequences, centred, leave_one_out, register
from lab.mathematics.objectives import Objective, check_pass_rates, objective
from lab.mathematics.weights import bias, binomial
from lab.shapes import Array, Float

# Directions of the basis weaker than this share move w_N by less than rounding: they are left out.
TINY = 1e-12
# A fit within this relative error counts as exact.
EXACT = 1e-9
# Noise as large as the plug-in's costs as much as BIAS_PRICE times the squared bias that no choice
# removes, plus ERROR_PRICE (an error of one per cent) of the squared weight. On drawn steps, ramps
# and 1/p this keeps about half of the efficiency or more, where the nearest polynomial keeps nearly
# none, for two to three times its bias; the figure `design` shows one.
BIAS_PRICE = 10.0
ERROR_PRICE = 1e-4


@dataclass(frozen=True, eq=False)
class Designed(Estimator):
    """An estimator made by `from_weight` for groups of `N`; other sizes are fitted when needed."""

    N: int = 0

    def residual(self, p: ArrayLike) -> Float[np.ndarray, "*p"]:
        """w_N(p) - w(p): the part of the drawn weight that N rollouts do not reach."""
        return bias(self, self.N, p)


def from_weight(
    w: Objective | Callable[[Array], ArrayLike],
    N: int,
    pass_rates: ArrayLike | None = None,
    zero_mean: bool = False,
) -> Designed:
    """An estimator for groups of N whose induced weight is as near to w(p) as N rollouts allow.

    | argument | meaning |
    |---|---|
    | `w` | an `Objective`, or any function of an array of pass rates; finite inside (0, 1) |
    | `pass_rates` | fit where these problems are; None fits all of (0, 1) evenly |
    | `zero_mean` | make the advantages of every group sum to zero (one degree less is reachable) |

    The fit minimises the error of the gradient, p(1-p) (w_N - w) (lemma L7). It is exact where w is
    a polynomial of reachable degree, as long as its Bernstein coefficients fit into float64. Where
    it is not, steep coefficients buy a little less bias for much more noise, so the noise of their
    distance from the plug-in gap[j] = w((j+1/2)/N) has a price (see BIAS_PRICE). The offset is that
    of leave-one-out, zero where all are wrong.

    >>> from_weight(lambda p: 1 + p, N=4).coefficients(4)[0].round(9)
    array([1.        , 1.33333333, 1.66666667, 2.        ])
    """
    target = w if isinstance(w, Objective) else objective(w)
    whole("N", N, least=2 + zero_mean)
    p, importance = _all_pass_rates(N) if pass_rates is None else _given_pass_rates(pass_rates)
    w_at_p = _finite(target, p)

    def sequences(n: int) -> Sequences:
        if zero_mean:
            plug_in = _finite(target, np.arange(1, n) / n)
            phi = _fit(n - 2, plug_in, p, importance, w_at_p)
            return centred(n / (n - 1) * np.concatenate(([0.0], phi, [0.0])))
        plug_in = _finite(target, (np.arange(n) + 0.5) / n)
        return leave_one_out(_fit(n - 1, plug_in, p, importance, w_at_p))

    return Designed(
        "from_weight",
        sequences,
        label=f"drawn {target.label}, N={N}",
        citation="this lab",
        limit=target,
        least=2 + zero_mean,
        N=N,
    )


@register(
    label="drawn",
    citation="this lab",
    limit=lambda p, w, zero_mean: drawn_weight(p, w),
    least=lambda p, w, zero_mean: 2 + one_of("zero_mean", zero_mean, (False, True)),
)
def drawn(N: int, *, p: list[float], w: list[float], zero_mean: bool = False) -> Sequences:
    """`from_weight` of the weight through the points (p, w), with straight lines between them."""
    return from_weight(drawn_weight(p, w), N, zero_mean=zero_mean).coefficients(N)


def drawn_weight(p: ArrayLike, w: ArrayLike) -> Objective:
    """The weight through the points (p, w): straight lines between them, constant outside.

    LabError: not two lists of equal length, at least two points, p rising in [0, 1], w finite.
    """
    x = check_pass_rates(p)
    y = np.asarray(w, dtype=np.float64)
    are_points = x.ndim == 1 and x.shape == y.shape and len(x) >= 2
    if not are_points or not (np.diff(x) > 0).all() or not np.isfinite(y).all():
        raise LabError(
            f"points p = {x.tolist()}, w = {y.tolist()}: give two lists of equal length, p rising"
        )
    return replace(objective(lambda rate: np.interp(rate, x, y)), name="drawn", label="drawn")


def _finite(target: Objective, p: Float[np.ndarray, " points"]) -> Float[np.ndarray, " points"]:
    """The target's weight at p, refused unless finite."""
    w = target.weight(p)
    if not np.isfinite(w).all():
        raise LabError(
            f"w({p[~np.isfinite(w)][0]:g}) is not finite: a drawn weight must be finite inside"
            " (0, 1)"
        )
    return w


def _fit(
    degree: int,
    plug_in: Float[np.ndarray, " {degree}+1"],
    p: Float[np.ndarray, " points"],
    importance: Float[np.ndarray, " points"],
    w: Float[np.ndarray, " points"],
) -> Float[np.ndarray, " {degree}+1"]:
    """Bernstein coefficients near `plug_in` whose polynomial is near `w` at p.

    The distance between polynomials is the mean square over p, weighed by `importance`.
    """
    basis = binomial(degree, p)
    root = np.sqrt(importance)
    rows = root[:, None] * basis
    missing = root * (w - basis @ plug_in)
    nearest = np.linalg.lstsq(rows, missing, rcond=TINY)[0]
    unreachable = np.sum((missing - rows @ nearest) ** 2)
    size = np.sum(importance * w**2)
    if unreachable <= EXACT**2 * size:
        return plug_in + nearest
    # Ridge regression. noise @ gap**2 is E[gap²] over the same pass rates: an estimator's noise.
    noise = importance @ basis
    price = (BIAS_PRICE * unreachable + ERROR_PRICE * size) / (noise @ plug_in**2 or 1.0)
    penalty = np.diag(np.sqrt(price * noise))
    rows_and_penalty = np.vstack((rows, penalty))
    targets = np.append(missing, np.zeros(degree + 1))
    return plug_in + np.linalg.lstsq(rows_and_penalty, targets, rcond=None)[0]


Points = tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]]


def _all_pass_rates(N: int) -> Points:
    """Points p in (0, 1), dense at both ends, and the importance (p(1-p))² dp of each.

    They are Gauss-Legendre points in the angle of p = sin²(angle/2).
    """
    x, quadrature = np.polynomial.legendre.leggauss(max(200, 2 * N))
    angle = np.pi * (x + 1) / 2
    p = np.sin(angle / 2) ** 2
    return p, quadrature * np.sin(angle) * (p * (1 - p)) ** 2


def _given_pass_rates(pass_rates: ArrayLike) -> Points:
    """The distinct pass rates inside (0, 1), and the importance (p(1-p))² times their count."""
    p, count = np.unique(check_pass_rates(pass_rates).reshape(-1), return_counts=True)
    inside = (p > 0) & (p < 1)
    if not inside.any():
        raise LabError(
            f"none of {count.sum()} pass rates lies inside (0, 1): there is no gradient to weigh"
        )
    p, count = p[inside], count[inside]
    return p, count * (p * (1 - p)) ** 2
