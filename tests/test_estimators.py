"""The machine under every estimator: two sequences, one look-up, NumPy and torch alike, and its
refusals.
"""

import numpy as np
import pytest
import torch
from enumeration import reward_vectors
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal

import lab

KINDS = (
    "reinforce rloo grpo grpo(ddof=1,eps=1e-4) f_grpo(gamma=1) dgpo mapo ngrpo maxrl maxrl_eq7"
    " maxrl_loo truncated(order=2) alpha(alpha=0.5) alpha(alpha=1.5) pkpo(k=2)"
    " pass_at_k_group(k=2) pacs_anchor real_anchor entropic(eta=1)"
).split()
kinds = st.sampled_from(KINDS).map(lab.estimator)
groups_of_two_or_more = st.lists(st.integers(0, 1), min_size=2, max_size=20)


@pytest.fixture
def catalogue(monkeypatch):
    """Registrations of one test end with it."""
    monkeypatch.setattr(
        lab.mathematics.estimators, "_CATALOGUE", dict(lab.mathematics.estimators._CATALOGUE)
    )


def for_all(*strategies):
    return lambda test: settings(deadline=None, max_examples=60, derandomize=True)(
        given(*strategies)(test)
    )


# --- The look-up --------------------------------------------------------------------------------


@for_all(kinds, groups_of_two_or_more)
def test_an_advantage_is_gap_times_reward_plus_offset_at_the_successes_of_the_others(kind, rewards):
    gap, offset = kind.coefficients(len(rewards))
    expected = []
    for i, r in enumerate(rewards):
        j = sum(rewards[:i]) + sum(rewards[i + 1 :])
        expected.append(gap[j] * r + offset[j])
    assert lab.advantages(kind, np.array(rewards)).tolist() == expected


@for_all(kinds, groups_of_two_or_more, st.randoms(use_true_random=False))
def test_reordering_the_rollouts_reorders_their_advantages(kind, rewards, random):
    order = list(range(len(rewards)))
    random.shuffle(order)
    A = lab.advantages(kind, np.array(rewards))
    assert lab.advantages(kind, np.array(rewards)[order]).tolist() == A[order].tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(6,), (5, 6), (2, 5, 6), (0, 6)])
@pytest.mark.parametrize("kind", ["maxrl", "grpo", "real_anchor"])
def test_numpy_and_torch_agree_for_every_kind_of_reward(dtype, shape, kind):
    rewards = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    array = lab.advantages(kind, rewards)
    tensor = lab.advantages(kind, torch.from_numpy(rewards))
    assert array.shape == tuple(tensor.shape) == shape
    assert array.dtype == (dtype if dtype.startswith("float") else "float64")
    assert tensor.dtype == (
        getattr(torch, dtype) if dtype.startswith("float") else torch.get_default_dtype()
    )
    assert tensor.device.type == "cpu"
    exact = lab.advantages(kind, rewards.astype(np.float64))
    assert array.tolist() == exact.astype(array.dtype).tolist()
    assert tensor.tolist() == exact.astype(tensor.numpy().dtype).tolist()


def test_advantages_carry_no_gradient_and_leave_the_rewards_alone():
    rewards = torch.tensor([1.0, 0.0, 0.0], requires_grad=True)
    assert not lab.advantages("rloo", rewards).requires_grad
    array = np.array([1.0, 0.0, 0.0])
    lab.advantages("rloo", array)[:] = 9
    assert array.tolist() == [1, 0, 0]
    assert lab.advantages("rloo", array).tolist() == [1, -0.5, -0.5]


def test_rewards_may_be_lists():
    assert lab.advantages("maxrl", [1, 0, 0, 0]).tolist() == [3, -1, -1, -1]
    assert lab.advantages("rloo", [[1, 0], [0, 0]]).tolist() == [[1, -1], [0, 0]]
    with pytest.raises(lab.LabError, match="several sizes in a list: give each as a lab.Group"):
        lab.advantages("maxrl", [[1, 0], [1]])


# --- Groups of different sizes ------------------------------------------------------------------


@for_all(kinds, st.lists(groups_of_two_or_more, max_size=6))
def test_ragged_groups_are_scored_one_by_one(kind, ragged):
    groups = [
        lab.Group(str(x), tuple(lab.Rollout(str(x), i, r) for i, r in enumerate(rewards)))
        for x, rewards in enumerate(ragged)
    ]
    found = lab.advantages(kind, groups)
    assert [A.tolist() for A in found] == [
        lab.advantages(kind, np.array(r)).tolist() for r in ragged
    ]


