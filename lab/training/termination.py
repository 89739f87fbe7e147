"""SIGTERM, from a batch system or docker stop, as a request to stop after the current step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EXIT_CODE = 128 + signal.SIGTERM  # what a shell reports for a process that SIGTERM ended
INTERRUPTED = "lab: stopped; the same command goes on from here"  # the last words after Ctrl-C


class Terminated(BaseException):
    """Work was stopped by SIGTERM and is complete on disk; the command line exits with EXIT_CODE.

    Its text is for standard error. As a BaseException it passes every `except Exception`.
    """


@contextmanager
def on_sigterm(act: Callable[[], None]) -> Iterator[None]:
    """Inside, SIGTERM calls `act` and does not end the process.

    Afterwards the previous handler is restored; after `Terminated` SIGTERM is ignored instead. Only
    the main thread can set handlers: in another thread nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    acting = False

    def heed(*_: object) -> None:
        nonlocal acting
        if acting:  # it would wait forever for a lock that the one being heeded holds
            return
        acting = True
        try:
            act()
        finally:
            acting = False

    before = signal.signal(signal.SIGTERM, heed)
    after = before
    try:
        yield
    except Terminated:
        after = signal.SIG_IGN  # the process is on its way out, and has an exit code to give
        raise
    finally:
        signal.signal(signal.SIGTERM, after)


@contextmanager
def stopping_after_a_step() -> Iterator[threading.Event]:
    """Inside, SIGTERM asks to stop after the step. Terminated: it came too late for that."""
    request = threading.Event()
    with on_sigterm(request.set):
        yield request
        if request.is_set():
            raise Terminated(
                "stopped by SIGTERM after the last step; the same command goes on from here"
            )
