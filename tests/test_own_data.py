"""Your own problems, prompt and reward function: an example of each, and what is refused."""

import json
import os
import time
from contextlib import suppress

import psutil
import pytest

from lab.errors import LabError
from lab.judge.rewards import RewardFunction, judge
from lab.judge.verifier import Verifier
from lab.llm.data.prompts import load_prompt
from lab.llm.engines import imports
from lab.llm.train.task import Task, loaded_set, problems_of
from lab.llm.train.trainer import preflight, train
from lab.runs.experiments import experiment

imports.trl()
pytestmark = pytest.mark.filterwarnings("ignore")

REWARD = r'''
import re

def shows_the_answer(completions, answers):
    """1 if the answer stands in the completion as a word, None for an empty completion."""
    return [
        None if not completion else int(answer in re.findall(r"\d+", completion))
        for completion, answer in zip(completions, answers)
    ]
'''


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with mine.jsonl, mine.parquet, mine.txt and mine.py, in which the test runs."""
    import pandas as pd

    monkeypatch.chdir(tmp_path)
    rows = [{"problem": f"{a}+{b}=?", "solution": str(a + b)} for a in (2, 3) for b in (4, 5)]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pd.DataFrame(rows).to_parquet("mine.parquet")
    (tmp_path / "mine.txt").write_text("{question}\n\n")
    (tmp_path / "mine.chat.txt").write_text("Solve: {question}\n")
    (tmp_path / "mine.py").write_text(REWARD)
    return tmp_path


OWN = {
    "train_set": "mine.jsonl",
    "eval_sets": ["mine.parquet"],
    "question_column": "problem",
    "answer_column": "solution",
    "prompt": "mine.txt",
    "reward": "mine.py:shows_the_answer",
}


def configured(**given):
    return experiment("gsm8k").configure("smoke", given)


@pytest.mark.parametrize("trainer", ["trl", "loop"])
def test_both_trainers_train_on_graded_answers_and_call_no_training_answer_right(files, trainer):
    (files / "mine.py").write_text(
        "def shows_the_answer(completions, answers):\n"
        "    return [sum(map(ord, text)) % 8 / 8 for text in completions]\n"
    )
    given = {"estimator": "lift(maxrl)", "right_from": 0.2, "trainer": trainer}
    first, last = train(configured(steps=1, **OWN | given), None)
    assert {"pass@1"} <= first.metrics.keys() and sum(first.groups["right"]) > 0
    assert 0 < last.metrics["mean reward"] < 1 and last.metrics["lost"] == 0
    assert last.metrics["dead groups"] < 1 and last.metrics["grad_norm"] > 0
    assert not {"train pass@1", "solved", "induced weight"} & last.metrics.keys()
    rewards = last.rollouts["reward"]
    assert sum(rewards) / len(rewards) == pytest.approx(last.metrics["mean reward"])
    assert not {8 * reward % 1 for reward in rewards} - {0} and len(set(rewards)) > 2


def test_a_file_of_problems_is_read_by_the_columns_that_are_named(files):
    config = configured(**OWN)
    for name in ("mine.jsonl", "mine.parquet"):
        problems = loaded_set(config, name, "train").problems
        assert (problems[1].question, problems[1].answer) == ("2+5=?", "7") and len(problems) == 4
    with Verifier() as verifier:
        (problem, prompt), *_ = problems_of(config, lambda texts, **_: ids(texts), verifier)[0]
    assert prompt == "2+4=?\n" and problem.answer == "6"
    with pytest.raises(LabError, match="lacks the column 'question' .* has problem, solution"):
        loaded_set(configured(train_set="mine.jsonl"), "mine.jsonl", "train")
    with pytest.raises(LabError, match="no set is a file"):
        configured(question_column="problem")


def ids(texts):
    return {"input_ids": [list(text) for text in texts]}


def test_a_prompt_file_is_used_as_text_or_as_the_turn_of_a_chat(files):
    class Chat:
        chat_template = "given"

        def apply_chat_template(self, turns, **_):
            return f"<user>{turns[0]['content']}<assistant>"

    assert load_prompt("mine.txt").render("1+1=?") == "1+1=?\n"
    assert load_prompt("mine.chat.txt").render("1+1=?", Chat()) == "<user>Solve: 1+1=?<assistant>"
    (files / "none.txt").write_text("Solve it.")
    with pytest.raises(LabError, match="none.txt holds no {question}"):
        load_prompt("none.txt")
    with pytest.raises(LabError, match="there is no prompt file other.txt"):
        configured(prompt="other.txt")


def rewards_of(function, completions, answers=None, seconds=1.0, **options):
    with RewardFunction(function, seconds, workers=2, **options) as given:
        verdicts = given.check(completions, answers or ["4"] * len(completions))
    assert {verdict.reason for verdict in verdicts} <= {function}
    return [verdict.reward for verdict in verdicts]


def test_a_reward_function_judges_batches_in_processes_of_its_own(files, monkeypatch):
    assert rewards_of("mine.py:shows_the_answer", ["4", "5", "", "so 4."]) == [1, 0, None, 1]
    many = ["4", "44"] * 100
    assert rewards_of("mine.py:shows_the_answer", many) == [1, 0] * 100
    assert rewards_of("mine:shows_the_answer", ["4"]) == [1]  # as Python imports it from here
    (files / "odd.py").write_text(
        "import os, numpy\n"
        "def numbers(completions, answers):\n"
        "    print('hello')\n"
        "    return numpy.array([text == '4' for text in completions])\n"
        "def process(completions, answers): return [os.getpid() == int(answers[0])]\n"
        "def variable(completions, answers): return [os.environ['OF_MINE'] == 'x']\n"
    )
    monkeypatch.setenv("OF_MINE", "x")
    assert rewards_of("odd.py:numbers", ["4", "5"]) == [1, 0]
    assert rewards_of("odd.py:process", ["4"], [str(os.getpid())]) == [0]
    assert rewards_of("odd.py:variable", ["4"]) == [1]
    assert isinstance(judge("strict", ""), Verifier)


def test_a_reward_function_may_grade_and_an_answer_is_right_from_the_threshold(files):
    (files / "grades.py").write_text(
        "def share(completions, answers):\n"
        "    return [None if not text else len(text) / 4 for text in completions]\n"
        "def endless(completions, answers): return [float('inf')] * len(completions)\n"
    )
    given = ["", "a", "ab", "abcdef"]
    with RewardFunction("grades.py:share", workers=1, right_from=0.5) as graded:
        verdicts = graded.check(given, ["4"] * 4)
    assert [verdict.reward for verdict in verdicts] == [None, 0.25, 0.5, 1.5]
    assert [verdict.outcome for verdict in verdicts] == ["error", "wrong", "right", "right"]
    assert rewards_of("mine.py:shows_the_answer", ["4", "5", ""], right_from=1) == [1, 0, None]
    with pytest.raises(LabError, match=r"returned 0.25 for .*'a'.* returns 0, 1 or None for each"):
        rewards_of("grades.py:share", given)
    with pytest.raises(LabError, match="returned inf for .*a finite number or None for each"):
        rewards_of("grades.py:endless", given, right_from=1.0)


def test_answers_are_graded_only_where_the_estimator_takes_real_rewards(files):
    graded = {"estimator": "lift(maxrl)", "reward": "mine.py:shows_the_answer", "right_from": 0.5}
    assert any(
        line.endswith("right on held-out sets from 0.5") for line in preflight(configured(**graded))
    )
    with Task.of(configured(**graded)).judge() as judges:
        assert judges.right_from == 0.5
    with Task.of(
        configured(**graded | {"estimator": "maxrl", "right_from": 1.0})
    ).judge() as judges:
        assert judges.right_from is None
    for missing in ({"estimator": "maxrl"}, {"reward": ""}):
        with pytest.raises(LabError, match="right_from = 0.5: answers are right or wrong here"):
            configured(**graded | missing)


def test_a_call_that_is_late_or_dies_loses_only_the_completions_that_made_it_so(files, ends):
    (files / "slow.py").write_text(
        "import os, time\n"
        "def reward(completions, answers):\n"
        "    if 'sleep' in completions: time.sleep(9999)\n"
        "    if 'die' in completions: os._exit(1)\n"
        "    return [1] * len(completions)\n"
    )

    def call():
        completions = ["a", "sleep", "b", "die"]
        assert rewards_of("slow.py:reward", completions, seconds=0.5) == [1, None, 1, None]

    ends(call)  # nobody waits for the sleeper
    with pytest.raises(
        LabError, match="late or crashed for 2 of 50 completions: the limit is 2.0%"
    ):
        rewards_of("slow.py:reward", ["a"] * 48 + ["die"] * 2, seconds=0.5)


def judged(files, body, completions, **options):
    """The rewards that a function with this body gives."""
    (files / "own.py").write_text(f"import os, subprocess, sys, time\n{body}\n")
    return rewards_of("own.py:reward", completions, **options)


FORGING = """
def reward(completions, answers):
    forged = '{"rewards": [1.0]}\\\\n[0, {"rewards": [1.0]}]\\\\n'
    program = f"import os; [os.write(d, b'{forged}') for d in (1, 2)]"
    subprocess.run([sys.executable, "-c", program], check=True)
    os.write(1, forged.encode())
    return [int(text == "right") for text in completions]
