"""A library's training loop, which calls us, as a generator, which we call. Floor 2.

The loop runs in a thread of its own and only ever one of the two runs: each value that it tells is
handed over, and it waits until the next one is asked for. Whoever stops asking stops the loop at
its next word.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any


class LoopStopped(BaseException):
    """Raised inside the loop when nobody asks any more; a BaseException, so that no library
    swallows it.
    """


class Channel:
    """What the loop speaks through: `send(value)`, and `raise_if_stopped()` where it has nothing to say but
    may be stopped.
    """

    def __init__(self) -> None:
        self._turn, self._told = threading.Semaphore(0), threading.Semaphore(0)
        self._values: list[Any] = []
        self._stopped = False

    def send(self, value: Any) -> None:
        """Hand over a value and wait until the next is asked for."""
        self._values.append(value)
        self._told.release()
        self._turn.acquire()
        self.raise_if_stopped()

    def raise_if_stopped(self) -> None:
        """Leave the loop if nobody asks any more."""
        if self._stopped:
            raise LoopStopped


def generate_from_loop(loop: Callable[[Channel], None]) -> Iterator[Any]:
    """The values that `loop(channel)` tells, one at a time; an error inside it is raised here."""
    channel, failed = Channel(), []

    def work() -> None:
        channel._turn.acquire()
        try:
            channel.raise_if_stopped()
            loop(channel)
        except LoopStopped:
            pass
        except BaseException as error:
            failed.append(error)
        finally:
            channel._told.release()

    thread = threading.Thread(target=work, daemon=True, name="training")
    thread.start()
    try:
        while True:
            channel._turn.release()
            channel._told.acquire()
            if not channel._values:
                break
            yield channel._values.pop()
    finally:
        channel._stopped = True
        channel._turn.release()
        thread.join()
    if failed:
        raise failed[0]
