"""A library's training loop, which calls us, as a generator, which we call. Floor 2.

The loop runs in a thread of its own and only ever one of the two runs: each value that it tells is
handed over, and it waits until the next one is asked for. Whoever stops asking stops the loop at
its next word.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any


class Stopped(BaseException):
    """Raised inside the loop when nobody asks any more; a BaseException, so that no library
    swallows it.
    """


class Handover:
    """What the loop speaks through: `tell(value)`, and `go_on()` where it has nothing to say but
    may be stopped.
    """

    def __init__(self) -> None:
        self._turn, self._told = threading.Semaphore(0), threading.Semaphore(0)
        self._values: list[Any] = []
        self._stopped = False

    def tell(self, value: Any) -> None:
        """Hand over a value and wait until the next is asked for."""
        self._values.append(value)
        self._told.release()
        self._turn.acquire()
        self.go_on()

    def go_on(self) -> None:
        """Leave the loop if nobody asks any more."""
        if self._stopped:
            raise Stopped


def generated(loop: Callable[[Handover], None]) -> Iterator[Any]:
    """The values that `loop(handover)` tells, one at a time; an error inside it is raised here."""
    handover, failed = Handover(), []

    def work() -> None:
        handover._turn.acquire()
        try:
            handover.go_on()
            loop(handover)
        except Stopped:
            pass
        except BaseException as error:
            failed.append(error)
        finally:
            handover._told.release()

    thread = threading.Thread(target=work, daemon=True, name="training")
    thread.start()
    try:
        while True:
            handover._turn.release()
            handover._told.acquire()
            if not handover._values:
                break
            yield handover._values.pop()
    finally:
        handover._stopped = True
        handover._turn.release()
        thread.join()
    if failed:
        raise failed[0]
