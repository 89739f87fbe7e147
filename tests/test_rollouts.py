"""Rollouts in files: every format of tests/data/rollouts/cases.json, here and in the page
(tests/test_explorer.py), and what the page is given.
"""

import importlib
import json
import shlex
import shutil
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from refusals import refusal

from lab.cli import main
from lab.errors import LabError
from lab.rollouts import containers
from lab.rollouts.columns import division
from lab.rollouts.counting import Choice, read_table_counts
from lab.rollouts.structure import flat
from lab.show.audit import audit

DATA = Path(__file__).parent / "data" / "rollouts"
CASES = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))


def choice_of(case) -> Choice:
    """What the user says in a case."""
    return Choice(**{each.name: case[each.name] for each in fields(Choice) if each.name in case})


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_file_is_read_as_its_case_says(tmp_path, case):
    if "path" in case:
        path = DATA / case["path"]
    else:
        files = case.get("files") or {case["file"]: case["text"]}
        path = tmp_path if "files" in case else tmp_path / case["file"]
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding=case.get("encoding", "utf-8"))
    if "refused" in case:
        told = refusal(read_table_counts, path, choice_of(case))
        assert told.startswith(str(path)) and case["refused"] in told
        return
    found = read_table_counts(path, choice_of(case))
    assert (found.n.tolist(), found.correct.tolist()) == (case["tried"], case["correct"])
    assert any(case.get("note", "") in note for note in [*found.notes, ""]), found.notes
    for role, said in case.get("meaning", {}).items():
        assert said in found.meaning[role], found.meaning


def test_the_tables_of_files_in_the_docs_and_the_page_are_those_of_today(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "tools"))
    for path, text in importlib.import_module("rollout_kinds").documents().items():
        assert path.read_text(encoding="utf-8") == text, "run python tools/rollout_kinds.py"


def test_arrow_files_of_all_kinds_and_packed_texts_are_read_as_parquet_is(tmp_path):
    table = pa.table({"id": [1, 1, 2, 2], "correct": ["right", "wrong", "right", "right"]})
    lines = "".join(json.dumps(row) + "\n" for row in table.to_pylist())
    cells = table.to_pandas().to_csv(index=False)
    pq.write_table(table, tmp_path / "a.parquet")
    pa.feather.write_feather(table, tmp_path / "b.feather")
    with pa.ipc.new_stream(tmp_path / "c.arrow", table.schema) as stream:  # as datasets writes it
        stream.write_table(table)
    texts = {"d.jsonl.zst": lines, "e.jsonl.gz": lines, "f.csv.zst": cells, "g.csv.gz": cells}
    for name, text in texts.items():
        codec = "zstd" if name.endswith("zst") else "gzip"
        with pa.CompressedOutputStream(str(tmp_path / name), codec) as packed:
            packed.write(text.encode())
    for path in sorted(tmp_path.iterdir()):
        found = read_table_counts(path)
        assert (found.problems, found.correct.tolist()) == (["1", "2"], [1, 2]), path.name
        half = path.with_name("half." + path.name.partition(".")[2])
        half.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(LabError, match="cannot be read"):
            read_table_counts(half)


@pytest.mark.parametrize(
    "given, words",
    [
        ({"threshold": 0.5, "success": "x"}, "threshold = 0.5 and success = 'x': give one of them"),
        ({"threshold": np.nan}, "threshold = nan: it must be a finite number"),
        ({"n": 0}, "n = 0: it must be a whole number of at least 1"),
        ({"only": ["policy"]}, "only = 'policy': write COLUMN=VALUE"),
    ],
)
def test_what_cannot_be_chosen_is_refused(given, words):
    with pytest.raises(LabError, match=words):
        Choice(**given)


# --- Columns that divide problems, and files that are none ----------------------------------------


def test_a_column_that_somebody_assigned_divides_and_one_that_chance_fills_does_not():
    rng = np.random.default_rng(0)
    asked = 0
    for _ in range(200):
        problems, n = int(rng.integers(4, 40)), int(rng.choice([2, 4, 8, 16]))
        problem = np.repeat(np.arange(problems), n)
        chance = np.repeat(rng.random(problems), n)
        asked += division(problem, (rng.random(problems * n) < chance).astype(int)) != ""
        assigned = np.tile(np.repeat([0, 1], n), problems)
        kept = rng.random(2 * problems * n) < 0.98  # some rollouts are lost
        if n > 2:
            two = np.repeat(np.arange(problems), 2 * n)
            assert division(two[kept], assigned[kept]) == "groups"
    assert asked <= 2


