r"""Formulas as trees: tokens, and a reader that takes them from left to right.

A tree is ("number", Fraction), ("name", text), or (operation, tree, ...). Nothing is computed here
and nothing is ever run; what is not known is `Unreadable`. The length and depth of a text are
limited before it comes here (`lab.judge.meaning`).

A letter before brackets may be a function or a factor: f(x), x(x+1). The reader calls both
("call", letter, argument, ...); `without_calls` decides, when the answer and the gold are there.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from lab.judge.units import read_multiple, read_unit

Tree = tuple[Any, ...]
MAX_EXPONENT = 20_000  # decimal places of a number in scientific notation

FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh exp ln log sqrt cis".split()
)
_ALIASES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "infinity": "infty", "inf": ""}
_WORDS = FUNCTIONS | {"pi", "infinity", "infty", "theta", "alpha", "beta", "gamma", "lambda"}
GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau"
    " upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
).split()
_NAMES = frozenset([*GREEK, "infty", "ell", "hbar", "partial", "nabla"])
_REPEATING = (
    r"(?P<whole>[0-9]*)\.(?P<once>[0-9]*)\\(?:overline|dot)\s*"
    r"(?:\{(?P<period>[0-9]+)\}|(?P<one>[0-9]))"
)
_ENDLESS = r"(?P<begun>[0-9]*\.[0-9]+)\s*(?:\\ldots|\.\.\.)"
_GROUPED = r"(?P<grouped>[0-9]{1,3}(?:(?:,[0-9]{3})+|(?: [0-9]{3})+)(?![0-9])(?:\.[0-9]+)?)"
_SCIENTIFIC = r"(?P<mantissa>[0-9]+\.?[0-9]*|\.[0-9]+)[eE](?P<exponent>[+-]?[0-9]+)(?![0-9.])"
_PLAIN = r"(?P<plain>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)\.?(?![0-9.])"
_TOKEN = re.compile(
    rf"\s*(?:{_REPEATING}|{_ENDLESS}|{_SCIENTIFIC}|{_GROUPED}|{_PLAIN}"
    r"|(?P<text>\\text\{[^{}]*\})|(?P<command>\\[A-Za-z]+|\\[{}|\\])|(?P<word>[A-Za-z]+)"
    r"|(?P<mark>[-+*/^_=<>()\[\]{}|,;!%:&']))"
)
_ACCENTS = frozenset("dot ddot vec hat tilde overline overrightarrow widehat".split())
_MATHBB = re.compile(r"\\mathbb\s*\{?\s*([A-Z])\s*\}?")


OPENING = ("(", "[", "{")
CONSTANTS = ("pi", "e", "i")
# A letter of these before brackets is a function, whatever it is applied to.
FUNCTION_LETTERS = frozenset("f g h F G H P phi psi Phi Psi".split())


class Unreadable(Exception):
    """A text that this reader does not know."""


class Token(str):
    """A token's text and where it starts, with its value if it is a number."""

    value: Fraction | None = None
    start: int | None = None


def tokens(text: str) -> list[Token]:
    r"""The tokens of a spelt text. Errors: `Unreadable`.

    A comma between digits groups them outside brackets, and separates inside.

    >>> [str(token) for token in tokens(r"2x^{10}")], tokens(r"0.1\overline{6}")[0].value
    (['2', 'x', '^', '{', '10', '}'], Fraction(1, 6))
    """
    found: list[Token] = []
    position, depth, text = 0, 0, text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise Unreadable(text[position : position + 20])
        kind = match.lastgroup
        grouped = match["grouped"] or ""
        # (1,234) is a pair, and \log_2 128 has the base 2
        if ("," in grouped and depth) or (
            " " in grouped and position and text[position - 1] in "_^"
        ):
            match = re.compile(r"\s*(?P<plain>[0-9]+)").match(text, position)
            assert match is not None  # the group began with digits
            kind = "plain"
        token = Token(match[0].strip())
        token.start = match.end() - len(token)
        if kind not in ("text", "command", "word", "mark"):
            token.value = _number(match)
        depth += (token in ("(", "[", "{", r"\{")) - (token in (")", "]", "}", r"\}"))
        found.append(token)
        position = match.end()
    return found


