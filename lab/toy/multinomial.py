"""N sampled answers at a cost that hardly grows with N.

Where a policy is one softmax over a few answers, the loss of N rollouts depends only on how often
each answer was drawn. Drawing those counts in place of the N answers gives a gradient with exactly
the same distribution.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lab.shapes import Float, Int


def draw_counts(
    probabilities: Float[Tensor, "problems answers"], N: int | Float[Tensor, " problems"], seed: int
) -> Float[Tensor, "problems answers"]:
    """How often each answer is drawn in N draws; all random numbers follow from `seed`.

    | argument | shape | meaning |
    |---|---|---|
    | `probabilities` | "problems answers" | in proportion; a row may be zero where N is 0 |
    | `N` | number or "problems" | the draws of every problem, or of each |
    | result | "problems answers" | integers as floats of the same type; each row sums to N |

    On a CPU this is NumPy's multinomial; elsewhere `split_counts`, so that nothing leaves the
    device.
    """
    if probabilities.device.type != "cpu":
        return split_counts(
            probabilities, N, torch.Generator(probabilities.device).manual_seed(seed)
        )
    rows = probabilities.double().numpy()
    totals = rows.sum(axis=1, keepdims=True)
    rows = np.divide(rows, totals, out=np.zeros_like(rows), where=totals != 0)
    draws = N if isinstance(N, int) else N.long().numpy()
    counts = np.random.default_rng(seed).multinomial(draws, rows)
    return torch.from_numpy(counts).to(probabilities)


def split_counts(
    probabilities: Float[Tensor, "problems answers"],
    N: int | Float[Tensor, " problems"],
    rng: torch.Generator,
) -> Float[Tensor, "problems answers"]:
    """The same by binary splitting, on any device and without waiting for the host.

    The answers are halved repeatedly, and each time a binomial divides the draws of a part between
    its two halves: log2(answers) binomials on tensors.
    """
    answers = probabilities.shape[1]
    depth = max(answers - 1, 1).bit_length()
    level = torch.nn.functional.pad(probabilities, (0, 2**depth - answers))
    masses = [level]  # the probability of each part, from single answers to all of them
    for _ in range(depth):
        level = level.reshape(len(level), -1, 2).sum(-1)
        masses.append(level)
    whole = masses[-1]
    counts = torch.full_like(whole, N) if isinstance(N, int) else N.to(whole)[:, None]
    for mass in reversed(masses[:-1]):
        left = mass[:, 0::2]
        share = (left / (left + mass[:, 1::2]).clamp_min(torch.finfo(mass.dtype).tiny)).clamp(0, 1)
        first = torch.binomial(counts, share, generator=rng)
        counts = torch.stack((first, counts - first), dim=-1).flatten(1)
    return counts[:, :answers]


def listed(counts: Float[Tensor, "problems answers"], N: int) -> Int[Tensor, "problems {N}"]:
    """The answers themselves, in ascending order, from how often each was drawn.

    >>> listed(torch.tensor([[2.0, 0.0, 1.0]]), 3)
    tensor([[0, 0, 2]])
    """
    problems, answers = counts.shape
    every = torch.arange(answers, device=counts.device).repeat(problems)
    repeats = counts.flatten().long()
    return every.repeat_interleave(repeats, output_size=problems * N).view(problems, N)
