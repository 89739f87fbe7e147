"""The audit: how counts and runs are read, that the numbers are those of
lab.mathematics.pass_rates, and the picture.
"""

import json
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from lab.errors import LabError
from lab.mathematics import pass_rates
from lab.runs import configure, train
from lab.show.audit import audit, draw, population, read_counts
from lab.show.paired_audit import audit_pair


def write(table, path):
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        (table.to_csv if path.suffix == ".csv" else table.to_parquet)(path, index=False)
    return path


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """500 problems with U-shaped pass rates, 16 rollouts each: file, counts and audit."""
    rng = np.random.default_rng(1)
    correct = rng.binomial(16, rng.beta(0.35, 0.45, 500))
    path = tmp_path_factory.mktemp("simulated") / "counts.csv"
    write(pd.DataFrame({"problem": range(500), "n": 16, "correct": correct}), path)
    return path, correct, audit(path)


def value(found, what, by, at):
    table = found.table
    (row,) = table[
        table["what"].str.startswith(what) & (table["by"] == by) & (table["at"] == at)
    ].itertuples()
    return row


# --- Reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, n, k",
    [
        ("csv", "n", "k"),
        ("parquet", "N", "K"),
        ("jsonl", "rollouts", "right"),
        ("csv", "samples", "correct"),
    ],
)
def test_a_table_of_counts_is_read_by_any_of_its_names(tmp_path, kind, n, k):
    table = pd.DataFrame({"problem": ["007", "7"], n: [4, 8], k: [1, 8]})
    found = read_counts(write(table, tmp_path / f"counts.{kind}"))
    assert (found.problems, found.n.tolist(), found.correct.tolist()) == (
        ["007", "7"],  # names that look like numbers stay as they are written
        [4, 8],
        [1, 8],
    )
    assert (found.notes, found.rollouts, found.exact) == ([], None, None)
    assert found.meaning["reward"] == f"`{k}`, 1 to 8 of n = `{n}`; 9 of 12 rollouts right"


def test_a_run_that_computed_its_pass_rates_has_no_noise_and_its_own_n():
    run = train(configure("tabular", scale="smoke", rollouts=6))
    found, last = read_counts(run.path), run.groups()
    exact = last[last["step"] == last["step"].max()]["pass_rate"]
    assert found.exact.tolist() == exact.tolist()
    assert len(found.problems) == 16 and found.rollouts == 6
    assert found.n.size == 0 and "there is no noise to remove" in found.notes[0]
    with pytest.raises(LabError, match="pass rates that were computed, not sampled"):
        audit(run.path)
    assert population(run.path, 16) == pytest.approx(np.sort(exact), abs=1e-12)
    pairs = np.sort(exact).reshape(8, 2).mean(axis=1)
    assert population(run.path, 8) == pytest.approx(pairs, abs=1e-12)


def test_a_run_that_sampled_is_read_at_its_last_step_and_audited_for_its_own_n(tmp_path):
    (tmp_path / "params.json").write_text(json.dumps({"parameters": {"rollouts": 4}}))
    table = {"step": [0, 0, 9, 9], "problem": [0, 1, 0, 1], "right": [0, 1, 20, 30]}
    pd.DataFrame(table | {"samples": 64, "pass_rate": 0.5}).to_parquet(tmp_path / "groups.parquet")
    found = read_counts(tmp_path)
    assert (found.correct.tolist(), found.n.tolist()) == ([20, 30], [64, 64])
    assert found.rollouts == 4
    assert "share of gradient, N = 4" in set(audit(tmp_path).table["what"])


def test_groups_of_one_and_objectives_of_larger_groups_are_refused(simulated):
    path, *_ = simulated
    with pytest.raises(LabError, match="rollouts = 1: it must be a whole number of at least 2"):
        audit(path, rollouts=1)
    with pytest.raises(LabError, match="needs groups of at least 8"):
        audit(path, ("pkpo(k=8)",), rollouts=4)
    with pytest.raises(LabError, match="did you mean 'maxrl'"):
        audit(path, ("maxlr",))


