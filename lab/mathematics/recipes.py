"""The exact objective of a recipe: everything between a rollout and an optimiser step.

Practice seldom gives every problem N rollouts, uses every group, draws from the policy itself, has
a judge without errors and takes one step a batch. Each of these is a way to weigh problems, or to
climb something else than the pass rate. `Recipe.at` says which by the pass rate alone, `Recipe.on`
for a softmax policy over a few answers. Nothing is sampled. Statements G1 to G5 and P1 to P8 with
their proofs are in docs/mathematics.md.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, one_of, real, syntax_tree, unknown, whole
from lab.mathematics.estimators import Estimator, estimator
from lab.mathematics.exact_updates import Law, Practice, law
from lab.mathematics.formula import formula_weight
from lab.mathematics.objectives import check_pass_rates
from lab.mathematics.practice import Judge, Sampler, Steps, Survival
from lab.mathematics.sequences import from_success_failure
from lab.mathematics.softmax import SoftmaxPolicy
from lab.mathematics.stopping import StoppingRule, rule_of_training
from lab.mathematics.token_loss import Loss
from lab.mathematics.weights import binomial, binomial_mean
from lab.shapes import Array, Bool, Float, Shaped

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


def effective_weight(
    name: str | Estimator,
    N: int,
    p: ArrayLike,
    *,
    gate: str | None = None,
    allocation: str | None = None,
    chance: str | None = None,
    per: str = "problem",
) -> EffectiveWeight:
    """The exact weight of a recipe at the pass rates p, what it costs, and how much it keeps.

    The parts are those of `Recipe`. A batch that averages over the groups it kept divides the sum
    of the weights by that of `kept`: one factor for all problems. LabError: a gate that keeps no
    group, an allocation of more than 4096 rollouts. At p = 0 and 1 "redraw" never ends: the cost is
    inf and the weight nan.

    >>> effective_weight("rloo", 2, [0.5, 0.1], gate="redraw").weight.round(6)   # 1/(2pq)
    array([2.      , 5.555556])
    """
    return Recipe(name, N, gate, allocation, chance, per).at(p)


@dataclass(frozen=True)
class Recipe:
    """A recipe, which `recipe` reads from a text such as "maxrl, N=16, gate=drop, clip=0.2".

    | argument | meaning |
    |---|---|
    | `gate` | "drop": groups that agree are dropped, and another problem is drawn instead |
    | | "redraw": N rollouts of the same problem are drawn again until they disagree |
    | | "between(low, high)": groups whose rate K/N is not in [low, high] are dropped |
    | `allocation` | rollouts for a problem instead of N: a formula of p (see `formula.py`), as |
    | | "2/p", rounded; 0 leaves the problem out |
    | | "by_last_rate(32, 16, 8)": the number at place K after K right ones in its last group, |
    | | which here had 2 rollouts; exact if p has not changed since |
    | `chance` | how often a problem is drawn, relative to others: a formula of p |
    | `per` | "problem": a group's gradient is the mean over its rollouts; "rollout": their sum |
    | `stopping` | a rule (`lab.stopping`) in place of N rollouts; N is its cap |
    | the others | fields of `Sampler`, `Judge`, `Survival`, `Loss` and `Steps`, by their names |

    LabError: a part that cannot be read.
    """

    estimator: str | Estimator
    N: int
    gate: str | None = None
    allocation: str | None = None
    chance: str | None = None
    per: str = "problem"
    stopping: str = ""
    sampler: Sampler = field(default_factory=Sampler)
    judge: Judge = field(default_factory=Judge)
    survival: Survival = field(default_factory=Survival)
    loss: Loss = field(default_factory=Loss)
    steps: Steps = field(default_factory=Steps)

    def __post_init__(self) -> None:
        whole("N", self.N)
        one_of("per", self.per, ("problem", "rollout"))
        if self.gate is not None:
            object.__setattr__(self, "gate", parse_gate(self.gate).spec)
        if self.N % self.steps.minibatches:
            raise LabError(
                f"minibatches = {self.steps.minibatches}: they must divide the N = {self.N}"
                " rollouts of a group"
            )
        if self.stopping and (self.gate or self.allocation or self.survival != Survival()):
            raise LabError(
                f"stopping = {self.stopping!r} with a gate, an allocation or lost rollouts: its"
                " rollouts are no group; leave the other part out"
            )

    @property
    def spec(self) -> str:
        """The text from which `recipe` makes it again."""
        parts = ("gate", "allocation", "chance", "stopping")
        written = [f"{part}={getattr(self, part)}" for part in parts if getattr(self, part)]
        written += ["per=rollout"] if self.per == "rollout" else []
        for name in PIECES:
            piece = getattr(self, name)
            for each in fields(piece):
                if (value := getattr(piece, each.name)) != each.default:
                    written.append(f"{each.name}={value}")
        return ", ".join([self._estimator.spec, f"N={self.N}", *written])

    @cached_property
    def _estimator(self) -> Estimator:
        return estimator(self.estimator)

    @cached_property
    def _gate(self) -> Gate | None:
        return None if self.gate is None else parse_gate(self.gate)

    @property
    def redraws(self) -> bool:
        """Whether a group that is thrown away is drawn again from the same problem."""
        return self._gate is not None and self._gate.redraws

    @property
    def rule(self) -> StoppingRule | None:
        """The stopping rule, if there is one."""
        return rule_of_training(self.stopping, self._estimator.spec, self.N)

    @property
    def by_pass_rate(self) -> bool:
        """Whether the pass rate alone decides: each rollout is the policy's, each step small."""
        low, high = self.loss.bounds
        capped = self.loss.loss == "cispo" and not low <= 1 <= high
        regularised = bool(self.loss.kl or self.loss.entropy)
        return self.sampler.is_policy and not (self.steps.rate or capped or regularised)

    def sequences(self, n: int) -> tuple[Array, Array, Bool[np.ndarray, " {n}+1"]]:
        """a1(K), a0(K) of n rollouts and whether the group is kept, for K = 0 .. n."""
        a1, a0 = self._estimator.success_failure(n)
        keeps = np.ones(n + 1, dtype=bool)
        if self._gate is not None:
            # Of too few rollouts, lost ones, no group may be left that the gate keeps.
            keeps = self._gate.keeps(n) if n == self.N else self._gate.would_keep(n)
        return keeps * a1, keeps * a0, keeps

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
        q = self.judge.accepts(p)
        drawn = np.ones_like(p) if self.chance is None else _at_pass_rates("chance", self.chance, q)
        if rule := self.rule:
            spent = rule.weight(q)
            return EffectiveWeight(drawn * spent * self.judge.slope, drawn * spent, drawn)
        weight, cost, kept = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p)
        for n, share in _group_sizes(self.N, self.allocation, q):
            here = (share > 0) & (drawn > 0)
            if n == 0 or not here.any():
                continue
            times = share[here] * drawn[here]
            one = self._of_size(n, p[here])
            weight[here] += times * one.weight * (n if self.per == "rollout" else 1)
            cost[here] += times * one.cost
            kept[here] += times * one.kept
        return EffectiveWeight(weight, cost, kept)

    def _of_size(self, N: int, p: Float[np.ndarray, " rates"]) -> EffectiveWeight:
        """A recipe whose groups all start with N rollouts, all problems drawn alike."""
        judge, lost = self.judge, self.survival
        right, wrong = 1 - lost.lost_right, 1 - lost.lost_wrong
        survives = p * right + (1 - p) * wrong
        # E[S; accepted and there] in units of grad p
        pull = right * (1 - judge.false_negative) - wrong * judge.false_positive
        accepted = judge.accepts(p)
        if right != wrong:
            some = np.maximum(survives, 1e-300)
            accepted = p * right * (1 - judge.false_negative) / some
            accepted = accepted + (1 - p) * wrong * judge.false_positive / some
        weight, kept, cost = np.zeros_like(p), np.zeros_like(p), N * np.ones_like(p)
        sizes = binomial(N, survives) if right < 1 or wrong < 1 else None
        for n in range(1, N + 1) if sizes is not None else (N,):
            share = 1.0 if sizes is None else sizes[..., n]
            a1, a0, keeps = self.sequences(n)
            gap, offset = from_success_failure(a1, a0)
            one = pull * binomial_mean(gap, accepted)
            if right != wrong:
                one = one + (right - wrong) * binomial_mean(offset, accepted)
            if sizes is not None:
                one = one / np.maximum(survives, 1e-300)
            weight = weight + share * one
            kept = kept + share * (binomial_mean(keeps, accepted) if self._gate else 1.0)
        if not self.redraws:
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

    def on(self, policy: SoftmaxPolicy, samples: int = 0, seed: int = 0) -> Law:
        """What a batch of this recipe does to a policy over a few answers: the sum over all groups.

        `samples`: sample so many groups instead, where there are too many to sum. LabError: too
        many groups, or a part that has no group (`stopping`, `allocation`, `chance`, `per`).

        >>> policy = SoftmaxPolicy([0.25, 0.75], [True, False])
        >>> round(recipe("rloo, N=4, false_positive=0.2").on(policy).weight, 12)
        0.8
        """
        for part in ("stopping", "allocation", "chance"):
            if getattr(self, part):
                raise LabError(
                    f"{part} = {getattr(self, part)!r}: it is summed by the pass rate alone; leave"
                    " out sampler, rate, kl and entropy, and ask Recipe.at"
                )
        practice = Practice(
            self.spec,
            self.N,
            self.sequences,
            self.redraws,
            self.sampler,
            self.judge,
            self.survival,
            self.loss,
            self.steps,
        )
        return law(practice, policy, samples, seed)


