"""What a module defines, and what each definition names, read from the source without running it.

A definition is what a name at the top of a module stands for: a function, a class, a constant.
Comments, layout, docstrings and the types of arguments and results are no part of it.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, *FUNCTIONS)


@dataclass(frozen=True, eq=False)
class Module:
    """A module of the lab, or a script outside it, which has the name ""."""

    name: str
    tree: ast.Module

    @cached_property
    def imports(self) -> dict[str, str]:
        """The imported names, with what each stands for: {"np": "numpy"}."""
        return dict(_imported(self.tree))

    @cached_property
    def statements(self) -> dict[str, tuple[ast.stmt, ...]]:
        """The defined names, with the statements that define each or may change it."""
        defined = set().union(*map(_defined, self.tree.body))
        statements: dict[str, tuple[ast.stmt, ...]] = {}
        for statement in self.tree.body:
            for name in _defined(statement) | (_changed(statement) & defined):
                statements[name] = (*statements.get(name, ()), statement)
        return statements


class Definition(NamedTuple):
    """A part of a module that counts as one; of a script, the whole of it."""

    name: str
    module: Module
    nodes: tuple[ast.AST, ...]

    @property
    def content(self) -> str:
        """The syntax as text."""
        return "\n".join(map(_text, self.nodes))

    @property
    def named(self) -> set[str]:
        """The dotted names of what it names in other places: "lab.stats.bootstrap", "numpy.pi"."""
        return {name for node in self.nodes for name in _named(node, self.module)}

    @property
    def words(self) -> set[str]:
        """The names in its strings, see `names_in`."""
        return {name for node in self.nodes for text in _texts(node) for name in names_in(text)}


@cache
def parse(name: str, source: str) -> Module:
    """The module called `name` with this source; the same source is read once."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, WITH_DOCSTRINGS) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, FUNCTIONS):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return Module(name, tree)


@cache
def names_in(text: str) -> frozenset[str]:
    """The names in a text that is an expression, such as a spec; none if it is anything else.

    >>> sorted(names_in("rl + 0.5 * truncated(order=2)")), sorted(names_in("the rl objective"))
    (['rl', 'truncated'], [])
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return frozenset()
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that are imported anywhere in a node, with what each stands for."""
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            for alias in part.names:
                first = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (first, first)
        elif isinstance(part, ast.ImportFrom):
            for alias in part.names:
                yield alias.asname or alias.name, f"{part.module}.{alias.name}"


def _defined(statement: ast.stmt) -> set[str]:
    """The names that a statement at the top of a module defines, also within a condition."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return {statement.name}
    inner = [node for node in ast.walk(statement) if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    return {node.name for node in inner} | {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _changed(statement: ast.stmt) -> set[str]:
    """The names that a statement at the top may change: X in X["a"] = 1, in a loop, in a call.

    It may change all that it names, unless it is an import or does no more than define names.
    """
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return set()
    if isinstance(statement, ast.Assign | ast.AnnAssign) and _defined(statement):
        return set()
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


@cache
def _named(node: ast.AST, module: Module) -> frozenset[str]:
    """The dotted names of what a node names: imported, or defined by its module."""
    own = {name: f"{module.name}.{name}" for name in module.statements if module.name}
    inside = dict(_imported(node))
    meaning = module.imports | own | inside
    known = meaning.keys() & (_global_names(node) | inside.keys())
    return frozenset(
        ".".join([meaning[first], *attributes])
        for first, *attributes in _chains(node)
        if first in known
    )


def _chains(node: ast.AST) -> Iterator[list[str]]:
    """Every name in a node, with the attributes that follow it: ["plots", "line_style"]."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.insert(0, node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        yield [node.id, *attributes]
    else:
        for child in ast.iter_child_nodes(node):
            yield from _chains(child)


def _global_names(node: ast.AST) -> set[str]:
    """The names that a node reads from its module: not those of arguments and local variables."""
    tables = [symtable.symtable(ast.unparse(node), "", "exec")]
    names: set[str] = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        at_top = table.get_type() == "module"
        names.update(
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (at_top or symbol.is_global())
        )
    return names


@cache
def _texts(node: ast.AST) -> tuple[str, ...]:
    """The strings in a node; in those that are formatted, 0 stands for every value."""
    texts = []
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            texts.append(part.value)
        elif isinstance(part, ast.JoinedStr):
            pieces = (
                piece.value if isinstance(piece, ast.Constant) else 0 for piece in part.values
            )
            texts.append("".join(map(str, pieces)))
    return tuple(texts)


@cache
def _text(node: ast.AST) -> str:
    """A node as text. Empty fields are left out, for later versions of Python add new ones."""

    def write(value: Any) -> Any:
        if isinstance(value, ast.AST):
            fields = ((name, write(part)) for name, part in ast.iter_fields(value))
            return [type(value).__name__, *(pair for pair in fields if pair[1] not in (None, []))]
        return [write(part) for part in value] if isinstance(value, list) else value

    return repr(write(node))
