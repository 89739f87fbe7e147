"""An engine that samples from a model in training, always with its current weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from lab.configurations.language_models import LanguageModelConfig
from lab.llm.engines.adapters import merged_weights
from lab.llm.engines.base import Engine
from lab.llm.engines.model_costs import sampler_share


class PolicyEngine:
    """Samples from `model`, which its owner trains between two blocks of `current`.

    `config` gives the engine and its limits: engine, engine_memory, max_prompt_tokens, max_tokens,
    kl and reference_every. `place` is where the model was loaded from, `name` its name for records.

    LabError: as in the two engines; or vLLM would have to sleep, and there is no GPU.
    """

    def __init__(
        self, config: LanguageModelConfig, model: Any, tokenizer: Any, place: str, name: str
    ) -> None:
        self.model = model
        self._vllm: Any = None
        if config.engine == "vllm":
            from lab.llm.engines.vllm_engine import VLLMEngine

            self._vllm = VLLMEngine(
                place,
                positions=config.max_prompt_tokens + config.max_tokens,
                share=sampler_share(config, place),
                sleep=config.engine_memory == 0,
            )
        else:
            from lab.llm.engines.transformers_engine import TransformersEngine

            self._transformers = TransformersEngine(model, tokenizer, name)

    @contextmanager
    def current(self) -> Iterator[Engine]:
        """The engine with current weights, on a GPU in bfloat16; valid only inside the block."""
        if self._vllm is None:
            device = self.model.device.type
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                yield self._transformers
            return
        with merged_weights(self.model) as weights, self._vllm.sampling_with(weights) as engine:
            yield engine
