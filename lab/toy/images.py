"""Images: classification, the one world where the pass rate is the softmax probability of the label. Floor 2.

A rollout is a sampled label, right if it is the image's own; so w(p) = 1/p is exactly cross-entropy, and every
objective can be compared with exact maximum likelihood (MaxRL, 2602.02710, section 6.1 and appendix D).
Data: the handwritten digits that scikit-learn ships (1,797 images of 8x8 pixels, 10 classes).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from lab.records import Record
from lab.rng import generator, stream_seed
from lab.toy.training import Signal
from lab.toy.training import train as run_loop

CLASSES = 10
TEST_IMAGES = 360  # every seed trains and tests on the same split


def load_digits() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Train images, train labels, test images, test labels. Images are float32 "images 1 8 8", about unit variance."""
    from sklearn.datasets import load_digits as load
    from sklearn.model_selection import train_test_split
    bunch = load()
    images = torch.tensor(bunch.images, dtype=torch.float32)[:, None]
    labels = torch.tensor(bunch.target, dtype=torch.long)
    train, test = train_test_split(np.arange(len(labels)), test_size=TEST_IMAGES, stratify=bunch.target, random_state=0)
    mean, std = images[train].mean(), images[train].std()
    images = (images - mean) / std
    return images[train], labels[train], images[test], labels[test]


def small_resnet(width: int) -> nn.Module:
    """A residual network of three of torchvision's basic blocks for 8x8 images: width, 2 and 4 times the width."""
    from lab.toy.vision import basic_block
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
        basic_block(width, width), basic_block(width, 2 * width, stride=2), basic_block(2 * width, 4 * width, stride=2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, CLASSES))


class Images:
    """A classifier and its data; a batch, and the labels sampled on it, depend on the seed and step alone."""

    def __init__(self, signal: Signal, width: int, batch: int, seed: int) -> None:
        self.signal, self.batch, self.seed = signal, batch, seed
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stream_seed(seed, "weights"))
            self.model = small_resnet(width)
        self.images, self.labels, *self.test = load_digits()
        self.steps_an_epoch = len(self.labels) // batch

    def loss(self, step: int) -> torch.Tensor:
        epoch, at = divmod(step, self.steps_an_epoch)
        order = generator(self.seed, "order", epoch).permutation(len(self.labels))
        rows = torch.from_numpy(order[at * self.batch : (at + 1) * self.batch])
        self.model.train()
        logp = self.model(self.images[rows]).log_softmax(1)
        right = nn.functional.one_hot(self.labels[rows], CLASSES).to(logp)
        return self.signal.loss(logp, right, torch.Generator().manual_seed(stream_seed(self.seed, "rollouts", step)))

    @torch.no_grad()
    def evaluate(self, step: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """On the test images: pass@1 is the mean probability of the label, pass@k the mean of 1-(1-p)^k, exact."""
        self.model.eval()
        images, labels = self.test
        logp = self.model(images).double().log_softmax(1)
        p = logp.gather(1, labels[:, None])[:, 0].exp().numpy()
        with np.errstate(divide="ignore"):  # log 0 = -inf stops the run with a sentence
            likelihood = np.log(p).mean()
        metrics = {"pass@1": p.mean(), "pass@128": -np.expm1(128 * np.log1p(-p.clip(max=1 - 1e-12))).mean(),
                   "accuracy": float((logp.argmax(1) == labels).double().mean()), "log-likelihood": likelihood}
        return metrics, {"problem": np.arange(len(p)), "pass_rate": p}


def preflight(*, objective: str, gradient: str, rollouts: int, **_: Any) -> list[str]:
    """Refuse what cannot run; returns the header's lines on the objective."""
    return Signal(objective, gradient, rollouts).describe()


def train(*, objective: str, gradient: str, rollouts: int, width: int, batch: int, steps: int, learning_rate: float,
          warmup: int, log_every: int, seed: int, state: dict[str, Any] | None) -> Iterator[Record]:
    """SGD with momentum 0.9, linear warm-up and cosine decay, as published (MaxRL D.2)."""
    world = Images(Signal(objective, gradient, rollouts), width, batch, seed)
    optimizer = torch.optim.SGD(world.model.parameters(), lr=learning_rate, momentum=0.9, weight_decay=1e-4)

    def rate(step: int) -> float:
        if step < warmup:
            return learning_rate * (step + 1) / warmup
        return learning_rate * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup))) / 2

    yield from run_loop(world, optimizer, rate, steps, log_every, state)
