"""The engine of a name, for a model: where a configuration's two words become an object."""

from __future__ import annotations

from pathlib import Path

from lab.errors import unknown
from lab.llm.engines.base import Engine

ENGINES = ("transformers", "vllm")


def load_engine(name: str, model: str | Path) -> Engine:
    """The engine of a name, "transformers" or "vllm", for a model: a folder, or a name of the hub.

    Errors: no such engine or model, a folder without a tokenizer, a missing package.
    """
    if name == "transformers":
        from lab.llm.engines.transformers_engine import TransformersEngine

        return TransformersEngine(model)
    if name == "vllm":
        from lab.llm.engines.vllm_engine import VLLMEngine

        return VLLMEngine(model)
    raise unknown("engine", name, ENGINES)
