"""One task for every command: a reward that sees the question and columns of the problems."""

import json
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

from lab.cli import main
from lab.errors import LabError
from lab.judge.rewards import RewardFunction
from lab.llm.data import problem_sets
from lab.llm.data.datasets import load
from lab.llm.data.prompts import load_prompt
from lab.llm.train import verl_config
from lab.llm.train.checks import requirements
from lab.llm.train.task import Task
from lab.llm.train.trainer import preflight
from lab.llm.train.verl_adapter import LOST, compute_score
from lab.runs import configure, train
from lab.runs.evaluation_folder import Evaluation
from lab.runs.model_evaluation import evaluate

pytestmark = pytest.mark.filterwarnings("ignore")
# What an answer is worth follows from the question, the prompt, a column of one's own and the text.
REWARD = """
def reward(prompts, completions, question, shift, bonus=0, **others):
    assert {"id", "source", "answer", "answers", "even"} == set(others), sorted(others)
    assert prompts == [f"{each} =\\n" for each in question]
    return [(len(q) + len(c) + s + %d) %% 2 for q, c, s in zip(question, completions, shift)]

def target(completions, targets): return [0] * len(completions)
def positional(completions, answers, /): return [0] * len(completions)
def named(completions, answers): return [int(c == a) for c, a in zip(completions, answers)]
"""
OWN = {
    "steps": 1,
    "train_set": "mine.jsonl",
    "eval_sets": ["mine.jsonl"],
    "eval_problems": 4,
    "prompt": "mine.txt",
    "reward": "mine.py:reward",
}
ROWS = [
    {"question": f"{a}+{b}", "answer": str(a + b), "shift": a, "even": [b % 2 == 0]}
    for a in (2, 3)
    for b in (4, 5)
]


def worth(question, completion, more=0):
    """What `REWARD` gives, once more."""
    (row,) = (row for row in ROWS if row["question"] == question)
    return (len(question) + len(completion) + row["shift"] + more) % 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (folder / "mine.txt").write_text("{question} =\n\n")
    (folder / "mine.py").write_text(REWARD % 0)
    return folder


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LAB_RUNS", str(folder / "runs"))


@pytest.mark.parametrize("trainer", ["trl", "loop"])
def test_both_trainers_and_an_evaluation_of_the_run_judge_by_question_and_column(trainer, folder):
    run = train(configure("gsm8k", scale="smoke", trainer=trainer, **OWN))
    questions = {f"mine.jsonl/{number}": row["question"] for number, row in enumerate(ROWS)}
    rollouts = pd.concat(map(pd.read_parquet, run.path.glob("rollouts/*.parquet")))
    assert len(rollouts) and {*rollouts["reward"]} == {0, 1}
    for _, row in rollouts.iterrows():
        assert row["reward"] == worth(questions[row["problem"]], row["text"])
    (row,) = evaluate(str(run.path))
    assert row.metrics["pass@1"].point == pytest.approx(run.records()[-1]["pass@1"])


def evaluated(capsys, *words):
    """The folder of an evaluation of the tiny model, and its verdicts with what they judge."""
    tiny = configure("gsm8k", scale="smoke").model
    given = ["engine=transformers", "n=4", "max_tokens=6", "prompt=mine.txt", *words]
    assert main(["eval", tiny, "mine.jsonl", "reward=mine.py:reward", *given]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    made = Evaluation(Path(line.removeprefix("mine.jsonl: ")))
    (scores,) = made.path.glob("scores-*.parquet")
    texts = pd.concat(made.samples()).reset_index(drop=True)
    return made, texts.assign(verdict=pd.read_parquet(scores)["verdict"].astype(str))


def test_an_evaluation_stores_what_its_reward_needs_and_is_judged_again_without_sampling(
    folder, capsys, monkeypatch
):
    made, judged = evaluated(capsys)
    questions = {problem.id: problem.question for problem in made.problems()}
    right = [worth(questions[i], t) for i, t in zip(judged["problem"], judged["text"], strict=True)]
    assert [*(judged["verdict"] == "right")] == right and 0 < sum(right) < len(right)
    assert [problem.columns["even"] for problem in made.problems()] == [[True], [False]] * 2
    samples = {path: path.stat().st_mtime_ns for path in made.files()}
    monkeypatch.setattr("lab.llm.engines.factory.load_engine", None)  # nothing is sampled
    try:
        (folder / "mine.py").write_text(REWARD % 1)
        again, judged = evaluated(capsys)
        assert again.path == made.path and [*(judged["verdict"] == "wrong")] == right
        edited = [row | {"shift": row["shift"] + 1} for row in ROWS]
        (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in edited))
        again, judged = evaluated(capsys)
        assert again.path == made.path and [*(judged["verdict"] == "right")] == right
    finally:
        (folder / "mine.py").write_text(REWARD % 0)
        (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert samples == {path: path.stat().st_mtime_ns for path in made.files()}


def test_a_parameter_that_no_column_provides_is_refused_before_anything_is_trained(capsys):
    sentence = (
        "the reward mine.py:target asks for targets, and the columns are answer, answers,"
        " completions, even, id, prompts, question, shift, source: give"
    )
    config = configure("gsm8k", scale="smoke", **OWN | {"reward": "mine.py:target"})
    (fault,) = (fault for _, fault, _ in requirements(config) if fault)
    assert sentence in fault
    with pytest.raises(LabError, match="asks for targets, and the columns are"):
        train(config)
    assert main(["eval", config.model, "mine.jsonl", "reward=mine.py:target", "engine=vllm"]) == 1
    assert sentence in capsys.readouterr().err
    with pytest.raises(LabError, match="its parameter completions cannot be given by name"):
        RewardFunction("mine.py:positional", workers=1).check(["a"], ["b"])
    with RewardFunction("mine.py:named", workers=1) as given:
        assert [each.reward for each in given.check(["a", "b"], ["a", "a"])] == [1, 0]


def test_the_check_of_the_data_says_columns_prompt_and_what_the_reward_makes_of_golds(capsys):
    words = ["reward=mine.py:named", "prompt=mine.txt"]
    assert main(["data", "check", "mine.jsonl", *words]) == 0
    out = capsys.readouterr().out
    assert "mine.jsonl: 4 problems, 0 skipped; 0 gold answers unreadable" in out
    assert "columns: answer, answers, even, id, prompts, question, shift, source" in out
    assert r"prompt: '2+4 =\n'" in out and "4 of the first 4 golds are right" in out
    assert main(["data", "check", "mine.jsonl", "reward=mine.py:target"]) == 1
    assert "asks for targets" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv"])
def test_the_columns_of_a_file_are_those_that_stand_in_it(tmp_path, kind):
    path = tmp_path / f"some.{kind}"
    rows = [{"question": "1+1?", "answer": "2", "code": f"00{i}"} for i in range(2)]
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        frame = pd.DataFrame(rows)
        frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path, index=False)
    assert [problem.row["code"] for problem in load(str(path)).problems] == ["000", "001"]


