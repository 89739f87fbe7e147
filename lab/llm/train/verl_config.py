"""The presets of language models in verl's words: its settings, its command line, its own check,
its data. Floor 2.

| ours | in verl |
|---|---|
| an objective | `lab.NAME` with its options; "ppo": its own GAE with a critic |
| "pacs" | `lab.pacs_anchor`, over whole answers (seq-mean-token-sum), whatever `aggregation` says of other losses |
| one update a batch | `lab.policy_gradient`; of several: its clipped loss (with its third bound, `clip_ratio_c` 3) |
| `aggregation` | token-mean; sequence-mean: seq-mean-token-mean; sequence-sum: seq-mean-token-sum-norm over `max_tokens` |
| `kl`, `entropy_bonus` | in the loss; KL as `low_var_kl` (k3, as TRL) |
| a prompt that is no chat | a chat template that writes it as it stands |

What verl does by its own lights: the batch on a GPU is packed by tokens (`micro_batch` and
`device_memory` are one node's), the sampler is vLLM, AdamW with weight decay 0.01 and gradients
clipped to norm 1 are its defaults.

Attention is torch's SDPA, which needs no package of its own. It works through the whole square of a
pack: counted for Qwen3-4B, attention costs 0.3 of the matrix products in packs of 4,096 tokens, and
1.2 in those of 16,384 (verl's default).
"""

from __future__ import annotations

import contextlib
import copy
import io
import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lab.errors import LabError, parse_call
from lab.estimators import Estimator, estimator
from lab.llm.data.datasets import Problem
from lab.llm.data.prompts import Prompt, load_prompt
from lab.llm.engines.imports import transformers
from lab.llm.engines.models import locate_model, pinned
from lab.llm.train.verl_adapter import LOSS, PREFIX

RUN = "$RUN"  # the run folder, in the words of a command: the scripts set it where they run
AGGREGATIONS = {
    "token-mean": "token-mean",
    "sequence-mean": "seq-mean-token-mean",
    "sequence-sum": "seq-mean-token-sum-norm",
}
WHOLE_ANSWERS = "seq-mean-token-sum"  # PACS's score is of an answer's whole log-probability
CRITIC_RATE = 1e-5  # PACS Table 4
# torch's own; verl's default is FlashAttention 2, which has no wheel and which nothing installs
ATTENTION = "sdpa"
SHARDING = "fsdp2"  # verl's default, FSDP1, is on its way out there and in torch
TOKENS = 4096  # of a GPU and a pass, in one row: SDPA's mask and work grow with their square
AS_IT_STANDS = "{{ messages[0].content }}"
INSTALL = (
    "verl is not installed: make setup-llm, or on the nodes of a cluster "
    "pip install -c constraints-cluster.txt -e '.[cluster,vllm]'"
)


