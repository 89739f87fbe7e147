"""Smoke trainings of language models: all that they tell, and that any of it can be taken up."""

import torch

from lab.llm.train.trainer import train
from lab.project import CHECKOUT
from lab.runs.experiments import experiment
from lab.training.records import Record

TINY = CHECKOUT / "data" / "models" / "tiny"
# Answers of a few tokens: for tests that learn nothing from longer ones, which are the same
# operators again.
SHORT_ANSWERS = {
    "train_set": "arithmetic(level=1)",
    "eval_sets": ["arithmetic(level=1)"],
    "max_tokens": 20,
}


def configured(**given):
    return experiment("gsm8k").configure("smoke", given)


def told(state=None, **given):
    """All that a training tells, pauses too, each with a copy of its state."""
    return [
        (output, {key: value.clone() for key, value in output.state().items()})
        for output in train(configured(**given), state)
    ]


def played(state=None, **given):
    """The records of a training, each with a copy of its state."""
    return [pair for pair in told(state, **given) if isinstance(pair[0], Record)]


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


def taken_up_anywhere(**given):
    """All that a training tells, after it was taken up at each of its steps, with the same end."""
    whole = told(**given)
    assert not same(whole[0][1], whole[-1][1])
    for taken in range(len(whole) - 1):
        again = [pair for pair in told(whole[taken][1], **given) if pair[0].step > taken]
        for (output, state), (expected, expected_state) in zip(
            again, whole[taken + 1 :], strict=True
        ):
            assert same(state, expected_state)
            if isinstance(expected, Record):
                assert list(output.metrics.items()) == list(expected.metrics.items())
    return whole


def kinds(whole) -> list[tuple[int, bool]]:
    """The steps that a training tells of, and whether it is by a record."""
    return [(output.step, isinstance(output, Record)) for output, _ in whole]
