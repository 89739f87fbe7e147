"""Images: classification, the one world where the pass rate is the softmax probability of the
label. Floor 2.

A rollout is a sampled label, right if it is the image's own; so w(p) = 1/p is exactly
cross-entropy, and every objective can be compared with exact maximum likelihood (MaxRL, 2602.02710,
section 6.1 and appendix D). Departures from the paper: labels are drawn as counts, whose cost does
not grow with N (`lab.toy.multinomial`); on a GPU bfloat16 and compilation are options.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch.func import functional_call, grad, vmap

from lab.budget import CONTEXT, GIB, Budget, Work
from lab.device import compiler_fault, compute_device
from lab.errors import LabError
from lab.gpu_counter import count
from lab.records import Pause, Record
from lab.rng import stream_seed
from lab.toy.image_data import (
    TEST_BATCH,
    TEST_DIGITS,
    TEST_IMAGES,
    Digits,
    ImageSource,
    ProceduralImages,
)
from lab.toy.resnet import fresh_network
from lab.toy.training_loop import GradientSource
from lab.toy.training_loop import train as run_loop

IMAGENET = {"train": 1281167, "val": 50000}  # pictures
SCORE_NORM_IMAGES = (
    1000  # test images whose gradient norm is taken after the last step (MaxRL figure 8: 1,000)
)


class Images:
    """A classifier and its pictures. A batch, and the labels sampled on it, depend on the seed and
    the step alone.
    """

    def __init__(
        self,
        gradient_source: GradientSource,
        pictures: ImageSource,
        model: torch.nn.Module,
        batch: int,
        last_step: int,
        seed: int,
        precision: str = "float32",
        compile_model: bool = False,
    ) -> None:
        self.gradient_source, self.pictures, self.batch, self.last_step, self.seed = (
            gradient_source,
            pictures,
            batch,
            last_step,
            seed,
        )
        self.device = compute_device()
        self.layout = torch.channels_last if self.device.type == "cuda" else torch.contiguous_format
        self.model = model.to(self.device, memory_format=self.layout)
        self.autocast = torch.autocast(
            self.device.type, torch.bfloat16, enabled=precision == "bfloat16"
        )
        self.forward = torch.compile(self.model) if compile_model else self.model

    def loss(self, step: int) -> torch.Tensor:
        images, labels = self.pictures.train_batch(step, self.batch)
        self.model.train()
        logp = self._logits(self.forward, images).log_softmax(1)
        right = torch.zeros_like(logp, dtype=torch.bool).scatter_(1, labels[:, None], True)
        return self.gradient_source.loss(logp, right, stream_seed(self.seed, "rollouts", step))

    def losses(self, step: int) -> list[torch.Tensor]:
        return [self.loss(step)]

    @torch.no_grad()
    def evaluate(self, step: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """On the test images: pass@1 is the mean probability of the label, pass@k the mean of
        1-(1-p)^k (D.4), exact.

        After the last step the groups also hold the norm of the score, grad log p, for the first
        1,000 images, from which that of w(p) grad p follows for every objective: p w(p) times as
        large.
        """
        self.model.eval()
        log_p, hits, norms = [], [], []
        for images, labels in self.pictures.test():
            logp = self._logits(self.model, images).double().log_softmax(1)
            log_p.append(logp.gather(1, labels[:, None])[:, 0])
            hits.append(logp.argmax(1) == labels)
            if step == self.last_step and sum(map(len, norms)) < SCORE_NORM_IMAGES:
                norms.append(gradient_norms(self.model, images, labels))
        log_p = torch.cat(log_p).cpu().numpy()
        p = np.exp(log_p)
        metrics = {
            "pass@1": p.mean(),
            "pass@128": pass_at(p, 128),
            "accuracy": float(torch.cat(hits).double().mean()),
            "log-likelihood": log_p.mean(),
        }
        groups = {"problem": np.arange(len(p)), "pass_rate": p}
        if norms:
            measured = torch.cat(norms)[:SCORE_NORM_IMAGES].cpu().numpy()
            groups["score_norm"] = np.concatenate(
                (measured, np.full(len(p) - len(measured), np.nan))
            )
        return metrics, groups

    def _logits(
        self, forward: Callable[[torch.Tensor], torch.Tensor], images: torch.Tensor
    ) -> torch.Tensor:
        with self.autocast:
            return forward(images.to(memory_format=self.layout)).float()


def pass_at(p: np.ndarray, k: int) -> float:
    """The mean over images of 1-(1-p)^k."""
    return float(-np.expm1(k * np.log1p(-p.clip(max=1 - 1e-15))).mean())


def gradient_norms(
    model: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor, chunk: int = 16
) -> torch.Tensor:
    """The L2 norm of grad log p over all weights, image by image, in one vectorised pass. Shape
    "images", float32.
    """
    weights = {key: value.detach() for key, value in model.named_parameters()}
    buffers = dict(model.named_buffers())

    def log_p(
        weights: dict[str, torch.Tensor], image: torch.Tensor, label: torch.Tensor
    ) -> torch.Tensor:
        logits = functional_call(model, (weights, buffers), (image[None],))
        return logits.log_softmax(1)[0].gather(0, label[None])[0]

    def norm(image: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        return sum(g.square().sum() for g in grad(log_p)(weights, image, label).values()).sqrt()

    return vmap(norm, chunk_size=chunk)(images, labels)


def preflight(
    *,
    estimator: str,
    gradient: str,
    rollouts: int,
    data: str = "digits",
    folder_of_images: str = "",
    **_: Any,
) -> list[str]:
    """Refuse what cannot run; returns the header's lines on the objective."""
    if data == "imagenet" and not folder_of_images:
        raise LabError(
            "images: data = 'imagenet' needs folder_of_images: name the folder that holds train/"
            " and val/"
        )
    return GradientSource(estimator, gradient, rollouts).describe()


