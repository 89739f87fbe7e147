"""How far runs are, on a terminal: one bar of tqdm, with the steps and a metric of what runs.

All is read from metrics.jsonl in the run folders, which grows by a line at each record. So the same
bar serves a notebook's kernel, the processes of a sweep and the nodes of a cluster, and nothing is
shown that is not on disk. Where the output is no terminal, nothing is drawn.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lab.configurations import Config
from lab.runs.experiments import experiment
from lab.runs.run_folder import Run

SECONDS = 0.5  # between two drawings
TAIL = 1 << 16  # bytes of metrics.jsonl that hold its last line
FORMAT = "{desc}{percentage:3.0f}% {bar:10} {elapsed}<{remaining} {postfix}"


def total_steps(config: Config) -> int | None:
    """The steps of a training, or of a start; None if its trainer counts none."""
    settings = config.settings()
    return settings.get("steps", settings.get("start_steps"))


def described(config: Config) -> str:
    """Experiment, estimator and learning rate."""
    settings = config.settings()
    label = f"{config.name} {settings.get('estimator', '')}".strip()
    rate = settings.get("learning_rate")
    return label if rate is None else f"{label}, learning rate {rate:g}"


class Watch:
    """How far one run is, by the last line of its metrics.jsonl; it changes nothing.

    A training that starts from another one is watched from the start of that one. `cell` is what
    whoever executes a notebook tells: the cell that runs, and how many there are.
    """

    def __init__(self, config: Config) -> None:
        self.label = described(config)
        self.cell: tuple[int, int] | None = None
        chosen = experiment(config.name)
        trainings = {"": config} if chosen.trainer else {}
        if chosen.before is not None:
            trainings["start: "] = chosen.before.part_of(config)
        self._trainings = [
            (name, Run.of(part).path / "metrics.jsonl", total_steps(part))
            for name, part in trainings.items()
        ]

    def look(self) -> tuple[float, str]:
        """The share of the work that is done, in [0, 1], without that of a start; and its words."""
        share, words = 0.0, []
        for name, file, total in self._trainings:
            if record := _last_record(file):
                step = record.pop("step")
                share = min(1.0, step / total) if total and not name else 0.0
                words = [f"{name}step {step}" + (f"/{total}" if total else "")]
                words += [f"{key} {value:.3g}" for key, value in list(record.items())[:1]]
                break
        if self.cell is not None:
            words.append(f"cell {self.cell[0]}/{self.cell[1]}")
            if not self._trainings:
                share = (self.cell[0] - 1) / self.cell[1]
        return share, ", ".join([self.label, *words])


class Progress:
    """A bar over `total` runs, drawn again and again while a `with` statement runs.

    `begin` and `end` say which run is worked on; `finished` of them were before. The time left is
    tqdm's, as if all runs took as long as those so far. The bar is gone at the end.
    """

    def __init__(self, name: str, total: int = 1, finished: int = 0) -> None:
        self._running: dict[Path, Watch] = {}
        self._total, self._finished, self._failed = total, finished, 0
        self._name = name
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._bar: tqdm[Any] | None = None
        self._thread = threading.Thread(target=self._draw, daemon=True)

    def __enter__(self) -> Progress:
        if on_terminal():
            self._bar = tqdm(
                total=self._total,
                initial=self.done,
                desc=self._name,
                bar_format=FORMAT,
                smoothing=0,
                dynamic_ncols=True,
                leave=False,
            )
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._over.set()
            self._thread.join()
            self._bar.close()

    @property
    def done(self) -> float:
        """Runs' worth of work that is done."""
        with self._lock:
            return self._finished + sum(watch.look()[0] for watch in self._running.values())

    @property
    def words(self) -> str:
        """How many runs have finished, if there are several, and what those that run are at."""
        with self._lock:
            parts = [f"{self._finished} of {self._total} runs"] if self._total > 1 else []
            parts += [f"{self._failed} failed"] if self._failed else []
            return "; ".join(parts + [watch.look()[1] for watch in self._running.values()])

    def begin(self, run: Run, watch: Watch) -> None:
        """A process for this run starts, perhaps where an earlier one was interrupted."""
        with self._lock:
            self._running[run.path] = watch

    def end(self, run: Run) -> None:
        """Its process has ended; nothing changes if it was never started."""
        with self._lock:
            if self._running.pop(run.path, None) is not None:
                self._finished += run.finished
                self._failed += not run.finished

    @staticmethod
    def say(line: str) -> None:
        """Print a line that stays, above the bar if there is one, on standard error."""
        tqdm.write(line, file=sys.stderr)
        sys.stderr.flush()

    def _draw(self) -> None:
        assert self._bar is not None
        while not self._over.wait(SECONDS):
            self._bar.n = self.done
            self._bar.set_postfix_str(self.words)


def on_terminal() -> bool:
    """Whether somebody looks on: standard output and standard error are a terminal."""
    return sys.stdout.isatty() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _last_record(path: Path) -> dict[str, Any] | None:
    """The last complete line of metrics.jsonl; None if there is none yet."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            complete = file.read().splitlines(keepends=True)
        return json.loads([line for line in complete if line.endswith(b"\n")][-1])
    except (OSError, ValueError, IndexError):  # of a damaged file the command itself complains
        return None
