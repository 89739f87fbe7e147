"""Imports of transformers and TRL that also work with a CPU build of torch."""

from __future__ import annotations

import os
from types import ModuleType

from lab.extras import missing


def transformers() -> ModuleType:
    """The package transformers, imported when it is first needed. LabError: it is not installed."""
    from lab.torchvision_ops import define_torchvision_ops

    define_torchvision_ops()
    try:
        import transformers
    except ImportError as error:
        raise missing("transformers") from error
    return transformers


def trl() -> ModuleType:
    """The package TRL, imported when it is first needed. LabError: it is not installed."""
    transformers()
    # TRL warns that rollout functions are experimental; its version is pinned.
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    try:
        import trl
    except ImportError as error:
        raise missing("trl") from error
    return trl
