"""Objectives side by side on the same problems and random numbers: the explorer's live toy.

The world of `lab.toy.tabular`, drawn answer by answer: every uniform is a function of (seed, step,
problem, rollout) by Philox4x32-10, in 32-bit integers, so that the page (lab/explorer/front/toy.js)
draws and gives the same numbers.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lab.errors import LabError, real, whole
from lab.estimators import Estimator, estimator

Array = NDArray[np.float64]
Words = NDArray[np.uint64]  # 32-bit words held in 64 bits, so that products do not overflow

ANSWERS, HARDEST, EASIEST = 8, 0.001, 0.9
STREAM = 0x6C6162  # the second word of the key: "lab"
LOW = np.uint64(0xFFFFFFFF)
MULTIPLY = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
RAISE = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)


def philox(counter: Sequence[Words | int], key: Sequence[int]) -> list[Words]:
    """Four random 32-bit words for each counter of four words: Philox4x32-10 (Salmon et al. 2011,
    Random123).

    `counter` is four whole numbers or arrays that broadcast, `key` two whole numbers, all below
    2^32.

    >>> [f"{int(word):08x}" for word in philox((0, 0, 0, 0), (0, 0))]  # Random123's known answer
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    c0, c1, c2, c3 = np.broadcast_arrays(*(np.asarray(word, dtype=np.uint64) for word in counter))
    k0, k1 = (np.uint64(word) for word in key)
    for _ in range(10):
        one, two = MULTIPLY[0] * c0, MULTIPLY[1] * c2
        c0, c1, c2, c3 = (
            (two >> np.uint64(32)) ^ c1 ^ k0,
            two & LOW,
            (one >> np.uint64(32)) ^ c3 ^ k1,
            one & LOW,
        )
        k0, k1 = (k0 + RAISE[0]) & LOW, (k1 + RAISE[1]) & LOW
    return [c0, c1, c2, c3]


def uniforms(seed: int, step: int, problems: int, rollouts: int) -> Array:
    """Numbers in (0, 1), "problems rollouts": four per counter (rollout // 4, problem, step, 0)."""
    blocks = np.arange(-(-rollouts // 4), dtype=np.uint64)
    words = philox((blocks, np.arange(problems, dtype=np.uint64)[:, None], step, 0), (seed, STREAM))
    return ((np.stack(words, axis=-1) + 0.5) / 2**32).reshape(problems, -1)[:, :rollouts]


def pass_rates(
    objectives: Sequence[str | Estimator],
    *,
    rollouts: int,
    problems: int = 96,
    steps: int = 400,
    step_length: float | None = None,
    learning_rate: float | None = None,
    seed: int = 0,
) -> Array:
    """Pass rates before the first step and after each, "objectives steps+1 problems", hardest
    problem first.

    Ascent along the sampled gradient from the same start; what differs is the objective alone.
    Every step has the same length: problems' rows of logits change by `step_length` in the root
    mean square (0.05, unless one of the two is given), and a batch of dead groups alone moves
    nothing. With `learning_rate` a step is that times the gradient: estimators of a larger scale
    then also take longer steps.

    LabError: a value out of range, or both of `step_length` and `learning_rate`.
    """
    whole("steps", steps, 0), whole("problems", problems), whole("rollouts", rollouts)
    if step_length is not None and learning_rate is not None:
        raise LabError("found step_length and learning_rate: give one of them")
    if learning_rate is None:
        length = real("step_length", 0.05 if step_length is None else step_length, 0)
        change = partial(_of_length, length=length)
    else:
        change = partial(np.multiply, real("learning_rate", learning_rate))
    if whole("seed", seed, 0) >= 2**32:
        raise LabError(f"seed = {seed}: the generator's key has 32 bits, give a seed below 2^32")
    return np.stack(
        [
            np.stack(list(_train(estimator(one), rollouts, problems, steps, seed, change)))
            for one in objectives
        ]
    )


def _of_length(gradient: Array, length: float) -> Array:
    """The gradient with rows as long as `length` in the root mean square; zero stays zero."""
    norm = np.linalg.norm(gradient)
    return gradient * (length * np.sqrt(len(gradient)) / norm) if norm > 0 else gradient


def _train(
    chosen: Estimator,
    N: int,
    problems: int,
    steps: int,
    seed: int,
    change: Callable[[Array], Array],
) -> Iterator[Array]:
    a1, a0 = chosen.success_failure(N)
    ends = [np.log(p) - np.log1p(-p) for p in (HARDEST, EASIEST)]
    share = np.arange(problems) / max(problems - 1, 1)
    logits = np.zeros((problems, ANSWERS))
    logits[:, 0] = ends[0] * (1 - share) + share * ends[1] + np.log(ANSWERS - 1)
    for step in range(steps + 1):
        pi = np.exp(logits - logits.max(axis=1, keepdims=True))
        pi /= pi.sum(axis=1, keepdims=True)
        yield pi[:, 0].copy()
        if step == steps:
            return
        counts = draw(pi, uniforms(seed, step, problems, N))
        logits += change(sampled_gradient(pi, counts, a1, a0))


def draw(pi: Array, u: Array) -> Array:
    """How often each answer comes up, "problems answers": the first whose cumulative chance exceeds
    u.
    """
    answer = (u[:, :, None] >= np.cumsum(pi, axis=1)[:, None, :-1]).sum(axis=-1)
    return (answer[:, :, None] == np.arange(pi.shape[1])).sum(axis=1).astype(np.float64)


def sampled_gradient(pi: Array, counts: Array, a1: Array, a0: Array) -> Array:
    """(1/N) sum_i A_i grad log pi(y_i) by the logits, "problems answers", from counts; answer 0 is
    right.
    """
    N, K = counts[0].sum(), counts[:, :1].astype(int)
    paid = counts * np.where(np.arange(pi.shape[1]) == 0, a1[K], a0[K])
    return (paid - (a1[K] * K + a0[K] * (N - K)) * pi) / N
