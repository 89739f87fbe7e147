r"""Finding the answer in a response, writing it in one way, reading plain numbers exactly, and what
may not pass.
"""

import re
from fractions import Fraction

import hostile
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.judge.extract import (
    MAX_LENGTH,
    comparison_key,
    exact_value,
    extract,
    is_readable,
    normalize,
)

fixed = settings(derandomize=True, max_examples=300, deadline=None, database=None)
PIECES = [
    *"0123456789.,+-*/^_=()[]{}|<>!&%$ xyeiE'\"`\\",
    r"\frac",
    r"\sqrt",
    r"\left",
    r"\right",
    r"\text",
    r"\boxed{",
    r"\begin{pmatrix}",
    r"\\",
    "{,}",
    r"\!",
    r"\,",
    "__",
    "−",
    "５",
    "\u202e",
    "\x00",
    "\ud800",
]
latex = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


# --- Where the answer is ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "response, strict, lenient",
    [
        (r"so \boxed{5}.", "5", "5"),
        (r"\boxed{5}, no: \boxed{6}; 7", "6", "6"),
        (r"\boxed{\frac{1}{2+\sqrt{3}}}", r"\frac{1}{2+\sqrt{3}}", r"\frac{1}{2+\sqrt{3}}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}", r"\{1, 2\}"),
        (r"\boxed{\left\{ 1 \right.}", r"\left\{ 1 \right.", r"\left\{ 1 \right."),
        (r"\boxed{\boxed{5}}", "5", "5"),
        (r"\boxed{{5}}", "{5}", "{5}"),
        (r"\boxed{ 5 }", "5", "5"),
        (r"\boxed{}", None, None),
        (r"\boxed{  }", None, None),
        ("", None, None),
        ("no answer at all", None, None),
        (r"first \boxed{5} then \boxed{6", None, None),
        ("3 apples and 4 pears make 7.", None, "7"),
        ("it costs $5 and $10", None, "$5 and $10"),
        ("#### 1,234", None, "1,234"),
        ("the value is -0.75", None, "-0.75"),
        ("x = 2^10", None, "x = 2^10"),
        (r"thus $x+1$ is the answer", None, "x+1"),
        (r"thus $$\frac{1}{2}$$ and no more", None, r"\frac{1}{2}"),
        (r"so \(\pi\).", None, r"\pi"),
        (r"so \[ 3x \]", None, "3x"),
        ("1, 2, 3", None, "1, 2, 3"),
    ],
)
def test_strict_takes_the_last_box_and_lenient_else_what_the_end_says(response, strict, lenient):
    assert extract(response, "strict") == strict
    assert extract(response, "lenient") == lenient


@pytest.mark.parametrize(
    "response, answer",
    [
        ("The answer is −5.", "−5"),
        ("So we get x = – 5, which checks.", "x = – 5"),
        ("It comes to minus 5.", "-5"),
        ("Her score – 5", "5"),
        ("- 5 apples", "5 apples"),
        ("The distance is 3√2.", "3√2"),
        ("So it travels 18 dollars for 7 days.", "18 dollars"),
        ("The answer is 18 dollars for 7 days.", "18 dollars"),
        ("18 dollars a day for 7 days makes 126 dollars.", "126 dollars"),
        ("Tom ate 5 apples, Ann 3 pears.", None),
        ("The answer is (C).", "(C)"),
        ("The correct option is C, not A.", "C"),
        ("The best choice is (B) 24 meters.", "(B) 24 meters"),
        ("The answer is 13 or 14.", "13 or 14"),
        ("The answer is 13, or maybe 14.", "13, or maybe 14"),
        ("The answer is 5. Wait, that forgets one. The answer is 6.", "6"),
        ("The answer is 5. Wait, that forgets one", None),
        ("The value is 12, since 24 is twice 12.", "12"),
        ("3 + 4 = 7\n#### 7 apples", "7 apples"),
        ("x = 12 + 2 = 14", "x = 12 + 2 = 14"),
        ("There are twice 6 of them.", "twice 6 of them"),
        ("The answer is not 5 but 6.", "6"),
        ("I'd pick B.", "B"),
        ("A train of 540 m", r"540\text{ m}"),
        ("So x² + 1 is the answer.", "x² + 1"),
        ("The point is (3, -1).", "(3, -1)"),
        ("The quotient is 2x + 3.", "2x + 3"),
        ("The graph is an ellipse.", "an ellipse"),
        ("The answer is twelve.", "twelve"),
        ("It arrives at 4:30 p.m.", "4:30 p.m"),
        ("**Final Answer**\n\n`15`", "15"),
        ("答案是27。", "27"),
    ],
)
def test_lenient_style_reads_what_is_said_with_its_sign_its_root_and_its_letter(response, answer):
    assert extract(response, "lenient") == answer


