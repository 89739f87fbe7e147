"""Enumeration by brute force: by eye, and against the sum over the binomial."""

import numpy as np
import pytest

import lab
from lab.errors import LabError
from lab.mathematics.enumeration import MOST_OUTCOMES, enumerate_gradient

POLICY, RIGHT = [0.1, 0.2, 0.3, 0.4], [True, False, True, False]
NAMES = [
    "reinforce",
    "reinforce_mean",
    "rloo",
    "grpo",
    "grpo(ddof=1, eps=1e-6)",
    "maxrl",
    "maxrl_eq6",
    "maxrl_eq7",
    "maxrl_loo",
    "truncated(order=2)",
    "truncated(order=2, form='loo')",
    "pkpo(k=2)",
    "pacs_anchor",
    "mapo",
]


def test_one_rollout_of_a_fair_coin_by_eye():
    """Right (1/2): score (1/2, -1/2), advantage 1. Wrong: advantage 0. Mean half the score; E|g|² =
    1/4.
    """
    g = enumerate_gradient("reinforce", 1, [0.5, 0.5], [True, False])
    np.testing.assert_allclose(g.mean, [0.25, -0.25], atol=1e-15)
    assert g.p == 0.5 and g.spread == pytest.approx(0.25 - 0.125, abs=1e-15)
    np.testing.assert_allclose(g.grad_p, [0.25, -0.25], atol=1e-15)


def test_two_rollouts_of_rloo_by_eye():
    """Only a mixed pair (chance 2p(1-p)) moves: advantages 1 and -1, g = (e_right - e_wrong)/2."""
    p = 0.2
    g = enumerate_gradient("rloo", 2, [p, 1 - p], [True, False])
    mixed = 2 * p * (1 - p)
    np.testing.assert_allclose(g.mean, [mixed / 2, -mixed / 2], atol=1e-15)
    assert g.spread == pytest.approx(mixed * 0.5 - 2 * (mixed / 2) ** 2, abs=1e-15)


def test_the_gradient_of_the_pass_rate_is_that_of_the_softmax():
    g = enumerate_gradient("rloo", 2, POLICY, RIGHT)
    logits, step = np.log(POLICY), 1e-6

    def pass_rate(z):
        return (np.exp(z) / np.exp(z).sum())[RIGHT].sum()

    slope = [
        (pass_rate(logits + step * e) - pass_rate(logits - step * e)) / (2 * step)
        for e in np.eye(4)
    ]
    assert g.p == pytest.approx(0.4) and np.allclose(g.grad_p, slope, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("N", [2, 3, 5])
def test_the_mean_gradient_is_the_induced_weight_times_the_gradient_of_the_pass_rate(name, N):
    g = enumerate_gradient(name, N, POLICY, RIGHT)
    np.testing.assert_allclose(g.mean, lab.induced_weight(name, N, g.p) * g.grad_p, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_spread_is_that_of_the_second_moments(name):
    """trace Cov = (v1 D1 + v0 D0)/N + |grad p|² Var Z, v the scores' spread inside each class."""
    N, pi, right = 4, np.array(POLICY), np.array(RIGHT)
    g = enumerate_gradient(name, N, pi, right)
    scores = np.eye(4) - pi
    spread = []
    for kind in (right, ~right):
        inside = pi * kind / pi[kind].sum()
        spread.append(inside @ (scores**2).sum(1) - ((inside @ scores) ** 2).sum())
    D = lab.second_moments(name, N, g.p)
    expected = (spread[0] * D.right + spread[1] * D.wrong) / N + g.grad_p @ g.grad_p * D.successes
    assert g.spread == pytest.approx(float(expected), rel=1e-10)


def test_all_right_and_all_wrong_policies_have_no_gradient():
    for right in ([True, True], [False, False]):
        g = enumerate_gradient("rloo", 3, [0.3, 0.7], right)
        assert np.allclose(g.mean, 0) and np.allclose(g.grad_p, 0) and g.p in (0.0, 1.0)


def test_an_estimator_itself_is_taken_too():
    drawn = lab.from_weight(lambda p: 1 + p, 3)
    g = enumerate_gradient(drawn, 3, POLICY, RIGHT)
    np.testing.assert_allclose(g.mean, (1 + g.p) * g.grad_p, atol=1e-9)


@pytest.mark.parametrize(
    "policy, right",
    [
        ([0.5, 0.6], [True, False]),
        ([0.5, 0.5], [True]),
        ([1.5, -0.5], [1, 0]),
        ([[0.5, 0.5]], [[1, 0]]),
        ([0.5, np.nan], [1, 0]),
    ],
)
def test_what_is_no_policy_is_refused(policy, right):
    with pytest.raises(LabError, match="give two lists of equal length, the first summing to 1"):
        enumerate_gradient("rloo", 2, policy, right)


def test_too_many_outcomes_are_refused_before_memory_runs_out():
    with pytest.raises(
        LabError,
        match=f"2 answers and N = 40 have 1,099,511,627,776 outcomes: at most {MOST_OUTCOMES:,}",
    ):
        enumerate_gradient("rloo", 40, [0.5, 0.5], [1, 0])
