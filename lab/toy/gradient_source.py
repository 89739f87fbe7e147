"""The loss of a step where pass rates can be computed: sampled, or one of its means."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from lab.configurations.toy_worlds import MazeConfig, SoftmaxConfig, TabularConfig
from lab.errors import LabError
from lab.losses import (
    counted,
    counted_sum,
    exact_factor,
    expected_factor,
    policy_gradient,
    population,
)
from lab.mathematics.estimators import Estimator, advantages, estimator
from lab.mathematics.memories import IN_THE_HEADER, Memory, frozen_weights, has_memory, with_memory
from lab.mathematics.objectives import Objective, objective
from lab.mathematics.stopping import rule_of_training
from lab.shapes import Bool, Float, Shaped
from lab.toy.multinomial import draw_counts, draw_counts_until, listed, rollouts_spent, spend
from lab.toy.practised import Practice
from lab.toy.worlds import World


class GradientSource:
    """The gradient of an objective where pass rates can be computed.

    | `gradient` | meaning |
    |---|---|
    | "sampled" | N answers a problem are drawn and get the estimator's advantages: RLVR as it is |
    | "expected" | its mean over all draws, w_N(p) grad p: no noise, finite N |
    | "exact" | w(p) grad p for an objective of the catalogue; `ml` gives cross-entropy |

    `loss` is for a policy that is one softmax over a few answers; those of "sampled" are drawn as
    counts, see `lab.toy.multinomial`. `loss_of_pass_rates` needs only the pass rates, so it is for
    any policy, but not for "sampled".

    An estimator with a memory needs "sampled". The memory takes in one batch with each `loss`. With
    `stopping`, the text of a rule (`lab.stopping`), answers are drawn until the rule is met, in
    place of N.
    """

    practice: Practice | None = None

    def __init__(
        self, name: str, gradient: str, rollouts: int, stopping: str = "", practice: str = ""
    ) -> None:
        self.gradient = gradient
        self.rollouts = rollouts
        self.rule = rule_of_training(stopping, name, rollouts)
        if self.rule is not None and gradient != "sampled":
            raise LabError(
                f"stopping = {stopping!r} draws rollouts, and gradient = {gradient!r} has none: set"
                " gradient to 'sampled'"
            )
        self.kept: dict[str, Tensor] = {}  # for `World.kept`
        if self.rule is not None:
            spend(self.kept, torch.zeros(0))
        if gradient == "sampled" and has_memory(name):
            self._remember(with_memory(name, rollouts))
        elif gradient == "exact":
            self.chosen: Estimator | Objective = objective(name)
        else:
            self.chosen = estimator(name)
        if isinstance(self.target, Estimator):
            # Raises LabError, before anything runs, where the estimator needs more rollouts.
            self.target.coefficients(rollouts)
        if practice:
            if gradient != "sampled" or stopping or self.memory is not None:
                raise LabError(
                    f"practice = {practice!r} is for groups of N sampled rollouts: set gradient to"
                    " 'sampled', leave stopping empty and take an estimator without a memory"
                )
            self.practice = Practice(name, rollouts, practice)
            self.kept = self.practice.kept

    @classmethod
    def of(cls, config: SoftmaxConfig | MazeConfig) -> GradientSource:
        """That of a training with these settings. LabError: they exclude each other."""
        groups = (config.estimator, config.gradient, config.rollouts, config.stopping)
        source = cls(*groups, config.practice if isinstance(config, SoftmaxConfig) else "")
        if isinstance(config, TabularConfig) and config.rewards == "graded":
            source.check_real_rewards()
        return source

    def loss(
        self,
        logp: Float[Tensor, "problems answers"],
        rewards: Shaped[Tensor, "problems answers"],
        seed: int,
    ) -> Float[Tensor, ""]:
        """The loss from the answers' log-probabilities and rewards.

        `rewards` is the mask of right answers, or real numbers, the largest of which every problem
        can reach: see `check_real_rewards`. All random numbers follow from `seed`. LabError: a
        log-probability is not a number.
        """
        # Only on a CPU, because a GPU would have to wait; there the next record finds the fault.
        if logp.device.type == "cpu" and logp.isnan().any():
            raise LabError(
                "a log-probability is not a number: training diverged, lower the learning rate"
            )
        N = self.rollouts
        binary = rewards.dtype == torch.bool
        if self.practice is not None:
            return self.practice.loss(logp, rewards, seed)
        if self.rule is not None:
            counts = draw_counts_until(self.rule, logp.detach().exp(), rewards, seed)
            spend(self.kept, counts.sum(1))
            return counted_sum(logp, counts, rewards, self.rule.baseline)
        if self.gradient != "sampled":
            if binary:
                return self.loss_of_pass_rates(log_chance(logp, rewards))
            # The sum over levels of the loss of reaching each.
            return over_levels(logp, rewards, self.loss_of_pass_rates)
        target = self.target
        assert isinstance(target, Estimator)
        counts = draw_counts(logp.detach().exp(), N, seed)
        if not binary:
            drawn = listed(counts, N)
            A = advantages(target, rewards.gather(1, drawn).to(logp), check=False)
            return policy_gradient(logp.gather(1, drawn), A)
        loss = counted(logp, counts, rewards, target, N)
        if self.memory is not None:
            K = (counts * rewards).sum(1).long()
            self._remember(self.memory.observe(K.cpu().numpy(), N))
        return loss

    def check_real_rewards(self) -> None:
        """LabError: this gradient is not defined for rewards other than 0 and 1."""
        if self.rule or self.memory or self.practice:
            raise LabError(
                "a stopping rule, a memory and practice count right answers, and graded rewards"
                " have none: set rewards to 'binary'"
            )
        if isinstance(self.target, Objective):
            return
        if self.target.real is None:
            raise LabError(
                f"estimator = {self.target.spec} takes rewards of 0 and 1, and these are graded:"
                f" lift it, estimator = lift({self.target.spec})"
            )
        if self.gradient == "expected" and self.target.name != "lift":
            raise LabError(
                f"{self.target.spec} is no sum over the levels of the reward, so its mean is not"
                " known here: take gradient = 'sampled'"
            )

    def loss_of_pass_rates(self, log_p: Float[Tensor, " problems"]) -> Float[Tensor, ""]:
        """The loss from differentiable log pass rates, for every `gradient` but "sampled"."""
        if isinstance(self.target, Objective):
            return population(log_p, exact_factor(log_p, self.target))
        return population(log_p, expected_factor(log_p, self.target, self.rollouts))

    @property
    def memory(self) -> Memory | None:
        """What earlier batches showed, where the estimator remembers it."""
        window = self.kept.get("memory/window")
        return None if window is None else Memory(window.numpy())

    @property
    def target(self) -> Estimator | Objective:
        """What is climbed: an objective, or what an estimator does, with a memory that of now."""
        return self.chosen if self.memory is None else self.memory.estimator()

    def _remember(self, memory: Memory) -> None:
        self.kept["memory/window"] = torch.from_numpy(memory.window)

    def metrics(self) -> dict[str, float]:
        """Of a memory the weight of the next batch, of a rule the rollouts spent; else nothing."""
        weights = {} if self.memory is None else frozen_weights(self.memory, self.rollouts)
        practised = {} if self.practice is None else self.practice.metrics()
        return weights | rollouts_spent(self.kept) | practised

    def describe(self) -> list[str]:
        """Header lines: the objective, and the estimator's rules for special groups."""
        target = self.target
        if self.rule is not None:
            return [f"  {self.rule.about}"]
        if isinstance(target, Objective):
            return [f"  exact gradient of {target.label}: no sampling"]
        lines = [
            f"  {target.label} [{target.citation}], {self.gradient} with N = {self.rollouts}",
            f"  rules: {target.rules}",
        ]
        if self.practice is not None:
            lines.append(f"  in practice: {self.practice.recipe.spec}")
        return lines if self.memory is None else [*lines, IN_THE_HEADER]


