"""Trainings in practice: what a toy world does is what `lab.recipe` computes."""

import numpy as np
import pytest
import torch

import lab
from lab.errors import LabError
from lab.mathematics.softmax import SoftmaxPolicy
from lab.runs import experiment
from lab.toy.images import Images
from lab.toy.practised import Practice
from lab.toy.tabular import Tabular
from lab.toy.worlds import SGD

PI, RIGHT = np.array([0.2, 0.5, 0.3]), np.array([True, False, False])
PROBLEMS = 40_000  # the same policy in each: their mean is that of so many groups


def moved(estimator: str, text: str, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """The mean move of the logits by one batch of N = 4, and its standard error."""
    practice = Practice(estimator, 4, text)
    start = torch.from_numpy(np.log(PI)).repeat(PROBLEMS, 1)
    logits = start.clone().requires_grad_()
    optimizer = SGD([logits], lr=rate * PROBLEMS)
    right = torch.from_numpy(RIGHT).repeat(PROBLEMS, 1)
    for _ in range(practice.recipe.updates):
        optimizer.zero_grad()
        practice.loss(logits.log_softmax(1), right, seed=3).backward()
        optimizer.step()
    move = (logits - start).detach().numpy() / (rate * practice.recipe.updates)
    return move.mean(0), move.std(0) / np.sqrt(PROBLEMS)


@pytest.mark.parametrize("estimator", ["maxrl", "grpo"])
@pytest.mark.parametrize(
    "text",
    [
        "updates=1",
        "clip=0.2, updates=8",
        "clip=0.2, clip_high=0.4, updates=8",
        "loss=cispo, clip=0.2, updates=8",
        "false_positive=0.2, false_negative=0.1",
        "false_positive=0.5, false_negative=0.5, updates=8",
        "top_p=0.95, temperature=0.7",
        "gate=drop",
    ],
)
def test_the_mean_move_of_a_batch_is_that_of_the_recipe(estimator, text):
    rate = 0.1
    law = lab.recipe(f"{estimator}, N=4, {text}, rate={rate}").on(SoftmaxPolicy(PI, RIGHT))
    mean, error = moved(estimator, text, rate)
    assert np.abs(mean - law.mean).max() < 5 * error.max()
    assert np.abs(law.mean).max() > 10 * error.max() or "0.5" in text  # the test could fail


def test_without_practice_a_training_is_what_it_was():
    plain, practised = (
        experiment("tabular").configure("smoke", {"practice": text}) for text in ("", "updates=1")
    )
    worlds = [Tabular(config) for config in (plain, practised)]
    losses = [float(world.loss(0).detach()) for world in worlds]
    assert losses[0] == pytest.approx(losses[1], abs=1e-12)


def test_a_judge_of_images_takes_the_next_label_for_right(cpu):
    config = experiment("images").configure(
        "smoke", {"gradient": "exact", "estimator": "ml", "rewards": "exploitable"}
    )
    world = Images(config)
    images, labels = world.pictures.train_batch(0, config.batch)
    p = world.model(images).softmax(1).gather(1, torch.stack((labels, (labels + 1) % 1000), 1))
    torch.testing.assert_close(world.loss(0), -p.sum(1).log().mean())


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"practice": "kl=0.1"}, "has a part that this world does not follow"),
        ({"practice": "N=4"}, "has a part that this world does not follow"),
        ({"practice": "gate=redraw"}, "has a part that this world does not follow"),
        ({"practice": "klip=0.2"}, "did you mean 'clip'?"),
        ({"practice": "clip=0.2", "gradient": "expected"}, "set gradient to 'sampled'"),
        (
            {"practice": "clip=0.2", "rewards": "graded", "estimator": "lift(maxrl)"},
            "set rewards to 'binary'",
        ),
    ],
)
def test_what_cannot_be_practised_is_refused_before_it_is_trained(given, sentence):
    with pytest.raises(LabError, match=sentence.replace("?", r"\?")):
        experiment("tabular").configure("smoke", given)
