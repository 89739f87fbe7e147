"""Enumeration by brute force: by eye, and against the sum over the binomial."""

import numpy as np
import pytest

import lab
from lab.mathematics.enumeration import enumerate_gradient

POLICY, RIGHT = [0.1, 0.2, 0.3, 0.4], [True, False, True, False]


def test_one_rollout_of_a_fair_coin_by_eye():
    """Right (1/2): score (1/2, -1/2), advantage 1. Wrong: advantage 0. Mean half the score; E|g|² =
    1/4.
    """
    g = enumerate_gradient("reinforce", 1, [0.5, 0.5], [True, False])
    np.testing.assert_allclose(g.mean, [0.25, -0.25], atol=1e-15)
    assert g.p == 0.5 and g.spread == pytest.approx(0.25 - 0.125, abs=1e-15)
    np.testing.assert_allclose(g.grad_p, [0.25, -0.25], atol=1e-15)


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


def test_all_right_and_all_wrong_policies_have_no_gradient():
    for right in ([True, True], [False, False]):
        g = enumerate_gradient("rloo", 3, [0.3, 0.7], right)
        assert np.allclose(g.mean, 0) and np.allclose(g.grad_p, 0) and g.p in (0.0, 1.0)


def test_an_estimator_itself_is_taken_too():
    drawn = lab.from_weight(lambda p: 1 + p, 3)
    g = enumerate_gradient(drawn, 3, POLICY, RIGHT)
    np.testing.assert_allclose(g.mean, (1 + g.p) * g.grad_p, atol=1e-9)
