"""Losses in torch, to be minimised: tensors, no loops.

Each weighs the gradients of log-probabilities by factors that are held fixed. The population
losses use grad p = p grad log p, so their factor is p w(p): 1 for maximum likelihood, p
for expected reward.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from lab.errors import one_of
from lab.mathematics.estimators import Estimator, estimator, success_failure_on
from lab.mathematics.objectives import Objective
from lab.mathematics.weights import log_binomials
from lab.shapes import Bool, Float, Num, Shaped


def policy_gradient(
    logp: Float[Tensor, "*batch rollouts"], advantages: Float[Tensor, "*batch rollouts"]
) -> Float[Tensor, ""]:
    """Minus the mean over problems of (1/N) sum_i A_i log pi(y_i).

    Its gradient ascends w_N(p) grad p, on average. `logp` is the log-probability of each rollout,
    summed over its tokens; `advantages` come from `lab.advantages`.
    """
    return -(advantages.detach() * logp).mean()


def counted(
    logp: Float[Tensor, "problems answers"],
    counts: Num[Tensor, "problems answers"],
    right: Bool[Tensor, "problems answers"],
    estimator: Estimator,
    N: int,
) -> Float[Tensor, ""]:
    """`policy_gradient` from how often each answer was drawn: the same value as from N rollouts."""
    a1, a0 = success_failure_on(estimator, N, logp.dtype, logp.device)
    K = (counts * right).sum(1, keepdim=True).long()
    advantages = torch.where(right, a1[K], a0[K])
    return -(counts / N * advantages * logp).sum(1).mean()


def counted_sum(
    logp: Float[Tensor, "problems answers"],
    counts: Num[Tensor, "problems answers"],
    right: Bool[Tensor, "problems answers"],
    baseline: float,
) -> Float[Tensor, ""]:
    """Minus the mean over problems of sum_i (r_i - b) log pi(y_i): that of a stopping rule.

    The sum runs over all rollouts that were drawn, `counts` of each answer.
    """
    return -(counts * (right.to(logp) - baseline) * logp).sum(1).mean()


def population(
    log_p: Float[Tensor, " problems"], factor: Float[Tensor, " problems"]
) -> Float[Tensor, ""]:
    """Minus the mean over problems of (p w) log p with p w held fixed.

    So its gradient ascends w(p) grad p. `factor` = p w comes from one of the three functions below.
    """
    return -(factor.detach() * log_p).mean()


def exact_factor(
    log_p: Float[Tensor, " problems"], objective: Objective
) -> Float[Tensor, " problems"]:
    """p w(p) of an objective.

    NumPy computes it in float64, so a GPU makes the host wait, except for maximum likelihood. A
    pass rate that was rounded to 1 counts as the number below 1: a weight may be infinite at 1.
    """
    if objective.name == "ml":
        return torch.ones_like(log_p)
    below_one = 1 - torch.finfo(log_p.dtype).eps / 2
    p = log_p.detach().double().exp().cpu().numpy().clip(1e-300, below_one)
    return torch.as_tensor(p * objective.weight(p)).to(log_p)


def expected_factor(
    log_p: Float[Tensor, " problems"], estimator: Estimator, N: int
) -> Float[Tensor, " problems"]:
    """p w_N(p): what N rollouts do on average (lemma L1), computed on the device."""
    gap, log_ways, j = _bernstein(estimator, N, log_p.device)
    # below 0, so that the chance of a wrong rollout has a logarithm
    log_right = log_p.detach().double().clamp_max(-1e-15)[:, None]
    log_wrong = torch.log(-torch.expm1(log_right))
    chance = (log_ways + j * log_right + (N - 1 - j) * log_wrong).exp()
    return (log_right[:, 0].exp() * (chance @ gap)).to(log_p)


SCORES = ("rloo", "grpo", "dr_grpo")  # PACS section 5.2


def pacs(
    log_ratio: Float[Tensor, "*batch rollouts"],
    rewards: Float[Tensor, "*batch rollouts"],
    *,
    beta: float = 1.0,
    score: str = "rloo",
    balanced: bool = True,
    actor: bool = False,
) -> Float[Tensor, ""]:
    """PACS: the cross-entropy of a rollout's score against its reward (2509.02522, eq. 6 to 8).

    A mean over rollouts.

    | argument | meaning |
    |---|---|
    | `log_ratio` | log pi(y) - log pi_ref(y), summed over tokens; the gradient passes through it |
    | `rewards` | 0 or 1; nan for a lost rollout, which then enters no score |
    | `score` | how beta times the log-ratio is compared with its group: `pacs_scores` |
    | `balanced` | give right and wrong rollouts of a group the same total weight: `class_weights` |
    | `actor` | add the first term of eq. 5: log-probabilities weighed by minus the cross-entropy |

    Where policy and reference agree it is a policy gradient with the advantages of the estimator
    `pacs` (score rloo or dr_grpo). `actor` is off as in the official code: where policy and
    reference agree all its weights are -log 2, so its mean is zero and it is noise alone, and
    elsewhere it makes right rollouts with a low score less likely.
    """
    present = ~rewards.isnan()
    scores = pacs_scores(beta * log_ratio, present, score)
    weights = class_weights(rewards) if balanced else present.to(scores)
    target = rewards.nan_to_num().to(scores)
    cross_entropy = weights * torch.nn.functional.binary_cross_entropy_with_logits(
        scores, target, reduction="none"
    )
    if actor:
        cross_entropy = cross_entropy + cross_entropy.detach() * log_ratio * present
    return cross_entropy.sum() / present.sum().clamp_min(1)


def pacs_at_anchor(beta: float, score: str, balanced: bool) -> Estimator:
    """The estimator that `pacs` is where policy and reference agree; of the score grpo, rloo's."""
    score = "rloo" if score == "grpo" else score
    return estimator("pacs_anchor", beta=beta, score=score, balanced=balanced)


