"""Which device this process computes on: the one place that decides. Floor 1."""

from __future__ import annotations

import os

import torch

from lab.errors import LabError

DEVICES = ("auto", "cpu", "cuda")


def compute_device() -> torch.device:
    """The GPU where torch finds one, else the CPU.

    The environment variable LAB_DEVICE overrides it: "cpu", or "cuda" for a run that must not fall
    back to the CPU. `lab train ... device=cpu` sets it for one run and all processes that it starts.
    Errors: another value; "cuda" where torch finds no GPU.
    """
    wanted = os.environ.get("LAB_DEVICE") or "auto"
    if wanted not in DEVICES:
        raise LabError(f"LAB_DEVICE = {wanted!r}: it must be one of {', '.join(DEVICES)}")
    if wanted == "cpu":
        return torch.device("cpu")
    if torch.cuda.is_available():
        return torch.device("cuda")
    if wanted == "cuda":
        raise LabError(f"LAB_DEVICE = cuda, and torch {torch.__version__} finds no GPU: see lab preflight, "
                       "or take cpu")
    return torch.device("cpu")
