"""LiveCodeBench through lighteval, in an environment of its own: the command, and the numbers it
leaves. Floor 2.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pandas as pd

from lab.errors import LabError, whole
from lab.llm.evals.harness import table

LIVECODEBENCH = (  # what releases 4 and 5 added: after July 2024, up to January 2025
    "lcb:codegeneration"
)


def livecodebench_command(
    model: str | Path,
    folder: str | Path,
    tokens: int = 8192,
    temperature: float = 0.6,
    top_p: float = 0.95,
    task: str = LIVECODEBENCH,
) -> str:
    r"""The command by which lighteval scores a model on LiveCodeBench, with vLLM; its results go to
    `folder`.

    **It runs what the model wrote**, and unpickles the private tests of the data. lighteval guards
    against accidents, but its guard is "NOT a security sandbox", as its own warning says: run it in
    a container with nothing to lose, never under the account that trains. The lab only composes the
    command, and `read_lighteval` reads its numbers.

    lighteval pins packages that the lab has in other versions, so it takes an environment of its
    own: `python -m venv .venv-lighteval && .venv-lighteval/bin/pip install
    'lighteval[vllm]==0.13.0'`. Its metric is called `codegen_pass@1:16`, and yet one answer a
    question is drawn (read in its source). `LIVECODEBENCH` is the task whose questions come nearest
    to PACS's window, 7/1/2024 to 1/1/2025; suffixes such as `_release_v5` choose other months.
    `tokens`, `temperature` and `top_p` as PACS evaluates (Table 5).

    >>> print(livecodebench_command("Qwen/Qwen3-4B", "elsewhere").replace(" '", "\n'"))
    lighteval vllm
    'model_name=Qwen/Qwen3-4B,load_format=safetensors,generation_parameters={max_new_tokens:8192,temperature:0.6,top_p:0.95}'
    'lcb:codegeneration|0' --output-dir elsewhere --save-details
    """
    if re.search(r"[,={}\s]", str(model)):
        raise LabError(
            f"model = {model!r}: lighteval splits its arguments at commas, signs of equality and"
            " spaces, so give a name of the hub or a path without them"
        )
    drawn = f"{{max_new_tokens:{whole('tokens', tokens)},temperature:{temperature},top_p:{top_p}}}"
    return shlex.join(
        [
            "lighteval",
            "vllm",
            f"model_name={model},load_format=safetensors,generation_parameters={drawn}",
            f"{task}|0",
            "--output-dir",
            str(folder),
            "--save-details",
        ]
    )


def read_lighteval(folder: str | Path) -> pd.DataFrame:
    """The scores that lighteval left in a folder, as `run` gives them, the newest of each model and
    task.

    lighteval writes results/MODEL/results_DATE.json, without the number of questions; that is the
    number of rows in details/MODEL/DATE/details_TASK_DATE.parquet, which `--save-details` leaves,
    and unknown without it. Its averages over tasks are left out: the standard errors beside them
    are averages too. LabError: no results, or other files.
    """
    base, found = Path(folder), {}
    paths = sorted((base / "results").glob("**/results_*.json"), key=lambda path: path.name)
    if not paths:
        raise LabError(
            f"{base} holds no results/MODEL/results_DATE.json: give the folder that lighteval wrote"
            " to (--output-dir)"
        )
    for path in paths:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            name, scores = content["config_general"]["model_name"], content["results"]
            tasks = {
                task: metrics
                for task, metrics in scores.items()
                if "|" in task and ":_average|" not in task
            }
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LabError(
                f"{path} is no results file of lighteval ({error!r}): remove it, or run its command"
                " again"
            ) from error
        date = path.stem.removeprefix("results_")
        details = base / "details" / path.parent.relative_to(base / "results") / date
        for task, metrics in tasks.items():
            same = {
                "model": name,
                "task": task,
                "n": _length(details / f"details_{task}_{date}.parquet"),
                "shots": int(task.rpartition("|")[2]),
            }
            found[name, task] = [
                same | {"metric": metric, "value": value, "stderr": metrics.get(f"{metric}_stderr")}
                for metric, value in metrics.items()
                if not metric.endswith("_stderr")
            ]
    return table([row for rows in found.values() for row in rows])


def _length(path: Path) -> int | None:
    if not path.exists():
        return None
    import pyarrow.parquet as pq

    return pq.ParquetFile(path).metadata.num_rows
