"""Named random streams that need no saving.

Every draw is a function of (seed, stream, step). A run that is killed and resumed at step s draws
what it would have drawn, and two runs with the same seed and different estimators see the same
data, initial weights and random numbers.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


def stream_seed(seed: int, stream: str, step: int = 0) -> int:
    """A 63-bit seed for one stream at one step, for generators that take an integer (torch).

    torch's CPU generator reads the low 32 bits only, so two steps of a long run may, rarely, draw
    the same numbers.
    """
    return int(_sequence(seed, stream, step).generate_state(1, np.uint64)[0] >> 1)


def generator(seed: int, stream: str, step: int = 0) -> np.random.Generator:
    """NumPy's generator for one stream at one step."""
    return np.random.default_rng(_sequence(seed, stream, step))


def _sequence(seed: int, stream: str, step: int) -> np.random.SeedSequence:
    return np.random.SeedSequence([seed, int.from_bytes(stream.encode(), "little"), step])


@contextmanager
def generators_restored() -> Iterator[None]:
    """Leave the global generators of Python, NumPy and torch (on the CPU) as they were."""
    import torch

    python_state = random.getstate()
    numpy_state = np.random.get_state()  # noqa: NPY002
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002
