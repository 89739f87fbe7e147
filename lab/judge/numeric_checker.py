r"""A second, independent checker: it computes floats where `lab.judge.verifier` compares exactly.

It shares no line with the first: it has its own way to find the answer, and a formula becomes a
number (an exact fraction, else a complex float) with every letter standing for a fixed odd value.
Lists are compared item by item, words letter by letter. What it cannot read it calls unsure.

It is literal where the first is lenient, so that the first's conventions show: 10\% is 1/10, units
that both sides give must agree, a is not A, and of 120_8 it is unsure.
"""

import cmath
import math
import re
import zlib
from fractions import Fraction

Value = Fraction | complex
SPACING = re.compile(r"\\(?:left|right|displaystyle)(?![A-Za-z])|\\[,;:! $]|\$|\^\{?\\circ\}?|~")
UNIT = re.compile(r"(?<=\S)\s*\\(?:text|mathrm|mbox)\s*\{([A-Za-z ./]*)\}(?:\^\{?([0-9])\}?)?$")
WORDS = re.compile(r"\\(?:text|textbf|mathrm|mbox)\s*\{([^{}]*)\}")
DIGITS = r"(?:[0-9]+(?:,[0-9]{3})*(?:\.[0-9]*)?|\.[0-9]+)"
TOKEN = re.compile(rf"\s*(\\[A-Za-z]+|\\.|{DIGITS}(?:[eE][+-]?[0-9]+)?|\S)")
LARGEST_POWER = 2000  # of ten, in scientific notation: beyond it, unsure
OPENING, CLOSING, SET = ("(", "[", "{", r"\{"), (")", "]", "}", r"\}"), r"\{\}"
TIMES, OVER = ("*", r"\cdot", r"\times"), ("/", r"\div")
CONSTANTS: dict[str, Value] = {r"\pi": math.pi, "e": math.e, "i": 1j, r"\infty": 1e300}
FUNCTIONS = {
    r"\sin": cmath.sin, r"\cos": cmath.cos, r"\tan": cmath.tan, r"\exp": cmath.exp,
    r"\ln": cmath.log, r"\log": cmath.log10,
}  # fmt: skip
BEGIN = ("(", "{", r"\frac", r"\sqrt", *FUNCTIONS, *CONSTANTS)
NAME = re.compile(r"[A-Za-z]|\\(?:alpha|beta|gamma|theta|lambda|mu|phi|omega)")


class Unsure(Exception):
    """This checker cannot read it."""


def check_numerically(response: str, gold: str, style: str) -> str:
    r"""right, wrong or unsure, by arithmetic alone; `style` as in `lab.judge.verifier`.

    >>> check_numerically(r"\boxed{(x+1)^2}", "x^2+2x+1", "strict")
    'right'
    >>> check_numerically(r"\boxed{50\%}", "50", "strict")
    'wrong'
    """
    answer, inside = last_box(response), last_box(gold)
    if answer is None and style == "lenient":
        answer = ending(response)
    if not answer or len(answer) > 500:
        return "wrong"
    try:
        return "right" if equal(tidy(answer), tidy(gold if inside is None else inside)) else "wrong"
    except (Unsure, ArithmeticError, ValueError, RecursionError):
        return "unsure"


def last_box(text: str) -> str | None:
    r"""What stands in the last \boxed{...}, if its braces close within 2,000 characters."""
    _, box, after = text.rpartition(r"\boxed{")
    braces, escaped = 1, False
    for i, character in enumerate(after[:2000] if box else ""):
        braces += 0 if escaped else (character == "{") - (character == "}")
        escaped = character == "\\" and not escaped
        if not braces:
            return after[:i].strip()
    return None


def ending(text: str) -> str:
    """The last formula between dollars if no number follows it, else the last word with a digit."""
    pieces = text[-4000:].split("$")
    if len(pieces) > 2 and not re.search("[0-9]", pieces[-1]):
        return pieces[-2].strip()
    numbers = [
        token.strip("*.,:;!?()[]") for token in pieces[-1].split() if re.search("[0-9]", token)
    ]
    return numbers[-1].rpartition("=")[2] if numbers else ""


