"""A small language model: the Qwen2 architecture in plain PyTorch, at the size of MaxRL's mazes.

The sizes are those of MaxRL, appendix E.1.1, and weights carry Hugging Face's names. The
difference from other implementations is `attend`, attention in two parts: the rollouts of a problem
share the keys and values of its prompt, which are computed once a problem, and add their own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lab.errors import LabError
from lab.shapes import Float, Int
from lab.training.rng import stream_seed

# Attention of the tokens of a forward pass, from the layer's number, queries, keys and values.
Attention = Callable[[int, Tensor, Tensor, Tensor], Tensor]
# Queries, and keys or values, of the tokens of rollouts. The rollouts of a problem form one tree or
# several, and all trees have the same numbers of queries and of keys.
Queries = Float[Tensor, "problems trees queries heads head_size"]
Keys = Float[Tensor, "problems trees keys kv_heads head_size"]
# The keys and values of the prompts in one layer, and in all layers.
PromptKeys = Float[Tensor, "problems kv_heads prompt_length head_size"]
KeysAndValues = tuple[PromptKeys, PromptKeys]
PromptCache = list[KeysAndValues]


class Prompts(NamedTuple):
    """Prompts that were read: the logits of the token after each, keys and values by layer."""

    logits: Float[Tensor, "problems vocabulary"]
    cache: PromptCache

    @property
    def length(self) -> int:
        """The number of tokens of each prompt."""
        return self.cache[0][0].shape[2]

    def map(self, change: Callable[[Tensor], Tensor]) -> Prompts:
        """The same with each tensor changed."""
        return Prompts(change(self.logits), [(change(k), change(v)) for k, v in self.cache])

    def of(self, chosen: Int[Tensor, " chosen"]) -> Prompts:
        """The prompts of some problems."""
        return self.map(lambda tensor: tensor[chosen])


# `attend`, or a faster function of the same arguments that computes the same.
PromptAttention = Callable[[Tensor, KeysAndValues, Tensor, Tensor, bool], Tensor]

RMS_NORM_EPS = 1e-6
ROPE_THETA = 1e6


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes of a model, named as in Qwen2's configuration.

    The defaults are the published sizes: 3,944,704 parameters (the paper says "approximately 3M").
    """

    hidden_size: int = 256
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    intermediate_size: int = 1024
    vocab_size: int = 32
    max_position_embeddings: int = 512

    @property
    def head_size(self) -> int:
        """The length of one head's queries, keys and values."""
        return self.hidden_size // self.num_attention_heads


