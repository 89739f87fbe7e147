"""A language-model training as on a GPU, forced on a CPU: bfloat16, checkpointing, fused AdamW."""

import pytest
import torch
from smoke_trainings import SHORT_ANSWERS, TINY, kinds, played, taken_up_anywhere

from lab.llm.engines import imports
from lab.llm.engines.base import Sampling
from lab.llm.engines.transformers_engine import TransformersEngine
from lab.llm.train import trl_callbacks
from lab.llm.train.trl_callbacks import device_options

imports.trl()
pytestmark = pytest.mark.filterwarnings("ignore")

CUDA = torch.device("cuda")


@pytest.fixture
def forced(monkeypatch):
    """The GPU's options, on the CPU; returns the trainers that were made with them."""
    made = []

    def options(device):
        return device_options(CUDA) | {"use_cpu": True}

    def trainer(self, *places, real=trl_callbacks.TRLRun._trainer):
        made.append(real(self, *places))
        return made[-1]

    monkeypatch.setattr(trl_callbacks, "device_options", options)
    monkeypatch.setattr(trl_callbacks.TRLRun, "_trainer", trainer)
    return made


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
            records = played(**SHORT_ANSWERS, steps=1, problems=3)
    [trainer] = forced
    assert trainer.model.is_gradient_checkpointing and again and all(again)
    assert kinds == {torch.bfloat16}  # sampling, too, computes as the training does
    assert all(group["fused"] for group in trainer.optimizer.param_groups)
    assert {weight.dtype for weight in trainer.model.parameters()} == {torch.float32}
    assert records[-1][0].step == 1 and records[-1][0].metrics["grad_norm"] > 0


def test_a_training_as_on_a_gpu_samples_steps_and_goes_on_exactly_from_any_record(forced):
    given = {"estimator": "grpo(ddof=1)", "updates": 2, "micro_batch": 4, "kl": 0.1}
    whole = taken_up_anywhere(**SHORT_ANSWERS, learning_rate=1e-3, steps=3, problems=3, **given)
    assert kinds(whole) == [(step, True) for step in range(4)] and len(forced) == 4


def test_sampling_leaves_a_model_in_the_mode_that_it_had():
    engine = TransformersEngine(TINY)
    sampling = Sampling(2, 1.0, 1.0, 4)
    expected = engine.sample(["2+3=?\n"], sampling)
    engine.model.gradient_checkpointing_enable()
    engine.model.train()
    assert engine.sample(["2+3=?\n"], sampling) == expected
    assert all(module.training for module in engine.model.modules())
