"""The trainer of the language-model presets: any estimator, on one node.

A preset names this module: what a run calls before, during and after a training is here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError
from lab.llm.engines.adapters import adapter_rank, load_adapter
from lab.llm.engines.model_costs import costs as costs
from lab.llm.train import loop
from lab.llm.train.checks import preflight as preflight
from lab.llm.train.checks import requirements as requirements
from lab.llm.train.task import Task
from lab.llm.train.thread_generator import generate_from_thread
from lab.training.checkpoint import with_prefix
from lab.training.records import Pause, Record

if TYPE_CHECKING:
    from lab.llm.engines.transformers_engine import TransformersEngine


def train(
    config: LanguageModelConfig, state: dict[str, torch.Tensor] | None = None
) -> Iterator[Record | Pause]:
    """Train; yield a record before the first step, every `log_every` steps and after the last one,
    and a pause after each other step.

    Metrics: pass@k on each held-out set, and means since the previous record. Those have the names
    of the other worlds (train pass@1, solved, dead groups, induced weight, entropy, mean length,
    truncated, log-probability mismatch), or TRL's names for what only TRL reports (grad_norm, loss,
    kl, clip_ratio/...). grad_norm is the mean over optimiser steps of the gradient's norm before
    clipping, with either trainer. "learning rate" is that of the last update. Of real rewards the
    mean reward is recorded, and of the training batches no pass rate, share solved or induced
    weight (`lab.llm.train.task`). Columns of groups: set, problem, n, right.
    """
    first = 0 if state is None else int(state["step"])
    if first < config.steps and config.trainer == "loop":
        yield from loop.train(config, state)
    elif first < config.steps:
        from lab.llm.train.trl_callbacks import TRLRun  # imports TRL

        with Task.of(config).judge() as verifier, tempfile.TemporaryDirectory() as scratch:
            yield from generate_from_thread(
                lambda channel: TRLRun(channel, verifier, scratch, config, state).trainer.train()
            )


def load_policy(model: str, state: dict[str, torch.Tensor] | None = None) -> TransformersEngine:
    """An engine on a model as it is in its folder, or as a training's state makes it.

    An adapter is added to the weights.
    """
    from lab.llm.engines.transformers_engine import TransformersEngine

    engine = TransformersEngine(model)
    weights = with_prefix("model/", state or {})
    if adapter_rank(weights):
        engine.model = load_adapter(engine.model, weights).merge_and_unload()
    elif weights:
        engine.model.load_state_dict(weights)
    return engine


def export(settings: Mapping[str, Any], state: dict[str, torch.Tensor], folder: Path) -> None:
    """Save the model of a run with these settings for `from_pretrained`, vLLM and `lab eval`.

    An adapter is added to the weights. LabError: the folder holds a model.
    """
    if (folder / "config.json").exists():
        raise LabError(f"{folder} already holds a model: name another folder, or remove it")
    engine = load_policy(settings["model"], state)
    engine.model.save_pretrained(folder)
    engine.tokenizer.save_pretrained(folder)
