"""The exact weight of a recipe: an estimator, a gate, an allocation of rollouts, and which problems
are drawn.

Practice seldom gives every problem N rollouts and uses every group. A *gate* throws groups away, an
*allocation* gives problems different numbers of rollouts, and a *chance* draws some problems more
often than others. Each is a way to weigh problems, and `effective_weight` says which, without
sampling. Statements G1 to G5 with their proofs are in docs/mathematics.md.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, one_of, real, unknown, whole
from lab.mathematics.estimators import Estimator, estimator
from lab.mathematics.formula import formula_weight
from lab.mathematics.objectives import check_pass_rates
from lab.mathematics.sequences import Sequences, from_success_failure
from lab.mathematics.weights import binomial_mean, binomial_means, induced_weight
from lab.shapes import Array, Bool, Float, Int

# Up to here the sums are accurate (weights.py); an allocation such as 1/p needs some limit.
MOST_ROLLOUTS = 4096
LARGEST_TABLE = 2_000_000  # chances in one table, 16 MB; sizes come one after another above it
EXAMPLE = "maxrl, N=16, gate=drop"

Numbers = str | Callable[[Array], ArrayLike] | ArrayLike  # a number for every pass rate


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
    allocation: Numbers | None = None,
    chance: Numbers | None = None,
    per: str = "problem",
) -> EffectiveWeight:
    """The exact weight of a recipe at the pass rates p, what it costs, and how much it keeps.

    | argument | meaning |
    |---|---|
    | `gate` | "drop": groups that agree are dropped, and another problem is drawn instead |
    | | "redraw": N rollouts of the same problem are drawn again until they disagree |
    | | "between(low, high)": groups whose rate K/N is not in [low, high] are dropped |
    | `allocation` | rollouts for a problem instead of N: a function of p or its formula ("2/p", |
    | | see `formula.py`), rounded; or an array of whole numbers; 0 leaves the problem out |
    | | "by_last_rate(32, 16, 8)": the number at place K after K right ones in its last group, |
    | | which here had 2 rollouts; exact if p has not changed since |
    | `chance` | how often a problem is drawn, relative to others: a function, formula or array |
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
    parts: Iterator[tuple[Any, Array]]  # sizes, one for all p or one for each, and their chances
    drawn = np.ones_like(p) if chance is None else at_pass_rates("chance", chance, p)
    weight, cost, kept = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p)
    sizes = None if allocation is None else _sizes_at(allocation, p)
    if sizes is not None and sizes.size * (sizes.max(initial=0) + 1) <= LARGEST_TABLE:
        parts = iter([(sizes, np.ones_like(p))])
    else:
        parts = group_sizes(whole("N", N), allocation, p)
    for n, share in parts:
        here = (share > 0) & (drawn > 0) & (n > 0)
        if not here.any():
            continue
        times = share[here] * drawn[here]
        if isinstance(n, int):
            one = _one_size(chosen, n, p[here], chosen_gate)
        else:
            n = n[here]
            one = _own_sizes(chosen, n, p[here], chosen_gate)
        weight[here] += times * one.weight * (n if per == "rollout" else 1)
        cost[here] += times * one.cost
        kept[here] += times * one.kept
    return EffectiveWeight(weight, cost, kept)


def _one_size(
    chosen: Estimator, n: int, p: Float[np.ndarray, " rates"], gate: Gate | None
) -> EffectiveWeight:
    """A recipe whose groups all have n rollouts, all problems drawn alike (G1 to G3)."""
    if gate is None:
        weight, kept = induced_weight(chosen, n, p), np.ones_like(p)
    else:
        weight = induced_weight(gated(chosen, gate), n, p)
        kept = binomial_mean(gate.keeps(n), p)
    return _drawn_until_kept(weight, n * np.ones_like(p), kept, gate)


def _own_sizes(
    chosen: Estimator,
    n: Int[np.ndarray, " rates"],
    p: Float[np.ndarray, " rates"],
    gate: Gate | None,
) -> EffectiveWeight:
    """`_one_size` where every pass rate has a number of rollouts of its own."""
    scored = chosen if gate is None else gated(chosen, gate)
    sizes = np.unique(n).tolist()
    gaps = {size - 1: scored.coefficients(size)[0] for size in sizes}
    weight, kept = binomial_means(gaps, n - 1, p), np.ones_like(p)
    if gate is not None:
        kept = binomial_means({size: gate.keeps(size) for size in sizes}, n, p)
    return _drawn_until_kept(weight, n.astype(np.float64), kept, gate)


def _drawn_until_kept(weight: Array, n: Array, kept: Array, gate: Gate | None) -> EffectiveWeight:
    """Weight, cost and share of one draw, or of all draws until a group is kept (G3)."""
    if gate is None or not gate.redraws:
        return EffectiveWeight(weight, n, kept)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(kept > 0, weight / kept, np.nan)
        return EffectiveWeight(weight, n / kept, np.sign(kept))


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


