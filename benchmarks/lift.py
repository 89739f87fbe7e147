"""Time lifted advantages of a batch: `python benchmarks/lift.py [--repeats 100] [--loops 5]`.

Five ways to the same numbers, which are checked to be equal: the definition, a loop over groups and
over their levels with the binary advantages of each level; a loop over groups with one sort and a
running sum in plain Python; the same loop with torch's sort and sums, as in TailRL's official code,
and with NumPy's; and `lab.advantages` of the whole batch, with and without its check of the
rewards. On one thread: medians of the wall time, and the least processor time, which a busy
machine disturbs less.
"""

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch

import lab

SHAPES = [(256, 128), (4096, 16), (32, 1024)]
KINDS = ["maxrl", "rloo", "pkpo(k=4)"]


def by_level(kind: str, rewards: np.ndarray) -> np.ndarray:
    """The definition: every level of every group is a group of right and wrong rollouts."""
    A = np.zeros_like(rewards)
    for row, r in zip(A, rewards, strict=True):
        levels = [0.0, *sorted(set(r)), 1.0]
        for below, level in zip(levels[:-1], levels[1:], strict=True):
            right = (r >= level).astype(np.float64)
            row += (level - below) * lab.advantages(kind, right, check=False)
    return A


def in_python(kind: str, rewards: np.ndarray) -> np.ndarray:
    """A loop over groups and rollouts in plain Python."""
    N = rewards.shape[-1]
    a1, a0 = (row.tolist() for row in lab.estimator(kind).success_failure(N))
    A = []
    for r in rewards.tolist():
        order = sorted(range(N), key=r.__getitem__)
        agreed = r[order[0]] * a1[N] + (1 - r[order[-1]]) * a0[0]
        missed = sum(
            (r[i] - r[below]) * a0[N - m]
            for m, (below, i) in enumerate(zip(order[:-1], order[1:], strict=True), start=1)
        )
        reached, row, before = 0.0, [0.0] * N, r[order[0]]
        for m, i in enumerate(order):
            reached += (r[i] - before) * a1[N - m]
            missed -= (r[i] - before) * a0[N - m]
            row[i] = reached + missed + agreed
            before = r[i]
        A.append(row)
    return np.array(A)


def in_numpy(kind: str, rewards: np.ndarray) -> np.ndarray:
    """A loop over groups with NumPy's sort and sums for each."""
    N = rewards.shape[-1]
    a1, a0 = lab.estimator(kind).success_failure(N)
    A = np.empty_like(rewards)
    for row, r in zip(A, rewards, strict=True):
        order = r.argsort()
        ordered = r[order]
        steps = np.diff(ordered, prepend=ordered[0])
        reached, missed = np.cumsum(steps * a1[:0:-1]), np.cumsum(steps * a0[:0:-1])
        agreed = ordered[0] * a1[N] + (1 - ordered[-1]) * a0[0]
        row[order] = reached + (missed[-1] - missed) + agreed
    return A


def in_torch(kind: str, rewards: np.ndarray) -> np.ndarray:
    """A loop over groups with torch's sort and sums for each."""
    N = rewards.shape[-1]
    a1, a0 = map(torch.from_numpy, lab.estimator(kind).success_failure(N))
    right, wrong = a1[1:].flip(0), a0[1:].flip(0)
    A = torch.empty(rewards.shape, dtype=torch.float64)
    for row, r in zip(A, torch.from_numpy(rewards), strict=True):
        ordered, order = r.sort()
        steps = ordered.diff(prepend=ordered[:1])
        reached, missed = (steps * right).cumsum(0), (steps * wrong).cumsum(0)
        agreed = ordered[0] * a1[N] + (1 - ordered[-1]) * a0[0]
        row[order] = reached + (missed[-1] - missed) + agreed
    return A.numpy()


def milliseconds(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """The median wall time, and the least processor time."""
    work()
    wall, processor = [], []
    for _ in range(repeats):
        start, processor_start = time.perf_counter(), time.process_time()
        work()
        processor.append(time.process_time() - processor_start)
        wall.append(time.perf_counter() - start)
    return 1000 * statistics.median(wall), 1000 * min(processor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--loops", type=int, default=5, help="repeats of the slow ways")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, torch {torch.__version__}; one thread; wall: medians of"
        f" {arguments.repeats} (loops: {arguments.loops}), processor: the least; ms\n"
    )
    loops = (by_level, in_python, in_torch, in_numpy)
    heads = ("by level", "in Python", "in torch", "in NumPy", "lab", "unchecked")
    print(
        f"{'estimator':10} {'batch':>9} {'time':10}"
        + "".join(f"{head:>11}" for head in heads)
        + "".join(f"{head + '/lab':>15}" for head in heads[:4])
    )
    for problems, rollouts in SHAPES:
        rewards = np.random.default_rng(0).random((problems, rollouts))
        for kind in KINDS:
            lifted = lab.lift(kind, low=0, high=1)
            ways = [partial(way, kind, rewards) for way in loops]
            ways.append(partial(lab.advantages, lifted, rewards))
            ways.append(partial(lab.advantages, lifted, rewards, check=False))
            expected, *others = [way() for way in ways]
            for other in others:
                np.testing.assert_allclose(other, expected, rtol=1e-9, atol=1e-9)
            repeats = [1] + [arguments.loops] * 3 + [arguments.repeats] * 2
            times = [milliseconds(way, n) for way, n in zip(ways, repeats, strict=True)]
            for name, ms in zip(("wall", "processor"), zip(*times, strict=True), strict=True):
                cells = [f"{t:11.3f}" for t in ms] + [f"{t / ms[4]:15.1f}" for t in ms[:4]]
                print(f"{kind:10} {f'{problems}x{rollouts}':>9} {name:10}" + "".join(cells))
    print("\nall results equal to 1e-9")


if __name__ == "__main__":
    main()
