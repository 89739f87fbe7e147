"""Recipes as practised against brute force: every sequence of answers, rewards and losses.

The reference below knows nothing of multisets: it walks over all sequences of N rollouts, each with
an answer and a reward, and takes the gradient of the written loss by autograd.
"""

import itertools
import math

import numpy as np
import pytest
import torch

import lab
from lab import SoftmaxPolicy
from lab.mathematics.practice import Sampler

PI = [0.1, 0.25, 0.65]
FOUR = [0.1, 0.2, 0.3, 0.4]
RIGHT3, RIGHT4 = [True, False, False], [True, False, True, False]
SIX = [0.05, 0.1, 0.15, 0.2, 0.24, 0.26]
RIGHT6 = [True, False, True, False, False, False]


@pytest.fixture(autouse=True)
def in_float64():
    """The reference computes in float64, and no test after it does."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def score_rows(pi):
    return np.eye(len(pi)) - pi


def brute_mean(name, N, pi, mu, accepted, factor=None, lost=None):
    """E[g], g = (1/n) sum A_i f_i S_i over n kept rollouts, by all sequences (answer, reward)."""
    pi, mu = np.asarray(pi), np.asarray(mu)
    factor = np.ones(len(pi)) if factor is None else factor
    lost = np.zeros(len(pi)) if lost is None else lost
    kinds = [
        (y, r, mu[y] * (1 - lost[y]) * (accepted[y] if r else 1 - accepted[y]))
        for y in range(len(pi))
        for r in (1, 0)
    ] + [(None, None, float(mu @ lost))]
    kinds = [kind for kind in kinds if kind[2] > 0]
    total = np.zeros(len(pi))
    for group in itertools.product(kinds, repeat=N):
        rows = [(y, r) for y, r, _ in group if y is not None]
        if rows:
            A = lab.advantages(name, [float(r) for _, r in rows])
            g = sum(a * factor[y] * score_rows(pi)[y] for a, (y, _) in zip(A, rows, strict=True))
            total += math.prod(chance for _, _, chance in group) * g / len(rows)
    return total


def written_loss(theta, old, group, A, options):
    """Minus the surrogate of a group of one-token answers, as papers write it."""
    logp = torch.log_softmax(theta, -1)
    total = 0.0
    for y, a in zip(group, A, strict=True):
        ratio = (logp[y] - old[y]).exp()
        clip, high = options.get("clip", math.inf), options.get("clip_high")
        high = clip if high is None else high
        clipped = ratio.clamp(1 - clip, 1 + high)
        if options.get("loss") == "cispo":
            total = total + clipped.detach() * a * logp[y]
            continue
        one = torch.minimum(ratio * a, clipped * a)
        if a < 0 and "dual" in options:
            one = torch.maximum(one, torch.tensor(options["dual"] * a))
        total = total + one
    return -total / len(group)


def brute_update(name, N, pi, right, options, rate, updates):
    """E[theta' - theta] and E[p' - p] of SGD by autograd, over all sequences of answers."""
    start = torch.tensor(np.log(pi))
    old = torch.log_softmax(start, -1)
    moved, better = np.zeros(len(pi)), 0.0
    for group in itertools.product(range(len(pi)), repeat=N):
        A = lab.advantages(name, [float(right[y]) for y in group])
        theta = start.clone().requires_grad_()
        for _ in range(updates):
            (slope,) = torch.autograd.grad(written_loss(theta, old, group, A, options), theta)
            theta = (theta - rate * slope).detach().requires_grad_()
        chance = math.prod(pi[y] for y in group)
        after = torch.softmax(theta, -1).detach().numpy()
        moved += chance * (theta.detach() - start).numpy()
        better += chance * ((after - pi) @ right)
    return moved, better


def equal(found, expected, tolerance=1e-10):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


NAMES = pytest.mark.parametrize("name", ["rloo", "maxrl", "grpo", "reinforce", "maxrl_eq6"])


@NAMES
@pytest.mark.parametrize("pi, right, N", [(PI, RIGHT3, 5), (FOUR, RIGHT4, 4), (SIX, RIGHT6, 3)])
def test_small_steps_are_the_weight_times_grad_p(name, pi, right, N):
    policy = SoftmaxPolicy(pi, right)
    found = lab.recipe(name, N=N, clip=0.2, updates=7).on(policy)
    equal(found.mean, brute_mean(name, N, pi, pi, np.array(right, dtype=float)))
    equal(found.mean, lab.induced_weight(name, N, policy.p) * policy.grad_p)
    equal(found.drift, 0)
    equal(found.weight, lab.induced_weight(name, N, policy.p))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"clip": 0.2},
        {"clip": 0.2, "clip_high": 0.28},
        {"clip": 0.1, "dual": 1.3},
        {"loss": "cispo", "clip": 0.3, "clip_high": 0.1},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "name, pi, right, N", [("maxrl", PI, RIGHT3, 4), ("grpo", FOUR, RIGHT4, 3)]
)
def test_several_updates_are_those_of_autograd_over_all_sequences(options, name, pi, right, N):
    moved, better = brute_update(name, N, np.array(pi), np.array(right), options, 0.4, 3)
    found = lab.recipe(name, N=N, updates=3, rate=0.4, **options).on(SoftmaxPolicy(pi, right))
    equal(found.mean * 0.4 * 3, moved)
    equal(found.change["p"], better)


@NAMES
@pytest.mark.parametrize(
    "sampler", [{"top_p": 0.7}, {"temperature": 0.7}, {"top_k": 1}, {"min_p": 0.4}], ids=str
)
def test_a_sampler_pulls_towards_what_it_can_draw(name, sampler):
    """P1: E[g] = w_N(p_mu) E_mu[r S] + E[offset] E_mu[S]."""
    N, policy = 4, SoftmaxPolicy(FOUR, RIGHT4)
    mu = policy.drawn(Sampler(**sampler))
    found = lab.recipe(name, N=N, **sampler).on(policy)
    equal(found.mean, brute_mean(name, N, FOUR, mu, np.array(RIGHT4, dtype=float)))
    p_mu, scores = float(mu @ RIGHT4), score_rows(FOUR)
    w = lab.induced_weight(name, N, p_mu)
    _, offset = lab.estimator(name).coefficients(N)
    mean_offset = lab.mathematics.weights.binomial_mean(offset, p_mu)
    equal(found.mean, w * (mu * RIGHT4) @ scores + mean_offset * mu @ scores)
    if lab.estimator(name).rules.zero_mean:
        equal(found.mean, w * (mu * (np.array(RIGHT4) - p_mu)) @ scores)


def test_training_at_the_temperature_of_sampling_is_on_policy_for_the_heated_policy():
    policy = SoftmaxPolicy(FOUR, RIGHT4)
    mu = policy.drawn(Sampler(temperature=0.7))
    found = lab.recipe("maxrl", N=4, temperature=0.7, score_temperature=0.7).on(policy)
    p = float(mu @ RIGHT4)
    equal(found.mean, lab.induced_weight("maxrl", 4, p) * mu * (np.array(RIGHT4) - p) / 0.7)


@NAMES
def test_errors_of_the_judge_that_know_no_answer_change_the_weight_alone(name):
    """P2: E[g] = (1-a-b) w_N(q) grad p."""
    a, b, N, policy = 0.1, 0.25, 4, SoftmaxPolicy(PI, RIGHT3)
    recipe = lab.recipe(name, N=N, false_positive=a, false_negative=b)
    found = recipe.on(policy)
    equal(found.mean, brute_mean(name, N, PI, PI, np.where(RIGHT3, 1 - b, a)))
    q = policy.p * (1 - b) + (1 - policy.p) * a
    equal(found.mean, (1 - a - b) * lab.induced_weight(name, N, q) * policy.grad_p)
    equal(found.weight, recipe.weight(policy.p))


@NAMES
def test_errors_that_know_the_answer_change_the_objective(name):
    """P3: E[g] = w_N(q) grad q."""
    N, accepted = 4, np.array([0.0, 0.9, 1.0, 0.3])
    policy = SoftmaxPolicy(FOUR, RIGHT4, accepted)
    found = lab.recipe(name, N=N).on(policy)
    equal(found.mean, brute_mean(name, N, FOUR, FOUR, accepted))
    q = float(np.array(FOUR) @ accepted)
    equal(found.mean, lab.induced_weight(name, N, q) * np.array(FOUR) * (accepted - q))
    equal(found.drift, 0)


@NAMES
@pytest.mark.parametrize("a, b", [(0.0, 0.0), (0.1, 0.3)])
def test_lost_rollouts_make_smaller_groups(name, a, b):
    """P6, by the pass rate alone: the sizes that are left, each with the law given survival."""
    name = f"{name}(singleton='zero')"
    lost, N = {"lost_right": 0.1, "lost_wrong": 0.4}, 4
    policy = SoftmaxPolicy(PI, RIGHT3)
    recipe = lab.recipe(name, N=N, false_positive=a, false_negative=b, **lost)
    found = recipe.on(policy)
    by_answer = np.where(RIGHT3, 0.1, 0.4)
    equal(found.mean, brute_mean(name, N, PI, PI, np.where(RIGHT3, 1 - b, a), lost=by_answer))
    equal(recipe.weight(policy.p), found.weight)
    equal(found.drift, 0)


def test_rejected_rollouts_in_the_baseline_and_out_of_it():
    """P6 for RLOO: s1 q + s0 p over all N if they stay, s1 s0/s² if they leave."""
    s1, s0, N, p = 0.95, 0.5, 4, 0.1
    pi, keeps = np.array(PI), np.where(RIGHT3, s1, s0)
    stay = np.zeros(3)
    for group in itertools.product(range(3), repeat=N):
        A = lab.advantages("rloo", [float(RIGHT3[y]) for y in group])
        pull = sum(a * keeps[y] * score_rows(PI)[y] for a, y in zip(A, group, strict=True))
        stay += math.prod(pi[y] for y in group) * pull / N
    equal(stay, (s1 * (1 - p) + s0 * p) * SoftmaxPolicy(PI, RIGHT3).grad_p)
    s = p * s1 + (1 - p) * s0
    out = lab.recipe("rloo(singleton='zero')", N=N, lost_right=1 - s1, lost_wrong=1 - s0)
    alone = (1 - s) ** N + N * s * (1 - s) ** (N - 1)
    equal(out.weight(p), s1 * s0 / s**2 * (1 - alone))


def test_the_numbers_told_of_partial_groups_and_singletons():
    """docs/answers.md: prime-rl #2985, #2590, #3222 and verl #6452; sizes left are binomial."""
    p, verl = np.array([0.01, 0.5, 0.9]), "grpo(ddof=1, eps=1e-6, singleton='zero')"
    maxrl, centred = (f"{name}(singleton='zero')" for name in ("maxrl", "dr_grpo"))

    def left(name, N, right, wrong):
        return lab.recipe(name, N=N, lost_right=right, lost_wrong=wrong).weight(p)

    def sizes(N, s):
        return [math.comb(N, n) * s**n * (1 - s) ** (N - n) for n in range(N + 1)]

    for name, N, lost in ((maxrl, 16, 0.1), (maxrl, 16, 0.3), (verl, 8, 0.3)):
        weights = [lab.induced_weight(name, n, p) for n in range(1, N + 1)]
        equal(left(name, N, lost, lost), sizes(N, 1 - lost)[1:] @ np.array(weights))
    mixed = lab.effective_weight("rloo", 8, p, gate="drop").kept
    told = [
        (
            [0.930, 12.6, 9.7],
            [left(centred, 16, 0.1, 0.1)[1], *(left(maxrl, 16, a, a)[0] for a in (0.1, 0.3))],
        ),
        ([13.3, 1.67, 0.82], left(maxrl, 16, 0.02, 0.3)),
        ([1.26, 0.90, 0.71], left(centred, 16, 0.02, 0.3)),
        ([14.0, 2.00, 1.11], lab.induced_weight("maxrl", 16, p)),
        ([2.44, 1.74], lab.induced_weight(verl, 8, p[:2])),
        ([1.90, 1.56], left(verl, 8, 0.3, 0.3)[:2]),
        ([0.42, 0.77], sizes(2, 0.7)[1] + np.array([0, left(verl, 2, 0.3, 0.3)[1]])),
        ([0.00122, 0.185, 0.0033], [sizes(8, 0.7)[1], 0.9**16, 0.7**16]),
        ([0.077, 0.992, 0.569], mixed),
        ([0.5, 0.5, 0.5], lab.efficiency("maxrl", 2, p)),
        (1 - p, lab.efficiency("reinforce", 1, p)),
    ]
    for numbers, found in told:
        np.testing.assert_allclose(found, numbers, rtol=0.008)


