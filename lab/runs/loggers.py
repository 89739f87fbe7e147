"""Views of a run while it trains: TensorBoard or Weights & Biases.

The file metrics.jsonl remains the record; a view only shows it.

| view | where | package extra |
|---|---|---|
| tensorboard | event files in `tensorboard` of the run folder | `views` |
| wandb | project "lab", id of the run; offline unless WANDB_MODE says otherwise | `views` |
"""

from __future__ import annotations

import os
from typing import Any

from lab.errors import LabError, one_of
from lab.runs.run_folder import Run
from lab.training.records import Record

VIEWS = ("", "tensorboard", "wandb")


class View:
    """Shows records as they come; the `kind` "" shows nothing. Use it in a `with` statement.

    `step` is the last record that a resumed run keeps; the view gets all later records again.
    """

    def __init__(self, kind: str, run: Run, parameters: dict[str, Any], step: int) -> None:
        self.kind = one_of("view", kind, VIEWS)
        self.run = run
        self.parameters = parameters
        self.step = step
        self.writer: Any = None  # a SummaryWriter or a run of wandb

    def __enter__(self) -> View:
        try:
            if self.kind == "tensorboard":
                from torch.utils.tensorboard import SummaryWriter

                self.writer = SummaryWriter(
                    str(self.run.path / "tensorboard"), purge_step=self.step + 1
                )
            if self.kind == "wandb":
                import wandb

                os.environ.setdefault("WANDB_SILENT", "true")
                mode: Any = os.environ.get("WANDB_MODE", "offline")  # wandb refuses what is none
                self.writer = wandb.init(
                    project="lab",
                    id=self.run.id.replace("/", "-"),
                    resume="allow",
                    dir=self.run.path,
                    config=self.parameters,
                    mode=mode,
                )
        except ImportError as error:
            raise LabError(
                f"the view {self.kind} needs a package that is missing: "
                "pip install -c constraints.txt -e '.[views]'"
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self.kind == "tensorboard":
            self.writer.close()
        if self.kind == "wandb":
            self.writer.finish()

    def add(self, record: Record) -> None:
        """Show one record."""
        if self.kind == "tensorboard":
            for name, value in record.metrics.items():
                self.writer.add_scalar(name.replace(" ", "_"), value, record.step)
        if self.kind == "wandb":
            self.writer.log(record.metrics, step=record.step)