@pytest.mark.parametrize(
    "response, answer",
    [
        (r"<think>so \boxed{5}. Wait</think> It is \boxed{6}.", "6"),
        (r"so \boxed{5}</think> It is \boxed{6}.", "6"),
        (r"<think>so \boxed{5}. Wait, if", None),
        (r"<think>a</think><think>so \boxed{5}", None),
        (r"<think>so \boxed{5}</think>", None),
        (r"<|thinking|>so \boxed{5}. Wait, if", None),
        (r"\boxed{5} and then \boxed{", None),
        (r"\boxed{5}, to be put in \boxed{ }", None),
        (r"\boxed{?}", None),
        (r"\boxed{1} \boxed{2} \boxed{3}", "1, 2, 3"),
        (r"\boxed{1} or maybe \boxed{2}", "1, 2"),
        (r"\boxed{40}\boxed{40}", "40"),
        ("\\boxed{1}\n\\boxed{2}", "2"),
        (r"\boxed{20} is wrong. It is \boxed{21}.", "21"),
        (rf"\boxed{{1}}{' ' * 10**6}\boxed{{2}}", "2"),
    ],
)
def test_an_answer_is_whole_and_outside_the_thought_in_both_styles(response, answer):
    assert extract(response, "strict") == extract(response, "lenient") == answer


@pytest.mark.parametrize(
    "response", [*hostile.HUGE, *hostile.RESPONSES], ids=lambda text: f"{text[:9]!r}"
)
def test_a_megabyte_is_read_without_backtracking(response, ends):
    def read():
        for style in ("strict", "lenient"):
            extract(response, style)
        text = normalize(response)
        comparison_key(text), exact_value(text), is_readable(text)

    ends(read)


# --- One way to write it ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "one, other",
    [
        (r"\frac{1}{2}", r"\dfrac{1}{2}"),
        (r"\tfrac12", r"\frac{1}{2}"),
        ("x^{2}", "x^2"),
        (r"\left(1,2\right)", "(1, 2)"),
        (r"\left.x\right|", "x|"),
        (r"\text{Monday}", "Monday"),
        (r"\mathrm{cm}", r"\text{cm}"),
        (r"\textbf{(A)}", "(A)"),
        (r"\$5", "5"),
        ("$x$", "x"),
        (r"10\%", "10"),
        (r"90^\circ", "90"),
        (r"90^{\circ}", "90"),
        ("90°", "90"),
        ("５＋ｘ", "5+x"),
        ("−3", "-3"),
        ("{5}", "5"),
        ("5.", "5"),
        (r"\\frac{1}{2}", r"\frac{1}{2}"),
        (r"1\,234", "1234"),
        ("1{,}234", "1,234"),
        (r"2\pi", "2π"),
        (r"x \le 3", "x≤3"),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
    ],
)
def test_two_spellings_of_one_text_have_one_key(one, other):
    assert comparison_key(normalize(one)) == comparison_key(normalize(other)) != ""


@pytest.mark.parametrize(
    "one, other",
    [
        ("2²", "22"),
        ("1 2", "12"),
        ("x_1", "x1"),
        ("A", "a"),
        ("(1,2)", "[1,2]"),
        ("-3", "3"),
        ("10", "0.1"),
        ("½", "1/2"),
        (r"\{1\}", "1"),
        (r"\frac{12}{3}", r"\frac{1}{23}"),
        ("٥", "5"),
        ("х", "x"),
        ("5\u202e", "5"),
        ("5\u200b", "5"),
        (r"\leftarrow", "arrow"),
        (r"\sqrt{2}3", r"\sqrt{23}"),
    ],
)
def test_different_texts_keep_different_keys(one, other):
    assert comparison_key(normalize(one)) != comparison_key(normalize(other))