def test_a_lost_rollout_makes_its_group_smaller_and_shifts_no_other():
    sampled = {"a": (1, None, 0, 0), "b": (0, 1, 0, 0)}
    rollouts = [
        lab.Rollout(x, i, r) for x, rewards in sampled.items() for i, r in enumerate(rewards)
    ]
    found = lab.advantages("maxrl", lab.make_groups(rollouts, truncation="score"))
    assert [A.tolist() for A in found] == [[2, -1, -1], [-1, 3, -1, -1]]


def test_a_group_that_lost_too_many_follows_the_rule_for_its_size():
    rollouts = [lab.Rollout("a", 0, 1), lab.Rollout("b", 0, 1), lab.Rollout("b", 1, 0)]
    groups = lab.make_groups(rollouts, "score")
    with pytest.raises(lab.LabError, match="found N = 1.*singleton='zero'"):
        lab.advantages("rloo", groups)
    assert [A.tolist() for A in lab.advantages("rloo(singleton='zero')", groups)] == [[0], [1, -1]]


# --- Rewards that are not 0 or 1 ----------------------------------------------------------------


@pytest.mark.parametrize(
    "shape, place, said",
    [
        ((4,), (2,), "rollout 2:"),
        ((3, 4), (1, 2), "problem 1, rollout 2:"),
        ((2, 3, 4), (1, 0, 3), "problem 1, 0, rollout 3:"),
    ],
)
@pytest.mark.parametrize("reward", [0.5, -1.0, 2.0, float("nan"), float("inf"), 1 - 1e-10])
def test_a_reward_other_than_0_and_1_is_named_with_its_place(shape, place, said, reward):
    rewards = np.zeros(shape)
    rewards[place] = reward
    for given_ in (rewards, torch.from_numpy(rewards)):
        told = refusal(lab.advantages, "maxrl", given_)
        assert f"reward {reward} in {said} a reward must be 0 or 1" in told
        assert "lab.binarize(rewards, threshold)" in told


def test_an_integer_or_a_missing_reward_is_refused_too():
    with pytest.raises(lab.LabError, match="reward 3 in problem 0, rollout 1"):
        lab.advantages("rloo", np.array([[0, 3]]))
    with pytest.raises(lab.LabError, match="reward -1.0 in problem 0, rollout 1"):
        lab.advantages("rloo", torch.tensor([[0, -1]]))
    with pytest.raises(
        lab.LabError, match="reward None in rollout 1: .*leave a lost rollout out of"
    ):
        lab.advantages("rloo", np.array([1, None]))


def test_without_the_check_valid_rewards_are_scored_the_same():
    rewards = np.array(reward_vectors(4))
    for given_ in (rewards, torch.from_numpy(rewards)):
        checked = lab.advantages("maxrl", given_)
        assert lab.advantages("maxrl", given_, check=False).tolist() == checked.tolist()
    assert lab.advantages("maxrl", np.array([0.5, 0.0]), check=False).shape == (2,)  # not looked at


@pytest.mark.parametrize(
    "rewards", [np.array(1.0), np.zeros((3, 0)), torch.tensor(1.0), torch.zeros(3, 0)]
)
def test_rewards_without_a_rollout_axis_are_refused(rewards):
    with pytest.raises(lab.LabError, match="the last axis must hold the rollouts of one problem"):
        lab.advantages("rloo", rewards)


# --- The two sequences --------------------------------------------------------------------------


@for_all(kinds, st.integers(2, 40))
def test_the_two_forms_of_the_sequences_say_the_same(kind, N):
    (gap, offset), (a1, a0) = kind.coefficients(N), kind.success_failure(N)
    assert gap.shape == offset.shape == (N,) and a1.shape == a0.shape == (N + 1,)
    assert a1[0] == a0[N] == 0
    np.testing.assert_allclose(a1[1:] - a0[:-1], gap, rtol=1e-13, atol=1e-13)
    assert a0[:-1].tolist() == offset.tolist()


def test_coefficients_are_copies_that_one_may_write_to():
    kind = lab.estimator("rloo")
    kind.coefficients(4)[0][:] = 7
    kind.success_failure(4)[0][:] = 7
    assert kind.coefficients(4)[0].tolist() == [1, 1, 1, 1]
    assert lab.advantages(kind, np.array([1, 0, 0, 0])).tolist() == pytest.approx(
        [1, -1 / 3, -1 / 3, -1 / 3]
    )


@pytest.mark.parametrize(
    "sequences, message",
    [
        (
            lambda N: (np.ones(N), np.zeros(N + 1)),
            r"shapes \[\(3,\), \(4,\)\]; it must return \(gap, offset\)",
        ),
        (lambda N: (np.ones(N),), "each of length 3"),
        (lambda N: (np.full(N, np.nan), np.zeros(N)), "a coefficient at N = 3 is not finite"),
        (lambda N: (np.ones(N), np.full(N, np.inf)), "not finite"),
    ],
)
def test_sequences_of_a_wrong_shape_or_not_finite_are_refused(sequences, message):
    with pytest.raises(lab.LabError, match=message):
        lab.Estimator("mine", sequences).coefficients(3)


