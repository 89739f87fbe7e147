"""The public harness: real runs on a tiny model, offline; what is refused and read back."""

import json
import math
import os
import random
import re
import shutil

import numpy as np
import pandas as pd
import pytest
import torch

from lab.errors import LabError
from lab.llm.data.arithmetic import problems, solution
from lab.llm.evals import harness_tasks
from lab.runs import harness
from lab.runs.harness import differences, run
from lab.training.rng import generator

pytest.importorskip("lm_eval")
os.environ["HF_HUB_OFFLINE"] = "1"
BOTH = ["arithmetic_worked", "arithmetic_choice"]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Two tiny models that were taught nothing, one a seed."""
    from lab.llm.train import tiny_model

    root = tmp_path_factory.mktemp("models")
    for seed in (0, 1):
        tiny_model.save(tiny_model.fresh_model(seed), root / f"fresh{seed}")
    return [root / "fresh0", root / "fresh1"]


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def table(models, output):
    """Both tasks of ours, sixteen questions each, by both models."""
    return pd.concat(
        [run(model, BOTH, engine="transformers", output=output, limit=16) for model in models],
        ignore_index=True,
    )


@pytest.fixture
def offline(monkeypatch):
    import datasets
    import huggingface_hub

    for config in (huggingface_hub.constants, datasets.config):
        monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)


def questions():
    """What lab/presets/tasks/arithmetic_choice.jsonl holds: 40 test problems of each of three
    levels.
    """
    for level in (1, 2, 3):
        chance = generator(0, "arithmetic_choice", level)
        for problem in problems(40, level, seed=0, split="test"):
            steps, _, answer = solution(problem).partition(". ")[0].rpartition("=")
            near = [
                number
                for number in range(max(0, int(answer) - 10), int(answer) + 11)
                if len(str(number)) == len(answer) and number != int(answer)
            ]
            choices = [int(answer), *chance.choice(near, 3, replace=False).tolist()]
            order = chance.permutation(4).tolist()
            yield {
                "level": level,
                "question": problem.question,
                "steps": steps,
                "choices": [str(choices[at]) for at in order],
                "gold": order.index(0),
            }


def test_our_questions_are_those_of_the_arithmetic_world_and_have_one_right_answer():
    kept = [
        json.loads(line)
        for line in (harness_tasks.LAB_TASKS / "arithmetic_choice.jsonl").read_text().splitlines()
    ]
    assert kept == list(questions()) and len(kept) == 120
    assert all(
        len(set(one["choices"])) == 4 and len({len(choice) for choice in one["choices"]}) == 1
        for one in kept
    )


def test_the_harness_scores_what_log_likelihoods_by_hand_say(models, table):
    from lab.llm.engines.transformers_engine import TransformersEngine

    made = TransformersEngine(models[0])
    forms = {
        "arithmetic_worked": "{question}\n{steps}|=",
        "arithmetic_choice": "Question: {question}\nAnswer:| ",
    }
    for task, form in forms.items():
        before, sign, right = *form.split("|"), []
        for asked in list(questions())[:16]:
            context, scores = made.tokenizer(before.format(**asked))["input_ids"], []
            for choice in asked["choices"]:
                ids = torch.tensor([context + made.tokenizer(sign + choice)["input_ids"]])
                logp = made.model(ids).logits.log_softmax(-1)[0, :-1].gather(1, ids[0, 1:, None])
                scores.append(logp[len(context) - 1 :].sum().item())
            right.append(float(np.argmax(scores) == asked["gold"]))
        row = table[(table["model"] == "fresh0") & (table["task"] == task)].iloc[0]
        assert list(row["scores"]) == right and row["value"] == np.mean(right)


def test_vllm_through_the_harness_scores_every_question_as_transformers_does(
    models, output, table, fork, vllm_installed
):
    code = (
        "import sys; from lab.runs.harness import run; "
        "run(sys.argv[1], sys.argv[3:], engine='vllm', output=sys.argv[2], limit=16)"
    )
    done = fork("-c", code, models[0], output, *BOTH, HF_HUB_OFFLINE="1").finish(300)
    assert done.returncode == 0, done.stderr
    found = run(models[0], BOTH, engine="vllm", output=output, limit=16)
    pd.testing.assert_frame_equal(found, table.iloc[:2])


def test_a_row_has_its_n_and_the_normal_interval_of_its_standard_error(table):
    assert tuple(table.columns) == harness.COLUMNS and list(table["task"]) == BOTH * 2
    for row in table.itertuples():
        assert (row.metric, row.n, row.shots) == ("acc", 16, 0)
        stderr = math.sqrt(row.value * (1 - row.value) / 15)
        ends = row.value - 1.96 * stderr, row.value + 1.96 * stderr
        assert (row.stderr, row.low, row.high) == pytest.approx((stderr, *ends), abs=1e-4)


def test_where_all_questions_score_alike_there_is_no_interval():
    row = {"model": "m", "task": "t", "metric": "acc", "value": 1.0, "stderr": 0.0, "n": 9}
    alike, unknown = harness._table([row, row | {"stderr": None}]).itertuples()
    assert math.isnan(alike.low) and math.isnan(alike.high)
    assert math.isnan(unknown.stderr) and unknown.n == 9


def test_two_models_are_compared_question_by_question(table):
    found = differences(table)
    assert list(found["task"]) == BOTH
    assert set(found["model"]) == {"fresh1"} and set(found["against"]) == {"fresh0"}
    for row in found.itertuples():
        base, ours = (
            one["scores"].iloc[0] for _, one in table[table["task"] == row.task].groupby("model")
        )
        assert row.difference == pytest.approx(np.mean(ours) - np.mean(base)) and row.n == 16
        assert row.low <= row.difference <= row.high
    assert differences(table[table["model"] == "fresh0"]).empty
    with pytest.raises(LabError, match="two models are called 'fresh0'"):
        differences(pd.concat([table, table]))


def test_results_are_read_back_and_belong_to_their_settings_and_weights(
    models, output, table, monkeypatch, tmp_path
):
    monkeypatch.setattr(harness, "load_model", lambda *_: pytest.fail("it ran again"))
    again = run(models[0], BOTH, engine="transformers", output=output, limit=16)
    pd.testing.assert_frame_equal(again, table.iloc[:2])
    ran = []
    monkeypatch.setattr(harness, "load_model", lambda *_: None)
    monkeypatch.setattr(
        harness, "evaluate", lambda _, task, *more: ran.append(task.task_name) or []
    )
    run(models[0], BOTH[:1], engine="transformers", output=output, limit=15)
    run(models[0], BOTH, engine="transformers", output=output, limit=16, chat=True)
    copy = shutil.copytree(models[0], tmp_path / "fresh0")
    run(copy, BOTH, engine="transformers", output=output, limit=16)
    assert ran == [BOTH[0], *BOTH]
    (copy / "model.safetensors").write_bytes(b"other weights")
    run(copy, BOTH[1:], engine="transformers", output=output, limit=16)
    assert ran == [BOTH[0], *BOTH, BOTH[1]]


def test_what_a_kill_left_is_not_run_again_and_a_damaged_file_is_an_error(
    models, tmp_path, monkeypatch
):
    def killed(_, task, *more):
        if task.task_name == BOTH[1]:
            raise KeyboardInterrupt
        return [{"task": task.task_name, "metric": "acc", "value": 0.5, "stderr": 0.1, "n": 4}]

    monkeypatch.setattr(harness, "load_model", lambda *_: None)
    monkeypatch.setattr(harness, "evaluate", killed)
    with pytest.raises(KeyboardInterrupt):
        run(models[0], BOTH, engine="transformers", output=tmp_path)
    (file,) = tmp_path.iterdir()
    one = run(models[0], BOTH[:1], engine="transformers", output=tmp_path)
    assert one["value"].tolist() == [0.5]
    file.write_text("{")
    with pytest.raises(LabError, match=r"cannot be read .*: remove it, and the task is run again$"):
        run(models[0], BOTH[:1], engine="transformers", output=tmp_path)


def test_the_process_is_left_as_it_was(models, tmp_path):
    states = []
    for _ in range(2):
        random.seed(5), np.random.seed(5), torch.manual_seed(5)  # noqa: NPY002
        if states:
            run(models[0], BOTH[:1], engine="transformers", output=tmp_path, limit=2)
        states.append((random.random(), np.random.random(), torch.rand(1).item()))  # noqa: NPY002
    assert states[0] == states[1]


# --- GPQA, with made-up questions ---------------------------------------------------------------


@pytest.fixture
def gpqa(monkeypatch):
    """Four questions in the columns of GPQA's data, in place of a download."""
    import datasets

    rows = [
        {"Question": f"Which is {n}?", "Correct Answer": str(n)}
        | {f"Incorrect Answer {more}": str(n + more) for more in (1, 2, 3)}
        for n in range(4)
    ]

    def load(path, name=None, **_):
        assert (path, name) == ("Idavidrein/gpqa", "gpqa_diamond")
        return datasets.DatasetDict(train=datasets.Dataset.from_list(rows))

    monkeypatch.setattr(datasets, "load_dataset", load)


