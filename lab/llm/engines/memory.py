"""GPU memory for training a language model: of a micro-batch, and what is left for the sampler.

Memory is counted by running the model itself on fake tensors, as TRL calls it: bfloat16 autocast on
float32 weights (the residual stream stays float32, and autocast keeps a bfloat16 copy of every
weight until the forward pass ends), gradient checkpointing, and TRL's fused head, which never holds
the logits of all tokens.
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

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError
from lab.llm.engines.architectures import adapter_parameter_count, parameter_count
from lab.llm.engines.imports import transformers, trl
from lab.training.budget import GIB
from lab.training.device import compute_device
from lab.training.gpu_counter import Counter

# GiB; assumed, not measured: the CUDA context, cuBLAS's and NCCL's workspaces, fragmentation.
CONTEXT = 2.0
# GiB; assumed, not measured: CUDA graphs and buffers that vLLM keeps while it sleeps.
ASLEEP = 1.5


@dataclass(frozen=True)
class MicroBatch:
    """A forward and backward pass, with the gradients of an earlier micro-batch in memory.

    | field | unit | meaning |
    |---|---|---|
    | `peak` | GiB | beyond weights, gradients, optimiser and reference model |
    | `bytes` | bytes | read and written by all kernels except matrix products and attention |
    | `launches` | | kernel launches |
    """

    peak: float
    bytes: float
    launches: float


class _Elementwise(Counter):
    """Leaves out the traffic of matrix products and attention, which arithmetic bounds."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        traffic = self.bytes
        arithmetic = self.flops
        result = super().__torch_dispatch__(func, types, args, kwargs)
        if self.flops > arithmetic:
            self.bytes = traffic
        return result


def _attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """Attention as CUDA runs it with a mask: memory-efficient, bfloat16, the mask as a bias."""
    half = [tensor.to(torch.bfloat16) for tensor in (query, key, value)]
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
    """Run attention as on CUDA, and TRL's head as its Triton kernels, which allocate nothing."""
    from trl.kernels import chunked_logprob as head

    with (
        patch.object(torch.nn.functional, "scaled_dot_product_attention", _attention),
        patch.object(head, "_forward_tile", lambda *args, **kwargs: None),
        patch.object(head, "_backward_tile", lambda *args, **kwargs: None),
        patch.object(head, "_addmm_fp32", lambda *args: None),
    ):
        yield


def _counted(config: Any, layers: int, rows: int, tokens: int) -> tuple[int, int, int, int]:
    """Peak bytes of the forward and the full pass, traffic and launches, for `layers` layers."""
    trl()
    from trl.trainer.utils import add_fused_lm_head

    settings = copy.deepcopy(config).to_dict() | {"num_hidden_layers": layers}
    settings.pop("layer_types", None)  # a list with one entry per layer of the full model
    shallow = type(config)(**settings)
    counter = _Elementwise()
    with FakeTensorMode(allow_non_fake_inputs=True), _as_on_cuda():
        model = transformers().AutoModelForCausalLM.from_config(shallow, dtype=torch.float32)
        model.train()
        model.gradient_checkpointing_enable()
        add_fused_lm_head(model, outputs=("log_probs", "entropy"))
        # Gradients of an earlier micro-batch are in memory already.
        for weight in model.parameters():
            weight.grad = torch.empty_like(weight)
        ids = torch.zeros(rows, tokens, dtype=torch.int64)
        mask = torch.ones_like(ids)
        with counter:
            with torch.autocast("cpu", torch.bfloat16):
                logp = model(
                    input_ids=ids, attention_mask=mask, labels=ids.clone(), fused_lm_head=True
                ).log_probs
            forward = counter.peak
            logp.sum().backward()
    return forward, counter.peak, counter.bytes, counter.launches


@lru_cache(maxsize=64)
def _micro_batch(config_json: str, rows: int, tokens: int) -> MicroBatch:
    """`micro_batch` of a configuration as JSON, which can be cached."""
    import json

    config = transformers().AutoConfig.for_model(**json.loads(config_json))
    one_layer, two_layers = (_counted(config, layers, rows, tokens) for layers in (1, 2))
    # Every quantity is linear in the number of layers.
    forward, peak, traffic, launches = (
        first + (config.num_hidden_layers - 1) * (second - first)
        for first, second in zip(one_layer, two_layers, strict=True)
    )
    # TRL's Triton kernels read each tile of bfloat16 logits once in the forward pass, then read
    # and write it once in the backward pass.
    traffic += 6 * config.vocab_size * rows * tokens
    return MicroBatch(max(forward, peak) / GIB, traffic, launches)


