"""A small language model: the Qwen2 block in plain PyTorch, in the shape of MaxRL's mazes (appendix
E.1.1). Floor 2.

Weights carry Hugging Face's names, so `save` and `load` are a matter of two files. What differs
from other versions is attention in two parts, `attend`: rollouts of one problem share the keys and
values of its prompt, which are computed once a problem, and add their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from lab.errors import LabError
from lab.rng import stream_seed

Attention = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class TransformerConfig:
    """The published sizes: 3,944,704 parameters (the paper says "approximately 3M"). Names as in
    Qwen2's config.
    """

    hidden_size: int = 256
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    intermediate_size: int = 1024
    vocab_size: int = 32
    max_position_embeddings: int = 512

    @property
    def head(self) -> int:
        return self.hidden_size // self.num_attention_heads


QWEN2_CONFIG = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "rope_theta": 1e6,
    "tie_word_embeddings": True,
    "attention_dropout": 0.0,
    "use_sliding_window": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
    "torch_dtype": "float32",
}

QWEN2_DEFAULTS = {
    "rope_type": "default",
    "use_sliding_window": False,
}  # what a config means that does not say


class RMSNorm(nn.Module):
    """RMSNorm with epsilon 1e-6."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, (x.shape[-1],), self.weight, QWEN2_CONFIG["rms_norm_eps"])


class Block(nn.Module):
    """Attention and a gated feed-forward network, each after its norm, each added to the stream."""

    def __init__(self, shape: TransformerConfig) -> None:
        super().__init__()
        width, head = shape.hidden_size, shape.head
        self.heads, self.head = shape.num_attention_heads, head
        self.input_layernorm, self.post_attention_layernorm = RMSNorm(width), RMSNorm(width)
        self.self_attn = nn.ModuleDict(
            {
                "q_proj": nn.Linear(width, shape.num_attention_heads * head),
                "k_proj": nn.Linear(width, shape.num_key_value_heads * head),
                "v_proj": nn.Linear(width, shape.num_key_value_heads * head),
                "o_proj": nn.Linear(shape.num_attention_heads * head, width, bias=False),
            }
        )
        self.mlp = nn.ModuleDict(
            {
                "gate_proj": nn.Linear(width, shape.intermediate_size, bias=False),
                "up_proj": nn.Linear(width, shape.intermediate_size, bias=False),
                "down_proj": nn.Linear(shape.intermediate_size, width, bias=False),
            }
        )

    def forward(
        self,
        x: torch.Tensor,
        angles: tuple[torch.Tensor, torch.Tensor],
        layer: int,
        attention: Attention,
    ) -> torch.Tensor:
        y, part = self.input_layernorm(x), self.self_attn
        q, k, v = (
            part[name](y).unflatten(-1, (-1, self.head)) for name in ("q_proj", "k_proj", "v_proj")
        )
        x = x + part["o_proj"](
            attention(layer, rotate(q, *angles), rotate(k, *angles), v).flatten(-2)
        )
        y, part = self.post_attention_layernorm(x), self.mlp
        return x + part["down_proj"](F.silu(part["gate_proj"](y)) * part["up_proj"](y))


