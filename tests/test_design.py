"""From a drawn weight to an estimator: exact where N rollouts reach it, near and tame where they do
not.
"""

from fractions import Fraction

import numpy as np
import pytest
from enumeration import bernoulli_weight, reward_vectors
from refusals import refusal

import lab
from lab import drawn_weight, from_weight

P = np.linspace(0, 1, 101)
INSIDE = P[1:-1]


def polynomial(degree):
    """A polynomial of exactly this degree with coefficients of both signs."""
    c = np.cos(1.0 + 2.7 * np.arange(degree + 1))
    return lambda p: np.polynomial.polynomial.polyval(2 * np.asarray(p) - 1, c)


def step(p):
    return np.where(p < 0.3, 1.0, 0.0)


def gradient_error(w_N, w, p):
    """The root mean square of p(1-p)(w_N - w): what the fit makes small."""
    return np.sqrt(np.mean((p * (1 - p) * (w_N - w)) ** 2))


@pytest.mark.parametrize("zero_mean", [False, True])
@pytest.mark.parametrize(
    "N, degree", [(4, 0), (4, 2), (16, 1), (16, 5), (16, 14), (64, 1), (64, 12)]
)
def test_a_polynomial_that_N_rollouts_reach_is_reached(N, degree, zero_mean):
    w = polynomial(degree)
    chosen = from_weight(w, N, zero_mean=zero_mean)
    np.testing.assert_allclose(lab.induced_weight(chosen, N, P), w(P), atol=1e-8)


@pytest.mark.parametrize("zero_mean, highest", [(False, 3), (True, 2)])
def test_one_degree_more_than_N_rollouts_reach_leaves_a_residual(zero_mean, highest):
    reached, beyond = (
        np.abs(from_weight(polynomial(degree), 4, zero_mean=zero_mean).residual(P)).max()
        for degree in (highest, highest + 1)
    )
    assert reached < 1e-12 and beyond > 1e-2


@pytest.mark.parametrize("zero_mean", [False, True])
@pytest.mark.parametrize("w", [step, "ml", polynomial(2)], ids=["step", "ml", "polynomial"])
def test_advantages_have_the_induced_weight_and_the_promised_zeros(w, zero_mean):
    N, p = 5, Fraction(3, 10)
    chosen = from_weight(w, N, zero_mean=zero_mean)
    A = {r: lab.advantages(chosen, np.array(r)) for r in reward_vectors(N)}
    assert float(
        bernoulli_weight(lambda r: [Fraction(float(a)) for a in A[r]], N, p)
    ) == pytest.approx(float(lab.induced_weight(chosen, N, 0.3)), rel=1e-11)
    assert not A[(0,) * N].any() and not A[(1,) * N].any()
    sums = np.abs([a.sum() for a in A.values()])
    assert (sums.max() < 1e-12) == zero_mean == chosen.rules.zero_mean
    assert (chosen.rules.all_wrong, chosen.rules.all_right) == ("zero", "zero")


@pytest.mark.parametrize("zero_mean", [False, True])
@pytest.mark.parametrize("N", [8, 32, 128])
def test_a_drawn_step_gives_tame_coefficients_and_less_error_than_reading_it_off(N, zero_mean):
    chosen = from_weight(step, N, zero_mean=zero_mean)
    gap, _ = chosen.coefficients(N)
    assert np.abs(gap).max() < 2
    read_off = lab.Estimator("plug-in", lambda n: (step((np.arange(n) + 0.5) / n), np.zeros(n)))
    errors = [
        gradient_error(lab.induced_weight(kind, N, INSIDE), step(INSIDE), INSIDE)
        for kind in (chosen, read_off)
    ]
    assert errors[0] < (0.97 if not zero_mean else 1.05) * errors[1]


@pytest.mark.parametrize(
    "w", [step, lambda p: np.abs(p - 0.4), "log_odds"], ids=["step", "kink", "log_odds"]
)
def test_the_pass_rates_of_a_run_draw_the_fit_to_where_they_are(w):
    here = np.random.default_rng(0).beta(2, 30, 200)
    drawn = lab.objective(w).weight(here)
    fitted, even = (
        lab.induced_weight(from_weight(w, 8, pass_rates=rates), 8, here) for rates in (here, None)
    )
    assert gradient_error(fitted, drawn, here) < 0.9 * gradient_error(even, drawn, here)


def test_pass_rates_count_as_often_as_they_appear_and_only_inside_0_and_1():
    few, many = list(INSIDE[::9]), [0.1] * 50 + list(INSIDE[::9])
    assert not np.allclose(
        from_weight(step, 3, pass_rates=few).coefficients(3)[0],
        from_weight(step, 3, pass_rates=many).coefficients(3)[0],
    )
    plain, with_ends = (
        from_weight("ml", 4, pass_rates=rates).coefficients(4)[0].tolist()
        for rates in ([0.2, 0.7], [[0.0, 0.2], [0.7, 1.0]])
    )
    assert plain == with_ends


