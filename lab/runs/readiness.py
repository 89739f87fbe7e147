"""`lab preflight`: can this machine finish this run, and what will it cost? Floor 3.

Asked by itself before every run at a GPU scale. It refuses with every fault it found, or says one
paragraph. Times are estimates: counted work divided by an assumed share of the card's peak
(`lab.budget`). None is measured, and `make gpu` measures them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.budget import ARITHMETIC_SHARE, BANDWIDTH_SHARE, CARDS, GPU, Budget
from lab.errors import LabError
from lab.runs.experiments import GPU_SCALES, Experiment
from lab.runs.run_folder import runs_root

# A run that takes longer on this machine is refused unless max_hours says more.
LONGEST_HOURS = 7 * 24.0
KEPT_CHECKPOINTS = 2
DISK_SPEED = 0.5  # GiB a second that a rented machine's disk writes; an assumption
# Seconds between checkpoints where nobody says: at least so many, and so many times what writing
# one takes, so that at most about 5% of the time goes into writing.
LEAST_SECONDS, TIMES_THE_WRITING = 20.0, 20.0


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what it is, and what is wrong with it (empty if nothing is)."""

    subject: str
    fault: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Readiness:
    """What `lab preflight` found.

    `paragraph` is the estimate in words, empty where the trainer counts no work (laptop
    experiments).
    """

    findings: list[Finding]
    paragraph: str

    @property
    def faults(self) -> list[str]:
        return [finding.fault for finding in self.findings if finding.fault]


def require_ready(
    chosen: Experiment, scale: str, values: dict[str, Any], **terms: float | None
) -> str:
    """The paragraph on a run at a GPU scale, or LabError with all faults; empty at other scales.

    `terms`: price, max_hours and checkpoint_minutes, as for `readiness`.
    """
    if scale not in GPU_SCALES:
        return ""
    refusal = f"{chosen.name} at scale {scale} cannot run here: "
    if not _on_cpu() and (fault := _gpu()[1].fault):
        raise LabError(refusal + fault)  # nothing else matters, and counting a run takes seconds
    ready = readiness(chosen, scale, values, **terms)
    if ready.faults:
        raise LabError(refusal + "; ".join(ready.faults))
    return ready.paragraph


def readiness(
    chosen: Experiment,
    scale: str,
    values: dict[str, Any],
    *,
    price: float = 0.0,
    max_hours: float = LONGEST_HOURS,
    checkpoint_minutes: float | None = None,
) -> Readiness:
    """Look at the machine and count the run.

    | argument | unit | meaning |
    |---|---|---|
    | `price` | money an hour | of the machine; 0: not said |
    | `max_hours` | hours | a run that would take longer is refused |
    | `checkpoint_minutes` | minutes | between checkpoints; None: as often as costs 5% of the time |
    """
    from lab.device import describe_device

    on_cpu = _on_cpu()
    card = None
    if on_cpu or scale not in GPU_SCALES:
        findings = [Finding("device", remark=describe_device())]
    else:
        card, finding = _gpu()
        findings = [finding]
    module = chosen.module if chosen.trainer else None
    if module and hasattr(module, "requirements"):
        findings += [
            Finding(subject, fault, remark)
            for subject, fault, remark in module.requirements(**values)
        ]
    if scale not in GPU_SCALES or not hasattr(module, "budget"):
        return Readiness(findings, "")
    budget = module.budget(**values)
    if budget is None:  # of a model whose architecture is not known
        findings.append(
            Finding(
                "memory and hours",
                remark=(
                    f"not counted: the architecture of the model {values.get('model')} is not known"
                ),
            )
        )
        return Readiness(findings, "")
    findings += [_memory(budget, card), *_host(budget)] if card else _host(budget)
    planned = card or CARDS.get(scale, CARDS["h200"])
    if not on_cpu:
        findings.append(_hours(budget, planned, max_hours))
    paragraph = (
        ""
        if on_cpu
        else _paragraph(chosen, scale, budget, planned, card is None, price, checkpoint_minutes)
    )
    return Readiness(findings, paragraph)


def _on_cpu() -> bool:
    """Whether somebody said aloud that the CPU is meant."""
    return os.environ.get("LAB_DEVICE") == "cpu"


def _gpu() -> tuple[GPU | None, Finding]:
    """This machine's GPU as a data sheet (None without one), and what is wrong with it."""
    import torch

    from lab.device import describe_device, gpu_fault

    if fault := gpu_fault():
        return None, Finding("device", fault)
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    memory = properties.total_memory / 2**30
    nearest = min(CARDS.values(), key=lambda known: abs(known.memory - memory))
    free = torch.cuda.mem_get_info()[0] / 2**30
    used = memory - free
    busy = ""
    if used > 2:
        busy = (
            f"{used:.1f} of {memory:.1f} GiB of the GPU's memory are taken by other processes: end "
            "them (nvidia-smi lists them)"
        )
    card = GPU(properties.name, memory, nearest.flops, nearest.bandwidth)
    return card, Finding("device", busy, describe_device())


def _memory(budget: Budget, card: GPU) -> Finding:
    parts = ", ".join(f"{name} {size:.1f}" for name, size in budget.memory.items())
    remark = f"{budget.peak_memory:.1f} of {card.memory:.1f} GiB ({parts})"
    if budget.peak_memory <= card.memory:
        return Finding("GPU memory", remark=remark)
    fitting = [scale for scale, known in CARDS.items() if known.memory <= card.memory]
    advice = f"take scale={fitting[-1]}" if fitting else "take a larger card"
    return Finding(
        "GPU memory", f"the run needs {remark} of {card.name}: {advice}, or a smaller micro-batch"
    )


