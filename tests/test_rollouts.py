"""Rollouts in files: every format of tests/data/rollouts/cases.json, here and in the page
(tests/test_explorer.py), and what the page is given.
"""

import json
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.rollouts import formats
from lab.rollouts.counting import Choice, identity, read_table_counts

DATA = Path(__file__).parent / "data" / "rollouts"
CASES = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
FRONT = Path(__file__).parents[1] / "lab" / "explorer" / "front"


def choice_of(case) -> Choice:
    """What the user says in a case."""
    return Choice(*(case.get(name) for name in ("problem", "reward", "threshold", "success")))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_file_is_read_as_its_case_says(tmp_path, case):
    if "path" in case:
        path = DATA / case["path"]
    else:
        path = tmp_path / case["file"]
        path.write_text(case["text"], encoding="utf-8")
    if "refused" in case:
        with pytest.raises(LabError) as refusal:
            read_table_counts(path, choice_of(case))
        told = str(refusal.value)
        assert told.startswith(str(path)) and case["refused"] in told and "\n" not in told
        return
    found = read_table_counts(path, choice_of(case))
    assert (found.tool, found.n.tolist(), found.correct.tolist()) == (
        case["tool"],
        case["n"],
        case["correct"],
    )
    assert any(case.get("note", "") in note for note in [*found.notes, ""]), found.notes


def test_every_format_has_a_case():
    tools = {case.get("tool") for case in CASES}
    assert {each.tool for each in formats.FORMATS} - tools == set()


def test_the_page_has_the_list_of_formats():
    written = (FRONT / "formats.js").read_text(encoding="utf-8")
    assert written == formats.page_module(), "run python -m lab.rollouts.formats, see formats.py"


def test_a_threshold_and_a_success_are_not_given_together():
    with pytest.raises(LabError, match="threshold = 0.5 and success = 'x': give one of them"):
        Choice(threshold=0.5, success="x")


@pytest.mark.parametrize(
    "cell, text",
    [
        ([{"role": "user", "content": "a"}], '[{"content":"a","role":"user"}]'),
        ([{"content": "a", "role": "user", "name": None}], '[{"content":"a","role":"user"}]'),
        ({"b": 1.0, "a": [2.5, True, None]}, '{"a":[2.5,true,null],"b":1}'),
        (7, "7"),
        ("7", "7"),
    ],
)
def test_a_prompt_has_one_canonical_text(cell, text):
    assert identity(cell) == text
