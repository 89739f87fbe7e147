"""Worlds with graded rewards: what lifted estimators do there, against sums over every group."""

import itertools
import re

import numpy as np
import pytest
import slow_maze
import torch
from scipy import stats
from toy_trainings import configured, start_records, trained

import lab
from lab.errors import LabError
from lab.project import CHECKOUT as ROOT
from lab.runs import experiment, results
from lab.toy import images, maze
from lab.toy.gradient_source import GradientSource, real_reward_metrics
from lab.toy.image_data import MAX_CLASSES, shares_right
from lab.toy.images import Images
from lab.toy.maze_env import DONE, PAD, PATH, UP, draw, progress, walk
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
        ("lift(maxrl)", "conditional", "take 'sampled' or 'expected'"),
    ],
)
def test_real_rewards_are_refused_where_the_lift_was_not_asked_for(estimator, gradient, sentence):
    settings = {"estimator": estimator, "gradient": gradient, "rewards": "graded"}
    for name in ("images", "tabular") if gradient != "conditional" else ("images",):
        with pytest.raises(LabError, match=sentence):
            experiment(name).configure("smoke", settings)


def test_digits_have_no_parts_to_grade():
    settings = {"data": "digits", "rewards": "graded", "estimator": "lift(rloo)"}
    with pytest.raises(LabError, match="set data to 'procedural'"):
        experiment("images").configure("laptop", settings)


def test_the_graded_reward_of_a_label_is_the_share_of_its_parts_that_are_right():
    def parts(label: int) -> tuple[int, ...]:
        return label % 5, label // 5 % 8, label // 40 % 5, label // 200

    shares = shares_right(torch.tensor([137, 998]), MAX_CLASSES)
    for row, label in zip(shares, (137, 998), strict=True):
        for other in range(0, MAX_CLASSES, 13):
            pairs = zip(parts(label), parts(other), strict=True)
            assert row[other] == sum(own == its for own, its in pairs) / 4
    assert (shares == 1).sum() == 2


@pytest.mark.parametrize("estimator", ["lift(maxrl)", "grpo_zscore"])
def test_graded_training_of_softmax_problems_raises_the_mean_reward(estimator):
    settings = {"rewards": "graded", "estimator": estimator, "steps": 100, "log_every": 100}
    config = experiment("tabular").configure("smoke", settings)
    first, last = (record.metrics for record in records(experiment("tabular").train(config, None)))
    assert last["mean reward"] > first["mean reward"] + 0.05
    assert last["tail log-likelihood"] > first["tail log-likelihood"]


def test_graded_images_have_the_loss_of_their_labels_rewards(monkeypatch):
    class Fixed:
        channels, size, classes = 1, 1, 40

        def train_batch(self, step, batch):
            return torch.zeros(batch, 1, 1, 1), torch.tensor([3, 17])

        def test(self):
            yield from [self.train_batch(0, 2)] * 2

    table = torch.nn.Parameter(torch.linspace(-1, 1, 40))

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = table

        def forward(self, images):
            return self.table.expand(len(images), -1)

    source = GradientSource("lift(maxrl)", "expected", 8)
    monkeypatch.setattr(images, "image_source", lambda config: Fixed())
    monkeypatch.setattr(images, "fresh_network", lambda *_: Model())
    given = {"estimator": "lift(maxrl)", "gradient": "expected", "rollouts": 8, "batch": 2}
    world = Images(experiment("images").configure("smoke", given | {"rewards": "graded"}))
    logp = table.expand(2, -1).log_softmax(1)
    rewards = shares_right(torch.tensor([3, 17]), 40)
    assert torch.allclose(world.loss(0), source.loss(logp, rewards, 0))
    metrics, _ = world.evaluate(0)
    expected = (logp.detach().exp() * rewards).sum(1).mean()
    assert metrics["mean reward"] == pytest.approx(float(expected), abs=1e-6)


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
    values = last.pivot(index="seed", columns="objective", values="tail log-likelihood")
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


# --- Mazes --------------------------------------------------------------------------------------


def progress_by_hand(walls, tokens) -> float:
    place, goal = (1, 1), (len(walls) - 2, len(walls) - 2)
    left = slow_maze.distances(walls, goal)
    length, arrived = left[place], False
    for token in tokens:
        if token == DONE and arrived:
            return 1.0
        if token not in slow_maze.MOVES:
            break
        if not arrived:
            nearby = place[0] + slow_maze.MOVES[token][0], place[1] + slow_maze.MOVES[token][1]
            if walls[nearby[0]][nearby[1]]:
                break
            place = nearby
            arrived = place == goal
    return max(length - left[place], 0) / (length + 1)


def test_progress_in_a_maze_is_the_share_of_the_way_that_a_rollout_came():
    mazes = draw(7, 12, 0, "progress", 0, torch.device("cpu"), loops=0.2)
    rng = torch.Generator().manual_seed(1)
    tokens = torch.randint(UP, UP + 4, (12, 60, 14), generator=rng)
    tokens[torch.rand(tokens.shape, generator=rng) < 0.1] = DONE
    tokens[torch.rand(tokens.shape, generator=rng) < 0.02] = PATH
    answers = mazes.answers()[:, :14]
    follows = torch.rand(tokens.shape, generator=rng) < 0.95  # most of the shortest path
    shortest = torch.nn.functional.pad(answers, (0, 14 - answers.shape[1]), value=PAD)[:, None]
    tokens[:, 20:] = torch.where(follows, shortest, tokens)[:, 20:]
    found = progress(mazes, walk(mazes, tokens))
    expected = [
        [progress_by_hand(walls, row) for row in rows]
        for walls, rows in zip(mazes.walls.tolist(), tokens.tolist(), strict=True)
    ]
    assert torch.allclose(found, torch.tensor(expected))
    assert (found == 1).any() and (found == 0).any() and ((0 < found) & (found < 1)).any()


def test_graded_rewards_of_mazes_reach_the_lifted_advantages(monkeypatch):
    settings = {"rewards": "graded", "estimator": "lift(maxrl)", "steps": 2, "log_every": 1}
    settings |= {"start_steps": 60, "rollouts": 32}
    config = configured("maze", **settings)
    scored = []
    ours = maze.advantages
    monkeypatch.setattr(
        maze, "advantages", lambda *given, **rest: scored.append(given) or ours(*given, **rest)
    )
    start = start_records(config)[-1][1]
    metrics = [record.metrics for record, _ in trained(config, start=start)]
    assert all(0 < record["mean reward"] < 1 for record in metrics[1:])
    lifted, rewards = scored[-1]
    assert lifted == "lift(maxrl)" and ((0 < rewards) & (rewards < 1)).any()


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({}, r"takes rewards of 0 and 1.*estimator = lift\(maxrl\)"),
        ({"estimator": "ml", "gradient": "exact"}, "gradient = 'exact' needs right and wrong"),
        ({"estimator": "lift(maxrl)", "smoothing": 0.1}, "smoothing = 0.1 needs right and wrong"),
        ({"estimator": "lift(maxrl)", "greedy_filter": True}, "greedy_filter = True needs right"),
    ],
)
def test_what_needs_right_and_wrong_rollouts_is_refused_in_graded_mazes(given, sentence):
    with pytest.raises(LabError, match=sentence):
        experiment("maze").configure("smoke", {"rewards": "graded"} | given)
