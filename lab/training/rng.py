"""Named random streams that need no saving.

Every draw is a function of (seed, stream, step). A run that is killed and resumed at step s draws
what it would have drawn, and two runs with the same seed and different estimators see the same
data, initial weights and random numbers.
"""

from functools import lru_cache

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


@lru_cache(maxsize=2)
def epoch_order(seed: int, epoch: int, rows: int) -> np.ndarray:
    """The rows of a data set in the order of an epoch; two are kept, as a million take 20 ms."""
    return generator(seed, "order", epoch).permutation(rows)


def _sequence(seed: int, stream: str, step: int) -> np.random.SeedSequence:
    return np.random.SeedSequence([seed, int.from_bytes(stream.encode(), "little"), step])
