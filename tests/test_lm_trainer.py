"""Training a language model as the presets do: against a naive loop, killed and resumed, refused
where it must be.
"""

import signal
from dataclasses import fields
from functools import cache
from types import SimpleNamespace

import pytest
import torch
from forked import wait
from smoke_trainings import SHORT_ANSWERS, TINY, configured, kinds, played, same, taken_up_anywhere

from lab.cli import main
from lab.errors import LabError
from lab.llm.engines import imports
from lab.llm.engines.base import Sampling
from lab.llm.engines.model_costs import KNOWN, architecture, parameter_count
from lab.llm.engines.transformers_engine import TransformersEngine
from lab.llm.train.optimizer import learning_rate
from lab.llm.train.task import problems_of_step
from lab.llm.train.thread_generator import generate_from_thread
from lab.llm.train.trainer import train
from lab.project import project
from lab.runs.experiments import experiment
from lab.runs.run_folder import Run
from lab.runs.training import load_checkpoint, state_of
from lab.runs.training import train as run_training

imports.trl()
pytestmark = pytest.mark.filterwarnings("ignore")


# --- Against the readable loop ------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"steps": 3, "micro_batch": 65_536, "eval_every": 2},
        {"steps": 3, "log_every": 2, "schedule": "cosine", "warmup": 1, "weight_decay": 1.0}
        | {"updates": 2, "max_grad_norm": 0.5, "learning_rate": 1e-4}
        | {"clip": 0.001, "clip_high": 0.01},
    ],
)
def test_steps_through_trl_are_those_of_the_readable_loop(given):
    given = {"micro_batch": 4, "learning_rate": 1e-3} | given
    trl, loop = (played(**given, trainer=name) for name in ("trl", "loop"))
    evaluated = [record.step for record, _ in loop if "pass@1" in record.metrics]
    assert evaluated == [0, 2, 3] and len(loop) == (4 if "eval_every" in given else 3)
    names = ("train pass@1", "pass@1", "mean length", "dead groups")
    for (ours, _), (theirs, _) in zip(loop[1:], trl[1:], strict=True):
        for name in names:
            assert ours.metrics.get(name) == theirs.metrics.get(name)
        assert ours.groups.keys() == theirs.groups.keys()
        assert ours.rollouts == theirs.rollouts and theirs.metrics["train pass@1"] > 0
        if (
            "updates" not in given
        ):  # TRL's is that of every update, and the second one's policy moved
            assert theirs.metrics["log-probability mismatch"] < 1e-4
        assert theirs.metrics["grad_norm"] == pytest.approx(ours.metrics["grad_norm"], rel=1e-3)
        assert theirs.metrics["learning rate"] == ours.metrics["learning rate"] > 0
    keys = [key for key in loop[0][1] if key.startswith("model/")]
    moved, apart = (
        sum(float(((loop[-1][1][key] - other[key]) ** 2).sum()) for key in keys) ** 0.5
        for other in (loop[0][1], trl[-1][1])
    )
    # AdamW's first steps are the signs of gradients, and some are rounding.
    assert apart < 1e-3 * moved


@pytest.mark.parametrize("schedule", ["constant", "linear", "cosine"])
@pytest.mark.parametrize("warmup", [0, 2, 9])
def test_the_learning_rate_of_every_update_is_that_of_transformers(schedule, warmup):
    from transformers import get_scheduler

    config = configured(steps=5, updates=2, micro_batch=4, schedule=schedule, warmup=warmup)
    optimizer = torch.optim.SGD([torch.zeros(1)], config.learning_rate)
    kind = "constant_with_warmup" if schedule == "constant" else schedule
    theirs = get_scheduler(kind, optimizer, num_warmup_steps=2 * warmup, num_training_steps=10)
    for update in range(10):
        assert learning_rate(config, update) == theirs.get_last_lr()[0]
        optimizer.step()
        theirs.step()


