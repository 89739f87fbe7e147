"""Random streams: every draw is a function of (seed, stream, step) and of nothing else."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
import torch

from lab.training.rng import generator, stream_seed

STREAMS = ("weights", "order", "rollouts", "data", "a", "b")


@pytest.mark.parametrize("other", [(4, "order", 7), (3, "rollouts", 7), (3, "order", 8)])
def test_another_seed_another_stream_or_another_step_gives_other_draws(other):
    here, there = generator(3, "order", 7).random(1000), generator(*other).random(1000)
    assert not np.isin(here, there).any()
    assert abs(np.corrcoef(here, there)[0, 1]) < 0.1


def test_no_two_of_ten_thousand_seeds_streams_and_steps_share_a_seed():
    keys = list(itertools.product(range(20), STREAMS, range(100)))
    assert len({stream_seed(*key) for key in keys}) == len(keys) == 12_000


def test_drawing_from_one_stream_moves_no_other_in_any_order_of_use():
    alone = {name: generator(0, name, 1).random(5) for name in STREAMS}
    together = {name: generator(0, name, 1) for name in STREAMS}
    drawn = {name: [] for name in STREAMS}
    for _ in range(5):
        for name in reversed(STREAMS):
            drawn[name].append(together[name].random())
    for name in STREAMS:
        np.testing.assert_array_equal(drawn[name], alone[name])


def test_the_streams_neither_read_nor_move_the_global_generators():
    np.random.seed(5)  # noqa: NPY002 (the global generator is what is tested)
    torch.manual_seed(5)
    numpy_before, torch_before = (
        np.random.get_state()[1].copy(),  # noqa: NPY002
        torch.get_rng_state(),
    )
    first = stream_seed(0, "order"), generator(0, "order").random()
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_before)  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), torch_before)
    np.random.seed(6)  # noqa: NPY002
    assert (stream_seed(0, "order"), generator(0, "order").random()) == first


def test_another_process_draws_the_same_whatever_its_hash_seed():
    code = (
        "from lab.training.rng import *; print(stream_seed(1, 'order', 2), generator(1, 'order',"
        " 2).integers(10**9))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert said == {f"{stream_seed(1, 'order', 2)} {generator(1, 'order', 2).integers(10**9)}\n"}
