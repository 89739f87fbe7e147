"""Hashes of what a figure is made from: a figure whose inputs have changed since is stale.

The inputs are the script, the modules of the lab that it imports (directly or through others), the
records that it draws and, where it shows them, the published values. Changes of comments and
docstrings do not count. Of lab.runs only `sweep_results` counts, and files of lab.toy and lab.llm
only if the script itself imports them: what the other files do is already in the records.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lab.runs.provenance import ROOT

if TYPE_CHECKING:
    import pandas as pd

    from lab.runs.sweep_results import Results

PUBLISHED = ROOT / "data" / "published"
WORLDS = ("lab.toy", "lab.llm")


def input_hashes(script: Path, records: Results | None = None) -> dict[str, str]:
    """The hash of each input: keys are paths in the project, and "records" for the runs."""
    inputs = {relative_name(path): _digest(_code(path)) for path in input_files(script)}
    if "lab/papers/published.py" in inputs:
        inputs |= {
            relative_name(path): _digest(path.read_text())
            for path in sorted(PUBLISHED.glob("*.csv"))
        }
    if records is not None:
        inputs["records"] = _digest(_content(records.metrics) + _content(records.groups))
    return dict(sorted(inputs.items()))


def input_files(script: Path) -> list[Path]:
    """The script and all files of the lab that count as its inputs."""
    seen: set[Path] = set()
    waiting = [(script, "")]
    while waiting:
        path, module = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        # lab.estimators finds estimators by name in the catalogue, without importing it.
        if module == "lab.estimators":
            waiting.append((ROOT / "lab" / "catalogue.py", "lab.catalogue"))
        # What a trainer imports is not followed: its results are in the records.
        if module.startswith(WORLDS):
            continue
        for imported in _imports(path):
            if (file := _file(imported)) is not None:
                waiting.append((file, imported))
    return sorted(seen)


def relative_name(path: Path) -> str:
    """A path relative to the project's folder; elsewhere only its last part."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def _file(module: str) -> Path | None:
    """The file of a module, or None if it does not count or has no file."""
    if module == "lab.runs":
        module = "lab.runs.sweep_results"
    if module == "lab.show.staleness":
        return None
    if module.startswith("lab.runs.") and module != "lab.runs.sweep_results":
        return None
    path = ROOT / module.replace(".", "/")
    return next(
        (file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None
    )


def _imports(path: Path) -> Iterator[str]:
    """The modules of the lab that a file imports, anywhere in it.

    For `lab.NAME` it is the module that defines NAME.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("lab."))
        elif isinstance(node, ast.ImportFrom):
            package = node.module or ""
            for alias in node.names:
                if package == "lab":
                    yield _home().get(alias.name, f"lab.{alias.name}")
                elif package.startswith("lab."):
                    # The imported name is a module of the package, or something that it defines.
                    module = f"{package}.{alias.name}"
                    file = (ROOT / module.replace(".", "/")).with_suffix(".py")
                    yield module if file.exists() else package
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "lab"
        ):
            yield _home().get(node.attr, f"lab.{node.attr}")


@cache
def _home() -> dict[str, str]:
    """The module that defines each name of `import lab`."""
    tree = ast.parse((ROOT / "lab" / "__init__.py").read_text(encoding="utf-8"))
    return {
        alias.asname or alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "lab"
        for alias in node.names
    }


def _code(path: Path) -> str:
    """A file's code without comments, docstrings and layout."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _content(table: pd.DataFrame) -> str:
    return f"{list(table.columns)}\n{table.to_csv(index=False)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
