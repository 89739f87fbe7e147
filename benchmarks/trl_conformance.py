"""TRL's own tests of its GRPO trainer, run with the lab's trainer in its place.

    python benchmarks/trl_conformance.py tests/test_grpo_trainer.py  # TRL's, with its neighbours
    python benchmarks/trl_conformance.py FILE --trainer trl  # TRL's own trainer: the control

The file's folder must be TRL's `tests`, from which it imports. Nothing is taken from the network:
the names under `trl-internal-testing/` are folders of a temporary directory, in which the tests
run. Each language model there is data/models/tiny with new weights, for which all but every
sixteenth token end an answer; each reward model is its classifier; `zen` is a few prompts with a
column `problem`.

The lab's rewards are 0 or 1. TRL's tests reward lengths and use a classifier's scores: other
rewards are replaced by 0, 1, 0, 1 ... before the trainer sees them; a None stays.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import json
import os
import tempfile
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import pytest

TINY = Path(__file__).parents[1] / "data" / "models" / "tiny"
# TRL's advantages: (r - mean) / (std + 1e-4), and 0 in a group of one
ESTIMATOR = "grpo(ddof=1, eps=1e-4, singleton='zero')"
TRAINERS = ("lab", "trl")
LANGUAGE_MODELS = ("Qwen2ForCausalLM-2.5", "Qwen3ForCausalLM", "LlamaForCausalLM-3.2")
REWARD_MODELS = (
    "Qwen2ForSequenceClassification-2.5",
    "Qwen3ForSequenceClassification",
    "LlamaForSequenceClassification-3.2",
)
SENTENCES = {"train": ["2+3=?", "4*2=?", "7-5=?"], "test": ["1+1=?", "9-4=?"]}
# Patterns of Class::test[parameters], and why a test is not run.
DESELECTED: dict[str, str] = {
    "TestGRPOTrainerVLM::*": "needs a vision model",
    "TestGRPOTrainerSlow::*": "needs an accelerator and models of the hub",
    "TestGRPOTrainer::test_trust_remote_code": "needs a model with code of its own from the hub",
    **{
        f"TestGRPOTrainer::test_train?trl-internal-testing/tiny-{model}*": (
            "needs a model of another architecture from the hub"
        )
        for model in ("Cohere2", "Glm4Moe", "GptOss", "Qwen3Moe", "NemotronH")
    },
    "TestGRPOTrainer::test_train_moe_peft_model": (
        "needs a model of another architecture from the hub"
    ),
    "TestGRPOTrainer::test_train_with_mask_truncated_completions": (
        "writes token ids of Qwen's vocabulary"
    ),
    **{
        f"TestGRPOTrainer::{test}": "tools: needs the chat template and token ids of Qwen"
        for test in (
            "test_train_with_tools*",
            "test_train_with_malformed_tool_calls",
            "test_train_with_multiple_environments",
            "test_train_with_unknown_environment_raises",
            "test_train_with_environment_*",
            "test_environment_owned_*",
            "test_multiple_environments_without_dataset_raises",
        )
    },
    "TestGRPOTrainer::test_train_with_cast_lm_head_to_fp32*Gemma2*": (
        "needs a model of another architecture from the hub"
    ),
    **{
        f"TestGRPOTrainer::test_liger_kernel_with_peft_{test}": "needs liger-kernel"
        for test in (
            "non_lm_head_target_allowed",
            "modules_to_save_lm_head_allowed",
            "prompt_learning_raises",
        )
    },
    **{
        f"TestGRPORolloutDispatch::test_generate_{test}": (
            "makes a trainer without the end tokens that TRL 1.16 keeps: fails with TRL's own too"
        )
        for test in ("prefers_rollout_func", "rollout_func_syncs_vllm_weights_when_needed")
    },
    "TestGRPOTrainer::test_entropy_bonus_flows_gradients": (
        "expects entropies without a gradient, which TRL 1.16 keeps: fails with TRL's own too"
    ),
    "TestGRPOTrainer::test_train_with_mask_truncated_completions_all_masked": (
        "needs a model that never ends an answer"
    ),
    "TestGRPOTrainer::test_prepare_input_called_with_correct_data": (
        "compares rows with those of zen, which have no column problem"
    ),
}


class Outcome(NamedTuple):
    """What became of a test: "passed", "failed", "refused", "skipped" or "deselected", and why."""

    result: str
    reason: str


def deselection(name: str) -> str | None:
    """Why the test Class::test[parameters] is not run; None: it is."""
    return next((why for pattern, why in DESELECTED.items() if fnmatchcase(name, pattern)), None)


def make_hub(folder: Path) -> None:
    """Write the models and the data that the tests name into `folder`/trl-internal-testing."""
    import torch
    from transformers import (
        AutoConfig,
        AutoModelForCausalLM,
        AutoModelForSequenceClassification,
        AutoTokenizer,
    )

    hub = folder / "trl-internal-testing"
    tokenizer = AutoTokenizer.from_pretrained(TINY)
    torch.manual_seed(0)  # new weights: the trained model gives the same answer too often
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(TINY))
    model.generation_config.eos_token_id = [id for id in range(len(tokenizer)) if id % 16]
    judge = AutoModelForSequenceClassification.from_pretrained(TINY, num_labels=1)
    for names, made in ((LANGUAGE_MODELS, model), (REWARD_MODELS, judge)):
        for name in names:
            made.save_pretrained(hub / f"tiny-{name}")
            tokenizer.save_pretrained(hub / f"tiny-{name}")
    zen = hub / "zen"
    configs = []
    for config in ("standard_prompt_only", "conversational_prompt_only"):
        (zen / config).mkdir(parents=True)
        for split, sentences in SENTENCES.items():
            rows = [
                {"problem": number, "prompt": text}
                if config.startswith("standard")
                else {"problem": number, "prompt": [{"role": "user", "content": text}]}
                for number, text in enumerate(sentences)
            ]
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (zen / config / f"{split}.jsonl").write_text(lines)
        files = [{"split": split, "path": f"{config}/{split}.jsonl"} for split in SENTENCES]
        configs.append({"config_name": config, "data_files": files})
    (zen / "README.md").write_text(f"---\nconfigs: {json.dumps(configs)}\n---\n")


def alternating(rewards: list[float | None]) -> list[float | None]:
    """0, 1, 0, 1 ... in place of a batch's rewards; None stays, and so do rewards of 0 and 1."""
    if all(reward in (0, 1, None) for reward in rewards):
        return rewards
    return [None if reward is None else float(at % 2) for at, reward in enumerate(rewards)]


