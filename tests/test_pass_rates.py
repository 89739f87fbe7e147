"""Pass rates behind counts: brute force, an independent certificate, known mixtures recovered, and
the refusals.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from enumeration import chance, expectation
from refusals import refusal
from scipy import stats

import lab
from lab.errors import LabError
from lab.mathematics import pass_rates
from lab.mathematics.pass_rates import (
    dead_share,
    equal_shares,
    expected_gradient,
    intervals,
    mixing,
    share_by_bin,
)

EDGES = [0, 0.1, 0.5, 0.9, 1]


def simulated(draw, m, n, seed):
    rng = np.random.default_rng(seed)
    n = np.broadcast_to(n, m)
    return n, rng.binomial(n, draw(rng, m))


def u_shaped(rng, m):
    return rng.beta(0.35, 0.45, size=m)


def log_likelihood(p, mass, n, correct):
    """By scipy's binomial; the rewards in their order, so without the ways to order them."""
    rows = stats.binom.pmf(correct[:, None], n[:, None], p) @ mass
    return np.log(rows).sum() - sum(
        math.log(math.comb(int(a), int(b))) for a, b in zip(n, correct, strict=True)
    )


def directional(fit, n, correct, p):
    """D(p), from its definition: the mean over problems of P(K | p) over P(K) under the fit."""
    fitted = stats.binom.pmf(correct[:, None], n[:, None], fit.p) @ fit.mass
    return np.mean(stats.binom.pmf(correct[:, None], n[:, None], p) / fitted[:, None], axis=0)


# --- The mixture against brute force ------------------------------------------------------------


@pytest.mark.parametrize(
    "n, correct",
    [([2, 2], [0, 1]), ([3, 3, 3], [0, 1, 3]), ([1, 4, 2], [1, 1, 0]), ([5, 5], [2, 3])],
)
def test_no_distribution_on_a_coarse_grid_is_more_likely(n, correct):
    grid, parts = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(7, 8)], 24
    rewards = [(1,) * k + (0,) * (size - k) for size, k in zip(n, correct, strict=True)]
    rows = np.array([[float(chance(r, p)) for p in grid] for r in rewards])
    cuts = itertools.combinations(range(parts + 3), 3)
    every = np.diff([(-1, *cut, parts + 3) for cut in cuts], axis=1) - 1
    with np.errstate(divide="ignore"):
        brute = np.log(every / parts @ rows.T).sum(axis=1).max()
    fit = mixing(n, correct, [float(p) for p in grid])
    assert fit.log_likelihood >= brute - 1e-6 * len(n)
    assert fit.log_likelihood <= brute + 0.02  # the enumeration moves mass in steps of 1/24
    assert fit.log_likelihood == pytest.approx(np.log(rows @ fit.mass).sum(), abs=1e-12)


def test_one_problem_has_all_mass_at_its_own_share_of_right_rollouts():
    fit = mixing(8, [2], np.linspace(0, 1, 101))
    assert fit.mass[25] == pytest.approx(1, abs=1e-5) and fit.log_likelihood == pytest.approx(
        math.log(0.25**2 * 0.75**6), abs=1e-5
    )


# --- Its certificate ----------------------------------------------------------------------------


@pytest.mark.parametrize("m, n, seed", [(30, 4, 0), (500, 16, 1), (200, 200, 2)])
def test_the_certificate_holds_by_an_independent_computation(m, n, seed):
    n, correct = simulated(u_shaped, m, n, seed)
    fit = mixing(n, correct)
    slope = directional(fit, n, correct, fit.p)
    assert slope.max() <= 1 + 1.001e-6
    assert fit.mass @ slope == pytest.approx(1, abs=1e-9)
    assert slope[fit.mass > 0.01] == pytest.approx(1, abs=1e-4)  # mass only where D is at its top
    assert fit.mass.sum() == pytest.approx(1, abs=1e-12) and fit.mass.min() >= 0


def test_a_fit_that_does_not_converge_is_an_error_and_not_a_guess(monkeypatch):
    monkeypatch.setattr(pass_rates, "STEPS", 1)
    with pytest.raises(
        LabError, match=r"no convergence in 1 steps \(excess .*\): give a coarser grid"
    ):
        mixing(16, [0, 3, 16])