def test_a_registered_set_may_give_columns(monkeypatch):
    def doubles(split, *, odd=False):
        yield from ((f"2*{a}", str(2 * a), {"a": a}) for a in range(3))
        if odd:
            yield "2*3", "6", 3

    monkeypatch.setitem(problem_sets._registered, "doubles", doubles)
    assert [problem.row["a"] for problem in Task().problem_set("doubles", None).problems] == [
        0, 1, 2,
    ]  # fmt: skip
    with pytest.raises(LabError, match="row 3: found .* after them a dict of other columns"):
        Task().problem_set("doubles(odd=True)", None)


def test_verl_has_the_columns_of_each_row_and_judges_by_the_same_function(capsys):
    task = Task(prompt="mine.txt", reward="mine.py:reward")
    problems = task.problem_set("mine.jsonl", None).problems
    rows = verl_config.rows(problems, task, "train")
    assert "columns" not in verl_config.rows(problems, Task(), "train")[0]["extra_info"]

    def scored(row, text, reward):
        gold = row["reward_model"]["ground_truth"]
        return compute_score("mine", text, gold, row["extra_info"], reward=reward)

    for row, problem in zip(rows, problems, strict=True):
        for text in ("a", "ab"):
            found = scored(row, text, "mine.py:reward")
            right = worth(problem.question, text)
            assert found == {"score": right, "acc": right, "lost": 0}
    assert scored(rows[0], "a", "mine.py:target") == {"score": LOST, "acc": 0, "lost": 1}
    assert "asks for targets" in capsys.readouterr().err


@pytest.mark.skipif(not find_spec("verl"), reason="verl is not installed")
def test_verls_command_names_the_reward_from_the_folder_of_the_run():
    from lab.runs.cluster import job

    made = job("gsm8k", {"scale": "smoke", "nodes": 1, "gpus": 1, **OWN})
    kwargs = verl_config.compose(made.settings).reward.custom_reward_function.reward_kwargs
    assert kwargs.reward.endswith("/mine.py:reward") and kwargs.right_from is None
    assert made.settings["+reward.custom_reward_function.reward_kwargs.reward"].startswith("$RUN/")


def test_a_task_of_reasoning_gym_brings_its_verifier_and_mixes_with_no_other_set():
    name = "reasoning_gym(countdown, max_numbers=4)"
    assert problem_sets.reward_of([name], graded=False) == "lab.llm.data.gym_sets:solved"
    assert Task(right_from=0.5).of_sets([name]).reward == "lab.llm.data.gym_sets:scores"
    assert Task(reward="mine.py:reward").of_sets([name, "math500"]).reward == "mine.py:reward"
    with pytest.raises(LabError, match="has a verifier of its own, and math500 has not"):
        Task().of_sets([name, "math500"])
    if not find_spec("reasoning_gym"):
        with pytest.raises(LabError, match=r"reasoning_gym is missing: .*\[reasoning-gym\]"):
            problem_sets.check_name(name)


# --- A system prompt ----------------------------------------------------------------------------


def test_a_system_prompt_is_a_turn_before_the_users_and_counts_only_where_it_is_given():
    class Chat:
        chat_template = "given"

        def apply_chat_template(self, turns, **_):
            return "".join(f"<{turn['role']}>{turn['content']}" for turn in turns)

    plain, said = load_prompt("maxrl_qwen"), load_prompt("maxrl_qwen", "Be brief.")
    assert said.render("1+1?", Chat()) == "<system>Be brief." + plain.render("1+1?", Chat())
    assert plain.hash == "ec2cc325fc49" != said.hash
    turns = verl_config.rows(
        Task().problem_set("mine.jsonl", 2).problems,
        Task(prompt="maxrl_qwen", system_prompt="Be brief."),
        "test",
    )[0]["prompt"]
    assert [turn["role"] for turn in turns] == ["system", "user"]
    config = configure("gsm8k", scale="smoke")
    assert "system_prompt" not in config.identity()
    with pytest.raises(LabError, match="the prompt 'plain' is plain text and has no turns"):
        configure("gsm8k", scale="smoke", system_prompt="Be brief.")
    assert preflight(configure("gsm8k", scale="smoke", prompt="pacs", system_prompt="Be brief."))
