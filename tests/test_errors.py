"""Error sentences: what was found, where, what to do."""

import numpy as np
import pytest
from refusals import refusal

from lab.errors import LabError, one_of, parse_call, real, unknown, whole, write_call


def test_a_refusal_is_a_value_error_of_one_line():
    assert issubclass(LabError, ValueError)
    assert "\n" not in str(unknown("estimator", "grop", ["grpo", "rloo"]))


@pytest.mark.parametrize(
    "name, valid, sentence",
    [
        (
            "maxlr",
            ["rl", "ml", "maxrl"],
            "unknown objective 'maxlr': did you mean 'maxrl'? Valid: maxrl, ml, rl",
        ),
        ("zzz", ["rl", "ml"], "unknown objective 'zzz': Valid: ml, rl"),
        ("rl", [], "unknown objective 'rl': Valid: none"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_and_all_valid_ones(name, valid, sentence):
    assert str(unknown("objective", name, valid)) == sentence


@pytest.mark.parametrize(
    "text, name, options",
    [
        ("rloo", "rloo", {}),
        ("rloo()", "rloo", {}),
        ("grpo(ddof=1, eps=1e-6)", "grpo", {"ddof": 1, "eps": 1e-6}),
        ("f(a)", "f", {"of": "a"}),
        ("f(g(h(a='x')), c=2)", "f", {"of": "g(h(a='x'))", "c": 2}),
        ("f(a=-1, b='x', c=[1, 2.5], d=None)", "f", {"a": -1, "b": "x", "c": [1, 2.5], "d": None}),
    ],
)
def test_a_name_or_a_call_with_literals_is_read_and_written_back(text, name, options):
    assert parse_call(text) == (name, options)
    assert parse_call(write_call(name, options)) == (name, options)


@pytest.mark.parametrize(
    "text",
    [
        *("", " rloo", "rloo ", "f(1)", "f(a, b)", "f('a')", "f(g(1))", "f(open('x'))", "f(a=b)"),
        *("f(a=1", "f.g(a=1)", "f(a=1)(b=2)", "[f]", "f; g", "a\0b", "f(a=1, a=2)", "f(*[1])"),
        *("f(**{'a': 1})", "f(a={[]: 1})", "f(a=1 + 1)", "f(a=open('x'))", "f(a=__import__('os'))"),
        "(" * 500 + ")" * 500,
        "f(a=" + "-" * 100_000 + "1)",
        3,
        None,
        ["rloo"],
    ],
)
def test_whatever_is_no_call_with_literals_is_refused_and_never_run(text):
    assert refusal(parse_call, text).startswith("cannot read ")
    assert refusal(parse_call, text).endswith("for example grpo(ddof=1)")


def test_a_whole_number_is_returned_as_an_int_and_anything_else_named():
    assert whole("N", np.int64(4)) == 4 and type(whole("N", np.int64(4))) is int
    assert whole("N", 0, least=0) == 0
    for value in (0, -3, 2.0, "4", None, True, np.float64(3)):
        said = f"N = {value!r}: it must be a whole number of at least 1"
        assert refusal(whole, "N", value) == said
    assert refusal(whole, "N", 2, least=3) == "N = 2: it must be a whole number of at least 3"


def test_a_real_number_is_returned_as_a_float_and_anything_else_named():
    assert real("eps", 1) == 1.0 and type(real("eps", np.float32(1))) is float
    assert real("eps", 0.0, 0, 1) == 0 and real("eps", 1, 0, 1) == 1
    for value in (float("nan"), float("inf"), -float("inf"), "1", None, True, 1j):
        said = f"eps = {value!r}: it must be a finite number in [-inf, inf]"
        assert refusal(real, "eps", value) == said
    assert refusal(real, "eps", -0.5, 0, 2) == "eps = -0.5: it must be a finite number in [0, 2]"
    assert refusal(real, "eps", 2.5, 0, 2) == "eps = 2.5: it must be a finite number in [0, 2]"


def test_one_of_a_few_is_returned_and_anything_else_named():
    assert one_of("ddof", 1, (0, 1)) == 1
    said = "form = 'raww': it must be one of 'raw', 'loo'"
    assert refusal(one_of, "form", "raww", ("raw", "loo")) == said
    assert refusal(one_of, "form", [], ("raw",)) == "form = []: it must be one of 'raw'"
