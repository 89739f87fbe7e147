"""A language-model training as on a GPU, forced on a CPU: bfloat16, checkpointing, fused AdamW."""

import json
import time

import pytest
import torch

from lab.llm.engines import imports
from lab.llm.engines.base import Sampling
from lab.llm.engines.transformers_engine import TransformersEngine, evaluation_mode
from lab.llm.train import trl_callbacks
from lab.llm.train.tiny_model import FOLDER
from lab.llm.train.trainer import train
from lab.llm.train.trl_callbacks import device_options
from lab.runs.experiments import experiment
from lab.runs.training import load_checkpoint
from lab.runs.training import train as run_training
from lab.training.records import records as records_of

imports.trl()
pytestmark = pytest.mark.filterwarnings("ignore")

CUDA = torch.device("cuda")
FORCED = """
import torch
from lab.llm.train import trl_callbacks
real = trl_callbacks.device_options
trl_callbacks.device_options = lambda device: real(torch.device("cuda")) | {"use_cpu": True}
from lab.runs import configure, train
train(configure("gsm8k", scale="smoke", steps=6), checkpoint_minutes=0)
"""


@pytest.fixture
def forced(monkeypatch):
    """The GPU's options, on the CPU; returns the trainers that were made with them."""
    made = []

    def options(device):
        return device_options(CUDA) | {"use_cpu": True}

    def trainer(self, scratch, real=trl_callbacks.TRLRun._trainer):
        made.append(real(self, scratch))
        return made[-1]

    monkeypatch.setattr(trl_callbacks, "device_options", options)
    monkeypatch.setattr(trl_callbacks.TRLRun, "_trainer", trainer)
    return made


def played(state=None, **given):
    """The records of a training of the tiny model, each with its state."""
    config = experiment("gsm8k").configure("smoke", {"steps": 3, "problems": 3} | given)
    told = records_of(train(config, state))
    return [
        (record, {key: value.clone() for key, value in record.state().items()}) for record in told
    ]


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


def test_the_configuration_of_a_gpu_is_the_one_that_is_forced_here(forced):
    assert device_options(CUDA) == {
        "use_cpu": False,
        "bf16": True,
        "gradient_checkpointing": True,
        "dataloader_pin_memory": True,
        "optim": "adamw_torch_fused",
    }
    assert not any(
        device_options(torch.device("cpu"))[name]
        for name in ("bf16", "gradient_checkpointing", "dataloader_pin_memory")
    )
    again, kinds = [], set()

    def checkpointed(*given, real=torch.utils.checkpoint.checkpoint, **named):
        again.append(torch.is_autocast_enabled("cpu"))
        return real(*given, **named)

    def linear(module, given, output):
        if isinstance(module, torch.nn.Linear):
            kinds.add(output.dtype)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("transformers.modeling_utils.checkpoint", checkpointed)
        with torch.nn.modules.module.register_module_forward_hook(linear):
            records = played(steps=1)
    [trainer] = forced
    assert trainer.model.is_gradient_checkpointing and again and all(again)
    assert kinds == {torch.bfloat16}  # sampling, too, computes as the training does
    assert all(group["fused"] for group in trainer.optimizer.param_groups)
    assert {weight.dtype for weight in trainer.model.parameters()} == {torch.float32}
    assert records[-1][0].step == 1 and records[-1][0].metrics["grad_norm"] > 0


# Without options, the killed training below is taken up.
@pytest.mark.parametrize(
    "given",
    [
        {"estimator": "pacs", "reference_every": 2},
        {"estimator": "grpo(ddof=1)", "updates": 2, "micro_batch": 4, "kl": 0.1},
    ],
)
def test_a_training_as_on_a_gpu_samples_steps_and_goes_on_exactly_from_any_record(forced, given):
    whole = played(learning_rate=1e-3, **given)
    assert [record.step for record, _ in whole] == [0, 1, 2, 3]
    for taken in (0, 2):
        again = played(whole[taken][1], learning_rate=1e-3, **given)
        later = [pair for pair in whole if pair[0].step > taken]
        assert [record.metrics for record, _ in again if record.step > taken] == [
            record.metrics for record, _ in later
        ]
        assert same(again[-1][1], whole[-1][1])
    assert not same(whole[0][1], whole[-1][1])


def test_a_training_as_on_a_gpu_that_is_killed_goes_on_and_ends_as_one_that_was_not(
    fork, runs, forced, monkeypatch
):
    killed = fork("-c", FORCED, LAB_RUNS=str(runs / "killed"))
    end, found = time.monotonic() + 200, []
    while not found:
        assert time.monotonic() < end and killed.process.poll() is None, "no checkpoint came"
        found = list((runs / "killed").glob("gsm8k/*/checkpoints/step-*[2345].safetensors"))
        time.sleep(0.02)
    killed.kill_group()
    folder = found[0].parent.parent
    assert not (folder / "done.json").exists()
    done = {}
    for name in ("killed", "whole"):
        monkeypatch.setenv("LAB_RUNS", str(runs / name))
        done[name] = run_training(
            experiment("gsm8k").configure("smoke", {"steps": 6}), checkpoint_minutes=0
        )
    assert done["killed"].path == folder and len(forced) == 2
    lines = [(run.path / "metrics.jsonl").read_text().splitlines() for run in done.values()]
    assert lines[0] == lines[1] and json.loads(lines[0][-1])["step"] == 6
    assert same(*(load_checkpoint(run)[0] for run in done.values()))


def test_sampling_leaves_every_part_of_a_model_in_the_mode_that_it_had():
    engine = TransformersEngine(FOLDER, device="cpu")
    sampling = Sampling(2, 1.0, 1.0, 4)
    expected = engine.sample(["2+3=?\n"], sampling)
    engine.model.gradient_checkpointing_enable()
    engine.model.train()
    engine.model.lm_head.eval()
    modes = [module.training for module in engine.model.modules()]
    assert engine.sample(["2+3=?\n"], sampling) == expected
    assert [module.training for module in engine.model.modules()] == modes
    with pytest.raises(KeyError), evaluation_mode(engine.model):
        raise KeyError
    assert [module.training for module in engine.model.modules()] == modes
