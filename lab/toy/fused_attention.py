"""`lab.toy.transformer.attend` by FlashAttention's kernels: no attention weight reaches memory.

A query attends to the prompt of its problem and to its own rollout. Each part is one call of a
fused kernel, which returns its output O and the logarithm L of its normaliser. The two are one
softmax:

    L = log(exp L1 + exp L2),   O = exp(L1 - L) O1 + exp(L2 - L) O2

The backward pass calls each part's kernel with O and L of the whole, from which the kernel computes
the weights of the whole softmax again: the gradient is exact. Ring attention (Liu et al.
2310.01889) splits the keys in the same way over several GPUs.

The prompt's keys and values are read once for all rollouts, and a training step keeps the queries,
keys, values and O, where `attend` keeps the weights, "heads x queries x (prompt + keys)".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from lab.shapes import Float
from lab.toy.transformer import Keys, KeysAndValues, Queries

aten = torch.ops.aten
MOST_BLOCKS = 65_535  # that a kernel has side by side, in CUDA's second and third direction


def has_fused_attention(like: Tensor) -> bool:
    """Whether FlashAttention takes keys "... head_size" as `like`: half precision, an Ampere GPU
    or newer, a head size of 8, 16, ..., 256.
    """
    return (
        like.is_cuda
        and like.dtype in (torch.bfloat16, torch.float16)
        and like.shape[-1] % 8 == 0
        and like.shape[-1] <= 256
        and torch.cuda.get_device_capability(like.device) >= (8, 0)
    )


def on_gpu(x: Tensor) -> bool:
    """Whether CUDA's kernels compute with x; a test says so of tensors without content."""
    return x.is_cuda


def attend_fused(q: Queries, prompt: KeysAndValues, k: Keys, v: Keys, causal: bool) -> Queries:
    """What `lab.toy.transformer.attend` computes; on a CPU by its fused kernel, for tests."""
    most = MOST_BLOCKS // max(len(q), k.shape[3])
    if q.shape[1] > most:
        parts = zip(*(x.split(most, dim=1) for x in (q, k, v)), strict=True)
        return torch.cat([attend_fused(q, prompt, k, v, causal) for q, k, v in parts], dim=1)
    if q.shape[2] == 1 and not torch.is_grad_enabled():
        return _attend_once(q, prompt, k, v)
    return _FusedAttention.apply(q, *prompt, k, v, causal)


class _FusedAttention(torch.autograd.Function):
    """Attention in two parts, of which each has every head of queries its own keys and values."""

    @staticmethod
    def forward(
        ctx: Any,
        q: Tensor,
        prompt_keys: Tensor,
        prompt_values: Tensor,
        k: Tensor,
        v: Tensor,
        causal: bool,
    ) -> Tensor:
        ctx.causal = causal
        prompt_part = _part(_by_problem(q), prompt_keys, prompt_values)
        own_part = _part(*map(_by_rollout, (q, k, v)))
        prompt_out, prompt_log, prompt_rest = _forward(*prompt_part, False)
        own_out, own_log, own_rest = _forward(*own_part, causal)
        prompt_out, own_out = _of_prompts(prompt_out, q), _of_rollouts(own_out, q)
        prompt_log, own_log = _of_prompts(prompt_log, q), _of_rollouts(own_log, q)
        out = torch.lerp(own_out, prompt_out, _share(prompt_log, own_log, q.dtype))
        log = torch.logaddexp(prompt_log, own_log)
        ctx.save_for_backward(q, prompt_keys, prompt_values, k, v, out, log)
        ctx.rest = prompt_rest, own_rest
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        q, prompt_keys, prompt_values, k, v, out, log = ctx.saved_tensors
        prompt_rest, own_rest = ctx.rest
        whole = gradient.contiguous(), out, log
        part = _part(_by_problem(q), prompt_keys, prompt_values)
        prompt_q, *prompt_grads = _backward(part, map(_by_problem, whole), prompt_rest, False)
        part = _part(*map(_by_rollout, (q, k, v)))
        own_q, *own_grads = _backward(part, map(_by_rollout, whole), own_rest, ctx.causal)
        q_grad = _of_prompts(prompt_q, q) + _of_rollouts(own_q, q)
        # The heads that share keys and values add up.
        shared = prompt_keys.shape[1]
        prompt_grads = [x.unflatten(1, (shared, -1)).sum(2) for x in prompt_grads]
        own_grads = [_of_rollouts(x.unflatten(1, (shared, -1)).sum(2), q) for x in own_grads]
        return q_grad, *prompt_grads, *own_grads, None


