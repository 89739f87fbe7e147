"""How far runs are and how long they will take.

On a terminal there is one bar of tqdm. It is read from metrics.jsonl in the run folders, which
grows by a line at each record: so the same bar serves a notebook's kernel, the processes of a sweep
and the nodes of a cluster. Where the output is no terminal, `lab train` prints a line at each
record.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lab.configurations import Config
from lab.runs.experiments import experiment
from lab.runs.run_folder import Run
from lab.training.records import Pause, Record

SECONDS = 0.5  # between two drawings
TAIL = 1 << 16  # bytes of metrics.jsonl that hold its last line
FORMAT = "{desc}{percentage:3.0f}% {bar:10} {elapsed}<{remaining} {postfix}"
# Of these metrics a line tells those that there are, else the first three.
TOLD = ("pass@1", "train pass@1", "mean reward", "loss", "dead groups", "mean length")
UNITS = (("ms", 1e-3, 1), ("s", 1, 120), ("min", 60, 7200), ("h", 3600, 3 * 86400))


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


class Progress:
    """A bar over `total` runs, drawn again and again while a `with` statement runs.

    `begin` and `end` say which run is worked on; `finished` of them were before. The time left is
    tqdm's, as if all runs took as long as those so far. The bar is gone at the end.
    """

    def __init__(self, name: str, total: int = 1, finished: int = 0) -> None:
        self.name, self.total = name, total
        self.finished, self.failed = finished, 0
        self.running: dict[Path, dict[Path, tuple[str, Config]]] = {}
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._draw)

    def __enter__(self) -> Progress:
        if sys.stdout.isatty() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        if self.thread.is_alive():
            self.thread.join()

    def begin(self, run: Run, config: Config) -> None:
        """A process for this run starts, perhaps where an earlier one was interrupted.

        A training that starts from another one is watched from the start of that one.
        """
        trainings = {run.path: ("", config)}
        if (before := experiment(config.name).before) is not None:
            start = before.part_of(config)
            trainings[Run.of(start).path] = ("start: ", start)
        self.running[run.path] = trainings

    def end(self, run: Run) -> None:
        """Its process has ended; nothing changes if it was never started."""
        if self.running.pop(run.path, None) is not None:
            self.finished += run.finished
            self.failed += not run.finished

    def look(self) -> tuple[float, str]:
        """Runs' worth of work that is done; how many have finished, and what the others are at."""
        watched = [_look(trainings) for trainings in list(self.running.values())]
        words = [f"{self.finished} of {self.total} runs"] if self.total > 1 else []
        words += [f"{self.failed} failed"] if self.failed else []
        words += [of_run for _, of_run in watched]
        return self.finished + sum(share for share, _ in watched), "; ".join(words)

    def _draw(self) -> None:
        from tqdm import tqdm

        shape = {"bar_format": FORMAT, "smoothing": 0, "dynamic_ncols": True, "leave": False}
        with tqdm(total=self.total, initial=self.finished, desc=self.name, **shape) as bar:
            while not self.over.wait(SECONDS):
                bar.n, words = self.look()
                bar.set_postfix_str(words)


def _look(trainings: Mapping[Path, tuple[str, Config]]) -> tuple[float, str]:
    """The share of a run's steps that are done, in [0, 1], without those of a start; its words."""
    label = described(next(config for _, config in trainings.values()))
    for path, (name, config) in trainings.items():
        if record := _last_record(path / "metrics.jsonl"):
            step, total = record.pop("step"), total_steps(config)
            words = [label, f"{name}step {step}" + (f"/{total}" if total else "")]
            words += [f"{key} {value:.3g}" for key, value in list(record.items())[:1]]
            return min(1.0, step / total) if total and not name else 0.0, ", ".join(words)
    return 0.0, label


def say(line: str) -> None:
    """Print a line that stays, above the bar if there is one, on standard error."""
    from tqdm import tqdm

    tqdm.write(line, file=sys.stderr)
    sys.stderr.flush()


def _last_record(path: Path) -> dict[str, Any] | None:
    """The last complete line of metrics.jsonl; None if there is none yet."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            *_, last, _ = file.read().split(b"\n")
        return json.loads(last)
    except (OSError, ValueError):  # of a damaged file the command itself complains
        return None


def timed(outputs: Iterator[Record | Pause]) -> Iterator[tuple[Record | Pause, float]]:
    """The outputs of a trainer, each with the seconds that it took."""
    began = time.monotonic()
    for output in outputs:
        yield output, time.monotonic() - began
        began = time.monotonic()


class Speed:
    """How fast a training of `total` steps was since its last record, and how long it will take.

    An output with groups was evaluated too; its seconds count only where all were.
    """

    def __init__(self, total: int | None = None) -> None:
        self.total = total
        self.made, self.seconds = -1, 0.0  # the first step, which compiles, does not count
        self.steps: list[tuple[bool, float, int]] = []  # evaluated, seconds, tokens

    def add(self, output: Record | Pause, seconds: float) -> None:
        """Note what an output took, its step included."""
        evaluated = isinstance(output, Record) and bool(output.groups)
        if output.step:
            self.made += 1
            self.seconds += seconds if self.made else 0.0
            self.steps.append((evaluated, seconds, sum(output.rollouts.get("tokens", ()))))

    def take(self) -> dict[str, float]:
        """ "seconds a step", and where a trainer tells its rollouts "tokens a second"; {} at first.

        The tokens are those of all answers, the seconds those of whole steps.
        """
        counted = [step for step in self.steps if not step[0]] or self.steps
        seconds, tokens = sum(step[1] for step in counted), sum(step[2] for step in counted)
        self.steps = []
        times = {"seconds a step": seconds / len(counted)} if counted else {}
        return times | ({"tokens a second": tokens / seconds} if tokens and seconds else {})


def line_of(record: Record, times: Mapping[str, float], speed: Speed) -> str:
    """A record in one line, for output that is no terminal: a pipe, a batch queue's log.

    The time left is that of the other steps, as if they took as long as those so far.
    """
    total, metrics = speed.total, record.metrics
    told = [name for name in metrics if name in TOLD or name.endswith(" pass@1")]
    parts = [f"{name} {metrics[name]:.3g}" for name in told or list(metrics)[:3]]
    if times:
        parts.append(f"{duration(times['seconds a step'])} a step")
    if "tokens a second" in times:
        parts.append(f"{times['tokens a second']:,.0f} tokens a second")
    if total and speed.made > 0 and record.step < total:
        left = speed.seconds / speed.made * (total - record.step)
        parts.append(f"about {duration(left)} left")
    return f"step {record.step}{f'/{total}' if total else ''}: {', '.join(parts)}"


def duration(seconds: float) -> str:
    """A duration as text: two digits and a unit.

    >>> [duration(seconds) for seconds in (0.004, 0.25, 42, 600, 9000, 40000, 1.5e6)]
    ['4 ms', '250 ms', '42 s', '10 min', '2.5 h', '11 h', '17 days']
    """
    fitting = [(unit, size) for unit, size, limit in UNITS if seconds < limit]
    unit, size = [*fitting, ("days", 86400)][0]
    digits = f"{seconds / size:.2g}" if seconds / size < 99.5 else f"{seconds / size:.0f}"
    return f"{digits} {unit}"
