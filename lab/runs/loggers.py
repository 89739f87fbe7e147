"""Views of a run while it trains: TensorBoard or Weights & Biases.

The file metrics.jsonl remains the record; a view only shows it, with what a step took, and
Weights & Biases also some answers of the step as the table "answers".

| view | where | package extra |
|---|---|---|
| tensorboard | event files in `tensorboard` of the run folder | `views` |
| wandb | project "lab", id of the run; offline unless logged in; WANDB_PROJECT, WANDB_ENTITY, \
WANDB_NAME, WANDB_RUN_GROUP and WANDB_MODE say otherwise | `views` |
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lab.runs.run_folder import Run
from lab.training.records import Record

VIEWS = ("", "tensorboard", "wandb")
ANSWERS = 16  # of a step, shown at each record
Show = Callable[[Record, Mapping[str, float]], None]


@contextmanager
def view(kind: str, run: Run, parameters: dict[str, Any], step: int) -> Iterator[Show]:
    """Give a function that shows a record and its times in the view `kind`; of "" it shows nothing.

    `step` is the last record that a resumed run keeps; the view gets all later records again.
    ModuleNotFoundError: the view's package is not installed (`lab.extras`).
    """
    if kind == "tensorboard":
        from torch.utils.tensorboard import SummaryWriter

        with SummaryWriter(str(run.path / "tensorboard"), purge_step=step + 1) as writer:

            def add_scalars(record: Record, times: Mapping[str, float]) -> None:
                for name, value in (record.metrics | dict(times)).items():
                    writer.add_scalar(name.replace(" ", "_"), value, record.step)

            yield add_scalars
    elif kind == "wandb":
        import wandb

        os.environ.setdefault("WANDB_SILENT", "true")
        # wandb reads its other variables itself, and refuses a mode that is none.
        mode: Any = os.environ.get("WANDB_MODE")
        if mode is None and not wandb.api.api_key:
            mode = "offline"
            print(
                "lab: not logged in to Weights & Biases, so the run is kept offline in"
                f" {run.path / 'wandb'}: wandb login before a run, or wandb sync after it",
                file=sys.stderr,
            )
        with wandb.init(
            project=os.environ.get("WANDB_PROJECT", "lab"),
            id=run.id.replace("/", "-"),
            resume="allow",
            dir=run.path,
            config=parameters,
            mode=mode,
        ) as logged:

            def log(record: Record, times: Mapping[str, float]) -> None:
                shown: dict[str, Any] = record.metrics | dict(times)
                if record.rollouts:
                    rows = zip(*record.rollouts.values(), strict=True)
                    answers = [list(row) for row, _ in zip(rows, range(ANSWERS), strict=False)]
                    shown["answers"] = wandb.Table(list(record.rollouts), answers)
                logged.log(shown, step=record.step)

            yield log
    else:
        yield lambda record, times: None
