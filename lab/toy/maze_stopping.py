"""Rollouts of mazes until a stopping rule is met, in blocks through the tree of prefixes.

Each block asks only the mazes for which something is missing. Rollout i of a maze is a function of
its own random numbers, so it is the one that it would be if all were drawn at once: a block may
hold many rounds, and those after the rule was met are dropped as if they had never been drawn. That
costs less than a forward pass for each rollout.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from lab.mathematics.stopping import StoppingRule
from lab.shapes import Float
from lab.toy.maze_env import DONE, EOS, Mazes, walk
from lab.toy.transformer import Prompts, Transformer
from lab.toy.tree_sampling import Rollouts, sample_rows, sample_tree, share_prefixes


@torch.no_grad()
def sample_until(
    rule: StoppingRule,
    model: Transformer,
    mazes: Mazes,
    prompts: Prompts,
    uniforms: Float[Tensor, "mazes cap length"],
) -> Rollouts:
    """Rollouts of each maze, at most the rule's cap; those not drawn have no tokens."""
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
        sampled = sample(
            model,
            prompts.of(asked),
            stop - start,
            shape[2],
            [DONE, EOS],
            uniforms[asked, start:stop],
        )
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
