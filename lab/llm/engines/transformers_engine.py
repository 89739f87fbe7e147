"""Sampling with transformers: the reference for vLLM, and the faster engine for tiny models.

A prompt is read once and its keys and values are repeated for its completions. All completions are
then decoded together, token by token, and those that have ended leave the batch. Token t of a
completion is drawn by inversion from the uniform number u(seed, prompt, completion, t) of a
counter-based generator (Philox), so it does not depend on what else is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError

from lab.errors import LabError, in_one_sentence
from lab.llm.data.prompts import stop_tokens
from lab.llm.engines.base import (
    Completion,
    Sampling,
    decode_completion,
    encode_prompts,
    load_tokenizer,
)
from lab.llm.engines.imports import transformers
from lab.llm.engines.model_costs import cache_bytes
from lab.llm.engines.models import model_folder
from lab.training.device import compute_device
from lab.training.rng import stream_seed

# Completions decoded together. More gains nothing on a CPU, and on a GPU vLLM is the better choice.
MAX_BATCH = 512
MEMORY = 4 * 2**30  # bytes for decoding, beside the weights


class TransformersEngine:
    """An engine on transformers; float32 weights on a CPU, the stored type on a GPU.

    `model`: a folder or a name of the hub; or a model in memory, such as one in training, with its
    tokenizer and its name. LabError: no such model, no tokenizer, no safetensors, incomplete
    weights, or transformers is not installed.
    """

    def __init__(self, model: Any, tokenizer: Any = None, name: str = "") -> None:
        if tokenizer is None:
            place, name = model_folder(model)
            device = compute_device()
            tokenizer = load_tokenizer(place)
            dtype = torch.float32 if device.type == "cpu" else "auto"
            model = load_causal_model(place, dtype).to(device).eval()
        self.model = model
        self.tokenizer = tokenizer
        self.name = name
        self.device = model.device
        self.stops = stop_tokens(tokenizer)
        self.positions = model.config.get_text_config().max_position_embeddings

    @torch.inference_mode()
    def sample(
        self, prompts: Sequence[str], sampling: Sampling, first: int = 0
    ) -> list[list[Completion]]:
        """See `Engine.sample`. Runs the model in eval mode and restores its mode afterwards."""
        ids = encode_prompts(self, prompts, sampling.max_tokens)
        n = sampling.n
        # One row for each completion: the index of its prompt and its own.
        rows = [(j, i) for j in range(len(ids)) for i in range(n)]
        batch = self.batch_limit(max(map(len, ids), default=0), sampling)
        completions = []
        # In training mode there is dropout, and gradient checkpointing keeps no keys and values.
        training = self.model.training
        self.model.eval()
        try:
            for start in range(0, len(rows), batch):
                completions += self._decoded(ids, rows[start : start + batch], sampling, first)
        finally:
            self.model.train(training)
        return [completions[j * n : (j + 1) * n] for j in range(len(ids))]

    def batch_limit(self, longest: int, sampling: Sampling) -> int:
        """How many completions are decoded together; `longest`: tokens of the longest prompt.

        Counted for each completion: its keys and values at full length, twice because they are
        copied as they grow, and eight numbers of four bytes for each logit.
        """
        config = self.model.config.get_text_config()
        # `cache_bytes` is of two bytes a number, and all are there twice.
        kept = self.model.dtype.itemsize * cache_bytes(config) * (longest + sampling.max_tokens)
        return int(min(MAX_BATCH, max(1, MEMORY // (kept + 32 * config.vocab_size))))

    def _decoded(
        self, ids: list[list[int]], rows: list[tuple[int, int]], sampling: Sampling, first: int
    ) -> list[Completion]:
        """Decode the completions of `rows`, pairs of prompt and completion index, together."""
        device, limit = self.device, sampling.max_tokens
        ends = torch.tensor(list(self.stops.values()), device=device)
        # Read each prompt once, then repeat its keys and values for its completions.
        used = sorted({j for j, _ in rows})
        cache, mask, scores = self._read([ids[j] for j in used])
        prompt_row = torch.tensor([used.index(j) for j, _ in rows], device=device)
        cache.batch_select_indices(prompt_row)
        position = mask.sum(1)[prompt_row]
        mask = mask[prompt_row]
        scores = scores[prompt_row]
        numbers = uniforms(sampling, [(first + j, i) for j, i in rows])
        random = torch.from_numpy(numbers).to(device)
        tokens = torch.zeros(len(rows), limit, dtype=torch.int64, device=device)
        logp = torch.zeros_like(random).float()
        length = torch.zeros(len(rows), dtype=torch.int64, device=device)
        # The rows that have not ended; `token`, `mask`, `position` and `scores` hold only these.
        active = torch.arange(len(rows), device=device)
        for step in range(limit):
            token, token_logp = draw(
                scores.float(), sampling.temperature, sampling.top_p, random[active, step]
            )
            tokens[active, step] = token
            logp[active, step] = token_logp
            length[active] = step + 1
            unfinished = ~torch.isin(token, ends)
            if step + 1 == limit or not unfinished.any():
                break
            if not unfinished.all():
                active = active[unfinished]
                token = token[unfinished]
                mask = mask[unfinished]
                position = position[unfinished]
                cache.batch_select_indices(unfinished)
            mask = torch.cat((mask, torch.ones_like(mask[:, :1])), 1)
            scores = self.model(
                input_ids=token[:, None],
                attention_mask=mask,
                position_ids=position[:, None],
                past_key_values=cache,
                use_cache=True,
            ).logits[:, -1]
            position = position + 1
        sampled = zip(tokens.tolist(), logp.tolist(), length.tolist(), strict=True)
        return [
            decode_completion(self, row_ids[:end], row_logp[:end], sampling)
            for row_ids, row_logp, end in sampled
        ]

    def _read(self, prompts: list[list[int]]) -> tuple[Any, torch.Tensor, torch.Tensor]:
        """Keys and values of prompts, their mask "prompts longest", and the last logits.

        Shorter prompts are padded on the left.
        """
        longest = max(map(len, prompts))
        padding = torch.tensor([longest - len(ids) for ids in prompts], device=self.device)
        rows = [[0] * (longest - len(ids)) + ids for ids in prompts]
        tokens = torch.tensor(rows, device=self.device)
        # Positions count from the first token of the prompt and are negative on the padding.
        position = torch.arange(longest, device=self.device) - padding[:, None]
        mask = (position >= 0).long()
        output = self.model(
            input_ids=tokens,
            attention_mask=mask,
            position_ids=position.clamp_min(0),
            use_cache=True,
            logits_to_keep=1,
        )
        return output.past_key_values, mask, output.logits[:, -1]


def load_causal_model(place: str, kind: torch.dtype | str) -> Any:
    """A causal language model with all its weights; `kind` "auto" is their stored type.

    LabError: no such model, no safetensors, or incomplete weights.
    """
    cure = "give a causal language model whose weights are safetensors"
    faults = OSError, ValueError, RuntimeError, SafetensorError
    with in_one_sentence(f"{place} was not read", cure, *faults):
        model, report = transformers().AutoModelForCausalLM.from_pretrained(
            place, dtype=kind, use_safetensors=True, output_loading_info=True
        )
    missing = report["missing_keys"]
    if missing:
        raise LabError(
            f"the weights of {place} lack {len(missing)} parts, such as {min(missing)}: download or"
            " save the model again"
        )
    return model


def uniforms(sampling: Sampling, answers: Sequence[tuple[int, int]]) -> np.ndarray:
    """Random numbers "answers limit" in [0, 1), a function of (seed, prompt, answer, token).

    Philox (Salmon et al. 2011): a key for each prompt, the answer as upper half of the counter.
    """
    keys = {prompt: stream_seed(sampling.seed, "answers", prompt) for prompt, _ in answers}
    sources = (
        np.random.Philox(key=keys[prompt], counter=answer << 128) for prompt, answer in answers
    )
    return np.stack([np.random.Generator(source).random(sampling.max_tokens) for source in sources])


def draw(
    scores: torch.Tensor, temperature: float, top_p: float, random: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw a token for each row of logits; returns the tokens and their log-probabilities.

    `scores` are float32 "rows vocabulary". The token is where their cumulative distribution passes
    the row's number in `random` (float64 "rows", in [0, 1)); at temperature 0 the likeliest one.
    LabError: scores that are not finite.
    """
    if not scores.amax(-1).isfinite().all():
        fault = (
            "the model's scores are not finite, as of damaged weights or a training that diverged"
        )
        raise LabError(f"{fault}: lower learning_rate, or take an earlier checkpoint")
    if temperature == 0:
        logp = scores.log_softmax(-1)
        token = scores.argmax(-1)
    else:
        logp = nucleus((scores / temperature).log_softmax(-1), top_p)
        cumulative = logp.exp().cumsum(-1, dtype=torch.float64)
        total = cumulative[:, -1]
        # The product may round up to the total, beyond the last token.
        target = torch.minimum(random * total, total.nextafter(torch.zeros_like(total)))
        token = torch.searchsorted(cumulative, target[:, None], right=True)[:, 0]
    return token, logp.gather(1, token[:, None])[:, 0]


def nucleus(logp: torch.Tensor, top_p: float) -> torch.Tensor:
    """Nucleus (top-p) sampling: log-probabilities "rows vocabulary" (Holtzman et al. 2020).

    The fewest likeliest tokens that together reach `top_p` are kept and renormalised; the others
    get minus infinity. Ties go to the lower ids, and at least one token is kept.
    """
    if top_p == 1:
        return logp
    ranked, order = logp.sort(dim=-1, descending=True, stable=True)
    p = ranked.exp().double()
    # A token is dropped if the likelier ones reach top_p without it.
    nucleus_logp = ranked.masked_fill(p.cumsum(-1) - p >= top_p, -torch.inf)
    return torch.empty_like(logp).scatter_(1, order, nucleus_logp.log_softmax(-1))
