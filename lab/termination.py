"""SIGTERM, of a batch system or docker stop, as a request to stop after this step. Floor 0."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EXIT_CODE = 128 + signal.SIGTERM  # what a shell reports of a process that SIGTERM ended


class Terminated(BaseException):
    """Work was stopped by SIGTERM and is whole on disk; the command line ends with EXIT_CODE.

    The text is a sentence for standard error, or nothing for a process that is not to speak. It
    passes every `except Exception`.
    """


class Request:
    """Whether this process was asked to stop.

    Processes that train one model together must all stop after the same step, so there only that
    counts on which they agreed (`agree`), and not what has reached this one alone.
    """

    def __init__(self) -> None:
        self.came = False
        self._agreed: bool | None = None

    @property
    def due(self) -> bool:
        """Whether to stop now, at a step's end."""
        return self.came if self._agreed is None else self._agreed

    def agree(self, stop: bool) -> None:
        """Let the answer be `stop` until the next call, which comes with the next step."""
        self._agreed = stop

    def clear(self) -> None:
        self.came, self._agreed = False, None


REQUEST = Request()  # of this process, as signals are


@contextmanager
def on_sigterm(act: Callable[[], None]) -> Iterator[None]:
    """Inside, SIGTERM calls `act` and ends nothing by itself; after it, it is what it was.

    After `Terminated` it is ignored instead.

    Only the main thread can do this: in another one nothing changes. A second SIGTERM, such as one
    from a batch system and one from a launcher that passes it on, is like the first.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: act())
    after = before
    try:
        yield
    except Terminated:
        after = signal.SIG_IGN  # the process is on its way out, and has an exit code to give
        raise
    finally:
        signal.signal(signal.SIGTERM, after)


@contextmanager
def stopping_after_a_step() -> Iterator[Request]:
    """Inside, SIGTERM is a request that the work looks at after each step.

    Terminated: it came too late to be looked at.
    """

    def ask() -> None:
        REQUEST.came = True

    REQUEST.clear()
    try:
        with on_sigterm(ask):
            yield REQUEST
            if REQUEST.came:
                raise Terminated(
                    "stopped by SIGTERM after the last step; the same command goes on from here"
                )
    finally:
        REQUEST.clear()
