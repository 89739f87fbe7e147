"""Smoke trainings of language models: all that they tell, and that any of it can be taken up."""

import toy_trainings
from toy_trainings import same  # noqa: F401

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
    return toy_trainings.told(train(configured(**given), state))


def played(state=None, **given):
    """The records of a training, each with a copy of its state."""
    return [pair for pair in told(state, **given) if isinstance(pair[0], Record)]


def taken_up_anywhere(**given):
    """All that a training tells, after it was taken up at each of its steps, with the same end."""
    return toy_trainings.taken_up_anywhere(lambda state: train(configured(**given), state))


def kinds(whole) -> list[tuple[int, bool]]:
    """The steps that a training tells of, and whether it is by a record."""
    return [(output.step, isinstance(output, Record)) for output, _ in whole]
