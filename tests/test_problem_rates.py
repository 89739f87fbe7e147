"""Pass rates of single problems: read from groups, paired, binned, and compared with chance."""

import numpy as np
import pandas as pd
import pytest

from lab.errors import LabError
from lab.show import problem_rates
from lab.show.problem_rates import CHANCE, pass_rates, transitions


def groups(setting="maxrl", seed=0, right=(0, 1, 4), n=4, **columns) -> pd.DataFrame:
    """Groups of one run: one problem for each count in `right`."""
    table = pd.DataFrame({"problem": range(len(right)), "n": n, "right": right})
    return table.assign(estimator=setting, seed=seed, **columns)


def rates(*tables: pd.DataFrame) -> pd.DataFrame:
    return pass_rates(pd.concat(tables, ignore_index=True), ["estimator"])


def share(table, setting, before, after) -> float:
    row = table.query("setting == @setting and before == @before and after == @after")
    return row["share"].item()


def test_pass_rates_are_read_from_counts_or_as_the_run_computed_them():
    counted = rates(groups())
    assert counted["pass_rate"].tolist() == [0, 0.25, 1] and set(counted["n"]) == {4}
    assert counted["setting"].tolist() == ["maxrl"] * 3
    of_two = pass_rates(groups(), ["estimator"], k=2)["pass_rate"]
    assert of_two.tolist() == pytest.approx([0, 0.5, 1])
    exact = groups().drop(columns=["n", "right"]).assign(pass_rate=[0.1, 0.2, 0.3])
    assert np.isinf(rates(exact)["n"]).all()


def test_problems_without_a_judged_completion_are_dropped_and_sets_are_kept_apart():
    table = groups(n=[4, 0, 4], set="math500")
    assert rates(table)["problem"].tolist() == ["math500/0", "math500/2"]


def test_groups_that_name_no_problem_are_refused():
    for table in (groups().drop(columns="problem"), groups().drop(columns="n"), groups()[:0]):
        with pytest.raises(LabError, match="recorded no pass rates of single problems"):
            rates(table)


def test_the_setting_compared_with_is_the_first_or_the_one_named_and_must_have_others():
    table = rates(groups("maxrl"), groups("rloo"))
    assert problem_rates.baseline(table) == "maxrl"
    assert problem_rates.baseline(table, "rloo") == "rloo"
    with pytest.raises(LabError, match="unknown setting 'rlo': did you mean 'rloo'"):
        problem_rates.baseline(table, "rlo")
    with pytest.raises(LabError, match="all runs have the setting maxrl, so there is nothing"):
        problem_rates.baseline(rates(groups("maxrl")))


def test_seeds_that_share_no_problem_are_refused():
    other = groups(seed=1)
    other["problem"] += 10
    with pytest.raises(LabError, match="the seeds of maxrl share no problem"):
        problem_rates.seeds_by_problems(rates(groups(), other))


def test_the_extremes_are_shares_of_problems_with_intervals():
    table = rates(groups(right=[0, 0, 0, 8, 4, 5], n=8), groups(seed=1, right=[0] * 6, n=8))
    (row,) = problem_rates.extremes(table.assign(evaluation="last step")).to_dict("records")
    assert row["pass rate 0-10%"].startswith("0.750 [")  # 3 of 6, then 6 of 6
    assert row["pass rate 90-100%"].startswith("0.083 [0.000, ")  # 1 of 6, then 0 of 6
    assert (row["problems"], row["seeds"], row["rollouts"]) == (6, 2, "8")


def test_one_rollout_a_problem_is_refused():
    table = rates(groups(right=[0, 1], n=1)).assign(evaluation="last step")
    with pytest.raises(LabError, match="one rollout a problem does not tell its pass rate"):
        problem_rates.extremes(table)


def test_transitions_are_shares_of_the_bin_before():
    before = rates(groups(right=[0, 0, 0, 16, 8], n=16))
    after = rates(groups(right=[0, 8, 16, 16, 0], n=16))
    table = transitions(before, after)
    bins = ["0-10", "10-30", "30-70", "70-90", "90-100"]
    assert table["before"].cat.categories.tolist() == bins
    for then, now, expected in (
        ("0-10", "0-10", 1 / 3),
        ("0-10", "30-70", 1 / 3),
        ("0-10", "90-100", 1 / 3),
        ("90-100", "90-100", 1),
        ("30-70", "0-10", 1),
        ("30-70", "30-70", 0),
    ):
        assert share(table, "maxrl", then, now) == pytest.approx(expected)
    assert np.isnan(share(table, "maxrl", "10-30", "10-30"))  # the bin holds no problem
    problems = table.query("setting == 'maxrl'").drop_duplicates("before")["problems"]
    assert problems.tolist() == [3, 0, 1, 0, 1]


def test_transitions_match_problems_of_the_same_seed_and_setting():
    before = rates(groups(seed=0, right=[0]), groups(seed=1, right=[4]))
    after = rates(groups(seed=1, right=[0]), groups(seed=0, right=[4]))
    table = transitions(before, after)
    assert share(table, "maxrl", "0-30", "70-100") == share(table, "maxrl", "70-100", "0-30") == 1
    with pytest.raises(LabError, match="share no problem of the same seed"):
        transitions(before, rates(groups(seed=2)))


def test_a_setting_is_paired_with_every_other_one():
    table = rates(groups("rloo", right=[0, 4]), groups("maxrl", right=[4, 4]), groups("grpo"))
    is_rloo = table["setting"] == "rloo"
    moves = transitions(table[is_rloo], table[~is_rloo])
    assert moves["setting"].unique().tolist() == [CHANCE, "maxrl", "grpo"]
    assert share(moves, "maxrl", "0-30", "70-100") == 1


def test_chance_is_what_sampling_twice_moves():
    """Problems with known pass rates, evaluated twice: the second time is as chance says."""
    rng = np.random.default_rng(0)
    p, n = rng.beta(0.5, 1, 20_000), 16
    before, after = (rates(groups(right=rng.binomial(n, p), n=n)) for _ in range(2))
    table = transitions(before, after)
    assert table["setting"].unique().tolist() == [CHANCE, "maxrl"]
    expected, seen = (part["share"].to_numpy() for _, part in table.groupby("setting", sort=False))
    assert np.abs(expected - seen).max() < 0.02
    assert share(table, CHANCE, "10-30", "10-30") < 0.8  # far from everyone staying


def test_exact_pass_rates_have_no_chance():
    exact = rates(groups().drop(columns=["n", "right"]).assign(pass_rate=[0.001, 0.2, 0.3]))
    table = transitions(exact, exact)
    assert table["setting"].unique().tolist() == ["maxrl"]
    assert share(table, "maxrl", "0-1", "0-1") == 1