# --- The numbers --------------------------------------------------------------------------------


def test_every_number_is_that_of_the_estimated_distribution(simulated):
    _, correct, found = simulated
    p, mass, *_ = pass_rates.mixing(16, correct, slack=1)
    edges = [0, 0.1, 0.3, 0.7, 0.9, 1]  # at 16 rollouts 1% cannot be told from 0
    bins = ["0-10", "10-30", "30-70", "70-90", "90-100"]
    for at, share in zip(bins, pass_rates.share_by_bin(p, mass, edges), strict=True):
        ours = value(found, "share of problems", "without noise", at).value
        assert ours == pytest.approx(share, abs=1e-9)
    for name in ("rloo", "grpo", "maxrl", "pacs_anchor"):
        parts = pass_rates.share_by_bin(p, pass_rates.expected_gradient(p, mass, name, 16), edges)
        for at, part in zip(bins, parts, strict=True):
            share = value(found, "share of gradient, N = 16", name, at).value
            assert share == pytest.approx(part / parts.sum(), abs=1e-9)
        assert value(found, "mean gradient", name, 16).value == pytest.approx(parts.sum(), abs=1e-9)
    for N in (2, 4, 8, 16, 32, 64):
        wrong, right = pass_rates.dead_share(p, mass, N)
        shares = {"all wrong": wrong, "all right": right, "dead": wrong + right}
        for name, share in shares.items():
            ours = value(found, "share of groups", name, N).value
            assert ours == pytest.approx(share, abs=1e-9)


def test_what_counts_say_at_their_word_stands_beside_it(simulated):
    _, correct, found = simulated
    naive = value(found, "share of problems", "K/n as p", "0-10").value
    assert naive == pytest.approx(np.mean(correct <= 1))
    for N in (2, 64):
        dead = np.mean((1 - correct / 16) ** N + (correct / 16) ** N)
        naive = value(found, "share of groups", "dead, K/n as p", N).value
        assert naive == pytest.approx(dead, abs=1e-12)
    seen = np.mean((correct == 0) | (correct == 16))
    assert f"{seen:.1%} of groups are dead" in found.notes[1]
    # Groups like these, drawn anew, are dead as often as these; K/n taken for p says otherwise
    assert value(found, "share of groups", "dead", 16).value == pytest.approx(seen, abs=0.02)
    assert value(found, "share of groups", "dead, K/n as p", 16).value > seen + 0.05


def test_every_estimate_has_an_interval_over_problems_and_shares_add_up(simulated):
    table = simulated[2].table
    estimates = table[~table["by"].str.contains("K/n")]
    assert estimates[["value", "low", "high"]].notna().all(axis=None)
    assert (estimates["low"] <= estimates["high"]).all()
    assert table[table["by"].str.contains("K/n")][["low", "high"]].isna().all(axis=None)
    binned = table[table["at"].map(lambda at: isinstance(at, str))]
    shares = binned.groupby(["what", "by"])["value"].sum()
    assert len(shares) == 6 and shares.to_numpy() == pytest.approx(1, abs=1e-9)


def test_groups_of_one_problem_are_told_from_problems_and_depend_on_each_other(tmp_path):
    rng = np.random.default_rng(0)
    p = rng.beta(0.35, 0.45, 30)
    steps = [{"step": step, "id": range(30), "k": rng.binomial(8, p), "n": 8} for step in range(20)]
    table = pd.concat(map(pd.DataFrame, steps))
    rows = [
        {"step": row.step, "id": row.id, "reward": int(i < row.k)}
        for row in table.itertuples()
        for i in range(8)
    ]
    again = audit(write(pd.DataFrame(rows), tmp_path / "again.parquet"), ("rloo",))
    assert "again.parquet: 600 groups of 30 problems; in brackets" in again.notes[0]
    assert any("rollouts are right, 8 to 8 a group: " in note for note in again.notes)
    apart = audit(write(table.drop(columns=["step", "id"]), tmp_path / "apart.csv"), ("rloo",))
    assert "apart.csv: 600 problems; in brackets" in apart.notes[0]
    wide, narrow = (value(each, "share of groups", "dead", 8) for each in (again, apart))
    assert wide.value == pytest.approx(narrow.value, abs=1e-12)
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_an_objective_is_left_out_only_where_groups_are_too_small_for_it(simulated):
    table = audit(simulated[0], ("rloo", "pkpo(k=8)")).table
    sizes = table[table["what"] == "mean gradient"].groupby("by")["at"].apply(list)
    assert sizes["rloo"] == [2, 4, 8, 16, 32, 64] and sizes["pkpo(k=8)"] == [8, 16, 32, 64]


