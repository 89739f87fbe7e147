"""A weight w(p) written as a formula, which is parsed and never evaluated as code.

The language: p, q = 1-p, pi, e, numbers, + - * / ^ (or **), brackets, and the functions of
`FUNCTIONS`. `step(x)` is 1 for x >= 0 and 0 below. The explorer's page reads the same language
(lab/explorer/front/formula.js).
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

import numpy as np

from lab.errors import LabError, one_of
from lab.mathematics.design import from_weight
from lab.mathematics.estimators import register
from lab.mathematics.objectives import Objective, objective
from lab.mathematics.sequences import Sequences
from lab.shapes import Array

Term = Callable[[Array], Array]  # a part of the formula, as a function of p

FUNCTIONS: dict[str, tuple[int, Callable[..., Array]]] = {
    "exp": (1, np.exp),
    "log": (1, np.log),
    "sqrt": (1, np.sqrt),
    "abs": (1, np.abs),
    "sin": (1, np.sin),
    "cos": (1, np.cos),
    "tanh": (1, np.tanh),
    "step": (1, lambda x: np.heaviside(x, 1.0)),
    "min": (2, np.minimum),
    "max": (2, np.maximum),
}
NAMES: dict[str, Term] = {
    "p": lambda p: p,
    "q": lambda p: 1 - p,
    "pi": lambda p: np.full_like(p, np.pi),
    "e": lambda p: np.full_like(p, np.e),
}
TOKEN = re.compile(
    r"\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*)|(\*\*|[-+*/^(),])|(\S))",
    re.ASCII,
)
LONGEST = 200  # characters of a formula
DEEPEST = 30  # brackets and signs inside each other, far below Python's limit of recursion


def formula_weight(text: str) -> Objective:
    """The objective whose weight is the formula `text`. LabError: it says where parsing stopped.

    >>> formula_weight("min(2, 1/p) + q^2").weight([0.25, 1.0])
    array([2.5625, 1.    ])
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        raise LabError(
            f"formula {str(text)[:20]!r}: write text of at most {LONGEST} characters, for example"
            " exp(-5*p)"
        )
    term = _Parser(text).formula()
    return replace(objective(term), name=f"formula({text!r})", label=f"w = {text}")


class _Parser:
    """A recursive-descent parser: sum, product, signed, power, atom, the loosest rule first."""

    def __init__(self, text: str) -> None:
        # each token is (number, name, sign, unknown character), three of them None
        self.tokens = [match.groups() for match in TOKEN.finditer(text)]
        self.position = 0
        self.depth = 0

    def formula(self) -> Term:
        term = self.sum()
        if self.position < len(self.tokens):
            self.fail("the end, or an operator")
        return term

    def fail(self, expected: str) -> NoReturn:
        rest = self.tokens[self.position :]
        place = f"at '{next(filter(None, rest[0]))}'" if rest else "at its end"
        raise LabError(
            f"cannot read the formula {place}: expected {expected}; write p, q = 1-p, numbers,"
            f" + - * / ^ and {', '.join(FUNCTIONS)}, for example exp(-5*p)"
        )

    def take(self, *signs: str) -> str | None:
        """The next token if it is one of `signs`, which is then read; else None."""
        if self.position < len(self.tokens) and self.tokens[self.position][2] in signs:
            self.position += 1
            return self.tokens[self.position - 1][2]
        return None

    def need(self, sign: str) -> None:
        """Read `sign`, or fail."""
        if not self.take(sign):
            self.fail(f"'{sign}'")

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise LabError(f"the formula is nested more than {DEEPEST} deep: write it flatter")

    def sum(self) -> Term:
        self.deeper()
        left = self.product()
        while sign := self.take("+", "-"):
            left = _applied(np.add if sign == "+" else np.subtract, left, self.product())
        self.depth -= 1
        return left

    def product(self) -> Term:
        left = self.signed()
        while sign := self.take("*", "/"):
            left = _applied(np.multiply if sign == "*" else np.divide, left, self.signed())
        return left

    def signed(self) -> Term:
        sign = self.take("+", "-")
        if not sign:
            return self.power()
        self.deeper()
        inner = self.signed()
        self.depth -= 1
        return (lambda p: -inner(p)) if sign == "-" else inner

    def power(self) -> Term:
        base = self.atom()
        return _applied(np.power, base, self.signed()) if self.take("^", "**") else base

    def atom(self) -> Term:
        if self.take("("):
            term = self.sum()
            self.need(")")
            return term
        number = name = None
        if self.position < len(self.tokens):
            number, name, _, _ = self.tokens[self.position]
        if number is not None:
            self.position += 1
            value = float(number)
            return lambda p: np.full_like(p, value)
        if name is None:
            self.fail("a number, p or a function")
        if name in NAMES:
            self.position += 1
            return NAMES[name]
        if name in FUNCTIONS:
            self.position += 1
            return self.call(*FUNCTIONS[name])
        self.fail("p, q, pi, e or a function")

    def call(self, count: int, function: Callable[..., Array]) -> Term:
        """A function's arguments in brackets, `count` of them."""
        self.need("(")
        arguments = [self.sum()]
        while len(arguments) < count:
            self.need(",")
            arguments.append(self.sum())
        self.need(")")
        return _applied(function, *arguments)


def _applied(function: Callable[..., Array], *terms: Term) -> Term:
    return lambda p: function(*(term(p) for term in terms))


@register(
    label=lambda text, zero_mean: f"w = {text}",
    citation="this lab",
    limit=lambda text, zero_mean: formula_weight(text),
    least=lambda text, zero_mean: 2 + one_of("zero_mean", zero_mean, (False, True)),
)
def formula(N: int, *, text: str, zero_mean: bool = False) -> Sequences:
    """`from_weight` of the weight written as a formula of p, for example text = 'exp(-5*p)'."""
    return from_weight(formula_weight(text), N, zero_mean=zero_mean).coefficients(N)
