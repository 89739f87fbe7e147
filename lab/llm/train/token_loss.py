"""From sampled answers to the loss of an update: log-probabilities by token, and what weighs them.

Tokens of several answers stand one after the other on one axis, " tokens", without padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence
from torch.utils.checkpoint import checkpoint

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError
from lab.losses import pacs
from lab.shapes import Float

# Tokens whose scores over the whole vocabulary are in memory together.
CHUNK = 512
# On a GPU the tokens of a row are padded to a multiple of this, so that few shapes occur in a step:
# kernels, plans and blocks of memory are made once for each.
WIDTH = 128


@dataclass
class Row:
    """One rollout as a loss reads it, with what becomes known of it one after the other."""

    prompt: list[int]  # token ids
    answer: list[int]
    sampled: Tensor  # log-probabilities of the answer's tokens, from the engine
    old: Any = None  # the same from the model, before the first update
    reference: Any = None  # the same from the reference model
    reward: float = torch.nan  # 1 or 0; nan if the rollout is lost, or masked because it was cut
    advantage: float = 0.0

    @property
    def length(self) -> int:
        """Tokens of prompt and answer."""
        return len(self.prompt) + len(self.answer)


def token_log_probabilities(
    model: Any, rows: Sequence[Row], temperature: float
) -> tuple[Float[Tensor, " tokens"], Float[Tensor, " tokens"]]:
    """Log-probability and entropy at every answer token of the rows; on a GPU in bfloat16.

    Rows are padded on the right, where causal attention never looks, on a GPU to a multiple of
    `WIDTH`. The scores over the vocabulary
    are computed for `CHUNK` tokens at a time, and once more in the backward pass.
    """
    ids = pad_sequence([torch.tensor(row.prompt + row.answer) for row in rows], batch_first=True)
    is_answer = torch.zeros_like(ids, dtype=torch.bool)
    for i, row in enumerate(rows):
        is_answer[i, len(row.prompt) : row.length] = True
    rest = 0 if model.device.type == "cpu" else -ids.shape[1] % WIDTH
    ids, is_answer = (pad(table, (0, rest)).to(model.device) for table in (ids, is_answer))
    with torch.autocast(ids.device.type, torch.bfloat16, enabled=ids.is_cuda):
        decoder = model.get_decoder()
        output = decoder(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False)
        states = output.last_hidden_state
        # What is computed at a token predicts the next one.
        before_answer = states[:, :-1][is_answer[:, 1:]]
        chunks = zip(before_answer.split(CHUNK), ids[is_answer].split(CHUNK), strict=True)
        head = model.get_output_embeddings()
        parts = [
            checkpoint(_scored, head, temperature, *chunk, use_reentrant=False) for chunk in chunks
        ]
    logp, entropy = zip(*parts, strict=True)
    return torch.cat(logp), torch.cat(entropy)


def _scored(
    head: Any, temperature: float, states: Tensor, tokens: Tensor
) -> tuple[Float[Tensor, " tokens"], Float[Tensor, " tokens"]]:
    logp = (head(states).float() / temperature).log_softmax(-1)
    return logp.gather(1, tokens[:, None])[:, 0], -(logp.exp() * logp).sum(-1)


@torch.no_grad()
def frozen(model: Any, rows: Sequence[Row], size: int, temperature: float) -> list[Tensor]:
    """Each row's log-probabilities under a model as it is now, `size` rows at a time."""
    result: list[Tensor] = []
    for micro_batch in in_pieces(rows, size):
        logp, _ = token_log_probabilities(model, micro_batch, temperature)
        result.extend(logp.split([len(row.answer) for row in micro_batch]))
    return result


def in_pieces(rows: Sequence[Row], size: int) -> list[list[Row]]:
    """The rows, `size` at a time."""
    return [list(rows[start : start + size]) for start in range(0, len(rows), size)]


# Factors and limits that some models put on their scores, and `token_log_probabilities` does not.
SCORE_SETTINGS = (
    "final_logit_softcapping logit_scale logits_scaling lm_head_multiplier output_multiplier"
).split()


def check_scores(model: Any) -> None:
    """LabError: the model changes its scores after the output layer."""
    config = model.config.get_text_config()
    for setting in SCORE_SETTINGS:
        if getattr(config, setting, None) not in (None, 1.0):
            raise LabError(
                f"{config.model_type} models change their scores after the output layer"
                f" ({setting} = {getattr(config, setting)}), and trainer=loop does not: take"
                " trainer=trl"
            )