def test_steps_and_policies_of_any_n_divide():
    steps = np.repeat([0, 1, 2, 0, 3, 1, 2, 3], 8)  # each problem in a few of many steps
    assert division(steps, np.repeat(np.arange(8), 8)) == "groups"
    policies = np.tile(np.repeat([0, 1], [4, 16]), 10)  # of different n
    assert division(np.repeat(np.arange(10), 20), policies) == "groups"
    problems = np.arange(10).repeat(2 * np.arange(2, 12))  # of different n
    assert division(problems, np.concatenate([np.repeat([0, 1], n) for n in range(2, 12)]))


def test_a_column_that_divides_is_seen_in_the_last_rows_of_a_large_file(tmp_path):
    problem = np.tile(np.repeat(np.arange(2000), 10), 2)
    table = {"problem": problem, "reward": problem % 2, "policy": np.repeat([0, 7], 20_000)}
    path = tmp_path / "a.parquet"
    table["log_p"] = np.random.default_rng(0).random(40_000)
    pd.DataFrame(table).to_parquet(path)
    with pytest.raises(LabError, match=r"differ in column policy, whose 2 values \(0, 7\)"):
        read_table_counts(path)
    assert len(read_table_counts(path, Choice(only=["policy=7"])).n) == 2000


def test_the_command_says_which_rows_are_read(tmp_path, capsys):
    path = tmp_path / "a.csv"
    cells = [f"{i},{m},{i % 5},{i % 2}\n" for m in "ab" for i in range(20) for _ in range(4)]
    path.write_text("problem,m,topic,reward\n" + "".join(cells))
    assert main(["audit", str(path)]) == 1
    assert "differ in column m" in capsys.readouterr().err
    found = tmp_path / "found.json"
    assert main(["audit", str(path), "--only", "m=b", "--json", str(found)]) == 0
    told = capsys.readouterr().out
    assert "only rows with m = b are read" in told
    meaning = json.loads(found.read_text())["meaning"]
    assert told.startswith(
        f"row       {meaning['row']}\nproblem   `problem`, 20 values, 4 rows each"
    )
    assert main(["audit", str(path), "--within", "m", "--within", "topic"]) == 0
    told = capsys.readouterr().out
    assert all(f"problems of different {name} are different" in told for name in ("m", "topic"))
    assert "group     a problem: 40 of 4 rollouts" in told


FILES = ["trl/completions", "nemo_gym/rollouts.jsonl", "lm_eval", "wandb"]
GIVEN = [
    lambda name, cell: {"problem": name},
    lambda name, cell: {"reward": name},
    lambda name, cell: {"reward": name, "threshold": 0.5},
    lambda name, cell: {"reward": name, "success": cell, "n": 4},
    lambda name, cell: {"within": [name], "only": [f"{name}={cell}"]},
    lambda name, cell: {"pooled": [name], "n": 2},
    lambda name, cell: {"only": [f"{name}={cell}"], "problem": name},
]


@pytest.mark.parametrize("place", FILES)
@pytest.mark.filterwarnings("error")
def test_every_option_takes_every_column_or_says_in_a_sentence_why_not(place):
    path = DATA / place
    first, _ = containers.open_table(containers.table_files(path)[0])
    cells = {name: cell for row in first for name, cell in flat(row, 2)}
    for name in (*cells, "(file)", "(row)", "(position)", "", "nope", "a.b.c"):
        for given in GIVEN:
            try:
                found = read_table_counts(path, Choice(**given(name, str(cells.get(name)))))
            except LabError as error:
                assert "\n" not in str(error) and len(str(error)) < 2000
            else:
                assert found.n.min() > 0 and found.correct.min() >= 0


