"""Stopping rules: weight, noise and baselines against the sum over every sequence of answers."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lab
from lab.errors import LabError
from lab.mathematics.stopping import StoppingRule, stopping_rule, until

P = np.array([1e-6, 0.001, 0.02, 0.3, 0.5, 0.95, 1 - 1e-6])
RULES = [
    until(right=1, cap=6),
    until(right=1, cap=6, baseline=0.3),
    until(right=2, cap=7, baseline=-0.2),
    until(wrong=1, cap=5, baseline=1.0),
    until(right=1, wrong=1, cap=7, baseline=0.5),
    until(right=2, wrong=3, cap=7, baseline=0.1),
    until(right=3, wrong=1, cap=6, baseline=0.6),
    until(right=1, cap=6, round=2),
    until(right=1, cap=6, round=6, baseline=0.4),
    until(right=2, wrong=1, cap=6, round=3, baseline=0.2),
]
EVERY_RULE = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.spec)
POLICIES = [([0.2, 0.5, 0.3], [True, False, False]), ([0.45, 0.3, 0.25], [True, True, False])]


def drawn_of(rule: StoppingRule, rights: tuple[bool, ...]) -> int:
    """How many of the draws the rule takes, by its definition: look after every round."""
    for t in range(rule.round, rule.cap, rule.round):
        K = sum(rights[:t])
        if K >= rule.right and t - K >= rule.wrong:
            return t
    return rule.cap


def sequences(rule: StoppingRule, pi: list[float], right: list[bool]):
    """Every sequence of answers that the rule may draw, with its chance."""
    seen = set()
    for answers in itertools.product(range(len(pi)), repeat=rule.cap):
        tau = drawn_of(rule, tuple(right[y] for y in answers))
        if answers[:tau] not in seen:
            seen.add(answers[:tau])
            yield list(answers[:tau]), float(np.prod([pi[y] for y in answers[:tau]]))


@EVERY_RULE
@pytest.mark.parametrize("pi, right", POLICIES)
def test_mean_and_noise_are_those_of_every_sequence_of_answers(rule, pi, right):
    pi_, is_right = np.array(pi), np.array(right)
    p = float(pi_[is_right].sum())
    scores, grad_p = np.eye(len(pi)) - pi_, pi_ * (is_right - p)
    chance, taus, gradients = [], [], []
    for answers, probability in sequences(rule, pi, right):
        r = is_right[answers].astype(float)
        chance.append(probability)
        taus.append(len(answers))
        gradients.append((r - rule.baseline) @ scores[answers])
    assert sum(chance) == pytest.approx(1, abs=1e-12)
    mean = np.array(chance) @ np.array(gradients)
    spread = np.array(chance) @ (np.array(gradients) ** 2).sum(1) - mean @ mean
    w = rule.weight(p)
    assert w == pytest.approx(np.dot(chance, taus), abs=1e-12)
    assert_allclose(mean, w * grad_p, atol=1e-12)
    traces = {}
    for kind in (True, False):
        of_kind = pi_ * (is_right == kind) / pi_[is_right == kind].sum()
        centred = scores - of_kind @ scores
        traces[kind] = of_kind @ (centred**2).sum(1)
    moments = rule.second_moments(p)
    within = w * (traces[True] * moments.right + traces[False] * moments.wrong)
    assert spread == pytest.approx(within + grad_p @ grad_p * moments.successes, abs=1e-12)


def test_until_right_is_maxrl_of_order_cap_and_in_rounds_so_many_times_that_of_a_round():
    for M in (1, 2, 64, 1024):
        of_order = lab.objective(f"truncated(order={M})").weight(P)
        assert_allclose(until(right=1, cap=M).weight(P), of_order, rtol=1e-11)
    solved_in_8 = -np.expm1(8 * np.log1p(-P))
    solved_in_64 = -np.expm1(64 * np.log1p(-P))
    in_rounds = until(right=1, cap=64, round=8)
    assert_allclose(in_rounds.weight(P), 8 * solved_in_64 / solved_in_8, rtol=1e-12)
    assert_allclose(until(right=1, cap=8, round=8).weight(P), 8, rtol=1e-12)


@EVERY_RULE
def test_the_efficiency_is_the_signal_to_noise_of_a_rollout_relative_to_the_oracle(rule):
    """Of A = r - p, where w = 1 and D1 + D0 = pq."""
    moments, b = rule.second_moments(P), rule.baseline
    oracle = P * (1 - P)
    assert_allclose(rule.efficiency(P), oracle / (moments.right + moments.wrong), rtol=1e-12)
    assert_allclose(rule.efficiency(P), oracle / (oracle + (b - P) ** 2), rtol=1e-9)


def noise(rule: StoppingRule, b: float, p: np.ndarray, explained: float) -> float:
    """Of a problem of each pass rate, in sum, if the baseline were b (v1 = v0)."""
    moments = replace(rule, baseline=b).second_moments(p)
    within = (1 - explained) * rule.weight(p) * (moments.right + moments.wrong)
    return float((within + explained * p * (1 - p) * moments.successes).sum())


@EVERY_RULE
@pytest.mark.parametrize("explained", [0.01, 0.4, 1.0])
@pytest.mark.parametrize("p", [[0.02], [0.3], [0.8], [0.001, 0.02, 0.3, 0.7]])
def test_no_other_baseline_has_less_noise_than_the_best(rule, explained, p):
    """The mean of b(p) = (1-k) p + k (1-p + Cov(tau, R - p tau)/w), weighed by w."""
    p, k = np.array(p), explained
    drawn = rule.drawn(p)
    of_each = (1 - k) * p + k * (1 - p + drawn.covariance / drawn.mean)
    best = float(np.average(of_each, weights=drawn.mean))
    at = [noise(rule, best + d, p, explained) for d in (-0.02, 0, 0.02)]
    assert at[1] < min(at[0], at[2])
    w = rule.weight(p)
    assert rule.one_baseline(p) == pytest.approx((p * w).sum() / w.sum(), rel=1e-12)


def test_shapes_are_those_of_the_pass_rates_and_the_ends_are_finite_where_they_can_be():
    rule = until(right=2, wrong=1, cap=8, baseline=0.1)
    grid = np.linspace(0, 1, 12).reshape(3, 4)
    moments = rule.second_moments(grid)
    for found in (*rule.drawn(grid), rule.efficiency(grid), *moments):
        assert found.shape == grid.shape
    assert_allclose(rule.weight(grid)[[0, 2], [0, 3]], 8)  # all wrong, all right: to the cap
    assert np.isnan(moments.successes[0, 0]) and np.isfinite(moments.successes[1]).all()
    assert rule.weight(0.5).shape == ()


@pytest.mark.parametrize(
    "text",
    [
        "until(right=1, cap=64)",
        "until(right=1, wrong=1, cap=64, round=8, baseline=0.25)",
        "until(wrong=2, cap=5)",
    ],
)
def test_a_rule_is_made_again_from_its_text(text):
    assert stopping_rule(text).spec == text
    assert stopping_rule(stopping_rule(text).spec) == stopping_rule(text)
    assert stopping_rule(text.replace(", ", ",")) == stopping_rule(text)


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("untill(right=1, cap=4)", "did you mean 'until'"),
        ("until(rigth=1, cap=4)", "did you mean 'right'"),
        ("until(right=1)", r"needs cap: write until\(right=1, cap=\.\.\.\)"),
        ("until(cap=4)", "waits for nothing"),
        ("until(right=3, wrong=2, cap=4)", "at least right \\+ wrong = 5"),
        ("until(right=1, cap=10, round=4)", "a multiple of 4"),
        ("until(right=1, cap=100000)", "at most 65536"),
        ("until(right=1.5, cap=4)", "whole number"),
        ("until(right=1, cap=4, baseline='p')", "finite number"),
        ("until", "needs cap: write until"),
    ],
)
def test_a_text_that_is_no_rule_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(LabError, match=sentence):
        stopping_rule(text)
