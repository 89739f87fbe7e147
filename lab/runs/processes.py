"""Runs as processes of their own, each with its output in a log file.

What a run needs takes seconds to import. So a `Worker` keeps a process that has imported it, and
every run is a fork of that. A sweep has one for each run that goes at a time.
"""

from __future__ import annotations

import atexit
import importlib
import json
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.context import ForkProcess
from pathlib import Path

# Without a GPU there are as many processes as cores, and small models are fastest on one thread.
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
# Imported before the forks: what starts threads or the GPU when it is imported is left to them.
IMPORTED = (
    "filelock pandas pyarrow.parquet safetensors.torch tqdm.auto lab.cli lab.runs.training"
    " lab.toy.images lab.toy.maze lab.toy.tabular"
).split()


class Worker:
    """Does one run after the other. With `gpu` they see only that GPU, without one they run on a
    single thread.
    """

    def __init__(self, gpu: str = "") -> None:
        variables = {"CUDA_VISIBLE_DEVICES": gpu}
        self.environment = os.environ | variables if gpu else ONE_THREAD | os.environ
        self.process: subprocess.Popen[str] | None = None  # of which the runs are forks
        self.terminated = False

    def run(self, words: Sequence[str], log: str) -> str:
        """`lab WORDS`, with its output appended to the file `log`; the sentence it ended with.

        That is the lab's own, else its last line; of one that a signal ended, also which signal.
        """
        with open(log, "a") as output:
            began = output.tell()
            print(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')}", file=output, flush=True)
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", __name__],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=output,
                    text=True,
                    env=self.environment,
                )
        assert self.process.stdin and self.process.stdout
        if self.terminated:  # while it was started
            self.process.terminate()
        with suppress(BrokenPipeError):
            print(json.dumps([words, log]), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()  # nothing if that process itself was ended
        said = Path(log).read_bytes()[began:].decode(errors="replace")
        code = int(answer) if answer else self.process.wait()
        return last_words(code, said.splitlines()[1:])  # without the time

    def terminate(self) -> None:
        """Send SIGTERM to its run; later ones end at once."""
        self.terminated = True
        if self.process:
            self.process.terminate()

    def close(self) -> None:
        """End its process, once its run has ended."""
        if self.process:
            self.process.communicate()


def _serve() -> None:
    """Do one run after the other, each in a fork of this process, which has imported what it needs.

    Standard input has words and log of each run, standard output gets its exit code.
    """
    for module in IMPORTED:
        with suppress(ImportError):  # of an extra that is not installed, or not wanted
            importlib.import_module(module)
    context = multiprocessing.get_context("fork")
    child: ForkProcess | None = None

    def terminate(*_: object) -> None:
        if not child:
            sys.exit()
        child.terminate()

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, terminate)
    for line in open(0, closefd=False):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until `child` has begun
        child = context.Process(target=_run, args=json.loads(line))
        child.start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        child.join()
        print(child.exitcode, flush=True)
        child = None


def _run(words: list[str], log: str) -> None:
    """`lab WORDS` in this fork, which multiprocessing ends without clearing away what was imported:
    of a small run, that would be most of its time.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    with open(log, "a") as output:
        for number in (1, 2):
            os.dup2(output.fileno(), number)
    sys.argv[1:] = words
    try:
        runpy.run_module("lab", run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()  # which multiprocessing leaves out


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


if __name__ == "__main__":
    _serve()