# --- Plain numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, value",
    [
        ("5", 5),
        ("005", 5),
        ("+5", 5),
        ("-5", -5),
        ("5.", 5),
        ("5.0", 5),
        (".5", "1/2"),
        ("-.5", "-1/2"),
        ("1,234", 1234),
        ("12,345,678.5", "24691357/2"),
        ("3/4", "3/4"),
        ("-3/4", "-3/4"),
        ("3/-4", "-3/4"),
        ("6 / 8", "3/4"),
        (r"\frac{3}{4}", "3/4"),
        (r"-\frac{3}{4}", "-3/4"),
        (r"\frac{-3}{4}", "-3/4"),
        (r"\frac34", "3/4"),
        (r"\frac3{40}", "3/40"),
        (r"\frac{1.5}{2}", "3/4"),
        (r"1\frac{1}{2}", "3/2"),
        (r"-1\frac{1}{2}", "-3/2"),
        (r"1 \frac12", "3/2"),
        (r"5\text{ cm}", 5),
        (r"5\text{ cm}^2", 5),
        (r"5 \mathrm{cm}^{2}", 5),
        (r"12\%", 12),
        (r"\$1,234.50", "2469/2"),
        ("0.1", "1/10"),
        ("9" * 400, int("9" * 400)),
    ],
)
def test_a_plain_number_is_read_exactly(text, value):
    assert exact_value(normalize(text)) == Fraction(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "2^3",
        "1/0",
        r"\frac{1}{0}",
        "1,23",
        "1,2345",
        "1 2",
        "1 234",
        "--5",
        "5-",
        "1.2.3",
        "1/2/3",
        "1e5",
        "1E5",
        "inf",
        "nan",
        "٥",
        "Ⅴ",
        "½",
        "1_000",
        "0x10",
        "(5)",
        "5 cm",
        r"\sqrt{4}",
        r"1\frac{-1}{2}",
        "1:2",
        r"5\text{cm}5",
        "9" * (MAX_LENGTH + 1),
    ],
)
def test_what_is_not_plainly_a_number_has_no_value(text):
    assert exact_value(normalize(text)) is None


@fixed
@given(
    st.fractions(max_denominator=10_000),
    st.sampled_from(["{}/{}", r"\frac{{{}}}{{{}}}", r"$\dfrac {{ {} }} {{ {} }}$."]),
)
def test_every_fraction_survives_its_spelling(value, spelling):
    assert exact_value(normalize(spelling.format(value.numerator, value.denominator))) == value


@fixed
@given(
    st.integers(0, 10**12),
    st.integers(0, 6),
    st.sampled_from(["{}", "-{}", "$ {} $", "{}.", r"{}\text{{ cm}}"]),
)
def test_every_decimal_survives_its_spelling(digits, places, spelling):
    value = Fraction(digits, 10**places)
    spelt = f"{digits // 10**places:,}" + (f".{digits % 10**places:0{places}d}" if places else "")
    assert exact_value(normalize(spelling.format(spelt))) == (-value if "-" in spelling else value)


# --- What may be shown to the algebra -----------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "x^2+1",
        r"\frac{a}{b}",
        r"(-\infty, 3] \cup [5, 7)",
        r"\{1, 2\}",
        r"2\sqrt[3]{5}",
        r"\sin^2 x",
        "5!",
        "|x|",
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
        r"x \in \mathbb{R}",
        "f(x)=x^2",
        "x<3",
        r"\text{odd}",
        r"\binom{n}{2}",
    ],
)
def test_answers_as_people_write_them_are_readable(text):
    assert is_readable(normalize(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        r"\int_0^1 x dx",
        r"\sum_{i=1}^n i",
        r"\lim_{x\to 0} x",
        r"\operatorname{exit}(0)",
        "a__b",
        "f'(x)",
        '"5"',
        "`5`",
        "x#",
        "x@y",
        "x\x00",
        "x\u202e",
        "é",
        "х",
        "\ud800",
        "1\x003",
        r"\variable{x}",
        r"\input{x}",
        "x" * (MAX_LENGTH + 1),
        "(" * 21 + ")" * 21,
        "{" * 30 + "x" + "}" * 30,
    ],
)
def test_other_texts_are_not(text):
    assert not is_readable(normalize(text))


def test_code_with_quotes_underscore_pairs_or_unknown_commands_is_not():
    suspect = [
        text
        for text in hostile.CODE
        if re.search(r"__|['\"`#@]|operatorname|write|input|variable", text)
    ]
    assert len(suspect) > 20 and not [text for text in suspect if is_readable(normalize(text))]


@fixed
@given(st.one_of(st.text(max_size=60), latex))
def test_any_text_is_read_without_an_exception_and_only_the_alphabet_passes(text):
    for style in ("strict", "lenient"):
        found = extract(text, style)
        assert found is None or found == found.strip() != ""
        assert style == "lenient" or found is None or found in text
    form = normalize(text)
    comparison_key(form), exact_value(form)
    if is_readable(form):
        assert (
            form.isascii()
            and form.isprintable()
            and not set("'\"`#@$?~") & set(form)
            and "__" not in form
        )
