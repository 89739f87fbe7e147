"""Every rollout of a training, in its run folder: rollouts/step-NNNNNNNN.parquet, a file a step.

A file is written before anything that counts its step as made, and its bytes follow from the
rollouts alone; so a killed run that goes on has exactly the files of one that was not. A checkpoint
holds the digest of the files up to its step, done.json that of all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.runs.run_folder import line_of, step_of, write_parquet, writing

FOLDER = "rollouts"
TYPES = {
    "step": "int32",
    "problem": "string",
    "question": "string",
    "gold": "string",
    "index": "int32",
    "text": "string",
    "tokens": "int32",
    "length": "int32",
    "reward": "float32",
    "advantage": "float32",
    "truncated": "bool",
}


class RolloutStore:
    """The rollouts of one run; those after `step`, which will be sampled again, are dropped.

    `digest` is `Run.rollouts_sha256` of the files so far.
    """

    def __init__(self, run: Path, step: int) -> None:
        self.folder = run / FOLDER
        for draft in self.folder.glob(".step-*"):
            draft.unlink()
        self.lines = hashlib.sha256()
        for path in rollout_files(run):
            if step_of(path) > step:
                path.unlink()
            else:
                self.lines.update(line_of(path).encode())

    @property
    def digest(self) -> str:
        return self.lines.hexdigest()

    def write(self, step: int, rollouts: Mapping[str, Sequence[Any]]) -> None:
        """Store the rollouts of a step, by the columns of `Record`; none: nothing."""
        if not rollouts:
            return
        import pyarrow as pa

        with writing(self.folder):
            self.folder.mkdir(exist_ok=True)
        rows = len(next(iter(rollouts.values())))
        columns = {"step": [step] * rows, **rollouts}
        schema = pa.schema({name: pa.type_for_alias(TYPES[name]) for name in columns})
        file = self.folder / f"step-{step:08d}.parquet"
        write_parquet(file, pa.table(columns, schema=schema))
        self.lines.update(line_of(file).encode())


def rollout_files(run: Path) -> list[Path]:
    """The files of a run folder's rollouts, in the order of their steps."""
    return sorted((run / FOLDER).glob("step-*.parquet"))