def token_loss(
    config: LanguageModelConfig,
    model: Any,
    rows: Sequence[Row],
    update: Sequence[Row],
    batch: Sequence[Row],
) -> tuple[Float[Tensor, ""], dict[str, float]]:
    """What the micro-batch `rows` adds to the loss of its update, and to that update's metrics.

    `update` are all rows of the optimiser step, `batch` those of all updates. Rows without `old`
    log-probabilities get those of now: with one update the policy is the one that sampled.
    """
    logp, entropy = token_log_probabilities(model, rows, config.temperature)
    counts = [len(row.answer) for row in rows]
    if rows[0].old is None:
        for row, own in zip(rows, logp.detach().split(counts), strict=True):
            row.old = own
    if config.estimator == "pacs":
        loss, metrics = pacs_loss(config, logp, rows, update)
    else:
        loss, metrics = policy_gradient_loss(config, logp, rows, update, batch)
    mean_entropy = entropy.sum() / sum(len(row.answer) for row in update)
    if config.entropy_bonus:
        loss = loss - config.entropy_bonus * mean_entropy
    return loss, metrics | {"entropy": mean_entropy.item()}


def policy_gradient_loss(
    config: LanguageModelConfig,
    logp: Float[Tensor, " tokens"],
    rows: Sequence[Row],
    update: Sequence[Row],
    batch: Sequence[Row],
) -> tuple[Float[Tensor, ""], dict[str, float]]:
    """Minus advantage times the clipped ratio to the old policy, plus `kl` times the KL divergence.

    With one update the ratio is 1, and its gradient that of the log-probability.
    """
    counts = torch.tensor([len(row.answer) for row in rows], device=logp.device)
    advantages = [row.advantage for row in rows]
    A = torch.tensor(advantages, dtype=logp.dtype, device=logp.device).repeat_interleave(counts)
    ratio = (logp - torch.cat([row.old for row in rows])).exp()
    low, high = 1 - config.clip, 1 + (config.clip_high or config.clip)
    clipped = ratio.clamp(low, high)
    losses = -torch.minimum(ratio * A, clipped * A)
    outside = torch.where(A > 0, ratio > high, ratio < low) & (A != 0)
    update_tokens = sum(len(row.answer) for row in update)
    metrics = {"clip_ratio/region_mean": outside.sum().item() / update_tokens}
    if config.kl:
        gap = torch.cat([row.reference for row in rows]) - logp
        # Schulman's k3; the ratio corrects for samples of the old policy, as in TRL.
        divergence = ratio * (gap.exp() - gap - 1)
        losses = losses + config.kl * divergence
        metrics["KL divergence"] = divergence.sum().item() / update_tokens
    if config.aggregation == "token-mean":
        # An update has this many tokens on average: updates with longer answers weigh more.
        mean_tokens = sum(len(row.answer) for row in batch) / config.updates
        weight = torch.full_like(logp, 1 / mean_tokens)
    elif config.aggregation == "sequence-mean":
        weight = (1 / (len(update) * counts)).repeat_interleave(counts)
    else:
        weight = torch.full_like(logp, 1 / (len(update) * config.max_tokens))
    return (losses * weight).sum(), metrics


def pacs_loss(
    config: LanguageModelConfig,
    logp: Float[Tensor, " tokens"],
    rows: Sequence[Row],
    update: Sequence[Row],
) -> tuple[Float[Tensor, ""], dict[str, float]]:
    """`lab.losses.pacs` of whole groups, against the policy that sampled them."""
    counts = [len(row.answer) for row in rows]
    log_ratios = (logp - torch.cat([row.old for row in rows])).split(counts)
    log_ratio = torch.stack([ratios.sum() for ratios in log_ratios])
    rewards = torch.tensor([row.reward for row in rows], device=logp.device)
    loss = pacs(
        log_ratio.view(-1, config.rollouts),
        rewards.view(-1, config.rollouts),
        beta=config.beta,
        score=config.score,
        balanced=config.balanced,
        actor=config.actor,
    )
    share = len(rows) / len(update)
    return loss * share, {"log-ratio": log_ratio.detach().abs().mean().item() * share}
