"""verl with the lab's estimators, loss and verifier: what its trainer calls, on as many nodes as it
runs on. Floor 2.

verl loads this by itself wherever the lab is installed (its entry point `verl.plugins`,
`lab/llm/train/verl_plugin.py`).

| what | in verl's configuration |
|---|---|
| an estimator of the catalogue | `algorithm.adv_estimator=lab.maxrl` |
| the same with options | `algorithm.adv_estimator=lab.truncated +algorithm.lab.order=8` |
| truncated answers count as wrong, or not | `+algorithm.lab.truncation=zero` (or mask) `+algorithm.lab.max_tokens=4096` |
| a policy gradient without clipping | `actor_rollout_ref.actor.policy_loss.loss_mode=lab.policy_gradient` |
| the verifier | `reward.custom_reward_function.path=pkg://lab.llm.train.verl_adapter` |

The prefix tells ours from verl's own `grpo` and `rloo`, whose rules differ (ddof 1, eps 1e-6;
groups of one scored).

PACS is here as an advantage, `lab.pacs_anchor`: exactly the gradient of PACS where the policy is
its reference, so at the first update of every batch, which is where the official code stands too. A
loss in verl sees neither rewards nor groups, and its micro batches cut groups apart, so the later
updates of a batch cannot be those of PACS's own loss.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lab.errors import LabError
from lab.estimators import ALIASES, advantages, estimator, estimator_names
from lab.groups import Rollout, make_groups
from lab.llm.engines.imports import transformers
from lab.llm.train.verl_repairs import repair
from lab.llm.verify.verifier import MIN_CHECKS, Verifier

if TYPE_CHECKING:
    import torch

PREFIX = "lab."
LOSS = f"{PREFIX}policy_gradient"
LOST = -(
    2.0**-20
)  # verl wants a number for every reward; this one no verifier gives, and it moves no mean reward
LOST_LIMIT = 0.02  # the share of lost rewards in a batch above which a run stops
_turn = threading.Lock()
_verifiers: dict[str, Verifier] = {}


def register() -> None:
    """Put every estimator of the catalogue and the loss into verl's registries. A second call
    changes nothing.

    verl is mended first (`lab.llm.train.verl_repairs`): a process that has our loss can load
    models.
    """
    transformers()
    from verl.trainer.ppo import core_algos

    repair()
    for name in (*estimator_names(), *ALIASES):
        if PREFIX + name not in core_algos.ADV_ESTIMATOR_REGISTRY:
            core_algos.register_adv_est(PREFIX + name)(partial(advantage, name))
    core_algos.register_policy_loss(LOSS)(policy_gradient)


def advantage(
    name: str,
    token_level_rewards: torch.Tensor,
    response_mask: torch.Tensor,
    index: Sequence,
    config: Any = None,
    **_: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The advantages of `lab.advantages` on every token of a response, twice, as verl wants them
    (its "returns").

    | argument | shape | meaning |
    |---|---|---|
    | `token_level_rewards` | "rollouts tokens" | they sum to the reward of a rollout: 0, 1, or `LOST` |
    | `response_mask` | "rollouts tokens" | 1 where the model wrote the token; rows of zeros are verl's padding |
    | `index` | "rollouts" | the uid of each rollout's problem, in any order; groups may be of any size |
    | `config` | | verl's `algorithm`: under its key `lab` stand the estimator's options, `truncation` and `max_tokens` |

    Rows of padding and lost rewards belong to no group: theirs is smaller, their advantage is 0. An
    answer of `max_tokens` tokens is a truncated one. LabError: another reward, named by uid and row; a
    group that is too small for the estimator; over 2% of at least 50 rewards lost.
    """
    options = dict(config.get("lab", None) or {}) if config is not None else {}
    truncation, max_tokens = options.pop("truncation", "score"), options.pop("max_tokens", None)
    if truncation != "score" and max_tokens is None:
        raise LabError(
            f"truncation={truncation} without max_tokens: add +algorithm.lab.max_tokens=TOKENS"
        )
    chosen, rewards = estimator(name, **options), token_level_rewards.sum(-1).tolist()
    lengths = response_mask.bool().sum(-1).tolist()
    rollouts = [
        Rollout(str(uid), row, None if reward == LOST else reward, length == max_tokens)
        for row, (uid, reward, length) in enumerate(zip(index, rewards, lengths, strict=True))
        if length
    ]
    _judged(rollouts)
    groups = make_groups(rollouts, truncation)
    scale = token_level_rewards.new_zeros(len(rewards))
    for group, values in zip(groups, advantages(chosen, groups), strict=True):
        scale[[rollout.index for rollout in group.rollouts]] = scale.new_tensor(values)
    found = scale[:, None] * response_mask
    return found, found


def _judged(rollouts: Sequence[Rollout]) -> None:
    lost = sum(rollout.reward is None for rollout in rollouts)
    if len(rollouts) >= MIN_CHECKS and lost > LOST_LIMIT * len(rollouts):
        raise LabError(
            f"{lost} of {len(rollouts)} answers of this batch could not be judged, the limit is"
            f" {LOST_LIMIT:.0%}: look at the gold answers (Verifier.unparsable), or give the"
            " verifier more processes (reward.num_workers)"
        )


def policy_gradient(
    old_log_prob: torch.Tensor,
    log_prob: torch.Tensor,
    advantages: torch.Tensor,
    response_mask: torch.Tensor,
    loss_agg_mode: str = "token-mean",
    config: Any = None,
    rollout_is_weights: torch.Tensor | None = None,
) -> tuple[torch.Tensor, dict[str, float]]:
    """-A log pi of every token, aggregated as `loss_agg_mode` names it; neither ratio nor clipping.

    For one update a batch: `old_log_prob` only tells how far the policy has moved since it sampled
    (actor/ppo_kl, which is 0 then). All tensors are "rollouts tokens". `rollout_is_weights`: verl's
    rollout correction, if it is on.
    """
    from verl.trainer.ppo.core_algos import agg_loss
    from verl.utils.torch_functional import masked_mean

    losses = -advantages.detach() * log_prob
    if rollout_is_weights is not None:
        losses = losses * rollout_is_weights
    loss = agg_loss(losses, response_mask, loss_agg_mode, **config.global_batch_info)
    return loss, {"actor/ppo_kl": masked_mean(old_log_prob - log_prob, response_mask).item()}


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: dict | None = None,
    style: str = "strict",
) -> dict[str, float]:
    """verl's reward function: 1 or 0, and `LOST` where the verifier has no opinion. Any thread may
    call it.

    `acc` counts a lost one as wrong: it is what verl's evaluation reports, beside the share `lost`.
    Every process holds one worker, which is killed when it is late; more run in parallel through
    `reward.num_workers`.
    """
    reward = _verifier(style).check([solution_str], [ground_truth])[0].reward
    return {
        "score": LOST if reward is None else reward,
        "acc": reward or 0.0,
        "lost": float(reward is None),
    }


def _verifier(style: str) -> Verifier:
    """This process's verifier. It never refuses by its error rate: here that would only lose whole
    groups unseen.
    """
    with _turn:
        if style not in _verifiers:
            _verifiers[style] = Verifier(style, workers=1, error_limit=1.0)
            atexit.register(_verifiers[style].close)
        return _verifiers[style]
