"""Losses in torch, to be minimised. Floor 1: tensors, no loops. No gradient passes through advantages or weights."""

import torch

from lab.estimators import Estimator
from lab.objectives import Objective
from lab.weights import induced_weight


def policy_gradient(logp: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    """Minus the mean over problems of (1/N) sum_i A_i log pi(y_i); its gradient ascends w_N(p) grad p on average.

    | argument | shape | meaning |
    |---|---|---|
    | `logp` | "... rollouts" | log-probability of each rollout, summed over its tokens |
    | `advantages` | "... rollouts" | from `lab.advantages` |
    """
    return -(advantages.detach() * logp).mean()


def population(p: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Minus the mean over problems of w p with w held fixed, so that the gradient is w(p) grad p without sampling.

    | argument | shape | meaning |
    |---|---|---|
    | `p` | "problems" | pass rates, differentiable |
    | `weight` | "problems" | w(p) or w_N(p), see `weight_of` |
    """
    return -(weight.detach() * p).mean()


def weight_of(p: torch.Tensor, what: Objective | tuple[Estimator, int]) -> torch.Tensor:
    """w(p) of an objective, or w_N(p) of (estimator, N), computed by the lab in float64; shape, device, type of `p`.

    A rate that was rounded to 1 counts as the number below it, so that weights that are infinite at 1 stay finite.
    """
    rates = p.detach().double().cpu().numpy().clip(1e-30, 1 - torch.finfo(p.dtype).eps / 2)
    weight = what.weight(rates) if isinstance(what, Objective) else induced_weight(*what, rates)
    return torch.as_tensor(weight).to(p)
