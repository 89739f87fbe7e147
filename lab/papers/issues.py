"""The numbers of docs/paper_issues.md: a small enumeration for each mistake of a paper.

The text is in issues.md beside this file. There {NAME.KEY} stands for what the function NAME below
returns under KEY, so that no number of the page is typed. Tables are written as Markdown.
"""

from __future__ import annotations

import itertools
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

import lab
from lab.enumeration import enumerate_gradient
from lab.errors import unknown
from lab.losses import class_weights, pacs, pacs_scores
from lab.papers.published import FOLDER, printed

TEMPLATE = Path(__file__).with_suffix(".md")
NUMBERS: dict[str, Callable[[], dict[str, Any]]] = {}


def page() -> str:
    """docs/paper_issues.md: the template with its numbers filled in."""
    computed = {name: function() for name, function in NUMBERS.items()}

    def put(match: re.Match[str]) -> str:
        name, key = match.groups()
        if key not in computed.get(name, {}):
            names = [f"{name}.{key}" for name in computed for key in computed[name]]
            raise unknown(f"number in {TEMPLATE.name}", f"{name}.{key}", names)
        value = computed[name][key]
        return value if isinstance(value, str) else number(value)

    return re.sub(r"\{(\w+)\.(\w+)\}", put, TEMPLATE.read_text(encoding="utf-8"))


def number(value: float) -> str:
    """Four significant digits; a value that differs from zero only by rounding errors is 0.

    >>> number(0.123456), number(64), number(1e-17)
    ('0.1235', '64', '0')
    """
    return "0" if abs(value) < 1e-12 else f"{value:.4g}"


