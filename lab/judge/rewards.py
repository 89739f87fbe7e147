"""Reward functions of one's own, in place of the verifier.

    def reward(prompts: list[str], completions: list[str], **columns: list) -> list[float]: ...

It is called by keyword, as TRL calls one, for a batch of completions, and names what it wants among
`completions`, `prompts`, `answers` (the golds) and the columns of the problems; `**columns` takes
all there are. It returns 1, 0 or None for each completion; where the estimator takes real rewards
(`lab.lift`), any finite number. It runs in
worker processes, as the user's code, with the environment of the caller and no limit but that of
time. None, and a call that is late or kills its process, mean a lost
rollout. What it prints is shown on standard error, with its name; it has no standard input.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from lab.errors import LabError, real, whole
from lab.judge.verifier import MIN_CHECKS, Verdict, Verifier, paired
from lab.plugins import is_ours

BATCH = 64  # completions a call
SHOWN = 10_000  # characters of what a function prints, over its life
SCRIPT = Path(__file__).with_name("reward_worker.py")
START_SECONDS = 60.0  # wall time that a worker has to load the function
PART = 1 << 16  # bytes read at a time: as many as a pipe of Linux holds
Row = Mapping[str, Any]  # a problem's columns, by name


class Worker:
    """A process that runs `reward_worker.py`, for work that may hang.

    It is a fresh interpreter in a session of its own, not a fork: threads and CUDA in the caller do
    not matter. Should the caller be gone when a call is late, its own timer ends it; at the end of
    its socket it ends. Time is wall time, because a user's function may wait for something.
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
        self.output: Any = self.process.stdout
        self.heard: list[Any] = [self.channel, self.output]
        self.printed = b""  # since the last call
        self.parameters: dict[str, bool] | None = None  # of the function, once it is loaded

    def load(self) -> str:
        """What is wrong with the function; "" once it is loaded."""
        if self.parameters is None:
            loaded = self._reply(0, START_SECONDS)
            if not isinstance(loaded, dict):
                late = f"is not loaded after {START_SECONDS:g} s"
                ended = "ends its process when it is loaded"
                return str({"timeout": late, "crash": ended}.get(loaded, loaded))
            self.parameters = loaded
        return ""

    def ask(self, content: Any, seconds: float) -> Any:
        """The reply to a request, JSON but for values as text; "timeout" or "crash" for none."""
        number = secrets.randbits(64)
        self.channel.settimeout(seconds)
        # A worker that has just died, or that reads nothing, is noticed when its reply is awaited.
        with suppress(OSError):
            line = json.dumps([number, content], default=str)
            self.channel.sendall(line.encode() + b"\n")
        return self._reply(number, seconds)

    def _reply(self, number: int, seconds: float) -> Any:
        """The reply to the request of this number, "timeout", or "crash" for any other text.

        What the worker and its processes print is taken all the while, so that none waits.
        """
        deadline = time.monotonic() + seconds
        line = b""
        while (left := deadline - time.monotonic()) > 0:
            readable = wait(self.heard, left)
            if self.output in readable:
                part = self.output.read(PART)
                self.printed = (self.printed + part)[:PART]
                if not part:  # all that could print have ended
                    self.heard.remove(self.output)
            if self.channel in readable:
                part = b""
                with suppress(OSError):  # it died without having read the request
                    part = self.channel.recv(PART)
                line += part
                if part and not part.endswith(b"\n"):
                    continue
                with suppress(ValueError, TypeError):
                    replied, reply = json.loads(line)
                    if replied == number:
                        return reply
                return "crash"
        return "timeout"

    def kill(self) -> None:
        """End the process and all of its group with SIGKILL, and wait until it is gone."""
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses where all have ended
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.channel.close()
        self.output.close()