def settings(
    values: dict[str, Any], nodes: int, gpus: int, folder: Path, name: str
) -> dict[str, Any]:
    """verl's settings, key by key, for a preset's parameters on nodes x gpus; paths are of the run
    folder `RUN`.

    `folder`: where that will be, as a local model is named by its way from there. LabError: what
    verl cannot do as the lab means it, or a batch that does not divide.
    """
    _checked(values, nodes * gpus)
    estimator = values["estimator"]
    aggregation = WHOLE_ANSWERS if estimator == "pacs" else AGGREGATIONS[values["aggregation"]]
    clipped = estimator == "ppo" or values["updates"] > 1
    rates = {"actor_rollout_ref.actor.optim.lr": values["learning_rate"]}
    if estimator == "ppo":
        taught = {"algorithm.adv_estimator": "gae"}
        rates |= {
            "critic.strategy": SHARDING,
            "critic.optim.lr": CRITIC_RATE,
            "critic.model.path": _model(values["model"], folder),
            "+critic.model.override_config.attn_implementation": ATTENTION,
            "critic.model.use_remove_padding": True,
            # The trainer reads this one for both passes of the critic, and no other.
            "+critic.ppo_infer_max_token_len_per_gpu": _tokens(values),
            "critic.data_loader_seed": values["seed"],
        }
    else:
        chosen = load_estimator(values)
        word, options = parse_call(chosen.spec)
        taught = {"algorithm.adv_estimator": PREFIX + word}
        if values["truncation"] != "score":
            options |= {"truncation": values["truncation"], "max_tokens": values["max_tokens"]}
        taught |= {f"+algorithm.lab.{key}": value for key, value in options.items()}
    chat = (
        {}
        if load_prompt(values["prompt"]).chat
        else {"actor_rollout_ref.model.custom_chat_template": AS_IT_STANDS}
    )
    return (
        taught
        | {
            "data.train_files": [f"{RUN}/train.parquet"],
            "data.val_files": [f"{RUN}/{eval_file_name(one)}" for one in values["eval_sets"]],
            "data.train_batch_size": values["prompts"],
            "data.max_prompt_length": values["max_prompt_tokens"],
            "data.max_response_length": values["max_tokens"],
            "data.filter_overlong_prompts": True,
            "data.seed": values["seed"],
            "reward.custom_reward_function.path": "pkg://lab.llm.train.verl_adapter",
            "reward.custom_reward_function.name": "compute_score",
            "+reward.custom_reward_function.reward_kwargs.style": values["style"],
            "actor_rollout_ref.model.path": _model(values["model"], folder),
            "+actor_rollout_ref.model.override_config.attn_implementation": ATTENTION,
            # A micro-batch is one row of packed answers: transformers sees from their positions
            # where one ends, and none reads another. Without packing, all would be padded to the
            # longest.
            "actor_rollout_ref.model.use_remove_padding": True,
            "actor_rollout_ref.model.enable_gradient_checkpointing": True,
        }
        | chat
        | rates
        | {
            "actor_rollout_ref.actor.strategy": SHARDING,  # the reference's too
            "actor_rollout_ref.actor.policy_loss.loss_mode": "vanilla" if clipped else LOSS,
            "actor_rollout_ref.actor.clip_ratio": values["clip"],
            "actor_rollout_ref.actor.clip_ratio_low": values["clip"],
            "actor_rollout_ref.actor.clip_ratio_high": values["clip"],
            "actor_rollout_ref.actor.loss_agg_mode": aggregation,
            "actor_rollout_ref.actor.loss_scale_factor": (
                values["max_tokens"] if aggregation.endswith("norm") else None
            ),
            "actor_rollout_ref.actor.ppo_mini_batch_size": values["prompts"] // values["updates"],
            "actor_rollout_ref.actor.ppo_epochs": 1,
            "actor_rollout_ref.actor.use_dynamic_bsz": True,
            "actor_rollout_ref.actor.ppo_max_token_len_per_gpu": _tokens(values),
            "actor_rollout_ref.actor.entropy_coeff": values["entropy_bonus"],
            "actor_rollout_ref.actor.use_kl_loss": values["kl"] > 0,
            "actor_rollout_ref.actor.kl_loss_coef": values["kl"],
            "actor_rollout_ref.actor.kl_loss_type": "low_var_kl",
            "actor_rollout_ref.actor.data_loader_seed": values["seed"],
            "actor_rollout_ref.actor.fsdp_config.seed": values["seed"],
            "actor_rollout_ref.rollout.name": "vllm",
            "actor_rollout_ref.rollout.n": values["rollouts"],
            "actor_rollout_ref.rollout.temperature": values["temperature"],
            "actor_rollout_ref.rollout.top_p": values["top_p"],
            "actor_rollout_ref.rollout.seed": values["seed"],
            "actor_rollout_ref.rollout.tensor_model_parallel_size": 1,
            "actor_rollout_ref.rollout.gpu_memory_utilization": values["engine_memory"],
            "actor_rollout_ref.rollout.val_kwargs.n": values["samples"],
            "actor_rollout_ref.rollout.val_kwargs.do_sample": True,
            "actor_rollout_ref.rollout.val_kwargs.temperature": values["eval_temperature"],
            "actor_rollout_ref.rollout.val_kwargs.top_p": values["eval_top_p"],
            "trainer.nnodes": nodes,
            "trainer.n_gpus_per_node": gpus,
            "trainer.total_training_steps": values["steps"],
            "trainer.total_epochs": values[
                "steps"
            ],  # never the end: an epoch has at least one step
            "trainer.test_freq": values["log_every"],
            "trainer.save_freq": values["log_every"],
            "trainer.max_actor_ckpt_to_keep": 2,
            "trainer.max_critic_ckpt_to_keep": 2,
            "trainer.logger": ["console", "file"],
            "trainer.project_name": "lab",
            "trainer.experiment_name": name,
            "trainer.default_local_dir": f"{RUN}/checkpoints",
            "+ray_kwargs.ray_init.runtime_env.env_vars.VERL_FILE_LOGGER_PATH": (
                f"{RUN}/verl-$STARTED.jsonl"
            ),
            "hydra.run.dir": f"{RUN}/hydra",
        }
    )


