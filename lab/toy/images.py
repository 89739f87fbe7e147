"""Images: the one world in which the pass rate is the softmax probability of the label.

A rollout is a sampled label, and it is right if it is the image's own. So w(p) = 1/p is exactly
cross-entropy, and every objective can be compared with exact maximum likelihood (MaxRL, 2602.02710,
section 6.1 and appendix D). Two departures from the paper: labels are drawn as counts, whose cost
does not grow with N (`lab.toy.multinomial`), and bfloat16 and compilation are options on a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call, grad, vmap

from lab.configurations.toy_worlds import DigitsConfig, ImagesConfig
from lab.errors import LabError
from lab.mathematics.metrics import exact_pass_at_k
from lab.shapes import Float, Int
from lab.toy.costs import of_images as costs  # noqa: F401, for `lab preflight`
from lab.toy.gradient_source import GradientSource, WithGradientSource
from lab.toy.image_data import Digits, ProceduralImages
from lab.toy.resnet import fresh_network
from lab.toy.worlds import SGD, AdamW, learn
from lab.training.device import compiler_fault, compute_device
from lab.training.records import Pause, Record
from lab.training.rng import stream_seed

# Test images whose gradient norm is computed after the last step, as in MaxRL figure 8.
SCORE_NORM_IMAGES = 1000
Classifier = Callable[[Tensor], Tensor]  # from images to logits


class Images(WithGradientSource):
    """A classifier and its images; seed and step alone give a batch and its sampled labels."""

    def __init__(self, config: ImagesConfig) -> None:
        self.config = config
        super().__init__(GradientSource.of(config))
        self.pictures = pictures = image_source(config)
        channels, size, classes = pictures.channels, pictures.size, pictures.classes
        model = fresh_network(config.seed, config.net, channels, size, classes, config.width)
        device = compute_device()
        self.layout = torch.channels_last if device.type == "cuda" else torch.contiguous_format
        # mypy: torch annotates no `to` of modules that takes both a device and a memory format.
        self.model = model.to(device, memory_format=self.layout)  # type: ignore[call-overload]
        half = config.precision == "bfloat16"
        self.autocast = torch.autocast(device.type, torch.bfloat16, enabled=half)
        self.forward: Classifier = torch.compile(self.model) if config.compile_model else self.model

    def loss(self, step: int) -> Float[Tensor, ""]:
        images, labels = self.pictures.train_batch(step, self.config.batch)
        self.model.train()
        logp = self._logits(self.forward, images).log_softmax(1)
        seed = stream_seed(self.config.seed, "rollouts", step)
        accepted = torch.zeros_like(logp, dtype=torch.bool).scatter_(1, labels[:, None], True)
        if self.config.rewards == "exploitable":
            accepted |= accepted.roll(1, dims=1)
        return self.gradient_source.loss(logp, accepted, seed)

    @torch.no_grad()
    def evaluate(self, step: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Pass@k, accuracy and log-likelihood on the test images, without sampling.

        Pass@1 is the mean probability of the label, pass@k the mean of 1-(1-p)^k (D.4). After the
        last step the groups also hold the norm of the score, grad log p, for the first 1,000
        images. That of w(p) grad p follows for every objective: it is p w(p) times as large.
        """
        self.model.eval()
        label_logps: list[Tensor] = []
        hits: list[Tensor] = []
        norms: list[Tensor] = []
        for images, labels in self.pictures.test():
            logp = self._logits(self.model, images).double().log_softmax(1)
            label_logps.append(logp.gather(1, labels[:, None])[:, 0])
            hits.append(logp.argmax(1) == labels)
            measured = sum(len(batch) for batch in norms)
            if step == self.config.steps and measured < SCORE_NORM_IMAGES:
                norms.append(gradient_norms(self.model, images, labels))
        log_p = torch.cat(label_logps).cpu().numpy()
        p = np.exp(log_p)
        metrics = {
            "pass@1": p.mean(),
            "pass@128": float(exact_pass_at_k(p, 128).mean()),
            "accuracy": float(torch.cat(hits).double().mean()),
            "log-likelihood": log_p.mean(),
        } | self.gradient_source.metrics()
        groups = {"problem": np.arange(len(p)), "pass_rate": p}
        if norms:
            first = torch.cat(norms)[:SCORE_NORM_IMAGES].double().cpu().numpy()
            groups["score_norm"] = np.pad(first, (0, len(p) - len(first)), constant_values=np.nan)
        return metrics, groups

    def _logits(
        self, forward: Classifier, images: Float[Tensor, "images channels size size"]
    ) -> Float[Tensor, "images classes"]:
        with self.autocast:
            return forward(images.to(memory_format=self.layout)).float()


