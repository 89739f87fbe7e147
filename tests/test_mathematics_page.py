"""docs/mathematics.md: the lemmas and the conditions of its statements, by exact enumeration.

Advantages are drawn at random where a lemma holds for all of them; the estimators of the equations
on noise are written out. Fractions stay exact, so equality is equality.
"""

import math
from fractions import Fraction
from functools import partial
from random import Random

import pytest
from enumeration import binomial_row, expectation, gradient_moments, pass_rate, pass_rate_gradient

N = 4
# policies over a few answers, with the right ones: one or several of each, alike or not
POLICIES = [
    ([Fraction(1, 50), Fraction(49, 50)], {0}),
    ([Fraction(3, 5), Fraction(2, 5)], {0}),
    ([Fraction(1, 50), Fraction(49, 100), Fraction(49, 100)], {0}),
    ([Fraction(3, 10), Fraction(7, 20), Fraction(7, 20)], {0}),
    ([Fraction(1, 10), Fraction(1, 5), Fraction(7, 10)], {0, 1}),
    ([Fraction(n, 10) for n in (1, 2, 3, 4)], {1, 3}),
]
EVERY_POLICY = pytest.mark.parametrize("policy, right", POLICIES)


def paid(a1, a0):
    """Advantages from the two sequences a1(K) and a0(K)."""
    return lambda r: [a1[sum(r)] if x else a0[sum(r)] for x in r]


def any_sequences(seed, size=N):
    draw = Random(seed)
    return [
        [Fraction(draw.randint(-9, 9), draw.randint(1, 9)) for _ in range(size + 1)] for _ in "10"
    ]


def sums_to_zero(phi):
    """a1 and a0 of phi(K) (N/(N-1)) (r - mean), with phi(K) for K = 1 .. N-1."""
    inside = [0, *phi, 0]
    a1 = [Fraction(N - K, N - 1) * x for K, x in enumerate(inside)]
    a0 = [-Fraction(K, N - 1) * x for K, x in enumerate(inside)]
    return a1, a0


def weight(advantages, p, size=N):
    """w_N from the gradient of a policy with two answers: E[g] = w_N grad p."""
    mean, _ = gradient_moments(advantages, size, [p, 1 - p], {0})
    return mean[0] / pass_rate_gradient([p, 1 - p], {0})[0]


def inside_classes(policy, right):
    """v1 and v0: the trace of the score's covariance given a right and given a wrong rollout."""
    traces = []
    for kind in (right, set(range(len(policy))) - right):
        total = sum(policy[y] for y in kind)
        mean = [(policy[x] if x in kind else 0) / total - policy[x] for x in range(len(policy))]
        square = sum(
            policy[y] / total * sum(((x == y) - policy[x]) ** 2 for x in range(len(policy)))
            for y in kind
        )
        traces.append(square - sum(m * m for m in mean))
    return traces


def slope_squared(policy, right):
    return sum(x * x for x in pass_rate_gradient(policy, right))


def fisher(policy):
    """F = E|S|², over the answers of the policy."""
    answers = range(len(policy))
    return sum(policy[y] * sum(((x == y) - policy[x]) ** 2 for x in answers) for y in answers)


def moments(advantages, p, size=N):
    """D1, D0 and Var Z by all reward vectors."""

    def square(r, kind):
        return sum(a * a for a, x in zip(advantages(r), r, strict=True) if x == kind)

    of_kind = (partial(square, kind=kind) for kind in (1, 0))
    right, wrong = (expectation(function, size, p) / size for function in of_kind)

    def Z(r):
        return (
            sum(a / p if x else -a / (1 - p) for a, x in zip(advantages(r), r, strict=True)) / size
        )

    mean = expectation(Z, size, p)
    return right, wrong, expectation(lambda r: Z(r) ** 2, size, p) - mean**2


def eq6(r):
    return [Fraction(x * len(r), max(sum(r), 1)) for x in r]


def eq7(r):
    return [a - 1 for a in eq6(r)]


# --- The lemmas ---------------------------------------------------------------------------------


@EVERY_POLICY
@pytest.mark.parametrize("seed", [0, 1])
def test_l1_and_l2_any_advantages_have_the_mean_gap_and_the_mean_z(policy, right, seed):
    a1, a0 = any_sequences(seed)
    p = pass_rate(policy, right)
    q = 1 - p
    gap = sum(chance * (a1[j + 1] - a0[j]) for j, chance in enumerate(binomial_row(N - 1, p)))
    mean_z = sum(
        chance * (K * a1[K] / p - (N - K) * a0[K] / q) / N
        for K, chance in enumerate(binomial_row(N, p))
    )
    mean, _ = gradient_moments(paid(a1, a0), N, policy, right)
    assert mean == [gap * x for x in pass_rate_gradient(policy, right)]
    assert gap == mean_z


