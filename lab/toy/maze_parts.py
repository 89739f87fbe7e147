"""What makes a step of `lab.toy.maze.MazeRL` cheap: its mazes in parts, and no part of it twice.

- `micro_batches`: no more rollouts at once than fit into a GPU.
- `StepPrompts`: prompts are read once for sampling and gradient where that is cheaper.
- `Scores.of_parts`: mazes without a part in the gradient are not scored.
- `sample_until`: under a stopping rule only mazes for which something is missing are asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from lab.mathematics.stopping import StoppingRule
from lab.shapes import Bool, Float, Int
from lab.toy.maze_env import DONE, EOS, Mazes, walk
from lab.toy.maze_policy import MazePolicy
from lab.toy.transformer import Prompts, Transformer
from lab.toy.tree_sampling import Rollouts, sample_rows, sample_tree, share_prefixes

# Of a micro-batch: mazes times rollouts times length. At the published width their activations take
# 7 to 8 GiB. This is a constant because a run's results must not depend on the machine.
MICRO_BATCH_POSITIONS = 2**17


def micro_batches(
    mazes: int, positions: int, device: torch.device | str = "cpu"
) -> Sequence[Int[Tensor, " part"]]:
    """The numbers of a step's mazes, in parts of about equal size.

    Each maze has so many `positions`: its rollouts times their length.

    >>> [len(part) for part in micro_batches(32, 128 * 48)]
    [16, 16]
    """
    largest = max(1, MICRO_BATCH_POSITIONS // positions)
    parts = -(-mazes // largest)  # rounded up
    return torch.arange(mazes, device=device).split(-(-mazes // parts))


class StepPrompts:
    """The prompts of a step's mazes, `read`.

    With one micro-batch, prompts are read `once`: for sampling and for the gradient.
    """

    def __init__(self, policy: MazePolicy, mazes: Mazes, once: bool) -> None:
        self.policy = policy
        self.mazes = mazes
        self.once = once
        with torch.set_grad_enabled(once and torch.is_grad_enabled()):
            self.read = policy.read(mazes)

    def of(self, chosen: Int[Tensor, " chosen"]) -> Prompts:
        """The prompts of some mazes, with their autograd graph."""
        # Reading the prompts of few mazes again costs less than the gradient of all prompts.
        few = 3 * len(chosen) < 2 * len(self.mazes)
        if few or not self.once:
            return self.policy.read(self.mazes[chosen])
        every = len(chosen) == len(self.mazes)
        return self.read if every else self.read.of(chosen)


class Scores:
    """The statistics of a step's rollouts as they are scored, beside what sampling said of them."""

    def __init__(self, rollouts: Rollouts) -> None:
        self.rollouts = rollouts
        # By how much log-probabilities differ from those of sampling, "mazes rollouts".
        self.mismatch = torch.zeros_like(rollouts.logp[:, :, 0])
        self.entropies: list[Tensor] = []  # sums over tokens, each of which counts once

    def of_parts(
        self, parts: Sequence[Int[Tensor, " part"]], in_gradient: Bool[Tensor, " mazes"]
    ) -> Iterator[Int[Tensor, " chosen"]]:
        """The mazes of each part that are to be scored, where there are any.

        The others need no forward pass: what it would have said of them is what sampling said.
        """
        for part in parts:
            counts = in_gradient[part]
            if not counts.all():
                assert self.rollouts.entropy is not None  # or all would count
                self.entropies.append(self.rollouts.entropy[part[~counts]].sum())
            if counts.any():
                yield part[counts]

    def add(
        self,
        chosen: Int[Tensor, " chosen"],
        logp: Float[Tensor, "chosen rollouts"],
        entropy: Float[Tensor, ""],
    ) -> None:
        """Take in the scores of some mazes: `MazePolicy.score`, without a graph."""
        self.mismatch[chosen] = (logp - self.rollouts.logp[chosen].sum(2)).abs()
        self.entropies.append(entropy)


@torch.no_grad()
def sample_until(
    rule: StoppingRule,
    model: Transformer,
    mazes: Mazes,
    prompts: Prompts,
    uniforms: Float[Tensor, "mazes cap length"],
) -> Rollouts:
    """Rollouts of each maze, at most the rule's cap; those not drawn have no tokens.

    Rollout i of a maze is a function of its own random numbers, so it is the one that it would be
    if all were drawn at once. So many are drawn together, and those after the rule was met are
    dropped: that costs less than a forward pass for each.
    """
    shape, device = uniforms.shape, uniforms.device
    tokens = torch.zeros(shape, dtype=torch.int64, device=device)
    mask = torch.zeros(shape, dtype=torch.bool, device=device)
    logp = torch.zeros(shape, device=device)
    truncated = torch.zeros(shape[:2], dtype=torch.bool, device=device)
    right = torch.zeros(len(mazes), dtype=torch.int64, device=device)
    # Without a CUDA graph, which would have to be recorded for every number of mazes.
    sample = sample_tree if device.type == "cpu" else sample_rows
    asked = torch.arange(len(mazes), device=device)
    stop = 0
    while len(asked) and stop < rule.cap:
        start, stop = stop, min(stop + _block(rule, stop), rule.cap)
        arguments = model, prompts.of(asked), stop - start, shape[2], [DONE, EOS]
        sampled = sample(*arguments, uniforms[asked, start:stop])
        right_in_round = walk(mazes[asked], sampled.tokens).right.unflatten(1, (-1, rule.round))
        rights = right[asked, None] + right_in_round.sum(2).cumsum(1)
        drawn = torch.arange(start + rule.round, stop + 1, rule.round, device=device)
        waiting = ~rule.met(rights, drawn - rights)
        # Once met it stays met: the first round after which it is met is the last one that counts.
        rounds = (waiting.sum(1) + 1).clamp(max=len(drawn))
        counts = torch.arange(stop - start, device=device) < rule.round * rounds[:, None]
        tokens[asked, start:stop] = sampled.tokens * counts[..., None]
        mask[asked, start:stop] = sampled.mask & counts[..., None]
        logp[asked, start:stop] = sampled.logp * counts[..., None]
        truncated[asked, start:stop] = sampled.truncated & counts
        right[asked] = rights[:, -1]
        asked = asked[waiting[:, -1]]
    return replace(share_prefixes(tokens, mask, logp), truncated=truncated)


def _block(rule: StoppingRule, drawn: int) -> int:
    """How many rollouts to draw after `drawn`: as many again, in whole rounds, and 8 at first."""
    return -(-max(drawn, 8) // rule.round) * rule.round
