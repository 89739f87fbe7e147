"""Training under stopping rules: every trainer draws by the law of the rule, and resumes."""

import numpy as np
import pytest
import torch
from test_stopping import sequences
from toy_trainings import configured, taken_up_anywhere

from lab.errors import LabError
from lab.mathematics.stopping import until
from lab.runs.experiments import experiment
from lab.toy.gradient_source import GradientSource
from lab.toy.multinomial import count_draws, draw_counts_until, draw_numbers, rollouts_spent, spend

RULES = [
    until(right=1, cap=6),
    until(right=2, cap=6, baseline=0.2),
    until(wrong=1, cap=3, baseline=1.0),
    until(right=1, wrong=1, cap=6, baseline=0.5),
    until(right=2, wrong=3, cap=7, baseline=0.1),
    until(right=3, wrong=1, cap=7, baseline=0.3),
    until(right=1, cap=6, round=3, baseline=0.1),
    until(right=2, wrong=1, cap=6, round=2),
]
EVERY_RULE = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.spec)


# --- Waiting times ------------------------------------------------------------------------------


@EVERY_RULE
@pytest.mark.parametrize("p", [0.1, 0.6])
def test_the_numbers_drawn_have_the_law_of_drawing_one_after_the_other(rule, p):
    n = 40_000
    law: dict[tuple[int, int], float] = {}
    for answers, chance in sequences(rule, [1 - p, p], [False, True]):
        state = sum(answers), len(answers) - sum(answers)
        law[state] = law.get(state, 0.0) + chance
    rng = torch.Generator().manual_seed(1)
    right, wrong = draw_numbers(rule, torch.full((n,), p, dtype=torch.float64), rng)
    found = {state: 0 for state in law}
    for state in zip(right.int().tolist(), wrong.int().tolist(), strict=True):
        found[state] += 1  # a KeyError would be a state that the rule cannot end in
    for state, chance in law.items():
        error = np.sqrt(n * chance * (1 - chance)) + 1e-9
        assert abs(found[state] - n * chance) < 4.8 * error, state


def test_which_answers_come_is_multinomial_within_the_right_and_within_the_wrong():
    pi, right = torch.tensor([0.1, 0.2, 0.3, 0.4]), torch.tensor([True, True, False, False])
    rule, n = until(right=2, cap=9), 20_000
    counts = draw_counts_until(rule, pi.repeat(n, 1), right.repeat(n, 1), seed=3)
    totals = counts.sum(0).double()
    assert counts.sum(1).max() == 9 and counts[:, :2].sum(1).max() == 2
    assert totals[0] / totals[:2].sum() == pytest.approx(1 / 3, abs=0.01)
    assert totals[2] / totals[2:].sum() == pytest.approx(3 / 7, abs=0.01)
    again = draw_counts_until(rule, pi.repeat(n, 1), right.repeat(n, 1), seed=3)
    assert torch.equal(counts, again)
    draws = torch.tensor([0.0, 5.0])
    found = count_draws(torch.tensor([[0.0, 0.0], [1.0, 1.0]]), draws, 9, torch.Generator())
    assert found.sum(1).tolist() == [0, 5]


# --- Tabular and images -------------------------------------------------------------------------


@EVERY_RULE
@pytest.mark.parametrize("pi", [[0.1, 0.3, 0.6], [0.5, 0.4, 0.1]])
def test_sampled_gradients_have_the_mean_and_the_noise_of_the_rule(rule, pi):
    n = 20_000
    source = GradientSource("reinforce", "sampled", rule.cap, rule.spec)
    logits = torch.tensor(pi, dtype=torch.float64).log().repeat(n, 1).requires_grad_()
    right = torch.tensor([True, False, False]).repeat(n, 1)
    (n * source.loss(logits.log_softmax(1), right, seed=5)).backward()
    draws = -logits.grad.numpy()  # every row is a problem of its own
    moments, w = rule.second_moments(pi[0]), float(rule.weight(pi[0]))
    grad_p = np.array(pi) * (np.array([1, 0, 0]) - pi[0])
    error = draws.std(0, ddof=1) / np.sqrt(n)
    assert np.abs((draws.mean(0) - w * grad_p) / error).max() < 4.5
    # One answer is right, so that its score has no spread.
    scores, of_wrong = np.eye(3) - pi, np.array(pi[1:]) / (1 - pi[0])
    v0 = of_wrong @ ((scores[1:] - of_wrong @ scores[1:]) ** 2).sum(1)
    truth = w * v0 * moments.wrong + grad_p @ grad_p * moments.successes
    assert ((draws - draws.mean(0)) ** 2).sum(1).mean() == pytest.approx(truth, rel=0.15)
    spent = source.metrics()
    assert spent["rollouts spent"] == pytest.approx(spent["rollouts a problem"] * n)
    error = np.sqrt(rule.drawn(pi[0]).variance / n) + 1e-9
    assert abs(spent["rollouts a problem"] - w) < 4.5 * error


def test_the_rollouts_spent_are_those_of_all_steps_and_their_mean_that_since_the_last_record():
    kept = {}
    assert rollouts_spent(kept) == {}
    spend(kept, torch.zeros(0))
    assert rollouts_spent(kept) == {"rollouts spent": 0.0}
    spend(kept, torch.tensor([1.0, 3.0]))
    assert rollouts_spent(kept) == {"rollouts spent": 4.0, "rollouts a problem": 2.0}
    spend(kept, torch.tensor([5.0, 1.0]))
    taken_up = {key: value.clone() for key, value in kept.items()}
    spend(kept, torch.tensor([1.0, 1.0]))
    assert rollouts_spent(kept) == {"rollouts spent": 12.0, "rollouts a problem": 2.0}
    assert rollouts_spent(taken_up) == {"rollouts spent": 10.0, "rollouts a problem": 3.0}


STOPPED = {"estimator": "reinforce", "rollouts": 12}


@pytest.mark.parametrize(
    "name, stopping",
    [
        ("tabular", "until(right=1, cap=12)"),
        ("digits", "until(right=1, wrong=1, cap=12, round=4, baseline=0.1)"),
    ],
)
def test_a_training_taken_up_anywhere_gives_the_same_records_and_weights(name, stopping):
    config = configured(name, **STOPPED, stopping=stopping, steps=4, log_every=3)
    whole = taken_up_anywhere(lambda state: experiment(name).train(config, state))
    last = whole[-1][0].metrics
    assert last["rollouts spent"] > 0 and 1 <= last["rollouts a problem"] <= 12


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"estimator": "maxrl"}, "set estimator to 'reinforce'"),
        ({"rollouts": 16}, "set rollouts to 12"),
        ({"gradient": "expected"}, "set gradient to 'sampled'"),
        ({"stopping": "until(right=1)"}, "needs cap: write until"),
        ({"stopping": "first"}, "unknown stopping rule"),
    ],
)
def test_settings_that_a_rule_would_leave_unread_are_refused(given, sentence):
    chosen = experiment("tabular")
    settings = {**STOPPED, "gradient": "sampled", "stopping": "until(right=1, cap=12)"} | given
    with pytest.raises(LabError, match=sentence):
        chosen.configure("smoke", settings)
