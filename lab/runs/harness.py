"""Scores of models on public benchmarks, by lm-evaluation-harness 0.4.13.

The tasks are those of `lab.llm.evals.harness_tasks`: GPQA, arithmetic, and others that bring no
code, since no text of a model is run as code. Sets of problems, judged by the lab's own verifier,
are for `lab eval` (`lab.runs.model_evaluation`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lab.errors import LabError, one_of, whole
from lab.extras import missing
from lab.llm.engines.factory import ENGINES
from lab.llm.engines.models import model_folder
from lab.llm.evals.harness_tasks import (
    LAB_TASKS,
    evaluate,
    lab_task,
    load_model,
    load_task,
    task_file,
)
from lab.mathematics.stats import compare
from lab.runs.contents import digest, model_digest
from lab.runs.model_evaluation import result_name
from lab.runs.provenance import installed_version
from lab.runs.run_folder import write_json
from lab.training.rng import generators_restored

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
    chat: bool = False,
    generation: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Scores of a model on tasks of lm-evaluation-harness, one row per metric: `COLUMNS`.

    | argument | meaning |
    |---|---|
    | `model`, `engine` | as in `lab.llm.engines.factory.load_engine`, which `lab eval` uses too |
    | `output` | the folder of results, one JSON file per task; existing results are read back |
    | `limit` | only the first `limit` questions of each task |
    | `chat` | questions as turns of the model's chat template |
    | `generation` | how to generate answers, if a task needs them: {"max_gen_toks": 8192, ...} |

    `scores` holds the score of each question, where that is a number; `differences` pairs them. A
    result file belongs to the weights, the task and all settings. All tasks are checked before the
    model is loaded. LabError: an unknown task, or one that brings code; data that could not be
    loaded; the errors of `engine`.
    """
    one_of("engine", engine, ENGINES)
    if isinstance(tasks, str) or not tasks:
        raise LabError(
            f"tasks = {tasks!r}: give a list of one or more names, for example"
            " ['gpqa_diamond_zeroshot']"
        )
    if not installed_version("lm_eval"):
        raise missing("lm_eval")
    folder, name = model_folder(model)
    settings: dict[str, Any] = {
        "model": name,
        "weights": model_digest(folder),
        "engine": engine,
        "harness": installed_version("lm_eval"),
        "chat": chat,
        "limit": None if limit is None else whole("limit", limit),
        "generation": dict(generation or {}),
    }
    own = digest([path.read_text() for path in sorted(LAB_TASKS.iterdir())])
    files = {
        task: Path(output)
        / f"{result_name(name, task, [settings, task, own if lab_task(task) else ''])}.json"
        for task in tasks
    }
    waiting = {task: task_file(task) for task, file in files.items() if not file.exists()}
    log = logging.getLogger("lm_eval")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with generators_restored():  # the harness seeds every global one
            loaded = {task: load_task(task, path) for task, path in waiting.items()}
            harness_model = load_model(engine, folder) if loaded else None
            for task, data in loaded.items():
                rows = evaluate(harness_model, data, limit, chat, settings["generation"])
                files[task].parent.mkdir(parents=True, exist_ok=True)
                write_json(files[task], {"settings": settings, "rows": rows})
    finally:
        log.setLevel(level)
    return _table([row for file in files.values() for row in _read(file)])


def _table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A table with the columns `COLUMNS`, from rows without low and high; see `CAPTION`."""
    frame = pd.DataFrame(rows, columns=COLUMNS)
    frame = frame.astype({"value": float, "stderr": float, "n": "Int64", "shots": "Int64"})
    # A standard error of 0 comes from equal scores and says nothing about the interval.
    margin = TWO_SIDED * frame["stderr"].where(frame["stderr"] > 0)
    return frame.assign(low=frame["value"] - margin, high=frame["value"] + margin)


def differences(table: pd.DataFrame) -> pd.DataFrame:
    """Every model against the first one, paired by question, with 95% intervals.

    Pairing (`lab.stats.compare`) removes what is hard or easy for both models, so there may be a
    difference where the two intervals overlap. Only metrics with `scores` are compared. LabError:
    two models with the same name; different numbers of questions for one task.
    """
    base = table["model"].iloc[0]
    scored = table[table["scores"].notna()]
    result = []
    for (task, metric), rows in scored.groupby(["task", "metric"], sort=False):
        repeated = rows["model"][rows["model"].duplicated()]
        if len(repeated):
            raise LabError(
                f"two models are called {repeated.iloc[0]!r}, by the last part of their paths: give"
                " their folders different names"
            )
        scores = rows.set_index("model")["scores"]
        for model in scores.index.drop(base) if base in scores else ():
            found = compare(scores[model], scores[base]).difference
            ends = found.point, found.low, found.high
            result.append((model, base, task, metric, *ends, found.n["problems"]))
    columns = ["model", "against", "task", "metric", "difference", "low", "high", "n"]
    return pd.DataFrame(result, columns=columns)


def _read(path: Path) -> list[dict[str, Any]]:
    """The rows of a result file, with the model's name. LabError: the file is damaged."""
    try:
        content = json.loads(path.read_text())
        return [{"model": content["settings"]["model"], **row} for row in content["rows"]]
    except (ValueError, KeyError, TypeError) as error:
        raise LabError(
            f"{path} cannot be read ({error!r}): remove it, and the task is run again"
        ) from error
