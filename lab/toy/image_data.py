"""Labelled images: handwritten digits, and 1,000 classes that are drawn as they are needed.

A source gives training batches, which are a function of (seed, step), and a test set, which no seed
changes and which is never trained on, both on its device. `Digits` is real and tiny (8x8 pixels, 10
classes). `ProceduralImages` has the 1,000 classes of ImageNet and any number of pixels, so that an
untrained network is right once in a thousand draws, but needs no file. ImageNet itself is in
`lab.toy.imagenet`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lab.errors import LabError, whole
from lab.shapes import Float, Int
from lab.training.rng import epoch_order, generator, stream_seed

TEST_DIGITS = 360
TEST_IMAGES = 2048  # of `ProceduralImages`
TEST_BATCH = 256

# Float32 images of about unit variance, and int64 labels.
Batch = tuple[Float[Tensor, "images channels size size"], Int[Tensor, " images"]]


def rows_of_step(seed: int, step: int, batch: int, rows: int) -> Int[np.ndarray, " images"]:
    """The rows that a step reads: an epoch permutes all of them and leaves out a partial batch.

    LabError: a batch is larger than the training set.
    """
    if whole("batch", batch) > rows:
        raise LabError(f"batch = {batch}: there are only {rows} training images, so at most {rows}")
    epoch, position = divmod(step, rows // batch)
    return epoch_order(seed, epoch, rows)[position * batch : (position + 1) * batch]


class Digits:
    """scikit-learn's handwritten digits: 1,797 images of 8x8 grey pixels, 360 of them for tests."""

    classes = 10
    channels = 1
    size = 8

    def __init__(self, seed: int, device: torch.device | str = "cpu") -> None:
        from sklearn.datasets import load_digits
        from sklearn.model_selection import train_test_split

        bunch = load_digits()
        images = torch.tensor(bunch.images, dtype=torch.float32)[:, None]
        labels = torch.tensor(bunch.target, dtype=torch.long)
        # The split has a seed of its own: it is the same for every seed of a run.
        train, test = train_test_split(
            np.arange(len(labels)), test_size=TEST_DIGITS, stratify=bunch.target, random_state=0
        )
        images = (images - images[train].mean()) / images[train].std()
        self._train = images[train].to(device), labels[train].to(device)
        self._test = images[test].to(device), labels[test].to(device)
        self.seed = seed

    def train_batch(self, step: int, batch: int) -> Batch:
        images, labels = self._train
        rows = torch.from_numpy(rows_of_step(self.seed, step, batch, len(labels))).to(labels.device)
        return images[rows], labels[rows]

    def test(self) -> Iterator[Batch]:
        yield self._test


SHAPES = ("disc", "bar", "triangle", "cross", "ring")
# Hues 45 degrees apart.
COLOURS = ("red", "orange", "lime", "green", "cyan", "blue", "violet", "pink")
TEXTURES = {  # a, b, c and threshold of `ProceduralImages.draw`
    "plain": (0.0, 0.0, 0.0, -2.0),
    "halved": (1.2, 0.0, 0.0, 0.0),
    "striped": (7.0, 0.0, 0.0, 0.0),
    "chequered": (6.0, 0.0, 6.0, 0.0),
    "ringed": (0.0, 9.0, 0.0, 0.0),
}
PLACES = {  # in OFFSETs across and down
    "middle": (0, 0),
    "upper left": (-1, -1),
    "upper right": (1, -1),
    "lower left": (-1, 1),
    "lower right": (1, 1),
}
# The digits of a label, the one that changes fastest first.
LABEL_CODE: tuple[tuple[str, ...], ...] = (SHAPES, COLOURS, tuple(TEXTURES), tuple(PLACES))
MAX_CLASSES = math.prod(map(len, LABEL_CODE))

