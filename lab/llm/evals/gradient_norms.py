"""Gradient norm by pass rate, for all estimators from one set of rollouts.

This is the quantity of MaxRL (2602.02710), Figure 6.

An estimator's gradient on one problem is g = (1/N) sum_i A_i s_i, s_i = grad log pi(y_i). When K of
N rollouts are right, A_i takes two values: a1(K) and a0(K). With R and W the sums of s_i over the
right and the wrong rollouts,

    g = (a1 R + a0 W) / N        |g|² = (a1² |R|² + 2 a1 a0 R·W + a0² |W|²) / N²

So two backward passes per problem, one for R and one for W, give three numbers from which the norm
follows exactly for every group estimator, including those invented later.

On average the square of this norm is |mean|² plus noise. The paper states neither N nor the
temperature. Here log-probabilities are summed over the tokens of an answer, at temperature 1; a
loss that divides by lengths, clips or adds a KL term has other gradients.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from lab.errors import LabError
from lab.mathematics.estimators import Estimator, estimator

Ids = Sequence[int]
Gradient = list[torch.Tensor | None]  # one per parameter, None where it has no effect
MOMENTS = ["right_sq", "wrong_sq", "cross"]
PER_ROLLOUT = ["right_each", "wrong_each"]
MICRO_BATCH = 8192  # tokens of answers, prompts and padding; at least one answer
IGNORED = -100  # the target that cross_entropy skips


def moments(
    model: torch.nn.Module, problem: str, prompt: Ids, right: Sequence[Ids], wrong: Sequence[Ids]
) -> dict[str, float]:
    """|R|², |W|² and R·W of a problem, which errors name, by the names in MOMENTS.

    | argument | meaning |
    |---|---|
    | `model` | a causal language model in eval mode; ids "answers length" to logits or `.logits` |
    | `right`, `wrong` | token ids of the answers, each with its end token |

    Memory: two gradients beside the weights and of their type, so keep the weights in float32 and,
    on a GPU, use `torch.autocast`. Dot products are summed in float64. LabError: moments that are
    not finite.
    """
    parameters = [weight for weight in model.parameters() if weight.requires_grad]

    def gradient(answers: Sequence[Ids]) -> Gradient:
        """The gradient of the summed log-probabilities of `answers`."""
        for batch in _micro_batches(prompt, answers):
            _log_probability(model, prompt, batch).backward(inputs=parameters)
        gradients = [parameter.grad for parameter in parameters]
        model.zero_grad()
        return gradients

    R, W = gradient(right), gradient(wrong)
    found = dict(zip(MOMENTS, (_dot(R, R), _dot(W, W), _dot(R, W)), strict=True))
    if not np.isfinite([*found.values()]).all():
        raise LabError(
            f"problem {problem!r} has moments {found}: look for weights or logits that are not"
            " finite, and keep the weights in float32"
        )
    return found


def norms(table: pd.DataFrame, names: Iterable[str | Estimator]) -> pd.DataFrame:
    """The gradient norm |g| of every problem under every named estimator (MaxRL Figure 6).

    `table` has a row per problem: problem, N, K, and its `moments`. Columns: problem, N, K,
    pass_rate (K/N of these rollouts), estimator, gradient_norm; where the table also has right_each
    and wrong_each, the sums of |s_i|², signal_sq, an unbiased estimate of |E[g | K]|². It is made
    of pairs of different rollouts only, so it can be negative, and it is NaN where a class with a
    nonzero advantage has a single rollout. LabError: a group smaller than an estimator's minimum N.
    """
    N, K = table["N"].to_numpy(), table["K"].to_numpy()
    frames = []
    for name in names:
        a1, a0 = _advantages(estimator(name), N, K) / N
        cross = 2 * a1 * a0 * table["cross"]
        square = a1**2 * table["right_sq"] + cross + a0**2 * table["wrong_sq"]
        frame = table[["problem", "N", "K"]].assign(
            pass_rate=K / N,
            estimator=estimator(name).spec,
            gradient_norm=np.sqrt(square.clip(lower=0)),  # rounding may make 0 negative
        )
        if set(PER_ROLLOUT) <= set(table):
            # Rollouts of different classes are different rollouts, so the cross term is unbiased.
            frame["signal_sq"] = cross
            for kind, advantage, n in (("right", a1, K), ("wrong", a0, N - K)):
                # n(n-1) of the n² pairs are of different rollouts.
                different_pairs = table[f"{kind}_sq"] - table[f"{kind}_each"]
                scaled = different_pairs * n / np.where(n > 1, n - 1, np.nan)
                frame["signal_sq"] += np.where(advantage == 0, 0, advantage**2 * scaled)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _advantages(method: Estimator, N: np.ndarray, K: np.ndarray) -> np.ndarray:
    """a1(K) and a0(K) of each group: "2 groups"."""
    pairs = zip(map(method.success_failure, N), K, strict=True)
    return np.array([[success[k], failure[k]] for (success, failure), k in pairs]).T


def _micro_batches(prompt: Ids, answers: Sequence[Ids]) -> Iterator[list[Ids]]:
    """The answers in batches of similar length, each within `MICRO_BATCH` after padding."""
    queue = sorted(answers, key=len, reverse=True)
    while queue:
        size = max(1, MICRO_BATCH // (len(prompt) + len(queue[0])))
        yield queue[:size]
        del queue[:size]


def _log_probability(model: torch.nn.Module, prompt: Ids, answers: Sequence[Ids]) -> torch.Tensor:
    """The sum over the answers of log pi(y) = sum_t log softmax(logits_t)[y_t], differentiable."""
    device = next(model.parameters()).device
    # Padding comes last: a causal model does not attend to it at any position that is scored.
    sequences = [torch.tensor([*prompt, *answer]) for answer in answers]
    ids = pad_sequence(sequences, batch_first=True).to(device)
    targets = pad_sequence(
        [torch.tensor([*answer]) for answer in answers], batch_first=True, padding_value=IGNORED
    ).to(device)
    output = model(ids[:, :-1])
    # The logits at a position predict the next token, so the first answer token comes one earlier.
    logits = getattr(output, "logits", output)[:, len(prompt) - 1 :]
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    losses = cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
    return -losses.view_as(targets).sum(1).sum()


def _dot(a: Gradient, b: Gradient) -> float:
    """The inner product, summed in float64."""
    pairs = ((x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None)
    return float(sum((x.double() * y.double()).sum() for x, y in pairs))