"""


def test_what_a_program_of_a_completion_prints_is_no_reward(files):
    """It was believed, and later replies were those of the call before."""
    completions = ["wrong", "right"] * 70
    assert judged(files, FORGING, completions, seconds=5.0) == [0, 1] * 70


@pytest.mark.parametrize(
    "said", ['[0, {"rewards": [1.0]}]\\n', "no JSON\\n", '[0, {"rewards"', "5\\n"]
)
def test_a_reply_without_the_number_of_its_request_loses_the_rollout_and_is_never_a_reward(
    files, said
):
    body = f"""
def reward(completions, answers):
    if "forge" in completions:
        for descriptor in range(3, 4096):
            try: os.write(descriptor, {said!r}.replace("\\\\n", chr(10)).encode())
            except OSError: pass
    return [0] * len(completions)
"""
    assert judged(files, body, ["a", "forge", "b"], seconds=5.0) == [0, None, 0]


def test_what_a_program_says_after_its_call_is_no_reply_to_the_next_one(files):
    body = """
def reward(completions, answers):
    if os.fork() == 0:
        time.sleep(0.2)
        return [1] * len(completions)  # the fork comes back too
    return [0] * len(completions)
"""
    (files / "own.py").write_text(f"import os, time\n{body}\n")
    with RewardFunction("own.py:reward", 5.0, workers=1) as given:
        for pause in (0.4, 0):
            assert [verdict.reward for verdict in given.check(["a", "b"], ["4"] * 2)] == [0, 0]
            time.sleep(pause)


def test_a_reward_that_reads_its_input_finds_none_and_swallows_no_request(files):
    body = """
