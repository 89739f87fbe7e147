"""LiveCodeBench by lighteval, in an environment of its own: its command and its results."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd

from lab.errors import LabError, whole
from lab.llm.evals.harness import table

# The questions that releases 4 and 5 added: after July 2024, up to January 2025.
LIVECODEBENCH = "lcb:codegeneration"


def livecodebench_command(
    model: str | Path,
    folder: str | Path,
    tokens: int = 8192,
    temperature: float = 0.6,
    top_p: float = 0.95,
    task: str = LIVECODEBENCH,
) -> str:
    r"""The command with which lighteval and vLLM score a model on LiveCodeBench.

    Its results go to `folder`, where `read_lighteval` reads them; the lab runs no part of it.

    **It runs code that the model wrote**, and unpickles the private tests of the data. lighteval
    guards against accidents, but its guard is "NOT a security sandbox", as its own warning says:
    run it in a container that holds nothing of value, never under the account that trains.

    lighteval pins packages that the lab needs in other versions, so it takes an environment of its
    own: `python -m venv .venv-lighteval`, then
    `.venv-lighteval/bin/pip install 'lighteval[vllm]==0.13.0'`. Its metric is called
    `codegen_pass@1:16`, but according to its source it samples one answer per question. The
    questions of the task `LIVECODEBENCH` come closest to PACS's window, 7/1/2024 to 1/1/2025;
    suffixes such as `_release_v5` choose other months. The defaults of `tokens`, `temperature` and
    `top_p` are those of PACS (Table 5).

    >>> command = livecodebench_command("Qwen/Qwen3-4B", "elsewhere")
    >>> print(command.replace(" '", "\n'").replace(",", ",\n "))
    lighteval vllm
    'model_name=Qwen/Qwen3-4B,
     load_format=safetensors,
     generation_parameters={max_new_tokens:8192,
     temperature:0.6,
     top_p:0.95}'
    'lcb:codegeneration|0' --output-dir elsewhere --save-details
    """
    if re.search(r"[,={}\s]", str(model)):
        raise LabError(
            f"model = {model!r}: lighteval splits its arguments at commas, equals signs and spaces,"
            " so give a name on the hub or a path without them"
        )
    max_tokens = whole("tokens", tokens)
    sampling = f"{{max_new_tokens:{max_tokens},temperature:{temperature},top_p:{top_p}}}"
    return shlex.join(
        [
            "lighteval",
            "vllm",
            f"model_name={model},load_format=safetensors,generation_parameters={sampling}",
            f"{task}|0",
            "--output-dir",
            str(folder),
            "--save-details",
        ]
    )


def read_lighteval(folder: str | Path) -> pd.DataFrame:
    """The newest scores of each model and task in a folder of lighteval, as a `harness.table`.

    lighteval writes results/MODEL/results_DATE.json, without the number of questions. That is the
    number of rows in details/MODEL/DATE/details_TASK_DATE.parquet, which `--save-details` writes;
    otherwise it is unknown. Averages over tasks are left out, because the standard errors beside
    them are averages too. LabError: no results, or files of another format.
    """
    base = Path(folder)
    newest: dict[tuple[str, str], list[dict[str, Any]]] = {}
    paths = sorted((base / "results").glob("**/results_*.json"), key=lambda path: path.name)
    if not paths:
        raise LabError(
            f"{base} holds no results/MODEL/results_DATE.json: give the folder that lighteval wrote"
            " to (--output-dir)"
        )
    for path in paths:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            model = content["config_general"]["model_name"]
            tasks = {
                task: metrics
                for task, metrics in content["results"].items()
                if "|" in task and ":_average|" not in task
            }
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LabError(
                f"{path} is not a results file of lighteval ({error!r}): remove it, or run the"
                " command again"
            ) from error
        date = path.stem.removeprefix("results_")
        details = base / "details" / path.parent.relative_to(base / "results") / date
        for task, metrics in tasks.items():
            shared = {
                "model": model,
                "task": task,
                "n": _rows(details / f"details_{task}_{date}.parquet"),
                "shots": int(task.rpartition("|")[2]),
            }
            # Paths are sorted by date, so a newer result replaces an older one.
            newest[model, task] = [
                shared
                | {"metric": metric, "value": value, "stderr": metrics.get(f"{metric}_stderr")}
                for metric, value in metrics.items()
                if not metric.endswith("_stderr")
            ]
    return table([row for rows in newest.values() for row in rows])


def _rows(path: Path) -> int | None:
    """The number of rows of a Parquet file, None if it does not exist."""
    if not path.exists():
        return None
    import pyarrow.parquet as pq

    return pq.ParquetFile(path).metadata.num_rows
