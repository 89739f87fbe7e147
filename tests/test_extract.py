"""Finding the answer in a response."""

from fractions import Fraction

import hostile
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.judge.equality import settle
from lab.judge.extract import extract

fixed = settings(derandomize=True, max_examples=300, deadline=None, database=None)
PIECES = [
    *"0123456789.,+-*/^_=()[]{}|<>!&%$ xyeiE'\"`\\", r"\frac", r"\sqrt", r"\left", r"\right",
    r"\text", r"\boxed{", r"\begin{pmatrix}", r"\\", "{,}", r"\!", r"\,", "__", "−", "５", "\u202e",
    "\x00", "\ud800",
]  # fmt: skip
latex = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


# --- Where the answer is ------------------------------------------------------------------------


BOXES = [
    (r"so \boxed{5}.", "5", "5"), (r"\boxed{5}, no: \boxed{6}; 7", "6", "6"),
    (r"\boxed{\frac{1}{2+\sqrt{3}}}", r"\frac{1}{2+\sqrt{3}}", r"\frac{1}{2+\sqrt{3}}"),
    (r"\boxed{\{1, 2\}}", r"\{1, 2\}", r"\{1, 2\}"),
    (r"\boxed{\left\{ 1 \right.}", r"\left\{ 1 \right.", r"\left\{ 1 \right."),
    (r"\boxed{\boxed{5}}", "5", "5"), (r"\boxed{{5}}", "{5}", "{5}"), (r"\boxed{ 5 }", "5", "5"),
    (r"\boxed{}", None, None), (r"\boxed{  }", None, None), ("", None, None),
    ("no answer at all", None, None), (r"first \boxed{5} then \boxed{6", None, None),
    ("3 apples and 4 pears make 7.", None, "7"), ("it costs $5 and $10", None, "$5 and $10"),
    ("#### 1,234", None, "1,234"), ("the value is -0.75", None, "-0.75"),
    ("x = 2^10", None, "x = 2^10"), (r"thus $x+1$ is the answer", None, "x+1"),
    (r"thus $$\frac{1}{2}$$ and no more", None, r"\frac{1}{2}"), (r"so \(\pi\).", None, r"\pi"),
    (r"so \[ 3x \]", None, "3x"), ("1, 2, 3", None, "1, 2, 3"),
]  # fmt: skip


@pytest.mark.parametrize("response, strict, lenient", BOXES)
def test_strict_takes_the_last_box_and_lenient_else_what_the_end_says(response, strict, lenient):
    assert extract(response, "strict") == strict
    assert extract(response, "lenient") == lenient


SAID = [
    ("The answer is −5.", "−5"), ("So we get x = – 5, which checks.", "x = – 5"),
    ("It comes to minus 5.", "-5"), ("Her score – 5", "5"), ("- 5 apples", "5 apples"),
    ("The distance is 3√2.", "3√2"), ("So it travels 18 dollars for 7 days.", "18 dollars"),
    ("The answer is 18 dollars for 7 days.", "18 dollars"),
    ("18 dollars a day for 7 days makes 126 dollars.", "126 dollars"),
    ("Tom ate 5 apples, Ann 3 pears.", None), ("The answer is (C).", "(C)"),
    ("The correct option is C, not A.", "C"),
    ("The best choice is (B) 24 meters.", "(B) 24 meters"),
    ("The answer is 13 or 14.", "13 or 14"), ("The answer is 13, or maybe 14.", "13, or maybe 14"),
    ("The answer is 5. Wait, that forgets one. The answer is 6.", "6"),
    ("The answer is 5. Wait, that forgets one", None),
    ("The value is 12, since 24 is twice 12.", "12"), ("3 + 4 = 7\n#### 7 apples", "7 apples"),
    ("x = 12 + 2 = 14", "x = 12 + 2 = 14"), ("There are twice 6 of them.", "twice 6 of them"),
    ("The answer is not 5 but 6.", "6"), ("I'd pick B.", "B"),
    ("A train of 540 m", r"540\text{ m}"), ("So x² + 1 is the answer.", "x² + 1"),
    ("The point is (3, -1).", "(3, -1)"), ("The quotient is 2x + 3.", "2x + 3"),
    ("The graph is an ellipse.", "an ellipse"), ("The answer is twelve.", "twelve"),
    ("It arrives at 4:30 p.m.", "4:30 p.m"), ("**Final Answer**\n\n`15`", "15"),
    ("答案是27。", "27"),
]  # fmt: skip