def micro_batch(config: Any, rows: int, tokens: int) -> MicroBatch:
    """Memory and traffic of a micro-batch of `rows` sequences of `tokens` tokens each.

    `tokens` includes the prompt. All layers are alike, so models with one and with two layers are
    counted and the rest is extrapolated: a 1.7B model takes seconds. Each setting is counted once
    per process.
    """
    import json

    # The dtype is no JSON value, and the count sets its own.
    settings = {
        name: value
        for name, value in config.to_dict().items()
        if name not in ("dtype", "torch_dtype")
    }
    return _micro_batch(json.dumps(settings, sort_keys=True, default=str), rows, tokens)


def cache_bytes(config: Any) -> int:
    """Bytes of the KV cache of one token in bfloat16."""
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    # Keys and values, two bytes each.
    return 2 * 2 * config.num_hidden_layers * heads * head


@dataclass(frozen=True)
class Trained:
    """What a training keeps in memory: with an adapter of `rank` only that has an optimiser.

    `reference`: the loss needs a reference model. That of an adapter is the model without it.
    """

    reference: bool
    adapter: str = "none"
    rank: int = 0


def trained(config: LanguageModelConfig) -> Trained:
    """What a training with these settings keeps in memory."""
    return Trained(bool(config.kl or config.reference_every), config.adapter, config.rank)


# Bytes of a frozen weight: bfloat16; 4 bits, with the scales of each block of 64 (QLoRA).
FROZEN_BYTES = {"lora": 2.0, "qlora": 0.52}


def resident(config: Any, trained: Trained) -> dict[str, float]:
    """GiB that stay on the GPU between steps: weights, AdamW's moments, the reference.

    What is trained is float32.
    """
    size = parameter_count(config) / GIB
    if trained.adapter != "none":
        adapter = adapter_parameter_count(config, trained.rank) / GIB
        frozen = FROZEN_BYTES[trained.adapter] * size
        return {"frozen weights": frozen, "adapter": 4 * adapter, "optimiser": 8 * adapter}
    parts = {"weights": 4 * size, "optimiser": 8 * size}
    if trained.reference:
        parts["reference"] = 4 * size
    return parts


def awake_share(config: Any, trained: Trained, total: float) -> float:
    """The fraction of a GPU of `total` GiB for a vLLM that sleeps while the model trains.

    It gets all that is free while it is awake. Between two steps gradients and activations are
    freed; weights, optimiser and reference stay.
    """
    occupied = sum(resident(config, trained).values()) + CONTEXT
    return max(0.0, 1 - occupied / total)


def sampler_share(place: str, memory: float, trained: Trained) -> float:
    """The fraction of this machine's GPU that a vLLM in the trainer's process gets.

    `memory` is the setting engine_memory, `place` the model's folder. LabError: it is 0, so that
    vLLM would sleep while the model trains, and there is no GPU.
    """
    if memory:
        return memory
    device = compute_device()
    if device.type != "cuda":
        raise LabError(
            "engine_memory = 0: vLLM's sleep mode needs a GPU; give it a share of the memory"
        )
    total = torch.cuda.get_device_properties(device).total_memory / GIB
    return awake_share(transformers().AutoConfig.from_pretrained(place), trained, total)


def cache_room(config: Any, share: float, total: float, sequences: int) -> float:
    """GiB for the KV cache in vLLM's share of a GPU, without its weights and its workspace.

    The weights are bfloat16. The workspace is three float32 copies of the logits of all sequences,
    and 1 GiB; assumed, not measured.
    """
    workspace = 3 * 4 * sequences * config.vocab_size / GIB + 1
    return share * total - 2 * parameter_count(config) / GIB - workspace


def training_memory(
    config: Any, *, rows: int, tokens: int, trained: Trained, processes: int
) -> dict[str, float]:
    """GiB on one GPU at the peak of an update, by name of the part, without the sampler.

    The activations are those of training all weights; with an adapter there are a little less.
    """
    parts = resident(config, trained)
    parts["gradients"] = parts["optimiser"] / 2
    if processes > 1:
        parts["DDP's buckets"] = parts["gradients"]
    return parts | {"activations": micro_batch(config, rows, tokens).peak, "CUDA": CONTEXT}
