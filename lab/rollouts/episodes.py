"""Episodes of verifiers v1 as rows: a line of traces.jsonl holds all traces of one run of a task.

prime-rl writes them to rollouts/step_N/.../traces.jsonl. From verifiers/v1/episode.py
(Episode.to_record) and verifiers/v1/trace.py of PrimeIntellect-ai/verifiers. The page follows the
same rules: lab/explorer/front/rollouts.js.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lab.errors import LabError

Row = dict[str, Any]


def rows_of_episodes(rows: Iterable[Row]) -> Iterator[Row]:
    """One row for each trace of an episode that trains the policy; other rows as they are.

    Columns: `task` (its key, else its hash), `env_agent` (two agents of one environment have
    rewards of their own, and so have the evaluations of a training), `trace`, `step` where the run
    is a training, and `reward`, the sum of score times weight. A trace without a score has no
    reward: it failed, or scoring did not run. An episode that failed before its first trace is one
    row without a reward.
    """
    for number, row in enumerate(rows, 1):
        if type(row.get("traces")) is list and type(row.get("task")) is dict:
            yield from _rows_of_episode(row, number)
        else:
            yield row


def _rows_of_episode(episode: Row, number: int) -> Iterator[Row]:
    run = episode.get("run") or {}
    work = run.get("work") or {}
    env = episode.get("env") or {}
    step = {"step": work["step"]} if "step" in work else {}
    env_name = ("evaluation " if work.get("type") == "eval" else "") + (
        env.get("name") or env.get("id") or ""
    )
    if not episode["traces"]:
        yield {
            "task": _task(episode, number),
            "env_agent": f"{env_name} agent",
            "trace": episode.get("id") or "",
            "reward": None,
        } | step
    for trace in episode["traces"]:
        agent = trace.get("agent") or {}
        if agent.get("trainable", True):
            yield {
                "task": _task(trace if trace.get("task") else episode, number),
                "env_agent": f"{env_name} {agent.get('name') or 'agent'}",
                "trace": trace.get("id") or "",
                "reward": _reward(trace),
            } | step


def _task(holder: Row, number: int) -> str:
    """The identity of the task of an episode or a trace. LabError: it has none."""
    task = holder["task"]
    name = task.get("key") or task.get("hash")
    if not name:
        raise LabError(
            f"the task of episode {number} has no key and no hash: write the episodes with a newer"
            " version of verifiers"
        )
    return str(name)


def _reward(trace: Row) -> float | None:
    scores = [reward for reward in (trace.get("rewards") or {}).values() if reward is not None]
    if not scores:
        return None
    return float(sum(reward["score"] * reward.get("weight", 1.0) for reward in scores))
