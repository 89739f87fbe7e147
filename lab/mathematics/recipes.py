"""The exact weight of a recipe: an estimator, a gate, an allocation of rollouts, and which problems
are drawn.

Practice seldom gives every problem N rollouts and uses every group. A *gate* throws groups away, an
*allocation* gives problems different numbers of rollouts, and a *chance* draws some problems more
often than others. Each is a way to weigh problems, and `effective_weight` says which, without
sampling. Statements G1 to G5 with their proofs are in docs/mathematics.md.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, one_of, real, syntax_tree, unknown, whole
from lab.mathematics.estimators import Estimator, estimator
from lab.mathematics.formula import formula_weight
from lab.mathematics.objectives import check_pass_rates
from lab.mathematics.sequences import Sequences, from_success_failure
from lab.mathematics.weights import binomial_mean, induced_weight
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

    A batch that averages over the groups it kept divides the sum of the weights by that of `kept`:
    one factor for all problems. LabError: a gate that keeps no group, an allocation of more than
    4096 rollouts. At p = 0 and 1 "redraw" never ends: the cost is inf and the weight nan.

    >>> effective_weight("rloo", 2, [0.5, 0.1], gate="redraw").weight.round(6)   # 1/(2pq)
    array([2.      , 5.555556])
    """
    chosen = estimator(name)
    p = check_pass_rates(p)
    chosen_gate = None if gate is None else parse_gate(gate)
    one_of("per", per, ("problem", "rollout"))
    drawn = np.ones_like(p) if chance is None else _at_pass_rates("chance", chance, p)
    weight, cost, kept = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p)
    for n, share in _group_sizes(whole("N", N), allocation, p):
        here = (share > 0) & (drawn > 0)
        if n == 0 or not here.any():
            continue
        times = share[here] * drawn[here]
        one = _one_size(chosen, n, p[here], chosen_gate)
        weight[here] += times * one.weight * (n if per == "rollout" else 1)
        cost[here] += times * one.cost
        kept[here] += times * one.kept
    return EffectiveWeight(weight, cost, kept)


def _one_size(
    chosen: Estimator, n: int, p: Float[np.ndarray, " rates"], gate: Gate | None
) -> EffectiveWeight:
    """A recipe whose groups all have n rollouts, all problems drawn alike (G1 to G3)."""
    cost = n * np.ones_like(p)
    if gate is None:
        return EffectiveWeight(induced_weight(chosen, n, p), cost, np.ones_like(p))
    weight = induced_weight(gated(chosen, gate), n, p)
    kept = binomial_mean(gate.keeps(n), p)
    if not gate.redraws:
        return EffectiveWeight(weight, cost, kept)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(kept > 0, weight / kept, np.nan)
        return EffectiveWeight(weight, cost / kept, np.sign(kept))


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
        K = np.arange(N + 1)
        if self.name == "between":
            kept = (self.low <= K / N) & (K / N <= self.high)
        else:
            kept = (K > 0) & (K < N)
        if not kept.any():
            raise LabError(
                f"gate {self.spec} keeps no group of {N} rollouts: raise N, or widen the gate"
            )
        return kept


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


@lru_cache(maxsize=256)
def gated(chosen: Estimator, gate: Gate) -> Estimator:
    """The estimator with advantages 0 in the groups that the gate throws away (G1).

    It is a group estimator like every other, with an exact weight, variance and efficiency of its
    own; its offset too is that of the groups that are kept.
    """

    def sequences(N: int) -> Sequences:
        a1, a0 = chosen.success_failure(N)
        kept = gate.keeps(N)
        return from_success_failure(kept * a1, kept * a0)

    return Estimator(
        f"{chosen.spec}, gate={gate.spec}",
        sequences,
        label=f"{chosen.label}, gate {gate.spec}",
        citation=chosen.citation,
        least=chosen.least,
    )


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


PARTS = ("N", "gate", "allocation", "chance", "per")


@dataclass(frozen=True)
class Recipe:
    """A recipe as text: "maxrl, N=16, gate=drop". The parts are those of `effective_weight`.

    LabError: a part that cannot be read.
    """

    estimator: str
    N: int
    gate: str | None = None
    allocation: str | None = None
    chance: str | None = None
    per: str = "problem"

    def __post_init__(self) -> None:
        whole("N", self.N)
        if self.gate is not None:
            object.__setattr__(self, "gate", parse_gate(self.gate).spec)
        self.at([0.5])  # reads every part

    @property
    def spec(self) -> str:
        """The text from which `recipe` makes it again."""
        parts = ("gate", "allocation", "chance")
        written = [f"{part}={getattr(self, part)}" for part in parts if getattr(self, part)]
        written += ["per=rollout"] if self.per == "rollout" else []
        return ", ".join([self.estimator, f"N={self.N}", *written])

    def at(self, p: ArrayLike) -> EffectiveWeight:
        """Weight, cost and share kept at the pass rates p."""
        parts = {part: getattr(self, part) for part in PARTS[1:]}
        return effective_weight(self.estimator, self.N, p, **parts)

    def weight(self, p: ArrayLike) -> Float[np.ndarray, "*p"]:
        """The weight at the pass rates p."""
        return self.at(p).weight


def recipe(text: str, N: int = 16) -> Recipe:
    """The recipe written as `text`; `N` is meant where the text gives none.

    >>> recipe("rloo, N=2, gate=redraw").weight([0.5])
    array([2.])
    """
    node = syntax_tree(f"recipe({text})")
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1):
        raise LabError(
            f"cannot read the recipe {text!r}: write an estimator and its parts, for example maxrl,"
            " N=16, gate=drop"
        )
    found: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg not in PARTS:
            raise unknown("part of a recipe", str(keyword.arg), PARTS)
        if keyword.arg in found:
            raise LabError(f"{keyword.arg} stands twice in {text!r}: leave one of them out")
        found[keyword.arg] = _text(text, keyword.value)
    try:
        found["N"] = int(found.get("N", N))
    except ValueError as error:
        raise LabError(f"N = {found['N']} in {text!r}: it must be a whole number") from error
    return Recipe(estimator(_text(text, node.args[0])).spec, **found)


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
