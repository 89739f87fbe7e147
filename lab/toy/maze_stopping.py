"""Rollouts of mazes until a stopping rule is content, in rounds through the tree of prefixes.

Each round asks only the mazes for which something is missing. Rollout i of a maze is a function of
its own random numbers, so it is the one that it would be if all were drawn at once.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from lab.shapes import Float
from lab.stopping import StoppingRule
from lab.toy.maze_env import DONE, EOS, Mazes, walk
from lab.toy.transformer import PromptCache, Transformer
from lab.toy.tree_sampling import Rollouts, sample_rows, sample_tree, share_prefixes


@torch.no_grad()
def sample_until(
    rule: StoppingRule,
    model: Transformer,
    mazes: Mazes,
    prompt_logits: Float[torch.Tensor, "mazes vocabulary"],
    prompt_cache: PromptCache,
    uniforms: Float[torch.Tensor, "mazes cap length"],
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
    for start in range(0, rule.cap, rule.round):
        drawn = start + rule.round
        sampled = sample(
            model,
            prompt_logits[asked],
            [(keys[asked], values[asked]) for keys, values in prompt_cache],
            rule.round,
            shape[2],
            [DONE, EOS],
            uniforms[asked, start:drawn],
        )
        tokens[asked, start:drawn] = sampled.tokens
        mask[asked, start:drawn] = sampled.mask
        logp[asked, start:drawn] = sampled.logp
        truncated[asked, start:drawn] = sampled.truncated
        right[asked] += walk(mazes[asked], sampled.tokens).right.sum(1)
        asked = asked[~rule.met(right[asked], drawn - right[asked])]
        if not len(asked):
            break
    return replace(share_prefixes(tokens, mask, logp), truncated=truncated)
