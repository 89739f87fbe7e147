"""Losses in torch, to be minimised. Floor 1: tensors, no loops.

All weigh the gradients of log-probabilities by factors through which no gradient passes. The population forms use
grad p = p grad log p, so their factor is `share` = p w(p): 1 for maximum likelihood, p for expected reward.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch

from lab.estimators import Estimator
from lab.objectives import Objective
from lab.weights import log_binomials


def policy_gradient(logp: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    """Minus the mean over problems of (1/N) sum_i A_i log pi(y_i); its gradient ascends w_N(p) grad p on average.

    | argument | shape | meaning |
    |---|---|---|
    | `logp` | "... rollouts" | log-probability of each rollout, summed over its tokens |
    | `advantages` | "... rollouts" | from `lab.advantages` |
    """
    return -(advantages.detach() * logp).mean()


def counted(logp: torch.Tensor, counts: torch.Tensor, right: torch.Tensor, estimator: Estimator,
            N: int) -> torch.Tensor:
    """`policy_gradient` from how often each answer was drawn: the same value as from the N rollouts themselves.

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
    """Minus the mean over problems of (p w) log p with p w held fixed, so that the gradient is w(p) grad p.

    | argument | shape | meaning |
    |---|---|---|
    | `log_p` | "problems" | log pass rates, differentiable |
    | `share` | "problems" | from one of the three functions below |
    """
    return -(share.detach() * log_p).mean()


def exact_share(log_p: torch.Tensor, objective: Objective) -> torch.Tensor:
    """p w(p) of an objective. Computed by NumPy in float64, so the host waits, except for maximum likelihood.

    A rate that was rounded to 1 counts as the number below it, so that weights that are infinite at 1 stay finite.
    """
    if objective.name == "ml":
        return torch.ones_like(log_p)
    p = log_p.detach().double().exp().cpu().numpy().clip(1e-300, 1 - torch.finfo(log_p.dtype).eps / 2)
    return torch.as_tensor(p * objective.weight(p)).to(log_p)


def expected_share(log_p: torch.Tensor, estimator: Estimator, N: int) -> torch.Tensor:
    """p w_N(p): what N rollouts do on average (lemma L1), on the device."""
    gap, log_ways, j = _bernstein(estimator, N, log_p.device)
    log_p64 = log_p.detach().double().clamp_max(-1e-15)[:, None]
    chance = (log_ways + j * log_p64 + (N - 1 - j) * torch.log(-torch.expm1(log_p64))).exp()
    return (log_p64[:, 0].exp() * (chance @ gap)).to(log_p)


def conditional_share(log_p: torch.Tensor, K: torch.Tensor, estimator: Estimator, N: int) -> torch.Tensor:
    """p Z(K), Z = (K a1 / p - (N-K) a0 / (1-p)) / N: the mean gradient given that K of N were right (lemma L2).

    Which rollouts succeeded and how the others failed is averaged out (Rao-Blackwell): the same mean as sampling, no
    larger variance. `K` "problems" holds whole numbers.
    """
    a1, a0 = _success_failure(estimator, N, log_p.dtype, log_p.device)
    wrong = -torch.expm1(log_p.detach())
    odds = log_p.detach().exp() / wrong.clamp_min(torch.finfo(log_p.dtype).tiny)
    at = K.long()
    return (K * a1[at] - torch.where(K < N, (N - K) * odds, 0.0) * a0[at]) / N


@lru_cache(maxsize=64)
def _success_failure(estimator: Estimator, N: int, kind: torch.dtype, device: torch.device):
    return tuple(torch.as_tensor(row).to(device, kind) for row in estimator.success_failure(N))


@lru_cache(maxsize=64)
def _bernstein(estimator: Estimator, N: int, device: torch.device):
    rows = estimator.coefficients(N)[0], log_binomials(N - 1), np.arange(N, dtype=np.float64)
    return tuple(torch.as_tensor(row).to(device) for row in rows)
