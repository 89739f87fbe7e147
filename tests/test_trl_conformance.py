"""TRL's own tests of GRPO with the lab's trainer, where LAB_TRL_TESTS names their file."""

import os
from pathlib import Path

import pytest
from trl_conformance import DESELECTED, REFUSED, ROOT, conform, tables


def test_the_page_on_trl_has_the_tables_of_the_harness():
    assert tables() in (ROOT / "docs" / "trl.md").read_text()


@pytest.fixture(scope="module")
def trls_file() -> Path:
    path = os.environ.get("LAB_TRL_TESTS")
    if path is None:
        pytest.skip("TRL's tests are not at hand: LAB_TRL_TESTS=.../tests/test_grpo_trainer.py")
    return Path(path)


def test_trls_own_tests_pass_or_are_refused_in_the_sentence_that_is_written_down(trls_file):
    found = conform(trls_file)
    wrong = {
        name: outcome
        for name, outcome in found.items()
        if not (
            outcome.result in ("passed", "skipped", "deselected")
            and name not in REFUSED
            or outcome.result == "refused"
            and REFUSED.get(name, "\0") in outcome.reason
        )
    }
    assert not wrong
    assert REFUSED.keys() <= found.keys()
    assert set(DESELECTED.values()) == {
        outcome.reason for outcome in found.values() if outcome.result == "deselected"
    }
