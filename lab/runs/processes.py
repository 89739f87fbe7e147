"""One run as a process of its own, with its output in a log file.

A sweep starts such processes on this machine, `lab.runs.ray_executor` on the nodes of a cluster.
"""

from __future__ import annotations

import os
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
    """Run Python with `arguments` in a new process and return the last line of its output.

    The output is appended to the file `log`. With `gpu` the process sees only that GPU; without
    one it runs on a single thread. `stopped` covers the moment between the start of the process
    and its entry in RUNNING: if the event is set by then, the process is terminated at once.
    """
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": gpu} if gpu else ONE_THREAD | os.environ
    with open(log, "a") as output:
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
    lines = [line for line in Path(log).read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1]


def terminate_all() -> None:
    """Send SIGTERM to every process that `run_logged` is waiting for."""
    for process in list(RUNNING):
        process.terminate()
