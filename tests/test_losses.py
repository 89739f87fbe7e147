"""Losses against hand computations."""

import pytest
import torch

import lab
from lab.losses import exact_factor, expected_factor, policy_gradient, population


def test_the_gradient_of_each_log_probability_is_minus_its_advantage_over_their_number():
    logp = torch.zeros(2, 4, requires_grad=True)
    advantages = lab.advantages("maxrl", torch.tensor([[1.0, 0, 0, 0], [0, 0, 0, 0]]))
    policy_gradient(logp, advantages).backward()
    assert (logp.grad * -8).tolist() == [[3, -1, -1, -1], [0, 0, 0, 0]]


def test_no_gradient_passes_through_the_advantages():
    logp, advantages = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    policy_gradient(logp, advantages * 2).backward()
    assert advantages.grad is None and logp.grad is not None


def test_the_population_loss_is_minus_the_mean_of_share_times_log_p():
    log_p = torch.tensor([-1.0, -2.0], dtype=torch.float64, requires_grad=True)
    loss = population(log_p, torch.tensor([3.0, 4.0], dtype=torch.float64))
    loss.backward()
    assert loss.item() == 5.5 and log_p.grad.tolist() == [-1.5, -2.0]


@pytest.mark.parametrize(
    "name, expected", [("ml", [1, 1]), ("rl", [0.1, 0.5]), ("truncated(order=2)", [0.19, 0.75])]
)
@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16])
def test_the_exact_share_is_p_w_and_keeps_shape_and_type(name, expected, kind):
    log_p = torch.tensor([0.1, 0.5], dtype=torch.float64).log().to(kind).requires_grad_()
    share = exact_factor(log_p, lab.objective(name))
    assert share.shape == (2,) and share.dtype == kind and not share.requires_grad
    off = {torch.float64: 1e-12, torch.float32: 1e-6, torch.bfloat16: 2e-2}[kind]
    assert share.tolist() == pytest.approx(expected, rel=off)


@pytest.mark.parametrize(
    "spec, N, expected",
    [
        ("maxrl_eq6", 2, [0.19, 0.75]),
        ("rloo", 5, [0.1, 0.5]),
        ("reinforce_mean", 4, [0.075, 0.375]),
    ],
)
@pytest.mark.parametrize("kind", [torch.float64, torch.float32])
def test_the_expected_share_is_p_times_the_induced_weight_and_keeps_shape_and_type(
    spec, N, expected, kind
):
    log_p = torch.tensor([0.1, 0.5], dtype=torch.float64).log().to(kind).requires_grad_()
    share = expected_factor(log_p, lab.estimator(spec), N)
    assert share.dtype == kind and not share.requires_grad
    assert share.tolist() == pytest.approx(expected, rel=1e-12 if kind == torch.float64 else 1e-6)


@pytest.mark.parametrize("name", ["rl", "ml", "arcsine", "log_odds", "power(a=2, b=2)"])
@pytest.mark.parametrize("kind", [torch.float64, torch.float32])
def test_shares_stay_finite_where_a_pass_rate_was_rounded_to_zero_or_one(name, kind):
    share = exact_factor(torch.tensor([-800.0, 0.0], dtype=kind), lab.objective(name)).double()
    assert torch.isfinite(share[1]) and (name == "power(a=2, b=2)" or torch.isfinite(share).all())


def test_an_image_that_is_surely_right_has_no_gradient_under_any_objective():
    """In single precision its pass rate rounds to 1, where the weight of log-odds is infinite."""
    for name in ("rl", "ml", "arcsine", "log_odds"):
        logits = torch.tensor([[30.0, 0.0, -3.0]], requires_grad=True)
        log_p = logits.log_softmax(1)[:, 0]
        assert log_p.item() == 0.0
        population(log_p, exact_factor(log_p, lab.objective(name))).backward()
        assert logits.grad.abs().max() < 1e-5, name
