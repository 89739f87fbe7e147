r"""What a response answers, and what can be said of it without algebra.

`extract` finds the answer, `normalize` writes it in one way, `exact_value` reads it exactly if it
is a plain number, and `is_readable` says whether it may be shown to the algebra behind
`lab.judge.verifier` at all. Everything here is linear in the length of the text and runs in
the caller's process.

Decisions, all visible to a reader of a verdict:

- A percent, dollar or degree sign and a unit in \text{...} are dropped: 10\% is 10, not 0.1.
- 1,234 is a number; a comma before a space, or in brackets, separates.
- Decimals are exact: 0.333333 is not 1/3.
- 1\frac{1}{2} is 3/2. Full-width digits are digits; every other foreign digit or lookalike is not.
"""

import re
from collections import deque
from fractions import Fraction

from lab.judge.unboxed import unboxed
from lab.judge.units import read_unit

MAX_LENGTH = 500  # characters of an answer
MAX_DEPTH = 20  # brackets inside brackets
MAX_BOX = 10_000  # characters in which the brace of a box is looked for
MAX_BOXES = 10  # boxes that may be one answer
MAX_GAP = 60  # characters between two of them

_TAG = r"(?:think(?:ing)?|thoughts?|reasoning|reflection)"
_THOUGHT_OPENS = re.compile(rf"<\|?{_TAG}\|?>|\[THINK\]|◁think▷", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(rf"<\|?/{_TAG}\|?>|\[/THINK\]|◁/think▷", re.IGNORECASE)
_BLANK = re.compile(r"(?:[\s?_.…]|\\[,;:! ]|\\(?:[lc]?dots|quad)(?![A-Za-z]))*")
_BOX = re.compile(
    r"\\boxed(?:\s{0,3}\{|\s{0,3}(?P<bare>-?[0-9]+(?:[.,/][0-9]+)*)|\s{1,3}(?P<letter>[A-Za-z])(?![A-Za-z]))"
)
_MARK = r"[$*]|\\[,;:! ()\[\]]|\\q?quad(?![a-z])"  # that mean nothing between boxes
_GAP = rf"(?:\s|{_MARK})*"
_NAME = r"[A-Za-z](?:_\{?[A-Za-z0-9]\}?)?\s*=\s*"
_LABEL = re.compile(rf"(?<![A-Za-z\\]){_NAME}$")
_JOINT = re.compile(  # what may stand between the boxes of one answer
    rf"(?:(?:[^\S\n]|\.|{_MARK})*|{_GAP}(?:(?:[,;&]|and|or|alternatively|else|even|maybe|perhaps"
    rf"|possibly|\\(?:text|mathrm|mbox)\{{\s*,?\s*(?:and|or)\s*\}}){_GAP})+)"
    rf"(?:(?P<label>{_NAME}){_GAP})?"
)
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)

_FOLD = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | str.maketrans(
    {
        "−": "-",
        "×": r"\times ",
        "÷": r"\div ",
        "·": r"\cdot ",
        "π": r"\pi ",
        "∞": r"\infty ",
        "√": r"\sqrt ",
        "≤": r"\le ",
        "≥": r"\ge ",
        "²": "^{2}",
        "³": "^{3}",
        "°": r"^\circ ",
        "\u00a0": " ",
        "\u3000": " ",
    }
)
_DROP = re.compile(
    r"\\(?:left|right)\.|\\(?:left|right|displaystyle|quad|qquad)(?![A-Za-z])|\\\$|\\?%|\$"
    r"|(?<!\\)\\[!,;: ]"
    r"|\^\s*(?:\\(?:circ|degree)(?![A-Za-z])|\{\s*\\(?:circ|degree)\s*\})"
)
_TEXT = re.compile(r"\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mathit|mbox)\s*\{")

_SIGNED = r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_PLAIN = re.compile(rf"(?P<top>{_SIGNED})(?:\s*/\s*(?P<below>{_SIGNED}))?")
_FRAC = re.compile(
    rf"(?P<sign>[+-]?)\s*(?P<whole>[0-9]*)\s*\\frac\s*(?:\{{\s*(?P<top>{_SIGNED})\s*\}}|(?P<t>[0-9]))"
    rf"\s*(?:\{{\s*(?P<below>{_SIGNED})\s*\}}|(?P<b>[0-9]))"
)
_UNIT = re.compile(r"\s*\\text\{([^{}]*)\}(?:\^[0-9]|\^\{[0-9]\})?$")

_LETTERS = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho"
    " sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
)
_COMMANDS = frozenset(
    (
        _LETTERS
        + " frac sqrt cdot times div pm infty binom choose text mathbb overline bar vec angle"
        " triangle le leq ge geq lt gt ne neq in notin cup cap setminus subset subseteq emptyset"
        " varnothing log ln exp sin cos tan csc sec cot arcsin arccos arctan sinh cosh tanh max"
        " min gcd lcm mod bmod lfloor rfloor lceil rceil lvert rvert vert langle rangle lbrace"
        " rbrace ldots begin end"
    ).split()
)
_ALPHABET = re.compile(r"(?:[A-Za-z0-9 +*/=<>()\[\]{}|.,:;!&^-]|_(?!_)|\\[A-Za-z{}|]|\\\\ )*")