@pytest.mark.parametrize("zero_mean", [False, True])
def test_smaller_groups_are_fitted_anew(zero_mean):
    chosen = from_weight(polynomial(2), 16, zero_mean=zero_mean)
    for n in (4, 9, 15):
        np.testing.assert_allclose(lab.induced_weight(chosen, n, P), polynomial(2)(P), atol=1e-9)
        assert [row.shape for row in chosen.coefficients(n)] == [(n,), (n,)]
    small, large = (from_weight(step, N, zero_mean=zero_mean).coefficients(6) for N in (6, 16))
    np.testing.assert_allclose(large, small, rtol=1e-9, atol=1e-12)


def test_a_designed_estimator_has_its_name_and_label():
    chosen = from_weight(lab.objective("ml"), 8)
    assert chosen.spec == chosen.name == "from_weight" and chosen.label == "drawn ML, N=8"
    assert lab.estimator(chosen) is chosen


# --- A drawing as points ------------------------------------------------------------------------


def test_a_drawing_is_straight_between_its_points_and_level_outside():
    w = drawn_weight([0.2, 0.4, 0.8], [1.0, 3.0, -1.0])
    np.testing.assert_allclose(w.weight([0, 0.2, 0.3, 0.4, 0.5, 0.8, 1]), [1, 1, 2, 3, 2, -1, -1])
    assert w.value(0.5) == 0
    # 2 on average from 0.4 to 0.6, about the anchor 1/2: trapezoids
    assert float(w.value(0.6) - w.value(0.4)) == pytest.approx(0.4, rel=1e-3)


@pytest.mark.parametrize("zero_mean", [False, True])
def test_the_text_of_a_drawing_is_the_fit_of_its_weight(zero_mean):
    points = {"p": [0.0, 0.25, 1.0], "w": [4.0, 1.0, 0.5]}
    text = lab.estimator(lab.estimator("drawn", **points, zero_mean=zero_mean).spec)
    fitted = from_weight(drawn_weight(**points), 12, zero_mean=zero_mean)
    np.testing.assert_allclose(text.coefficients(12), fitted.coefficients(12), rtol=1e-12)
    np.testing.assert_allclose(
        text.limit.weight(P), np.interp(P, **{"xp": points["p"], "fp": points["w"]})
    )


@pytest.mark.parametrize(
    "p, w",
    [
        ([0.5], [1.0]),
        ([0.1, 0.5], [1.0]),
        ([0.5, 0.5], [1.0, 2.0]),
        ([0.5, 0.1], [1.0, 2.0]),
        ([0.1, 0.5], [1.0, np.nan]),
        ([0.1, 0.5], [np.inf, 1.0]),
        ([[0.1, 0.5]], [[1.0, 2.0]]),
    ],
)
def test_points_that_are_no_drawing_are_refused(p, w):
    with pytest.raises(lab.LabError, match="give two lists of equal length, .*p rising"):
        drawn_weight(p, w)


# --- Refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "w, N, options",
    [
        (lambda p: np.where(p > 0.5, np.nan, 1.0), 5, {}),
        (lambda p: np.where(p > 0.5, np.inf, 1.0), 5, {}),
        (lambda p: np.where(p > 0.5, np.nan, 1.0), 5, {"zero_mean": True}),
        (lambda p: 1 / np.abs(p - 0.3), 5, {"pass_rates": [0.3, 0.6]}),
        (lambda p: 1 / np.abs(p - 0.5), 5, {}),  # only where the fit starts: (2 + 1/2)/5
        (lambda p: np.where(p > 0.5, np.nan, 1.0), 5, {"pass_rates": [0.1, 0.2]}),
    ],
)
def test_a_weight_that_is_not_finite_inside_is_refused_with_the_place(w, N, options):
    with pytest.raises(
        lab.LabError, match=r"w\(0\.\d+\) is not finite: a drawn weight must be finite"
    ):
        from_weight(w, N, **options).coefficients(N)


@pytest.mark.parametrize(
    "w, N, options, message",
    [
        ("ml", 1, {}, "N = 1: it must be a whole number of at least 2"),
        ("ml", 2, {"zero_mean": True}, "N = 2: it must be a whole number of at least 3"),
        ("ml", 4.0, {}, "N = 4.0"),
        ("ml", 4, {"pass_rates": []}, "none of 0 pass rates lies inside"),
        ("ml", 4, {"pass_rates": [0, 1, 1]}, "none of 3 pass rates lies inside"),
        ("ml", 4, {"pass_rates": [0.5, 1.5]}, "pass rate 1.5 is outside"),
        ("mll", 4, {}, "unknown objective 'mll'"),
        (lambda p: [1.0, 2.0], 4, {}, "gave shape (2,)"),
    ],
)
def test_a_design_that_cannot_be_made_is_refused(w, N, options, message):
    assert message in refusal(from_weight, w, N, **options)