def tidy(text: str) -> str:
    """A text without spacing commands and currency, with one kind of fraction and of minus."""
    text = SPACING.sub("", text.strip().rstrip(".")).replace("{,}", ",").replace("−", "-")
    return re.sub(r"\\[dtc]frac(?![a-z])", r"\\frac", text).strip()


def equal(answer: str, gold: str) -> bool:
    """Whether two tidy texts have the same value. Errors: `Unsure` and those of arithmetic."""
    unit = UNIT.search(answer)
    gold_unit = UNIT.search(gold)
    # Units must agree only where both sides give one: the text and its power.
    if unit and gold_unit and (unit[1].strip(), unit[2]) != (gold_unit[1].strip(), gold_unit[2]):
        return False
    bare = [UNIT.sub("", text) for text in (answer, gold)]
    texts = [re.sub(r"(?<![0-9])\s+|\s+(?![0-9])", "", WORDS.sub(r"\1", text)) for text in bare]
    texts = [re.sub(r"^\((\w)\)$", r"\1", text) for text in texts]  # (A), a choice
    if texts[0] == texts[1] != "":
        return True
    if any(re.search(r"(?<![\\A-Za-z])[A-Za-z]{3}|\\(?:text|mathrm)", text) for text in bare):
        if all(text.isalpha() for text in texts):
            return texts[0].casefold() == texts[1].casefold()
        raise Unsure
    first, second = (text.split("=") for text in bare)
    differ = len(first) > 1 < len(second) and first[0].strip() != second[0].strip()
    if differ or any(r"\pm" in text for text in bare):
        raise Unsure
    brackets, left = items(TOKEN.findall(first[-1]))
    gold_brackets, right = items(TOKEN.findall(second[-1]))
    # 1, 2 and {1, 2} are the same list; any other two kinds of brackets differ.
    if brackets != gold_brackets and {brackets, gold_brackets} != {"", SET}:
        return False
    if len(left) != len(right):
        return False
    values = [[Formula(part).value() for part in side] for side in (left, right)]
    if brackets in ("", SET):
        values = [
            sorted(side, key=lambda value: (complex(value).real, complex(value).imag))
            for side in values
        ]
    return all(near(a, b) for a, b in zip(*values, strict=True))


