"""Where two checkers differ over a file of rollouts."""

import json
import re

import pandas as pd
import pytest

from lab import LabError
from lab.judge.agreement import compare_checkers, compare_checkers_in_file

ROWS = [
    ("5", "5"),
    ("6", "5"),
    (r"10\%", "10"),
    ("120_8", "120"),
    (r"5\text{ cm}", r"5\text{ m}"),
    ("007", "7"),
]
LATE = r"\gcd(9^{9^9},3)"  # no comparison with it ends


def box(text: str) -> str:
    return rf"So \boxed{{{text}}}."


def test_the_table_holds_the_disagreements_and_the_counts_hold_all():
    rows = [(box(answer), gold) for answer, gold in ROWS if answer != "120_8"]
    table, counts = compare_checkers(*zip(*rows, strict=True))
    assert list(table.columns) == ["row", "answer", "gold", "first", "reason", "second"]
    assert table.values.tolist() == [[2, r"10\%", "10", "right", "exact", "wrong"]]
    assert counts == {("right", "right"): 2, ("wrong", "wrong"): 2, ("right", "wrong"): 1}


def test_errors_are_listed_where_the_second_checker_has_an_opinion_and_not_limited():
    table, counts = compare_checkers([box("3,4"), box(LATE)] * 30, [f"3,{LATE},5", "3"] * 30)
    assert set(zip(table["first"], table["reason"], table["second"], strict=True)) == {
        ("error", "unreadable gold", "wrong")
    }
    assert counts == {("error", "wrong"): 30, ("wrong", "unsure"): 30}  # and no limit to errors


WRITERS = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".parquet": lambda frame, path: frame.to_parquet(path),
    ".jsonl": lambda frame, path: path.write_text(
        "".join(json.dumps(row) + "\n" for row in frame.to_dict("records"))
    ),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_a_file_of_rollouts_is_audited_whatever_its_format(tmp_path, ending):
    path = tmp_path / f"rollouts{ending}"
    WRITERS[ending](
        pd.DataFrame({"gold": [gold for _, gold in ROWS], "response": [box(a) for a, _ in ROWS]}),
        path,
    )
    lines, table = compare_checkers_in_file(path)
    assert lines == [
        f"6 rollouts in {path}, answers found by 'strict'",
        "both right 2, both wrong 2, first in error 0, second unsure 1",
        "1 disagreements (first / second): 1 right / wrong",
    ]
    assert table["row"].tolist() == [2]


def test_a_column_of_bare_answers_and_golds_that_are_numbers_are_taken(tmp_path):
    path = tmp_path / "rollouts.jsonl"
    rows = [
        {"answer": "5", "gold": 5},
        {"answer": r"so \boxed{5}", "gold": 5.0},
        {"answer": 6, "gold": 5},
    ]
    path.write_text("\n\n".join(map(json.dumps, rows)))
    lines, table = compare_checkers_in_file(path)
    assert lines[1].startswith("both right 2, both wrong 1")
    assert table.empty and lines[2] == "0 disagreements"


def test_the_style_reaches_both_checkers(tmp_path):
    path = tmp_path / "rollouts.csv"
    path.write_text("response,gold\nit is 5,5\n")
    assert compare_checkers_in_file(path, "lenient")[0][1].startswith("both right 1")
    assert compare_checkers_in_file(path, "strict")[0][1].startswith("both right 0, both wrong 1")


REFUSED = [
    ("a.csv", "text,gold\na,b\n", "columns 'text', 'gold': an audit needs 'gold' and 'response'"),
    ("a.csv", "response\na\n", "has the columns 'response': an audit needs 'gold'"),
    ("a.csv", "", "cannot read"), ("a.jsonl", "{", "cannot read"),
    ("a.parquet", "x", "cannot read"), ("a.jsonl", "", "has the columns none"),
    ("a.txt", "x", "ends in '.txt': give rollouts as .parquet, .jsonl or"),
    ("a.jsonl", '{"answer": "a", "gold": "b"}\n{"answer": "a"}', "row 1: no gold; fill it or"),
    ("a.jsonl", '{"response": null, "gold": "b"}', "row 0: no response; fill it"),
]  # fmt: skip


@pytest.mark.parametrize("name, text, sentence", REFUSED)
def test_a_file_that_cannot_serve_is_refused_in_one_sentence(tmp_path, name, text, sentence):
    (tmp_path / name).write_text(text)
    with pytest.raises(LabError, match=re.escape(sentence)) as error:
        compare_checkers_in_file(tmp_path / name)
    assert "\n" not in str(error.value) and str(tmp_path / name) in str(error.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(LabError, match="cannot read .*none.csv.*No such file"):
        compare_checkers_in_file(tmp_path / "none.csv")