def test_gpqa_diamond_runs_by_choice_and_by_written_answer(models, gpqa, tmp_path):
    tasks = ["gpqa_diamond_zeroshot", "gpqa_diamond_cot_zeroshot"]
    given = {"chat": True, "generation": {"max_gen_toks": 4, "do_sample": False}}
    found = run(models[0], tasks, engine="transformers", output=tmp_path, **given)
    assert list(zip(found["task"], found["metric"], strict=True)) == [
        (tasks[0], "acc"),
        (tasks[0], "acc_norm"),
        (tasks[1], "exact_match,strict-match"),
        (tasks[1], "exact_match,flexible-extract"),
    ]
    assert list(found["n"]) == [4] * 4 and found["value"].between(0, 1).all()
    assert found["scores"].map(len).tolist() == [4] * 4


def test_data_that_does_not_come_is_an_error_before_the_model_is_loaded(
    models, offline, tmp_path, monkeypatch
):
    monkeypatch.setattr(harness, "load_model", lambda *_: pytest.fail("the model was loaded"))
    tasks = ["arithmetic_choice", "gpqa_diamond_zeroshot"]
    with pytest.raises(LabError, match=f"task '{tasks[1]}' was not loaded .* accept the terms on"):
        run(models[0], tasks, engine="transformers", output=tmp_path)


