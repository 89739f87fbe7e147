"""Worker processes that can be killed, for work that may hang.

A worker is a fresh interpreter on a socket (`lab.judge.worker`), not a fork: threads and CUDA
in the caller do not matter. One that does not answer in time is killed with SIGKILL, with all that
it started, and replaced. Should the caller be gone by then, its own timer ends it; at the end of
its socket it ends. What runs inside, and its limits: `lab.judge.sympy_worker` and
`lab.judge.reward_worker`.

Time is wall time for a user's function, which may wait for something. A comparison only computes,
and has CPU time, which its worker counts itself: so a busy machine changes no verdict.
"""

import importlib.util
import json
import os
import secrets
import signal
import socket
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
LOOP = Path(__file__).with_name("worker.py")
WORKER_SCRIPT = Path(__file__).with_name("sympy_worker.py")
START_SECONDS = 60.0  # seconds a worker has to import sympy and warm up
PART = 1 << 16  # bytes read at a time: as many as a pipe of Linux holds
WALL = 60  # wall time of a comparison at most, in units of its CPU time: a stopped worker hangs


class Worker:
    """One process: starting until `ready`, busy while it has a `request`, late after `deadline`.

    It runs a script's `work`, see `lab.judge.worker`, in a session of its own, without input.
    Where its output goes, and that of the processes that it starts, is `output`, as for Popen.
    """

    request: Any

    def __init__(
        self, script: Path, arguments: list[str], environment: dict[str, str], output: int
    ) -> None:
        self.channel, theirs = socket.socketpair()
        with theirs:
            descriptor = theirs.fileno()
            self.process = subprocess.Popen(
                [sys.executable, "-P", str(LOOP), str(descriptor), str(script), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                bufsize=0,
                env=environment,
                pass_fds=[descriptor],
                start_new_session=True,
            )
        self.output = self.process.stdout
        if self.output is not None:
            os.set_blocking(self.output.fileno(), False)
        self.ready = False
        self.request = None
        self.number = 0  # of the request
        self.line = b""  # what has come of a reply
        self.printed = b""  # during the request, or before it
        self.deadline = time.monotonic() + START_SECONDS

    def send(self, request: Any, content: Any, seconds: float) -> None:
        """Give the worker a request, whose content is JSON, to be answered within `seconds`."""
        self.request = request
        self.number = secrets.randbits(64)
        self.deadline = time.monotonic() + seconds
        self.channel.settimeout(seconds)
        # A worker that has just died, or that reads nothing, is noticed when its reply is awaited.
        with suppress(OSError):
            self.channel.sendall(json.dumps([self.number, content]).encode() + b"\n")

    def receive(self) -> Any:
        """The reply; None while more is to come, "crash" for any other text or the socket's end."""
        try:
            part = self.channel.recv(PART)
        except OSError:  # it died without having read the request
            part = b""
        self.line += part
        if part and not part.endswith(b"\n"):
            return None
        line, self.line = self.line, b""
        with suppress(ValueError, TypeError):
            number, reply = json.loads(line)
            if number == self.number:
                return reply
        return "crash"

    def listen(self) -> None:
        """Take what the worker and its processes print, so that none waits; keep its beginning."""
        if self.output is not None:
            part = self.output.read(PART)  # None: nothing for now
            self.printed = (self.printed + (part or b""))[:PART]
            if part == b"":  # all that could print have ended
                self.output.close()
                self.output = None

    def kill(self) -> None:
        """End the process and all of its group with SIGKILL, and wait until it is gone."""
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses where all have ended
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.channel.close()
        if self.output is not None:
            self.output.close()


class Workers:
    """Up to `size` workers, with `seconds` of wall time a request. They start when first needed.

    What the workers run, and what a request is, is for a class below to say: `start`, `limit`,
    `content` and `not_started`.
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

    def content(self, request: Any) -> Any:
        """A request as a worker reads it, in JSON."""
        return request

    def show(self, text: bytes) -> None:
        """Called with what a worker has printed by the end of a request."""

    def started(self) -> None:
        """Called where a worker is ready."""

    def not_started(self, worker: Worker, reply: Any) -> None:
        """Called with what a worker replied in place of "ready"; as in `replies`."""
        raise NotImplementedError

    def close(self) -> None:
        """Kill all workers."""
        while self.workers:
            self.workers.pop().kill()

    def replies(self, requests: Sequence[Any]) -> Generator[tuple[Any, Any], None, None]:
        """Each request with its reply, in the order in which the workers answer.

        A reply is a worker's own, "timeout" (of the wall, or of the CPU by SIGPROF) or "crash".
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
            if wait([worker.channel], 0):  # killed from outside, or it speaks unasked
                self._remove(worker)
            elif waiting:
                request = waiting.popleft()
                worker.send(request, self.content(request), self.limit(request))
        busy = sum(bool(worker.request) for worker in self.workers)
        while len(self.workers) < min(self.size, len(waiting) + busy):
            self.workers.append(self.start())

    def _arrived(self) -> Iterator[tuple[Any, str]]:
        """Wait until a worker answers or is late, and yield the replies that are known by then."""
        busy = [worker for worker in self.workers if worker.request or not worker.ready]
        outputs = [worker.output.fileno() for worker in busy if worker.output is not None]
        next_deadline = min(worker.deadline for worker in busy)
        readable = wait(
            [*(worker.channel for worker in busy), *outputs],
            max(0.0, next_deadline - time.monotonic()),
        )
        for worker in busy:
            late = time.monotonic() >= worker.deadline
            reply = worker.receive() if worker.channel in readable else None
            worker.listen()
            if reply is None and late:
                reply = "timeout"
            if reply is None:
                continue
            self.show(worker.printed)
            worker.printed = b""
            started = not worker.ready and reply == "ready"
            # Without memory, or dead, or late, or not started: it serves no other request.
            if not (worker.ready or started) or reply in ("memory", "crash", "timeout"):
                self._remove(worker)
                if worker.process.returncode == -signal.SIGPROF:
                    reply = "timeout"
            if started:
                worker.ready = True
                self.started()
            elif worker.ready:
                request = worker.request
                worker.request = None
                yield request, reply
            else:
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
        arguments = [str(self.cpu_seconds), str(self.memory)]
        return Worker(WORKER_SCRIPT, arguments, environment, subprocess.DEVNULL)

    def started(self) -> None:
        self.failed_starts = 0

    def not_started(self, worker: Worker, reply: Any) -> None:
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
