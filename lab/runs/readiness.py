"""`lab preflight`: does this machine have what this run needs?

The check is made before every run at a GPU scale. It refuses the run with all faults that it found,
or prints one line: its memory, which is counted, and the time of a step, an estimate
(`lab.training.costs`). The training itself says how long the rest takes (`lab.runs.progress`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lab.configurations import Config
from lab.errors import LabError
from lab.runs.experiments import GPU_SCALES, Experiment
from lab.runs.progress import duration
from lab.runs.run_folder import runs_root
from lab.training.costs import CARDS, EFFICIENCY, GIB, GPU

KEPT_CHECKPOINTS = 2


class Finding(NamedTuple):
    """The result of one check: its subject, and what is wrong with it (empty if nothing is)."""

    subject: str
    fault: str = ""
    remark: str = ""


def say_ready(chosen: Experiment, config: Config) -> None:
    """Check the machine and print the estimate of a run at a GPU scale; nothing at other scales.

    LabError: the run cannot finish here; it lists all faults.
    """
    if config.scale not in GPU_SCALES:
        return
    device = _device(config)[1]
    # Without a GPU no other check matters.
    findings, estimate = ([device], "") if device.fault else readiness(chosen, config)
    if faults := [finding.fault for finding in findings if finding.fault]:
        raise LabError(
            f"{config.name} at scale {config.scale} cannot run here: {'; '.join(faults)}"
        )
    if estimate:
        print(estimate, flush=True)


def readiness(chosen: Experiment, config: Config) -> tuple[list[Finding], str]:
    """Check the machine; the estimate of memory and a step's time, "" if nothing is counted."""
    card, device = _device(config)
    findings = [device]
    module: Any = chosen.module if chosen.trainer else None
    if hasattr(module, "requirements"):
        findings += [Finding(*requirement) for requirement in module.requirements(config)]
    if config.scale not in GPU_SCALES or not hasattr(module, "costs"):
        return findings, ""
    costs = module.costs(config)
    if costs is None:
        remark = "not counted for these settings; the first steps will say how long it takes"
        return [*findings, Finding("memory and time", remark=remark)], ""
    if card:
        fitting = [scale for scale, known in CARDS.items() if known.memory <= card.memory]
        advice = f"take scale={fitting[-1]}" if fitting else "take a larger card"
        advice += ", or a smaller micro-batch"
        findings.append(_room("GPU memory", costs.memory, card.memory, advice))
    host = {"beside Python and torch": costs.host_memory}
    findings.append(_room("host memory", host, available_memory(), "take a machine with more"))
    parts = {f"{KEPT_CHECKPOINTS} checkpoints": KEPT_CHECKPOINTS * costs.checkpoint} | costs.disk
    # The folder of the runs may not exist yet: ask its nearest parent.
    folder = next(path for path in (runs_root(), *runs_root().parents) if path.exists())
    advice = "free some where runs are kept, or name another folder with --runs"
    findings.append(_room("disk", parts, shutil.disk_usage(folder).free / GIB, advice))
    if _on_cpu():
        return findings, ""
    # Without a GPU the run is estimated for the card that its scale is meant for.
    planned = card or CARDS.get(config.scale, CARDS["h200"])
    where = f"one {planned.name}{'' if card else ' (no GPU is here: planned)'}"
    return findings, (
        f"{config.name} at scale {config.scale} on {where}: memory {costs.peak_memory:.0f} of"
        f" {planned.memory:.0f} GiB; a step about {duration(costs.step_seconds(planned))}, which is"
        f" counted work at {EFFICIENCY:.0%} of the card's peak; the first steps will say more"
    )


def _on_cpu() -> bool:
    """Whether the CPU was explicitly asked for (device=cpu)."""
    return os.environ.get("LAB_DEVICE") == "cpu"


def _device(config: Config) -> tuple[GPU | None, Finding]:
    """The data sheet of this machine's GPU (None where none is used), and what is wrong with it."""
    import torch

    from lab.training.device import describe_device, gpu_fault

    if _on_cpu() or config.scale not in GPU_SCALES:
        return None, Finding("device", remark=describe_device())
    if fault := gpu_fault():
        return None, Finding("device", fault)
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    memory = properties.total_memory / GIB
    # Peak arithmetic and bandwidth cannot be queried: take those of the nearest known card.
    nearest = min(CARDS.values(), key=lambda known: abs(known.memory - memory))
    used = memory - torch.cuda.mem_get_info()[0] / GIB
    busy = (
        f"{used:.1f} of {memory:.1f} GiB of the GPU's memory are taken by other processes: end "
        "them (nvidia-smi lists them)"
    )
    card = GPU(properties.name, memory, nearest.flops, nearest.bandwidth)
    return card, Finding("device", busy if used > 2 else "", describe_device())


def _room(subject: str, parts: Mapping[str, float], free: float | None, advice: str) -> Finding:
    """Whether what a run needs, by part in GiB, is there; None: the system does not tell."""
    needed = sum(parts.values())
    sizes = ", ".join(f"{name} {size:.1f}" for name, size in parts.items() if size)
    remark = f"{needed:.1f}{'' if free is None else f' of {free:.1f}'} GiB"
    remark += f" ({sizes})" if sizes else ""
    enough = free is None or needed <= free
    fault = "" if enough else f"the run needs {remark} of {subject}: {advice}"
    return Finding(subject, fault, remark)


def available_memory() -> float | None:
    """Host memory available to new processes, in GiB; None if the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    kibibytes = next((line.split()[1] for line in lines if line.startswith("MemAvailable")), None)
    return int(kibibytes) / 2**20 if kibibytes else None
