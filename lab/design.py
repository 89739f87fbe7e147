"""From a weight that you draw to an estimator that trains it. Floor 0.

N rollouts reach exactly the polynomials in p of degree N-1 (N-2 if every group must sum to zero),
and the coefficients of w_N in the Bernstein basis are the sequence `gap` itself (lemmas L3, L4). So
drawing w(p) is fitting N numbers, and what cannot be fitted is shown as `residual`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, one_of, whole
from lab.estimators import Estimator, register
from lab.objectives import Objective, check_pass_rates, objective
from lab.sequences import Array, Sequences, centred, leave_one_out
from lab.weights import binomial, induced_weight

# directions of the basis weaker than this share move w_N by less than rounding: left as they are
TINY = 1e-12
# Noise as large as the plug-in's costs as much as ten times the squared bias that no choice
# removes, plus an error of one per cent. On drawn steps, ramps and 1/p this keeps some half of the
# efficiency or more where the nearest polynomial keeps nearly none, for two to three times its
# bias; the figure `design` shows one.
BIAS_PRICE, ERROR_PRICE = 10.0, 1e-4


@dataclass(frozen=True, eq=False)
class Designed(Estimator):
    """An estimator made by `from_weight` for groups of `N`; smaller groups are fitted anew."""

    N: int = 0

    def residual(self, p: ArrayLike) -> Array:
        """w_N(p) - w(p): the part of the drawn weight that N rollouts do not reach."""
        return induced_weight(self, self.N, p) - self.limit.weight(p)


def from_weight(
    w: Objective | Callable[[ArrayLike], ArrayLike],
    N: int,
    pass_rates: ArrayLike | None = None,
    zero_mean: bool = False,
) -> Designed:
    """An estimator for groups of N whose induced weight is as near to w(p) as N rollouts allow.

    | argument | meaning |
    |---|---|
    | `w` | an `Objective`, or any function of an array of pass rates; finite inside (0, 1) |
    | `pass_rates` | "problems": fit where these problems are; None fits the whole of (0, 1) evenly |
    | `zero_mean` | make the advantages of every group sum to zero (one degree less is reachable) |

    The error that is made small is that of the gradient, p(1-p) (w_N - w) (lemma L7). Exact where w
    is a polynomial of reachable degree, as long as its Bernstein coefficients fit into float64.
    Where it is not, steep coefficients buy a little less bias for much more noise, so the noise of
    their distance from the plug-in gap[j] = w((j+1/2)/N) has a price (see BIAS_PRICE). The offset
    is the leave-one-out one, zero where all are wrong.

    >>> from_weight(lambda p: 1 + p, N=4).coefficients(4)[0].round(9)
    array([1.        , 1.33333333, 1.66666667, 2.        ])
    """
    target = w if isinstance(w, Objective) else objective(w)
    whole("N", N, least=2 + zero_mean)
    p, share = _everywhere(N) if pass_rates is None else _where(pass_rates)
    wanted = _finite(target, p)

    def sequences(n: int) -> Sequences:
        if zero_mean:
            phi = _fit(n - 2, _finite(target, np.arange(1, n) / n), p, share, wanted)
            return centred(n / (n - 1) * np.concatenate(([0.0], phi, [0.0])))
        return leave_one_out(
            _fit(n - 1, _finite(target, (np.arange(n) + 0.5) / n), p, share, wanted)
        )

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
    """`from_weight` of the weight drawn through the points (p, w), straight lines between them: a
    drawing as text.
    """
    return from_weight(drawn_weight(p, w), N, zero_mean=zero_mean).coefficients(N)


def drawn_weight(p: ArrayLike, w: ArrayLike) -> Objective:
    """The weight through the points (p, w), p rising in [0, 1]: straight lines between, level
    outside.
    """
    p, w = check_pass_rates(p), np.asarray(w, dtype=np.float64)
    if (
        p.ndim != 1
        or p.shape != w.shape
        or len(p) < 2
        or not (np.diff(p) > 0).all()
        or not np.isfinite(w).all()
    ):
        raise LabError(
            f"points p = {p.tolist()}, w = {w.tolist()}: give two lists of equal length, p rising"
        )
    return replace(objective(lambda x: np.interp(x, p, w)), name="drawn", label="drawn")


def _finite(target: Objective, p: Array) -> Array:
    w = target.weight(p)
    if not np.isfinite(w).all():
        raise LabError(
            f"w({p[~np.isfinite(w)][0]:g}) is not finite: a drawn weight must be finite inside"
            " (0, 1)"
        )
    return w


def _fit(degree: int, start: Array, p: Array, share: Array, wanted: Array) -> Array:
    """Bernstein coefficients near `start` whose polynomial is near `wanted` at p, in the norm
    `share`.
    """
    basis = binomial(degree, p)
    rows = np.sqrt(share)[:, None] * basis
    missing = np.sqrt(share) * (wanted - basis @ start)
    nearest = np.linalg.lstsq(rows, missing, rcond=TINY)[0]
    unreachable, size = np.sum((missing - rows @ nearest) ** 2), np.sum(share * wanted**2)
    if unreachable <= (1e-9) ** 2 * size:
        return start + nearest
    noise = (
        share @ basis
    )  # the noise of the start is noise @ start**2: E[gap²] over the same pass rates
    price = (BIAS_PRICE * unreachable + ERROR_PRICE * size) / (noise @ start**2 or 1.0)
    penalty = np.diag(np.sqrt(price * noise))
    both = np.vstack((rows, penalty)), np.append(missing, np.zeros(degree + 1))
    return start + np.linalg.lstsq(*both, rcond=None)[0]


def _everywhere(N: int) -> tuple[Array, Array]:
    """Gauss-Legendre points in the angle of p = sin²(angle/2), dense at both ends, and (p(1-p))²
    dp.
    """
    x, share = np.polynomial.legendre.leggauss(max(200, 2 * N))
    angle = np.pi * (x + 1) / 2
    p = np.sin(angle / 2) ** 2
    return p, share * np.sin(angle) * (p * (1 - p)) ** 2


def _where(pass_rates: ArrayLike) -> tuple[Array, Array]:
    p, count = np.unique(check_pass_rates(pass_rates).reshape(-1), return_counts=True)
    inside = (p > 0) & (p < 1)
    if not inside.any():
        raise LabError(
            f"none of {count.sum()} pass rates lies inside (0, 1): there is no gradient to weigh"
        )
    p, count = p[inside], count[inside]
    return p, count * (p * (1 - p)) ** 2