def load_estimator(values: dict[str, Any]) -> Estimator:
    """The estimator whose advantages verl will use; for "pacs" that of its anchor."""
    if values["estimator"] == "pacs":
        return estimator(
            "pacs_anchor", beta=values["beta"], score=values["score"], balanced=values["balanced"]
        )
    return estimator(values["estimator"])


def remarks(values: dict[str, Any]) -> list[str]:
    """What a reader of the command must know besides: rules, and where verl's run is not the
    preset's, word by word.
    """
    said = []
    if values["estimator"] == "ppo":
        said.append(
            "PPO is verl's own: GAE with gamma 1 and lambda 1, a critic from the same model at"
            f" rate {CRITIC_RATE:g} (PACS Table 4), the ratio clipped at {values['clip']:g}; PACS"
            " states neither gamma, lambda nor the clip"
        )
        said.append(
            "an answer that could not be judged counts as wrong, and no limit of their share stops"
            " the run"
        )
    else:
        said.append(f"{load_estimator(values).label}: {load_estimator(values).rules}")
    if values["estimator"] == "pacs":
        said.append(
            "PACS as its gradient where the policy is its reference: exact at the first update of a"
            " batch"
            + (
                f"; the other {values['updates'] - 1} clip the ratio"
                if values["updates"] > 1
                else ""
            )
        )
    if values["truncation"] != "score":
        said.append(
            f"truncated answers: {values['truncation']}; one that ends exactly at {values['max_tokens']}"
            " tokens counts among them"
        )
    name, _, revision = hub_model(values["model"]).partition("@")
    if name:
        newest = "at its newest revision, which model/REVISION will name"
        said.append(f"{name} at revision {revision}" if revision else f"{name} {newest}")
    return said


def _checked(values: dict[str, Any], gpus: int) -> None:
    """LabError for what verl has no place for, or would do otherwise than the name says."""
    estimator = values["estimator"]
    # lab.estimator("pacs(...)") is PACS at its anchor; here PACS is a loss with settings of its own.
    if estimator != "pacs" and parse_call(estimator)[0] == "pacs":
        raise LabError(
            f"estimator = {estimator!r}: the options of PACS are settings here; give estimator=pacs"
            " beta=... score=... balanced=..."
        )
    for key in ("smoothing", "greedy_filter", "actor", "reference_every"):
        if values[key]:
            raise LabError(
                f"{key} = {values[key]}: verl has no place for it; set it to {type(values[key])()},"
                " or train on one node with lab train"
            )
    if estimator == "ppo" and values["truncation"] != "score":
        raise LabError(
            f"truncation = {values['truncation']}: verl's PPO scores every answer; say"
            " truncation=score"
        )
    if estimator == "ppo" and not values["clip"]:
        raise LabError("clip = 0: PPO clips its ratio; give for example clip=0.2")
    if values["updates"] > 1 and not values["clip"]:
        raise LabError(
            f"clip = 0 with updates = {values['updates']}: the later updates of a batch would stand"
            " still; give for example clip=0.2, or updates=1"
        )
    if estimator == "pacs" and values["score"] == "grpo":
        raise LabError(
            "score = 'grpo': it has no gradient where the policy is its reference, which is all"
            " that verl can use of PACS; take rloo or dr_grpo"
        )
    if estimator != "ppo":
        load_estimator(values).coefficients(values["rollouts"])
    prompts, updates = values["prompts"], values["updates"]
    if prompts % updates:
        raise LabError(
            f"prompts = {prompts} is no multiple of updates = {updates}: change one of them"
        )
    if prompts // updates * values["rollouts"] % gpus:
        raise LabError(
            f"an update of {prompts // updates} prompts x {values['rollouts']} rollouts does not"
            f" divide over {gpus} GPUs, and verl would add empty rows: change nodes, gpus, prompts"
            " or rollouts"
        )


