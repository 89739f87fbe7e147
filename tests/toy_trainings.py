"""Smoke trainings of the toy worlds: all that they tell, and that any of it can be taken up."""

from collections.abc import Callable, Iterable

import numpy as np
import torch
from safetensors.torch import load_file

from lab.configurations import Config
from lab.runs import Run
from lab.runs.experiments import experiment
from lab.training.records import Pause, Record, records

ALWAYS, NEVER = 0.0, 1e9  # minutes between checkpoints
State = dict[str, torch.Tensor]
Told = list[tuple[Record | Pause, State]]


class Crash(BaseException):
    """Passes every `except Exception`, like a kill."""


def left_behind(run: Run) -> tuple:
    """Metrics and groups byte for byte, and the last state."""
    (checkpoint,) = (run.path / "checkpoints").iterdir()
    state = {key: value.tolist() for key, value in sorted(load_file(checkpoint).items())}
    groups = run.path / "groups.parquet"
    return (run.path / "metrics.jsonl").read_bytes(), groups.read_bytes(), checkpoint.name, state


def configured(name: str, **given) -> Config:
    return experiment(name).configure("smoke", given)


def copied(state: State) -> State:
    return {key: value.clone() for key, value in state.items()}


def told(outputs: Iterable[Record | Pause]) -> Told:
    """All that a training tells, pauses too, each with a copy of its state."""
    return [(output, copied(output.state())) for output in outputs]


def start_records(config: Config) -> Told:
    """The records of the training that one with these settings starts from."""
    before = experiment(config.name).before
    return told(records(before.train(before.part_of(config), None)))


def trained(config: Config, state: State | None = None, **start: State) -> Told:
    """The records of a training with these settings."""
    return told(records(experiment(config.name).train(config, state, **start)))


def same(one: State, other: State) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


def assert_same(these: Told, those: Told) -> None:
    assert len(these) == len(those)
    for (one, state), (other, other_state) in zip(these, those, strict=True):
        assert one.step == other.step and same(state, other_state)
        if isinstance(other, Record):
            assert list(one.metrics.items()) == list(other.metrics.items())
            assert one.groups.keys() == other.groups.keys()
            for key, column in other.groups.items():
                np.testing.assert_array_equal(one.groups[key], column)


def taken_up_anywhere(train: Callable[[State | None], Iterable[Record | Pause]]) -> Told:
    """All that a training from a state tells, after it was taken up at each of its steps: with the
    same end, and without a change of the state that it was given.
    """
    whole = told(train(None))
    first, last = (
        {key: value for key, value in state.items() if key.startswith("model/")}
        for state in (whole[0][1], whole[-1][1])
    )
    assert not same(first, last)
    for output, state in whole[:-1]:
        given = copied(state)
        torch.manual_seed(output.step)  # which it does not read
        again = [pair for pair in told(train(given)) if pair[0].step > output.step]
        assert_same(again, whole[output.step + 1 :])
        assert same(given, state)
    return whole
