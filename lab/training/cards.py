"""The GPUs of the machine as the driver's own tool lists them, without loading torch."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """One GPU as nvidia-smi reports it; memory in GiB."""

    name: str
    driver: str
    memory: float
    free: float


def cards() -> list[Card]:
    """All GPUs of the machine, whatever CUDA_VISIBLE_DEVICES says; empty without nvidia-smi.

    The driver's own tool makes no CUDA context, and works with a CPU build of torch and with a
    driver that is too old for torch.
    """
    fields = "name,driver_version,memory.total,memory.free"
    command = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    found = []
    for line in filter(str.strip, answer.stdout.splitlines()):
        name, driver, total, free = (cell.strip() for cell in line.split(","))
        found.append(Card(name, driver, float(total) / 1024, float(free) / 1024))
    return found
