"""`lab explain --config`: TRL's and verl's files, read for what they climb, waste and undo.

The shapes are those of the examples that both ship, in our words: a yaml of `trl grpo --config`,
Python with a GRPOConfig(...), verl's scripts with arrays and variables, and its yaml that holds a
command.
"""

import pytest
from refusals import refusal

from lab.cli import main
from lab.show.training_configs import read

pytestmark = pytest.mark.usefixtures("defaults_read_once")

TRL = """
model_name_or_path: small/model
learning_rate: 1e-6
loss_type: {loss}
num_generations: 16
"""
SCRIPT = """
#!/usr/bin/env bash
# algorithm.adv_estimator=gae
train_batch_size=${TRAIN_BATCH_SIZE:-512}
mini=${MINI:-128}
CLIP_LOW=${CLIP_LOW:-3e-4}
DATA=(
    algorithm.adv_estimator=grpo
    data.train_files="['$HOME/train.parquet']"
    data.train_batch_size=${train_batch_size}
)
ACTOR=(
    actor_rollout_ref.actor.policy_loss.loss_mode=gspo
    actor_rollout_ref.actor.loss_agg_mode=seq-mean-token-mean
    actor_rollout_ref.actor.clip_ratio_low=${CLIP_LOW}
    actor_rollout_ref.actor.clip_ratio_high=4e-4
    actor_rollout_ref.actor.ppo_mini_batch_size=${mini}
    actor_rollout_ref.rollout.n=${ROLLOUT_N:-8}
)
python3 -m verl.trainer.main_ppo "${DATA[@]}" "${ACTOR[@]}" "$@"
"""
IN_YAML = """
run: |
  python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo \\
    data.train_batch_size=32 actor_rollout_ref.rollout.n=1 \\
    actor_rollout_ref.actor.ppo_mini_batch_size=32 actor_rollout_ref.actor.clip_ratio=0.3
"""

IN_PYTHON = """
import argparse
raise SystemExit("nobody runs this")
parser = argparse.ArgumentParser()
parser.add_argument("--num-generations", type=int, default=4)
parser.add_argument("--top-p", type=float, default=None)
args = parser.parse_args()
trainer = GRPOTrainer(args=GRPOConfig(loss_type="dr_grpo", scale_rewards=False, beta=1e-3,
    num_generations=args.num_generations, top_p=args.top_p, temperature=warmth(), {more}))
"""


def reading(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return read(file)


def test_trl_yaml_with_its_defaults(tmp_path):
    found = reading(tmp_path, "a.yaml", TRL.format(loss="dapo"))
    assert found.recipe.N == 16 and found.recipe.estimator == "grpo(ddof=1, eps=0.0001)"
    assert found.recipe.loss.aggregation == "token-mean" and found.recipe.loss.bounds == (0.8, 1.2)
    assert (found.reuses, found.splits, found.undone, found.unknown_keys) == (1, 1, [], [])


def test_a_script_of_verl_with_arrays_and_variables(tmp_path):
    found = reading(tmp_path, "run.sh", SCRIPT)
    assert found.recipe.loss.bounds == pytest.approx((1 - 3e-4, 1 + 4e-4))
    assert found.recipe.loss.ratio == "sequence" and found.recipe.N == 8
    assert found.splits == 4 and found.reuses == 1 and not found.unknown_keys


def test_a_config_in_python_is_read_and_not_run(tmp_path):
    found = reading(tmp_path, "train.py", IN_PYTHON.replace("{more}", "epsilom=0.1, **others"))
    assert found.recipe.N == 4 and found.recipe.loss.kl == 1e-3 and found.recipe.sampler.top_p == 1
    assert found.recipe.estimator == "dr_grpo" and found.unknown_keys == ["epsilom"]
    assert any(one.endswith("left open: temperature, **others") for one in found.outside)


def test_a_variable_that_a_script_does_not_give_has_verls_default(tmp_path):
    found = reading(tmp_path, "run.sh", SCRIPT.replace("${ROLLOUT_N:-8}", "${ROLLOUT_N}"))
    assert found.recipe.N == 1 and found.outside[0].endswith("actor_rollout_ref.rollout.n")


def test_a_command_of_verl_inside_a_yaml(tmp_path):
    found = reading(tmp_path, "sky.yaml", IN_YAML)
    assert found.recipe.spec.startswith("reinforce, N=1")
    assert any("rollout.n = 1" in one for one in found.undone)
    assert any("clip_ratio alone changes nothing" in one for one in found.undone)


@pytest.mark.parametrize(
    "settings, words",
    [
        ("loss_type: cispo", "largest ratio itself"),
        ("loss_type: dr_grpo", "standard deviation that Dr. GRPO takes out is still there"),
        ("epsilon_high: 0.28", "nothing is clipped"),
        ("{delta: 1.1, num_iterations: 2}", "delta = 1.1 is below 1 + epsilon_high"),
        ("importance_sampling_level: sequence", "a ratio of sequences with a clip of 0.2"),
    ],
)
def test_settings_that_undo_each_other_are_named(tmp_path, settings, words):
    assert any(words in one for one in reading(tmp_path, "a.yml", settings).undone)


def test_one_screen_with_unknown_names(tmp_path, capsys):
    file = tmp_path / "a.json"
    file.write_text('{"num_generation": 4, "beta": 0.1, "top_p": 0.9}', encoding="utf-8")
    assert main(["explain", "--config", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "did you mean 'num_generations'" in shown and "cut sampler" in shown
    assert len(shown.splitlines()) <= 40


def test_explain_wants_a_name_or_a_configuration(capsys):
    assert main(["explain"]) == main(["explain", "rloo", "--config", "a.yaml"]) == 1
    assert capsys.readouterr().err.count("needs a name") == 2


@pytest.mark.parametrize(
    "name, text, words",
    [
        ("a.yaml", "a: [", "cannot be read"),
        ("a.yaml", "", "no settings found"),
        ("a.yaml", "colour: red", "none of its 1 names"),
        ("a.yaml", "num_generations: 1", "num_generations = 1"),
        ("a.json", "[1, 2]", "no settings found"),
        ("a.py", "config = GRPOConfig(beta=)", "cannot be read: invalid syntax in line 1"),
        ("a.py", "config = SFTConfig(beta=1)", "no settings found"),
        ("a.yaml", "!!python/object/apply:os.system [ls]", "cannot be read"),
    ],
)
def test_what_is_no_configuration_is_refused_in_a_sentence(tmp_path, name, text, words):
    assert words in refusal(reading, tmp_path, name, text)
