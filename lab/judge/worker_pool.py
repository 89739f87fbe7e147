"""Worker processes that can be killed, for work that may hang.

A worker is a fresh interpreter on two pipes, not a fork: threads and CUDA in the caller do not
matter. One that does not answer in time is killed with SIGKILL and replaced. Should the caller be
gone by then, its own timer ends it; at the end of its input it ends. What runs inside, and its
limits: `lab.judge.sympy_worker` and `lab.judge.reward_worker`.

Time is wall time for a user's function, which may wait for something. A comparison only computes,
and has CPU time, which its worker counts itself: so a busy machine changes no verdict.
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from lab.errors import LabError

Pair = tuple[str, str]  # answer and gold, both `extract.normalize` and `extract.is_readable`
# Run as a script: a worker needs nothing else of the lab.
WORKER_SCRIPT = Path(__file__).with_name("sympy_worker.py")
START_SECONDS = 60.0  # seconds a worker has to import sympy and warm up
WALL = 60  # wall time of a comparison at most, in units of its CPU time: a stopped worker hangs


class Worker:
    """One process: starting until `ready`, busy while it has a `request`, late after `deadline`.

    `command` is a script and its arguments.
    """

    request: Any

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", *command],
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
        self.request = None
        self.deadline = time.monotonic() + START_SECONDS

    def send(self, request: Any, line: str, seconds: float) -> None:
        """Give the worker a request as a line, to be answered within `seconds`."""
        self.request = request
        self.deadline = time.monotonic() + seconds
        # A worker that has just died is noticed later, by the end of its pipe.
        with suppress(BrokenPipeError):
            self.requests.write(line.encode() + b"\n")

    def receive(self) -> str:
        """The worker's next line; empty at the end of the pipe, which means that it died."""
        return self.replies.readline().decode().strip()

    def kill(self) -> None:
        """End the process with SIGKILL, wait until it is gone, and close its pipes."""
        self.process.kill()
        self.process.wait()
        self.requests.close()
        self.replies.close()


class Workers:
    """Up to `size` workers, with `seconds` of wall time a request. They start when first needed.

    What the workers run, and what a request is, is for a class below to say: `start`, `limit`,
    `line` and `not_started`.
    """

    def __init__(self, size: int, seconds: float) -> None:
        self.size = size
        self.seconds = seconds
        self.workers: list[Worker] = []

    def start(self) -> Worker:
        """A new worker."""
        raise NotImplementedError

    def limit(self, request: Any) -> float:
        """The seconds of wall time that a worker has for a request."""
        return self.seconds

    def line(self, request: Any) -> str:
        """A request as a worker reads it."""
        return json.dumps(request)

    def started(self) -> None:
        """Called where a worker is ready."""

    def not_started(self, worker: Worker, reply: str) -> None:
        """Called where a worker died or replied something else before it was ready."""
        raise NotImplementedError

    def close(self) -> None:
        """Kill all workers."""
        while self.workers:
            self.workers.pop().kill()

    def replies(self, requests: Sequence[Any]) -> Generator[tuple[Any, str], None, None]:
        """Each request with its reply, in the order in which the workers answer.

        A reply is a worker's line, "timeout" (of the wall, or of the CPU by SIGPROF) or "crash".
        Closing the generator kills the workers that are still busy.
        """
        waiting = deque(requests)
        try:
            while waiting or any(worker.request for worker in self.workers):
                self._assign(waiting)
                yield from self._arrived()
        finally:
            for worker in [worker for worker in self.workers if worker.request]:
                self._remove(worker)

    def _assign(self, waiting: deque[Any]) -> None:
        """Give every idle worker a request; start workers while requests are left over."""
        for worker in [worker for worker in self.workers if worker.ready and not worker.request]:
            if worker.process.poll() is not None:  # killed from outside while it was idle
                self._remove(worker)
            elif waiting:
                request = waiting.popleft()
                worker.send(request, self.line(request), self.limit(request))
        busy = sum(bool(worker.request) for worker in self.workers)
        while len(self.workers) < min(self.size, len(waiting) + busy):
            self.workers.append(self.start())

    def _arrived(self) -> Iterator[tuple[Any, str]]:
        """Wait until a worker answers or is late, and yield the replies that are known by then."""
        busy = [worker for worker in self.workers if worker.request or not worker.ready]
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
                request = worker.request
                worker.request = None
                # Without memory, or dead, or late: this process serves no other request.
                if reply in ("memory", ""):
                    self._remove(worker)
                    late = late or worker.process.returncode == -signal.SIGPROF
                yield request, reply or ("timeout" if late else "crash")
            elif reply == "ready":
                worker.ready = True
                self.started()
            else:
                self._remove(worker)
                self.not_started(worker, reply)

    def _remove(self, worker: Worker) -> None:
        self.workers.remove(worker)
        worker.kill()


class WorkerPool(Workers):
    """Workers that compare pairs of answers by math-verify.

    Each has `seconds` of CPU time a pair, and `memory` MiB.
    """

    def __init__(self, size: int, seconds: float, memory: int) -> None:
        super().__init__(size, WALL * seconds)
        self.cpu_seconds = seconds
        self.memory = memory
        self.failed_starts = 0  # workers in a row that died before they were ready

    def compare(self, pairs: list[Pair]) -> Generator[tuple[Pair, str], None, None]:
        """Each pair with its reason, see `replies`. LabError: math-verify is not installed."""
        if pairs and importlib.util.find_spec("math_verify") is None:
            raise LabError(
                f"comparing {pairs[0][0]!r} with {pairs[0][1]!r} needs math-verify, which is not"
                " installed: pip install -c constraints.txt -e '.[llm]'"
            )
        yield from self.replies(pairs)

    def start(self) -> Worker:
        environment = {
            name: os.environ[name]
            for name in ("LD_LIBRARY_PATH", "PYTHONHOME")
            if name in os.environ
        }
        environment |= {"PYTHONPATH": module_path(), "PYTHONHASHSEED": "0"}
        return Worker([str(WORKER_SCRIPT), str(self.cpu_seconds), str(self.memory)], environment)

    def started(self) -> None:
        self.failed_starts = 0

    def not_started(self, worker: Worker, reply: str) -> None:
        self.failed_starts += 1
        if self.failed_starts == 3:
            self.failed_starts = 0
            raise LabError(
                f"3 workers did not start (the last: exit {worker.process.returncode}): see what"
                f" `import math_verify` says, or give them more than {self.memory} MiB"
            )


def module_path() -> str:
    """PYTHONPATH of a worker: where this process finds its modules."""
    return os.pathsep.join(entry or os.curdir for entry in sys.path)
