"""`lab preflight`: can this machine finish this run, and what will it cost?

The check is made before every run at a GPU scale. It refuses the run with all faults that it found,
or prints one paragraph. Times are estimates, not measurements: counted work divided by an assumed
fraction of the card's peak (`lab.training.budget`). `make gpu` measures them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.configurations import Config
from lab.errors import LabError
from lab.runs.experiments import GPU_SCALES, Experiment
from lab.runs.run_folder import runs_root
from lab.training.budget import ARITHMETIC_SHARE, BANDWIDTH_SHARE, CARDS, GPU, Budget

# A run that takes longer on this machine is refused unless max_hours is larger.
LONGEST_HOURS = 7 * 24.0
KEPT_CHECKPOINTS = 2
DISK_SPEED = 0.5  # assumed GiB per second that the disk of a rented machine writes
# Default seconds between checkpoints: at least MIN_CHECKPOINT_SECONDS, and at least
# WRITE_TIME_FACTOR times what writing one takes, so that about 5% of the time goes into writing.
MIN_CHECKPOINT_SECONDS = 20.0
WRITE_TIME_FACTOR = 20.0


@dataclass(frozen=True)
class Finding:
    """The result of one check: its subject, and what is wrong with it (empty if nothing is)."""

    subject: str
    fault: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Readiness:
    """What `lab preflight` found.

    `paragraph` is the estimate in words; it is empty if the trainer has no budget (laptop
    experiments).
    """

    findings: list[Finding]
    paragraph: str

    @property
    def faults(self) -> list[str]:
        """All faults that were found; with any, the run is refused."""
        return [finding.fault for finding in self.findings if finding.fault]


def require_ready(
    chosen: Experiment,
    config: Config,
    *,
    price: float = 0.0,
    max_hours: float = LONGEST_HOURS,
    checkpoint_minutes: float | None = None,
) -> str:
    """The estimate of a run at a GPU scale in one paragraph; empty at other scales.

    Arguments as for `readiness`. LabError: the run cannot finish here; it lists all faults.
    """
    if config.scale not in GPU_SCALES:
        return ""
    refusal = f"{config.name} at scale {config.scale} cannot run here: "
    if not _on_cpu() and (fault := _gpu()[1].fault):
        raise LabError(refusal + fault)  # without a GPU no other check matters
    ready = readiness(
        chosen,
        config,
        price=price,
        max_hours=max_hours,
        checkpoint_minutes=checkpoint_minutes,
    )
    if ready.faults:
        raise LabError(refusal + "; ".join(ready.faults))
    return ready.paragraph


def readiness(
    chosen: Experiment,
    config: Config,
    *,
    price: float = 0.0,
    max_hours: float = LONGEST_HOURS,
    checkpoint_minutes: float | None = None,
) -> Readiness:
    """Check the machine and estimate the run's memory, time and cost.

    | argument | unit | meaning |
    |---|---|---|
    | `price` | money per hour | price of the machine; 0: unknown |
    | `max_hours` | hours | a run that would take longer is refused |
    | `checkpoint_minutes` | minutes | between checkpoints; None: writing takes 5% of the time |
    """
    from lab.training.device import describe_device

    on_cpu = _on_cpu()
    scale = config.scale
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
            for subject, fault, remark in module.requirements(config)
        ]
    if module is None or scale not in GPU_SCALES or not hasattr(module, "budget"):
        return Readiness(findings, "")
    budget = module.budget(config)
    if budget is None:
        model = config.settings().get("model")
        remark = f"not counted: the architecture of the model {model} is not known"
        findings.append(Finding("memory and hours", remark=remark))
        return Readiness(findings, "")
    if card:
        findings.append(_memory(budget, card))
    findings += _host(budget)
    if on_cpu:
        return Readiness(findings, "")
    # Without a GPU the run is estimated for the card that its scale is meant for.
    planned = card or CARDS.get(scale, CARDS["h200"])
    findings.append(_hours(budget, planned, max_hours))
    paragraph = _paragraph(config, budget, planned, card is None, price, checkpoint_minutes)
    return Readiness(findings, paragraph)


def _on_cpu() -> bool:
    """Whether the CPU was explicitly asked for (device=cpu)."""
    return os.environ.get("LAB_DEVICE") == "cpu"


def _gpu() -> tuple[GPU | None, Finding]:
    """The data sheet of this machine's GPU (None without one), and what is wrong with it."""
    import torch

    from lab.training.device import describe_device, gpu_fault

    if fault := gpu_fault():
        return None, Finding("device", fault)
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    memory = properties.total_memory / 2**30
    # Peak arithmetic and bandwidth cannot be queried: take those of the nearest known card.
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
    """Finding on the GPU's memory."""
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
    """Findings on the host's memory, and on the disk that holds the runs."""
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
    # The folder of the runs may not exist yet: ask its nearest parent.
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
    """Host memory available to new processes, in GiB; None if the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    kibibytes = next((line.split()[1] for line in lines if line.startswith("MemAvailable")), None)
    return int(kibibytes) / 2**20 if kibibytes else None


def _hours(budget: Budget, card: GPU, max_hours: float) -> Finding:
    """Finding on the duration of the run."""
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
    config: Config,
    budget: Budget,
    card: GPU,
    planned: bool,
    price: float,
    checkpoint_minutes: float | None,
) -> str:
    """The estimate in one paragraph, with its assumptions."""
    step = budget.step_seconds(card)
    total = budget.seconds(card)
    costs = f", about {total / 3600 * price:.0f} at {price:.2f} an hour" if price else ""
    sampled = f", {_amount(budget.tokens * budget.steps)} tokens" if budget.tokens else ""
    parts = ", ".join(
        f"{name} {_duration(work.seconds(card))}" for name, work in budget.step.items()
    )
    start = (
        f", after a start of {_duration(budget.start.seconds(card))}" if budget.start.flops else ""
    )
    return (
        f"{config.name} at scale {config.scale} on"
        f" {_cards(card)}{' (no GPU is here: planned)' if planned else ''}: about"
        f" {_duration(total)}{costs}. {budget.steps:,} steps of {_duration(step)} ({parts};"
        f" {_amount(3600 / step)} steps an hour{sampled}) and {budget.evaluations} evaluations of"
        f" {_duration(budget.evaluation.seconds(card))}{start}. Memory {budget.peak_memory:.0f} of"
        f" {card.memory:.0f} GiB. Loses at most"
        f" {_duration(pause(budget, checkpoint_minutes) + step)} when it is killed. Estimated, not"
        f" measured: {ARITHMETIC_SHARE:.0%} of the peak arithmetic, {BANDWIDTH_SHARE:.0%} of the"
        " peak bandwidth."
    )


def _cards(card: GPU) -> str:
    """The card, and how many of them a launcher such as torchrun uses for this run."""
    processes = int(os.environ.get("WORLD_SIZE", 1))
    return f"one {card.name}" if processes == 1 else f"{processes} x {card.name}"


def pause(budget: Budget, checkpoint_minutes: float | None) -> float:
    """Seconds between checkpoints: as given, or so that writing takes about 5% of the time."""
    if checkpoint_minutes is not None:
        return 60 * checkpoint_minutes
    return max(MIN_CHECKPOINT_SECONDS, WRITE_TIME_FACTOR * budget.checkpoint / DISK_SPEED)


def _duration(seconds: float) -> str:
    """A duration as text: two digits and a unit.

    >>> [_duration(seconds) for seconds in (0.004, 0.25, 42, 600, 9000, 40000, 1.5e6)]
    ['4 ms', '250 ms', '42 s', '10 min', '2.5 h', '11 h', '17 days']
    """
    units = (("ms", 1e-3, 1), ("s", 1, 120), ("min", 60, 7200), ("h", 3600, 3 * 86400))
    fitting = [(unit, size) for unit, size, limit in units if seconds < limit]
    unit, size = fitting[0] if fitting else ("days", 86400)
    digits = f"{seconds / size:.2g}" if seconds / size < 99.5 else f"{seconds / size:.0f}"
    return f"{digits} {unit}"


def _amount(number: float) -> str:
    """A count as text.

    >>> [_amount(number) for number in (21, 24000, 2.6e9)]
    ['21', '24 thousand', '2.6 billion']
    """
    for unit, size in (("billion", 1e9), ("million", 1e6), ("thousand", 1e3)):
        if number >= size:
            scaled = number / size
            return f"{scaled:.2g} {unit}" if scaled < 99.5 else f"{scaled:.0f} {unit}"
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"
