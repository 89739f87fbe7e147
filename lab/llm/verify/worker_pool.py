"""Worker processes that can be killed, for comparisons that may hang. Floor 2.

A worker is a fresh interpreter on two pipes, not a fork: threads and CUDA in the caller do not
matter. One that does not answer within `seconds` of wall time is killed with SIGKILL and replaced.
Should the caller be gone by then, its own alarm ends it a second later; at the end of its input it
ends. What runs inside, and its limits: `lab.llm.verify.sympy_worker`.
"""

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path

from lab.errors import LabError

Pair = tuple[str, str]  # answer and gold, both `extract.normalize` and `extract.is_readable`
WORKER_SCRIPT = Path(__file__).with_name(
    "sympy_worker.py"
)  # run as a script: a worker needs nothing else of the lab
START_SECONDS = 60.0  # seconds a worker has to import sympy and warm up


class Worker:
    """One process. It is starting until `ready`, busy while it has a `pair`, and late after
    `deadline`.
    """

    def __init__(self, seconds: float, memory: int) -> None:
        environment = {
            name: os.environ[name]
            for name in ("LD_LIBRARY_PATH", "PYTHONHOME")
            if name in os.environ
        }
        environment |= {
            "PYTHONPATH": os.pathsep.join(entry or os.curdir for entry in sys.path),
            "PYTHONHASHSEED": "0",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(WORKER_SCRIPT), str(seconds), str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=environment,
        )
        self.ready, self.pair, self.deadline = False, None, time.monotonic() + START_SECONDS

    def fileno(self) -> int:
        return self.process.stdout.fileno()

    def send(self, pair: Pair, seconds: float) -> None:
        self.pair, self.deadline = pair, time.monotonic() + seconds
        with suppress(BrokenPipeError):  # it died just now: its answer will be the end of the pipe
            self.process.stdin.write(json.dumps(pair).encode() + b"\n")

    def receive(self) -> str:
        return (
            self.process.stdout.readline().decode().strip()
        )  # empty at the end of the pipe: it died

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class WorkerPool:
    """Up to `size` workers. They start when first needed and stay until `close`."""

    def __init__(self, size: int, seconds: float, memory: int) -> None:
        self.size, self.seconds, self.memory = size, seconds, memory
        self.workers: list[Worker] = []
        self.failed_starts = 0  # workers in a row that died before they were ready

    def close(self) -> None:
        while self.workers:
            self.workers.pop().kill()

    def compare(self, pairs: list[Pair]) -> Iterator[tuple[Pair, str]]:
        """Each pair with its reason, as the workers answer. Close the generator to give up on the
        rest.
        """
        if pairs and importlib.util.find_spec("math_verify") is None:
            raise LabError(
                f"comparing {pairs[0][0]!r} with {pairs[0][1]!r} needs math-verify, which is not"
                " installed: pip install -c constraints.txt -e '.[llm]'"
            )
        waiting = deque(pairs)
        try:
            while waiting or any(worker.pair for worker in self.workers):
                self._engage(waiting)
                yield from self._replies()
        finally:
            for worker in [worker for worker in self.workers if worker.pair]:
                self._remove(worker)

    def _engage(self, waiting: deque[Pair]) -> None:
        """Give every idle worker a pair; start workers while pairs are left over."""
        for worker in [worker for worker in self.workers if worker.ready and not worker.pair]:
            if worker.process.poll() is not None:  # killed from outside while it was idle
                self._remove(worker)
            elif waiting:
                worker.send(waiting.popleft(), self.seconds)
        while len(self.workers) < min(
            self.size, len(waiting) + sum(bool(worker.pair) for worker in self.workers)
        ):
            self.workers.append(Worker(self.seconds, self.memory))

    def _replies(self) -> Iterator[tuple[Pair, str]]:
        """Wait until a worker answers or is late, and pass on what was learnt."""
        busy = [worker for worker in self.workers if worker.pair or not worker.ready]
        answered = wait(busy, max(0.0, min(worker.deadline for worker in busy) - time.monotonic()))
        for worker in busy:
            late = time.monotonic() >= worker.deadline
            if worker not in answered and not late:
                continue
            reply, pair = worker.receive() if worker in answered else "", worker.pair
            if worker.ready:
                worker.pair = None
                if reply in ("memory", ""):
                    self._remove(worker)
                yield pair, reply or ("timeout" if late else "crash")
            elif reply == "ready":
                worker.ready, self.failed_starts = True, 0
            else:
                self._remove(worker)
                self.failed_starts += 1
                if self.failed_starts == 3:
                    self.failed_starts = 0
                    raise LabError(
                        f"3 workers did not start (the last: exit {worker.process.returncode}): see"
                        f" what `import math_verify` says, or give them more than {self.memory} MiB"
                    )

    def _remove(self, worker: Worker) -> None:
        self.workers.remove(worker)
        worker.kill()