@pytest.mark.parametrize("slack", [0.5, 1, 2])
def test_slack_is_how_far_a_smooth_fit_stays_below_the_highest_log_likelihood(slack):
    n, correct = simulated(u_shaped, 300, np.tile([4, 16, 64], 100), 10)
    top, smooth = mixing(n, correct), mixing(n, correct, slack=slack)
    assert top.log_likelihood - slack <= smooth.log_likelihood < top.log_likelihood
    assert smooth.log_likelihood == pytest.approx(
        log_likelihood(smooth.p, smooth.mass, n, correct), rel=1e-9
    )
    assert smooth.mass.sum() == pytest.approx(1)
    # Spread out, where the maximum is not.
    assert np.sum(smooth.mass > 1e-4) > 100 > 40 > np.sum(top.mass > 1e-4)


# --- Recovery of what is known ------------------------------------------------------------------


@pytest.mark.parametrize("n", [8, 16])
def test_the_moments_that_n_rollouts_tell_are_recovered(n):
    n, correct = simulated(u_shaped, 2000, n, 3)
    p, mass, *_ = mixing(n, correct)
    for N in (1, 2, 4, int(n[0])):
        truth = np.array(
            [stats.betabinom.pmf(0, N, 0.35, 0.45), stats.betabinom.pmf(N, N, 0.35, 0.45)]
        )
        # A share of 2000 groups has a standard error of at most 1/(2 sqrt 2000) = 0.011: four of
        # these
        assert np.array(dead_share(p, mass, N)) == pytest.approx(truth, abs=0.045)


@pytest.mark.parametrize("n", [8, 16])
def test_a_smooth_fit_of_smooth_pass_rates_has_half_the_error_in_bins_or_less(n):
    truth = np.diff(stats.beta.cdf(EDGES, 0.35, 0.45))
    errors = np.zeros(2)
    for seed in range(20):
        counts = simulated(u_shaped, 300, n, seed)
        errors += [
            np.abs(share_by_bin(*mixing(*counts, slack=x)[:2], EDGES) - truth).sum() for x in (0, 1)
        ]
    assert errors[1] < errors[0] / 2


# --- Invariances --------------------------------------------------------------------------------


def test_the_order_and_the_doubling_of_problems_change_nothing():
    n, correct = simulated(u_shaped, 300, np.tile([4, 16, 64], 100), 5)
    turn = np.random.default_rng(0).permutation(300)
    fit, turned, twice = (
        mixing(n, correct),
        mixing(n[turn], correct[turn]),
        mixing(np.tile(n, 2), np.tile(correct, 2)),
    )
    assert np.array_equal(fit.mass, turned.mass) and fit.log_likelihood == turned.log_likelihood
    np.testing.assert_allclose(twice.mass, fit.mass, atol=1e-9)
    assert twice.log_likelihood == pytest.approx(2 * fit.log_likelihood, rel=1e-12)


