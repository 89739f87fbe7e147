"""Views of a run for those who watch: TensorBoard or Weights & Biases. metrics.jsonl stays the
truth. Floor 3.

| view | where | what it needs |
|---|---|---|
| tensorboard | event files in the run folder's `tensorboard`, for tensorboard --logdir runs | `views` |
| wandb | a run of the project "lab" under our run's id; offline unless WANDB_MODE says online | `views` |
"""

from __future__ import annotations

import os
from typing import Any

from lab.errors import LabError, one_of
from lab.records import Record
from lab.runs.run_folder import Run

VIEWS = ("", "tensorboard", "wandb")


class View:
    """Where records are shown as they come; `kind` "" shows them nowhere. Use it in a `with`.

    `step`: the last record that a resumed run keeps; what a view has beyond is told again.
    """

    def __init__(self, kind: str, run: Run, parameters: dict[str, Any], step: int) -> None:
        self.kind, self.run, self.parameters, self.step = (
            one_of("view", kind, VIEWS),
            run,
            parameters,
            step,
        )

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
                self.writer = wandb.init(
                    project="lab",
                    id=self.run.id.replace("/", "-"),
                    resume="allow",
                    dir=self.run.path,
                    config=self.parameters,
                    mode=os.environ.get("WANDB_MODE", "offline"),
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
