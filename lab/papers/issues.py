"""The numbers of docs/paper_issues.md: a small computation for each remark on a paper.

The text is in issues.md beside this file. There {NAME.KEY} stands for what the function NAME below
returns under KEY, so that no number of ours on the page is typed. Tables are written as Markdown.
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
from lab.errors import unknown
from lab.llm.data.datasets import DATASETS
from lab.losses import class_weights, pacs, pacs_scores
from lab.mathematics.enumeration import enumerate_gradient
from lab.mathematics.weights import binomial
from lab.papers.published import FOLDER, printed
from lab.runs.sweep_results import results

TEMPLATE = Path(__file__).with_suffix(".md")
PUBLISHED_N = (16, 128, 1024)  # rollouts: Qwen3; mazes and GSM8K; ImageNet (Figure 9)
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


@register_numbers
def single_runs() -> dict[str, Any]:
    """How far the choice of problems alone may move a printed difference of two methods.

    Rates in [0, 1] with the mean m have a variance of at most m(1-m). So the 95% half-width of a
    difference of two methods, each on n problems of its own, is at most
    1.96 sqrt((a(1-a) + b(1-b))/n).
    """
    compared = [
        # 6.2 for the number of mazes; E.2.1 for the evaluation set of Table 4
        ("MaxRL", "Table 3", "maze-17x17", "MaxRL", "PKPO (T=16)", 256),
        ("MaxRL", "Table 4", "GSM8K-Platinum", "MaxRL", "GRPO", DATASETS["gsm8k_platinum"].rows),
        ("PACS", "Table 6", "AIME 2025", "PACS", "GRPO", DATASETS["aime2025"].rows),
        ("PACS", "Table 6", "BeyondAIME", "PACS", "GRPO", DATASETS["beyondaime"].rows),
    ]
    rows = []
    for paper, item, benchmark, first, second, n in compared:
        cells = printed(paper, item)
        cells = cells[cells["metric"] == "pass@1"]
        if paper == "PACS":
            cells = cells[cells["benchmark"] == benchmark]
        a, b = (cells[cells["method"] == name]["value"].item() / 100 for name in (first, second))
        half_width = 1.96 * math.sqrt((a * (1 - a) + b * (1 - b)) / n)
        problems = f"{n:,} of {benchmark}"
        methods = f"{first} - {second}"
        rows.append([f"{paper} {item}", problems, methods, 100 * (a - b), 100 * half_width])
    head = ["table", "problems", "pass@1", "difference, points", "half-width, at most"]
    return {"table": table(head, rows)}


# --- MaxRL --------------------------------------------------------------------------------------


@register_numbers
def one_order_short() -> dict[str, Any]:
    forms, p = ("maxrl_eq6", "maxrl_eq7", "maxrl", "maxrl_loo"), 0.1
    rows = [
        [str(N), *(weight(name, N, p) for name in forms), truncated(p, N), truncated(p, N - 1)]
        for N in (2, 3, 4, 8)
    ]
    head = ["N", "eq. 6", "eq. 7", "Algorithm 1", "leave-one-out", "order N", "order N-1"]
    missing = [
        [str(N), *(f"{100 * (1 - truncated(p, N - 1) / truncated(p, N)):.2g}%" for p in P_OF_SIZES)]
        for N in PUBLISHED_N
    ]
    sizes = table(["N", *(f"p = {p:g}" for p in P_OF_SIZES)], missing)
    return {"p": p, "table": table(head, rows), "missing": sizes}


P_OF_SIZES = (1e-4, 0.01, 0.1, 0.5)


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
    policies = {
        "one right (0.02), one wrong": [0.02, 0.98],
        "one right (0.02), two wrong": [0.02, 0.49, 0.49],
        "one right (0.3), two wrong": [0.3, 0.35, 0.35],
    }
    enumerated = []
    for name, policy in policies.items():
        right = [True] + [False] * (len(policy) - 1)
        spreads = [enumerate_gradient(form, 6, policy, right).spread for form in forms]
        enumerated.append([name, 1 - (1 - policy[0]) ** 6, *spreads])
    turns = [[str(n), 1 - 0.5 ** (1 / n)] for n in PUBLISHED_N]
    traces = table(["answers", "pass@6", "eq. 6", "eq. 7", "Algorithm 1"], enumerated)
    return {
        "table": table(head, rows),
        "enumerated": traces,
        "turns": table(["N", "rises below p ="], turns),
    }


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
    published_N, published_k = 128, 16
    shares = [
        (published_N - published_k) / (published_N - 1),
        (published_k - 1) / (published_N - 1),
    ]
    sizes = [[p, shares[0] + shares[1] / (1 - p)] for p in (0.01, 0.1, 0.5, 0.9)]
    ways = {m: math.comb(N, m) for m in range(2, k + 1)}
    shrunk = 1 + sum((N - m) / N * ways[m] / (ways[m] - 1) * 0.95 ** (m - 1) for m in ways)
    return {
        "table": table(["p", "enumerated", "mixture", "pass@k, (1-p)^(k-1)"], rows),
        "sizes": table(["p", "weight of the code / weight of pass@16"], sizes),
        "maclaurin": shrunk,
        "order_4": truncated(0.05, 4),
    }


@register_numbers
def misc_maxrl() -> dict[str, Any]:
    """The weight of ((r - mean)/std)/mean by lemma L5: phi(K) = N(N-1)/(K sqrt(K(N-K)))."""
    rows = []
    for N in (16, 128):
        K = np.arange(1, N)
        phi = N * (N - 1) / (K * np.sqrt(K * (N - K)))
        for p in (0.01, 0.1, 0.5, 0.9):
            twice = float(binomial(N - 2, np.array(p)) @ phi)
            rows.append([str(N), p, twice, truncated(p, N - 1), twice / truncated(p, N - 1)])
    head = ["N", "p", "`misc: maxrl`", "Algorithm 1", "ratio"]
    return {"table": table(head, rows)}


@register_numbers
def scale_and_shape() -> dict[str, Any]:
    """Weights at p = 1/1000, and test pass@1 in the recorded control runs (means over seeds)."""
    names = {"ml": "cross-entropy", "maxrl": "MaxRL", "grpo": "GRPO", "reinforce_mean": "REINFORCE"}
    metrics = results("images_control", "images").metrics
    last = metrics[metrics["step"] == metrics["step"].max()]
    settings = {
        "SGD, rate 0.1": (last["optimizer"] == "sgd") & (last["gradient_norm"] == 0),
        "SGD, every gradient of norm 1": (last["optimizer"] == "sgd")
        & (last["gradient_norm"] == 1),
        "AdamW": last["optimizer"] == "adamw",
    }
    rows = [
        [label, *(last[rows & (last["objective"] == name)]["pass@1"].mean() for name in names)]
        for label, rows in settings.items()
    ]
    return {
        name: float(lab.induced_weight(name, 1024, 1e-3))
        for name in ("reinforce_mean", "grpo", "maxrl")
    } | {
        "table": table(["setting", *names.values()], rows),
        "steps": str(last["step"].max()),
        "seeds": str(last["seed"].nunique()),
    }


@register_numbers
def each_image() -> dict[str, Any]:
    """REINFORCE at N = 1,024: the pass rates of single test images at the last step, by seed."""
    groups = results("images", "images").groups
    chosen = groups[(groups["objective"] == "reinforce_mean") & (groups["rollouts"] == 1024)]
    rows = [
        [str(seed), rates.mean(), (rates > 0.003).mean(), rates.max()]
        for seed, rates in chosen.groupby("seed")["pass_rate"]
    ]
    return {
        "images": f"{len(chosen) // len(rows):,}",
        "table": table(["seed", "mean pass rate", "share above 0.003", "largest"], rows),
    }


@register_numbers
def gradient_norms() -> dict[str, Any]:
    """Norms of the gradients of three estimators on the same rollouts, for arbitrary scores."""
    N = 16
    scores = np.random.default_rng(0).normal(size=(N, 50))
    rows = []
    for K in (1, 2, 4, 8, 12, 15):
        rewards = (np.arange(N) < K).astype(float)
        norm = {
            name: float(np.linalg.norm(lab.advantages(name, rewards) @ scores) / N)
            for name in ("maxrl", "grpo", "rloo")
        }
        rows.append(
            [
                str(K),
                norm["maxrl"] / norm["grpo"],
                math.sqrt((N - K) / K),
                norm["maxrl"] / norm["rloo"],
                (N - 1) / K,
            ]
        )
    head = ["K", "MaxRL / GRPO", "sqrt((N-K)/K)", "MaxRL / RLOO", "(N-1)/K"]
    return {"N": str(N), "table": table(head, rows)}


@register_numbers
def one_problem() -> dict[str, Any]:
    """Table 7: how many of thirty problems a printed percentage is."""
    cells = printed("MaxRL", "Table 7")
    aime = cells[cells["benchmark"].isin(["AIME 2024", "AIME 2025"])]
    n = DATASETS["aime2025"].rows
    rows = []
    for method, part in aime.groupby("method", sort=False):
        text = part["text"].unique().item()
        solved = [k for k in range(n + 1) if f"{100 * k / n:.1f}" == text]
        rows.append([method, f"{text}%", ", ".join(map(str, solved))])
    return {"n": str(n), "table": table(["method", "both years", f"problems of {n}"], rows)}


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
        for N in (4, *PUBLISHED_N)
    ]
    return {"table": table(["N", "GRPO", "sqrt(N-1)", "GRPO's limit", "MaxRL"], rows)}


@register_numbers
def pass_at_k() -> dict[str, Any]:
    rows = [
        [str(k), *(truncated(p, k) / (k * (1 - p) ** (k - 1)) for p in (0.1, 0.5, 0.9))]
        for k in (1, 2, 16, 128)
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
    one_success = {N: np.eye(N)[0] for N in (2, 16, 128)}
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
    rows = [
        [str(N), str(K), f"{N / K - 1:.6f}", f"{(1 - K / N) / (K / N + 1e-6):.6f}"]
        for N, K in ((16, 1), (128, 1), (1024, 1))
    ]
    head = ["N", "K", "Algorithm 1", "appendix F"]
    return {"table": table(head, rows), "alone": (1 - 0) / (0 + 1e-6)}


@register_numbers
def token_mean() -> dict[str, Any]:
    """Three answers of 1, 1 and 10 tokens, RLOO at N = 4: what each wrong answer loses.

    Losses are relative to what the right answer gains. The answers that share a mean are those of
    this problem and of others like it, of which only the number of tokens matters.
    """
    N = 4
    pi = np.array([0.2, 0.4, 0.4])
    length = np.array([1, 1, 10])
    right = np.array([1.0, 0, 0])
    scores = np.eye(3) - pi
    shared_by = (4, 64, 4096)  # micro-batches of the scripts for Qwen3, SmolLM2 and mazes
    by_n, by_tokens = np.zeros(3), np.zeros((len(shared_by), 3))
    for answers in map(list, itertools.product(range(3), repeat=N)):
        summed = pi[answers].prod() * lab.advantages("rloo", right[answers]) @ scores[answers]
        by_n += summed / N
        for row, size in enumerate(shared_by):
            long_ones = np.arange(size - N + 1)
            tokens = length[answers].sum() + (size - N) + 9 * long_ones
            by_tokens[row] += summed * (binomial(size - N, np.array(0.4)) @ (1 / tokens))
    losses = -by_tokens[:, 1:] / by_tokens[:, :1]
    rows = [[f"{size:,}", *row] for size, row in zip(shared_by, losses, strict=True)]
    head = ["answers that share a mean", "short wrong answer", "long wrong answer"]
    return {
        "n_short": -by_n[1] / by_n[0],
        "n_long": -by_n[2] / by_n[0],
        "tokens_short": losses[0, 0],
        "tokens_long": losses[0, 1],
        "table": table(head, rows),
    }


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
def uncentred() -> dict[str, Any]:
    """A.1's score without its group, R - 1/2 where policy and reference agree, beside RLOO's."""
    G = 8
    rows = [
        [
            p,
            p**G + (1 - p) ** G,
            float(lab.efficiency("w_reinforce(lam=1.0)", G, p)),
            float(lab.efficiency("rloo", G, p)),
        ]
        for p in (0.02, 0.05, 0.2, 0.5)
    ]
    head = ["p", "groups that agree", "efficiency, A.1", "efficiency, eq. 6"]
    return {"G": str(G), "factor": rows[0][3] / rows[0][2], "table": table(head, rows)}


@register_numbers
def cross_terms() -> dict[str, Any]:
    """The score-function term of eq. 8 by all 3^8 outcomes: with each rollout's own log-likelihood,
    and with all.
    """
    G, pi, right = 8, np.array([0.3, 0.5, 0.2]), np.array([True, False, False])
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
    """Two answers, an even reference, and a verifier that is right with the probability `share`.

    The objective of A.2 is evaluated on a grid of the probability x of the right answer.
    """
    x = np.linspace(0.5, 1, 100_001)[:-1]
    rows = []
    for share in (1.0, 0.9):
        for beta in (0.1, 1.0, 10.0):
            loss = _bce_loss(x, beta, share)
            edge = float(_bce_loss(np.array([1.0]), beta, share)[0])
            best = float(x[loss.argmin()]) if loss.min() < edge else 1.0
            odds = math.inf if share == 1 else (share / (1 - share)) ** (2 / beta)
            rows.append([share, beta, 1.0 if math.isinf(odds) else odds / (1 + odds), best])
    share = 0.9
    logit = math.log(share / (1 - share))
    head = ["verifier right", "β", "p of the Gibbs form, normalised", "p at the minimum"]
    return {
        "share": share,
        "logit": logit,
        "total": (math.exp(logit) + math.exp(-logit)) / 2,
        "table": table(head, rows),
    }


def _bce_loss(x: np.ndarray, beta: float, share: float) -> np.ndarray:
    """The loss of A.2 at the probabilities x of the right of two answers, "points"."""
    total = np.zeros_like(x)
    for probability, target in ((x, share), (1 - x, 1 - share)):
        seen = probability > 0
        psi = beta * np.log(2 * np.where(seen, probability, 1))
        cross_entropy = target * np.logaddexp(0, -psi) + (1 - target) * np.logaddexp(0, psi)
        total += np.where(seen, probability * cross_entropy, 0)
    return total


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
