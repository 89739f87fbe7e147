"""Training into a run folder: records written as they come, state saved, exact resume. Floor 3."""

from __future__ import annotations

import json
import math
import os
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from lab.errors import LabError, one_of, real
from lab.records import Pause, Record
from lab.runs.experiments import Experiment, experiment
from lab.runs.loggers import VIEWS, View
from lab.runs.readiness import (
    LEAST_SECONDS,
    LONGEST_HOURS,
    TIMES_THE_WRITING,
    require_ready,
)
from lab.runs.run_folder import Run, write_atomically
from lab.termination import Request, Terminated, stopping_after_a_step

MINUTES = "LAB_CHECKPOINT_MINUTES"  # says it for this process and those that it starts


def train(
    name: str,
    *,
    folder: str = "",
    scale: str = "laptop",
    checkpoint_minutes: float | None = None,
    view: str = "",
    price: float = 0.0,
    max_hours: float = LONGEST_HOURS,
    **parameters: Any,
) -> Run:
    """Train an experiment into its run folder and return it; a finished run is not done again.

    `folder` is where `lab run` wants it, and then `lab run` marks it finished after the notebook's
    last cell. Where `folder` is empty the place follows from the parameters, and the run is
    finished here. A run that was killed goes on from its newest checkpoint and gives the records
    that it would have given. What the experiment starts from is a run of its own, EXPERIMENT_start,
    trained first where it has not been. Of several processes that a launcher such as torchrun
    starts for one training, the first writes and the others only work. `view`: one of
    `lab.runs.loggers`, which shows the records as they come. At a GPU scale the machine is looked
    at first (`lab.runs.readiness`), with `price` and `max_hours`.

    `checkpoint_minutes`: minutes between checkpoints, 0 for one after every step; without it what
    the environment variable LAB_CHECKPOINT_MINUTES says, else 20 seconds, or 20 times as long as
    the last one took to write if that is longer. SIGTERM lets the step under way end, writes a
    checkpoint and raises `lab.termination.Terminated`.
    """
    one_of("view", view, VIEWS)
    pace = Pace(checkpoint_minutes if checkpoint_minutes is not None else _minutes())
    chosen = experiment(name)
    if not chosen.trainer:
        raise LabError(f"{name} trains nothing: use lab run {name}")
    values = chosen.parameters(scale, parameters)
    run = Run(Path(folder)) if folder else Run.place(name, values)
    if not run.finished:
        estimate = require_ready(
            chosen,
            scale,
            values,
            price=price,
            max_hours=max_hours,
            checkpoint_minutes=checkpoint_minutes,
        )
        if estimate and leads():
            print(estimate, flush=True)
    run = run.open(name, scale, values)
    if not leads():
        if not run.finished:
            _follow(run, chosen, values)
        return run
    _complete(run, chosen, values, scale, pace, view, finish=not folder)
    return run


def _minutes() -> float | None:
    """What the environment says of `checkpoint_minutes`; None where it says nothing."""
    text = os.environ.get(MINUTES, "")
    try:
        return float(text) if text else None
    except ValueError:
        raise LabError(
            f"{MINUTES} = {text!r}: it must be a number of minutes, such as 15"
        ) from None


class Pace:
    """When a checkpoint is due: `minutes` after the last; where that is None, as writing allows."""

    def __init__(self, minutes: float | None) -> None:
        self.seconds = None if minutes is None else 60 * real("checkpoint_minutes", minutes, 0)
        self.begin()

    def begin(self) -> None:
        """Count from now; nothing was written yet."""
        self._last, self._writing = time.monotonic(), 0.0

    def wrote(self, began: float) -> None:
        """A checkpoint was written just now, from `began` on."""
        self._last = time.monotonic()
        self._writing = self._last - began

    @property
    def due(self) -> bool:
        wanted = self.seconds
        if wanted is None:
            wanted = max(LEAST_SECONDS, TIMES_THE_WRITING * self._writing)
        return time.monotonic() - self._last >= wanted


def leads() -> bool:
    """Whether this process writes: the only one, or the first that torchrun or the like started."""
    return os.environ.get("RANK", "0") == "0"


