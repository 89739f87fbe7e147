"""Metrics of repeated sampling: closed forms against all subsets, and whole-number arithmetic up to
8,192.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from lab.mathematics.metrics import majority, pass_all_k, pass_at_k


def share_of_subsets(outcomes, k, judge):
    """The mean of judge(subset) over every k-subset of the samples, as a fraction."""
    subsets = list(itertools.combinations(outcomes, k))
    return sum((Fraction(judge(s)) for s in subsets), Fraction(0)) / len(subsets)


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
    # And not -0.0.
    assert str(pass_at_k(8192, [0, 1, 5, 8192], 8192).tolist()) == "[0.0, 1.0, 1.0, 1.0]"
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
    "right, wrong, wins",
    [
        (3, (), 1),
        (2, (1, 1), 1),
        (3, (3,), 1 / 2),
        (1, (1,) * 5, 1 / 6),
        (2, (3, 2), 0),
        (0, (), 0),
    ],
)
def test_a_majority_is_the_share_of_the_winning_answers_that_is_right(right, wrong, wins):
    assert majority(right, wrong) == wins


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: pass_at_k(8, 3, 0), "k is 0: give whole numbers of at least 1"),
        (lambda: pass_at_k(8, 3, [1, 2.5]), "k at 1 is 2.5"),
        (
            lambda: pass_at_k([8, 4], [1, 2], 6),
            "k at 1 is 6, where n is 4: draw more samples or lower k",
        ),
        (lambda: pass_all_k([[8, 4]], 2, [1, 6]), "k at 0, 1 is 6, where n is 4"),
        (
            lambda: pass_at_k(8, [1, 9], 1),
            "correct at 1 is 9, where n is 8: give the number of right",
        ),
        (lambda: pass_at_k(8, [-1, 9], 1), "correct at 0 is -1"),
        (lambda: pass_at_k(8, [1, 0.5], 1), "correct at 1 is 0.5"),
        (lambda: pass_at_k(8, [1, np.nan], 1), "correct at 1 is nan"),
        (lambda: pass_at_k([8, 0], 0, 1), "n at 1 is 0: give a whole number of samples"),
        (
            lambda: pass_at_k(8, [True, False], 1),
            r"correct is bool of shape \(2,\): .*booleans: sum",
        ),
    ],
)
def test_an_impossible_count_is_refused_with_its_place_and_a_cure(call, message):
    with pytest.raises(ValueError, match=message):
        call()