@pytest.mark.parametrize("m, n", [(300, [2, 8, 128]), (30, [5000] * 3)])
def test_problems_with_different_n_have_the_likelihood_of_their_own_binomials(m, n):
    n, correct = simulated(u_shaped, m, np.tile(n, m // 3), 7)
    fit = mixing(n, correct)
    assert fit.log_likelihood == pytest.approx(
        log_likelihood(fit.p, fit.mass, n, correct), rel=1e-9
    )


# --- What follows from a distribution -----------------------------------------------------------


@pytest.mark.parametrize("N", [1, 2, 5, 8])
def test_dead_shares_are_those_of_all_reward_vectors(N):
    p = [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]
    mass = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    wrong = sum(w * expectation(lambda r: not any(r), N, q) for q, w in zip(p, mass, strict=True))
    right = sum(w * expectation(all, N, q) for q, w in zip(p, mass, strict=True))
    found = dead_share([float(q) for q in p], [float(w) for w in mass], N)
    assert found == pytest.approx((float(wrong), float(right)), rel=1e-12)


@pytest.mark.parametrize("name", ["rloo", "grpo", "maxrl", "pacs_anchor", "maxrl_loo"])
@pytest.mark.parametrize("N", [2, 8, 64])
def test_the_expected_gradient_is_either_part_of_the_signal_mass_where_groups_sum_to_zero(name, N):
    p, mass = np.array([0.0, 0.01, 0.3, 0.9, 1.0]), np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    found = expected_gradient(p, mass, name, N)
    if lab.estimator(name).rules.zero_mean:
        for part in lab.signal_mass(name, N, p):
            np.testing.assert_allclose(found, mass * part, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(
        found, mass * p * (1 - p) * lab.induced_weight(name, N, p), rtol=1e-12
    )


# --- Intervals ----------------------------------------------------------------------------------


@pytest.fixture
def few_draws(monkeypatch):
    monkeypatch.setattr(pass_rates, "DRAWS", 50)


def dead_of(N):
    return lambda p, mass: np.stack(dead_share(p, mass, N), axis=-1)


def test_intervals_say_the_point_estimate_and_how_many_problems_they_are_over(few_draws):
    n, correct = simulated(u_shaped, 100, 8, 9)
    first, second = (intervals(n, correct, dead_of(8), slack=1) for _ in range(2))
    assert first == second
    assert [x.point for x in first] == pytest.approx(
        list(dead_share(*mixing(n, correct, slack=1)[:2], 8)), abs=1e-9
    )
    assert all(
        x.n == {"problems": 100} and x.level == 0.95 and x.low < x.point < x.high for x in first
    )


def test_intervals_hold_the_truth_about_as_often_as_they_say(few_draws):
    truth = stats.betabinom.pmf([0, 8], 8, 0.35, 0.45)
    inside = np.zeros(2)
    for seed in range(20):
        n, correct = simulated(u_shaped, 150, 8, 100 + seed)
        found = intervals(n, correct, dead_of(8), slack=1)
        inside += [x.low <= y <= x.high for x, y in zip(found, truth, strict=True)]
    assert np.all(inside >= 16)  # of 20: at 95% fewer than 16 come three times in a thousand


def test_groups_of_one_problem_are_drawn_together_so_that_intervals_hold_the_truth(few_draws):
    truth = stats.betabinom.pmf([0, 8], 8, 0.35, 0.45)
    of_problem = np.repeat(np.arange(60), 10)
    inside = np.zeros((2, 2))
    for seed in range(12):
        rng = np.random.default_rng(seed)
        correct = rng.binomial(8, rng.beta(0.35, 0.45, 60)[of_problem])
        for row, problem in enumerate((of_problem, None)):
            found = intervals(8, correct, dead_of(8), 1, problem)
            inside[row] += [x.low <= y <= x.high for x, y in zip(found, truth, strict=True)]
    assert np.all(inside[0] >= 9)  # of 12: at 95% fewer come twice in ten thousand times
    assert np.all(inside[1] < 8)  # as if the groups were 600 problems


# --- Refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", [mixing, lambda n, correct: intervals(n, correct, dead_of(2))])
@pytest.mark.parametrize(
    "n, correct, said",
    [
        (4, [1, 5], "correct at 1 is 5, where n is 4"),
        (4, [1, -1], "correct at 1 is -1"),
        ([4, 0], [1, 0], "n at 1 is 0"),
        (4, [1, 1.5], "correct at 1 is 1.5"),
        (4, [1, float("nan")], "correct at 1 is nan"),
        (4.5, [1, 2], "n is 4.5"),
        (4, [], "correct is float64 of shape (0,)"),
        (4, [True, False], "booleans: sum"),
        ([4, 4, 4], [1, 2], "n has shape (3,) and correct (2,): give one count a problem"),
        (4, 3, "n has shape () and correct (): give one count a problem"),
    ],
)
def test_what_is_not_a_count_is_refused_by_one_sentence(fit, n, correct, said):
    assert said in refusal(fit, n, correct)


def test_a_grid_that_rules_out_a_count_is_refused():
    with pytest.raises(LabError, match="gives 1 right rollouts no chance: add points in"):
        mixing(4, [0, 1, 4], [0.0, 1.0])
    with pytest.raises(LabError, match="pass rate 1.5 is outside"):
        mixing(4, [0, 1], [0.5, 1.5])


def test_equal_shares_are_the_means_of_many_problems_in_their_order():
    """A distribution of 60 equal masses is 60 problems, sorted, and averaged as they lie."""
    rng = np.random.default_rng(5)
    p, times = rng.random(9), rng.multinomial(60, np.full(9, 1 / 9))
    problems = np.sort(np.repeat(p, times))
    for number in (1, 4, 12, 60):
        found = equal_shares(p, times / 60, number)
        np.testing.assert_allclose(found, problems.reshape(number, -1).mean(axis=1), atol=1e-12)
    assert equal_shares(p, times, 7).mean() == pytest.approx(problems.mean())  # mass of any sum
    with pytest.raises(LabError, match="problems = 0"):
        equal_shares(p, times, 0)


def test_pass_rates_and_group_sizes_out_of_range_are_refused():
    with pytest.raises(LabError, match="pass rate 2.0 is outside"):
        dead_share([2.0], [1.0], 4)
    with pytest.raises(LabError, match="N = 0"):
        dead_share([0.5], [1.0], 0)
    with pytest.raises(LabError, match="did you mean 'maxrl'"):
        expected_gradient([0.5], [1.0], "maxlr", 4)