def _follow(run: Run, chosen: Experiment, values: dict[str, Any]) -> None:
    """Train as a process that does not write, and stop when all agree to."""
    state, _ = load_checkpoint(run)
    with stopping_after_a_step() as request, closing(chosen.train(values, state)) as trainer:
        for _ in trainer:
            _let_go(state)
            if request.due:
                raise Terminated


def _let_go(state: dict[str, Any] | None) -> None:
    """Forget the tensors of a checkpoint, which the trainer has put back by now.

    They are mapped from a file, and a disk keeps a mapped file though it is dropped: beside the
    next two it would be a third. The trainer's frames hold the dictionary, so it is emptied.
    """
    if state:
        state.clear()


def _complete(
    run: Run,
    chosen: Experiment,
    values: dict[str, Any],
    scale: str,
    pace: Pace,
    view: str,
    finish: bool,
) -> None:
    """Train what is not finished, after what it starts from; `finish` writes done.json."""
    with run.lock("train"):
        if run.finished:
            return
        start = {}
        if (before := chosen.before) is not None:
            kept = {key: values[key] for key in before.rules}
            earlier = start_of(chosen, values).open(before.name, scale, kept)
            _complete(earlier, before, kept, scale, pace, view, finish=True)
            start = {"start": state_of(earlier)}
        began = time.monotonic()
        with stopping_after_a_step() as request:
            _continue(run, chosen, values, pace, view, start, request)
        if finish:
            run.finish(time.monotonic() - began)


def _continue(
    run: Run,
    chosen: Experiment,
    values: dict[str, Any],
    pace: Pace,
    view: str,
    start: dict[str, Any],
    request: Request,
) -> None:
    _drop_drafts(run)
    checkpoints = _Checkpoints(run)
    state, step = checkpoints.load()
    checkpoints.forget_records_after()
    groups = _Groups(run, step)
    pace.begin()
    last: Record | Pause | None = None
    with (
        open(run.path / "metrics.jsonl", "a") as metrics,
        _bar(chosen, values) as bar,
        View(view, run, values, step) as shown,
        closing(chosen.train(values, state, **start)) as trainer,
    ):

        def save(told: Record | Pause) -> None:
            began = time.monotonic()
            groups.write()
            os.fsync(metrics.fileno())  # a checkpoint is never ahead of the records
            checkpoints.save(told)
            pace.wrote(began)

        bar.update(max(step, 0))
        for told in trainer:
            _let_go(state)
            if told.step > step:  # else the checkpoint's own, told again on resume
                last = told
                if isinstance(told, Record):
                    metrics.write(_line(told))
                    metrics.flush()
                    checkpoints.count(told)
                    shown.add(told)
                    groups.add(told)
                    bar.set_postfix(
                        {key: f"{value:.3g}" for key, value in list(told.metrics.items())[:3]},
                        refresh=False,
                    )
                bar.update(told.step - bar.n)
                if pace.due or request.due:
                    save(told)
            if request.due:
                raise Terminated(
                    f"stopped by SIGTERM at step {told.step}, checkpoint written; the same command "
                    "goes on from here"
                )
        if isinstance(last, Pause) or (last is None and step < 0):
            raise LabError(
                f"{chosen.name} gave no record: a trainer must yield at least its last step"
            )
        if last is not None and last.step != checkpoints.step:
            save(last)


def _bar(chosen: Experiment, values: dict[str, Any]) -> tqdm:
    total = values.get("steps", values.get("start_steps"))
    return tqdm(
        total=total,
        desc=f"{chosen.name} {values.get('estimator', '')}",
        unit="step",
        mininterval=0.5,
        leave=False,
        disable=None,
    )


def _line(record: Record) -> str:
    bad = [key for key, value in record.metrics.items() if not math.isfinite(value)]
    if bad:
        raise LabError(
            f"{bad[0]} = {record.metrics[bad[0]]} at step {record.step}: training diverged, "
            "lower the learning rate or look at the last checkpoint"
        )
    return (
        json.dumps(
            {"step": record.step} | {key: float(value) for key, value in record.metrics.items()}
        )
        + "\n"
    )