class WithGradientSource(World):
    """A world whose step is one loss, and which keeps what its gradient keeps."""

    def __init__(self, source: GradientSource) -> None:
        self.gradient_source, self.kept = source, source.kept
        if source.practice is not None:
            self.updates = source.practice.recipe.updates

    def loss(self, step: int) -> Float[Tensor, ""]:
        raise NotImplementedError

    def losses(self, step: int) -> list[Tensor]:
        return [self.loss(step)]


def log_chance(
    logp: Float[Tensor, "problems answers"], among: Bool[Tensor, "problems answers"]
) -> Float[Tensor, " problems"]:
    """The log-probability that an answer is among those marked."""
    return logp.masked_fill(~among, -torch.inf).logsumexp(1)


def over_levels(
    logp: Float[Tensor, "problems answers"],
    rewards: Float[Tensor, "problems answers"],
    function: Callable[[Tensor], Tensor],
) -> Tensor:
    """The integral over levels tau of a function of log P(r >= tau), "problems" each time.

    It runs from the smallest reward to the largest, of which there are two or more.
    """
    levels = rewards.unique()
    parts = [
        height * function(log_chance(logp, rewards >= level))
        for level, height in zip(levels[1:], levels.diff(), strict=True)
    ]
    return sum(parts[1:], parts[0])


def real_reward_metrics(
    logp: Float[Tensor, "problems answers"], rewards: Float[Tensor, "problems answers"]
) -> dict[str, float]:
    """The mean reward, and the tail log-likelihood: the integral of log P(r >= level) over levels.

    Both are means over problems; see `over_levels`.
    """
    tail = over_levels(logp, rewards, lambda log_p: log_p)
    mean = (logp.exp() * rewards).sum(1).mean()
    return {"mean reward": float(mean), "tail log-likelihood": float(tail.mean())}
