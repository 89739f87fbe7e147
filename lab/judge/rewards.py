"""Reward functions of one's own, in place of the verifier.

    def reward(completions: list[str], answers: list[str]) -> list[float | None]: ...

It gets a batch of completions, each with the answer of its problem (any text), and returns 1, 0 or
None for each; where the estimator takes real rewards (`lab.lift`), any finite number. It runs in
worker processes, as the user's code, with the environment of the caller and no limit but that of
time. None, and a call that is late or kills its process, mean a lost
rollout. What it prints is shown on standard error, with its name; it has no standard input.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from lab.errors import LabError, real, whole
from lab.judge.verifier import MIN_CHECKS, Verdict, Verifier
from lab.judge.worker_pool import START_SECONDS, Request, Workers

BATCH = 64  # completions a call
SHOWN = 10_000  # characters of what a function prints, over its life


class RewardFunction:
    """Judges completions with the function `spec`, in a `with`: it holds worker processes.

    | argument | meaning |
    |---|---|
    | `spec` | "FILE.py:NAME", or "MODULE:NAME" as Python imports it from here |
    | `seconds` | wall time of a call, for each completion in it |
    | `workers` | processes at most; None: one a core |
    | `error_limit` | share of a call's completions, at least 50, that may be late or crash |
    | `right_from` | None: rewards are 0 or 1; a number: any, and an answer is right from there on |

    It has the methods of `Verifier`. LabError: the spec names no function.
    """

    def __init__(
        self,
        spec: str,
        seconds: float = 1.0,
        workers: int | None = None,
        error_limit: float = 0.02,
        right_from: float | None = None,
    ) -> None:
        check_reward(spec)
        self.spec = spec
        self.right_from = None if right_from is None else real("right_from", right_from)
        self.error_limit = real("error_limit", error_limit, 0, 1)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self.seconds = real("seconds", seconds, 0.01, 600)
        self._room = SHOWN  # characters that may still be shown
        self._pool = Workers(
            whole("workers", cores if workers is None else workers),
            [spec, os.getcwd(), "binary" if right_from is None else "graded"],
            self._show,
            self._refuse,
        )

    def __enter__(self) -> RewardFunction:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    def unparsable(self, golds: Sequence[str]) -> dict[int, str]:
        """None: the function alone knows what an answer means."""
        return {}

    def check(self, responses: Sequence[str], golds: Sequence[str]) -> list[Verdict]:
        """One verdict a response, in order; its reason is the function.

        LabError: the function fails, or returns something else than 0, 1 or None (a finite number
        or None, with `right_from`) for every response; too many calls are late or crash.
        """
        if len(responses) != len(golds):
            raise LabError(
                f"{len(responses)} responses and {len(golds)} golds: give every response its gold"
                " answer"
            )
        pairs = list(zip(responses, golds, strict=True))
        rewards: dict[int, float | None] = {}
        starts = range(0, len(pairs), BATCH)
        failed = self._judge([range(len(pairs))[at : at + BATCH] for at in starts], pairs, rewards)
        # A call that failed is made again one by one, so that it loses as little as possible.
        alone = [range(row, row + 1) for rows in failed for row in rows]
        lost = len(self._judge(alone, pairs, rewards))
        if len(pairs) >= MIN_CHECKS and lost > self.error_limit * len(pairs):
            raise LabError(
                f"{self.spec} was late or crashed for {lost} of {len(pairs)} completions: the limit"
                f" is {self.error_limit:.1%}; make it faster, or let it return None"
            )
        return [self._verdict(rewards.get(row)) for row in range(len(pairs))]

    def _verdict(self, reward: float | None) -> Verdict:
        if reward is None:
            return Verdict("error", self.spec, None)
        if self.right_from is None:
            return Verdict("right" if reward == 1 else "wrong", self.spec, None)
        outcome = "right" if reward >= self.right_from else "wrong"
        return Verdict(outcome, self.spec, None, grade=reward)

    def _judge(
        self,
        batches: list[range],
        pairs: list[tuple[str, str]],
        rewards: dict[int, float | None],
    ) -> list[range]:
        """Fill in the rewards of each batch of rows; returns the batches that were late or died."""
        requests = []
        for rows in batches:
            seconds = self.seconds * len(rows)
            content = (seconds, *zip(*pairs[rows.start : rows.stop], strict=True))
            requests.append(Request(rows, content, seconds))
        failed = []
        with closing(self._pool.replies(requests)) as replies:
            for request, reply in replies:
                if reply in ("timeout", "crash"):
                    failed.append(request.rows)
                else:
                    values = self._read(reply)
                    rewards.update(zip(request.rows, values, strict=True))
        return failed

    def _show(self, text: bytes) -> None:
        """Print on standard error what the function printed, up to SHOWN characters of it.

        Each line begins with the function's name, and has nothing that a terminal would obey: it
        may be a model's.
        """
        for line in text.decode(errors="replace").expandtabs().splitlines():
            if self._room <= 0:
                return
            harmless = "".join(
                sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in line
            )
            print(f"{self.spec}: {harmless[: self._room]}", file=sys.stderr, flush=True)
            self._room -= len(line) + 1
            if self._room <= 0:
                print(
                    f"lab: what else {self.spec} prints is not shown", file=sys.stderr, flush=True
                )

    def _refuse(self, reply: Any) -> None:
        faults = {
            "crash": "ends its process when it is loaded",
            "timeout": f"is not loaded after {START_SECONDS:g} s",
        }
        self._read({"fault": faults[reply]} if isinstance(reply, str) else reply)

    def _read(self, reply: dict[str, Any]) -> list[float | None]:
        """The rewards in a worker's reply. LabError: a fault of the function."""
        if fault := reply.get("fault"):
            cure = (
                "0, 1 or None for each, or take an estimator of real rewards (lab.lift)"
                if self.right_from is None
                else "a finite number or None for each"
            )
            raise LabError(
                f"the reward {self.spec} {fault}: give a function of completions and answers that"
                f" returns {cure}"
            )
        return reply["rewards"]


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
    """The reward function `reward`; without one, the verifier, whose answers are right or wrong."""
    if reward:
        return RewardFunction(reward, error_limit=error_limit, right_from=right_from)
    return Verifier(style, error_limit=error_limit)
