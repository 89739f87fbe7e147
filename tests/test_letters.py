"""docs/letters: every number with decimals is computed here, by enumeration or in closed form, and
stands in the letter in this order; nothing of the lab is imported but its folder.
"""

import csv
import math
import re

import pytest
from enumeration import PAIRS, bernoulli_weight, binomial_row, gradient_moments, scored
from test_paper_issues import code_pkpo, loss_of_a2, truncated

from lab.project import CHECKOUT as ROOT

TABLES = ("Table 9", "Table 10", "Table 11", "Table 12", "Table 13")


def points(paper):
    """The numbered points of a letter."""
    text = (ROOT / "docs" / "letters" / f"{paper}.md").read_text(encoding="utf-8")
    return re.findall(r"^\d\. (.*?)(?=^\d\. |^$|\Z)", text, re.MULTILINE | re.DOTALL)


def printed(point):
    """The numbers with decimals of a point, without those of sections, theorems and versions."""
    named = r"§[A-Z]?\.?\d?\.?\d|(?:Theorem|Proposition) \S+|1\.96 sqrt"
    return re.findall(r"-?\d+\.\d+", re.sub(named, "", point))


def grpo(N, p):
    """The weight of GRPO with the population's standard deviation."""
    row = binomial_row(N, p)
    return sum(row[K] * math.sqrt(K * (N - K)) for K in range(1, N)) / (N * p * (1 - p))


def half_width(a, b, problems):
    return 196 * math.sqrt((a * (1 - a) + b * (1 - b)) / problems)


def pkpo(N, k, p):
    """The weight of the official code over that of pass@k, without the factor k of both."""
    q = 1 - p
    return ((N - k) * q ** (k - 1) + (k - 1) * q ** (k - 2)) / (N - 1) / q ** (k - 1)


def traces():
    policy = (0.02, 0.49, 0.49)
    for kind in ("maxrl_eq6", "maxrl_eq7", "maxrl"):
        yield gradient_moments(scored(kind), 6, policy, {0})[1]


def gap(k):
    """The largest difference between the rows of the RLOO and the Dr. GRPO score, in points."""
    rates = {}
    with (ROOT / "data/published/pacs.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["item"] in TABLES and row["metric"] == f"pass@{k}":
                rates[row["item"], row["method"]] = float(row["value"])
    methods = ("PACS", "PACS w/ Dr. GRPO score")
    return max(abs(rates[item, methods[0]] - rates[item, methods[1]]) for item in TABLES)


def balanced(p, G=8):
    return G / (G - 1) * (1 - p**G - (1 - p) ** G) / (4 * p * (1 - p))


SAMPLED = (16, 128, 1024)
EVEN = math.sqrt(1 / 4 - 7 / 32)  # from 1/2 to where p q 8/7 is 1/4
NUMBERS = {  # what a point prints, given inputs as they stand
    ("maxrl", 1): [0.1, bernoulli_weight(scored("maxrl"), 4, 0.1), truncated(0.1, 4)],
    ("maxrl", 2): [1 - 0.5 ** (1 / 16), 0.02, *traces()],
    ("maxrl", 3): [0.001, 1023 / 1024, grpo(1024, 0.001), truncated(0.001, 1023)],
    ("maxrl", 4): [pkpo(128, 16, 0.01), 0.01, pkpo(128, 16, 0.9), 0.9],
    ("maxrl", 5): [half_width(0.844, 0.745, 256), half_width(0.332, 0.293, 1209), 9.9, 3.9],
    ("maxrl", 6): [1e-4, *(grpo(N, 1e-4) for N in SAMPLED)]
    + [truncated(1e-4, N - 1) for N in SAMPLED],
    ("maxrl", 7): [math.sqrt(15 / 1)],
    ("maxrl", 8): [],
    ("pacs", 1): [0.3, 0.2, loss_of_a2((0.6, 0.4, 0), 1), loss_of_a2((0, 1, 0), 1)],
    ("pacs", 2): [*(balanced(p) for p in (0.05, 0.2, 0.5)), 0.05, 0.2, 0.5],
    ("pacs", 3): [gap(1), gap(64)],
    ("pacs", 4): [-1.5, -math.log1p(math.exp(1.5)), -math.log1p(math.exp(-1.5))],
    ("pacs", 5): [0.5**2, 0.02, 0.02 * 0.98 * 8 / 7, 0.5**2, 0.5 - EVEN, 0.5 + EVEN],
    ("pacs", 6): [],
    ("pacs", 7): [],
    ("pacs", 8): [45.63 - 40.18],
}


@pytest.mark.parametrize("paper, number", NUMBERS)
def test_a_point_prints_what_is_computed(paper, number):
    found, computed = printed(points(paper)[number - 1]), NUMBERS[paper, number]
    digits = [len(value.partition(".")[2]) for value in found]
    assert found == [f"{x:.{d}f}" for x, d in zip(computed, digits, strict=True)]


def test_the_formulas_between_the_numbers():
    for p, N in ((0.1, 2), (0.3, 5)):
        right, wrong = PAIRS["maxrl_loo"]  # N (r_i/K - m/((N-1)(m+1))), m right among the others
        for K in range(1, N):
            assert right(N, K) == pytest.approx(N * (1 / K - (K - 1) / ((N - 1) * K)))
            assert wrong(N, K) == pytest.approx(-N * K / ((N - 1) * (K + 1)))
        assert bernoulli_weight(scored("maxrl_loo"), N, p) == pytest.approx(truncated(p, N))
        assert bernoulli_weight(scored("maxrl"), N, p) == pytest.approx(truncated(p, N - 1))
    assert bernoulli_weight(lambda r: code_pkpo(r, 4), 8, 0.3) == pytest.approx(
        pkpo(8, 4, 0.3) * 0.7**3
    )
    assert 10**6 * 7 / 8 == 875_000 and "875,000 at G = 8" in " ".join(points("pacs")[5].split())
    assert round(half_width(0.4563, 0.4018, 30)) == 25 and "by 25." in points("pacs")[7]
    assert loss_of_a2((0, 1, 0), 2) == pytest.approx(math.log(1 + 0.2**2))
    assert loss_of_a2((0.6, 0.4, 0), 2) == pytest.approx(math.log(1 + 0.5**2))
