"""ImageNet as the paper trains on it (MaxRL, 2602.02710, appendix D.2), from a cache of squares.

The folder is a tree `train/<class>/*.JPEG` and `val/<class>/*.JPEG`, or a Hugging Face copy of
`train-*.parquet` and `validation-*.parquet` with the columns `image` (a struct of bytes and path)
and `label`. Training images are a random resized crop (area 8% to 100%, sides 3:4 to 4:3), flipped
half the time; test images are only resized.

Every image is decoded once, resized to size x size (PIL's antialiased bilinear filter, as in
torchvision) and kept as bytes in the cache: 193 GB at 224 pixels. Afterwards an epoch reads only
the cache, and crops a batch at a time on the device. Departures from the paper's pipeline:

- A crop is cut from the cached square, not from the photograph. A small crop is enlarged from fewer
  pixels (63 a side at 8% of 224), so it is softer than the paper's. Its area and its proportions
  are those of the photograph, because the cache stores the photograph's proportions.
- A crop is sampled bilinearly without antialiasing. It never shrinks the square, so there is
  nothing to antialias.
- Flips and crops are drawn from (seed, step), not from a worker's stream.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from lab.errors import LabError, whole
from lab.shapes import Bool, Float, Int, Shaped
from lab.toy.image_data import TEST_BATCH, Batch, EpochOrder
from lab.training.rng import generator

# torchvision's RandomResizedCrop.
SCALE = (0.08, 1.0)
RATIO = (3 / 4, 4 / 3)
TRIES = 10
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm", ".tif", ".tiff", ".webp"}
CHUNK = 1024  # images that are decoded between two steps of the progress bar
LAYOUT = 1  # of the cache; increase it when the stored data change

ImageFile = Path | io.BytesIO


class ImageNet:
    """ImageNet, or any folder of the same form, as `lab.toy.image_data.ImageSource`.

    The first run fills the folder `cache` with the squares; later ones (every seed, every
    objective) read it. A cache belongs to `size` and to the names and lengths of the folder's
    files: when a file is added, removed or changes its length, a new one is built beside the old.
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
        self.seed = seed
        self.size = whole("size", size, 8)
        self.device = torch.device(device)
        self.classes = whole("classes", classes, 2)
        train, val = splits(Path(folder), self.classes)
        self.names = train.names
        stored = squares(train, val, self.size, Path(cache))
        self._train = _load(stored, "train")
        self._val = _load(stored, "val")
        self._epochs = EpochOrder(seed, len(self._train["labels"]))
        self._mean = torch.tensor(MEAN, device=self.device)[:, None, None] * 255
        self._std = torch.tensor(STD, device=self.device)[:, None, None] * 255

    def train_batch(self, step: int, batch: int) -> Batch:
        rows = self._epochs.batch_rows(step, batch)
        boxes, flips = crops(generator(self.seed, "crops", step), self._train["proportions"][rows])
        images, labels = self._read(self._train, rows)
        theta = self._copy(torch.from_numpy(transforms(boxes, flips)))
        grid = affine_grid(theta, list(images.shape), align_corners=False)
        return grid_sample(images, grid, padding_mode="border", align_corners=False), labels

    def test(self) -> Iterator[Batch]:
        rows = np.arange(len(self._val["labels"]))
        for first in range(0, len(rows), TEST_BATCH):
            yield self._read(self._val, rows[first : first + TEST_BATCH])

    def _read(self, split: dict[str, np.ndarray], rows: Int[np.ndarray, " images"]) -> Batch:
        """Rows of a split on the device, normalised there, so that only bytes are copied."""
        shape = (len(rows), 3, self.size, self.size)
        on_gpu = self.device.type == "cuda"
        images = torch.empty(shape, dtype=torch.uint8, pin_memory=on_gpu)
        np.take(split["images"], rows, axis=0, out=images.numpy(), mode="clip")
        images = (images.to(self.device, non_blocking=True) - self._mean) / self._std
        return images, self._copy(torch.from_numpy(split["labels"][rows]))

    def _copy(self, tensor: Tensor) -> Tensor:
        """A small tensor on the device; on a GPU from pinned memory, without waiting."""
        if self.device.type == "cuda":
            tensor = tensor.pin_memory()
        return tensor.to(self.device, non_blocking=True)


# --- Random resized crops -----------------------------------------------------------------------


