"""Objectives: every w is the derivative of its J, the family holds the named ones, mixtures, and
refusals.
"""

import math

import numpy as np
import pytest
from refusals import refusal

from lab import LabError, objective

P = np.array([1e-6, 1e-3, 0.05, 0.31, 0.5, 0.77, 0.97, 1 - 1e-3])
NAMED = (
    "rl ml truncated(order=1) truncated(order=2) truncated(order=16) pass_at(k=1) pass_at(k=5)"
    " arcsine log_odds"
).split()
POWERS = (
    "power(a=0,b=0) power(a=0.5,b=0.5) power(a=1,b=0) power(a=1,b=1) power(a=0,b=1)"
    " power(a=0.3,b=0.9) power(a=-1,b=-2) power(a=1.7,b=0.4) power(a=0.4,b=1.7) power(a=1.5,b=2)"
    " power(a=2,b=-0.5)"
).split()
MULTIPLES = ["0.5 * ml", "2 * (0.5 * log_odds)"]


def slope(J, p):
    """dJ/dp by differences of the sixth order in the log-odds, where every J here is smooth."""
    z, h = np.log(p / (1 - p)), 0.02
    at = [J(1 / (1 + np.exp(-(z + k * h)))) for k in (-3, -2, -1, 1, 2, 3)]
    return (45 * (at[3] - at[2]) - 9 * (at[4] - at[1]) + (at[5] - at[0])) / (60 * h) / (p * (1 - p))


@pytest.mark.parametrize("name", NAMED + POWERS + MULTIPLES)
def test_the_weight_is_the_derivative_of_the_value(name):
    chosen, inside = objective(name), P[1:-1]
    np.testing.assert_allclose(slope(chosen.value, inside), chosen.weight(inside), rtol=1e-7)


@pytest.mark.parametrize(
    "name, J, w",
    [
        ("rl", lambda p: p, lambda p: 1),
        ("ml", math.log, lambda p: 1 / p),
        (
            "truncated(order=3)",
            lambda p: -sum((1 - p) ** k / k for k in (1, 2, 3)),
            lambda p: (1 - (1 - p) ** 3) / p,
        ),
        ("pass_at(k=3)", lambda p: 1 - (1 - p) ** 3, lambda p: 3 * (1 - p) ** 2),
        ("arcsine", lambda p: 2 * math.asin(math.sqrt(p)), lambda p: (p * (1 - p)) ** -0.5),
        ("log_odds", lambda p: math.log(p / (1 - p)), lambda p: 1 / (p * (1 - p))),
        ("power(a=0.5, b=0)", lambda p: 2 * math.sqrt(p), lambda p: p**-0.5),
        ("power(a=2, b=0)", lambda p: 1 - 1 / p, lambda p: p**-2),
        ("power(a=0, b=2)", lambda p: 1 / (1 - p) - 1, lambda p: (1 - p) ** -2),
        (
            "power(a=2, b=2)",
            lambda p: 2 * math.log(p / (1 - p)) - 1 / p + 1 / (1 - p),
            lambda p: (p * (1 - p)) ** -2,
        ),
    ],
)
def test_value_and_weight_are_the_published_formulas(name, J, w):
    np.testing.assert_allclose(objective(name).value(P), [J(p) for p in P], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(objective(name).weight(P), [w(p) for p in P], rtol=1e-9)


@pytest.mark.parametrize(
    "a, b, name", [(0, 0, "rl"), (0.5, 0.5, "arcsine"), (1, 0, "ml"), (1, 1, "log_odds")]
)
def test_the_corners_of_the_power_family_are_the_named_objectives(a, b, name):
    corner, named = objective("power", a=a, b=b), objective(name)
    np.testing.assert_allclose(corner.value(P), named.value(P), rtol=1e-9)
    np.testing.assert_allclose(corner.weight(P), named.weight(P), rtol=1e-12)
    ends = [0.0, 1.0]
    assert corner.value(ends) == pytest.approx(named.value(ends))
    assert corner.weight(ends).tolist() == named.weight(ends).tolist()


@pytest.mark.parametrize(
    "name, value, weight",
    [
        ("rl", (0, 1), (1, 1)),
        ("ml", (-np.inf, 0), (np.inf, 1)),
        ("truncated(order=4)", (-25 / 12, 0), (4, 1)),
        ("pass_at(k=3)", (0, 1), (3, 0)),
        ("pass_at(k=1)", (0, 1), (1, 1)),
        ("arcsine", (0, np.pi), (np.inf, np.inf)),
        ("log_odds", (-np.inf, np.inf), (np.inf, np.inf)),
        ("power(a=-1, b=-1)", (0, 1 / 6), (0, 0)),
        ("power(a=1.5, b=1.5)", (-np.inf, np.inf), (np.inf, np.inf)),
        ("power(a=2, b=0.5)", (-np.inf, 0), (np.inf, np.inf)),
    ],
)
def test_values_at_the_ends_are_limits_and_never_nan(name, value, weight):
    assert objective(name).value([0, 1]) == pytest.approx(value, abs=1e-12)
    assert objective(name).weight([0, 1]) == pytest.approx(weight, abs=1e-12)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (1, 0, 2)])
