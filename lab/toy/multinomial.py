"""N sampled answers at a cost that hardly grows with N. Floor 2.

Where a policy is one softmax over a few answers, the loss of N rollouts depends only on how often
each answer was drawn. Drawing those counts instead of the N answers gives a gradient with exactly
the same distribution.
"""

from __future__ import annotations

import numpy as np
import torch


def draw_counts(chance: torch.Tensor, N: int, seed: int) -> torch.Tensor:
    """How often each answer comes up in N draws; all randomness follows from `seed`.

    | argument | shape | meaning |
    |---|---|---|
    | `chance` | "problems answers" | probabilities, rows summing to 1 |
    | result | "problems answers" | whole numbers as floats of the type of `chance`, rows summing to N |

    NumPy's multinomial on a CPU; elsewhere `split_counts`, so that nothing leaves the device.
    """
    if chance.device.type != "cpu":
        return split_counts(chance, N, torch.Generator(chance.device).manual_seed(seed))
    rows = chance.double().numpy()
    counts = np.random.default_rng(seed).multinomial(N, rows / rows.sum(axis=1, keepdims=True))
    return torch.from_numpy(counts).to(chance)


def split_counts(chance: torch.Tensor, N: int, rng: torch.Generator) -> torch.Tensor:
    """The same by binary splitting, on any device and with no host synchronisation.

    The answers are halved again and again, and each time the draws of a part are split by a
    binomial between its two halves: log2(answers) binomials on whole tensors.
    """
    answers = chance.shape[1]
    depth = max(answers - 1, 1).bit_length()
    level = torch.nn.functional.pad(chance, (0, 2**depth - answers))
    masses = [level]
    for _ in range(depth):
        level = level.reshape(len(level), -1, 2).sum(-1)
        masses.append(level)
    counts = torch.full_like(masses[-1], N)
    for mass in reversed(masses[:-1]):
        left = mass[:, 0::2]
        share = (left / (left + mass[:, 1::2]).clamp_min(torch.finfo(mass.dtype).tiny)).clamp(0, 1)
        first = torch.binomial(counts, share, generator=rng)
        counts = torch.stack((first, counts - first), dim=-1).flatten(1)
    return counts[:, :answers]