def crops(
    rng: np.random.Generator, proportions: Float[np.ndarray, " images"]
) -> tuple[Float[np.ndarray, "images 4"], Bool[np.ndarray, " images"]]:
    """Boxes (left, top, width, height) as shares of the image, and which images are flipped.

    As torchvision's RandomResizedCrop on images of the given proportions (width over height). The
    area is uniform in SCALE and the proportions of the crop log-uniform in RATIO, and the first of
    ten tries that fits inside is used. If none does, the crop is the largest one in the middle
    whose proportions are in RATIO.
    """
    count = len(proportions)
    area = rng.uniform(*SCALE, (count, TRIES))
    low, high = np.log(RATIO)
    # In the unit square, so relative to the proportions of the image.
    ratio = np.exp(rng.uniform(low, high, (count, TRIES))) / proportions[:, None]
    width = np.sqrt(area * ratio)
    height = np.sqrt(area / ratio)
    fits = (width <= 1) & (height <= 1)
    rows, first = np.arange(count), fits.argmax(1)
    middle = ~fits.any(1)  # images for which no try fits
    width = np.where(middle, np.minimum(1, RATIO[1] / proportions), width[rows, first])
    height = np.where(middle, np.minimum(1, proportions / RATIO[0]), height[rows, first])
    position = np.where(middle[:, None], 0.5, rng.random((count, 2)))
    left = position[:, 0] * (1 - width)
    top = position[:, 1] * (1 - height)
    boxes = np.stack([left, top, width, height], 1)
    return boxes, rng.random(count) < 0.5


def transforms(
    boxes: Float[np.ndarray, "images 4"], flips: Bool[np.ndarray, " images"]
) -> Float[np.ndarray, "images 2 3"]:
    """The float32 matrices for `affine_grid` that show each box as an image, flipped or not."""
    left, top, width, height = boxes.T
    theta = np.zeros((len(boxes), 2, 3), np.float32)
    theta[:, 0, 0] = np.where(flips, -width, width)
    theta[:, 0, 2] = 2 * left + width - 1
    theta[:, 1, 1] = height
    theta[:, 1, 2] = 2 * top + height - 1
    return theta


# --- The files of the folder -------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """One split of the data."""

    names: list[str]  # of the classes
    labels: Int[np.ndarray, " images"]
    files: list[tuple[str, int]]  # with their lengths in bytes: a cache is told from others by them
    # Yields the name and the file of every image, in the order of `labels`.
    pictures: Callable[[], Iterator[tuple[str, ImageFile]]]


