"""What makes a step of `lab.toy.maze.MazeRL` cheap: its mazes in parts, and no part of it twice.

- `micro_batches`: no more rollouts at once than fit into a GPU.
- `StepPrompts`: prompts are read once for sampling and gradient where that is cheaper.
- `Scores.of_parts`: mazes without a part in the gradient are not scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from lab.shapes import Bool, Float, Int
from lab.toy.maze_env import Mazes
from lab.toy.maze_policy import MazePolicy
from lab.toy.transformer import Prompts
from lab.toy.tree_sampling import Rollouts

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
    """The statistics of a step's rollouts as they are scored, beside what sampling said of them.

    | field | shape | meaning |
    |---|---|---|
    | `mismatch` | "mazes rollouts" | by how much log-probabilities differ from those of sampling |
    | `entropies` | "" each | the sums over some tokens of their entropy, all together each once |
    """

    def __init__(self, rollouts: Rollouts) -> None:
        self.rollouts = rollouts
        self.mismatch = torch.zeros_like(rollouts.logp[:, :, 0])
        self.entropies: list[Tensor] = []

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
