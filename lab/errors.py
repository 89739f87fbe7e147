"""What the lab says when it refuses: one sentence with what was found, where, and what to do. Floor
0.
"""

import ast
import difflib
import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any


class LabError(ValueError):
    """A refusal with a cure. The command line prints its sentence alone and exits with 1."""


def unknown(kind: str, name: str, valid: Iterable[str]) -> LabError:
    """The error for a name that is not in `valid`; it names the nearest one that is.

    >>> print(unknown("objective", "maxlr", ["rl", "ml", "maxrl"]))
    unknown objective 'maxlr': did you mean 'maxrl'? Valid: maxrl, ml, rl
    """
    valid = sorted(valid)
    near = difflib.get_close_matches(name, valid, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return LabError(f"unknown {kind} {name!r}: {hint}Valid: {', '.join(valid) or 'none'}")


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """Read `name` or `name(key=literal, ...)`; nothing is evaluated beyond literals.

    >>> parse_call("grpo(ddof=1, eps=1e-6)")
    ('grpo', {'ddof': 1, 'eps': 1e-06})
    """
    cure = (
        f"cannot read {text!r}: write a name, or name(option=value, ...), for example grpo(ddof=1)"
    )
    if not isinstance(text, str):
        raise LabError(cure)
    if text.isidentifier():
        return text, {}
    try:
        node = ast.parse(text, mode="eval").body
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args):
            raise LabError(cure)
        names = [k.arg for k in node.keywords]  # None for **, which literals cannot fill
        if None in names or len(set(names)) < len(names):
            raise LabError(cure)
        return node.func.id, {k.arg: ast.literal_eval(k.value) for k in node.keywords}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise LabError(cure) from error


def write_call(name: str, options: dict[str, Any]) -> str:
    """The inverse of `parse_call`.

    >>> write_call("truncated", {"order": 8})
    'truncated(order=8)'
    """
    return name if not options else f"{name}({', '.join(f'{k}={v!r}' for k, v in options.items())})"


def whole(name: str, value: Any, least: int = 1) -> int:
    """`value` as an int, refused unless it is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise LabError(f"{name} = {value!r}: it must be a whole number of at least {least}")
    return int(value)


def real(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """`value` as a float, refused unless it is finite and in [low, high]."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Real)
        or not (math.isfinite(value) and low <= value <= high)
    ):
        raise LabError(f"{name} = {value!r}: it must be a finite number in [{low:g}, {high:g}]")
    return float(value)


def one_of(name: str, value: Any, choices: tuple) -> Any:
    """`value`, refused unless it is one of `choices`."""
    if value not in choices:
        raise LabError(f"{name} = {value!r}: it must be one of {', '.join(map(repr, choices))}")
    return value
