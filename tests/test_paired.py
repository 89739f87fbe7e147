"""The explorer's live toy in Python, with which tests/test_explorer.py compares the page's."""

import itertools
import re

import numpy as np
import pytest
import torch

import lab
from lab.losses import counted
from lab.toy import paired

OWN = [0.0, 1e-4, 0.02, 0.11, 0.3, 0.45, 0.6, 0.85, 1.0]


def test_the_toy_starts_at_the_pass_rates_that_it_is_given_and_refuses_others():
    found = paired.pass_rates(["rloo"], rollouts=2, start=OWN, steps=0)[0, 0]
    np.testing.assert_allclose(found, np.clip(OWN, 1e-6, 1 - 1e-6), rtol=1e-9)
    for wrong, words in [
        ({"start": OWN, "problems": 20}, "found problems and start: give one of them"),
        ({"start": [[0.5]]}, "start has shape"),
        ({"start": [1.5]}, "outside"),
        ({"shared": -1}, "shared = -1"),
        ({"step_length": 0.1, "learning_rate": 0.1}, "give one of them"),
        ({"seed": 2**32}, "32 bits"),
    ]:
        with pytest.raises(lab.LabError, match=re.escape(words)):
            paired.pass_rates(["rloo"], rollouts=2, steps=1, **wrong)


def log_odds_at_start(p):
    """Logits of eight answers, the first one right, "problems 8"."""
    logits = np.zeros((len(p), paired.ANSWERS))
    logits[:, 0] = np.log(p) - np.log1p(-np.asarray(p)) + np.log(paired.ANSWERS - 1)
    return logits


@pytest.mark.parametrize("shared", [0, 4])
@pytest.mark.parametrize("spec", ["grpo", "maxrl_eq7"])
def test_a_step_is_the_policy_gradient_of_the_parameters(spec, shared):
    """Autograd by the parameters themselves, which the toy never writes down."""
    start = np.array([0.05, 0.2, 0.4, 0.5, 0.7, 0.9])
    logits = log_odds_at_start(start)
    pi = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    counts = paired.draw(pi, paired.uniforms(3, 0, 6, 16))
    right = torch.zeros(6, paired.ANSWERS, dtype=torch.bool)
    right[:, 0] = True
    basis = torch.tensor(paired.features(6, shared)) if shared else torch.eye(6).double()
    parameters = torch.zeros(len(basis.T), paired.ANSWERS, dtype=torch.float64, requires_grad=True)
    policy = (torch.tensor(logits) + basis @ parameters).log_softmax(1)
    loss = counted(policy, torch.tensor(counts), right, lab.estimator(spec), 16)
    (loss * 6).backward()
    moved = torch.tensor(logits) - basis @ (0.4 * parameters.grad)
    settings = dict(rollouts=16, start=start, shared=shared, steps=1, seed=3)
    found = paired.pass_rates([spec], learning_rate=0.4, **settings)[0, 1]
    np.testing.assert_allclose(found, moved.softmax(1)[:, 0].numpy(), rtol=1e-12)


@pytest.mark.parametrize("shared", [0, 3])
def test_the_prediction_is_the_mean_step_as_long_as_sampled_ones_are(shared):
    """Every outcome of two groups of three rollouts, enumerated: 512 times 512."""
    N, start = 3, np.array([0.1, 0.6])
    logits = log_odds_at_start(start)
    pi = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    a1, a0 = lab.estimator("maxrl").success_failure(N)
    answers = np.array(list(itertools.product(range(paired.ANSWERS), repeat=N)))
    K = (answers == 0).sum(axis=1)
    paid = np.where(answers == 0, a1[K][:, None], a0[K][:, None])
    chances, gradients = [], []
    for row in pi:
        scores = np.eye(paired.ANSWERS)[answers] - row  # grad log pi of every rollout
        chances.append(row[answers].prod(axis=1))
        gradients.append((paid[:, :, None] * scores).mean(axis=1))
    alike = np.eye(2) if not shared else paired.features(2, 3) @ paired.features(2, 3).T
    mean = alike @ [chance @ gradient for chance, gradient in zip(chances, gradients, strict=True)]
    one, two = gradients[0][:, None], gradients[1][None]
    square = sum(((row[0] * one + row[1] * two) ** 2).sum(axis=-1) for row in alike)
    size = chances[0] @ square @ chances[1]
    for step, rate in (
        ({"learning_rate": 0.7}, 0.7),
        ({"step_length": 0.2}, 0.2 * np.sqrt(2 / size)),
    ):
        moved = np.exp(logits + rate * mean)
        settings = dict(rollouts=N, start=start, shared=shared, steps=1, sampled=False)
        found = paired.pass_rates(["maxrl"], **settings, **step)[0, 1]
        np.testing.assert_allclose(found, moved[:, 0] / moved.sum(axis=1), rtol=1e-12)
