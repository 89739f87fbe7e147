"""One group in practice: how it is drawn, judged and kept, and the optimiser steps on it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from lab.errors import LabError, real, syntax_tree, unknown, whole
from lab.mathematics.estimators import Estimator, estimator
from lab.mathematics.token_loss import Loss
from lab.shapes import Array, Bool, Float


@dataclass(frozen=True, kw_only=True)
class Sampler:
    """How rollouts are drawn: at a temperature, then only the likelier tokens.

    | field | meaning |
    |---|---|
    | `temperature` | of the distribution that tokens are drawn from |
    | `top_p` | the fewest tokens that hold this much of the chance |
    | `top_k` | at most so many tokens; 0: all |
    | `min_p` | tokens with at least this share of the chance of the likeliest |
    | `score_temperature` | that of the policy whose log-probabilities are trained |

    TRL, verl and the lab train at the temperature that they sample at: set both to it.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    score_temperature: float = 1.0

    def __post_init__(self) -> None:
        for name in ("temperature", "score_temperature"):
            if real(name, getattr(self, name), 0) == 0:
                raise LabError(f"{name} = 0: a greedy policy has no score; give a positive one")
        real("min_p", self.min_p, 0, 1)
        if real("top_p", self.top_p, 0, 1) == 0:
            raise LabError("top_p = 0 keeps no token: give a share above 0")

    @property
    def is_policy(self) -> bool:
        """Whether what is drawn from is what is trained."""
        cuts = self.top_p < 1 or self.top_k > 0 or self.min_p > 0
        return not cuts and self.temperature == self.score_temperature

    def of(self, pi: Float[np.ndarray, " tokens"]) -> Float[np.ndarray, " tokens"]:
        """The chances of being drawn, from the policy's own at temperature 1."""
        heated = np.where(pi > 0, pi, 1.0) ** (1 / self.temperature) * (pi > 0)
        heated = heated / heated.sum()
        order = np.argsort(-heated, kind="stable")
        sorted_ = heated[order]
        kept = np.cumsum(sorted_) - sorted_ < self.top_p - 1e-12
        kept &= sorted_ >= self.min_p * sorted_[0]
        if self.top_k:
            kept[self.top_k :] = False
        drawn = np.zeros_like(heated)
        drawn[order] = sorted_ * kept
        return drawn / drawn.sum()


@dataclass(frozen=True)
class Gate:
    """Which groups enter the step; `name` is "drop", "redraw" or "between", which has bounds."""

    name: str
    low: float = 0.0
    high: float = 1.0

    def keeps(self, N: int) -> Bool[np.ndarray, " {N}+1"]:
        """Whether a group with K of N right is kept, for K = 0 .. N."""
        K = np.arange(N + 1)
        if self.name == "between":
            return (self.low <= K / N) & (K / N <= self.high)
        return (K > 0) & (K < N)


def parse_gate(text: str) -> Gate:
    """The gate written as `text`. LabError: there is none of this name, or its bounds are wrong.

    >>> parse_gate("between(0.2, 0.8)").keeps(4)
    array([False,  True,  True,  True, False])
    """
    match syntax_tree(text):
        case ast.Name("drop" | "redraw" as name):
            return Gate(name)
        case ast.Call(ast.Name("between"), [first, second], []):
            bounds = [getattr(each, "value", None) for each in (first, second)]
            low, high = (real(f"bound of gate {text}", bound, 0, 1) for bound in bounds)
            if low <= high:
                return Gate("between", low, high)
        case ast.Call(ast.Name("drop" | "redraw" | "between")) | ast.Name("between"):
            pass
        case _:
            raise unknown("gate", str(text), ("drop", "redraw", "between(low, high)"))
    raise LabError(f"cannot read gate {text!r}: write drop, redraw or between(0.2, 0.8)")


@dataclass(frozen=True)
class Practice:
    """One group and the steps on it.

    | field | meaning |
    |---|---|
    | `gate` | "drop": groups that agree are dropped, and another problem is drawn instead |
    | | "redraw": N rollouts of the same problem are drawn again until they disagree |
    | | "between(low, high)": groups whose rate K/N is not in [low, high] are dropped |
    | `sampler` | how rollouts are drawn |
    | `false_positive` | the chance that the judge accepts an answer though it is wrong |
    | `false_negative` | that it refuses a right one; a placebo has 0.5 of both. Errors that |
    | | depend on the answer are `SoftmaxPolicy.accepted` |
    | `lost_right`, `lost_wrong` | chances that a rollout is lost before its group is scored |
    | `loss` | what a step on the group minimises |
    | `updates`, `rate` | steps on each batch, and SGD's learning rate; 0 is the limit of small |
    | | steps, in which neither their number nor any clipping matters |
    """

    estimator: str | Estimator
    N: int
    gate: str | None = None
    sampler: Sampler = field(default_factory=Sampler)
    false_positive: float = 0.0
    false_negative: float = 0.0
    lost_right: float = 0.0
    lost_wrong: float = 0.0
    loss: Loss = field(default_factory=Loss)
    updates: int = 1
    rate: float = 0.0

    def __post_init__(self) -> None:
        whole("N", self.N)
        whole("updates", self.updates)
        real("rate", self.rate, 0)
        for name in ("false_positive", "false_negative", "lost_right", "lost_wrong"):
            real(name, getattr(self, name), 0, 1)
        if self.gate is not None:
            parse_gate(self.gate)

    @property
    def parts(self) -> dict[str, Any]:
        """The parts that are not left out, by name, as `recipe` takes them."""
        said = _said(self)
        del said["estimator"], said["N"]
        return said

    @property
    def spec(self) -> str:
        """The text from which `recipe` makes it again."""
        parts = {"N": self.N} | self.parts
        return ", ".join([self.chosen.spec, *(f"{name}={part}" for name, part in parts.items())])

    @cached_property
    def chosen(self) -> Estimator:
        """The estimator."""
        return estimator(self.estimator)

    def sequences(self, n: int) -> tuple[Array, Array, Bool[np.ndarray, " {n}+1"]]:
        """a1(K), a0(K) of n rollouts and whether the group is kept, for K = 0 .. n.

        LabError: no group of N rollouts is kept; of fewer, where some are lost, none need be.
        """
        a1, a0 = self.chosen.success_failure(n)
        keeps = np.ones(n + 1, dtype=bool) if self.gate is None else parse_gate(self.gate).keeps(n)
        if n == self.N and not keeps.any():
            raise LabError(
                f"gate {self.gate} keeps no group of {n} rollouts: raise N, or widen the gate"
            )
        return keeps * a1, keeps * a0, keeps


def _said(piece: Practice | Sampler | Loss) -> dict[str, Any]:
    """The fields that are not at their default, those of a sampler and a loss among them."""
    found: dict[str, Any] = {}
    for each in fields(piece):
        value = getattr(piece, each.name)
        if isinstance(value, (Sampler, Loss)):
            found |= _said(value)
        elif value != each.default:
            found[each.name] = value
    return found
