"""The maze world: a transformer learns to write the way through mazes that it has never seen. Floor
2.

Infinite data, no likelihood in closed form (MaxRL, 2602.02710, sections 6.2, E.1 and K): supervised
training on shortest paths from random weights, then reinforcement learning on fresh mazes, one
on-policy step a batch. As in the official code: AdamW with weight decay 0.01, gradients clipped to
norm 1, the loss a mean over tokens. Departures: a rollout ends with DONE, since what follows cannot
change its reward; reinforcement learning in float32 unless asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from lab.budget import CONTEXT, GIB, Budget, Work
from lab.device import compute_device
from lab.errors import LabError
from lab.estimators import advantages
from lab.estimators import estimator as find_estimator
from lab.gpu_counter import Counted, count
from lab.losses import policy_gradient
from lab.metrics import pass_at_k
from lab.records import Pause, Record
from lab.rng import stream_seed
from lab.toy import maze_env
from lab.toy.maze_env import DONE, EOS, OUTCOMES, PAD, UP, MazeStream, Mazes, walk
from lab.toy.training_loop import train as run_loop
from lab.toy.transformer import TransformerConfig, Transformer, fresh_transformer, set_weights
from lab.toy.tree_sampling import (
    CUDAGraphSampler,
    Rollouts,
    rollout_logits,
    sample_rows,
    sample_tree,
)

K_VALUES = (1, 8, 32, 64, 128, 256, 1024, 2048)  # the k of pass@k
EVALUATION_ROLLOUTS = 8192  # rollouts evaluated at once
# Mazes x rollouts x length whose activations are kept for a backward pass at once: 13 to 15 GiB at
# the published width. A constant: what a run computes must not depend on the machine.
MICRO_BATCH_POSITIONS = 2**17


class MazePolicy:
    """A model, the mazes it is examined on, and how it plays."""

    def __init__(
        self,
        model: Transformer,
        held_out_set: Mazes,
        samples: int,
        length: int,
        precision: str,
        seed: int,
    ) -> None:
        self.device = compute_device()
        self.model, self.held_out_set, self.samples, self.length, self.seed = (
            model.to(self.device),
            held_out_set,
            samples,
            length,
            seed,
        )
        self.precision = precision
        self.captured: dict[torch.Size, CUDAGraphSampler] = {}

    def autocast(self):
        """The context of forward passes."""
        if self.precision == "float32":
            return nullcontext()
        # Without a cache of weights in bfloat16: a captured graph would go on reading those of its
        # first step.
        return torch.autocast(self.device.type, torch.bfloat16, cache_enabled=False)

    def prefill(self, mazes: Mazes):
        """Logits after each prompt, and the prompts' keys and values."""
        stream, memory = self.model.prefill(mazes.prompts())
        return self.model.logits(stream[:, -1]), memory

    def sample_rollouts(
        self, first: torch.Tensor, memory: list, rollouts: int, uniforms: torch.Tensor | None
    ) -> Rollouts:
        """`rollouts` of each maze, from what `prefill` gave; without `uniforms` the likeliest."""
        first, memory = first.detach(), [(k.detach(), v.detach()) for k, v in memory]
        sample = sample_tree
        if self.device.type == "cuda":
            sample = (
                sample_rows
                if uniforms is None
                else self.captured.setdefault(uniforms.shape, CUDAGraphSampler())
            )
        return sample(self.model, first, memory, rollouts, self.length, [DONE, EOS], uniforms)

    def uniforms(self, stream: str, number: int, mazes: int, rollouts: int) -> torch.Tensor:
        """Random numbers "mazes rollouts length": a function of the seed, the stream and the
        number.
        """
        generator = torch.Generator(self.device).manual_seed(stream_seed(self.seed, stream, number))
        return torch.rand(mazes, rollouts, self.length, generator=generator, device=self.device)

    @torch.no_grad()
    def evaluate(self) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Pass@k on the held-out mazes from `samples` rollouts each at temperature 1, and how the
        wrong ones end.

        The groups hold, for each maze, n, how many were right, its grid as text, and its most
        frequent right and wrong walk.
        """
        columns: dict[str, list] = {
            key: [] for key in ("right", "grid", "right_walk", "wrong_walk")
        }
        outcomes = torch.zeros(len(OUTCOMES), device=self.device)
        each = max(1, EVALUATION_ROLLOUTS // self.samples)
        for number, first in enumerate(range(0, len(self.held_out_set), each)):
            mazes = self.held_out_set[first : first + each]
            with self.autocast():
                uniforms = self.uniforms("examination", number, len(mazes), self.samples)
                played = self.sample_rollouts(*self.prefill(mazes), self.samples, uniforms)
            walks = walk(mazes, played.tokens)
            outcomes += F.one_hot(walks.outcome, len(OUTCOMES)).float().mean(1).sum(0)
            columns["right"] += walks.right.sum(1).tolist()
            for one in range(len(mazes)):
                columns["grid"].append(as_text(mazes[one : one + 1]))
                for name, wanted in (
                    ("right_walk", walks.right[one]),
                    ("wrong_walk", ~walks.right[one]),
                ):
                    columns[name].append(most_frequent(played.tokens[one][wanted]))
        right = np.array(columns["right"])
        reach = {
            f"pass@{k}": float(pass_at_k(self.samples, right, k).mean())
            for k in K_VALUES
            if k <= self.samples
        }
        ends = {
            name: float(share)
            for name, share in zip(OUTCOMES[1:], outcomes[1:] / len(self.held_out_set), strict=True)
        }
        groups = {"problem": np.arange(len(right)), "n": np.full(len(right), self.samples)}
        return reach | ends, groups | {key: np.array(value) for key, value in columns.items()}

    @torch.no_grad()
    def show(self, number: int, rollouts: int) -> tuple[str, list[str]]:
        """The grid of a held-out maze, and `rollouts` fresh ones in it, as `as_text` and
        `as_letters` write them.
        """
        maze = self.held_out_set[number : number + 1]
        played = self.sample_rollouts(
            *self.prefill(maze), rollouts, self.uniforms("show", number, 1, rollouts)
        )
        return as_text(maze), [as_letters(tokens) for tokens in played.tokens[0].tolist()]


def as_text(maze: Mazes) -> str:
    """One maze as rows of '#' and '.', joined by '/'."""
    return "/".join("".join("#" if wall else "." for wall in row) for row in maze.walls[0].tolist())


def most_frequent(tokens: torch.Tensor) -> str:
    """The most frequent of rollouts "rollouts length", as letters; nothing where there are none."""
    if not len(tokens):
        return ""
    answers, counts = tokens.unique(dim=0, return_counts=True)
    return as_letters(answers[counts.argmax()].tolist())


def as_letters(tokens: list[int]) -> str:
    """A rollout, without the padding after it, as letters U, D, L, R, '.' for DONE and '?' for all
    else.
    """
    letters = {UP: "U", UP + 1: "D", UP + 2: "L", UP + 3: "R", DONE: ".", PAD: " "}
    return "".join(letters.get(token, "?") for token in tokens).rstrip().replace(" ", "?")


class MazeSFT:
    """Training on shortest paths: cross-entropy of the moves, DONE and <eos>, a mean over tokens."""

    def __init__(self, policy: MazePolicy, fresh: MazeStream, last_step: int) -> None:
        self.policy, self.model, self.stream, self.last_step = (
            policy,
            policy.model,
            fresh,
            last_step,
        )

    def losses(self, step: int) -> list[torch.Tensor]:
        return [self.of(self.stream.at(step))]

    def of(self, mazes: Mazes) -> torch.Tensor:
        prompts, answers = mazes.prompts(), mazes.answers()
        with self.policy.autocast():
            stream, _ = self.model.prefill(torch.cat((prompts, answers[:, :-1].int()), 1))
            logits = self.model.logits(stream[:, prompts.shape[1] - 1 :])
        return F.cross_entropy(logits.flatten(0, 1), answers.flatten(), ignore_index=PAD)

    @torch.no_grad()
    def evaluate(self, step: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """The loss on held-out mazes; after the last step also what `MazePolicy.evaluate` measures."""
        metrics, groups = self.policy.evaluate() if step == self.last_step else ({}, {})
        return {"held-out loss": float(self.of(self.policy.held_out_set))} | metrics, groups


class MazeRL:
    """Reinforcement learning on fresh mazes.

    `entropy_bonus` adds that multiple of the mean token entropy; `smoothing` is differential
    smoothing's c (Gai et al. 2511.19942): a right rollout gains and a wrong one loses -c times its
    mean token log-probability; `greedy_filter` is SELF (Nguyen et al. 2510.02230): only mazes whose
    greedy answer is wrong count.
    """

    def __init__(
        self,
        policy: MazePolicy,
        fresh: MazeStream,
        estimator: str,
        rollouts: int,
        entropy_bonus: float,
        smoothing: float,
        greedy_filter: bool,
    ) -> None:
        self.policy, self.model, self.stream = policy, policy.model, fresh
        self.estimate, self.rollouts = find_estimator(estimator), rollouts
        self.entropy_bonus, self.smoothing, self.greedy_filter = (
            entropy_bonus,
            smoothing,
            greedy_filter,
        )
        self.step_statistics: list[dict[str, torch.Tensor]] = []

    def losses(self, step: int) -> Iterator[torch.Tensor]:
        """The loss of a step in parts, each that of some of its mazes: as many as `micro_batches` says.

        All rollouts are sampled first, since the mean length of all is in the loss of each.
        """
        mazes, policy = self.stream.at(step), self.policy
        parts = micro_batches(len(mazes), self.rollouts * policy.length)
        whole = len(parts) == 1
        with policy.autocast(), torch.set_grad_enabled(whole and torch.is_grad_enabled()):
            first, memory = policy.prefill(mazes)
            uniforms = policy.uniforms("rollouts", step, len(mazes), self.rollouts)
            played = policy.sample_rollouts(first, memory, self.rollouts, uniforms)
            greedy = policy.sample_rollouts(first, memory, 1, None) if self.greedy_filter else None
        right = walk(mazes, played.tokens).right
        solved = None if greedy is None else walk(mazes, greedy.tokens).right
        mean_length, tokens = played.lengths.float().mean(), played.mask.sum()
        scored = []
        for some in parts:
            if not whole:
                with policy.autocast():
                    first, memory = policy.prefill(mazes[some])
            part = played if whole else played.part(some.start, some.stop)
            logp, entropy, rows = self.score(first, memory, part)
            scored.append((logp.detach(), entropy.detach(), rows))
            mean_logp = logp.detach() / part.lengths
            A = self.advantages(right[some], mean_logp, None if solved is None else solved[some])
            loss = policy_gradient(logp, A) / mean_length * (len(A) / len(mazes))
            yield loss - self.entropy_bonus * (entropy / tokens)
            del (
                loss,
                logp,
                entropy,
                first,
                memory,
            )  # nothing is kept while the next part is computed
        self.record_step(right, played, scored)

    def score(
        self, first: torch.Tensor, memory: list, played: Rollouts
    ) -> tuple[torch.Tensor, torch.Tensor, int]:
        """Log-probabilities "mazes rollouts", the entropy summed over tokens, and the rows it took.

        Gradients flow through the entropy only where there is a bonus on it.
        """
        with self.policy.autocast():
            rows = rollout_logits(self.model, first, memory, played).log_softmax(-1)
        logp = (rows[played.logit_rows, played.tokens] * played.mask).sum(2)
        return (
            logp,
            summed_entropy(rows if self.entropy_bonus else rows.detach(), played),
            len(rows),
        )

    def advantages(
        self, right: torch.Tensor, mean_logp: torch.Tensor, solved: torch.Tensor | None
    ) -> torch.Tensor:
        """The estimator's, with two changes that no estimator of right and wrong alone can make.

        | argument | shape | meaning |
        |---|---|---|
        | `right` | "mazes rollouts" | boolean |
        | `mean_logp` | "mazes rollouts" | mean log-probability of a rollout's tokens |
        | `solved` | "mazes 1" | boolean: the greedy answer is right; None without the filter |
        """
        A = advantages(self.estimate, right.float(), check=False)
        if self.smoothing:
            A = A - self.smoothing * mean_logp * torch.where(right, 1.0, -1.0)
        return A if solved is None else A * ~solved

    def record_step(
        self,
        right: torch.Tensor,
        played: Rollouts,
        scored: list[tuple[torch.Tensor, torch.Tensor, int]],
    ) -> None:
        """Keep a step's facts on the device until the next record asks; `scored` is by part."""
        K, tokens = right.sum(1), played.mask.sum()
        logps, entropies, rows = zip(*scored, strict=True)
        self.step_statistics.append(
            {
                "train pass@1": right.float().mean(),
                "solved": (K > 0).float().mean(),
                "dead groups": ((K == 0) | (K == self.rollouts)).float().mean(),
                "entropy": torch.stack(entropies).sum() / tokens,
                "mean length": played.lengths.float().mean(),
                "truncated": played.truncated.float().mean(),
                "log-probability mismatch": (torch.cat(logps) - played.logp.sum(2)).abs().max(),
                "tokens a forward row": tokens / sum(rows),
            }
        )

    def evaluate(self, step: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        metrics, groups = self.policy.evaluate()
        if self.step_statistics:
            metrics |= {
                key: float(torch.stack([seen[key] for seen in self.step_statistics]).mean())
                for key in self.step_statistics[0]
            }
        self.step_statistics = []
        return metrics, groups

    def accumulated(self) -> dict[str, torch.Tensor]:
        """The facts of the steps since the last record, "steps" each, numbered in the order of the
        record.
        """
        names = self.step_statistics[0] if self.step_statistics else ()
        return {
            f"seen/{place:02}/{name}": torch.stack([facts[name] for facts in self.step_statistics])
            for place, name in enumerate(names)
        }

    def restore_accumulated(self, state: dict[str, torch.Tensor]) -> None:
        """Go on from what `accumulated` gave."""
        columns = {
            key.split("/", 2)[2]: state[key].to(self.policy.device, copy=True).unbind()
            for key in sorted(state)
            if key.startswith("seen/")
        }
        self.step_statistics = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]


