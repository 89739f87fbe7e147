"""Reinforcement learning of a language model with any objective, on one node: the trainer of three presets. Floor 2.

What is checked before anything runs, the records of a training (`lab.llm.course` makes it), and the trained model.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from lab.device import compiler_fault, compute_device
from lab.errors import LabError
from lab.estimators import estimator
from lab.llm.architectures import architecture, budget
from lab.llm.course import Course
from lab.llm.engine import Engine, Sampling, place_of
from lab.llm.handover import generated
from lab.llm.models import is_cached, pinned
from lab.llm.problem_sets import problem_set
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


def requirements(*, model: str, train_set: str, problems: int, eval_sets: list[str], eval_problems: int,
                 folder_of_data: str, style: str, engine: str, **_: Any) -> Iterator[tuple[str, str, str]]:
    """What a run needs besides a GPU, for `lab preflight`: (subject, fault or nothing, remark).

    Packages, a compiler for vLLM, the model at its pinned revision (one that is not cached is downloaded
    when the run starts), and every set of problems with gold answers that can be read.
    """
    for package in ("trl", "vllm") if engine == "vllm" else ("trl",):
        missing = find_spec(package) is None
        yield f"package {package}", (f"{package} is not installed: pip install -c constraints.txt "
                                     "-e '.[llm,vllm]'" if missing else ""), "installed"
    if engine == "vllm" and compute_device().type == "cuda":
        yield "compiler", compiler_fault(), "found, for vLLM's kernels"
    name, revision = pinned(model)
    if Path(place_of(model)[0]).is_dir():
        remark = "a folder here"
    else:
        remark = f"revision {revision[:12]}" if revision else "newest revision, not pinned"
        remark += ", cached" if is_cached(model) else ", to be downloaded"
    yield f"model {name}", "", remark
    sets = [(train_set, problems, "train"), *((name, eval_problems, "test") for name in eval_sets)]
    with Verifier(style) as verifier:
        for name, count, split in sets:
            try:
                asked = problem_set(name, count or None, folder_of_data, split).problems
            except LabError as error:
                # Without a network each of the others would be tried for half a minute too.
                yield f"set {name}", f"{error} (what comes after it was not tried)", ""
                return
            unreadable = len(verifier.unparsable([problem.answer for problem in asked]))
            fault = "" if unreadable < len(asked) - 1 else f"no gold answer of {name} can be read"
            yield f"set {name}", fault, f"{len(asked)} problems, {unreadable} gold answers unreadable"


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
