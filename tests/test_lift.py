"""Real rewards: the lift of every estimator, by enumeration, by known algorithms and by eye."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from enumeration import reward_vectors
from refusals import refusal
from specs import SPECS

import lab

AGREEING_GROUPS_GET_NOTHING = (
    "rloo reinforce_mean grpo grpo(ddof=1,eps=1e-4) f_grpo(gamma=1) dgpo mapo maxrl maxrl_loo"
    " pacs_anchor entropic(eta=1)"
).split()
AGREEING_GROUPS_ARE_PAID = (
    "reinforce nsr w_reinforce maxrl_eq6 maxrl_eq7 truncated(order=2) pkpo(k=2) real_anchor"
).split()
KINDS = AGREEING_GROUPS_GET_NOTHING + AGREEING_GROUPS_ARE_PAID
# A softmax policy over five answers of four reward values, two of which are shared or near.
POLICY = np.array([0.1, 0.15, 0.2, 0.25, 0.3])
REWARDS = np.array([2.0, 0.5, 0.5, -1.0, 0.25])


def lifted(kind: str, low: float = -1.5, high: float = 2.5) -> lab.Estimator:
    """The lift, with a range where the kind needs one."""
    needs = kind in AGREEING_GROUPS_ARE_PAID
    return lab.lift(kind, low=low, high=high) if needs else lab.lift(kind)


def by_levels(kind: str, rewards, low: float, high: float) -> list[float]:
    """The sum over levels, level by level and rollout by rollout, as the definition says it."""
    N = len(rewards)
    a1, a0 = lab.estimator(kind).success_failure(N)
    ends = sorted({low, high, *rewards})
    A = [0.0] * N
    for below, level in itertools.pairwise(ends):
        K = sum(r >= level for r in rewards)
        for i, r in enumerate(rewards):
            A[i] += (level - below) * (a1[K] if r >= level else a0[K])
    return A


def mean_gradient(kind, N: int) -> np.ndarray:
    """E[(1/N) sum_i A_i grad log pi(y_i)] over all answers of N rollouts of POLICY."""
    answers = np.array(list(itertools.product(range(len(POLICY)), repeat=N)))
    A = lab.advantages(kind, REWARDS[answers])
    scores = np.eye(len(POLICY)) - POLICY
    return np.einsum("o,oi,oia->a", POLICY[answers].prod(axis=1), A, scores[answers]) / N


def gradient_of_objective(kind, N: int) -> np.ndarray:
    """The gradient of `lab.lifted_objective` in the logits.

    Central differences with a wide step, and Richardson's extrapolation: the error is near 1e-12.
    """
    levels, level_of = np.unique(REWARDS, return_inverse=True)

    def J(logits):
        pi = np.exp(logits) / np.exp(logits).sum()
        chances = np.bincount(level_of, weights=pi, minlength=len(levels))
        return float(lab.lifted_objective(kind, N, levels, chances / chances.sum()))

    def slope(direction, h):
        z = np.log(POLICY)
        return (J(z + h * direction) - J(z - h * direction)) / (2 * h)

    rows = []
    for direction in np.eye(len(POLICY)):
        table = [slope(direction, 0.08 / 2**i) for i in range(5)]
        for order in range(1, 5):
            table = [
                (4**order * fine - coarse) / (4**order - 1)
                for coarse, fine in itertools.pairwise(table)
            ]
        rows.append(table[0])
    return np.array(rows)


# --- What it is ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("N", [2, 3, 4, 7])
def test_it_is_the_sum_over_levels_of_the_binary_estimator(kind, N):
    rng = np.random.default_rng(N)
    for rewards in (rng.uniform(-1, 2, N), rng.integers(-1, 3, N) / 2.0, np.full(N, 0.7)):
        np.testing.assert_allclose(
            lab.advantages(lifted(kind), rewards),
            by_levels(kind, rewards.tolist(), -1.5, 2.5),
            rtol=1e-12,
            atol=1e-12,
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("N", [2, 3, 4])
def test_the_mean_gradient_is_that_of_the_lifted_objective(kind, N):
    chosen = lifted(kind)
    np.testing.assert_allclose(
        mean_gradient(chosen, N), gradient_of_objective(chosen, N), atol=1e-10
    )


BINARY_SPECS = [spec for spec in SPECS if lab.estimator(spec).real is None]


@pytest.mark.parametrize("spec", BINARY_SPECS)
def test_binary_rewards_give_the_binary_estimator_bit_for_bit(spec):
    binary = lab.estimator(spec)
    chosen = lab.lift(binary, low=0, high=1)
    dtypes = ("float64", "float32", "float16", "int64", "bool")
    for N, dtype in itertools.product(range(binary.least, 7), dtypes):
        rewards = np.array(reward_vectors(N)).astype(dtype)
        expected = lab.advantages(binary, rewards)
        assert lab.advantages(chosen, rewards).tobytes() == expected.tobytes()
        tensor = lab.advantages(chosen, torch.from_numpy(rewards))
        same = lab.advantages(binary, torch.from_numpy(rewards))
        assert tensor.dtype == same.dtype and tensor.numpy().tobytes() == same.numpy().tobytes()


# --- Known algorithms that are lifts ------------------------------------------------------------


@pytest.mark.parametrize("N, k", [(2, 2), (4, 2), (5, 3), (6, 6)])
def test_lifted_pkpo_climbs_the_expected_best_of_k(N, k):
    """Reward i gets N times its share of the mean over all k-subsets of their best, counted one by
    one; and the objective is E[max of k], by enumeration.
    """
    r = np.random.default_rng(k).uniform(0, 1, N)
    subsets = list(itertools.combinations(range(N), k))
    expected = [
        N * sum(max(r[list(each)]) for each in subsets if i in each) / len(subsets)
        for i in range(N)
    ]
    np.testing.assert_allclose(
        lab.advantages(f"lift(pkpo(k={k}), low=0, high=1)", r), expected, atol=1e-13
    )
    levels, chances = np.array([-1.0, 0.5, 2.0]), np.array([0.5, 0.3, 0.2])
    best = sum(
        math.prod(chances[list(each)]) * max(levels[list(each)])
        for each in itertools.product(range(3), repeat=k)
    )
    found = lab.lifted_objective(f"pkpo(k={k})", N, levels, chances)
    assert float(found) == pytest.approx(best - levels[0], abs=1e-13)


def tailrl(rewards: list[float]) -> list[float]:
    """TailRL's advantages, as the paper's code states them (2609.02987, Zanette-Labs/TailRL).

    Each gap between sorted rewards, the first one above 0, is shared by the rollouts that reach
    its upper end; a rollout gets N times the sum of its shares, minus the mean over the group.
    """
    N = len(rewards)
    order = sorted(range(N), key=lambda i: rewards[i])
    shares, sum_of_shares, previous = [0.0] * N, 0.0, 0.0
    for rank, i in enumerate(order):
        sum_of_shares += (rewards[i] - previous) / (N - rank)
        previous = rewards[i]
        shares[i] = N * sum_of_shares
    mean = sum(shares) / N
    return [share - mean for share in shares]


def test_lifted_maxrl_is_tail_likelihood_rl():
    # An example in the tests of the paper's code.
    assert tailrl([0.2, 0.5, 0.8]) == pytest.approx([-0.6, -0.15, 0.75])
    rng = np.random.default_rng(0)
    for N in (2, 3, 8, 33):
        for rewards in (rng.random(N), rng.integers(0, 3, N) / 2, np.full(N, 0.3)):
            np.testing.assert_allclose(
                lab.advantages("lift(maxrl)", rewards), tailrl(rewards.tolist()), atol=1e-12
            )


# --- Arrays, tensors, groups --------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(6,), (5, 6), (2, 5, 6), (0, 6), (4, 1)])
@pytest.mark.parametrize("kind", ["lift(maxrl)", "lift(maxrl_eq7, high=9)", "grpo_zscore"])
def test_a_batch_is_scored_like_its_groups_and_tensors_like_arrays(shape, kind):
    kind = lab.estimator(kind, singleton="zero") if shape[-1] == 1 else lab.estimator(kind)
    r = np.random.default_rng(4).normal(size=shape)
    A = lab.advantages(kind, r)
    assert A.shape == shape and A.dtype == np.float64
    for index in np.ndindex(shape[:-1]):
        assert lab.advantages(kind, r[index]).tolist() == A[index].tolist()
    tensor = lab.advantages(kind, torch.from_numpy(r))
    assert tensor.dtype == torch.float64
    np.testing.assert_allclose(tensor.numpy(), A, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_float_type_of_the_rewards_is_kept_and_the_rewards_left_alone(dtype):
    r = np.array([0.5, 0.0, 1.0], dtype=dtype)
    A = lab.advantages("lift(maxrl)", r)
    assert A.dtype == dtype and A.tolist() == [-0.25, -1, 1.25] and r.tolist() == [0.5, 0, 1]
    tensor = torch.tensor([0.5, 0, 1], dtype=torch.bfloat16, requires_grad=True)
    A = lab.advantages("lift(maxrl)", tensor)
    assert A.dtype == torch.bfloat16 and A.tolist() == [-0.25, -1, 1.25] and not A.requires_grad


# --- Refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", AGREEING_GROUPS_ARE_PAID)
def test_a_kind_that_pays_agreeing_groups_needs_a_range_and_says_so(kind):
    with pytest.raises(lab.LabError, match=r"declare .* of the rewards, for example lift\("):
        lab.lift(kind)


@pytest.mark.parametrize(
    "kind, given, missing",
    [("maxrl_eq6", "high=1", "low"), ("maxrl_eq7", "low=0", "high"), ("reinforce", "", "low")],
)
def test_only_the_end_that_counts_is_needed(kind, given, missing):
    with pytest.raises(lab.LabError, match=f"declare {missing} of the rewards"):
        lab.estimator(f"lift({kind}, {given})".replace(", )", ")"))
    other = {"low": "low=0", "high": "high=1"}[missing]
    assert lab.estimator(f"lift({kind}, {other})").rules


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("kind", ["lift(maxrl)", "lift(maxrl, low=0, high=1)", "grpo_zscore"])
def test_what_is_no_finite_number_is_named_with_its_place(reward, kind):
    rewards = np.full((3, 4), 0.5)
    rewards[1, 2] = reward
    for given in (rewards, torch.from_numpy(rewards)):
        assert refusal(lab.advantages, kind, given) == (
            f"reward {reward} in problem 1, rollout 2: a reward must be a finite number; leave a"
            " lost rollout out of its group"
        )


@pytest.mark.parametrize("rewards", [np.array([0.5, None]), np.array(["1", "0"])])
def test_text_and_missing_rewards_are_refused(rewards):
    with pytest.raises(lab.LabError, match="a reward must be a finite number"):
        lab.advantages("lift(maxrl)", rewards)


@pytest.mark.parametrize("reward", [-0.25, 1.5])
def test_a_reward_outside_of_the_declared_range_is_named_with_its_place(reward):
    rewards = np.array([[0.0, 1.0], [reward, 0.5]])
    for given in (rewards, torch.from_numpy(rewards)):
        assert refusal(lab.advantages, "lift(maxrl, low=0, high=1)", given) == (
            f"reward {reward} in problem 1, rollout 0: the declared range of rewards is [0, 1];"
            " declare a wider one, or mend the reward"
        )
    group = lab.Group("algebra/7", (lab.Rollout("algebra/7", 4, reward),))
    with pytest.raises(lab.LabError, match=r"in problem 'algebra/7', rollout 4: the declared"):
        lab.advantages("lift(maxrl, low=0, high=1, singleton='zero')", [group])


@pytest.mark.parametrize(
    "spec, message",
    [
        ("lift", r"estimator 'lift' needs of: write lift\(ESTIMATOR\)"),
        ("lift(maxlr)", "unknown estimator 'maxlr': did you mean 'maxrl'"),
        ("lift(pkpo)", "estimator 'pkpo' needs k"),
        ("lift(maxrl, lo=0)", "unknown option of estimator 'lift' 'lo': did you mean 'low'"),
        ("lift(maxrl, low=1, high=1)", "low = 1, high = 1: the range of rewards is empty"),
        ("lift(maxrl, low='0')", "low = '0': it must be a finite number"),
        ("lift(lift(maxrl))", r"lift\(maxrl\) takes real rewards already"),
        ("lift(grpo_zscore)", "grpo_zscore takes real rewards already"),
        ("lift(maxrl, rloo)", "cannot read"),
        ("lift(1)", "cannot read"),
        ("maxrl(rloo)", "unknown option of estimator 'maxrl' 'of'"),
    ],
)
def test_a_lift_that_cannot_be_is_refused(spec, message):
    with pytest.raises(lab.LabError, match=message):
        lab.estimator(spec)


def test_a_group_too_small_follows_the_rule_of_the_lifted_estimator():
    with pytest.raises(lab.LabError, match=r"lift\(maxrl\) needs groups of at least 2 rollouts"):
        lab.advantages("lift(maxrl)", np.array([0.5]))
    for spec in ("lift(maxrl, singleton='zero')", "lift(maxrl(singleton='zero'))"):
        assert lab.estimator(spec).spec == "lift(maxrl, singleton='zero')"
        assert lab.advantages(spec, np.array([0.5])).tolist() == [0]


# --- As an estimator ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_lift_is_written_and_read_like_any_estimator_and_keeps_the_binary_curves(kind):
    chosen = lifted(kind)
    again = lab.estimator(chosen.spec)
    assert again.spec == chosen.spec and chosen.spec.startswith("lift(")
    p = np.linspace(0.05, 0.95, 7)
    for curve in (lab.induced_weight, lab.efficiency, lab.finite_objective):
        assert curve(again, 8, p).tolist() == curve(kind, 8, p).tolist()
    assert again.rules == replace(lab.estimator(kind).rules, real=True)


def test_the_objective_of_binary_rewards_is_that_of_the_binary_estimator():
    p = np.array([0.1, 0.5, 0.9])
    chances = np.stack((1 - p, p), axis=-1)
    found = lab.lifted_objective("lift(maxrl)", 8, [0, 1], chances)
    np.testing.assert_allclose(found, lab.finite_objective("maxrl", 8, p), atol=1e-15)
    assert lab.lifted_objective("rloo", 8, [1, 2], [0.5, 0.5]) == pytest.approx(0.5)
    assert lab.lifted_objective("lift(rloo, low=0)", 8, [1, 2], [0.5, 0.5]) == pytest.approx(1.5)


@pytest.mark.parametrize(
    "levels, chances, message",
    [
        ([1, 0], [0.5, 0.5], "give the rewards as a list, ascending"),
        ([0, 0], [0.5, 0.5], "ascending"),
        ([], [], "ascending"),
        ([0, np.nan], [0.5, 0.5], "ascending"),
        ([0, 1], [0.5, 0.6], "summing to 1"),
        ([0, 1], [1.5, -0.5], "one probability for each level"),
        ([0, 1], [1.0], "one probability for each level"),
        ([0, 1], 1.0, "one probability for each level"),
    ],
)
def test_what_is_no_distribution_of_rewards_is_refused(levels, chances, message):
    with pytest.raises(lab.LabError, match=message):
        lab.lifted_objective("maxrl", 4, levels, chances)


def test_an_estimator_that_is_no_sum_over_levels_has_no_lifted_objective():
    with pytest.raises(lab.LabError, match="grpo_zscore is no sum over levels"):
        lab.lifted_objective("grpo_zscore", 4, [0, 1], [0.5, 0.5])


# --- The z-score --------------------------------------------------------------------------------


def test_the_z_score_is_that_of_trl():
    r = torch.tensor([[0.0, 0.25, 1.0, 0.5], [2.0, 2.0, 2.0, 2.0]], dtype=torch.float64)
    expected = (r - r.mean(1, keepdim=True)) / (r.std(1, keepdim=True) + 1e-4)
    assert torch.allclose(lab.advantages("grpo_zscore", r), expected, atol=1e-12)
    np.testing.assert_allclose(
        lab.advantages("grpo_zscore(ddof=0, eps=0)", np.array([0.1, 0.3])), [-1, 1], atol=1e-12
    )
    assert lab.advantages("grpo_zscore(eps=0)", np.full(3, 0.1)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("options", ["(ddof=1, eps=1e-4)", "(ddof=0, eps=0)", "(ddof=1, eps=1e-6)"])
def test_the_z_score_of_binary_rewards_is_grpo(options):
    for N in range(2, 7):
        rewards = np.array(reward_vectors(N), dtype=np.float64)
        np.testing.assert_allclose(
            lab.advantages(f"grpo_zscore{options}", rewards),
            lab.advantages(f"grpo{options}", rewards),
            atol=1e-12,
        )