def _number(match: re.Match[str]) -> Fraction:
    """The exact value of a number as it is written. Errors: `Unreadable`."""
    if match["plain"]:
        return Fraction(match["plain"])
    if match["grouped"]:
        return Fraction(re.sub("[, ]", "", match["grouped"]))
    if match["mantissa"]:
        if abs(int(match["exponent"])) > MAX_EXPONENT:
            raise Unreadable("a number of too many digits")
        return Fraction(match["mantissa"]) * Fraction(10) ** int(match["exponent"])
    if period := match["period"] or match["one"]:
        return _periodic(match["whole"], match["once"], period)
    whole, _, digits = match["begun"].partition(".")
    for length in range(1, len(digits) // 2 + 1):  # 0.333... and 0.1818..., but not 0.3...
        period = digits[-length:]
        if digits.endswith(period * (3 if length == 1 else 2)):
            return _periodic(whole, digits[:-length], period)
    raise Unreadable("digits without an end")


def _periodic(whole: str, once: str, period: str) -> Fraction:
    """The number whose digits after the point are `once`, then `period` without end."""
    start = Fraction(f"{whole or 0}.{once or 0}")
    return start + Fraction(int(period), (10 ** len(period) - 1) * 10 ** len(once))


def number(value: int | Fraction) -> Tree:
    """A number as a tree."""
    return ("number", Fraction(value))


def parts(tree: Tree) -> Iterator[Tree]:
    """A formula and all that it is made of."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        yield part
        if part[0] not in ("number", "name"):
            waiting.extend(part[1:])


def names(tree: Tree) -> frozenset[str]:
    """The letters of a formula, those of functions too, without pi, e and i."""
    return frozenset(part[1] for part in parts(tree) if part[0] == "name").difference(CONSTANTS)


def mentions(tree: Tree, *wanted: str) -> bool:
    """Whether a formula has one of these operations or names."""
    return any(part[1 if part[0] == "name" else 0] in wanted for part in parts(tree))


def renamed(tree: Tree, old: str, new: str) -> Tree:
    """A formula with another name for one of its letters."""
    if tree[0] == "number":
        return tree
    if tree[0] == "name":
        return ("name", new) if tree[1] == old else tree
    return (tree[0], *(renamed(part, old, new) for part in tree[1:]))


def without_calls(*trees: Tree) -> list[Tree]:
    """The same formulas, read alike, with each letter before brackets as a function or a factor.

    It is a factor if it stands anywhere without brackets. Otherwise it is a function if it is
    usually one (f, g, P), or if it is applied somewhere to a letter, a number or several of them.
    A function applied is an unknown of its own: ("apply", function, argument, ...).
    """
    bare: set[str] = set()
    called: set[str] = set()

    def look(tree: Tree) -> None:
        if tree[0] == "number":
            return
        if tree[0] == "name":
            bare.add(tree[1])
            return
        applied = tree[0] in ("call", "apply")
        if applied:
            simple = all(part[0] in ("name", "number") for part in tree[2:])
            if tree[1][1] in FUNCTION_LETTERS or simple or tree[0] == "apply":
                called.add(tree[1][1])
        for part in tree[2 if applied else 1 :]:
            look(part)

    for tree in trees:
        look(tree)
    return [_decided(tree, frozenset(called - bare)) for tree in trees]


def _decided(tree: Tree, functions: frozenset[str]) -> Tree:
    if tree[0] in ("number", "name"):
        return tree
    parts = [_decided(part, functions) for part in tree[1:]]
    if tree[0] == "group":
        return parts[0]
    if tree[0] == "call":
        return ("apply" if tree[1][1] in functions or len(parts) > 2 else "*", *parts)
    # x(x+1)^2 has its power on the brackets alone, f(x)^2 on the function's value
    is_power = tree[0] in ("^", "!") and tree[1][0] == "call" and len(tree[1]) == 3
    if is_power and tree[1][1][1] not in functions:
        _, factor, inside = parts[0]
        return ("*", factor, (tree[0], inside, *parts[1:]))
    return (tree[0], *parts)


class Reader:
    """Reads the tokens of one formula from left to right, up to the unit after it."""

    def __init__(self, text: str) -> None:
        self.text = _MATHBB.sub(r"\\set\1 ", text)
        self.rest = tokens(self.text)[::-1]
        self.last = Token()

    @property
    def next(self) -> str:
        return self.rest[-1] if self.rest else ""

    def take(self, expected: str = "") -> Token:
        if not self.rest or (expected and self.next != expected):
            raise Unreadable(self.next or "the end")
        self.last = self.rest.pop()
        return self.last

    def number(self) -> Tree | None:
        """The number that is next, with all of its digits, if there is one."""
        if self.rest and self.rest[-1].value is not None:
            return number(self.take().value or 0)
        return None

    def formula(self) -> tuple[Tree, str]:
        """The formula, and the text after it, which may be a unit. Errors: `Unreadable`."""
        result = self.halves(self.sum())
        return result, self.text[self.rest[-1].start :] if self.rest else ""

    def halves(self, above: Tree) -> Tree:
        r"""What {above \over below} and {above \choose below} mean, if such a command follows."""
        if self.next in (r"\over", r"\choose"):
            return ("/" if self.take() == r"\over" else "binom", above, self.sum())
        return above

    def sum(self) -> Tree:
        result = number(0) if self.next in (r"\pm", r"\mp") else self.product()
        while self.next in ("+", "-", r"\pm", r"\mp"):
            sign = self.take()
            right = self.product()
            if sign in ("+", "-"):
                result = ("+", result, right if sign == "+" else ("-", right))
            else:
                result = (sign[1:], result, right)
        return result

    def product(self) -> Tree:
        result = self.signed()
        while True:
            if self.next in ("*", r"\cdot", r"\times"):
                self.take()
                result = ("*", result, self.signed())
            elif self.next in ("/", r"\div"):
                self.take()
                word = self.next
                result = ("/", result, self.signed())
                if len(word) > 1 and word.isalpha() and word not in _WORDS:  # t/RC is t over RC
                    for _ in word[1:]:
                        result = ("/", result, self.power())
            elif self.begins():
                result = ("*", result, self.power())
            else:
                return result

    def signed(self) -> Tree:
        """A factor, which may have a sign: 3*-2."""
        if self.next in ("+", "-"):
            return self.signed() if self.take() == "+" else ("-", self.signed())
        return self.power()

    def begins(self) -> bool:
        """Whether a factor begins here, so that a product goes on without a sign."""
        token = self.next
        if not token or (self.rest[-1].value is not None):
            return bool(token)
        if len(token) > 1 and self.unit_begins(token):
            return False
        return (
            token in ("(", "{", "[", r"\frac", r"\sqrt", r"\binom", r"\lfloor", r"\lceil", r"\text")
            or token[0].isalpha()
            or token.startswith(r"\text{")
            or (token[0] == "\\" and token[1:] in _NAMES | FUNCTIONS | _ACCENTS)
        )

    def unit_begins(self, token: str) -> bool:
        """Whether words are no factor: a known unit after a number, or more than letters."""
        after_number = self.last.value is not None
        if token.startswith(r"\text{"):
            word = token[6:-1]
            if after_number or self.last in (")", "}"):
                return len(word) > 1 or read_unit(word) is not None
            return len(word.strip()) > 1 and not word.strip().isdigit()
        if not token.isalpha() or token in _WORDS:
            return False
        is_unit = after_number and (read_unit(token) or read_multiple(token)[0] > 1)
        return bool(is_unit) or len(token) > 5

    def power(self, may_call: bool = True) -> Tree:
        first = self.next
        result = self.base()
        if result[0] == "name" and first not in OPENING and may_call:
            result = self.called(result)
        while True:
            if self.next == "^":
                self.take()
                if self._degree():
                    result = ("degrees", result)
                else:
                    result = ("^", result, self.exponent())
            elif self.next == r"\circ":
                self.take()
                result = ("degrees", result)
            elif self.next == "!":
                self.take()
                result = ("!", result)
            elif self.next == "%":
                self.take()
                result = ("/", result, number(100))
            else:
                return result

    def called(self, name: Tree) -> Tree:
        r"""A letter with the brackets after it: f(x), P(A, B), E[X], f^{-1}(x)."""
        inverse = ["^", "{", "-", "1", "}", "("]
        if [str(token) for token in self.rest[: -len(inverse) - 1 : -1]] == inverse:
            if name[1] in FUNCTION_LETTERS:
                del self.rest[-len(inverse) + 1 :]
                name = ("name", name[1] + "^-1")
        closing = {"(": ")", "[": "]"}.get(self.next)
        if closing is None or name[1] in CONSTANTS:
            return name
        arguments = self.arguments(self.next, closing)
        if name[1] in ("C", "P") and [argument[0] for argument in arguments] == ["number"] * 2:
            chosen = ("binom", *arguments)  # P(5, 3): in order
            return chosen if name[1] == "C" else ("*", chosen, ("!", arguments[1]))
        return ("call", name, *arguments)

    def arguments(self, opening: str, closing: str) -> list[Tree]:
        """Formulas between brackets, with commas between them."""
        self.take(opening)
        found = [self.sum()]
        while self.next == ",":
            self.take()
            found.append(self.sum())
        self.take(closing)
        return found

    def exponent(self) -> Tree:
        """What stands above: a group or a token; of a number all digits, as in 10^33."""
        return self.number() or self.argument()

    def _degree(self) -> bool:
        r"""Takes \circ or {\circ}, if it is next."""
        if self.next == r"\circ":
            self.take()
            return True
        if [str(token) for token in self.rest[-3:]] == ["}", r"\circ", "{"]:
            del self.rest[-3:]
            self.last = Token("}")
            return True
        return False

    def base(self) -> Tree:
        token = self.take()
        if token.value is not None:
            return self.mixed(token)
        if token in OPENING:
            result = self.sum()
            if token == "{":
                result = self.halves(result)
            self.take({"(": ")", "[": "]", "{": "}"}[token])
            return ("group", result) if result[0] == "call" else result
        if token == "|":
            result = self.sum()
            self.take("|")
            return ("abs", result)
        if token == r"\frac":
            return ("/", self.argument(), self.argument())
        if token == r"\binom":
            return ("binom", self.argument(), self.argument())
        if token in (r"\sqrt", "sqrt"):
            return self.root()
        if token in (r"\lfloor", r"\lceil"):
            result = self.sum()
            self.take("\\r" + token[2:])
            return (token[2:], result)
        if token[0] == "\\" and token[1:] in _ACCENTS:
            return self.accented(token[1:])
        name = str(token)[1:] if token[0] == "\\" else str(token)
        name = _ALIASES.get(name, name) or name
        if name in FUNCTIONS:
            return self.function(name)
        if name.startswith("text{"):
            return self.worded(name[5:-1].strip())
        if token[0] == "\\" and name not in _NAMES:
            raise Unreadable(name)
        if not name[0].isalpha():
            raise Unreadable(name)
        if token[0] != "\\" and len(name) > 1 and name not in _WORDS:
            return self.letters(name)
        return self.indexed(name)

    def mixed(self, token: Token) -> Tree:
        r"""A number, with the fraction that follows a whole one: 1\frac{1}{2} is 3/2."""
        whole = token.value
        assert whole is not None  # the caller has seen it
        if whole.denominator == 1 and "." not in token and self.rest:
            if self.next == r"\frac":
                saved = list(self.rest)
                self.take()
                top, below = self.argument(), self.argument()
                if (
                    top[0] == below[0] == "number"
                    and top[1].denominator == below[1].denominator == 1
                    and 0 < top[1] < below[1]
                ):
                    return number(whole + top[1] / below[1])
                self.rest = saved
            # 1 1/2, a mixed number without LaTeX
            if len(self.rest) >= 3 and self.rest[-1].value is not None and self.rest[-2] == "/":
                top_value, below_value = self.rest[-1].value, self.rest[-3].value
                if below_value and 0 < top_value < below_value:
                    del self.rest[-3:]
                    return number(whole + top_value / below_value)
            if self.rest and self.rest[-1].value is not None:
                raise Unreadable("two numbers side by side")
        return number(whole)

    def argument(self) -> Tree:
        r"""What a command takes: a group, or one token; of a number, one digit, as in \frac12."""
        token = self.next
        if token.isdigit():
            self.take()
            if token[1:]:
                rest = Token(token[1:])
                rest.value = Fraction(token[1:])
                self.rest.append(rest)
            return number(int(token[0]))
        if token in ("+", "-"):
            self.take()
            return self.argument() if token == "+" else ("-", self.argument())
        return self.number() or self.base()

    def root(self) -> Tree:
        degree = number(2)
        if self.next == "[":
            self.take()
            degree = self.sum()
            self.take("]")
        return ("root", self.number() or self.argument(), degree)  # √51: the whole number

    def function(self, name: str) -> Tree:
        r"""A function with its base and power, then its argument: \log_2^3 8, \sin 2x."""
        base: Tree | None = None
        exponent: Tree | None = None
        while self.next in ("_", "^"):
            mark = self.take()
            if mark == "_":
                base = self.argument()
            else:
                exponent = self.argument()
        grouped = self.next in ("(", "[", "{", "|")
        argument = self.power(may_call=self.next in FUNCTION_LETTERS)  # \sin f(x), \sin x(x+1)
        while not grouped and self.begins() and self.next.lstrip("\\") not in FUNCTIONS:
            if self.next in ("(", "["):
                break
            argument = ("*", argument, self.power())
        if not grouped and self.next == "/" and len(self.rest) > 1 and self.rest[-2].value:
            self.take()  # \sin \pi/6
            argument = ("/", argument, self.power())
        if name == "cis":
            return ("+", ("cos", argument), ("*", ("name", "i"), ("sin", argument)))
        if exponent == ("-", number(1)):
            return ("arc" + name.removeprefix("arc"), argument)
        result: Tree = (name, argument) if base is None else (name, argument, base)
        return result if exponent is None else ("^", result, exponent)

    def worded(self, word: str) -> Tree:
        r"""One letter in \text{...}, or a number."""
        if len(word) == 1 and word.isalpha() and word.isascii():
            return self.indexed(word)
        if re.fullmatch(r"[0-9]+", word):
            return number(int(word))
        raise Unreadable(word)

    def letters(self, word: str) -> Tree:
        """Letters side by side are a product; the last one takes an index or a power."""
        if len(word) > 5:
            raise Unreadable(word)
        if word in ("gcd", "lcm", "max", "min") and self.next in OPENING:  # unknown functions
            raise Unreadable(word)
        self.rest.extend(Token(letter) for letter in reversed(word[1:]))
        return self.indexed(word[0])

    def accented(self, accent: str) -> Tree:
        r"""A name with a mark above it: \vec{v}, \overline{AB}."""
        if self.next == "{":
            self.take()
            name = self.take()
            self.take("}")
        else:
            name = self.take()
        return self.indexed(f"{accent} {name}")

    def indexed(self, name: str) -> Tree:
        """A name with what stands below it, and its primes: x_1, a_{n+1}."""
        if self.next == "_":
            self.take()
            if self.next == "{":
                depth, below = 0, ""
                while True:
                    token = self.take()
                    depth += (token == "{") - (token == "}")
                    if depth == 0:
                        break
                    below += token
                name += "_" + below.replace("{", "").replace("}", "")
            else:
                name += "_" + self.take()
        return ("name", name)