def summed_entropy(rows: torch.Tensor, played: Rollouts) -> torch.Tensor:
    """The sum over tokens said of the entropy, in nats, that they were drawn from."""
    entropy = -(rows.exp() * rows).sum(1)[played.logit_rows]
    return (entropy * played.mask).sum()


def micro_batches(mazes: int, positions: int) -> list[slice]:
    """The mazes of a step in parts of about equal size; `positions` is rollouts times length of
    one.

    >>> [part.stop - part.start for part in micro_batches(32, 128 * 48)]
    [16, 16]
    """
    together = max(1, MICRO_BATCH_POSITIONS // positions)
    each = -(-mazes // -(-mazes // together))
    return [slice(start, min(start + each, mazes)) for start in range(0, mazes, each)]


def preflight(
    *,
    estimator: str,
    rollouts: int,
    size: int,
    positions: int,
    length: int,
    width: int,
    mazes: int,
    **_: Any,
) -> list[str]:
    """Refuse what cannot run; returns the header's lines on the objective."""
    prompt = maze_env.prompt_length(maze_env.check_size(size))
    maze_env.held_out_set(size, mazes, torch.device("cpu"))
    if prompt + length > positions:
        raise LabError(
            f"maze: size = {size} makes prompts of {prompt} tokens; with length = {length} they"
            f" exceed positions = {positions}: raise positions to {prompt + length}, or take a"
            " smaller size"
        )
    if width % 8:
        raise LabError(
            f"maze: width = {width} is not a multiple of 8: four heads turn pairs of numbers"
        )
    chosen = find_estimator(estimator)
    chosen.coefficients(rollouts)
    return [
        f"  {chosen.label} [{chosen.citation}], N = {rollouts}",
        f"  rules: {chosen.rules}",
        f"  truncated rollouts (no DONE within {length} tokens) count as wrong",
    ]


def train_start(
    *,
    size: int,
    width: int,
    layers: int,
    positions: int,
    precision: str,
    length: int,
    mazes: int,
    samples: int,
    start_batch: int,
    start_steps: int,
    start_learning_rate: float,
    start_log_every: int,
    seed: int,
    state: dict[str, Any] | None,
) -> Iterator[Record | Pause]:
    """Supervised training from random weights (E.1.3), AdamW with the official betas 0.9 and 0.95."""
    model = fresh_transformer(seed, transformer_config(width, layers, positions))
    policy = make_policy(model, size, mazes, samples, length, precision, seed)
    world = MazeSFT(
        policy, MazeStream(size, start_batch, seed, "start", policy.device), start_steps
    )
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=start_learning_rate, betas=(0.9, 0.95), weight_decay=0.01
    )
    yield from run_loop(
        world,
        optimizer,
        lambda step: start_learning_rate,
        start_steps,
        start_log_every,
        state,
        clip=1.0,
    )


def train(
    *,
    estimator: str,
    rollouts: int,
    entropy_bonus: float,
    smoothing: float,
    greedy_filter: bool,
    size: int,
    width: int,
    layers: int,
    positions: int,
    precision: str,
    length: int,
    batch: int,
    steps: int,
    learning_rate: float,
    mazes: int,
    samples: int,
    log_every: int,
    seed: int,
    state: dict[str, Any] | None,
    start: dict[str, torch.Tensor],
    **_: Any,
) -> Iterator[Record | Pause]:
    """Reinforcement learning from the weights in `start`, the state of `train_start`'s last record."""
    policy = load_policy(
        start,
        width=width,
        layers=layers,
        positions=positions,
        size=size,
        mazes=mazes,
        samples=samples,
        length=length,
        precision=precision,
        seed=seed,
    )
    world = MazeRL(
        policy,
        MazeStream(size, batch, seed, "mazes", policy.device),
        estimator,
        rollouts,
        entropy_bonus,
        smoothing,
        greedy_filter,
    )
    optimizer = torch.optim.AdamW(policy.model.parameters(), lr=learning_rate, weight_decay=0.01)
    yield from run_loop(
        world, optimizer, lambda step: learning_rate, steps, log_every, state, clip=1.0
    )


def budget(
    *,
    estimator: str,
    rollouts: int,
    size: int,
    width: int,
    layers: int,
    positions: int,
    precision: str,
    length: int,
    batch: int,
    steps: int,
    start_batch: int,
    start_steps: int,
    start_log_every: int,
    mazes: int,
    samples: int,
    log_every: int,
    **_: Any,
) -> Budget:
    """What the training asks of a GPU, from counts of its own code on fake tensors.

    A captured graph keeps its memory to itself, so that rollouts for training, those for evaluation
    and the update add up; its launches cost the host nothing. Evaluations count as their rollouts;
    `tokens` supposes that every rollout takes its whole length.
    """
    shape = transformer_config(width, layers, positions)
    parts = micro_batches(batch, rollouts * length)

    def gradient(world: MazeSFT | MazeRL) -> Transformer:
        for part in world.losses(0):
            part.backward()
        return world.model

    def update() -> Transformer:
        stream = SimpleNamespace(at=lambda step: _blank_mazes(size, parts[0].stop, length))
        policy = _BlankPolicy(Transformer(shape), length, precision)
        world = MazeRL(policy, stream, estimator, rollouts, 0.0, 0.0, False)
        # The estimator keeps its tables, and must not keep fake ones.
        world.advantages = lambda right, mean_logp, solved: right.float()
        return gradient(world)

    def start_step() -> Transformer:
        stream = SimpleNamespace(at=lambda step: _blank_mazes(size, start_batch, length))
        return gradient(MazeSFT(_BlankPolicy(Transformer(shape), length, precision), stream, 0))

    @torch.no_grad()
    def sample(length: int) -> None:
        policy = _BlankPolicy(Transformer(shape), length, precision)
        uniforms = policy.uniforms("", 0, batch, rollouts)
        with policy.autocast():
            first, memory = policy.prefill(_blank_mazes(size, batch, length))
            sample_rows(policy.model, first, memory, rollouts, length, [DONE, EOS], uniforms)

    weights = count(lambda: Transformer(shape)).kept
    begun, trained = count(start_step), count(update)
    played = _extrapolate(lambda few: count(lambda: sample(few)), length)
    together = samples * min(mazes, max(1, EVALUATION_ROLLOUTS // samples)) / (batch * rollouts)
    examined = mazes * samples / (batch * rollouts)
    scale = batch / parts[0].stop  # one part was counted
    evaluation = Work(examined * played.flops, examined * played.bytes)
    # A record of the start is a forward pass on the held-out mazes, the last one an evaluation too.
    forward = (-(-start_steps // start_log_every) + 1) * mazes / start_batch / 3
    return Budget(
        memory={
            "CUDA": CONTEXT,
            "AdamW": 2 * weights / GIB,
            "weights, gradients, activations": max(trained.peak, begun.peak) / GIB,
            "rollouts in training": played.peak / GIB,
            "rollouts in evaluation": together * played.peak / GIB,
        },
        checkpoint=3 * weights / GIB,
        step={
            "rollouts": Work(played.flops, played.bytes),
            "update": Work(
                scale * trained.flops, scale * trained.bytes, len(parts) * trained.launches
            ),
        },
        evaluation=evaluation,
        steps=steps,
        evaluations=-(-steps // log_every) + 1,
        start=Work(
            begun.flops * (start_steps + forward) + evaluation.flops,
            begun.bytes * (start_steps + forward) + evaluation.bytes,
            begun.launches * start_steps,
        ),
        tokens=batch * rollouts * length,
    )


class _BlankPolicy(MazePolicy):
    """A policy on fake tensors, whose rollouts have a shape and no content: to count what it does."""

    def __init__(self, model: Transformer, length: int, precision: str) -> None:
        self.device = torch.device("cpu")
        self.model, self.length, self.precision = model, length, precision

    def uniforms(self, stream: str, number: int, mazes: int, rollouts: int) -> torch.Tensor:
        return torch.zeros(mazes, rollouts, self.length)

    def sample_rollouts(
        self, first: torch.Tensor, memory: list, rollouts: int, uniforms: torch.Tensor | None
    ) -> Rollouts:
        tokens = torch.zeros(len(first), rollouts, self.length, dtype=torch.int64)
        cut = torch.zeros(len(first), rollouts, dtype=torch.bool)
        return Rollouts(tokens, tokens.bool(), tokens.float(), tokens, cut, None)


def _blank_mazes(size: int, mazes: int, length: int) -> Mazes:
    """Mazes of the right shape whose paths take a rollout's whole length, DONE included."""
    walls = torch.zeros(mazes, size, size, dtype=torch.bool)
    return Mazes(walls, torch.zeros(mazes, length - 1, dtype=torch.int64))


def _extrapolate(counted: Callable[[int], Counted], length: int) -> Counted:
    """What `counted` gives at `length`, from three short lengths.

    Each token attends to all before it: traffic and arithmetic grow as the square of the length,
    kernels and memory linearly.
    """
    short = (3, 4, 5)
    if length <= max(short):
        return counted(length)
    seen = [counted(few) for few in short]
    grown = {}
    for field in fields(Counted):
        values = [getattr(one, field.name) for one in seen]
        grown[field.name] = round(np.polyval(np.polyfit(short, values, 2), length))
    return Counted(**grown)


def transformer_config(width: int, layers: int, positions: int) -> TransformerConfig:
    """The published proportions at any width: four heads, two of keys and values, a feed-forward
    four times as wide.
    """
    return TransformerConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        intermediate_size=4 * width,
        max_position_embeddings=positions,
    )


def load_policy(
    state: dict[str, torch.Tensor],
    *,
    width: int,
    layers: int,
    positions: int,
    size: int,
    mazes: int,
    samples: int,
    length: int,
    precision: str,
    seed: int,
    **_: Any,
) -> MazePolicy:
    """The policy that training with these parameters left in `state`."""
    model = Transformer(transformer_config(width, layers, positions))
    set_weights(
        model,
        {
            key.removeprefix("model/"): value
            for key, value in state.items()
            if key.startswith("model/")
        },
        "the start",
    )
    return make_policy(model, size, mazes, samples, length, precision, seed)


def make_policy(
    model: Transformer, size: int, mazes: int, samples: int, length: int, precision: str, seed: int
) -> MazePolicy:
    device = compute_device()
    return MazePolicy(
        model, maze_env.held_out_set(size, mazes, device), samples, length, precision, seed
    )