def table(head: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table of texts and numbers."""
    cells = [[cell if isinstance(cell, str) else number(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *cells))


def register_numbers(function: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Make what a function computes available to the template, under the function's name."""
    NUMBERS[function.__name__] = function
    return function


def weight(name: str, N: int, p: float) -> float:
    """The weight on grad p of an estimator, summed over all outcomes of N rollouts.

    The policy has two answers, one of them right with probability p.
    """
    truth = enumerate_gradient(name, N, [p, 1 - p], [True, False])
    return float(truth.mean @ truth.grad_p / (truth.grad_p @ truth.grad_p))


def reward_vectors(N: int) -> np.ndarray:
    """All 2^N reward vectors of N rollouts, "outcomes rollouts"."""
    return np.array(list(itertools.product([0.0, 1.0], repeat=N)))


def truncated(p: float, order: int) -> float:
    """The weight of maximum likelihood truncated at `order`: (1 - (1-p)^order) / p."""
    return (1 - (1 - p) ** order) / p


# --- Both papers --------------------------------------------------------------------------------


@register_numbers
def printed_notes() -> dict[str, Any]:
    """data/published/contradictions.toml, as lists."""
    lines: dict[str, list[str]] = {"MaxRL": [], "PACS": []}
    for note in tomllib.loads((FOLDER / "contradictions.toml").read_text())["notes"]:
        lines[note["paper"]].append(f"- {', '.join(note['items'])}: {note['note']}")
    return {paper: "\n".join(notes) for paper, notes in lines.items()}


# --- MaxRL --------------------------------------------------------------------------------------


@register_numbers
def one_order_short() -> dict[str, Any]:
    forms, p = ("maxrl_eq6", "maxrl_eq7", "maxrl", "maxrl_loo"), 0.1
    rows = [
        [str(N), *(weight(name, N, p) for name in forms), truncated(p, N), truncated(p, N - 1)]
        for N in (2, 3, 4, 8)
    ]
    head = ["N", "eq. 6", "eq. 7", "Algorithm 1", "leave-one-out", "order N", "order N-1"]
    return {"p": p, "table": table(head, rows)}


@register_numbers
def control_variate() -> dict[str, Any]:
    forms, N, rows = ("maxrl_eq6", "maxrl_eq7", "maxrl"), 16, []
    for p in (1e-4, 1e-3, 1e-2, 0.1, 0.5):
        noise = [float(sum(lab.second_moments(name, N, p)[:2])) for name in forms[:2]]
        rows.append(
            [
                p,
                1 - (1 - p) ** N,
                *noise,
                noise[1] - noise[0],
                2 * (1 - p) ** N - 1,
                *(float(lab.efficiency(name, N, p)) for name in forms),
            ]
        )
    head = [
        "p",
        "pass@16",
        "noise, eq. 6",
        "noise, eq. 7",
        "change",
        "2(1-p)^16 - 1",
        "e, eq. 6",
        "e, eq. 7",
        "e, Algorithm 1",
    ]
    three_answers = [
        enumerate_gradient(name, 6, [0.02, 0.49, 0.49], [True, False, False]).spread
        for name in forms
    ]
    return {"table": table(head, rows)} | dict(
        zip(("eq6", "eq7", "algorithm_1"), three_answers, strict=True)
    )


@register_numbers
def code_baselines() -> dict[str, Any]:
    N, k = 8, 4
    rewards = reward_vectors(N)
    gap = lab.estimator(f"pkpo(k={k}, form='sloom1')").coefficients(N)[0] / k
    paid = rewards * gap[np.maximum(rewards.sum(1, keepdims=True).astype(int) - 1, 0)]
    # Minus the mean of the other rollouts' transformed rewards.
    advantages = paid - (paid.sum(1, keepdims=True) - paid) / (N - 1)
    rows = []
    for p in (0.05, 0.2, 0.5):
        q = 1 - p
        chance = np.prod(np.where(rewards == 1, p, q), axis=1)
        # A Bernoulli policy with one logit: its score is r - p, and grad p = p q.
        enumerated = float(chance @ (advantages * (rewards - p)).mean(1)) / (p * q)
        mixture = ((N - k) * q ** (k - 1) + (k - 1) * q ** (k - 2)) / (N - 1)
        rows.append([p, enumerated, mixture, q ** (k - 1)])
    ways = {m: math.comb(N, m) for m in range(2, k + 1)}
    shrunk = 1 + sum((N - m) / N * ways[m] / (ways[m] - 1) * 0.95 ** (m - 1) for m in ways)
    return {
        "table": table(["p", "enumerated", "mixture", "pass@k, (1-p)^(k-1)"], rows),
        "maclaurin": shrunk,
        "order_4": truncated(0.05, 4),
    }


@register_numbers
def scale_and_shape() -> dict[str, Any]:
    names = ("reinforce_mean", "grpo", "maxrl")
    return {name: float(lab.induced_weight(name, 1024, 1e-3)) for name in names}


@register_numbers
def population_limits() -> dict[str, Any]:
    p = 1e-4
    rows = [
        [
            str(N),
            float(lab.induced_weight("grpo", N, p)),
            math.sqrt(N - 1),
            float(lab.objective("arcsine").weight(p)),
            float(lab.induced_weight("maxrl", N, p)),
        ]
        for N in (4, 16, 64, 256, 1024)
    ]
    return {"table": table(["N", "GRPO", "sqrt(N-1)", "GRPO's limit", "MaxRL"], rows)}


@register_numbers
def pass_at_k() -> dict[str, Any]:
    rows = [
        [str(k), *(truncated(p, k) / (k * (1 - p) ** (k - 1)) for p in (0.1, 0.5, 0.9))]
        for k in (1, 2, 3, 4)
    ]
    return {"table": table(["k = T", "p = 0.1", "p = 0.5", "p = 0.9"], rows)}


@register_numbers
def first_success() -> dict[str, Any]:
    """Rollouts are drawn until the first success, at most M times.

    The mean score of a right rollout is grad p / p. The first success is at draw m with probability
    (1-p)^(m-1) p.
    """
    p = 0.1
    rows = [
        [
            str(M),
            sum((1 - p) ** (m - 1) * p for m in range(1, M + 1)) / p,
            truncated(p, M),
            sum((1 - p) ** (m - 1) for m in range(1, M + 1)),
        ]
        for M in (1, 8, 64, 512)
    ]
    return {"p": p, "table": table(["M", "weight", "(1-(1-p)^M)/p", "draws, on average"], rows)}


@register_numbers
def mapo() -> dict[str, Any]:
    N = 6
    means = np.arange(1, N) / N
    a1, a0 = lab.estimator("maxrl").success_failure(N)
    return {"apart": np.abs([(1 - means) / means - a1[1:N], -1 - a0[1:N]]).max()}


@register_numbers
def ddof() -> dict[str, Any]:
    one_success = {N: np.eye(N)[0] for N in (2, 4, 16)}
    rows = [
        [str(N), *(float(lab.advantages(name, r)[0]) for name in ("grpo", "grpo(ddof=1)"))]
        for N, r in one_success.items()
    ]
    return {"table": table(["N", "ddof 0", "ddof 1"], rows)}


@register_numbers
def loss_sign() -> dict[str, Any]:
    truth = enumerate_gradient("rloo", 4, [0.25, 0.75], [True, False])
    return {"meant": float(truth.mean @ truth.grad_p), "printed": -float(truth.mean @ truth.grad_p)}


@register_numbers
def averaged_baseline() -> dict[str, Any]:
    rewards = reward_vectors(5)
    # Leave-one-out advantages: their average over the rollouts of a group is always zero.
    advantages = rewards - (rewards.sum(1, keepdims=True) - rewards) / 4
    return {"average": np.abs(advantages.mean(1)).max(), "one": np.abs(advantages).max()}


@register_numbers
def epsilon() -> dict[str, Any]:
    rows = [[str(K), f"{16 / K - 1:.6f}", f"{(1 - K / 16) / (K / 16 + 1e-6):.6f}"] for K in (1, 8)]
    return {"table": table(["K", "Algorithm 1", "appendix F"], rows), "alone": (1 - 0) / (0 + 1e-6)}


@register_numbers
def token_mean() -> dict[str, Any]:
    """Three answers of 1, 1 and 10 tokens, RLOO at N = 3: what each wrong answer loses.

    Losses are relative to what the right answer gains.
    """
    pi = np.array([0.2, 0.4, 0.4])
    length = np.array([1, 1, 10])
    right = np.array([1.0, 0, 0])
    scores = np.eye(3) - pi
    mean = np.zeros((2, 3))
    for answers in map(list, itertools.product(range(3), repeat=3)):
        summed = lab.advantages("rloo", right[answers]) @ scores[answers]
        mean += pi[answers].prod() * np.stack([summed / 3, summed / length[answers].sum()])
    by_n, by_tokens = -mean[:, 1:] / mean[:, :1]
    return {
        "n_short": by_n[0],
        "n_long": by_n[1],
        "tokens_short": by_tokens[0],
        "tokens_long": by_tokens[1],
    }


@register_numbers
def negative_rewards() -> dict[str, Any]:
    rewards = np.array([1.0, -1, -1, -1])
    advantages = (rewards - rewards.mean()) / rewards.mean()
    return {"right": advantages[0], "wrong": advantages[1]}


# --- PACS ---------------------------------------------------------------------------------------


def log_ratios(G: int) -> torch.Tensor:
    """G arbitrary log-ratios of policy and reference."""
    return torch.as_tensor(np.random.default_rng(0).normal(size=G))


@register_numbers
def one_method_twice() -> dict[str, Any]:
    rows = []
    for G in (2, 4, 8):
        mask = torch.ones(G, dtype=torch.bool)
        rloo = pacs_scores(log_ratios(G), mask, "rloo")
        ratio = rloo / pacs_scores(log_ratios(G), mask, "dr_grpo")
        rows.append([str(G), G / (G - 1), float(ratio.min()), float(ratio.max())])
    return {"table": table(["G", "G/(G-1)", "smallest ratio", "largest ratio"], rows)}


@register_numbers
def another_objective() -> dict[str, Any]:
    G, names = 8, ("pacs_anchor(balanced=False)", "rloo", "pacs_anchor")
    rows = [
        [
            p,
            *(weight(name, G, p) for name in names),
            G / (G - 1) * (1 - p**G - (1 - p) ** G) / (4 * p * (1 - p)),
            1 / (4 * p * (1 - p)),
        ]
        for p in (0.05, 0.2, 0.5, 0.95)
    ]
    head = [
        "p",
        "PACS, no weights",
        "RLOO",
        "PACS, balanced",
        "(G/(G-1))(1-p^G-q^G)/(4pq)",
        "1/(4pq)",
    ]
    return {"G": str(G), "table": table(head, rows)}


@register_numbers
def actor_term() -> dict[str, Any]:
    pi = np.array([0.2, 0.4, 0.4])
    scores, psi = np.eye(3) - pi, -1.5
    return {
        "mean": np.abs(math.log(2) * pi @ scores).max(),
        "psi": psi,
        "weight": -math.log1p(math.exp(-psi)),
        "variance": math.log(2) ** 2 * float(pi @ (scores**2).sum(1)),
    }


@register_numbers
def cross_terms() -> dict[str, Any]:
    """The score-function term of eq. 8 by all 3^3 outcomes: with each rollout's own log-likelihood,
    and with all.
    """
    G, pi, right = 3, np.array([0.3, 0.5, 0.2]), np.array([True, False, False])
    ratio, scores = np.log(3 * pi), np.eye(3) - pi  # the reference is even
    own, all_of = np.zeros(3), np.zeros(3)
    for answers in map(list, itertools.product(range(3), repeat=G)):
        psi = G / (G - 1) * (ratio[answers] - ratio[answers].mean())
        loglik = -np.log1p(np.exp(np.where(right[answers], -psi, psi)))
        own += pi[answers].prod() * loglik @ scores[answers] / G
        all_of += pi[answers].prod() * loglik.sum() * scores[answers].sum(0) / G
    return {"own": ", ".join(map(number, own)), "all": ", ".join(map(number, all_of))}


@register_numbers
def gibbs() -> dict[str, Any]:
    share = 0.9
    logit = math.log(share / (1 - share))
    return {"share": share, "logit": logit, "total": (math.exp(logit) + math.exp(-logit)) / 2}


@register_numbers
def grpo_score() -> dict[str, Any]:
    rewards = torch.tensor([1.0, 1, 0, 0, 0, 0, 0, 0], dtype=torch.float64)
    steps = {}
    for name in ("rloo", "grpo"):
        ratios = torch.zeros(8, dtype=torch.float64, requires_grad=True)
        pacs(ratios, rewards, score=name, balanced=False).backward()
        assert ratios.grad is not None
        steps[name] = float(ratios.grad.abs().max())
    mask = torch.ones(8, dtype=torch.bool)
    scores = torch.stack(
        [pacs_scores(beta * log_ratios(8), mask, "grpo") for beta in (0.1, 1.0, 10.0)]
    )
    return {
        "times": steps["grpo"] / steps["rloo"],
        "apart": f"{float((scores - scores[1]).abs().max()):.1g}",
    }


@register_numbers
def residual() -> dict[str, Any]:
    rows = []
    for G in (4, 8, 16):
        a1, a0 = lab.estimator("pacs_anchor").success_failure(G)
        weights = class_weights(torch.eye(G, dtype=torch.float64)[0])
        rows.append(
            [str(G), float(weights.max()), max(abs(a1[1]), abs(a0[1])), G * G / (4 * (G - 1))]
        )
    return {"table": table(["G", "largest class weight", "largest advantage", "G²/(4(G-1))"], rows)}


@register_numbers
def derivative_signs() -> dict[str, Any]:
    y_hat, step, psi = 0.3, 1e-6, 0.5
    return {
        "y_hat": y_hat,
        "printed": (y_hat - 1) / (y_hat * (1 - y_hat)),
        "quotient": (math.log(y_hat + step) - math.log(y_hat - step)) / (2 * step),
        "psi": psi,
        "slope": 1 / (1 + math.exp(psi)),
    }


@register_numbers
def two_versions() -> dict[str, Any]:
    values = printed("PACS")
    older = values[values["paper"] != "PACS"].iloc[0]
    newer = values[
        (values["paper"] == "PACS")
        & (values["benchmark"] == "AIME 2025")
        & (values["method"] == "PACS")
    ]
    best = newer[newer["metric"] == "pass@64"]["value"].max()
    return {"older": older["text"], "k": older["metric"], "best": best}
