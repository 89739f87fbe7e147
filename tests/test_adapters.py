"""LoRA in both trainers: the same adapter, small checkpoints, exact resumption, export."""

import pytest
import torch
from smoke_trainings import SHORT_ANSWERS, TINY, configured, same, taken_up_anywhere
from two_prompts import ROUNDED, loop_of, parts_of_two_prompts, trainer

from lab.cli import main
from lab.errors import LabError
from lab.llm.engines import imports
from lab.llm.engines.adapters import adapter_config, merged_weights, with_adapter
from lab.llm.engines.base import Sampling
from lab.llm.engines.transformers_engine import TransformersEngine, load_causal_model
from lab.llm.train.trainer import load_policy, train
from lab.runs.training import state_of
from lab.runs.training import train as run_training
from lab.training.checkpoint import with_prefix
from lab.training.records import Record

imports.trl()
pytestmark = pytest.mark.filterwarnings("ignore")
LORA = {"adapter": "lora", "rank": 4, "learning_rate": 1e-2}


@pytest.mark.parametrize("trainer", ["trl", "loop"])
def test_a_checkpoint_holds_the_adapter_alone_and_training_goes_on_exactly(trainer):
    given = SHORT_ANSWERS | LORA | {"trainer": trainer, "steps": 2, "log_every": 2, "kl": 0.1}
    whole = taken_up_anywhere(**given)
    names = [key for key in whole[-1][1] if key.startswith("model/")]
    assert names and all(".lora_" in name for name in names)
    assert isinstance(whole[-1][0], Record) and whole[-1][0].metrics["KL divergence"] > 0


def test_both_trainers_begin_with_the_same_adapter():
    ours, theirs = (next(train(configured(**LORA, trainer=name))) for name in ("loop", "trl"))
    assert same(ours.state(), theirs.state())


def adapted(made):
    """A loop whose model has an adapter that is not zero, in float64."""
    made.model = with_adapter(made.model, 4, seed=0).double()
    torch.manual_seed(0)
    for name, weight in made.model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.1)
    trained = [weight for weight in made.model.parameters() if weight.requires_grad]
    made.optimizer = torch.optim.SGD(trained, 1e-3)
    return made


def test_a_step_of_an_adapter_is_trls(tmp_path):
    parts = parts_of_two_prompts()
    made = adapted(loop_of(parts, kl=0.3))
    made.reference = made.model  # that of an adapter is the model without it
    begun = {name: weight.detach().clone() for name, weight in made.model.named_parameters()}
    given = {"peft_config": adapter_config(4), "config": {"beta": 0.3, "max_grad_norm": 1.0}}
    theirs = trainer(parts, tmp_path, estimator="maxrl", logps=True, **given)
    theirs.model.double()
    theirs.model.load_state_dict(begun, strict=False)
    rows, _ = made.roll_out(0)
    made.update(rows, 0)
    theirs.train()
    found = dict(theirs.model.named_parameters())
    moved, apart = (
        sum(
            float(((weight - other[name]) ** 2).sum())
            for name, weight in made.model.named_parameters()
        )
        ** 0.5
        for other in (begun, found)
    )
    assert moved > 1e-5 and apart < ROUNDED * moved


def test_an_adapter_is_exported_within_the_model(runs, tmp_path):
    run = run_training(configured(**SHORT_ANSWERS, **LORA, trainer="loop", steps=1))
    assert main(["export", str(run.path), str(tmp_path / "whole")]) == 0
    state = state_of(run)
    base = load_causal_model(str(TINY), torch.float32)
    ids = torch.tensor([[20, 21, 22, 23]])
    plain = base(ids).logits
    adapted = with_adapter(base, LORA["rank"], seed=0)
    adapted.load_state_dict(with_prefix("model/", state), strict=False)
    expected = adapted(ids).logits
    assert not torch.allclose(plain, expected, atol=1e-3)
    for engine in (TransformersEngine(tmp_path / "whole"), load_policy(str(TINY), state)):
        torch.testing.assert_close(engine.model(ids).logits, expected, atol=1e-5, rtol=1e-4)
        assert engine.sample(["2+3=?\n"], Sampling(2, 1.0, 1.0, 8))[0][0].ids


def test_the_weights_for_the_sampler_are_merged_inside_the_block_only():
    base = load_causal_model(str(TINY), torch.float32)
    plain = {name: weight.detach().clone() for name, weight in base.state_dict().items()}
    model = with_adapter(base, 4, seed=0)
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.ones_(weight)
    with merged_weights(model) as weights:
        merged = {name: weight.clone() for name, weight in weights}
    assert merged.keys() == plain.keys()
    changed = {name for name in plain if not torch.equal(plain[name], merged[name])}
    assert len(changed) == 3 * 7 and all("proj" in name for name in changed)
    name = "model.layers.0.self_attn.q_proj"
    layer = model.get_submodule(f"base_model.model.{name}")
    A, B = layer.lora_A["default"].weight, layer.lora_B["default"].weight
    torch.testing.assert_close(merged[f"{name}.weight"], plain[f"{name}.weight"] + 2 * B @ A)
    torch.testing.assert_close(layer.base_layer.weight, plain[f"{name}.weight"])


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"rank": 8}, "rank = 8: there is no adapter; .* add adapter=lora"),
        (
            {"adapter": "lora", "estimator": "pacs", "reference_every": 2},
            "the reference of an adapter is the model without it",
        ),
    ],
)
def test_what_an_adapter_cannot_do_is_refused_in_a_sentence(given, sentence):
    with pytest.raises(LabError, match=sentence):
        configured(**given)
