"""docs/silent_failures.md: each of its lines has a test, and what no other file tests of it."""

import re
from pathlib import Path

import pytest

import lab
from lab.cli import main

ROOT = Path(__file__).parents[1]


def test_every_line_of_the_document_names_its_test():
    text = (ROOT / "docs" / "silent_failures.md").read_text()
    tests = "".join(path.read_text() for path in (ROOT / "tests").glob("test_*.py"))
    for line in re.split(r"\n- ", text.partition("**Rewards")[2])[1:]:
        names = re.findall(r"`(test_\w+)`", line)
        assert names and all(f"def {name}(" in tests for name in names), line


@pytest.mark.parametrize(
    "objective, rules",
    [
        ("rloo", "group of one: error; all wrong: zero; all right: zero; zero mean in every group"),
        (
            "maxrl_eq7",
            "group of one: scored; all wrong: kept; all right: zero; not zero mean in every group",
        ),
        (
            "grpo(ddof=1, eps=1e-6)",
            "group of one: error; all wrong: zero; all right: zero; zero mean in every group, eps"
            " 1e-06, ddof 1",
        ),
    ],
)
def test_the_rules_for_odd_groups_are_fields_of_the_estimator_and_head_every_run(
    objective, rules, capsys
):
    """'... each follow a rule that is a field of the estimator and is printed in the
    run's header'
    """
    assert str(lab.estimator(objective).rules) == rules
    assert main(["train", "tabular", "scale=smoke", "steps=1", f"estimator={objective}"]) == 0
    assert f"  rules: {rules}\n" in capsys.readouterr().out


def test_no_remote_code_is_trusted_and_servers_bind_to_this_machine_alone():
    files = [
        *(ROOT / "lab").rglob("*.py"),
        *(ROOT / "lab").rglob("*.toml"),
        *(ROOT / "notebooks").glob("*.ipynb"),
        ROOT / "Makefile",
        ROOT / "README.md",
    ]
    forbidden = r"trust_remote_code=|allow_pickle=|weights_only=|0\.0\.0\.0|--ip[= ]['\"]?\*"
    assert [str(path) for path in files if re.search(forbidden, path.read_text())] == []
    assert re.findall(r"--ip=(\S+)", (ROOT / "Makefile").read_text()) == ["127.0.0.1"]
