"""Reinforcement learning of a language model with any objective, on one node: the trainer of three
presets. Floor 2.

What is checked before anything runs, the records of a training (`lab.llm.train.trl_run` makes it),
and the trained model.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from lab.budget import GIB, Budget, Work
from lab.device import compute_device
from lab.errors import LabError, parse_call
from lab.estimators import estimator as find_estimator
from lab.llm.data.datasets import DATASETS
from lab.llm.data.prompts import load_prompt
from lab.llm.engines import memory
from lab.llm.engines.architectures import architecture, parameter_count
from lab.llm.engines.base import Engine, Sampling
from lab.llm.train.loop_generator import generate_from_loop
from lab.llm.train.requirements import requirements as requirements
from lab.llm.train.trl_run import TRLRun
from lab.llm.verify.verifier import Verifier
from lab.losses import pacs_at_anchor
from lab.records import Pause, Record


def preflight(**settings: Any) -> list[str]:
    """Refuse what cannot run; returns the header's lines: objective, rules, batch, and memory where
    it is counted.
    """
    for n, kind in ((settings["rollouts"], ""), (settings["samples"], "eval_")):
        Sampling(
            n, settings[f"{kind}temperature"], settings[f"{kind}top_p"], settings["max_tokens"]
        )
    load_prompt(settings["prompt"])
    return [*_loss(**settings), _batch(**settings), *_memory(**settings)]


def _loss(
    *,
    estimator: str,
    rollouts: int,
    micro_batch: int,
    truncation: str,
    aggregation: str,
    beta: float,
    score: str,
    balanced: bool,
    reference_every: int,
    **settings: Any,
) -> list[str]:
    """Lines on the objective and its rules; refuses settings that its loss would not read."""
    if estimator == "ppo":
        raise LabError(
            "estimator = 'ppo' needs a value head: use lab cluster, where verl trains one"
        )
    # lab.estimator("pacs(...)") is PACS at its anchor; here PACS is a loss with settings of its own.
    if estimator != "pacs" and parse_call(estimator)[0] == "pacs":
        raise LabError(
            f"estimator = {estimator!r}: the options of PACS are settings here; give estimator=pacs"
            " beta=... score=... balanced=..."
        )
    if estimator != "pacs":
        if reference_every:
            raise LabError(
                f"reference_every = {reference_every}: only PACS resets a reference; set it to 0"
            )
        chosen, taught, loss = find_estimator(estimator), "", aggregation
    else:
        for name in ("smoothing", "kl", "entropy_bonus", "greedy_filter"):
            if value := settings[name]:
                raise LabError(
                    f"{name} = {value}: PACS has a loss of its own, in which it has no place; set"
                    f" it to {type(value)()}"
                )
        if micro_batch % rollouts:
            raise LabError(
                f"micro_batch = {micro_batch}: PACS compares whole groups, so give a multiple of rollouts ="
                f" {rollouts}"
            )
        chosen = pacs_at_anchor(beta, score, balanced)
        taught = (
            f": {beta:g} x log-ratio, score {score}, {'balanced' if balanced else 'no'} class"
            " weights"
        )
        loss = "cross-entropy of whole answers"
    chosen.coefficients(rollouts)
    return [
        f"  {chosen.label} [{chosen.citation}]{taught}, N = {rollouts}",
        f"  rules: {chosen.rules}",
        f"  truncated rollouts: {truncation}; loss: {loss}",
    ]


def _batch(*, prompts: int, rollouts: int, updates: int, micro_batch: int, **_: Any) -> str:
    """The line on a batch; refuses one that does not divide into updates, processes and passes of
    whole groups.
    """
    processes, batch = int(os.environ.get("WORLD_SIZE", 1)), prompts * rollouts
    if batch % (updates * processes * micro_batch):
        raise LabError(
            f"prompts x rollouts = {batch} is no multiple of updates x processes x micro_batch = "
            f"{updates} x {processes} x {micro_batch}: change one of them"
        )
    if prompts % processes:
        raise LabError(
            f"{prompts} prompts on {processes} processes: a group would be split across processes;"
            " give a multiple"
        )
    return (
        f"  {prompts} problems x {rollouts} rollouts a step, {updates} updates of"
        f" {batch // updates} rollouts, {micro_batch} at once on each of {processes} processes"
    )


def _memory(*, model: str, engine: str, device_memory: float, **settings: Any) -> list[str]:
    """The lines on the memory of a GPU, where one is meant and the architecture known; refuses what
    would not fit.
    """
    if engine != "vllm" or (config := architecture(model)) is None:
        return []
    total = gpu_memory(device_memory)
    parts = _parts(config, total, **settings)
    needed = sum(parts.values())
    told = ", ".join(f"{name} {size:.1f}" for name, size in parts.items())
    if needed > total:
        raise LabError(
            f"{model} would need about {needed:.0f} GiB a GPU ({told}) and there are {total:.0f}:"
            " lower micro_batch, max_tokens or engine_memory, or use lab cluster"
        )
    room, sequences = _sampler_room(config, total, **settings)
    longest = settings["max_prompt_tokens"] + settings["max_tokens"]
    if room * GIB < memory.cache_bytes(config) * longest:
        raise LabError(
            f"vLLM would have {max(room, 0):.1f} GiB for keys and values, less than one sequence of"
            f" {longest} tokens needs: raise engine_memory, or lower max_tokens"
        )
    asleep = " and sleeps while the model trains" if settings["engine_memory"] == 0 else ""
    return [
        f"  memory of one GPU, counted on fake tensors: {needed:.0f} of {total:.0f} GiB ({told})",
        (
            f"  vLLM has {room:.0f} GiB for keys and values, about {sequences:.0f} sequences at"
            f" once{asleep}"
        ),
    ]


def gpu_memory(stated: float) -> float:
    """GiB of one GPU: what it reports where there is one, else what was stated."""
    if compute_device().type == "cuda":
        return torch.cuda.get_device_properties(0).total_memory / GIB
    return stated


def _parts(
    config: Any,
    total: float,
    *,
    micro_batch: int,
    max_prompt_tokens: int,
    max_tokens: int,
    kl: float,
    reference_every: int,
    engine_memory: float,
    **_: Any,
) -> dict[str, float]:
    """GiB of one GPU by name while the model trains, vLLM asleep or awake beside it."""
    processes = int(os.environ.get("WORLD_SIZE", 1))
    parts = memory.training_memory(
        config,
        rows=micro_batch,
        tokens=max_prompt_tokens + max_tokens,
        reference=bool(kl or reference_every),
        processes=processes,
    )
    return parts | (
        {"vLLM": engine_memory * total} if engine_memory else {"vLLM asleep": memory.ASLEEP}
    )


def _sampler_room(
    config: Any,
    total: float,
    *,
    prompts: int,
    rollouts: int,
    max_prompt_tokens: int,
    max_tokens: int,
    kl: float,
    reference_every: int,
    engine_memory: float,
    **_: Any,
) -> tuple[float, float]:
    """GiB for keys and values while vLLM samples, and how many sequences of the assumed length that
    holds.
    """
    from lab.llm.train.trl_trainer import SEQUENCES

    asked = prompts * rollouts // int(os.environ.get("WORLD_SIZE", 1))
    share = engine_memory or memory.awake_share(config, bool(kl or reference_every), total)
    room = memory.cache_room(config, share, total, min(asked, SEQUENCES))
    prompt, answer = _lengths(max_prompt_tokens, max_tokens)
    held = max(0.0, room) * GIB / (memory.cache_bytes(config) * (prompt + answer / 2))
    return room, min(asked, SEQUENCES, held)


# --- What a training asks for -------------------------------------------------------------------

# Assumed mean lengths, as shares of what is allowed: answers are half as long as they may be, and
# prompts a quarter. A policy whose answers are all cut takes about twice the time.
ANSWER_SHARE, PROMPT_SHARE = 0.5, 0.25
# Assumed: micro-batches sorted by length compute so much on padding.
PADDING = 1.1
# Assumed: what vLLM does on the host for a token step of all sequences, in kernel launches (6 ms).
LAUNCHES_A_TOKEN_STEP = 1000


def _lengths(max_prompt_tokens: int, max_tokens: int) -> tuple[float, float]:
    """The assumed mean tokens of a prompt and of an answer."""
    return PROMPT_SHARE * max_prompt_tokens, ANSWER_SHARE * max_tokens


def budget(**settings: Any) -> Budget | None:
    """What a training asks of each GPU; None where the model's architecture is not known.

    Memory is counted on fake tensors (`lab.llm.engines.memory`), with the engine as it is while the
    model trains; the rest is arithmetic, and nothing is measured:

    - Mean lengths are `PROMPT_SHARE` of max_prompt_tokens and `ANSWER_SHARE` of max_tokens.
    - A token step of the sampler reads all weights in bfloat16, and keys and values of the sequences
      alive; these are as many as fit into its memory, at most `lab.llm.train.trl_trainer.SEQUENCES`. It makes at
      least `max_tokens` such steps, since the longest answer goes that far.
    - An update takes 8 n FLOPs a token (forward, again for checkpointing, and twice that backward)
      and attention's own; log-probabilities of an older policy or a reference 2 n.
    - Judging answers on the CPU is not counted.
    """
    config = architecture(settings["model"])
    if config is None:
        return None
    total, n = gpu_memory(settings["device_memory"]), parameter_count(config)
    processes = int(os.environ.get("WORLD_SIZE", 1))
    rollouts = settings["prompts"] * settings["rollouts"]
    reference = bool(settings["kl"] or settings["reference_every"])
    prompt, answer = _lengths(settings["max_prompt_tokens"], settings["max_tokens"])
    ours = rollouts / processes
    _, sequences = _sampler_room(config, total, **settings)
    tokens = ours * (prompt + answer) * PADDING
    attention = 4 * _attention_flops(config, prompt + answer) * ours * PADDING
    batch = memory.micro_batch(
        config, settings["micro_batch"], settings["max_prompt_tokens"] + settings["max_tokens"]
    )
    positions = settings["micro_batch"] * (settings["max_prompt_tokens"] + settings["max_tokens"])
    passes = ours / settings["micro_batch"]
    step = _sampled(config, ours, prompt, answer, settings["max_tokens"], sequences)
    step |= {
        "update": Work(8 * n * tokens + attention),
        "other kernels of the update": Work(
            0, batch.bytes * tokens / positions, batch.launches * passes
        ),
        # Weights, gradients and two moments are read and written, and the weights go to the
        # sampler.
        "optimiser": Work(0, settings["updates"] * 8 * 4 * n + 6 * n),
    }
    again = (settings["updates"] > 1) + reference
    if again:
        # Of a pass that is computed again and backward, a forward pass alone is about a quarter.
        step["log-probabilities again"] = Work(again * (2 * n * tokens + attention / 4))
        step["other kernels of these"] = Work(0, again * batch.bytes / 4 * tokens / positions)
    examined = sum(_problems(name, settings["eval_problems"]) for name in settings["eval_sets"])
    evaluation = _sampled(
        config,
        examined * settings["samples"] / processes,
        prompt,
        answer,
        settings["max_tokens"],
        sequences,
    )
    bytes_each = 4 * n / GIB
    return Budget(
        memory=_parts(config, total, **settings) if settings["engine"] == "vllm" else {},
        checkpoint=bytes_each * (3 + reference),
        host_memory=bytes_each * (1 + reference) * processes,
        disk={"hub cache": 2 * n / GIB},
        step=step,
        evaluation=Work(
            *(
                sum(values)
                for values in zip(
                    *((work.flops, work.bytes, work.launches) for work in evaluation.values()),
                    strict=True,
                )
            )
        ),
        steps=settings["steps"],
        evaluations=1 + -(-settings["steps"] // settings["log_every"]),
        tokens=rollouts * (prompt + answer),
    )


def _sampled(
    config: Any, answers: float, prompt: float, answer: float, max_tokens: int, sequences: float
) -> dict[str, Work]:
    """The work of sampling so many answers of a mean length, `sequences` of them at once."""
    n, steps = (
        parameter_count(config),
        max(max_tokens, answers * answer / max(1.0, min(sequences, answers))),
    )
    read = answers * answer * (prompt + answer / 2) * memory.cache_bytes(config)
    # A token's scores are read and written about eight times in float32: softmax, drawing,
    # log-probabilities.
    scores = answers * answer * config.vocab_size * 4 * 8
    return {
        "rollouts": Work(2 * n * answers * (prompt + answer), steps * 2 * n + read + scores),
        "host time of rollouts": Work(0, 0, steps * LAUNCHES_A_TOKEN_STEP),
    }


def _attention_flops(config: Any, tokens: float) -> float:
    """FLOPs of one forward pass's attention over one sequence, as CUDA computes it with a mask: the
    whole square.
    """
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return 4 * tokens**2 * head * config.num_attention_heads * config.num_hidden_layers


def _problems(name: str, most: int) -> int:
    """How many problems of an evaluation set are examined; 1,000 of a set whose size is not known."""
    size = DATASETS[name].rows if name in DATASETS else 1000
    return min(size, most) if most else size


def train(
    *, state: dict[str, torch.Tensor] | None, steps: int, **settings: Any
) -> Iterator[Record | Pause]:
    """Records before the first step, every `log_every` steps, and after the last, pauses after the
    others.

    See the presets for the settings.

    Metrics: pass@k on each evaluation set; means since the record before under the names of the
    other worlds (train pass@1, solved, dead groups, induced weight, entropy, mean length,
    truncated, log-probability mismatch) and, for what only TRL knows, under TRL's (grad_norm, loss,
    kl, clip_ratio/...). Groups: set, problem, n, right.
    """
    first = 0 if state is None else int(state["step"])
    if first < steps:
        with Verifier(settings["style"]) as verifier, tempfile.TemporaryDirectory() as scratch:
            yield from generate_from_loop(
                lambda channel: TRLRun(
                    channel, verifier, scratch, state, first, steps, **settings
                ).run()
            )


def load_policy(model: str, state: dict[str, torch.Tensor] | None = None) -> Engine:
    """An engine on a model as it lies in its folder, or with the weights of a training's state."""
    from lab.llm.engines.transformers_engine import TransformersEngine

    engine = TransformersEngine(model)
    if state is not None:
        engine.model.load_state_dict(
            {
                key.removeprefix("model/"): value
                for key, value in state.items()
                if key.startswith("model/")
            }
        )
    return engine


def export(model: str, state: dict[str, torch.Tensor], folder: Path) -> None:
    """Write a trained model and its tokenizer as a folder that `from_pretrained`, vLLM and `lab
    eval` read.
    """
    if (folder / "config.json").exists():
        raise LabError(f"{folder} holds a model already: name another folder, or remove it")
    engine = load_policy(model, state)
    engine.model.save_pretrained(folder)
    engine.tokenizer.save_pretrained(folder)
