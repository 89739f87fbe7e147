"""Worker processes that can be killed, for comparisons that may hang.

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
from collections.abc import Generator, Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path

from lab.errors import LabError

Pair = tuple[str, str]  # answer and gold, both `extract.normalize` and `extract.is_readable`
# Run as a script: a worker needs nothing else of the lab.
WORKER_SCRIPT = Path(__file__).with_name("sympy_worker.py")
START_SECONDS = 60.0  # seconds a worker has to import sympy and warm up


class Worker:
    """One process: starting until `ready`, busy while it has a `pair`, late after `deadline`."""

    pair: Pair | None

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
        # Both are pipes, as asked for above; Popen's type does not know that.
        assert self.process.stdin is not None and self.process.stdout is not None
        self.requests = self.process.stdin
        self.replies = self.process.stdout
        self.ready = False
        self.pair = None
        self.deadline = time.monotonic() + START_SECONDS

    def send(self, pair: Pair, seconds: float) -> None:
        """Give the worker a pair, to be answered within `seconds`."""
        self.pair = pair
        self.deadline = time.monotonic() + seconds
        # A worker that has just died is noticed later, by the end of its pipe.
        with suppress(BrokenPipeError):
            self.requests.write(json.dumps(pair).encode() + b"\n")

    def receive(self) -> str:
        """The worker's next line; empty at the end of the pipe, which means that it died."""
        return self.replies.readline().decode().strip()

    def kill(self) -> None:
        """End the process with SIGKILL, wait until it is gone, and close its pipes."""
        self.process.kill()
        self.process.wait()
        self.requests.close()
        self.replies.close()


class WorkerPool:
    """Up to `size` workers. They start when first needed and stay until `close`."""

    def __init__(self, size: int, seconds: float, memory: int) -> None:
        self.size = size
        self.seconds = seconds
        self.memory = memory
        self.workers: list[Worker] = []
        self.failed_starts = 0  # workers in a row that died before they were ready

    def close(self) -> None:
        """Kill all workers."""
        while self.workers:
            self.workers.pop().kill()

    def compare(self, pairs: list[Pair]) -> Generator[tuple[Pair, str], None, None]:
        """Each pair with its reason, in the order in which the workers answer.

        Closing the generator kills the workers that are still busy.
        """
        if pairs and importlib.util.find_spec("math_verify") is None:
            raise LabError(
                f"comparing {pairs[0][0]!r} with {pairs[0][1]!r} needs math-verify, which is not"
                " installed: pip install -c constraints.txt -e '.[llm]'"
            )
        waiting = deque(pairs)
        try:
            while waiting or any(worker.pair for worker in self.workers):
                self._assign(waiting)
                yield from self._replies()
        finally:
            for worker in [worker for worker in self.workers if worker.pair]:
                self._remove(worker)

    def _assign(self, waiting: deque[Pair]) -> None:
        """Give every idle worker a pair; start workers while pairs are left over."""
        for worker in [worker for worker in self.workers if worker.ready and not worker.pair]:
            if worker.process.poll() is not None:  # killed from outside while it was idle
                self._remove(worker)
            elif waiting:
                worker.send(waiting.popleft(), self.seconds)
        busy = sum(bool(worker.pair) for worker in self.workers)
        while len(self.workers) < min(self.size, len(waiting) + busy):
            self.workers.append(Worker(self.seconds, self.memory))

    def _replies(self) -> Iterator[tuple[Pair, str]]:
        """Wait until a worker answers or is late, and yield the reasons that are known by then."""
        busy = [worker for worker in self.workers if worker.pair or not worker.ready]
        next_deadline = min(worker.deadline for worker in busy)
        readable = wait(
            [worker.replies.fileno() for worker in busy],
            max(0.0, next_deadline - time.monotonic()),
        )
        for worker in busy:
            late = time.monotonic() >= worker.deadline
            answered = worker.replies.fileno() in readable
            if not answered and not late:
                continue
            reply = worker.receive() if answered else ""
            if worker.ready:
                pair = worker.pair
                assert pair is not None  # ready and busy: it holds a pair
                worker.pair = None
                # Without memory, or dead, or late: this process serves no other pair.
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
