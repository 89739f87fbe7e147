"""docs/paper_issues.md: the numbers in its tables are those of a second computation.

What the official codes do is written out here naively, as they were read.
"""

import itertools
import math
import re

import numpy as np
import pytest
from enumeration import bernoulli_weight
from scipy.stats import binom

import lab
from lab.project import CHECKOUT as ROOT

TEXT = (ROOT / "docs" / "paper_issues.md").read_text(encoding="utf-8")


def rows(remark: str, table: int = 0) -> list[list[str]]:
    """The cells of a table of a remark, such as "MaxRL 2", without its head."""
    (body,) = re.findall(rf"^### {remark} .*?(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    tables = re.findall(r"^\| -.*\n((?:\|.*\n)+)", body, re.MULTILINE)
    return [line.strip("| ").split(" | ") for line in tables[table].splitlines()]


def numbers(remark: str, table: int = 0) -> list[list[float]]:
    return [[float(cell.replace(",", "")) for cell in row] for row in rows(remark, table)]


def near(value, rel=1e-3, abs=1e-9):
    """The pages print four digits."""
    return pytest.approx(value, rel=rel, abs=abs)


def truncated(p, order):
    return (1 - (1 - p) ** order) / p


# --- Weights ------------------------------------------------------------------------------------


def test_algorithm_1_is_one_order_short():
    for N, *of_forms, order_n, one_less in numbers("MaxRL 1"):
        forms = ("maxrl_eq6", "maxrl_eq7", "maxrl", "maxrl_loo")
        assert of_forms == [near(float(lab.induced_weight(name, int(N), 0.1))) for name in forms]
        assert (order_n, one_less) == (near(truncated(0.1, N)), near(truncated(0.1, N - 1)))
    for N, *cells in rows("MaxRL 1", 1):
        for cell, p in zip(cells, (1e-4, 0.01, 0.1, 0.5), strict=True):
            missing = 100 * (1 - truncated(p, int(N) - 1) / truncated(p, int(N)))
            assert float(cell[:-1]) == pytest.approx(missing, rel=0.06, abs=1e-12)


def test_where_equation_7_adds_noise():
    for N, p in numbers("MaxRL 2", 1):
        assert (1 - p) ** N == near(0.5)
    for p, solved, *efficient in numbers("MaxRL 2", 2):
        assert solved == near(1 - (1 - p) ** 16)
        for value, name in zip(efficient, ("maxrl_eq6", "maxrl_eq7", "maxrl"), strict=True):
            assert value == near(float(lab.efficiency(name, 16, p)))


def test_limits_are_of_infinitely_many_rollouts():
    for N, grpo, root, _, maxrl in numbers("MaxRL 6"):
        assert grpo == near(float(lab.induced_weight("grpo", int(N), 1e-4)))
        assert root == near(math.sqrt(N - 1)) and maxrl == near(truncated(1e-4, N - 1))
    for k, *ratios in numbers("MaxRL 8"):
        for ratio, p in zip(ratios, (0.1, 0.5, 0.9), strict=True):
            assert ratio == near(truncated(p, k) / (k * (1 - p) ** (k - 1)))


def test_the_ratios_of_gradient_norms_do_not_depend_on_the_scores():
    for K, to_grpo, root, to_rloo, ratio in numbers("MaxRL 7"):
        assert to_grpo == root == near(math.sqrt((16 - K) / K))
        assert to_rloo == ratio == near(15 / K)


def test_the_class_weights_make_log_odds():
    for p, plain, rloo, balanced, stated, limit in numbers("PACS 2"):
        assert plain == rloo == 1 and limit == near(1 / (4 * p * (1 - p)))
        assert balanced == stated == near(float(lab.induced_weight("pacs", 8, p)))
    assert f"{8**2 / (4 * 7):.3f} at G = 8, where GRPO's is {math.sqrt(7):.3f}" in TEXT
    for G, factor, least, most in numbers("PACS 3"):
        assert factor == least == most == near(G / (G - 1))


def test_a_constant_baseline_beside_the_group():
    for p, agree, constant, group in numbers("PACS 5"):
        assert agree == near(p**8 + (1 - p) ** 8)
        assert (constant, group) == (near(4 * p * (1 - p)), 7 / 8)


# --- The official codes, written out -------------------------------------------------------------


def code_pkpo(rewards, k):
    """Subtract from each transformed reward the mean of the others' transformed rewards."""
    n, c = len(rewards), sum(rewards)
    paid = [x * math.comb(n - c, k - 1) / math.comb(n - 1, k - 1) for x in rewards]
    return [a - (sum(paid) - a) / (n - 1) for a in paid]


def code_maclaurin_baseline(rewards, order):
    """Each tuple of wrong rollouts pays its share of the series, less the mean of the others."""
    n = len(rewards)
    advantages = [x / n for x in rewards]
    for k in range(2, order + 1):
        tuples = list(itertools.combinations(range(n), k))
        failed = [float(not any(rewards[i] for i in chosen)) for chosen in tuples]
        others = [(sum(failed) - x) / (len(tuples) - 1) for x in failed]
        for chosen, x, baseline in zip(tuples, failed, others, strict=True):
            for i in chosen:
                advantages[i] -= (x - baseline) / (k * len(tuples))
    return [n * a for a in advantages]


def test_the_weights_of_the_official_codes():
    for p, enumerated, mixture, pass_at_k in numbers("MaxRL 4"):
        found = bernoulli_weight(lambda r: code_pkpo(r, 4), 8, p)
        assert found == near(enumerated) == near(mixture)
        assert pass_at_k == near((1 - p) ** 3) and abs(found - pass_at_k) > 0.01
    for p, ratio in numbers("MaxRL 4", 1):
        q = 1 - p
        assert ratio == near((112 * q**15 + 15 * q**14) / 127 / q**15)
    assert "2.748 instead of 3.71." in TEXT
    found = bernoulli_weight(lambda r: code_maclaurin_baseline(r, 4), 8, 0.05)
    assert (found, truncated(0.05, 4)) == (near(2.748), near(3.71))


def test_a_mean_over_the_tokens_of_a_few_answers():
    """What a wrong answer loses: all 3^4 outcomes of its group, and for the others that share the
    mean how many of them are long.
    """
    pi, length = (0.2, 0.4, 0.4), (1, 1, 10)
    for sharing, *lost in numbers("MaxRL 9"):
        others = int(sharing) - 4
        long = np.arange(others + 1)
        share = binom.pmf(long, others, pi[2])
        gain = np.zeros(3)
        for answers in itertools.product(range(3), repeat=4):
            own = sum(length[y] for y in answers)
            scale = math.prod(pi[y] for y in answers) * (share / (own + others + 9 * long)).sum()
            mean = sum(y == 0 for y in answers) / 4
            for y in answers:
                gain += scale * 4 / 3 * ((y == 0) - mean) * ((np.arange(3) == y) - pi)
        assert lost == [near(-g / gain[0]) for g in gain[1:]]


REFERENCE = (0.3, 0.2, 0.5)  # of two right answers and a wrong one


def loss_of_a2(policy, beta):
    """E[cross-entropy], the guess being sigma(psi), psi = beta log(policy/reference)."""
    total = 0.0
    for pi, reference, sign in zip(policy, REFERENCE, (1, 1, -1), strict=True):
        total += pi * math.log1p((pi / reference) ** (-sign * beta)) if pi else 0.0
    return total


@pytest.mark.parametrize("row", rows("PACS 1"))
def test_the_gibbs_form_is_not_the_minimum_of_a2(row):
    beta, gibbs, first, second, least = map(float, row[:5])
    policies = ((0.6, 0.4, 0), (1, 0, 0), (0, 1, 0))
    assert [gibbs, first, second] == [near(loss_of_a2(p, beta), abs=1e-12) for p in policies]
    grid = [(a / 400, b / 400, (400 - a - b) / 400) for a in range(401) for b in range(401 - a)]
    policy = min(grid, key=lambda policy: loss_of_a2(policy, beta))
    assert policy == tuple(map(float, row[5].split(", ")))
    assert least == near(loss_of_a2(policy, beta), abs=1e-12)
