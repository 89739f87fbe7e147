"""The GPUs of the machine as the driver's own tool lists them, without loading torch."""

from __future__ import annotations

import subprocess
from typing import NamedTuple


class Card(NamedTuple):
    """One GPU as nvidia-smi reports it."""

    name: str
    driver: str


def cards() -> list[Card]:
    """All GPUs of the machine, whatever CUDA_VISIBLE_DEVICES says; empty without nvidia-smi.

    The driver's own tool makes no CUDA context, and works with a CPU build of torch and with a
    driver that is too old for torch.
    """
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [Card(*line.split(", ")) for line in answer.stdout.splitlines() if line.strip()]
