"""Sweeps: a TOML file of runs, each its own process here or on a Ray cluster, resumed and kept
going. Floor 3."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from tqdm.auto import tqdm

from lab.runs.processes import run_logged, terminate_all
from lab.runs.run_folder import Run, runs_root
from lab.runs.sweep_file import Item, read_sweep
from lab.termination import Terminated, on_sigterm

if TYPE_CHECKING:
    from lab.runs.ray_executor import RayExecutor


@dataclass(frozen=True)
class Outcome:
    """How a sweep ended: runs that were finished before, runs finished now, and failures with their
    last words.
    """

    before: list[Run]
    now: list[Run]
    failed: list[tuple[Run, str]]


def visible_gpus() -> list[str]:
    """The GPUs that processes started here may use, as CUDA_VISIBLE_DEVICES names them.

    None where LAB_DEVICE is cpu. The driver's own tool is asked, so that no torch is loaded here.
    """
    if os.environ.get("LAB_DEVICE") == "cpu":
        return []
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    present = sum(line.startswith("GPU ") for line in listed.stdout.splitlines())
    if listed.returncode != 0 or not present:
        return []
    if (allowed := os.environ.get("CUDA_VISIBLE_DEVICES")) is None:
        return [str(number) for number in range(present)]
    names = [name.strip() for name in allowed.split(",")]
    # CUDA ignores what follows a name that is none.
    return list(itertools.takewhile(lambda name: name not in ("", "-1"), names))


def sweep(
    path: Path,
    jobs: int,
    keep_going: bool = True,
    verb: str = "run",
    executor: RayExecutor | None = None,
    gpus: Sequence[str] = (),
) -> Outcome:
    """Run what is not finished, `jobs` processes at a time, by `lab run` (or `train`, which needs
    no Jupyter).

    The processes are this machine's, or those of an `executor`. Of this machine's `gpus` each
    process sees one; more jobs than GPUs share them, dealt out in turn.
    """
    items = read_sweep(path)
    before = [item.run for item in items if item.run.finished]
    waiting = [item for item in items if item.run not in before]
    now, failed, stop, stopped = [], [], threading.Event(), threading.Event()
    free: SimpleQueue[str] = SimpleQueue()
    for _, gpu in zip(range(jobs), itertools.cycle(gpus), strict=False):
        free.put(gpu)

    def one(item: Item) -> str | None:
        """The last words of its process; None if it was not started."""
        if stop.is_set():
            return None
        item.run.path.mkdir(parents=True, exist_ok=True)
        log = str(item.run.path / "log.txt")
        if executor:
            words = executor.run(_command(item, verb), log)
        elif gpus:
            gpu = free.get()
            try:
                words = run_logged(_command(item, verb), log, gpu, stopped)
            finally:
                free.put(gpu)
        else:
            words = run_logged(_command(item, verb), log, stopped=stopped)
        if not (keep_going or item.run.finished):
            stop.set()
        return words

    def stop_all() -> None:
        """SIGTERM: nothing more is started, and what runs is told to stop."""
        stopped.set()
        stop.set()
        terminate_all()
        if executor:
            executor.cancel()

    bar = tqdm(total=len(items), initial=len(before), unit="run", desc=path.stem)
    with on_sigterm(stop_all):
        with ThreadPoolExecutor(jobs) as pool, bar:
            futures = {pool.submit(one, item): item for item in waiting}
            try:
                for future in as_completed(futures):
                    item, words = futures[future], future.result()
                    if item.run.finished:
                        now.append(item.run)
                    elif words is not None and not stopped.is_set():
                        failed.append((item.run, words))
                        bar.write(f"failed: {item.run.id}: {words}")
                    bar.update()
            finally:
                # after Ctrl-C, which this machine's processes got too, nothing more is started
                stop.set()
                if executor:
                    executor.cancel()
        if stopped.is_set():
            finished = len(before) + len(now)
            raise Terminated(
                f"stopped by SIGTERM with {finished} of {len(items)} runs finished; the same"
                " command goes on from here"
            )
    return Outcome(before, now, failed)


def _command(item: Item, verb: str) -> list[str]:
    words = [f"{key}={json.dumps(value)}" for key, value in item.given.items()]
    return [
        "-m",
        "lab",
        "--runs",
        str(runs_root()),
        verb,
        item.experiment,
        f"scale={item.scale}",
        *words,
    ]
