"""Digits and procedural pictures: pure in (seed, step), with classes that can be read off."""

import itertools
from collections import Counter

import pytest
import torch
from cuda_table import Recorder

from lab.errors import LabError
from lab.toy import image_data
from lab.toy.image_data import LABEL_CODE, MEAN, STD, Digits, ProceduralImages, digits, rows_of_step


@pytest.fixture(params=["digits", "procedural"])
def source(request, monkeypatch):
    """Makes a source from a seed, with 300 test images where they are drawn."""
    monkeypatch.setattr(image_data, "TEST_IMAGES", 300)
    if request.param == "digits":
        return Digits
    return lambda seed: ProceduralImages(seed, 32)


def still(size=32):
    """A source of pictures that vary in nothing but their class."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(image_data, "JITTER", dict.fromkeys(image_data.JITTER, 0.0))
        patch.setattr(image_data, "NOISE", 0.0)
        return ProceduralImages(0, size)


def label(shape=0, colour=0, texture=0, place=0):
    return torch.as_tensor(shape + 5 * (colour + 8 * (texture + 5 * place)))


def shown(source, labels, seed=0):
    """Pictures as red, green and blue between about 0 and 1."""
    images = source.draw(labels, torch.Generator().manual_seed(seed))
    return images * torch.tensor(STD)[:, None, None] + torch.tensor(MEAN)[:, None, None]


# --- What every source promises -----------------------------------------------------------------


def test_a_batch_has_the_shapes_and_kinds_that_the_source_names(source):
    found = source(0)
    for images, labels in (found.train_batch(3, 24), *found.test()):
        assert images.shape == (len(labels), found.channels, found.size, found.size)
        assert images.dtype == torch.float32 and labels.dtype == torch.int64
        assert 0 <= labels.min() and labels.max() < found.classes
    assert len(found.train_batch(3, 24)[1]) == 24


def test_a_batch_is_a_function_of_the_seed_and_the_step_alone(source):
    one, other = source(1), source(1)
    straight = [one.train_batch(step, 16) for step in range(4)]
    torch.manual_seed(99)
    list(other.test())
    for step in (3, 0, 2, 1):  # a resumed run starts anywhere
        assert all(map(torch.equal, other.train_batch(step, 16), straight[step]))


def test_batches_neither_read_nor_move_the_global_generator_and_tests_know_no_seed(source):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    source(0).train_batch(0, 8)
    for (one, these), (other, those) in zip(source(1).test(), source(2).test(), strict=True):
        assert torch.equal(one, other) and torch.equal(these, those)
    assert torch.equal(torch.get_rng_state(), before)


def test_no_training_image_is_a_test_image(source):
    found = source(0)
    tested = {image.numpy().tobytes() for images, _ in found.test() for image in images}
    trained = {
        image.numpy().tobytes() for step in range(40) for image in found.train_batch(step, 32)[0]
    }
    assert tested and trained and not tested & trained


def test_a_batch_of_no_images_is_refused(source):
    with pytest.raises(LabError, match="batch = 0: it must be a whole number of at least 1"):
        source(0).train_batch(0, 0)


# --- Digits -------------------------------------------------------------------------------------


def test_an_epoch_of_digits_shows_every_training_image_once_and_the_next_in_another_order():
    rows = [rows_of_step(4, step, 100, 1437) for step in range(28)]
    first, second = (sorted(itertools.chain(*rows[at : at + 14])) for at in (0, 14))
    assert len(set(first)) == len(set(second)) == 1400 and first != second


def test_digits_are_normalised_by_the_training_images_and_split_once():
    trained = torch.cat([Digits(0).train_batch(step, 479)[0] for step in range(3)])
    ((tested, labels),) = Digits(0).test()
    assert len(trained) == 1437 and len(tested) == 360
    assert trained.mean().item() == pytest.approx(0, abs=1e-5)
    assert trained.std().item() == pytest.approx(1, abs=1e-4)
    assert set(Counter(labels.tolist()).values()) <= {35, 36, 37}  # stratified


def test_a_batch_larger_than_the_digits_is_refused():
    with pytest.raises(
        LabError, match="batch = 1438: there are only 1437 training images, so at most 1437"
    ):
        Digits(0).train_batch(0, 1438)


# --- ProceduralImages: the code -----------------------------------------------------------------


def test_a_label_is_a_code_of_four_digits_and_every_code_is_a_label():
    labels = torch.arange(1000)
    found = digits(labels)
    assert len(set(zip(*(d.tolist() for d in found), strict=True))) == 1000
    assert [int(d.max()) + 1 for d in found] == [len(names) for names in LABEL_CODE] == [5, 8, 5, 5]
    assert torch.equal(label(*found), labels)


def test_where_nothing_varies_a_class_is_one_picture_and_classes_are_a_thousand():
    images, again = (shown(still(), torch.arange(1000), seed) for seed in (0, 1))
    assert torch.equal(images, again)
    apart = torch.cdist(images.flatten(1), images.flatten(1)).fill_diagonal_(torch.inf)
    assert apart.min() > 1  # as much as three pixels from black to white


def test_every_picture_is_nearest_the_still_one_of_its_own_class():
    images, labels = ProceduralImages(0, 32).train_batch(0, 500)
    known = still().draw(torch.arange(1000), torch.Generator())
    known, images = (x - x.mean((2, 3), keepdim=True) for x in (known, images))
    guess = torch.cdist(images.flatten(1), known.flatten(1)).argmin(1)
    assert (guess == labels).float().mean() > 0.99


# --- ProceduralImages: the distribution ---------------------------------------------------------


@pytest.mark.parametrize("classes, images", [(1000, 2048), (10, 300), (7, 5)])
def test_test_labels_are_balanced_as_far_as_their_number_allows(monkeypatch, classes, images):
    monkeypatch.setattr(image_data, "TEST_IMAGES", images)
    found = ProceduralImages(0, 32, classes=classes)
    labels = torch.cat([labels for _, labels in found.test()])
    counts = torch.bincount(labels, minlength=classes)
    assert len(labels) == images and counts.max() - counts.min() <= 1
    assert not torch.equal(labels, labels.sort().values)  # and mixed


def test_validation_images_are_balanced_too_and_none_is_a_test_image(monkeypatch):
    monkeypatch.setattr(image_data, "TEST_IMAGES", 300)

    def pictures(evaluated_on):
        found = ProceduralImages(0, 32, classes=100, evaluated_on=evaluated_on)
        images, labels = (torch.cat(parts) for parts in zip(*found.test(), strict=True))
        return {image.numpy().tobytes() for image in images}, torch.bincount(labels)

    tested, _ = pictures("test")
    validated, counts = pictures("validation")
    assert len(validated) == 300 and set(counts.tolist()) == {3} and not tested & validated


def test_generators_of_training_are_even_and_those_of_the_evaluation_odd(monkeypatch):
    """torch reads all 64 bits of a seed on a GPU, 32 on a CPU: the lowest tells them apart."""
    seen = []
    monkeypatch.setattr(
        ProceduralImages, "_generator", lambda _, seed: seen.append(seed) or torch.Generator()
    )
    monkeypatch.setattr(
        ProceduralImages, "draw", lambda _, labels, rng: torch.zeros(len(labels), 3, 32, 32)
    )
    for seed in range(20):
        for step in range(50):
            ProceduralImages(seed, 32).train_batch(step, 1)
    trained = seen.copy()
    assert len(set(trained)) == 1000 and all(seed % 2 == 0 for seed in trained)
    seen.clear()
    list(ProceduralImages(0, 32).test())
    list(ProceduralImages(0, 32, evaluated_on="validation").test())
    assert len(set(seen)) == 16 and all(seed % 2 == 1 for seed in seen)


@pytest.mark.parametrize("size, batch", [(32, 2000), (224, 60)])
def test_pixels_have_about_mean_zero_and_variance_one_at_every_size(size, batch):
    images, _ = ProceduralImages(5, size).train_batch(0, batch)
    assert images.mean((0, 2, 3)).abs().max() < 0.1
    assert (images.std((0, 2, 3)) - 1).abs().max() < 0.1


def test_a_batch_asks_the_device_nothing():
    """No operator makes a GPU wait for the host, or the host for the GPU."""
    found = ProceduralImages(0, 32)
    with Recorder() as recorder:
        found.train_batch(0, 16)
    assert "randn" in recorder.operators
    waits = {"_local_scalar_dense", "nonzero", "_to_copy", "lift_fresh", "masked_select"}
    assert not waits & recorder.operators


# --- ProceduralImages: refusals -----------------------------------------------------------------


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"size": 16}, "size = 16: it must be a whole number of at least 32"),
        (
            {"classes": 1001},
            "classes = 1001: shapes, colours, textures and places have 1000 combinations, "
            "so ask for at most that many classes",
        ),
        ({"classes": 1}, "classes = 1: it must be a whole number of at least 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(options, sentence):
    with pytest.raises(LabError, match=sentence):
        ProceduralImages(**{"seed": 0, "size": 32} | options)
