"""ImageNet as the paper trains on it (MaxRL, 2602.02710, appendix D.2), from a cache of small
squares. Floor 2.

The folder is a tree `train/<class>/*.JPEG` and `val/<class>/*.JPEG`, or a Hugging Face copy of
`train-*.parquet` and `validation-*.parquet` with columns `image` (struct of bytes and path) and
`label`. Training pictures are a random resized crop (area 8% to 100%, sides 3:4 to 4:3) flipped
half the time; test pictures are only resized.

Every picture is decoded once, resized to size x size (PIL's antialiased bilinear filter, as
torchvision does) and kept as bytes in the cache: 193 GB at 224 pixels. Afterwards an epoch reads
only the cache, and crops a batch at a time on the device. Departures from the paper's pipeline:
  - a crop is cut from the cached square, not from the photograph: a small crop is enlarged from fewer pixels (63 a side
    at 8% of 224), so it is softer than the paper's. Its area and its proportions are those of the photograph, whose
    proportions the cache remembers.
  - a crop is sampled bilinearly without antialiasing; it never shrinks the square, so there is nothing to antialias.
  - flips and crops are drawn from (seed, step), not from a worker's stream.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import affine_grid, grid_sample

from lab.errors import LabError, whole
from lab.rng import generator
from lab.toy.image_data import TEST_BATCH, Batch, EpochOrder

SCALE, RATIO, TRIES = (0.08, 1.0), (3 / 4, 4 / 3), 10  # torchvision's RandomResizedCrop
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm", ".tif", ".tiff", ".webp"}
CHUNK = 1024  # pictures between two steps of the progress bar
LAYOUT = 1  # of the cache: raise it when what is stored changes


class ImageNet:
    """ImageNet, or any folder of its form, as `lab.toy.image_data.ImageSource`.

    `cache` is a folder for the squares, made when missing; the first use fills it, later ones
    (every seed, every objective) read it. A cache belongs to the names and lengths of the folder's
    files and to `size`: when a file comes, goes or changes length, a new one is built beside it.
    `test_images` takes that many test pictures, evenly spaced over the classes, instead of all.
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
        test_images: int | None = None,
    ) -> None:
        self.seed, self.size, self.device = seed, whole("size", size, 8), torch.device(device)
        self.classes = whole("classes", classes, 2)
        train, val = splits(Path(folder), self.classes)
        self.names = train.names
        stored = squares(train, val, self.size, Path(cache))
        self._train, self._val = (_load(stored, split) for split in ("train", "val"))
        total = len(self._val["labels"])
        tested = total if test_images is None else min(whole("test_images", test_images), total)
        self._tested = np.arange(tested) * total // tested
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
        for at in range(0, len(self._tested), TEST_BATCH):
            yield self._read(self._val, self._tested[at : at + TEST_BATCH])

    def _read(self, split: dict[str, np.ndarray], rows: np.ndarray) -> Batch:
        """Rows of a split on the device, normalised: bytes travel, floats are made there."""
        images = torch.empty(
            (len(rows), 3, self.size, self.size),
            dtype=torch.uint8,
            pin_memory=self.device.type == "cuda",
        )
        np.take(split["images"], rows, axis=0, out=images.numpy(), mode="clip")
        images = (images.to(self.device, non_blocking=True) - self._mean) / self._std
        return images, self._copy(torch.from_numpy(split["labels"][rows]))

    def _copy(self, small: torch.Tensor) -> torch.Tensor:
        small = small.pin_memory() if self.device.type == "cuda" else small
        return small.to(self.device, non_blocking=True)


# --- Random resized crops -----------------------------------------------------------------------


