"""ImageNet's folders and crops, on tiny folders that the tests write themselves."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from refusals import refusal
from torch.utils import data

from lab.toy import imagenet
from lab.toy.image_data import rows_of_step
from lab.toy.imagenet import MEAN, STD, ImageNet

CLASSES, SIZE = 3, 16


def picture(index: int) -> Image.Image:
    """A smooth picture that tells its index, its left from its right, its top from its bottom."""
    width, height = 40 + 7 * (index % 5), 30 + 5 * (index % 3)
    x, y = np.meshgrid(np.linspace(0, 180, width), np.linspace(0, 180, height))
    return Image.fromarray(
        np.stack([x + 20, y + 20, np.full_like(x, 11 * index)], -1).astype(np.uint8)
    )


def write_tree(folder: Path) -> Path:
    """Three classes, of each six training and two test images."""
    number = 0
    for split, images in (("train", 6), ("val", 2)):
        for name in ("n01", "n02", "n03"):
            (folder / split / name).mkdir(parents=True)
            for at in range(images):
                picture(number % 23).save(folder / split / name / f"{name}_{at}.JPEG", quality=95)
                number += 1
    return folder


@pytest.fixture
def tree(tmp_path):
    return write_tree(tmp_path / "images")


@pytest.fixture
def load(tree):
    """ImageNet of the tiny tree, or of another folder."""
    usual = {"seed": 0, "size": SIZE, "device": "cpu", "classes": CLASSES}
    return lambda folder=tree, **options: ImageNet(folder, **{**usual, **options})


@pytest.fixture
def by_processes(monkeypatch):
    """Images are read by two processes, as beside a GPU."""
    real = data.DataLoader
    monkeypatch.setattr(
        imagenet, "DataLoader", lambda *given, **named: real(*given, **named | {"num_workers": 2})
    )


def held_out(source):
    images, labels = zip(*source.test(), strict=True)
    return torch.cat(images), torch.cat(labels)


# --- What it gives ------------------------------------------------------------------------------


def test_a_test_image_is_resized_and_normalised_as_torchvision_does_it(load, tree):
    from torchvision import transforms as tv

    published = tv.Compose([tv.Resize((SIZE, SIZE)), tv.ToTensor(), tv.Normalize(MEAN, STD)])
    paths = sorted((tree / "val").rglob("*.JPEG"))
    images, labels = held_out(load())
    torch.testing.assert_close(
        images, torch.stack([published(Image.open(path)) for path in paths]), atol=1e-5, rtol=0
    )
    assert labels.tolist() == [0, 0, 1, 1, 2, 2]


def test_a_batch_is_a_function_of_the_seed_and_the_step_alone_and_the_test_of_nothing(load):
    one, other, another = load(), load(), load(seed=1)
    straight = [one.train_batch(step, 4) for step in range(10)]
    for step in (9, 0, 5):
        assert all(map(torch.equal, other.train_batch(step, 4), straight[step]))
    assert not torch.equal(another.train_batch(0, 4)[0], straight[0][0])
    assert not torch.equal(straight[0][0], straight[4][0])  # the second epoch
    assert torch.equal(held_out(another)[0], held_out(one)[0]) and len(held_out(one)[1]) == 6


def test_processes_read_what_one_would(load, by_processes, monkeypatch):
    ahead = load()
    several = [ahead.train_batch(step, 4)[0] for step in (0, 1, 2, 7)]
    tested = held_out(ahead)[0]
    monkeypatch.undo()
    assert torch.equal(
        torch.stack(several), torch.stack([load().train_batch(step, 4)[0] for step in (0, 1, 2, 7)])
    )
    assert torch.equal(tested, held_out(load())[0])


def test_a_training_image_is_a_crop_of_its_picture_and_half_are_flipped(load, tree):
    """Red grows to the right and green downwards, which tells where a crop was cut."""
    source, paths = load(), sorted((tree / "train").rglob("*.JPEG"))
    areas, flips = [], []
    for step in range(30):
        images, labels = source.train_batch(step, 18)
        rows = rows_of_step(0, step, 18, 18)
        assert labels.tolist() == [row // 6 for row in rows]
        images = 255 * (
            images * torch.tensor(STD)[:, None, None] + torch.tensor(MEAN)[:, None, None]
        )
        red, green, blue = images.unbind(1)
        number = [int(paths[row].stem.split("_")[1]) + 6 * (row // 6) for row in rows]
        torch.testing.assert_close(
            blue.mean((1, 2)), 11.0 * torch.tensor(number), atol=4, rtol=0, check_dtype=False
        )
        across = red[:, :, -1].mean(1) - red[:, :, 0].mean(1)
        down = green[:, -1].mean(1) - green[:, 0].mean(1)
        # Of 180 from edge to edge; the first and the last pixel are half a pixel inside.
        areas += (across.abs() * down / (180 * (SIZE - 1) / SIZE) ** 2).tolist()
        flips += (across < 0).tolist()
    assert 0.06 < min(areas) < 0.2 and 0.8 < max(areas) < 1.1
    assert 0.42 < np.mean(flips) < 0.58  # of 540, 3.7 standard errors


# --- Refusals -----------------------------------------------------------------------------------


def loose(tree: Path) -> None:
    for path in sorted((tree / "val").rglob("*.JPEG")):
        path.rename(tree / "val" / path.name)
    for name in ("n01", "n02", "n03"):
        (tree / "val" / name).rmdir()


def no_images(tree: Path) -> None:
    for path in (tree / "train" / "n02").iterdir():
        path.rename(path.with_suffix(".txt"))


def unreadable(tree: Path) -> None:
    odd = tree / "train" / "n02" / "n02_3.JPEG"
    odd.write_bytes(odd.read_bytes()[:300])


ONE_SHORT = (
    "the classes of train and val differ in TREE: n03 is only in train; they have 3 and 2, and must"
    " have the same"
)


@pytest.mark.parametrize(
    "damage, sentence",
    [
        ("", "TREE/train is no split of ImageNet ([Errno 2] No such file"),
        ("val", "TREE/val is no split of ImageNet ([Errno 2] No such file"),
        ("val/n03", ONE_SHORT),
        (loose, "TREE/val is no split of ImageNet (Couldn't find any class folder"),
        (no_images, "TREE/train is no split of ImageNet (Found no valid file for the classes n02."),
        (unreadable, "TREE/train/n02/n02_3.JPEG is not readable as an image ("),
    ],
)
def test_a_tree_that_is_not_whole_is_refused_and_what_is_wrong_is_named(
    load, tree, damage, sentence
):
    """A folder is missing, or something else is wrong."""
    damage(tree) if callable(damage) else shutil.rmtree(tree / damage)
    assert refusal(lambda: load().train_batch(0, 18)).startswith(
        sentence.replace("TREE", str(tree))
    )


def test_a_damaged_picture_is_told_in_one_sentence_by_a_process_too(load, tree, by_processes):
    unreadable(tree)
    said = refusal(lambda: load().train_batch(0, 18))
    assert said.startswith(f"{tree}/train/n02/n02_3.JPEG is not readable as an image (")
    assert said.endswith("replace it or remove it") and "\n" not in said


def test_another_number_of_classes_than_a_thousand_is_refused(load, tree):
    said = f"{tree} holds 3 classes, not 1000: complete it, or set classes = 3"
    assert refusal(load, classes=1000) == said


def test_odd_kinds_of_images_are_read_as_colour(load, tree):
    grey = tree / "train" / "n01" / "n01_0.JPEG"
    picture(3).convert("L").save(grey)
    picture(4).convert("CMYK").save(tree / "train" / "n01" / "n01_1.JPEG")
    # ImageNet holds one such file.
    picture(5).convert("P").save(tree / "train" / "n01" / "n01_2.JPEG", "PNG")
    assert load().train_batch(0, 18)[0].isfinite().all()
