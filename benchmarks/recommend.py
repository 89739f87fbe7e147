"""Test the prediction of `lab recommend`: predicted against real gains, in three small worlds.

`python benchmarks/recommend.py [--seeds 20] [--worlds tabular one_right digits]`

In the tabular worlds the problems are independent. In "tabular" 16 answers are right and 16 wrong,
so that scores are alike in both classes, but |grad p|² is (pq)² and not pq; in "one_right" one of
8 is right, and the scores are not alike either. The digits share one network. Every estimator's
steps are made equally noisy, as in the prediction: its rate is `length` divided by the standard
deviation of its step at the start. The rate stays the same for the further steps.

| column | meaning |
|---|---|
| file | predicted from 16 rollouts a problem, as `lab recommend` does |
| exact p | the same model from the true pass rates |
| (pq)² | from the true pass rates, with |grad p|² proportional to (pq)² |
| own | problems independent, but with the world's own |grad p|² and noise |
| 1 step, 20 steps | real gains, means over seeds, with the standard error |

All are relative to the largest of their column. tau is Kendall's rank correlation with the real
gains, with a 95% interval over seeds: noise in the real gains makes it smaller. Recipes with other
groups than N rollouts of every problem are not tested here.
"""

import argparse
import os
import time
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from scipy.stats import kendalltau

import lab
from lab.losses import counted
from lab.mathematics.estimators import Estimator
from lab.mathematics.pass_rates import resampled_mixing
from lab.mathematics.recipes import gated, parse_gate
from lab.mathematics.recommend import (
    candidates,
    metric_of,
    predict,
    recipe,
    softmax,
    steeper,
    step_moments,
)
from lab.mathematics.stats import bootstrap
from lab.toy.image_data import Digits
from lab.toy.images import gradient_norms
from lab.toy.multinomial import draw_counts
from lab.toy.resnet import fresh_network

N, STEPS = 16, 20
K = 8  # of pass@k
METRICS = ("pass@1", f"pass@{K}", "ml")
COLUMNS = ("file", "exact p", "(pq)²", "own")


class World(NamedTuple):
    """What a world says of its start and of training from it.

    `p` is "problems". `own` has the predicted gain for each estimator and metric, "estimators
    metrics", and `gains` the real ones, "estimators seeds 2 metrics": after 1 step and after STEPS.
    """

    p: np.ndarray
    own: np.ndarray
    gains: np.ndarray


def estimators() -> dict[str, Estimator]:
    """One for each different prediction: the catalogue, and behind a gate what the gate changes."""
    chosen: dict[str, Estimator] = {}
    seen: list[np.ndarray] = []
    p = np.array([0.01, 0.1, 0.4, 0.8])
    for name in candidates(N, K):
        parts = recipe(name, N)
        if parts.allocation or parts.chance or parts.gate == "redraw":
            continue
        plain = lab.estimator(parts.estimator)
        one = plain if parts.gate is None else gated(plain, parse_gate(parts.gate))
        step = step_moments(name, N, p)
        if not step.weight.any():
            continue  # an estimator of groups that agree, behind a gate that drops these
        shape = np.concatenate((step.weight, np.sqrt(step.noise))) / step.weight[2]
        if not any(np.allclose(shape, other, rtol=1e-3) for other in seen):
            seen.append(shape)
            chosen[name] = one
    return chosen


