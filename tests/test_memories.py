"""Estimators with a memory: frozen ones exact, pure in earlier batches, part of checkpoints."""

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from enumeration import binomial_row, reward_vectors
from refusals import refusal
from toy_trainings import taken_up_anywhere, told

import lab
from lab.errors import LabError
from lab.mathematics.memories import MEMORIES, SHOWN_RATES, frozen_weights, has_memory, with_memory
from lab.runs import experiment
from lab.show.explain import explain
from lab.show.line_styles import line_style
from lab.show.weighting import trained_weighting
from lab.toy.gradient_source import GradientSource
from lab.training.records import Record

N = 4
# Batches of several problems, K of N right in each.
BATCHES = [[1, 1, 3, 0], [2, 4, 4, 2], [0, 0, 4], [3, 1, 1, 1]]
SPEC = "curverl(batches=3)"


def after(spec: str, batches) -> lab.mathematics.memories.Memory:
    memory = with_memory(spec, N)
    for batch in batches:
        memory = memory.observe(batch, N)
    return memory


# --- The definitions, naively -------------------------------------------------------------------


def curverl(batches, window):
    """The advantages by the paper's words: the histogram of the rates of mixed groups in the last
    batches, the share at a rate over the share at or below it; 1 where there is no mixed group.
    """
    seen = [Fraction(K, N) for batch in batches[-window:] for K in batch if 0 < K < N]

    def definition(r):
        rate = Fraction(sum(r), N)
        f, F = sum(x == rate for x in seen), sum(x <= rate for x in seen)
        weight = (Fraction(f, F) if F else 0) if seen else 1
        return [weight * (x - rate) for x in r]

    return definition


@pytest.mark.parametrize("seen", range(len(BATCHES) + 1))
def test_the_frozen_estimator_is_the_definition_for_every_reward_vector(seen):
    definition = curverl(BATCHES[:seen], 3)
    frozen = after(SPEC, BATCHES[:seen]).estimator()
    vectors = reward_vectors(N)
    expected = [[float(A) for A in definition(r)] for r in vectors]
    np.testing.assert_allclose(
        lab.advantages(frozen, np.array(vectors)), expected, rtol=1e-14, atol=1e-15
    )


def test_a_smaller_group_counts_by_its_pass_rate_and_is_weighed_by_it():
    memory = with_memory("curverl", N).observe([1, 1, 2], [4, 2, 4])  # the rates 1/4, 1/2, 1/2
    assert memory.window.sum(0).tolist() == [0, 1, 2, 0, 0]
    pair = lab.advantages(memory.estimator(), np.array([1, 0]))
    np.testing.assert_allclose(pair, [1 / 3, -1 / 3], rtol=1e-15)  # w(1/2) = 2/3


# --- Frozen, the weight is exact ----------------------------------------------------------------


def test_the_weight_of_curverl_is_a_bernstein_polynomial_of_reverse_hazard_rates():
    """w_N(p) = ((N-1)/N) E[w((X+1)/N)], X ~ Binomial(N-2, p), with w = count / count below."""
    memory = after("curverl", BATCHES)
    counts = memory.window.sum(0)[1:N]
    hazard = [Fraction(int(c), int(sum(counts[: i + 1]))) for i, c in enumerate(counts)]
    for p in (Fraction(1, 5), Fraction(9, 10)):
        row = binomial_row(N - 2, p)
        expected = Fraction(N - 1, N) * sum(x * w for x, w in zip(row, hazard, strict=True))
        found = float(lab.induced_weight(memory.estimator(), N, float(p)))
        assert found == pytest.approx(float(expected), rel=1e-13)
    weight = lab.induced_weight(memory.estimator(), N, np.linspace(0, 1, 21))
    assert weight[0] == weight.max() == pytest.approx((N - 1) / N) and weight.min() >= 0


def test_given_what_came_before_the_mean_gradient_of_a_batch_is_the_frozen_weights():
    """Two batches of two problems with two and three rollouts right or wrong: over all outcomes of
    both, the second batch's mean gradient is that of the frozen weights, averaged over the first.
    """
    n, p = 3, (Fraction(1, 5), Fraction(3, 5))
    exact, by_weight = [0.0, 0.0], [0.0, 0.0]
    for first in itertools.product(reward_vectors(n), repeat=2):
        chance = float(np.prod([_chance(r, q) for r, q in zip(first, p, strict=True)]))
        memory = with_memory("curverl(batches=1)", n).observe([sum(r) for r in first], n)
        frozen = memory.estimator()
        for x, q in enumerate(p):
            by_weight[x] += chance * float(lab.induced_weight(frozen, n, float(q)))
            for r in reward_vectors(n):
                A = lab.advantages(frozen, np.array(r))
                g = sum(a * (reward - q) for a, reward in zip(A, r, strict=True))
                exact[x] += chance * float(_chance(r, q) * g / (n * q * (1 - q)))
    np.testing.assert_allclose(exact, by_weight, rtol=1e-12)


def _chance(r, p):
    return p ** sum(r) * (1 - p) ** (len(r) - sum(r))


# --- A memory is a value ------------------------------------------------------------------------


