"""The calculus against the trainers' own loss functions, as installed, in seeded configurations.

A configuration is drawn, written as TRL or verl would be given it, read by lab.show, and its
gradient with respect to every token's log-probability is compared with that of their function.
"""

import warnings
from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import yaml

import lab
from lab.show.training_configs import read

pytestmark = pytest.mark.usefixtures("defaults_read_once")
CONFIGURATIONS = range(100)
ROWS, TOKENS = 8, 5


def batch(seed):
    """Log-probabilities now, then and of the reference; entropies, mask, advantages, rewards."""
    rng = np.random.default_rng(seed)
    logp = -rng.exponential(1.0, (ROWS, TOKENS))
    reference = logp + rng.normal(0, 0.5, logp.shape)  # verl cuts k3 off at 10 nats
    old = logp + rng.normal(0, 0.3, logp.shape) * (rng.random() < 0.8)
    lengths = rng.integers(1, TOKENS + 1, ROWS)
    mask = (np.arange(TOKENS) < lengths[:, None]).astype(float)
    return logp, old, reference, mask, (rng.random(ROWS) < 0.4).astype(float)


def oracle(found, logp, old, reference, mask, A):
    """Minus the slope that the calculus gives to each token, for rows that are there once."""
    loss, lengths = found.recipe.loss, mask.sum(1).astype(int)
    log_ratio = loss.of_ratio(logp - old, mask)
    slope = loss.slope(log_ratio, np.broadcast_to(A[:, None], log_ratio.shape))
    slope = slope - loss.kl * loss.kl_slope(log_ratio, logp - reference, mask)
    return -slope * mask * loss.shares(np.ones(len(A)), lengths)[:, None] / found.divisor


def configuration(tmp_path, name, settings):
    file = tmp_path / name
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")
    return read(file)


# --- TRL ------------------------------------------------------------------------------------------


def trl_settings(seed):
    rng = np.random.default_rng([seed, 1])
    kinds = ["grpo", "bnpo", "dr_grpo", "dapo", "cispo", "luspo"]
    found = {
        "loss_type": str(rng.choice(kinds)),
        "importance_sampling_level": str(rng.choice(["token", "sequence"])),
        "epsilon": round(float(rng.uniform(0.05, 0.4)), 3),
        "num_generations": ROWS,
        "max_completion_length": 64,
        "scale_rewards": str(rng.choice(["group", "none"])),
        "gradient_accumulation_steps": int(rng.integers(1, 4)),
        "num_iterations": 2,
    }
    if rng.random() < 0.5 or found["loss_type"] == "cispo":
        found["epsilon_high"] = round(float(rng.uniform(0.05, 1.6)), 3)
    if rng.random() < 0.4:
        found["delta"] = round(float(rng.uniform(1.05, 1.8)), 3)
    if rng.random() < 0.5:
        found |= {"beta": 0.07, "use_bias_correction_kl": bool(rng.random() < 0.5)}
    if rng.random() < 0.4:
        found["entropy_coef"] = 0.02
    return found


def trl_gradients(settings, logp, old, reference, mask, A):
    """GRPOTrainer._compute_loss on a trainer of nothing but settings: gradients of log-probability
    and entropy.
    """
    from trl import GRPOConfig, GRPOTrainer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args = GRPOConfig(output_dir="unused", use_cpu=True, bf16=False, **settings)
    leaf = torch.tensor(logp, requires_grad=True)
    entropies = torch.ones(leaf.shape, dtype=leaf.dtype, requires_grad=True)
    accumulated = settings["gradient_accumulation_steps"]
    trainer = SimpleNamespace(
        args=args,
        aux_loss_enabled=False,
        top_entropy_quantile=args.top_entropy_quantile,
        off_policy_mask_threshold=None,
        importance_sampling_level=args.importance_sampling_level,
        beta=args.beta,
        loss_type=args.loss_type,
        epsilon_low=args.epsilon,
        epsilon_high=args.epsilon if args.epsilon_high is None else args.epsilon_high,
        use_vllm=False,
        vllm_importance_sampling_correction=False,
        model=SimpleNamespace(training=True),
        current_gradient_accumulation_steps=accumulated,
        accelerator=SimpleNamespace(
            num_processes=1, gather=lambda x: x, reduce=lambda x, reduction: x, sync_gradients=True
        ),
        max_completion_length=args.max_completion_length,
        _entropy_bonus_enabled=args.entropy_coef != 0,
        use_adaptive_entropy=False,
        entropy_coef=args.entropy_coef,
        _metrics={"train": defaultdict(list)},
        _get_per_token_logps_and_entropies=lambda *a, **k: (leaf, entropies, None),
    )
    mask_ = torch.tensor(mask)
    inputs = {
        "prompt_ids": torch.zeros(len(A), 1, dtype=torch.long),
        "prompt_mask": torch.ones(len(A), 1),
        "completion_ids": torch.zeros(mask_.shape, dtype=torch.long),
        "completion_mask": mask_,
        "advantages": torch.tensor(A),
        "old_per_token_logps": torch.tensor(old),
        "ref_per_token_logps": torch.tensor(reference),
        "num_items_in_batch": mask_.sum() * args.steps_per_generation / accumulated * accumulated,
    }
    GRPOTrainer._compute_loss(trainer, None, inputs).backward()
    spent = entropies.grad if entropies.grad is not None else torch.zeros_like(entropies)
    return leaf.grad.numpy() * accumulated, spent.numpy() * accumulated


