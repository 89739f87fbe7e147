"""Time of a verdict, over the labelled pairs and the hostile responses.

    python benchmarks/judge.py

Times are those of the CPU (`time.thread_time`), so that other processes count little.
"""

import csv
import sys
import time
from pathlib import Path

import numpy as np

from lab.judge.verifier import Verifier

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import hostile  # noqa: E402


def times(responses: list[str], golds: list[str]) -> np.ndarray:
    """Milliseconds of CPU that each pair takes in the caller's process."""
    found = []
    with Verifier(error_limit=1.0) as verifier:
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


if __name__ == "__main__":
    main()
