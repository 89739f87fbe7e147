"""Losses against hand computations."""

import numpy as np
import pytest
import torch

import lab
from lab.losses import policy_gradient, population, weight_of


def test_the_policy_gradient_is_minus_the_mean_of_advantage_times_log_probability():
    logp = torch.log(torch.tensor([[0.5, 0.25], [0.125, 1.0]], dtype=torch.float64))
    advantages = torch.tensor([[1.0, -1.0], [2.0, 7.0]], dtype=torch.float64)
    by_hand = -((np.log(0.5) - np.log(0.25)) + (2 * np.log(0.125) + 7 * 0.0)) / 4
    assert policy_gradient(logp, advantages).item() == pytest.approx(by_hand, abs=1e-15)


def test_the_gradient_of_each_log_probability_is_minus_its_advantage_over_their_number():
    logp = torch.zeros(2, 4, requires_grad=True)
    advantages = lab.advantages("maxrl", torch.tensor([[1.0, 0, 0, 0], [0, 0, 0, 0]]))
    policy_gradient(logp, advantages).backward()
    assert (logp.grad * -8).tolist() == [[3, -1, -1, -1], [0, 0, 0, 0]]


def test_no_gradient_passes_through_the_advantages():
    logp, advantages = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    policy_gradient(logp, advantages * 2).backward()
    assert advantages.grad is None and logp.grad is not None


def test_the_population_loss_is_minus_the_mean_of_weight_times_pass_rate():
    p = torch.tensor([0.5, 0.25], dtype=torch.float64, requires_grad=True)
    loss = population(p, torch.tensor([2.0, 4.0], dtype=torch.float64))
    loss.backward()
    assert loss.item() == -1.0 and p.grad.tolist() == [-1.0, -2.0]


def test_the_weight_is_held_fixed_so_that_the_gradient_is_w_grad_p_and_not_the_gradient_of_w_p():
    p = torch.tensor([0.5, 0.25], dtype=torch.float64, requires_grad=True)
    population(p, 1 / p).backward()  # were the weight not held fixed, w p = 1 would have no gradient
    assert p.grad.tolist() == [-1.0, -2.0]


@pytest.mark.parametrize("what, expected", [
    (lab.objective("ml"), [10.0, 2.0]), (lab.objective("truncated", order=2), [1.9, 1.5]),
    ((lab.estimator("maxrl_eq6"), 2), [1.9, 1.5]), ((lab.estimator("rloo"), 5), [1.0, 1.0]),
    ((lab.estimator("reinforce_mean"), 4), [0.75, 0.75])])
@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16])
def test_the_weight_of_an_objective_or_of_n_rollouts_keeps_shape_and_type(what, expected, kind):
    p = torch.tensor([[0.1], [0.5]], dtype=kind, requires_grad=True)
    weight = weight_of(p, what)
    assert weight.shape == (2, 1) and weight.dtype == kind and not weight.requires_grad
    off = {torch.float64: 1e-12, torch.float32: 1e-6, torch.bfloat16: 1e-2}[kind]
    assert weight.flatten().tolist() == pytest.approx(expected, rel=off)


@pytest.mark.parametrize("name", ["rl", "ml", "arcsine", "log_odds", "power(a=2, b=2)"])
@pytest.mark.parametrize("kind", [torch.float64, torch.float32])
def test_weights_stay_finite_where_a_pass_rate_was_rounded_to_zero_or_one(name, kind):
    weight = weight_of(torch.tensor([0.0, 1.0], dtype=torch.float64).to(kind), lab.objective(name)).double()
    assert torch.isfinite(weight[1]) and (name == "power(a=2, b=2)" or torch.isfinite(weight).all())


def test_an_image_that_is_surely_right_has_no_gradient_under_any_objective():
    """In single precision its pass rate rounds to 1, where the weight of log-odds is infinite."""
    for name in ("rl", "ml", "arcsine", "log_odds"):
        logits = torch.tensor([[30.0, 0.0, -3.0]], requires_grad=True)
        p = logits.softmax(1)[:, 0]
        assert p.item() == 1.0
        population(p, weight_of(p, lab.objective(name))).backward()
        assert logits.grad.abs().max() < 1e-5, name
