"""The readable loop: its step by hand, against TRL's for every estimator, killed and resumed."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from smoke_trainings import SHORT_ANSWERS, kinds, taken_up_anywhere, told
from specs import SPECS
from two_prompts import (
    LIMIT,
    REWARDS,
    ROUNDED,
    N,
    furthest,
    loop_config,
    loop_of,
    parts_of_two_prompts,
    step_by_hand,
    trainer,
)

import lab
from lab.errors import LabError
from lab.judge.verifier import Verifier
from lab.llm.train.evaluation import evaluate
from lab.llm.train.token_loss import check_scores
from lab.llm.train.trl_callbacks import AGGREGATIONS

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def parts():
    return parts_of_two_prompts()


def step_of(made) -> dict[str, float]:
    rows, metrics = made.roll_out(0)
    return metrics | made.update(rows, 0)


def weights(made) -> dict[str, torch.Tensor]:
    return {name: weight.detach() for name, weight in made.model.named_parameters()}


# --- The step ------------------------------------------------------------------------------------


def test_a_step_of_two_prompts_is_the_one_by_hand(parts):
    made = loop_of(parts, estimator="maxrl", micro_batch=2)
    rows, _ = made.roll_out(0)
    A = [1, -1, -1, 1, -1, 3, -1, -1]  # (r - mean) / mean, two and one of four
    assert [row.advantage for row in rows] == A
    norm = made.update(rows, 0)["grad_norm"]
    assert norm > 1  # and gradients are clipped to 1
    expected = step_by_hand(
        parts,
        lambda logp: -(torch.tensor(A, dtype=torch.float64) * logp).sum() / (8 * LIMIT),
        rate=1e-3 / norm,
    )
    assert furthest(made.model, expected) < ROUNDED


def in_trl(parts, tmp_path, rewards=REWARDS, rate=1e-3, **given):
    """TRL's trainer as lab.llm.train.trl_callbacks sets it up, on the same rollouts."""
    config = loop_config(
        **{"rollouts": N, "prompts": 2, "max_tokens": LIMIT, "micro_batch": 8} | given
    )
    options = {"truncation": config.truncation}
    if config.estimator == "pacs":
        options |= {name: getattr(config, name) for name in ("score", "balanced", "actor")}
        options["scale"] = config.beta
    else:
        options["estimator"] = config.estimator
    return trainer(
        parts,
        tmp_path,
        "PACSTrainer" if config.estimator == "pacs" else "ObjectiveTrainer",
        rewards,
        logps=True,
        config={
            "per_device_train_batch_size": 8 // config.updates,
            "steps_per_generation": config.updates,
            "max_steps": config.updates,
            "max_grad_norm": config.max_grad_norm,
            "learning_rate": rate,
            "loss_type": AGGREGATIONS[given.get("aggregation", "sequence-sum")],
            "beta": config.kl,
            "epsilon": config.clip,
            "epsilon_high": config.clip_high or config.clip,
            "entropy_coef": config.entropy_bonus,
            "temperature": config.temperature,
        },
        **options,
    )


GRADED = [1.0, 0.25, 0.25, 0.5, 0.0, 0.75, 0.0, 0.5]
OF_REAL_REWARDS = ["lift(maxrl)", "lift(pkpo(k=2), low=0, high=1)", "grpo_zscore"]


@pytest.mark.parametrize(
    "spec, truncation", zip(OF_REAL_REWARDS, ["score", "zero", "mask"], strict=True)
)
def test_of_graded_answers_the_loop_and_trl_take_the_step_of_the_labs_advantages(
    parts, tmp_path, spec, truncation
):
    rewards = [*GRADED[:6], None, 0.5]
    made = loop_of(parts, rewards, estimator=spec, micro_batch=4, truncation=truncation)
    rows, _ = made.roll_out(0)
    expected = [
        lab.advantages(spec, np.array(rewards[:4])),
        lab.advantages(spec, np.array([0.0, 0.75, 0.5])),  # the lost one is the one without an end
    ]
    found = [row.advantage for row in rows]
    assert found[6] == 0
    assert [*found[:6], found[7]] == np.concatenate(expected).tolist()
    made.update(rows, 0)
    theirs = in_trl(parts, tmp_path, rewards=rewards, estimator=spec, truncation=truncation)
    theirs.train()
    assert furthest(theirs.model, weights(made)) < ROUNDED


