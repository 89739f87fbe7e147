"""Recipes: gates, allocations and chances against the enumeration of every outcome."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from enumeration import PAIRS, bernoulli_weight, chance, reward_vectors, scored
from refusals import refusal
from specs import SPECS

import lab
from lab.mathematics.practice import parse_gate

P = [Fraction(1, 1000), Fraction(3, 10), Fraction(1, 2), Fraction(19, 20)]
RATES = np.array([float(p) for p in P])
# The first two give nothing to groups that agree, the others do.
NAMED = ["rloo", "maxrl", "maxrl_eq7", "reinforce", "nsr"]
GATES = {
    "drop": lambda N, K: 0 < K < N,
    "redraw": lambda N, K: 0 < K < N,
    "between(0.25, 0.5)": lambda N, K: Fraction(1, 4) <= Fraction(K, N) <= Fraction(1, 2),
    "between(0, 0.5)": lambda N, K: Fraction(K, N) <= Fraction(1, 2),
}
NAMES = pytest.mark.parametrize("name", NAMED)
SIZES = pytest.mark.parametrize("N", [2, 3, 5])


def gated_scores(name, gate=None):
    """The advantages of a group, all 0 if the gate throws it away."""
    return scored(name, GATES[gate]) if gate else scored(name)


def close(ours, expected, tolerance=1e-12):
    expected = np.array([float(x) for x in np.ravel(expected)]).reshape(np.shape(expected))
    np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=1e-15)


# --- Gates (G1 to G3) -----------------------------------------------------------------------------


@NAMES
@SIZES
@pytest.mark.parametrize("gate", ["drop", "between(0.25, 0.5)", "between(0, 0.5)"])
def test_a_gate_that_drops_has_the_weight_cost_and_share_of_all_outcomes(name, N, gate):
    found = lab.effective_weight(name, N, RATES, gate=gate)
    close(found.weight, [bernoulli_weight(gated_scores(name, gate), N, p) for p in P])
    is_kept = [[chance(r, p) for r in reward_vectors(N) if GATES[gate](N, sum(r))] for p in P]
    close(found.kept, [sum(each) for each in is_kept])
    assert (found.cost == N).all()


def absorbing_chain(name, N, p):
    """(mean weight, mean rollouts) of redrawing until a group is mixed.

    The states are the reward vectors; one that agrees goes to every vector by its chance, a mixed
    one stays. What a state is worth solves value = paid + transitions @ value.
    """
    vectors = reward_vectors(N)
    row = np.array([float(chance(r, p)) for r in vectors])
    agrees = np.array([sum(r) in (0, N) for r in vectors])
    stays_open = np.eye(len(vectors)) - np.where(agrees[:, None], row, 0.0)
    advantages = gated_scores(name, "redraw")  # 0 in groups that agree
    scores = [sum(A * (x - p) for A, x in zip(advantages(r), r, strict=True)) for r in vectors]
    paid = [float(score / (N * p * (1 - p))) for score in scores]
    weight = np.linalg.solve(stays_open, paid)
    rollouts = np.linalg.solve(stays_open, np.where(agrees, float(N), 0.0))
    return row @ weight, N + row @ rollouts


@NAMES
@SIZES
def test_redrawing_until_mixed_is_the_absorbing_chain_over_all_groups(name, N):
    found = lab.effective_weight(name, N, RATES[1:], gate="redraw")
    for i, p in enumerate(P[1:]):
        weight, rollouts = absorbing_chain(name, N, p)
        assert found.weight[i] == pytest.approx(weight, rel=1e-12)
        assert found.cost[i] == pytest.approx(rollouts, rel=1e-12)
    assert (found.kept == 1).all()


def test_redrawing_rloo_at_two_rollouts_is_the_log_odds_and_dgpo_at_any_number():
    log_odds = 0.5 * lab.objective("log_odds")
    close(lab.effective_weight("rloo", 2, RATES, gate="redraw").weight, log_odds.weight(RATES))
    for N in (2, 5, 64):
        found = lab.effective_weight("dgpo", N, RATES, gate="redraw").weight
        close(found, log_odds.weight(RATES))


def test_redrawing_never_ends_where_all_rollouts_agree():
    found = lab.effective_weight("maxrl", 8, [0.0, 1.0], gate="redraw")
    assert np.isnan(found.weight).all() and np.isinf(found.cost).all() and (found.kept == 0).all()
    found = lab.effective_weight("maxrl", 8, [0.0, 1.0], gate="drop")
    close(found.weight, [7, 1])  # w_N at the ends; but no group is ever kept
    assert (found.kept == 0).all()


@pytest.mark.parametrize("spec", SPECS)
def test_dropping_changes_exactly_the_weight_of_groups_that_agree(spec):
    """w - w_N = a0(0) q^(N-1) - a1(N) p^(N-1): nothing where such groups get nothing."""
    chosen = lab.estimator(spec)
    a1, a0 = chosen.success_failure(6)
    plain = lab.induced_weight(chosen, 6, RATES)
    found = lab.effective_weight(chosen, 6, RATES, gate="drop").weight
    np.testing.assert_allclose(
        found,
        plain + a0[0] * (1 - RATES) ** 5 - a1[6] * RATES**5,
        rtol=1e-12,
        atol=1e-12 * np.abs(plain).max(),
    )


@pytest.mark.parametrize("N", [16, 64])
def test_weights_are_accurate_far_from_one_half(N):
    """In fractions, by the number of right rollouts: to 1e-12 from p = 1e-6 to 1 - 1e-6."""
    P = [Fraction(p) for p in (1e-6, 7e-4, 1 - 1e-6)]  # as floating point has them
    right, wrong = PAIRS["maxrl"]
    for gate in ("drop", "redraw", "between(0.25, 0.5)"):
        weights, shares = [], []
        for p in P:
            row = {0: (1 - p) ** N}
            for K in range(N):
                row[K + 1] = row[K] * (N - K) / (K + 1) * p / (1 - p)
            K_kept = [K for K in row if GATES[gate](N, K)]
            shares.append(sum(row[K] for K in K_kept))
            Z = {K: (K * right(N, K) / p - (N - K) * wrong(N, K) / (1 - p)) / N for K in K_kept}
            weights.append(sum(row[K] * Z[K] for K in K_kept))
        found = lab.effective_weight("maxrl", N, [float(p) for p in P], gate=gate)
        if gate == "redraw":
            close(found.weight, [w / m for w, m in zip(weights, shares, strict=True)])
            close(found.cost, [N / m for m in shares])
        else:
            close(found.weight, weights)
            close(found.kept, shares)


# --- Dynamic sampling: the length of the step and its noise, not its direction (G2) ---------------

PROBLEMS = np.array([[0.05, 0.25, 0.7], [0.3, 0.3, 0.4], [0.6, 0.1, 0.3], [0.95, 0.02, 0.03]])


def outcomes(name, pi, N, gate=None):
    """(chance, gradient, whether it is kept) of every sequence of N answers; answer 0 is right."""
    answers = np.array(list(itertools.product(range(len(pi)), repeat=N)))
    rewards = answers == 0
    K = rewards.sum(axis=1)
    kept = np.array([GATES[gate](N, k) if gate else True for k in K])
    A = lab.advantages(name, rewards.astype(float))
    scores = np.eye(len(pi)) - pi
    return pi[answers].prod(axis=1), np.einsum("oi,oia->oa", A, scores[answers]) / N, kept


def one_kept_group(name, problems, N, gate):
    """(mean, E[g g'], share kept) of one group of a step, over all problems, drawn alike.

    A step draws a problem, then a group, and again until a group is kept: given that it is kept.
    The gradient is that of all problems' logits, "problems*answers".
    """
    mean = np.zeros(problems.size)
    square = np.zeros((problems.size, problems.size))
    share = 0.0
    for x, pi in enumerate(problems):
        weight, g, kept = outcomes(name, pi, N, gate)
        weight = weight * kept / len(problems)
        here = slice(x * len(pi), (x + 1) * len(pi))
        share += weight.sum()
        mean[here] = weight @ g
        square[here, here] = np.einsum("o,oa,ob->ab", weight, g, g)
    return mean / share, square / share, share


@pytest.mark.parametrize("name", ["rloo", "maxrl", "grpo"])
def test_dynamic_sampling_changes_the_length_of_the_step_and_its_noise_not_its_direction(name):
    N = 4
    plain, plain_square, everything = one_kept_group(name, PROBLEMS, N, None)
    mean, square, share = one_kept_group(name, PROBLEMS, N, "drop")
    assert everything == pytest.approx(1, rel=1e-14)
    np.testing.assert_allclose(mean, plain / share, rtol=1e-12, atol=1e-15)
    found = lab.effective_weight(name, N, PROBLEMS[:, 0], gate="drop")
    assert share == pytest.approx(found.kept.mean(), rel=1e-12)
    # A step of B kept groups costs B/share drawn ones. Against a plain step of that many groups,
    # made as long, the noise across the direction of the step is the same, and along it less:
    noise = square - np.outer(mean, mean)
    plain_noise = (plain_square - np.outer(plain, plain)) * share / share**2
    np.testing.assert_allclose(
        plain_noise - noise, np.outer(mean, mean) * (1 - share), rtol=1e-10, atol=1e-13
    )
    # per group the noise is less, relative to the length of the step
    relative = np.trace(noise) / (mean @ mean)
    assert relative < np.trace(plain_square - np.outer(plain, plain)) / (plain @ plain)


# --- Allocation and chances (G4, G5) --------------------------------------------------------------


def test_averaging_leaves_an_allocation_of_rloo_without_weight_and_summing_gives_its_size():
    p, allocation = np.array([0.01, 0.2, 0.5, 0.9]), "min(64, 2/p) + 1"
    averaged = lab.effective_weight("rloo", 16, p, allocation=allocation)
    assert averaged.cost.tolist() == [65, 11, 5, 3]
    close(averaged.weight, np.ones(4))
    summed = lab.effective_weight("rloo", 16, p, allocation=allocation, per="rollout")
    close(summed.weight, averaged.cost)


@NAMES
def test_an_allocation_by_the_pass_rate_is_the_estimator_at_that_size(name):
    found = lab.effective_weight(
        name, 16, RATES, allocation="5 - 3.2*p", gate="drop", per="rollout"
    )
    sizes = [5, 4, 3, 2]
    pairs = zip(sizes, P, strict=True)
    expected = [n * bernoulli_weight(gated_scores(name, "drop"), n, p) for n, p in pairs]
    close(found.weight, expected)
    assert found.cost.tolist() == sizes


def test_a_chance_multiplies_everything_and_an_allocation_of_0_leaves_a_problem_out():
    plain = lab.effective_weight("maxrl", 8, RATES, gate="drop")
    found = lab.effective_weight("maxrl", 8, RATES, gate="drop", chance="4*p*q")
    for ours, before in zip(found, plain, strict=True):
        close(ours, before * 4 * RATES * (1 - RATES))
    for left_out in ({"chance": "p"}, {"allocation": "16*p"}):
        none = lab.effective_weight("maxrl", 8, [0.0, 0.5], gate="redraw", **left_out)
        assert none.cost[0] == none.weight[0] == 0  # never drawn, so never redrawn


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_results_have_the_shape_of_the_pass_rates(shape):
    p = np.full(shape, 0.3)
    for recipe in ("rloo", "rloo, gate=redraw", "rloo, allocation=4 - 2*p, chance=p"):
        for part in lab.recipe(recipe).at(p):
            assert np.shape(part) == shape


# --- Recipes as text ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, spec",
    [
        ("maxrl", "maxrl, N=16"),
        ("maxrl, N=8, gate=drop", "maxrl, N=8, gate=drop"),
        ("rloo,gate = 'redraw',N=2", "rloo, N=2, gate=redraw"),
        ("grpo(ddof=1, eps=1e-6), gate=between(0.2,.8)", None),
        ("pkpo(k=4, form='sloo'), N=32, allocation=32 - 24*p, per=rollout", None),
        ("rloo, N=16, allocation=min(64, 2/p), chance=4*p*q, per=rollout", None),
        ("formula(text='min(2, 1/p)'), N=8, gate=between(0, 0.125)", None),
    ],
)
def test_a_recipe_survives_its_text(text, spec):
    one = lab.recipe(text)
    assert lab.recipe(one.spec) == one and hash(lab.recipe(one.spec)) == hash(one)
    if spec:
        assert one.spec == spec
    np.testing.assert_array_equal(one.weight(RATES), one.at(RATES).weight)


def test_a_bound_of_a_gate_is_met_by_the_rate_that_it_names():
    for N in (5, 10, 16, 100, 1000):
        for K in range(N + 1):
            kept = parse_gate(f"between({K / N!r}, {K / N!r})").keeps(N)
            assert kept.nonzero()[0].tolist() == [K]


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "cannot read the recipe '': write an estimator and its parts, for example maxrl, N="),
        ("maxrl, drop", "cannot read the recipe"),
        ("maxrl) or (x", "cannot read the recipe"),
        ("maxrl)(N=2", "cannot read the recipe"),
        ("maxlr, gate=drop", "did you mean 'maxrl'"),
        ("maxrl, gait=drop", "unknown part of a recipe 'gait': did you mean 'gate'?"),
        ("maxrl, **gate", "unknown part of a recipe"),
        ("maxrl, gate=drop, gate=redraw", "gate stands twice"),
        ("maxrl, N=few", "N = 'few': it must be a whole number"),
        ("maxrl, N=0", "N = 0: it must be a whole number of at least 1"),
        ("maxrl, gate=drp", "unknown gate 'drp': did you mean 'drop'?"),
        ("maxrl, gate=between(0.2)", "cannot read gate"),
        ("maxrl, gate=between(0.8, 0.2)", "cannot read gate"),
        ("maxrl, gate=between(0.2, 2)", "must be a finite number in [0, 1]"),
        ("maxrl, gate=between(p, q)", "must be a finite number in [0, 1]"),
        ("maxrl, gate=__import__('os')", "unknown gate"),
        ("maxrl, N=2, gate=between(0.6, 0.9)", "keeps no group of 2 rollouts"),
        ("reinforce, N=1, gate=drop", "keeps no group of 1 rollouts"),
        ("rloo, allocation=2500/p", "allocation of 5000 rollouts"),
        ("rloo, allocation=1", "needs groups of at least 2 rollouts, found N = 1"),
        ("rloo, allocation=1/(p-0.5)", "allocation inf at p = 0.5"),
        ("rloo, allocation=rollouts", "cannot read the formula"),
        ("rloo, chance=p-1", "chance -0.5 at p = 0.5: it must be finite and at least 0"),
        ("rloo, per=token", "per = 'token': it must be one of 'problem', 'rollout'"),
    ],
)
def test_what_is_no_recipe_is_refused_with_one_sentence(text, words):
    assert words in refusal(lambda: lab.recipe(text).at(0.5))


def test_reading_a_recipe_sums_nothing():
    """Of 400 rollouts by a cut sampler there are too many groups: whoever asks for them is told."""
    one = lab.recipe("maxrl, N=400, top_p=0.9, false_positive=0.1, false_negative=0.1")
    with pytest.raises(lab.LabError, match="at most 400,000 are summed"):
        one.at(0.5)


@pytest.mark.parametrize(
    "parts, words",
    [
        ({"allocation": [4, 4]}, "allocation = [4, 4]: give allocation as text"),
        ({"allocation": "-p"}, "allocation -0.001 at p = 0.001"),
        ({"chance": "sqrt(0.4 - p)"}, "chance nan at p = 0.5"),
        ({"gate": 3}, "unknown gate '3'"),
        ({"gate": ["drop"]}, "unknown gate"),
    ],
)
def test_parts_that_no_recipe_can_have_are_refused(parts, words):
    assert words in refusal(lab.effective_weight, "rloo", 4, RATES, **parts)