def _tokens(values: dict[str, Any]) -> int:
    """Tokens of a micro-batch: `TOKENS`, or the longest sequence, which verl must place."""
    return max(TOKENS, values["max_prompt_tokens"] + values["max_tokens"])


def _model(model: str, folder: Path) -> str:
    place, _ = locate_model(model)
    return f"{RUN}/{os.path.relpath(place, folder)}" if Path(place).is_dir() else f"{RUN}/model"


def hub_model(model: str) -> str:
    """The model that train.sh copies from the hub, with a pinned revision; "" for a folder.

    >>> hub_model("Qwen/Qwen3-4B")
    'Qwen/Qwen3-4B@1cfa9a7208912126459214e8b04321603b3df60c'
    """
    place, _ = locate_model(model)
    if Path(place).is_dir():
        return ""
    name, revision = pinned(place)
    return f"{name}@{revision}" if revision else name


def eval_file_name(name: str) -> str:
    """The file of an evaluation set in the run folder.

    >>> eval_file_name("arithmetic(level=3)")
    'eval-arithmetic_level_3.parquet'
    """
    return f"eval-{re.sub(r'[^a-z0-9]+', '_', Path(name).name.lower()).strip('_')}.parquet"


def hydra_overrides(chosen: dict[str, Any]) -> list[str]:
    """The settings as verl's command line takes them: Hydra's `key=value`, text in single quotes
    where it must be.
    """
    return [f"{key}={_written(value)}" for key, value in chosen.items()]


def _written(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_written, value))}]"
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z_][\w./-]*", value):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(value)


def installed() -> bool:
    """Whether verl is here to check a configuration; to write a command it is not needed."""
    return find_spec("verl") is not None


def compose(chosen: dict[str, Any]) -> Any:
    """verl's whole configuration with these settings, by its own composition and its own check;
    `RUN` becomes ".".

    LabError: verl is not installed, knows no such key, or refuses a value.
    """
    if not installed():
        raise LabError(INSTALL)
    transformers()
    import verl
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException
    from verl.trainer.ppo.core_algos import get_adv_estimator_fn, get_policy_loss_fn
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import validate_config

    here = [word.replace(RUN, ".") for word in hydra_overrides(chosen)]
    folder = Path(verl.__file__).parent / "trainer" / "config"
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            with initialize_config_dir(str(folder), version_base=None):
                config = compose("ppo_trainer", here)
            checked = copy.deepcopy(config)
            checked.critic.model = None  # else the check loads it
            validate_config(checked, need_reference_policy(config), need_critic(config))
            get_adv_estimator_fn(config.algorithm.adv_estimator)
            get_policy_loss_fn(config.actor_rollout_ref.actor.policy_loss.loss_mode)
    except (HydraException, AssertionError, ValueError, TypeError) as error:
        raise LabError(f"verl {verl.__version__} refuses its configuration: {error}") from error
    return config


def rows(problems: Sequence[Problem], written: Prompt, split: str) -> list[dict[str, Any]]:
    """Problems as verl reads them: one user turn (the chat template is verl's to apply) and the
    gold answer.
    """
    return [
        {
            "data_source": problem.source,
            "prompt": [
                {"role": "user", "content": replace(written, chat=False).render(problem.question)}
            ],
            "ability": "math",
            "reward_model": {"style": "rule", "ground_truth": problem.answer},
            "extra_info": {"split": split, "index": at, "id": problem.id},
        }
        for at, problem in enumerate(problems)
    ]
