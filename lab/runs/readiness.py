"""`lab preflight`: can this machine finish this run, and what will it cost?

The check is made before every run at a GPU scale. It refuses the run with all faults that it found,
or prints one paragraph. Memory is counted; times are estimates (`lab.training.costs`), until the
first steps are measured (`lab.runs.progress`).
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
from lab.training.costs import CARDS, EFFICIENCY, GIB, GPU, Costs

# A run that takes longer on this machine is refused unless max_hours is larger.
LONGEST_HOURS = 7 * 24.0
KEPT_CHECKPOINTS = 2
DISK_SPEED = 0.5  # assumed GiB per second that the disk of a rented machine writes
# Default seconds between checkpoints: at least MIN_CHECKPOINT_SECONDS, and at least
# WRITE_TIME_FACTOR times what writing one takes, so that about 5% of the time goes into writing.
MIN_CHECKPOINT_SECONDS = 20.0
WRITE_TIME_FACTOR = 20.0


class Finding(NamedTuple):
    """The result of one check: its subject, and what is wrong with it (empty if nothing is)."""

    subject: str
    fault: str = ""
    remark: str = ""


def require_ready(chosen: Experiment, config: Config, **settings: Any) -> str:
    """The estimate of a run at a GPU scale in one paragraph; empty at other scales.

    Settings as for `readiness`. LabError: the run cannot finish here; it lists all faults.
    """
    if config.scale not in GPU_SCALES:
        return ""
    device = _device(config)[1]
    # Without a GPU no other check matters.
    findings, paragraph = ([device], "") if device.fault else readiness(chosen, config, **settings)
    if faults := [finding.fault for finding in findings if finding.fault]:
        raise LabError(
            f"{config.name} at scale {config.scale} cannot run here: {'; '.join(faults)}"
        )
    return paragraph


def readiness(
    chosen: Experiment,
    config: Config,
    *,
    price: float = 0.0,
    max_hours: float = LONGEST_HOURS,
    checkpoint_minutes: float | None = None,
) -> tuple[list[Finding], str]:
    """Check the machine; the estimate of memory, time and cost in words, "" if nothing is counted.

    | setting | unit | meaning |
    |---|---|---|
    | `price` | money per hour | price of the machine; 0: unknown |
    | `max_hours` | hours | a run that would take longer is refused |
    | `checkpoint_minutes` | minutes | between checkpoints; None: writing takes 5% of the time |
    """
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
        return [*findings, Finding("memory and hours", remark=remark)], ""
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
    cards = f"one {planned.name}"
    seconds = costs.seconds(planned)
    too_long = (
        f"it would take about {duration(seconds)} on {cards} and max_hours is {max_hours:g}: use"
        f" more GPUs (lab cluster), a smaller scale, or say max_hours={seconds / 3600:.0f}"
    )
    fault = too_long if seconds > 3600 * max_hours else ""
    findings.append(Finding("time", fault, duration(seconds)))
    about = f"{config.name} at scale {config.scale} on {cards}"
    about += "" if card else " (no GPU is here: planned)"
    money = f", about {seconds / 3600 * price:.0f} at {price:.2f} an hour" if price else ""
    estimate = _estimate(costs, planned, checkpoint_minutes)
    return findings, f"{about}: about {duration(seconds)}{money}. {estimate}"


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


def _estimate(costs: Costs, card: GPU, checkpoint_minutes: float | None) -> str:
    """What a step and everything else takes, in words, with the assumption."""
    step = costs.step_seconds(card)
    parts = ", ".join(f"{name} {duration(part.seconds(card))}" for name, part in costs.step.items())
    pause = max(MIN_CHECKPOINT_SECONDS, WRITE_TIME_FACTOR * costs.checkpoint / DISK_SPEED)
    if checkpoint_minutes is not None:
        pause = 60 * checkpoint_minutes
    return (
        f"{costs.steps:,} steps of {duration(step)} ({parts}), and"
        f" {duration(costs.beside.seconds(card))} for all evaluations and a start. Memory"
        f" {costs.peak_memory:.0f} of {card.memory:.0f} GiB. Loses at most"
        f" {duration(pause + step)} when it is killed. Estimated, not measured: counted work at"
        f" {EFFICIENCY:.0%} of the card's peak; the first steps will say more."
    )
