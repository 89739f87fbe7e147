"""verl's own workers, built from what `lab cluster` composes, load, score, step and save.

On a CPU, with one process: verl knows no CPU, so it is told of one here, and trains in float32.
What `lab cluster` sets is otherwise as it is.
"""

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import lab
from lab.llm.engines.imports import transformers
from lab.llm.train import verl_config
from lab.runs.cluster import job

pytestmark = pytest.mark.skipif(find_spec("verl") is None, reason="verl is not installed")

TINY = str(Path(__file__).parents[1] / "data/models/tiny")
FLOAT32 = {"param_dtype": "fp32", "reduce_dtype": "fp32", "buffer_dtype": "fp32"}
PROMPTS = [[5, 6, 7, 8, 9, 10], [11, 12, 13]]
LENGTHS = [5, 2, 3, 1, 4, 5, 2, 3]
ANSWERS = [[*range(10 * i + 21, 10 * i + 21 + length)] for i, length in enumerate(LENGTHS)]
REWARDS = [[1, 0, 0, 0], [1, 1, 0, 1]]
UIDS = np.array(list("aaaabbbb"), dtype=object)


@pytest.fixture(scope="module", autouse=True)
def cpu(tmp_path_factory):
    """verl's platform is this CPU, and this process its whole group of gloo."""
    transformers()
    import verl.plugin.platform.platform_manager as manager
    from verl.plugin.platform.platform_cuda import PlatformCUDA

    class CPU(PlatformCUDA):
        device_name = "cpu"
        device_module = SimpleNamespace(
            is_available=lambda: False,
            empty_cache=lambda: None,
            get_device_name=lambda *_: "cpu",
            memory_allocated=lambda *_: 0,
            memory_reserved=lambda *_: 0,
            mem_get_info=lambda *_: (1, 1),
            max_memory_allocated=lambda *_: 0,
            max_memory_reserved=lambda *_: 0,
            get_rng_state=torch.get_rng_state,
            set_rng_state=torch.set_rng_state,
        )

        def is_available(self):
            return True

        def current_device(self):
            return torch.device("cpu")

        def communication_backend_name(self):
            return "gloo"

        def get_device_capability(self, device_index=0):
            return None, None

    store = tmp_path_factory.mktemp("group") / "store"
    ours = not torch.distributed.is_initialized()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manager, "_current_platform", CPU())
        for name, value in {
            "RANK": "0",
            "WORLD_SIZE": "1",
            "LOCAL_RANK": "0",
            "LOCAL_WORLD_SIZE": "1",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": "1",
            "REDIS_STORE_SERVER_HOST": "",
            "VERL_ENGINE_DEVICE": "cuda",
        }.items():
            patch.setenv(name, value)
        if ours:
            torch.distributed.init_process_group(
                "gloo", init_method=f"file://{store}", rank=0, world_size=1
            )
        yield
        if ours:
            torch.distributed.destroy_process_group()


def composed(**given):
    """What `lab cluster gsm8k scale=smoke` composes for one GPU, but for what a CPU cannot do."""
    from omegaconf import OmegaConf

    made = job("gsm8k", {"scale": "smoke", "gpus": 1} | given)
    config = verl_config.compose(made.settings)
    actor = config.actor_rollout_ref.actor
    OmegaConf.update(actor, "optim.total_training_steps", 2)
    OmegaConf.update(actor, "fsdp_config.mixed_precision", FLOAT32, force_add=True)
    OmegaConf.update(actor, "fsdp_config.use_torch_compile", False)  # of the entropy: a minute
    OmegaConf.update(config, "actor_rollout_ref.model.path", TINY)
    return config


def policy(config):
    """verl's worker of a policy, with its model."""
    from verl.workers.engine_workers import ActorRolloutRefWorker

    worker = ActorRolloutRefWorker(config.actor_rollout_ref, role="actor")
    worker.init_model()
    return worker.actor