def test_l3_the_offset_does_not_matter_and_every_change_of_the_gap_does():
    p = [Fraction(k, N + 1) for k in range(1, N + 1)]
    a1, a0 = any_sequences(0)
    found = [weight(paid(a1, a0), x) for x in p]
    shift = any_sequences(7)[0]
    moved = (
        [0, *(a1[j + 1] + shift[j] for j in range(N))],
        [a + s for a, s in zip(a0, shift, strict=True)],
    )
    assert [weight(paid(*moved), x) for x in p] == found
    for j in range(N):
        other = list(a1)
        other[j + 1] += 1
        assert [weight(paid(other, a0), x) for x in p] != found


def test_l4_and_l5_groups_that_sum_to_zero_have_one_degree_less():
    a1, a0 = any_sequences(3)
    points = [Fraction(k, N + 2) for k in range(1, N + 2)]

    def difference(advantages, order):
        """The divided difference of w_N, which is zero exactly if its degree is below `order`."""
        return sum(
            weight(advantages, x) / math.prod(x - y for y in points[: order + 1] if y != x)
            for x in points[: order + 1]
        )

    assert difference(paid(a1, a0), N) == 0 != difference(paid(a1, a0), N - 1)
    assert difference(eq6, N - 1) != 0
    phi = [Fraction(3), Fraction(-1, 2), Fraction(5, 7)]
    zero = paid(*sums_to_zero(phi))
    assert difference(zero, N - 1) == 0 != difference(zero, N - 2)
    for p in points:
        chances = binomial_row(N - 2, p)
        assert weight(zero, p) == sum(c * x for c, x in zip(chances, phi, strict=True))


@EVERY_POLICY
def test_l7_the_contrast_of_the_two_classes(policy, right):
    p, slope = pass_rate(policy, right), pass_rate_gradient(policy, right)
    for x in range(len(policy)):
        right_mean = ((policy[x] if x in right else 0) / p) - policy[x]
        wrong_mean = ((0 if x in right else policy[x]) / (1 - p)) - policy[x]
        assert p * (1 - p) * (right_mean - wrong_mean) == slope[x]
        assert right_mean == slope[x] / p and wrong_mean == -slope[x] / (1 - p)


# --- Noise, efficiency, the control variate -----------------------------------------------------


@EVERY_POLICY
def test_the_trace_of_the_covariance_splits_into_classes_and_counts(policy, right):
    advantages = paid(*any_sequences(2))
    p, (v1, v0) = pass_rate(policy, right), inside_classes(policy, right)
    D1, D0, var_z = moments(advantages, p)
    _, trace = gradient_moments(advantages, N, policy, right)
    assert trace == (v1 * D1 + v0 * D0) / N + slope_squared(policy, right) * var_z
    between = slope_squared(policy, right) / (p * (1 - p))
    assert fisher(policy) == p * v1 + (1 - p) * v0 + between


@EVERY_POLICY
@pytest.mark.parametrize("advantages", [eq6, eq7], ids=["eq6", "eq7"])
def test_the_ratio_to_the_oracle_baseline_without_conditions(policy, right, advantages):
    p, (v1, v0) = pass_rate(policy, right), inside_classes(policy, right)
    q, square = 1 - p, slope_squared(policy, right)
    w = (1 - q**N) / p
    D1, D0, var_z = moments(advantages, p)
    _, noise = gradient_moments(advantages, N, policy, right)
    _, oracle = gradient_moments(lambda r: [x - p for x in r], N, policy, right)
    numerator = p * q * (q * v1 + p * v0) + square * (1 - 2 * p) ** 2 / (p * q)
    stated = w**2 * numerator / (v1 * D1 + v0 * D0 + N * square * var_z)
    assert w**2 * oracle / noise == stated


@EVERY_POLICY
@pytest.mark.parametrize("size", [2, 4])
def test_what_the_control_variate_of_equation_7_changes(policy, right, size):
    p, (v1, v0) = pass_rate(policy, right), inside_classes(policy, right)
    q, square, F = 1 - p, slope_squared(policy, right), fisher(policy)
    (_, trace6), (_, trace7) = (gradient_moments(a, size, policy, right) for a in (eq6, eq7))
    helped = 2 * v1 * (1 - q**size) + 2 * size * square * q ** (size - 1) / p
    assert trace7 - trace6 == (F - helped) / size
    assert (trace7 < trace6) == (helped > p * v1 + q * v0 + square / (p * q))
    if v1 == v0:
        share = square / (p * q * F)
        stated = 1 - 2 * (1 - share) * (1 - q**size) - 2 * share * size * q**size
        assert trace7 - trace6 == F / size * stated
