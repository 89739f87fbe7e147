"""The exact objective of a recipe: everything between a rollout and an optimiser step.

Practice seldom gives every problem N rollouts, uses every group, draws from the policy itself, has
a judge without errors and takes one step a batch. Each of these is a way to weigh problems, or to
climb something else than the pass rate. `Recipe.at` says which by the pass rate alone, `Recipe.on`
for a softmax policy over a few answers. Nothing is sampled. Statements G1 to G5 and P1 to P8 with
their proofs are in docs/mathematics.md.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, one_of, syntax_tree, unknown
from lab.mathematics.estimators import Estimator, estimator, from_success_failure
from lab.mathematics.exact_updates import Law, law
from lab.mathematics.formula import formula_weight
from lab.mathematics.objectives import check_pass_rates
from lab.mathematics.practice import Practice, Sampler
from lab.mathematics.softmax import SoftmaxPolicy
from lab.mathematics.token_loss import Loss
from lab.mathematics.weights import binomial, binomial_mean
from lab.shapes import Array, Float, Int

# Up to here the sums are accurate (weights.py); an allocation such as 1/p needs some limit.
MOST_ROLLOUTS = 4096


class EffectiveWeight(NamedTuple):
    """What a recipe does for a problem each time that its turn comes, on average.

    Each field has the shape of the pass rates and contains the chance that the problem is drawn, so
    that each can be summed over the problems of a set.
    """

    weight: Array  # the gradient that the problem adds is weight * grad p
    cost: Array  # rollouts, those of groups that are thrown away included
    kept: Array  # groups that enter the step


def effective_weight(name: str | Estimator, N: int, p: ArrayLike, **parts: Any) -> EffectiveWeight:
    """The exact weight of a recipe at the pass rates p, what it costs, and how much it keeps.

    `parts` are those of `recipe`. A batch that averages over the groups it kept divides the sum of
    the weights by that of `kept`: one factor for all problems. LabError: a gate that keeps no
    group, an allocation of more than 4096 rollouts. At p = 0 and 1 "redraw" never ends: the cost is
    inf and the weight nan.

    >>> effective_weight("rloo", 2, [0.5, 0.1], gate="redraw").weight.round(6)   # 1/(2pq)
    array([2.      , 5.555556])
    """
    return recipe(name, N, **parts).at(p)


@dataclass(frozen=True)
class Recipe(Practice):
    """A recipe, which `recipe` reads from a text such as "maxrl, N=16, gate=drop, clip=0.2".

    Beside the parts of a group and its steps (`Practice`):

    | argument | meaning |
    |---|---|
    | `allocation` | rollouts for a problem instead of N: a formula of p (see `formula.py`), as |
    | | "2/p", rounded; 0 leaves the problem out |
    | `chance` | how often a problem is drawn, relative to others: a formula of p |
    | `per` | "problem": a group's gradient is the mean over its rollouts; "rollout": their sum |

    LabError: a part that cannot be read.
    """

    allocation: str | None = None
    chance: str | None = None
    per: str = "problem"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("per", self.per, ("problem", "rollout"))

    @property
    def by_pass_rate(self) -> bool:
        """Whether the pass rate alone decides: each rollout is the policy's, each step small."""
        low, high = self.loss.bounds
        capped = self.loss.loss == "cispo" and not low <= 1 <= high
        regularised = bool(self.loss.kl or self.loss.entropy)
        return self.sampler.is_policy and not (self.rate or capped or regularised)

    def weight(self, p: ArrayLike) -> Float[np.ndarray, "*p"]:
        """The weight at the pass rates p."""
        return self.at(p).weight

    def at(self, p: ArrayLike) -> EffectiveWeight:
        """Weight, cost and share kept at the pass rates p.

        Where the pass rate does not decide alone (a sampler, a finite rate, a penalty), they are
        those of a policy with two answers: see `on` for any other.
        """
        p = check_pass_rates(p)
        if not self.by_pass_rate:
            return self._of_two_answers(p)
        q = self.false_positive + (1 - self.false_positive - self.false_negative) * p  # accepted
        drawn = np.ones_like(p) if self.chance is None else _at_pass_rates("chance", self.chance, q)
        weight, cost, kept = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p)
        sizes = self._sizes(q) * (drawn > 0)
        for n in np.unique(sizes[sizes > 0]).tolist():
            here = sizes == n
            one = self._of_size(n, p[here])
            weight[here] = drawn[here] * one.weight * (n if self.per == "rollout" else 1)
            cost[here] = drawn[here] * one.cost
            kept[here] = drawn[here] * one.kept
        return EffectiveWeight(weight, cost, kept)

    def _sizes(self, q: Float[np.ndarray, "*p"]) -> Int[np.ndarray, "*p"]:
        """The rollouts for a problem, of which a share q is accepted."""
        if self.allocation is None:
            return np.full(q.shape, self.N)
        if not isinstance(self.allocation, str):
            raise LabError(
                f"allocation = {self.allocation!r}: give allocation as text, a formula of p such as"
                ' "min(64, 2/p)"'
            )
        sizes = np.rint(_at_pass_rates("allocation", self.allocation, q))
        if (sizes > MOST_ROLLOUTS).any():
            raise LabError(
                f"allocation of {sizes.max():g} rollouts: give whole numbers from 0 to"
                f" {MOST_ROLLOUTS}, in a formula for example min(64, 2/p)"
            )
        return sizes.astype(int)

    def _of_size(self, N: int, p: Float[np.ndarray, " rates"]) -> EffectiveWeight:
        """A recipe whose groups all start with N rollouts, all problems drawn alike."""
        right, wrong = 1 - self.lost_right, 1 - self.lost_wrong
        right_accepted = right * (1 - self.false_negative)
        wrong_accepted = wrong * self.false_positive
        left = np.maximum(p * right + (1 - p) * wrong, 1e-300)  # the chance of not being lost
        accepted = np.minimum((p * right_accepted + (1 - p) * wrong_accepted) / left, 1.0)
        complete = right == wrong == 1
        sizes = None if complete else binomial(N, left)
        weight, kept, cost = np.zeros_like(p), np.zeros_like(p), N * np.ones_like(p)
        for n in (N,) if sizes is None else range(1, N + 1):
            share = 1.0 if sizes is None else sizes[..., n]
            a1, a0, keeps = self.sequences(n)
            gap, offset = from_success_failure(a1, a0)
            # E[S; accepted and left] and E[S; left], in units of grad p
            pull = (right_accepted - wrong_accepted) * gap + (right - wrong) * offset
            weight += share * binomial_mean(pull, accepted) / left
            kept += share * (1.0 if self.gate is None else binomial_mean(keeps, accepted))
        if self.gate != "redraw":
            return EffectiveWeight(weight, cost, kept)
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = np.where(kept > 0, weight / kept, np.nan)
            return EffectiveWeight(weight, cost / kept, np.sign(kept))

    def _of_two_answers(self, p: Float[np.ndarray, "*p"]) -> EffectiveWeight:
        """What `on` says of a policy with one right and one wrong answer; 0 < p < 1, else nan."""
        found = np.full((3, p.size), np.nan)
        for i, rate in enumerate(p.ravel()):
            if 0 < rate < 1:
                one = self.on(SoftmaxPolicy([rate, 1 - rate], [True, False]))
                found[:, i] = one.weight, one.cost, one.kept
        return EffectiveWeight(*found.reshape(3, *p.shape))

    def on(self, policy: SoftmaxPolicy) -> Law:
        """What a batch of this recipe does to a policy over a few answers: the sum over all groups.

        LabError: too many groups, or a part that is none of a group (`allocation`, `chance`).

        >>> policy = SoftmaxPolicy([0.25, 0.75], [True, False])
        >>> round(recipe("rloo, N=4, false_positive=0.2").on(policy).weight, 12)
        0.8
        """
        for part in ("allocation", "chance"):
            if getattr(self, part):
                raise LabError(
                    f"{part} = {getattr(self, part)!r}: it is summed by the pass rate alone; leave"
                    " out sampler, rate, kl and entropy, and ask Recipe.at"
                )
        return law(self, policy)


