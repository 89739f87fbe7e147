"""What makes a step of `lab.toy.maze.MazeRL` cheap: its mazes in parts, and no part of it twice.

- `micro_batches`: no more rollouts at once than fit into a GPU.
- `sample_until`: under a stopping rule only mazes for which something is missing are asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from lab.mathematics.stopping import StoppingRule
from lab.shapes import Float, Int
from lab.toy.maze_env import DONE, EOS, Mazes, walk
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
    count, _, length = uniforms.shape
    device = uniforms.device
    tokens = torch.zeros(uniforms.shape, dtype=torch.int64, device=device)
    mask = torch.zeros_like(tokens, dtype=torch.bool)
    logp = torch.zeros_like(uniforms)
    truncated = torch.zeros_like(mask[:, :, 0])
    right = torch.zeros(count, dtype=torch.int64, device=device)
    # Without a CUDA graph, which would have to be recorded for every number of mazes.
    sample = sample_tree if device.type == "cpu" else sample_rows
    waiting = torch.arange(count, device=device)  # for the rule to be met
    stop = 0
    while len(waiting) and stop < rule.cap:
        # As many again, in whole rounds, and 8 at first.
        start, block = stop, -(-max(stop, 8) // rule.round) * rule.round
        stop = min(start + block, rule.cap)
        numbers = uniforms[waiting, start:stop]
        few = prompts.of(waiting)
        sampled = sample(model, few, stop - start, length, [DONE, EOS], numbers)
        right_in_round = walk(mazes[waiting], sampled.tokens).right.unflatten(1, (-1, rule.round))
        rights = right[waiting, None] + right_in_round.sum(2).cumsum(1)
        drawn = torch.arange(start + rule.round, stop + 1, rule.round, device=device)
        unmet = ~rule.met(rights, drawn - rights)
        # Once met it stays met: the first round after which it is met is the last one that counts.
        rounds = (unmet.sum(1) + 1).clamp(max=len(drawn))
        counts = torch.arange(stop - start, device=device) < rule.round * rounds[:, None]
        tokens[waiting, start:stop] = sampled.tokens * counts[..., None]
        mask[waiting, start:stop] = sampled.mask & counts[..., None]
        logp[waiting, start:stop] = sampled.logp * counts[..., None]
        truncated[waiting, start:stop] = sampled.truncated & counts
        right[waiting] = rights[:, -1]
        waiting = waiting[unmet[:, -1]]
    return replace(share_prefixes(tokens, mask, logp), truncated=truncated)
