"""Ground truth by brute force: every reward vector, every sequence of answers. Imports nothing of
the lab.

Numbers keep their type: fractions stay exact, decimals keep their digits. `advantages` is a
function from a tuple of N rewards to N numbers.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

Advantages = Callable[[tuple[int, ...]], Sequence]
DIGITS = 60

# A softmax policy over four answers; exact, because only its probabilities enter.
POLICY = tuple(Fraction(n, 10) for n in (1, 2, 3, 4))


# a1(K) and a0(K) from the papers, exact; K = 0 and K = N only where the rollout can exist.
PAIRS = {
    "reinforce": (lambda N, K: 1, lambda N, K: 0),
    "nsr": (lambda N, K: 0, lambda N, K: -1),
    "rloo": (lambda N, K: Fraction(N - K, N - 1), lambda N, K: Fraction(-K, N - 1)),
    "maxrl": (lambda N, K: Fraction(N - K, K), lambda N, K: -int(K > 0)),
    "maxrl_eq6": (lambda N, K: Fraction(N, K), lambda N, K: 0),
    "maxrl_eq7": (lambda N, K: Fraction(N, K) - 1, lambda N, K: -1),
    "maxrl_loo": (
        lambda N, K: Fraction(N * (N - K), (N - 1) * K),
        lambda N, K: Fraction(-N * K, (N - 1) * (K + 1)),
    ),
    "pacs_anchor": (
        lambda N, K: Fraction(N * N, 4 * (N - 1) * K) if K < N else 0,
        lambda N, K: Fraction(-N * N, 4 * (N - 1) * (N - K)) if K else 0,
    ),
    "grpo": (lambda N, K: math.sqrt((N - K) / K), lambda N, K: -math.sqrt(K / (N - K))),
    "real_anchor(tau=1.0)": (lambda N, K: Fraction(N, 1 + K), lambda N, K: Fraction(-N, 1 + N - K)),
}


def scored(kind: str, kept: Callable[[int, int], bool] = lambda N, K: True) -> Advantages:
    """The advantages of PAIRS, all 0 where a group is not `kept`, a function of N and K."""
    right, wrong = PAIRS[kind]

    def advantages(rewards):
        N, K = len(rewards), sum(rewards)
        return [(right if r else wrong)(N, K) if kept(N, K) else 0 for r in rewards]

    return advantages


def reward_vectors(N: int) -> list[tuple[int, ...]]:
    return list(itertools.product((0, 1), repeat=N))


def chance(rewards: tuple[int, ...], p):
    right = sum(rewards)
    return p**right * (1 - p) ** (len(rewards) - right)


def expectation(f: Callable[[tuple[int, ...]], object], N: int, p):
    """E[f(rewards)] over all 2^N reward vectors."""
    return sum(chance(r, p) * f(r) for r in reward_vectors(N))


def bernoulli_weight(advantages: Advantages, N: int, p):
    """E[(1/N) sum_i A_i S_i]/grad p for one Bernoulli logit: score S_i = r_i - p, grad
    p = p(1-p).
    """
    return expectation(
        lambda r: sum(A * (x - p) for A, x in zip(advantages(r), r, strict=True)), N, p
    ) / (N * p * (1 - p))


def pass_rate(policy: Sequence, right: set[int]):
    return sum(policy[y] for y in right)


def pass_rate_gradient(policy: Sequence, right: set[int]) -> list:
    """grad p = sum over right answers of pi(y) (e_y - pi)."""
    return [sum(policy[y] * ((y == a) - policy[a]) for y in right) for a in range(len(policy))]


def gradient_moments(advantages: Advantages, N: int, policy: Sequence, right: set[int]) -> tuple:
    """E[g] and tr Cov(g), g = (1/N) sum_i A_i (e_y_i - pi), over all sequences of N answers of a
    softmax policy.

    `right` holds the indices of the right answers.
    """
    answers = range(len(policy))
    mean, square = [0] * len(policy), 0
    for ys in itertools.product(answers, repeat=N):
        weight = math.prod(policy[y] for y in ys)
        A = advantages(tuple(int(y in right) for y in ys))
        total = sum(A)
        g = [
            (sum(a for a, y in zip(A, ys, strict=True) if y == x) - total * policy[x]) / N
            for x in answers
        ]
        mean = [m + weight * x for m, x in zip(mean, g, strict=True)]
        square += weight * sum(x * x for x in g)
    return mean, square - sum(m * m for m in mean)


def binomial_row(n: int, p) -> list:
    """P(K successes in n), K = 0 .. n, by recurrence."""
    row = [(1 - p) ** n]
    for K in range(n):
        row.append(row[-1] * (n - K) / (K + 1) * p / (1 - p))
    return row


def zero_mean_weight(right: Callable[[int, int], Decimal], N: int, p: Decimal) -> Decimal:
    """w_N of an estimator whose groups sum to zero, from a1(K) alone: E[(K/N) a1(K)]/(p(1-p))."""
    row = binomial_row(N, p)
    return sum(row[K] * K * right(K, N) for K in range(1, N)) / (N * p * (1 - p))


def share_of_subsets_hit(rewards: Sequence[int], k: int) -> Fraction:
    """The share of k-subsets that hold a success: the unbiased pass@k estimate, counted
    one by one.
    """
    subsets = list(itertools.combinations(rewards, k))
    return Fraction(sum(any(s) for s in subsets), len(subsets))
