"""lab.mathematics.counts: against all subsets, and by worlds whose truth is known."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from lab.errors import LabError
from lab.mathematics import counts, stats
from lab.mathematics.metrics import exact_pass_at_k, pass_at_k


def by_law(n, p, values):
    """The mean of a number of each K, under the binomial law."""
    return sum(comb(n, K) * p**K * (1 - p) ** (n - K) * values[K] for K in range(n + 1))


@pytest.mark.parametrize("n, misses", [(2, 1), (5, 0), (5, 3), (8, 7)])
def test_a_right_one_after_misses_is_counted_over_all_orders_and_is_unbiased(n, misses):
    ours = counts.right_after_misses(n, np.arange(n + 1), misses)
    for K in range(n + 1):
        rewards = np.arange(n) < K
        found = [
            not rewards[list(some)].any() and rewards[next_one]
            for some in combinations(range(n), misses)
            for next_one in set(range(n)) - {*some}
        ]
        assert ours[K] == pytest.approx(np.mean(found), abs=1e-12)
    for p in (0.0, 0.01, 0.4, 1.0):
        assert by_law(n, p, ours) == pytest.approx((1 - p) ** misses * p, abs=1e-12)
    with pytest.raises(LabError, match="one more rollout is needed"):
        counts.right_after_misses(n, 0, n)


@pytest.mark.parametrize("p, q", [(0.0, 0.3), (0.02, 0.02), (0.4, 0.9)])
def test_parts_of_a_gain_and_turnover_are_unbiased(p, q):
    n, size, m, k = 6, 5, 5, 3
    first, second = (table.ravel() for table in np.meshgrid(np.arange(n + 1), np.arange(size + 1)))
    chance = [
        comb(n, a) * p**a * (1 - p) ** (n - a) * comb(size, b) * q**b * (1 - q) ** (size - b)
        for a, b in zip(first, second, strict=True)
    ]
    gain = counts.divided_gain(n, first, size, second, m)
    missed = (1 - p) ** m
    truth = ((1 - missed) * (q - p), missed * (q - p), missed * q, missed * p)
    assert [part @ chance for part in gain] == pytest.approx(truth, abs=1e-12)
    assert gain.within + gain.beyond == pytest.approx(second / size - first / n, abs=1e-12)
    gained, lost, by_chance = counts.turnover(n, first, size, second, k)
    for_both = (1 - p) ** k * (1 - (1 - q) ** k), (1 - q) ** k * (1 - (1 - p) ** k)
    assert (gained @ chance, lost @ chance) == pytest.approx(for_both, abs=1e-12)
    assert by_chance @ chance == pytest.approx((1 - p) ** k * (1 - (1 - p) ** k), abs=1e-12)
    assert counts.turnover(n, first, size, second, 4)[2] is None


def test_what_is_said_of_p_0_holds_whatever_the_law():
    rng = np.random.default_rng(0)
    for law in (lambda size: rng.random(size) < 0.4, lambda size: rng.beta(0.2, 1, size)):
        hits = []
        for _ in range(400):
            p = law(60).astype(float)
            told = counts.never_right(8, rng.binomial(8, p))
            large = law(20_000)
            hits.append(
                (told.most >= (large == 0).mean(), told.least <= (large <= told.rare).mean())
            )
        assert (np.mean(hits, axis=0) > 0.93).all()
    assert counts.never_right(8, [0] * 9).most == 1 and counts.never_right(8, [8] * 9).least == 0


def test_a_difference_that_changes_its_sign_is_real_only_if_bands_say_so():
    def bands(*ends):
        return [stats.Interval(sum(each) / 2, *each, 0.95, {"problems": 9}) for each in ends]

    ks = (1, 2, 4)
    assert counts.crossing(bands((0.1, 0.2), (-0.1, 0.1), (-0.3, -0.1)), ks) == (
        "real",
        "between k = 1 and 4 (above at k = 1; below at k = 4)",
    )
    assert counts.crossing(bands((0.1, 0.2), (-0.1, 0.1), (-0.3, 0.1)), ks)[0] == "undecided"
    assert counts.crossing(bands((0.1, 0.2), (0.01, 0.1), (0.1, 0.3)), ks)[0] == "not"


def test_bands_hold_together_where_problems_are_few_and_most_are_never_solved():
    rng, n, ks = np.random.default_rng(3), 50, [1, 2, 4, 8, 16, 32, 50]

    def world(problems):
        a = np.where(rng.random(problems) < 0.6, 0.004 * rng.random(problems), rng.random(problems))
        return a, np.clip(a * rng.lognormal(0, 0.5, problems), 0, 1)

    a, b = world(200_000)
    truth = (exact_pass_at_k(b, ks) - exact_pass_at_k(a, ks)).mean(axis=0)
    ms = [1, 4, 16, 49]
    rest = ((1 - a)[:, None] ** ms * (b - a)[:, None]).mean(axis=0)
    truths = truth, (b - a).mean() - rest, rest
    hits = []
    for _ in range(200):
        a, b = (rng.binomial(n, p) for p in world(30))
        found = counts.pass_bands(n, a, n, b, ks), *counts.gain_bands(n, a, n, b, ms)[:2]
        pairs = (zip(bands, of, strict=True) for bands, of in zip(found, truths, strict=True))
        hits.append([all(x.low <= t <= x.high for x, t in pair) for pair in pairs])
    assert (np.mean(hits, axis=0) > 0.92).all(), np.mean(hits, axis=0)


def test_one_column_has_students_interval_but_for_the_two_that_are_added():
    values = np.random.default_rng(0).normal(0, 0.2, (100, 1)).clip(-1, 1)
    [band] = stats.mean_bands(values, [1e-6])
    plain = stats.mean_interval(values[:, 0])
    assert (band.low, band.high) == pytest.approx((plain.low, plain.high), abs=2e-3)
    with pytest.raises(LabError, match="a size in"):
        stats.mean_bands(values, [0.0])


def test_rollouts_that_are_said_to_decide_do():
    rng, k, problems, effect = np.random.default_rng(1), 4, 300, 0.06
    p = np.linspace(0.02, 0.3, 15)
    law = p, np.full(15, 1 / 15)
    for n in (4, 16):  # the variance, by simulation
        drawn = pass_at_k(n, rng.binomial(n, np.tile(p, (20_000, 1))), k)
        told = counts.sampling_variance(*law, k, n)
        assert told == pytest.approx(drawn.var(axis=0).mean(), rel=0.02)
    n, needed = counts.rollouts_to_decide([law, law], k, problems, effect, between=0.0)
    assert needed == 0
    seen = {}
    for size in (n // 2, n):
        a = rng.choice(p, (2000, problems))
        b = 1 - (np.clip((1 - a) ** k - effect, 0, 1)) ** (1 / k)
        rates = [pass_at_k(size, rng.binomial(size, each), k) for each in (a, b)]
        d = rates[1] - rates[0]
        seen[size] = (np.abs(d.mean(1)) > 1.968 * d.std(1, ddof=1) / problems**0.5).mean()
    assert seen[n // 2] < 0.8 < seen[n] + 0.03
    none, more = counts.rollouts_to_decide([law, law], k, problems, effect, between=0.5)
    assert none is None and more == pytest.approx(0.5 * 2.8016**2 / effect**2, rel=1e-3)


def test_a_trend_is_that_of_the_same_problems_and_covers_shared_noise():
    rng = np.random.default_rng(5)
    hits = []
    for _ in range(300):
        level = rng.random(60)
        step = np.repeat(np.arange(80), 12)
        problem = rng.integers(0, 60, len(step))
        noise = rng.normal(0, 0.05, 80)[step]
        rate = level[problem] + 0.2 * step / 79 + noise + rng.normal(0, 0.2, len(step))
        told = counts.trend(step, problem, rate)
        hits.append(told.low <= 0.2 * 7 / 8 <= told.high)  # from the first block to the last
    assert 0.91 < np.mean(hits) < 0.985
    with pytest.raises(LabError, match="a trend needs 8 steps"):
        counts.trend([1, 2], [0, 0], [0.1, 0.2])