def extract(response: str, style: str) -> str | None:
    r"""The answer given in a response, or None.

    "strict": what stands in the last \boxed{...} after the thought, if it is not cut or empty.
    "lenient": the same, and where there is no box what the end says in words (`unboxed`).
    A thought is what ends with </think>, or begins with <think> and does not end: no answer.

    >>> extract(r"It is \boxed{\frac{1}{2}}, not 3.", "strict"), extract("so 3 + 4 = 7.", "lenient")
    ('\\frac{1}{2}', '7')
    """
    *_, said = _THOUGHT_ENDS.split(response)
    if _THOUGHT_OPENS.search(said):
        return None
    answer = _boxed(said) if _BOX.search(said) or style == "strict" else unboxed(said)
    return answer.strip() if answer and not _BLANK.fullmatch(answer) else None


def normalize(text: str) -> str:
    r"""An answer written in one way: no spacing commands, no currency, one kind of fraction.

    >>> normalize(r"\$\left( \tfrac{1}{2} , 10\% \right)")
    '( \\frac{1}{2} , 10 )'
    """
    text = text.translate(_FOLD)
    if r"\begin" in text:
        text = text.replace("\\\\", "\\\\ ")  # a new row, kept apart from a command
    else:
        text = text.replace("\\\\", "\\")  # a response that escaped its commands twice
    text = _DROP.sub("", text).replace("{,}", ",")
    text = _TEXT.sub(r"\\text{", re.sub(r"\\[dtc]frac(?![A-Za-z])", r"\\frac", text))
    text = " ".join(text.split()).rstrip(".").strip()
    return text[1:-1].strip() if re.fullmatch(r"\{[^{}]*\}", text) else text


def comparison_key(text: str) -> str:
    r"""What of a normalized text must agree for two answers to be the same letter by letter.

    >>> comparison_key(r"x^{2} + \text{ no }") == comparison_key("x^2+no")
    True
    """
    text = re.sub(r"\\text\{([^{}]*)\}", r"\1", text)
    return re.sub(r"\{([^\\{}])\}", r"\1", re.sub(r"(?<![0-9]) | (?![0-9])", "", text))


def exact_value(text: str) -> Fraction | None:
    r"""The exact value of a normalized text that is a plain number of a plain length, else None.

    >>> exact_value("-1,234.50"), exact_value(r"\frac{3}{4}"), exact_value(r"1\frac12")
    (Fraction(-2469, 2), Fraction(3, 4), Fraction(3, 2))
    >>> exact_value("1/0"), exact_value("2^3")
    (None, None)
    """
    if len(text) > MAX_LENGTH:
        return None
    unit = _UNIT.search(text)
    if unit and read_unit(unit[1]):
        text = text[: unit.start()]
    if match := _PLAIN.fullmatch(text):
        sign, integer = "", ""  # the sign is part of the numerator
        top_text, below_text = match["top"], match["below"] or "1"
    elif match := _FRAC.fullmatch(text):
        sign, integer = match["sign"], match["whole"]
        top_text, below_text = match["top"] or match["t"], match["below"] or match["b"]
    else:
        return None
    top, below = (Fraction(part.replace(",", "").rstrip(".")) for part in (top_text, below_text))
    # A mixed number, such as 1\frac{1}{2}, has no sign inside its fraction.
    if below == 0 or (integer and (top < 0 or below < 0)):
        return None
    return (int(integer or 0) + top / below) * (-1 if sign == "-" else 1)


def is_readable(text: str) -> bool:
    r"""Whether a normalized text holds only known characters and commands, not too long or deep.

    The list of commands has no integral, sum, product, limit or \operatorname: none ends a final
    answer, each can start an endless computation or name a function.

    >>> is_readable(r"\frac{x^2}{\sqrt{3}}"), is_readable("__import__('os')")
    (True, False)
    >>> is_readable(r"\operatorname{exit}(0)")
    False
    """
    if not (0 < len(text) <= MAX_LENGTH and _ALPHABET.fullmatch(text)):
        return False
    depth = deepest = 0
    for mark in re.sub(r"[^(\[{}\])]", "", text):
        depth += 1 if mark in "([{" else -1
        deepest = max(deepest, depth)
    return deepest <= MAX_DEPTH and _COMMANDS.issuperset(re.findall(r"\\([A-Za-z]+)", text))


def _boxed(text: str) -> str | None:
    r"""What stands in the last \boxed{...} or \boxed 5; None without one, or if it stays open.

    Boxes that nothing, commas, "and" or "or" separate are one: x = \boxed{2} or x = \boxed{3}.
    """
    answers: list[str] = []
    start = 0
    for box in reversed(deque(_BOX.finditer(text), maxlen=MAX_BOXES)):
        inside, end = _inside(text, box)
        near = answers and inside and start - end <= MAX_GAP
        joint = _JOINT.fullmatch(text, end, start) if near else None
        if answers and joint is None:
            break
        if inside is None:
            return None
        if joint and joint["label"]:
            answers[0] = joint["label"] + answers[0]
        start = box.start()
        answers.insert(0, inside.strip())
    if len(answers) > 1 and (first := _LABEL.search(text, max(0, start - 20), start)):
        answers[0] = first[0] + answers[0]
    return ", ".join(dict.fromkeys(answers)) if answers else None


def _inside(text: str, box: re.Match[str]) -> tuple[str | None, int]:
    """What stands in a box, and where it ends; None if it stays open."""
    if bare := box["bare"] or box["letter"]:
        return bare, box.end()
    depth, end = 1, box.end() + MAX_BOX
    for brace in _BRACE.finditer(text, box.end(), end):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return text[box.end() : brace.start()], brace.end()
    too_long = text[box.end() : end].strip()
    return (too_long if end < len(text) and len(too_long) > MAX_LENGTH else None), end