def near(a: Value, b: Value) -> bool:
    """Whether two values are equal: fractions exactly, others to nine digits."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a == b
    return abs(complex(a) - complex(b)) <= 1e-9 * max(1.0, abs(complex(a)), abs(complex(b)))


def items(tokens: list[str]) -> tuple[str, list[list[str]]]:
    """The brackets around a list ("" if there are none) and its items; a formula is one item."""
    brackets = "".join(tokens[:1] + tokens[-1:])
    inside = tokens[1:-1] if brackets in (SET, "()", "[]", "(]", "[)") else tokens
    parts: list[list[str]] = [[]]
    depth = 0
    for token in inside:
        depth += (token in OPENING) - (token in CLOSING)
        if depth < 0:  # (1)(2): the outer brackets are not a pair
            return "", [tokens]
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    if len(parts) == 1 and brackets != SET:
        return "", [tokens]
    return "" if inside is tokens else brackets, parts


class Formula:
    """Reads tokens from left to right, and computes as it reads."""

    def __init__(self, tokens: list[str]) -> None:
        self.rest = tokens[::-1]

    @property
    def next(self) -> str:
        return self.rest[-1] if self.rest else ""

    def take(self, expected: str = "") -> str:
        if not self.rest or (expected and self.next != expected):
            raise Unsure
        return self.rest.pop()

    def taken(self, *sought: str) -> str:
        """The next token, which is taken, if it is one of these."""
        return self.rest.pop() if self.next in sought else ""

    def value(self) -> Value:
        result = self.sum()
        if self.rest:
            raise Unsure
        return result

    def sum(self) -> Value:
        result = self.product()
        while sign := self.taken("+", "-"):
            result = result + (1 if sign == "+" else -1) * self.product()
        return result

    def product(self) -> Value:
        result = self.power()
        while self.next in (*TIMES, *OVER, *BEGIN) or NAME.match(self.next):
            if self.taken(*OVER):
                result = result / self.power()
            else:
                self.taken(*TIMES)
                result = result * self.power()
        return result

    def power(self) -> Value:
        if sign := self.taken("+", "-"):
            return (1 if sign == "+" else -1) * self.power()
        result = self.base()
        while mark := self.taken("^", "!", "%", r"\%"):
            if mark == "^":
                result = raised(result, self.base())
            elif mark != "!":
                result = result / 100
            elif isinstance(result, Fraction) and result in range(21):
                result = Fraction(math.factorial(int(result)))
            else:
                raise Unsure
        return result

    def base(self) -> Value:
        token = self.take()
        if token in ("(", "{", "|"):
            result = self.sum()
            self.take({"(": ")", "{": "}", "|": "|"}[token])
            if token != "|":
                return result
            # Two branches, because abs keeps a fraction exact and makes a float of a complex.
            return abs(result) if isinstance(result, Fraction) else abs(result)
        if token == r"\frac":
            return self.argument() / self.argument()
        if token == r"\sqrt":
            root: Value = Fraction(2)
            if self.taken("["):
                root = self.sum()
                self.take("]")
            return raised(self.argument(), 1 / root)
        if token in FUNCTIONS:
            return self.function(token)
        if token in CONSTANTS:
            return CONSTANTS[token]
        if token[0] in ".0123456789":
            number = written(token)
            part = self.base() if self.next == r"\frac" else Fraction(0)
            # 1\frac{1}{2} is a mixed number, 1\frac{x}{2} a product
            proper = isinstance(part, Fraction) and part < 1
            return number + part if proper else number * part
        return self.letter(token)

    def argument(self) -> Value:
        """What a command takes: a group, or one digit, as in \\frac12."""
        if self.next[1:] and self.next.isdigit():
            digits = self.take()
            self.rest.append(digits[1:])
            return Fraction(digits[0])
        return self.base()

    def function(self, token: str) -> Value:
        """The value of a function: its base (of a logarithm) and power, then its argument."""
        function = FUNCTIONS[token]
        exponent: Value = Fraction(1)
        if token == r"\log" and self.taken("_"):
            base = complex(self.argument())
            function = lambda value: cmath.log(value) / cmath.log(base)  # noqa: E731
        if self.taken("^"):
            exponent = self.argument()
        alone = self.next in ("(", "{", "|")
        value = self.base()
        while not alone and (self.next in CONSTANTS or NAME.match(self.next)):  # \sin 2x
            value = value * self.base()
        return raised(function(complex(value)), exponent)

    def letter(self, token: str) -> Value:
        if not NAME.fullmatch(token):
            raise Unsure
        if self.taken("_"):
            token += "_" + self.take()
            while token.count("{") > token.count("}"):
                token += self.take()
        name = token.replace("{", "").replace("}", "")
        # A fixed odd value between 0.5 and 2.5 for each letter, the same in every process.
        return complex(0.5 + 2 * zlib.crc32(name.encode()) / 2**32)


def written(token: str) -> Fraction:
    """The number that a token of digits writes; 4.5e33 is 45 followed by 32 zeros."""
    mantissa, _, power = token.replace(",", "").lower().partition("e")
    if power and abs(int(power)) > LARGEST_POWER:
        raise Unsure
    return Fraction(mantissa.rstrip(".")) * Fraction(10) ** int(power or 0)


def raised(base: Value, exponent: Value) -> Value:
    """`base` to the power `exponent`: exact while it is small, and never long to compute."""
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        if abs(exponent) * max(abs(base.numerator), base.denominator).bit_length() <= 10_000:
            return base ** int(exponent)
    return complex(base) ** complex(exponent)
