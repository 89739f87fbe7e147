"""Intervals: against enumeration of every resample, the normal limit, and the honest limit of few
seeds.
"""

import itertools
import math

import numpy as np
import pytest

from lab import LabError, stats
from lab.metrics import pass_at_k
from lab.stats import Interval, bootstrap, bootstrap_each, compare


@pytest.fixture
def pass_rates():
    """Pass rates "seeds problems" in which some problems, and some seeds, are easier
    than others.
    """
    rng = np.random.default_rng(1)
    return rng.beta(0.5, 0.8, 40) + rng.normal(0, 0.03, (5, 1)) + rng.normal(0, 0.02, (5, 40))


def ends(interval):
    return interval.low, interval.high


def test_the_interval_prints_its_level_and_what_it_is_over():
    text = str(Interval(0.431, 0.402, 0.460, 0.95, "problems", {"problems": 1000}, 10_000, 0))
    assert text == "0.431 [0.402, 0.460] (95% over 1000 problems)"
    both = bootstrap(np.eye(2, 3), over="both", level=0.9, draws=100)
    assert str(both).endswith("(90% over 3 problems and 2 seeds)")
    assert (both.over, both.n) == ("problems and seeds", {"problems": 3, "seeds": 2})
    assert (both.level, both.draws, both.seed) == (0.9, 100, 0)


@pytest.mark.parametrize("statistic", [None, np.mean, np.median, np.max])
def test_the_interval_is_the_quantile_of_every_possible_resample(statistic):
    values = np.array([0.0, 1.0, 4.0, 9.0])
    exact = np.sort(
        [(statistic or np.mean)(r) for r in itertools.product(values, repeat=4)]
    )  # 256 resamples
    found = bootstrap(values, statistic=statistic, level=0.71, draws=100_000)
    assert ends(found) == (exact[math.floor(0.145 * 255)], exact[math.ceil(0.855 * 255)])
    assert found.point == (statistic or np.mean)(values)


