"""Intervals: against closed forms, enumeration of every resample, and simulated coverage."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from lab import LabError
from lab.mathematics import stats
from lab.mathematics.metrics import pass_at_k
from lab.mathematics.stats import (
    Interval,
    bootstrap,
    compare,
    detectable,
    holm,
    mean_interval,
    mean_interval_each,
    p_value,
    p_value_of_equality,
)


@pytest.fixture
def pass_rates():
    """Pass rates "seeds problems" in which some problems, and some seeds, are easier
    than others.
    """
    rng = np.random.default_rng(1)
    return rng.beta(0.5, 0.8, 40) + rng.normal(0, 0.03, (5, 1)) + rng.normal(0, 0.02, (5, 40))


def ends(interval):
    return interval.low, interval.high


def half(interval):
    return (interval.high - interval.low) / 2


# --- Means ----------------------------------------------------------------------------------------


def test_the_interval_prints_its_level_and_what_it_is_over():
    text = str(Interval(0.431, 0.402, 0.460, 0.95, {"problems": 1000}))
    assert text == "0.431 [0.402, 0.460] (95% over 1000 problems)"
    both = mean_interval(np.eye(2, 3), over="both", level=0.9)
    assert str(both).endswith("(90% over 3 problems and 2 seeds)")
    assert (both.level, both.n) == (0.9, {"problems": 3, "seeds": 2})


@pytest.mark.parametrize("over", ["seeds", "problems"])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_over_one_axis_it_is_students_interval(over, level):
    values = np.random.default_rng(0).gamma(2, 1, 7)
    theirs = scipy_stats.ttest_1samp(values, 0).confidence_interval(level)
    assert ends(mean_interval(values, over, level)) == pytest.approx(ends(theirs), rel=1e-12)


def test_the_p_value_is_students_and_belongs_to_the_interval(pass_rates):
    values = np.random.default_rng(3).normal(0.4, 1, 6)
    for null in (0.0, 0.7, -5.0, 400.0):
        theirs = scipy_stats.ttest_1samp(values, null).pvalue
        assert p_value(values, "seeds", null) == pytest.approx(theirs, rel=1e-8)
    difference = pass_rates[:3] - pass_rates[2:]
    p = p_value(difference, "both")
    at_p = mean_interval(difference, "both", level=1 - p)
    assert min(abs(at_p.low), abs(at_p.high)) < 1e-9  # an end of that interval is zero
    assert 0 < p < 1


def test_the_two_parts_over_both_are_those_of_a_naive_table(pass_rates):
    S, P = pass_rates.shape
    grand = pass_rates.mean()
    seeds = sum(P * (row.mean() - grand) ** 2 for row in pass_rates) / (S - 1)
    problems = sum(S * (column.mean() - grand) ** 2 for column in pass_rates.T) / (P - 1)
    rest = sum(
        (pass_rates[s, p] - pass_rates[s].mean() - pass_rates[:, p].mean() + grand) ** 2
        for s in range(S)
        for p in range(P)
    ) / ((S - 1) * (P - 1))
    t_seeds, t_problems = (scipy_stats.t.ppf(0.975, n - 1) for n in (S, P))
    square = t_seeds**2 * seeds / (S * P) + t_problems**2 * max(problems - rest, 0) / (S * P)
    assert half(mean_interval(pass_rates, "both")) == pytest.approx(math.sqrt(square), rel=1e-12)


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize(
    "of_seeds, of_problems, of_rest", [(0, 1, 1), (0.1, 1, 1), (1, 1, 1), (0, 0, 1), (1, 0, 0.1)]
)
def test_the_interval_over_both_covers_the_mean_at_least_as_often_as_it_says(
    seeds, of_seeds, of_problems, of_rest
):
    """Also for two seeds, where resampling them covered the mean 79 to 87% of the time."""
    rng = np.random.default_rng(seeds)
    tables = (
        of_seeds * rng.normal(size=(1000, seeds, 1))
        + of_problems * rng.normal(size=(1000, 1, 24))
        + of_rest * rng.normal(size=(1000, seeds, 24))
    )
    found = [mean_interval(table, "both") for table in tables]
    covered = np.mean([one.low <= 0 <= one.high for one in found])
    assert covered >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 1000)


def test_a_range_cuts_the_ends_and_bounds_what_was_never_seen():
    assert ends(mean_interval([0.9, 1.0, 1.0], within=(0, 1)))[1] == 1
    assert mean_interval([0.9, 1.0, 1.0]).high > 1
    never = mean_interval(np.zeros(30), within=(0, 1))
    # as Clopper and Pearson have it for 0 of 30
    exact = scipy_stats.binomtest(0, 30).proportion_ci(0.95).high
    assert ends(never) == (0, pytest.approx(exact, rel=1e-12))
    always = mean_interval(np.full((3, 30), 5.0), "both", within=(1, 5))
    assert ends(always) == (pytest.approx(5 - 4 * exact, rel=1e-12), 5)
    assert ends(mean_interval(np.full(30, 0.5), within=(0, 1))) == (0.5, 0.5)


def test_columns_are_separate_means():
    curve = pass_at_k(16, np.arange(17), [1, 4, 16])
    for one, column in zip(mean_interval_each(curve), curve.T, strict=True):
        assert one == mean_interval(column)
    for values, over in ((curve.reshape(17, 3, 1), "problems"), (curve, "both")):
        with pytest.raises(LabError, match="give one axis of columns behind the items"):
            mean_interval_each(values, over)
    with pytest.raises(LabError, match="several numbers over problems: .*mean_interval_each"):
        mean_interval(curve)


# --- Comparison and tests -------------------------------------------------------------------------


def test_pairing_narrows_the_interval_of_correlated_runs():
    rng = np.random.default_rng(2)
    difficulty = rng.beta(0.5, 0.5, 200)
    ours, base = difficulty + rng.normal(0.05, 0.02, 200), difficulty + rng.normal(0, 0.02, 200)
    duel = compare(ours, base)
    apart = [mean_interval(run) for run in (ours, base)]
    assert half(duel.difference) < math.hypot(*map(half, apart)) / 5
    # paired sees what the overlap hides
    assert duel.difference.low > 0 and apart[0].low < apart[1].high
    assert duel.difference.point == pytest.approx(ours.mean() - base.mean())
    assert duel.probability_of_improvement.low > 0.9 and duel.p_value < 1e-10
    wide = compare([1.0, 0.0], [0.0, 0.0])
    assert wide.difference.high > 1
    assert ends(compare([1.0, 0.0], [0.0, 0.0], within=(0, 1)).difference) == (-1, 1)


def test_a_tie_is_half_an_improvement():
    duel = compare([1, 0, 1, 0], [1, 0, 0, 1])
    assert duel.probability_of_improvement.point == 0.5  # two ties, one win, one loss
    assert duel.difference.point == 0.0 and duel.p_value == 1
    assert duel.difference.n == {"problems": 4}
    one_better = compare([1, 2, 3], [0, 2, 3], over="seeds")
    assert one_better.probability_of_improvement.point == pytest.approx(4 / 6)


@pytest.mark.parametrize("margin", [0.1, 0.25, 0.4])
@pytest.mark.parametrize("mean", [0.0, 0.2, -0.3])
def test_equality_is_two_one_sided_tests(margin, mean):
    values = np.random.default_rng(5).normal(0, 0.2, 9)
    values += mean - values.mean()
    theirs = max(
        scipy_stats.ttest_1samp(values, -margin, alternative="greater").pvalue,
        scipy_stats.ttest_1samp(values, margin, alternative="less").pvalue,
    )
    assert p_value_of_equality(values, "seeds", margin=margin) == pytest.approx(theirs, rel=1e-8)


def test_values_that_agree_are_equal_and_a_margin_must_be_named():
    assert p_value_of_equality([0.5, 0.5, 0.5], margin=0.6) == 0
    assert p_value_of_equality([0.5, 0.5, 0.5], margin=0.4) == 1
    assert p_value([0.5, 0.5]) == 0 and p_value([0.0, 0.0]) == 1
    with pytest.raises(LabError, match="margin = 0: give the largest difference that still"):
        p_value_of_equality([0.1, 0.2], margin=0)


@pytest.mark.parametrize("seeds", [3, 5, 20])
def test_a_detectable_effect_is_seen_four_times_in_five(seeds):
    """Where the spread is known: the formula adds two quantiles of t, an approximation."""
    rng = np.random.default_rng(seeds)
    samples = rng.normal(0, 1, (4000, seeds))
    effect = np.mean([detectable(sample, "seeds") ** 2 for sample in samples]) ** 0.5
    seen = np.mean([mean_interval(sample + effect, "seeds").low > 0 for sample in samples])
    assert 0.74 < seen < 0.9


def test_holm_is_the_step_down_of_bonferroni():
    p = [0.001, 0.5, 0.012, 0.04, 0.012]
    naive = dict.fromkeys(range(5), 0.0)
    largest = 0.0
    for rank, place in enumerate(np.argsort(p, kind="stable")):
        largest = max(largest, min(1, (5 - rank) * p[place]))
        naive[int(place)] = largest
    assert holm(p) == pytest.approx(list(naive.values()))
    assert holm([]) == [] and holm([0.7, 0.9]) == [1.0, 1.0]


# --- The bootstrap --------------------------------------------------------------------------------


@pytest.mark.parametrize("statistic", [np.mean, np.median, np.max])
def test_the_interval_is_the_quantile_of_every_possible_resample(statistic):
    values = np.array([0.0, 1.0, 4.0, 9.0])
    exact = np.sort([statistic(r) for r in itertools.product(values, repeat=4)])  # 256 resamples
    (found,) = bootstrap(values, statistic, draws=100_000)
    assert ends(found) == (exact[math.floor(0.025 * 255)], exact[math.ceil(0.975 * 255)])
    assert found.point == statistic(values)


def test_the_size_of_the_chunks_does_not_move_the_result(pass_rates, monkeypatch):
    whole = bootstrap(pass_rates, np.median, draws=333)
    monkeypatch.setattr(stats, "CHUNK", 1500)
    for one, other in zip(whole, bootstrap(pass_rates, np.median, draws=333), strict=True):
        assert ends(one) == ends(other)


def test_other_axes_are_carried_along_with_the_same_resamples():
    curve = pass_at_k(16, np.arange(17), [1, 4, 16])
    together = bootstrap(curve, np.median, draws=500)
    for one, column in zip(together, curve.T, strict=True):
        assert [one] == bootstrap(column, np.median, draws=500)
    with pytest.raises(LabError, match="leave at most one beside it"):
        bootstrap(curve.reshape(17, 3, 1), np.median, draws=500)


def test_a_statistic_may_reduce_the_carried_axes_and_may_be_infinite():
    curve = pass_at_k(8, [0, 0, 0, 1, 2, 8], range(1, 9))

    def first_k_to_solve_half(sample, axis):
        reached = sample.mean(axis=axis) >= 0.5
        return np.where(reached.any(axis=-1), 1 + reached.argmax(axis=-1), np.inf)

    (found,) = bootstrap(curve, first_k_to_solve_half, draws=1000)
    assert (found.point, *ends(found)) == (8.0, 1.0, math.inf)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: mean_interval([0.5], over="seeds"),
            r"values of shape \(1,\) for seeds: one item has no interval, give at least two",
        ),
        (lambda: mean_interval([[0.5, 1.0]], over="both"), r"shape \(1, 2\) for seeds, problems:"),
        (
            lambda: mean_interval([]),
            r"values of shape \(0,\): over='problems' needs an array with the axes problems",
        ),
        (lambda: mean_interval([0.5, 1.0], over="both"), r"over='both' needs"),
        (
            lambda: mean_interval([0.5, np.nan, 1.0]),
            r"values is nan at index \(1,\): repair it, or leave",
        ),
        (lambda: bootstrap([0.5, np.inf], np.mean), r"values is inf at index \(1,\)"),
        (
            lambda: mean_interval([0.5, 1.0], over="problem"),
            "unknown over 'problem': did you mean 'problems'",
        ),
        (lambda: mean_interval([0.5, 1.0], level=95), "level = 95: it must be"),
        (lambda: mean_interval([0.5, 1.2], within=(0, 1)), r"lie in \[0.5, 1.2\], which is not"),
        (lambda: detectable([0.5, 1.0], level=2), "level = 2: it must be"),
        (lambda: bootstrap([0.5, 1.0], np.mean, draws=10), "10 draws: give at least 40"),
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
