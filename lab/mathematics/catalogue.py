"""The catalogue of estimators: one function each, returning (gap, offset) for N rollouts.

Notation: K successes among N, r̄ = K/N, j successes among the other N-1, q = 1-p. Many papers give
a1(K), the advantage of a right rollout, and a0(K), of a wrong one; `estimators.py` turns them into
(gap, offset). `limit` is the objective for N to infinity, w_N the weight at N.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lab.errors import one_of, real, whole
from lab.mathematics.estimators import (
    RealRewards,
    Sequences,
    centred,
    from_success_failure,
    leave_one_out,
    register,
)
from lab.mathematics.metrics import hit, miss
from lab.mathematics.objectives import Objective, objective
from lab.shapes import Array, Float

LOO = "Kool et al. 2019; Ahmadian et al. 2024, arXiv 2402.14740"
MAXRL = "Tajwar et al. 2026, arXiv 2602.02710"
PACS = "PACS 2025, arXiv 2509.02522"
PKPO = "Walder & Karkhanis 2025, arXiv 2505.15201"
SHAO = "Shao et al. 2024, arXiv 2402.03300"
ZHU = "Zhu et al. 2025, arXiv 2506.01347"


def _inverse(x: Float[np.ndarray, " outcomes"]) -> Float[np.ndarray, " outcomes"]:
    """1/x, and 0 where x is 0: a group whose divisor vanishes gets no advantage."""
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)


def _limit(label: str, weight: Callable[[Array], Array]) -> Objective:
    """A limit that is none of the named objectives."""
    return replace(objective(weight), name=label, label=label)


# --- Expected reward: w constant ----------------------------------------------------------------

RL = objective("rl")


@register(label="REINFORCE, no baseline", citation="Williams 1992", limit=RL)
def reinforce(N: int) -> Sequences:
    """Right rollouts get 1, wrong ones 0. w_N = 1."""
    return np.ones(N), np.zeros(N)


@register(
    label="REINFORCE", citation="Williams 1992, with the group mean as baseline", limit=RL, least=2
)
def reinforce_mean(N: int) -> Sequences:
    """A = r - r̄, the papers' REINFORCE. The mean includes the rollout itself, so w_N = (N-1)/N."""
    return np.full(N, (N - 1) / N), -np.arange(N) / N


@register(label="RLOO", citation=LOO, limit=RL, least=2)
def rloo(N: int) -> Sequences:
    """A = r minus the mean of the others. w_N = 1 for every N."""
    return leave_one_out(np.ones(N))


@register(label="Dr. GRPO", citation="Liu et al. 2025, arXiv 2503.20783", limit=RL, least=2)
def dr_grpo(N: int) -> Sequences:
    """A = r - r̄, that of REINFORCE with the group mean; only the sum over tokens differs."""
    return reinforce_mean(N)


@register(label="NSR", citation=ZHU, limit=RL)
def nsr(N: int) -> Sequences:
    """Negative samples only: 0 and -1. w_N = 1 all the same."""
    return np.ones(N), -np.ones(N)


@register(label="W-REINFORCE", citation=ZHU, limit=lambda lam: (1 + real("lam", lam, 0)) * RL)
def w_reinforce(N: int, *, lam: float = 0.1) -> Sequences:
    """Right rollouts get lam, wrong ones -1. w_N = 1+lam.

    It is 1+lam times REINFORCE with the baseline 1/(1+lam).
    """
    return np.full(N, 1 + lam), -np.ones(N)


# --- GRPO and its relatives: w about 1/sqrt(p(1-p)) ---------------------------------------------


def _std(N: int, ddof: int = 0) -> Float[np.ndarray, " {N}+1"]:
    """The standard deviation of K ones and N-K zeros, K = 0 .. N."""
    mean = np.linspace(0, 1, N + 1)
    return np.sqrt(mean * (1 - mean) * N / (N - ddof))


def _divided(name: str) -> Callable[[int, float], str]:
    """The label of an estimator that divides by a standard deviation."""
    return lambda ddof, eps: f"{name} (ddof {ddof}, eps {eps:g})" if ddof or eps else name


# The options of such estimators.
DIVISOR: dict[str, Any] = {
    "ddof": lambda ddof, eps: one_of("ddof", ddof, (0, 1)),
    "eps": lambda ddof, eps: real("eps", eps, 0),
}