def values(p: np.ndarray) -> np.ndarray:
    """The metrics of pass rates "*seeds problems", as "*seeds metrics"."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return np.stack([metric_of(name).value(p).mean(axis=-1) for name in METRICS], axis=-1)


# --- Independent softmax problems -----------------------------------------------------------------


def tabular(
    chosen: dict[str, Estimator],
    seeds: int,
    right: int = 16,
    wrong: int = 16,
    length: float = 0.05,
) -> World:
    """128 problems with pass rates from 0.005 to 0.9, even in log-odds.

    `length` is the noise of a step for each problem's logits, root mean square.
    """
    problems, answers = 128, right + wrong
    odds = np.linspace(np.log(0.005 / 0.995), np.log(9), problems)
    start = np.zeros((problems, answers))
    start[:, :right] = odds[:, None] + np.log(wrong / right)
    p = 1 / (1 + np.exp(-odds))
    own, gains = [], []
    for name, one in chosen.items():
        moments = [
            predict(name, N, metric, p, np.full(problems, 1 / problems), softmax(right, wrong))
            for metric in METRICS
        ]
        own.append([float(each.per_visit) for each in moments])
        rate = length / np.sqrt(moments[0].noise)
        a1, a0 = one.success_failure(N)
        rng = np.random.default_rng(0)
        logits = np.broadcast_to(start, (seeds, problems, answers)).copy()
        found = [values(p)]
        for step in range(1, STEPS + 1):
            policy = np.exp(logits - logits.max(axis=-1, keepdims=True))
            policy /= policy.sum(axis=-1, keepdims=True)
            drawn = rng.multinomial(N, policy).astype(float)
            K_right = drawn[..., :right].sum(axis=-1, keepdims=True).astype(int)
            paid = drawn * a0[K_right]
            paid[..., :right] = drawn[..., :right] * a1[K_right]
            logits += rate * (paid - policy * paid.sum(axis=-1, keepdims=True)) / N
            if step in (1, STEPS):
                moved = np.exp(logits - logits.max(axis=-1, keepdims=True))
                found.append(values(moved[..., :right].sum(axis=-1) / moved.sum(axis=-1)))
        gains.append(np.stack([each - found[0] for each in found[1:]], axis=1))
    return World(p, np.array(own), np.array(gains))


def one_right(chosen: dict[str, Estimator], seeds: int) -> World:
    """The same with 8 answers, one of them right, as in `lab.toy.tabular`."""
    return tabular(chosen, seeds, right=1, wrong=7)


# --- Handwritten digits, which share one network --------------------------------------------------


def digits(chosen: dict[str, Estimator], seeds: int, length: float = 0.004) -> World:
    """96 images and a small network that has seen a little supervised training.

    `length` is the noise of a step, as the length of the change of all weights.
    """
    model = fresh_network(0, "small", 1, 8, 10, 4)
    source = Digits(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(40):
        images, labels = source.train_batch(step, 64)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    model.eval()  # the statistics of batch normalisation stay, so that p belongs to the weights
    images, labels = source.train_batch(100, 96)
    right = torch.nn.functional.one_hot(labels, 10).bool()
    weights = list(model.parameters())
    start = [weight.detach().clone() for weight in weights]

    def log_policy() -> torch.Tensor:
        return model(images).double().log_softmax(1)

    def gradient(one: Estimator, seed: int) -> list[torch.Tensor]:
        logp = log_policy()
        loss = counted(logp, draw_counts(logp.detach().exp(), N, seed), right, one, N)
        return torch.autograd.grad(-loss, weights)

    def restore() -> None:
        with torch.no_grad():
            for weight, first in zip(weights, start, strict=True):
                weight.copy_(first)

    def pass_rates() -> np.ndarray:
        with torch.no_grad():
            return log_policy().exp()[right].numpy()

    p = pass_rates()
    squares = (gradient_norms(model, images, labels).double().numpy() * p) ** 2  # |grad p|²
    own, gains = [], []
    for name, one in chosen.items():
        restore()
        first = [torch.cat([g.flatten() for g in gradient(one, seed)]) for seed in range(seeds)]
        noise = float(torch.stack(first).var(dim=0).sum().sqrt())
        weight = step_moments(name, N, p).weight
        own.append([np.mean(metric_of(m).weight(p) * weight * squares) / noise for m in METRICS])
        found = []
        for seed in range(seeds):
            restore()
            reached = []
            for step in range(STEPS):
                step_gradient = gradient(one, seed + 1000 * step)
                with torch.no_grad():
                    for each, g in zip(weights, step_gradient, strict=True):
                        each += length / noise * g
                if step in (0, STEPS - 1):
                    reached.append(values(pass_rates()) - values(p))
            found.append(reached)
        gains.append(found)
    return World(p, np.array(own), np.array(gains))


# --- Predicted against real -----------------------------------------------------------------------


def report(world: World, names: list[str]) -> None:
    """Print a table for each metric: predictions, real gains, and how they agree."""
    p, problems = world.p, len(world.p)
    print("deciles of p:", *np.quantile(p, np.linspace(0, 1, 11)).round(3))
    right = np.random.default_rng(1).binomial(N, p)
    grid, masses = resampled_mixing(N, right, draws=1)
    for i, metric in enumerate(METRICS):
        predicted = np.array(
            [
                [
                    float(predict(name, N, metric, grid, masses[0]).per_visit),
                    float(predict(name, N, metric, p, np.full(problems, 1 / problems)).per_visit),
                    float(
                        predict(
                            name, N, metric, p, np.full(problems, 1 / problems), steeper
                        ).per_visit
                    ),
                    world.own[row, i],
                ]
                for row, name in enumerate(names)
            ]
        )
        real = world.gains[..., i]  # "estimators seeds 2"
        mean = real.mean(axis=1)
        error = real.std(axis=1, ddof=1) / np.sqrt(real.shape[1]) / mean.max(axis=0)
        shown = np.hstack((predicted / predicted.max(axis=0), mean / mean.max(axis=0)))
        print(f"\n{metric} {values(p)[i]:.3f} at the start")
        print("".join(f"{x:>9}" for x in COLUMNS) + f"{'1 step':>16}{f'{STEPS} steps':>16}")
        for row in np.argsort(-shown[:, 0]):
            cells = "".join(f"{x:9.3f}" for x in shown[row, :-2])
            cells += "".join(f"{shown[row, j - 2]:9.3f} ±{error[row, j]:.3f}" for j in (0, 1))
            print(f"{cells}   {names[row]}")
        for j, after in enumerate(("1 step", f"{STEPS} steps")):
            agreement = []
            for column, prediction in zip(COLUMNS, predicted.T, strict=True):

                def tau(resamples: np.ndarray, axis: int, prediction=prediction) -> np.ndarray:
                    return np.array(
                        [kendalltau(prediction, x).statistic for x in resamples.mean(1)]
                    )

                found = bootstrap(real[:, :, j].T, tau, draws=200)  # of the 20 seeds
                agreement.append(f"{column} {found.point:.2f} [{found.low:.2f}, {found.high:.2f}]")
            print(f"tau with {after}: " + "; ".join(agreement))
        ranks = [np.argsort(np.argsort(-x)) + 1 for x in (shown[:, 0], shown[:, -2])]
        worst = np.argsort(-np.abs(ranks[0] - ranks[1]))[:4]
        misses = [f"{names[w]} (predicted {ranks[0][w]}, real {ranks[1][w]})" for w in worst]
        print("furthest from its rank after 1 step: " + "; ".join(misses))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=list(WORLDS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for world in arguments.worlds:
        started = time.process_time()
        chosen = estimators()
        if world == "digits":  # where a step costs most, and the gates change little
            chosen = {name: one for name, one in chosen.items() if "gate" not in name}
        found = WORLDS[world](chosen, arguments.seeds)
        print(f"\n== {world}: {len(chosen)} estimators, N = {N}, {arguments.seeds} seeds ==")
        report(found, list(chosen))
        print(f"{time.process_time() - started:.0f} CPU seconds")


WORLDS = {"tabular": tabular, "one_right": one_right, "digits": digits}

if __name__ == "__main__":
    main()
