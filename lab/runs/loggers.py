"""Views of a run while it trains: TensorBoard or Weights & Biases.

The file metrics.jsonl remains the record; a view only shows it.

| view | where | package extra |
|---|---|---|
| tensorboard | event files in `tensorboard` of the run folder | `views` |
| wandb | project "lab", id of the run; offline unless WANDB_MODE says otherwise | `views` |
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lab.runs.run_folder import Run
from lab.training.records import Record

VIEWS = ("", "tensorboard", "wandb")


@contextmanager
def view(
    kind: str, run: Run, parameters: dict[str, Any], step: int
) -> Iterator[Callable[[Record], None]]:
    """Give a function that shows a record in the view `kind`; of "" it shows nothing.

    `step` is the last record that a resumed run keeps; the view gets all later records again.
    ModuleNotFoundError: the view's package is not installed (`lab.extras`).
    """
    if kind == "tensorboard":
        from torch.utils.tensorboard import SummaryWriter

        with SummaryWriter(str(run.path / "tensorboard"), purge_step=step + 1) as writer:

            def add_scalars(record: Record) -> None:
                for name, value in record.metrics.items():
                    writer.add_scalar(name.replace(" ", "_"), value, record.step)

            yield add_scalars
    elif kind == "wandb":
        import wandb

        os.environ.setdefault("WANDB_SILENT", "true")
        mode: Any = os.environ.get("WANDB_MODE", "offline")  # wandb refuses what is none
        with wandb.init(
            project="lab",
            id=run.id.replace("/", "-"),
            resume="allow",
            dir=run.path,
            config=parameters,
            mode=mode,
        ) as logged:
            yield lambda record: logged.log(record.metrics, step=record.step)
    else:
        yield lambda record: None
