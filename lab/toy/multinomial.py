"""Counts of sampled answers, also under a stopping rule: the cost hardly grows with their number.

Where a policy is one softmax over a few answers, the loss of N rollouts depends only on how often
each answer was drawn. Drawing those counts in place of the N answers gives a gradient with exactly
the same distribution.

Under a stopping rule (`lab.mathematics.stopping`) the numbers of right and of wrong draws have a
law of their own: waiting times. Given them, which answers were drawn is multinomial within each
kind.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lab.mathematics.stopping import StoppingRule
from lab.shapes import Bool, Float, Int, Num


def draw_counts(
    probabilities: Float[Tensor, "problems answers"], N: int | Float[Tensor, " problems"], seed: int
) -> Float[Tensor, "problems answers"]:
    """How often each answer is drawn in N draws: integers as floats of the same type.

    `probabilities` need not sum to 1, and a row may be zero where N is 0. All random numbers follow
    from `seed`. On a CPU this is NumPy's multinomial; elsewhere torch's, so that nothing leaves the
    device.
    """
    if probabilities.device.type != "cpu":
        assert isinstance(N, int)
        rng = torch.Generator(probabilities.device).manual_seed(seed)
        return count_draws(probabilities, torch.full_like(probabilities[:, 0], N), N, rng)
    rows = probabilities.double().numpy()
    totals = rows.sum(axis=1, keepdims=True)
    rows = np.divide(rows, totals, out=np.zeros_like(rows), where=totals != 0)
    draws = N if isinstance(N, int) else N.long().numpy()
    counts = np.random.default_rng(seed).multinomial(draws, rows)
    return torch.from_numpy(counts).to(probabilities)


def count_draws(
    probabilities: Float[Tensor, "problems answers"],
    N: Float[Tensor, " problems"],
    most: int,
    rng: torch.Generator,
) -> Float[Tensor, "problems answers"]:
    """The same on any device: `most` answers are drawn, of which the first N count."""
    rows = probabilities.double()
    rows = rows + (rows.sum(1, keepdim=True) == 0)  # zeros are no distribution
    drawn = torch.multinomial(rows, most, replacement=True, generator=rng)
    counts = torch.arange(most, device=rows.device) < N[:, None]
    return torch.zeros_like(probabilities).scatter_add_(1, drawn, counts.to(probabilities))


def listed(counts: Float[Tensor, "problems answers"], N: int) -> Int[Tensor, "problems {N}"]:
    """The answers themselves, in ascending order, from how often each was drawn.

    >>> listed(torch.tensor([[2.0, 0.0, 1.0]]), 3)
    tensor([[0, 0, 2]])
    """
    problems, answers = counts.shape
    every = torch.arange(answers, device=counts.device).repeat(problems)
    repeats = counts.flatten().long()
    return every.repeat_interleave(repeats, output_size=problems * N).view(problems, N)


# --- Until a stopping rule is met ---------------------------------------------------------------


def draw_counts_until(
    rule: StoppingRule,
    probabilities: Float[Tensor, "problems answers"],
    right: Bool[Tensor, "problems answers"],
    seed: int,
) -> Float[Tensor, "problems answers"]:
    """How often each answer is drawn under a rule: integers as floats of the type of
    `probabilities`, whose rows sum to 1. All random numbers follow from `seed`.
    """
    rng = torch.Generator(probabilities.device).manual_seed(seed)
    of_kind = torch.cat((probabilities * right, probabilities * ~right))
    mass_right, mass_wrong = of_kind.double().sum(1).chunk(2)
    numbers = torch.cat(draw_numbers(rule, mass_right / (mass_right + mass_wrong), rng))
    if probabilities.device.type == "cpu":
        # NumPy's generator of the same seed has nothing in common with torch's.
        counts = draw_counts(of_kind, numbers, seed)
    else:
        counts = count_draws(of_kind, numbers, rule.cap, rng)
    of_right, of_wrong = counts.chunk(2)
    return of_right + of_wrong


def draw_numbers(
    rule: StoppingRule, p: Float[Tensor, " problems"], rng: torch.Generator
) -> tuple[Float[Tensor, " problems"], Float[Tensor, " problems"]]:
    """The numbers of right and of wrong rollouts that a rule draws at the pass rates `p` (float64).

    The right ones that are waited for come at the sums of geometric gaps. From the last of them on,
    wrong ones may still be missing, and come in the same way. Then the round is filled up.
    """
    cap = rule.cap
    times = _times_of_successes(p, rule.right, rng)
    right = (times <= cap).sum(1)
    drawn = times[:, -1].clamp_max(cap) if rule.right else torch.zeros_like(p)
    missing = (rule.wrong - (drawn - right)).clamp_min(0)
    times = _times_of_successes(1 - p, rule.wrong, rng)
    place = torch.arange(1, rule.wrong + 1, device=p.device)
    needed = place <= missing[:, None]
    left = (cap - drawn)[:, None]
    wrong = drawn - right + (needed & (times <= left)).sum(1)
    # The time of the last one needed; 0 where none is.
    drawn = torch.minimum(drawn + (times * (place == missing[:, None])).sum(1), drawn + left[:, 0])
    right = drawn - wrong
    rest = -drawn % rule.round
    more = torch.binomial(rest, p, generator=rng)
    return right + more, wrong + rest - more


def _times_of_successes(
    p: Float[Tensor, " problems"], successes: int, rng: torch.Generator
) -> Float[Tensor, "problems successes"]:
    """After how many trials of chance p the first, second, ... success comes."""
    shape = len(p), successes
    uniform = torch.rand(shape, dtype=torch.float64, device=p.device, generator=rng)  # in [0, 1)
    # The gap exceeds g with chance (1-p)^g. At p = 0 it is about 1e300, and so never comes.
    gaps = 1 + (torch.log1p(-uniform) / torch.log1p(-p.clamp_min(1e-300))[:, None]).floor()
    return gaps.cumsum(1)


# --- The rollouts spent, among what a training keeps (`lab.toy.worlds.World.kept`) ---------------

SPENT = "rollouts_spent"  # in all; since the last record; and the problems since the last record


def spend(kept: dict[str, Tensor], drawn: Num[Tensor, " problems"]) -> None:
    """Count the rollouts drawn of each problem of a step; of no problem, begin to count."""
    total = drawn.double().sum()
    lately = torch.stack((total, total, torch.full_like(total, len(drawn))))
    kept[SPENT] = kept[SPENT].to(lately.device) + lately if SPENT in kept else lately


def rollouts_spent(kept: dict[str, Tensor]) -> dict[str, float]:
    """The rollouts spent so far, and their mean a problem since the last call; else nothing."""
    if SPENT not in kept:
        return {}
    totals = kept[SPENT]
    spent, lately, problems = totals.tolist()
    kept[SPENT] = totals * totals.new_tensor([1, 0, 0])
    mean = {"rollouts a problem": lately / problems} if problems else {}
    return {"rollouts spent": spent} | mean