@pytest.mark.parametrize("seed", CONFIGURATIONS)
def test_the_loss_of_trl_is_that_of_the_calculus(seed, tmp_path):
    settings = trl_settings(seed)
    found = configuration(tmp_path, "grpo.yaml", settings)
    logp, old, reference, mask, rewards = batch(seed)
    A = lab.advantages(found.recipe.estimator, rewards)
    theirs, spent = trl_gradients(settings, logp, old, reference, mask, A)
    ours = oracle(found, logp, old, reference, mask, A)
    np.testing.assert_allclose(theirs * mask, ours, rtol=0, atol=1e-10)
    np.testing.assert_allclose(spent, -found.recipe.loss.entropy * mask / mask.sum(), atol=1e-10)


# --- verl -----------------------------------------------------------------------------------------


AGGREGATIONS = ["token-mean", *(f"seq-mean-token-{kind}" for kind in ("sum", "sum-norm", "mean"))]


def verl_settings(seed):
    rng = np.random.default_rng([seed, 2])
    clip = {
        "clip_ratio_low": round(float(rng.uniform(0.05, 0.4)), 3),
        "clip_ratio_high": round(float(rng.uniform(0.05, 0.5)), 3),
        "clip_ratio_c": round(float(rng.uniform(1.05, 3)), 3),
    }
    actor = clip | {
        "policy_loss": {"loss_mode": str(rng.choice(["vanilla", "gspo", "cispo", "gpg"]))},
        "loss_agg_mode": str(rng.choice(AGGREGATIONS)),
        "ppo_epochs": 2,
        "ppo_mini_batch_size": 512,
    }
    if rng.random() < 0.5:
        kinds = ["kl", "mse", "low_var_kl", "k3+", "k1+"]
        actor |= {"use_kl_loss": True, "kl_loss_coef": 0.07, "kl_loss_type": str(rng.choice(kinds))}
    names = ["grpo", "rloo", "grpo_vectorized", "rloo_vectorized"]
    algorithm = {
        "adv_estimator": str(rng.choice(names)),
        "norm_adv_by_std_in_grpo": bool(rng.random() < 0.5),
    }
    tree = {"actor": actor, "rollout": {"n": ROWS}}
    return {"algorithm": algorithm, "actor_rollout_ref": tree, "data": {"max_response_length": 64}}


def verl_gradients(settings, logp, old, reference, mask, rewards):
    """Advantages and gradient of verl's own functions, for one group."""
    from verl.trainer.ppo import core_algos
    from verl.workers.config import ActorConfig, PolicyLossConfig

    leaf, mask_ = torch.tensor(logp, requires_grad=True), torch.tensor(mask)
    scores = torch.zeros_like(mask_)
    scores[:, 0] = torch.tensor(rewards)
    given = dict(settings["actor_rollout_ref"]["actor"])
    algorithm = settings["algorithm"]
    options = {}
    if algorithm["adv_estimator"].startswith("grpo"):
        options["norm_adv_by_std_in_grpo"] = algorithm["norm_adv_by_std_in_grpo"]
    advantages, _ = core_algos.get_adv_estimator_fn(algorithm["adv_estimator"])(
        token_level_rewards=scores,
        response_mask=mask_,
        index=np.array(["one"] * len(rewards)),
        **options,
    )
    mode = given.pop("policy_loss")["loss_mode"]
    scale = settings["data"]["max_response_length"]
    config = ActorConfig(
        strategy="fsdp",
        rollout_n=ROWS,
        ppo_micro_batch_size_per_gpu=1,
        policy_loss=PolicyLossConfig(loss_mode=mode),
        loss_scale_factor=scale,
        global_batch_info={"loss_scale_factor": scale},
        **given,
    )
    options = {"loss_agg_mode": config.loss_agg_mode, "config": config}
    function = core_algos.get_policy_loss_fn(mode)
    loss, _ = function(torch.tensor(old), leaf, advantages, mask_, **options)
    if config.use_kl_loss:
        kl = core_algos.kl_penalty(leaf, torch.tensor(reference), config.kl_loss_type)
        loss = loss + config.kl_loss_coef * core_algos.agg_loss(
            kl, mask_, config.loss_agg_mode, loss_scale_factor=scale
        )
    loss.backward()
    return (advantages * mask_).sum(1) / mask_.sum(1), leaf.grad.numpy()


@pytest.mark.parametrize("seed", CONFIGURATIONS)
def test_the_loss_of_verl_is_that_of_the_calculus(seed, tmp_path):
    pytest.importorskip("verl")
    settings = verl_settings(seed)
    found = configuration(tmp_path, "ppo.yaml", settings)
    logp, old, reference, mask, rewards = batch(seed)
    theirs, slope = verl_gradients(settings, logp, old, reference, mask, rewards)
    A = lab.advantages(found.recipe.estimator, rewards)
    # grpo_vectorized computes in float32, whatever it is given.
    single = settings["algorithm"]["adv_estimator"] == "grpo_vectorized"
    np.testing.assert_allclose(theirs, A, rtol=0, atol=1e-6 if single else 1e-10)
    A = theirs.numpy()
    ours = oracle(found, logp, old, reference, mask, A)
    # verl divides a mean over tokens by their number + 1e-8
    np.testing.assert_allclose(slope * mask, ours, rtol=3e-8, atol=1e-10)