@register(label=_divided("GRPO"), citation=SHAO, limit=objective("arcsine"), least=2, **DIVISOR)
def grpo(N: int, *, ddof: int = 0, eps: float = 0.0) -> Sequences:
    """A = (r - r̄)/(std + eps), zero where all rewards agree.

    The weight saturates: w_N(0) = sqrt(N-1) at ddof 0. MaxRL's ImageNet runs use ddof 0. TRL (eps
    1e-4), verl and MaxRL's language-model code (both eps 1e-6) use ddof 1.
    """
    return centred(_inverse(_std(N, ddof) + eps))


def _z_score(
    a1: Float[Any, " N_plus_1"],
    a0: Float[Any, " N_plus_1"],
    rewards: Float[Any, "*batch N"],
    ddof: int,
    eps: float,
) -> Float[Any, "*batch N"]:
    """(r - r̄)/(std + eps) for float64 arrays of NumPy or of torch; 0 where all rewards agree."""
    N = rewards.shape[-1]
    deviations = rewards - rewards.mean(-1)[..., None]
    std = ((deviations**2).sum(-1)[..., None] / max(N - ddof, 1)) ** 0.5
    mixed = (rewards != rewards[..., :1]).any(-1)[..., None]
    return mixed * deviations / (std + eps + ~mixed) + 0.0  # -0.0 becomes 0.0


@register(
    label=lambda ddof, eps: f"z-score (ddof {ddof}, eps {eps:g})",
    citation=f"{SHAO}, as TRL computes it",
    limit=objective("arcsine"),
    least=2,
    **DIVISOR,
    real=lambda ddof, eps: RealRewards(partial(_z_score, ddof=ddof, eps=eps)),
)
def grpo_zscore(N: int, *, ddof: int = 1, eps: float = 1e-4) -> Sequences:
    """A = (r - r̄)/(std + eps) of real rewards, zero where all agree: GRPO as TRL computes it.

    With rewards of 0 and 1 it is GRPO. With others it is no lift: the gradient of no objective that
    is a sum over the levels of the reward (docs/real_rewards.md).
    """
    return grpo(N, ddof=ddof, eps=eps)


@register(
    label=_divided("NGRPO"),
    citation="Nan et al. 2025, arXiv 2509.18851; read in the official code",
    limit=objective("arcsine"),
    **DIVISOR,
)
def ngrpo(N: int, *, ddof: int = 0, eps: float = 0.0) -> Sequences:
    """GRPO whose mean and standard deviation count one more, imagined, right rollout.

    With m = (K+1)/(N+1) and s = sqrt(m(1-m)): a1 = (1-m)/s and a0 = -m/s. So groups that are all
    wrong are pushed away from what they did; groups that are all right get nothing. The official
    code has ddof 1 and eps 1e-6. Its clipping, another for each sign, is no matter of advantages.
    """
    mean = np.arange(1, N + 2) / (N + 1)
    scale = _inverse(_std(N + 1, ddof)[1:] + eps)
    return from_success_failure((1 - mean) * scale, -mean * scale)


@register(
    label=lambda gamma: f"F-GRPO (gamma {gamma:g})",
    citation="Plyusov et al. 2026, arXiv 2602.06717",
    limit=lambda gamma: objective("power", a=0.5, b=0.5 - real("gamma", gamma, 0)),
    least=2,
    ddof=0,
)
def f_grpo(N: int, *, gamma: float) -> Sequences:
    """GRPO (ddof 0) times (1-r̄)^gamma. w -> (1-p)^gamma / sqrt(p(1-p))."""
    return centred(np.linspace(1, 0, N + 1) ** gamma * _inverse(_std(N)))


LOG_ODDS = objective("log_odds")


@register(label="DGPO", citation="Dai et al. 2026, arXiv 2601.20614", limit=0.5 * LOG_ODDS, least=2)
def dgpo(N: int) -> Sequences:
    """Divided by the mean absolute deviation: A = (r - r̄)/(2 r̄(1-r̄)). w_N = (1-p^N-q^N)/(2pq)."""
    return centred(_inverse(2 * _std(N) ** 2))


@register(
    label="MAPO",
    citation="Huang et al. 2025, arXiv 2509.18849",
    limit=_limit("MAPO limit", lambda p: 4 * np.sqrt(p * (1 - p)) + (1 - 4 * p * (1 - p)) / p),
    least=2,
    ddof=0,
)
def mapo(N: int) -> Sequences:
    """(1-m) (r-r̄)/std + m (r-r̄)/r̄ with m = 1-4r̄(1-r̄).

    GRPO where half of the rollouts are right, MaxRL's Algorithm 1 where few or nearly all are.
    """
    mean = np.linspace(0, 1, N + 1)
    trust = 4 * mean * (1 - mean)
    return centred(trust * _inverse(_std(N)) + (1 - trust) * _inverse(mean))