def made_binary(reward: Any) -> Any:
    """A reward function or model whose rewards are 0 or 1, of one, of its name, or of a list."""
    import torch

    if isinstance(reward, list):
        return [made_binary(one) for one in reward]
    if isinstance(reward, str):
        from transformers import AutoModelForSequenceClassification

        model = AutoModelForSequenceClassification.from_pretrained(reward, num_labels=1)
        return made_binary(model)
    if isinstance(reward, torch.nn.Module):

        def score(_: Any, __: Any, output: Any) -> None:
            rewards = alternating(output.logits[:, 0].tolist())
            output.logits = torch.tensor(rewards)[:, None]

        reward.register_forward_hook(score)
        return reward
    if inspect.iscoroutinefunction(reward):

        @functools.wraps(reward)
        async def awaited(*given: Any, **named: Any) -> list[float | None]:
            return alternating(await reward(*given, **named))

        return awaited

    @functools.wraps(reward)
    def called(*given: Any, **named: Any) -> list[float | None]:
        return alternating(reward(*given, **named))

    return called


def trainer_class(kind: str) -> type:
    """What the tests get under the name GRPOTrainer."""
    from trl import GRPOTrainer

    from lab.llm.train.trl_trainer import ObjectiveTrainer

    chosen: Any = ObjectiveTrainer if kind == "lab" else GRPOTrainer
    before = (ESTIMATOR,) if kind == "lab" else ()

    class Trainer(chosen):
        def __init__(self, *positional: Any, **options: Any) -> None:
            if options.get("reward_funcs") is not None:
                options["reward_funcs"] = made_binary(options["reward_funcs"])
            super().__init__(*before, *positional, **options)

    return Trainer


class Recorder:
    """A plugin of pytest: deselects by the table and keeps what became of each test."""

    def __init__(self) -> None:
        self.outcomes: dict[str, Outcome] = {}

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        kept = []
        for item in items:
            why = deselection(test_name(item.nodeid))
            if why is None:
                kept.append(item)
            else:
                self.outcomes[test_name(item.nodeid)] = Outcome("deselected", why)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept

    @pytest.hookimpl(tryfirst=True, hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        result = yield
        report = result.get_result()
        name = test_name(item.nodeid)
        if report.passed and (report.when != "call" or name in self.outcomes):
            return
        from lab.errors import LabError

        error = call.excinfo.value if call.excinfo else None
        if isinstance(error, LabError):
            self.outcomes[name] = Outcome("refused", str(error))
        elif report.passed or report.skipped or report.failed:
            reason = f"{type(error).__name__}: {error}" if error else ""
            self.outcomes[name] = Outcome(report.outcome, reason)


def test_name(nodeid: str) -> str:
    """Class::test[parameters] of a test, without its file."""
    return nodeid.split("::", 1)[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--trainer", choices=TRAINERS, default="lab")
    parser.add_argument("--only", default="", help="pytest's -k")
    given = parser.parse_args()
    path = given.path.resolve()
    os.environ |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    from lab.llm.engines import imports

    trl: Any = imports.trl()
    recorder = Recorder()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HF_HOME"] = folder
        make_hub(Path(folder))
        trl.GRPOTrainer = trainer_class(given.trainer)
        os.chdir(folder)
        words = [*"-q --tb=short -p no:cacheprovider --no-header -W ignore -k".split(), given.only]
        pytest.main([str(path), *words], plugins=[recorder])
    for name, outcome in recorder.outcomes.items():
        if outcome.result in ("refused", "deselected"):
            print(f"{outcome.result}: {name}: {outcome.reason}")
    counts = Counter(outcome.result for outcome in recorder.outcomes.values())
    print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