def _host(budget: Budget) -> Iterator[Finding]:
    """Findings on the host's memory and on the disk that runs are written to."""
    available = available_memory()
    if available is None or budget.host_memory <= available:
        yield Finding("host memory", remark=f"{budget.host_memory:.1f} GiB")
    else:
        yield Finding(
            "host memory",
            f"the run needs {budget.host_memory:.1f} GiB of host memory and "
            f"{available:.1f} GiB are available: take a machine with more",
        )
    needed = KEPT_CHECKPOINTS * budget.checkpoint + sum(budget.disk.values())
    folder = next(path for path in (runs_root(), *runs_root().parents) if path.exists())
    free = shutil.disk_usage(folder).free / 2**30
    parts = [
        f"{KEPT_CHECKPOINTS} checkpoints {KEPT_CHECKPOINTS * budget.checkpoint:.1f}",
        *(f"{name} {size:.1f}" for name, size in budget.disk.items() if size),
    ]
    remark = f"{needed:.1f} GiB ({', '.join(parts)})"
    if needed <= free:
        yield Finding("disk", remark=remark)
    else:
        yield Finding(
            "disk",
            f"the run needs {remark} and {free:.1f} GiB are free where runs are kept: free "
            "some, or name another folder with --runs",
        )


def available_memory() -> float | None:
    """GiB of host memory that new processes can have; None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    kibibytes = next((line.split()[1] for line in lines if line.startswith("MemAvailable")), None)
    return int(kibibytes) / 2**20 if kibibytes else None


def _hours(budget: Budget, card: GPU, max_hours: float) -> Finding:
    hours = budget.seconds(card) / 3600
    if hours <= max_hours:
        return Finding("time", remark=_duration(3600 * hours))
    return Finding(
        "time",
        f"it would take about {_duration(3600 * hours)} on {_cards(card)} and max_hours is "
        f"{max_hours:g}: use more GPUs (lab cluster), a smaller scale, or say max_hours="
        f"{hours:.0f}",
    )


def _paragraph(
    chosen: Experiment,
    scale: str,
    budget: Budget,
    card: GPU,
    planned: bool,
    price: float,
    checkpoint_minutes: float | None,
) -> str:
    """The estimate in one paragraph, with the assumptions that it rests on."""
    step, whole = budget.step_seconds(card), budget.seconds(card)
    costs = f", about {whole / 3600 * price:.0f} at {price:.2f} an hour" if price else ""
    sampled = f", {_amount(budget.tokens * budget.steps)} tokens" if budget.tokens else ""
    parts = ", ".join(
        f"{name} {_duration(work.seconds(card))}" for name, work in budget.step.items()
    )
    start = (
        f", after a start of {_duration(budget.start.seconds(card))}" if budget.start.flops else ""
    )
    return (
        f"{chosen.name} at scale {scale} on"
        f" {_cards(card)}{' (no GPU is here: planned)' if planned else ''}: about"
        f" {_duration(whole)}{costs}. {budget.steps:,} steps of {_duration(step)} ({parts};"
        f" {_amount(3600 / step)} steps an hour{sampled}) and {budget.evaluations} evaluations of"
        f" {_duration(budget.evaluation.seconds(card))}{start}. Memory {budget.peak_memory:.0f} of"
        f" {card.memory:.0f} GiB. Loses at most"
        f" {_duration(pause(budget, checkpoint_minutes) + step)} when it is killed. Estimated, not"
        f" measured: {ARITHMETIC_SHARE:.0%} of the peak arithmetic, {BANDWIDTH_SHARE:.0%} of the"
        " peak bandwidth."
    )


def _cards(card: GPU) -> str:
    """The card, with how many of them a launcher such as torchrun starts this run on."""
    processes = int(os.environ.get("WORLD_SIZE", 1))
    return f"one {card.name}" if processes == 1 else f"{processes} x {card.name}"


def pause(budget: Budget, checkpoint_minutes: float | None) -> float:
    """Seconds between two checkpoints: as asked, or so that writing takes about 5% of the time."""
    if checkpoint_minutes is not None:
        return 60 * checkpoint_minutes
    return max(LEAST_SECONDS, TIMES_THE_WRITING * budget.checkpoint / DISK_SPEED)


def _duration(seconds: float) -> str:
    """A duration as one reads it: two digits and a unit.

    >>> [_duration(seconds) for seconds in (0.004, 0.25, 42, 600, 9000, 40000, 1.5e6)]
    ['4 ms', '250 ms', '42 s', '10 min', '2.5 h', '11 h', '17 days']
    """
    units = (("ms", 1e-3, 1), ("s", 1, 120), ("min", 60, 7200), ("h", 3600, 3 * 86400))
    fitting = [(unit, size) for unit, size, limit in units if seconds < limit]
    unit, size = fitting[0] if fitting else ("days", 86400)
    digits = f"{seconds / size:.2g}" if seconds / size < 99.5 else f"{seconds / size:.0f}"
    return f"{digits} {unit}"


def _amount(number: float) -> str:
    """A count as one reads it.

    >>> [_amount(number) for number in (21, 24000, 2.6e9)]
    ['21', '24 thousand', '2.6 billion']
    """
    for word, size in ((" billion", 1e9), (" million", 1e6), (" thousand", 1e3)):
        if number >= size:
            return (
                f"{number / size:.2g}{word}"
                if number / size < 99.5
                else f"{number / size:.0f}{word}"
            )
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"