# --- MaxRL: w about 1/p -------------------------------------------------------------------------

ML = objective("ml")


@register(label="MaxRL", citation=f"{MAXRL}, Algorithm 1", limit=ML, least=2, eps=0.0)
def maxrl(N: int) -> Sequences:
    """A = (r - r̄)/r̄, and 0 if all are wrong: the algorithm as published.

    w_N = (1-q^(N-1))/p, so the order is T = N-1. One success in four gives 3, -1, -1, -1. At
    N = 2 it is RLOO.
    """
    j = np.arange(N)
    # Where all the others are wrong the offset is 0, not -1, and a right rollout still gets N - 1.
    alone = j == 0
    return N / (j + 1) - alone, -(~alone).astype(np.float64)


@register(label="MaxRL eq. 6", citation=f"{MAXRL}, eq. 6", limit=ML)
def maxrl_eq6(N: int) -> Sequences:
    """The mean score of the right rollouts: N/K and 0. w_N = (1-q^N)/p, T = N (Theorem 4.2)."""
    return N / (np.arange(N) + 1), np.zeros(N)


@register(label="MaxRL eq. 7", citation=f"{MAXRL}, eq. 7", limit=ML)
def maxrl_eq7(N: int) -> Sequences:
    """Eq. 6 minus the mean score of all rollouts: N/K - 1 and -1. The same w_N as eq. 6.

    Where all rollouts are wrong it still acts: each gets -1.
    """
    return N / (np.arange(N) + 1), -np.ones(N)


@register(
    label="MaxRL leave-one-out",
    citation=f"{MAXRL}, eq. 6, with the leave-one-out baseline of Kool et al. 2019",
    limit=ML,
    least=2,
)
def maxrl_loo(N: int) -> Sequences:
    """A_i = (r_i - mean of the others) N/(j+1): T = N exactly, and zero where all are wrong."""
    return leave_one_out(N / (np.arange(N) + 1))


@register(
    label=lambda order, form: f"MaxRL T={order}",
    citation=f"{MAXRL}, eq. 4",
    limit=lambda order, form: objective("truncated", order=order),
    least=lambda order, form: {"raw": whole("order", order), "loo": max(2, order)}[
        one_of("form", form, ("raw", "loo"))
    ],
)
def truncated(N: int, *, order: int, form: str = "raw") -> Sequences:
    """MaxRL cut at `order` T <= N: w_N = (1-q^T)/p for every N.

    gap[j] = (N/(j+1)) pass@T(j+1 right of N). `form` chooses the offset: "raw" gives advantages to
    right rollouts only; "loo" subtracts the leave-one-out baseline.
    """
    gap = N / (np.arange(N) + 1) * hit(N, order)[1:]
    return (gap, np.zeros(N)) if form == "raw" else leave_one_out(gap)


@register(
    label=lambda alpha: f"alpha {alpha:g}",
    citation="family w = p^-alpha; the Tsallis objectives of Lin & Ie 2026, arXiv 2604.25907",
    limit=lambda alpha: objective("power", a=real("alpha", alpha, 0), b=0),
    least=2,
)
def alpha(N: int, *, alpha: float) -> Sequences:
    """A = (r - r̄)/r̄^alpha, w -> p^(-alpha): 0 is RL, 1/2 GRPO without its lift of easy problems.

    It is MaxRL at 1. With binary rewards it is the gradient of the Tsallis q-logarithm of p, q =
    alpha: p^-q times that of RL, as GARL amplifies it (2604.25907, abstract).
    """
    return centred(_inverse(np.linspace(0, 1, N + 1)) ** alpha)


# --- pass@k: w = k (1-p)^(k-1) ------------------------------------------------------------------


@register(
    label=lambda k, form: f"PKPO k={k}",
    citation=PKPO,
    limit=lambda k, form: objective("pass_at", k=k),
    least=lambda k, form: {"s": whole("k", k), "sloo": k + 1, "sloom1": k}[
        one_of("form", form, ("s", "sloo", "sloom1"))
    ],
)
def pkpo(N: int, *, k: int, form: str = "s") -> Sequences:
    """Unbiased pass@k: every `form` has w_N = k q^(k-1), for k <= N (sloo: k <= N-1).

    "s" is the transformed reward; "sloo" subtracts its leave-one-out mean; "sloom1" subtracts the
    leave-one-out baseline over subsets of k-1: with binary rewards, wrong rollouts then get 0.
    """
    gap = k * miss(N - 1, k - 1)
    if form == "sloom1":
        return gap, np.zeros(N)
    offset = k * hit(N - 1, k - 1)
    if form == "sloo":
        offset = offset - N * k / (N - 1) * hit(N - 1, k)
    return gap, offset


