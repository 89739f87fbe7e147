"""A batch as trainers use it: drawn by a sampler, judged with errors, stepped on several times.

What `lab.recipe` computes for one small policy, a toy world trains here by the same parts: groups
are drawn and judged once, and each of their `updates` weighs an answer by the slope of its loss at
the policy as it has become (`lab.mathematics.token_loss`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lab.errors import LabError
from lab.mathematics.recipes import recipe
from lab.shapes import Array, Bool, Float, Int
from lab.toy.multinomial import draw_counts

# The parts of a recipe that are followed here.
FOLLOWED = (
    "gate temperature top_p top_k min_p false_positive false_negative loss clip clip_high dual"
    " updates"
).split()


@dataclass(frozen=True)
class Batch:
    """Groups of one step, until its last update; arrays are "problems answers"."""

    seed: int
    accepted: Int[np.ndarray, "problems answers"]  # how often an answer was judged right
    refused: Int[np.ndarray, "problems answers"]
    A_right: Float[np.ndarray, "problems 1"]
    A_wrong: Float[np.ndarray, "problems 1"]
    old: Float[np.ndarray, "problems answers"]  # log-probabilities of the policy that sampled


class Practice:
    """The parts of a recipe that a training in a toy world follows, from their text."""

    def __init__(self, estimator: str, N: int, text: str) -> None:
        self.recipe = recipe(f"{estimator}, {text}", N=N)
        others = [part for part in self.recipe.parts if part not in FOLLOWED]
        if others or self.recipe.N != N or self.recipe.gate == "redraw":
            raise LabError(
                f"practice = {text!r} has a part that this world does not follow: it takes"
                f" {', '.join(FOLLOWED)}; groups are not redrawn, and rollouts says their number"
            )
        self.a1, self.a0, _ = self.recipe.sequences(N)
        self.batch: Batch | None = None
        # Of the last batch, how many of each group were "accepted"; for `World.kept`.
        self.kept: dict[str, Tensor] = {}

    def loss(
        self,
        logp: Float[Tensor, "problems answers"],
        right: Bool[Tensor, "problems answers"],
        seed: int,
    ) -> Float[Tensor, ""]:
        """A loss with the gradient of the recipe's; a new seed draws a new batch."""
        now = logp.detach().double().cpu().numpy()
        if self.batch is None or self.batch.seed != seed:
            self.batch = self.drawn(now, right.cpu().numpy(), seed)
        one, N = self.batch, self.recipe.N
        slope = self.recipe.loss.slope
        log_ratio = now - one.old
        weights = one.accepted * slope(log_ratio, np.broadcast_to(one.A_right, now.shape))
        weights = weights + one.refused * slope(log_ratio, np.broadcast_to(one.A_wrong, now.shape))
        return -(torch.from_numpy(weights / N).to(logp) * logp).sum(1).mean()

    def drawn(self, logp: Array, right: Array, seed: int) -> Batch:
        """Groups of N rollouts of every problem, judged, with their advantages."""
        whole = self.recipe
        chances = np.exp(logp)
        if not whole.sampler.is_policy:
            chances = np.stack([whole.sampler.of(row) for row in chances])
        counts = draw_counts(torch.from_numpy(chances), whole.N, seed).numpy().astype(np.int64)
        accepts = np.where(right, 1 - whole.false_negative, whole.false_positive)
        # The judge throws dice of its own, so that one without errors changes no rollout.
        accepted = np.random.default_rng([seed, 1]).binomial(counts, accepts)
        K = accepted.sum(1)[:, None]
        self.kept["accepted"] = torch.from_numpy(K)
        return Batch(seed, accepted, counts - accepted, self.a1[K], self.a0[K], logp)

    def metrics(self) -> dict[str, float]:
        """Of the last batch the share of groups that agree; nothing before the first."""
        K = self.kept.get("accepted")
        if K is None:
            return {}
        return {"dead groups": float(((K == 0) | (K == self.recipe.N)).double().mean())}
