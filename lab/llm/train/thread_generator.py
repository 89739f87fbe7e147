"""A training loop that reports through callbacks, as a generator.

The loop runs in a thread of its own. It and its consumer take turns, so that only one of the two
runs at a time: the loop sends a value and then waits until the next one is requested. When the
consumer closes the generator, the loop ends at its next call of the channel.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any


class LoopStopped(BaseException):
    """Raised inside the loop once its consumer has gone; no `except Exception` swallows it."""


class Channel:
    """What the loop uses to send values, and to learn that it must stop."""

    def __init__(self) -> None:
        self.requests: SimpleQueue[None] = SimpleQueue()
        self.values: SimpleQueue[tuple[Any, ...]] = SimpleQueue()  # (value,), or () at the end
        self.stopped = False

    def send(self, value: Any) -> None:
        """Send a value and wait until the next one is requested."""
        self.values.put((value,))
        self.requests.get()
        self.raise_if_stopped()

    def raise_if_stopped(self) -> None:
        """Leave the loop if its consumer has gone; for places where there is no value to send."""
        if self.stopped:
            raise LoopStopped


def generate_from_thread(loop: Callable[[Channel], None]) -> Iterator[Any]:
    """The values that `loop(channel)` sends, one at a time; an error inside it is raised here."""
    channel = Channel()
    errors: list[BaseException] = []

    def run_loop() -> None:
        try:
            loop(channel)
        except LoopStopped:
            pass
        except BaseException as error:
            errors.append(error)
        finally:
            channel.values.put(())

    thread = threading.Thread(target=run_loop, daemon=True, name="training")
    thread.start()
    try:
        while value := channel.values.get():
            yield value[0]
            channel.requests.put(None)
    finally:
        # Also where the consumer closes the generator: the loop wakes, and stops.
        channel.stopped = True
        channel.requests.put(None)
        thread.join()
    if errors:
        raise errors[0]
