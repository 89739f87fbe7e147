"""The second checker: what it computes, and what it will not say."""

from fractions import Fraction

import hostile
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.judge.numeric_checker import check_numerically
from lab.judge.verifier import decide

RIGHT = [
    ("5", "5"), ("5.0", "5"), (r"\frac12", "0.5"), ("1,234", "1234"), ("1{,}234", "1234"),
    ("x^2+1", "1+x^2"), ("(x+1)^2", "x^2+2x+1"), (r"2\sqrt{2}", r"\sqrt{8}"), (r"\sqrt[3]{8}", "2"),
    (r"\sin^2 x+\cos^2 x", "1"), (r"-\frac{\sqrt{3}}{2}", r"-\sqrt{3}/2"), (r"e^{i\pi}", "-1"),
    (r"\log_2 8", "3"), ("5!", "120"), ("|-3|", "3"), (r"1\frac{1}{2}", "3/2"), ("1,2", "2,1"),
    (r"\{1,2\}", "2,1"), ("(1,2)", "(1, 2.0)"), (r"[1,\infty)", r"[1, \infty)"), ("x=5", "5"),
    ("5", "x=5"), (r"\text{Monday}", "monday"), ("(A)", "A"), (r"50\%", "0.5"),
    (r"5\text{ cm}", "5"), ("x_1+x_2", "x_{2}+x_1"), (r"\frac{x}{2}", "0.5x"),
    (r"3\cdot 10^{8}", "300000000"), (r"90^\circ", "90"), (r"\sin 2x", r"2\sin x\cos x"),
    ("2^{100}", str(2**100)), (r"\boxed{5}", "5"), (r"4.5\times10^{33}", "4.5e33"),
    (r"1.6 \cdot 10^{-19}", "1.6e-19"), ("45E+32", "4.5e33"), (".00016", "1.6e-4"),
]  # fmt: skip
WRONG = [
    ("5", "6"), (r"10\%", "10"), ("0.333333", "1/3"), ("x^2", "x^3"), ("(1,2)", "(2,1)"),
    ("[1,2)", "[1,2]"), ("A", "a"), ("5 cm", "5"), ("1,2", "1,3"), ("1,2", "1,2,3"),
    (r"\sqrt{2}", "1.41"), (r"\text{Monday}", "Tuesday"), ("2^{100}", "2^{100}+1"),
    (r"5\text{ cm}", r"5\text{ m}"), (r"5\text{ cm}^2", r"5\text{ cm}^3"), ("x+y", "x-y"),
    ("(1)(2)", "(1,2)"), ("9.1e-31", "1.6e-19"), ("33e4", "4e33"), ("2e3", "6e"),
]  # fmt: skip
UNSURE = [
    ("y=5", "x=5"), ("x>3", "3<x"), ("120_8", "120"), (r"\pm 3", "3,-3"), ("1 2", "12"),
    ("1e999999999", "5"), ("(((", "5"), ("1/0", "5"), ("9^{9^{9^9}}", "5"), ("1000000!", "5"),
    (r"\begin{pmatrix}1\end{pmatrix}", "1"), (r"\int x dx", "x"),
]  # fmt: skip


@pytest.mark.parametrize(
    "answer, gold, opinion",
    [
        (*pair, said)
        for said, pairs in (("right", RIGHT), ("wrong", WRONG), ("unsure", UNSURE))
        for pair in pairs
    ],
)
def test_the_second_checker_computes_and_says_what_it_cannot_read(answer, gold, opinion):
    assert check_numerically(rf"It is \boxed{{{answer}}}.", gold, "strict") == opinion


@pytest.mark.parametrize(
    "response, style, opinion",
    [
        ("It is 5.", "strict", "wrong"),
        ("It is 5.", "lenient", "right"),
        (r"so $x$ is $\frac{10}{2}$.", "lenient", "right"),
        ("5 or 6", "lenient", "wrong"),
        (r"\boxed{6}; 5", "lenient", "wrong"),
        (r"\boxed{5", "strict", "wrong"),
        (r"\boxed{4}\boxed{5}", "strict", "right"),
        (r"\boxed{}", "strict", "wrong"),
        ("", "lenient", "wrong"),
    ],
)
def test_the_second_checker_finds_the_answer_by_itself(response, style, opinion):
    assert check_numerically(response, "5", style) == opinion


def test_hostile_text_is_never_right_and_does_not_hang(ends):
    def check():
        for response in hostile.responses():
            assert "right" not in (
                check_numerically(response, "5", "strict"),
                check_numerically(response, "x+1", "lenient"),
            ), response[:99]

    ends(check)


SPELLINGS = ["{}/{}", r"\frac{{{}}}{{{}}}", r"\dfrac {{ {} }} {{ {} }}"]


@settings(derandomize=True, max_examples=300, deadline=None, database=None)
@given(
    st.fractions(max_denominator=1000),
    st.fractions(max_denominator=1000),
    *[st.sampled_from(SPELLINGS)] * 2,
)
def test_both_checkers_agree_on_every_pair_of_fractions(a, b, one, other):
    answer, gold = one.format(a.numerator, a.denominator), other.format(b.numerator, b.denominator)
    assert check_numerically(rf"\boxed{{{answer}}}", gold, "strict") == (
        "right" if a == b else "wrong"
    )
    assert decide(answer, gold) == ("exact" if a == b else "different")
    assert check_numerically(rf"\boxed{{{answer}}}", str(Fraction(a)), "strict") == "right"
