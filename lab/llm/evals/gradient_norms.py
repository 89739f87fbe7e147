"""Gradient norm against pass rate (MaxRL, 2602.02710, Figure 6): all objectives from one set of
rollouts. Floor 2.

An estimator's gradient on one problem is g = (1/N) sum_i A_i s_i, s_i = grad log pi(y_i). When K of
N rollouts are right, A_i takes two values: a1(K) and a0(K). With R and W the sums of s_i over the
right and the wrong rollouts,

    g = (a1 R + a0 W) / N        |g|² = (a1² |R|² + 2 a1 a0 R·W + a0² |W|²) / N²

So two backward passes a problem, one for R and one for W, leave three numbers that hold the norm
for every group estimator, one thought of later too. This is exact, and no gradient of a single
rollout is kept.

The norm is that of this sample's gradient: its square is on average |mean|² plus noise, and `each`
tells the two apart. The paper states neither N nor the temperature. Here log-probabilities are
summed over an answer's tokens, at temperature 1 unless stated; a loss that divides by lengths,
clips or adds a KL term has other gradients.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from lab.errors import LabError, real, whole
from lab.estimators import Estimator, estimator
from lab.groups import Group, Rollout

Ids = Sequence[int]
Gradient = list[torch.Tensor | None]  # one a parameter, None where nothing reaches it
MOMENTS, EACH = ["problem", "N", "K", "right_sq", "wrong_sq", "cross"], ["right_each", "wrong_each"]
BLOCK, UNSCORED = (
    2**24,
    -100,
)  # numbers made float64 at a time; the target that cross_entropy passes over


class Sampled(NamedTuple):
    """One problem asked N times: token ids of the prompt and of each answer, its end token
    included, and N rewards.
    """

    problem: str
    prompt: Ids
    answers: Sequence[Ids]
    rewards: Sequence[float]


def moments(
    model: torch.nn.Module,
    groups: Iterable[Sampled],
    *,
    temperature: float = 1.0,
    tokens: int = 8192,
    chosen: Callable[[str], bool] | None = None,
    each: bool = False,
) -> pd.DataFrame:
    """|R|², |W|² and R·W, a row a problem: columns problem, N, K, right_sq, wrong_sq, cross.

    | argument | meaning |
    |---|---|
    | `model` | a causal language model in eval mode: ids "answers length" to logits, or to what has them as `logits` |
    | `tokens` | how many tokens go through it at a time, prompts and padding included (one answer at the least) |
    | `chosen` | which parameters count, by name; None: all that require a gradient |
    | `each` | also right_each and wrong_each, the sum of the squares of s_i: one more backward pass a rollout |

    Rows are independent: cut the list anywhere and concatenate. Memory: two gradients beside the
    weights, and of their type, so keep weights in float32, on a GPU inside `torch.autocast`. Dot
    products are summed in float64. Errors: a reward not 0 or 1; an empty prompt or answer; training
    mode; gradients left over; moments not finite.
    """
    weights = _weights(model, chosen)

    def gradient(prompt: Ids, answers: Sequence[Ids]) -> Gradient:
        for part in _parts(prompt, answers, tokens):
            log_probabilities(model, prompt, part, temperature).sum().backward(inputs=weights)
        taken = [weight.grad for weight in weights]
        model.zero_grad()
        return taken

    rows = []
    try:
        for asked in groups:
            group = _checked(asked)
            classes = [
                [a for a, r in zip(asked.answers, group.rewards, strict=True) if r == kind]
                for kind in (1, 0)
            ]
            R, W = (gradient(asked.prompt, answers) for answers in classes)
            found = [_dot(R, R), _dot(W, W), _dot(R, W)]
            del R, W
            if each:
                found += [
                    sum(_dot(s, s) for s in (gradient(asked.prompt, [a]) for a in kind))
                    for kind in classes
                ]
            if not np.isfinite(found).all():
                raise LabError(
                    f"problem {group.problem!r} has moments {found}: look for weights or logits"
                    " that are not finite, and keep the weights in float32"
                )
            rows.append([group.problem, group.N, group.K, *found])
    finally:
        model.zero_grad()
    return pd.DataFrame(rows, columns=MOMENTS + EACH * each)


def log_probabilities(
    model: torch.nn.Module, prompt: Ids, answers: Sequence[Ids], temperature: float = 1.0
) -> torch.Tensor:
    """log pi(y_i) = sum_t log softmax(logits_t / temperature)[y_it], differentiable, in float32 or
    wider: "answers".
    """
    device, start = next(model.parameters()).device, len(prompt)
    # Padding comes last, where a causal model reads it only after every position that is scored.
    ids = pad_sequence([torch.tensor([*prompt, *a]) for a in answers], batch_first=True).to(device)
    targets = pad_sequence(
        [torch.tensor([*a]) for a in answers], batch_first=True, padding_value=UNSCORED
    ).to(device)
    output = model(ids[:, :-1])
    logits = getattr(output, "logits", output)[:, start - 1 :]
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32)) / real(
        "temperature", temperature, 1e-6
    )
    return (
        -cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
        .view_as(targets)
        .sum(1)
    )


def norms(table: pd.DataFrame, names: Iterable[str | Estimator]) -> pd.DataFrame:
    """|g| for every problem in a table of `moments`, under every estimator named: MaxRL Figure 6.

    Columns problem, N, K, pass_rate (K/N of these rollouts), objective, gradient_norm; where the
    table tells `each`, also signal_sq, unbiased for |E[g | K]|²: pairs of two different rollouts
    alone, so it can be negative, and is NaN where a class that counts has one rollout only. Errors:
    a column missing; a group smaller than an estimator's least N.
    """
    if table.empty or not set(MOMENTS) <= set(table):
        raise LabError(
            f"the table has {len(table)} rows of {', '.join(table)}: give what `moments` returned"
        )
    N, K = table["N"].to_numpy(), table["K"].to_numpy()
    frames = []
    for name in names:
        a1, a0 = (
            np.array(
                [
                    [a[k] for a in estimator(name).success_failure(n)]
                    for n, k in zip(N, K, strict=True)
                ]
            ).T
            / N
        )
        cross = 2 * a1 * a0 * table["cross"]
        square = a1**2 * table["right_sq"] + cross + a0**2 * table["wrong_sq"]
        frame = table[MOMENTS[:3]].assign(
            pass_rate=K / N,
            objective=estimator(name).spec,
            gradient_norm=np.sqrt(square.clip(lower=0)),
        )
        if set(EACH) <= set(table):
            frame["signal_sq"] = cross
            for kind, a, n in (("right", a1, K), ("wrong", a0, N - K)):
                # n(n-1) of the n² pairs are of different rollouts.
                pairs = (
                    (table[f"{kind}_sq"] - table[f"{kind}_each"])
                    * n
                    / np.where(n > 1, n - 1, np.nan)
                )
                frame["signal_sq"] += np.where(a == 0, 0, a**2 * pairs)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _checked(asked: Sampled) -> Group:
    group = Group(
        asked.problem,
        tuple(Rollout(asked.problem, i, reward) for i, reward in enumerate(asked.rewards)),
    )
    if len(asked.answers) != group.N:
        raise LabError(
            f"problem {group.problem!r} has {len(asked.answers)} answers, {group.N} rewards: give"
            " as many"
        )
    if not len(asked.prompt) or not all(map(len, asked.answers)):
        raise LabError(
            f"problem {group.problem!r} has an empty prompt or answer: give ids, an answer's end"
            " token too"
        )
    return group


def _weights(
    model: torch.nn.Module, chosen: Callable[[str], bool] | None
) -> list[torch.nn.Parameter]:
    named = {
        name: w
        for name, w in model.named_parameters()
        if w.requires_grad and (chosen is None or chosen(name))
    }
    if not named:
        raise LabError(
            "no parameter that requires a gradient is chosen: see model.named_parameters() for the"
            " names"
        )
    if model.training:
        raise LabError(
            "the model is in training mode, where dropout changes its gradients: call model.eval()"
        )
    if left := [name for name, weight in model.named_parameters() if weight.grad is not None]:
        raise LabError(f"{left[0]} holds a gradient already: call model.zero_grad() first")
    return list(named.values())


def _parts(prompt: Ids, answers: Sequence[Ids], tokens: int) -> Iterator[list[Ids]]:
    """The answers, those of like length together, each part within `tokens` once padded."""
    queue = sorted(answers, key=len, reverse=True)
    while queue:
        size = max(1, whole("tokens", tokens) // (len(prompt) + len(queue[0])))
        yield queue[:size]
        del queue[:size]


def _dot(a: Gradient, b: Gradient) -> float:
    blocks = (
        zip(x.flatten().split(BLOCK), y.flatten().split(BLOCK), strict=True)
        for x, y in zip(a, b, strict=True)
        if x is not None and y is not None
    )
    return float(sum((x.double() * y.double()).sum() for pair in blocks for x, y in pair))
