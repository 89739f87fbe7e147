"""A running training of a language model, followed by the rollouts that it stores."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from lab.errors import LabError
from lab.runs.rollout_store import rollout_files
from lab.runs.run_folder import Run, step_of

SECONDS = 2.0  # between two looks at the folder


def follow(run: str | Path, say: Callable[[str], None], seconds: float = SECONDS) -> None:
    """Say a line for every step that has been stored, and for each further one until the run ends.

    A step that a resumed run makes again is not said twice. LabError: no run folder, or one of a
    trainer that stores no rollouts.
    """
    path = Path(run)
    if not (path / "params.json").exists():
        raise LabError(f"{path} stores no rollouts: give the run folder of a language model")
    last = -1
    while True:
        finished = Run(path).finished  # read first, so that no last step is missed
        for file in rollout_files(path):
            step = step_of(file)
            if step > last:
                say(line_of_step(file))
                last = step
        if finished:
            if last < 0:
                raise LabError(f"{path} stores no rollouts: its trainer tells none")
            return
        time.sleep(seconds)


def line_of_step(file: Path) -> str:
    """What the rollouts of a step show, in one line."""
    table = pd.read_parquet(file, columns=["step", "problem", "reward", "tokens", "truncated"])
    rewards = table["reward"].dropna()
    groups = table.dropna(subset="reward").groupby("problem")["reward"].mean()
    dead = int(((groups == 0) | (groups == 1)).sum())
    lost = len(table) - len(rewards)
    return (
        f"step {table['step'].iloc[0]}: {rewards.sum():.0f} of {len(rewards)} right,"
        f" {dead} of {len(groups)} groups dead, {table['truncated'].mean():.1%} truncated,"
        f" {table['tokens'].mean():.0f} tokens on average{f', {lost} lost' if lost else ''}"
    )