class RewardFunction:
    """Judges completions with the function `spec`, in a `with`: it holds worker processes.

    | argument | meaning |
    |---|---|
    | `spec` | "FILE.py:NAME", or "MODULE:NAME" as Python imports it from here |
    | `seconds` | wall time of a call, for each completion in it |
    | `workers` | processes at most; None: one a core |
    | `error_limit` | share of a call's completions, at least 50, that may be late or crash |
    | `right_from` | None: rewards are 0 or 1; a number: any, and an answer is right from there on |
    | `late` | the reward of a call that is late or crashes; None: the rollout is lost |

    It has the methods of `Verifier`. LabError: the spec names no function.
    """

    def __init__(
        self,
        spec: str,
        seconds: float = 1.0,
        workers: int | None = None,
        error_limit: float = 0.02,
        right_from: float | None = None,
        late: float | None = None,
    ) -> None:
        check_reward(spec)
        self.spec, self.late = spec, late
        self.right_from = None if right_from is None else real("right_from", right_from)
        self.error_limit = real("error_limit", error_limit, 0, 1)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self.seconds = real("seconds", seconds, 0.01, 600)
        self._room = SHOWN  # characters that may still be shown
        self._size = whole("workers", cores if workers is None else workers)
        self._arguments = [spec, os.getcwd(), "binary" if right_from is None else "graded"]
        self._workers: list[Worker] = []
        self._idle: list[Worker] = []
        self._turn = threading.Lock()  # for those two

    def __enter__(self) -> RewardFunction:
        return self

    def __exit__(self, *_: object) -> None:
        with self._turn:
            while self._workers:
                self._workers.pop().kill()
            self._idle.clear()

    def unparsable(self, golds: Sequence[str]) -> dict[int, str]:
        """None: the function alone knows what an answer means."""
        return {}

    def require(self, columns: Collection[str]) -> None:
        """LabError: the function cannot be loaded, or names what is not among these columns."""
        self._rewards(self._ask([dict.fromkeys(columns)], load_only=True))

    def check(
        self, responses: Sequence[str], golds: Sequence[str], rows: Sequence[Row] = ()
    ) -> list[Verdict]:
        """One verdict a response, in order; its reason is the function.

        `rows`: the other columns of each response's problem. LabError: the function names one that
        is not there, fails, or returns something else than 0, 1 or None (a finite number or None,
        with `right_from`) for every response; too many calls are late or crash.
        """
        pairs = paired(responses, golds)
        asked: dict[int, Row] = {
            place: {**row, "completions": response, "answers": gold}
            for place, ((response, gold), row) in enumerate(
                zip(pairs, rows or [{}] * len(pairs), strict=True)
            )
        }
        rewards = self._judge(asked, BATCH)
        # A call that failed is made again one by one, so that it loses as little as possible.
        rewards |= self._judge({place: asked[place] for place in asked.keys() - rewards}, 1)
        lost = 0 if self.late is not None else len(asked) - len(rewards)
        if len(asked) >= MIN_CHECKS and lost > self.error_limit * len(asked):
            raise LabError(
                f"{self.spec} was late or crashed for {lost} of {len(asked)} completions: the limit"
                f" is {self.error_limit:.1%}; make it faster, or let it return None"
            )
        return [self._verdict(rewards.get(place, self.late)) for place in asked]

    def _verdict(self, reward: float | None) -> Verdict:
        if reward is None:
            return Verdict("error", self.spec, None)
        right = reward >= (1 if self.right_from is None else self.right_from)
        grade = None if self.right_from is None else reward
        return Verdict("right" if right else "wrong", self.spec, None, grade)

    def _judge(self, asked: dict[int, Row], size: int) -> dict[int, float | None]:
        """The rewards by place, in calls of `size` completions; none for those that failed."""
        places = sorted(asked)
        batches = [places[at : at + size] for at in range(0, len(places), size)]
        rewards: dict[int, float | None] = {}
        with ThreadPoolExecutor(self._size) as threads:
            try:
                calls = ([asked[place] for place in batch] for batch in batches)
                for batch, reply in zip(batches, threads.map(self._ask, calls), strict=True):
                    if reply not in ("timeout", "crash"):
                        rewards |= zip(batch, self._rewards(reply), strict=True)
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                self.__exit__()  # those that are busy, too
                raise
        return rewards

    def _ask(self, rows: list[Row], load_only: bool = False) -> Any:
        """A worker's reply to a call; what the function has printed by then is shown."""
        worker = self._free_worker()
        seconds = self.seconds * len(rows)
        reply: Any = {"fault": worker.load()}
        names = worker.parameters or {}
        there = {"completions", "answers"}.union(*rows)
        if missing := [name for name in names if names[name] and name not in there]:
            reply = {
                "fault": f"asks for {', '.join(missing)}, and the columns are"
                f" {', '.join(sorted(there))}"
            }
        elif worker.parameters is not None and not load_only:
            wanted = there if "**" in names else there & names.keys()
            columns = {name: [row.get(name) for row in rows] for name in sorted(wanted)}
            reply = worker.ask((seconds, len(rows), columns), seconds)
        with self._turn:
            self._show(worker.printed)
            worker.printed = b""
            if worker.parameters is not None and reply not in ("timeout", "crash"):
                self._idle.append(worker)
            elif worker in self._workers:
                self._workers.remove(worker)
                worker.kill()
        return reply

    def _free_worker(self) -> Worker:
        """A worker that has nothing to do, a new one if there is none."""
        with self._turn:
            while self._idle:
                worker = self._idle.pop()
                if not wait([worker.channel], 0):
                    return worker
                self._workers.remove(worker)  # killed from outside, or it speaks unasked
                worker.kill()
            worker = Worker(self._arguments)
            self._workers.append(worker)
            return worker

    def _show(self, text: bytes) -> None:
        """Print on standard error what the function printed, up to SHOWN characters of it.

        Each line begins with the function's name, and has nothing that a terminal would obey: it
        may be a model's.
        """
        for line in text.decode(errors="replace").expandtabs().splitlines():
            if self._room <= 0:
                return
            harmless = (
                sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in line
            )
            shown = f"{self.spec}: {''.join(harmless)[: self._room]}"
            self._room -= len(line) + 1
            if self._room <= 0:
                shown += f"\nlab: what else {self.spec} prints is not shown"
            print(shown, file=sys.stderr, flush=True)

    def _rewards(self, reply: dict[str, Any]) -> list[float | None]:
        """The rewards of a worker's reply, if any. LabError: a fault of the function."""
        if fault := reply.get("fault"):
            binary = "0, 1 or None for each, or take an estimator of real rewards (lab.lift)"
            cure = binary if self.right_from is None else "a finite number or None for each"
            raise LabError(
                f"the reward {self.spec} {fault}: give a function of completions, prompts, answers"
                f" or other columns that returns {cure}"
            )
        rewards: list[float | None] = reply.get("rewards", [])
        return rewards


def check_reward(spec: str) -> None:
    """LabError: the spec is not "FILE.py:NAME" or "MODULE:NAME", or there is no such file."""
    place, colon, name = spec.rpartition(":")
    if not (colon and place and name.isidentifier()):
        raise LabError(
            f"reward = {spec!r}: write FILE.py:NAME or MODULE:NAME, for example mine.py:reward"
        )
    if place.endswith(".py") and not Path(place).is_file():
        raise LabError(f"reward = {spec!r}: there is no file {place}; check the path")


Judge = Verifier | RewardFunction  # both have `check` and `unparsable`


def judge(
    style: str, reward: str, error_limit: float = 0.02, right_from: float | None = None
) -> Judge:
    """The reward function `reward`; without one, the verifier, whose answers are right or wrong.

    What a model says to one of the lab, of reasoning_gym's, is wrong where its check is late.
    """
    if reward:
        late = 0.0 if is_ours(reward) else None
        return RewardFunction(reward, error_limit=error_limit, right_from=right_from, late=late)
    return Verifier(style, error_limit=error_limit)
