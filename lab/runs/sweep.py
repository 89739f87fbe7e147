"""Sweeps: runs from a file, each in a process of its own, on this machine or a Ray cluster.

Finished runs are skipped and interrupted ones resumed; a failed run does not stop the others.
"""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from lab.runs.processes import run_logged, terminate_all
from lab.runs.progress import Progress, Watch
from lab.runs.run_folder import Run, runs_root, writing
from lab.runs.sweep_file import Item, missing_for_rates, read_sweep
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
    path: Path,
    jobs: int,
    keep_going: bool = True,
    verb: str = "run",
    executor: RayExecutor | None = None,
    gpus: Sequence[str] = (),
) -> Outcome:
    """Run the unfinished runs of a sweep file, `jobs` at a time.

    `verb` is the command for each: "run", or "train", which needs no Jupyter. With an `executor`
    the processes are on its nodes, else on this machine. There each process sees one of the `gpus`;
    if there are more jobs than GPUs, several processes share one. If the file chooses learning
    rates (lab.runs.rates), the runs that decide them come first. Terminated: SIGTERM came.
    """
    before: list[Run] = []
    now: list[Run] = []
    deciding = True
    while deciding:
        items = missing_for_rates(path)
        deciding = bool(items)
        part = _run_all(
            path.stem, items or read_sweep(path), jobs, keep_going, verb, executor, gpus
        )
        before += part.before
        now += part.now
        if part.failed:
            return Outcome(before, now, part.failed)
    return Outcome(before, now, [])


def _run_all(
    name: str,
    items: Sequence[Item],
    jobs: int,
    keep_going: bool,
    verb: str,
    executor: RayExecutor | None,
    gpus: Sequence[str],
) -> Outcome:
    """Run those of `items` that have not finished, see `sweep`."""
    before = [item.run for item in items if item.run.finished]
    waiting = [item for item in items if item.run not in before]
    now: list[Run] = []
    failed: list[tuple[Run, str]] = []
    start_no_more = threading.Event()
    terminated = threading.Event()  # by SIGTERM, which ends running processes too
    progress = Progress(f"{name}: ", len(items), len(before))
    free_gpus: SimpleQueue[str] = SimpleQueue()
    for _, gpu in zip(range(jobs), itertools.cycle(gpus or [""]), strict=False):
        free_gpus.put(gpu)

    def run_item(item: Item) -> str | None:
        """Why its process ended, see `run_logged`; None if it was not started."""
        if start_no_more.is_set():
            return None
        with writing(item.run.path):
            item.run.path.mkdir(parents=True, exist_ok=True)
        progress.begin(item.run, Watch(item.config))
        log = str(item.run.path / "log.txt")
        if executor:
            reason = executor.run(_command(item, verb), log)
        else:
            gpu = free_gpus.get()
            try:
                reason = run_logged(_command(item, verb), log, gpu, terminated)
            finally:
                free_gpus.put(gpu)
        if not (keep_going or item.run.finished):
            start_no_more.set()
        return reason

    def stop_all() -> None:
        """On SIGTERM: start nothing more, and terminate what is running."""
        terminated.set()
        start_no_more.set()
        terminate_all()
        if executor:
            executor.cancel()

    with on_sigterm(stop_all):
        with ThreadPoolExecutor(jobs) as pool, progress:
            futures = {pool.submit(run_item, item): item for item in waiting}
            try:
                for future in as_completed(futures):
                    item = futures[future]
                    reason = future.result()
                    progress.end(item.run)
                    if item.run.finished:
                        now.append(item.run)
                        finished = len(before) + len(now)
                        progress.say(f"{finished} of {len(items)}: {item.run.id}")
                    elif reason is not None and not terminated.is_set():
                        failed.append((item.run, reason))
                        progress.say(f"failed: {item.run.id}: {reason}")
            finally:
                # Ctrl-C reaches the processes of this machine by itself; start nothing more.
                start_no_more.set()
                if executor:
                    executor.cancel()
        if terminated.is_set():
            finished = len(before) + len(now)
            raise Terminated(
                f"stopped by SIGTERM with {finished} of {len(items)} runs finished; the same"
                " command goes on from here"
            )
    return Outcome(before, now, failed)


def _command(item: Item, verb: str) -> list[str]:
    """The arguments of Python for one run; values are JSON, as the command line reads them."""
    assignments = [f"{key}={json.dumps(value)}" for key, value in item.given.items()]
    return [
        "-m",
        "lab",
        "--runs",
        str(runs_root()),
        verb,
        item.experiment,
        f"scale={item.scale}",
        *assignments,
    ]
