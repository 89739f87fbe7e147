"""Gradients of a maze policy's pass rates: measured weights, steps, interference."""

import copy

import numpy as np
import pytest
import torch
from toy_trainings import configured, start_records

import lab
from lab.errors import LabError
from lab.losses import expected_factor
from lab.runs import configure, experiment, train
from lab.toy import maze
from lab.toy.maze import MazeExactRL, MazeRL
from lab.toy.maze_env import Mazes, MazeStream
from lab.toy.maze_gradients import (
    RateGradients,
    adamw_step,
    log_rates_after,
    measure,
    measured_weights,
    rate_gradients,
)
from lab.toy.worlds import learn

NAMES = ["maxrl", "grpo", "rloo", "pacs_anchor"]
pytestmark = pytest.mark.usefixtures("cpu")


@pytest.fixture(scope="module")
def config(cpu):
    return configured("maze_gradients", tolerance=1e-6)


@pytest.fixture(scope="module")
def start(config) -> dict[str, torch.Tensor]:
    """A policy that solves the four mazes of 5x5 sometimes."""
    return start_records(config)[-1][1]


@pytest.fixture(scope="module")
def policy(config, start):
    return maze.load_policy(start, config)


@pytest.fixture(scope="module")
def rates(policy):
    return rate_gradients(policy)


class Repeated(MazeStream):
    """The same mazes at every step."""

    def __init__(self, mazes: Mazes) -> None:
        super().__init__(mazes.size, len(mazes), 0, "unused", torch.device("cpu"))
        self.mazes = mazes

    def at(self, step: int) -> Mazes:
        return self.mazes


def maze_config(config, name: str, gradient: str):
    """The policy's settings, for a training with 8 rollouts a maze."""
    shared = {key: getattr(config, key) for key in ("size", "length", "measure", "mazes", "width")}
    shared |= {"pass_rates": config.pass_rates, "tolerance": config.tolerance}
    given = {"estimator": name, "gradient": gradient, "rollouts": 8}
    return experiment("maze").configure("smoke", shared | given)


def exact_world(policy, mazes: Mazes, name: str) -> MazeExactRL:
    config = maze_config(policy.config, name, "expected")
    return MazeExactRL(policy, Repeated(mazes), config)


def gradient_of(world) -> torch.Tensor:
    """What the trainer's loss ascends, without the division by a mean length."""
    world.model.zero_grad()
    for loss in world.losses(0):
        loss.backward()
    gradient = -torch.cat([weight.grad.flatten() for weight in world.model.parameters()])
    world.model.zero_grad()
    return gradient


def cosine(a: torch.Tensor, b: torch.Tensor) -> float:
    return float(torch.nn.functional.cosine_similarity(a.double(), b.double(), dim=0))


# --- Gradients of pass rates --------------------------------------------------------------------


def test_the_gradients_are_those_of_the_exact_trainer(policy, rates):
    mazes = policy.evaluation_set
    for name in ("maxrl", "rloo"):
        world = exact_world(policy, mazes, name)
        ours = rates.weighted(expected_factor(rates.log_p, lab.estimator(name), 8))
        trainers = gradient_of(world) * ((mazes.path >= 0).sum(1) + 1).float().mean()
        torch.testing.assert_close(ours, trainers, rtol=1e-3, atol=1e-5 * float(ours.norm()))


def test_cosines_of_many_weights_do_not_grow_with_the_rounding_of_sums():
    generator = torch.Generator().manual_seed(0)
    long = torch.rand(1, 1_000_000, generator=generator) ** 8
    alike = RateGradients(torch.zeros(2), torch.cat((long, long))).cosines()
    torch.testing.assert_close(alike, torch.ones(2, 2), rtol=0, atol=1e-6)


# --- The weight ---------------------------------------------------------------------------------


def test_sampled_groups_move_the_policy_by_the_induced_weight_on_average(policy, rates):
    p = rates.log_p.double().exp().numpy()
    z = []
    for which in range(2):
        found = list(measured_weights(policy, rates, which, NAMES, [2, 8], 400))
        assert [(row["estimator"], row["N"]) for row, _ in found] == [
            (name, N) for name in NAMES for N in (2, 8)
        ]
        for row, gradient in found:
            theory = float(lab.induced_weight(row["estimator"], row["N"], p[which]))
            z.append((row["weight"] - theory) / row["error"])
            assert row["error"] < 0.25 * theory
            # The projection of the mean gradient is the mean of the groups' projections.
            unit = p[which] * float(rates.scores[which].square().sum())
            projected = float(gradient @ rates.scores[which]) / unit
            assert row["weight"] == pytest.approx(projected, rel=1e-3)
            assert cosine(gradient, rates.scores[which]) > 0.9
    # all share their rollouts, so that they err together: no bound of many is asked for
    assert np.abs(z).max() < 4


