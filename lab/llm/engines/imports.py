"""Imports of transformers and TRL: when they are first needed, and without loading vLLM."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from unittest import mock

from lab.extras import needed


def transformers() -> ModuleType:
    """The package transformers, imported when it is first needed. LabError: it is not installed."""
    return needed("transformers")


def trl() -> ModuleType:
    """The package TRL, imported when it is first needed. LabError: it is not installed.

    It loads vLLM, which takes longer than all other imports together, when a trainer asks for it.
    """
    transformers()
    # TRL warns that rollout functions are experimental; its version is pinned.
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    library = needed("trl")
    if "trl.generation.vllm_generation" not in sys.modules:
        _defer_vllm()
    return library


def _defer_vllm() -> None:
    """Import the modules of TRL that use vLLM as if it were not installed.

    Their functions ask `is_vllm_available()` before they use it. That loads both modules again, in
    place, so that the functions find vLLM's names.
    """
    from trl import import_utils

    is_available = import_utils.is_vllm_available
    with mock.patch.object(import_utils, "is_vllm_available", lambda *_, **__: False):
        from trl.generation import vllm_client, vllm_generation

    def load(min_version: str | None = None) -> bool:
        for module in (vllm_client, vllm_generation):
            importlib.reload(module)
        return is_available(min_version)

    vllm_client.is_vllm_available = load
    vllm_generation.is_vllm_available = load
