"""A weight w(p) written as a formula: read by descent, never evaluated as code. Floor 0.

The language: p, q = 1-p, pi, e, numbers, + - * / ^ (or **), brackets, and the functions of
`FUNCTIONS`. `step(x)` is 1 from 0 on and 0 below. The explorer's page reads the same
(lab/explorer/front/formula.js).
"""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lab.design import from_weight
from lab.errors import LabError, one_of
from lab.estimators import register
from lab.objectives import Objective, objective
from lab.sequences import Array, Sequences

Term = Callable[[Array], Array]

FUNCTIONS: dict[str, tuple[int, Callable]] = {
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
LONGEST, DEEPEST = 200, 30


def formula_weight(text: str) -> Objective:
    """The objective whose weight is the formula `text`; a LabError says where reading stopped.

    >>> formula_weight("min(2, 1/p) + q^2").weight([0.25, 1.0])
    array([2.5625, 1.    ])
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        raise LabError(
            f"formula {str(text)[:20]!r}: write text of at most {LONGEST} characters, for example"
            " exp(-5*p)"
        )
    term = _Reader(text).whole()
    return replace(objective(term), name=f"formula({text!r})", label=f"w = {text}")


class _Reader:
    """One descent: sum, product, sign, power, atom."""

    def __init__(self, text: str) -> None:
        self.tokens = [match.groups() for match in TOKEN.finditer(text)]
        self.at = self.depth = 0

    def whole(self) -> Term:
        term = self.sum()
        if self.at < len(self.tokens):
            raise self.fault("the end, or an operator")
        return term

    def fault(self, wanted: str) -> LabError:
        left = self.tokens[self.at :]
        where = f"at '{next(filter(None, left[0]))}'" if left else "at its end"
        return LabError(
            f"cannot read the formula {where}: expected {wanted}; write p, q = 1-p, numbers, + - *"
            f" / ^ and {', '.join(FUNCTIONS)}, for example exp(-5*p)"
        )

    def take(self, *signs: str) -> str | None:
        if self.at < len(self.tokens) and self.tokens[self.at][2] in signs:
            self.at += 1
            return self.tokens[self.at - 1][2]
        return None

    def need(self, sign: str) -> None:
        if not self.take(sign):
            raise self.fault(f"'{sign}'")

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise LabError(f"the formula is nested more than {DEEPEST} deep: write it flatter")

    def sum(self) -> Term:
        self.deeper()
        left = self.product()
        while sign := self.take("+", "-"):
            left = _joined(np.add if sign == "+" else np.subtract, left, self.product())
        self.depth -= 1
        return left

    def product(self) -> Term:
        left = self.signed()
        while sign := self.take("*", "/"):
            left = _joined(np.multiply if sign == "*" else np.divide, left, self.signed())
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
        return _joined(np.power, base, self.signed()) if self.take("^", "**") else base

    def atom(self) -> Term:
        number, name = self.tokens[self.at][:2] if self.at < len(self.tokens) else (None, None)
        if self.take("("):
            inner = self.sum()
            self.need(")")
            return inner
        if number is None and name not in FUNCTIONS and name not in NAMES:
            raise self.fault(
                "a number, p or a function" if name is None else "p, q, pi, e or a function"
            )
        self.at += 1
        if number is not None:
            return lambda p: np.full_like(p, float(number))
        if name in NAMES:
            return NAMES[name]
        count, function = FUNCTIONS[name]
        self.need("(")
        inner = [self.sum()]
        while len(inner) < count:
            self.need(",")
            inner.append(self.sum())
        self.need(")")
        return _joined(function, *inner)


def _joined(function: Callable, *terms: Term) -> Term:
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
