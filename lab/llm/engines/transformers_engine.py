"""Sampling with transformers, each draw in the open: what vLLM is checked against, and the fast one
for tiny models.

A prompt is read once and its keys and values are repeated for its answers; all answers are then
decoded together, token by token, and those that have ended leave. An answer's token t is drawn by
inversion from the uniform number u(seed, prompt, answer, t) of a counter-based generator (Philox),
so it does not matter what else is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lab.device import compute_device
from lab.errors import LabError, real
from lab.llm.data.prompts import stop_tokens
from lab.llm.engines.base import (
    Completion,
    Sampling,
    decode_completion,
    encode_prompts,
    error_line,
    load_tokenizer,
)
from lab.llm.engines.imports import transformers
from lab.llm.engines.models import model_folder
from lab.rng import stream_seed

# answers decoded together: more gains nothing on a CPU, and a GPU's answers are vLLM's work
MAX_BATCH = 512


class TransformersEngine:
    """An engine on transformers; weights in float32 on a CPU, on a GPU as they are stored.

    | option | meaning |
    |---|---|
    | `model` | a folder, or a name of the hub; weights must be safetensors |
    | `device` | "cpu", "cuda", "cuda:1"; None: a GPU where there is one |
    | `memory` | GiB for what is decoded together, beside the weights; the rest waits |

    Errors: no such model, no tokenizer, no safetensors, weights that lack a part, transformers
    missing.
    """

    def __init__(self, model: str | Path, device: str | None = None, memory: float = 4.0) -> None:
        place, name = model_folder(model)
        device = torch.device(device) if device else compute_device()
        kind = torch.float32 if device.type == "cpu" else "auto"
        tokenizer = load_tokenizer(place)
        made = load_causal_model(place, kind)
        self._stand_on(made.to(device).train(False), tokenizer, name, memory)

    @classmethod
    def from_model(
        cls, model: Any, tokenizer: Any, name: str, memory: float = 4.0
    ) -> TransformersEngine:
        """An engine on a model in memory, such as one that is being trained: it answers with the
        weights of now.
        """
        engine = cls.__new__(cls)
        engine._stand_on(model, tokenizer, name, memory)
        return engine

    def _stand_on(self, model: Any, tokenizer: Any, name: str, memory: float) -> None:
        self.model, self.tokenizer, self.name = model, tokenizer, name
        self.device, self.stops = model.device, stop_tokens(tokenizer)
        self.memory = real("memory", memory, 0) * 2**30
        self.config = model.config.get_text_config()
        self.positions = self.config.max_position_embeddings

    @torch.inference_mode()
    def sample(
        self, prompts: Sequence[str], sampling: Sampling, first: int = 0
    ) -> list[list[Completion]]:
        """See `Engine.sample`. The model answers in eval mode and is left in the mode that it had."""
        with evaluation_mode(self.model):
            return self._sampled(prompts, sampling, first)

    def _sampled(
        self, prompts: Sequence[str], sampling: Sampling, first: int
    ) -> list[list[Completion]]:
        ids, n = (
            encode_prompts(self.tokenizer, prompts, sampling.max_tokens, self.positions, self.name),
            sampling.n,
        )
        rows = [(j, i) for j in range(len(ids)) for i in range(n)]
        together = self.batch_limit(max(map(len, ids), default=0), sampling)
        answers = [
            made
            for start in range(0, len(rows), together)
            for made in self._decoded(ids, rows[start : start + together], sampling, first)
        ]
        return [answers[j * n : (j + 1) * n] for j in range(len(ids))]

    def batch_limit(self, longest: int, sampling: Sampling) -> int:
        """How many answers to prompts of up to `longest` tokens are decoded together: what fits in
        the memory.

        Counted for one: its keys and values at full length, twice since they are copied as they
        grow; eight numbers of four bytes for each score; and its share of the prompt's widest
        layer.
        """
        size, config, width = self.model.dtype.itemsize, self.config, self.config.hidden_size
        head = getattr(config, "head_dim", None) or width // config.num_attention_heads
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        token = 2 * size * head * heads * config.num_hidden_layers
        read = (
            longest
            * size
            * (8 * width + 3 * getattr(config, "intermediate_size", 4 * width))
            // sampling.n
        )
        return int(
            min(
                MAX_BATCH,
                max(
                    1,
                    self.memory
                    // (
                        2 * token * (longest + sampling.max_tokens) + 32 * config.vocab_size + read
                    ),
                ),
            )
        )

    def _decoded(
        self, ids: list[list[int]], rows: list[tuple[int, int]], sampling: Sampling, first: int
    ) -> list[Completion]:
        """The answers of `rows`, pairs of a prompt and the number of its answer, decoded together."""
        device, limit, ends = (
            self.device,
            sampling.max_tokens,
            torch.tensor(list(self.stops.values()), device=self.device),
        )
        used = sorted({j for j, _ in rows})
        cache, mask, scores = self._read([ids[j] for j in used])
        row = torch.tensor([used.index(j) for j, _ in rows], device=device)
        cache.batch_select_indices(row)
        mask, scores, position = mask[row], scores[row], mask.sum(1)[row]
        random = torch.from_numpy(uniforms(sampling, [(first + j, i) for j, i in rows])).to(device)
        tokens, logp = (
            torch.zeros(len(rows), limit, dtype=torch.int64, device=device),
            torch.zeros_like(random).float(),
        )
        length, going = (
            torch.zeros(len(rows), dtype=torch.int64, device=device),
            torch.arange(len(rows), device=device),
        )
        for step in range(limit):
            token, each = draw(
                scores.float(), sampling.temperature, sampling.top_p, random[going, step]
            )
            tokens[going, step], logp[going, step], length[going] = token, each, step + 1
            on = ~torch.isin(token, ends)
            if step + 1 == limit or not on.any():
                break
            if not on.all():
                going, token, mask, position = going[on], token[on], mask[on], position[on]
                cache.batch_select_indices(on)
            mask = torch.cat((mask, torch.ones_like(mask[:, :1])), 1)
            scores = self.model(
                input_ids=token[:, None],
                attention_mask=mask,
                position_ids=position[:, None],
                past_key_values=cache,
                use_cache=True,
            ).logits[:, -1]
            position = position + 1
        drawn = zip(tokens.tolist(), logp.tolist(), length.tolist(), strict=True)
        return [
            decode_completion(self.tokenizer, self.stops, said[:end], each[:end], limit)
            for said, each, end in drawn
        ]

    def _read(self, prompts: list[list[int]]) -> tuple[Any, torch.Tensor, torch.Tensor]:
        """Keys and values of prompts, the mask "prompts longest" (shorter ones stand on the right),
        and last scores.
        """
        longest = max(map(len, prompts))
        tokens = torch.tensor(
            [[0] * (longest - len(one)) + one for one in prompts], device=self.device
        )
        lengths = torch.tensor([len(one) for one in prompts], device=self.device)
        place = torch.arange(longest, device=self.device) - (longest - lengths)[:, None]
        mask = (place >= 0).long()
        read = self.model(
            input_ids=tokens,
            attention_mask=mask,
            position_ids=place.clamp_min(0),
            use_cache=True,
            logits_to_keep=1,
        )
        return read.past_key_values, mask, read.logits[:, -1]


@contextmanager
def evaluation_mode(model: torch.nn.Module) -> Iterator[None]:
    """The model in eval mode, and after that every part of it in the mode that it had.

    In training mode dropout would change what is said, and a model with gradient checkpointing
    keeps no keys and values to sample with.
    """
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def load_causal_model(place: str, kind: torch.dtype | str) -> Any:
    """A causal language model with its weights, whole: from a folder or the hub, safetensors only.

    Errors: no such model, no safetensors, weights that lack a part.
    """
    try:
        made, found = transformers().AutoModelForCausalLM.from_pretrained(
            place, dtype=kind, use_safetensors=True, output_loading_info=True
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise LabError(
            f"{place} was not read ({error_line(error)}): give a causal language model whose weights are "
            "safetensors"
        ) from error
    if found["missing_keys"]:
        raise LabError(
            f"the weights of {place} lack {len(found['missing_keys'])} parts, such as "
            f"{min(found['missing_keys'])}: download or save the model again"
        )
    return made


def uniforms(sampling: Sampling, answers: Sequence[tuple[int, int]]) -> np.ndarray:
    """Random numbers "answers limit" in [0, 1), of 53 bits: a function of (seed, prompt, answer,
    token).

    Philox (Salmon et al. 2011) with the prompt's key; the answer's number is the upper half of the
    counter.
    """
    keys = {prompt: stream_seed(sampling.seed, "answers", prompt) for prompt, _ in answers}
    sources = (
        np.random.Philox(key=keys[prompt], counter=answer << 128) for prompt, answer in answers
    )
    return np.stack([np.random.Generator(source).random(sampling.max_tokens) for source in sources])


def draw(
    scores: torch.Tensor, temperature: float, top_p: float, random: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """A token for each row of scores (logits, float32 "rows vocabulary"), and its log-probability
    when drawn.

    The token is where the distribution function, over the vocabulary in order, passes the row's
    number in `random` (float64 "rows", in [0, 1)); at temperature 0 it is the likeliest, and the
    log-probability the model's own.
    """
    if temperature == 0:
        logp, token = scores.log_softmax(-1), scores.argmax(-1)
    else:
        logp = nucleus((scores / temperature).log_softmax(-1), top_p)
        upto = logp.exp().cumsum(-1, dtype=torch.float64)
        whole = upto[:, -1]
        below = torch.minimum(
            random * whole, whole.nextafter(torch.zeros_like(whole))
        )  # the product may round up
        token = torch.searchsorted(upto, below[:, None], right=True)[:, 0]
    return token, logp.gather(1, token[:, None])[:, 0]


def nucleus(logp: torch.Tensor, top_p: float) -> torch.Tensor:
    """Log-probabilities "rows vocabulary" of the fewest likeliest tokens that together reach
    `top_p`, made to sum to one, and minus infinity elsewhere (Holtzman et al. 2020). Of equal ones,
    those with the lower ids; never none.
    """
    if top_p == 1:
        return logp
    ranked, order = logp.sort(dim=-1, descending=True, stable=True)
    p = ranked.exp().double()
    kept = ranked.masked_fill(p.cumsum(-1) - p >= top_p, -torch.inf)
    return torch.empty_like(logp).scatter_(1, order, kept.log_softmax(-1))