def test_observing_changes_nothing_but_what_it_returns():
    memory = after(SPEC, BATCHES[:2])
    before = memory.window.copy()
    frozen = memory.estimator()
    gap, offset = frozen.coefficients(N)
    memory.observe(BATCHES[3], N)
    with pytest.raises(LabError, match=r"correct at 1 is 5, where n is 4"):
        memory.observe([1, 5], 4)
    np.testing.assert_array_equal(memory.window, before)
    np.testing.assert_array_equal(frozen.coefficients(N), [gap, offset])


def test_a_record_says_the_frozen_weight():
    memory = after("curverl", BATCHES)
    found = frozen_weights(memory, N)
    assert list(found) == ["weight at p=0.1", "weight at p=0.5", "weight at p=0.9"]
    assert list(found.values()) == pytest.approx(
        lab.induced_weight(memory.estimator(), N, SHOWN_RATES).tolist()
    )


# --- Names --------------------------------------------------------------------------------------


def test_a_name_with_a_memory_is_none_of_the_catalogue_and_its_estimator_has_its_spec():
    assert not set(MEMORIES) & set(lab.estimator_names())
    for name in MEMORIES:
        assert has_memory(name) and has_memory(with_memory(name, N).estimator().spec)
        assert line_style(name).label == with_memory(name, N).estimator().label
    assert not has_memory("maxrl") and not has_memory("0.5 * ml")
    assert with_memory("curverl(batches=3)", N).estimator().spec == "curverl(batches=3)"


@pytest.mark.parametrize(
    "spec, message",
    [
        ("curverll", "did you mean 'curverl'"),
        ("curverl(batch=3)", "did you mean 'batches'"),
        ("curverl(batches=0)", "batches = 0: it must be a whole number of at least 1"),
    ],
)
def test_what_a_memory_cannot_be_made_of_is_refused(spec, message):
    assert message in refusal(with_memory, spec, N)


@pytest.mark.parametrize(
    "use",
    [
        lambda: lab.advantages("curverl", np.array([1, 0])),
        lambda: lab.induced_weight("curverl(batches=2)", N, 0.5),
        lambda: GradientSource("curverl", "expected", N),
        lambda: experiment("maze").preflight(
            experiment("maze").configure("smoke", {"estimator": "curverl"})
        ),
        lambda: experiment("gsm8k").preflight(
            experiment("gsm8k").configure("smoke", {"estimator": "curverl", "trainer": "trl"})
        ),
    ],
)
def test_whoever_keeps_no_memory_refuses_in_one_sentence(use):
    with pytest.raises(LabError, match="has a memory of earlier batches, which is not kept here"):
        use()


def test_an_audit_names_it_without_telling_weights_that_changed_with_every_step():
    found = trained_weighting(Path("run"), None, {"estimator": "curverl(batches=5)"})
    assert found.spec == "" and found.note.startswith("trained with curverl(batches=5)")


def test_lab_explain_says_what_it_is_before_its_first_batch():
    text = explain("curverl(batches=5)", 8)
    assert text.startswith("CurveRL   curverl(batches=5)")
    assert "these numbers: before its first batch" in text.splitlines()[-1]


# --- Training -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "world, given",
    [
        ("tabular", {"steps": 6, "problems": 8, "rollouts": N, "log_every": 4}),
        ("digits", {"steps": 4, "rollouts": 8, "log_every": 3}),
    ],
)
def test_a_training_taken_up_anywhere_ends_with_the_same_bits(world, given):
    config = experiment(world).configure("smoke", {"estimator": SPEC} | given)
    header = experiment(world).preflight(config)
    assert any("memory of earlier batches" in line for line in header)
    whole = taken_up_anywhere(lambda state: experiment(world).train(config, state))
    memories = [
        torch.cat([x.double().flatten() for name, x in state.items() if name.startswith("memory/")])
        for _, state in whole
    ]
    assert not torch.equal(memories[0], memories[-1])  # a memory that never learns would pass above
    weights = [output.metrics for output, _ in whole if isinstance(output, Record)]
    assert all(f"weight at p={p:g}" in metrics for metrics in weights for p in SHOWN_RATES)


def test_a_step_is_taken_with_what_earlier_steps_showed_and_not_with_its_own():
    source = GradientSource("curverl(batches=3)", "sampled", N)
    logits = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(6, 2).requires_grad_()
    right = torch.tensor([[True, False]] * 6)
    by_hand = GradientSource("reinforce_mean", "sampled", N)
    first = source.loss(logits.log_softmax(1), right, seed=1)
    # Before the first batch w = 1, and A = r - r̄.
    assert first.item() == by_hand.loss(logits.log_softmax(1), right, seed=1).item()
    frozen = source.target
    assert np.ptp(lab.induced_weight(frozen, N, [0.1, 0.9])) > 0.1  # it has learnt from the first
    second = source.loss(logits.log_softmax(1), right, seed=2)
    by_hand.chosen = frozen
    assert second.item() == by_hand.loss(logits.log_softmax(1), right, seed=2).item()


def test_an_estimator_without_a_memory_adds_nothing_to_checkpoints_and_records():
    config = experiment("tabular").configure("smoke", {"estimator": "maxrl", "steps": 1})
    for output, state in told(experiment("tabular").train(config, None)):
        assert not any(name.startswith("memory/") for name in state)
        assert not any(name.startswith("weight at") for name in output.metrics)