def test_the_report_tells_every_number(simulated):
    found = simulated[2]
    told = "\n".join(found.lines())
    block, _, rest = told.partition("\n\n")
    assert "problem   `problem`, 500 values, 1 rows each" in block.splitlines()
    first = f"{simulated[0]}: 500 problems; in brackets 95% intervals over problems"
    assert " ".join(rest.split()).startswith(first)  # a long path wraps the line
    assert json.loads(found.json())["meaning"] == found.meaning
    for row in found.table.itertuples():
        assert f"{row.value:.3f}" in told and row.what in told and row.by in told
    row = value(found, "share of groups", "dead", 16)
    assert re.search(rf"\n16 +{row.value:.3f} \[{row.low:.3f}, {row.high:.3f}\]", told)
    assert "NaN" not in told and "nan" not in told and max(map(len, found.lines())) <= 120


def test_the_judge_stands_beside_the_labels_of_the_file(tmp_path):
    rows = [  # 1/2 is called wrong, 3 right, and one gold is broken
        {"id": id, "gold": gold, "prediction": answer, "correct": label}
        for id, gold, said in (
            ("a", "0.5", [("1/2", 0), ("1/2", 0), ("0.5", 1), ("2", 0)]),
            ("b", "4", [("3", 1), ("4", 1), ("5", 0), (None, 0)]),
            ("c", "\\frac{1", [("1", 0), ("1", 1)]),
        )
        for answer, label in said
    ]
    path = write(pd.DataFrame(rows), tmp_path / "labels.jsonl")
    found = audit(path)
    [said] = [note for note in found.notes if note.startswith("the judge of the lab")]
    assert said.endswith(
        "of 10 rollouts it disagrees on 3 (file right, judge wrong: 1; file wrong, judge right: 2)"
        " and cannot read 2; by it the share right is +0.100 of the file's"
    )
    both = audit_pair(path, write(pd.DataFrame(rows[:-2]), tmp_path / "other.jsonl")).notes
    assert both[-2] == f"A: {said}" and "of 8 rollouts" in both[-1]
    listed = found.labels[["gold", "answer", "file", "judge", "rollouts"]].to_numpy().tolist()
    assert listed[:2] == [["0.5", "1/2", "wrong", "right", 2], ["4", "3", "right", "wrong", 1]]
    assert {row[3] for row in listed[2:]} == {"error"} and "1/2" in "\n".join(found.lines())
    unsaid = write(pd.DataFrame(rows).drop(columns="prediction"), tmp_path / "unsaid.jsonl")
    assert audit(unsaid).labels is None  # with no answers there is nothing to judge


# --- The picture --------------------------------------------------------------------------------


@pytest.fixture
def picture(simulated):
    yield simulated[2], draw(simulated[2])
    plt.close("all")


def test_the_picture_has_a_panel_for_every_question_and_shows_every_number(picture):
    found, figure = picture
    assert [axes.get_ylabel() for axes in figure.axes] == list(found.table["what"].unique())
    for axes, (_, part) in zip(figure.axes, found.table.groupby("what", sort=False), strict=True):
        shown = np.concatenate(
            [np.asarray(line.get_ydata(), float) for line in axes.lines]
            + [[bar.get_height() for bar in axes.patches if hasattr(bar, "get_height")]]
        )
        assert all(np.abs(shown - x).min() < 1e-9 for x in part["value"])
