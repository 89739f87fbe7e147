"""What a toy world is, the loop in which it learns (state in, records out), and its optimizers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lab.training.checkpoint import current_state, restore
from lab.training.records import Pause, Record, Standing

PARTS = ("model", "optimizer", "step")  # of a state, beside what a world keeps


class World:
    """What the loop needs of a world: a model that is trained, losses and evaluations."""

    model: torch.nn.Module
    updates = 1  # optimiser steps that each step of the training takes, with its rollouts

    @cached_property
    def kept(self) -> dict[str, Tensor]:
        """What later steps and the next record depend on besides model and optimizer, by name.

        The loop makes it a part of the training's state.
        """
        return {}

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


def learn(
    world: World,
    optimizer: torch.optim.Optimizer,
    steps: int,
    log_every: int,
    state: dict[str, Any] | None,
    *,
    rate: Callable[[int], float] | None = None,
    gradient_norm: float = 0.0,
    clip: float = 0.0,
) -> Iterator[Record | Pause]:
    """Train a world; yields a record or a pause for every step.

    A record comes before the first step, every `log_every` steps, and after the last step; a pause
    after each of the others. `state` is that of an earlier record or pause, from which training
    continues exactly. `rate(step)` is the learning rate, by default the optimizer's own.
    `gradient_norm` above 0 rescales each step's gradient to that norm (a vanishing gradient stays
    as it is). `clip` above 0 rescales only gradients with a larger norm.
    """

    def state_at(step: int) -> dict[str, Tensor]:
        return current_state(world.model, optimizer, step) | world.kept

    first = 0
    if state is not None:
        first = restore(world.model, optimizer, state)
        world.kept |= {  # no name is left here that would hold the file
            key: value.clone() for key, value in state.items() if key.split("/")[0] not in PARTS
        }
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
        if rate is not None:
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


def _unwrapped(kind: Any) -> Any:
    """An optimizer without the wrappers that PyTorch puts around its methods.

    The wrappers are for torch.compile, and import torch._dynamo at their first call: more than a
    second in every process that trains. The toy worlds compile no optimizer. Should PyTorch drop
    the wrappers, this is the same class.
    """
    names = ("add_param_group", "load_state_dict", "state_dict", "zero_grad")
    methods = {name: inspect.unwrap(getattr(kind, name)) for name in names}
    methods["step"] = torch.no_grad()(inspect.unwrap(kind.step))
    return type(kind.__name__, (kind,), methods)


SGD, AdamW = _unwrapped(torch.optim.SGD), _unwrapped(torch.optim.AdamW)
