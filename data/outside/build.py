"""one_shot_rlvr.parquet: `python data/outside/build.py acc_step_500.json`, see README.md."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N = 8  # rollouts of every group
HERE = Path(__file__).parent

if __name__ == "__main__":
    visits = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    problems = sorted(visits, key=int)
    rates = np.concatenate([visits[problem] for problem in problems])
    right = np.round(rates * N)
    if (right != rates * N).any():
        raise SystemExit(f"a rate is no count of {N}")
    sizes = [len(visits[problem]) for problem in problems]
    table = {
        "problem": np.repeat(np.array(problems, int), sizes).astype(np.int16),
        "visit": np.concatenate([np.arange(size) for size in sizes]).astype(np.int8),
        "right": right.astype(np.int8),
        "n": np.full(len(right), N, np.int8),
    }
    pq.write_table(pa.table(table), HERE / "one_shot_rlvr.parquet", compression="zstd")
