"""Answers drawn until a stopping rule is met, at a cost that hardly grows with their number.

Where a policy is one softmax over a few answers, the numbers of right and of wrong draws have a
law of their own: waiting times. Given them, which answers were drawn is multinomial within each
kind. So nothing loops over draws, and the counts have exactly the distribution that drawing one
answer after the other would give (`lab.stopping`).
"""

from __future__ import annotations

import torch
from torch import Tensor

from lab.mathematics.stopping import StoppingRule
from lab.shapes import Bool, Float, Num
from lab.toy.multinomial import draw_counts, split_counts


def draw_counts_until(
    rule: StoppingRule,
    probabilities: Float[Tensor, "problems answers"],
    right: Bool[Tensor, "problems answers"],
    seed: int,
) -> Float[Tensor, "problems answers"]:
    """How often each answer is drawn under a rule; all random numbers follow from `seed`.

    | argument | shape | meaning |
    |---|---|---|
    | `probabilities` | "problems answers" | each row sums to 1 |
    | `right` | "problems answers" | True for right answers |
    | result | "problems answers" | integers as floats of the type of `probabilities` |
    """
    rng = torch.Generator(probabilities.device).manual_seed(seed)
    of_kind = torch.cat((probabilities * right, probabilities * ~right))
    mass_right, mass_wrong = of_kind.double().sum(1).chunk(2)
    numbers = torch.cat(draw_numbers(rule, mass_right / (mass_right + mass_wrong), rng))
    if probabilities.device.type == "cpu":
        # NumPy's generator of the same seed has nothing in common with torch's.
        counts = draw_counts(of_kind, numbers, seed)
    else:
        counts = split_counts(of_kind, numbers, rng)
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
    uniform = torch.rand(
        len(p), successes, dtype=torch.float64, device=p.device, generator=rng
    )  # in [0, 1)
    # The gap exceeds g with chance (1-p)^g. At p = 0 it is about 1e300, and so never comes.
    gaps = 1 + (torch.log1p(-uniform) / torch.log1p(-p.clamp_min(1e-300))[:, None]).floor()
    return gaps.cumsum(1)


class RolloutsSpent:
    """How many rollouts a training under a stopping rule has spent, for its records.

    They are part of the training's state.
    """

    def __init__(self) -> None:
        # In all; since the last record; and the problems since the last record.
        self.totals = torch.zeros(3, dtype=torch.float64)

    def add(self, drawn: Num[Tensor, " problems"]) -> None:
        """Count the rollouts drawn of each problem of a step."""
        total = drawn.double().sum()
        self.totals = self.totals.to(drawn.device)
        self.totals += torch.stack((total, total, torch.full_like(total, len(drawn))))

    def metrics(self) -> dict[str, float]:
        """The rollouts spent so far, and their mean a problem since the last call."""
        spent, lately, problems = self.totals.tolist()
        self.totals[1:] = 0
        mean = {"rollouts a problem": lately / problems} if problems else {}
        return {"rollouts spent": spent} | mean

    def accumulated(self) -> dict[str, Tensor]:
        """The counts as named tensors, for checkpoints."""
        return {"rollouts_spent": self.totals}

    def restore_accumulated(self, state: dict[str, Tensor]) -> None:
        """Restore what `accumulated` returned."""
        self.totals = state["rollouts_spent"].clone()
