"""Mazes under stopping rules: the rollouts that drawing all would give, and the loss by hand."""

import pytest
import torch
from test_maze import YOUNG, assert_same_gradient, config_of, gradients, loss_of, one_by_one
from toy_trainings import start_records, taken_up_anywhere

from lab.errors import LabError
from lab.mathematics.stopping import stopping_rule
from lab.runs.experiments import experiment
from lab.toy.maze import MazeRL
from lab.toy.maze_env import MazeStream, walk
from lab.toy.maze_policy import load_policy
from lab.toy.multinomial import rollouts_spent
from lab.training.rng import stream_seed

CPU = torch.device("cpu")
RULES = ["until(right=1, cap=12, baseline=0.1)", "until(right=1, wrong=1, cap=12, round=4)"]
EVERY_RULE = pytest.mark.parametrize("text", RULES)


pytestmark = pytest.mark.usefixtures("cpu")


@pytest.fixture(scope="module")
def young(cpu) -> dict[str, torch.Tensor]:
    """The state of a model that solves some mazes of 7x7 and fails in others."""
    return start_records(config_of(**YOUNG))[-1][1]


def stopped(text: str, **given) -> dict:
    return {"estimator": "reinforce", "rollouts": 12, "batch": 6, "stopping": text} | given


def world_of(young: dict, text: str) -> MazeRL:
    config = config_of(**stopped(text))
    stream = MazeStream(config.size, config.batch, config.seed, "mazes", CPU)
    return MazeRL(load_policy(young, config), stream, config)


def drawn_by(text: str, rights: list[bool]) -> int:
    """How many of the rollouts the rule takes, by its definition."""
    rule = stopping_rule(text)
    for t in range(rule.round, rule.cap, rule.round):
        if sum(rights[:t]) >= rule.right and t - sum(rights[:t]) >= rule.wrong:
            return t
    return rule.cap


@EVERY_RULE
def test_the_rollouts_are_the_first_ones_of_those_that_drawing_all_would_give(young, text):
    world, policy = world_of(young, text), load_policy(young, config_of())
    taken = set()
    for step in range(3):
        mazes = world.stream.at(step)
        with torch.no_grad():
            prompts = policy.read(mazes)
            uniforms = policy.uniforms("rollouts", step, len(mazes), 12)
            everything = policy.sample_rollouts(prompts, 12, uniforms)
            found = world.policy.sample_until(world.rule, mazes, prompts, uniforms)
        right = walk(mazes, everything.tokens).right.tolist()
        for which in range(len(mazes)):
            tau = drawn_by(text, right[which])
            taken.add(tau)
            assert found.mask[which, :, 0].tolist() == [True] * tau + [False] * (12 - tau)
            assert torch.equal(found.tokens[which, :tau], everything.tokens[which, :tau])
            assert torch.equal(found.mask[which, :tau], everything.mask[which, :tau])
            torch.testing.assert_close(found.logp[which, :tau], everything.logp[which, :tau])
            assert torch.equal(found.truncated[which, :tau], everything.truncated[which, :tau])
    assert len(taken) > 1 and 12 in taken  # some stop early, and some never


@EVERY_RULE
def test_the_loss_and_its_gradient_are_those_of_every_rollout_by_hand(young, text):
    world, step = world_of(young, text), 1
    mazes, b = world.stream.at(step), world.rule.baseline
    seed = stream_seed(world.config.seed, "rollouts", step)
    uniforms = torch.rand(6, 12, 18, generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        prompts = world.policy.read(mazes)
        everything = world.policy.sample_rollouts(prompts, 12, uniforms)
    groups = one_by_one(world, mazes, everything)
    total, tokens, drawn = 0.0, 0, 0
    for group in groups:
        rights = [outcome == "right" for *_, outcome in group]
        tau = drawn_by(text, rights)
        for (said, logp, _, _), right in list(zip(group, rights, strict=True))[:tau]:
            total = total + (right - b) * sum(logp)
            tokens += len(said)
        drawn += tau
    expected = -total / len(mazes) / (tokens / drawn)
    loss = loss_of(world, step)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-4)
    assert_same_gradient(gradients(world, loss), gradients(world, expected))
    assert rollouts_spent(world.kept) == {
        "rollouts spent": drawn,
        "rollouts a problem": pytest.approx(drawn / 6),
    }
    [mean_length] = world.step_statistics["mean length"]
    assert mean_length.item() == pytest.approx(tokens / drawn)


def test_micro_batches_do_not_change_the_gradient(young, monkeypatch):
    text = RULES[1]
    whole = gradients(world := world_of(young, text), loss_of(world, 0))
    monkeypatch.setattr("lab.toy.maze_policy.MICRO_BATCH_POSITIONS", 12 * 18 * 2)
    parted = world_of(young, text)
    named = dict(parted.model.named_parameters())
    for loss in parted.losses(0):
        loss.backward()
    assert_same_gradient({name: weight.grad for name, weight in named.items()}, whole)


def test_a_training_taken_up_anywhere_gives_the_same_records_and_weights(young):
    chosen, config = experiment("maze"), config_of(**stopped(RULES[0], steps=4, log_every=2))
    whole = taken_up_anywhere(lambda state: chosen.train(config, state, start=young))
    assert 24 <= whole[-1][0].metrics["rollouts spent"] <= 4 * 6 * 12


@pytest.mark.parametrize(
    "given, sentence",
    [({"smoothing": 0.1}, "smoothing = 0.1"), ({"gradient": "expected"}, "set gradient")],
)
def test_settings_that_would_change_a_rules_advantages_are_refused(given, sentence):
    with pytest.raises(LabError, match=sentence):
        config_of(**stopped(RULES[0], **given))
