"""The one training loop of the toy worlds: state in, records out. Floor 2."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch

from lab.checkpoint import current_state, restore
from lab.errors import LabError
from lab.estimators import estimator
from lab.losses import conditional_factor, counted, exact_factor, expected_factor, population
from lab.objectives import objective
from lab.records import Pause, Record, Standing
from lab.toy.multinomial import draw_counts


class World(Protocol):
    """What the loop asks of a world; one that adds something up between records is also an
    `Accumulating` one.
    """

    model: torch.nn.Module

    def losses(self, step: int) -> Iterable[torch.Tensor]:
        """The loss of one step, in parts that add up to it; its randomness follows from seed and
        step.

        The loop takes the gradient of each part before it asks for the next, so that what a part
        keeps for its backward pass is freed in between: a world whose step would not fit into
        memory yields several.
        """

    def evaluate(self, step: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Metrics, and the columns of the groups, of the model as it stands before `step`."""


@runtime_checkable
class Accumulating(Protocol):
    """A world that adds up what its next record will say: that is part of the state between
    records.
    """

    def accumulated(self) -> dict[str, torch.Tensor]:
        """What was added up since the last record, as named tensors."""

    def restore_accumulated(self, state: dict[str, torch.Tensor]) -> None:
        """Take back what `accumulated` gave; `state` holds other tensors too."""


class GradientSource:
    """How an objective speaks to a policy that is one softmax over a few answers, one of four ways
    (`gradient`):

    "sampled"      N answers drawn a problem, scored, weighed by the estimator's advantages: real
    RLVR (drawn as counts) "conditional"  the mean of that given how many of the N were right: less
    noise, the same mean "expected"     the mean of that over all draws, w_N(p) grad p: no noise,
    finite N "exact"        w(p) grad p for an objective of the catalogue: `ml` is cross-entropy
    """

    def __init__(self, name: str, gradient: str, rollouts: int) -> None:
        self.gradient, self.rollouts = gradient, rollouts
        self.target = objective(name) if gradient == "exact" else estimator(name)
        if gradient != "exact":
            self.target.coefficients(
                rollouts
            )  # refuses an N that is too small before anything runs

    def loss(self, logp: torch.Tensor, right: torch.Tensor, seed: int) -> torch.Tensor:
        """The loss from log-probabilities "problems answers" and the boolean mask of right answers,
        same shape.

        What is drawn follows from `seed` alone.
        """
        if (
            logp.device.type == "cpu" and logp.isnan().any()
        ):  # a GPU would have to wait: there the next record tells
            raise LabError(
                "a log-probability is not a number: training diverged, lower the learning rate"
            )
        N, estimate = self.rollouts, self.target
        if self.gradient == "sampled":
            return counted(logp, draw_counts(logp.detach().exp(), N, seed), right, estimate, N)
        log_p = logp.masked_fill(~right, -torch.inf).logsumexp(1)
        if self.gradient == "exact":
            return population(log_p, exact_factor(log_p, estimate))
        if self.gradient == "expected":
            return population(log_p, expected_factor(log_p, estimate, N))
        chance = log_p.detach().exp().clamp(0, 1)
        rng = torch.Generator(chance.device).manual_seed(seed)
        K = torch.binomial(torch.full_like(chance, N), chance, generator=rng)
        return population(log_p, conditional_factor(log_p, K, estimate, N))

    def describe(self) -> list[str]:
        """Header lines: what is optimised, and the rules for odd groups."""
        if self.gradient == "exact":
            return [f"  exact gradient of {self.target.label}: no sampling"]
        return [
            (
                f"  {self.target.label} [{self.target.citation}], {self.gradient} with N ="
                f" {self.rollouts}"
            ),
            f"  rules: {self.target.rules}",
        ]


def train(
    world: World,
    optimizer: torch.optim.Optimizer,
    rate: Callable[[int], float],
    steps: int,
    log_every: int,
    state: dict[str, Any] | None,
    gradient_norm: float = 0.0,
    clip: float = 0.0,
) -> Iterator[Record | Pause]:
    """Yield a record before the first step, every `log_every` steps, and after the last; a pause
    after the others.

    `rate(step)` is the learning rate. `state` is that of an earlier record or pause, from which
    training goes on exactly. `gradient_norm` above 0 rescales each step's gradient to that norm (a
    vanishing one stays); `clip` above 0 only those that are longer.
    """

    def state_at(step: int) -> dict[str, torch.Tensor]:
        added_up = world.accumulated() if isinstance(world, Accumulating) else {}
        return current_state(world.model, optimizer, step) | added_up

    first = 0
    if state is not None:
        first = restore(world.model, optimizer, state)
        if isinstance(world, Accumulating):
            world.restore_accumulated(state)
    for step in range(first, steps + 1):
        standing = Standing(step, state_at)
        if step % log_every == 0 or step == steps:
            metrics, groups = world.evaluate(step)
            yield Record(step, metrics, standing, groups)
        else:
            yield Pause(step, standing)
        if step == steps:
            return  # the state of the last step can be read for good: nothing moves any more
        standing.move_on()
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        optimizer.zero_grad(set_to_none=True)
        for part in world.losses(step):
            part.backward()
        if gradient_norm > 0:
            rescale_gradients(world.model, gradient_norm)
        if clip > 0:
            torch.nn.utils.clip_grad_norm_(world.model.parameters(), clip)
        optimizer.step()


def rescale_gradients(model: torch.nn.Module, norm: float) -> None:
    """Rescale the gradient of all weights together to L2 norm `norm`, without the host waiting."""
    gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
    total = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    torch._foreach_mul_(gradients, norm / total.clamp_min(1e-12))
