"""Groups: which rollouts belong together, and what may be done to their rewards.

A rollout is identified by its problem's id and its index, never by the text of the prompt: two
problems with equal prompts stay two groups, and a lost rollout makes its own group smaller and
changes no other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, one_of, real
from lab.shapes import Bool, Float, Shaped


@dataclass(frozen=True)
class Rollout:
    """One answer to one problem.

    `reward` is 0 or 1, a real number where the estimator takes those (`lab.lift`), or None for a
    rollout that was lost (a worker died, the verifier gave up).
    `truncated`: the answer reached the length limit before it ended.
    """

    problem: str
    index: int
    reward: float | None
    truncated: bool = False


@dataclass(frozen=True)
class Group:
    """The N rollouts of one problem.

    LabError: no rollouts, rollouts of several problems, a repeated index, a reward that is no
    finite number. Whoever counts the right rollouts refuses rewards other than 0 and 1: `K` and
    `pass_rate` here, and every estimator that was not lifted to real rewards.
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
            if rollout.problem != self.problem or rollout.index in seen:
                raise LabError(
                    f"rollout {rollout.index} of problem {rollout.problem!r} in group"
                    f" {self.problem!r} belongs elsewhere or appears twice: give every rollout of a"
                    " problem its own index, and build groups with lab.make_groups"
                )
            seen.add(rollout.index)
        check_real(np.array([rollout.reward for rollout in self.rollouts], dtype=object), self)

    @property
    def rewards(self) -> Float[np.ndarray, " rollouts"]:
        """The rewards in the order of `rollouts`, as float64."""
        return np.array([rollout.reward for rollout in self.rollouts], dtype=np.float64)

    @property
    def N(self) -> int:
        """How many rollouts there are."""
        return len(self.rollouts)

    @property
    def K(self) -> int:
        """How many rollouts are right. LabError: a reward other than 0 and 1."""
        check_binary(self.rewards, self)
        return int(self.rewards.sum())

    @property
    def pass_rate(self) -> float:
        """K/N. LabError: a reward other than 0 and 1."""
        return self.K / self.N


def make_groups(rollouts: Iterable[Rollout], truncation: str) -> list[Group]:
    """One group for each problem, in order of first appearance; lost rollouts are left out.

    `truncation` says what becomes of truncated rollouts: "score" keeps their reward, "zero" counts
    them as wrong, with a reward of 0, "mask" leaves them out. A problem without any rollout left
    has no group. LabError: a reward below 0 with "zero", which would not be the least.
    """
    one_of("truncation", truncation, ("score", "zero", "mask"))
    members: dict[str, list[Rollout]] = {}
    for rollout in rollouts:
        if rollout.reward is None or (rollout.truncated and truncation == "mask"):
            continue
        if rollout.truncated and truncation == "zero":
            rollout = replace(rollout, reward=0.0)
        members.setdefault(rollout.problem, []).append(rollout)
    groups = [Group(problem, tuple(group)) for problem, group in members.items()]
    for group in groups if truncation == "zero" else ():
        _refuse(
            group.rewards < 0,
            group.rewards,
            group,
            "with truncation=zero a truncated rollout gets 0, which would not be the least reward;"
            " take score or mask, or rewards from 0 up",
        )
    return groups


def binarize(scores: ArrayLike, threshold: float) -> Float[np.ndarray, "*scores"]:
    """1 where a score reaches `threshold`, else 0.

    Nothing else in the lab rounds a reward. LabError: a score is nan.

    >>> binarize([0.2, 0.5, 1.0], threshold=0.5)
    array([0., 1., 1.])
    """
    scores = np.asarray(scores, dtype=np.float64)
    threshold = real("threshold", threshold)
    _refuse(np.isnan(scores), scores, None, "a lost rollout has no score")
    return (scores >= threshold).astype(np.float64)


def check_binary(
    rewards: Shaped[np.ndarray, "*batch rollouts"], group: Group | None = None
) -> None:
    """LabError: a reward other than 0 and 1; the first one is named with its place."""
    _refuse(
        ~((rewards == 0) | (rewards == 1)),
        rewards,
        group,
        "a reward must be 0 or 1; use lab.binarize(rewards, threshold), lift the estimator to real"
        " rewards (lab.lift), or leave a lost rollout out of its group",
    )


def check_real(
    rewards: Shaped[np.ndarray, "*batch rollouts"],
    group: Group | None = None,
    low: float = -np.inf,
    high: float = np.inf,
) -> None:
    """LabError: a reward that is no finite number, or not in the declared range [low, high]."""
    values = rewards
    if rewards.dtype.kind not in "biuf":
        numbers = [each if isinstance(each, Real) else np.nan for each in rewards.flat]
        values = np.array(numbers, dtype=np.float64).reshape(rewards.shape)
    _refuse(
        ~np.isfinite(values),
        rewards,
        group,
        "a reward must be a finite number; leave a lost rollout out of its group",
    )
    # Up to the rounding of float32, in which trainers hold rewards.
    low_as_held, high_as_held = float(np.float32(low)), float(np.float32(high))
    _refuse(
        (values < min(low, low_as_held)) | (values > max(high, high_as_held)),
        rewards,
        group,
        f"the declared range of rewards is [{low:g}, {high:g}]; declare a wider one, or mend the"
        " reward",
    )


def _refuse(
    invalid: Bool[np.ndarray, "*batch rollouts"],
    values: Shaped[np.ndarray, "*batch rollouts"],
    group: Group | None,
    why: str,
) -> None:
    """LabError: some value is invalid; the first is named with its place, in words."""
    if not invalid.any():
        return
    index = tuple(np.argwhere(invalid)[0].tolist())
    *problem, rollout = index or (0,)
    if group is not None:
        problem, rollout = [repr(group.problem)], group.rollouts[rollout].index
    of = f"problem {', '.join(map(str, problem))}, " if problem else ""
    raise LabError(f"reward {values[index]} in {of}rollout {rollout}: {why}")
