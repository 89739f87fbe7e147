"""Two files of one set of problems: what is paired, what is refused, and worlds that are known."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from lab.cli import main
from lab.errors import LabError
from lab.mathematics.metrics import exact_pass_at_k, pass_at_k
from lab.show.audit import draw
from lab.show.paired_audit import audit_pair


def counts(path, n, right, **columns):
    pd.DataFrame({"problem": range(len(right)), "n": n, "right": right} | columns).to_csv(
        path, index=False
    )
    return path


@pytest.fixture
def pair(tmp_path):
    """400 problems of which B solves the known ones more often, and gives up some of the rare."""
    rng = np.random.default_rng(0)
    p = np.where(rng.random(400) < 0.4, 0.03, rng.beta(2, 2, 400))
    q = np.where(p == 0.03, 0.0, p**0.5)
    a = counts(tmp_path / "a.csv", 64, rng.binomial(64, p), prompt=[f"{i}+1" for i in range(400)])
    b = counts(tmp_path / "b.csv", 64, rng.binomial(64, q), prompt=[f"{i}+1" for i in range(400)])
    return a, b, p, q


def value(found, what, by, at):
    table = found.table
    [row] = table[(table["what"] == what) & (table["by"] == by) & (table["at"] == at)].itertuples()
    return row


def test_a_crossing_that_is_there_is_found_with_the_numbers_of_the_truth(pair):
    a, b, p, q = pair
    found = audit_pair(a, b)
    assert any(note.startswith("pass@1 rises: +0.1") for note in found.notes)
    [crossing] = [note for note in found.notes if note.startswith("a crossing")]
    assert "up to 64: real, B is between k = " in crossing
    for k in (1, 8, 64):
        truth = (exact_pass_at_k(q, k) - exact_pass_at_k(p, k)).mean()
        row = value(found, "pass@k, B - A", "bands hold together", k)
        assert row.low <= truth <= row.high
        n, A, B = 64, pd.read_csv(a)["right"], pd.read_csv(b)["right"]
        assert row.value == pytest.approx(np.mean(pass_at_k(n, B, k) - pass_at_k(n, A, k)))
        gained, lost = ((1 - y) ** k * (1 - (1 - x) ** k) for x, y in ((q, p), (p, q)))
        for by, each in (("gained", gained), ("lost", lost)):
            row = value(found, "solved by k of one alone", by, k)
            assert row.low <= each.mean() <= row.high
    for m in (1, 8, 63):
        row = value(found, "gain in pass@1, by k of A", "on the rest", m)
        assert row.low <= ((1 - p) ** m * (q - p)).mean() <= row.high


def test_two_samples_of_one_model_show_no_change_and_luck_explains_what_seems_one(tmp_path):
    rng = np.random.default_rng(4)
    p = rng.beta(0.3, 1, 500)
    files = [counts(tmp_path / f"{x}.csv", 16, rng.binomial(16, p)) for x in "ab"]
    found = audit_pair(*files)
    said = "\n".join(found.notes)
    assert "pass@1 undecided" in said and "up to 16: undecided" in said
    luck = re.search(r"shows .*: (\d+)% is regression to the mean", said)
    assert 60 < int(luck[1]) < 160
    row = value(found, "gain in pass@1, by k of A", "on the rest", 15)
    assert row.low <= 0 <= row.high
    assert value(found, "gain in pass@1, by k of A", "as it seems", 15).low > 0


def test_one_rollout_a_problem_is_enough_to_compare_two(tmp_path):
    a = counts(tmp_path / "a.csv", 1, [0] * 60 + [1] * 40)
    b = counts(tmp_path / "b.csv", 1, [0] * 40 + [1] * 60)
    found = audit_pair(a, b)
    assert found.notes[-2].startswith("pass@1 rises: +0.200 [")
    assert "would be decided by 3,171 problems such as these" in found.notes[-1]


def rollouts(path, **columns):
    pd.DataFrame(columns).to_json(path, orient="records", lines=True)
    return path


def test_what_cannot_be_paired_is_refused_with_the_reason(pair, tmp_path, monkeypatch):
    a, b, *_ = pair
    other = pd.read_csv(b)
    other.assign(prompt=other["prompt"].str.replace("+1", "+2")).to_csv(tmp_path / "c.csv")
    with pytest.raises(LabError, match=r"problem 0 has prompt '0\+1' in .*different problems"):
        audit_pair(a, tmp_path / "c.csv")
    other.assign(problem=other["problem"] + 399).to_csv(tmp_path / "d.csv", index=False)
    with pytest.raises(LabError, match="share 1 of 400 and 400 problems"):
        audit_pair(a, tmp_path / "d.csv")
    with pytest.raises(LabError, match="is given twice: give what it is to be compared with"):
        audit_pair(a, a.parent / "." / a.name)
    steps = {"step": [1, 1, 2, 2], "id": ["x"] * 4, "reward": [0, 1, 1, 1]}
    with pytest.raises(LabError, match="several groups of a problem, of 2 steps"):
        audit_pair(rollouts(tmp_path / "e.jsonl", **steps), a)
    some = other.iloc[100:].reset_index(drop=True)
    some.to_csv(tmp_path / "f.csv", index=False)
    assert audit_pair(a, tmp_path / "f.csv").notes[0] == "300 problems in both (100 only in A)"


def test_prompts_in_full_pair_two_files_in_any_order(tmp_path):
    prompts = ["1+1?", "2+2?", "3+3?"]
    rows = [(x, r) for x in prompts for r in (0, 1)]
    a = rollouts(tmp_path / "a.jsonl", prompt=[x for x, _ in rows], reward=[r for _, r in rows])
    turned = [*rows[::-1], ("4+4?", 1), ("4+4?", 1)]
    b = rollouts(tmp_path / "b.jsonl", prompt=[x for x, _ in turned], reward=[r for _, r in turned])
    found = audit_pair(a, b)
    assert found.notes[0] == "3 problems in both (1 only in B)"
    assert value(found, "pass@k, B - A", "bands hold together", 1).value == 0


def test_the_page_and_the_json_say_all_and_escape_every_field(tmp_path, capsys):
    rows = {"id": ["<b>x", "<b>x", "y", "y"], "reward": [0, 1, 0, 1], "<i>tag": list("abcd")}
    files = [str(rollouts(tmp_path / f"{x}<u>.jsonl", **rows)) for x in "ab"]
    page, numbers = tmp_path / "page.html", tmp_path / "numbers.json"
    main(["audit", *files, "--page", str(page), "--json", str(numbers)])
    text = page.read_text(encoding="utf-8")
    assert not re.search("<u>|<b>|<i>|<script", text) and "a&lt;u&gt;.jsonl" in text
    assert "data:image/png;base64," in text and "Content-Security-Policy" in text
    told = json.loads(numbers.read_text(encoding="utf-8"))
    said = capsys.readouterr().out
    assert {row["what"] for row in told["numbers"]} <= {line for line in said.splitlines()}
    assert len(draw(audit_pair(*files)).axes) == len({row["what"] for row in told["numbers"]})
