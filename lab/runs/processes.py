"""One run as a process of its own, with its output in a log file.

A sweep starts such processes on this machine, `lab.runs.ray_executor` on the nodes of a cluster.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

RUNNING: set[subprocess.Popen[bytes]] = set()  # what `terminate_all` sends SIGTERM to
# Seconds. Waiting with a timeout wakes up now and then; without one, Ray could not interrupt it.
FOREVER = 1e9
# Without a GPU there are as many processes as cores, and small models are fastest on one thread.
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}


def run_logged(
    arguments: Sequence[str], log: str, gpu: str = "", stopped: threading.Event | None = None
) -> str:
    """Run Python with `arguments` in a new process and return the sentence that it ended with.

    That is the lab's own, else its last line; of a process that a signal ended, also which signal.

    The output is appended to the file `log`. With `gpu` the process sees only that GPU; without
    one it runs on a single thread. `stopped` covers the moment between the start of the process
    and its entry in RUNNING: if the event is set by then, the process is terminated at once.
    """
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": gpu} if gpu else ONE_THREAD | os.environ
    with open(log, "a") as output:
        began = output.tell()
        print(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')}", file=output, flush=True)
        with subprocess.Popen(
            [sys.executable, *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=environment,
        ) as process:
            RUNNING.add(process)
            try:
                if stopped is not None and stopped.is_set():
                    process.terminate()
                process.wait(FOREVER)
            except BaseException:  # Ray cancels a task by raising KeyboardInterrupt in it
                process.kill()
                raise
            finally:
                RUNNING.discard(process)
    said = Path(log).read_bytes()[began:].decode(errors="replace")
    return last_words(process.returncode, said.splitlines()[1:])  # without the time


def last_words(code: int, lines: Sequence[str]) -> str:
    """Why a process ended, from its exit code and its output.

    >>> last_words(1, ["  device: CPU", "lab: steps = 0 is out of range", "a warning at exit"])
    'lab: steps = 0 is out of range'
    >>> last_words(-9, ["step 3"])
    'ended by SIGKILL (often for want of memory), last line: step 3'
    """
    lines = [line.strip() for line in lines if line.strip()]
    if code < 0:
        name = signal.Signals(-code).name
        why = " (often for want of memory)" if name == "SIGKILL" else ""
        return f"ended by {name}{why}" + (f", last line: {lines[-1]}" if lines else "")
    sentences = [line for line in lines if line.startswith("lab: ")]
    if sentences:
        return sentences[-1]
    return lines[-1] if lines else f"ended with exit code {code} and no output"


def terminate_all() -> None:
    """Send SIGTERM to every process that `run_logged` is waiting for."""
    for process in list(RUNNING):
        process.terminate()