def _attend_once(q: Queries, prompt: KeysAndValues, k: Keys, v: Keys) -> Queries:
    """One query a rollout, without gradients: heads that share keys and values are its queries.

    So keys and values are read where they lie, for all of these heads at once.
    """
    shared = k.shape[3]
    # "problems kv_heads trees group head_size"; a rollout's keys are those of a head of its own,
    # because `sample_rows` keeps them in this order.
    grouped = q.squeeze(2).unflatten(2, (shared, -1)).transpose(1, 2).contiguous()
    own_keys, own_values = (x.permute(0, 3, 1, 2, 4).flatten(1, 2) for x in (k, v))
    prompt_out, prompt_log, _ = _forward(grouped.flatten(2, 3), *prompt, False)
    own_out, own_log = _few_keys(grouped.flatten(1, 2), own_keys, own_values)
    share = _share(prompt_log.view(grouped.shape[:-1]), own_log.view(grouped.shape[:-1]), q.dtype)
    out = torch.lerp(own_out.view_as(grouped), prompt_out.view_as(grouped), share)
    return out.transpose(1, 2).reshape(q.shape)


def _few_keys(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """What `_forward` computes, for thousands of heads with a few queries and keys each.

    By products of matrices: a fused kernel pads each head to a tile of queries and takes twice as
    long (175 to 185 us against 60 to 100 for 8,192 heads on an H200).
    """
    q, k, v = (x.flatten(0, 1) for x in (q, k, v))
    if on_gpu(q):  # not rounded to half precision, as in a fused kernel
        scores = torch.bmm(q, k.transpose(1, 2), out_dtype=torch.float32)
    else:
        scores = torch.bmm(q, k.transpose(1, 2)).float()
    scores *= q.shape[-1] ** -0.5
    log_shares = scores.log_softmax(2)
    return torch.bmm(log_shares.exp().to(v.dtype), v), scores[..., 0] - log_shares[..., 0]


def _share(
    prompt_log: Float[Tensor, "*queries"], own_log: Float[Tensor, "*queries"], dtype: torch.dtype
) -> Float[Tensor, "*queries 1"]:
    """The share of the prompt in the whole normaliser."""
    return (prompt_log - own_log).sigmoid()[..., None].to(dtype)


def _part(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values "batch heads _ head_size": keys for every head of queries."""
    group = q.shape[1] // k.shape[1]
    return q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)


def _by_problem(x: Tensor) -> Tensor:
    """From "problems trees queries heads ..." to "problems heads (trees queries) ..."."""
    return x.flatten(1, 2).transpose(1, 2)


def _by_rollout(x: Tensor) -> Tensor:
    """From "problems trees queries heads ..." to "(problems trees) heads queries ..."."""
    return x.flatten(0, 1).transpose(1, 2)


def _of_prompts(x: Tensor, q: Tensor) -> Tensor:
    """The opposite of `_by_problem`."""
    return x.transpose(1, 2).unflatten(1, q.shape[1:3])


def _of_rollouts(x: Tensor, q: Tensor) -> Tensor:
    """The opposite of `_by_rollout`."""
    return x.transpose(1, 2).unflatten(0, q.shape[:2])


def _forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool
) -> tuple[Tensor, Tensor, tuple[Any, ...]]:
    """A fused kernel's output, the logarithm of its normaliser, and what its backward pass asks."""
    if on_gpu(q):
        out, log, *rest, _ = aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal)
        return out, log, tuple(rest)
    out, log = aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal)
    return out, log, ()


def _backward(
    part: tuple[Tensor, ...], whole: Iterable[Tensor], rest: tuple[Any, ...], causal: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of a part's queries, keys and values.

    `whole` holds the gradient, the output and the logarithm of the normaliser of both parts.
    """
    gradient, out, log = whole
    if on_gpu(gradient):
        *lengths, seed, offset = rest
        return aten._scaled_dot_product_flash_attention_backward(
            gradient, *part, out, log.contiguous(), *lengths, 0.0, causal, seed, offset
        )
    return aten._scaled_dot_product_flash_attention_for_cpu_backward(
        gradient, *part, out, log, 0.0, causal
    )
