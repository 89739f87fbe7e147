"""Time of a verdict and memory of a worker, over the labelled pairs and the hostile responses.

    python benchmarks/judge.py

Times are those of the CPU (`time.thread_time`), so that other processes count little; a verdict of
math-verify is timed on the clock, in a worker that is warm.
"""

import csv
import sys
import time
from pathlib import Path

import numpy as np

from lab.judge.verifier import Verifier, decide_exactly
from lab.judge.worker_pool import WorkerPool

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import hostile  # noqa: E402


def times(responses: list[str], golds: list[str]) -> np.ndarray:
    """Milliseconds of CPU that each pair takes in the caller's process."""
    found = []
    with Verifier(workers=1, error_limit=1.0) as verifier:
        verifier.check(["\\boxed{\\sqrt{2}}"], ["2^{1/2}"])  # imports
        for response, gold in zip(responses, golds, strict=True):
            start = time.thread_time()
            verifier.check([response], [gold])
            found.append(1000 * (time.thread_time() - start))
    return np.array(found)


def described(found: np.ndarray) -> str:
    middle, high = np.percentile(found, [50, 99])
    return f"{len(found)} | {middle:.2f} | {high:.2f} | {found.max():.2f}"


def main() -> None:
    with (ROOT / "data" / "judge" / "pairs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    boxed = [rf"\boxed{{{row['answer']}}}" for row in rows]
    print("| answers | n | median, ms | 99%, ms | worst, ms |\n|---|---|---|---|---|")
    print(f"| labelled pairs | {described(times(boxed, [row['gold'] for row in rows]))} |")
    responses = hostile.responses()
    found = times(responses * 2, ["5"] * len(responses) + ["x+1"] * len(responses))
    print(f"| hostile responses | {described(found)} |")

    undecided = [
        pair
        for row in rows
        if isinstance(pair := decide_exactly(row["answer"], row["gold"]), tuple)
    ]
    print(f"{len(undecided)} of {len(rows)} labelled pairs are left to math-verify")
    pool = WorkerPool(1, 1.0, 512)
    texts = [row["answer"] for row in rows if row["family"] in ("polynomials", "surds")]
    peak, clock = 0.0, []
    for text in texts:
        start = time.perf_counter()
        list(pool.compare([(text, "x^2+1")]))
        clock.append(1000 * (time.perf_counter() - start))
        status = Path(f"/proc/{pool.workers[0].process.pid}/status") if pool.workers else None
        if status is not None and status.exists():
            lines = status.read_text().splitlines()
            resident = next(line for line in lines if line.startswith("VmHWM"))
            peak = max(peak, int(resident.split()[1]) / 1024)
    pool.close()
    print(f"math-verify in a warm worker, ms on the clock: {described(np.array(clock[1:]))}")
    print(f"largest resident memory of a worker: {peak:.0f} MiB; its address space is held at 512")


if __name__ == "__main__":
    main()