def test_the_metrics_of_graded_answers_are_their_mean_and_how_many_groups_agree(parts, tmp_path):
    rewards = [*GRADED[:4], 0.5, 0.5, 0.5, 0.5]
    _, ours = loop_of(parts, rewards, estimator="lift(maxrl)").roll_out(0)
    assert ours["mean reward"] == 0.5 and ours["dead groups"] == 0.5
    made = in_trl(parts, tmp_path, rewards=rewards, estimator="lift(maxrl)")
    told = {}
    made.log = lambda *_: told.update(made._metrics["train"])
    made.train()
    assert told["reward"] == [0.5] and told["dead_groups"] == [0.5]
    assert not {"train pass@1", "solved", "induced weight", "induced_weight"} & {*ours, *told}


def test_a_grade_that_the_estimator_does_not_take_is_refused_by_both(parts, tmp_path):
    for last, spec, truncation, said in (
        (0.25, "maxrl", "score", "reward 0.25 in problem '0', rollout 1: .* must be 0 or 1"),
        (1.5, "lift(maxrl, low=0, high=1)", "score", "1', rollout 3: .*the declared range of"),
        (float("inf"), "lift(maxrl)", "score", "1', rollout 3: .*must be a finite number"),
        (-0.5, "lift(maxrl)", "zero", "1', rollout 3: .*would not be the least reward"),
    ):
        rewards = [*GRADED[:7], last]
        with pytest.raises(LabError, match=said):
            loop_of(parts, rewards, estimator=spec, truncation=truncation).roll_out(0)
        with pytest.raises(LabError, match=said):
            in_trl(parts, tmp_path, rewards=rewards, estimator=spec, truncation=truncation).train()
    # A lost rollout is no reward: where the range begins above 0, it is not taken for one.
    high = [1.0, 1.5, None, 2.0, 1.0, 1.5, 2.0, 2.0]
    in_trl(parts, tmp_path, rewards=high, estimator="lift(maxrl, low=1, high=2)").train()
    # 0.1 is a little more in float32, in which TRL holds rewards.
    low = [0.1, 0.0, 0.05, 0.1, 0.0, 0.0, 0.1, 0.1]
    in_trl(parts, tmp_path, rewards=low, estimator="lift(maxrl, low=0, high=0.1)").train()


@pytest.mark.parametrize("name, value", [("smoothing", 0.5), ("greedy_filter", True)])
def test_what_tells_right_from_wrong_answers_is_refused_with_real_rewards(
    parts, tmp_path, name, value
):
    sentence = f"{name} .*needs right and wrong answers.*takes real"
    with pytest.raises(LabError, match=sentence):
        trainer(parts, tmp_path, estimator="lift(maxrl)", **{name: value})
    with pytest.raises(LabError, match=sentence):
        loop_config(estimator="lift(maxrl)", trainer="trl", **{name: value})
    with pytest.raises(LabError, match=f"{name} = {value}: the loop has none; .* take trainer=trl"):
        loop_config(**{name: value})


def test_every_estimator_has_the_labs_advantages_in_the_loop_and_in_trl(parts, tmp_path):
    rewards = [0.0] * N + REWARDS[N:]  # a group that is all wrong, and a mixed one
    theirs = in_trl(parts, tmp_path, rewards, estimator="rloo")
    made = loop_of(parts, rewards)
    rows = [row for row in parts[0] for _ in range(N)]
    for spec in SPECS:
        theirs.estimator = lab.estimator(spec)
        made.estimator = lab.estimator(spec)
        ours = [row.advantage for row in made.roll_out(0)[0]]
        assert ours == lab.advantages(spec, np.reshape(rewards, (2, N))).flatten().tolist(), spec
        found = theirs._generate_and_score_completions(rows)["advantages"]
        np.testing.assert_allclose(found, ours, rtol=1e-6, err_msg=spec)


