"""Time `import lab` in fresh processes beside NumPy alone: `python benchmarks/import_time.py
[--runs 10]`.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TIMED = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def fresh(module: str) -> float:
    """Milliseconds, measured inside the process: the start of Python itself is not counted."""
    process = subprocess.run(
        [sys.executable, "-c", TIMED.format(module)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    return 1000 * float(process.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}; "
        f"{runs} fresh processes each, in turn, milliseconds\n"
    )
    times = {module: [] for module in ("numpy", "lab")}
    for _ in range(runs):  # in turn, so that a busy machine slows both
        for module, milliseconds in times.items():
            milliseconds.append(fresh(module))
    print(f"{'import':8} {'median':>8} {'min':>8}")
    for module, milliseconds in times.items():
        print(f"{module:8} {statistics.median(milliseconds):8.1f} {min(milliseconds):8.1f}")
    beyond = [mine - numpy for mine, numpy in zip(times["lab"], times["numpy"], strict=True)]
    print(
        f"{'beyond':8} {statistics.median(beyond):8.1f}"
    )  # pairs; a difference of two minima says little


if __name__ == "__main__":
    main()