@pytest.mark.parametrize("gate", ["drop", "redraw"])
def test_a_gate_of_lost_rollouts_by_the_pass_rate_is_that_of_all_groups(gate):
    parts = {"gate": gate, "lost_right": 0.2, "lost_wrong": 0.5, "false_positive": 0.1}
    recipe = lab.recipe("maxrl(singleton='zero')", N=4, **parts)
    found, at = recipe.on(SoftmaxPolicy(PI, RIGHT3)), recipe.at(0.1)
    equal([found.weight, found.cost, found.kept], [at.weight, at.cost, at.kept])


def test_a_mean_over_tokens_climbs_something_else_than_the_pass_rate():
    """P7: with f = 1/length, E[g] = w_N(p) (E[r f S] - p E[f S]); the constant divisor does not."""
    answers = ["ab", "ac...", "b.", "cdefgh"]
    policy = SoftmaxPolicy(FOUR, RIGHT4, answers=answers)
    scores = np.array([policy.gradient(np.eye(4)[y]) for y in range(4)]) / np.array(FOUR)[:, None]
    lengths, pi, w = policy.lengths, np.array(FOUR), lab.induced_weight("maxrl", 4, policy.p)
    fixed = lab.recipe("maxrl", N=4).on(policy)
    equal(fixed.mean, w * policy.grad_p)
    means = lab.recipe("maxrl", N=4, aggregation="sequence-mean").on(policy)
    equal(means.mean, w * (pi * (np.array(RIGHT4) - policy.p) / lengths) @ scores)
    assert np.abs(means.drift).max() > 1e-3


