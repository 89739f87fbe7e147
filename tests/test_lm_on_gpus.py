"""What a language-model training does on a GPU, checked without one, by the libraries' classes."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from smoke_trainings import SHORT_ANSWERS, TINY, played, same

from lab.llm.engines import imports, model_costs
from lab.llm.engines.model_costs import architecture, parameter_count
from lab.llm.train import trainer
from lab.runs.experiments import experiment
from lab.training.costs import GIB

imports.trl()
pytestmark = pytest.mark.filterwarnings("ignore")


# --- vLLM beside a training ----------------------------------------------------------------------


class Llm:
    """Stands in for `vllm.LLM`: keeps what it is told."""

    def __init__(self):
        self.told, self.asleep = [], set()

    def sleep(self, level):
        self.told.append(f"sleep {level}")
        self.asleep = {"weights", "kv_cache"}

    def wake_up(self, tags):
        self.told.append(f"wake {' '.join(tags)}")
        self.asleep -= set(tags)

    def reset_prefix_cache(self):
        self.told.append("forget")


def test_a_vllm_that_sleeps_is_awake_with_the_weights_of_now_inside_the_block_only():
    from lab.llm.engines.vllm_engine import VLLMEngine

    llm = Llm()
    llm.collective_rpc = lambda name, kwargs: llm.told.append(
        f"{name} {list(kwargs['weights_iterator'])}"
    )
    engine = VLLMEngine.__new__(VLLMEngine)
    engine.llm, engine._sleeps = llm, True
    llm.sleep(2)
    llm.told.clear()
    with pytest.raises(RuntimeError, match="broken"), engine.sampling_with(iter(["w"])) as given:
        assert given is engine and not llm.asleep
        raise RuntimeError("broken")
    calls = ["wake weights", "reload_weights ['w']", "forget", "wake kv_cache", "sleep 2"]
    assert llm.told == calls
    assert llm.asleep


# --- Memory and time, counted -------------------------------------------------------------------


def unchecked(name, scale, **given):
    """The configuration of a preset, whether or not it fits this machine."""
    return replace(experiment(name), trainer=None).configure(scale, given)


@pytest.mark.parametrize("name, scale, gib", [("qwen3", "h200", 106), ("pacs", "paper", 148)])
def test_memory_counted_layer_by_layer_is_that_of_whole_models_counted_apart(name, scale, gib):
    """`gib`: fake tensors through all layers and TRL's own output layer, in a program of its own;
    vLLM at 0.3 of 141 GiB, no CUDA context.
    """
    config = unchecked(name, scale, engine_memory=0.3)
    parts = model_costs.memory(config, architecture(config.model), 141.0)
    assert sum(parts.values()) - model_costs.CONTEXT == pytest.approx(gib, abs=1.2)
    assert parts["vLLM"] == pytest.approx(42.3)


def test_a_reference_adds_its_weights():
    config = unchecked("gsm8k", "smoke", engine="vllm", micro_batch=4)
    shape = architecture(str(TINY))
    alone = model_costs.memory(config, shape, 24)
    more = model_costs.memory(replace(config, kl=0.1), shape, 24)
    whole = 4 * parameter_count(shape) / GIB
    assert alone["optimiser"] == 2 * alone["gradients"] == 2 * alone["weights"] == 2 * whole
    assert {key: more[key] for key in more.keys() - alone.keys()} == {"reference": whole}


def test_costs_hold_moments_and_downloads():
    config = unchecked("qwen3", "h200")
    one, n = trainer.costs(config), parameter_count(architecture(config.model))
    assert one.checkpoint == pytest.approx(12 * n / GIB) and one.disk == {"hub cache": 2 * n / GIB}
    assert one.steps == 200 and one.host_memory == 4 * n / GIB
    assert trainer.costs(replace(config, model="somebody/unknown-7B")) is None


def on_gpu(monkeypatch, gib):
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda *_: SimpleNamespace(total_memory=int(gib * GIB))
    )
    monkeypatch.setattr(model_costs, "compute_device", lambda: torch.device("cuda"))


def test_what_the_gpu_reports_counts_and_not_what_was_stated(monkeypatch):
    config = unchecked("gsm8k", "h200")
    on_gpu(monkeypatch, 23.5)
    with pytest.raises(trainer.LabError, match="would need about 27 GiB a GPU .* there are 24"):
        model_costs.memory_lines(config)
    on_gpu(monkeypatch, 79.1)
    assert "of 79 GiB" in model_costs.memory_lines(config)[0]


def test_the_memory_of_one_gpu_is_told_and_too_much_is_refused():
    chosen = experiment("gsm8k")
    header = chosen.header(chosen.configure("h200"))
    assert "memory of one GPU, counted on fake tensors" in header
    assert "sleeps while the model trains" in header
    with pytest.raises(trainer.LabError, match="would need about .* GiB a GPU"):
        chosen.configure(
            "h200", {"model": "Qwen/Qwen3-8B", "max_tokens": 64, "max_prompt_tokens": 64}
        )
    with pytest.raises(trainer.LabError, match="for keys and values, less than one sequence"):
        chosen.configure("h200", {"engine_memory": 0.01, "micro_batch": 32})


def test_an_engine_that_sleeps_takes_all_that_weights_and_optimiser_leave(monkeypatch):
    on_gpu(monkeypatch, 79.1)
    config = unchecked("gsm8k", "smoke", engine="vllm", engine_memory=0.0)
    held = 12 * parameter_count(architecture(str(TINY))) / GIB + model_costs.CONTEXT
    assert model_costs.sampler_share(config, str(TINY)) == pytest.approx(1 - held / 79.1)
    config = replace(config, engine_memory=0.4)
    assert model_costs.sampler_share(config, str(TINY)) == 0.4


def test_a_training_by_length_goes_on_exactly_and_learns_what_the_padded_one_does(monkeypatch):
    from lab.llm.train.trl_trainer import ObjectiveTrainer

    given = SHORT_ANSWERS | {"problems": 3, "updates": 2, "micro_batch": 2, "learning_rate": 1e-4}
    padded = played(**given)
    monkeypatch.setitem(ObjectiveTrainer.__init__.__kwdefaults__, "by_length", True)
    whole = played(**given)
    again = played(whole[1][1], **given)
    assert again[-1][0].metrics == whole[-1][0].metrics and same(again[-1][1], whole[-1][1])
    for record, expected in zip(whole[1:], padded[1:], strict=True):
        assert record[0].metrics["train pass@1"] == expected[0].metrics["train pass@1"]
