"""Objectives side by side on the same problems and random numbers: the explorer's live toy.

The world of `lab.toy.tabular`, drawn answer by answer: every uniform is a function of (seed, step,
problem, rollout) by Philox4x32-10, in 32-bit integers, so that the page (lab/explorer/front/toy.js)
draws and gives the same numbers. Here problems may also share parameters, and then they compete.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.errors import LabError, real, whole
from lab.mathematics.estimators import Estimator, estimator
from lab.mathematics.objectives import check_pass_rates
from lab.mathematics.weights import binomial, induced_weight

Array = NDArray[np.float64]
Words = NDArray[np.uint64]  # 32-bit words held in 64 bits, so that products do not overflow

ANSWERS, HARDEST, EASIEST = 8, 0.001, 0.9
PROBLEMS = 96
CERTAIN = 1e-6  # no start is nearer to 0 or 1, from where nothing could move it
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


def _words(key: int, step: int, kind: int, problems: int, columns: int) -> Words:
    """Random words, "problems columns": four per counter (column // 4, problem, step, kind)."""
    block = np.arange(-(-columns // 4), dtype=np.uint64)
    problem = np.arange(problems, dtype=np.uint64)[:, None]
    words = philox((block, problem, step, kind), (key, STREAM))
    return np.stack(words, axis=-1).reshape(problems, -1)[:, :columns]


def uniforms(seed: int, step: int, problems: int, rollouts: int) -> Array:
    """Numbers in (0, 1), "problems rollouts"."""
    return (_words(seed, step, 0, problems, rollouts) + 0.5) / 2**32


def features(problems: int, shared: int) -> Array:
    """What the shared parameters know of each problem, "problems shared": random signs, in rows of
    length 1.

    They belong to the world, not to a seed. Two problems help each other if more than half of their
    signs agree, and hinder each other if fewer do.
    """
    signs = _words(0, 0, 1, problems, shared) >> np.uint64(31)
    return (2.0 * signs - 1) / np.sqrt(max(shared, 1))


def pass_rates(
    objectives: Sequence[str | Estimator],
    *,
    rollouts: int,
    problems: int | None = None,
    start: ArrayLike | None = None,
    shared: int = 0,
    steps: int = 400,
    step_length: float | None = None,
    learning_rate: float | None = None,
    seed: int = 0,
    sampled: bool = True,
) -> Array:
    """Pass rates before the first step and after each, "objectives steps+1 problems".

    `problems` of them (96) start even in log-odds from 0.001 to 0.9, the hardest first; or `start`
    has their pass rates, held between 1e-6 and 1 - 1e-6. With `shared` features of the problems,
    their logits are those of the start plus `features` @ parameters, so that what one problem
    learns moves the others; with 0 each has its own.

    Every step has the same length: problems' rows of logits change by `step_length` in the root
    mean square (0.05, unless one of the two is given), and a batch of dead groups alone moves
    nothing. With `learning_rate` a step is that times the gradient. Not `sampled` is the
    prediction, along the expected gradient w_N(p) grad p: multiplied by `learning_rate`, or as far
    as makes `step_length` the root mean square of what sampled steps would have.

    LabError: a value out of range, or both of two that exclude each other.
    """
    whole("steps", steps, 0)
    whole("rollouts", rollouts, 1)
    whole("seed", seed, 0)
    if seed >= 2**32:
        raise LabError(f"seed = {seed}: the generator's key has 32 bits, give a seed below 2^32")
    if step_length is not None and learning_rate is not None:
        raise LabError("found step_length and learning_rate: give one of them")
    if learning_rate is None:
        step_length = real("step_length", 0.05 if step_length is None else step_length, 0)
    at_start = _logits_at_start(problems, start)
    count = len(at_start)
    basis = features(count, whole("shared", shared, 0)) if shared else np.eye(count)
    # How far a gradient of length 1 of each moves all, squared.
    reach = ((basis @ basis.T) ** 2).sum(axis=0)

    def path(chosen: Estimator) -> Iterator[Array]:
        """Pass rates step by step."""
        logits = at_start
        for step in range(steps + 1):
            pi = np.exp(logits - logits.max(axis=1, keepdims=True))
            pi /= pi.sum(axis=1, keepdims=True)
            yield pi[:, 0].copy()
            if sampled:
                counts = draw(pi, uniforms(seed, step, len(pi), rollouts))
                gradient, noise = sampled_gradient(pi, counts, chosen), 0.0
            else:
                gradient, square = expected_gradient(pi, chosen, rollouts)
                noise = reach @ (square - (gradient**2).sum(axis=1))
            change = basis @ (basis.T @ gradient)
            rate = learning_rate
            if rate is None:
                size = (change**2).sum() + noise
                rate = step_length * np.sqrt(count / size) if size > 0 else 0.0
            logits = logits + rate * change

    return np.stack([np.stack(list(path(estimator(one)))) for one in objectives])


def _logits_at_start(problems: int | None, start: ArrayLike | None) -> Array:
    """Logits of the right answer, 0, by its pass rate; the wrong ones are alike."""
    if start is None:
        count = whole("problems", PROBLEMS if problems is None else problems)
        hardest, easiest = _log_odds(np.array([HARDEST, EASIEST]))
        share = np.arange(count) / max(count - 1, 1)
        log_odds = hardest * (1 - share) + share * easiest
    else:
        p = np.clip(check_pass_rates(start), CERTAIN, 1 - CERTAIN)
        if problems is not None:
            raise LabError("found problems and start: give one of them")
        if p.ndim != 1 or not p.size:
            raise LabError(f"start has shape {p.shape}: give one pass rate a problem")
        log_odds = _log_odds(p)
    logits = np.zeros((len(log_odds), ANSWERS))
    logits[:, 0] = log_odds + np.log(ANSWERS - 1)
    return logits


def _log_odds(p: Array) -> Array:
    return np.log(p) - np.log1p(-p)


def draw(pi: Array, u: Array) -> Array:
    """How often each answer comes up, "problems answers": the first of cumulative chance over u."""
    answer = (u[:, :, None] >= np.cumsum(pi, axis=1)[:, None, :-1]).sum(axis=-1)
    return (answer[:, :, None] == np.arange(pi.shape[1])).sum(axis=1).astype(np.float64)


def sampled_gradient(pi: Array, counts: Array, chosen: Estimator) -> Array:
    """(1/N) sum_i A_i grad log pi(y_i) by the logits, "problems answers"; answer 0 is right."""
    N, K = int(counts[0].sum()), counts[:, :1].astype(int)
    a1, a0 = chosen.success_failure(N)
    paid = counts * np.where(np.arange(pi.shape[1]) == 0, a1[K], a0[K])
    return (paid - (a1[K] * K + a0[K] * (N - K)) * pi) / N


def expected_gradient(pi: Array, chosen: Estimator, N: int) -> tuple[Array, Array]:
    """The mean of `sampled_gradient`, "problems answers", which is w_N(p) grad p; and the mean of
    its squared length, "problems".

    With K right ones, S the sum of the group's advantages, D = a1 K - S p, and the wrong answers'
    shares q of 1 - p, the squared length is N^-2 E[(1 + |q|^2) D^2 + (1 - |q|^2) (N - K) a0^2].
    """
    a1, a0 = chosen.success_failure(N)
    p, K = pi[:, :1], np.arange(N + 1)
    direction = -p * pi
    direction[:, 0] += p[:, 0]
    mean = induced_weight(chosen, N, p) * direction
    alike = ((pi[:, 1:] / pi[:, 1:].sum(axis=1, keepdims=True)) ** 2).sum(axis=1, keepdims=True)
    D = a1 * K - (a1 * K + a0 * (N - K)) * p
    square = (1 + alike) * D**2 + (1 - alike) * (N - K) * a0**2
    return mean, (binomial(N, p[:, 0]) * square).sum(axis=1) / N**2
