"""Losses in torch, to be minimised. Floor 1: tensors, no loops.

All weigh the gradients of log-probabilities by factors through which no gradient passes. The
population forms use grad p = p grad log p, so their factor is `share` = p w(p): 1 for maximum
likelihood, p for expected reward.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch

from lab.errors import one_of
from lab.estimators import Estimator, estimator
from lab.objectives import Objective
from lab.weights import log_binomials


def policy_gradient(logp: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    """Minus the mean over problems of (1/N) sum_i A_i log pi(y_i); its gradient ascends w_N(p) grad
    p on average.

    | argument | shape | meaning |
    |---|---|---|
    | `logp` | "... rollouts" | log-probability of each rollout, summed over its tokens |
    | `advantages` | "... rollouts" | from `lab.advantages` |
    """
    return -(advantages.detach() * logp).mean()


def counted(
    logp: torch.Tensor, counts: torch.Tensor, right: torch.Tensor, estimator: Estimator, N: int
) -> torch.Tensor:
    """`policy_gradient` from how often each answer was drawn: the same value as from the N rollouts
    themselves.

    | argument | shape | meaning |
    |---|---|---|
    | `logp` | "problems answers" | log-probability of each answer |
    | `counts` | "problems answers" | how often each was drawn among N |
    | `right` | "problems answers" | boolean mask of right answers |
    """
    a1, a0 = _success_failure(estimator, N, logp.dtype, logp.device)
    K = (counts * right).sum(1, keepdim=True).long()
    return -(counts / N * torch.where(right, a1[K], a0[K]) * logp).sum(1).mean()


def population(log_p: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
    """Minus the mean over problems of (p w) log p with p w held fixed, so that the gradient is w(p)
    grad p.

    | argument | shape | meaning |
    |---|---|---|
    | `log_p` | "problems" | log pass rates, differentiable |
    | `share` | "problems" | from one of the three functions below |
    """
    return -(share.detach() * log_p).mean()


def exact_share(log_p: torch.Tensor, objective: Objective) -> torch.Tensor:
    """p w(p) of an objective. Computed by NumPy in float64, so the host waits, except for maximum
    likelihood.

    A rate that was rounded to 1 counts as the number below it, so that weights that are infinite at
    1 stay finite.
    """
    if objective.name == "ml":
        return torch.ones_like(log_p)
    p = (
        log_p.detach()
        .double()
        .exp()
        .cpu()
        .numpy()
        .clip(1e-300, 1 - torch.finfo(log_p.dtype).eps / 2)
    )
    return torch.as_tensor(p * objective.weight(p)).to(log_p)


def expected_share(log_p: torch.Tensor, estimator: Estimator, N: int) -> torch.Tensor:
    """p w_N(p): what N rollouts do on average (lemma L1), on the device."""
    gap, log_ways, j = _bernstein(estimator, N, log_p.device)
    log_p64 = log_p.detach().double().clamp_max(-1e-15)[:, None]
    chance = (log_ways + j * log_p64 + (N - 1 - j) * torch.log(-torch.expm1(log_p64))).exp()
    return (log_p64[:, 0].exp() * (chance @ gap)).to(log_p)


def conditional_share(
    log_p: torch.Tensor, K: torch.Tensor, estimator: Estimator, N: int
) -> torch.Tensor:
    """p Z(K), Z = (K a1 / p - (N-K) a0 / (1-p)) / N: the mean gradient given that K of N were right
    (lemma L2).

    Which rollouts succeeded and how the others failed is averaged out (Rao-Blackwell): the same
    mean as sampling, no larger variance. `K` "problems" holds whole numbers.
    """
    a1, a0 = _success_failure(estimator, N, log_p.dtype, log_p.device)
    wrong = -torch.expm1(log_p.detach())
    odds = log_p.detach().exp() / wrong.clamp_min(torch.finfo(log_p.dtype).tiny)
    at = K.long()
    return (K * a1[at] - torch.where(K < N, (N - K) * odds, 0.0) * a0[at]) / N


SCORES = ("rloo", "grpo", "dr_grpo")  # PACS section 5.2


def pacs(
    log_ratio: torch.Tensor,
    rewards: torch.Tensor,
    *,
    beta: float = 1.0,
    score: str = "rloo",
    balanced: bool = True,
    actor: bool = False,
) -> torch.Tensor:
    """PACS (2509.02522, eq. 6 to 8): cross-entropy of a rollout's score against its reward, a mean
    over rollouts.

    | argument | shape | meaning |
    |---|---|---|
    | `log_ratio` | "... rollouts" | log pi(y) - log pi_ref(y), summed over tokens; the gradient passes through it |
    | `rewards` | "... rollouts" | 0 or 1; nan for a rollout that was lost, which then is in no score |
    | `score` | | of beta times the log-ratio against its group: `pacs_scores` |
    | `balanced` | | weigh the right and the wrong ones of a group alike: `class_weights` |
    | `actor` | | add the first term of eq. 5: log-probabilities weighed by minus the cross-entropy |

    Where policy and reference agree it is a policy gradient with the advantages `pacs_anchor`
    (score rloo or dr_grpo). `actor` is off as in the official code: at that point all its weights
    are -log 2, so its mean is zero and it is noise alone, and elsewhere it makes right rollouts
    with a low score less likely.
    """
    kept = ~rewards.isnan()
    scores = pacs_scores(beta * log_ratio, kept, score)
    weights = class_weights(rewards) if balanced else kept.to(scores)
    target = rewards.nan_to_num().to(scores)
    cross = (
        torch.nn.functional.binary_cross_entropy_with_logits(scores, target, reduction="none")
        * weights
    )
    if actor:
        cross = cross + cross.detach() * log_ratio * kept
    return cross.sum() / kept.sum().clamp_min(1)


def pacs_at_anchor(beta: float, score: str, balanced: bool) -> Estimator:
    """The estimator that `pacs` is where policy and reference agree. The score grpo has none there:
    that of rloo.
    """
    return estimator(
        "pacs_anchor", beta=beta, score="rloo" if score == "grpo" else score, balanced=balanced
    )


def pacs_scores(reward_proxy: torch.Tensor, kept: torch.Tensor, score: str) -> torch.Tensor:
    """Each rollout's proxy "... rollouts" against its group: minus the mean of the others (rloo),
    minus the mean of all (dr_grpo), or that over the standard deviation, ddof 1 and 1e-6 added as
    in the official code (grpo).

    The last is 0/0 where policy and reference agree: its first step is 10^6 times too long.
    """
    one_of("score", score, SCORES)
    n = kept.sum(-1, keepdim=True)
    centred = (reward_proxy - (reward_proxy * kept).sum(-1, keepdim=True) / n.clamp_min(1)) * kept
    if score == "rloo":
        return centred * n / (n - 1).clamp_min(1)
    if score == "dr_grpo":
        return centred
    variance = (centred * centred).sum(-1, keepdim=True) / (n - 1).clamp_min(1)
    std = torch.where(variance > 0, variance, 1.0).sqrt() * (
        variance > 0
    )  # whose gradient at zero is not nan
    return centred / (std + 1e-6)


def class_weights(rewards: torch.Tensor) -> torch.Tensor:
    """G/(2 right) for a right rollout, G/(2 wrong) for a wrong one, 1 where a group has one kind
    only; 0 for nan.

    King and Zeng (2001) with equal classes, as the official code has it: it turns the weight from 1
    to 1/(p(1-p)).
    """
    kept, right = ~rewards.isnan(), rewards == 1
    n, K = (of.sum(-1, keepdim=True).to(rewards) for of in (kept, right))
    weights = n / (2 * torch.where(right, K, n - K).clamp_min(1))
    return torch.where((K > 0) & (K < n), weights, 1.0) * kept


@lru_cache(maxsize=64)
def _success_failure(estimator: Estimator, N: int, kind: torch.dtype, device: torch.device):
    return tuple(torch.as_tensor(row).to(device, kind) for row in estimator.success_failure(N))


@lru_cache(maxsize=64)
def _bernstein(estimator: Estimator, N: int, device: torch.device):
    rows = estimator.coefficients(N)[0], log_binomials(N - 1), np.arange(N, dtype=np.float64)
    return tuple(torch.as_tensor(row).to(device) for row in rows)
