"""The exact law of an update: every group that a small policy can draw, and where each leads.

A group is what its N rollouts are together: how many gave each answer and were judged 1 or 0. Their
number is that of multisets, not of sequences, so that N = 16 rollouts of a few answers are summed
without sampling, however many updates follow. Statements P1 to P8 of docs/mathematics.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lab.errors import LabError
from lab.mathematics.practice import Judge, Sampler, Steps, Survival
from lab.mathematics.softmax import SoftmaxPolicy
from lab.mathematics.token_loss import Loss
from lab.shapes import Array, Bool, Float, Int, Num, Shaped

MOST_GROUPS = 400_000
BLOCK = 2_000_000  # numbers in a table


@dataclass(frozen=True)
class Practice:
    """What a recipe says of a group and of the steps on it; `recipes.Recipe.on` fills it."""

    spec: str
    N: int
    sequences: Callable[[int], tuple[Array, Array, Bool[np.ndarray, " n_plus_1"]]]
    redraws: bool
    sampler: Sampler
    judge: Judge
    survival: Survival
    loss: Loss
    steps: Steps


@dataclass(frozen=True, eq=False)
class Law:
    """What a recipe does to a policy on average, over all groups.

    | field | meaning |
    |---|---|
    | `mean` | " parameters": the expected move of the logits per optimiser step and rate |
    | `spread` | the trace of that move's covariance |
    | `grad_p`, `grad_q` | gradients of the pass rate p and of what is rewarded, q |
    | `change` | the expected change of p, log p, log-odds and entropy; 0 without a rate |
    | `standard_error` | of `change`, where groups were sampled; else 0 |
    | `cost`, `kept` | rollouts of a group with those thrown away; chance that it enters the step |
    | `mixed` | the chance that a group has rewards of both kinds |
    """

    mean: Array
    spread: float
    grad_p: Array
    grad_q: Array
    change: dict[str, float]
    standard_error: dict[str, float]
    cost: float
    kept: float
    mixed: float

    @cached_property
    def weight(self) -> float:
        """The weight on grad p: the part of `mean` along it."""
        return _along(self.mean, self.grad_p)

    @cached_property
    def drift(self) -> Array:
        """What remains of `mean` without its part along grad q: nobody rewards it."""
        return self.mean - _along(self.mean, self.grad_q) * self.grad_q

    @cached_property
    def cosine(self) -> float:
        """The cosine of the angle between `mean` and grad p; 0 where one of them is zero."""
        lengths = np.linalg.norm(self.mean) * np.linalg.norm(self.grad_p)
        return float(self.mean @ self.grad_p / lengths) if lengths > 0 else 0.0


def _along(vector: Array, direction: Array) -> float:
    square = float(direction @ direction)
    return float(vector @ direction) / square if square > 1e-24 else 0.0


def law(recipe: Practice, policy: SoftmaxPolicy, samples: int = 0, seed: int = 0) -> Law:
    """The law of one batch of `recipe` on `policy`, over every group or over `samples` of them."""
    rows = _Rows(recipe, policy)
    minibatches = recipe.steps.minibatches
    total = square = kept = mixed = 0.0
    changes = changes_square = np.zeros(4)
    for counts, chance in rows.groups(minibatches, samples, seed):
        moved, enters, is_mixed = rows.moved(counts)
        total = total + chance @ moved
        square += chance @ (moved**2).sum(-1)
        kept, mixed = kept + chance @ enters, mixed + chance @ is_mixed
        if recipe.steps.rate:
            found = _quantities(policy, policy.logits + moved * recipe.steps.scale)
            found -= _quantities(policy, policy.logits)
            changes, changes_square = changes + chance @ found, changes_square + chance @ found**2
    mean = np.asarray(total)
    again = kept if recipe.redraws else 1.0
    if again == 0:
        raise LabError(f"{recipe.spec}: no group of this policy is ever kept, and none is trained")
    mean, square, changes, mixed = mean / again, square / again, changes / again, mixed / again
    errors = np.sqrt(np.maximum(changes_square - changes**2, 0) / max(samples, 1)) * (samples > 0)
    names = ("p", "log p", "log-odds", "entropy")
    return Law(
        mean,
        float(square - mean @ mean),
        policy.grad_p,
        policy.gradient(rows.accepted),
        dict(zip(names, changes.tolist(), strict=True)),
        dict(zip(names, errors.tolist(), strict=True)),
        recipe.N / again,
        float(kept / again),
        float(mixed),
    )


def _quantities(
    policy: SoftmaxPolicy, logits: Float[np.ndarray, "*g parameters"]
) -> Float[np.ndarray, "*g 4"]:
    """p, log p, log-odds and the entropy of the answers."""
    log_pi = policy.log_answers(policy.log_softmax(logits))
    pi = np.exp(log_pi)
    p, q = pi @ policy.right, pi @ ~policy.right
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(p) - np.log(q)
    return np.stack([p, np.log(p), odds, -(pi * log_pi).sum(-1)], axis=-1)


class _Rows:
    """The kinds of rollouts of a policy: an answer, and what the judge says of it."""

    def __init__(self, recipe: Practice, policy: SoftmaxPolicy) -> None:
        self.recipe, self.policy = recipe, policy
        judge = recipe.judge
        says_right = policy.accepted
        self.accepted = (
            says_right * (1 - judge.false_negative) + (1 - says_right) * judge.false_positive
        )
        drawn = policy.drawn(recipe.sampler) * (1 - policy.lost)
        lost = recipe.survival
        kept_right = 1 - np.where(policy.right, lost.lost_right, lost.lost_wrong)
        drawn = drawn * kept_right
        kinds = [
            (answer, reward, drawn[answer] * chance)
            for answer, accepts in enumerate(self.accepted)
            for reward, chance in ((1, accepts), (0, 1 - accepts))
            if drawn[answer] * chance > 0
        ]
        self.answer = np.array([kind[0] for kind in kinds])
        self.reward = np.array([kind[1] for kind in kinds])
        chances = np.array([kind[2] for kind in kinds])
        self.is_lost = chances.sum() < 1 - 1e-12  # a last kind: the rollouts without an answer
        self.chances = np.append(chances, 1 - chances.sum()) if self.is_lost else chances
        self.path = policy.path[self.answer]  # "rows longest parameters"
        self.mask = self.path.sum(-1)
        self.lengths = policy.lengths[self.answer]
        self.old = policy.log_softmax(policy.logits / recipe.sampler.score_temperature)
        reference = policy.token_log_probabilities(policy.reference)
        self.reference = policy.log_softmax(reference / recipe.sampler.score_temperature)

    # --- Every group ------------------------------------------------------------------------------

    def groups(
        self, minibatches: int, samples: int, seed: int
    ) -> Iterator[tuple[Int[np.ndarray, "g minibatches rows"], Float[np.ndarray, " g"]]]:
        """Blocks of groups with their chances, the rollouts of a group dealt to minibatches."""
        n, kinds = self.recipe.N // minibatches, len(self.chances)
        block = max(1, BLOCK // (kinds * minibatches * (self.path[0].size + 8)))
        if samples:
            rng = np.random.default_rng(seed)
            for start in range(0, samples, block):
                size = (min(block, samples - start), minibatches)
                counts = rng.multinomial(n, self.chances / self.chances.sum(), size)
                yield counts, np.full(len(counts), 1 / samples)
            return
        few = math.comb(n + kinds - 1, n)
        if few**minibatches > MOST_GROUPS:
            raise LabError(
                f"{self.recipe.N} rollouts of {kinds} kinds are {few**minibatches:,} groups: at"
                f" most {MOST_GROUPS:,} are summed; lower N, or give samples="
            )
        dealt = _multisets(n, kinds)
        with np.errstate(divide="ignore"):
            log_chance = _log_factorials(n)[n] + dealt @ np.log(self.chances)
        chance = np.exp(log_chance - _log_factorials(n)[dealt].sum(-1))
        for start in range(0, few**minibatches, block):
            index = np.arange(start, min(start + block, few**minibatches))
            places = np.stack(np.unravel_index(index, (few,) * minibatches), axis=-1)
            yield dealt[places], chance[places].prod(-1)

    # --- Where a group leads ----------------------------------------------------------------------

    def moved(
        self, counts: Int[np.ndarray, "g minibatches rows"]
    ) -> tuple[Float[np.ndarray, "g parameters"], Float[np.ndarray, " g"], Float[np.ndarray, " g"]]:
        """The move of the logits per step and rate; whether the group enters, and is mixed."""
        counts = counts[..., :-1] if self.is_lost else counts
        group = counts.sum(1)
        n, K = group.sum(-1), group @ self.reward
        A_right, A_wrong, enters = _advantages(self.recipe, n, K)
        A = np.where(self.reward == 1, A_right[:, None], A_wrong[:, None])
        counts = counts * enters[:, None, None]
        steps = self.recipe.steps
        logits = np.repeat(self.policy.logits[None], len(counts), axis=0)
        mixed = ((K > 0) & (K < n)).astype(np.float64)
        if not steps.rate:  # the policy has not moved: whatever follows, follows the same gradient
            parts = [self.ascent(logits, counts[:, m], A) for m in range(steps.minibatches)]
            return np.mean(parts, axis=0), enters.astype(np.float64), mixed
        for _ in range(steps.updates):
            for m in range(steps.minibatches):
                logits = logits + steps.rate * self.ascent(logits, counts[:, m], A)
        return (logits - self.policy.logits) / steps.scale, enters.astype(np.float64), mixed

    def ascent(
        self,
        logits: Float[np.ndarray, "g parameters"],
        counts: Num[np.ndarray, "g rows"],
        A: Float[np.ndarray, "g rows"],
    ) -> Float[np.ndarray, "g parameters"]:
        """Minus the gradient of the loss of one optimiser step, with respect to the logits."""
        policy, loss = self.policy, self.recipe.loss
        heat = self.recipe.sampler.score_temperature
        logp = policy.log_softmax(logits / heat)
        log_ratio = loss.of_ratio(self.along(logp - self.old), self.mask)
        slope = loss.slope(log_ratio, np.broadcast_to(A[..., None], log_ratio.shape))
        if loss.kl:
            above = self.along(logp - self.reference)
            slope = slope - loss.kl * loss.kl_slope(log_ratio, above, self.mask)
        shares = loss.shares(counts, self.lengths)
        weighed = shares[..., None] * self.mask * slope
        C = weighed.reshape(len(counts), -1) @ self.path.reshape(-1, logits.shape[-1])
        pi = np.exp(logp)
        found = C - pi * policy.sums(C)
        if loss.entropy:
            tokens = counts / np.maximum(counts @ self.lengths, 1)[:, None]
            visits = policy.sums(tokens @ self.path.sum(1))
            entropy = policy.sums(-pi * logp)
            found = found - loss.entropy * visits * pi * (logp + entropy)
        return found / heat

    def along(self, values: Float[np.ndarray, "*g parameters"]) -> Float[np.ndarray, "*g rows t"]:
        """The value of each row's tokens."""
        flat = values @ self.path.reshape(-1, values.shape[-1]).T
        return flat.reshape(*values.shape[:-1], *self.mask.shape)


def _advantages(
    recipe: Practice, n: Int[np.ndarray, " g"], K: Int[np.ndarray, " g"]
) -> tuple[Array, Array, Shaped[np.ndarray, " g"]]:
    """The advantages of right and wrong rollouts of each group, and whether it is kept."""
    right, wrong = np.zeros(len(n)), np.zeros(len(n))
    enters = np.zeros(len(n), dtype=bool)
    for size in np.unique(n[n > 0]).tolist():
        here = n == size
        a1, a0, keeps = recipe.sequences(size)
        right[here], wrong[here], enters[here] = a1[K[here]], a0[K[here]], keeps[K[here]]
    return right, wrong, enters


def _multisets(n: int, kinds: int) -> Int[np.ndarray, "multisets kinds"]:
    """Every way to give `n` rollouts to `kinds` kinds."""
    bars = itertools.combinations(range(n + kinds - 1), kinds - 1)
    cuts = np.array(list(bars), dtype=np.int64).reshape(-1, kinds - 1)
    edges = np.pad(cuts, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, n + kinds - 1)))
    return np.diff(edges, axis=1) - 1


def _log_factorials(n: int) -> Float[np.ndarray, " n_plus_1"]:
    return np.array([math.lgamma(k + 1) for k in range(n + 1)])
