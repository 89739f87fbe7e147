"""The language-model trainer of three presets: any estimator, on one node.

It checks the settings before anything runs, yields the records of a training (which
`lab.llm.train.trl_run` makes), and loads or exports the trained policy.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError, parse_call
from lab.judge.rewards import check_reward
from lab.llm.data.datasets import DATASETS
from lab.llm.data.problem_sets import check_name, is_file
from lab.llm.data.prompts import load_prompt
from lab.llm.engines import memory
from lab.llm.engines.adapters import adapter_rank, check_adapter, load_adapter
from lab.llm.engines.architectures import adapter_parameter_count, architecture, parameter_count
from lab.llm.engines.base import Sampling
from lab.llm.train import loop
from lab.llm.train.grading import check_grading, judge_of, takes_real_rewards
from lab.llm.train.loop_generator import generate_from_loop
from lab.llm.train.requirements import requirements as requirements
from lab.llm.train.trl_run import TRLRun
from lab.losses import pacs_at_anchor
from lab.mathematics.estimators import estimator as find_estimator
from lab.mathematics.memories import IN_THE_HEADER, has_memory, with_memory
from lab.mathematics.stopping import rule_of_training
from lab.training.budget import GIB, Budget, Work
from lab.training.checkpoint import with_prefix
from lab.training.device import compute_device
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
    return [*_own_data_and_reward(config), *loss, _batch(config), *_memory(config)]


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
    processes = _processes()
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


def _memory(config: LanguageModelConfig) -> list[str]:
    """The header lines on a GPU's memory; refuses what would not fit.

    None for an engine on the CPU, and for a model whose architecture is not known.
    """
    if config.engine != "vllm" or (shape := architecture(config.model)) is None:
        return []
    total = gpu_memory(config.device_memory)
    parts = _parts(config, shape, total)
    needed = sum(parts.values())
    details = ", ".join(f"{name} {size:.1f}" for name, size in parts.items())
    if needed > total:
        raise LabError(
            f"{config.model} would need about {needed:.0f} GiB a GPU ({details}) and there are"
            f" {total:.0f}: lower micro_batch, max_tokens or engine_memory, or use lab cluster"
        )
    room, sequences = _sampler_room(config, shape, total)
    longest = config.max_prompt_tokens + config.max_tokens
    if room * GIB < memory.cache_bytes(shape) * longest:
        raise LabError(
            f"vLLM would have {max(room, 0):.1f} GiB for keys and values, less than one sequence of"
            f" {longest} tokens needs: raise engine_memory, or lower max_tokens"
        )
    asleep = " and sleeps while the model trains" if config.engine_memory == 0 else ""
    return [
        f"  memory of one GPU, counted on fake tensors: {needed:.0f} of {total:.0f} GiB"
        f" ({details})",
        f"  vLLM has {room:.0f} GiB for keys and values, about {sequences:.0f} sequences at"
        f" once{asleep}",
    ]


def gpu_memory(stated: float) -> float:
    """GiB of one GPU: what it reports, or `stated` on a machine without one."""
    if compute_device().type == "cuda":
        return torch.cuda.get_device_properties(0).total_memory / GIB
    return stated


def _processes() -> int:
    """How many processes torchrun has started, each with a GPU of its own."""
    return int(os.environ.get("WORLD_SIZE", 1))


def _parts(config: LanguageModelConfig, shape: Any, total: float) -> dict[str, float]:
    """GiB of one GPU by name during updates, with vLLM asleep or awake beside the model.

    `shape` is the model's architecture, `total` the GPU's memory in GiB.
    """
    parts = memory.training_memory(
        shape,
        rows=config.micro_batch,
        tokens=config.max_prompt_tokens + config.max_tokens,
        trained=memory.trained(config),
        processes=_processes(),
    )
    if config.engine_memory:
        return parts | {"vLLM": config.engine_memory * total}
    return parts | {"vLLM asleep": memory.ASLEEP}


def _sampler_room(config: LanguageModelConfig, shape: Any, total: float) -> tuple[float, float]:
    """GiB for keys and values while vLLM samples, and how many sequences fit into them.

    Sequences have the assumed mean length. `shape` and `total` as for `_parts`.
    """
    from lab.llm.train.trl_trainer import SEQUENCES

    requested = config.prompts * config.rollouts // _processes()
    share = config.engine_memory or memory.awake_share(shape, memory.trained(config), total)
    room = memory.cache_room(shape, share, total, min(requested, SEQUENCES))
    prompt, answer = _lengths(config)
    # While an answer is written, half of it is in the cache on average.
    sequence_bytes = memory.cache_bytes(shape) * (prompt + answer / 2)
    capacity = max(0.0, room) * GIB / sequence_bytes
    return room, min(requested, SEQUENCES, capacity)


# --- What a training needs ----------------------------------------------------------------------

# Assumed mean lengths, as shares of the limits: answers reach half of theirs, prompts a quarter. A
# policy whose answers are all cut takes about twice the time.
ANSWER_SHARE = 0.5
PROMPT_SHARE = 0.25
# Assumed: with micro-batches sorted by length, padding adds this factor to the computation.
PADDING = 1.1
# Assumed: vLLM's host time for one token of all sequences, as a number of kernel launches (6 ms).
LAUNCHES_A_TOKEN_STEP = 1000


def _lengths(config: LanguageModelConfig) -> tuple[float, float]:
    """The assumed mean tokens of a prompt and of an answer."""
    return PROMPT_SHARE * config.max_prompt_tokens, ANSWER_SHARE * config.max_tokens


def budget(config: LanguageModelConfig) -> Budget | None:
    """What a training needs of each GPU; None where the model's architecture is not known.

    Memory is counted on fake tensors (`lab.llm.engines.memory`), with the engine in its state
    during updates. The rest is arithmetic; nothing is measured:

    - Mean lengths are `PROMPT_SHARE` of max_prompt_tokens and `ANSWER_SHARE` of max_tokens.
    - To write one token of every sequence, the sampler reads all weights in bfloat16, and the keys
      and values of the unfinished sequences. These are as many as fit into its memory, at most
      `lab.llm.train.trl_trainer.SEQUENCES`. It makes at least `max_tokens` such steps, since the
      longest answer reaches the limit.
    - An update takes 8 n FLOPs per token for n weights (forward, again for checkpointing, and twice
      that backward) and those of attention. Log-probabilities of an older policy or a reference
      take 2 n.
    - Judging answers on the CPU is not counted.
    """
    shape = architecture(config.model)
    if shape is None:
        return None
    total = gpu_memory(config.device_memory)
    n = parameter_count(shape)
    processes = _processes()
    max_tokens, micro_batch = config.max_tokens, config.micro_batch
    longest = config.max_prompt_tokens + max_tokens
    trained = memory.trained(config)
    prompt, answer = _lengths(config)
    rollouts = config.prompts * config.rollouts
    local_rollouts = rollouts / processes
    _, sequences = _sampler_room(config, shape, total)

    tokens = local_rollouts * (prompt + answer) * PADDING
    attention = 4 * _attention_flops(shape, prompt + answer) * local_rollouts * PADDING
    batch = memory.micro_batch(shape, micro_batch, longest)
    positions = micro_batch * longest
    passes = local_rollouts / micro_batch
    step = _sampled(shape, local_rollouts, prompt, answer, max_tokens, sequences)
    step |= {
        "update": Work(8 * n * tokens + attention),
        "other kernels of the update": Work(
            0, batch.bytes * tokens / positions, batch.launches * passes
        ),
        # Weights, gradients and two moments are read and written, and the weights go to the
        # sampler.
        "optimiser": Work(0, config.updates * 8 * 4 * n + 6 * n),
    }
    extra_passes = (config.updates > 1) + trained.reference
    if extra_passes:
        # Of a pass that is computed again and backward, a forward pass alone is about a quarter.
        step["log-probabilities again"] = Work(extra_passes * (2 * n * tokens + attention / 4))
        step["other kernels of these"] = Work(
            0, extra_passes * batch.bytes / 4 * tokens / positions
        )

    eval_problems = sum(
        _eval_problem_count(name, config.eval_problems) for name in config.eval_sets
    )
    eval_answers = eval_problems * config.samples / processes
    evaluation = _sampled(shape, eval_answers, prompt, answer, max_tokens, sequences).values()
    weight_gib = 4 * n / GIB  # in float32
    has_adapter = config.adapter != "none"
    updated = adapter_parameter_count(shape, config.rank) if has_adapter else n
    reference_gib = weight_gib if trained.reference and not has_adapter else 0.0
    return Budget(
        memory=_parts(config, shape, total) if config.engine == "vllm" else {},
        checkpoint=12 * updated / GIB + reference_gib,
        host_memory=(weight_gib + reference_gib) * processes,
        disk={"hub cache": 2 * n / GIB},
        step=step,
        evaluation=Work(
            sum(work.flops for work in evaluation),
            sum(work.bytes for work in evaluation),
            sum(work.launches for work in evaluation),
        ),
        steps=config.steps,
        evaluations=1 + -(-config.steps // config.log_every),
        tokens=rollouts * (prompt + answer),
    )


def _sampled(
    shape: Any, answers: float, prompt: float, answer: float, max_tokens: int, sequences: float
) -> dict[str, Work]:
    """The work of sampling `answers` answers, `sequences` of them at once.

    `prompt` and `answer` are their mean tokens.
    """
    n = parameter_count(shape)
    steps = max(max_tokens, answers * answer / max(1.0, min(sequences, answers)))
    read = answers * answer * (prompt + answer / 2) * memory.cache_bytes(shape)
    # A token's scores are read and written about eight times in float32: softmax, drawing,
    # log-probabilities.
    scores = answers * answer * shape.vocab_size * 4 * 8
    return {
        "rollouts": Work(2 * n * answers * (prompt + answer), steps * 2 * n + read + scores),
        "host time of rollouts": Work(0, 0, steps * LAUNCHES_A_TOKEN_STEP),
    }


def _attention_flops(shape: Any, tokens: float) -> float:
    """FLOPs of attention in one forward pass over one sequence.

    With a mask, CUDA computes the full square of positions.
    """
    head = getattr(shape, "head_dim", None) or shape.hidden_size // shape.num_attention_heads
    return 4 * tokens**2 * head * shape.num_attention_heads * shape.num_hidden_layers


def _eval_problem_count(name: str, limit: int) -> int:
    """How many problems of a held-out set are evaluated; 1,000 if its size is not known."""
    size = DATASETS[name].rows if name in DATASETS else 1000
    return min(size, limit) if limit else size


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
