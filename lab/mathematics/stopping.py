"""Stopping rules: rollouts of a problem are drawn until something happens, exactly.

    rule = until(right=1, cap=64)

Every rollout that was drawn gets the advantage A = r - b with a constant baseline b, and the
gradient estimate is the sum of A S over them, divided by nothing. Its mean is w(p) grad p, and the
weight w(p) is the expected number of rollouts (docs/mathematics.md, "Stopping rules"): what is
spent on a problem is what it weighs. Until the first right one it is that of MaxRL.

`p` is any array of pass rates, and every result has its shape. Nothing here samples: the sums run
over (drawn, right). Results are accurate to about 1e-12; those that divide by p(1-p) are nan at
p = 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, complete_options, parse_call, real, unknown, whole, write_call
from lab.mathematics.objectives import check_pass_rates
from lab.mathematics.weights import SecondMoments
from lab.shapes import Array, Float

LARGEST_CAP = 65_536  # rollouts of one problem


class Drawn(NamedTuple):
    """The number of rollouts drawn, tau, and how it varies together with what they were.

    `mean` is E[tau], which is the weight w(p); `excess` is R - p tau, by how much the right ones
    among them exceed their expectation.
    """

    mean: Array
    variance: Array  # Var tau
    covariance: Array  # of tau and the excess


@dataclass(frozen=True, kw_only=True)
class StoppingRule:
    """Draw until `right` right and `wrong` wrong rollouts are there, and at most `cap` in all.

    | field | meaning |
    |---|---|
    | `right`, `wrong` | how many of each kind are waited for; 0: none of that kind |
    | `cap` | the most rollouts of a problem |
    | `round` | rollouts drawn between two looks; all rollouts of a round count |
    | `baseline` | the constant b of the advantages r - b |

    LabError: a value out of range, a cap that cannot hold what is waited for, or one that is not a
    whole number of rounds.

    >>> until(right=1, wrong=1, cap=64).spec
    'until(right=1, wrong=1, cap=64)'
    """

    right: int = 0
    wrong: int = 0
    cap: int
    round: int = 1
    baseline: float = 0.0

    def __post_init__(self) -> None:
        whole("right", self.right, 0)
        whole("wrong", self.wrong, 0)
        whole("round", self.round)
        whole("cap", self.cap)
        object.__setattr__(self, "baseline", real("baseline", self.baseline))
        if not self.right + self.wrong:
            raise LabError(f"{self.spec} waits for nothing: give right or wrong at least 1")
        if self.right + self.wrong > self.cap or self.cap > LARGEST_CAP:
            raise LabError(
                f"{self.spec}: the cap must be at least right + wrong = {self.right + self.wrong}"
                f" and at most {LARGEST_CAP}"
            )
        if self.cap % self.round:
            raise LabError(
                f"{self.spec}: the cap is not a whole number of rounds, give a multiple of"
                f" {self.round}"
            )

    @property
    def about(self) -> str:
        """A line for the header of a run."""
        return f"{self.spec}: all rollouts drawn count, with advantages r - {self.baseline:g}"

    @property
    def spec(self) -> str:
        """The text from which `stopping_rule` makes it again: "until(right=1, cap=64)"."""
        usual = {field.name: field.default for field in fields(self)}
        return write_call("until", {k: x for k, x in vars(self).items() if x != usual[k]})

    def met(self, right: Any, wrong: Any) -> Any:
        """Whether all that is waited for is there: of numbers, or of arrays and tensors of them."""
        return (right >= self.right) & (wrong >= self.wrong)

    def drawn(self, p: ArrayLike) -> Drawn:
        """The moments of tau, by recursion over the rollouts drawn and the right ones among them.

        Both counts only grow, so that drawing goes on at a look if and only if something is missing
        there. `low[r]` is the chance of r < `right` right ones after t draws, and `high[x]` that of
        x < `wrong` wrong ones. The moments are sums over the looks of what one more round adds.
        """
        p = check_pass_rates(p)
        q = 1 - p
        low, high = np.zeros((self.right, *p.shape)), np.zeros((self.wrong, *p.shape))
        low[:1], high[:1] = 1.0, 1.0
        mean, square, product = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p)
        for t in range(self.cap):
            if t % self.round == 0:
                after = t + self.round
                # States with too few of both kinds are in `low` already.
                too_few_wrong = high[: max(0, t - self.right + 1)]
                alive = low.sum(0) + too_few_wrong.sum(0)
                right = np.tensordot(np.arange(self.right), low, 1)
                right += np.tensordot(t - np.arange(len(too_few_wrong)), too_few_wrong, 1)
                mean += self.round * alive
                square += (after**2 - t**2) * alive
                product += self.round * (right + after * p * alive)  # of tau and R
            low, high = _after_a_draw(low, p), _after_a_draw(high, q)
        return Drawn(mean, np.maximum(square - mean**2, 0.0), product - p * square)

    def weight(self, p: ArrayLike) -> Float[np.ndarray, "*p"]:
        """The weight w(p) that the rule puts on grad p: the expected number of rollouts drawn.

        >>> until(right=1, cap=2).weight([0.5, 1.0])   # (1-(1-p)^2)/p
        array([1.5, 1. ])
        """
        return self.drawn(p).mean

    def second_moments(self, p: ArrayLike) -> SecondMoments:
        """Where the noise of the gradient comes from: D1, D0 and Var Z.

        D1 = p (1-b)², D0 = (1-p) b², Z = (1-b) R/p + b (tau-R)/(1-p). With v1, v0 the traces of the
        score's covariance given right and given wrong, the gradient estimate has trace Cov =
        w (v1 D1 + v0 D0) + |grad p|² Var Z.
        """
        p = check_pass_rates(p)
        q, b, drawn = 1 - p, self.baseline, self.drawn(p)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (q - b) / (p * q)
            of_Z = drawn.variance + 2 * slope * drawn.covariance + slope * (q - b) * drawn.mean
            of_Z = np.maximum(of_Z, 0.0)  # the terms may cancel; nan stays
        return SecondMoments(right=p * (1 - b) ** 2, wrong=q * b**2, successes=of_Z)

    def efficiency(self, p: ArrayLike) -> Float[np.ndarray, "*p"]:
        """The share of the possible signal-to-noise *per rollout spent* that is kept.

        p(1-p)/(D1 + D0) = p(1-p)/(p(1-p) + (b-p)²), in the sense of `lab.efficiency`: the squared
        signal-to-noise ratio, divided by the rollouts, relative to that of the oracle baseline
        A = r - p, where correctness explains little of the score. It depends on the baseline alone,
        and not on the rule.

        >>> until(right=1, cap=64).efficiency([0.02, 0.3])   # 1-p without a baseline
        array([0.98, 0.7 ])
        """
        p, b = check_pass_rates(p), self.baseline
        with np.errstate(divide="ignore", invalid="ignore"):
            return p * (1 - p) / (p * (1 - b) ** 2 + (1 - p) * b**2)

    def one_baseline(self, p: Float[np.ndarray, "*p"]) -> float:
        """The b with the least noise over problems of pass rates `p`, which share one baseline.

        It is the mean of p, each problem weighed by the rollouts that it costs: the share of right
        ones among all rollouts spent. That holds where correctness explains little of the score
        (docs/mathematics.md has it for any share).

        >>> round(until(right=1, cap=1000).one_baseline([0.1, 0.3]), 12)   # the harmonic mean
        0.15
        """
        return float(np.average(check_pass_rates(p), weights=self.weight(p)))


def _after_a_draw(chance: Array, p: Float[np.ndarray, "*p"]) -> Array:
    """The chances of counts 0, 1, ... (first axis) after a draw that adds 1 with chance p."""
    after = chance * (1 - p)
    after[1:] += chance[:-1] * p
    return after


# What a rule is called in settings and lessons.
until = StoppingRule


def stopping_rule(text: str) -> StoppingRule:
    """The rule that a text describes. LabError: an unknown name or option, or no cap.

    >>> stopping_rule("until(right=1, cap=64, baseline=0.1)").baseline
    0.1
    """
    name, options = parse_call(text)
    if name != "until":
        raise unknown("stopping rule", name, ["until"])
    return until(**complete_options("stopping rule", name, until, options))


def rule_of_training(text: str, estimator: str, rollouts: int) -> StoppingRule | None:
    """The rule of a training's setting `stopping`; None where it is empty.

    LabError: the rule would leave one of the other two settings unread.
    """
    if not text:
        return None
    rule = stopping_rule(text)
    if estimator != "reinforce":
        raise LabError(
            f"stopping = {text!r} gives the advantages r - b itself, and estimator = {estimator!r}"
            " would not be used: set estimator to 'reinforce'"
        )
    if rollouts != rule.cap:
        raise LabError(
            f"stopping = {text!r} draws at most {rule.cap} rollouts, and rollouts = {rollouts}: set"
            f" rollouts to {rule.cap}"
        )
    return rule
