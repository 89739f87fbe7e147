"""From a step's groups to advantages: one call of an estimator, with what it keeps between steps.

| `credit_of(config)` | rollouts of a problem | advantages | kept between steps |
|---|---|---|---|
| `Credit` | N | of the estimator | nothing |
| `RememberedCredit` | N | of what the memory makes of it (`lab.with_memory`) | the memory |
| `StoppedCredit` | until a rule is met (`lab.stopping`) | r - b | rollouts spent |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor, tensor

from lab.configurations.language_models import LanguageModelConfig
from lab.losses import pacs_at_anchor
from lab.mathematics.estimators import Estimator, advantages
from lab.mathematics.estimators import estimator as find_estimator
from lab.mathematics.groups import Group
from lab.mathematics.memories import Memory, frozen_weights, has_memory, with_memory
from lab.mathematics.stopping import StoppingRule, rule_of_training
from lab.mathematics.weights import induced_weight
from lab.training.checkpoint import memory_state, restored_memory


class Credit:
    """The advantages of one estimator, the same at every step.

    `round` is how many rollouts of a problem are asked for together.
    """

    def __init__(self, estimator: Estimator, rollouts: int) -> None:
        self.estimator = estimator
        self.rollouts = rollouts
        self.round = rollouts

    def enough(self, group: Group) -> bool:
        """Whether no more rollouts of the group's problem are needed."""
        return True

    def assign(
        self, groups: Sequence[Group], drawn: Sequence[int]
    ) -> tuple[list[np.ndarray], dict[str, float]]:
        """Each group's advantages "rollouts", and what is recorded of them.

        `drawn` is the number of rollouts that each problem was asked for.
        """
        metrics = {}
        if self.estimator.real is None:
            rates = np.array([group.pass_rate for group in groups])
            weights = induced_weight(self.estimator, self.rollouts, rates)
            metrics["induced weight"] = weights.mean() if groups else 0.0
        return advantages(self.estimator, groups), metrics

    def totals(self) -> dict[str, float]:
        """What is recorded of all steps together."""
        return {}

    def state(self) -> dict[str, Tensor]:
        """What the later steps depend on, for a checkpoint."""
        return {}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Take up what `state` put into a checkpoint."""


class RememberedCredit(Credit):
    """The advantages of an estimator that learns from earlier steps."""

    def __init__(self, memory: Memory, rollouts: int) -> None:
        super().__init__(memory.estimator(), rollouts)
        self.memory = memory

    def assign(
        self, groups: Sequence[Group], drawn: Sequence[int]
    ) -> tuple[list[np.ndarray], dict[str, float]]:
        assigned, metrics = super().assign(groups, drawn)
        metrics |= frozen_weights(self.memory, self.rollouts)
        K, n = np.array([(group.K, group.N) for group in groups]).reshape(-1, 2).T
        self._remember(self.memory.observe(K, n))
        return assigned, metrics

    def state(self) -> dict[str, Tensor]:
        return memory_state(self.memory)

    def restore(self, state: Mapping[str, Tensor]) -> None:
        self._remember(restored_memory(self.memory, state))

    def _remember(self, memory: Memory) -> None:
        self.memory = memory
        self.estimator = memory.estimator()


class StoppedCredit(Credit):
    """The advantages r - b of a stopping rule, whose weight is the expected number of rollouts."""

    def __init__(self, rule: StoppingRule, estimator: Estimator, rollouts: int) -> None:
        super().__init__(estimator, rollouts)
        self.rule = rule
        self.round = rule.round
        self.spent = 0  # rollouts since the beginning

    def enough(self, group: Group) -> bool:
        return self.rule.met(group.K, group.N - group.K)

    def assign(
        self, groups: Sequence[Group], drawn: Sequence[int]
    ) -> tuple[list[np.ndarray], dict[str, float]]:
        self.spent += sum(drawn)
        per_problem = sum(drawn) / len(drawn)
        # The loss is a mean over rollouts, and a rule's a sum over those of a problem.
        assigned = [(group.rewards - self.rule.baseline) * per_problem for group in groups]
        return assigned, {"rollouts a problem": per_problem}

    def totals(self) -> dict[str, float]:
        return {"rollouts spent": self.spent}

    def state(self) -> dict[str, Tensor]:
        return {"rollouts_spent": tensor(self.spent)}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        self.spent = int(state["rollouts_spent"])


def credit_of(config: LanguageModelConfig) -> Credit:
    """The credit that the settings of a training ask for."""
    if has_memory(config.estimator):
        return RememberedCredit(with_memory(config.estimator, config.rollouts), config.rollouts)
    if config.estimator == "pacs":  # what its loss is where policy and reference agree
        estimator = pacs_at_anchor(config.beta, config.score, config.balanced)
    else:
        estimator = find_estimator(config.estimator)
    if rule := rule_of_training(config.stopping, config.estimator, config.rollouts):
        return StoppedCredit(rule, estimator, config.rollouts)
    return Credit(estimator, config.rollouts)