def test_the_measured_gradient_is_that_of_the_sampled_trainer(policy, rates, monkeypatch):
    one = policy.evaluation_set[:1]
    many = Mazes(one.walls.expand(6, -1, -1), one.path.expand(6, -1))
    shared = policy.uniforms("groups", 0, 1, 48)
    ((_, gradient),) = measured_weights(policy, rates, 0, ["maxrl"], [8], 6)
    monkeypatch.setattr(policy, "uniforms", lambda *_: shared.view(6, 8, -1))
    world = MazeRL(policy, Repeated(many), maze_config(policy.config, "maxrl", "sampled"))
    trainers = gradient_of(world) * world.step_statistics["mean length"][-1]
    atol = 1e-5 * float(trainers.norm())
    torch.testing.assert_close(gradient, trainers, rtol=1e-3, atol=atol)


# --- The step -----------------------------------------------------------------------------------


def test_the_predicted_step_is_the_first_one_of_a_training(policy, rates):
    mazes = policy.evaluation_set
    trained = copy.copy(policy)
    trained.model = copy.deepcopy(policy.model)
    world = exact_world(trained, mazes, "maxrl")
    optimizer = maze.AdamW(trained.model.parameters(), lr=1e-4, weight_decay=0.01)
    for _ in learn(world, optimizer, 1, 1, None, clip=1.0):
        pass
    vector = torch.nn.utils.parameters_to_vector
    change = vector(trained.model.parameters()) - vector(policy.model.parameters())
    ours = adamw_step(
        policy, rates.weighted(expected_factor(rates.log_p, lab.estimator("maxrl"), 8)), 1e-4
    )
    assert cosine(ours, change.detach()) > 0.999
    assert float(ours.norm()) == pytest.approx(float(change.detach().norm()), rel=1e-2)


def test_a_shorter_step_is_predicted_better(policy, rates):
    mazes = policy.evaluation_set
    before = log_rates_after(policy, torch.zeros_like(rates.scores[0]))
    torch.testing.assert_close(before, rates.log_p.double(), rtol=1e-4, atol=1e-4)
    direction = rates.weighted(torch.ones(len(mazes)))
    misses = []
    for length in (3e-3, 3e-4):
        step = direction * (length / direction.norm())
        predicted = rates.scores @ step
        realised = log_rates_after(policy, step) - before
        misses.append(float((realised - predicted).norm() / predicted.norm()))
    assert misses[1] < misses[0] / 3 and misses[1] < 0.1


# --- The experiment -----------------------------------------------------------------------------


def test_one_record_holds_four_tables(config, start):
    (record,) = measure(config, None, start)
    kinds = record.groups["kind"].tolist()
    mazes, pairs = config.mazes, config.mazes * (config.mazes - 1) // 2
    steps = mazes * (1 + len(config.estimators)) * len(config.learning_rates)
    measured = int(record.metrics["mazes measured"])
    assert measured > 0
    assert [kinds.count(kind) for kind in ("maze", "pair", "weight", "step")] == [
        mazes,
        pairs,
        measured * len(config.estimators) * len(config.group_sizes),
        steps,
    ]
    assert len({len(column) for column in record.groups.values()}) == 1
    assert record.metrics["cosine maxrl N=8"] > 0.9
    assert list(measure(config, record.state(), start)) == []


def test_a_finished_measurement_is_not_repeated(runs):
    given = {"groups": 2, "estimators": ["maxrl"], "start_steps": 2}
    run = train(configure("maze_gradients", scale="smoke", **given))
    before = (run.path / "metrics.jsonl").read_bytes()
    assert run.finished and len(run.records()) == 1
    assert train(configure("maze_gradients", scale="smoke", **given)).path == run.path
    assert (run.path / "metrics.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"group_sizes": [3, 8]}, "3 does not divide 8"),
        ({"precision": "bfloat16"}, "set precision to 'float32'"),
        ({"length": 4}, "takes 5 tokens"),
        ({"estimators": ["maxlr"]}, "unknown estimator 'maxlr'"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_it_starts(given, sentence):
    with pytest.raises(LabError, match=sentence):
        configure("maze_gradients", scale="smoke", **given)
