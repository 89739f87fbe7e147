"""The readable loop under a stopping rule: who is asked again, the step by hand, and resumption."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from smoke_trainings import SHORT_ANSWERS, taken_up_anywhere
from two_prompts import (
    LIMIT,
    PROMPTS,
    REWARDS,
    ROUNDED,
    Written,
    answers,
    furthest,
    loop_config,
    loop_of,
    parts_of_two_prompts,
    step_by_hand,
)

from lab.errors import LabError

pytestmark = pytest.mark.filterwarnings("ignore")

STOPPED = {"estimator": "reinforce", "rollouts": 4, "truncation": "score"}


@pytest.fixture(scope="module")
def parts():
    return parts_of_two_prompts()


class Asked(Written):
    """Gives the next of a prompt's answers, and remembers what it was asked."""

    def __init__(self, tokenizer, rewards):
        super().__init__(tokenizer, rewards, None)
        self.given, self.calls = [0, 0], []
        self.verdicts = []

    def sample(self, prompts, sampling, first=0):
        self.calls.append((first, [PROMPTS.index(prompt) for prompt in prompts]))
        sampled = []
        for prompt in prompts:
            which = PROMPTS.index(prompt)
            places = range(self.given[which], self.given[which] + sampling.n)
            sampled.append([self.groups[which][place] for place in places])
            self.verdicts += [self.rewards[which * 4 + place] for place in places]
            self.given[which] += sampling.n
        return sampled

    def check(self, texts, golds, rows):
        assert len(texts) == len(golds) == len(self.verdicts)
        verdicts, self.verdicts = self.verdicts, []
        return [SimpleNamespace(reward=reward) for reward in verdicts]


def loop_until(parts, stopping, rewards=REWARDS, **given):
    made = loop_of(parts, **STOPPED, stopping=stopping, **given)
    made.engine = made.verifier = Asked(parts[1], rewards)
    return made


def test_a_solved_problem_is_asked_no_more_and_the_step_is_the_one_by_hand(parts):
    # The rewards are 1 0 0 1 and 0 1 0 0: one answer of the first prompt, two of the second.
    made = loop_until(parts, "until(right=1, cap=4, baseline=0.25)", micro_batch=2)
    rows, metrics = made.roll_out(0)
    assert made.engine.calls == [(0, [0, 1]), (2, [1])]
    A = [0.75, 0, 0, 0, -0.25, 0.75, 0, 0]
    assert [row.advantage for row in rows] == [1.5 * a for a in A if a]  # 3 rows, 2 problems
    assert metrics["rollouts a problem"] == 1.5 and made.credit.spent == 3
    assert metrics["solved"] == 1 and metrics["train pass@1"] == pytest.approx(2 / 3)
    assert made.rollouts["problem"] == ["0", "1", "1"] or made.rollouts["problem"][0] == "1"
    assert made.rollouts["index"] == [0, 0, 1]
    norm = max(made.update(rows, 0)["grad_norm"], 1.0)
    expected = step_by_hand(
        parts,
        # A sum over the rollouts of a problem, a mean over problems.
        lambda logp: -(torch.tensor(A, dtype=torch.float64) * logp).sum() / (2 * LIMIT),
        rate=1e-3 / norm,
    )
    assert furthest(made.model, expected) < ROUNDED


def test_rounds_are_asked_whole_and_what_is_lost_or_cut_meets_no_rule(parts):
    made = loop_until(parts, "until(right=1, wrong=1, cap=4, round=2)")
    rows, _ = made.roll_out(3)
    assert made.engine.calls == [(12, [0, 1])] and len(rows) == 4
    lost = [None, 0.0, None, 1.0, 0.0, 1.0, 0.0, 0.0]
    made = loop_until(parts, "until(right=1, cap=4)", rewards=lost)
    rows, metrics = made.roll_out(0)
    assert made.engine.given == [4, 2] and metrics["lost"] == pytest.approx(2 / 6)
    # The third answer of the second prompt has no end; masked, it is not even wrong.
    said = answers(parts[1])
    assert len(said[6]) == LIMIT
    none_right = [0.0] * 4 + [0.0, 0.0, 1.0, 0.0]
    for truncation, given in (("score", 3), ("zero", 4), ("mask", 4)):
        made = loop_of(
            parts, **STOPPED | {"truncation": truncation}, stopping="until(right=1, cap=4)"
        )
        made.engine = made.verifier = Asked(parts[1], none_right)
        made.roll_out(0)
        assert made.engine.given == [4, given], truncation


def test_a_training_taken_up_anywhere_gives_the_same_records_and_weights():
    given = {
        **SHORT_ANSWERS,
        **STOPPED,
        "stopping": "until(right=1, cap=4, round=2, baseline=0.1)",
        "steps": 3,
        "log_every": 2,
        "problems": 3,
        "prompts": 2,
    }
    found = taken_up_anywhere(trainer="loop", **given)[-1][0].metrics
    assert found["rollouts spent"] >= 3 * 2 * 2 and 2 <= found["rollouts a problem"] <= 4
    assert "induced weight" not in found
    assert all(np.isfinite(value) for value in found.values())


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"trainer": "trl"}, "trainer = 'trl'"),
        ({"updates": 2}, "updates = 2"),
        ({"smoothing": 0.1}, "smoothing = 0.1"),
        ({"estimator": "maxrl"}, "set estimator to 'reinforce'"),
    ],
)
def test_what_does_not_go_with_a_rule_is_refused(given, sentence):
    settings = {**STOPPED, "stopping": "until(right=1, cap=4)"} | given
    with pytest.raises(LabError, match=sentence):
        loop_config(**settings)
