"""ImageNet as the paper trains on it (MaxRL, 2602.02710, appendix D.2), read by torchvision.

The folder is a tree `train/<class>/*.JPEG` and `val/<class>/*.JPEG`. Training images are a random
resized crop (area 8% to 100%, sides 3:4 to 4:3), flipped half the time; test images are only
resized. Crops and flips are drawn from (seed, step), not from a worker's stream, so that a run that
is resumed sees what it would have seen.
"""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from PIL.Image import DecompressionBombError
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from torchvision.datasets import ImageFolder
from torchvision.transforms import (
    Compose,
    PILToTensor,
    RandomHorizontalFlip,
    RandomResizedCrop,
    Resize,
)

from lab.errors import LabError, in_one_sentence
from lab.toy.image_data import TEST_BATCH, Batch, rows_of_step
from lab.training.rng import stream_seed

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
Asked = tuple[int, int]  # a row, and the seed of its crop


class ImageNet:
    """ImageNet, or any folder of the same form; on a GPU a process for each core reads it ahead.

    LabError: it is not whole, or, when it is read, an image is damaged.
    """

    channels = 3

    def __init__(
        self,
        folder: str | Path,
        seed: int,
        size: int,
        device: torch.device | str,
        classes: int = 1000,
    ) -> None:
        self.seed, self.size, self.classes = seed, size, classes
        self.device = torch.device(device)
        train, val = splits(Path(folder), classes)
        shape = size, size
        self._train = Images(train, [RandomResizedCrop(shape), RandomHorizontalFlip()])
        self._val = Images(val, [Resize(shape)])
        self._mean = torch.tensor(MEAN, device=self.device)[:, None, None] * 255
        self._std = torch.tensor(STD, device=self.device)[:, None, None] * 255
        self._ahead: Iterator[Batch] = iter(())
        self._next: tuple[int, int] | None = None  # step and size of the batch that comes first

    def train_batch(self, step: int, batch: int) -> Batch:
        if self._next != (step, batch):
            asked = (self._asked(later, batch) for later in itertools.count(step))
            self._ahead = self._read(self._train, asked)
        self._next = step + 1, batch
        return next(self._ahead)

    def test(self) -> Iterator[Batch]:
        rows = [(row, 0) for row in range(len(self._val))]
        asked = (rows[first : first + TEST_BATCH] for first in range(0, len(rows), TEST_BATCH))
        return self._read(self._val, asked)

    def _asked(self, step: int, batch: int) -> list[Asked]:
        """What a step reads."""
        rows = rows_of_step(self.seed, step, batch, len(self._train)).tolist()
        return [
            (row, stream_seed(self.seed, f"crop {place}", step)) for place, row in enumerate(rows)
        ]

    def _read(self, images: Images, batches: Iterable[list[Asked]]) -> Iterator[Batch]:
        """Batches on the device, normalised there, so that only bytes are copied."""
        on_gpu = self.device.type == "cuda"
        loader: DataLoader[Any] = DataLoader(
            images,
            batch_sampler=batches,
            num_workers=os.cpu_count() or 1 if on_gpu else 0,
            pin_memory=on_gpu,
            worker_init_fn=_end_when_asked,
        )
        try:
            for pixels, labels in loader:
                pixels = (pixels.to(self.device, non_blocking=True) - self._mean) / self._std
                yield pixels, labels.to(self.device)
        except LabError as error:  # of a process, with its traceback
            said = str(error).strip().splitlines()[-1]
            raise LabError(said.removeprefix("lab.errors.LabError: ")) from error


class Images(Dataset[tuple[Tensor, int]]):
    """A split, each image changed by `changes` with the random numbers of a seed."""

    def __init__(self, split: ImageFolder, changes: list[Any]) -> None:
        self.split = split
        self.change = Compose([*changes, PILToTensor()])

    def __len__(self) -> int:
        return len(self.split)

    def __getitem__(self, asked: Asked) -> tuple[Tensor, int]:
        row, seed = asked
        path, label = self.split.samples[row]
        kinds = OSError, ValueError, SyntaxError, DecompressionBombError
        told = in_one_sentence(
            f"{path} is not readable as an image", "replace it or remove it", *kinds
        )
        with told, torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return self.change(self.split.loader(path)), label


def _end_when_asked(worker: int) -> None:
    """A process that reads ends at once, where one that trains finishes its step."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def splits(folder: Path, classes: int) -> tuple[ImageFolder, ImageFolder]:
    """The splits "train" and "val" of a folder. LabError: it has not all of `classes` in both."""

    def split(name: str) -> ImageFolder:
        cure = "a folder holds train and val, each with a folder for every class, as val/n01440764"
        with in_one_sentence(f"{folder / name} is no split of ImageNet", cure, OSError):
            return ImageFolder(folder / name)

    train, val = split("train"), split("val")
    if train.classes != val.classes:
        odd = sorted(set(train.classes) ^ set(val.classes))[0]
        raise LabError(
            f"the classes of train and val differ in {folder}: {odd} is only in"
            f" {'train' if odd in train.classes else 'val'}; they have {len(train.classes)} and"
            f" {len(val.classes)}, and must have the same"
        )
    if len(train.classes) != classes:
        raise LabError(
            f"{folder} holds {len(train.classes)} classes, not {classes}: "
            f"complete it, or set classes = {len(train.classes)}"
        )
    return train, val
