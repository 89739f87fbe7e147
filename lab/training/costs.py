"""What a training costs: memory, arithmetic, traffic, disk; and an estimate of a step's time.

Trainers say it (`costs(config) -> Costs` beside `train` in their module), from what
`lab.training.counter` counts on fake tensors, and `lab preflight` compares it with the machine.
Nothing here is measured: docs/performance.md says what an H200 took. An estimate is what the data
sheet allows at the best, divided by `EFFICIENCY`; the first steps of a training say more
(`lab.runs.progress`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

GIB = 2**30
EFFICIENCY = 0.4  # the assumed share of a card's peak that a training reaches
CONTEXT = 1.0  # GiB that CUDA itself takes: its context, the kernels' code, cuBLAS's workspaces


@dataclass(frozen=True)
class GPU:
    """A card's data sheet."""

    name: str
    memory: float  # GiB, as the driver reports it
    flops: float  # dense bfloat16 FLOP/s
    bandwidth: float  # bytes/s


CARDS = {  # by scale; NVIDIA's data sheets
    "gpu24": GPU("24 GB card (RTX 4090)", 23.5, 165e12, 1.01e12),
    "h100": GPU("H100 80 GB", 79.1, 989e12, 3.35e12),
    "h200": GPU("H200 141 GB", 139.8, 989e12, 4.8e12),
}


@dataclass(frozen=True)
class Count:
    """Work, counted."""

    flops: float = 0.0  # of matrix products, convolutions and attention, forward and backward
    bytes: float = 0.0  # read and written by all operators but the elementwise ones
    peak: float = 0.0  # bytes alive at once, at most, of all that the work itself made

    def times(self, factor: float) -> Count:
        """The same work `factor` times, one after another."""
        return Count(factor * self.flops, factor * self.bytes, self.peak)

    def __add__(self, other: Count) -> Count:
        """Both, one after the other."""
        peak = max(self.peak, other.peak)
        return Count(self.flops + other.flops, self.bytes + other.bytes, peak)

    def seconds(self, gpu: GPU) -> float:
        """The longer of arithmetic and traffic, at `EFFICIENCY` of the card's peak."""
        return max(self.flops / gpu.flops, self.bytes / gpu.bandwidth) / EFFICIENCY


@dataclass(frozen=True)
class Costs:
    """What one training needs; memory and disk in GiB."""

    memory: dict[str, float]  # of one GPU at its peak, by part
    checkpoint: float  # one of them on disk
    step: dict[str, Count]  # the work of one training step, by part
    host_memory: float = 0.0  # RAM, beyond what Python and torch take
    # On disk besides checkpoints (hub cache, image cache), by part.
    disk: dict[str, float] = field(default_factory=dict)

    @property
    def peak_memory(self) -> float:
        """GiB of one GPU, all parts together."""
        return sum(self.memory.values())

    def step_seconds(self, gpu: GPU) -> float:
        """One training step, its parts one after another."""
        return sum(part.seconds(gpu) for part in self.step.values())
