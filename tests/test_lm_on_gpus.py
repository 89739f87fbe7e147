"""What a language-model training does on one GPU or on several, checked without one: by the libraries' own classes."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lab.llm import imports
from lab.llm.course import SECONDS_TO_WAIT, Course
from lab.llm.engine import Sampling
from lab.llm.tiny import FOLDER
from lab.llm.transformers_engine import TransformersEngine
from lab.llm.verifier import Verifier
from lab.runs.experiments import experiment

imports.trl()
pytestmark = pytest.mark.filterwarnings("ignore")


# --- vLLM as TRL starts it ----------------------------------------------------------------------------------


class Llm:
    """Stands in for `vllm.LLM`: keeps what it was made with and what it is told."""

    def __init__(self, **settings):
        self.settings, self.told, self.asleep = settings, [], set()

    def sleep(self, level):
        self.told.append(f"sleep {level}")
        self.asleep = {"weights", "kv_cache"}

    def wake_up(self, tags):
        self.told.append(f"wake {' '.join(tags)}")
        self.asleep -= set(tags)

    def reset_prefix_cache(self):
        self.told.append("forget")


@pytest.fixture
def sampler(monkeypatch):
    """Makes our sampler as TRL's trainer does, on a stand-in for vLLM."""
    pytest.importorskip("vllm")
    from trl.generation import vllm_generation

    from lab.llm.trl import _sampler
    monkeypatch.setattr(vllm_generation, "LLM", Llm)
    monkeypatch.setattr(vllm_generation, "ensure_master_addr_port", lambda: None)
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"):
        monkeypatch.setenv(name, "0")
    accelerator = SimpleNamespace(num_processes=1, process_index=0, local_process_index=0, is_fsdp2=False,
                                  wait_for_everyone=lambda: None, state=SimpleNamespace(
                                      deepspeed_plugin=None, fsdp_plugin=None))
    model = torch.nn.Linear(2, 2)
    model.name_or_path = "model"

    def make(**settings):
        monkeypatch.setattr(vllm_generation, "DistributedBackend", lambda _: None)
        made = _sampler()(model, accelerator, None, **settings)
        monkeypatch.setattr(type(made), "_iter_named_params", lambda self: iter(()), raising=False)
        return made
    return make


@pytest.mark.parametrize("name", ["gsm8k", "pacs", "qwen3"])
def test_vllm_itself_accepts_the_sequences_of_the_paper_scale_on_one_gpu(sampler, name):
    from vllm.config import SchedulerConfig
    values = experiment(name).scales["laptop"] | experiment(name).scales["paper"]
    asked, length = values["prompts"] * values["rollouts"], values["prompt_limit"] + values["limit"]

    def scheduler(sequences):
        return SchedulerConfig(max_model_len=length, is_encoder_decoder=False, max_num_seqs=sequences,
                               max_num_batched_tokens=tokens).max_num_seqs

    settings = sampler(max_num_seqs=asked, max_model_length=length).llm.settings
    tokens = settings["max_num_batched_tokens"]
    assert tokens == 4096 and scheduler(settings["max_num_seqs"]) == 1024
    if asked > tokens:  # what TRL asks for
        with pytest.raises(ValueError, match="must be greater than or equal to max_num_seqs"):
            scheduler(asked)
    assert sampler(max_num_seqs=8).llm.settings["max_num_seqs"] == 8


def test_our_trainers_make_our_sampler_and_leave_trls_alone():
    from trl.trainer import grpo_trainer

    from lab.llm.trl import _our_sampler, _sampler
    theirs = grpo_trainer.VLLMGeneration
    with _our_sampler():
        assert grpo_trainer.VLLMGeneration is _sampler() and issubclass(_sampler(), theirs)
    assert grpo_trainer.VLLMGeneration is theirs


def test_an_engine_in_sleep_mode_is_awake_with_the_weights_of_now_inside_the_block_only(sampler):
    generation = sampler(enable_sleep_mode=True)
    llm = generation.llm
    assert llm.asleep  # TRL puts it to sleep as soon as it is made
    llm.told.clear()
    generation.sync_weights()  # what TRL does before it calls a rollout function
    with generation.awake(stale=False) as given:
        assert given is llm and not llm.asleep
    assert llm.told == ["wake weights", "forget", "wake kv_cache", "sleep 2"]
    llm.told.clear()
    with pytest.raises(RuntimeError, match="broken"), generation.awake(stale=False):
        raise RuntimeError("broken")  # weights were dropped when it slept: pushed again though not stale
    assert llm.told == ["wake weights", "forget", "wake kv_cache", "sleep 2"] and llm.asleep


def test_an_engine_that_never_sleeps_gets_new_weights_only_when_they_have_changed(sampler):
    generation = sampler()
    for stale, told in [(True, ["forget"]), (False, [])]:
        generation.llm.told.clear()
        with generation.awake(stale):
            pass
        assert generation.llm.told == told


# --- Several processes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("processes", [2, 3, 7])
def test_an_examination_shared_over_processes_is_that_of_one(processes):
    engine = TransformersEngine(FOLDER, device="cpu")
    asked = [(SimpleNamespace(answer=str(a + b)), f"{a}+{b}=?\n") for a, b in [(2, 3), (4, 5), (1, 1), (6, 2), (3, 3)]]

    def counts(process, of):
        sampled = []

        @contextmanager
        def spied():
            def sample(prompts, *given):
                sampled.extend(prompts)
                return engine.sample(prompts, *given)
            yield SimpleNamespace(sample=sample)

        course = Course.__new__(Course)
        course.trainer = SimpleNamespace(accelerator=SimpleNamespace(
            num_processes=of, process_index=process, device="cpu", reduce=lambda tensor: tensor))
        course.engine, course.verifier = spied, verifier
        return np.array(course._examined(asked, Sampling(16, 0.6, 0.95, 24, 7))), len(sampled)

    with Verifier() as verifier:
        whole, all_of_them = counts(0, 1)
        parts = [counts(process, processes) for process in range(processes)]
    assert all_of_them == 5 and sum(part[1] for part in parts) == 5
    assert max(part[1] for part in parts) == -(-5 // processes)
    assert np.array_equal(sum(part[0] for part in parts), whole) and 0 < whole[1].sum() < whole[0].sum()


def test_processes_wait_for_each_other_longer_than_torchs_thirty_minutes(monkeypatch, tmp_path):
    values = experiment("gsm8k").parameters("smoke")
    course = Course.__new__(Course)
    course.settings, course.seed, course.updates, course.first, course.steps = values, 0, 1, 0, 2
    assert course._config(str(tmp_path)).ddp_timeout_delta.total_seconds() == SECONDS_TO_WAIT > 4 * 3600