def class_folders(folder: Path) -> Split:
    """A split that is a tree of class folders. LabError: there is none, or one without images."""
    if not folder.is_dir():
        raise LabError(
            f"{folder} is missing: an ImageNet folder holds train and val, each with a folder"
            " for every class"
        )
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    names = [entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
    if not names:
        loose = sum(Path(entry.name).suffix.lower() in SUFFIXES for entry in entries)
        raise LabError(
            f"{folder} holds {loose} images and no class folder: move each image into the"
            " folder of its class, for example val/n01440764/ILSVRC2012_val_00000293.JPEG"
        )
    files: list[tuple[str, int]] = []
    labels: list[int] = []
    for label, name in enumerate(names):
        images = sorted(
            (f"{name}/{entry.name}", entry.stat().st_size)
            for entry in os.scandir(folder / name)
            if Path(entry.name).suffix.lower() in SUFFIXES
        )
        if not images:
            raise LabError(f"{folder / name} holds no image: fill the class or remove its folder")
        files += images
        labels += [label] * len(images)

    def pictures() -> Iterator[tuple[str, ImageFile]]:
        return ((str(folder / name), folder / name) for name, _ in files)

    return Split(names, np.array(labels, np.int64), files, pictures)


def parquet_split(paths: list[Path]) -> Split:
    """A split of a Hugging Face copy, whose classes are numbers. LabError: a file has no images."""
    import pyarrow.parquet as pq

    parts = []
    for path in paths:
        try:
            kinds = {field.name: str(field.type) for field in pq.read_schema(path)}
        except (OSError, ValueError) as error:
            raise LabError(
                f"{path} is not readable as parquet ({_line(error)}): download it again"
            ) from error
        if "bytes: " not in kinds.get("image", "") or "int" not in kinds.get("label", ""):
            columns = ", ".join(f"{name} ({kind})" for name, kind in kinds.items())
            raise LabError(
                f"{path} has the columns {columns}; it must have image, a struct with bytes,"
                " and label, a whole number: take a Hugging Face image data set"
            )
        parts.append(pq.read_table(path, columns=["label"]).column("label").to_numpy())
    labels = np.concatenate(parts).astype(np.int64)

    def pictures() -> Iterator[tuple[str, ImageFile]]:
        for path in paths:
            row = 0
            for batch in pq.ParquetFile(path).iter_batches(64, columns=["image"]):
                for image in batch.column("image"):
                    yield f"row {row} of {path}", io.BytesIO(image["bytes"].as_py() or b"")
                    row += 1

    names = [str(label) for label in np.unique(labels)]
    return Split(names, labels, [(path.name, path.stat().st_size) for path in paths], pictures)


def splits(folder: Path, classes: int) -> tuple[Split, Split]:
    """The training and the test split of a folder.

    LabError: a split is missing, their classes differ, or there are not `classes` of them.
    """
    if not folder.is_dir():
        raise LabError(
            f"there is no folder {folder}: give the one that holds train and val, or the parquet"
            " files"
        )
    for place in (folder, folder / "data"):
        shards = {kind: sorted(place.glob(f"{kind}-*.parquet")) for kind in ("train", "validation")}
        if any(shards.values()):
            for kind, paths in shards.items():
                if not paths:
                    raise LabError(
                        f"{place} holds no {kind}-*.parquet: download that split of the data"
                        " set too"
                    )
            train, val = map(parquet_split, shards.values())
            break
    else:
        train, val = class_folders(folder / "train"), class_folders(folder / "val")
    if train.names != val.names:
        odd = sorted(set(train.names) ^ set(val.names))[0]
        where = "train" if odd in train.names else "val"
        raise LabError(
            f"the classes of train and val differ in {folder}: {odd} is only in {where}; "
            f"they have {len(train.names)} and {len(val.names)}, and must have the same"
        )
    if len(train.names) != classes:
        raise LabError(
            f"{folder} holds {len(train.names)} classes, not {classes}: "
            f"complete it, or set classes = {len(train.names)}"
        )
    for split, kind in ((train, "train"), (val, "val")):
        if not 0 <= split.labels.min() <= split.labels.max() < classes:
            raise LabError(
                f"{folder}: the labels of {kind} go from {split.labels.min()} to"
                f" {split.labels.max()}; number the classes from 0 to {classes - 1}"
            )
    return train, val


# --- The cache ----------------------------------------------------------------------------------


def squares(train: Split, val: Split, size: int, cache: Path) -> Path:
    """The folder of `size` x `size` squares in the cache: built once, under a lock."""
    from filelock import FileLock

    contents = json.dumps(
        [LAYOUT, *((split.names, split.files, len(split.labels)) for split in (train, val))]
    )
    done = cache / f"{size}px-{hashlib.sha256(contents.encode()).hexdigest()[:16]}"
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(done.with_suffix(".lock")):  # so that two runs of a sweep build it once
        if (done / "cache.json").is_file():
            return done
        partial = done.with_suffix(".partial")
        for remains in (partial, done):  # of a build that was killed
            shutil.rmtree(remains, ignore_errors=True)
        partial.mkdir()
        try:
            _build({"train": train, "val": val}, size, partial)
            os.replace(partial, done)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
    return done


def _build(split_by_name: dict[str, Split], size: int, folder: Path) -> None:
    """Decode all images of the splits into `folder`. LabError: the disk is too small."""
    from tqdm.auto import tqdm

    total = sum(len(split.labels) for split in split_by_name.values())
    needed = total * 3 * size**2
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise LabError(
            f"the cache of {total} squares of {size} pixels needs {needed / 1e9:.1f} GB and "
            f"{folder.parent} has {free / 1e9:.1f} GB free: name a cache folder on a larger disk"
        )

    def square_of(image: tuple[str, ImageFile]) -> tuple[np.ndarray, float]:
        name, source = image
        return decode(name, source, size)

    with (
        ThreadPoolExecutor() as pool,
        tqdm(total=total, unit="image", desc=f"squares of {size} pixels") as bar,
    ):
        for name, split in split_by_name.items():
            images = np.lib.format.open_memmap(
                folder / f"{name}-images.npy", "w+", np.uint8, (len(split.labels), 3, size, size)
            )
            proportions = np.empty(len(split.labels), np.float32)
            row = 0
            pictures = split.pictures()
            # CHUNK at a time, because a pool keeps all the items that it is given.
            while chunk := list(islice(pictures, CHUNK)):
                for square, proportion in pool.map(square_of, chunk):
                    images[row] = square
                    proportions[row] = proportion
                    row += 1
                bar.update(len(chunk))
            images.flush()
            np.save(folder / f"{name}-labels.npy", split.labels)
            np.save(folder / f"{name}-proportions.npy", proportions)
    about = {"layout": LAYOUT, "size": size, "names": split_by_name["train"].names}
    about |= {name: len(split.labels) for name, split in split_by_name.items()}
    (folder / "cache.json").write_text(json.dumps(about, indent=1))


def decode(
    name: str, source: ImageFile, size: int
) -> tuple[Shaped[np.ndarray, "3 size size"], float]:
    """One image as uint8, and its width over its height. LabError: it is not readable."""
    from PIL import Image

    try:
        with Image.open(source) as image:
            square = image.convert("RGB").resize((size, size), Image.Resampling.BILINEAR)
            return np.asarray(square).transpose(2, 0, 1), image.width / image.height
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise LabError(
            f"{name} is not readable as an image ({_line(error)}): replace it or remove it"
        ) from error


def _load(stored: Path, split: str) -> dict[str, np.ndarray]:
    """The arrays of one split; the images stay on disk. LabError: a file is damaged."""
    arrays = {}
    for name in ("images", "labels", "proportions"):
        path = stored / f"{split}-{name}.npy"
        try:
            arrays[name] = np.load(path, mmap_mode="r" if name == "images" else None)
        except (OSError, ValueError) as error:
            raise LabError(
                f"{path} is damaged ({_line(error)}): remove {stored}, "
                "and the next run builds it again"
            ) from error
    return arrays


def _line(error: Exception) -> str:
    """The first line of an error message."""
    return (str(error).splitlines() or [type(error).__name__])[0]
