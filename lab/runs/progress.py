"""How far runs are and how long they will take.

On a terminal there is one bar of tqdm, with the steps and a metric of what runs. All is read from
metrics.jsonl in the run folders, which grows by a line at each record. So the same bar serves a
notebook's kernel, the processes of a sweep and the nodes of a cluster, and nothing is shown that is
not on disk. Where the output is no terminal, nothing is drawn. A long training says after its first
steps how long the others will take, on a terminal or not.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.configurations import Config
from lab.runs.experiments import experiment
from lab.runs.run_folder import Run
from lab.training.records import Pause, Record

SECONDS = 0.5  # between two drawings
TAIL = 1 << 16  # bytes of metrics.jsonl that hold its last line
MEASURED = 3  # steps, at least; the one before them compiles and allocates
MEASURED_SECONDS = 10.0  # at least: a GPU may be some steps behind
LEAST = 60.0  # seconds; of a training that takes less nothing is said
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
        share, words = 0.0, [self.label]
        for name, file, total in self._trainings:
            if record := _last_record(file):
                step = record.pop("step")
                share = min(1.0, step / total) if total and not name else 0.0
                words += [f"{name}step {step}" + (f"/{total}" if total else "")]
                words += [f"{key} {value:.3g}" for key, value in list(record.items())[:1]]
                break
        if self.cell is not None:
            number, cells = self.cell
            words.append(f"cell {number}/{cells}")
            if not self._trainings:
                share = (number - 1) / cells
        return share, ", ".join(words)


class Progress:
    """A bar over `total` runs, drawn again and again while a `with` statement runs.

    `begin` and `end` say which run is worked on; `finished` of them were before. The time left is
    tqdm's, as if all runs took as long as those so far. The bar is gone at the end.
    """

    def __init__(self, name: str, total: int = 1, finished: int = 0) -> None:
        self._name, self._total = name, total
        self._finished, self._failed = finished, 0
        self._running: dict[Path, Watch] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._draw)

    def __enter__(self) -> Progress:
        if sys.stdout.isatty() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def begin(self, run: Run, watch: Watch) -> None:
        """A process for this run starts, perhaps where an earlier one was interrupted."""
        self._running[run.path] = watch

    def end(self, run: Run) -> None:
        """Its process has ended; nothing changes if it was never started."""
        if self._running.pop(run.path, None) is not None:
            self._finished += run.finished
            self._failed += not run.finished

    def look(self) -> tuple[float, str]:
        """Runs' worth of work that is done; how many have finished, and what the others are at."""
        watches = [watch.look() for watch in list(self._running.values())]
        words = [f"{self._finished} of {self._total} runs"] if self._total > 1 else []
        words += [f"{self._failed} failed"] if self._failed else []
        words += [of_run for _, of_run in watches]
        return self._finished + sum(share for share, _ in watches), "; ".join(words)

    @staticmethod
    def say(line: str) -> None:
        """Print a line that stays, above the bar if there is one, on standard error."""
        from tqdm import tqdm

        tqdm.write(line, file=sys.stderr)
        sys.stderr.flush()

    def _draw(self) -> None:
        from tqdm import tqdm

        with tqdm(
            total=self._total,
            initial=self._finished,
            desc=self._name,
            bar_format=FORMAT,
            smoothing=0,
            dynamic_ncols=True,
            leave=False,
        ) as bar:
            while not self._over.wait(SECONDS):
                bar.n, words = self.look()
                bar.set_postfix_str(words)


def _last_record(path: Path) -> dict[str, Any] | None:
    """The last complete line of metrics.jsonl; None if there is none yet."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            complete = file.read().splitlines(keepends=True)
        return json.loads([line for line in complete if line.endswith(b"\n")][-1])
    except (OSError, ValueError, IndexError):  # of a damaged file the command itself complains
        return None


def announced(outputs: Iterator[Record | Pause], config: Config) -> Iterator[Record | Pause]:
    """The outputs of a trainer; prints once, after the first steps, how long the others will take.

    A step takes the median of those measured, an evaluation what the first one took.
    """
    settings = config.settings()
    steps = settings.get("steps", settings.get("start_steps", 0))
    log_every = settings.get("log_every", settings.get("start_log_every", steps + 1))
    evaluation, seconds = 0.0, []
    began, said = time.monotonic(), False
    for number, output in enumerate(outputs):
        spent = time.monotonic() - began
        if number == 0 and isinstance(output, Record):
            evaluation = spent
        elif number > 1 and (isinstance(output, Pause) or log_every == 1):
            seconds.append(spent)
        if not said and len(seconds) >= MEASURED and sum(seconds) >= MEASURED_SECONDS:
            said = True
            step, left = statistics.median(seconds), steps - output.step
            evaluations = 0 if log_every == 1 else -(-left // log_every)
            rest = left * step + evaluations * evaluation
            if rest >= LEAST:
                print(
                    f"about {duration(rest)} left, measured in the first steps: {left:,} steps of"
                    f" {duration(step)}, {evaluations} evaluations of {duration(evaluation)}",
                    flush=True,
                )
        yield output
        began = time.monotonic()


def duration(seconds: float) -> str:
    """A duration as text: two digits and a unit.

    >>> [duration(seconds) for seconds in (0.004, 0.25, 42, 600, 9000, 40000, 1.5e6)]
    ['4 ms', '250 ms', '42 s', '10 min', '2.5 h', '11 h', '17 days']
    """
    units = (("ms", 1e-3, 1), ("s", 1, 120), ("min", 60, 7200), ("h", 3600, 3 * 86400))
    fitting = [(unit, size) for unit, size, limit in units if seconds < limit]
    unit, size = fitting[0] if fitting else ("days", 86400)
    digits = f"{seconds / size:.2g}" if seconds / size < 99.5 else f"{seconds / size:.0f}"
    return f"{digits} {unit}"
