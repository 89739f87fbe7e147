"""From a step's groups to advantages, with what is kept between steps."""

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
    """The advantages of an estimator, or of what a `memory` makes of it (`lab.with_memory`).

    With a stopping `rule`, r - b: a problem's weight is then its expected number of rollouts.
    `round` is how many rollouts of a problem are asked for together.
    """

    def __init__(
        self,
        estimator: Estimator,
        rollouts: int,
        memory: Memory | None = None,
        rule: StoppingRule | None = None,
    ) -> None:
        self.estimator = estimator
        self.rollouts = rollouts
        self.memory = memory
        self.rule = rule
        self.round = rollouts if rule is None else rule.round
        self.spent = 0  # rollouts since the beginning, under a rule

    def enough(self, group: Group) -> bool:
        """Whether no more rollouts of the group's problem are needed."""
        return self.rule is None or self.rule.met(group.K, group.N - group.K)

    def assign(
        self, groups: Sequence[Group], drawn: Sequence[int]
    ) -> tuple[list[np.ndarray], dict[str, float]]:
        """Each group's advantages "rollouts", and what is recorded of them.

        `drawn` is the number of rollouts that each problem was asked for.
        """
        if self.rule is not None:
            self.spent += sum(drawn)
            per_problem = sum(drawn) / len(drawn)
            # The loss is a mean over rollouts, and a rule's a sum over those of a problem.
            assigned = [(group.rewards - self.rule.baseline) * per_problem for group in groups]
            return assigned, {"rollouts a problem": per_problem}
        assigned = advantages(self.estimator, groups)
        metrics: dict[str, float] = {}
        if self.estimator.real is None:
            rates = np.array([group.pass_rate for group in groups])
            weights = induced_weight(self.estimator, self.rollouts, rates)
            metrics["induced weight"] = weights.mean() if groups else 0.0
        if self.memory is not None:
            metrics |= frozen_weights(self.memory, self.rollouts)
            K, n = np.array([(group.K, group.N) for group in groups]).reshape(-1, 2).T
            self._remember(self.memory.observe(K, n))
        return assigned, metrics

    def _remember(self, memory: Memory) -> None:
        self.memory = memory
        self.estimator = memory.estimator()

    def totals(self) -> dict[str, float]:
        """What is recorded of all steps together."""
        return {} if self.rule is None else {"rollouts spent": self.spent}

    def state(self) -> dict[str, Tensor]:
        """What the later steps depend on, for a checkpoint."""
        if self.memory is not None:
            return memory_state(self.memory)
        return {} if self.rule is None else {"rollouts_spent": tensor(self.spent)}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Take up what `state` put into a checkpoint."""
        if self.memory is not None:
            self._remember(restored_memory(self.memory, state))
        elif self.rule is not None:
            self.spent = int(state["rollouts_spent"])


def credit_of(config: LanguageModelConfig) -> Credit:
    """The credit that the settings of a training ask for."""
    spec, rollouts = config.estimator, config.rollouts
    if has_memory(spec):
        memory = with_memory(spec, rollouts)
        return Credit(memory.estimator(), rollouts, memory)
    if spec == "pacs":  # what its loss is where policy and reference agree
        estimator = pacs_at_anchor(config.beta, config.score, config.balanced)
    else:
        estimator = find_estimator(spec)
    rule = rule_of_training(config.stopping, spec, rollouts)
    return Credit(estimator, rollouts, rule=rule)