# --- Gates --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gate:
    """Which groups enter the step; written "drop", "redraw" or "between(low, high)"."""

    name: str
    low: float = 0.0
    high: float = 1.0

    @property
    def spec(self) -> str:
        """The text from which `parse_gate` makes it again."""
        if self.name != "between":
            return self.name
        low, high = (repr(bound).removesuffix(".0") for bound in (self.low, self.high))
        return f"between({low}, {high})"

    @property
    def redraws(self) -> bool:
        """Whether a group that is thrown away is drawn again from the same problem."""
        return self.name == "redraw"

    def keeps(self, N: int) -> Bool[np.ndarray, " {N}+1"]:
        """Whether a group with K of N right is kept, for K = 0 .. N. LabError: none is."""
        kept = self.would_keep(N)
        if not kept.any():
            raise LabError(
                f"gate {self.spec} keeps no group of {N} rollouts: raise N, or widen the gate"
            )
        return kept

    def would_keep(self, N: int) -> Bool[np.ndarray, " {N}+1"]:
        """The same, of groups of which it may keep none."""
        K = np.arange(N + 1)
        if self.name == "between":
            return (self.low <= K / N) & (K / N <= self.high)
        return (K > 0) & (K < N)


def parse_gate(text: str) -> Gate:
    """The gate written as `text`. LabError: there is none of this name, or its bounds are wrong.

    >>> parse_gate("between(0.2, 0.8)").keeps(4)
    array([False,  True,  True,  True, False])
    """
    if text in ("drop", "redraw"):
        return Gate(text)
    name, bounds = _read_call(text)
    if name == "between" and len(bounds) == 2:
        low, high = (real(f"bound of gate {text}", bound, 0, 1) for bound in bounds)
        if low <= high:
            return Gate(name, low, high)
    if name not in ("drop", "redraw", "between"):
        raise unknown("gate", str(text), ("drop", "redraw", "between(low, high)"))
    raise LabError(f"cannot read gate {text!r}: write drop, redraw or between(0.2, 0.8)")


