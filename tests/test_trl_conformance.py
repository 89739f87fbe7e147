"""TRL's own tests of GRPO with the lab's trainer, where LAB_TRL_TESTS names their file; and the
harness that runs them, on a small file made here.
"""

import os
from pathlib import Path

import pytest
from trl_conformance import DESELECTED, REFUSED, ROOT, conform, tables

FILE = """
import pytest
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer


def train(folder, reward, split="train", **options):
    data = load_dataset("trl-internal-testing/zen", "standard_prompt_only", split="train")
    settings = {"num_generations": 3, "per_device_train_batch_size": 3, "max_steps": 1} | options
    trainer = GRPOTrainer(
        model="trl-internal-testing/tiny-Qwen2ForCausalLM-2.5",
        reward_funcs=reward,
        args=GRPOConfig(str(folder), use_cpu=True, bf16=False, report_to="none",
                        max_completion_length=4, learning_rate=0.1, **settings),
        train_dataset=data,
    )
    before = {name: weight.clone() for name, weight in trainer.model.named_parameters()}
    trainer.train()
    return [name for name, weight in trainer.model.named_parameters()
            if not (weight == before[name]).all()]


def lengths(completions, **_):
    return [2.5 + len(text) for text in completions]


async def awaited(completions, **_):
    return lengths(completions)


class TestGRPOTrainer:
    @pytest.mark.parametrize(
        "reward", [lengths, awaited, "trl-internal-testing/tiny-Qwen2ForSequenceClassification-2.5"]
    )
    def test_learns(self, tmp_path, reward):
        assert train(tmp_path, reward)

    def test_drops_columns(self, tmp_path):
        assert train(tmp_path, lengths, remove_unused_columns=True)

    def test_two_rewards(self, tmp_path):
        train(tmp_path, [lengths, lengths])

    def test_wrong(self, tmp_path):
        assert not train(tmp_path, lengths)

    def test_trust_remote_code(self):
        raise AssertionError("this test is in the table of those that are not run")
"""
LEARNS = [
    f"TestGRPOTrainer::test_learns[{reward}]"
    for reward in (
        "lengths",
        "awaited",
        "trl-internal-testing/tiny-Qwen2ForSequenceClassification-2.5",
    )
]


def write(folder: Path) -> Path:
    path = folder / "test_small.py"
    path.write_text(FILE)
    return path


def test_the_harness_tells_passed_refused_failed_and_deselected_tests_apart(tmp_path):
    found = conform(write(tmp_path))
    results = {name: outcome.result for name, outcome in found.items()}
    assert results == dict.fromkeys(LEARNS, "passed") | {
        "TestGRPOTrainer::test_drops_columns": "passed",
        "TestGRPOTrainer::test_two_rewards": "refused",
        "TestGRPOTrainer::test_wrong": "failed",
        "TestGRPOTrainer::test_trust_remote_code": "deselected",
    }
    refused = found["TestGRPOTrainer::test_two_rewards"].reason
    assert refused.startswith("reward 2.0 in problem '0', rollout 1: a reward must be 0 or 1")


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