def batch(**more):
    """Two groups of four answers to two prompts, as verl's trainer hands them to a worker."""
    from verl.utils import tensordict_utils as tu
    from verl.workers.utils.padding import left_right_2_no_padding

    prompts, answers = max(map(len, PROMPTS)), max(map(len, ANSWERS))
    ids = torch.zeros(len(ANSWERS), prompts + answers, dtype=torch.long)
    seen = torch.zeros_like(ids)
    for row, answer in enumerate(ANSWERS):
        prompt = PROMPTS[row // 4]
        ids[row, prompts - len(prompt) : prompts + len(answer)] = torch.tensor(prompt + answer)
        seen[row, prompts - len(prompt) : prompts + len(answer)] = 1
    tensors = {
        "input_ids": ids,
        "prompts": ids[:, :prompts],
        "responses": ids[:, prompts:],
        "attention_mask": seen,
        "position_ids": (seen.cumsum(1) - 1).clamp(min=0),
        "response_mask": seen[:, prompts:].float(),
    }
    words = {"temperature": 1.0, "global_token_num": seen.sum(1).tolist()}
    for name, value in more.items():
        (tensors if isinstance(value, torch.Tensor) else words)[name] = value
    return left_right_2_no_padding(tu.get_tensordict(tensors, words))


def one_by_one(model) -> torch.Tensor:
    """Log-probabilities of every answer's tokens, "rollouts tokens", each answer read alone."""
    rows = []
    for row, answer in enumerate(ANSWERS):
        ids = torch.tensor([PROMPTS[row // 4] + answer])
        logp = torch.log_softmax(model(ids).logits[0, :-1].float(), -1)
        chosen = logp.gather(-1, ids[0, 1:, None])[-len(answer) :, 0]
        rows.append(torch.nn.functional.pad(chosen, (0, max(map(len, ANSWERS)) - len(answer))))
    return torch.stack(rows)


def scored(worker) -> torch.Tensor:
    from verl.utils import tensordict_utils as tu
    from verl.workers.utils.padding import no_padding_2_padding

    data = batch(calculate_entropy=False, compute_loss=False)
    return no_padding_2_padding(tu.get(worker.infer_batch(data), "log_probs"), data).float()


def alone():
    return transformers().AutoModelForCausalLM.from_pretrained(TINY, dtype=torch.float32)


def advantages_in_verl(config) -> torch.Tensor:
    from verl import DataProto
    from verl.trainer.ppo.ray_trainer import compute_advantage

    mask = batch()["response_mask"]
    scores = torch.zeros(mask.shape)
    scores[torch.arange(len(ANSWERS)), mask.sum(1).long() - 1] = (
        torch.tensor(REWARDS).flatten().float()
    )
    data = DataProto.from_single_dict(
        {"token_level_rewards": scores, "response_mask": mask, "uid": UIDS}
    )
    made = compute_advantage(
        data, adv_estimator=config.algorithm.adv_estimator, config=config.algorithm
    )
    return made.batch["advantages"]


def update(worker, **more):
    from verl.utils import tensordict_utils as tu

    rows = len(ANSWERS)
    data = batch(
        global_batch_size=rows,
        mini_batch_size=rows,
        epochs=1,
        seed=1,
        dataloader_kwargs={"shuffle": False},
        **more,
    )
    return tu.get(worker.train_mini_batch(data), "metrics")


def parameters(worker) -> dict[str, torch.Tensor]:
    """Full tensors by the names that verl gives its sampler."""
    made, _ = worker.engine.get_per_tensor_param()
    return {name: tensor.detach().clone() for name, tensor in made}


def test_a_policy_scores_packed_answers_apart_steps_on_our_gradient_and_goes_on(tmp_path):
    """Without FlashAttention; a step is AdamW's on the gradient of our estimator."""
    config = composed()
    worker = policy(config)
    module = worker.engine.module
    assert module.config._attn_implementation == "sdpa" and worker.engine.use_remove_padding
    model, old = alone(), scored(worker)
    with torch.no_grad():
        torch.testing.assert_close(old, one_by_one(model), atol=2e-4, rtol=1e-5)
    said = update(
        worker, old_log_probs=old, advantages=advantages_in_verl(config), calculate_entropy=False
    )

    weights = torch.tensor(lab.advantages("maxrl", np.array(REWARDS))).flatten().float()
    mask = batch()["response_mask"]
    loss = -(weights[:, None] * one_by_one(model) * mask).sum() / mask.sum()  # token-mean
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(
        model.parameters(), config.actor_rollout_ref.actor.grad_clip
    )
    optim = config.actor_rollout_ref.actor.optim
    torch.optim.AdamW(model.parameters(), lr=optim.lr, weight_decay=optim.weight_decay).step()
    assert said["loss"] == pytest.approx([loss.item()], rel=1e-4)
    assert said["grad_norm"] == pytest.approx([norm.item()], rel=1e-3)
    ours, theirs = dict(model.named_parameters()), parameters(worker)
    assert set(ours) <= set(theirs)
    start = dict(alone().named_parameters())
    for name, tensor in ours.items():
        # Adam's first step has the length of the rate: a wrong gradient is off by up to 2 of it.
        assert (theirs[name] - tensor).abs().mean() < 0.02 * optim.lr, name
        assert (tensor - start[name]).abs().max() > 0.5 * optim.lr

    worker.save_checkpoint(str(tmp_path / "actor"), None, 1, 2)
    other = policy(config)
    other.load_checkpoint(str(tmp_path / "actor"), None, False)
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in parameters(other).items())


def test_policy_and_reference_ask_for_no_kernel_that_no_extra_installs():
    config = composed(kl=0.1).actor_rollout_ref
    assert config.ref.strategy == "fsdp2"
    model = config.model
    assert model.override_config == {"attn_implementation": "sdpa"} and model.use_remove_padding
    assert not (model.use_liger or model.use_fused_kernels)
