"""What a toy world is, the loop in which it learns (state in, records out), and its optimizers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lab.training.checkpoint import current_state, restore
from lab.training.records import Pause, Record, Standing


class World:
    """What the loop needs of a world: a model that is trained, losses and evaluations."""

    model: torch.nn.Module
    updates = 1  # optimiser steps that each step of the training takes, with its rollouts

    def losses(self, step: int) -> Iterable[Tensor]:
        """The loss of one step, in parts that sum to it, with the randomness of seed and step.

        The loop takes the gradient of each part before it asks for the next one, so that the memory
        of a part's backward pass is freed in between. A world whose step would not fit into memory
        yields several parts.
        """
        raise NotImplementedError

    def evaluate(self, step: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Metrics, and the columns of the groups, of the model before `step`."""
        raise NotImplementedError

    def accumulated(self) -> dict[str, Tensor]:
        """What it keeps for its next record, as named tensors: a part of the training's state."""
        return {}

    def restore_accumulated(self, state: dict[str, Tensor]) -> None:
        """Restore what `accumulated` returned; `state` holds other tensors too."""


def learn(
    world: World,
    optimizer: torch.optim.Optimizer,
    rate: Callable[[int], float],
    steps: int,
    log_every: int,
    state: dict[str, Any] | None,
    gradient_norm: float = 0.0,
    clip: float = 0.0,
) -> Iterator[Record | Pause]:
    """Train a world; yields a record or a pause for every step.

    A record comes before the first step, every `log_every` steps, and after the last step; a pause
    after each of the others. `rate(step)` is the learning rate. `state` is that of an earlier
    record or pause, from which training continues exactly. `gradient_norm` above 0 rescales each
    step's gradient to that norm (a vanishing gradient stays as it is). `clip` above 0 rescales only
    gradients with a larger norm.
    """

    def state_at(step: int) -> dict[str, Tensor]:
        return current_state(world.model, optimizer, step) | world.accumulated()

    first = 0
    if state is not None:
        first = restore(world.model, optimizer, state)
        world.restore_accumulated(state)
    for step in range(first, steps + 1):
        standing = Standing(step, state_at)
        if step % log_every == 0 or step == steps:
            metrics, groups = world.evaluate(step)
            yield Record(step, metrics, standing, groups)
        else:
            yield Pause(step, standing)
        if step == steps:
            return  # without `move_on`: the last state can be read at any later time
        standing.move_on()
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        for _ in range(world.updates):
            optimizer.zero_grad(set_to_none=True)
            for part in world.losses(step):
                part.backward()
            if gradient_norm > 0:
                rescale_gradients(world.model, gradient_norm)
            if clip > 0:
                torch.nn.utils.clip_grad_norm_(world.model.parameters(), clip)
            optimizer.step()


def rescale_gradients(model: torch.nn.Module, norm: float) -> None:
    """Rescale the gradient of all weights together to L2 norm `norm`; the host need not wait."""
    gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
    total = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    torch._foreach_mul_(gradients, norm / total.clamp_min(1e-12))


class _Unwrapped(torch.optim.Optimizer):
    """The methods of an optimizer without the wrappers that PyTorch puts around them.

    The wrappers are for torch.compile, and import torch._dynamo at their first call: more than two
    seconds in every process that trains, as long as importing torch. The toy worlds compile no
    optimizer, so they call the wrapped methods. Should PyTorch drop the wrappers, these are the
    same classes.
    """

    add_param_group = inspect.unwrap(torch.optim.Optimizer.add_param_group)
    load_state_dict = inspect.unwrap(torch.optim.Optimizer.load_state_dict)
    state_dict = inspect.unwrap(torch.optim.Optimizer.state_dict)
    zero_grad = inspect.unwrap(torch.optim.Optimizer.zero_grad)


class SGD(_Unwrapped, torch.optim.SGD):
    """`torch.optim.SGD`."""

    step = torch.no_grad()(inspect.unwrap(torch.optim.SGD.step))


class AdamW(_Unwrapped, torch.optim.AdamW):
    """`torch.optim.AdamW`."""

    step = torch.no_grad()(inspect.unwrap(torch.optim.AdamW.step))
