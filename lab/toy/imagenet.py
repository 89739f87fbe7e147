"""ImageNet as the paper trains on it (MaxRL, 2602.02710, appendix D.2), from a cache of squares.

The folder is a tree `train/<class>/*.JPEG` and `val/<class>/*.JPEG`, as torchvision's ImageFolder
reads it. Training images are a random resized crop (area 8% to 100%, sides 3:4 to 4:3), flipped
half the time; test images are only resized.

Every image is decoded once, resized to size x size (PIL's antialiased bilinear filter, as in
torchvision) and kept as bytes in the cache: 193 GB at 224 pixels. Afterwards an epoch reads only
the cache, and crops a batch at a time on the device. Departures from the paper's pipeline:

- A crop is cut from the cached square, not from the photograph: a small one is enlarged from fewer
  pixels (63 a side at 8% of 224) and softer than the paper's, with the area and proportions of the
  photograph's. It is sampled bilinearly without antialiasing, since it never shrinks the square.
- Flips and crops are drawn from (seed, step), not from a worker's stream.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample
from torchvision.datasets import ImageFolder
from torchvision.transforms import RandomResizedCrop

from lab.errors import LabError, in_one_sentence
from lab.shapes import Bool, Float, Int, Shaped
from lab.toy.image_data import TEST_BATCH, Batch, rows_of_step
from lab.training.rng import stream_seed

SCALE, RATIO = [0.08, 1.0], [3 / 4, 4 / 3]  # the area and the proportions of a crop
DOWN = 1000  # rows of a photograph, to whose places crops are rounded
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CHUNK = 1024  # images that wait for a thread at a time


class ImageNet:
    """ImageNet, or any folder of the same form.

    The first run fills the folder `cache` with the squares; later ones read it. A cache belongs to
    `size` and to the names and lengths of the files: when these change, another is built beside it.
    """

    channels = 3

    def __init__(
        self,
        folder: str | Path,
        seed: int,
        size: int,
        device: torch.device | str,
        cache: str | Path,
        classes: int = 1000,
    ) -> None:
        self.seed, self.size, self.classes = seed, size, classes
        self.device = torch.device(device)
        self._train, self._val = squares(splits(Path(folder), classes), size, Path(cache))
        self._mean = torch.tensor(MEAN, device=self.device)[:, None, None] * 255
        self._std = torch.tensor(STD, device=self.device)[:, None, None] * 255

    def train_batch(self, step: int, batch: int) -> Batch:
        rows = rows_of_step(self.seed, step, batch, len(self._train["labels"]))
        seed = stream_seed(self.seed, "crops", step)
        theta = transforms(*crops(seed, self._train["proportions"][rows])).to(self.device)
        images, labels = self._read(self._train, rows)
        grid = affine_grid(theta, list(images.shape), align_corners=False)
        return grid_sample(images, grid, padding_mode="border", align_corners=False), labels

    def test(self) -> Iterator[Batch]:
        rows = np.arange(len(self._val["labels"]))
        for first in range(0, len(rows), TEST_BATCH):
            yield self._read(self._val, rows[first : first + TEST_BATCH])

    def _read(self, split: dict[str, np.ndarray], rows: Int[np.ndarray, " images"]) -> Batch:
        """Rows of a split on the device, normalised there, so that only bytes are copied."""
        shape = (len(rows), 3, self.size, self.size)
        images = torch.empty(shape, dtype=torch.uint8, pin_memory=self.device.type == "cuda")
        np.take(split["images"], rows, axis=0, out=images.numpy(), mode="clip")
        images = (images.to(self.device, non_blocking=True) - self._mean) / self._std
        return images, torch.from_numpy(split["labels"][rows]).to(self.device)


def crops(
    seed: int, proportions: Float[np.ndarray, " images"]
) -> tuple[Float[Tensor, "images 4"], Bool[Tensor, " images"]]:
    """torchvision's random resized crops, and which images are flipped, from `seed`.

    The boxes (left, top, width, height) are shares of the image, whose proportions are width over
    height. The global generator stays as it is.
    """
    boxes = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for proportion in proportions:
            across = round(DOWN * float(proportion))
            photograph = torch.empty(1, DOWN, across, device="meta")
            top, left, height, width = RandomResizedCrop.get_params(photograph, SCALE, RATIO)
            boxes.append([left / across, top / DOWN, width / across, height / DOWN])
        return torch.tensor(boxes), torch.rand(len(boxes)) < 0.5


def transforms(
    boxes: Float[Tensor, "images 4"], flips: Bool[Tensor, " images"]
) -> Float[Tensor, "images 2 3"]:
    """The matrices for `affine_grid` that show each box as an image, flipped or not."""
    corners, sides = boxes.split(2, dim=1)
    scales = torch.diag_embed(sides)
    scales[flips, 0, 0] *= -1
    return torch.cat((scales, (2 * corners + sides - 1)[:, :, None]), dim=2)


# --- The folder and the cache -------------------------------------------------------------------


def splits(folder: Path, classes: int) -> dict[str, ImageFolder]:
    """The splits "train" and "val" of a folder. LabError: it has not all of `classes` in both."""
    found = {}
    for name in ("train", "val"):
        cure = "a folder holds train and val, each with a folder for every class, as val/n01440764"
        with in_one_sentence(f"{folder / name} is no split of ImageNet", cure, OSError):
            found[name] = ImageFolder(folder / name)
    train, val = found.values()
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
    return found


Stored = dict[str, np.ndarray]  # images, labels and proportions (width over height) of a split


def squares(splits: dict[str, ImageFolder], size: int, cache: Path) -> list[Stored]:
    """The splits from the cache; what it lacks is decoded, under a lock.

    An image has the proportion 0 until it is decoded: a killed build goes on where it was.
    LabError: the disk is too small, or a file damaged.
    """
    from filelock import FileLock
    from tqdm.auto import tqdm

    files = [
        (name, os.path.relpath(path, split.root), os.path.getsize(path))
        for name, split in splits.items()
        for path, _ in split.samples
    ]
    digest = hashlib.sha256(json.dumps(files).encode()).hexdigest()[:16]
    folder = cache / f"{size}px-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):  # so that two runs of a sweep build it once
        stored = []
        for name, split in splits.items():
            images = _on_disk(folder / f"{name}-images.npy", np.uint8, len(split), 3, size, size)
            proportions = _on_disk(folder / f"{name}-proportions.npy", np.float32, len(split))
            labels = np.array(split.targets)
            stored.append({"images": images, "labels": labels, "proportions": proportions})
        total = sum(int((one["proportions"] == 0).sum()) for one in stored)
        needed, free = total * 3 * size**2, shutil.disk_usage(folder).free
        if needed > free:
            raise LabError(
                f"the cache of {total} squares of {size} pixels needs {needed / 1e9:.1f} GB and "
                f"{cache} has {free / 1e9:.1f} GB free: name a cache folder on a larger disk"
            )
        bar = tqdm(total=total, unit="image", desc=f"squares of {size} pixels", disable=not total)
        with bar, ThreadPoolExecutor() as pool:
            for split, one in zip(splits.values(), stored, strict=True):

                def fill(row: int, split: ImageFolder = split, one: Stored = one) -> None:
                    image, proportion = decode(split.samples[row][0], size)
                    one["images"][row] = image
                    one["proportions"][row] = proportion

                missing = np.flatnonzero(one["proportions"] == 0)
                for first in range(0, len(missing), CHUNK):
                    for _ in pool.map(fill, missing[first : first + CHUNK]):
                        bar.update()
    return stored


def _on_disk(path: Path, kind: type, *shape: int) -> np.ndarray:
    """An array in a file, which is made of zeros where it is missing. LabError: it is damaged."""
    cure = f"remove {path.parent}, and the next run builds it again"
    with in_one_sentence(f"{path} is damaged", cure, OSError, ValueError):
        if not path.exists():
            np.lib.format.open_memmap(path, "w+", kind, shape)
        np.load(path, mmap_mode="r")  # refuses a file that is cut off, which "r+" would fill up
        return np.load(path, mmap_mode="r+")


def decode(path: str, size: int) -> tuple[Shaped[np.ndarray, "3 size size"], float]:
    """One image as uint8, and its width over its height. LabError: it is not readable."""
    from PIL import Image

    kinds = OSError, ValueError, SyntaxError, Image.DecompressionBombError
    told = in_one_sentence(f"{path} is not readable as an image", "replace it or remove it", *kinds)
    with told, Image.open(path) as image:
        square = image.convert("RGB").resize((size, size), Image.Resampling.BILINEAR)
        return np.asarray(square).transpose(2, 0, 1), image.width / image.height
