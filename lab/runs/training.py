"""Training into a run folder: records written as they come, state saved, exact resume. Floor 3."""

from __future__ import annotations

import json
import math
import os
import time
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from lab.errors import LabError, one_of
from lab.records import Record
from lab.runs.experiments import Experiment, experiment
from lab.runs.readiness import LONGEST_HOURS, require_ready
from lab.runs.store import Run, write_atomically
from lab.runs.views import VIEWS, View

CHECKPOINT_SECONDS = 20.0


def train(name: str, *, folder: str = "", scale: str = "laptop", checkpoint_seconds: float = CHECKPOINT_SECONDS,
          view: str = "", price: float = 0.0, max_hours: float = LONGEST_HOURS, **parameters: Any) -> Run:
    """Train an experiment into its run folder and return it; what is finished already is not done again.

    `folder` is where `lab run` wants it, and then `lab run` marks it finished after the notebook's last cell.
    Where `folder` is empty the place follows from the parameters, and the run is finished here. A run that
    was killed goes on from its newest checkpoint and gives the records that it would have given. What the experiment
    starts from is a run of its own, EXPERIMENT_start, trained first where it has not been. Of several processes that
    a launcher such as torchrun starts for one training, the first writes and the others only work. `view`: one of
    `lab.runs.views`, which shows the records as they come. At a GPU scale the machine is looked at first
    (`lab.runs.readiness`), with `price` and `max_hours`.
    """
    one_of("view", view, VIEWS)
    chosen = experiment(name)
    if not chosen.trainer:
        raise LabError(f"{name} trains nothing: use lab run {name}")
    values = chosen.parameters(scale, parameters)
    run = Run(Path(folder)) if folder else Run.place(name, values)
    if not run.finished:
        estimate = require_ready(chosen, scale, values, price=price, max_hours=max_hours)
        if estimate and leads():
            print(estimate, flush=True)
    run = run.open(name, scale, values)
    if not leads():
        if not run.finished:
            for _ in chosen.train(values, load_checkpoint(run)[0]):
                pass
        return run
    _complete(run, chosen, values, scale, checkpoint_seconds, view, finish=not folder)
    return run


def leads() -> bool:
    """Whether this is the process that writes: the only one, or the first of those of a launcher such as torchrun."""
    return os.environ.get("RANK", "0") == "0"


def _complete(run: Run, chosen: Experiment, values: dict[str, Any], scale: str, checkpoint_seconds: float,
              view: str, finish: bool) -> None:
    """Train what is not finished, after the training that it starts from; `finish` writes done.json."""
    with run.lock("train"):
        if run.finished:
            return
        start = {}
        if (before := chosen.before) is not None:
            kept = {key: values[key] for key in before.rules}
            earlier = start_of(chosen, values).open(before.name, scale, kept)
            _complete(earlier, before, kept, scale, checkpoint_seconds, view, finish=True)
            start = {"start": state_of(earlier)}
        began = time.monotonic()
        _continue(run, chosen, values, checkpoint_seconds, view, start)
        if finish:
            run.finish(time.monotonic() - began)


def _continue(run: Run, chosen: Experiment, values: dict[str, Any], checkpoint_seconds: float, view: str,
              start: dict[str, Any]) -> None:
    _drop_drafts(run)
    state, step = load_checkpoint(run)
    _forget_after(run, step)
    groups = _Groups(run, step)
    last, saved = None, time.monotonic()
    with (open(run.path / "metrics.jsonl", "a") as metrics, _bar(chosen, values) as bar,
          View(view, run, values, step) as shown):
        bar.update(max(step, 0))
        for record in chosen.train(values, state, **start):
            if record.step <= step:  # the checkpoint's own record, told again on resume
                continue
            metrics.write(_line(record))
            metrics.flush()
            shown.add(record)
            groups.add(record)
            bar.update(record.step - bar.n)
            bar.set_postfix({key: f"{value:.3g}" for key, value in list(record.metrics.items())[:3]}, refresh=False)
            last = record
            if time.monotonic() - saved > checkpoint_seconds:
                groups.write()
                os.fsync(metrics.fileno())  # a checkpoint is never ahead of the records
                save_checkpoint(run, record)
                saved = time.monotonic()
    if last is not None:
        groups.write()
        save_checkpoint(run, last)
    elif step < 0:
        raise LabError(f"{chosen.name} gave no record: a trainer must yield at least its last step")