@pytest.mark.parametrize("name", ["rloo", "maxrl", "grpo"])
@pytest.mark.parametrize("p", [0.3, 0.5, 0.7])
def test_enough_clipped_updates_end_at_the_clip_whatever_the_estimator(name, p):
    """P4, two answers and (1 + eps_high) p < 1: E[p' - p] = P(mixed) max(eps_high p, eps_low q);
    the last step overshoots by less than the rate.
    """
    recipe = lab.recipe(name, N=6, clip=0.2, clip_high=0.3, updates=8000, rate=0.004)
    found = recipe.on(SoftmaxPolicy([p, 1 - p], [True, False]))
    end = (1 - p**6 - (1 - p) ** 6) * max(0.3 * p, 0.2 * (1 - p))
    assert abs(found.change["p"] - end) < 0.004


@pytest.mark.parametrize("updates", [2, 5])
def test_a_placebo_without_a_clip_spreads_the_policy_out(updates):
    """P5: to second order the drift is -(U-1)/2 rate E[A²]/N grad(sum of pi²)."""
    pi, N = np.array([0.5, 0.3, 0.2]), 4
    a1, a0 = lab.estimator("rloo").success_failure(N)
    K = np.arange(N + 1)
    chance = np.array([math.comb(N, k) for k in K]) / 2**N
    square = float(chance @ (K * a1**2 + (N - K) * a0**2)) / N
    spread = 2 * pi * (pi - (pi**2).sum())
    placebo = {"false_positive": 0.5, "false_negative": 0.5}

    def drift(rate):
        recipe = lab.recipe("rloo", N=N, updates=updates, rate=rate, **placebo)
        return recipe.on(SoftmaxPolicy(pi, RIGHT3)).mean / rate

    equal(lab.recipe("rloo", N=N, **placebo).on(SoftmaxPolicy(pi, RIGHT3)).mean, 0)
    # The remainder is of the order of the rate: halve it twice and extrapolate.
    first, second, third = (drift(rate) for rate in (4e-3, 2e-3, 1e-3))
    limit = (8 * third - 6 * second + first) / 3
    equal(limit, -(updates - 1) / 2 * square / N * spread, 1e-6)


@pytest.mark.parametrize(
    "estimator, direction",
    [("k1", "none"), ("k2", "reverse"), ("k3", "forward"), ("k3_ratio", "reverse")],
)
def test_which_kl_a_penalty_descends(estimator, direction):
    """P8: on-policy, k1 has no mean, k2 and k3 times the ratio KL(pi || ref), k3 KL(ref || pi)."""
    pi, reference = np.array(PI), np.array([0.3, 0.3, 0.4])
    policy = SoftmaxPolicy(PI, RIGHT3, reference=reference)
    found = lab.recipe("rloo", N=4, kl=1.0, kl_estimator=estimator).on(policy)
    log = np.log(pi / reference)
    gradients = {"none": 0 * pi, "reverse": pi * (log - pi @ log), "forward": pi - reference}
    equal(found.mean, policy.grad_p - gradients[direction])


def test_an_entropy_bonus_climbs_the_entropy():
    pi = np.array(PI)
    policy = SoftmaxPolicy(PI, RIGHT3)
    entropy = -pi @ np.log(pi)
    found = lab.recipe("rloo", N=4, entropy=0.7).on(policy)
    equal(found.mean, policy.grad_p - 0.7 * pi * (np.log(pi) + entropy))
