"""How fast a training is, how long the rest of it takes, and a line at each of its records."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from lab.configurations import Config
from lab.training.records import Pause, Record

# Of these metrics a line tells those that there are, else the first three.
TOLD = ("pass@1", "train pass@1", "mean reward", "loss", "dead groups", "mean length")
LEAST = 60.0  # seconds; less is not said to be left
UNITS = (("ms", 1e-3, 1), ("s", 1, 120), ("min", 60, 7200), ("h", 3600, 3 * 86400))


def total_steps(config: Config) -> int | None:
    """The steps of a training, or of a start; None if its trainer counts none."""
    settings = config.settings()
    return settings.get("steps", settings.get("start_steps"))


def described(config: Config) -> str:
    """Experiment, estimator and learning rate."""
    settings = config.settings()
    label = f"{config.name} {settings.get('estimator', '')}".strip()
    rate = settings.get("learning_rate")
    return label if rate is None else f"{label}, learning rate {rate:g}"


def timed(outputs: Iterator[Record | Pause]) -> Iterator[tuple[Record | Pause, float]]:
    """The outputs of a trainer, each with the seconds that it took."""
    began = time.monotonic()
    for output in outputs:
        yield output, time.monotonic() - began
        began = time.monotonic()


class Speed:
    """How fast a training of `total` steps was since its last record, and how long it will take.

    An output with groups was evaluated too; its seconds count only where all were.
    """

    def __init__(self, total: int | None = None) -> None:
        self.total = total
        self.made, self.seconds = -1, 0.0  # the first step, which compiles, does not count
        self.steps: list[tuple[bool, float, int]] = []  # evaluated, seconds, tokens

    def add(self, output: Record | Pause, seconds: float) -> None:
        """Note what an output took, its step included."""
        evaluated = isinstance(output, Record) and bool(output.groups)
        if output.step:
            self.made += 1
            self.seconds += seconds if self.made else 0.0
            self.steps.append((evaluated, seconds, sum(output.rollouts.get("tokens", ()))))

    def take(self) -> dict[str, float]:
        """ "seconds a step", and where a trainer tells its rollouts "tokens a second"; {} at first.

        The tokens are those of all answers, the seconds those of whole steps.
        """
        counted = [step for step in self.steps if not step[0]] or self.steps
        seconds, tokens = sum(step[1] for step in counted), sum(step[2] for step in counted)
        self.steps = []
        times = {"seconds a step": seconds / len(counted)} if counted else {}
        return times | ({"tokens a second": tokens / seconds} if tokens and seconds else {})


def line_of(record: Record, times: Mapping[str, float], speed: Speed) -> str:
    """A record in one line, for output that is no terminal: a pipe, a batch queue's log.

    The time left is that of the other steps, as if they took as long as those so far.
    """
    total, metrics = speed.total, record.metrics
    told = [name for name in metrics if name in TOLD or name.endswith(" pass@1")]
    parts = [f"{name} {metrics[name]:.3g}" for name in told or list(metrics)[:3]]
    if times:
        parts.append(f"{duration(times['seconds a step'])} a step")
    if "tokens a second" in times:
        parts.append(f"{times['tokens a second']:,.0f} tokens a second")
    if total and speed.made > 0:
        left = speed.seconds / speed.made * (total - record.step)
        parts += [f"about {duration(left)} left"] if left >= LEAST else []
    return f"step {record.step}{f'/{total}' if total else ''}: {', '.join(parts)}"


def say(bar: Any, words: str) -> None:
    """Words of a training: in a notebook beside its bar, elsewhere on a line of their own."""
    if words and hasattr(bar, "container"):  # a widget, below which lines would pile up
        bar.set_postfix_str(f"{bar.postfix}; {words}")
    elif words:
        bar.write(words)


def duration(seconds: float) -> str:
    """A duration as text: two digits and a unit.

    >>> [duration(seconds) for seconds in (0.004, 0.25, 42, 600, 9000, 40000, 1.5e6)]
    ['4 ms', '250 ms', '42 s', '10 min', '2.5 h', '11 h', '17 days']
    """
    fitting = [(unit, size) for unit, size, limit in UNITS if seconds < limit]
    unit, size = [*fitting, ("days", 86400)][0]
    digits = f"{seconds / size:.2g}" if seconds / size < 99.5 else f"{seconds / size:.0f}"
    return f"{digits} {unit}"