class Block(nn.Module):
    """Attention and a gated feed-forward network, each with a norm before it and a residual."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        width = config.hidden_size
        head_size = config.head_size
        self.head_size = head_size
        self.input_layernorm = nn.RMSNorm(width)
        self.post_attention_layernorm = nn.RMSNorm(width)
        self.self_attn = nn.ModuleDict(
            {
                "q_proj": nn.Linear(width, config.num_attention_heads * head_size),
                "k_proj": nn.Linear(width, config.num_key_value_heads * head_size),
                "v_proj": nn.Linear(width, config.num_key_value_heads * head_size),
                "o_proj": nn.Linear(config.num_attention_heads * head_size, width, bias=False),
            }
        )
        self.mlp = nn.ModuleDict(
            {
                "gate_proj": nn.Linear(width, config.intermediate_size, bias=False),
                "up_proj": nn.Linear(width, config.intermediate_size, bias=False),
                "down_proj": nn.Linear(config.intermediate_size, width, bias=False),
            }
        )

    def forward(
        self,
        x: Float[Tensor, "tokens width"],
        normed: Float[Tensor, "tokens width"],
        next_norm: Float[Tensor, " width"],
        angles: tuple[Tensor, Tensor],
        layer: int,
        attention: Attention,
        elementwise: Elementwise,
    ) -> tuple[Float[Tensor, "tokens width"], Float[Tensor, "tokens width"]]:
        """The residual stream after the block, and normalised with the weight `next_norm`.

        `normed` is `x` normalised with the weight of the block's first norm.
        """
        kind, attn, mlp = normed.dtype, self.self_attn, self.mlp
        q, k, v = (
            attn[name](normed).unflatten(-1, (-1, self.head_size))
            for name in ("q_proj", "k_proj", "v_proj")
        )
        rotate, add_and_normalise = elementwise.rotate, elementwise.add_and_normalise
        # No names for large intermediate values, so that they are freed at once.
        x, normed = add_and_normalise(
            x,
            attn["o_proj"](attention(layer, rotate(q, *angles), rotate(k, *angles), v).flatten(-2)),
            self.post_attention_layernorm.weight,
            kind,
        )
        del q, k, v
        normed = elementwise.gate(mlp["gate_proj"](normed), mlp["up_proj"](normed))
        return add_and_normalise(x, mlp["down_proj"](normed), next_norm, kind)


def rotate(
    x: Float[Tensor, "*tokens heads head_size"],
    cosines: Float[Tensor, "... 1 head_size"],
    sines: Float[Tensor, "... 1 head_size"],
) -> Float[Tensor, "*tokens heads head_size"]:
    """Turn each pair of entries (i, i + head_size/2) by its angle."""
    first, second = x.chunk(2, -1)
    return (x * cosines + torch.cat((-second, first), -1) * sines).to(x.dtype)


def gate(
    gates: Float[Tensor, "*tokens width"], values: Float[Tensor, "*tokens width"]
) -> Float[Tensor, "*tokens width"]:
    """The values times the SiLU of their gates."""
    return F.silu(gates) * values


def add_and_normalise(
    x: Float[Tensor, "*tokens width"],
    change: Float[Tensor, "*tokens width"],
    weight: Float[Tensor, " width"],
    kind: torch.dtype,
) -> tuple[Float[Tensor, "*tokens width"], Float[Tensor, "*tokens width"]]:
    """The sum of both, and the sum normalised, in the type in which products take it."""
    x = x + change
    return x, F.rms_norm(x, (x.shape[-1],), weight, RMS_NORM_EPS).to(kind)


class Elementwise(NamedTuple):
    """What a model computes between its products of matrices: functions of tensors alone.

    As they stand, each of them reads and writes its tensors several times. On a GPU, where this
    takes longer than the products, `compiled_elementwise` makes one or two kernels of each.
    """

    rotate: Callable[..., Tensor] = rotate
    gate: Callable[..., Tensor] = gate
    add_and_normalise: Callable[..., tuple[Tensor, Tensor]] = add_and_normalise


def compiled_elementwise() -> Elementwise:
    """`Elementwise`, compiled by torch.compile: each function is compiled when it is first called.

    The numbers are those of the plain functions to within rounding: intermediate results are not
    rounded to bfloat16. Shapes are not checked.
    """
    return Elementwise(*(torch.compile(inspect.unwrap(part)) for part in Elementwise()))


def type_for_products(x: Tensor) -> torch.dtype:
    """The type in which autocast multiplies `x`: every product would convert it anew."""
    device = x.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else x.dtype


class Transformer(nn.Module):
    """The model. `forward` takes tokens in any arrangement; `attention` says which see which."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.elementwise = Elementwise()
        # All but the output layer, under Hugging Face's names.
        self.model: Any = nn.ModuleDict(
            {
                "embed_tokens": nn.Embedding(config.vocab_size, config.hidden_size),
                "layers": nn.ModuleList(Block(config) for _ in range(config.num_hidden_layers)),
                "norm": nn.RMSNorm(config.hidden_size),
            }
        )

    def forward(
        self, tokens: Int[Tensor, "*tokens"], positions: Int[Tensor, "*axes"], attention: Attention
    ) -> Float[Tensor, "*tokens width"]:
        """The hidden states of tokens at `positions`, after the last norm.

        `positions` has the shape of `tokens`, or its last axes alone.
        """
        shape = tokens.shape
        # From here on the tokens are one axis, so that compiled code meets few shapes.
        x = self.model.embed_tokens(tokens.flatten())
        angles = rotations(positions.expand(shape).flatten(), self.config.head_size)
        blocks = self.model.layers
        norms = [block.input_layernorm.weight for block in blocks] + [self.model.norm.weight]
        normed = F.rms_norm(x, (x.shape[-1],), norms[0], RMS_NORM_EPS).to(type_for_products(x))

        def attend_flat(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            attended = attention(layer, *(each.unflatten(0, shape) for each in (q, k, v)))
            return attended.flatten(0, len(shape) - 1)

        for layer, (block, next_norm) in enumerate(zip(blocks, norms[1:], strict=True)):
            x, normed = block(x, normed, next_norm, angles, layer, attend_flat, self.elementwise)
        return normed.unflatten(0, shape)

    def logits(self, hidden: Float[Tensor, "*tokens width"]) -> Float[Tensor, "*tokens vocabulary"]:
        """Float32 logits from hidden states: the output weights are those of the embedding."""
        return F.linear(hidden, self.model.embed_tokens.weight).float()

    def read(self, tokens: Int[Tensor, "problems prompt_length"]) -> Prompts:
        """Prompts, read for what is to follow them; see `prefill`."""
        hidden, cache = self.prefill(tokens)
        return Prompts(self.logits(hidden[:, -1]), cache)

    def prefill(
        self, tokens: Int[Tensor, "problems prompt_length"]
    ) -> tuple[Float[Tensor, "problems prompt_length width"], PromptCache]:
        """The hidden states of whole sequences, and each layer's keys and values.

        The keys are already rotated. LabError: more tokens than the model has positions.
        """
        length = tokens.shape[1]
        if length > self.config.max_position_embeddings:
            raise LabError(
                f"a sequence has {length} tokens and the model has only"
                f" {self.config.max_position_embeddings} positions: raise positions, or use"
                " smaller mazes"
            )
        cache: PromptCache = []

        def causal(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            q, k, v = (x.transpose(1, 2) for x in (q, k, v))
            cache.append((k, v))
            attended = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            return attended.transpose(1, 2)

        # The positions have no axis of sequences, so that their angles are computed once.
        positions = torch.arange(length, device=tokens.device)
        return self(tokens, positions, causal), cache


def attend(q: Queries, prompt: KeysAndValues, k: Keys, v: Keys, causal: bool) -> Queries:
    """Attention to the prompt of a problem and to tokens of its rollouts, one softmax over both.

    All queries of a problem see its `prompt`. If `causal`, query i sees the first i + 1 keys `k` of
    its rollout; otherwise it sees all.
    """
    problems, trees, queries, heads, head_size = q.shape
    prompt_keys, prompt_values = prompt
    kv_heads = prompt_keys.shape[1]
    group = heads // kv_heads  # heads of queries that share a head of keys and values
    # From here on q is "problems kv_heads trees queries group head_size".
    q = (q * head_size**-0.5).unflatten(3, (kv_heads, group)).permute(0, 3, 1, 2, 4, 5)
    k, v = k.permute(0, 3, 1, 4, 2), v.permute(0, 3, 1, 2, 4)
    prompt_scores = q.reshape(problems, kv_heads, -1, head_size) @ prompt_keys.mT
    prompt_scores = prompt_scores.view(*q.shape[:-1], -1)
    own_scores = (q.flatten(3, 4) @ k).view(*q.shape[:-1], -1)
    if causal:
        later = torch.ones(queries, k.shape[-1], dtype=torch.bool, device=q.device).triu(1)
        own_scores = own_scores.masked_fill(later[:, None], -torch.inf)
    sizes = (prompt_scores.shape[-1], own_scores.shape[-1])
    scores = torch.cat((prompt_scores, own_scores), -1)
    del prompt_scores, own_scores  # freed before the weights are used
    # A softmax in bfloat16 sums in float32. Autocast would also write the weights in float32.
    with torch.autocast(q.device.type, enabled=False):
        weights = scores.softmax(-1)
    del scores
    prompt_weights, own_weights = weights.split(sizes, -1)
    prompt_weights = prompt_weights.reshape(problems, kv_heads, -1, sizes[0])
    out = (prompt_weights @ prompt_values).view_as(q)
    out = out + (own_weights.flatten(3, 4) @ v).view_as(q)
    return out.permute(0, 2, 3, 1, 4, 5).reshape(problems, trees, queries, heads, head_size)


def rotations(
    positions: Int[Tensor, " tokens"], head_size: int
) -> tuple[Float[Tensor, "tokens 1 head_size"], Float[Tensor, "tokens 1 head_size"]]:
    """Cosines and sines of rotary position embeddings (RoPE, theta 1e6), with an axis for heads."""
    exponents = -torch.arange(0, head_size, 2, device=positions.device) / head_size
    rates = ROPE_THETA**exponents
    angles = (positions[:, None] * rates).repeat(1, 2)[:, None]
    return angles.cos(), angles.sin()


def fresh_transformer(seed: int, config: TransformerConfig) -> Transformer:
    """A model with initial weights as in Qwen2, which follow from the seed alone.

    Weights are normal with standard deviation 0.02, biases zero, and norms one.
    """
    model = Transformer(config)
    generator = torch.Generator().manual_seed(stream_seed(seed, "weights"))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("bias"):
                weight.zero_()
            elif "norm" not in name:
                weight.normal_(0, 0.02, generator=generator)
    return model


def set_weights(model: nn.Module, weights: dict[str, Tensor], origin: str) -> None:
    """Load named weights into the model; LabError, which names `origin`, if shapes differ."""
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        lines = str(error).splitlines()
        reason = " ".join(lines[1:2]).strip() or str(error)
        raise LabError(
            f"{origin} is a checkpoint of another model ({reason}): give the sizes of that model"
        ) from error