class _Groups:
    """The rows of groups.parquet, rewritten whole at a checkpoint: none is ever half-written."""

    def __init__(self, run: Run, step: int) -> None:
        import pandas as pd

        self.path = run.path / "groups.parquet"
        self.tables = []
        self.changed = False
        if self.path.exists() and step >= 0:
            kept = pd.read_parquet(self.path)
            self.tables.append(kept[kept["step"] <= step])
            self.changed = len(self.tables[0]) < len(kept)

    def add(self, record: Record) -> None:
        import pandas as pd

        if record.groups:
            table = pd.DataFrame(record.groups)
            table.insert(0, "step", record.step)
            self.tables.append(table)
            self.changed = True

    def write(self) -> None:
        import pandas as pd

        if self.changed:
            self.tables = [pd.concat(self.tables, ignore_index=True)]
            write_atomically(self.path, self.tables[0].to_parquet(index=False))
            self.changed = False


class _Checkpoints:
    """checkpoints/step-NNNNNNNN.safetensors: one file, and a second only while it is written.

    Each says how many records came before it and which was the last, so that lost ones are missed.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.step = -1  # of the newest; -1 where there is none
        self.about: dict[str, str] = {}  # what it says about itself
        self.records, self.last_record = (
            0,
            -1,
        )  # how many are in metrics.jsonl, and the step of the last

    def load(self) -> tuple[dict[str, Any] | None, int]:
        """State and step of the newest; one before it, which a kill left, is dropped."""
        state, self.step, self.about = _newest(self.run)
        self._drop_older()
        return state, self.step

    def _drop_older(self) -> None:
        for path in _checkpoints(self.run)[:-1]:
            path.unlink()

    def forget_records_after(self) -> None:
        """Drop the records that came after the newest checkpoint: they will be told again.

        LabError: those that came before it are not all there.
        """
        path = self.run.path / "metrics.jsonl"
        kept = [record for record in self.run.records() if record["step"] <= self.step]
        self.records = len(kept)
        self.last_record = kept[-1]["step"] if kept else -1
        # A checkpoint of an earlier version says nothing, and was always that of a record.
        records = int(self.about.get("records", self.records))
        last = int(self.about.get("last_record", self.step))
        if self.step >= 0 and (self.records, self.last_record) != (records, last):
            raise LabError(
                f"{path} holds {self.records} records up to step {self.step}, and the checkpoint "
                f"of that step was written after {records}, the last of step {last}: bring the "
                "file back, or remove the run folder and run it again"
            )
        write_atomically(path, "".join(json.dumps(record) + "\n" for record in kept))

    def count(self, record: Record) -> None:
        """Note a record that was written into metrics.jsonl."""
        self.records += 1
        self.last_record = record.step

    def save(self, told: Record | Pause) -> None:
        """Write the state of now, then drop the checkpoint before it."""
        from lab.checkpoint import save_tensors

        folder = self.run.path / "checkpoints"
        folder.mkdir(exist_ok=True)
        newest = folder / f"step-{told.step:08d}.safetensors"
        save_tensors(
            newest,
            told.state(),
            {"records": str(self.records), "last_record": str(self.last_record)},
        )
        self.step = told.step
        self._drop_older()


def start_of(name: str | Experiment, values: dict[str, Any]) -> Run:
    """The run that an experiment starts from: the same for all that agree in what that takes."""
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
    """(state, step) of the newest checkpoint, (None, -1) where there is none.

    The tensors are mapped from the file: what is not used is not read.
    """
    return _newest(run)[:2]


def _newest(run: Run) -> tuple[dict[str, Any] | None, int, dict[str, str]]:
    """State, step and what the newest checkpoint says about itself."""
    from safetensors import SafetensorError, safe_open

    paths = _checkpoints(run)
    if not paths:
        return None, -1, {}
    try:
        with safe_open(paths[-1], "pt") as file:
            state = {name: file.get_tensor(name) for name in file.keys()}
            about = file.metadata() or {}
    except SafetensorError as error:
        raise LabError(
            f"{paths[-1]} cannot be read ({error}): remove the run folder and run it again"
        ) from error
    return state, int(paths[-1].stem.removeprefix("step-")), about


def _checkpoints(run: Run) -> list[Path]:
    return sorted((run.path / "checkpoints").glob("step-*.safetensors"))


def _drop_drafts(run: Run) -> None:
    """Remove what a kill left half-written beside the files of training."""
    for kind in ("checkpoints/.step-*", ".groups.parquet.*", ".metrics.jsonl.*"):
        for draft in run.path.glob(kind):
            draft.unlink()
