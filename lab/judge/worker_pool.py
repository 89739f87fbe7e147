"""Worker processes that can be killed, for work that may hang.

A worker is a fresh interpreter on a socket (`reward_worker.py`), not a fork: threads and CUDA in
the caller do not matter. One that does not answer in time is killed with SIGKILL, with all that
it started, and replaced. Should the caller be gone by then, its own timer ends it; at the end of
its socket it ends. Time is wall time, because a user's function may wait for something.
"""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, NamedTuple

SCRIPT = Path(__file__).with_name("reward_worker.py")
START_SECONDS = 60.0  # seconds a worker has to load what it runs
PART = 1 << 16  # bytes read at a time: as many as a pipe of Linux holds


class Request(NamedTuple):
    """What a worker is asked: `content` is JSON, to be answered within `seconds`."""

    rows: range
    content: Any
    seconds: float


class Worker:
    """One process: starting until `ready`, busy while it has a `request`, late after `deadline`.

    It runs `reward_worker.py` in a session of its own, with the environment of the caller and
    without input.
    """

    def __init__(self, arguments: list[str]) -> None:
        self.channel, theirs = socket.socketpair()
        path = os.pathsep.join(entry or os.curdir for entry in sys.path)
        with theirs:
            descriptor = theirs.fileno()
            self.process = subprocess.Popen(
                [sys.executable, "-P", str(SCRIPT), str(descriptor), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                env=dict(os.environ) | {"PYTHONPATH": path},
                pass_fds=[descriptor],
                start_new_session=True,
            )
        self.output = self.process.stdout
        assert self.output is not None  # a pipe was asked for
        os.set_blocking(self.output.fileno(), False)
        self.ready = False
        self.request: Request | None = None
        self.number = 0  # of the request
        self.line = b""  # what has come of a reply
        self.printed = b""  # during the request, or before it
        self.deadline = time.monotonic() + START_SECONDS

    def send(self, request: Request) -> None:
        """Give the worker a request."""
        self.request = request
        self.number = secrets.randbits(64)
        self.deadline = time.monotonic() + request.seconds
        self.channel.settimeout(request.seconds)
        # A worker that has just died, or that reads nothing, is noticed when its reply is awaited.
        with suppress(OSError):
            self.channel.sendall(json.dumps([self.number, request.content]).encode() + b"\n")

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
    """Up to `size` workers, which start when first needed, with `arguments`.

    `show` is called with what a worker has printed by the end of a request, `refuse` with what it
    replied in place of "ready".
    """

    def __init__(
        self,
        size: int,
        arguments: list[str],
        show: Callable[[bytes], None],
        refuse: Callable[[Any], None],
    ) -> None:
        self.size = size
        self.arguments = arguments
        self.show = show
        self.refuse = refuse
        self.workers: list[Worker] = []

    def close(self) -> None:
        """Kill all workers."""
        while self.workers:
            self.workers.pop().kill()

    def replies(self, requests: Sequence[Request]) -> Generator[tuple[Request, Any], None, None]:
        """Each request with its reply, in the order in which the workers answer.

        A reply is a worker's own, "timeout" or "crash". Closing the generator kills the workers
        that are still busy.
        """
        waiting = deque(requests)
        try:
            while waiting or any(worker.request for worker in self.workers):
                self._assign(waiting)
                yield from self._arrived()
        finally:
            for worker in [worker for worker in self.workers if worker.request]:
                self._remove(worker)

    def _assign(self, waiting: deque[Request]) -> None:
        """Give every idle worker a request; start workers while requests are left over."""
        for worker in [worker for worker in self.workers if worker.ready and not worker.request]:
            if wait([worker.channel], 0):  # killed from outside, or it speaks unasked
                self._remove(worker)
            elif waiting:
                worker.send(waiting.popleft())
        busy = sum(bool(worker.request) for worker in self.workers)
        while len(self.workers) < min(self.size, len(waiting) + busy):
            self.workers.append(Worker(self.arguments))

    def _arrived(self) -> Iterator[tuple[Request, Any]]:
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
            # Dead, or late, or not started: it serves no other request.
            if not (worker.ready or started) or reply in ("crash", "timeout"):
                self._remove(worker)
            if started:
                worker.ready = True
            elif request := worker.request:
                worker.request = None
                yield request, reply
            else:
                self.refuse(reply)

    def _remove(self, worker: Worker) -> None:
        self.workers.remove(worker)
        worker.kill()
