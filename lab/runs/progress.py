"""How far runs are, on a terminal: steps, a metric, the setting, and the time left.

All is read from metrics.jsonl in the run folders, which grows by a line at each record. So the same
lines serve a notebook's kernel, the processes of a sweep and the nodes of a cluster, and nothing is
shown that is not on disk. Where the output is no terminal, nothing is drawn.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lab.configurations import Config
from lab.runs.experiments import experiment
from lab.runs.former_names import in_present_names
from lab.runs.run_folder import Run
from lab.runs.sweep_file import Item

SECONDS = 0.5  # between two drawings
BAR = 10  # characters
TOLD = ("estimator", "learning_rate")  # settings that are told of every training
TAIL = 1 << 16  # bytes of metrics.jsonl that hold its last line


def total_steps(config: Config) -> int | None:
    """The steps of a training, or of a start; None if its trainer counts none."""
    settings = config.settings()
    return settings.get("steps", settings.get("start_steps"))


def described(config: Config, keys: Iterable[str] = ()) -> str:
    """Experiment, estimator, the settings called `keys`, and the learning rate."""
    settings = config.settings()
    words = [f"{config.name} {settings.get('estimator', '')}".strip()]
    words += [f"{key} {settings[key]}" for key in keys if key not in TOLD]
    if "learning_rate" in settings:
        words.append(f"learning rate {settings['learning_rate']:g}")
    return ", ".join(words)


class Watch:
    """How far one run is, by the last line of its metrics.jsonl; it changes nothing.

    A training that starts from another one is watched from the start of that one. `cell` is what
    whoever executes a notebook tells: the cell that runs, and how many there are. Times are those
    of this process, in seconds.
    """

    def __init__(self, config: Config, keys: Iterable[str] = ()) -> None:
        self.label = described(config, keys)
        self.cell: tuple[int, int] | None = None
        chosen = experiment(config.name)
        self._parts = (
            [_Part(Run.of(config).path, "", total_steps(config))] if chosen.trainer else []
        )
        if chosen.before is not None:
            start = chosen.before.part_of(config)
            self._parts.append(_Part(Run.of(start).path, "start: ", total_steps(start)))

    def look(self, now: float) -> None:
        """Read the records again. `now` is the time, as `time.monotonic` tells it."""
        for part in self._parts:
            part.look(now)

    @property
    def share(self) -> float:
        """The share of the steps that are done, in [0, 1]; those of a start are not counted."""
        return self._parts[0].share if self._parts else 0.0

    def row(self, now: float) -> tuple[float, str, str]:
        """Share of what is done, what is known of it, and which run it is."""
        part = next((part for part in self._parts if part.step is not None), None)
        words = part.words(now) if part else []
        share = part.share if part else 0.0
        if self.cell is not None and (part is None or share == 1):
            words.append(f"cell {self.cell[0]}/{self.cell[1]}")
            if not self._parts:
                share = (self.cell[0] - 1) / self.cell[1]
        elif not words:
            words = ["starting" if self._parts else "running"]
        return share, ", ".join(words), self.label


class _Part:
    """The records of one training, and how fast its steps go."""

    def __init__(self, folder: Path, name: str, total: int | None) -> None:
        self.file = folder / "metrics.jsonl"
        self.name = name
        self.total = total
        self.step: int | None = None  # of the last record
        self.metric = ""  # its first metric
        self._looked = False
        self._first: tuple[int, float] | None = None  # step and time of the first record seen come
        self._last: tuple[int, float] | None = None  # and of the last one
        self._gap = 0  # steps between the last two

    def look(self, now: float) -> None:
        record = _last_record(self.file)
        step: int | None = record.pop("step") if record else None
        if record and step is not None and step != self.step:
            key, value = next(iter(record.items()), ("", 0.0))
            self.metric = f"{key} {value:.3g}" if key else ""
            # What was there at the first look came at a time that nobody knows, and a training
            # that resumes falls back to its checkpoint.
            if self._looked and (self._last is None or step < self._last[0]):
                self._first = self._last = (step, now)
            elif self._last is not None:
                self._gap = step - self._last[0]
                self._last = (step, now)
        self.step = step
        self._looked = True

    @property
    def share(self) -> float:
        """The share of the steps that are done."""
        return min(1.0, self.step / self.total) if self.step and self.total else 0.0

    def words(self, now: float) -> list[str]:
        """Step, metric and time left, as far as they are known."""
        of = f"/{self.total}" if self.total else ""
        left = self.left(now)
        time_left = [f"{tqdm.format_interval(left)} left"] if left is not None else []
        return [f"{self.name}step {self.step}{of}", *filter(None, [self.metric]), *time_left]

    def left(self, now: float) -> float | None:
        """Seconds until the last step, at the pace of the records so far.

        None: after the last step, or before a second record has told a pace. Between two records
        the time runs down, by no more than the steps between them would take.
        """
        if not (self.total and self._first and self._last) or self._last[0] >= self.total:
            return None
        steps = self._last[0] - self._first[0]
        if steps == 0:
            return None
        pace = (self._last[1] - self._first[1]) / steps
        since = min(now - self._last[1], pace * self._gap)
        return max(0.0, pace * (self.total - self._last[0]) - since)


class SweepWatch:
    """How far a sweep is: a line for all, and one for each run that a process is working on."""

    def __init__(self, name: str, items: Sequence[Item]) -> None:
        self._name = name
        self._total = len(items)
        self._finished = sum(item.run.finished for item in items)
        values: dict[str, set[str]] = {}
        for item in items:
            for key, value in item.given.items():
                values.setdefault(key, set()).add(repr(value))
        # Settings that all runs share say nothing on a line of one of them.
        self._varied = {key for key, found in values.items() if len(found) > 1}
        self._failed = 0
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._running: dict[Path, tuple[Watch, float]] = {}  # with the share done when it began
        self._progress = 0.0  # runs' worth of work that ended since the sweep began

    def begin(self, item: Item) -> None:
        """A process for this run starts, perhaps where an earlier one was interrupted."""
        config = experiment(item.experiment).configure(item.scale, item.given)
        varied = {key: value for key, value in item.given.items() if key in self._varied}
        watch = Watch(config, in_present_names(varied, config.settings()))
        watch.look(time.monotonic())
        with self._lock:
            self._running[item.run.path] = (watch, watch.share)

    def end(self, item: Item) -> None:
        """Its process has ended; nothing changes if it was never started."""
        with self._lock:
            if item.run.path not in self._running:
                return
            _, before = self._running.pop(item.run.path)
            if item.run.finished:
                self._finished += 1
                self._progress += 1 - before
            else:
                self._failed += 1

    def lines(self, now: float, width: int) -> list[str]:
        """What `Board` draws. The time left is that of runs that are all alike: "about"."""
        with self._lock:
            running = list(self._running.values())
            for watch, _ in running:
                watch.look(now)
            progress = self._progress + sum(watch.share - before for watch, before in running)
            waiting = self._total - self._finished - self._failed
            to_do = waiting - sum(watch.share for watch, _ in running)
            seconds = now - self._began
            words = [f"{self._name}: {self._finished} of {self._total} runs"]
            words += [f"{self._failed} failed"] if self._failed else []
            words.append(f"{tqdm.format_interval(seconds)} so far")
            if progress > 0:
                words.append(f"about {tqdm.format_interval(seconds * to_do / progress)} left")
            rows = [watch.row(now) for watch, _ in running]
            return [", ".join(words), *lines_of(rows, width)]


def lines_of(rows: Sequence[tuple[float, str, str]], width: int) -> list[str]:
    """`Watch.row`s below each other, in lines of at most `width` characters.

    On a narrow terminal they go without their bars.
    """
    known = max((len(words) for _, words, _ in rows), default=0)
    texts = [f"{words.ljust(known)}  {label}" for _, words, label in rows]
    shares = [f"{share:4.0%} " for share, *_ in rows]
    if all(len(text) + BAR + len(" 100% ") <= width for text in texts):
        shares = [f"{share:4.0%} {_bar(share)} " for share, *_ in rows]
    return [_fitted(share + text, width) for share, text in zip(shares, texts, strict=True)]


def _fitted(line: str, width: int) -> str:
    """`line` without the last of its parts, which commas separate, that have no room."""
    while len(line) > width and ", " in line:
        line = line.rpartition(", ")[0]
    return line[:width]


def _last_record(path: Path) -> dict[str, Any] | None:
    """The last complete line of metrics.jsonl; None if there is none yet."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            complete = file.read().splitlines(keepends=True)
        return json.loads([line for line in complete if line.endswith(b"\n")][-1])
    except (OSError, ValueError, IndexError):  # of a damaged file the command itself complains
        return None


