"""What practice puts between a policy and its update: sampler, judge, lost rollouts, steps."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from lab.errors import LabError, real, whole
from lab.shapes import Float


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


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Errors that do not depend on the answer: wrong ones accepted, right ones refused, by chance.

    Errors that do are `SoftmaxPolicy.accepted`. A placebo has 0.5 of both.
    """

    false_positive: float = 0.0
    false_negative: float = 0.0

    def __post_init__(self) -> None:
        for each in fields(self):
            real(each.name, getattr(self, each.name), 0, 1)

    @property
    def slope(self) -> float:
        """1 - a - b: how much of grad p is left in the gradient of what is accepted."""
        return 1 - self.false_positive - self.false_negative

    def accepts(self, p: Float[np.ndarray, "*p"]) -> Float[np.ndarray, "*p"]:
        """The chance that a rollout is accepted, at pass rate p."""
        return p if self == Judge() else self.false_positive + self.slope * p


@dataclass(frozen=True, kw_only=True)
class Survival:
    """The chances that a right and that a wrong rollout is lost before its group is scored."""

    lost_right: float = 0.0
    lost_wrong: float = 0.0

    def __post_init__(self) -> None:
        for each in fields(self):
            real(each.name, getattr(self, each.name), 0, 1)


@dataclass(frozen=True, kw_only=True)
class Steps:
    """What is done with a batch: passes over it, each dealt to minibatches; SGD's learning rate.

    A rate of 0 is the limit of small steps, in which neither the passes nor any clipping matter.
    """

    updates: int = 1
    minibatches: int = 1
    rate: float = 0.0

    def __post_init__(self) -> None:
        whole("updates", self.updates)
        whole("minibatches", self.minibatches)
        real("rate", self.rate, 0)

    @property
    def scale(self) -> float:
        """What divides the move of a batch, so that in the limit of small steps it is w grad p."""
        return self.rate * self.updates * self.minibatches
