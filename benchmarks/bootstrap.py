"""Time the interval of pass@k over problems: `python benchmarks/bootstrap.py [--problems 1000]`.

Both sides start from the same boolean sample matrix "problems samples" and end with ten 95%
percentile intervals. Ours is `lab.stats.bootstrap`; the other is `scipy.stats.bootstrap`,
vectorized, in the fastest of three batches. Counting and pass@k itself are `lab.metrics` on both
sides, and have a line of their own.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy
from scipy import stats as scipy_stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lab.metrics import pass_at_k
from lab.stats import bootstrap_each

KS = [1, 2, 4, 8, 16, 64, 256, 1024, 2048, 4096]
BATCHES = [10, 100, 1000]


def curve(matrix: np.ndarray) -> np.ndarray:
    n = matrix.shape[1]
    return pass_at_k(n, np.count_nonzero(matrix, axis=1), [k for k in KS if k <= n])


def ours(matrix: np.ndarray, draws: int) -> np.ndarray:
    return np.array(
        [(x.low, x.high) for x in bootstrap_each(curve(matrix), over="problems", draws=draws)]
    ).T


def theirs(matrix: np.ndarray, draws: int, batch: int) -> np.ndarray:
    result = scipy_stats.bootstrap(
        (curve(matrix),),
        np.mean,
        axis=0,
        n_resamples=draws,
        batch=batch,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(0),
    )
    return np.array(result.confidence_interval)


def best_of(repeats: int, work: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("problems", 1000), ("samples", 4096), ("draws", 10_000), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    matrix = rng.random((args.problems, args.samples)) < rng.beta(0.2, 1.0, (args.problems, 1))

    ready, values = best_of(args.repeats, lambda: curve(matrix))
    lab_time, lab_ends = best_of(args.repeats, lambda: ours(matrix, args.draws))
    tried = {b: best_of(1, lambda b=b: theirs(matrix, args.draws, b))[0] for b in BATCHES}
    batch = min(tried, key=tried.get)
    scipy_time, scipy_ends = best_of(args.repeats, lambda: theirs(matrix, args.draws, batch))

    print(
        f"{args.problems} problems x {args.samples} samples, {values.shape[1]} values of k, "
        f"{args.draws} draws, best of n = {args.repeats} runs"
    )
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores,"
        f" OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', 'unset')}, numpy {np.__version__},"
        f" scipy {scipy.__version__}"
    )
    print(f"\n{'from the sample matrix on':<42}{'seconds':>9}{'ratio':>8}")
    for name, seconds in (
        ("lab.metrics.pass_at_k alone (in both)", ready),
        ("lab.stats.bootstrap", lab_time),
        (f"scipy.stats.bootstrap, batch {batch}", scipy_time),
    ):
        print(f"{name:<42}{seconds:>9.3f}{seconds / lab_time:>8.1f}")
    gap = np.abs(lab_ends - scipy_ends) / (scipy_ends[1] - scipy_ends[0])
    print(f"\nother batches tried once: {', '.join(f'{b}: {s:.2f} s' for b, s in tried.items())}")
    print(
        f"ends differ by at most {gap.max():.1%} of an interval's width: two independent sets of"
        " resamples"
    )


if __name__ == "__main__":
    main()