def _chen_limit(k: int) -> Objective:
    def weight(p: Array) -> Array:
        return (1 - p) ** (k / 2 - 1) / np.sqrt(-np.expm1(k * np.log1p(-p)))

    return _limit(f"pass@{whole('k', k)}, standardised", weight)


@register(
    label=lambda k: f"Pass@{k} Training",
    citation="Chen et al. 2025, arXiv 2508.10751",
    limit=_chen_limit,
    least=lambda k: max(2, k),
    eps=0.0,
)
def pass_at_k_group(N: int, *, k: int) -> Sequences:
    """The standardised reward of groups of k: w -> q^(k/2-1)/sqrt(1-q^k).

    With R = pass@k(K of N) and s = sqrt(R(1-R)): a1 = (1-R)/s and a0 =
    (1-R-C(N-K-1,k-1)/C(N-1,k-1))/s, zero where R is 0 or 1.
    """
    fail = miss(N, k)  # 1 - R
    others_fail = np.append(miss(N - 1, k - 1), 0.0)
    scale = _inverse(np.sqrt(fail * hit(N, k)))
    return from_success_failure(fail * scale, (fail - others_fail) * scale)


# --- Classification views: w about 1/(p(1-p)) ---------------------------------------------------


def _pacs_limit(beta: float, score: str, balanced: bool) -> Objective:
    one_of("score", score, ("rloo", "dr_grpo"))
    one_of("balanced", balanced, (True, False))
    limit = 0.25 * LOG_ODDS if balanced else RL
    return real("beta", beta, 0) * limit


@register(
    "pacs_anchor",
    label=lambda beta, score, balanced: "PACS" if balanced else "PACS, no class weights",
    citation=PACS,
    limit=_pacs_limit,
    least=2,
)
def pacs(N: int, *, beta: float = 1.0, score: str = "rloo", balanced: bool = True) -> Sequences:
    """PACS at its anchor, where policy and reference agree: its first step, as an advantage.

    This is the form that PACS has where only advantages exist. Language models can also train its
    own loss, `lab.losses.pacs`, which moves away from the anchor.

    Without class weights it is exactly beta times RLOO. With balanced weights a1 = beta
    N²/(4(N-1)K), a0 = -beta N²/(4(N-1)(N-K)), zero where all rewards agree: w_N = beta (N/(N-1))
    (1-p^N-q^N)/(4pq), the log-odds. The Dr. GRPO `score` is (N-1)/N times that of RLOO, on and off
    the anchor. `pacs_anchor` is an alias.
    """
    factor = beta if score == "rloo" else beta * (N - 1) / N
    if not balanced:
        return leave_one_out(np.full(N, float(factor)))
    gap, offset = dgpo(N)
    scale = factor * N / (2 * (N - 1))
    return scale * gap, scale * offset


@register(
    label=lambda tau: f"REAL (tau {tau:g})",
    citation="Zhai et al. 2026, arXiv 2602.05630",
    limit=lambda tau: (1 / real("tau", tau, 1e-12)) * LOG_ODDS,
)
def real_anchor(N: int, *, tau: float = 0.5) -> Sequences:
    """REAL's classification loss at its anchor, for answers of equal length.

    a1 = N/(tau(1+K)), a0 = -N/(tau(1+N-K)). It acts on groups that are all right or all wrong, too.
    """
    K = np.arange(N + 1)
    return from_success_failure(N / (tau * (1 + K)), -N / (tau * (1 + N - K)))


def _entropic_limit(eta: float) -> Objective:
    lift = math.expm1(real("eta", eta, 1e-12, 700))
    return _limit(f"entropic (eta {eta:g})", lambda p: lift / (eta * (1 + lift * p)))


@register(
    label=lambda eta: f"entropic (eta {eta:g})",
    citation="exponential utility",
    limit=_entropic_limit,
    least=2,
)
def entropic(N: int, *, eta: float) -> Sequences:
    """Exponential utility: A = (e^(eta r)/mean e^(eta r) - 1)/eta.

    It goes from RL (eta to 0) to ML (eta to infinity), and is bounded at p = 0.
    """
    lift = math.expm1(eta)
    return centred(lift / eta / (1 + lift * np.linspace(0, 1, N + 1)))