def requirements(
    *, data: str = "digits", folder_of_images: str = "", compile_model: bool = False, **_: Any
) -> Iterator[tuple[str, str, str]]:
    """What a run needs besides a GPU, for `lab preflight`: (subject, fault or nothing, remark)."""
    if compile_model:
        yield "compiler", compiler_fault(), "found, for torch.compile"
    if data == "imagenet":
        fault = ""
        if not Path(folder_of_images).is_dir():
            fault = (
                f"there is no folder {folder_of_images}: say folder_of_images=FOLDER, one that"
                " holds train/ and val/ or parquet files (docs/imagenet.md)"
            )
        yield "ImageNet", fault, folder_of_images


def train(
    *,
    estimator: str,
    gradient: str,
    rollouts: int,
    data: str,
    folder_of_images: str,
    cache: str,
    classes: int,
    size: int,
    net: str,
    width: int,
    batch: int,
    steps: int,
    optimizer: str,
    learning_rate: float,
    weight_decay: float,
    gradient_norm: float,
    warmup: int,
    precision: str,
    compile_model: bool,
    log_every: int,
    seed: int,
    state: dict[str, Any] | None,
) -> Iterator[Record | Pause]:
    """SGD with momentum 0.9, linear warm-up and cosine decay, as published (MaxRL D.2), and the
    scale-matched controls.

    `gradient_norm` above 0 rescales every step's gradient to that norm, so that objectives differ
    in direction only; `optimizer` "adamw" takes the scale out in another way.
    """
    pictures = image_source(
        data=data,
        folder_of_images=folder_of_images,
        cache=cache,
        classes=classes,
        size=size,
        seed=seed,
    )
    model = fresh_network(seed, net, pictures.channels, pictures.size, pictures.classes, width)
    world = Images(
        GradientSource(estimator, gradient, rollouts),
        pictures,
        model,
        batch,
        steps,
        seed,
        precision,
        compile_model,
    )
    if optimizer == "sgd":
        chosen = torch.optim.SGD(
            model.parameters(), lr=learning_rate, momentum=0.9, weight_decay=weight_decay
        )
    else:
        chosen = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=weight_decay)

    def rate(step: int) -> float:
        if step < warmup:
            return learning_rate * (step + 1) / warmup
        return (
            learning_rate * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup))) / 2
        )

    yield from run_loop(world, chosen, rate, steps, log_every, state, gradient_norm)