def _at_pass_rates(what: str, formula: str, p: Float[np.ndarray, "*p"]) -> Float[np.ndarray, "*p"]:
    """A formula's value at each pass rate, refused unless finite and at least 0."""
    values = formula_weight(formula).weight(p)
    wrong = ~((values >= 0) & np.isfinite(values))
    if wrong.any():
        raise LabError(
            f"{what} {values[wrong].flat[0]:g} at p = {p[wrong].flat[0]:g}: it must be finite and"
            " at least 0"
        )
    return values


# --- A recipe as one text -------------------------------------------------------------------------


INNER = {each.name: kind for kind in (Sampler, Loss) for each in fields(kind)}
OWN = [each.name for each in fields(Recipe) if each.name not in ("estimator", "sampler", "loss")]


def recipe(text: str | Estimator, N: int = 16, **parts: Any) -> Recipe:
    """The recipe written as `text`, with further `parts` by name; `N` where the text gives none.

    Parts are the fields of `Recipe`, and those of its `Sampler` and `Loss`. Nothing is summed.
    LabError: a part that there is not, that stands twice, or whose value cannot be.

    >>> recipe("rloo, N=2, gate=redraw").weight([0.5])
    array([2.])
    """
    name, given = (text, {}) if isinstance(text, Estimator) else _read(text)
    chosen = name if isinstance(name, Estimator) else estimator(name).spec
    for part in parts:
        if part in given:
            raise LabError(f"{part} stands twice in {text!r}: leave one of them out")
    given = {"N": N} | given | parts
    inner: dict[type, dict[str, Any]] = {Sampler: {}, Loss: {}}
    for part in [part for part in given if part not in OWN]:
        if part not in INNER:
            raise unknown("part of a recipe", str(part), [*OWN, *INNER])
        inner[INNER[part]][part] = given.pop(part)
    sampler, loss = Sampler(**inner[Sampler]), Loss(**inner[Loss])
    return Recipe(chosen, sampler=sampler, loss=loss, **given)


def _read(text: str) -> tuple[str, dict[str, Any]]:
    """The estimator of a recipe's text, and its parts: numbers, and what is none as text."""
    written = f"recipe({text})"
    match syntax_tree(written):
        case ast.Call(ast.Name(), [first], keywords):
            pass
        case _:
            raise LabError(
                f"cannot read the recipe {text!r}: write an estimator and its parts, for example"
                " maxrl, N=16, gate=drop"
            )

    def value(node: ast.expr, is_formula: bool = False) -> Any:
        source = ast.get_source_segment(written, node)
        try:
            literal = ast.literal_eval(node)
        except (ValueError, TypeError):
            return source
        return source if is_formula and not isinstance(literal, str) else literal

    found: dict[str, Any] = {}
    for keyword in keywords:
        if keyword.arg in found:
            raise LabError(f"{keyword.arg} stands twice in {text!r}: leave one of them out")
        found[str(keyword.arg)] = value(keyword.value, keyword.arg in ("allocation", "chance"))
    return value(first), found