def test_options_of_grpo_config_reach_trl_and_all_that_the_lab_sets_are_refused(monkeypatch):
    from lab.llm.train import grpo_options, trl_callbacks

    run = SimpleNamespace(config=configured(grpo="delta=4.0, adam_beta2=0.95"), first=0)
    made = trl_callbacks.TRLRun._config(run, "scratch")
    assert (made.delta, made.adam_beta2) == (4.0, 0.95)
    known = {field.name for field in fields(type(made))}
    assert {*grpo_options.SETTINGS, *grpo_options.PASSED} <= known
    default = {field.name: field.default for field in fields(type(made))}
    laptop = experiment("gsm8k").configure()
    documented = (project().root / "docs" / "trl.md").read_text()
    for name, setting in grpo_options.SETTINGS.items():
        theirs, ours = getattr(default[name], "value", default[name]), getattr(laptop, setting)
        source = "" if setting in laptop.defaults() else " (gsm8k)"
        assert f"| `{setting}` | `{name}` | {theirs} | {ours}{source} |" in documented
    given = {}
    with monkeypatch.context() as patched:
        names = SimpleNamespace(GRPOConfig=lambda **options: given.update(options))
        patched.setattr(trl_callbacks, "trl", lambda: names)
        trl_callbacks.TRLRun._config(SimpleNamespace(config=configured(), first=0), "scratch")
    assert len(given) > 25
    for name in given:
        with pytest.raises(LabError, match=f"{name} is a setting of|leave {name} out"):
            configured(grpo=f"{name}=1")


def test_trl_corrects_for_the_sampler_where_it_is_told_to(monkeypatch):
    from lab.llm.train.trl_callbacks import TRLRun

    run = SimpleNamespace(config=configured(), first=0)
    theirs = TRLRun._config(run, "scratch")  # of a training without the correction, TRL's defaults
    assert (
        theirs.vllm_importance_sampling_correction and theirs.vllm_importance_sampling_clip_max == 3
    )
    given = SHORT_ANSWERS | {"steps": 1, "weight_decay": 0.0, "learning_rate": 1e-3}
    given["sampler_correction"] = "sequence_mask"
    run.config = configured(**given)
    assert TRLRun._config(run, "scratch").vllm_importance_sampling_mode == "sequence_mask"
    _, (record, _) = played(**given)
    ratio = "sampling/importance_sampling_ratio/mean"
    assert record.metrics[ratio] == pytest.approx(1, abs=1e-3) and record.metrics["grad_norm"] > 0

    def unlikely(self, prompts, trainer, real=TRLRun.generate_rollouts):
        made = real(self, prompts, trainer)
        return made | {"logprobs": [[logp - 3 for logp in each] for each in made["logprobs"]]}

    monkeypatch.setattr(TRLRun, "generate_rollouts", unlikely)
    (_, before), (record, after) = played(**given)  # each answer is at least e^3 times as likely
    assert record.metrics[ratio] == 0 == record.metrics["grad_norm"]
    assert all(torch.equal(before[key], after[key]) for key in before if key.startswith("model/"))


# --- Exact resume -------------------------------------------------------------------------------


# Without options, a training is taken up by the kills below.
@pytest.mark.parametrize(
    "given",
    [
        {"estimator": "grpo(ddof=1)", "updates": 2, "micro_batch": 4, "kl": 0.1}
        | {"schedule": "linear", "warmup": 1, "grpo": "delta=4.0, adam_beta2=0.95"},
        {"estimator": "pacs", "reference_every": 2, "learning_rate": 1e-3},
        {"estimator": "maxrl", "greedy_filter": True, "smoothing": 0.1, "entropy_bonus": 0.01},
    ],
)
def test_a_training_taken_up_at_a_record_or_between_two_gives_the_same_records_and_weights(given):
    given = SHORT_ANSWERS | {"steps": 3, "log_every": 2, "problems": 3} | given
    expected = [(0, True), (1, False), (2, True), (3, True)]
    assert kinds(taken_up_anywhere(**given)) == expected