def crops(rng: np.random.Generator, proportions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Boxes (left, top, width, height) "images 4" as shares of the picture, and which are flipped,
    "images".

    As torchvision's RandomResizedCrop on pictures of the given proportions (width over height): the
    area is uniform in SCALE, the proportions of the crop log-uniform in RATIO, and the first of ten
    tries that fits inside is taken; if none does, the largest middle crop whose proportions lie in
    RATIO.
    """
    count = len(proportions)
    area = rng.uniform(*SCALE, (count, TRIES))
    ratio = (
        np.exp(rng.uniform(*np.log(RATIO), (count, TRIES))) / proportions[:, None]
    )  # in the unit square
    width, height = np.sqrt(area * ratio), np.sqrt(area / ratio)
    fits = (width <= 1) & (height <= 1)
    rows, first = np.arange(count), fits.argmax(1)
    middle = ~fits.any(1)
    width = np.where(middle, np.minimum(1, RATIO[1] / proportions), width[rows, first])
    height = np.where(middle, np.minimum(1, proportions / RATIO[0]), height[rows, first])
    place = np.where(middle[:, None], 0.5, rng.random((count, 2)))
    boxes = np.stack([place[:, 0] * (1 - width), place[:, 1] * (1 - height), width, height], 1)
    return boxes, rng.random(count) < 0.5


def transforms(boxes: np.ndarray, flips: np.ndarray) -> np.ndarray:
    """The float32 "images 2 3" matrices for `affine_grid` that show each box, flipped or not, as a
    whole picture.
    """
    left, top, width, height = boxes.T
    theta = np.zeros((len(boxes), 2, 3), np.float32)
    theta[:, 0, 0], theta[:, 0, 2] = np.where(flips, -width, width), 2 * left + width - 1
    theta[:, 1, 1], theta[:, 1, 2] = height, 2 * top + height - 1
    return theta


# --- What the folder holds ----------------------------------------------------------------------


class ClassFolders:
    """One split of a tree of class folders: `labels` "images", `names` of the classes, `files` with
    their lengths.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.files, labels = folder, [], []
        if not folder.is_dir():
            raise LabError(
                f"{folder} is missing: an ImageNet folder holds train and val, each with a folder a"
                " class"
            )
        inside = sorted(os.scandir(folder), key=lambda entry: entry.name)
        self.names = [
            entry.name for entry in inside if entry.is_dir() and not entry.name.startswith(".")
        ]
        if not self.names:
            loose = sum(Path(entry.name).suffix.lower() in SUFFIXES for entry in inside)
            raise LabError(
                f"{folder} holds {loose} images and no class folder: move each image into the"
                " folder of its class, for example val/n01440764/ILSVRC2012_val_00000293.JPEG"
            )
        for label, name in enumerate(self.names):
            found = sorted(
                (entry.name, entry.stat().st_size)
                for entry in os.scandir(folder / name)
                if Path(entry.name).suffix.lower() in SUFFIXES
            )
            if not found:
                raise LabError(
                    f"{folder / name} holds no image: fill the class or remove its folder"
                )
            self.files += [(f"{name}/{file}", length) for file, length in found]
            labels += [label] * len(found)
        self.labels = np.array(labels, np.int64)

    def pictures(self) -> Iterator[tuple[str, Path]]:
        """The name and the file of every picture, in the order of `labels`."""
        for name, _ in self.files:
            yield str(self.folder / name), self.folder / name


class ParquetSplit:
    """One split of a Hugging Face copy; its classes are numbers."""

    def __init__(self, paths: list[Path]) -> None:
        import pyarrow.parquet as pq

        self.paths, self.files, labels = (
            paths,
            [(path.name, path.stat().st_size) for path in paths],
            [],
        )
        for path in paths:
            try:
                kinds = {field.name: str(field.type) for field in pq.read_schema(path)}
            except (OSError, ValueError) as error:
                raise LabError(
                    f"{path} is not readable as parquet ({_line(error)}): download it again"
                ) from error
            if "bytes: " not in kinds.get("image", "") or "int" not in kinds.get("label", ""):
                said = ", ".join(f"{name} ({kind})" for name, kind in kinds.items())
                raise LabError(
                    f"{path} has the columns {said}; it must have image, a struct with bytes, and"
                    " label, a whole number: take a Hugging Face image data set"
                )
            labels.append(pq.read_table(path, columns=["label"]).column("label").to_numpy())
        self.labels = np.concatenate(labels).astype(np.int64)
        self.names = [str(label) for label in np.unique(self.labels)]

    def pictures(self) -> Iterator[tuple[str, io.BytesIO]]:
        import pyarrow.parquet as pq

        for path in self.paths:
            row = 0
            for batch in pq.ParquetFile(path).iter_batches(64, columns=["image"]):
                for image in batch.column("image"):
                    yield f"row {row} of {path}", io.BytesIO(image["bytes"].as_py() or b"")
                    row += 1


def splits(
    folder: Path, classes: int
) -> tuple[ClassFolders | ParquetSplit, ClassFolders | ParquetSplit]:
    """The training and test split of a folder, checked: both there, the same classes, as many as
    expected.
    """
    if not folder.is_dir():
        raise LabError(
            f"there is no folder {folder}: give the one that holds train and val, or the parquet"
            " files"
        )
    for place in (folder, folder / "data"):
        shards = [
            sorted(place.glob(pattern)) for pattern in ("train-*.parquet", "validation-*.parquet")
        ]
        if any(shards):
            for found, kind in zip(shards, ("train", "validation"), strict=True):
                if not found:
                    raise LabError(
                        f"{place} holds no {kind}-*.parquet: download that split of the data"
                        " set too"
                    )
            train, val = map(ParquetSplit, shards)
            break
    else:
        train, val = ClassFolders(folder / "train"), ClassFolders(folder / "val")
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
            f"complete it, or say classes = {len(train.names)}"
        )
    for split, kind in ((train, "train"), (val, "val")):
        if (
            isinstance(split, ParquetSplit)
            and not 0 <= split.labels.min() <= split.labels.max() < classes
        ):
            raise LabError(
                f"{folder}: the labels of {kind} go from {split.labels.min()} to"
                f" {split.labels.max()}; number the classes from 0 to {classes - 1}"
            )
    return train, val


