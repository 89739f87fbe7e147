"""FlashAttention's kernel for sequences of any lengths, by products of matrices: no CPU has it. The
arguments and layouts are those of torch's `_flash_attention_forward` and its backward pass.
"""

import torch

from lab.toy import fused_attention


def install(monkeypatch) -> None:
    """Let `lab.toy.fused_attention` compute by it."""
    monkeypatch.setattr(fused_attention, "flash_forward", forward)
    monkeypatch.setattr(fused_attention, "flash_backward", backward)


def by_head(x, q):
    """Keys or values with a head for each of the queries."""
    return x.repeat_interleave(q.shape[1] // x.shape[1], 1)


def scores_of(q, k, part):
    """The scores "heads queries keys", -inf where a query does not see a key."""
    at_query, at_key = (torch.arange(len(x), device=q.device) for x in (q, k))
    of_query = (part.query_ends[1:, None] <= at_query).sum(0)
    of_key = (part.key_ends[1:, None] <= at_key).sum(0)
    visible = of_query[:, None] == of_key
    if part.causal:
        visible = visible & (at_query[:, None] >= at_key)
    scores = torch.einsum("qhd,khd->hqk", q, by_head(k, q))
    scores = scores.to(torch.promote_types(q.dtype, torch.float32)) * q.shape[-1] ** -0.5
    return scores.masked_fill(~visible, -torch.inf)


def forward(q, k, v, part):
    scores = scores_of(q, k, part)
    out = torch.einsum("hqk,khd->qhd", scores.softmax(-1).to(v.dtype), by_head(v, q))
    return out, scores.logsumexp(-1), ()


def backward(whole, given, part, rest):
    gradient, out, log = whole
    q, k, v = given
    weights = (scores_of(q, k, part) - log[..., None]).exp()
    of_weights = torch.einsum("qhd,khd->hqk", gradient, by_head(v, q)).to(weights.dtype)
    of_scores = weights * (of_weights - (gradient * out).sum(-1).T[..., None])
    of_scores = of_scores.to(q.dtype) * q.shape[-1] ** -0.5
    of_keys = torch.einsum("hqk,qhd->khd", of_scores, q)
    of_values = torch.einsum("hqk,qhd->khd", weights.to(q.dtype), gradient)
    of_keys, of_values = (x.unflatten(1, (k.shape[1], -1)).sum(2) for x in (of_keys, of_values))
    return torch.einsum("hqk,khd->qhd", of_scores, by_head(k, q)), of_keys, of_values