STEPS = {"micro_batch": 2, "steps": 6, "log_every": 5}
WORDS = ["train", "gsm8k", "scale=smoke", "checkpoint_minutes=0"]
WORDS += [f"{key}={value}" for key, value in STEPS.items()]


def stop(started, place, how):
    """Stop a training between its first two records; returns its folder and how it ended."""
    [file] = wait(lambda: [*place.glob("gsm8k/*/checkpoints/*2.*")], started.process)
    folder = file.parent.parent
    started.kill_group(how)
    ended = started.finish()
    assert not (folder / "done.json").exists()
    assert len((folder / "metrics.jsonl").read_text().splitlines()) == 1
    return folder, ended


def ended_alike(folder, whole) -> bool:
    """Whether two trainings have the same records, rollouts and weights, bit for bit."""
    places = (folder, whole)
    lines = [(place / "metrics.jsonl").read_bytes() for place in places]
    states = [load_checkpoint(Run(place))[0] for place in places]
    stored = [{file.name: file.read_bytes() for file in Run(place).rollouts} for place in places]
    assert stored[0] == stored[1] and len(stored[0]) == STEPS["steps"]
    return lines[0] == lines[1] and lines[0].count(b"\n") == 3 and same(*states)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of a trainer's training that nobody stopped, in this process."""

    @cache
    def folder(trainer):
        place = tmp_path_factory.mktemp("undisturbed") / "run"
        config = configured(**STEPS, trainer=trainer)
        return run_training(config, folder=str(place), checkpoint_minutes=0.0).path

    return folder


@pytest.mark.parametrize("how, trainer", [(signal.SIGTERM, "trl"), (signal.SIGKILL, "loop")])
def test_a_training_stopped_between_two_records_ends_as_the_one_that_was_not(
    fork, runs, undisturbed, how, trainer
):
    started = fork(*WORDS, f"trainer={trainer}", LAB_RUNS=str(runs), LAB_DEVICE="cpu")
    folder, ended = stop(started, runs, how)  # the verifier's workers get it too
    assert ended.returncode == (143 if how == signal.SIGTERM else -9), ended.stderr[-2000:]
    assert ("lab: stopped by SIGTERM at step" in ended.stderr) == (how == signal.SIGTERM)
    config = configured(**STEPS, trainer=trainer)
    run_training(config, folder=str(folder), checkpoint_minutes=0.0)
    assert ended_alike(folder, undisturbed(trainer))


# --- Resets, order, channel --------------------------------------------------------------------


def test_pacs_resets_its_reference_and_its_optimiser_every_so_many_steps():
    records = played(**SHORT_ANSWERS, estimator="pacs", reference_every=2, steps=4, problems=3)
    for record, state in records:
        agrees = all(
            torch.equal(state[key], state["reference/" + key.removeprefix("model/")])
            for key in state
            if key.startswith("model/")
        )
        assert agrees == (record.step % 2 == 0)
        moments = [key for key in state if key.startswith("optimizer/")]
        assert bool(moments) == (record.step % 2 == 1)
    assert records[1][0].metrics["log-ratio"] == 0 < records[2][0].metrics["log-ratio"]


def test_every_problem_comes_once_an_epoch_and_another_seed_has_another_order():
    for seed in (0, 1):
        rows = [row for step in range(10) for row in problems_of_step(seed, step, 3, 10)]
        assert [sorted(rows[at : at + 10]) for at in (0, 10, 20)] == [list(range(10))] * 3
    first = problems_of_step(0, 0, 10, 10)
    assert first not in (problems_of_step(1, 0, 10, 10), problems_of_step(0, 1, 10, 10))


def test_a_loop_that_nobody_asks_any_more_is_left():
    left = []

    def loop(channel):
        try:
            for value in range(10):
                channel.send(value)
        finally:
            left.append(value)

    values = generate_from_thread(loop)
    assert [next(values), next(values)] == [0, 1]
    values.close()
    assert left == [1]


