"""Time the advantages of a batch: `python benchmarks/advantages.py [--repeats 30]`.

Three ways to the same numbers, which are checked to be equal: a Python loop over groups with mean
and standard deviation (as the official codes do), the same formula over the whole batch at once,
and the look-up of `lab.advantages` with and without its test for 0 and 1. Medians of one run on one
thread.
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

SHAPES = [(256, 128), (4096, 16)]
KINDS = ["maxrl", "grpo"]


def numpy_loop(kind, rewards):
    out = np.zeros_like(rewards)
    for row, r in zip(out, rewards, strict=True):
        mean = r.mean()
        scale = mean if kind == "maxrl" else r.std()
        if scale > 0:
            row[:] = (r - mean) / scale
    return out


def torch_loop(kind, rewards):
    out = torch.zeros_like(rewards)
    for row, r in zip(out, rewards, strict=True):
        mean = r.mean()
        scale = mean if kind == "maxrl" else r.std(correction=0)
        if scale > 0:
            row[:] = (r - mean) / scale
    return out


def numpy_formula(kind, rewards):
    mean = rewards.mean(-1, keepdims=True)
    scale = mean if kind == "maxrl" else rewards.std(-1, keepdims=True)
    return np.divide(rewards - mean, scale, out=np.zeros_like(rewards), where=scale > 0)


def torch_formula(kind, rewards):
    mean = rewards.mean(-1, keepdim=True)
    scale = mean if kind == "maxrl" else rewards.std(-1, keepdim=True, correction=0)
    return torch.where(scale > 0, (rewards - mean) / scale, 0)


def median_ms(work: Callable[[], object], repeats: int) -> float:
    work()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return 1000 * statistics.median(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, torch {torch.__version__}; one thread; medians of {repeats}, ms\n"
    )
    print(
        f"{'estimator':9} {'batch':>9} {'library':7}"
        + "".join(
            f"{head:>12}"
            for head in ("loop", "formula", "lab", "unchecked", "loop/lab", "formula/lab")
        )
    )
    for problems, rollouts in SHAPES:
        rng = np.random.default_rng(0)
        array = (rng.random((problems, rollouts)) < rng.beta(0.3, 1.0, (problems, 1))).astype(
            np.float32
        )
        for rewards, loop, formula in (
            (array, numpy_loop, numpy_formula),
            (torch.from_numpy(array), torch_loop, torch_formula),
        ):
            for kind in KINDS:
                ways = [partial(way, kind, rewards) for way in (loop, formula, lab.advantages)]
                ways.append(partial(lab.advantages, kind, rewards, check=False))
                results = [np.asarray(way()) for way in ways]
                for advantages in results[1:]:
                    np.testing.assert_allclose(results[0], advantages, rtol=1e-5, atol=1e-5)
                ms = [median_ms(way, repeats) for way in ways]
                library = "numpy" if rewards is array else "torch"
                cells = [f"{t:12.3f}" for t in ms] + [f"{t / ms[2]:12.1f}" for t in ms[:2]]
                print(f"{kind:9} {f'{problems}x{rollouts}':>9} {library:7}" + "".join(cells))
    print("\nall results equal to 1e-5")


if __name__ == "__main__":
    main()
