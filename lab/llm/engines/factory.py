"""Loads an engine by its name, for a model, as a configuration gives them."""

from __future__ import annotations

from pathlib import Path

from lab.errors import unknown
from lab.llm.engines.base import Engine

ENGINES = ("transformers", "vllm")


def load_engine(name: str, model: str | Path) -> Engine:
    """Load the engine "transformers" or "vllm" for a model: a folder, or a name of the hub.

    LabError: no such engine or model, a folder without a tokenizer, a missing package.
    """
    # Each engine is imported only when it is chosen: vLLM need not be installed.
    if name == "transformers":
        from lab.llm.engines.transformers_engine import TransformersEngine

        return TransformersEngine(model)
    if name == "vllm":
        from lab.llm.engines.vllm_engine import VLLMEngine

        return VLLMEngine(model)
    raise unknown("engine", name, ENGINES)
