"""The one training loop of the toy worlds: state in, records out. Floor 2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import torch

from lab.errors import LabError
from lab.estimators import advantages, estimator
from lab.losses import policy_gradient, population, weight_of
from lab.objectives import objective
from lab.records import Record


class World(Protocol):
    """What the loop asks of a world."""

    model: torch.nn.Module

    def loss(self, step: int) -> torch.Tensor:
        """The loss of one step; all its randomness is a function of the seed and the step."""

    def evaluate(self, step: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Metrics, and the columns of the groups, of the model as it stands before `step`."""


class Signal:
    """How an objective speaks to a policy over a few answers, one of three ways (`gradient`):

    "sampled"   draw N answers a problem, score them, weigh them by the estimator's advantages: real RLVR
    "expected"  the mean of that over all draws, w_N(p) grad p: no sampling noise, finite N
    "exact"     w(p) grad p for an objective of the catalogue: `ml` is cross-entropy
    """

    def __init__(self, name: str, gradient: str, rollouts: int) -> None:
        self.gradient, self.rollouts = gradient, rollouts
        self.target = objective(name) if gradient == "exact" else estimator(name)
        if gradient != "exact":
            self.target.coefficients(rollouts)  # refuses an N that is too small before anything runs

    def loss(self, logp: torch.Tensor, right: torch.Tensor, rng: torch.Generator) -> torch.Tensor:
        """The loss from log-probabilities "problems answers" and the boolean mask of right answers, same shape."""
        if logp.isnan().any():
            raise LabError("a log-probability is not a number: training diverged, lower the learning rate")
        if self.gradient == "sampled":
            drawn = torch.multinomial(logp.detach().exp(), self.rollouts, replacement=True, generator=rng)
            rewards = right.gather(1, drawn)
            scores = advantages(self.target, rewards, check=False).to(logp)
            return policy_gradient(logp.gather(1, drawn), scores)
        p = (logp.exp() * right).sum(1)
        weight = weight_of(p, self.target if self.gradient == "exact" else (self.target, self.rollouts))
        return population(p, weight)

    def describe(self) -> list[str]:
        """Header lines: what is optimised, and the rules for odd groups."""
        if self.gradient == "exact":
            return [f"  exact gradient of {self.target.label}: no sampling"]
        return [f"  {self.target.label} [{self.target.citation}], {self.gradient} with N = {self.rollouts}",
                f"  rules: {self.target.rules}"]


def train(world: World, optimizer: torch.optim.Optimizer, rate, steps: int, log_every: int,
          state: dict[str, Any] | None) -> Iterator[Record]:
    """Yield a record before the first step, every `log_every` steps, and after the last.

    `rate(step)` is the learning rate. `state` is that of an earlier record, from which training goes on exactly.
    """
    first = 0 if state is None else restore(world.model, optimizer, state)
    for step in range(first, steps + 1):
        if step % log_every == 0 or step == steps:
            metrics, groups = world.evaluate(step)
            yield Record(step, metrics, lambda at=step: snapshot(world.model, optimizer, at), groups)
        if step == steps:
            return
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        optimizer.zero_grad(set_to_none=True)
        world.loss(step).backward()
        optimizer.step()


def snapshot(model: torch.nn.Module, optimizer: torch.optim.Optimizer, step: int) -> dict[str, torch.Tensor]:
    """Weights, buffers, optimiser state and step as named tensors; random streams need none (see `lab.rng`)."""
    tensors = {f"model/{key}": value for key, value in model.state_dict().items()}
    for index, slots in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer/{index}/{key}": value for key, value in slots.items() if torch.is_tensor(value)}
    return {key: value.detach().clone() for key, value in tensors.items()} | {"step": torch.tensor(step)}


def restore(model: torch.nn.Module, optimizer: torch.optim.Optimizer, state: dict[str, torch.Tensor]) -> int:
    """Put a snapshot back; returns its step. A snapshot of another model is an error."""
    try:
        model.load_state_dict({k.removeprefix("model/"): v for k, v in state.items() if k.startswith("model/")})
    except RuntimeError as error:
        said = str(error).splitlines()[0]
        raise LabError(f"the checkpoint is of another model ({said}): remove the run folder") from error
    slots: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in state.items():
        if key.startswith("optimizer/"):
            _, index, name = key.split("/")
            slots.setdefault(int(index), {})[name] = value
    optimizer.load_state_dict(optimizer.state_dict() | {"state": slots})
    return int(state["step"])