# --- What is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "task, reason",
    [
        ("humaneval", "is marked unsafe_code"),
        ("cruxeval_input_cot", "is marked unsafe_code"),
        ("polemo2_in", "fetches the code of its metric 'f1'"),
        ("minerva_math500", "brings code of its own"),
        ("niah_single_1", "brings code of its own"),
        ("squadv2", "brings code of its own"),
    ],
)
def test_a_task_that_runs_text_or_brings_code_is_refused(models, task, reason, tmp_path):
    with pytest.raises(LabError) as caught:
        run(models[0], [task], engine="transformers", output=tmp_path)
    assert str(caught.value).startswith(f"task {task!r} {reason}") and not list(tmp_path.iterdir())
    assert "the lab runs neither text as code nor code that it does not know" in str(caught.value)


@pytest.mark.parametrize(
    "task", ["gpqa_diamond_cot_zeroshot", "gsm8k", "mmlu_abstract_algebra", "mrpc"]
)
def test_a_task_that_compares_answers_is_not_refused(task):
    assert harness_tasks.task_file(task).suffix == ".yaml"


@pytest.mark.parametrize(
    "given, sentence",
    [
        (dict(tasks=["gpqa_diamond"]), "unknown task 'gpqa_diamond': did you mean 'gpqa_diamond_"),
        (dict(tasks=["arithmetic_choise"]), "unknown task 'arithmetic_choise': did you mean "),
        (dict(tasks=["../tasks/arithmetic_choice"]), "unknown task '../tasks/arithmetic_choice': "),
        (dict(tasks=[]), "tasks = []: give a list"),
        (dict(tasks="gsm8k"), "tasks = 'gsm8k': give a list"),
        (dict(engine="hf"), "engine = 'hf': it must be one of 'transformers', 'vllm'"),
        (dict(limit=0), "limit = 0: it must be a whole number of at least 1"),
        (dict(model="no/such/folder"), "there is no model folder no/such/folder"),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_sentence(models, given, sentence, tmp_path):
    usual = {"model": models[0], "tasks": BOTH, "engine": "transformers", "output": tmp_path}
    asked = usual | given
    with pytest.raises(LabError, match="^" + re.escape(sentence)):
        run(asked.pop("model"), asked.pop("tasks"), **asked)
