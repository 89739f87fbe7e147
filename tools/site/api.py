"""The API reference: a page a module, from signatures and docstrings, which are Markdown already.

Nothing is imported: griffe reads the sources, so that no page depends on what is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import griffe

LEFT_OUT = ("lab.cli", "lab.__main__")  # `lab --help` says it better


def write(package: Path, folder: Path) -> None:
    """Write a page for each module of the package into `folder`, and api.md, which lists them."""
    folder.mkdir()
    modules = list(_modules(griffe.load(package.name, search_paths=[package.parent])))
    for module in modules:
        (folder / f"{module.path}.md").write_text("\n".join(_page(module)) + "\n")
    lines = ["# API reference", "", "| module | what it is |", "|---|---|"]
    lines += [f"| [{one.path}]({one.path}.md) | {_first_line(one)} |" for one in modules]
    lines += ["", "```{toctree}", ":hidden:", "", *(one.path for one in modules), "```"]
    (folder / "api.md").write_text("\n".join(lines) + "\n")


def _modules(module: griffe.Module) -> Iterator[griffe.Module]:
    """The modules with a docstring and public members, a package before what is in it."""
    if module.path in LEFT_OUT:
        return
    if any(_public(module)):
        yield module
    for name, member in sorted(module.members.items()):
        # `import lab.mathematics.catalogue` makes lab a member of itself, as an alias.
        if not member.is_alias and member.is_module and not name.startswith("_"):
            yield from _modules(member)


def _public(parent: griffe.Module | griffe.Class) -> Iterator[griffe.Object]:
    """The public functions and classes that are defined here, in the order of the source."""
    own = [one for one in parent.members.values() if not one.is_alias]
    for one in sorted(own, key=lambda one: one.lineno or 0):
        shown = (one.is_function or one.is_class) and one.docstring is not None
        if shown and not one.name.startswith("_"):
            yield one


def _page(module: griffe.Module) -> Iterator[str]:
    yield from (f"# {module.path}", "", _text(module), "")
    for one in _public(module):
        yield from _entry(one, "")


def _entry(one: griffe.Object, indent: str) -> Iterator[str]:
    """A function or class as a directive of Sphinx's Python domain, its methods inside."""
    kind = "class" if one.is_class else "method" if indent else "function"
    fence = "`" * (5 if one.is_class else 4)
    yield f"{fence}{{py:{kind}}} {_signature(one)}"
    if not indent:
        yield f":module: {one.parent.path}"
    yield from ("", _text(one), "")
    if one.is_class:
        for method in _public(one):
            yield from _entry(method, "    ")
    yield from (fence, "")


def _signature(one: griffe.Object) -> str:
    """The name with its parameters, without their types, which the docstrings explain."""
    if not one.is_function or "property" in one.labels:
        return one.name
    shown, star = [], False
    for parameter in one.parameters:
        if parameter.name in ("self", "cls"):
            continue
        prefix = {"variadic positional": "*", "variadic keyword": "**"}.get(
            parameter.kind.value, ""
        )
        if parameter.kind.value == "keyword-only" and not star:
            shown.append("*")
        star = star or parameter.kind.value in ("keyword-only", "variadic positional")
        default = f"={parameter.default}" if parameter.default is not None and not prefix else ""
        shown.append(f"{prefix}{parameter.name}{default}")
    return f"{one.name}({', '.join(shown)})"


def _text(one: griffe.Object) -> str:
    """The docstring, its examples fenced, so that Markdown does not take >>> for quotations."""
    lines: list[str] = []
    fenced = False
    for line in one.docstring.value.splitlines() if one.docstring else []:
        if line.startswith(">>>") and not fenced:
            lines, fenced = [*lines, "```python"], True
        elif fenced and not line.strip():
            lines, fenced = [*lines, "```"], False
        lines.append(line)
    return "\n".join([*lines, "```"] if fenced else lines)


def _first_line(one: griffe.Object) -> str:
    return one.docstring.value.split("\n\n")[0].replace("\n", " ") if one.docstring else ""
