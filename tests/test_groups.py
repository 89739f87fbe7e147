"""Groups by identity, lost and truncated rollouts, and the one visible way to make a
score binary.
"""

import numpy as np
import pytest
from refusals import refusal

import lab
from lab import Group, LabError, Rollout, binarize, make_groups

LOST = None
SAMPLED = [
    Rollout("b", 0, 1.0),
    Rollout("a", 0, 0.0, truncated=True),
    Rollout("b", 1, LOST),
    Rollout("a", 1, 1.0, truncated=True),
    Rollout("a", 2, 1.0),
    Rollout("c", 0, LOST, truncated=True),
    Rollout("b", 2, 0.0),
    Rollout("d", 0, 1.0, truncated=True),
]


def test_a_group_counts_its_rollouts_successes_and_pass_rate():
    group = Group(
        "x", (Rollout("x", 3, 1), Rollout("x", 1, 0), Rollout("x", 2, 1), Rollout("x", 0, 1))
    )
    assert (group.N, group.K, group.pass_rate) == (4, 3, 0.75)
    assert group.rewards.dtype == np.float64 and group.rewards.tolist() == [1, 0, 1, 1]


def test_two_problems_with_equal_prompts_stay_two_groups():
    prompt = "What is 2 + 2?"
    problems = {"train/7": prompt, "train/912": prompt}
    rollouts = [
        Rollout(problem, i, r)
        for problem, r in zip(problems, (1, 0), strict=True)
        for i in range(3)
    ]
    groups = make_groups(rollouts[::2] + rollouts[1::2], "score")
    assert [g.problem for g in groups] == ["train/7", "train/912"]
    assert [g.rewards.tolist() for g in groups] == [[1, 1, 1], [0, 0, 0]]


def test_a_lost_rollout_leaves_a_smaller_group_and_a_lost_problem_none():
    groups = {g.problem: g for g in make_groups(SAMPLED, "score")}
    assert [(r.index, r.reward) for r in groups["b"].rollouts] == [(0, 1.0), (2, 0.0)]
    assert "c" not in groups
    assert make_groups([Rollout("x", 0, LOST)], "score") == []


@pytest.mark.parametrize(
    "truncation, expected",
    [
        ("score", {"b": [1, 0], "a": [0, 1, 1], "d": [1]}),
        ("zero", {"b": [1, 0], "a": [0, 0, 1], "d": [0]}),
        ("mask", {"b": [1, 0], "a": [1]}),
    ],
)
def test_truncated_rollouts_follow_the_stated_policy(truncation, expected):
    assert {g.problem: g.rewards.tolist() for g in make_groups(SAMPLED, truncation)} == expected


TWICE = [Rollout("x", 0, 1), Rollout("x", 1, 0), Rollout("x", 1, 0)]


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: make_groups(SAMPLED, "drop"),
            "truncation = 'drop': it must be one of 'score', 'z",
        ),
        (
            lambda: make_groups(TWICE, "score"),
            "rollout 1 of problem 'x' .* appears twice: give every",
        ),
        (
            lambda: Group("x", (Rollout("x", 0, LOST),)),
            "reward None in problem 'x', rollout 0: .*leave a lost rollout out",
        ),
        (
            lambda: Group("x", (Rollout("x", 0, 1), Rollout("y", 1, 1))),
            "rollout 1 of problem 'y' in group 'x' belongs elsewhere .*lab.make_groups",
        ),
        (lambda: Group("x", ()), "group 'x' has no rollouts"),
    ],
)
def test_what_is_no_group_is_refused(make, message):
    with pytest.raises(LabError, match=message):
        make()


@pytest.mark.parametrize("reward", [0.5, 2.0, -1.0])
def test_whoever_counts_the_right_ones_refuses_a_reward_that_is_not_binary(reward):
    rollouts = [Rollout("algebra/7", 0, 1), Rollout("algebra/7", 4, reward)]
    (group,) = make_groups(rollouts, "score")
    for count in (
        lambda: group.K,
        lambda: group.pass_rate,
        lambda: lab.advantages("maxrl", [group]),
    ):
        assert refusal(count) == (
            f"reward {reward} in problem 'algebra/7', rollout 4: a reward must be 0 or 1; "
            "use lab.binarize(rewards, threshold), lift the estimator to real rewards (lab.lift), "
            "or leave a lost rollout out of its group"
        )


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), "1"])
def test_a_reward_that_is_no_finite_number_is_named_with_problem_and_rollout(reward):
    rollouts = [Rollout("algebra/7", 0, 1), Rollout("algebra/7", 4, reward)]
    assert refusal(make_groups, rollouts, "score") == (
        f"reward {reward} in problem 'algebra/7', rollout 4: a reward must be a finite number; "
        "leave a lost rollout out of its group"
    )


def test_binarizing_counts_a_score_at_the_threshold_as_right():
    found = binarize([[0.2, 0.5], [np.nextafter(0.5, 0), 1.0]], threshold=0.5)
    assert found.dtype == np.float64 and found.tolist() == [[0, 1], [0, 1]]
    assert binarize([-np.inf, 3, np.inf], threshold=-1).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "scores, place",
    [
        ([0.1, np.nan], "rollout 1"),
        ([[0, 1], [None, 1]], "problem 1, rollout 0"),
        (np.nan, "rollout 0"),
    ],
)
def test_a_score_that_is_no_number_is_not_called_wrong(scores, place):
    with pytest.raises(LabError, match=f"reward nan in {place}: a lost rollout has no score"):
        binarize(scores, 0.5)


@pytest.mark.parametrize("threshold", [np.nan, np.inf, None, "0.5"])
def test_a_threshold_that_is_no_number_is_refused(threshold):
    with pytest.raises(LabError, match="threshold = .*it must be a finite number"):
        binarize([0.1, 0.9], threshold)
