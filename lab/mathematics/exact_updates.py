"""The exact law of an update: every group that a small policy can draw, and where each leads.

A group is what its N rollouts are together: how many gave each answer and were judged 1 or 0. Their
number is that of multisets, not of sequences, so that N = 16 rollouts of a few answers are summed
without sampling, however many updates follow. Statements P1 to P8 of docs/mathematics.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lab.errors import LabError
from lab.mathematics.practice import Practice
from lab.mathematics.softmax import SoftmaxPolicy
from lab.shapes import Array, Float, Int, Num

MOST_GROUPS = 400_000
BLOCK = 2_000_000  # numbers in a table


@dataclass(frozen=True, eq=False)
class Law:
    """What a recipe does to a policy on average, over all groups.

    | field | meaning |
    |---|---|
    | `mean` | " parameters": the expected move of the logits per optimiser step and rate |
    | `spread` | the trace of that move's covariance |
    | `grad_p`, `grad_q` | gradients of the pass rate p and of what is rewarded, q |
    | `change` | the expected change of "p" and of its "log-odds"; 0 without a rate |
    | `cost`, `kept` | rollouts of a group with those thrown away; chance that it enters the step |
    """

    mean: Array
    spread: float
    grad_p: Array
    grad_q: Array
    change: dict[str, float]
    cost: float
    kept: float

    @cached_property
    def weight(self) -> float:
        """The weight on grad p: the part of `mean` along it."""
        return _along(self.mean, self.grad_p)

    @cached_property
    def drift(self) -> Array:
        """What remains of `mean` without its part along grad q: nobody rewards it."""
        return self.mean - _along(self.mean, self.grad_q) * self.grad_q


def _along(vector: Array, direction: Array) -> float:
    square = float(direction @ direction)
    return float(vector @ direction) / square if square > 1e-24 else 0.0


def law(practice: Practice, policy: SoftmaxPolicy) -> Law:
    """The law of one batch on `policy`, over every group. LabError: too many, or none is kept."""
    rows = _Rows(practice, policy)
    length = practice.rate * practice.updates
    total = square = kept = 0.0
    change = np.zeros(2)
    for counts, chance in rows.groups():
        moved, enters = rows.moved(counts)
        total = total + chance @ moved
        square += chance @ (moved**2).sum(-1)
        kept += chance @ enters
        if length:
            after = _rate_and_odds(policy, policy.logits + moved * length)
            change += chance @ (after - _rate_and_odds(policy, policy.logits))
    again = kept if practice.gate == "redraw" else 1.0
    if again == 0:
        raise LabError(
            f"{practice.spec}: no group of this policy is ever kept, and none is trained"
        )
    mean = np.asarray(total) / again
    return Law(
        mean,
        float(square / again - mean @ mean),
        policy.grad_p,
        policy.gradient(rows.accepted),
        dict(zip(("p", "log-odds"), (change / again).tolist(), strict=True)),
        practice.N / again,
        float(kept / again),
    )


def _rate_and_odds(
    policy: SoftmaxPolicy, logits: Float[np.ndarray, "*g parameters"]
) -> Float[np.ndarray, "*g 2"]:
    """p and its log-odds."""
    pi = np.exp(policy.log_softmax(logits) @ policy.path.sum(1).T)
    p, q = pi @ policy.right, pi @ ~policy.right
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([p, np.log(p) - np.log(q)], axis=-1)


class _Rows:
    """The kinds of rollouts of a policy: an answer, and what the judge says of it."""

    def __init__(self, practice: Practice, policy: SoftmaxPolicy) -> None:
        self.practice, self.policy = practice, policy
        says_right = policy.accepted
        self.accepted = (
            says_right * (1 - practice.false_negative) + (1 - says_right) * practice.false_positive
        )
        lost = np.where(policy.right, practice.lost_right, practice.lost_wrong)
        drawn = policy.drawn(practice.sampler) * (1 - lost)
        kinds = [
            (answer, reward, drawn[answer] * chance)
            for answer, accepts in enumerate(self.accepted)
            for reward, chance in ((1, accepts), (0, 1 - accepts))
            if drawn[answer] * chance > 0
        ]
        self.answer, self.reward, chances = map(np.array, zip(*kinds, strict=True))
        self.is_lost = chances.sum() < 1 - 1e-12  # a last kind: the rollouts without an answer
        self.chances = np.append(chances, 1 - chances.sum()) if self.is_lost else chances
        # a1, a0 and whether the group is kept, of n rollouts of which K are accepted
        N = practice.N
        self.sequences = np.zeros((3, N + 1, N + 1))
        for n in range(1 if self.is_lost else N, N + 1):
            self.sequences[:, n, : n + 1] = practice.sequences(n)
        self.path = policy.path[self.answer]  # "rows longest parameters"
        self.mask = self.path.sum(-1)
        self.lengths = policy.lengths[self.answer]
        heat = practice.sampler.score_temperature
        self.old = policy.log_softmax(policy.logits / heat)
        reference = policy.token_log_probabilities(policy.reference)
        self.reference = policy.log_softmax(reference / heat)

    def groups(self) -> Iterator[tuple[Int[np.ndarray, "g rows"], Float[np.ndarray, " g"]]]:
        """Blocks of groups, as the number of rollouts of each kind, with their chances."""
        N, kinds = self.practice.N, len(self.chances)
        count = math.comb(N + kinds - 1, N)
        if count > MOST_GROUPS:
            raise LabError(
                f"{N} rollouts of {kinds} kinds are {count:,} groups: at most {MOST_GROUPS:,} are"
                " summed; lower N"
            )
        # Bars between N stars: every way to give N rollouts to the kinds.
        bars = itertools.combinations(range(N + kinds - 1), kinds - 1)
        cuts = np.array(list(bars), dtype=np.int64).reshape(count, kinds - 1)
        edges = np.pad(cuts, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, N + kinds - 1)))
        groups = np.diff(edges, axis=1) - 1
        log_factorials = np.array([math.lgamma(k + 1) for k in range(N + 1)])
        log_ways = log_factorials[N] - log_factorials[groups].sum(-1)
        chance = np.exp(log_ways + groups @ np.log(self.chances))
        size = max(1, BLOCK // (kinds * (self.path[0].size + 8)))
        for start in range(0, count, size):
            yield groups[start : start + size], chance[start : start + size]

    def moved(
        self, counts: Int[np.ndarray, "g rows"]
    ) -> tuple[Float[np.ndarray, "g parameters"], Float[np.ndarray, " g"]]:
        """The move of the logits per step and rate, and whether the group enters the step."""
        group = counts[:, :-1] if self.is_lost else counts
        n, K = group.sum(-1), group @ self.reward
        right, wrong, enters = self.sequences[:, n, K]
        A = np.where(self.reward == 1, right[:, None], wrong[:, None])
        group = group * enters[:, None]
        start = np.repeat(self.policy.logits[None], len(group), axis=0)
        rate, updates = self.practice.rate, self.practice.updates
        if not rate:  # the policy does not move: every step follows the same gradient
            return self.ascent(start, group, A), enters
        logits = start
        for _ in range(updates):
            logits = logits + rate * self.ascent(logits, group, A)
        return (logits - start) / (rate * updates), enters

    def ascent(
        self,
        logits: Float[np.ndarray, "g parameters"],
        counts: Num[np.ndarray, "g rows"],
        A: Float[np.ndarray, "g rows"],
    ) -> Float[np.ndarray, "g parameters"]:
        """Minus the gradient of the loss of one optimiser step, with respect to the logits."""
        policy, loss = self.policy, self.practice.loss
        heat = self.practice.sampler.score_temperature
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