def test_groups_of_a_problem_at_several_steps_are_of_one_problem(tmp_path):
    path = tmp_path / "rates.json"
    path.write_text('{"p": [0, 0.125], "q": [0.25, 0.5, 1]}')
    assert read_table_counts(path, Choice(n=8)).of_problem.tolist() == [0, 0, 1, 1, 1]
    rows = [
        {"step": step, "index": i, "prompt": f"{i}{' again' * step}", "reward": j}
        for step in (0, 1)
        for i in range(3)
        for j in (0, 1)
    ]
    path.write_text(json.dumps(rows))  # numbers that begin anew at each step
    assert read_table_counts(path).of_problem.tolist() == [0, 1, 2, 3, 4, 5]


def test_dead_groups_are_told_by_their_answers(tmp_path):
    path = tmp_path / "a.json"
    answers = dict(one="4444", different="4567", right="9999", mixed="4599", empty="4  9")
    rows = [
        {"id": name, "correct": x == "9", "pred": x.strip() or None, "is_truncated": x == "5"}
        for name, of_problem in answers.items()
        for x in of_problem
    ]
    path.write_text(json.dumps(rows))
    assert read_table_counts(path).notes == [
        "2 of 20 rollouts are `is_truncated`, 0 of them right",
        "2 of 20 rollouts have no `pred`, 0 of them right",
        "dead groups: 1 all right, 1 all wrong with different answers, 1 all wrong with one answer"
        " (`pred`)",
    ]
    rows = [row | {"pred": row["id"]} for row in rows]  # an answer that is the problem's own
    path.write_text(json.dumps(rows))
    assert len(read_table_counts(path).notes) == 1


def test_files_of_one_rollout_are_its_problem_s_and_folders_of_two_models_divide(tmp_path):
    for place, right in (("a", 1), ("a", 0), ("b", 0), ("b", 0)):
        number = len([*tmp_path.iterdir()])
        text = json.dumps({"info": {"task_id": place}, "report": {"all_passed": bool(right)}})
        (tmp_path / f"{place}_{number}.json").write_text(text, encoding="utf-8")
    found = read_table_counts(tmp_path, Choice(problem="info.task_id"))
    assert (found.n.tolist(), found.correct.tolist()) == ([2, 2], [1, 0])
    rows = "".join(f'{{"id": {i}, "correct": {i % 2}}}\n' for i in range(10))
    for model in ("base", "tuned"):
        (tmp_path / "evals" / model).mkdir(parents=True)
        (tmp_path / "evals" / model / "samples.jsonl").write_text(rows, encoding="utf-8")
    told = refusal(read_table_counts, tmp_path / "evals")
    assert "differ in column (file), whose 2 values (base/samples.jsonl, tuned" in told
    words = shlex.split(told)  # what is offered may be pasted
    only = words[words.index("--only") + 1]
    assert len(read_table_counts(tmp_path / "evals", Choice(only=[only]), least=1).n) == 10


