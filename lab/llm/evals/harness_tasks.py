"""The tasks of lm-evaluation-harness and ours beside them: found, checked and loaded. Floor 2.

A task that could run text as code, a model's or a hub's, is refused before its data or code is
touched.
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

OURS = Path(__file__).parents[2] / "presets" / "tasks"
NAMES = {
    "exec",
    "eval",
    "parse_expr",
    "sympify",
    "system",
    "popen",
    "trust_remote_code",
}  # run text, or fetched code
MODULES = {"subprocess", "pickle", "evaluate"}  # the last fetches the code of its metrics


def definition(task: str) -> Path:
    """The YAML file of a task, ours or the harness's, after every check that needs neither its data
    nor its code.
    """
    from lab.llm.engines.imports import transformers

    transformers()
    import lm_eval

    if path := ours(task):
        return path
    root = Path(lm_eval.__file__).resolve().parent / "tasks"
    path = _found(task, root)
    if reason := _danger(path, root):
        raise LabError(
            f"task {task!r} {reason}, and the lab runs neither text as code nor fetched code: take"
            " a task that compares answers, or run this one with the harness itself, in a sandbox"
        )
    return path


def ours(task: str) -> Path | None:
    return next((path for path in OURS.glob("*.yaml") if path.stem == task), None)


def _found(task: str, root: Path) -> Path:
    """The file that defines a task; most have its name, and those are looked into first."""
    files = sorted(root.rglob("*.yaml"), key=lambda path: (path.stem != task, path))
    line = re.compile(
        rf"""^["']?task["']?: *["']?{re.escape(task)}["']?\s*$""".encode(), re.MULTILINE
    )
    for path in files:
        if line.search(path.read_bytes()):
            return path
    known = {path.stem for path in (*files, *OURS.glob("*.yaml"))} - {task}
    near = difflib.get_close_matches(task, known, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise LabError(
        f"unknown task {task!r}: {hint}Name single tasks, not groups; `lm-eval ls tasks` lists them"
    )


def _danger(path: Path, root: Path) -> str:
    """Why a task is not run, or nothing: its mark, or what the Python files that it brings name."""
    from lm_eval.api.registry import METRIC_REGISTRY
    from lm_eval.tasks._yaml_loader import load_yaml

    config = load_yaml(
        path, resolve_func=False
    )  # functions stay text: where they are, and nothing is imported
    if config.get("unsafe_code"):
        return "is marked unsafe_code: it runs what the model wrote"
    for metric in () if config.get("process_results") else config.get("metric_list") or ():
        known = metric["metric"] in METRIC_REGISTRY or metric["metric"].startswith(str(root))
        if metric.get("hf_evaluate") or not known:
            return f"fetches the code of its metric {metric['metric']!r}"
    for file in _brought(json.dumps(config, default=str, ensure_ascii=False), root):
        for node in ast.walk(ast.parse(file.read_bytes())):
            match node:
                case ast.Import(names=names):
                    found = {name.name.split(".")[0] for name in names} & MODULES
                case ast.ImportFrom(module=module, names=names):
                    found = {(module or "").split(".")[0]} & MODULES | {
                        name.name for name in names
                    } & NAMES
                case ast.Name(id=name) | ast.keyword(arg=name):
                    found = {name} & NAMES
                case ast.Attribute(attr=name):
                    found = {name} & NAMES - {"eval", "exec"}  # of a model, of a data base
                case _:
                    continue
            if found:
                return f"brings {file.relative_to(root)}, which uses {min(found)}"
    return ""


def _brought(text: str, root: Path) -> Iterator[Path]:
    """Every Python file beside a function that a task's text names, and beside those of other tasks
    they import.
    """
    todo = {
        Path(one).parent for one in re.findall(rf'"({re.escape(str(root))}[^"]*)"', text)
    } | _imported(text, root)
    done: set[Path] = set()
    while todo:
        done.add(folder := todo.pop())
        for file in sorted(folder.glob("*.py")):
            yield file
            todo |= _imported(file.read_text(encoding="utf-8"), root) - done


def _imported(text: str, root: Path) -> set[Path]:
    """The folders of the modules of tasks that a text names in full."""
    names = [
        root.joinpath(*name.split(".")) for name in re.findall(r"lm_eval\.tasks\.([\w.]+)", text)
    ]
    return {
        folder
        for name in names
        for folder in (name, name.parent)
        if folder != root and folder.is_dir()
    }


def load(task: str, path: Path) -> Any:
    """The task with its data."""
    import datasets
    from lm_eval.tasks import TaskManager
    from lm_eval.tasks._yaml_loader import load_yaml

    from lab.llm.engines.base import error_line

    asked: str | dict[str, Any] = str(path)
    if path.parent == OURS:  # its rows are read here: nothing is copied into a cache
        asked = load_yaml(path)
        split, file = (
            asked["test_split"],
            path.with_name(asked["dataset_kwargs"]["data_files"]["test"]),
        )
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        asked["custom_dataset"] = lambda **_: {split: datasets.Dataset.from_list(rows)}
    random.seed(0)  # as the harness does: GPQA's choices are put in order on loading
    try:
        return TaskManager(include_defaults=False).load([asked])["tasks"][task]
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        raise LabError(
            f"task {task!r} was not loaded ({error_line(error)}): check the network; where its data is"
            " gated, as GPQA's is, accept the terms on the hub and say `hf auth login`"
        ) from error
