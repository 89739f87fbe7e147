"""A weight w(p) written as a formula, which is parsed and never evaluated as code.

The language: p, q = 1-p, pi, e, numbers, + - * / ^ (or **), brackets, and the functions of
`FUNCTIONS`. `step(x)` is 1 for x >= 0 and 0 below. The explorer's page reads the same language
(lab/explorer/front/formula.js).
"""

import ast
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lab.errors import LabError, one_of, syntax_tree
from lab.mathematics.design import from_weight
from lab.mathematics.estimators import Sequences, register
from lab.mathematics.objectives import Objective, objective
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
OPERATORS: dict[type[ast.operator], Callable[..., Array]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
LONGEST = 200  # characters of a formula
DEEPEST = 30  # brackets inside each other, or signs before each other, as on the page
SIGNS = re.compile(r"[A-Za-z0-9 .+*/^(),-]*")
# What Python reads and the page does not.
NOT_HERE = re.compile(rf"0[xXoObB]|, *\)|//|([+-] *){{{DEEPEST + 1}}}")


def formula_weight(text: str) -> Objective:
    """The objective whose weight is the formula `text`. LabError: it names the part that is none.

    >>> formula_weight("min(2, 1/p) + q^2").weight([0.25, 1.0])
    array([2.5625, 1.    ])
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        raise LabError(
            f"formula {str(text)[:20]!r}: write text of at most {LONGEST} characters, for example"
            " exp(-5*p)"
        )
    words = " ".join(text.split())
    tree = syntax_tree(words.replace("^", "**"))
    nesting = np.cumsum([(sign == "(") - (sign == ")") for sign in words] or [0]).max()
    if tree is None or not SIGNS.fullmatch(words) or NOT_HERE.search(words) or nesting > DEEPEST:
        raise _unreadable(text)
    return replace(objective(_term(tree)), name=f"formula({text!r})", label=f"w = {text}")


def _term(node: ast.expr) -> Term:
    """The function of p that a part of the formula writes. LabError: it is none of the language."""
    match node:
        case ast.Constant(int() | float() as value) if not isinstance(value, bool):
            return lambda p: np.full_like(p, value)
        case ast.Name(name) if name in NAMES:
            return NAMES[name]
        case ast.UnaryOp(ast.UAdd(), inner):
            return _term(inner)
        case ast.UnaryOp(ast.USub(), inner):
            return _applied(np.negative, inner)
        case ast.BinOp(left, sign, right) if type(sign) in OPERATORS:
            return _applied(OPERATORS[type(sign)], left, right)
        case ast.Call(ast.Name(name), arguments, []) if name in FUNCTIONS:
            count, function = FUNCTIONS[name]
            if len(arguments) == count:
                return _applied(function, *arguments)
    raise _unreadable(ast.unparse(node))


def _applied(function: Callable[..., Array], *nodes: ast.expr) -> Term:
    terms = [_term(node) for node in nodes]
    return lambda p: function(*(term(p) for term in terms))


def _unreadable(text: str) -> LabError:
    return LabError(
        f"cannot read the formula at {text!r}: write p, q = 1-p, numbers, + - * / ^ and"
        f" {', '.join(FUNCTIONS)}, at most {DEEPEST} brackets deep, for example exp(-5*p)"
    )


@register(
    label=lambda text, zero_mean: f"w = {text}",
    citation="this lab",
    limit=lambda text, zero_mean: formula_weight(text),
    least=lambda text, zero_mean: 2 + one_of("zero_mean", zero_mean, (False, True)),
)
def formula(N: int, *, text: str, zero_mean: bool = False) -> Sequences:
    """`from_weight` of the weight written as a formula of p, for example text = 'exp(-5*p)'."""
    return from_weight(formula_weight(text), N, zero_mean=zero_mean).coefficients(N)