def test_a_trained_model_is_exported_as_a_folder_that_engines_read(runs, tmp_path, capsys):
    run = run_training(configured(**SHORT_ANSWERS, steps=1, learning_rate=1e-3))
    assert main(["export", str(run.path), str(tmp_path / "model")]) == 0
    engine, state = TransformersEngine(tmp_path / "model"), state_of(run)
    for name, weight in engine.model.state_dict().items():
        torch.testing.assert_close(weight, state[f"model/{name}"], atol=0, rtol=0)
    assert engine.sample(["2+3=?\n"], Sampling(2, 1.0, 1.0, 8))[0][0].ids
    assert main(["export", f"{run.id}@1", str(tmp_path / "other")]) == 1
    assert main(["export", run.id, str(tmp_path / "model")]) == 1
    errors = capsys.readouterr().err
    assert "leave out @1" in errors and "already holds a model" in errors
    toy = run_training(experiment("tabular").configure("smoke", {"steps": 2}))
    assert main(["export", str(toy.path), str(tmp_path / "toy")]) == 1
    assert "has no model to write" in capsys.readouterr().err


# --- Refusals and the sizes of models -------------------------------------------------------------


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"estimator": "maxlr"}, "did you mean 'maxrl'"),
        ({"micro_batch": 3}, "is not a multiple of updates x micro_batch"),
        ({"estimator": "pacs", "micro_batch": 2}, "PACS compares whole groups"),
        ({"estimator": "pacs(beta=2)"}, "the options of PACS are settings here"),
        ({"estimator": "pacs", "kl": 0.1}, "PACS has a loss of its own"),
        ({"estimator": "pacs", "clip_high": 0.3}, "clip_high = 0.3: PACS .* set it to 0.0"),
        ({"grpo": "dleta=4.0"}, "option of TRL's GRPOConfig 'dleta': did you mean 'delta'"),
        ({"grpo": "delta=4.0, beta=0.1"}, "beta is a setting of the lab; give kl=... alone"),
        ({"grpo": "top_k=5"}, "decides itself what top_k says .* leave top_k out"),
        ({"grpo": "delta"}, "grpo = 'delta': write name=value"),
        ({"grpo": "delta=4.0", "estimator": "pacs"}, "PACS has a loss of its own"),
        ({"grpo": "delta=4.0", "trainer": "loop"}, "the loop has none; .* take trainer=trl"),
        ({"reference_every": 2}, "only PACS resets a reference"),
        ({"prompt": "plane"}, "did you mean 'plain'"),
        ({"eval_temperature": 0.001}, "out of range"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_runs(given, sentence):
    with pytest.raises(LabError, match=sentence):
        configured(**given)


def test_a_launcher_of_several_processes_is_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(LabError, match="WORLD_SIZE = 4: a training of the lab is one process"):
        run_training(configured())


def test_problems_that_do_not_fit_are_refused_with_their_number():
    with pytest.raises(LabError, match="0 of 4 problems have a usable gold .* at most 2 tokens"):
        list(train(configured(max_prompt_tokens=2)))


@pytest.mark.parametrize(
    "name, billions",
    [
        ("Qwen/Qwen3-1.7B-Base", 1.72),
        ("Qwen/Qwen3-4B-Base", 4.02),
        ("Qwen/Qwen3-8B", 8.19),
        ("HuggingFaceTB/SmolLM2-360M-Instruct", 0.362),
    ],
)
def test_the_architectures_have_the_published_number_of_weights(name, billions):
    assert parameter_count(architecture(name)) / 1e9 == pytest.approx(billions, rel=0.003)


def test_unknown_models_of_the_hub_have_no_estimate_and_folders_have_their_own():
    assert architecture("somebody/unknown-7B") is None and len(KNOWN) == 5
    assert parameter_count(architecture(str(TINY))) == 412_800
