"""ImageNet's folders, cache and crops, on tiny folders that the tests write themselves."""

import shutil
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image
from refusals import refusal

from lab.errors import LabError
from lab.toy import imagenet
from lab.toy.image_data import rows_of_step
from lab.toy.imagenet import MEAN, STD, ImageNet, crops
from lab.training.rng import stream_seed

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
def load(tree, tmp_path):
    """ImageNet of the tiny tree, or of another folder, in a cache of the test's own."""
    usual = {"seed": 0, "size": SIZE, "device": "cpu", "classes": CLASSES}

    def load(folder=tree, **options):
        return ImageNet(folder, **{**usual, "cache": tmp_path / "cache", **options})

    return load


@pytest.fixture
def decoded(monkeypatch):
    """The names of the pictures decoded so far."""
    names, real = [], imagenet.decode
    monkeypatch.setattr(
        imagenet, "decode", lambda name, *rest: names.append(name) or real(name, *rest)
    )
    return names


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


# --- Crops --------------------------------------------------------------------------------------


def test_a_training_image_is_the_crop_of_its_picture(load, tree):
    """Red grows to the right and green downwards, which tells where a crop was cut."""
    source, paths = load(), sorted((tree / "train").rglob("*.JPEG"))
    sizes = np.array([Image.open(paths[row]).size for row in rows_of_step(0, 0, 8, 18)])
    boxes, flips = crops(stream_seed(0, "crops", 0), sizes[:, 0] / sizes[:, 1])
    images = (
        source.train_batch(0, 8)[0] * torch.tensor(STD)[:, None, None]
        + torch.tensor(MEAN)[:, None, None]
    )
    red, green = images[:, 0] * 255, images[:, 1] * 255
    middle = 20 + 180 * (boxes[:, :2] + boxes[:, 2:] / 2)
    found = torch.stack([red.mean((1, 2)), green.mean((1, 2))], 1)
    torch.testing.assert_close(found, middle, atol=4, rtol=0)
    assert torch.equal((red[:, :, 0] > red[:, :, -1]).all(1), flips) and 0 < flips.sum() < 8


# --- The cache ----------------------------------------------------------------------------------


def test_the_second_time_nothing_is_decoded_and_another_size_is_another_cache(load, tree, decoded):
    first = load().train_batch(3, 8)
    assert len(decoded) == 24
    assert load(size=8).train_batch(0, 2)[0].shape == (2, 3, 8, 8) and len(decoded) == 48
    for path in tree.rglob("*.JPEG"):  # the same names and lengths, and no picture inside
        path.write_bytes(bytes(path.stat().st_size))
    assert torch.equal(first[0], load().train_batch(3, 8)[0]) and len(decoded) == 48


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: picture(22).save(folder / "new.JPEG"),
        lambda folder: (folder / "n01_0.JPEG").rename(folder / "n01_9.JPEG"),
        lambda folder: picture(22).save(folder / "n01_0.JPEG", quality=50),
        lambda folder: (folder / "n01_0.JPEG").unlink(),
    ],
)
def test_a_file_that_comes_goes_or_changes_length_makes_another_cache(load, tree, decoded, change):
    load()
    change(tree / "val" / "n01")
    held_out(load())
    assert len(decoded) == 24 + len(list(tree.rglob("*.JPEG")))


def test_a_build_that_was_killed_goes_on_where_it_was(load, tree, tmp_path, decoded, fork):
    code = f"""
import os
from lab.toy import imagenet
real, left = imagenet.decode, [20]
def dying(*args):
    left[0] -= 1
    return real(*args) if left[0] else os._exit(9)
imagenet.decode = dying
imagenet.ImageNet({str(tree)!r}, 0, {SIZE}, "cpu", {str(tmp_path / "cache")!r}, {CLASSES})
"""
    assert fork("-c", code).finish().returncode == 9
    source = load()
    assert 5 <= len(decoded) < 12  # of 24; up to one a thread was decoded and not yet kept
    whole = load(cache=tmp_path / "clean")
    assert torch.equal(held_out(source)[0], held_out(whole)[0])
    assert torch.equal(source.train_batch(0, 18)[0], whole.train_batch(0, 18)[0])


def test_two_runs_that_start_together_build_once(load, decoded):
    found = []
    threads = [threading.Thread(target=lambda: found.append(held_out(load())[0])) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(decoded) == 24 and len(found) == 3 and torch.equal(found[0], found[2])


def test_a_damaged_cache_is_named(load, tmp_path):
    load()
    broken = next((tmp_path / "cache").glob("*/train-images.npy"))
    broken.write_bytes(broken.read_bytes()[:1000])
    said = "train-images.npy is damaged .* remove .*, and the next run builds it again"
    with pytest.raises(LabError, match=said):
        load()


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
    assert refusal(load).startswith(sentence.replace("TREE", str(tree)))


def test_another_number_of_classes_than_a_thousand_is_refused(load, tree):
    said = f"{tree} holds 3 classes, not 1000: complete it, or set classes = 3"
    assert refusal(load, classes=1000) == said


def test_a_disk_too_small_is_told_before_anything_is_decoded(load, decoded, monkeypatch, tmp_path):
    monkeypatch.setattr(imagenet.shutil, "disk_usage", lambda _: SimpleNamespace(free=5))
    said = f"the cache of 24 squares of 16 pixels needs 0.0 GB and {tmp_path}/cache has 0.0 GB free"
    assert refusal(load) == said + ": name a cache folder on a larger disk"
    assert decoded == []


def test_odd_kinds_of_images_are_read_as_colour(load, tree):
    grey = tree / "train" / "n01" / "n01_0.JPEG"
    picture(3).convert("L").save(grey)
    picture(4).convert("CMYK").save(tree / "train" / "n01" / "n01_1.JPEG")
    # ImageNet holds one such file.
    picture(5).convert("P").save(tree / "train" / "n01" / "n01_2.JPEG", "PNG")
    assert load().train_batch(0, 18)[0].isfinite().all()