def gradient_norms(
    model: torch.nn.Module,
    images: Float[Tensor, "images channels size size"],
    labels: Int[Tensor, " images"],
) -> Float[Tensor, " images"]:
    """The L2 norm of grad log p over all weights, for each image, in one vectorised pass."""
    weights = {key: value.detach() for key, value in model.named_parameters()}
    buffers = dict(model.named_buffers())

    def log_p(weights: dict[str, Tensor], image: Tensor, label: Tensor) -> Tensor:
        logits = functional_call(model, (weights, buffers), (image[None],))
        return logits.log_softmax(1)[0].gather(0, label[None])[0]

    def norm(image: Tensor, label: Tensor) -> Tensor:
        squares = [g.square().sum() for g in grad(log_p)(weights, image, label).values()]
        return sum(squares[1:], squares[0]).sqrt()

    return vmap(norm, chunk_size=16)(images, labels)


def preflight(config: DigitsConfig | ImagesConfig) -> list[str]:
    """The header's lines on the objective. LabError: the settings cannot run together."""
    source = GradientSource.of(config)
    if isinstance(config, DigitsConfig):
        return source.describe()
    if config.data == "imagenet" and not config.folder_of_images:
        raise LabError(
            "images: data = 'imagenet' needs folder_of_images: name the folder that holds train/"
            " and val/"
        )
    if config.evaluated_on == "validation" and config.data != "procedural":
        raise LabError(
            f"images: evaluated_on = 'validation', but data = {config.data!r} has no validation"
            " images: set data to 'procedural' or evaluated_on to 'test'"
        )
    return source.describe()


def requirements(config: DigitsConfig | ImagesConfig) -> Iterator[tuple[str, str, str]]:
    """What a run needs besides a GPU, for `lab preflight`: (subject, fault or "", remark)."""
    if isinstance(config, DigitsConfig):
        return
    if config.compile_model:
        yield "compiler", compiler_fault(), "found, for torch.compile"
    if config.data == "imagenet":
        folder = config.folder_of_images
        fault = (
            f"there is no folder {folder}: set folder_of_images=FOLDER to one that"
            " holds train/ and val/ (docs/imagenet.md)"
        )
        yield "ImageNet", "" if Path(folder).is_dir() else fault, folder


def train(config: ImagesConfig, state: dict[str, Any] | None = None) -> Iterator[Record | Pause]:
    """SGD with momentum 0.9, linear warm-up and cosine decay, as published (MaxRL D.2).

    There are two controls of the gradient's scale: `gradient_norm` above 0 rescales every step's
    gradient to that norm, so that objectives differ in direction only, and `optimizer` "adamw"
    removes the scale in another way.
    """
    world = Images(config)
    peak = config.learning_rate
    decay = config.weight_decay
    weights = world.model.parameters()
    optimizer: torch.optim.Optimizer
    if config.optimizer == "sgd":
        optimizer = SGD(weights, lr=peak, momentum=0.9, weight_decay=decay)
    else:
        optimizer = AdamW(weights, lr=peak, weight_decay=decay)

    def rate(step: int) -> float:
        if step < config.warmup:
            return peak * (step + 1) / config.warmup
        progress = math.pi * (step - config.warmup) / max(1, config.steps - config.warmup)
        return peak * (1 + math.cos(progress)) / 2

    norm = config.gradient_norm
    yield from learn(
        world, optimizer, config.steps, config.log_every, state, rate=rate, gradient_norm=norm
    )


def train_digits(
    config: DigitsConfig, state: dict[str, Any] | None = None
) -> Iterator[Record | Pause]:
    """`train` on scikit-learn's handwritten digits with the small network."""
    images = ImagesConfig(
        name=config.name,
        scale=config.scale,
        data="digits",
        folder_of_images="",
        classes=10,
        size=8,
        net="small",
        optimizer="sgd",
        weight_decay=1e-4,
        gradient_norm=0.0,
        precision="float32",
        compile_model=False,
        **config.settings(),
    )
    yield from train(images, state)


def image_source(config: ImagesConfig) -> Any:
    """The source of images that the settings name, on the GPU where there is one."""
    device = compute_device()
    if config.data == "digits":
        return Digits(config.seed, device)
    if config.data == "procedural":
        return ProceduralImages(
            config.seed, config.size, device, config.classes, evaluated_on=config.evaluated_on
        )
    from lab.toy.imagenet import ImageNet

    return ImageNet(config.folder_of_images, config.seed, config.size, device, config.classes)