LOST = [1.0, 0.0, None, 1.0, 0.0, 1.0, 0.0, None]
SETTINGS = [
    {"aggregation": "token-mean", "estimator": "rloo"},
    {"aggregation": "sequence-mean", "temperature": 0.7},
    {"aggregation": "token-mean", "updates": 2, "micro_batch": 4, "rate": 0.3},
    {"updates": 2, "micro_batch": 4, "kl": 0.5, "rate": 0.3},
    {"updates": 2, "micro_batch": 4, "clip": 0.01, "rate": 0.3},
    {"updates": 2, "micro_batch": 4, "clip": 0.01, "clip_high": 0.02, "rate": 0.3},
    {"updates": 2, "micro_batch": 4, "clip": 1.0, "clip_high": 0.001, "rate": 0.3},
    {"entropy_bonus": 0.1, "micro_batch": 4, "estimator": "grpo(ddof=1)"},
    {"truncation": "zero", "rewards": [1.0, 0, 0, 1, 1, 0, 1, 0]},
    {"truncation": "mask", "rewards": [1.0, 0, 0, 1, 1, 0, 1, 0]},
    {"rewards": LOST},
    {"max_grad_norm": 0.1, "updates": 2, "micro_batch": 4},
    {"max_grad_norm": 0.0},
    {"estimator": "pacs", "beta": 0.7},
    {"estimator": "pacs", "score": "dr_grpo", "balanced": False, "actor": True},
    {"estimator": "pacs", "rewards": LOST},
    {"estimator": "pacs", "updates": 2, "micro_batch": 4, "rate": 0.3},
]


@pytest.mark.parametrize("given", SETTINGS, ids=str)
def test_with_every_setting_the_loop_and_trl_take_the_same_step(parts, tmp_path, given):
    theirs = in_trl(parts, tmp_path, **given)
    logged = {}
    theirs.log = lambda *_: logged.update(
        {name: float(np.mean(values)) for name, values in theirs._metrics["train"].items()}
    )
    theirs.train()
    made = loop_of(parts, **given)
    measured = step_of(made)
    assert furthest(theirs.model, weights(made)) < ROUNDED
    for ours, name in {
        "train pass@1": "reward",
        "solved": "solved",
        "dead groups": "dead_groups",
        "lost": "lost",
        "induced weight": "induced_weight",
        "mean length": "completions/mean_length",
        "truncated": "completions/clipped_ratio",
        "clip_ratio/region_mean": "clip_ratio/region_mean",
        "KL divergence": "kl",
        "grad_norm": "grad_norm",  # the mean over updates, before clipping
        "log-ratio": "log_ratio",
    }.items():
        if ours in measured:
            assert measured[ours] == pytest.approx(logged[name], rel=2e-2, abs=1e-6), ours
    if "clip" in given:
        assert measured["clip_ratio/region_mean"] > 0  # so that clipping is compared at all


def test_micro_batches_change_a_step_only_by_rounding(parts):
    steps = []
    for micro_batch in (65_536, 1):  # more than there are is all of them
        made = loop_of(
            parts, micro_batch=micro_batch, aggregation="token-mean", entropy_bonus=0.1, kl=0.1
        )
        metrics = step_of(made)
        steps.append((made, metrics))
    assert furthest(steps[0][0].model, weights(steps[1][0])) < ROUNDED
    for name, value in steps[0][1].items():
        assert steps[1][1][name] == pytest.approx(value, rel=1e-3, abs=1e-6), name


@pytest.mark.parametrize("truncation", ["score", "zero", "mask"])
def test_a_batch_of_which_every_rollout_was_cut_is_said_and_trained_on(parts, truncation):
    made = loop_of(parts, said=[[50] * LIMIT] * 8, truncation=truncation)
    with pytest.warns(UserWarning, match="all 8 rollouts of step 0 were cut at 6 tokens"):
        metrics = step_of(made)
    assert metrics["truncated"] == 1 and all(np.isfinite(value) for value in metrics.values())
    if truncation != "score":  # nothing to learn from, and the weights stay finite
        assert metrics["dead groups"] == 1
    assert all(bool(weight.isfinite().all()) for weight in made.model.parameters())


