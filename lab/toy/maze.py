"""The maze world: a transformer learns to solve mazes that it has never seen.

The data are unlimited (MaxRL, 2602.02710, sections 6.2, E.1 and K). Supervised training on shortest
paths, from random weights, comes first; then reinforcement learning on new mazes, one on-policy
step a batch. As in the official code: AdamW with weight decay 0.01, gradients clipped to norm 1,
and a loss that is a mean over tokens. A rollout ends with DONE or <eos>: the official checkpoint's
generation_config.json names both. Departures:

- A rollout with a special token (<pad>, <bos>, <eos>, <unk>) before DONE is wrong. The official
  reward reads decoded text, from which special tokens are left out, so that the moves around them
  count.
- Reinforcement learning runs in float32 unless configured otherwise.
- The paper has no likelihood here. `lab.toy.maze_likelihood` computes it between certified bounds,
  for evaluations and for gradients without sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from lab.configurations.toy_worlds import MazeConfig, MazeStartConfig, digest_of_start
from lab.errors import LabError
from lab.losses import policy_gradient
from lab.mathematics.estimators import advantages
from lab.mathematics.estimators import estimator as find_estimator
from lab.mathematics.stopping import StoppingRule, rule_of_training
from lab.shapes import Bool, Float, Int, Shaped
from lab.toy import maze_env
from lab.toy.fused_attention import attend_fused
from lab.toy.maze_checkpoint import read_checkpoint
from lab.toy.maze_env import DONE, EOS, PAD, Mazes, MazeStream, progress, walk
from lab.toy.maze_likelihood import RightAnswers, log_pass_rates
from lab.toy.maze_policy import (
    EVALUATION_MAZES,
    EVALUATION_ROLLOUTS,
    MazePolicy,
    evaluation_set,
    load_policy,
    make_policy,
    maze_stream,
    transformer_config,
)
from lab.toy.maze_stopping import sample_until
from lab.toy.optimizers import AdamW
from lab.toy.stopped_sampling import RolloutsSpent
from lab.toy.training_loop import GradientSource
from lab.toy.training_loop import train as run_loop
from lab.toy.transformer import (
    Elementwise,
    PromptAttention,
    PromptCache,
    Transformer,
    attend,
    fresh_transformer,
)
from lab.toy.tree_sampling import PrefixTree, Rollouts, rollout_logits, sample_rows
from lab.training.budget import CONTEXT, GIB, Budget, Work
from lab.training.device import compiler_fault
from lab.training.gpu_counter import Counted, as_one_kernel, count
from lab.training.records import Pause, Record
from lab.training.rng import stream_seed

# Of a micro-batch: mazes times rollouts times length. At the published width their activations take
# 7 to 8 GiB. This is a constant because a run's results must not depend on the machine.
MICRO_BATCH_POSITIONS = 2**17
# Prefixes of an exact pass rate for each token of `length`, as a budget counts them. With a
# tolerance of 0.01 mazes of 7x7 (18 tokens) take 81 after 50 supervised steps and 19 after 250.
# Those of 9x9 (32 tokens) take 517 and 45; `maze_likelihood.MOST_PREFIXES` bounds them.
PREFIXES_A_TOKEN = 5


class MazeSFT:
    """Supervised training on shortest paths: mean cross-entropy of the moves, DONE and <eos>."""

    def __init__(self, policy: MazePolicy, stream: MazeStream, last_step: int) -> None:
        self.policy = policy
        self.model = policy.model
        self.stream = stream
        self.last_step = last_step
        held_out = stream.measure == "generalisation"
        self.loss_name = "held-out loss" if held_out else "loss"

    def losses(self, step: int) -> list[torch.Tensor]:
        """The loss on the mazes of a step."""
        return [self.loss(self.stream.at(step))]

    def loss(self, mazes: Mazes) -> Float[torch.Tensor, ""]:
        """The cross-entropy of the mazes' answers, a mean over their tokens."""
        prompts, answers = mazes.prompts(), mazes.answers()
        with self.policy.autocast():
            hidden, _ = self.model.prefill(torch.cat((prompts, answers[:, :-1].int()), 1))
            logits = self.model.logits(hidden[:, prompts.shape[1] - 1 :])
        return F.cross_entropy(logits.flatten(0, 1), answers.flatten(), ignore_index=PAD)

    @torch.no_grad()
    def evaluate(self, step: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """The loss on the mazes of the evaluation, and after the last step the evaluation."""
        metrics: dict[str, float] = {}
        groups: dict[str, np.ndarray] = {}
        if step == self.last_step:
            metrics, groups = self.policy.evaluate()
        return {self.loss_name: float(self.loss(self.policy.evaluation_set))} | metrics, groups


class _WithStatistics:
    """A world whose records hold the mean statistics of the steps since the last one."""

    def __init__(self, policy: MazePolicy) -> None:
        self.policy = policy
        self.model = policy.model
        self.step_statistics: list[dict[str, torch.Tensor]] = []

    def evaluate(self, step: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """`MazePolicy.evaluate`, and the mean statistics of the steps since the last record."""
        metrics, groups = self.policy.evaluate()
        if self.step_statistics:
            metrics |= {
                key: float(torch.stack([step[key] for step in self.step_statistics]).mean())
                for key in self.step_statistics[0]
            }
        self.step_statistics = []
        return metrics, groups

    def accumulated(self) -> dict[str, torch.Tensor]:
        """The statistics of the steps since the last record, each of shape "steps".

        Their names are numbered, so that they keep the order of the record. Checkpoints hold them.
        """
        names = self.step_statistics[0] if self.step_statistics else ()
        return {
            f"seen/{place:02}/{name}": torch.stack([step[name] for step in self.step_statistics])
            for place, name in enumerate(names)
        }

    def restore_accumulated(self, state: dict[str, torch.Tensor]) -> None:
        """Restore what `accumulated` returned."""
        columns = {
            key.split("/", 2)[2]: state[key].to(self.policy.device, copy=True).unbind()
            for key in sorted(state)
            if key.startswith("seen/")
        }
        self.step_statistics = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]


class MazeRL(_WithStatistics):
    """Reinforcement learning on new mazes, from sampled rollouts.

    `entropy_bonus` adds that multiple of the mean token entropy. `smoothing` is the c of
    differential smoothing (Gai et al. 2511.19942): the advantage of a right rollout grows, and that
    of a wrong one shrinks, by -c times its mean token log-probability. `greedy_filter` is SELF
    (Nguyen et al. 2510.02230): only mazes whose greedy answer is wrong count. With a stopping
    `rule`, `rollouts` is its cap, and it gives the advantages in place of the estimator. `graded`
    rewards are `lab.toy.maze_env.progress`, for an estimator that takes real rewards.
    """

    def __init__(
        self,
        policy: MazePolicy,
        stream: MazeStream,
        estimator: str,
        rollouts: int,
        entropy_bonus: float,
        smoothing: float,
        greedy_filter: bool,
        rule: StoppingRule | None = None,
        graded: bool = False,
    ) -> None:
        super().__init__(policy)
        self.graded = graded
        self.rule = rule
        self.spent = RolloutsSpent()
        self.stream = stream
        self.estimator = find_estimator(estimator)
        self.rollouts = rollouts
        self.entropy_bonus = entropy_bonus
        self.smoothing = smoothing
        self.greedy_filter = greedy_filter

    def losses(self, step: int) -> Iterator[torch.Tensor]:
        """The loss of a step in parts that sum to it, one for each of its micro-batches.

        All rollouts are sampled first, because every part is divided by the mean length of all.
        """
        mazes, policy = self.stream.at(step), self.policy
        parts = micro_batches(len(mazes), self.rollouts * policy.length)
        # With one micro-batch the prompts are read once, for sampling and for the gradient.
        single = len(parts) == 1
        with policy.autocast(), torch.set_grad_enabled(single and torch.is_grad_enabled()):
            prompt_logits, prompt_cache = policy.prefill(mazes)
            uniforms = policy.uniforms("rollouts", step, len(mazes), self.rollouts)
            if self.rule is None:
                rollouts = policy.sample_rollouts(
                    prompt_logits, prompt_cache, self.rollouts, uniforms
                )
            else:
                rollouts = sample_until(
                    self.rule, self.model, mazes, prompt_logits, prompt_cache, uniforms
                )
            greedy = None
            if self.greedy_filter:
                greedy = policy.sample_rollouts(prompt_logits, prompt_cache, 1, None)
        paths = walk(mazes, rollouts.tokens)
        right = paths.right
        rewards = progress(mazes, paths) if self.graded else right
        solved = None if greedy is None else walk(mazes, greedy.tokens).right
        mean_length, tokens = rollouts.lengths.float().mean(), rollouts.mask.sum()
        if self.rule is not None:
            drawn = rollouts.mask[:, :, 0].sum(1)
            mean_length = tokens / drawn.sum()
            self.spent.add(drawn)
        weighed = self.weighed(rewards, rollouts, solved)
        scored = []
        for part in parts:
            among = torch.arange(part.start, part.stop, device=policy.device)
            here = among if weighed is None else among[weighed[part]]
            if weighed is not None and len(here) < len(among):
                scored.append(self.left_out(rollouts, among[~weighed[part]]))
                if not len(here):
                    continue
            # Reading the prompts of few mazes again costs less than the gradient of all prompts.
            if not single or 3 * len(here) < 2 * len(mazes):
                with policy.autocast():
                    prompt_logits, prompt_cache = policy.prefill(mazes[here])
            elif len(here) < len(mazes):
                prompt_logits = prompt_logits[here]
                prompt_cache = [(keys[here], values[here]) for keys, values in prompt_cache]
            sampled = rollouts if len(here) == len(mazes) else rollouts.of(here)
            logp, entropy, rows = self.score(prompt_logits, prompt_cache, sampled)
            scored.append(((logp.detach() - sampled.logp.sum(2)).abs(), entropy.detach(), rows))
            mean_logp = logp.detach() / sampled.lengths
            A = self.advantages(rewards[here], mean_logp, None if solved is None else solved[here])
            loss = policy_gradient(logp, A) / mean_length * (len(A) / len(mazes))
            yield loss - self.entropy_bonus * (entropy / tokens)
            # Free the graph of this part before the next one is computed.
            del loss, logp, entropy, prompt_logits, prompt_cache
        self.record_step(right, rewards, rollouts, scored)

    def weighed(
        self,
        rewards: Shaped[torch.Tensor, "mazes rollouts"],
        rollouts: Rollouts,
        solved: Bool[torch.Tensor, "mazes 1"] | None,
    ) -> Bool[torch.Tensor, " mazes"] | None:
        """The mazes whose advantages are not all zero: no other has a part in the gradient.

        None where all count: advantages depend on the scores, every entropy has a gradient, or the
        statistics of a maze that is not scored are unknown, as with a stopping rule.
        At least one maze counts, because the optimizer needs a gradient, if only of zeros.
        """
        if self.smoothing or self.entropy_bonus or rollouts.entropy is None:
            return None
        A = self.advantages(rewards, torch.zeros_like(rollouts.logp[:, :, 0]), solved)
        weighed = (A != 0).any(1)
        weighed[0] |= ~weighed.any()
        return weighed

    def left_out(
        self, rollouts: Rollouts, mazes: Int[torch.Tensor, " mazes"]
    ) -> tuple[Float[torch.Tensor, "mazes rollouts"], Float[torch.Tensor, ""], int]:
        """What `score` would have said of mazes that are not scored, from their sampling."""
        sampled = rollouts.of(mazes)
        assert sampled.entropy is not None  # or `weighed` would have been None
        own = sampled.tokens[:, :, 1:].numel() if sampled.tree is None else len(sampled.tree.tokens)
        rows = len(mazes) + own
        return torch.zeros_like(sampled.logp[:, :, 0]), sampled.entropy.sum(), rows

    def score(
        self,
        prompt_logits: Float[torch.Tensor, "mazes vocabulary"],
        prompt_cache: PromptCache,
        rollouts: Rollouts,
    ) -> tuple[Float[torch.Tensor, "mazes rollouts"], Float[torch.Tensor, ""], int]:
        """Log-probabilities of rollouts, the sum of their token entropies, and the rows computed.

        Gradients flow through the entropy only where there is an entropy bonus.
        """
        with self.policy.autocast():
            logits = rollout_logits(
                self.model,
                prompt_logits,
                prompt_cache,
                rollouts,
                self.policy.attention(prompt_cache),
            )
            rows = logits.log_softmax(-1)
        logp = (rows[rollouts.logit_rows, rollouts.tokens] * rollouts.mask).sum(2)
        entropy = summed_entropy(rows if self.entropy_bonus else rows.detach(), rollouts)
        return logp, entropy, len(rows)

    def advantages(
        self,
        rewards: Shaped[torch.Tensor, "mazes rollouts"],
        mean_logp: Float[torch.Tensor, "mazes rollouts"],
        solved: Bool[torch.Tensor, "mazes 1"] | None,
    ) -> Float[torch.Tensor, "mazes rollouts"]:
        """The estimator's advantages, changed by `smoothing` and `greedy_filter`.

        | argument | shape | meaning |
        |---|---|---|
        | `rewards` | "mazes rollouts" | True for right rollouts; graded rewards |
        | `mean_logp` | "mazes rollouts" | mean log-probability of a rollout's tokens |
        | `solved` | "mazes 1" | True where the greedy answer is right; None without the filter |
        """
        if self.rule is None:
            A = advantages(self.estimator, rewards.float(), check=False)
        else:
            # The loss is a mean over the cap, and a rule's a sum. Rollouts that were not drawn have
            # no tokens, and so no part in it.
            A = (rewards.float() - self.rule.baseline) * self.rollouts
        if self.smoothing:
            A = A - self.smoothing * mean_logp * torch.where(rewards, 1.0, -1.0)
        return A if solved is None else A * ~solved

    def evaluate(self, step: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        metrics, groups = super().evaluate(step)
        return metrics | (self.spent.metrics() if self.rule is not None else {}), groups

    def accumulated(self) -> dict[str, torch.Tensor]:
        spent = self.spent.accumulated() if self.rule is not None else {}
        return super().accumulated() | spent

    def restore_accumulated(self, state: dict[str, torch.Tensor]) -> None:
        super().restore_accumulated(state)
        if self.rule is not None:
            self.spent.restore_accumulated(state)

    def record_step(
        self,
        right: Bool[torch.Tensor, "mazes rollouts"],
        rewards: Shaped[torch.Tensor, "mazes rollouts"],
        rollouts: Rollouts,
        scored: list[tuple[torch.Tensor, torch.Tensor, int]],
    ) -> None:
        """Keep the statistics of a step on the device until the next record.

        `scored` holds for parts of the mazes by how much the log-probabilities of their rollouts
        differ from those of sampling, the sum of their token entropies, and their rows.
        """
        K, tokens = right.sum(1), rollouts.mask.sum()
        drawn = rollouts.mask[:, :, 0].sum(1)
        mismatches, entropies, rows = zip(*scored, strict=True)
        dead = (rewards == rewards[:, :1]).all(1) if self.graded else (K == 0) | (K == drawn)
        graded = {"mean reward": rewards.mean()} if self.graded else {}
        self.step_statistics.append(
            graded
            | {
                "train pass@1": K.sum() / drawn.sum(),
                "solved": (K > 0).float().mean(),
                "dead groups": dead.float().mean(),
                "entropy": torch.stack(entropies).sum() / tokens,
                "mean length": tokens / drawn.sum(),
                "truncated": rollouts.truncated.sum() / drawn.sum(),
                "log-probability mismatch": torch.cat(mismatches).max(),
                "tokens a forward row": tokens / sum(rows),
            }
        )


class MazeExactRL(_WithStatistics):
    """Reinforcement learning on new mazes, from their pass rates: nothing is sampled.

    A mean over tokens needs the length of rollouts, which is not known here: the loss is divided by
    the mean length of the mazes' shortest answers.
    """

    def __init__(
        self, policy: MazePolicy, stream: MazeStream, gradient_source: GradientSource
    ) -> None:
        super().__init__(policy)
        self.stream = stream
        self.gradient_source = gradient_source

    def losses(self, step: int) -> list[torch.Tensor]:
        """The loss of a step. LabError: none of its mazes can be solved within the length."""
        mazes, policy = self.stream.at(step), self.policy
        lengths = (mazes.path >= 0).sum(1) + 1
        solvable = lengths <= policy.length
        if not solvable.any():
            raise LabError(
                f"no maze of step {step} can be solved within length = {policy.length}: the"
                f" shortest answer takes {int(lengths.min())} tokens, so raise length"
            )
        mazes = mazes[solvable]
        with policy.autocast():
            prompt_logits, prompt_cache = policy.prefill(mazes)
            answers = policy.find_right_answers(mazes, prompt_logits, prompt_cache)
            log_p = log_pass_rates(self.model, prompt_logits, prompt_cache, answers)
        seed = stream_seed(policy.seed, "rollouts", step)
        loss = self.gradient_source.loss_of_pass_rates(log_p, seed)
        self.record_step(log_p.detach(), answers)
        return [loss * solvable.float().mean() / lengths.float().mean()]

    def record_step(self, log_p: Float[torch.Tensor, " mazes"], answers: RightAnswers) -> None:
        """Keep the statistics of a step; those of groups are the mean over all draws of N."""
        p, N = log_p.exp().clamp(0, 1), self.gradient_source.rollouts
        none, every = (1 - p) ** N, p**N
        self.step_statistics.append(
            {
                "train pass@1": p.mean(),
                "solved": (1 - none).mean(),
                "dead groups": (none + every).mean(),
                "train log-likelihood": log_p.mean(),
                "unknown share": (1 - answers.low / answers.high).max(),
                "prefixes a maze": answers.prefixes.double().mean(),
            }
        )


def summed_entropy(
    log_probabilities: Float[torch.Tensor, "rows vocabulary"], rollouts: Rollouts
) -> Float[torch.Tensor, ""]:
    """The sum over tokens of the entropy, in nats, of the distribution that each is drawn from."""
    row_entropy = -(log_probabilities.exp() * log_probabilities).sum(1)
    return (row_entropy[rollouts.logit_rows] * rollouts.mask).sum()


def micro_batches(mazes: int, positions: int) -> list[slice]:
    """The mazes of a step in parts of about equal size; each maze has so many `positions`.

    The positions of a maze are its rollouts times their length.

    >>> [part.stop - part.start for part in micro_batches(32, 128 * 48)]
    [16, 16]
    """
    largest = max(1, MICRO_BATCH_POSITIONS // positions)
    parts = -(-mazes // largest)  # rounded up
    size = -(-mazes // parts)
    return [slice(start, min(start + size, mazes)) for start in range(0, mazes, size)]


def preflight(config: MazeConfig) -> list[str]:
    """Check the settings together; returns the header's lines on the objective.

    LabError: they cannot run.
    """
    size, length = config.size, config.length
    prompt = maze_env.prompt_length(maze_env.check_size(size))
    evaluation_set(config, torch.device("cpu"))
    if prompt + length > config.positions:
        raise LabError(
            f"maze: size = {size} makes prompts of {prompt} tokens; with length = {length} they"
            f" exceed positions = {config.positions}: raise positions to {prompt + length}, or take"
            " a smaller size"
        )
    if config.width % 8:
        raise LabError(
            f"maze: width = {config.width} is not a multiple of 8: each of the four heads rotates"
            " pairs of numbers, so use a multiple of 8"
        )
    if config.start_from and not (Path(config.start_from) / "config.json").is_file():
        raise LabError(
            f"maze: start_from = {config.start_from!r} holds no config.json: name a folder that"
            " save_pretrained or lab export wrote"
        )
    if config.rewards == "graded":
        check_graded(config)
    if config.gradient == "sampled":
        chosen = find_estimator(config.estimator)
        chosen.coefficients(config.rollouts)
        lines = [
            f"  {chosen.label} [{chosen.citation}], N = {config.rollouts}",
            f"  rules: {chosen.rules}",
        ]
        if rule := rule_of_training(config.stopping, config.estimator, config.rollouts):
            lines = [f"  {rule.about}"]
            if config.smoothing:
                raise LabError(
                    f"maze: smoothing = {config.smoothing} changes the advantages, which a stopping"
                    " rule gives: set it to 0"
                )
    else:
        lines = GradientSource(
            config.estimator, config.gradient, config.rollouts, config.stopping
        ).describe()
        for key in ("entropy_bonus", "smoothing", "greedy_filter"):
            if getattr(config, key):
                raise LabError(
                    f"maze: {key} = {getattr(config, key)!r} needs rollouts, and gradient ="
                    f" {config.gradient!r} samples none: set {key} to 0, or gradient to 'sampled'"
                )
    lines.append(f"  truncated rollouts (no DONE within {length} tokens) count as wrong")
    exact = config.pass_rates == "exact"
    kind = "certified bounds, no sampling" if exact else f"{config.samples} rollouts a maze"
    lines.append(f"  evaluation: pass rates from {kind}")
    if config.measure == "fit":
        lines.append("  measures fit: the mazes of the evaluation may be trained on")
    return lines


def requirements(config: MazeStartConfig) -> Iterator[tuple[str, str, str]]:
    """What a run needs besides a GPU, for `lab preflight`: (subject, fault or "", remark)."""
    if config.compile_model:
        yield "compiler", compiler_fault(), "found, for torch.compile"


def check_graded(config: MazeConfig) -> None:
    """LabError: a setting that needs right and wrong rollouts, where rewards are graded."""
    needed = {"gradient": "sampled", "stopping": "", "smoothing": 0.0, "greedy_filter": False}
    for name, only in needed.items():
        if (value := getattr(config, name)) != only:
            raise LabError(
                f"maze: {name} = {value!r} needs right and wrong rollouts, and graded rewards have"
                f" none: set {name} to {only!r}, or rewards to 'binary'"
            )
    GradientSource(config.estimator, "sampled", config.rollouts).check_real_rewards()


def train_start(
    config: MazeStartConfig, state: dict[str, Any] | None = None
) -> Iterator[Record | Pause]:
    """Supervised training from random weights (E.1.3).

    AdamW has the official betas 0.9 and 0.95. With `start_from` there are no steps: the result is
    the model in that folder.
    """
    steps, shape = (
        config.start_steps,
        transformer_config(config.width, config.layers, config.positions),
    )
    if config.start_from:
        folder = Path(config.start_from)
        steps, model = 0, read_checkpoint(folder, shape)
        if digest_of_start(folder) != config.start_sha256:
            raise LabError(
                f"maze: start_from = {config.start_from!r} was changed while this run began: start"
                " the run again"
            )
    else:
        model = fresh_transformer(config.seed, shape)
    policy = make_policy(model, config)
    stream = maze_stream(config, config.start_batch, "start", policy.device)
    world = MazeSFT(policy, stream, steps)
    rate = config.start_learning_rate
    optimizer = AdamW(policy.model.parameters(), lr=rate, betas=(0.9, 0.95), weight_decay=0.01)
    yield from run_loop(
        world,
        optimizer,
        lambda step: rate,
        steps,
        config.start_log_every,
        state,
        clip=1.0,
    )


def train(
    config: MazeConfig, state: dict[str, Any] | None, start: dict[str, torch.Tensor]
) -> Iterator[Record | Pause]:
    """Reinforcement learning from the weights in `start`, the last state of `train_start`."""
    policy = load_policy(start, config)
    stream = maze_stream(config, config.batch, "mazes", policy.device)
    world: MazeRL | MazeExactRL
    if config.gradient == "sampled":
        world = MazeRL(
            policy,
            stream,
            config.estimator,
            config.rollouts,
            config.entropy_bonus,
            config.smoothing,
            config.greedy_filter,
            rule_of_training(config.stopping, config.estimator, config.rollouts),
            config.rewards == "graded",
        )
    else:
        gradient_source = GradientSource(config.estimator, config.gradient, config.rollouts)
        world = MazeExactRL(policy, stream, gradient_source)
    rate = config.learning_rate
    optimizer = AdamW(policy.model.parameters(), lr=rate, weight_decay=0.01)
    yield from run_loop(
        world, optimizer, lambda step: rate, config.steps, config.log_every, state, clip=1.0
    )


def budget(config: MazeConfig) -> Budget:
    """What the training needs of a GPU, counted from its own code on fake tensors.

    A captured graph keeps its memory to itself, so the memory of rollouts for training, of those
    for evaluation and of the update adds up; launching its kernels costs the host nothing. Exact
    pass rates are counted as the forward pass over `PREFIXES_A_TOKEN`, whose kernels are launched
    level by level. `tokens` assumes that every rollout takes its full length.
    """
    size, length, batch, rollouts = config.size, config.length, config.batch, config.rollouts
    mazes, samples = config.mazes, config.samples
    sampled, sampled_evaluation = config.gradient == "sampled", config.pass_rates == "sampled"
    shape = transformer_config(config.width, config.layers, config.positions)
    # Without sampling all mazes of a step are one part.
    parts = micro_batches(batch, rollouts * length) if sampled else [slice(0, batch)]

    def blank_policy(length: int) -> _BlankPolicy:
        model = Transformer(shape)
        if config.compile_model:
            model.elementwise = Elementwise().map(as_one_kernel)
        return _BlankPolicy(model, length, config.precision)

    def gradient(world: MazeSFT | MazeRL) -> Transformer:
        for loss in world.losses(0):
            loss.backward()
        return world.model

    def update() -> Transformer:
        if not sampled:
            return read_answers(batch, with_gradient=True)
        stream = _BlankStream(size, parts[0].stop, length)
        return gradient(_BlankRL(blank_policy(length), stream, rollouts))

    def start_step() -> Transformer:
        stream = _BlankStream(size, config.start_batch, length)
        return gradient(MazeSFT(blank_policy(length), stream, 0))

    @torch.no_grad()
    def sample(length: int) -> None:
        policy = blank_policy(length)
        uniforms = policy.uniforms("", 0, batch, rollouts)
        with policy.autocast():
            prompt_logits, prompt_cache = policy.prefill(_blank_mazes(size, batch, length))
            ends = [DONE, EOS]
            arguments = policy.model, prompt_logits, prompt_cache, rollouts, length, ends, uniforms
            sample_rows(*arguments, policy.attention(prompt_cache))

    def read_answers(mazes: int, with_gradient: bool) -> Transformer:
        policy = blank_policy(length)
        with policy.autocast(), torch.set_grad_enabled(with_gradient):
            prompt_logits, prompt_cache = policy.prefill(_blank_mazes(size, mazes, length))
            answers = _blank_answers(mazes, length)
            rows = rollout_logits(policy.model, prompt_logits, prompt_cache, answers)
            logp = rows.log_softmax(-1)
        if with_gradient:
            logp.sum().backward()
        return policy.model

    weights = count(lambda: Transformer(shape)).kept
    start_count, update_count = count(start_step), count(update)
    step, memory = {}, {}
    if sampled or sampled_evaluation:
        rollout_count = _extrapolate(lambda short: count(lambda: sample(short)), length)
    if sampled:
        step["rollouts"] = Work(rollout_count.flops, rollout_count.bytes)
        memory["rollouts in training"] = rollout_count.peak / GIB
    else:
        search = count(lambda: read_answers(batch, with_gradient=False))
        step["right answers"] = Work(search.flops, search.bytes, length * search.launches)
    if sampled_evaluation:
        # Rollouts of an evaluation, at once and in all, for each rollout of a training step.
        at_once = samples * min(mazes, max(1, EVALUATION_ROLLOUTS // samples)) / (batch * rollouts)
        in_all = mazes * samples / (batch * rollouts)
        evaluation = Work(in_all * rollout_count.flops, in_all * rollout_count.bytes)
        memory["rollouts in evaluation"] = at_once * rollout_count.peak / GIB
    else:
        together = min(mazes, EVALUATION_MAZES)
        found = count(lambda: read_answers(together, with_gradient=False))
        blocks = mazes / together
        evaluation = Work(
            blocks * found.flops, blocks * found.bytes, blocks * length * found.launches
        )
        memory["right answers in evaluation"] = (found.peak - weights) / GIB
    scale = batch / parts[0].stop  # only the first micro-batch was counted
    step["update"] = Work(
        scale * update_count.flops,
        scale * update_count.bytes,
        len(parts) * update_count.launches,
    )
    # Every record of the start is a forward pass on the held-out mazes, a third of a step's work;
    # the last is an evaluation as well.
    start_steps = config.start_steps
    start_records = -(-start_steps // config.start_log_every) + 1
    forward = start_records * mazes / config.start_batch / 3
    return Budget(
        memory={
            "CUDA": CONTEXT,
            "AdamW": 2 * weights / GIB,
            "weights, gradients, activations": max(update_count.peak, start_count.peak) / GIB,
        }
        | memory,
        checkpoint=3 * weights / GIB,
        step=step,
        evaluation=evaluation,
        steps=config.steps,
        evaluations=-(-config.steps // config.log_every) + 1,
        start=Work(
            start_count.flops * (start_steps + forward) + evaluation.flops,
            start_count.bytes * (start_steps + forward) + evaluation.bytes,
            start_count.launches * start_steps + evaluation.launches,
        ),
        tokens=batch * rollouts * length if sampled else 0.0,
    )


class _BlankPolicy(MazePolicy):
    """A policy on fake tensors, for counting; its rollouts have a shape but no content."""

    def __init__(self, model: Transformer, length: int, precision: str) -> None:
        self.device = torch.device("cpu")
        self.model = model
        self.length = length
        self.precision = precision

    def attention(self, prompt_cache: PromptCache) -> PromptAttention:
        return attend_fused if self.precision == "bfloat16" else attend

    def uniforms(
        self, stream: str, number: int, mazes: int, rollouts: int
    ) -> Float[torch.Tensor, "_ _ length"]:
        return torch.zeros(mazes, rollouts, self.length)

    def sample_rollouts(
        self,
        prompt_logits: Float[torch.Tensor, "mazes vocabulary"],
        prompt_cache: PromptCache,
        rollouts: int,
        uniforms: Float[torch.Tensor, "mazes rollouts length"] | None,
    ) -> Rollouts:
        tokens = torch.zeros(len(prompt_logits), rollouts, self.length, dtype=torch.int64)
        truncated = torch.zeros(len(prompt_logits), rollouts, dtype=torch.bool)
        return Rollouts(tokens, tokens.bool(), tokens.float(), tokens, truncated, None)


class _BlankStream(MazeStream):
    """Mazes on fake tensors, for counting."""

    def __init__(self, size: int, batch: int, length: int) -> None:
        self.size = size
        self.batch = batch
        self.length = length
        self.measure = "generalisation"

    def at(self, step: int) -> Mazes:
        return _blank_mazes(self.size, self.batch, self.length)


class _BlankRL(MazeRL):
    """Reinforcement learning on fake tensors, for counting."""

    def __init__(self, policy: MazePolicy, stream: MazeStream, rollouts: int) -> None:
        # The estimator is never asked, see below.
        super().__init__(policy, stream, "rloo", rollouts, 0.0, 0.0, False)

    def advantages(
        self,
        rewards: Shaped[torch.Tensor, "mazes rollouts"],
        mean_logp: Float[torch.Tensor, "mazes rollouts"],
        solved: Bool[torch.Tensor, "mazes 1"] | None,
    ) -> Float[torch.Tensor, "mazes rollouts"]:
        # The estimator caches its tables, and must not cache fake ones.
        return rewards.float()


def _blank_mazes(size: int, mazes: int, length: int) -> Mazes:
    """Mazes of the right shape, whose paths with DONE take the full length of a rollout."""
    walls = torch.zeros(mazes, size, size, dtype=torch.bool)
    return Mazes(walls, torch.zeros(mazes, length - 1, dtype=torch.int64))


def _blank_answers(mazes: int, length: int) -> Rollouts:
    """Rollouts with a tree of `PREFIXES_A_TOKEN` but without content."""
    prefixes = PREFIXES_A_TOKEN * length
    numbers = torch.zeros(mazes * prefixes, dtype=torch.int64)
    visible = torch.zeros(mazes * prefixes, prefixes, dtype=torch.bool)
    tree = PrefixTree(numbers, numbers, numbers, numbers, visible)
    tokens = torch.zeros(mazes, 1, length, dtype=torch.int64)
    truncated = torch.zeros(mazes, 1, dtype=torch.bool)
    return Rollouts(tokens, tokens.bool(), tokens.float(), tokens, truncated, tree)


def _extrapolate(count_at: Callable[[int], Counted], length: int) -> Counted:
    """The result of `count_at` at `length`, extrapolated from three short lengths.

    Each token attends to all tokens before it, so traffic and arithmetic grow quadratically with
    the length, and kernels and memory linearly. With still fewer tokens than these lengths have,
    reading the prompts needs the most memory, which does not grow.
    """
    short = (5, 6, 7)
    if length <= max(short):
        return count_at(length)
    counts = [count_at(few) for few in short]
    extrapolated = {}
    for field in fields(Counted):
        values = [getattr(counted, field.name) for counted in counts]
        degree = 2 if field.name in ("bytes", "flops") else 1
        fit = np.polyfit(short[-1 - degree :], values[-1 - degree :], degree)
        extrapolated[field.name] = round(float(np.polyval(fit, length)))
    return Counted(**extrapolated)
