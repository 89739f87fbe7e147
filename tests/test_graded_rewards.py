"""Worlds with graded rewards: what lifted estimators do there, against sums over every group."""

import itertools
import re

import numpy as np
import pytest
import torch
from scipy import stats

import lab
from lab.errors import LabError
from lab.project import CHECKOUT as ROOT
from lab.runs import experiment, results
from lab.toy.gradient_source import GradientSource, real_reward_metrics
from lab.toy.multinomial import draw_counts, listed
from lab.toy.tabular import Tabular
from lab.training.records import records

N = 3
REWARDS = torch.tensor([[1.0, 0.5, 0.0], [0.0, 1.0, 1.0]], dtype=torch.float64)
LIFTED = ("lift(rloo)", "lift(maxrl)", "lift(grpo)", "lift(pkpo(k=2), low=0, high=1)")


@pytest.fixture
def logits() -> torch.Tensor:
    return torch.tensor([[-1.0, 0.3, 1.0], [1.0, -0.5, -2.0]], dtype=torch.float64).requires_grad_()


def gradient(loss: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(loss, logits)[0]


def mean_over_groups(estimator: str, logits: torch.Tensor) -> torch.Tensor:
    """The mean gradient of the loss of N rollouts, by summing over every group of answers."""
    loss = torch.zeros(())
    logp = logits.log_softmax(1)
    for problem, rewards in enumerate(REWARDS):
        for group in itertools.product(range(3), repeat=N):
            drawn = logp[problem][list(group)]
            A = lab.advantages(estimator, rewards[list(group)])
            loss = loss - drawn.sum().exp().detach() * (A * drawn).mean() / len(REWARDS)
    return gradient(loss, logits)


@pytest.mark.parametrize("estimator", LIFTED)
def test_the_expected_gradient_is_the_mean_over_every_group(estimator, logits):
    source = GradientSource(estimator, "expected", N)
    source.check_real_rewards()
    ours = gradient(source.loss(logits.log_softmax(1), REWARDS, 0), logits)
    assert torch.allclose(ours, mean_over_groups(estimator, logits), atol=1e-12)
    assert ours.abs().max() > 0.01


@pytest.mark.parametrize("estimator", [*LIFTED, "grpo_zscore"])
def test_sampled_rollouts_have_the_mean_over_every_group(estimator, logits):
    source = GradientSource(estimator, "sampled", N)
    copies = 20_000
    many = logits.detach().repeat(copies, 1).requires_grad_()
    loss = source.loss(many.log_softmax(1), REWARDS.repeat(copies, 1), 7)
    drawn = gradient(loss, many).view(copies, 2, 3) * copies
    z = (drawn.mean(0) - mean_over_groups(estimator, logits)) / (drawn.std(0) / copies**0.5)
    assert z.abs().max() < 4


def test_the_exact_gradient_is_that_of_the_tail_log_likelihood(logits):
    loss = GradientSource("ml", "exact", N).loss(logits.log_softmax(1), REWARDS, 0)
    p = logits.softmax(1)
    # The levels are 0.5 and 1: the second problem reaches both with its last two answers.
    tail = [0.5 * (p[0, :2].sum().log() + p[0, 0].log()), p[1, 1:].sum().log()]
    expected = gradient(-sum(tail) / 2, logits)
    assert torch.allclose(gradient(loss, logits), expected, atol=1e-12)
    metrics = real_reward_metrics(logits.detach().log_softmax(1), REWARDS)
    assert metrics["tail log-likelihood"] == pytest.approx(float(sum(tail).detach()) / 2)
    assert metrics["mean reward"] == pytest.approx(float((p * REWARDS).sum().detach() / 2))


def test_counts_are_listed_answer_by_answer():
    logits = torch.randn(50, 4, generator=torch.Generator().manual_seed(0))
    counts = draw_counts(logits.softmax(1), 9, 1)
    answers = listed(counts, 9)
    assert answers.shape == (50, 9) and (answers.diff(dim=1) >= 0).all()
    assert all(torch.equal((answers == k).sum(1), counts[:, k].long()) for k in range(4))


@pytest.mark.parametrize(
    "estimator, gradient, sentence",
    [
        ("maxrl", "sampled", r"takes rewards of 0 and 1.*estimator = lift\(maxrl\)"),
        ("maxrl", "expected", r"takes rewards of 0 and 1"),
        ("grpo_zscore", "expected", "is no sum over the levels"),
    ],
)
def test_real_rewards_are_refused_where_the_lift_was_not_asked_for(estimator, gradient, sentence):
    settings = {"estimator": estimator, "gradient": gradient, "rewards": "graded"}
    with pytest.raises(LabError, match=sentence):
        experiment("tabular").configure("smoke", settings)


@pytest.mark.parametrize("estimator", ["lift(maxrl)", "grpo_zscore"])
def test_graded_training_of_softmax_problems_raises_the_mean_reward(estimator):
    settings = {"rewards": "graded", "estimator": estimator, "steps": 100, "log_every": 100}
    config = experiment("tabular").configure("smoke", settings)
    first, last = (record.metrics for record in records(experiment("tabular").train(config, None)))
    assert last["mean reward"] > first["mean reward"] + 0.05
    assert last["tail log-likelihood"] > first["tail log-likelihood"]


def test_a_tabular_world_with_graded_rewards_is_worth_something_everywhere():
    given = {"estimator": "lift(rloo)", "problems": 8, "answers": 5, "easiest": 0.9}
    world = Tabular(experiment("tabular").configure("smoke", given | {"rewards": "graded"}))
    assert world.rewards[0].tolist() == [1, 0.75, 0.5, 0.25, 0]
    metrics, groups = world.evaluate(0)
    assert metrics["mean reward"] > metrics["pass@1"] and np.all(groups["pass_rate"] < 0.91)


ROW = re.compile(
    r"^\| `(.+)` \| `(.+)` \| (-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\] \| (better|worse) \|$", re.M
)


def test_the_page_says_what_the_recorded_runs_show():
    table = results("real_rewards", "tabular").metrics
    last = table[(table["step"] == 400) & (table["gradient"] == "sampled")]
    values = last.pivot(index="seed", columns="estimator", values="tail log-likelihood")
    rows = ROW.findall((ROOT / "docs" / "real_rewards.md").read_text(encoding="utf-8"))
    chances = []
    for first, second, *told, verdict in rows:
        difference = values[first] - values[second]
        test = stats.ttest_1samp(difference, 0)
        interval = test.confidence_interval(0.95)
        found = difference.mean(), interval.low, interval.high
        assert [f"{value:.3f}" for value in found] == told
        assert verdict == ("better" if interval.low > 0 else "worse")
        chances.append(test.pvalue)
    assert len(rows) == 5 and len(values) == 5
    holm = [p * (5 - place) for place, p in enumerate(sorted(chances))]
    assert max(holm) < 0.001