# --- How many rollouts, and how often -------------------------------------------------------------


def _group_sizes(
    N: int, allocation: str | None, p: Float[np.ndarray, "*p"]
) -> Iterator[tuple[int, Float[np.ndarray, "*p"]]]:
    """The sizes of groups, each with the chance that a problem gets it, for every p."""
    if allocation is None:
        yield N, np.ones_like(p)
    elif not isinstance(allocation, str):
        raise LabError(
            f"allocation = {allocation!r}: give allocation as text, a formula of p such as"
            ' "min(64, 2/p)" or by_last_rate(32, 16, 8)'
        )
    elif allocation.strip().startswith("by_last_rate"):
        _, numbers = _read_call(allocation)
        if len(numbers) < 2 or not all(isinstance(n, int) for n in numbers):
            raise LabError(
                f"cannot read allocation {allocation!r}: write a whole number of rollouts for each"
                " K = 0 .. n of a problem's last group, for example by_last_rate(32, 16, 8)"
            )
        by_K = np.array(numbers)
        for n in _distinct(by_K):
            yield n, binomial_mean(by_K == n, p)
    else:
        sizes = np.rint(_at_pass_rates("allocation", allocation, p))
        for n in _distinct(sizes):
            yield n, (sizes == n).astype(np.float64)