def _bar(chosen: Experiment, values: dict[str, Any]) -> tqdm:
    total = values.get("steps", values.get("start_steps"))
    return tqdm(total=total, desc=f"{chosen.name} {values.get('objective', '')}", unit="step", mininterval=0.5,
                leave=False, disable=None)


def _line(record: Record) -> str:
    bad = [key for key, value in record.metrics.items() if not math.isfinite(value)]
    if bad:
        raise LabError(f"{bad[0]} = {record.metrics[bad[0]]} at step {record.step}: training diverged, "
                       "lower the learning rate or look at the last checkpoint")
    return json.dumps({"step": record.step} | {key: float(value) for key, value in record.metrics.items()}) + "\n"


class _Groups:
    """The rows of groups.parquet, rewritten whole at every checkpoint so that a kill leaves none half-written."""

    def __init__(self, run: Run, step: int) -> None:
        import pandas as pd
        self.path = run.path / "groups.parquet"
        self.tables = []
        if self.path.exists() and step >= 0:
            kept = pd.read_parquet(self.path)
            self.tables.append(kept[kept["step"] <= step])

    def add(self, record: Record) -> None:
        import pandas as pd
        if record.groups:
            table = pd.DataFrame(record.groups)
            table.insert(0, "step", record.step)
            self.tables.append(table)

    def write(self) -> None:
        import pandas as pd
        if self.tables:
            self.tables = [pd.concat(self.tables, ignore_index=True)]
            write_atomically(self.path, self.tables[0].to_parquet(index=False))


def save_checkpoint(run: Run, record: Record) -> None:
    """Save the record's state as checkpoints/step-NNNNNNNN.safetensors and drop the older ones."""
    from safetensors.torch import save
    folder = run.path / "checkpoints"
    folder.mkdir(exist_ok=True)
    newest = folder / f"step-{record.step:08d}.safetensors"
    write_atomically(newest, save({key: value.contiguous() for key, value in record.state().items()}))
    for path in _checkpoints(run):
        if path != newest:
            path.unlink()


def start_of(name: str | Experiment, values: dict[str, Any]) -> Run:
    """The run that an experiment with these parameters starts from: the same for all that agree in what it takes."""
    chosen = experiment(name) if isinstance(name, str) else name
    if (before := chosen.before) is None:
        raise LabError(f"{chosen.name} starts from nothing: its preset has no [start]")
    return Run.place(before.name, {key: values[key] for key in before.rules})


def state_of(run: Run) -> dict[str, Any]:
    """The tensors of a run's newest checkpoint, by name."""
    state, _ = load_checkpoint(run)
    if state is None:
        raise LabError(f"{run.path} has no checkpoint: train it first")
    return state


def load_checkpoint(run: Run) -> tuple[dict[str, Any] | None, int]:
    """(state, step) of the newest checkpoint, (None, -1) where there is none."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    paths = _checkpoints(run)
    if not paths:
        return None, -1
    try:
        return load_file(paths[-1]), int(paths[-1].stem.removeprefix("step-"))
    except SafetensorError as error:
        raise LabError(f"{paths[-1]} cannot be read ({error}): remove the run folder and run it again") from error


def _checkpoints(run: Run) -> list[Path]:
    return sorted((run.path / "checkpoints").glob("step-*.safetensors"))


def _drop_drafts(run: Run) -> None:
    """Remove what a kill left half-written beside the files of training."""
    for kind in ("checkpoints/.step-*", ".groups.parquet.*", ".metrics.jsonl.*"):
        for draft in run.path.glob(kind):
            draft.unlink()


def _forget_after(run: Run, step: int) -> None:
    """Drop the records that came after the checkpoint: they will be told again."""
    kept = [json.dumps(record) + "\n" for record in run.records() if record["step"] <= step]
    write_atomically(run.path / "metrics.jsonl", "".join(kept))
