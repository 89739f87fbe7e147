"""Reinforcement learning of a language model with any objective, on one node: the trainer of three presets. Floor 2.

What is checked before anything runs, the records of a training (`lab.llm.course` makes it), and the trained model.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from lab.errors import LabError
from lab.estimators import estimator
from lab.llm.architectures import architecture, budget
from lab.llm.course import Course
from lab.llm.engine import Engine, Sampling
from lab.llm.handover import generated
from lab.llm.prompts import prompt as prompt_of
from lab.llm.verifier import Verifier
from lab.losses import pacs_at_anchor
from lab.records import Record


def preflight(**settings: Any) -> list[str]:
    """Refuse what cannot run; returns the header's lines: objective, rules, batch, and memory where it is counted."""
    for n, kind in ((settings["rollouts"], ""), (settings["samples"], "eval_")):
        Sampling(n, settings[f"{kind}temperature"], settings[f"{kind}top_p"], settings["limit"])
    prompt_of(settings["prompt"])
    return [*_loss(**settings), _batch(**settings), *_memory(**settings)]


def _loss(*, objective: str, rollouts: int, at_once: int, truncation: str, aggregation: str, beta: float, score: str,
          balanced: bool, reference_every: int, **settings: Any) -> list[str]:
    """Lines on the objective and its rules; refuses settings that its loss would not read."""
    if objective == "ppo":
        raise LabError("objective = 'ppo' needs a value head: use lab cluster, where verl trains one")
    if objective != "pacs":
        if reference_every:
            raise LabError(f"reference_every = {reference_every}: only PACS resets a reference; set it to 0")
        chosen, taught, loss = estimator(objective), "", aggregation
    else:
        for name in ("smoothing", "kl", "entropy_bonus", "greedy_filter"):
            if value := settings[name]:
                raise LabError(f"{name} = {value}: PACS has a loss of its own, in which it has no place; set it to "
                               f"{type(value)()}")
        if at_once % rollouts:
            raise LabError(f"at_once = {at_once}: PACS compares whole groups, so give a multiple of rollouts = "
                           f"{rollouts}")
        chosen = pacs_at_anchor(beta, score, balanced)
        taught = f": {beta:g} x log-ratio, score {score}, {'balanced' if balanced else 'no'} class weights"
        loss = "cross-entropy of whole answers"
    chosen.coefficients(rollouts)
    return [f"  {chosen.label} [{chosen.citation}]{taught}, N = {rollouts}", f"  rules: {chosen.rules}",
            f"  truncated rollouts: {truncation}; loss: {loss}"]


def _batch(*, prompts: int, rollouts: int, updates: int, at_once: int, **_: Any) -> str:
    """The line on a batch; refuses one that does not divide into updates, processes and passes of whole groups."""
    processes, batch = int(os.environ.get("WORLD_SIZE", 1)), prompts * rollouts
    if batch % (updates * processes * at_once):
        raise LabError(f"prompts x rollouts = {batch} is no multiple of updates x processes x at_once = "
                       f"{updates} x {processes} x {at_once}: change one of them")
    if prompts % processes:
        raise LabError(f"{prompts} prompts on {processes} processes: a group would be split across processes; give a "
                       "multiple")
    return (f"  {prompts} problems x {rollouts} rollouts a step, {updates} updates of {batch // updates} rollouts, "
            f"{at_once} at once on each of {processes} processes")


def _memory(*, model: str, engine: str, at_once: int, prompt_limit: int, limit: int, kl: float, reference_every: int,
            engine_memory: float, device_memory: float, **_: Any) -> list[str]:
    """The line on the memory of a GPU, where one is meant and the architecture is known; refuses what would not fit."""
    if engine != "vllm" or (config := architecture(model)) is None:
        return []
    parts = budget(config, at_once=at_once, tokens=prompt_limit + limit, reference=bool(kl or reference_every),
                   sampler=engine, share=engine_memory, device=device_memory)
    total, told = sum(parts.values()), ", ".join(f"{name} {size:.1f}" for name, size in parts.items())
    if total > device_memory:
        raise LabError(f"{model} would need about {total:.0f} GiB a GPU ({told}) and device_memory is "
                       f"{device_memory:.0f}: lower at_once, limit or engine_memory, or use lab cluster")
    return [f"  memory of one GPU, estimated: {total:.0f} of {device_memory:.0f} GiB ({told})"]


def train(*, state: dict[str, torch.Tensor] | None, steps: int, **settings: Any) -> Iterator[Record]:
    """Records before the first step, every `log_every` steps, and after the last; see the presets for the settings.

    Metrics: pass@k on each evaluation set; means since the record before under the names of the other worlds (train
    pass@1, solved, dead groups, induced weight, entropy, mean length, truncated, log-probability mismatch) and, for
    what only TRL knows, under TRL's (grad_norm, loss, kl, clip_ratio/...). Groups: set, problem, n, right.
    """
    first = 0 if state is None else int(state["step"])
    if first < steps:
        with Verifier(settings["style"]) as verifier, tempfile.TemporaryDirectory() as scratch:
            yield from generated(lambda handover: Course(handover, verifier, scratch, state, first, steps,
                                                         **settings).run())


def answerer(model: str, state: dict[str, torch.Tensor] | None = None) -> Engine:
    """An engine on a model as it lies in its folder, or with the weights of a training's state."""
    from lab.llm.transformers_engine import TransformersEngine
    engine = TransformersEngine(model)
    if state is not None:
        engine.model.load_state_dict({key.removeprefix("model/"): value for key, value in state.items()
                                      if key.startswith("model/")})
    return engine


def export(model: str, state: dict[str, torch.Tensor], folder: Path) -> None:
    """Write a trained model and its tokenizer as a folder that `from_pretrained`, vLLM and `lab eval` read."""
    if (folder / "config.json").exists():
        raise LabError(f"{folder} holds a model already: name another folder, or remove it")
    engine = answerer(model, state)
    engine.model.save_pretrained(folder)
    engine.tokenizer.save_pretrained(folder)
