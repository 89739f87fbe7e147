"""What training a language model asks of a GPU: memory and traffic of a micro-batch, and the
sampler's room.

Counted on fake tensors through the model itself, as TRL calls it: bfloat16 autocast on float32
weights (the stream between layers stays float32, and autocast keeps a bfloat16 copy of every weight
until the forward pass ends), gradient checkpointing, and TRL's head, which never holds the scores
of all tokens.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from unittest.mock import patch

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from lab.budget import GIB
from lab.gpu_counter import Counter
from lab.llm.engines.architectures import parameter_count
from lab.llm.engines.imports import transformers, trl

# Assumed, not measured: the CUDA context, cuBLAS's and NCCL's work areas, fragments of the
# allocator.
CONTEXT = 2.0
# Assumed, not measured: CUDA graphs and buffers that vLLM keeps while it sleeps.
ASLEEP = 1.5


@dataclass(frozen=True)
class MicroBatch:
    """A forward and a backward pass, gradients of an earlier micro-batch being there.

    | field | unit | meaning |
    |---|---|---|
    | `peak` | GiB | beyond weights, gradients, optimiser and reference |
    | `bytes` | bytes | read and written by all kernels but matrix products and attention |
    | `launches` | | of kernels |
    """

    peak: float
    bytes: float
    launches: float


class _Elementwise(Counter):
    """Counts no traffic of matrix products and attention: their time is their arithmetic's."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        traffic, arithmetic = self.bytes, self.flops
        result = super().__torch_dispatch__(func, types, args, kwargs)
        if self.flops > arithmetic:
            self.bytes = traffic
        return result


def _attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """CUDA's attention with a mask: memory-efficient, in bfloat16, the mask turned into numbers."""
    half = [one.to(torch.bfloat16) for one in (query, key, value)]
    bias = None
    if attn_mask is not None:
        bias = torch.where(attn_mask, torch.zeros((), dtype=torch.bfloat16), float("-inf")).to(
            torch.bfloat16
        )
        bias = bias.expand(*query.shape[:3], key.shape[2])
    return torch.ops.aten._scaled_dot_product_efficient_attention(
        *half, bias, True, dropout_p, is_causal, scale=scale
    )[0]


@contextmanager
def _as_on_cuda() -> Iterator[None]:
    """CUDA's attention, and of TRL's head what its Triton kernels allocate: nothing."""
    from trl.kernels import chunked_logprob as head

    with (
        patch.object(torch.nn.functional, "scaled_dot_product_attention", _attention),
        patch.object(head, "_forward_tile", lambda *given, **named: None),
        patch.object(head, "_backward_tile", lambda *given, **named: None),
        patch.object(head, "_addmm_fp32", lambda *given: None),
    ):
        yield


def _counted(config: Any, layers: int, rows: int, tokens: int) -> tuple[int, int, int, int]:
    """Peaks of the forward and of the whole pass, traffic and launches of a model of so many
    layers.
    """
    trl()
    from trl.trainer.utils import add_fused_lm_head

    facts = copy.deepcopy(config).to_dict() | {"num_hidden_layers": layers}
    facts.pop("layer_types", None)
    shallow = type(config)(**facts)
    counter = _Elementwise()
    with FakeTensorMode(allow_non_fake_inputs=True), _as_on_cuda():
        model = transformers().AutoModelForCausalLM.from_config(shallow, dtype=torch.float32)
        model.train()
        model.gradient_checkpointing_enable()
        add_fused_lm_head(model, outputs=("log_probs", "entropy"))
        for weight in model.parameters():
            weight.grad = torch.empty_like(weight)
        ids = torch.zeros(rows, tokens, dtype=torch.int64)
        read = torch.ones_like(ids)
        with counter:
            with torch.autocast("cpu", torch.bfloat16):
                logp = model(
                    input_ids=ids, attention_mask=read, labels=ids.clone(), fused_lm_head=True
                ).log_probs
            forward = counter.peak
            logp.sum().backward()
    return forward, counter.peak, counter.bytes, counter.launches


@lru_cache(maxsize=64)
def _micro_batch(facts: str, rows: int, tokens: int) -> MicroBatch:
    import json

    config = transformers().AutoConfig.for_model(**json.loads(facts))
    one, two = (_counted(config, layers, rows, tokens) for layers in (1, 2))
    forward, whole, traffic, launches = (
        first + (config.num_hidden_layers - 1) * (second - first)
        for first, second in zip(one, two, strict=True)
    )
    # TRL's Triton kernels read each tile of bfloat16 scores once, and once more and write it
    # backward.
    traffic += 6 * config.vocab_size * rows * tokens
    return MicroBatch(max(forward, whole) / GIB, traffic, launches)


def micro_batch(config: Any, rows: int, tokens: int) -> MicroBatch:
    """A micro-batch of `rows` sequences of `tokens` tokens, prompts included, through a model of
    this configuration.

    Every layer is like the first, so that one and two layers are counted and the others follow: a
    model of 1.7B takes seconds, and each setting is counted once in a process.
    """
    import json

    facts = {
        name: value
        for name, value in config.to_dict().items()
        if name not in ("dtype", "torch_dtype")
    }
    return _micro_batch(json.dumps(facts, sort_keys=True, default=str), rows, tokens)


def cache_bytes(config: Any) -> int:
    """Bytes of keys and values of one token in bfloat16."""
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    return 2 * 2 * config.num_hidden_layers * heads * head


def resident(config: Any, reference: bool) -> dict[str, float]:
    """GiB that stay on the GPU from step to step: float32 weights, AdamW's two moments, the
    reference.
    """
    size = parameter_count(config) / GIB
    return {"weights": 4 * size, "optimiser": 8 * size} | (
        {"reference": 4 * size} if reference else {}
    )


def awake_share(config: Any, reference: bool, total: float) -> float:
    """vLLM's share of a GPU of `total` GiB when it sleeps while the model trains: all that is left
    while it is awake.

    Between two steps gradients and activations are gone; weights, optimiser and reference stay.
    """
    return max(0.0, 1 - (sum(resident(config, reference).values()) + CONTEXT) / total)


def cache_room(config: Any, share: float, total: float, sequences: int) -> float:
    """GiB for keys and values in vLLM's share: without its bfloat16 weights and its own work.

    Its work is three float32 copies of the scores of all sequences, and 1 GiB; assumed, not
    measured.
    """
    work = 3 * 4 * sequences * config.vocab_size / GIB + 1
    return share * total - 2 * parameter_count(config) / GIB - work


def training_memory(
    config: Any, *, rows: int, tokens: int, reference: bool, processes: int
) -> dict[str, float]:
    """GiB of one GPU by name at the peak of an update, the sampler not included."""
    held = resident(config, reference)
    held["gradients"] = held["weights"]
    if processes > 1:
        held["DDP's buckets"] = held["weights"]
    return held | {"activations": micro_batch(config, rows, tokens).peak, "CUDA": CONTEXT}
