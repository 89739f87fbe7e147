"""Time the exact weights of recipes for a page of the catalogue: every estimator at 200 pass rates.

`python benchmarks/effective_weight.py [--rollouts 16] [--runs 30]`
"""

import argparse
import inspect
import os
import platform
import statistics
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import lab
from lab.mathematics import estimators

PARTS = {
    "plain": {},
    "drop": {"gate": "drop"},
    "redraw": {"gate": "redraw"},
    "between(0.2, 0.8)": {"gate": "between(0.2, 0.8)"},
    "N(p) = 2/p in [8, 64]": {"allocation": "max(8, min(64, 2/p))"},
    "chance 4pq": {"chance": "4*p*q"},
}
# Values for the options that have no default.
NEEDED = {"order": 4, "alpha": 0.5, "k": 4, "gamma": 1.0, "eta": 1.0, "p": [0, 1], "w": [2, 1]}
FITTED = ("drawn", "formula")  # these fit a weight once for each N, which is not the sum over K


def catalogue() -> list[estimators.Estimator]:
    """One estimator of every name, options without a default filled in."""
    chosen = []
    for name in lab.estimator_names():
        parameters = inspect.signature(estimators._CATALOGUE[name][0]).parameters.values()
        needed = [p.name for p in parameters if p.default is p.empty and p.name != "N"]
        if name not in FITTED:
            chosen.append(lab.estimator(name, **{option: NEEDED[option] for option in needed}))
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rollouts", type=int, default=16)
    parser.add_argument("--runs", type=int, default=30)
    arguments = parser.parse_args()
    p = np.geomspace(1e-4, 0.9999, 200)
    chosen = catalogue()
    print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, NumPy"
        f" {np.__version__}; {len(chosen)} estimators x {len(p)} pass rates, N ="
        f" {arguments.rollouts}; median of {arguments.runs}, milliseconds, one thread\n"
    )
    for label, parts in PARTS.items():
        times = []
        for _ in range(arguments.runs):
            start = time.perf_counter()
            for one in chosen:
                lab.effective_weight(one, arguments.rollouts, p, **parts)
            times.append(1000 * (time.perf_counter() - start))
        print(f"{label:<22}{statistics.median(times):8.1f}")


if __name__ == "__main__":
    main()
