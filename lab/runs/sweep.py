"""Sweeps: a TOML file of runs, each its own process here or on a Ray cluster, resumed and kept
going. Floor 3."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from tqdm.auto import tqdm

from lab.runs.run_folder import Run, runs_root
from lab.runs.sweep_file import Item, read_sweep
from lab.termination import Terminated, on_sigterm

if TYPE_CHECKING:
    from lab.runs.ray_executor import OnRay

RUNNING: set[subprocess.Popen] = set()  # the processes of runs, which SIGTERM is passed on to
# seconds; a wait that has an end looks up now and then, without which Ray could not interrupt it
FOREVER = 1e9
# Without a GPU: small models run fastest on one thread, and there are as many processes as cores.
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}


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
    executor: OnRay | None = None,
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
                words = logged(_command(item, verb), log, gpu, stopped)
            finally:
                free.put(gpu)
        else:
            words = logged(_command(item, verb), log, stopped=stopped)
        if not (keep_going or item.run.finished):
            stop.set()
        return words

    def stop_all() -> None:
        """SIGTERM: nothing more is started, and what runs is told to stop."""
        stopped.set()
        stop.set()
        for process in list(RUNNING):
            process.terminate()
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


def logged(
    words: list[str], log: str, gpu: str = "", stopped: threading.Event | None = None
) -> str:
    """Run Python with `words` in a process of its own; its output is added to the file `log`.
    Returns its last line.

    With `gpu` it sees that one alone, else it has one thread. While it runs it is in RUNNING; it is
    ended at once if `stopped` was set before it could be found there.
    """
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": gpu} if gpu else ONE_THREAD | os.environ
    with open(log, "a") as out:
        print(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')}", file=out, flush=True)
        with subprocess.Popen(
            [sys.executable, *words],
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=environment,
        ) as process:
            RUNNING.add(process)
            try:
                if stopped is not None and stopped.is_set():
                    process.terminate()
                process.wait(FOREVER)
            except BaseException:  # as Ray interrupts it
                process.kill()
                raise
            finally:
                RUNNING.discard(process)
    lines = [line for line in Path(log).read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1]
