"""Architectures of the papers' models, to count memory and draw random weights without the hub."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import torch

from lab.errors import LabError
from lab.llm.engines.base import error_line
from lab.llm.engines.imports import transformers
from lab.llm.engines.models import MODELS, locate_model, pinned

KNOWN = {name: model["architecture"] for name, model in MODELS.items() if "architecture" in model}


def architecture(model: str) -> Any:
    """The transformers configuration of a folder or of a model in `KNOWN`, else None.

    None stands for a model of the hub that is not in `KNOWN`; nothing is downloaded.

    LabError: the config.json of a folder cannot be read.
    """
    library = transformers()
    name, _ = pinned(model)
    if name in KNOWN:
        settings = dict(KNOWN[name])
        return library.AutoConfig.for_model(settings.pop("model_type"), **settings)
    place, _ = locate_model(model)
    # A name of the hub, not a folder: `locate_model` returns it unchanged.
    if place == model and "/" in model and not model.startswith((".", "/")):
        return None
    try:
        return library.AutoConfig.from_pretrained(place)
    except (OSError, ValueError, KeyError) as error:
        raise LabError(
            f"config.json of {place} was not read ({error_line(error)}): give a folder that"
            " save_pretrained wrote"
        ) from error


def parameter_count(config: Any) -> int:
    """The number of weights of a causal language model; tied weights count once."""
    return sum(
        weight.numel()
        for weight in _without_storage(config.to_json_string(use_diff=False)).parameters()
    )


def adapter_parameter_count(config: Any, rank: int) -> int:
    """The number of weights of a LoRA adapter on all linear layers but the output layer."""
    model = _without_storage(config.to_json_string(use_diff=False))
    return rank * sum(
        layer.in_features + layer.out_features
        for layer in model.modules()
        if isinstance(layer, torch.nn.Linear) and layer is not model.get_output_embeddings()
    )


@lru_cache(maxsize=8)
def _without_storage(settings: str) -> Any:
    """The model of a configuration, given as JSON, whose weights have a shape alone."""
    config = transformers().AutoConfig.for_model(**json.loads(settings))
    with torch.device("meta"):
        return transformers().AutoModelForCausalLM.from_config(config)
