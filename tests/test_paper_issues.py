"""docs/paper_issues.md: the numbers in its tables are those of a second computation.

What the official codes do is written out here naively, as they were read.
"""

import csv
import doctest
import itertools
import math
import re

import numpy as np
import pytest
from enumeration import bernoulli_weight

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


def near(value, rel=1e-3):
    """The pages print four digits."""
    return pytest.approx(value, rel=rel, abs=1e-9)


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
    for p, solved, six, seven, change, stated, *efficient in numbers("MaxRL 2", 2):
        assert solved == near(1 - (1 - p) ** 16) and change == stated
        assert change == pytest.approx(seven - six, rel=1e-3, abs=1e-3)
        for value, name in zip(efficient, ("maxrl_eq6", "maxrl_eq7", "maxrl"), strict=True):
            assert value == near(float(lab.efficiency(name, 16, p)))


def test_limits_are_of_infinitely_many_rollouts():
    for N, grpo, root, _, maxrl in numbers("MaxRL 5"):
        assert grpo == near(float(lab.induced_weight("grpo", int(N), 1e-4)))
        assert root == near(math.sqrt(N - 1)) and maxrl == near(truncated(1e-4, N - 1))
    for k, *ratios in numbers("MaxRL 6"):
        for ratio, p in zip(ratios, (0.1, 0.5, 0.9), strict=True):
            assert ratio == near(truncated(p, k) / (k * (1 - p) ** (k - 1)))
    for M, weight, stated, draws in numbers("MaxRL 7"):
        assert weight == stated == draws == near(truncated(0.1, M))


def test_the_ratios_of_gradient_norms_do_not_depend_on_the_scores():
    for K, to_grpo, root, to_rloo, ratio in numbers("MaxRL 9"):
        assert to_grpo == root == near(math.sqrt((16 - K) / K))
        assert to_rloo == ratio == near(15 / K)


def test_the_class_weights_make_log_odds():
    for p, plain, rloo, balanced, stated, limit in numbers("PACS 2"):
        assert plain == rloo == 1 and limit == near(1 / (4 * p * (1 - p)))
        assert balanced == stated == near(float(lab.induced_weight("pacs", 8, p)))
    for G, factor, least, most in numbers("PACS 1"):
        assert factor == least == most == near(G / (G - 1))
    for G, _, largest, stated in numbers("PACS 9"):
        assert largest == stated == near(G**2 / (4 * (G - 1)))


# --- The official codes, written out -------------------------------------------------------------


def code_pkpo(rewards, k):
    """Subtract from each transformed reward the mean of the others' transformed rewards."""
    n, c = len(rewards), sum(rewards)
    paid = [x * math.comb(n - c, k - 1) / math.comb(n - 1, k - 1) for x in rewards]
    return [a - (sum(paid) - a) / (n - 1) for a in paid]


def code_misc_maxrl(rewards):
    mean = sum(rewards) / len(rewards)
    std = math.sqrt(sum((x - mean) ** 2 for x in rewards) / len(rewards))
    return [(x - mean) / (std + 1e-6) / (mean + 1e-6) for x in rewards]


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
    for p, enumerated, mixture, pass_at_k in numbers("MaxRL 3"):
        found = bernoulli_weight(lambda r: code_pkpo(r, 4), 8, p)
        assert found == near(enumerated) == near(mixture)
        assert pass_at_k == near((1 - p) ** 3) and abs(found - pass_at_k) > 0.01
    for p, ratio in numbers("MaxRL 3", 1):
        q = 1 - p
        assert ratio == near((112 * q**15 + 15 * q**14) / 127 / q**15)
    assert "2.748 instead of 3.71." in TEXT
    found = bernoulli_weight(lambda r: code_maclaurin_baseline(r, 4), 8, 0.05)
    assert (found, truncated(0.05, 4)) == (near(2.748), near(3.71))
    for N, p, twice, once, ratio in numbers("MaxRL 13"):
        assert once == near(truncated(p, N - 1)) and ratio == near(twice / once)
        if N == 16 and p in (0.1, 0.5):
            assert bernoulli_weight(code_misc_maxrl, 16, p) == near(twice)


def test_a_mean_over_the_tokens_of_4_answers():
    """Minus the gain of each wrong answer by all 3^4 outcomes, the mean over that group alone."""
    pi, length = (0.2, 0.4, 0.4), (1, 1, 10)
    gain = [0.0, 0.0, 0.0]
    for answers in itertools.product(range(3), repeat=4):
        chance = math.prod(pi[y] for y in answers)
        mean = sum(y == 0 for y in answers) / 4
        for y in answers:
            advantage = 4 / 3 * ((y == 0) - mean) / sum(length[z] for z in answers)
            for x in range(3):
                gain[x] += chance * advantage * ((x == y) - pi[x])
    assert numbers("MaxRL 19")[0] == [4, *(near(-g / gain[0]) for g in gain[1:])]


@pytest.mark.parametrize("share, beta, gibbs, least", numbers("PACS 6"))
def test_the_minimum_of_a2_by_its_slope(share, beta, gibbs, least):
    def loss(x):
        total = 0.0
        for pi, target in ((x, share), (1 - x, 1 - share)):
            sigma = 1 / (1 + (2 * pi) ** -beta)
            total -= pi * (target * math.log(sigma) + (1 - target) * math.log(1 - sigma))
        return total

    def slope(x, step=1e-6):
        return (loss(x + step) - loss(x - step)) / (2 * step)

    if least < 1:
        assert slope(least - 1e-3) < 0 < slope(least + 1e-3)
    else:
        assert all(slope(x) < 0 for x in np.linspace(0.5, 0.99, 50))
    if share < 1:
        odds = (share / (1 - share)) ** (2 / beta)
        assert gibbs == near(odds / (1 + odds))


# --- Runs ---------------------------------------------------------------------------------------


def test_the_controls_are_those_of_the_figure():
    with (ROOT / "figures/out/images_control.csv").open(encoding="utf-8") as file:
        drawn = {
            (row["setting"], row["objective"]): float(row["pass@1"])
            for row in csv.DictReader(file)
            if row["step"] == "300"
        }
    for (_, *cells), setting in zip(rows("MaxRL 4"), ("sgd", "norm", "adamw"), strict=True):
        objectives = ("ml", "maxrl", "grpo", "reinforce_mean")
        assert [float(cell) for cell in cells] == [near(drawn[setting, one]) for one in objectives]


@pytest.mark.parametrize("paper", ["maxrl", "pacs"])
def test_a_letter_computes_what_it_says_and_quotes_no_number_of_its_own(paper):
    file = ROOT / "docs" / f"letter_{paper}.md"
    done = doctest.testfile(str(file), module_relative=False)
    assert done.attempted > 1 and not done.failed
    results = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    words = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    quoted = {
        number for number in re.findall(r"\d+\.\d{3,}(?:e\+\d+)?", words) if "2602" not in number
    }
    assert quoted and all(
        number in TEXT + results for number in quoted - {"2602.02710", "2509.02522"}
    )