def _bar(share: float) -> str:
    full, empty = "█░" if "utf" in (sys.stderr.encoding or "").lower() else "#-"
    done = int(share * BAR)
    return full * done + empty * (BAR - done)


def on_terminal() -> bool:
    """Whether somebody looks on: standard output and standard error are a terminal."""
    return sys.stdout.isatty() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class Board:
    """Lines at the end of a terminal that are drawn again and again while a `with` statement runs.

    `lines(now, width)` gives them. They are gone at the end. Without a terminal nothing is drawn.
    """

    def __init__(self, lines: Callable[[float, int], Sequence[str]]) -> None:
        self._lines = lines
        self._drawn = 0  # lines on the screen
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = (
            threading.Thread(target=self._draw_on, daemon=True) if on_terminal() else None
        )

    def __enter__(self) -> Board:
        if self._thread:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread:
            self._over.set()
            self._thread.join()
            with self._lock:
                self._write([])

    def say(self, line: str) -> None:
        """Print a line that stays, above the others; without a terminal, on standard error."""
        with self._lock:
            if self._thread:
                self._write([])
            print(line, file=sys.stderr, flush=True)

    def _draw_on(self) -> None:
        while True:
            size = shutil.get_terminal_size()
            width, room = size.columns - 1, max(1, size.lines - 1)
            lines = list(self._lines(time.monotonic(), width))
            if len(lines) > room:
                lines[room - 1 :] = [f"... and {len(lines) - room + 1} more"]
            with self._lock:
                self._write([line[:width] for line in lines])
            if self._over.wait(SECONDS):
                return

    def _write(self, lines: list[str]) -> None:
        """Draw `lines` in place of those on the screen."""
        up = f"\x1b[{self._drawn - 1}A" if self._drawn > 1 else ""
        back = f"\r{up}\x1b[J" if self._drawn else ""
        self._drawn = len(lines)
        sys.stderr.write(back + "\n".join(lines))
        sys.stderr.flush()