def test_what_cannot_be_trained_on_is_refused_in_a_sentence(parts):
    with pytest.raises(LabError, match="no rollout of step 0 could be judged"):
        step_of(loop_of(parts, rewards=[None] * 8))
    text = SimpleNamespace(model_type="gemma2", final_logit_softcapping=30.0)
    model = SimpleNamespace(config=SimpleNamespace(get_text_config=lambda: text))
    with pytest.raises(LabError, match="gemma2 models change their scores .* take trainer=trl"):
        check_scores(model)


# --- Records, resumption ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"estimator": "maxrl", "entropy_bonus": 0.01},
        {"estimator": "grpo(ddof=1)", "updates": 2, "micro_batch": 4, "schedule": "cosine"},
        {"estimator": "pacs", "learning_rate": 1e-3},
    ],
)
def test_a_training_taken_up_anywhere_gives_the_same_records_and_weights(given):
    given = SHORT_ANSWERS | {"steps": 3, "log_every": 2, "problems": 3, "trainer": "loop"} | given
    whole = taken_up_anywhere(**given)
    assert kinds(whole) == [(0, True), (1, False), (2, True), (3, True)]
    assert told(whole[-1][1], **given) == []


# --- vLLM in this process -----------------------------------------------------------------------

WITH_VLLM = """
import json
from lab.llm.train.trainer import train
from lab.runs.experiments import experiment

given = dict(engine="vllm", engine_memory=0.1, adapter="lora", rank=4, learning_rate=1e-2, steps=2)
config = experiment("gsm8k").configure("smoke", given)
print("RECORDS", json.dumps([dict(output.metrics) for output in train(config)], default=float))
"""


def test_vllm_samples_from_the_weights_of_now(fork, vllm_installed):
    """With an adapter, which is merged into the weights for the sampler."""
    done = fork("-c", WITH_VLLM).finish(400)
    assert done.returncode == 0, done.stderr[-3000:]
    [line] = [line for line in done.stdout.splitlines() if line.startswith("RECORDS")]
    records = json.loads(line.removeprefix("RECORDS"))
    assert len(records) == 3 and records[1]["grad_norm"] > 0
    # A step of AdamW moves every trained weight, so old weights in the sampler would show.
    assert max(record["log-probability mismatch"] for record in records[1:]) < 1e-3


def test_an_evaluation_has_the_mean_tokens_of_right_and_of_wrong_answers():
    """Pooled over problems; where no answer is wrong there is no length of wrong ones."""
    said = [["\\boxed{5}", 9], ["\\boxed{4}", 2]], [["\\boxed{7}", 3], ["\\boxed{7}", 6]]
    groups = [[SimpleNamespace(text=t, ids=range(n)) for t, n in pair] for pair in said]
    problems = [(SimpleNamespace(id=gold, answer=gold, row={}), "?") for gold in ("5", "7")]
    with Verifier() as verifier:
        for held_out, right, wrong in ((slice(0, 2), 6, 2), (slice(1, 2), 4.5, None)):
            engine = SimpleNamespace(sample=lambda *_, shown=groups[held_out]: shown)
            given = {"set": problems[held_out]}
            metrics, _ = evaluate(loop_config(samples=2), engine, verifier, given)
            assert (metrics["right length"], metrics.get("wrong length")) == (right, wrong)


def test_a_reward_without_any_verdict_is_named(tmp_path):
    reward = f"{tmp_path}/mine.py:f"
    (tmp_path / "mine.py").write_text("def f(completions):\n    pass\n")
    engine = SimpleNamespace(sample=lambda *_: [[SimpleNamespace(text="", ids=())] * 2])
    given = {"set": [(SimpleNamespace(id="a", answer="1", row={}), "?")]}
    judge = SimpleNamespace(check=lambda *_: [SimpleNamespace(outcome="error")] * 2)
    with pytest.raises(LabError, match=r"no answer could be judged; the reward .*mine\.py:f"):
        evaluate(loop_config(samples=2, reward=reward), engine, judge, given)
