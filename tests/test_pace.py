"""How long a training will take is measured in its first steps."""

import re
from itertools import accumulate

import pytest

from lab.runs import pace
from lab.runs.experiments import experiment
from lab.runs.pace import announced
from lab.training.records import Pause, Record


@pytest.fixture
def said(monkeypatch, capsys):
    """What is printed of a training whose evaluations, first step and other steps take so long."""

    def play(evaluation: float, first: float, step: float, **given) -> str:
        config = experiment("digits").configure("smoke", given)
        outputs, seconds = [], []
        for number in range(config.steps + 1):
            is_record = number % config.log_every == 0 or number == config.steps
            outputs.append(Record(number, {}, None) if is_record else Pause(number, None))
            own = (0, first, step)[min(number, 2)]
            seconds += [0.0, own + (evaluation if is_record else 0.0)]  # ours, then the trainer's
        clock = accumulate([*seconds, 0.0])
        monkeypatch.setattr(pace.time, "monotonic", lambda: next(clock))
        assert list(announced(iter(outputs), config)) == outputs
        return capsys.readouterr().out

    return play


def test_the_first_step_which_compiles_is_not_taken_for_the_others(said):
    told = said(30, 100, 5, steps=400, log_every=100)
    # After step 4: 396 steps of 5 s and the evaluations of steps 100, 200, 300 and 400.
    assert told == (
        "about 35 min left, measured in the first steps: 396 steps of 5 s, 4 evaluations of 30 s\n"
    )


def test_ten_seconds_of_steps_are_measured_at_least(said):
    # A hundred steps of 0.1 s, or a hundred and one by rounding.
    assert re.search("1,89[89] steps of 100 ms", said(0, 3, 0.1, steps=2000, log_every=1000))


def test_evaluations_after_every_step_are_part_of_the_step(said):
    told = said(2, 5, 3, steps=100, log_every=1)
    assert "96 steps of 5 s, 0 evaluations" in told


def test_of_a_training_of_a_minute_nothing_is_said(said):
    assert said(1, 1, 4, steps=10, log_every=5) == ""
