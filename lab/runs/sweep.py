"""Sweeps: runs from a file, each in a process of its own, on this machine or a Ray cluster.

Finished runs are skipped and interrupted ones resumed; a failed run does not stop the others.
"""

from __future__ import annotations

import itertools
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab.runs.processes import Workers
from lab.runs.progress import Progress, say
from lab.runs.run_folder import Run, runs_root, writing
from lab.runs.sweep_file import Item, read_sweep
from lab.training.cards import cards
from lab.training.termination import Terminated, on_sigterm

if TYPE_CHECKING:
    from lab.runs.ray_executor import RayExecutor


@dataclass(frozen=True)
class Outcome:
    """How a sweep ended; a failed run comes with the sentence that it ended with."""

    before: list[Run]
    now: list[Run]
    failed: list[tuple[Run, str]]


def visible_gpus() -> list[str]:
    """The GPUs that processes started here may use, as CUDA_VISIBLE_DEVICES names them.

    None if LAB_DEVICE is cpu, or the driver's own tool lists none.
    """
    present = [] if os.environ.get("LAB_DEVICE") == "cpu" else cards()
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None or not present:
        return [str(number) for number in range(len(present))]
    names = [name.strip() for name in allowed.split(",")]
    # CUDA ignores everything after the first invalid name.
    return list(itertools.takewhile(lambda name: name not in ("", "-1"), names))


def sweep(
    path: Path, executor: Workers | RayExecutor, keep_going: bool = True, verb: str = "run"
) -> Outcome:
    """Run the unfinished runs of a sweep file, as many at a time as the `executor` has slots.

    `verb` is the command for each: "run", or "train", which needs no Jupyter. If the file chooses
    learning rates (lab.runs.rates), the runs that decide them come first, and
    one of these before all others. Terminated: SIGTERM came.
    """
    before: list[Run] = []
    now: list[Run] = []
    while True:
        listed = read_sweep(path)
        deciding = listed.deciding
        if deciding and not now:  # a metric that no run has is refused after the first one
            deciding = deciding[:1]
        part = _run_all(path.stem, deciding or listed.items, executor, keep_going, verb)
        before += part.before
        now += part.now
        if part.failed or not deciding:
            return Outcome(before, now, part.failed)


def _run_all(
    name: str, items: list[Item], executor: Workers | RayExecutor, keep_going: bool, verb: str
) -> Outcome:
    """Run those of `items` that have not finished, see `sweep`."""
    before = [item.run for item in items if item.run.finished]
    waiting = [item for item in items if item.run not in before]
    now: list[Run] = []
    failed: list[tuple[Run, str]] = []
    start_no_more = threading.Event()
    terminated = threading.Event()  # by SIGTERM, which ends running processes too
    progress = Progress(f"{name}: ", len(items), len(before))

    def run_item(item: Item) -> str | None:
        """Why its process ended, see `Worker.run`; None if it was not started."""
        if start_no_more.is_set():
            return None
        with writing(item.run.path):
            item.run.path.mkdir(parents=True, exist_ok=True)
        progress.begin(item.run, item.config)
        reason = executor.run(_command(item, verb), str(item.run.path / "log.txt"))
        if not (keep_going or item.run.finished):
            start_no_more.set()
        return reason

    def stop_all() -> None:
        """On SIGTERM: start nothing more, and terminate what is running."""
        terminated.set()
        start_no_more.set()
        executor.terminate()

    with on_sigterm(stop_all):
        with ThreadPoolExecutor(executor.slots) as pool, progress:
            futures = {pool.submit(run_item, item): item for item in waiting}
            try:
                for future in as_completed(futures):
                    item, reason = futures[future], future.result()
                    progress.end(item.run)
                    if item.run.finished:
                        now.append(item.run)
                        say(f"{len(before) + len(now)} of {len(items)}: {item.run.id}")
                    elif reason is not None and not terminated.is_set():
                        failed.append((item.run, reason))
                        say(f"failed: {item.run.id}: {reason}")
            finally:
                start_no_more.set()
                executor.cancel()
        if terminated.is_set():
            raise Terminated(
                f"stopped by SIGTERM with {len(before) + len(now)} of {len(items)} runs finished;"
                " the same command goes on from here"
            )
    return Outcome(before, now, failed)


def _command(item: Item, verb: str) -> list[str]:
    """The words of `lab` for one run; values are JSON, as the command line reads them."""
    assignments = [f"{key}={json.dumps(value)}" for key, value in item.given.items()]
    scale = f"scale={item.scale}"
    return ["--runs", str(runs_root()), verb, item.experiment, scale, *assignments]