def group_sizes(
    N: int, allocation: Numbers | None, p: Float[np.ndarray, "*p"]
) -> Iterator[tuple[int, Float[np.ndarray, "*p"]]]:
    """The sizes of groups, each with the chance that a problem gets it, for every p."""
    if allocation is None:
        yield N, np.ones_like(p)
        return
    sizes = _sizes_at(allocation, p)
    if sizes is not None:
        for n in np.unique(sizes):
            yield int(n), (sizes == n).astype(np.float64)
        return
    table = _last_rate_table(str(allocation))
    assert table is not None  # what has no sizes by p
    for n in np.unique(table):
        yield int(n), binomial_mean(table == n, p)


def _sizes_at(allocation: Numbers, p: Float[np.ndarray, "*p"]) -> Int[np.ndarray, "*p"] | None:
    """The size of the group at every p; None where it depends on the last rate too."""
    if isinstance(allocation, str) and _last_rate_table(allocation) is not None:
        return None
    sizes = at_pass_rates("allocation", allocation, p)
    if callable(allocation) or isinstance(allocation, str):
        sizes = np.rint(sizes)
    _check_sizes(sizes)
    return sizes.astype(np.int64)


def _last_rate_table(text: str) -> Float[np.ndarray, " outcomes"] | None:
    """The numbers of "by_last_rate(32, 16, 8)"; None for any other text, which is a formula."""
    if not text.strip().startswith("by_last_rate"):
        return None
    _, numbers = _read_call(text)
    if len(numbers) < 2 or not all(isinstance(n, int) for n in numbers):
        raise LabError(
            f"cannot read allocation {text!r}: write a whole number of rollouts for each K = 0 .. n"
            " of a problem's last group, for example by_last_rate(32, 16, 8)"
        )
    table = np.array(numbers, dtype=np.float64)
    _check_sizes(table)
    return table


def _check_sizes(sizes: Float[np.ndarray, "*p"]) -> None:
    """LabError: a number of rollouts is not whole, or out of range."""
    wrong = (sizes != np.rint(sizes)) | (sizes > MOST_ROLLOUTS)
    if wrong.any():
        raise LabError(
            f"allocation of {sizes[wrong].flat[0]:g} rollouts: give whole numbers from 0 to"
            f" {MOST_ROLLOUTS}, in a formula for example min(64, 2/p)"
        )


def at_pass_rates(
    what: str, numbers: Numbers, p: Float[np.ndarray, "*p"]
) -> Float[np.ndarray, "*p"]:
    """A function, formula or array as numbers of at least 0, one for each pass rate."""
    if isinstance(numbers, str):
        values = formula_weight(numbers).weight(p)
    else:
        values = np.asarray(numbers(p) if callable(numbers) else numbers, dtype=np.float64)
    if values.shape != p.shape:
        raise LabError(
            f"{what} of shape {values.shape} for pass rates of shape {p.shape}: give one number"
            " for each pass rate, or a function of p"
        )
    wrong = ~((values >= 0) & np.isfinite(values))
    if wrong.any():
        raise LabError(
            f"{what} {values[wrong].flat[0]:g} at p = {p[wrong].flat[0]:g}: it must be finite and"
            " at least 0"
        )
    return values


# --- A recipe as one text -------------------------------------------------------------------------


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
        return effective_weight(
            self.estimator,
            self.N,
            p,
            gate=self.gate,
            allocation=self.allocation,
            chance=self.chance,
            per=self.per,
        )

    def weight(self, p: ArrayLike) -> Float[np.ndarray, "*p"]:
        """The weight at the pass rates p."""
        return self.at(p).weight

    def cost(self, p: ArrayLike) -> Float[np.ndarray, "*p"]:
        """The mean number of rollouts for a problem of each pass rate."""
        return self.at(p).cost


PARTS = ("N", "gate", "allocation", "chance", "per")


def recipe(text: str, N: int = 16) -> Recipe:
    """The recipe written as `text`; `N` is meant where the text gives none.

    >>> recipe("rloo, N=2, gate=redraw").weight([0.5])
    array([2.])
    """
    node = _read_expression(f"recipe({text})")
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1):
        raise LabError(
            f"cannot read the recipe {text!r}: write an estimator and its parts, for example"
            f" {EXAMPLE}"
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


def _read_expression(text: str) -> ast.expr | None:
    """The syntax tree of a text, of which nothing is evaluated; None where it has no syntax."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


def _read_call(text: str) -> tuple[str | None, list[Any]]:
    """The name and the numbers of "name" or "name(1, 2)"; the name is None for any other text."""
    node = _read_expression(text)
    if isinstance(node, ast.Name):
        return node.id, []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        values = [each.value if isinstance(each, ast.Constant) else None for each in node.args]
        return node.func.id, values
    return None, []
