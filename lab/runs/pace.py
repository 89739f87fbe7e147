"""How long a training will take: measured in its first steps."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

from lab.configurations import Config
from lab.training.records import Pause, Record

MEASURED = 3  # steps, at least; the one before them compiles and allocates
MEASURED_SECONDS = 10.0  # at least: a GPU may be some steps behind
LEAST = 60.0  # seconds; of a training that takes less nothing is said


def announced(outputs: Iterator[Record | Pause], config: Config) -> Iterator[Record | Pause]:
    """The outputs of a trainer; prints once, after the first steps, how long the others will take.

    A step takes the median of those measured, an evaluation what the first one took.
    """
    settings = config.settings()
    steps = settings.get("steps", settings.get("start_steps", 0))
    log_every = settings.get("log_every", settings.get("start_log_every", steps + 1))
    evaluation, seconds = 0.0, []
    began, said = time.monotonic(), False
    for number, output in enumerate(outputs):
        spent = time.monotonic() - began
        if number == 0 and isinstance(output, Record):
            evaluation = spent
        elif number > 1 and (isinstance(output, Pause) or log_every == 1):
            seconds.append(spent)
        if not said and len(seconds) >= MEASURED and sum(seconds) >= MEASURED_SECONDS:
            said = True
            step, left = statistics.median(seconds), steps - output.step
            evaluations = 0 if log_every == 1 else -(-left // log_every)
            rest = left * step + evaluations * evaluation
            if rest >= LEAST:
                print(
                    f"about {duration(rest)} left, measured in the first steps: {left:,} steps of"
                    f" {duration(step)}, {evaluations} evaluations of {duration(evaluation)}",
                    flush=True,
                )
        yield output
        began = time.monotonic()


def duration(seconds: float) -> str:
    """A duration as text: two digits and a unit.

    >>> [duration(seconds) for seconds in (0.004, 0.25, 42, 600, 9000, 40000, 1.5e6)]
    ['4 ms', '250 ms', '42 s', '10 min', '2.5 h', '11 h', '17 days']
    """
    units = (("ms", 1e-3, 1), ("s", 1, 120), ("min", 60, 7200), ("h", 3600, 3 * 86400))
    fitting = [(unit, size) for unit, size, limit in units if seconds < limit]
    unit, size = fitting[0] if fitting else ("days", 86400)
    digits = f"{seconds / size:.2g}" if seconds / size < 99.5 else f"{seconds / size:.0f}"
    return f"{digits} {unit}"
