"""The language-model trainer of three presets: any estimator, on one node.

It checks the settings before anything runs, yields the records of a training (which
`lab.llm.train.trl_run` makes), and loads or exports the trained policy.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError, parse_call
from lab.judge.rewards import check_reward
from lab.llm.data.problem_sets import check_name, is_file
from lab.llm.data.prompts import load_prompt
from lab.llm.engines.adapters import adapter_rank, check_adapter, load_adapter
from lab.llm.engines.base import Sampling
from lab.llm.engines.model_costs import costs as costs
from lab.llm.engines.model_costs import memory_lines, process_count
from lab.llm.train import loop
from lab.llm.train.grading import check_grading, judge_of, takes_real_rewards
from lab.llm.train.loop_generator import generate_from_loop
from lab.llm.train.requirements import requirements as requirements
from lab.llm.train.trl_run import TRLRun
from lab.losses import pacs_at_anchor
from lab.mathematics.estimators import estimator as find_estimator
from lab.mathematics.memories import IN_THE_HEADER, has_memory, with_memory
from lab.mathematics.stopping import rule_of_training
from lab.training.checkpoint import with_prefix
from lab.training.records import Pause, Record

if TYPE_CHECKING:
    from lab.llm.engines.transformers_engine import TransformersEngine


def preflight(config: LanguageModelConfig) -> list[str]:
    """Refuse what cannot run; returns the header lines on estimator, batch and memory.

    Memory has a line only where it can be counted.
    """
    # These raise errors that name the setting and the cure.
    Sampling(config.rollouts, config.temperature, config.top_p, config.max_tokens)
    Sampling(config.samples, config.eval_temperature, config.eval_top_p, config.max_tokens)
    load_prompt(config.prompt)
    for name in (config.train_set, *config.eval_sets):
        check_name(name)
    _check_adapter(config)
    loss = _loss(config)
    return [*_own_data_and_reward(config), *loss, _batch(config), *memory_lines(config)]


def _check_adapter(config: LanguageModelConfig) -> None:
    """Refuse an adapter that cannot be trained, and settings that have no meaning with it."""
    check_adapter(config.adapter)
    if config.adapter == "none" and config.rank != config.defaults()["rank"]:
        raise LabError(f"rank = {config.rank}: there is no adapter; add adapter=lora")
    if config.adapter != "none" and config.reference_every:
        raise LabError(
            f"reference_every = {config.reference_every}: the reference of an adapter is the model"
            " without it, which is not reset; set it to 0"
        )


def _own_data_and_reward(config: LanguageModelConfig) -> list[str]:
    """The header line on a reward function; refuses columns that no set reads."""
    columns = config.question_column, config.answer_column
    if columns != ("question", "answer") and not any(
        map(is_file, [config.train_set, *config.eval_sets])
    ):
        raise LabError(
            f"question_column = {columns[0]!r}, answer_column = {columns[1]!r}: no set is a file;"
            " leave them out, or give train_set=FILE.jsonl"
        )
    if not config.reward:
        return []
    check_reward(config.reward)
    line = f"  reward: {config.reward}, in place of the verifier and its style"
    if takes_real_rewards(config):
        line += f"; graded, and right on held-out sets from {config.right_from:g}"
    return [line]


def _loss(config: LanguageModelConfig) -> list[str]:
    """Header lines on the estimator and its rules; refuses settings that its loss ignores."""
    estimator, rollouts = config.estimator, config.rollouts
    if estimator == "ppo":
        raise LabError(
            "estimator = 'ppo' needs a value head: use lab cluster, where verl trains one"
        )
    # lab.estimator("pacs(...)") is PACS at its anchor. Here PACS is a loss with its own settings.
    if estimator != "pacs" and parse_call(estimator)[0] == "pacs":
        raise LabError(
            f"estimator = {estimator!r}: the options of PACS are settings here; give estimator=pacs"
            " beta=... score=... balanced=..."
        )
    check_grading(config)
    if rule := rule_of_training(config.stopping, estimator, rollouts):
        needed = {"trainer": "loop", "updates": 1, "smoothing": 0.0, "reference_every": 0}
        for name, only in needed.items():
            if (value := getattr(config, name)) != only:
                raise LabError(
                    f"{name} = {value!r}: a stopping rule goes with {name} = {only!r} alone; set it"
                    " so, or leave stopping empty"
                )
        return [
            f"  {rule.about}",
            f"  truncated rollouts: {config.truncation}; loss: {config.aggregation}",
        ]
    if estimator != "pacs":
        if config.reference_every:
            raise LabError(
                f"reference_every = {config.reference_every}: only PACS resets a reference; set it"
                " to 0"
            )
        if config.trainer == "loop" and has_memory(estimator):
            chosen = with_memory(estimator, rollouts).estimator()
        else:
            chosen = find_estimator(estimator)
        options = ""
        loss = config.aggregation
    else:
        for name in ("smoothing", "kl", "entropy_bonus", "greedy_filter"):
            if value := getattr(config, name):
                raise LabError(
                    f"{name} = {value}: PACS has a loss of its own, which does not use it; set"
                    f" it to {type(value)()}"
                )
        if config.micro_batch % rollouts:
            raise LabError(
                f"micro_batch = {config.micro_batch}: PACS compares whole groups, so give a"
                f" multiple of rollouts = {rollouts}"
            )
        chosen = pacs_at_anchor(config.beta, config.score, config.balanced)
        class_weights = "balanced" if config.balanced else "no"
        options = (
            f": {config.beta:g} x log-ratio, score {config.score}, {class_weights} class weights"
        )
        loss = "cross-entropy of whole answers"
    chosen.coefficients(rollouts)  # refuses a group that is too small
    return [
        f"  {chosen.label} [{chosen.citation}]{options}, N = {rollouts}",
        f"  rules: {chosen.rules}",
        f"  truncated rollouts: {config.truncation}; loss: {loss}",
        *([IN_THE_HEADER] if has_memory(estimator) else []),
    ]


def _batch(config: LanguageModelConfig) -> str:
    """The header line on the batch; refuses one that does not divide evenly.

    It must divide into updates, processes and micro-batches, and groups must stay whole.
    """
    prompts, updates, micro_batch = config.prompts, config.updates, config.micro_batch
    processes = process_count()
    if processes > 1 and config.trainer == "loop":
        raise LabError(
            f"trainer = 'loop' trains in one process and {processes} were started: leave torchrun"
            " out, or take trainer=trl"
        )
    batch = prompts * config.rollouts
    if batch % (updates * processes * micro_batch):
        raise LabError(
            f"prompts x rollouts = {batch} is not a multiple of updates x processes x micro_batch ="
            f" {updates} x {processes} x {micro_batch}: change one of them"
        )
    if prompts % processes:
        raise LabError(
            f"{prompts} prompts on {processes} processes: a group would be split across processes;"
            " give a multiple of the number of processes"
        )
    return (
        f"  {prompts} problems x {config.rollouts} rollouts a step, {updates} updates of"
        f" {batch // updates} rollouts, {micro_batch} at once on each of {processes} processes"
    )


def train(
    config: LanguageModelConfig, state: dict[str, torch.Tensor] | None = None
) -> Iterator[Record | Pause]:
    """Train, and yield a record or a pause after each step.

    Records come before the first step, every `log_every` steps, and after the last step; pauses
    after the other steps.

    Metrics: pass@k on each held-out set, and means since the previous record. Those have the names
    of the other worlds (train pass@1, solved, dead groups, induced weight, entropy, mean length,
    truncated, log-probability mismatch), or TRL's names for what only TRL reports (grad_norm, loss,
    kl, clip_ratio/...). Of real rewards the mean reward is recorded, and of the training batches no
    pass rate, share solved or induced weight (`lab.llm.train.grading`). Columns of groups: set,
    problem, n, right.
    """
    first = 0 if state is None else int(state["step"])
    if first < config.steps and config.trainer == "loop":
        yield from loop.train(config, state)
    elif first < config.steps:
        with (
            judge_of(config) as verifier,
            tempfile.TemporaryDirectory() as scratch,
        ):
            yield from generate_from_loop(
                lambda channel: TRLRun(channel, verifier, scratch, config, state, first).run()
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


def export(model: str, state: dict[str, torch.Tensor], folder: Path, merge: bool = False) -> None:
    """Save a trained model and its tokenizer for `from_pretrained`, vLLM and `lab eval`.

    Of a training with an adapter the adapter alone is saved, as peft reads it; with `merge` the
    whole model. LabError: the folder holds a model, or there is no adapter to merge.
    """
    for name in ("config.json", "adapter_config.json"):
        if (folder / name).exists():
            raise LabError(f"{folder} already holds a model: name another folder, or remove it")
    weights = with_prefix("model/", state)
    if merge and not adapter_rank(weights):
        raise LabError("the run trained all weights and has no adapter: leave --merge out")
    if adapter_rank(weights) and not merge:
        engine = load_policy(model)
        load_adapter(engine.model, weights).save_pretrained(folder)
    else:
        engine = load_policy(model, state)
        engine.model.save_pretrained(folder)
    engine.tokenizer.save_pretrained(folder)
