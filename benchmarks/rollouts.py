"""CPU seconds and memory of counting a million rollouts, by kind of file.

python benchmarks/rollouts.py [ROLLOUTS]
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lab.rollouts.counting import read_table_counts

ANSWER = "Let x be the number of apples; then 3x + 4 = 19, so that x = 5. " * 4
N = 16  # rollouts a problem


def write_trl(folder: Path, rollouts: int, steps: int = 50) -> None:
    """TRL's completions/ with chat prompts: a file a step."""
    folder.mkdir()
    for step in range(steps):
        rows = range(rollouts // steps)
        chat = [[{"role": "user", "content": f"problem {step} {i // N}"}] for i in rows]
        columns = {
            "step": [step] * len(rows),
            "prompt": chat,
            "completion": [
                [{"role": "assistant", "content": f"{step} {i} {ANSWER}"}] for i in rows
            ],
            "accuracy_reward": [float(i % 3 == 0) for i in rows],
            "advantage": [0.5] * len(rows),
        }
        pq.write_table(pa.table(columns), folder / f"completions_{step:05d}.parquet")


def write(path: Path, rollouts: int) -> None:
    """Rollouts in verl's columns, by the kind in the name; without one, in TRL's."""
    rewards = np.random.default_rng(0).integers(0, 2, rollouts).tolist()
    rows = (
        {"input": f"user: problem {i // N}", "output": ANSWER, "score": float(r), "step": 1}
        for i, r in enumerate(rewards)
    )
    if not path.suffix:
        write_trl(path, rollouts)
    elif path.suffix == ".parquet":
        columns = {
            "input": pa.array([f"user: problem {i // N}" for i in range(rollouts)]),
            "output": pa.array([ANSWER] * rollouts),
            "score": pa.array(rewards, pa.float64()),
            "step": pa.array([1] * rollouts),
        }
        pq.write_table(pa.table(columns), path)
    else:
        with open(path, "w") as file:
            if path.suffix == ".csv":
                file.write("input,output,score,step\n")
            for row in rows:
                line = (
                    json.dumps(row)
                    if path.suffix == ".jsonl"
                    else ",".join(f'"{cell}"' for cell in row.values())
                )
                file.write(line + "\n")


def measure(path: Path, results: multiprocessing.Queue) -> None:
    """Count a file in a process of its own; puts CPU seconds and the largest memory in GB."""
    before = time.process_time()
    counts = read_table_counts(path)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    results.put((time.process_time() - before, memory, int(counts.n.sum())))


def main(rollouts: int) -> None:
    """Print one line for each kind of file."""
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        for kind in (".jsonl", ".csv", ".parquet", ""):
            path = Path(folder) / f"rollouts{kind}"
            write(path, rollouts)
            results = spawn.Queue()
            process = spawn.Process(target=measure, args=(path, results))
            process.start()
            seconds, memory, counted = results.get()
            process.join()
            files = [path] if path.is_file() else list(path.iterdir())
            size = sum(file.stat().st_size for file in files) / 1e6
            print(
                f"{kind or 'TRL':8} {counted} rollouts, {size:.0f} MB: {seconds:.1f} CPU seconds,"
                f" {memory:.2f} GB"
            )
            for file in files:
                file.unlink()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
