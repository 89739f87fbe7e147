"""docs/paper_issues.md: each remark is complete, and its numbers are those of a second computation.

What the official codes do is written out here naively, as they were read, and compared with the
numbers of the page.
"""

import csv
import itertools
import math
import re

import numpy as np
import pytest
from enumeration import bernoulli_weight

from lab.papers import issues
from lab.runs.provenance import ROOT

TEXT = issues.TEMPLATE.read_text(encoding="utf-8")
REMARKS = {
    (paper, int(number)): (grade, title, body)
    for paper, number, grade, title, body in re.findall(
        r"^### (MaxRL|PACS) (\d+) \(([ABC])\)\. (.+?)\n(.*?)(?=^##)", TEXT, re.MULTILINE | re.DOTALL
    )
}
EVERY_REMARK = pytest.mark.parametrize(
    "place", list(REMARKS), ids=lambda place: "-".join(map(str, place))
)


@pytest.fixture(scope="module", autouse=True)
def recorded():
    """The runs as they are recorded in the repository, and none of one's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LAB_FIGURES", raising=False)
        yield


def rows(name, key="table"):
    """The cells of a table of the page as texts, without its head."""
    lines = issues.NUMBERS[name]()[key].splitlines()[2:]
    return [line.strip("| ").split(" | ") for line in lines]


def numbers(name, key="table"):
    return [[float(cell.replace(",", "")) for cell in row] for row in rows(name, key)]


# --- Every remark is complete -------------------------------------------------------------------


def test_the_remarks_are_numbered_from_one():
    for paper in ("MaxRL", "PACS"):
        assert [n for name, n in REMARKS if name == paper] == list(
            range(1, 1 + sum(name == paper for name, _ in REMARKS))
        )
    assert len(REMARKS) == TEXT.count("\n### ") - TEXT.count("contradicts itself in print")


@EVERY_REMARK
def test_a_remark_says_what_is_written_what_is_found_and_what_would_mend_it(place):
    _, title, body = REMARKS[place]
    leads = re.findall(r"^\*\*(\w+)\.?\*\*", body, re.MULTILINE)
    settings = "Settings that text and scripts give differently" in title
    assert leads == sorted(leads, key=["Written", "Found", "Size", "Mend"].index)
    assert {"Mend"} | ({"Size"} if settings else {"Written", "Found"}) <= set(leads)
    found = re.search(r"^\*\*Found\*\* \(`(\w+)`", body, re.MULTILINE)
    used = set(re.findall(r"\{(\w+)\.\w+\}", body))
    assert used <= ({found[1]} if found else set())


def test_every_function_with_numbers_is_named_by_a_remark_and_every_name_exists():
    named = set(re.findall(r"\*\*Found\*\* \(`(\w+)`", TEXT))
    assert named | {"printed_notes"} == set(issues.NUMBERS)


@EVERY_REMARK
def test_a_remark_says_where_the_words_stand(place):
    _, _, body = REMARKS[place]
    places = r"[Ss]ection|[Aa]ppendix|[Tt]able|[Ff]igure|[Ee]quation|Theorem|Algorithm|Code at"
    assert re.search(rf"{places}|\((?:\d|[A-K])\.\d", body)
    if "`verl/" in body or "`src/" in body:
        assert "run" in body or "read" in body or "code at `c0698eb`" in body


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


@pytest.mark.parametrize("p, enumerated, mixture, pass_at_k", numbers("code_baselines"))
def test_the_weight_of_the_codes_pkpo(p, enumerated, mixture, pass_at_k):
    found = bernoulli_weight(lambda r: code_pkpo(r, 4), 8, p)
    assert found == pytest.approx(enumerated, rel=1e-3) == pytest.approx(mixture, rel=1e-3)
    assert abs(found - pass_at_k) > 0.01


def test_the_weight_of_the_codes_maclaurin_baseline():
    found = bernoulli_weight(lambda r: code_maclaurin_baseline(r, 4), 8, 0.05)
    assert found == pytest.approx(issues.NUMBERS["code_baselines"]()["maclaurin"], rel=1e-9)


def test_the_size_of_the_mixture_at_128_rollouts():
    for p, ratio in numbers("code_baselines", "sizes"):
        q = 1 - p
        of_code = (112 * q**15 + 15 * q**14) / 127
        assert ratio == pytest.approx(of_code / q**15, rel=1e-3)


def test_the_weight_of_the_codes_misc_maxrl():
    for N, p, twice, once, ratio in numbers("misc_maxrl"):
        if N == 16 and p in (0.1, 0.5):
            assert bernoulli_weight(code_misc_maxrl, 12, p) != pytest.approx(twice, rel=1e-2)
            assert bernoulli_weight(code_misc_maxrl, 16, p) == pytest.approx(twice, rel=1e-3)
        assert ratio == pytest.approx(twice / once, rel=1e-3)


# --- The other numbers a second time -------------------------------------------------------------


def test_the_ratios_of_gradient_norms_do_not_depend_on_the_scores():
    for K, to_grpo, root, to_rloo, ratio in numbers("gradient_norms"):
        assert to_grpo == root == pytest.approx(math.sqrt((16 - K) / K), rel=1e-3)
        assert to_rloo == ratio == pytest.approx(15 / K, rel=1e-3)


def test_the_controls_are_those_of_the_figure():
    with (ROOT / "figures/out/images_control.csv").open(encoding="utf-8") as file:
        drawn = {
            (row["setting"], row["objective"]): float(row["pass@1"])
            for row in csv.DictReader(file)
            if row["step"] == issues.NUMBERS["scale_and_shape"]()["steps"]
        }
    for row, setting in zip(rows("scale_and_shape"), ("sgd", "norm", "adamw"), strict=True):
        for cell, objective in zip(row[1:], ("ml", "maxrl", "grpo", "reinforce_mean"), strict=True):
            assert float(cell) == pytest.approx(drawn[setting, objective], rel=1e-3)


def test_what_the_page_says_about_scale_follows_from_its_table():
    """The order stays in each row; norm 1 leaves REINFORCE far behind; with AdamW it learns."""
    for _, _, maxrl, grpo, reinforce in rows("scale_and_shape"):
        assert float(maxrl) > float(grpo) > float(reinforce)
    sgd, norm, adamw = (float(row[-1]) for row in rows("scale_and_shape"))
    maxrl_at_norm_one = float(rows("scale_and_shape")[1][2])
    assert sgd < 0.005 and norm < 0.1 * maxrl_at_norm_one and adamw > 0.2


def test_one_image_and_the_mean_of_images_differ():
    found = numbers("each_image")
    assert len(found) == 3
    for _, mean, share, largest in found:
        assert mean < 0.005 and 0.01 < share < 0.1 and largest > 0.01
    assert max(largest for *_, largest in found) > 0.99


def test_the_bounds_of_the_choice_of_problems():
    for row in rows("single_runs"):
        n = int(row[1].split(" of ")[0].replace(",", ""))
        difference, half_width = map(float, row[3:])
        # the bound is reached where every problem is solved always or never
        assert half_width < 196 * math.sqrt(0.5 / n)
        assert (difference > half_width) == row[0].startswith("MaxRL")
    maze = rows("single_runs")[0]
    draws = np.random.default_rng(0).random((2, 20_000, 256)) < [[[0.844]], [[0.745]]]
    spread = (draws[0].mean(-1) - draws[1].mean(-1)).std()
    assert float(maze[4]) == pytest.approx(196 * spread, rel=0.02)


def test_table_7_in_problems():
    assert [row[2] for row in rows("one_problem")] == ["7", "7", "8"]


def test_a_mean_over_the_tokens_of_4_and_of_64_answers():
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
    first, middle, _ = numbers("token_mean")
    assert first[0] == 4
    assert first[1:] == [pytest.approx(-g / gain[0], rel=1e-3) for g in gain[1:]]
    totals = {0: 1.0}  # chances of the tokens of the other 60 answers, added one by one
    for _ in range(60):
        grown: dict[int, float] = {}
        for tokens, chance in totals.items():
            grown[tokens + 1] = grown.get(tokens + 1, 0) + 0.6 * chance
            grown[tokens + 10] = grown.get(tokens + 10, 0) + 0.4 * chance
        totals = grown
    gain = [0.0, 0.0, 0.0]
    for answers in itertools.product(range(3), repeat=4):
        tokens = sum(length[y] for y in answers)
        share = sum(chance / (tokens + other) for other, chance in totals.items())
        share *= math.prod(pi[y] for y in answers)
        mean = sum(y == 0 for y in answers) / 4
        for y in answers:
            for x in range(3):
                gain[x] += share * ((y == 0) - mean) * ((x == y) - pi[x])
    assert middle == [64, *(pytest.approx(-g / gain[0], abs=1e-4) for g in gain[1:])]
    last = numbers("token_mean")[-1]
    assert last[1:] == [pytest.approx(0.5, abs=2e-4)] * 2


@pytest.mark.parametrize("share, beta, gibbs, least", numbers("gibbs"))
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
        assert gibbs == pytest.approx(odds / (1 + odds), rel=1e-3)


def test_where_equation_7_stops_adding_noise():
    for N, p in numbers("control_variate", "turns"):
        assert (1 - p) ** N == pytest.approx(0.5, rel=1e-3)


def test_what_is_missing_to_order_n():
    for row in rows("one_order_short", "missing"):
        N = int(row[0])
        for cell, p in zip(row[1:], issues.P_OF_SIZES, strict=True):
            weights = [sum((1 - p) ** m for m in range(order)) for order in (N - 1, N)]
            missing = 100 * (1 - weights[0] / weights[1])
            assert float(cell[:-1]) == pytest.approx(missing, rel=0.06, abs=1e-12)
            assert missing <= 100 / N + 1e-9