def test_a_mean_has_about_two_standard_errors_on_each_side():
    values = np.random.default_rng(0).normal(5, 2, 400)
    found, error = bootstrap(values), values.std() / math.sqrt(400)
    assert found.low == pytest.approx(values.mean() - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(values.mean() + 1.96 * error, abs=0.1 * error)


def test_the_weighted_mean_and_the_mean_of_resampled_arrays_agree(pass_rates):
    for over in ("seeds", "both"):
        resampled = bootstrap if over == "both" else bootstrap_each
        fast, slow = (np.ravel(resampled(pass_rates, over, f, draws=500)) for f in (None, np.mean))
        for one, other in zip(fast, slow, strict=True):
            assert (one.point, *ends(one)) == pytest.approx((other.point, *ends(other)), rel=1e-12)


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(7)
    found = [bootstrap(rng.random(60) < 0.3, draws=400, seed=seed) for seed in range(300)]
    covered = np.mean([x.low <= 0.3 <= x.high for x in found])
    assert (
        0.89 <= covered <= 0.99
    )  # 95%, less the few points that a percentile interval lacks at n = 60


def test_three_seeds_cover_the_median_at_most_three_times_in_four():
    rng = np.random.default_rng(8)
    samples = rng.normal(0, 1, (600, 3))
    intervals = [ends(bootstrap(sample, over="seeds", draws=200)) for sample in samples]
    lows, highs = np.array(intervals).T
    assert (lows >= samples.min(axis=1) - 1e-12).all() and (
        highs <= samples.max(axis=1) + 1e-12
    ).all()
    covered = np.mean((lows <= 0) & (highs >= 0))
    assert 0.65 < covered < 0.81  # at most 0.75, give or take three standard errors


@pytest.mark.parametrize("over", ["problems", "seeds", "both"])
@pytest.mark.parametrize("statistic", [None, np.median])
def test_the_size_of_the_chunks_does_not_move_the_result(over, statistic, pass_rates, monkeypatch):
    resampled = bootstrap if over == "both" else bootstrap_each
    whole = resampled(pass_rates, over, statistic, draws=333)
    monkeypatch.setattr(stats, "CHUNK", 1500)
    pieces = resampled(pass_rates, over, statistic, draws=333)
    for one, other in zip(np.ravel(whole), np.ravel(pieces), strict=True):
        assert ends(one) == pytest.approx(ends(other), rel=1e-13)


def test_the_seed_decides_the_interval(pass_rates):
    values = pass_rates[0]
    assert bootstrap(values, seed=3) == bootstrap(values, seed=3)
    assert ends(bootstrap(values, seed=3)) != ends(bootstrap(values, seed=4))


def test_other_axes_are_carried_along_with_the_same_resamples():
    curve = pass_at_k(16, np.arange(17), [1, 4, 16])
    together = bootstrap_each(curve, draws=500)
    assert [x.point for x in together] == pytest.approx(curve.mean(axis=0))
    for one, alone in zip(
        together, (bootstrap(column, draws=500) for column in curve.T), strict=True
    ):
        assert ends(one) == pytest.approx(ends(alone), rel=1e-12)
    with pytest.raises(LabError, match="reshape them to columns"):
        bootstrap_each(curve.reshape(17, 3, 1), draws=500)


def test_one_number_and_several_have_functions_of_their_own():
    with pytest.raises(LabError, match="give 3 numbers over problems: take bootstrap_each"):
        bootstrap(np.eye(4, 3), draws=100)
    with pytest.raises(LabError, match="give one number over problems: take bootstrap"):
        bootstrap_each([0.5, 1.0], draws=100)


def test_a_statistic_may_reduce_the_carried_axes_and_may_be_infinite():
    curve = pass_at_k(8, [0, 0, 0, 1, 2, 8], range(1, 9))

    def first_k_to_solve_half(sample, axis):
        reached = sample.mean(axis=axis) >= 0.5
        return np.where(reached.any(axis=-1), 1 + reached.argmax(axis=-1), np.inf)

    found = bootstrap(curve, statistic=first_k_to_solve_half, draws=1000)
    assert (found.point, *ends(found)) == (8.0, 1.0, math.inf)


def test_over_both_is_wider_than_over_problems_or_seeds_alone(pass_rates):
    def width(interval):
        return interval.high - interval.low

    both = width(bootstrap(pass_rates, over="both"))
    problems = width(bootstrap(pass_rates.mean(axis=0), over="problems"))
    seeds = width(bootstrap(pass_rates.mean(axis=1), over="seeds"))
    assert both > max(problems, seeds)
    assert both == pytest.approx(
        math.hypot(problems, seeds), rel=0.1
    )  # crossed: the two variances add


def test_pairing_narrows_the_interval_of_correlated_runs():
    rng = np.random.default_rng(2)
    difficulty = rng.beta(0.5, 0.5, 200)
    ours, base = difficulty + rng.normal(0.05, 0.02, 200), difficulty + rng.normal(0, 0.02, 200)
    duel = compare(ours, base)
    apart = [bootstrap(run, seed=seed) for seed, run in enumerate((ours, base))]
    unpaired = math.hypot(*(x.high - x.low for x in apart))
    assert duel.difference.high - duel.difference.low < unpaired / 5
    assert (
        duel.difference.low > 0 and apart[0].low < apart[1].high
    )  # paired sees what the overlap hides
    assert duel.difference.point == pytest.approx(ours.mean() - base.mean())
    assert duel.probability_of_improvement.low > 0.9


def test_a_tie_is_half_an_improvement():
    duel = compare([1, 0, 1, 0], [1, 0, 0, 1], draws=1000)
    assert duel.probability_of_improvement.point == 0.5  # two ties, one win, one loss
    assert duel.difference.point == 0.0 and duel.n == {"problems": 4}
    one_better = compare([1, 2, 3], [0, 2, 3], over="seeds", draws=100)
    assert one_better.probability_of_improvement.point == pytest.approx(4 / 6)


def test_a_change_of_sign_mirrors_the_interval(pass_rates):
    for seed in range(5):
        there, back = (bootstrap(x, draws=50, seed=seed) for x in (pass_rates[0], -pass_rates[0]))
        assert ends(back) == pytest.approx((-there.high, -there.low), rel=1e-12)


def test_comparing_a_run_with_itself_finds_nothing(pass_rates):
    duel = compare(pass_rates, pass_rates, over="both", draws=100)
    assert (duel.difference.point, *ends(duel.difference)) == (0.0, 0.0, 0.0)
    assert ends(duel.probability_of_improvement) == pytest.approx((0.5, 0.5), rel=1e-12)
    assert duel.n == {"problems": 40, "seeds": 5}


def test_exchanging_the_runs_mirrors_the_comparison(pass_rates):
    one, other = compare(pass_rates[0], pass_rates[1]), compare(pass_rates[1], pass_rates[0])
    assert other.difference.point == pytest.approx(-one.difference.point, rel=1e-12)
    assert other.probability_of_improvement.point == pytest.approx(
        1 - one.probability_of_improvement.point
    )
    assert one.difference.point != 0


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: bootstrap([0.5], over="seeds"),
            r"values has sizes \{'seeds': 1\}: one item has no interval",
        ),
        (lambda: bootstrap([[0.5, 1.0]], over="both"), r"sizes \{'problems': 2, 'seeds': 1\}"),
        (lambda: bootstrap([]), r"values has shape \(0,\)"),
        (lambda: bootstrap([0.5, 1.0], over="both"), r"over='both' needs"),
        (
            lambda: bootstrap([0.5, np.nan, 1.0]),
            r"values is nan at index \(1,\): repair it, or leave",
        ),
        (lambda: bootstrap([0.5, np.inf]), r"values is inf at index \(1,\)"),
        (
            lambda: bootstrap([0.5, 1.0], over="problem"),
            "unknown over 'problem': did you mean 'problems'",
        ),
        (lambda: bootstrap([0.5, 1.0], level=95), "level is 95 with 10000 draws"),
        (lambda: bootstrap([0.5, 1.0], draws=10), "level is 0.95 with 10 draws"),
        (
            lambda: bootstrap([0.5, 1.0], statistic=lambda x, axis: x.mean()),
            r"statistic gave shape \(\)",
        ),
        (
            lambda: bootstrap([0.5, 1.0], statistic=lambda x, a: np.ptp(x, a) / np.ptp(x, a)),
            "statistic is NaN",
        ),
        (
            lambda: compare([1, 2, 3], [1, 2]),
            r"a has shape \(3,\), b has shape \(2,\): give both on the same",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_has_no_interval_is_refused_with_a_cure(call, message):
    with pytest.raises(ValueError, match=message):
        call()
