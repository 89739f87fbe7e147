"""A training loop that reports through callbacks, as a generator.

The loop runs in a thread of its own. It and its consumer take turns, so that only one of the two
runs at a time: the loop sends a value and then waits until the next one is requested. When the
consumer closes the generator, the loop ends at its next call of the channel.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any


class LoopStopped(BaseException):
    """Raised inside the loop once its consumer has gone.

    It is a BaseException, so that no `except Exception` of a library swallows it.
    """


class Channel:
    """What the loop uses to send values, and to learn that it must stop."""

    def __init__(self) -> None:
        self._next_requested = threading.Semaphore(0)
        self._loop_paused = threading.Semaphore(0)
        self._values: list[Any] = []
        self._stopped = False

    def send(self, value: Any) -> None:
        """Send a value and wait until the next one is requested."""
        self._values.append(value)
        self._loop_paused.release()
        self._next_requested.acquire()
        self.raise_if_stopped()

    def raise_if_stopped(self) -> None:
        """Leave the loop if its consumer has gone; for places where there is no value to send."""
        if self._stopped:
            raise LoopStopped


def generate_from_thread(loop: Callable[[Channel], None]) -> Iterator[Any]:
    """The values that `loop(channel)` sends, one at a time; an error inside it is raised here."""
    channel = Channel()
    errors: list[BaseException] = []

    def run_loop() -> None:
        channel._next_requested.acquire()
        try:
            channel.raise_if_stopped()
            loop(channel)
        except LoopStopped:
            pass
        except BaseException as error:
            errors.append(error)
        finally:
            channel._loop_paused.release()

    thread = threading.Thread(target=run_loop, daemon=True, name="training")
    thread.start()
    try:
        while True:
            channel._next_requested.release()
            channel._loop_paused.acquire()
            # The loop paused without a value: it has returned, or failed.
            if not channel._values:
                break
            yield channel._values.pop()
    finally:
        # Also where the consumer closes the generator: the loop wakes, and stops.
        channel._stopped = True
        channel._next_requested.release()
        thread.join()
    if errors:
        raise errors[0]
