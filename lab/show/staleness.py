"""What a figure is made from, as hashes: a figure whose inputs have changed since is stale. Floor
3.

The inputs are the script, the modules of the lab that it stands on, the records that it draws and,
where it shows them, the published values. Comments and docstrings do not count. Of lab.runs only
`sweep_results` counts, and files of lab.toy and lab.llm only where the script names them: what the
others do is in the records already.
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


def input_hashes(script: Path, found: Results | None = None) -> dict[str, str]:
    """The inputs of a figure by name: paths in the project, and "records" for what it draws."""
    told = {relative_name(path): _digest(_code(path)) for path in input_files(script)}
    if "lab/papers/published.py" in told:
        told |= {
            relative_name(path): _digest(path.read_text())
            for path in sorted(PUBLISHED.glob("*.csv"))
        }
    if found is not None:
        told["records"] = _digest(
            "".join(_content(table) for table in (found.metrics, found.groups))
        )
    return dict(sorted(told.items()))


def input_files(script: Path) -> list[Path]:
    """The script and every file of the lab that counts for it."""
    seen, waiting = {}, [(script, "")]
    while waiting:
        path, module = waiting.pop()
        if path in seen:
            continue
        seen[path] = module
        if module == "lab.estimators":  # which finds them by name in the catalogue
            waiting.append((ROOT / "lab" / "catalogue.py", "lab.catalogue"))
        if not module.startswith(WORLDS):
            waiting += [
                (file, other) for other in _imports(path) if (file := _file(other)) is not None
            ]
    return sorted(seen)


def relative_name(path: Path) -> str:
    """A path as it is told: from the project's folder, or its last part elsewhere."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def _file(module: str) -> Path | None:
    """The file of a module that counts, or None."""
    if module == "lab.runs":
        module = "lab.runs.sweep_results"
    if (
        module == "lab.show.staleness"
        or module.startswith("lab.runs.")
        and module != "lab.runs.sweep_results"
    ):
        return None
    path = ROOT / module.replace(".", "/")
    return next(
        (file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None
    )


def _imports(path: Path) -> Iterator[str]:
    """The modules of the lab that a file imports, anywhere in it; `lab.NAME` is the module that
    NAME comes from.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("lab."))
        elif isinstance(node, ast.ImportFrom) and node.module == "lab":
            yield from (_home().get(alias.name, f"lab.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lab."):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (
                    inner
                    if (ROOT / inner.replace(".", "/")).with_suffix(".py").exists()
                    else node.module
                )
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "lab"
        ):
            yield _home().get(node.attr, f"lab.{node.attr}")


@cache
def _home() -> dict[str, str]:
    """Where each name of `import lab` comes from."""
    tree = ast.parse((ROOT / "lab" / "__init__.py").read_text(encoding="utf-8"))
    return {
        alias.asname or alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module != "lab"
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
