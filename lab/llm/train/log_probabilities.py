"""The log-probabilities of sampled answers, token by token, under a model in training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.checkpoint import checkpoint

from lab.errors import LabError
from lab.shapes import Float

# Tokens whose scores over the whole vocabulary are in memory together.
CHUNK = 512


@dataclass
class Row:
    """One rollout as a loss reads it, with what becomes known of it one after the other.

    | field | meaning |
    |---|---|
    | `prompt`, `answer` | token ids |
    | `sampled` | log-probabilities of the answer's tokens, from the engine |
    | `old` | the same from the model, before the first update |
    | `reference` | the same from the reference model |
    | `reward` | 1 or 0; nan if the rollout is lost, or masked because it was cut |
    """

    prompt: list[int]
    answer: list[int]
    sampled: Tensor
    old: Any = None
    reference: Any = None
    reward: float = torch.nan
    advantage: float = 0.0

    @property
    def length(self) -> int:
        """Tokens of prompt and answer."""
        return len(self.prompt) + len(self.answer)


def token_log_probabilities(
    model: Any, rows: Sequence[Row], temperature: float
) -> tuple[Float[Tensor, " tokens"], Float[Tensor, " tokens"]]:
    """Log-probability and entropy at every answer token, one row after the other.

    Rows are padded on the right, where causal attention never looks. The scores over the vocabulary
    are computed for `CHUNK` tokens at a time, and once more in the backward pass. On a GPU in
    bfloat16.
    """
    ids = pad_sequence([torch.tensor(row.prompt + row.answer) for row in rows], batch_first=True)
    is_answer = torch.zeros_like(ids, dtype=torch.bool)
    for i, row in enumerate(rows):
        is_answer[i, len(row.prompt) : row.length] = True
    ids, is_answer = ids.to(model.device), is_answer.to(model.device)
    with torch.autocast(ids.device.type, torch.bfloat16, enabled=ids.is_cuda):
        states = model.get_decoder()(input_ids=ids, use_cache=False).last_hidden_state
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


# Factors and limits that some models put on their scores, and `token_log_probabilities` does not.
SCORE_SETTINGS = (
    "final_logit_softcapping",
    "logit_scale",
    "logits_scaling",
    "lm_head_multiplier",
    "output_multiplier",
)


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