def _distinct(sizes: Shaped[np.ndarray, "*sizes"]) -> list[int]:
    """The distinct numbers of rollouts. LabError: one is too large."""
    if (sizes > MOST_ROLLOUTS).any():
        raise LabError(
            f"allocation of {sizes[sizes > MOST_ROLLOUTS][0]:g} rollouts: give whole numbers from 0"
            f" to {MOST_ROLLOUTS}, in a formula for example min(64, 2/p)"
        )
    return np.unique(sizes).astype(int).tolist()


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


PIECES = {
    "sampler": Sampler,
    "judge": Judge,
    "survival": Survival,
    "loss": Loss,
    "steps": Steps,
}
OWN = ("N", "gate", "allocation", "chance", "per", "stopping")
PARTS = {each.name: piece for piece, kind in PIECES.items() for each in fields(kind)}


def recipe(text: str | Estimator, N: int = 16, **parts: Any) -> Recipe:
    """The recipe written as `text`, with further `parts` by name; `N` where the text gives none.

    >>> recipe("rloo, N=2, gate=redraw").weight([0.5])
    array([2.])
    >>> recipe("rloo", N=2, clip=0.2, updates=4, rate=0.1).spec
    'rloo, N=2, clip=0.2, updates=4, rate=0.1'
    """
    chosen: str | Estimator = text
    found: dict[str, Any] = {}
    if not isinstance(text, Estimator):
        written, found = _read(text)
        chosen = estimator(written).spec
    for part in parts:
        if part in found:
            raise LabError(f"{part} stands twice in {text!r}: leave one of them out")
    found = {"N": N} | found | parts
    try:
        found["N"] = int(found["N"])
    except ValueError as error:
        raise LabError(f"N = {found['N']} in {text!r}: it must be a whole number") from error
    pieces: dict[str, dict[str, Any]] = {piece: {} for piece in PIECES}
    for part in [part for part in found if part not in OWN]:
        if part not in PARTS:
            raise unknown("part of a recipe", str(part), [*OWN, *PARTS])
        pieces[PARTS[part]][part] = _value(found.pop(part))
    made = {name: PIECES[name](**values) for name, values in pieces.items()}
    one = Recipe(chosen, **found, **made)
    one.at([0.5])  # reads every part
    return one


def _read(text: str) -> tuple[str, dict[str, Any]]:
    """The estimator of a recipe's text, and its parts as they are written."""
    node = syntax_tree(f"recipe({text})")
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1):
        raise LabError(
            f"cannot read the recipe {text!r}: write an estimator and its parts, for example maxrl,"
            " N=16, gate=drop"
        )
    found: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg not in {*OWN, *PARTS}:
            raise unknown("part of a recipe", str(keyword.arg), [*OWN, *PARTS])
        if keyword.arg in found:
            raise LabError(f"{keyword.arg} stands twice in {text!r}: leave one of them out")
        found[keyword.arg] = _text(text, keyword.value)
    return _text(text, node.args[0]), found


def _value(written: Any) -> Any:
    """A number, where a text writes one."""
    node = syntax_tree(written) if isinstance(written, str) else None
    return node.value if isinstance(node, ast.Constant) else written


def _text(text: str, node: ast.expr) -> str:
    """A part of a recipe as it was written; quotes may stand around it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ast.get_source_segment(f"recipe({text})", node) or ""


def _read_call(text: str) -> tuple[str | None, list[Any]]:
    """The name and the numbers of "name" or "name(1, 2)"; the name is None for any other text."""
    node = syntax_tree(text)
    if isinstance(node, ast.Name):
        return node.id, []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        values = [each.value if isinstance(each, ast.Constant) else None for each in node.args]
        return node.func.id, values
    return None, []
