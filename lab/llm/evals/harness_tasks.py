"""Find, check and load tasks: those of lm-evaluation-harness and the lab's own.

A task that could run text as code, whether of a model or from the hub, is refused before its data
or code is touched.
"""

from __future__ import annotations

import ast
import difflib
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.errors import LabError

LAB_TASKS = Path(__file__).parents[2] / "presets" / "tasks"
# Functions and options that run a text or fetched code.
UNSAFE_NAMES = {
    "exec",
    "eval",
    "parse_expr",
    "sympify",
    "system",
    "popen",
    "trust_remote_code",
}
# Modules that run programs or code; `evaluate` fetches the code of its metrics.
UNSAFE_MODULES = {"subprocess", "pickle", "evaluate"}


def task_file(task: str) -> Path:
    """The YAML file of a task of the lab or the harness, after all checks that need no data.

    LabError: an unknown task; a task that runs text as code or fetches code.
    """
    from lab.llm.engines.imports import transformers

    transformers()
    import lm_eval

    own_path = lab_task(task)
    if own_path:
        return own_path
    root = Path(lm_eval.__file__).resolve().parent / "tasks"
    path = _defining_file(task, root)
    reason = _unsafe(path, root)
    if reason:
        raise LabError(
            f"task {task!r} {reason}, and the lab runs neither text as code nor fetched code: take"
            " a task that compares answers, or run this one with the harness itself, in a sandbox"
        )
    return path


def lab_task(task: str) -> Path | None:
    """The YAML file of one of the lab's own tasks, None for other names."""
    return next((path for path in LAB_TASKS.glob("*.yaml") if path.stem == task), None)


def _defining_file(task: str, root: Path) -> Path:
    """The file under `root` that defines a task."""
    # Most files have the name of their task, so those are searched first.
    files = sorted(root.rglob("*.yaml"), key=lambda path: (path.stem != task, path))
    line = re.compile(
        rf"""^["']?task["']?: *["']?{re.escape(task)}["']?\s*$""".encode(), re.MULTILINE
    )
    for path in files:
        if line.search(path.read_bytes()):
            return path
    known = {path.stem for path in (*files, *LAB_TASKS.glob("*.yaml"))} - {task}
    near = difflib.get_close_matches(task, known, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise LabError(
        f"unknown task {task!r}: {hint}Name single tasks, not groups; `lm-eval ls tasks` lists them"
    )


def _unsafe(path: Path, root: Path) -> str:
    """Why a task must not be run, or "": its own mark, or what its Python files use."""
    from lm_eval.api.registry import METRIC_REGISTRY
    from lm_eval.tasks._yaml_loader import load_yaml

    # Unresolved, functions stay the text of their location, and nothing is imported.
    config = load_yaml(path, resolve_func=False)
    if config.get("unsafe_code"):
        return "is marked unsafe_code: it runs what the model wrote"
    # A task with process_results computes its metrics itself; metric_list only names them.
    metrics = () if config.get("process_results") else config.get("metric_list") or ()
    for metric in metrics:
        known = metric["metric"] in METRIC_REGISTRY or metric["metric"].startswith(str(root))
        if metric.get("hf_evaluate") or not known:
            return f"fetches the code of its metric {metric['metric']!r}"
    for file in _python_files(json.dumps(config, default=str, ensure_ascii=False), root):
        for node in ast.walk(ast.parse(file.read_bytes())):
            unsafe = _unsafe_names(node)
            if unsafe:
                return f"brings {file.relative_to(root)}, which uses {min(unsafe)}"
    return ""


def _unsafe_names(node: ast.AST) -> set[str]:
    """The unsafe modules and functions that a node of the syntax tree names."""
    match node:
        case ast.Import(names=aliases):
            return {alias.name.split(".")[0] for alias in aliases} & UNSAFE_MODULES
        case ast.ImportFrom(module=module, names=aliases):
            modules = {(module or "").split(".")[0]} & UNSAFE_MODULES
            return modules | {alias.name for alias in aliases} & UNSAFE_NAMES
        case ast.Name(id=name):
            return {name} & UNSAFE_NAMES
        case ast.keyword(arg=str(option)):
            return {option} & UNSAFE_NAMES
        case ast.Attribute(attr=name):
            # model.eval() and cursor.execute-like exec() methods run no text.
            return {name} & UNSAFE_NAMES - {"eval", "exec"}
    return set()


def _python_files(text: str, root: Path) -> Iterator[Path]:
    """All Python files that a task may use, from the text of its configuration.

    These are the files beside the functions that the text names, and beside the modules of other
    tasks that those files import.
    """
    named = re.findall(rf'"({re.escape(str(root))}[^"]*)"', text)
    waiting = {Path(name).parent for name in named} | _imported_folders(text, root)
    visited: set[Path] = set()
    while waiting:
        folder = waiting.pop()
        visited.add(folder)
        for file in sorted(folder.glob("*.py")):
            yield file
            waiting |= _imported_folders(file.read_text(encoding="utf-8"), root) - visited


def _imported_folders(text: str, root: Path) -> set[Path]:
    """The folders of the task modules that a text names in full."""
    modules = re.findall(r"lm_eval\.tasks\.([\w.]+)", text)
    paths = [root.joinpath(*module.split(".")) for module in modules]
    # The last part of a name may be a package, a module or a function in it.
    folders = {folder for path in paths for folder in (path, path.parent)}
    return {folder for folder in folders if folder != root and folder.is_dir()}


def load_task(task: str, path: Path) -> Any:
    """The task with its data. LabError: the data could not be loaded."""
    import datasets
    from lm_eval.tasks import TaskManager
    from lm_eval.tasks._yaml_loader import load_yaml

    from lab.llm.engines.base import error_line

    definition: str | dict[str, Any] = str(path)
    if path.parent == LAB_TASKS:
        # The lab reads the rows of its own tasks, so that nothing is copied into a cache.
        config = load_yaml(path)
        split = config["test_split"]
        file = path.with_name(config["dataset_kwargs"]["data_files"]["test"])
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        config["custom_dataset"] = lambda **_: {split: datasets.Dataset.from_list(rows)}
        definition = config
    random.seed(0)  # as the harness does; GPQA shuffles its choices while loading
    try:
        return TaskManager(include_defaults=False).load([definition])["tasks"][task]
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        raise LabError(
            f"task {task!r} was not loaded ({error_line(error)}): check the network; if its data is"
            " gated, as that of GPQA is, accept the terms on the hub and run `hf auth login`"
        ) from error