@pytest.mark.parametrize("response, answer", SAID)
def test_lenient_style_reads_what_is_said_with_its_sign_its_root_and_its_letter(response, answer):
    assert extract(response, "lenient") == answer


WHOLE = [
    (r"<think>so \boxed{5}. Wait</think> It is \boxed{6}.", "6"),
    (r"so \boxed{5}</think> It is \boxed{6}.", "6"), (r"<think>so \boxed{5}. Wait, if", None),
    (r"<think>a</think><think>so \boxed{5}", None), (r"<think>so \boxed{5}</think>", None),
    (r"<|thinking|>so \boxed{5}. Wait, if", None), (r"\boxed{5} and then \boxed{", None),
    (r"\boxed{5}, to be put in \boxed{ }", None), (r"\boxed{?}", None),
    (r"\boxed{1} \boxed{2} \boxed{3}", "1, 2, 3"), (r"\boxed{1} or maybe \boxed{2}", "1, 2"),
    (r"So $\boxed{2}$ and $\boxed{3}$.", "2, 3"), (r"$x=\boxed{2}$ or $x=\boxed{3}$", "x=2, x=3"),
    (r"\boxed{1}, \boxed{2}, and \boxed{3}", "1, 2, 3"),
    (r"First \boxed{2}. Then we go on: \boxed{3}", "3"), (r"\boxed{2} and \boxed{3", None),
    (r"\boxed{40}\boxed{40}", "40"), ("\\boxed{1}\n\\boxed{2}", "2"),
    (r"\boxed{20} is wrong. It is \boxed{21}.", "21"),
    (rf"\boxed{{1}}{' ' * 10**6}\boxed{{2}}", "2"),
]  # fmt: skip


@pytest.mark.parametrize("response, answer", WHOLE)
def test_an_answer_is_whole_and_outside_the_thought_in_both_styles(response, answer):
    assert extract(response, "strict") == extract(response, "lenient") == answer


@pytest.mark.parametrize(
    "response", [*hostile.HUGE, *hostile.RESPONSES], ids=lambda text: f"{text[:9]!r}"
)
def test_a_megabyte_is_read_without_backtracking(response, ends):
    ends(lambda: [extract(response, style) for style in ("strict", "lenient")])


@fixed
@given(st.one_of(st.text(max_size=60), latex))
def test_any_text_is_read_without_an_exception(text):
    for style in ("strict", "lenient"):
        found = extract(text, style)
        assert found is None or found == found.strip() != ""
        assert style == "lenient" or found is None or found in text
        assert settle(text, "z^{79}+17") in ("different", "unreadable")


@fixed
@given(
    st.fractions(max_denominator=10_000),
    st.sampled_from(["{}/{}", r"\frac{{{}}}{{{}}}", r"$\dfrac {{ {} }} {{ {} }}$."]),
)
def test_every_fraction_survives_its_spelling(value, spelling):
    spelt = spelling.format(value.numerator, value.denominator)
    assert settle(spelt, str(value)) == "exact" != settle(spelt, str(value + 1))


@fixed
@given(
    st.integers(0, 10**12),
    st.integers(0, 6),
    st.sampled_from(["{}", "-{}", "$ {} $", "{}.", r"{}\text{{ cm}}"]),
)
def test_every_decimal_survives_its_spelling(digits, places, spelling):
    value = Fraction(digits, 10**places)
    spelt = f"{digits // 10**places:,}" + (f".{digits % 10**places:0{places}d}" if places else "")
    gold = -value if "-" in spelling else value
    assert settle(spelling.format(spelt), str(gold)) == "exact" != settle(spelt, str(gold + 1))
