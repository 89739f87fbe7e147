"""What an estimator does at finite N, exactly: sums over the binomial number of successes. Floor 0.

`p` is any array of pass rates; every result has its shape. Nothing here samples. Accurate to about
1e-12 for N up to 4096 and p from 1e-6 to 1-1e-6 (at p = 0 and 1 too, but for ratios, nan there).
Lemma numbers are those of docs/mathematics.md.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.errors import LabError
from lab.estimators import Estimator, estimator
from lab.objectives import check_pass_rates

Array = NDArray[np.float64]


@lru_cache(maxsize=64)
def log_binomials(n: int) -> Array:
    """log C(n, j), j = 0 .. n, each from the exact integer."""
    exact = [1]
    for j in range(n // 2):
        exact.append(exact[-1] * (n - j) // (j + 1))
    half = np.array([math.log(c) for c in exact])
    return np.concatenate((half, half[: (n + 1) // 2][::-1]))


def binomial(n: int, p: ArrayLike) -> Array:
    """P(j successes in n), j on a new last axis: shape "... n+1". Log-space, normalised to sum to
    1.
    """
    p = check_pass_rates(p)[..., None]
    j = np.arange(n + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        right = np.where(j > 0, j * np.log(p), 0.0)
        wrong = np.where(j < n, (n - j) * np.log1p(-p), 0.0)
    chance = np.exp(log_binomials(n) + right + wrong)
    return chance / chance.sum(axis=-1, keepdims=True)


def _blocks(p: Array, length: int) -> list[Array]:
    """p, flat, cut so that a table of `length` numbers for each keeps memory under some 64 MB."""
    step = max(1, 2_000_000 // length)
    return [p.reshape(-1)[i : i + step] for i in range(0, p.size, step)]


def _expect(values: Array, p: ArrayLike) -> Array:
    """E[values[j]], j ~ Binomial(len(values)-1, p)."""
    p = check_pass_rates(p)
    parts = [binomial(len(values) - 1, part) @ values for part in _blocks(p, len(values))]
    return np.concatenate(parts or [p.reshape(-1)]).reshape(p.shape)


def induced_weight(name: str | Estimator, N: int, p: ArrayLike) -> Array:
    """The weight that N rollouts really put on grad p: w_N(p) = E[gap[j]], j ~ Binomial(N-1, p)
    (lemma L1).

    >>> induced_weight("rloo", 8, [0.1, 0.9]).round(12)
    array([1., 1.])
    """
    return _expect(estimator(name).coefficients(N)[0], p)


def finite_objective(name: str | Estimator, N: int, p: ArrayLike) -> Array:
    """The objective that N rollouts really climb: J_N(p) = E[sum_{j<X} gap[j]]/N, X ~ Binomial(N,
    p) (lemma L6).

    Its derivative is `induced_weight`, and J_N(0) = 0.

    >>> finite_objective("rloo", 8, [0.25, 0.5]).round(12)
    array([0.25, 0.5 ])
    """
    gap = estimator(name).coefficients(N)[0]
    return _expect(np.concatenate(([0.0], np.cumsum(gap))) / N, p)


class SecondMoments(NamedTuple):
    """Where the noise comes from. `right` D1 and `wrong` D0 multiply the scores' spread inside each
    class; `count` is Var Z(K), the noise of how many succeeded (lemma L2 and section 2).
    """

    right: Array
    wrong: Array
    count: Array


def second_moments(name: str | Estimator, N: int, p: ArrayLike) -> SecondMoments:
    """D1 = p E[a1(j+1)²], D0 = (1-p) E[a0(j)²] and Var Z, Z(K) = (K a1/p - (N-K) a0/(1-p))/N, K ~
    Binomial(N, p).

    With v1, v0 the traces of the score's covariance given right and given wrong, the gradient
    estimate has trace Cov = (v1 D1 + v0 D0)/N + |grad p|² Var Z. `count` needs 0 < p < 1 and is nan
    elsewhere.
    """
    p = check_pass_rates(p)
    a1, a0 = estimator(name).success_failure(N)
    K = np.arange(N + 1)
    right, wrong = p * _expect(a1[1:] ** 2, p), (1 - p) * _expect(a0[:-1] ** 2, p)
    count = [_count_noise(K * a1 / N, (N - K) * a0 / N, part) for part in _blocks(p, N + 1)]
    return SecondMoments(right, wrong, np.concatenate(count or [p.reshape(-1)]).reshape(p.shape))


def _count_noise(right: Array, wrong: Array, p: Array) -> Array:
    """Var(right[K]/p - wrong[K]/(1-p)), about its mean: it can be 1e-19 of the mean's square
    (DGPO).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        Z = right / p[:, None] - wrong / (1 - p)[:, None]
        chance = binomial(len(right) - 1, p)
        return np.sum(chance * (Z - np.sum(chance * Z, axis=-1, keepdims=True)) ** 2, axis=-1)


def efficiency(name: str | Estimator, N: int, p: ArrayLike) -> Array:
    """How much of the possible signal-to-noise is kept: e_N(p) = p(1-p) w_N²/(D1 + D0), in [0, 1].

    The squared signal-to-noise ratio relative to REINFORCE with the oracle baseline A = r - p at
    the same N, where correctness explains little of the score (language models). 1 is the oracle;
    scale-free.

    >>> efficiency("rloo", 8, [0.1, 0.5]).round(6)
    array([0.875, 0.875])
    """
    p = check_pass_rates(p)
    D = second_moments(name, N, p)
    with np.errstate(invalid="ignore", divide="ignore"):
        return p * (1 - p) * induced_weight(name, N, p) ** 2 / (D.right + D.wrong)


def signal_to_noise(name: str | Estimator, N: int, p: ArrayLike, explained: float) -> Array:
    """SNR² of one group's gradient: k pq w² / ((1-k)(D1+D0)/N + k pq Var Z), k = `explained` in (0,
    1].

    `explained` is the share |grad p|²/(pq F) of the score's Fisher trace F that correctness
    explains: 1 for a single Bernoulli logit, near 0 for a language model. Scores are taken to
    spread alike in both classes.
    """
    if not 0 < explained <= 1:
        raise LabError(
            f"explained = {explained!r}: the share of the Fisher trace must be in (0, 1]"
        )
    p = check_pass_rates(p)
    D = second_moments(name, N, p)
    pq = explained * p * (1 - p)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (
            pq
            * induced_weight(name, N, p) ** 2
            / ((1 - explained) * (D.right + D.wrong) / N + pq * D.count)
        )


def signal_mass(name: str | Estimator, N: int, p: ArrayLike) -> Array:
    """How much advantage a problem hands out: E[(1/N) sum_i |A_i|] = p E|a1(j+1)| + (1-p) E|a0(j)|.

    >>> signal_mass("rloo", 8, [0.1, 0.5]).round(6)   # 2p(1-p)
    array([0.18, 0.5 ])
    """
    p = check_pass_rates(p)
    a1, a0 = estimator(name).success_failure(N)
    return p * _expect(np.abs(a1[1:]), p) + (1 - p) * _expect(np.abs(a0[:-1]), p)


def bias(name: str | Estimator, N: int, p: ArrayLike) -> Array:
    """w_N(p) - w(p), w the estimator's limit. An error for an estimator without one."""
    chosen = estimator(name)
    if chosen.limit is None:
        raise LabError(
            f"{chosen.spec} has no limit objective: compare induced_weight with an objective of"
            " yours"
        )
    return induced_weight(chosen, N, p) - chosen.limit.weight(p)
