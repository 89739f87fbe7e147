"""Counts instead of samples: the same distribution, and the mean where noise is averaged out."""

import itertools
import math

import numpy as np
import pytest
import torch

import lab
from lab.losses import counted, expected_factor, policy_gradient
from lab.toy.multinomial import count_draws, draw_counts

CHANCE = torch.tensor([0.1, 0.2, 0.05, 0.0, 0.65], dtype=torch.float64)
RIGHT = torch.tensor([[True, False, False, False, False]])
NAMES = ["rloo", "grpo", "maxrl", "maxrl_eq7", "nsr", "pacs_anchor", "real_anchor", "pkpo(k=2)"]


def draws(how: str, rows: int, N: int) -> np.ndarray:
    chance = CHANCE.repeat(rows, 1)
    if how == "numpy":
        return draw_counts(chance, N, seed=5).numpy()
    numbers = torch.full((rows,), float(N))
    return count_draws(chance, numbers, N, torch.Generator().manual_seed(5)).numpy()


@pytest.mark.parametrize("how", ["numpy", "torch"])
def test_counts_are_whole_and_sum_to_n_and_leave_impossible_answers_out(how):
    for N in (1, 7, 4096):
        counts = draws(how, 200, N)
        assert (counts.sum(1) == N).all() and (counts[:, 3] == 0).all()
        assert (counts >= 0).all() and (counts == np.round(counts)).all()


@pytest.mark.parametrize("how", ["numpy", "torch"])
def test_counts_are_multinomial(how):
    """All 20 outcomes of N = 3 in 200,000 draws: within the chi-square's 99.99% bound."""
    rows, N = 200_000, 3
    found, times = np.unique(draws(how, rows, N), axis=0, return_counts=True)
    found = {tuple(row.astype(int)): n for row, n in zip(found, times, strict=True)}
    total, outcomes = 0.0, 0
    for counts in itertools.product(range(N + 1), repeat=5):
        if sum(counts) == N and counts[3] == 0:
            chance = math.factorial(N) * math.prod(
                p**n / math.factorial(n) for p, n in zip(CHANCE.tolist(), counts, strict=True)
            )
            total += (found.get(counts, 0) - rows * chance) ** 2 / (rows * chance)
            outcomes += 1
    assert sum(found.values()) == rows and outcomes == 20
    assert total < 49.7  # chi-square with 19 degrees of freedom


@pytest.mark.parametrize("name", NAMES)
def test_the_loss_of_counts_is_the_loss_of_the_rollouts_themselves(name):
    """The same gradient for every one of the 5^4 outcomes of four rollouts."""
    logits = torch.tensor([[0.3, -1.0, 0.2, 0.9, 0.0]], dtype=torch.float64, requires_grad=True)
    estimator = lab.estimator(name)
    for answers in itertools.product(range(5), repeat=4):
        drawn = torch.tensor([answers])
        logp = logits.log_softmax(1)
        naive = policy_gradient(
            logp.gather(1, drawn), lab.advantages(estimator, RIGHT.gather(1, drawn).double())
        )
        counts = torch.nn.functional.one_hot(drawn, 5).sum(1).double()
        ours = counted(logp, counts, RIGHT, estimator, 4)
        left, right = (
            torch.autograd.grad(loss, logits, retain_graph=True)[0] for loss in (naive, ours)
        )
        assert torch.allclose(left, right, atol=1e-14), answers


@pytest.mark.parametrize("N", [2, 16, 4096])
def test_the_expected_share_is_p_times_the_induced_weight(N):
    p = np.array([1e-6, 1e-3, 0.3, 0.9, 1 - 1e-9, 1.0])
    for name in ("maxrl", "grpo", "pacs_anchor"):
        share = expected_factor(torch.from_numpy(np.log(p)), lab.estimator(name), N)
        np.testing.assert_allclose(share.numpy(), p * lab.induced_weight(name, N, p), rtol=1e-9)