@pytest.mark.parametrize(
    "name", [*NAMED, "power(a=0.3, b=0.9)", "power(a=1.5, b=2)", lambda p: p, lambda p: 7.0]
)
def test_value_and_weight_keep_the_shape_and_share_no_memory_with_the_input(name, shape):
    p = np.full(shape, 0.25)
    for found in (objective(name).value(p), objective(name).weight(p)):
        assert found.shape == shape and found.dtype == np.float64
        assert not np.shares_memory(found, p)


def test_a_function_of_p_is_an_objective_integrated_from_one_half():
    def hill(p):
        return 30 * p**2 * (1 - p) ** 2

    chosen = objective(hill)
    assert chosen.name == "hill"
    np.testing.assert_allclose(chosen.value(P), 10 * P**3 - 15 * P**4 + 6 * P**5 - 0.5, atol=1e-12)
    np.testing.assert_allclose(chosen.value([0, 0.5, 1]), [-0.5, 0, 0.5], atol=1e-12)
    steep = objective(lambda p: 1 / (p * (1 - p)))
    np.testing.assert_allclose(steep.value(P), np.log(P / (1 - P)), rtol=1e-12)
    np.testing.assert_allclose(objective(lambda p: 3).weight(P), 3)
    assert objective(lambda p: 3).name == "w(p)"


def test_multiples_and_sums_have_those_of_value_and_weight():
    half = 0.5 * objective("ml")
    assert (half.name, half.label, half.citation) == (
        "0.5 * ml",
        "0.5 ML",
        objective("ml").citation,
    )
    for again in (half, objective("0.5 * ml"), objective("0.25 * (2 * ml)")):
        np.testing.assert_allclose(again.weight(P), 0.5 / P)
        np.testing.assert_allclose(again.value(P), 0.5 * np.log(P))
    mixed = objective("rl") + half
    assert (2 * mixed).name == "2 * (rl + 0.5 * ml)" and mixed.label == "RL + 0.5 ML"
    assert mixed.citation == "Williams 1992; Tajwar et al. 2026, arXiv 2602.02710"
    np.testing.assert_allclose(mixed.weight(P), 1 + 0.5 / P)
    np.testing.assert_allclose(mixed.value(P), P + 0.5 * np.log(P))
    with pytest.raises(TypeError):
        "2" * objective("rl")


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("logodds", {}, "unknown objective 'logodds': did you mean 'log_odds'?"),
        (
            "truncated(oder=3)",
            {},
            "unknown option of objective 'truncated' 'oder': did you mean 'order'?",
        ),
        ("power", {"a": 1}, "objective 'power' needs b"),
        ("rl", {"order": 2}, "unknown option of objective 'rl' 'order'"),
        ("truncated(order=0)", {}, "order = 0: it must be a whole number of at least 1"),
        ("pass_at(k=2.0)", {}, "k = 2.0"),
        ("power(a='x', b=1)", {}, "a = 'x': it must be a finite number"),
        ("0.5 * mll", {}, "unknown objective 'mll'"),
        ("rl + ml", {}, "cannot read 'rl + ml'"),
        ("rl * ml", {}, "cannot read 'rl * ml'"),
        ("2 * 3", {}, "cannot read '3'"),
        ("rl[0]", {}, "cannot read 'rl[0]'"),
        ("formula(text='2 * p + p')", {}, "unknown objective 'formula'"),
        (lambda p: p, {"order": 2}, "option 'order' given with a function"),
        (5, {}, "cannot read 5"),
    ],
)
def test_a_name_that_cannot_be_read_is_refused_with_the_cure(name, options, message):
    assert message in refusal(objective, name, **options)


@pytest.mark.parametrize(
    "p", [-0.1, 1.1, float("nan"), float("inf"), None, [0.5, 2.0], [[0.5], [-1e-9]]]
)
@pytest.mark.parametrize("method", ["value", "weight"])
def test_a_pass_rate_outside_0_and_1_is_refused(p, method):
    with pytest.raises(LabError, match=r"pass rate \S+ is outside \[0, 1\]"):
        getattr(objective("rl"), method)(p)


def test_a_function_that_returns_another_shape_is_refused():
    with pytest.raises(LabError, match=r"gave shape \(3,\) for pass rates of shape \(2,\)"):
        objective(lambda p: [1, 2, 3]).weight([0.1, 0.2])
