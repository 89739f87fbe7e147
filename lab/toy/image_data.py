"""Labelled pictures for the image world: handwritten digits, and 1,000 classes drawn on the fly.
Floor 2.

A source is a `ImageSource`: batches to train on, a pure function of (seed, step), and a test set that
no seed changes. `Digits` is real and tiny (8x8 pixels, 10 classes). `ProceduralImages` has the 1,000
classes of ImageNet and as many pixels as one likes, so that a fresh network is right once in a
thousand draws, but no file and nothing to load. ImageNet itself is in `lab.toy.imagenet`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import torch

from lab.errors import LabError, real, whole
from lab.rng import generator, stream_seed

TEST_DIGITS = 360
TEST_IMAGES = 2048  # of those drawn on the fly
TEST_BATCH = 256

Batch = tuple[
    torch.Tensor, torch.Tensor
]  # float32 "images channels size size" about unit variance, int64 "images"


class ImageSource(Protocol):
    """What the image world asks of a source of pictures; everything it gives lies on its device."""

    classes: int
    channels: int
    size: int  # pixels a side

    def train_batch(self, step: int, batch: int) -> Batch:
        """The `batch` images and labels of one step: the same for the same seed, step and batch,
        whenever asked.
        """

    def test(self) -> Iterator[Batch]:
        """The test images and labels, in batches: the same for every seed, and never trained on."""


class EpochOrder:
    """Which rows a step reads: every epoch is one permutation of all rows, and its last, broken
    batch is left out.
    """

    def __init__(self, seed: int, rows: int) -> None:
        self.seed, self.rows, self._epoch, self._order = seed, rows, -1, np.empty(0, np.int64)

    def batch_rows(self, step: int, batch: int) -> np.ndarray:
        if whole("batch", batch) > self.rows:
            raise LabError(
                f"batch = {batch}: there are only {self.rows} training images, so at most"
                f" {self.rows}"
            )
        epoch, at = divmod(step, self.rows // batch)
        if epoch != self._epoch:  # kept, because a permutation of a million rows costs 20 ms
            self._epoch, self._order = (
                epoch,
                generator(self.seed, "order", epoch).permutation(self.rows),
            )
        return self._order[at * batch : (at + 1) * batch]


class Digits:
    """The handwritten digits that scikit-learn ships: 1,797 images of 8x8 grey pixels, of which 360
    are the test.
    """

    classes, channels, size = 10, 1, 8

    def __init__(self, seed: int, device: torch.device | str = "cpu") -> None:
        from sklearn.datasets import load_digits
        from sklearn.model_selection import train_test_split

        bunch = load_digits()
        images = torch.tensor(bunch.images, dtype=torch.float32)[:, None]
        labels = torch.tensor(bunch.target, dtype=torch.long)
        train, test = train_test_split(
            np.arange(len(labels)), test_size=TEST_DIGITS, stratify=bunch.target, random_state=0
        )  # every seed trains and tests on the same split
        images = (images - images[train].mean()) / images[train].std()
        self._train = images[train].to(device), labels[train].to(device)
        self._test = images[test].to(device), labels[test].to(device)
        self._epochs = EpochOrder(seed, len(train))

    def train_batch(self, step: int, batch: int) -> Batch:
        rows = torch.from_numpy(self._epochs.batch_rows(step, batch)).to(self._train[1].device)
        return self._train[0][rows], self._train[1][rows]

    def test(self) -> Iterator[Batch]:
        yield self._test


SHAPES = ("disc", "bar", "triangle", "cross", "ring")
COLOURS = (
    "red",
    "orange",
    "lime",
    "green",
    "cyan",
    "blue",
    "violet",
    "pink",
)  # hues 45 degrees apart
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
LABEL_CODE = (
    SHAPES,
    COLOURS,
    tuple(TEXTURES),
    tuple(PLACES),
)  # the digits of a label, the fastest first
MAX_CLASSES = math.prod(map(len, LABEL_CODE))

RADIUS, OFFSET = (
    0.46,
    0.42,
)  # of a shape, and from the middle to a place along either axis; a half side is 1
JITTER = {  # what varies inside a class, uniformly within plus or minus these
    "across": 0.04,
    "down": 0.04,
    "size": 0.1,
    "turn": 0.2,  # the shape: half sides, share, radians
    "phase": 0.2,
    "other phase": 0.2,
    "dark": 0.05,  # its texture: radians, and how dark the dark parts are
    "hue": 0.2,
    "vivid": 0.1,
    "value": 0.1,  # its colour: steps between hues, saturation, value
    "red": 0.06,
    "green": 0.06,
    "blue": 0.06,
    "slope": 0.08,
    "rise": 0.08,  # the ground, and its gradient
    "light": 0.05,
    "contrast": 0.1,  # the whole picture
}
NOISE = 0.04  # standard deviation, in every pixel and channel
GREY = 0.45  # of the ground; contrast turns about it
MEAN, STD = (0.44, 0.44, 0.44), (0.13, 0.13, 0.13)  # of the pixels


class ProceduralImages:
    """A thousand classes of pictures, drawn as they are asked for, on any device and at any size
    from 32 pixels.

    A label is a code of four digits: shape + 5 (colour + 8 (texture + 5 place)). Inside a class
    vary the place, size and turn of the shape, the phase of its texture, its exact colour, the
    ground and its gradient, light, contrast and pixel noise; `nuisance` scales all of it, from 0
    (one picture a class) to 1.

    How much varies was chosen with cross-entropy alone, before any other objective saw these
    pictures: a small network (a stem of stride 2, basic blocks of 16, 32 and 64 channels) at 32
    pixels starts at a mean probability of 0.001 for the right label and comes to 0.8 in 400 steps
    of SGD (batch 128, momentum 0.9, cosine from 0.4), to 0.5 in 300.

    Training labels are uniform draws and test labels are balanced. The generators of training
    batches have even seeds and those of test batches odd ones, so no training batch, of any seed
    and step, has the stream of a test batch. A CPU and a GPU draw different random numbers, hence
    different pictures of the same distribution.
    """

    channels = 3

    def __init__(
        self,
        seed: int,
        size: int,
        device: torch.device | str = "cpu",
        classes: int = MAX_CLASSES,
        nuisance: float = 1.0,
        test_images: int = TEST_IMAGES,
    ) -> None:
        self.seed, self.size, self.device = seed, whole("size", size, 32), torch.device(device)
        self.classes, self.nuisance = whole("classes", classes, 2), real("nuisance", nuisance, 0, 1)
        if classes > MAX_CLASSES:
            raise LabError(
                f"classes = {classes}: the code of shapes, colours, textures and places has {MAX_CLASSES}"
                " words, so ask for at most that many classes"
            )

        def table(rows) -> torch.Tensor:
            return torch.tensor(list(rows), dtype=torch.float32, device=self.device)

        self._textures, self._places = table(TEXTURES.values()), table(PLACES.values()) * OFFSET
        self._jitter = table(JITTER.values())[:, None, None, None] * self.nuisance
        self._grid = (torch.arange(size, device=self.device) + 0.5) * (
            2 / size
        ) - 1  # centres of pixels in [-1, 1]
        self._wheel = table([5, 3, 1])[
            :, None, None
        ]  # where red, green and blue stand on the wheel of six hues
        self._mean, self._std = table(MEAN)[:, None, None], table(STD)[:, None, None]
        labels = np.arange(whole("test_images", test_images)) * classes // test_images
        self._test = torch.from_numpy(generator(0, "test order").permutation(labels)).to(
            self.device
        )

    def train_batch(self, step: int, batch: int) -> Batch:
        rng = self._generator(stream_seed(self.seed, "images", step) & ~1)
        labels = torch.randint(
            self.classes, (whole("batch", batch),), generator=rng, device=self.device
        )
        return self.draw(labels, rng), labels

    def test(self) -> Iterator[Batch]:
        for index, labels in enumerate(self._test.split(TEST_BATCH)):
            yield (
                self.draw(labels, self._generator(stream_seed(0, "test images", index) | 1)),
                labels,
            )

    def _generator(self, seed: int) -> torch.Generator:
        return torch.Generator(self.device).manual_seed(seed)

    def draw(self, labels: torch.Tensor, rng: torch.Generator) -> torch.Tensor:
        """One normalised picture a label, "images 3 size size"; labels and `rng` lie on the device.

        In a frame (u, v) in which the shape is upright, in the middle and of radius 1, the shape is
        where a function d(u, v) is below 1, and its texture is bright where

            sin(a u + b r + phase) cos(c v + other phase) > threshold,    r = sqrt(u^2 + v^2).

        Every edge is one pixel wide, so a picture of 32 pixels is one of 224 seen from afar. What
        is the same for a whole picture is worked out for the picture; only outline, texture, ground
        and noise are, pixel by pixel.
        """
        shape, colour, texture, place = digits(labels)
        uniform = (
            2 * torch.rand(len(JITTER), len(labels), 1, 1, generator=rng, device=self.device) - 1
        )
        jitter = dict(zip(JITTER, uniform * self._jitter, strict=True))  # each "images 1 1"

        # The frame of the shape.
        across, down = self._places[place].T[..., None, None]
        x = self._grid - across - jitter["across"]  # "images 1 size"
        y = self._grid[:, None] - down - jitter["down"]  # "images size 1"
        radius = RADIUS * (1 + jitter["size"])
        sharp = radius * (self.size / 2)  # pixels to a radius
        cos, sin = jitter["turn"].cos() / radius, jitter["turn"].sin() / radius
        u, v = cos * x + sin * y, cos * y - sin * x
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

        # The colours of the bright parts, the dark parts and the ground, "images 3 1 1", as
        # normalised pixels.
        hue = (colour[:, None, None] + jitter["hue"]) * (6 / len(COLOURS))
        pale = (2 - ((hue[:, None] + self._wheel) % 6 - 2).abs()).clamp(
            0, 1
        )  # 0 where the channel is full
        lit = (1 - (0.85 + jitter["vivid"])[:, None] * pale) * (0.85 + jitter["value"])[:, None]
        dim = lit * (0.3 + jitter["dark"])[:, None]
        ground = GREY + torch.stack([jitter["red"], jitter["green"], jitter["blue"]], 1)
        gain = (1 + jitter["contrast"])[:, None] / self._std
        shift = (GREY + jitter["light"][:, None] - self._mean) / self._std
        lit, dim, ground = ((part - GREY) * gain + shift for part in (lit, dim, ground))

        slope, rise = gain * jitter["slope"][:, None], gain * jitter["rise"][:, None]
        picture = (ground + slope * self._grid) + rise * self._grid[:, None]
        picture = torch.lerp(picture, torch.lerp(dim, lit, bright), cover)
        noise = torch.randn(picture.shape, generator=rng, device=self.device)
        return picture.addcmul_(noise, NOISE * self.nuisance / self._std)


def digits(labels: torch.Tensor) -> list[torch.Tensor]:
    """The four digits of each label: shape, colour, texture, place.

    >>> [int(digit) for digit in digits(torch.tensor(4 + 5 * (2 + 8 * (1 + 5 * 3))))]
    [4, 2, 1, 3]
    """
    found = []
    for names in LABEL_CODE:
        found.append(labels % len(names))
        labels = labels // len(names)
    return found


def describe(label: int) -> str:
    """A class in words.

    >>> describe(0), describe(999)
    ('plain red disc, middle', 'ringed pink ring, lower right')
    """
    shape, colour, texture, place = (
        names[d] for names, d in zip(LABEL_CODE, digits(torch.tensor(label)), strict=True)
    )
    return f"{texture} {colour} {shape}, {place}"