def budget(
    *,
    data: str,
    classes: int,
    size: int,
    net: str,
    width: int,
    batch: int,
    steps: int,
    optimizer: str,
    precision: str,
    log_every: int,
    seed: int,
    **_: Any,
) -> Budget:
    """What the training asks of a GPU, from a count of its own step on fake tensors.

    The network counts as written. Compiling it fuses normalisation with activation, so both memory
    and traffic are upper bounds where `compile_model` is on. The traffic bounds a step: for batch
    256 on an A100 (1.555 TB/s) it gives 109 ms, and NVIDIA publishes 2,470 images a second, 104 ms
    (DeepLearningExamples, ResNet-50 v1.5). Newer cards may stay further from their peak.
    """
    channels = 1 if data == "digits" else 3

    def network() -> torch.nn.Module:
        return fresh_network(seed, net, channels, size, classes, width)

    def draw(images: int) -> tuple[torch.Tensor, torch.Tensor]:
        if data == "procedural":
            return ProceduralImages(seed, size, "cpu", classes).train_batch(0, images)
        return torch.zeros(images, channels, size, size), torch.zeros(images, dtype=torch.int64)

    def step() -> torch.nn.Module:
        world = _BlankImages(network(), draw, batch, precision)
        world.loss(0).backward()
        return world.model

    @torch.no_grad()
    def examine() -> None:
        _BlankImages(network(), draw, TEST_BATCH, precision).loss(0)

    weights, trained, examined = count(network).kept, count(step), count(examine)
    tested = {"digits": TEST_DIGITS, "procedural": TEST_IMAGES, "imagenet": IMAGENET["val"]}[data]
    batches = tested / TEST_BATCH
    cache = {"cache of pictures": sum(IMAGENET.values()) * channels * size**2 / GIB}
    moments = 1 if optimizer == "sgd" else 2
    return Budget(
        memory={
            "CUDA": CONTEXT,
            "optimizer": moments * weights / GIB,
            "weights, gradients, activations": max(trained.peak, examined.peak) / GIB,
        },
        checkpoint=(1 + moments) * weights / GIB,
        step={"update": Work(trained.flops, trained.bytes, trained.launches)},
        evaluation=Work(
            examined.flops * batches, examined.bytes * batches, examined.launches * batches
        ),
        steps=steps,
        evaluations=-(-steps // log_every) + 1,
        disk=cache if data == "imagenet" else {},
    )


class _BlankImages(Images):
    """The world on fake tensors, to count what a step does; channels last take the same memory."""

    def __init__(
        self,
        model: torch.nn.Module,
        draw: Callable[[int], tuple[torch.Tensor, torch.Tensor]],
        batch: int,
        precision: str,
    ) -> None:
        self.batch, self.seed, self.layout = batch, 0, torch.contiguous_format
        self.model = self.forward = model
        self.pictures = SimpleNamespace(train_batch=lambda step, batch: draw(batch))
        self.autocast = torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16")
        # The estimators keep tables, and must not keep fake ones.
        self.gradient_source = SimpleNamespace(
            loss=lambda logp, right, seed: -(logp * right).mean()
        )


def train_digits(*, width: int, **parameters: Any) -> Iterator[Record | Pause]:
    """The same on scikit-learn's handwritten digits with the small network."""
    yield from train(
        data="digits",
        folder_of_images="",
        cache="",
        classes=10,
        size=8,
        net="small",
        width=width,
        optimizer="sgd",
        weight_decay=1e-4,
        gradient_norm=0.0,
        precision="float32",
        compile_model=False,
        **parameters,
    )


def image_source(
    *, data: str, folder_of_images: str, cache: str, classes: int, size: int, seed: int, **_: Any
) -> ImageSource:
    """The source of pictures that these parameters name, on the GPU where there is one."""
    device = compute_device()
    if data == "digits":
        return Digits(seed, device)
    if data == "procedural":
        return ProceduralImages(seed, size, device, classes)
    from lab.toy.imagenet import ImageNet

    return ImageNet(folder_of_images, seed, size, device, cache, classes)
