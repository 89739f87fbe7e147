"""The optimiser of both trainers of language models, and its learning rate at every step."""

from __future__ import annotations

import math

from torch.nn import Module
from torch.optim import AdamW, Optimizer

from lab.configurations.language_models import LanguageModelConfig


def adamw(model: Module, config: LanguageModelConfig) -> Optimizer:
    """AdamW, as in transformers without weight decay for norms and biases."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    groups = [
        {"params": [w for w in weights if w.ndim > 1], "weight_decay": config.weight_decay},
        {"params": [w for w in weights if w.ndim <= 1], "weight_decay": 0.0},
    ]
    return AdamW(groups, config.learning_rate, fused=True)


def learning_rate(config: LanguageModelConfig, update: int) -> float:
    """The learning rate of an optimiser step, which is counted from 0 over the whole training.

    That of transformers' `get_scheduler`: it rises from 0 during `warmup`, and `linear` and
    `cosine` would reach 0 one optimiser step after the last.
    """
    warmup, total = config.warmup * config.updates, config.steps * config.updates
    if update < warmup:
        return config.learning_rate * (update / warmup)
    share = 1.0
    if config.schedule == "linear":
        share = (total - update) / (total - warmup)
    elif config.schedule == "cosine":
        share = 0.5 * (1 + math.cos(math.pi * ((update - warmup) / (total - warmup))))
    return config.learning_rate * share


def set_learning_rate(optimizer: Optimizer, config: LanguageModelConfig, update: int) -> None:
    """Give every weight the learning rate of this optimiser step."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(config, update)
