"""Every call's array shapes checked while the tests run, in the modules of `CHECKED`.

conftest.py installs this before anything imports the lab. Only annotations with shapes are checked
(by beartype, inside jaxtyping's names for axes); all others are mypy's. A call whose arguments and
result look like those of an earlier call, in shapes, types and whole numbers, is as right as that
one: it is not checked again, which would take a third of the time of a training.
"""

import ast
import functools
import re
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from types import FunctionType

import jaxtyping
from beartype import beartype
from beartype.roar import BeartypeCallHintParamViolation

MATHEMATICS = (
    "catalogue design estimators formula groups metrics objectives pass_rates real_rewards stats"
    " weights"
).split()
CHECKED = ("lab.losses", "lab.toy", *(f"lab.mathematics.{name}" for name in MATHEMATICS))
SHAPE = re.compile(r"\b(Bool|Float|Int|Num|Shaped)\[")
functions: list[str] = []  # what is checked, by its full name


def checked(function):
    """`function` with the shapes in its signature checked at each call; others as they are.

    Where an argument has a shape that its annotation does not allow, the function may refuse it
    itself (LabError); if it does not, the violation is raised.
    """
    if not isinstance(function, FunctionType):  # a property or class method decorated before
        return function
    shapes = {
        name: hint
        for name, hint in function.__annotations__.items()
        if SHAPE.search(str(_evaluated(hint, function)))
    }
    if not shapes:
        return function
    functions.append(f"{function.__module__}.{function.__qualname__}")
    held = []  # a result that is checked after the call, instead of another one

    @functools.wraps(function)
    def once(*args, **named):
        return held.pop() if held else function(*args, **named)

    once.__annotations__ = shapes
    strict = beartype(once)

    def checked_call(*args, **named):
        from lab.errors import LabError

        try:
            return strict(*args, **named)
        except BeartypeCallHintParamViolation as violation:
            try:
                function(*args, **named)
            except LabError:
                raise
            raise violation

    checked_call = jaxtyping.jaxtyped(functools.wraps(function)(checked_call), typechecker=None)
    right = {}  # the looks of arguments: those of results that are right for them

    @functools.wraps(function)
    def call(*args, **named):
        try:
            given = look((args, named))
        except Unlimited:
            return checked_call(*args, **named)
        if given not in right:
            result = checked_call(*args, **named)
            right[given] = {look_or_none(result)}
            return result
        result = function(*args, **named)
        made = look_or_none(result)
        if made is None or made not in right[given]:
            held.append(result)
            try:
                checked_call(*args, **named)
            finally:
                held.clear()
            right[given].add(made)
        return result

    return call


class Unlimited(Exception):
    """A value that is too long to be looked at as a whole."""


def look(value):
    """All of a value that a shape in a signature can depend on."""
    kind = type(value)
    if isinstance(value, (tuple, list)):
        if len(value) > 32:
            raise Unlimited
        return kind, *map(look, value)
    if isinstance(value, dict):
        return kind, *value, look(tuple(value.values()))
    if kind is int or kind is str or kind is bool:
        return kind, value
    return kind, getattr(value, "shape", None), getattr(value, "dtype", None)


def look_or_none(value):
    try:
        return look(value)
    except Unlimited:
        return None


def _evaluated(hint, function):
    """An annotation's value, so that the shapes in an alias are seen; its text where it
    has none.
    """
    try:
        return eval(hint, function.__globals__) if isinstance(hint, str) else hint
    except NameError:  # a name that only mypy imports
        return hint


class _Loader(SourceFileLoader):
    """Loads a module with `checked` as the innermost decorator of every function."""

    def get_code(self, fullname):
        tree = ast.parse(self.get_source(fullname), self.path)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                decorator = ast.Name("__checked__", ast.Load())
                node.decorator_list.append(ast.copy_location(decorator, node))
        return compile(tree, self.path, "exec", dont_inherit=True)

    def exec_module(self, module):
        module.__checked__ = checked
        super().exec_module(module)


class _Finder:
    """Finds the modules of `CHECKED` for `_Loader`."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not any(name == one or name.startswith(f"{one}.") for one in CHECKED):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.loader.path)
        return spec


def install() -> None:
    """Check what is imported from now on; the lab must not be imported yet."""
    assert "lab" not in sys.modules
    sys.meta_path.insert(0, _Finder)