@pytest.mark.parametrize("N", [0, -2, 2.5, "4", None, True])
def test_a_group_size_that_is_no_whole_number_is_refused(N):
    with pytest.raises(lab.LabError, match="it must be a whole number of at least 1"):
        lab.estimator("rloo").coefficients(N)


# --- Names, options and rules -------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*KINDS, "rloo(singleton='zero')"])
def test_the_spec_reads_back_as_the_same_estimator(kind):
    first = lab.estimator(kind)
    second = lab.estimator(first.spec)
    assert second.spec == first.spec and second.rules == first.rules
    assert [row.tolist() for row in second.coefficients(7)] == [
        row.tolist() for row in first.coefficients(7)
    ]


def test_options_may_be_written_in_the_name_or_beside_it():
    for kind in (
        lab.estimator("truncated(order=3, form='loo')"),
        lab.estimator("truncated", order=3, form="loo"),
        lab.estimator("truncated(order=2, form='loo')", order=3),
    ):
        assert kind.options == {"order": 3, "form": "loo"} and kind.label == "MaxRL T=3"


@pytest.mark.parametrize(
    "name, message",
    [
        ("maxlr", "unknown estimator 'maxlr': did you mean 'maxrl'?"),
        ("GRPO", "unknown estimator 'GRPO'"),
        (
            "grpo(dof=1)",
            (
                "unknown option of estimator 'grpo' 'dof': did you mean 'ddof'? Valid: ddof, eps,"
                " singleton"
            ),
        ),
        ("rloo(singelton='zero')", "did you mean 'singleton'?"),
        ("rloo(singleton='skip')", "singleton = 'skip': it must be one of 'error', 'zero'"),
        ("truncated", "estimator 'truncated' needs order: write truncated(order=...)"),
        ("pkpo(form='s')", "estimator 'pkpo' needs k"),
        ("grpo(1)", "cannot read 'grpo(1)'"),
        ("grpo(ddof=1, ddof=0)", "cannot read 'grpo(ddof=1, ddof=0)'"),
        (7, "cannot read 7"),
    ],
)
def test_an_unknown_name_or_option_names_the_nearest_valid_one(name, message):
    assert message in refusal(lab.estimator, name)


def test_an_estimator_passes_through_but_takes_no_further_options():
    kind = lab.estimator("grpo")
    assert lab.estimator(kind) is kind
    with pytest.raises(lab.LabError, match="option 'ddof' given with an estimator"):
        lab.estimator(kind, ddof=1)


def test_rules_are_printed_in_words():
    assert str(lab.estimator("grpo(ddof=1, eps=1e-6)", singleton="zero").rules) == (
        "group of one: zero; all wrong: zero; all right: zero; zero mean in every group, eps 1e-06,"
        " ddof 1"
    )
    assert str(lab.estimator("lift(maxrl_eq7, high=1)").rules) == (
        "group of one: scored; all lowest: kept; all highest: zero; not zero mean in every group"
    )


# --- A new estimator ----------------------------------------------------------------------------


def test_a_new_estimator_of_five_lines_has_advantages_weight_and_rules(catalogue):
    @lab.register(label="quadratic", limit=lab.objective(lambda p: p**2), least=3)
    def quadratic(N, *, scale: float = 1.0):
        """An unbiased estimate of p² from the others, for right rollouts only."""
        j = np.arange(N)
        return scale * j * (j - 1) / ((N - 1) * (N - 2)), np.zeros(N)

    p = np.linspace(0, 1, 6)
    assert "quadratic" in lab.estimator_names()
    assert lab.advantages("quadratic", np.array([1, 1, 1, 0])).tolist() == pytest.approx(
        [1 / 3] * 3 + [0]
    )
    np.testing.assert_allclose(lab.induced_weight("quadratic(scale=2)", 5, p), 2 * p**2, atol=1e-15)
    np.testing.assert_allclose(lab.bias("quadratic", 9, p), 0, atol=1e-15)
    assert lab.estimator("quadratic").rules.all_right == "kept"
    with pytest.raises(lab.LabError, match="did you mean 'quadratic'"):
        lab.estimator("quadratc")


# An entry, an alias, an operation.
@pytest.mark.parametrize("name", ["rloo", "pacs_anchor", "lift"])
def test_a_taken_name_cannot_be_registered_again(catalogue, name):
    def taken(N):
        return np.ones(N), np.ones(N)

    taken.__name__ = name
    with pytest.raises(lab.LabError, match=f"'{name}' is registered already"):
        lab.register()(taken)
    assert lab.advantages("rloo", np.array([1, 0])).tolist() == [1, -1]
