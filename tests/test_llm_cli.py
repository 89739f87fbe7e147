"""The commands for language models, as typed: `lab data`, `lab audit`, `lab eval`."""

import json

import pandas as pd

from lab.cli import main
from lab.llm.data.datasets import DATASETS
from lab.project import CHECKOUT as ROOT

TINY = str(ROOT / "data" / "models" / "tiny")


def test_data_check_names_every_set(capsys):
    assert main(["data", "check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == list(DATASETS)


def test_data_check_names_the_golds_that_the_verifier_cannot_read(capsys, tmp_path, monkeypatch):
    file = str(ROOT / "tests/data/aime2025.jsonl")
    assert main(["data", "check", file, "question_column=problem"]) == 0
    assert "; 0 gold answers unreadable" in capsys.readouterr().out
    monkeypatch.setattr("lab.judge.verifier.read_gold", lambda _: None)
    assert main(["data", "check", file, "question_column=problem"]) == 0
    said = capsys.readouterr().out
    assert "; 2 gold answers unreadable" in said and said.count("cannot be read") == 2
    assert "prompts stand there again" not in said
    pairs = [("1+1?", 2), ("1+1?", 3), ("2+2?", 4), ("2+2?", 4), ("3+3?", 6)]
    rows = [{"question": question, "answer": str(answer)} for question, answer in pairs]
    (again := tmp_path / "again.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert main(["data", "check", str(again)]) == 0
    said = capsys.readouterr().out
    assert "    2 prompts stand there again, 1 with another gold\n" in said


def test_audit_reports_and_draws_a_table_of_counts(capsys, tmp_path):
    path, picture = tmp_path / "counts.csv", tmp_path / "audit.png"
    pd.DataFrame({"problem": range(40), "n": 16, "k": [0, 1, 4, 16] * 10}).to_csv(path, index=False)
    words = ["--objectives", "maxrl", "rloo", "--picture", str(picture)]
    assert main(["audit", str(path), *words]) == 0 and picture.stat().st_size > 10_000
    told = capsys.readouterr().out
    assert "40 problems" in told and "50.0% of groups are dead" in told


def test_eval_samples_scores_and_prints_a_table_once(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("LAB_RUNS", str(tmp_path))
    settings = "engine=transformers n=4 problems=5 max_tokens=40".split()
    shown, written = [], []
    for _ in range(2):
        assert main(["eval", TINY, "arithmetic(level=1)", *settings]) == 0
        shown.append(capsys.readouterr().out)
        files = (tmp_path / "evaluations").rglob("*.parquet")
        written.append({path: path.stat().st_mtime_ns for path in files})
    assert shown[0] == shown[1] and written[0] == written[1]
    assert "| tiny | arithmetic(level=1) | 5 |" in shown[0]
    assert "n = 4 answers per problem at temperature 0.6" in shown[0]
