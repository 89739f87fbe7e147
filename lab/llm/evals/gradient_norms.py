"""Gradient norm by pass rate, for all estimators from one set of rollouts.

This is the quantity of MaxRL (2602.02710), Figure 6.

An estimator's gradient on one problem is g = (1/N) sum_i A_i s_i, s_i = grad log pi(y_i). When K of
N rollouts are right, A_i takes two values: a1(K) and a0(K). With R and W the sums of s_i over the
right and the wrong rollouts,

    g = (a1 R + a0 W) / N        |g|² = (a1² |R|² + 2 a1 a0 R·W + a0² |W|²) / N²

So two backward passes per problem, one for R and one for W, give three numbers from which the norm
follows for every group estimator, including estimators invented later. This is exact, and no
gradient of a single rollout is stored.

The norm is that of the gradient of this sample: on average its square is |mean|² plus noise. The
paper states neither N nor the temperature. Here log-probabilities are summed over the tokens of an
answer, at temperature 1; a loss that divides by lengths, clips or adds a KL term has other
gradients.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from lab.errors import LabError, whole
from lab.mathematics.estimators import Estimator, estimator
from lab.mathematics.groups import Group, Rollout

Ids = Sequence[int]
Gradient = list[torch.Tensor | None]  # one per parameter, None where it has no effect
MOMENTS = ["problem", "N", "K", "right_sq", "wrong_sq", "cross"]
PER_ROLLOUT = ["right_each", "wrong_each"]
BLOCK = 2**24  # how many numbers are converted to float64 at a time
IGNORED = -100  # the target that cross_entropy skips


class SampledGroup(NamedTuple):
    """One problem with its N rollouts: token ids and rewards; an answer includes its end token."""

    problem: str
    prompt: Ids
    answers: Sequence[Ids]
    rewards: Sequence[float]


def moments(
    model: torch.nn.Module,
    groups: Iterable[SampledGroup],
    *,
    batch_tokens: int = 8192,
) -> pd.DataFrame:
    """|R|², |W|² and R·W of each problem: columns problem, N, K, right_sq, wrong_sq, cross.

    | argument | meaning |
    |---|---|
    | `model` | a causal language model in eval mode; ids "answers length" to logits or `.logits` |
    | `batch_tokens` | tokens per micro-batch, with prompts and padding; at least one answer |

    Rows are independent: the list may be split anywhere and the tables concatenated. Memory: two
    gradients beside the weights and of their type, so keep the weights in float32 and, on a GPU,
    use `torch.autocast`. Dot products are summed in float64. Errors: a reward that is not 0 or 1;
    an empty prompt or answer; training mode; left-over gradients; moments that are not finite.
    """
    parameters = _parameters(model)

    def gradient(prompt: Ids, answers: Sequence[Ids]) -> Gradient:
        """The gradient of the summed log-probabilities of `answers`."""
        for batch in _micro_batches(prompt, answers, batch_tokens):
            log_probabilities(model, prompt, batch).sum().backward(inputs=parameters)
        gradients = [parameter.grad for parameter in parameters]
        model.zero_grad()
        return gradients

    rows = []
    try:
        for sampled in groups:
            group = _checked(sampled)
            prompt = sampled.prompt
            rewarded = list(zip(sampled.answers, group.rewards, strict=True))
            right = [answer for answer, reward in rewarded if reward == 1]
            wrong = [answer for answer, reward in rewarded if reward == 0]
            R = gradient(prompt, right)
            W = gradient(prompt, wrong)
            values = [_dot(R, R), _dot(W, W), _dot(R, W)]
            del R, W  # frees two gradients before the next are computed
            if not np.isfinite(values).all():
                raise LabError(
                    f"problem {group.problem!r} has moments {values}: look for weights or logits"
                    " that are not finite, and keep the weights in float32"
                )
            rows.append([group.problem, group.N, group.K, *values])
    finally:
        model.zero_grad()
    return pd.DataFrame(rows, columns=MOMENTS)


def log_probabilities(model: torch.nn.Module, prompt: Ids, answers: Sequence[Ids]) -> torch.Tensor:
    """log pi(y_i) = sum_t log softmax(logits_t)[y_it] of each answer, "answers".

    Differentiable, in float32 or wider.
    """
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
    return -losses.view_as(targets).sum(1)


def norms(table: pd.DataFrame, names: Iterable[str | Estimator]) -> pd.DataFrame:
    """The gradient norm |g| of every problem under every named estimator (MaxRL Figure 6).

    `table` comes from `moments`. Columns: problem, N, K, pass_rate (K/N of these rollouts),
    objective, gradient_norm; where the table also has right_each and wrong_each, the sums of
    |s_i|², signal_sq, an unbiased estimate of |E[g | K]|². It is made of pairs of different
    rollouts only, so it can be negative, and it is NaN where a class with a nonzero advantage has a
    single rollout. Errors: a missing column; a group smaller than an estimator's minimum N.
    """
    if table.empty or not set(MOMENTS) <= set(table):
        raise LabError(
            f"the table has {len(table)} rows with columns {', '.join(table)}: give a table that"
            " `moments` returned"
        )
    N = table["N"].to_numpy()
    K = table["K"].to_numpy()
    frames = []
    for name in names:
        a1, a0 = _advantages(estimator(name), N, K) / N
        cross = 2 * a1 * a0 * table["cross"]
        square = a1**2 * table["right_sq"] + cross + a0**2 * table["wrong_sq"]
        frame = table[["problem", "N", "K"]].assign(
            pass_rate=K / N,
            objective=estimator(name).spec,
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
    rows = []
    for n, k in zip(N, K, strict=True):
        success, failure = method.success_failure(n)
        rows.append([success[k], failure[k]])
    return np.array(rows).T


def _checked(sampled: SampledGroup) -> Group:
    """The group of rewards. Errors: those of `Group`; missing or empty answers or prompt."""
    problem = sampled.problem
    rollouts = [Rollout(problem, i, reward) for i, reward in enumerate(sampled.rewards)]
    group = Group(problem, tuple(rollouts))
    if len(sampled.answers) != group.N:
        raise LabError(
            f"problem {problem!r} has {len(sampled.answers)} answers and {group.N} rewards: give"
            " one reward per answer"
        )
    if not len(sampled.prompt) or not all(map(len, sampled.answers)):
        raise LabError(
            f"problem {problem!r} has an empty prompt or answer: give token ids, for an answer at"
            " least its end token"
        )
    return group


def _parameters(model: torch.nn.Module) -> list[torch.nn.Parameter]:
    """The parameters that require a gradient. Errors: none; training mode; left-over gradients."""
    parameters = [weight for weight in model.parameters() if weight.requires_grad]
    if not parameters:
        raise LabError("no parameter of the model requires a gradient: unfreeze some")
    if model.training:
        raise LabError(
            "the model is in training mode, where dropout changes its gradients: call model.eval()"
        )
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            raise LabError(f"{name} holds a gradient already: call model.zero_grad() first")
    return parameters


def _micro_batches(prompt: Ids, answers: Sequence[Ids], batch_tokens: int) -> Iterator[list[Ids]]:
    """The answers in batches of similar length, each within `batch_tokens` after padding."""
    limit = whole("batch_tokens", batch_tokens)
    queue = sorted(answers, key=len, reverse=True)
    while queue:
        size = max(1, limit // (len(prompt) + len(queue[0])))
        yield queue[:size]
        del queue[:size]


def _dot(a: Gradient, b: Gradient) -> float:
    """The inner product, summed in float64 block by block."""
    blocks = (
        zip(x.flatten().split(BLOCK), y.flatten().split(BLOCK), strict=True)
        for x, y in zip(a, b, strict=True)
        if x is not None and y is not None
    )
    return float(sum((x.double() * y.double()).sum() for pair in blocks for x, y in pair))
