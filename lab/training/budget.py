"""What a training run needs, counted before it starts: memory, arithmetic, traffic, disk.

Trainers count (`budget(**parameters) -> Budget` beside `train` in their module), and `lab
preflight` compares with the machine. Nothing here is measured on a GPU: every time is the data
sheet's lower bound, divided by the share of the peak that the constants below assume.
"""

from __future__ import annotations

from dataclasses import dataclass, field

GIB = 2**30
# Shares of a GPU's peak that well-written kernels reach in practice. Assumptions, not measurements.
ARITHMETIC_SHARE = 0.4
BANDWIDTH_SHARE = 0.6
SECONDS_A_LAUNCH = 6e-6  # of a small kernel outside a captured graph
CONTEXT = 1.0  # GiB that CUDA itself takes: its context, the kernels' code, cuBLAS's workspaces


@dataclass(frozen=True)
class GPU:
    """A card's data sheet.

    `memory` is in GiB, as the driver reports it; `flops` are dense bfloat16 FLOP/s; `bandwidth` is
    in bytes/s.
    """

    name: str
    memory: float
    flops: float
    bandwidth: float


CARDS = {  # by scale; NVIDIA's data sheets
    "gpu24": GPU("24 GB card (RTX 4090)", 23.5, 165e12, 1.01e12),
    "h100": GPU("H100 80 GB", 79.1, 989e12, 3.35e12),
    "h200": GPU("H200 141 GB", 139.8, 989e12, 4.8e12),
}


@dataclass(frozen=True)
class Work:
    """Arithmetic of one kind: FLOPs, bytes read and written, and kernels launched one by one."""

    flops: float
    bytes: float = 0.0
    launches: float = 0.0

    def seconds(self, gpu: GPU) -> float:
        """The longest of arithmetic, traffic and launches, at the assumed shares of the peak."""
        return max(
            self.flops / (gpu.flops * ARITHMETIC_SHARE),
            self.bytes / (gpu.bandwidth * BANDWIDTH_SHARE),
            self.launches * SECONDS_A_LAUNCH,
        )


@dataclass(frozen=True)
class Budget:
    """What one training run needs.

    | field | unit | meaning |
    |---|---|---|
    | `memory` | GiB | of one GPU at its peak, by part |
    | `checkpoint` | GiB | one checkpoint on disk |
    | `host_memory` | GiB | of the host's RAM, beyond what Python and torch take |
    | `disk` | GiB | on disk besides checkpoints (hub cache, image cache), by part |
    | `step` | | the work of one training step, by part (rollouts, update, ...) |
    | `evaluation` | | the work of one evaluation |
    | `start` | | all work of the training run that it starts from |
    | `steps`, `evaluations` | | how many of each there are |
    | `tokens` | | tokens sampled and trained on in one step; 0 where there are none |
    """

    memory: dict[str, float]
    checkpoint: float
    step: dict[str, Work]
    evaluation: Work
    steps: int
    evaluations: int
    host_memory: float = 0.0
    disk: dict[str, float] = field(default_factory=dict)
    start: Work = Work(0)
    tokens: float = 0.0

    @property
    def peak_memory(self) -> float:
        """GiB of one GPU, all parts together."""
        return sum(self.memory.values())

    def step_seconds(self, gpu: GPU) -> float:
        """One training step, its parts one after another."""
        return sum(work.seconds(gpu) for work in self.step.values())

    def seconds(self, gpu: GPU) -> float:
        """The whole training run, evaluations and start included."""
        return (
            self.steps * self.step_seconds(gpu)
            + self.evaluations * self.evaluation.seconds(gpu)
            + self.start.seconds(gpu)
        )