# --- The cache ----------------------------------------------------------------------------------


def squares(
    train: ClassFolders | ParquetSplit, val: ClassFolders | ParquetSplit, size: int, cache: Path
) -> Path:
    """The folder of `size` x `size` squares in the cache; built at first, under a lock, and renamed
    when complete.
    """
    from filelock import FileLock

    said = json.dumps(
        [LAYOUT, *((split.names, split.files, len(split.labels)) for split in (train, val))]
    )
    done = cache / f"{size}px-{hashlib.sha256(said.encode()).hexdigest()[:16]}"
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(done.with_suffix(".lock")):  # two runs of a sweep build once
        if (done / "cache.json").is_file():
            return done
        partial = done.with_suffix(".partial")
        for left in (partial, done):  # by a build that was killed
            shutil.rmtree(left, ignore_errors=True)
        partial.mkdir()
        try:
            _build({"train": train, "val": val}, size, partial)
            os.replace(partial, done)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
    return done


def _build(both: dict[str, ClassFolders | ParquetSplit], size: int, folder: Path) -> None:
    from tqdm.auto import tqdm

    total = sum(len(split.labels) for split in both.values())
    needed, free = total * 3 * size**2, shutil.disk_usage(folder).free
    if needed > free:
        raise LabError(
            f"the cache of {total} squares of {size} pixels needs {needed / 1e9:.1f} GB and "
            f"{folder.parent} has {free / 1e9:.1f} GB free: name a cache folder on a larger disk"
        )
    with (
        ThreadPoolExecutor() as pool,
        tqdm(total=total, unit="image", desc=f"squares of {size} pixels") as bar,
    ):
        for name, split in both.items():
            images = np.lib.format.open_memmap(
                folder / f"{name}-images.npy", "w+", np.uint8, (len(split.labels), 3, size, size)
            )
            proportions = np.empty(len(split.labels), np.float32)
            for at, chunk in enumerate(chunks(split.pictures())):
                for row, (square, proportion) in enumerate(
                    pool.map(lambda one: decode(*one, size), chunk), at * CHUNK
                ):
                    images[row], proportions[row] = square, proportion
                bar.update(len(chunk))
            images.flush()
            np.save(folder / f"{name}-labels.npy", split.labels)
            np.save(folder / f"{name}-proportions.npy", proportions)
    (folder / "cache.json").write_text(
        json.dumps(
            {
                "layout": LAYOUT,
                "size": size,
                "names": both["train"].names,
                **{name: len(split.labels) for name, split in both.items()},
            },
            indent=1,
        )
    )


def chunks(items: Iterator) -> Iterator[list]:
    """CHUNK items at a time: a pool given a million at once would keep a million."""
    while chunk := list(islice(items, CHUNK)):
        yield chunk


def decode(name: str, source: Path | io.BytesIO, size: int) -> tuple[np.ndarray, float]:
    """One picture as uint8 "3 size size", and its proportions, width over height."""
    from PIL import Image

    try:
        with Image.open(source) as image:
            square = image.convert("RGB").resize((size, size), Image.Resampling.BILINEAR)
            return np.asarray(square).transpose(2, 0, 1), image.width / image.height
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise LabError(
            f"{name} is not readable as an image ({_line(error)}): replace it or take it away"
        ) from error


def _load(stored: Path, split: str) -> dict[str, np.ndarray]:
    """The arrays of one split; the images stay on disk."""
    found = {}
    for name, mode in (("images", "r"), ("labels", None), ("proportions", None)):
        try:
            found[name] = np.load(stored / f"{split}-{name}.npy", mmap_mode=mode)
        except (OSError, ValueError) as error:
            raise LabError(
                f"{stored}/{split}-{name}.npy is damaged ({_line(error)}): remove {stored}, "
                "and the next run builds it again"
            ) from error
    return found


def _line(error: Exception) -> str:
    """The first line of what a library said."""
    return (str(error).splitlines() or [type(error).__name__])[0]
