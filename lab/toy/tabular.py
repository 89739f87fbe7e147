"""Many small softmax problems: theory against practice in seconds.

Each problem has its own row of logits over `answers` answers, one of which is right. The pass rate
is a softmax probability, so the gradient of every objective is known in closed form, and the mean
effect of N rollouts can be followed without sampling. At the start the pass rates are spread evenly
in log-odds between `hardest` and `easiest`. With graded rewards every other answer is worth
something too, from the right one's 1 in equal steps down to 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lab.configurations.toy_worlds import TabularConfig
from lab.errors import LabError
from lab.shapes import Float
from lab.toy.gradient_source import GradientSource, WithGradientSource, real_reward_metrics
from lab.toy.worlds import SGD, learn
from lab.training.records import Pause, Record
from lab.training.rng import stream_seed


class Tabular(WithGradientSource):
    """Independent softmax policies, one a problem; answer 0 is the right one."""

    model: torch.nn.ParameterDict

    def __init__(self, config: TabularConfig) -> None:
        self.config = config
        super().__init__(GradientSource.of(config))
        problems, answers = config.problems, config.answers
        position = torch.linspace(0, 1, problems, dtype=torch.float64)
        ends = torch.tensor([config.hardest, config.easiest], dtype=torch.float64)
        low, high = torch.logit(ends)
        logits = torch.zeros(problems, answers, dtype=torch.float64)
        logits[:, 0] = low * (1 - position) + position * high + np.log(answers - 1)
        self.model = torch.nn.ParameterDict({"logits": logits})
        rewards = torch.linspace(1, 0, answers, dtype=torch.float64)
        if config.rewards != "graded":
            rewards = torch.arange(answers) < (2 if config.rewards == "exploitable" else 1)
        # The mask of the answers that are accepted, or how much each is worth: "problems answers".
        self.rewards = rewards.repeat(problems, 1)

    def loss(self, step: int) -> Float[Tensor, ""]:
        seed = stream_seed(self.config.seed, "rollouts", step)
        logp = self.model["logits"].log_softmax(1)
        loss = self.gradient_source.loss(logp, self.rewards, seed)
        # A sum over problems, so that each problem's own logits move at the learning rate.
        return loss * len(self.rewards)

    def evaluate(self, step: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Mean pass rates, of all problems and of the hardest quarter, and log-likelihood.

        With graded rewards also `real_reward_metrics`.
        """
        p = self.pass_rates()
        with np.errstate(divide="ignore"):  # log 0 = -inf stops the run with a sentence
            likelihood = np.log(p).mean()
        metrics = {
            "pass@1": p.mean(),
            "hard pass@1": p[: len(p) // 4].mean(),
            "log-likelihood": likelihood,
        } | self.gradient_source.metrics()
        if self.config.rewards == "graded":
            logp = self.model["logits"].detach().log_softmax(1)
            metrics |= real_reward_metrics(logp, self.rewards)
        return metrics, {"problem": np.arange(len(p)), "pass_rate": p}

    def pass_rates(self) -> Float[np.ndarray, " problems"]:
        """The problems' pass rates, from the hardest to the easiest at the start."""
        return self.model["logits"].detach().softmax(1)[:, 0].numpy()


def preflight(config: TabularConfig) -> list[str]:
    """The header's lines on the objective. LabError: the settings cannot run together."""
    if not config.hardest < config.easiest:
        raise LabError(
            f"tabular: hardest = {config.hardest} is not below easiest = {config.easiest}: swap"
            " them"
        )
    return GradientSource.of(config).describe()


def train(config: TabularConfig, state: dict[str, Any] | None = None) -> Iterator[Record | Pause]:
    """Plain gradient ascent from the same start for every objective and seed."""
    world = Tabular(config)
    optimizer = SGD(world.model.parameters(), lr=config.learning_rate)
    yield from learn(world, optimizer, config.steps, config.log_every, state)
