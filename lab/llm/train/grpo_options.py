"""The setting `grpo`: options of TRL's GRPOConfig for which the lab has no setting of its own."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError, parse_call, unknown
from lab.llm.engines.imports import trl

# TRL's names, and the lab's settings; docs/trl.md has both with their defaults. The first ones mean
# the same.
SAME = {
    "entropy_coef": "entropy_bonus",
    "epsilon": "clip",
    "max_completion_length": "max_tokens",
    "num_generations": "rollouts",
}
EQUAL = ("learning_rate", "max_grad_norm", "seed", "temperature", "top_p", "weight_decay")
SAME |= {name: name for name in EQUAL}
SETTINGS = SAME | {
    "beta": "kl",
    "epsilon_high": "clip_high",
    "logging_steps": "log_every",
    "loss_type": "aggregation",
    "lr_scheduler_type": "schedule",
    "mask_truncated_completions": "truncation",
    "max_steps": "steps",
    "per_device_train_batch_size": "micro_batch",
    "steps_per_generation": "updates",
    "use_vllm": "engine",
    "vllm_gpu_memory_utilization": "engine_memory",
    "vllm_importance_sampling_mode": "sampler_correction",
    "warmup_steps": "warmup",
}
# Options that are passed to TRL. Of the others nothing is read in a training of the lab, the lab
# decides them, or they need a state that its checkpoints lack.
PASSED = """
adam_beta1 adam_beta2 adam_epsilon average_tokens_across_devices cast_lm_head_to_fp32
delta disable_dropout importance_sampling_level
off_policy_mask_threshold pad_to_multiple_of router_aux_loss_coef tf32 top_entropy_quantile
torch_empty_cache_steps use_bias_correction_kl
""".split()


def grpo_options(config: LanguageModelConfig) -> dict[str, Any]:
    """The options that `grpo` writes. LabError: TRL has no such option, or the lab decides it."""
    if not config.grpo:
        return {}
    options = parse_call(f"GRPOConfig({config.grpo})")[1]
    if "of" in options:  # an argument without a name
        raise LabError(f"grpo = {config.grpo!r}: write name=value, ..., such as delta=4.0")
    known = {field.name for field in fields(trl().GRPOConfig)}
    for name in options:
        if name in SETTINGS:
            raise LabError(f"grpo: {name} is a setting of the lab; give {SETTINGS[name]}=... alone")
        if name not in known:
            raise unknown("option of TRL's GRPOConfig", name, [*PASSED, *SETTINGS])
        if name not in PASSED:
            raise LabError(
                f"grpo: the lab decides itself what {name} says (device, sampling, evaluation,"
                f" records, checkpoints), or TRL would not read it here; leave {name} out"
            )
    return options
