"""Hashes of what a figure is made from: a figure whose inputs have changed since is stale.

The inputs are the script, the definitions of the lab that it reaches (see `lab.show.definitions`),
the records that it draws and, where it shows them, the published values.

A definition reaches those that it names. Estimators, objectives and looks are found by name, so
one of them counts only if its name stands in a string of the script, or of another definition from
which it can be found, or among the values of the records; a figure that lists all names reaches
all. A name that a script puts together as it runs is not seen. Of lab.runs only the class of
results counts: what else it does, and what trainers do, is already in the records. Plugins are no
part of the project's figures.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lab.runs.provenance import ROOT
from lab.shapes import Float
from lab.show.definitions import Definition, Module, names_in, parse

if TYPE_CHECKING:
    import pandas as pd

    from lab.runs.sweep_results import Results

# What every figure passes through after its script.
SAVED_BY = ("lab.show.plots.picture_files", "lab.show.plots.data_text")
RESULTS = "lab.runs.sweep_results.Results"
PUBLISHED = "lab.papers.published"


class Registry(NamedTuple):
    """A table of entries that are found by name.

    | field | meaning |
    |---|---|
    | `table` | the definition of the table; whoever names it reaches all entries, ... |
    | `readers` | ... except these, which find or enter a single one |
    | `module` | where the entries are |
    | `decorator` | what enters a function into the table; empty: the table is written as a dict |
    | `otherwise` | what stands in for an entry that an estimator or objective lacks |
    """

    table: str
    readers: tuple[str, ...]
    module: str
    decorator: str = ""
    otherwise: str = ""


REGISTRIES = (
    Registry(
        "lab.mathematics.estimators._CATALOGUE",
        ("lab.mathematics.estimators.register", "lab.mathematics.estimators._build"),
        "lab.mathematics.catalogue",
        "register",
    ),
    Registry(
        "lab.mathematics.objectives._CATALOGUE",
        ("lab.mathematics.objectives._entry", "lab.mathematics.objectives.objective"),
        "lab.mathematics.objectives",
        "_entry",
    ),
    Registry(
        "lab.show.line_styles.LINE_STYLES",
        ("lab.show.line_styles.line_style",),
        "lab.show.line_styles",
        otherwise="lab.show.line_styles.further_style",
    ),
)
TABLES = {registry.table for registry in REGISTRIES}
# What begins like this does not count where it is named.
OUTSIDE = ("lab.runs.", "lab.plugins.", *(r.otherwise for r in REGISTRIES if r.otherwise))


def input_hashes(script: Path, records: Results | None = None) -> dict[str, str]:
    """The hash of each input.

    The keys are paths in the project for files, dotted names for definitions, "look NAME" for line
    styles, and "records" for the runs.
    """
    reached = reached_by(script, records)
    inputs = {definition.name: _digest(definition.content.encode()) for definition in reached}
    if any(definition.module.name == PUBLISHED for definition in reached):
        files = sorted((ROOT / "data" / "published").glob("*.csv"))
        inputs |= {_relative_name(path): _digest(path.read_bytes()) for path in files}
    if records is not None:
        inputs["records"] = _digest(_content(records.metrics) + _content(records.groups))
    return dict(sorted(inputs.items()))


def reached_by(script: Path, records: Results | None = None) -> list[Definition]:
    """The definitions that count for a figure, first the script itself."""
    lab = _Lab()
    module = parse("", script.read_text(encoding="utf-8"))
    start = Definition(_relative_name(script), module, (module.tree,))
    found: dict[str, Definition] = {}
    waiting = [start, *(part for name in SAVED_BY for part in lab.find(name))]
    while waiting:
        definition = waiting.pop(0)
        if definition.name not in found:
            found[definition.name] = definition
            words = definition.words | (_values(records) if definition is start else set())
            waiting += lab.named_by(definition) + lab.entries_of(definition, words)
    return [definition for definition in found.values() if definition.nodes]


class _Lab:
    """The definitions of the lab as they are now; each module is read once."""

    def __init__(self) -> None:
        self._modules: dict[str, Module | None] = {}

    def find(self, name: str) -> list[Definition]:
        """The definition with this dotted name, also through imports; of a module, all of them."""
        parts = name.split(".")
        lengths = range(len(parts), 0, -1)
        inside = next((n for n in lengths if self._module(".".join(parts[:n]))), 0)
        module = self._module(".".join(parts[:inside]))
        if module is None:
            return []
        if inside == len(parts):
            return [self._definition(module, own) for own in module.statements]
        own, *attributes = parts[inside:]
        # A name may be both, as in `try: import x` and `except ImportError: x = None`.
        found = [self._definition(module, own)] if own in module.statements else []
        if own in module.imports:
            found += self.find(".".join([module.imports[own], *attributes]))
        return found

    def named_by(self, definition: Definition) -> list[Definition]:
        """The definitions that count and that are named in one, entries of registries apart."""
        found = (part for name in sorted(definition.named) for part in self.find(name))
        return [part for part in found if part.name == RESULTS or not part.name.startswith(OUTSIDE)]

    def entries_of(self, definition: Definition, words: set[str]) -> list[Definition]:
        """The entries of registries that a definition reaches; `words` are the names it holds."""
        named = {part.name for part in self.named_by(definition)}
        reached: list[Definition] = []
        for registry, entries in self._registries.items():
            if registry.table in named and definition.name not in registry.readers:
                reached += entries.values()
            elif (names := words & entries.keys()) and self._leads(definition, registry.table):
                reached += (entries[name] for name in sorted(names))
            lacking = words & self._names - entries.keys()
            if registry.otherwise and lacking and self._leads(definition, registry.table):
                reached += self.find(registry.otherwise)
        return reached

    def _leads(self, definition: Definition, table: str) -> bool:
        """Whether a table is among all that a definition reaches, entries apart."""
        waiting, seen = [definition], {definition.name}
        while waiting:
            new = {part.name: part for part in self.named_by(waiting.pop())}
            waiting += (part for name, part in new.items() if name not in seen)
            seen |= new.keys()
        return table in seen

    @cached_property
    def _registries(self) -> dict[Registry, dict[str, Definition]]:
        """The entries of each registry, by their names and aliases."""
        return {registry: dict(self._entries(registry)) for registry in REGISTRIES}

    @property
    def _names(self) -> set[str]:
        """The names of all entries of all registries."""
        return {name for entries in self._registries.values() for name in entries}

    def _entries(self, registry: Registry) -> Iterator[tuple[str, Definition]]:
        module = self._module(registry.module)
        assert module is not None
        if registry.decorator:
            for name, nodes in module.statements.items():
                for alias in _registered_as(nodes[0], registry.decorator):
                    yield alias, self._definition(module, name)
            return
        (table,) = module.statements[registry.table.rpartition(".")[2]]
        assert isinstance(table, ast.Assign) and isinstance(table.value, ast.Dict)
        for key, value in zip(table.value.keys, table.value.values, strict=True):
            name = ast.literal_eval(key) if key else ""
            yield name, Definition(f"look {name}", module, (value,))

    def _definition(self, module: Module, name: str) -> Definition:
        full_name = f"{module.name}.{name}"
        # Of a registry's table only the entries count, so the table itself is empty.
        nodes = () if full_name in TABLES else module.statements[name]
        return Definition(full_name, module, nodes)

    def _module(self, name: str) -> Module | None:
        """A module of the lab; None if there is none of this name."""
        if name not in self._modules:
            path = ROOT / name.replace(".", "/")
            files = (path.with_suffix(".py"), path / "__init__.py")
            ours = (file for file in files if name.startswith("lab") and file.exists())
            file = next(ours, None)
            self._modules[name] = parse(name, file.read_text(encoding="utf-8")) if file else None
        return self._modules[name]


def _registered_as(statement: ast.stmt, decorator: str) -> list[str]:
    """The name of a function and its aliases, if it is one that the decorator registers."""
    if not isinstance(statement, ast.FunctionDef):
        return []
    for node in statement.decorator_list:
        called, aliases = (node.func, node.args) if isinstance(node, ast.Call) else (node, [])
        if isinstance(called, ast.Name) and called.id == decorator:
            return [statement.name, *map(ast.literal_eval, aliases)]
    return []


def _values(records: Results | None) -> set[str]:
    """The names among the texts of the records: estimators and objectives, others besides."""
    if records is None:
        return set()
    tables = [
        table.select_dtypes(["object", "string"]) for table in (records.metrics, records.groups)
    ]
    texts = {value for table in tables for column in table for value in table[column].unique()}
    return {name for text in texts for name in names_in(str(text))}


def _relative_name(path: Path) -> str:
    """A path relative to the project's folder; elsewhere only its last part."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def _content(table: pd.DataFrame) -> bytes:
    """The columns of a table; of numbers that are not whole, 10 digits, as in a figure's data."""
    import pandas as pd

    parts = []
    for name, column in table.items():
        parts.append(f"{name}\n".encode())
        if pd.api.types.is_float_dtype(column):
            parts.append(_rounded(column.to_numpy(np.float64)).astype("<f8").tobytes())
        else:
            codes, distinct = pd.factorize(column)
            parts += ["\n".join(map(str, distinct)).encode(), codes.astype("<i8").tobytes()]
    return b"".join(parts)


def _rounded(values: Float[np.ndarray, " rows"]) -> Float[np.ndarray, " rows"]:
    """The nearest numbers of 33 bits; 33 bits are 10 decimal digits."""
    mantissa, exponent = np.frexp(values)
    rounded = np.ldexp(np.rint(np.ldexp(mantissa, 33)), exponent - 33)
    # There is more than one nan, and zero has a sign.
    return np.where(np.isnan(values), np.nan, rounded + 0.0)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