def pacs_scores(
    reward_proxy: Float[Tensor, "*batch rollouts"],
    present: Bool[Tensor, "*batch rollouts"],
    score: str,
) -> Float[Tensor, "*batch rollouts"]:
    """Each rollout's proxy (beta times its log-ratio) compared with its group.

    | `score` | the proxy minus |
    |---|---|
    | rloo | the mean of the others |
    | dr_grpo | the mean of all |
    | grpo | the mean of all, over the standard deviation: ddof 1, and 1e-6 added as officially |

    Where policy and reference agree grpo is 0/0: its first step is 10^6 times too long.
    """
    one_of("score", score, SCORES)
    n = present.sum(-1, keepdim=True)
    mean = (reward_proxy * present).sum(-1, keepdim=True) / n.clamp_min(1)
    centred = (reward_proxy - mean) * present
    if score == "rloo":
        return centred * n / (n - 1).clamp_min(1)
    if score == "dr_grpo":
        return centred
    variance = (centred * centred).sum(-1, keepdim=True) / (n - 1).clamp_min(1)
    # The root of zero has an infinite gradient: take that of 1, and multiply by 0.
    std = torch.where(variance > 0, variance, 1.0).sqrt() * (variance > 0)
    return centred / (std + 1e-6)


def class_weights(
    rewards: Float[Tensor, "*batch rollouts"],
) -> Float[Tensor, "*batch rollouts"]:
    """G/(2 right) for a right rollout and G/(2 wrong) for a wrong one, G the size of its group.

    1 where a group has one kind only; 0 for nan. These are the weights of King and Zeng (2001) for
    equal classes, as in the official code: they turn the weight w(p) from 1 to 1/(p(1-p)).
    """
    present = ~rewards.isnan()
    right = rewards == 1
    n = present.sum(-1, keepdim=True).to(rewards)
    K = right.sum(-1, keepdim=True).to(rewards)
    weights = n / (2 * torch.where(right, K, n - K).clamp_min(1))
    return torch.where((K > 0) & (K < n), weights, 1.0) * present


@lru_cache(maxsize=64)
def _bernstein(
    estimator: Estimator, N: int, device: torch.device
) -> tuple[Shaped[Tensor, " {N}"], Shaped[Tensor, " {N}"], Shaped[Tensor, " {N}"]]:
    """gap[j], log C(N-1, j) and j on the device, in float64, made once."""
    gap, _ = estimator.coefficients(N)
    j = np.arange(N, dtype=np.float64)
    rows = [torch.as_tensor(row).to(device) for row in (gap, log_binomials(N - 1), j)]
    return rows[0], rows[1], rows[2]