def reward(completions, answers):
    program = "import sys; sys.exit(len(sys.stdin.read()))"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
    return [int(sys.stdin.read() == "" == os.read(0, 9).decode())] * len(completions)
"""
    assert judged(files, body, ["a"] * 130, seconds=5.0) == [1] * 130


def test_what_a_reward_prints_is_shown_to_its_author_with_its_name_and_commands_no_terminal(
    files, capfd
):
    body = r"""
print("loaded")
def reward(completions, answers):
    print("judging", *completions)
    print("to stderr", file=sys.stderr)
    subprocess.run(["printf", r"\033]0;title\007from a program\n"])
    return [1] * len(completions)
"""
    assert judged(files, body, ["4"]) == [1]
    out, err = capfd.readouterr()
    assert out == "" and err.splitlines() == [
        "own.py:reward: loaded",
        "own.py:reward: judging 4",
        "own.py:reward: to stderr",
        "own.py:reward: \ufffd]0;title\ufffdfrom a program",
    ]


def test_a_reward_that_prints_without_end_is_shown_in_part_and_is_late(files, capfd, ends):
    body = """
def reward(completions, answers):
    while True: print("again and again")
"""
    ends(lambda: judged(files, body, ["4"], seconds=0.5) == [None] or os._exit(1), 60)
    err = capfd.readouterr().err
    assert err.endswith("lab: what else own.py:reward prints is not shown\n") and len(err) < 25_000


@pytest.mark.parametrize("body", ["while True: time.sleep(9)", "return [1]"])
def test_what_a_reward_starts_ends_with_its_worker_though_it_holds_all_descriptors(
    files, body, ends
):
    (files / "own.py").write_text(
        "import os, pathlib, subprocess, time\n"
        "def reward(completions, answers):\n"
        "    program = subprocess.Popen(['sleep', '999'], close_fds=False)\n"
        "    if (fork := os.fork()) == 0: time.sleep(999)\n"
        "    pathlib.Path('started').write_text(f'{program.pid} {fork}')\n"
        f"    {body}\n"
    )
    ends(lambda: rewards_of("own.py:reward", ["4"], seconds=1.0), 60)
    assert gone([int(pid) for pid in (files / "started").read_text().split()])


def gone(pids):
    """Whether processes have ended within a second; one that nobody has reaped has."""
    for _ in range(100):
        alive = []
        for pid in pids:
            with suppress(psutil.NoSuchProcess):
                if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                    alive.append(pid)
        if not alive:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    "body, sentence",
    [
        ("return [0.5 for text in completions]", r"bad.py:reward returned 0.5 for .* 'four'"),
        ("return ['1' for text in completions]", "returned '1' for the completion 'four'"),
        ("return [1]", "returned 1 rewards for 2 completions"),
        ("return 1", "returned 1, which is no list"),
        ("return [1 / 0]", r"failed: ZeroDivisionError: division by zero \(bad.py, line 2\)"),
        ("pass\nraise KeyError('x')", r"cannot be loaded: KeyError: 'x' \(bad.py, line 3\)"),
        ("pass\nimport os; os._exit(3)", "ends its process when it is loaded"),
        ("pass\nexit(0)", r"bad.py:reward cannot be loaded: SystemExit: 0 \(bad.py, line 3\)"),
        ("exit(0)", r"bad.py:reward failed: SystemExit: 0 \(bad.py, line 2\)"),
        ("pass\nraise KeyboardInterrupt", r"cannot be loaded: KeyboardInterrupt: .*line 3\)"),
        ("raise GeneratorExit", r"bad.py:reward failed: GeneratorExit: .*line 2\)"),
    ],
)
def test_a_broken_reward_function_is_one_sentence_with_its_name(files, body, sentence):
    (files / "bad.py").write_text(f"def reward(completions, answers):\n    {body}\n")
    with pytest.raises(LabError, match=sentence):
        rewards_of("bad.py:reward", ["four", "five"])


@pytest.mark.parametrize(
    "reward, sentence",
    [
        ("mine.py", "write FILE.py:NAME or MODULE:NAME"),
        ("other.py:reward", "there is no file other.py"),
    ],
)
def test_a_reward_that_names_no_function_is_refused_before_anything_runs(files, reward, sentence):
    with pytest.raises(LabError, match=sentence):
        configured(reward=reward)
    with pytest.raises(LabError, match="has no attribute 'other'"):
        rewards_of("mine.py:other", ["4"])
