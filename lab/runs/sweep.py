"""Sweeps: runs from a file, each in a process of its own on this machine.

Finished runs are skipped and interrupted ones resumed; a failed run does not stop the others.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from lab.runs.processes import Worker
from lab.runs.run_folder import Run, runs_root
from lab.runs.sweep_file import Item, read_sweep
from lab.training.cards import cards
from lab.training.files import writing
from lab.training.termination import INTERRUPTED, Terminated, on_sigterm

# Of tqdm, on a terminal alone; what the processes of the runs say is in their logs.
BAR: dict[str, Any] = {"disable": None, "leave": False, "smoothing": 0}


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


def sweep(path: Path, jobs: int | None = None, verb: str = "run") -> Outcome:
    """Run the unfinished runs of a sweep file, `jobs` at a time: one for each GPU, else each core.

    Each run sees one GPU; of more jobs than GPUs several share one. `verb` is the command for each:
    "run", or "train", which needs no Jupyter. If the file chooses learning rates (lab.runs.rates),
    the runs that decide them come first, and one of these before all others. Terminated: SIGTERM
    came.
    """
    outcome = Outcome([], [], [])
    gpus = visible_gpus()
    slots = jobs or len(gpus) or os.cpu_count() or 1
    workers = [Worker(gpu) for gpu in itertools.islice(itertools.cycle(gpus or [""]), slots)]
    try:
        while True:
            listed = read_sweep(path)
            deciding = listed.deciding
            # A metric that no run has is refused after the first one.
            first = deciding if outcome.now else deciding[:1]
            _run_all(path.stem, first or listed.items, workers, verb, outcome)
            if outcome.failed or not deciding:
                return outcome
    finally:
        for worker in workers:
            worker.close()


def _run_all(
    name: str, items: list[Item], workers: list[Worker], verb: str, outcome: Outcome
) -> None:
    """Run those of `items` that have not finished, see `sweep`, and add them to the outcome."""
    from tqdm import tqdm

    waiting = [item for item in items if not item.run.finished]
    outcome.before.extend(item.run for item in items if item not in waiting)
    left = len(waiting)
    stopping, terminated = threading.Event(), threading.Event()
    free: SimpleQueue[Worker] = SimpleQueue()
    for each in workers:
        free.put(each)

    def run_item(item: Item) -> str | None:
        """Why its process ended, see `Worker.run`; None if it was not started."""
        if stopping.is_set():
            return None
        with writing(item.run.path):
            item.run.path.mkdir(parents=True, exist_ok=True)
        worker = free.get()
        try:
            reason = worker.run(_command(item, verb), str(item.run.path / "log.txt"))
            if reason == INTERRUPTED:  # by Ctrl-C, of which the main thread may hear a bit later
                stopping.wait(2)
            return reason
        finally:
            free.put(worker)

    def stop_all() -> None:
        """On SIGTERM: start nothing more, and terminate what is running."""
        terminated.set()
        stopping.set()
        for worker in workers:
            worker.terminate()

    bar = tqdm(total=len(items), initial=len(items) - left, desc=name, unit="run", **BAR)
    with on_sigterm(stop_all):
        with ThreadPoolExecutor(len(workers)) as pool, bar:
            futures = {pool.submit(run_item, item): item for item in waiting}
            try:
                for future in as_completed(futures):
                    item, reason = futures[future], future.result()
                    if item.run.finished:
                        left -= 1
                        outcome.now.append(item.run)
                        bar.update()
                        bar.write(f"{len(items) - left} of {len(items)}: {item.run.id}", sys.stderr)
                    elif reason is not None and not terminated.is_set():
                        outcome.failed.append((item.run, reason))
                        bar.write(f"failed: {item.run.id}: {reason}", sys.stderr)
            finally:
                stopping.set()
        if terminated.is_set():
            raise Terminated(
                f"stopped by SIGTERM with {len(items) - left} of {len(items)} runs finished;"
                " the same command goes on from here"
            )


def _command(item: Item, verb: str) -> list[str]:
    """The words of `lab` for one run; values are JSON, as the command line reads them."""
    assignments = [f"{key}={json.dumps(value)}" for key, value in item.given.items()]
    scale = f"scale={item.scale}"
    return ["--runs", str(runs_root()), verb, item.experiment, scale, *assignments]
