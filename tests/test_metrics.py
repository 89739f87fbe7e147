"""Metrics of repeated sampling: closed forms against all subsets, and whole-number arithmetic up to
8,192.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from lab.mathematics.metrics import (
    majority_at_k,
    pass_all_k,
    pass_at_k,
    samples_to_reach,
)


def share_of_subsets(outcomes, k, judge):
    """The mean of judge(subset) over every k-subset of the samples, as a fraction."""
    subsets = list(itertools.combinations(outcomes, k))
    return sum((Fraction(judge(s)) for s in subsets), Fraction(0)) / len(subsets)


def vote(right):
    def judge(subset):
        votes = [subset.count(answer) for answer in set(subset)]
        wins = right in subset and subset.count(right) == max(votes)
        return Fraction(wins, votes.count(max(votes)))

    return judge


def test_closed_forms_equal_the_enumeration_of_all_subsets():
    for n in range(1, 9):
        for c in range(n + 1):
            for k in range(1, n + 1):
                outcomes = [1] * c + [0] * (n - c)
                reach, reliability = (
                    float(share_of_subsets(outcomes, k, judge)) for judge in (any, all)
                )
                assert pass_at_k(n, c, k) == pytest.approx(reach, abs=1e-14)
                assert pass_all_k(n, c, k) == pytest.approx(reliability, abs=1e-14)


@pytest.mark.parametrize("n", [1000, 7919, 8192])
def test_large_counts_equal_exact_whole_numbers(n):
    ks = [1, 2, 7, 64, n // 2, n - 1, n]
    counts = np.array([0, 1, 2, 3, 50, n // 3, n // 2, n - 2, n - 1, n])
    reach, reliability = pass_at_k(n, counts, ks), pass_all_k(n, counts, ks)
    for (i, c), (j, k) in itertools.product(enumerate(counts.tolist()), enumerate(ks)):
        subsets = math.comb(n, k)
        missed, all_right = (
            Fraction(math.comb(n - c, k), subsets),
            Fraction(math.comb(c, k), subsets),
        )
        assert reach[i, j] == pytest.approx(float(1 - missed), rel=2e-15, abs=0)
        assert reliability[i, j] == pytest.approx(float(all_right), rel=1e-10, abs=1e-300)


def test_pass_at_n_is_one_when_anything_succeeded():
    assert (
        str(pass_at_k(8192, [0, 1, 5, 8192], 8192).tolist()) == "[0.0, 1.0, 1.0, 1.0]"
    )  # and not -0.0
    assert pass_all_k(8192, [0, 1, 8191, 8192], 8192).tolist() == [0.0, 0.0, 0.0, 1.0]


def test_a_list_of_k_adds_a_last_axis_and_a_number_does_not():
    counts = np.array([[0, 1, 2], [3, 4, 4]])
    assert pass_at_k(4, counts, 2).shape == (2, 3)
    assert pass_at_k(4, counts, [1, 2]).shape == (2, 3, 2)
    assert np.array_equal(pass_at_k(4, counts, [1, 2])[..., 1], pass_at_k(4, counts, 2))
    assert np.ndim(pass_at_k(4, 1, 2)) == 0


def test_problems_may_have_different_numbers_of_samples():
    together = pass_at_k([4, 8, 4], [1, 1, 2], [2, 3])
    apart = [pass_at_k(4, 1, [2, 3]), pass_at_k(8, 1, [2, 3]), pass_at_k(4, 2, [2, 3])]
    assert np.array_equal(together, apart)


@pytest.mark.parametrize(
    "counts", [(3,), (2, 1, 1), (3, 3), (1,) * 6, (4, 3, 2, 1), (2,) * 4, (5, 1, 0, 3)]
)
def test_majority_equals_the_enumeration_of_all_subsets(counts):
    outcomes = [answer for answer, count in enumerate(counts) for _ in range(count)]
    for k, right in itertools.product(range(1, len(outcomes) + 1), range(len(counts))):
        exact = float(share_of_subsets(outcomes, k, vote(right)))
        assert majority_at_k(counts, k, right) == pytest.approx(exact, abs=1e-13)


def test_three_answers_equal_exact_whole_numbers():
    a, b, c, k = 60, 45, 30, 41
    total = Fraction(0)
    for x, y in itertools.product(range(k + 1), repeat=2):
        votes = (x, y, k - x - y)
        if votes[2] >= 0 and x == max(votes):
            total += Fraction(
                math.comb(a, x) * math.comb(b, y) * math.comb(c, votes[2]), votes.count(x)
            )
    assert majority_at_k([a, b, c], k) == pytest.approx(
        float(total / math.comb(a + b + c, k)), abs=1e-13
    )


def test_a_right_answer_that_never_came_never_wins():
    assert majority_at_k([3, 5], 4, None) == 0.0
    assert majority_at_k([0, 5], 4, 0) == 0.0


def test_samples_to_reach_reads_the_line_between_whole_k():
    assert samples_to_reach(100, [1, 1, 1], 0.125) == pytest.approx(12.5)  # pass@k = k/100
    mean = float(pass_at_k(4096, [3, 40, 900], 37).mean())
    assert samples_to_reach(4096, [3, 40, 900], mean) == pytest.approx(37, abs=1e-6)


def test_samples_to_reach_is_one_below_pass_at_one_and_infinite_out_of_reach():
    assert samples_to_reach(8, [4, 4], 0.3) == 1.0
    assert samples_to_reach(8, [8, 0, 0], 1 / 3) == 1.0
    assert samples_to_reach(8, [1, 1, 0], 2 / 3) == pytest.approx(
        8
    )  # reached at k = n, and not before
    assert samples_to_reach([5, 41], [1, 1], (1 + 5 / 41) / 2) == pytest.approx(
        5
    )  # despite rounding
    assert samples_to_reach(8, [8, 8, 0], 0.67) == math.inf


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: pass_at_k(8, 3, 0), "k is 0: give whole numbers of at least 1"),
        (lambda: pass_at_k(8, 3, [1, 2.5]), "k at index 1 is 2.5"),
        (
            lambda: pass_at_k([8, 4], [1, 2], 6),
            "k at problem 1 is 6, where n is 4: draw more samples or lower k",
        ),
        (lambda: pass_all_k([[8, 4]], 2, [1, 6]), "k at problem 0, 1 is 6, where n is 4"),
        (
            lambda: pass_at_k(8, [1, 9], 1),
            "correct at problem 1 is 9, where n is 8: give the number of right",
        ),
        (lambda: pass_at_k(8, [-1, 9], 1), "correct at problem 0 is -1"),
        (lambda: pass_at_k(8, [1, 0.5], 1), "correct at problem 1 is 0.5"),
        (lambda: pass_at_k(8, [1, np.nan], 1), "correct at problem 1 is nan"),
        (lambda: pass_at_k([8, 0], 0, 1), "n at problem 1 is 0: give a whole number of samples"),
        (
            lambda: pass_at_k(8, [True, False], 1),
            r"correct is bool of shape \(2,\): .*booleans: sum",
        ),
        (lambda: samples_to_reach(8, 1, 1.5), r"target is 1.5: .* give a target in \(0, 1\]"),
        (lambda: majority_at_k([2, -1], 1), "counts at answer 1 is -1"),
        (lambda: majority_at_k([2, 1], 4), "k is 4, where n is 3"),
        (lambda: majority_at_k([2, 1], 1, 2), r"correct is 2 and counts has shape \(2,\)"),
        (
            lambda: majority_at_k([[2, 1]], 1),
            r"counts has shape \(1, 2\): give counts of one problem",
        ),
    ],
)
def test_an_impossible_count_is_refused_with_its_place_and_a_cure(call, message):
    with pytest.raises(ValueError, match=message):
        call()