def test_rollouts_that_stand_twice_are_judged_once(tmp_path):
    row = {"problem": "a", "sample": 0, "response": r"\boxed{2}", "gold": "2", "correct": False}
    rows = [row, row, row | {"sample": 1, "correct": True}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = read_table_counts(tmp_path / "a.jsonl")
    assert "1 rollouts stand there twice and count once" in found.notes
    assert found.answers["rollouts"].tolist() == [1, 1]


def test_chats_are_texts_and_no_answers(tmp_path):
    says = [{"role": "assistant", "content": "2"}]
    rows = [{"problem": "a", "completion": says, "gold": "2", "correct": i > 0} for i in (0, 1)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    found = read_table_counts(tmp_path / "a.parquet")
    assert (found.meaning["text"], len(found.answers)) == ("`completion`", 0)


def test_what_has_no_end_or_a_column_twice_is_refused(tmp_path):
    table = pa.table([["a", "a"], [0, 1], [1, 1]], names=["problem", "reward", "reward"])
    pq.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").symlink_to("/dev/zero")
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(LabError, match="twice|no regular file"):
            read_table_counts(path)


def test_a_sentence_lists_few_of_many_columns(tmp_path):
    path = tmp_path / "a.csv"
    names = [f"column_{i}" for i in range(2_000)]
    path.write_text(",".join(names) + "\n" + ",".join("0" * 2_000) + "\n")
    told = refusal(read_table_counts, path)
    assert len(told) < 2000 and "and 1,980 more" in told


# --- Weightings ---------------------------------------------------------------------------------


def told(path, **given) -> str:
    """What the audit says of the weighting, in one text."""
    report = audit(path, ("rloo", "maxrl"), choice=Choice(**given))
    return "\n".join(note for note in report.notes if "trained" in note or "advantages" in note)


def rollouts(path, advantage, scale=1.0):
    """A file of TRL's: groups of 4 with 1, 2 and 3 right, and advantages by a function."""
    rows = []
    for K in (1, 2, 3):
        rewards = np.array([1.0] * K + [0.0] * (4 - K))
        for reward, value in zip(rewards, advantage(rewards), strict=True):
            row = {"step": 1, "prompt": f"p{K}", "completion": "x", "right": reward}
            rows.append(row | {"advantage": float(np.float32(scale * value))})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    "advantage, scale, words",
    [
        (lambda r: r - r.mean(), 1, "trained with dr_grpo (TRL's scale_rewards=none)"),
        (
            lambda r: (r - r.mean()) / (r.std(ddof=1) + 1e-4),
            1,
            "trained with grpo(ddof=1, eps=0.0001) (TRL's scale_rewards=group)",
        ),
        (
            lambda r: (r - r.mean()) / (r.std(ddof=1) + 1e-6),
            1,
            "trained with grpo(ddof=1, eps=1e-06) (verl's grpo)",
        ),
        (lambda r: r - r.mean(), 1.9, "TRL's scale_rewards=batch"),
        (lambda r: (r - r.mean()) / r.mean(), 1, "trained with maxrl, by the advantages"),
        (lambda r: r**2 - 0.3, 1, "those of no estimator without options"),
    ],
)
def test_the_advantages_in_a_file_tell_how_it_was_weighted(tmp_path, advantage, scale, words):
    assert words in told(rollouts(tmp_path / "a.jsonl", advantage, scale))


@pytest.mark.parametrize("place", ["config.yaml", "verl/config.yaml", "verl/.hydra/config.yaml"])
def test_settings_are_found_beside_rollouts_and_above_them(tmp_path, place):
    folder = tmp_path / "verl" / "rollouts"
    shutil.copytree(DATA / "verl" / "rollouts", folder)
    assert told(folder) == ""
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("algorithm: {adv_estimator: rloo}")
    assert "trained with rloo (verl's adv_estimator=rloo)" in told(folder)


@pytest.mark.parametrize("case", json.loads((DATA / "settings.json").read_text(encoding="utf-8")))
def test_settings_that_lie_with_rollouts_tell_how_they_were_weighted(tmp_path, case):
    """tests/test_explorer.py reads the same cases in the page."""
    folder = tmp_path / "rollouts"
    shutil.copytree(DATA / "verl" / "rollouts", folder)
    (tmp_path / "config.yaml").write_text(case["text"])
    said = told(folder)
    if case["spec"] is None:
        assert said == ""
    else:
        assert case["words"] in said
        assert f"trained with {case['spec'] or 'no estimator of here'} (" in said


def test_the_weights_are_those_of_the_groups_as_they_lie(tmp_path):
    path = rollouts(tmp_path / "a.jsonl", lambda r: r - r.mean())
    report = audit(path, ("rloo", "maxrl", "nsr"))
    weights = report.weights
    assert list(weights.columns) == ["dr_grpo", "rloo", "maxrl", "nsr"]
    # of 4: K right ones get 1 - K/4, the others K/4 below; MaxRL divides that by K/4
    plain = np.array([2 * K * (4 - K) / 4 for K in (1, 2, 3)])
    divided = plain / (np.array([1, 2, 3]) / 4)
    bins = [name for name in weights.index if weights.loc[name, "rloo"]]
    assert weights.loc[bins, "rloo"].tolist() == pytest.approx(list(plain / plain.sum()))
    assert weights.loc[bins, "nsr"].tolist() == pytest.approx([3 / 6, 2 / 6, 1 / 6])
    assert weights.loc[bins, "maxrl"].tolist() == pytest.approx(list(divided / divided.sum()))
    assert "share of the weight of these rollouts" in "\n".join(report.lines())
