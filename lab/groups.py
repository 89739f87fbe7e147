"""Groups: which rollouts belong together, and what may be done to their rewards. Floor 0.

Groups are made by rollout identity (problem id, rollout index), never by prompt text: two problems
with equal prompts stay two groups, and a lost rollout makes its group smaller and shifts no other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.errors import LabError, one_of, real

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rollout:
    """One answer to one problem.

    `reward` is 0 or 1, or None for a rollout that was lost (a dead worker, a verifier that gave
    up). `truncated`: it hit the length limit before it ended.
    """

    problem: str
    index: int
    reward: float | None
    truncated: bool = False


@dataclass(frozen=True)
class Group:
    """One problem asked N times. Refuses mixed problems, repeated indices and rewards other than 0
    and 1.
    """

    problem: str
    rollouts: tuple[Rollout, ...]

    def __post_init__(self) -> None:
        if not self.rollouts:
            raise LabError(
                f"group {self.problem!r} has no rollouts: leave it out, or sample it again"
            )
        seen: set[int] = set()
        for rollout in self.rollouts:
            if rollout.problem != self.problem:
                raise LabError(
                    f"rollout {rollout.index} of problem {rollout.problem!r} found in group "
                    f"{self.problem!r}: build groups with lab.make_groups"
                )
            if rollout.index in seen:
                raise LabError(
                    f"rollout {rollout.index} of problem {self.problem!r} appears twice: "
                    "give every rollout of a problem its own index"
                )
            seen.add(rollout.index)
            if rollout.reward not in (0, 1):
                raise LabError(
                    _not_binary(
                        rollout.reward, f"problem {self.problem!r}, rollout {rollout.index}"
                    )
                )

    @property
    def rewards(self) -> Array:
        """Float64 of shape "rollouts", in the order of `rollouts`."""
        return np.array([rollout.reward for rollout in self.rollouts], dtype=np.float64)

    @property
    def N(self) -> int:
        return len(self.rollouts)

    @property
    def K(self) -> int:
        return int(self.rewards.sum())

    @property
    def pass_rate(self) -> float:
        return self.K / self.N


def make_groups(rollouts: Iterable[Rollout], truncation: str) -> list[Group]:
    """One group a problem, in order of first appearance; lost rollouts are left out.

    `truncation` is the stated policy for truncated rollouts: "score" keeps their reward, "zero"
    counts them as wrong, "mask" leaves them out. A problem that keeps no rollout has no group.
    """
    one_of("truncation", truncation, ("score", "zero", "mask"))
    kept: dict[str, list[Rollout]] = {}
    for rollout in rollouts:
        if rollout.reward is None or (rollout.truncated and truncation == "mask"):
            continue
        if rollout.truncated and truncation == "zero":
            rollout = replace(rollout, reward=0.0)
        kept.setdefault(rollout.problem, []).append(rollout)
    return [Group(problem, tuple(members)) for problem, members in kept.items()]


def shares(rollouts: Iterable[Rollout]) -> dict[str, float]:
    """The shares of lost and of truncated rollouts, to be logged beside every reward."""
    rollouts = list(rollouts)
    if not rollouts:
        raise LabError("no rollouts: a share of nothing is not defined")
    return {
        "lost": sum(r.reward is None for r in rollouts) / len(rollouts),
        "truncated": sum(r.truncated for r in rollouts) / len(rollouts),
    }


def binarize(scores: ArrayLike, threshold: float) -> Array:
    """1 where a score reaches `threshold`, else 0. A visible act: nothing else in the lab rounds a
    reward.

    >>> binarize([0.2, 0.5, 1.0], threshold=0.5)
    array([0., 1., 1.])
    """
    scores, threshold = np.asarray(scores, dtype=np.float64), real("threshold", threshold)
    if np.isnan(scores).any():
        raise LabError(
            f"score nan at {_place(np.argwhere(np.isnan(scores))[0])}: a lost rollout has no score"
        )
    return (scores >= threshold).astype(np.float64)


def check_binary(rewards: NDArray) -> None:
    """Refuse rewards other than 0 and 1, naming the first one. Shape "... rollouts"."""
    wrong = ~((rewards == 0) | (rewards == 1))
    if wrong.any():
        where = np.argwhere(wrong)[0]
        raise LabError(_not_binary(rewards[tuple(where)], _place(where)))


def _place(where: NDArray) -> str:
    *problem, rollout = (int(i) for i in where) if len(where) else (0,)
    return (f"problem {', '.join(map(str, problem))}, " if problem else "") + f"rollout {rollout}"


def _not_binary(reward: object, place: str) -> str:
    return (
        f"reward {reward} in {place}: a reward must be 0 or 1; use lab.binarize(rewards,"
        " threshold), or leave a lost rollout out of its group"
    )