class Transformer(nn.Module):
    """The model. `forward` takes any arrangement of tokens and leaves it to `attention` who sees
    whom.
    """

    def __init__(self, shape: TransformerConfig) -> None:
        super().__init__()
        self.shape = shape
        self.model = nn.ModuleDict(
            {
                "embed_tokens": nn.Embedding(shape.vocab_size, shape.hidden_size),
                "layers": nn.ModuleList(Block(shape) for _ in range(shape.num_hidden_layers)),
                "norm": RMSNorm(shape.hidden_size),
            }
        )

    @property
    def kept(self) -> tuple[int, int]:
        """TransformerConfig of the keys, or the values, of one token in one layer: heads, head."""
        return self.shape.num_key_value_heads, self.shape.head

    def forward(
        self, tokens: torch.Tensor, positions: torch.Tensor, attention: Attention
    ) -> torch.Tensor:
        """The stream after the last norm, "... width", of tokens at `positions`, both "..."."""
        x = self.model["embed_tokens"](tokens)
        angles = rotations(positions, self.shape.head)
        for layer, block in enumerate(self.model["layers"]):
            x = block(x, angles, layer, attention)
        return self.model["norm"](x)

    def logits(self, stream: torch.Tensor) -> torch.Tensor:
        """Float32 "... vocabulary": the output weights are those of the embedding."""
        return F.linear(stream, self.model["embed_tokens"].weight).float()

    def prefill(
        self, tokens: torch.Tensor
    ) -> tuple[torch.Tensor, list[tuple[torch.Tensor, torch.Tensor]]]:
        """Encode whole sequences, "sequences length": the stream, and each layer's keys and values.

        Keys and values are "sequences heads length head", after rotation. Errors: more tokens than
        positions.
        """
        length = tokens.shape[1]
        if length > self.shape.max_position_embeddings:
            raise LabError(
                f"a sequence has {length} tokens and the model {self.shape.max_position_embeddings}"
                " positions: raise positions, or take smaller mazes"
            )
        memory = []

        def causal(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            q, k, v = (part.transpose(1, 2) for part in (q, k, v))
            memory.append((k, v))
            return F.scaled_dot_product_attention(
                q, k, v, is_causal=True, enable_gqa=True
            ).transpose(1, 2)

        return self(tokens, torch.arange(length, device=tokens.device), causal), memory


def attend(
    q: torch.Tensor,
    prompt: tuple[torch.Tensor, torch.Tensor],
    k: torch.Tensor,
    v: torch.Tensor,
    seen: torch.Tensor,
) -> torch.Tensor:
    """Attention to the prompt of one's problem and to a part of one's own rollouts' tokens, one
    softmax over both.

    | argument | shape | meaning |
    |---|---|---|
    | `q` | "problems trees queries heads head" | queries |
    | `prompt` | "problems heads length head", twice | keys and values of the prompt: seen by all |
    | `k`, `v` | "problems trees keys heads head" | keys and values of the rollouts' own tokens |
    | `seen` | broadcast to "problems trees queries keys" | boolean: which of these a query sees |
    """
    problems, trees, queries, heads, head = q.shape
    shared = prompt[0].shape[1]
    group = heads // shared
    q = (
        (q * head**-0.5).unflatten(3, (shared, group)).permute(0, 3, 1, 2, 4, 5)
    )  # problems shared trees queries group
    k, v = k.permute(0, 3, 1, 4, 2), v.permute(0, 3, 1, 2, 4)
    to_prompt = (q.reshape(problems, shared, -1, head) @ prompt[0].mT).view(*q.shape[:-1], -1)
    to_own = (q.flatten(3, 4) @ k).view(*q.shape[:-1], -1)
    to_own = to_own.masked_fill(~seen[:, None, :, :, None], -torch.inf)
    weights = torch.cat((to_prompt, to_own), -1).softmax(-1, dtype=torch.float32).to(v.dtype)
    to_prompt, to_own = weights.split((to_prompt.shape[-1], to_own.shape[-1]), -1)
    out = (to_prompt.reshape(problems, shared, -1, to_prompt.shape[-1]) @ prompt[1]).view_as(q)
    out = out + (to_own.flatten(3, 4) @ v).view_as(q)
    return out.permute(0, 2, 3, 1, 4, 5).reshape(problems, trees, queries, heads, head)


def rotations(positions: torch.Tensor, head: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines of rotary embeddings (RoPE, theta 1e6) with an axis for the heads: "... 1
    head".
    """
    rates = QWEN2_CONFIG["rope_theta"] ** (
        -torch.arange(0, head, 2, device=positions.device) / head
    )
    angles = (positions[..., None] * rates).repeat(*[1] * positions.ndim, 2)[..., None, :]
    return angles.cos(), angles.sin()


def rotate(x: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
    """Turn each pair (i, i + head/2) of "... heads head" by its angle."""
    first, second = x.chunk(2, -1)
    return (x * cosines + torch.cat((-second, first), -1) * sines).to(x.dtype)


def fresh_transformer(seed: int, shape: TransformerConfig) -> Transformer:
    """Initial weights that follow from the seed alone: normal with deviation 0.02, biases zero, as
    in Qwen2.
    """
    model = Transformer(shape)
    generator = torch.Generator().manual_seed(stream_seed(seed, "weights"))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("bias"):
                weight.zero_()
            elif "norm" not in name:
                weight.normal_(0, 0.02, generator=generator)
    return model


def save(model: Transformer, folder: Path) -> None:
    """Write config.json and model.safetensors, which transformers' Qwen2ForCausalLM loads."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file(
        {key: value.contiguous() for key, value in model.state_dict().items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    (folder / "config.json").write_text(
        json.dumps(QWEN2_CONFIG | asdict(model.shape), indent=2) + "\n"
    )


def load(folder: Path) -> Transformer:
    """A Qwen2 model from Hugging Face's files, in float32. Errors: no such files, another
    architecture or shape.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        config, weights = (
            json.loads((folder / "config.json").read_text()),
            load_file(folder / "model.safetensors"),
        )
    except (OSError, ValueError, SafetensorError) as error:
        raise LabError(
            f"{folder} holds no readable config.json and model.safetensors ({error}): name a folder"
            " that save_pretrained wrote"
        ) from error
    rotary = (
        config.get("rope_parameters") or config.get("rope_scaling") or {}
    )  # newer and older versions' name
    config = (
        QWEN2_DEFAULTS | rotary | {key: value for key, value in config.items() if value is not None}
    )
    for key in (
        "model_type",
        "hidden_act",
        "rms_norm_eps",
        "tie_word_embeddings",
        "rope_theta",
        *QWEN2_DEFAULTS,
    ):
        known = (QWEN2_CONFIG | QWEN2_DEFAULTS)[key]
        if config.get(key) != known:
            raise LabError(
                f"{folder / 'config.json'}: {key} is {config.get(key)!r}, only {known!r} is known"
                " here"
            )
    for key in asdict(TransformerConfig()):
        if not isinstance(config.get(key), int):
            raise LabError(
                f"{folder / 'config.json'}: {key} is {config.get(key)!r}, it must be a whole number"
            )
    model = Transformer(
        TransformerConfig(**{key: config[key] for key in asdict(TransformerConfig())})
    )
    set_weights(model, weights, str(folder))
    return model


def set_weights(model: nn.Module, weights: dict[str, torch.Tensor], origin: str) -> None:
    """Put named weights into the model; those of another shape are an error that names `origin`."""
    try:
        model.load_state_dict(
            {key: value for key, value in weights.items() if key != "lm_head.weight"}
        )
    except RuntimeError as error:
        said = " ".join(str(error).splitlines()[1:2]).strip() or str(error)
        raise LabError(
            f"{origin} is a checkpoint of another model ({said}): give its own sizes"
        ) from error
