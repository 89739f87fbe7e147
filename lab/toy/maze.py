"""The maze world: a transformer learns to solve mazes that it has never seen.

The data are unlimited (MaxRL, 2602.02710, sections 6.2, E.1 and K). Supervised training on shortest
paths, from random weights, comes first; then reinforcement learning on new mazes, one on-policy
step a batch. As in the official code: AdamW with weight decay 0.01, gradients clipped to norm 1,
and a loss that is a mean over tokens. Departures:

- A rollout ends with DONE, because what follows cannot change its reward.
- A rollout with a special token (<pad>, <bos>, <eos>, <unk>) before DONE is wrong. The official
  reward reads decoded text, from which special tokens are left out, so that the moves around them
  count.
- Reinforcement learning runs in float32 unless configured otherwise.
- The paper has no likelihood here. `lab.toy.maze_likelihood` computes it between certified bounds,
  for evaluations and for gradients without sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from lab.budget import CONTEXT, GIB, Budget, Work
from lab.configurations.toy_worlds import MazeConfig, MazeStartConfig
from lab.device import compute_device
from lab.errors import LabError
from lab.estimators import advantages
from lab.estimators import estimator as find_estimator
from lab.gpu_counter import Counted, count
from lab.losses import policy_gradient
from lab.metrics import pass_at_k
from lab.records import Pause, Record
from lab.rng import stream_seed
from lab.shapes import Bool, Float, Int
from lab.stopping import StoppingRule, rule_of_training
from lab.toy import maze_env
from lab.toy.maze_env import DONE, EOS, OUTCOMES, PAD, UP, Mazes, MazeStream, walk
from lab.toy.maze_likelihood import RightAnswers, find_right_answers, log_pass_rates
from lab.toy.maze_stopping import sample_until
from lab.toy.optimizers import AdamW
from lab.toy.stopped_sampling import RolloutsSpent
from lab.toy.training_loop import GradientSource
from lab.toy.training_loop import train as run_loop
from lab.toy.transformer import (
    PromptCache,
    Transformer,
    TransformerConfig,
    fresh_transformer,
    load,
    set_weights,
)
from lab.toy.tree_sampling import (
    CUDAGraphSampler,
    Rollouts,
    rollout_logits,
    sample_rows,
    sample_tree,
)

K_VALUES = (1, 8, 32, 64, 128, 256, 1024, 2048)  # of pass@k
EVALUATION_ROLLOUTS = 8192  # with one draw of random numbers
# Of a maze, sampled at once on a CPU: every prefix attends to all prefixes of its maze, so the cost
# of a maze grows with the square of this number.
EVALUATION_BLOCK = 128
EVALUATION_MAZES = 16  # whose exact pass rates are found at once
# Of a micro-batch: mazes times rollouts times length. At the published width their activations take
# 13 to 15 GiB. This is a constant because a run's results must not depend on the machine.
MICRO_BATCH_POSITIONS = 2**17


class MazePolicy:
    """A model with the mazes of its evaluations and the settings with which it samples.

    `pass_rates` and `tolerance` are those of `MazeStartConfig`.
    """

    def __init__(
        self,
        model: Transformer,
        evaluation_set: Mazes,
        samples: int,
        length: int,
        precision: str,
        seed: int,
        pass_rates: str = "sampled",
        tolerance: float = 0.01,
    ) -> None:
        self.device = compute_device()
        self.model = model.to(self.device)
        self.evaluation_set = evaluation_set
        self.samples = samples
        self.length = length
        self.precision = precision
        self.seed = seed
        self.pass_rates = pass_rates
        self.tolerance = tolerance
        self.graph_samplers: dict[torch.Size, CUDAGraphSampler] = {}

    def autocast(self) -> AbstractContextManager[Any]:
        """The context of forward passes: bfloat16 where `precision` says so."""
        if self.precision == "float32":
            return nullcontext()
        # No cache of weights in bfloat16: a captured graph would keep reading those of its first
        # step.
        return torch.autocast(self.device.type, torch.bfloat16, cache_enabled=False)

    def prefill(self, mazes: Mazes) -> tuple[Float[torch.Tensor, "mazes vocabulary"], PromptCache]:
        """Logits after each prompt, and the prompts' keys and values."""
        hidden, prompt_cache = self.model.prefill(mazes.prompts())
        return self.model.logits(hidden[:, -1]), prompt_cache

    def sample_rollouts(
        self,
        prompt_logits: Float[torch.Tensor, "mazes vocabulary"],
        prompt_cache: PromptCache,
        rollouts: int,
        uniforms: Float[torch.Tensor, "mazes rollouts length"] | None,
    ) -> Rollouts:
        """Sample `rollouts` of each maze after `prefill`; greedily where `uniforms` is None."""
        prompt_logits = prompt_logits.detach()
        prompt_cache = [(keys.detach(), values.detach()) for keys, values in prompt_cache]
        ends = [DONE, EOS]
        if self.device.type != "cuda":
            return sample_tree(
                self.model, prompt_logits, prompt_cache, rollouts, self.length, ends, uniforms
            )
        if uniforms is None:
            return sample_rows(
                self.model, prompt_logits, prompt_cache, rollouts, self.length, ends, None
            )
        sampler = self.graph_samplers.setdefault(uniforms.shape, CUDAGraphSampler())
        return sampler(
            self.model, prompt_logits, prompt_cache, rollouts, self.length, ends, uniforms
        )

    def uniforms(
        self, stream: str, number: int, mazes: int, rollouts: int
    ) -> Float[torch.Tensor, "_ _ length"]:
        """Random numbers for `sample_rollouts`, a function of the seed, the stream and `number`."""
        generator = torch.Generator(self.device).manual_seed(stream_seed(self.seed, stream, number))
        return torch.rand(mazes, rollouts, self.length, generator=generator, device=self.device)

    def find_right_answers(
        self,
        mazes: Mazes,
        prompt_logits: Float[torch.Tensor, "mazes vocabulary"],
        prompt_cache: PromptCache,
    ) -> RightAnswers:
        """The right answers of each maze, up to `tolerance`, after `prefill`."""
        return find_right_answers(
            self.model, mazes, prompt_logits, prompt_cache, self.length, self.tolerance
        )

    def evaluate(self) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """`evaluate_exactly` or `evaluate_by_sampling`, as `pass_rates` says."""
        return (
            self.evaluate_exactly() if self.pass_rates == "exact" else self.evaluate_by_sampling()
        )

    @torch.no_grad()
    def evaluate_exactly(self) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Pass@k and log-likelihood from the pass rates themselves, at temperature 1.

        Both are those of the lower bound. "unknown pass@k" is by how much the upper bound exceeds
        it at most, over k; "log-likelihood" is the mean of log p over the mazes that can be solved
        within the length, of all and of those with a shortest path of so many moves. The groups
        hold for each maze both bounds, how much of the lower one is the probability of a shortest
        path, the moves of that path, and the grid as text.
        """
        columns: dict[str, list[Any]] = {
            key: [] for key in ("pass_rate", "pass_rate_high", "shortest_path_share", "prefixes")
        }
        columns |= {"moves": [], "grid": []}
        for first in range(0, len(self.evaluation_set), EVALUATION_MAZES):
            mazes = self.evaluation_set[first : first + EVALUATION_MAZES]
            with self.autocast():
                answers = self.find_right_answers(mazes, *self.prefill(mazes))
            share = answers.shortest / answers.low.clamp_min(torch.finfo(torch.float64).tiny)
            columns["pass_rate"] += answers.low.tolist()
            columns["pass_rate_high"] += answers.high.tolist()
            columns["shortest_path_share"] += share.clamp_max(1.0).tolist()
            columns["prefixes"] += answers.prefixes.tolist()
            columns["grid"] += [as_text(mazes[index : index + 1]) for index in range(len(mazes))]
            columns["moves"] += (mazes.path >= 0).sum(1).tolist()
        groups = {"problem": np.arange(len(self.evaluation_set))}
        groups |= {key: np.array(values) for key, values in columns.items()}
        low, high = groups["pass_rate"], groups["pass_rate_high"]
        metrics = {f"pass@{k}": exact_pass_at_k(low, k) for k in K_VALUES}
        gaps = [exact_pass_at_k(high, k) - metrics[f"pass@{k}"] for k in K_VALUES]
        metrics["unknown pass@k"] = max(gaps)
        log_p, moves = np.log(low[low > 0]), groups["moves"][low > 0]
        if len(log_p):
            metrics["log-likelihood"] = float(log_p.mean())
        for distance in np.unique(moves).tolist():
            metrics[f"log-likelihood, {distance} moves"] = float(log_p[moves == distance].mean())
        return metrics, groups

    @torch.no_grad()
    def evaluate_by_sampling(self) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Pass@k from rollouts, and the shares of the ways to be wrong.

        Each maze gets `samples` rollouts at temperature 1. The groups hold for each maze n, the
        number of right rollouts, the grid as text, and the most frequent right and wrong path.
        """
        columns: dict[str, list[Any]] = {
            key: [] for key in ("right", "grid", "right_walk", "wrong_walk")
        }
        outcome_sums = torch.zeros(len(OUTCOMES), device=self.device)
        batch = max(1, EVALUATION_ROLLOUTS // self.samples)
        block = EVALUATION_BLOCK if self.device.type == "cpu" else self.samples
        for number, first in enumerate(range(0, len(self.evaluation_set), batch)):
            mazes = self.evaluation_set[first : first + batch]
            with self.autocast():
                # The stream's name is part of the random numbers and must stay as it is.
                uniforms = self.uniforms("examination", number, len(mazes), self.samples)
                prompts = self.prefill(mazes)
                blocks = [
                    self.sample_rollouts(*prompts, part.shape[1], part).tokens
                    for part in uniforms.split(block, 1)
                ]
            tokens = torch.cat(blocks, 1)
            paths = walk(mazes, tokens)
            outcome_sums += F.one_hot(paths.outcome, len(OUTCOMES)).float().mean(1).sum(0)
            columns["right"] += paths.right.sum(1).tolist()
            for index in range(len(mazes)):
                said, right = tokens[index], paths.right[index]
                columns["grid"].append(as_text(mazes[index : index + 1]))
                columns["right_walk"].append(most_frequent(said[right]))
                columns["wrong_walk"].append(most_frequent(said[~right]))
        counts = np.array(columns["right"])
        pass_at_k_means = {
            f"pass@{k}": float(pass_at_k(self.samples, counts, k).mean())
            for k in K_VALUES
            if k <= self.samples
        }
        shares = outcome_sums[1:] / len(self.evaluation_set)
        wrong_shares = {
            name: float(share) for name, share in zip(OUTCOMES[1:], shares, strict=True)
        }
        groups = {"problem": np.arange(len(counts)), "n": np.full(len(counts), self.samples)}
        groups |= {key: np.array(values) for key, values in columns.items()}
        return pass_at_k_means | wrong_shares, groups

    @torch.no_grad()
    def show(self, number: int, rollouts: int) -> tuple[str, list[str]]:
        """The grid of a maze of the evaluation and new rollouts in it, as text for a reader.

        The formats are those of `as_text` and `as_letters`.
        """
        maze = self.evaluation_set[number : number + 1]
        uniforms = self.uniforms("show", number, 1, rollouts)
        sampled = self.sample_rollouts(*self.prefill(maze), rollouts, uniforms)
        return as_text(maze), [as_letters(tokens) for tokens in sampled.tokens[0].tolist()]


def exact_pass_at_k(p: Float[np.ndarray, " mazes"], k: int) -> float:
    """The mean over mazes of 1-(1-p)^k."""
    return float(-np.expm1(k * np.log1p(-p.clip(max=1 - 1e-15))).mean())


def as_text(maze: Mazes) -> str:
    """One maze as rows of '#' and '.', joined by '/'."""
    rows = maze.walls[0].tolist()
    return "/".join("".join("#" if wall else "." for wall in row) for row in rows)


def most_frequent(tokens: Int[torch.Tensor, "rollouts length"]) -> str:
    """The most frequent of some rollouts, as letters; empty where there are none."""
    if not len(tokens):
        return ""
    answers, counts = tokens.unique(dim=0, return_counts=True)
    return as_letters(answers[counts.argmax()].tolist())


def as_letters(tokens: list[int]) -> str:
    """A rollout as the letters U, D, L and R, '.' for DONE and '?' for any other token.

    The padding after it is left out.
    """
    letters = {UP: "U", UP + 1: "D", UP + 2: "L", UP + 3: "R", DONE: ".", PAD: " "}
    # Padding between other tokens is an error of the model, and stays visible as '?'.
    return "".join(letters.get(token, "?") for token in tokens).rstrip().replace(" ", "?")


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
    `rule`, `rollouts` is its cap, and it gives the advantages in place of the estimator.
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
    ) -> None:
        super().__init__(policy)
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
        right = walk(mazes, rollouts.tokens).right
        solved = None if greedy is None else walk(mazes, greedy.tokens).right
        mean_length, tokens = rollouts.lengths.float().mean(), rollouts.mask.sum()
        if self.rule is not None:
            drawn = rollouts.mask[:, :, 0].sum(1)
            mean_length = tokens / drawn.sum()
            self.spent.add(drawn)
        scored = []
        for part in parts:
            if not single:
                with policy.autocast():
                    prompt_logits, prompt_cache = policy.prefill(mazes[part])
            sampled = rollouts if single else rollouts.part(part.start, part.stop)
            logp, entropy, rows = self.score(prompt_logits, prompt_cache, sampled)
            scored.append((logp.detach(), entropy.detach(), rows))
            mean_logp = logp.detach() / sampled.lengths
            A = self.advantages(right[part], mean_logp, None if solved is None else solved[part])
            loss = policy_gradient(logp, A) / mean_length * (len(A) / len(mazes))
            yield loss - self.entropy_bonus * (entropy / tokens)
            # Free the graph of this part before the next one is computed.
            del loss, logp, entropy, prompt_logits, prompt_cache
        self.record_step(right, rollouts, scored)

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
            logits = rollout_logits(self.model, prompt_logits, prompt_cache, rollouts)
            rows = logits.log_softmax(-1)
        logp = (rows[rollouts.logit_rows, rollouts.tokens] * rollouts.mask).sum(2)
        entropy = summed_entropy(rows if self.entropy_bonus else rows.detach(), rollouts)
        return logp, entropy, len(rows)

    def advantages(
        self,
        right: Bool[torch.Tensor, "mazes rollouts"],
        mean_logp: Float[torch.Tensor, "mazes rollouts"],
        solved: Bool[torch.Tensor, "mazes 1"] | None,
    ) -> Float[torch.Tensor, "mazes rollouts"]:
        """The estimator's advantages, changed by `smoothing` and `greedy_filter`.

        | argument | shape | meaning |
        |---|---|---|
        | `right` | "mazes rollouts" | True for right rollouts |
        | `mean_logp` | "mazes rollouts" | mean log-probability of a rollout's tokens |
        | `solved` | "mazes 1" | True where the greedy answer is right; None without the filter |
        """
        if self.rule is None:
            A = advantages(self.estimator, right.float(), check=False)
        else:
            # The loss is a mean over the cap, and a rule's a sum. Rollouts that were not drawn have
            # no tokens, and so no part in it.
            A = (right.float() - self.rule.baseline) * self.rollouts
        if self.smoothing:
            A = A - self.smoothing * mean_logp * torch.where(right, 1.0, -1.0)
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
        rollouts: Rollouts,
        scored: list[tuple[torch.Tensor, torch.Tensor, int]],
    ) -> None:
        """Keep the statistics of a step on the device until the next record.

        `scored` holds what `score` returned for each micro-batch.
        """
        K, tokens = right.sum(1), rollouts.mask.sum()
        drawn = rollouts.mask[:, :, 0].sum(1)
        logps, entropies, rows = zip(*scored, strict=True)
        self.step_statistics.append(
            {
                "train pass@1": K.sum() / drawn.sum(),
                "solved": (K > 0).float().mean(),
                "dead groups": ((K == 0) | (K == drawn)).float().mean(),
                "entropy": torch.stack(entropies).sum() / tokens,
                "mean length": tokens / drawn.sum(),
                "truncated": rollouts.truncated.sum() / drawn.sum(),
                "log-probability mismatch": (torch.cat(logps) - rollouts.logp.sum(2)).abs().max(),
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
            " save_pretrained wrote"
        )
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
    if config.pass_rates == "exact":
        lines.append("  evaluation: pass rates between certified bounds, no sampling")
    if config.measure == "fit":
        lines.append("  measures fit: the mazes of the evaluation may be trained on")
    return lines


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
        steps, model = 0, _loaded(Path(config.start_from), shape)
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
    for evaluation and of the update adds up; launching its kernels costs the host nothing. An
    evaluation counts as its rollouts. `tokens` assumes that every rollout takes its full length.
    """
    size, length, batch, rollouts = config.size, config.length, config.batch, config.rollouts
    mazes, samples = config.mazes, config.samples
    shape = transformer_config(config.width, config.layers, config.positions)
    parts = micro_batches(batch, rollouts * length)

    def blank_policy(length: int) -> _BlankPolicy:
        return _BlankPolicy(Transformer(shape), length, config.precision)

    def gradient(world: MazeSFT | MazeRL) -> Transformer:
        for loss in world.losses(0):
            loss.backward()
        return world.model

    def update() -> Transformer:
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
            sample_rows(policy.model, prompt_logits, prompt_cache, rollouts, length, ends, uniforms)

    weights = count(lambda: Transformer(shape)).kept
    start_count, update_count = count(start_step), count(update)
    rollout_count = _extrapolate(lambda short: count(lambda: sample(short)), length)
    # Rollouts of an evaluation, at once and in all, for each rollout of a training step.
    at_once = samples * min(mazes, max(1, EVALUATION_ROLLOUTS // samples)) / (batch * rollouts)
    in_all = mazes * samples / (batch * rollouts)
    scale = batch / parts[0].stop  # only the first micro-batch was counted
    evaluation = Work(in_all * rollout_count.flops, in_all * rollout_count.bytes)
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
            "rollouts in training": rollout_count.peak / GIB,
            "rollouts in evaluation": at_once * rollout_count.peak / GIB,
        },
        checkpoint=3 * weights / GIB,
        step={
            "rollouts": Work(rollout_count.flops, rollout_count.bytes),
            "update": Work(
                scale * update_count.flops,
                scale * update_count.bytes,
                len(parts) * update_count.launches,
            ),
        },
        evaluation=evaluation,
        steps=config.steps,
        evaluations=-(-config.steps // config.log_every) + 1,
        start=Work(
            start_count.flops * (start_steps + forward) + evaluation.flops,
            start_count.bytes * (start_steps + forward) + evaluation.bytes,
            start_count.launches * start_steps,
        ),
        tokens=batch * rollouts * length,
    )


class _BlankPolicy(MazePolicy):
    """A policy on fake tensors, for counting; its rollouts have a shape but no content."""

    def __init__(self, model: Transformer, length: int, precision: str) -> None:
        self.device = torch.device("cpu")
        self.model = model
        self.length = length
        self.precision = precision

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
        right: Bool[torch.Tensor, "mazes rollouts"],
        mean_logp: Float[torch.Tensor, "mazes rollouts"],
        solved: Bool[torch.Tensor, "mazes 1"] | None,
    ) -> Float[torch.Tensor, "mazes rollouts"]:
        # The estimator caches its tables, and must not cache fake ones.
        return right.float()


def _blank_mazes(size: int, mazes: int, length: int) -> Mazes:
    """Mazes of the right shape, whose paths with DONE take the full length of a rollout."""
    walls = torch.zeros(mazes, size, size, dtype=torch.bool)
    return Mazes(walls, torch.zeros(mazes, length - 1, dtype=torch.int64))


def _extrapolate(count_at: Callable[[int], Counted], length: int) -> Counted:
    """The result of `count_at` at `length`, extrapolated from three short lengths.

    Each token attends to all tokens before it, so traffic and arithmetic grow quadratically with
    the length, and kernels and memory linearly.
    """
    short = (3, 4, 5)
    if length <= max(short):
        return count_at(length)
    counts = [count_at(few) for few in short]
    extrapolated = {}
    for field in fields(Counted):
        values = [getattr(counted, field.name) for counted in counts]
        extrapolated[field.name] = round(float(np.polyval(np.polyfit(short, values, 2), length)))
    return Counted(**extrapolated)


def transformer_config(width: int, layers: int, positions: int) -> TransformerConfig:
    """The published proportions at any width.

    There are four heads, two of them with keys and values, and the feed-forward network is four
    times as wide as the model.
    """
    return TransformerConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        intermediate_size=4 * width,
        max_position_embeddings=positions,
    )


def load_policy(state: dict[str, torch.Tensor], config: MazeStartConfig) -> MazePolicy:
    """The policy whose weights are in `state`, the state of a training with these settings."""
    model = Transformer(transformer_config(config.width, config.layers, config.positions))
    weights = {
        key.removeprefix("model/"): value
        for key, value in state.items()
        if key.startswith("model/")
    }
    set_weights(model, weights, "the start")
    return make_policy(model, config)


def make_policy(model: Transformer, config: MazeStartConfig) -> MazePolicy:
    """A policy with the mazes of its evaluations on the computing device."""
    return MazePolicy(
        model,
        evaluation_set(config, compute_device()),
        config.samples,
        config.length,
        config.precision,
        config.seed,
        config.pass_rates,
        config.tolerance,
    )


def evaluation_set(config: MazeStartConfig, device: torch.device) -> Mazes:
    """The mazes of the evaluations of a training with these settings."""
    chosen = maze_env.any_set if config.measure == "fit" else maze_env.held_out_set
    return chosen(config.size, config.mazes, device, config.loops)


def maze_stream(
    config: MazeStartConfig, batch: int, stream: str, device: torch.device
) -> MazeStream:
    """The mazes that a training with these settings sees, `batch` a step."""
    return MazeStream(config.size, batch, config.seed, stream, device, config.loops, config.measure)


def _loaded(folder: Path, shape: TransformerConfig) -> Transformer:
    """The model in a folder. LabError: it has another shape."""
    model = load(folder)
    if model.config != shape:
        raise LabError(
            f"{folder} holds {model.config}, and the settings ask for {shape}: set width, layers"
            " and positions to those of the folder"
        )
    return model