# Lengths, where half a side of the image is 1.
RADIUS = 0.46  # of a shape
OFFSET = 0.42  # from the middle to another place, along either axis
# What varies inside a class: uniform numbers between minus and plus these values.
JITTER = {
    # The shape: half sides, a share, radians.
    "across": 0.04,
    "down": 0.04,
    "size": 0.1,
    "turn": 0.2,
    # Its texture: radians, and how dark the dark parts are.
    "phase": 0.2,
    "other phase": 0.2,
    "dark": 0.05,
    # Its colour: steps between hues, saturation, value.
    "hue": 0.2,
    "vivid": 0.1,
    "value": 0.1,
    # The background and its gradient.
    "red": 0.06,
    "green": 0.06,
    "blue": 0.06,
    "slope": 0.08,
    "rise": 0.08,
    # The whole image.
    "light": 0.05,
    "contrast": 0.1,
}
NOISE = 0.04  # standard deviation, in every pixel and channel
GREY = 0.45  # of the background; contrast scales the distance from it
MEAN, STD = (0.44, 0.44, 0.44), (0.13, 0.13, 0.13)  # of the pixels


class ProceduralImages:
    """A thousand classes of images, drawn on any device and at any size from 32 pixels.

    A label is a code of four digits: shape + 5 (colour + 8 (texture + 5 place)). Inside a class the
    place, size and angle of the shape vary, the phase of its texture, its exact colour, the
    background and its gradient, light, contrast and pixel noise.

    The amount of variation was chosen with cross-entropy alone, before any other objective was run:
    a small network (a stem of stride 2, basic blocks of 16, 32 and 64 channels) at 32 pixels starts
    at a mean probability of 0.001 for the right label and reaches 0.8 in 400 steps of SGD (batch
    128, momentum 0.9, cosine from 0.4), and 0.5 in 300.

    Training labels are uniform draws, test labels are balanced. The generators of training batches
    have even seeds and those of test batches odd ones, so no training batch, of any seed and step,
    has the random numbers of a test batch. With `evaluated_on` "validation" there are as many other
    images in place of the test images, to choose settings by. A CPU and a GPU draw different random
    numbers, and so different images from the same distribution.
    """

    channels = 3

    def __init__(
        self,
        seed: int,
        size: int,
        device: torch.device | str = "cpu",
        classes: int = MAX_CLASSES,
        evaluated_on: str = "test",
    ) -> None:
        self.seed = seed
        self.size = whole("size", size, 32)
        self.device = torch.device(device)
        self.classes = whole("classes", classes, 2)
        if classes > MAX_CLASSES:
            raise LabError(
                f"classes = {classes}: shapes, colours, textures and places have {MAX_CLASSES}"
                " combinations, so ask for at most that many classes"
            )

        def table(rows: Iterable[Any]) -> Tensor:
            return torch.tensor(list(rows), dtype=torch.float32, device=self.device)

        self._textures = table(TEXTURES.values())
        self._places = table(PLACES.values()) * OFFSET
        self._jitter = table(JITTER.values())[:, None, None, None]
        # The centres of pixels, in [-1, 1].
        self._grid = (torch.arange(size, device=self.device) + 0.5) * (2 / size) - 1
        # The positions of red, green and blue on a colour wheel of six hues.
        self._wheel = table([5, 3, 1])[:, None, None]
        self._mean = table(MEAN)[:, None, None]
        self._std = table(STD)[:, None, None]
        self._noise = NOISE / self._std
        labels = np.arange(TEST_IMAGES) * classes // TEST_IMAGES
        self.evaluated_on = evaluated_on
        shuffled = generator(0, f"{evaluated_on} order").permutation(labels)
        self._test = torch.from_numpy(shuffled).to(self.device)

    def train_batch(self, step: int, batch: int) -> Batch:
        rng = self._generator(stream_seed(self.seed, "images", step) & ~1)
        shape = (whole("batch", batch),)
        labels = torch.randint(self.classes, shape, generator=rng, device=self.device)
        return self.draw(labels, rng), labels

    def test(self) -> Iterator[Batch]:
        for index, labels in enumerate(self._test.split(TEST_BATCH)):
            rng = self._generator(stream_seed(0, f"{self.evaluated_on} images", index) | 1)
            yield self.draw(labels, rng), labels

    def _generator(self, seed: int) -> torch.Generator:
        return torch.Generator(self.device).manual_seed(seed)

    def draw(
        self, labels: Int[Tensor, " images"], rng: torch.Generator
    ) -> Float[Tensor, "images 3 size size"]:
        """One normalised image a label; labels and `rng` are on the source's device.

        In a frame (u, v) in which the shape is upright, in the middle and of radius 1, the shape is
        where a function d(u, v) is below 1, and its texture is bright where

            sin(a u + b r + phase) cos(c v + other phase) > threshold,    r = sqrt(u^2 + v^2).

        Every edge is one pixel wide, so an image of 32 pixels looks like one of 224 seen from afar.
        Only outline, texture, background and noise are computed for every pixel; the rest is
        computed once an image.
        """
        shape, colour, texture, place = digits(labels)
        uniform = torch.rand(len(JITTER), len(labels), 1, 1, generator=rng, device=self.device)
        jitter = dict(zip(JITTER, (2 * uniform - 1) * self._jitter, strict=True))  # "images 1 1"

        # The frame of the shape.
        across, down = self._places[place].T[..., None, None]
        x = self._grid - across - jitter["across"]  # "images 1 size"
        y = self._grid[:, None] - down - jitter["down"]  # "images size 1"
        radius = RADIUS * (1 + jitter["size"])
        sharp = radius * (self.size / 2)  # pixels to a radius
        cos = jitter["turn"].cos() / radius
        sin = jitter["turn"].sin() / radius
        u = cos * x + sin * y
        v = cos * y - sin * x
        r = (u * u + v * v).sqrt_()

        # How much of each pixel the shape covers, and how much is bright: "images 1 size size".
        left, up = u.abs(), v.abs()
        outlines = torch.stack(
            [
                r,
                torch.maximum(left, 2 * up),
                torch.maximum(v, 0.866 * left - 0.5 * v) / 0.6,
                torch.maximum(torch.maximum(left, up), 3 * torch.minimum(left, up)),
                (r - 0.72).abs_() / 0.28,
            ]
        )
        d = outlines[shape, torch.arange(len(labels), device=self.device)]
        cover = ((1 - d) * sharp + 0.5).clamp_(0, 1)[:, None]
        a, b, c, threshold = self._textures[texture].T[..., None, None]
        wave = torch.sin(a * u + b * r + jitter["phase"]) * torch.cos(c * v + jitter["other phase"])
        bright = ((wave - threshold) * (sharp / (a + b).clamp(1)) + 0.5).clamp_(0, 1)[:, None]

        # The colours of the bright parts, the dark parts and the background, "images 3 1 1", as
        # normalised pixels.
        hue = (colour[:, None, None] + jitter["hue"]) * (6 / len(COLOURS))
        # 0 where the channel is full.
        pale = (2 - ((hue[:, None] + self._wheel) % 6 - 2).abs()).clamp(0, 1)
        lit = (1 - (0.85 + jitter["vivid"])[:, None] * pale) * (0.85 + jitter["value"])[:, None]
        dim = lit * (0.3 + jitter["dark"])[:, None]
        background = GREY + torch.stack([jitter["red"], jitter["green"], jitter["blue"]], 1)
        gain = (1 + jitter["contrast"])[:, None] / self._std
        shift = (GREY + jitter["light"][:, None] - self._mean) / self._std
        lit, dim, background = ((part - GREY) * gain + shift for part in (lit, dim, background))

        slope = gain * jitter["slope"][:, None]
        rise = gain * jitter["rise"][:, None]
        image = (background + slope * self._grid) + rise * self._grid[:, None]
        image = torch.lerp(image, torch.lerp(dim, lit, bright), cover)
        noise = torch.randn(image.shape, generator=rng, device=self.device)
        return image.addcmul_(noise, self._noise)


def digits(labels: Int[Tensor, "*axes"]) -> list[Tensor]:
    """The four digits of each label: shape, colour, texture, place.

    >>> [int(digit) for digit in digits(torch.tensor(4 + 5 * (2 + 8 * (1 + 5 * 3))))]
    [4, 2, 1, 3]
    """
    code = []
    for names in LABEL_CODE:
        code.append(labels % len(names))
        labels = labels // len(names)
    return code
