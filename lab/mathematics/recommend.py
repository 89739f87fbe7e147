"""Which estimator for a run: the predicted gain of a metric for each unit of noise.

A step moves every problem by weight * grad p, plus noise. From the pass rates of a model's problems
follow how much a metric, such as pass@64, gains by the mean of a step (`gain`), how large its noise
is (`noise`), and how many rollouts it takes (`cost`), for every estimator and every recipe. Their
quotient ranks them (statements P1 to P3 in docs/mathematics.md). It is a prediction of one step,
under the model of `Scores`; docs/recommend.md says how well it did.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, unknown, whole
from lab.mathematics.estimators import estimator, estimator_names
from lab.mathematics.objectives import Objective, check_pass_rates, objective, objective_names
from lab.mathematics.recipes import (
    Gate,
    Recipe,
    at_pass_rates,
    gated,
    group_sizes,
    parse_gate,
    recipe,
)
from lab.mathematics.weights import binomial_mean, induced_weight, second_moments
from lab.shapes import Array, Float

LEVEL = 0.95
SAME = 1e-9  # scores that differ by less, relative to the best, are one row

# Values of the options that have none of their own, for `candidates`; k is that of the metric.
OPTIONS: dict[str, Callable[[int, int], list[str]]] = {
    "truncated": lambda N, k: [f"truncated(order={max(1, N // 2)}, form='loo')"],
    "alpha": lambda N, k: ["alpha(alpha=0.5, form='series')"],
    "f_grpo": lambda N, k: ["f_grpo(gamma=1.0)"],
    "entropic": lambda N, k: ["entropic(eta=2.0)"],
    "pkpo": lambda N, k: [
        f"pkpo(k={min(k, N)})",
        f"pkpo(k={min(k, N - 1)}, form='sloo')",
        f"pkpo(k={min(k, N)}, form='sloom1')",
    ],
    "pass_at_k_group": lambda N, k: [f"pass_at_k_group(k={min(k, N)})"],
}
RECIPES = (
    "{name}, gate=drop",
    "rloo, gate=redraw",
    "maxrl, gate=redraw",
    "rloo, gate=between(0.2, 0.8)",
    "rloo, chance=4*p*q",
    "rloo, allocation=max(4, min(64, 2/p)), per=rollout",
    "rloo, allocation=by_last_rate({twice}, {N}, {half}), per=rollout",
)


# --- The model ------------------------------------------------------------------------------------


class Scores(NamedTuple):
    """What is assumed of the scores: four numbers for every pass rate, in any common unit.

    `gradient` is |grad p|²; `right` and `wrong` are v1 and v0, the traces of the score's covariance
    given a right and given a wrong rollout; `successes` multiplies Var Z in the noise.
    """

    gradient: Array
    right: Array
    wrong: Array
    successes: Array


def alike(p: Float[np.ndarray, "*p"]) -> Scores:
    """Scores of one size F, alike in both classes; correctness explains a small share k of it.

    Then |grad p|² = k F pq exactly, and v1 = v0 = (1-k) F. The noise of how many rollouts succeed
    is of order k and is left out. |grad p|² is given in units of kF, traces in units of F.
    """
    return Scores(p * (1 - p), np.ones_like(p), np.ones_like(p), np.zeros_like(p))


def steeper(p: Float[np.ndarray, "*p"]) -> Scores:
    """As `alike`, but |grad p|² goes with (pq)², as in a softmax over whole answers."""
    return alike(p)._replace(gradient=(p * (1 - p)) ** 2)


def softmax(right: int, wrong: int) -> Callable[[Float[np.ndarray, "*p"]], Scores]:
    """The scores of one row of logits over `right` + `wrong` answers, equally likely in each class.

    Nothing is assumed: |grad p|² = (pq)² (1/right + 1/wrong), v1 = 1-1/right, v0 = 1-1/wrong. A
    class of one answer has no variance: its rollouts all have the same score.
    """
    inverse_right = 1 / whole("right", right)
    inverse_wrong = 1 / whole("wrong", wrong)

    def scores(p: Float[np.ndarray, "*p"]) -> Scores:
        gradient = (p * (1 - p)) ** 2 * (inverse_right + inverse_wrong)
        v1, v0 = np.full_like(p, 1 - inverse_right), np.full_like(p, 1 - inverse_wrong)
        return Scores(gradient, v1, v0, gradient)

    return scores


class StepMoments(NamedTuple):
    """What one visit of a problem adds to a step, at every pass rate.

    The mean is weight * grad p; `noise` is the trace of the covariance; `cost` counts rollouts.
    """

    weight: Array
    noise: Array
    cost: Array


def step_moments(
    text: str | Recipe, N: int, p: ArrayLike, model: Callable[[Array], Scores] = alike
) -> StepMoments:
    """The moments of an estimator's or recipe's step for a problem of each pass rate.

    Each contains the chance that the problem is drawn. Where `gate=redraw` never ends, at p = 0 and
    1, the cost is inf and the rest 0. LabError: as `lab.recipe` and `lab.effective_weight`.

    >>> step_moments("rloo", 8, [0.5]).noise.round(6)   # (D1 + D0)/N = pq (N/(N-1))/N
    array([0.035714])
    """
    chosen = text if isinstance(text, Recipe) else recipe(text, N)
    p = check_pass_rates(p)
    scores = model(p)
    gate = None if chosen.gate is None else parse_gate(chosen.gate)
    weight, square, noise, cost = np.zeros((4, *p.shape))
    for n, share in group_sizes(chosen.N, chosen.allocation, p):
        if n == 0:
            continue
        one = _one_size(chosen.estimator, n, p, gate, scores)
        rollouts = n if chosen.per == "rollout" else 1
        weight += share * rollouts * one.weight
        square += share * (rollouts * one.weight) ** 2
        noise += share * rollouts**2 * one.noise
        cost += np.where(share > 0, share * one.cost, 0)
    # Numbers of rollouts that vary from visit to visit make the weight vary.
    noise += scores.successes * np.maximum(square - weight**2, 0)
    if chosen.chance is not None:
        drawn = at_pass_rates("chance", chosen.chance, p)
        weight, noise = drawn * weight, drawn * noise
        cost = np.where(drawn > 0, drawn * cost, 0)
    return StepMoments(weight, noise, cost)


def _one_size(
    name: str, n: int, p: Float[np.ndarray, "*p"], gate: Gate | None, scores: Scores
) -> StepMoments:
    """The moments of groups of n rollouts."""
    chosen = estimator(name) if gate is None else gated(estimator(name), gate)
    weight = induced_weight(chosen, n, p)
    moments = second_moments(chosen, n, p)
    noise = (scores.right * moments.right + scores.wrong * moments.wrong) / n
    # Var Z is nan at p = 0 and 1, where |grad p| is 0
    variance = np.where(scores.successes > 0, moments.successes, 0)
    if gate is None or not gate.redraws:
        return StepMoments(weight, noise + scores.successes * variance, np.full_like(p, n))
    kept = binomial_mean(gate.keeps(n), p)
    inverse = np.divide(1.0, kept, out=np.zeros_like(p), where=kept > 0)
    variance = (variance + weight**2) * inverse - (weight * inverse) ** 2
    noise = noise * inverse + scores.successes * variance
    with np.errstate(divide="ignore"):
        return StepMoments(weight * inverse, noise, n / kept)


# --- The metric and the score ---------------------------------------------------------------------


def metric_of(name: str) -> Objective:
    """The metric called `name`: "pass@k" for any k, or an objective. LabError: there is none.

    >>> metric_of("pass@4").weight([0.5])
    array([0.5])
    """
    if matched := re.fullmatch(r"pass@(\d+)", name):
        return objective("pass_at", k=whole("k of pass@k", int(matched[1])))
    try:
        return objective(name)
    except LabError as error:
        if name.split("(")[0] in objective_names():
            raise
        raise unknown("metric", name, ["pass@1", "pass@64", *objective_names()]) from error


class Predicted(NamedTuple):
    """Sums over the problems, "*draws": what a visit of a problem gives and takes, on average.

    `gain` is the first-order gain of the metric for a step of rate 1; a rate multiplies gain and
    the square root of noise alike.
    """

    gain: Array
    noise: Array
    cost: Array

    @property
    def per_visit(self) -> Array:
        """The gain for each unit of the step's standard deviation, of one visit."""
        return self._over(self.noise)

    @property
    def per_rollout(self) -> Array:
        """The same of one rollout: visits that cost c rollouts are c times fewer."""
        return self._over(self.noise * self.cost)

    def _over(self, variance: Array) -> Array:
        possible = (variance > 0) & np.isfinite(variance)
        return np.divide(self.gain, np.sqrt(variance), out=np.zeros_like(self.gain), where=possible)


def predict(
    text: str | Recipe,
    N: int,
    metric: str | Objective,
    p: ArrayLike,
    mass: ArrayLike,
    model: Callable[[Array], Scores] = alike,
) -> Predicted:
    """The gain, noise and cost of a step over problems with these pass rates.

    `p` is "points", and `mass`, the shares of the problems, "*draws points". A problem with p = 0
    or 1 does not move.

    Of problems that are all alike the gain for each unit of noise is a signal-to-noise ratio:

    >>> float(predict("rloo", 5, "pass@1", [0.5], [1.0]).per_visit ** 2)   # pq (N-1)
    1.0
    """
    p, mass = check_pass_rates(p), np.asarray(mass, dtype=np.float64)
    chosen = metric_of(metric) if isinstance(metric, str) else metric
    step = step_moments(text, N, p, model)
    moves = (p > 0) & (p < 1)
    slope = np.zeros_like(p)
    slope[moves] = chosen.weight(p[moves]) * model(p[moves]).gradient
    # 0 of the problems at an infinite cost cost nothing
    never_ends = np.isinf(step.cost)
    cost = mass @ np.where(never_ends, 0, step.cost)
    cost = np.where(mass @ never_ends.astype(np.float64) > 0, np.inf, cost)
    return Predicted(mass @ (slope * step.weight), mass @ step.noise, cost)


# --- The ranking ----------------------------------------------------------------------------------


def candidates(N: int, k: int = 1) -> list[str]:
    """The estimators of the catalogue, plugins included, and a few recipes, for groups of N.

    Options without a default have the value that `OPTIONS` gives; `k` is that of pass@k. What needs
    more than N rollouts is left out, as is an estimator with other options that have no default.
    """
    N = whole("N", N, least=2)
    names = []
    for name in estimator_names():
        for text in OPTIONS[name](N, k) if name in OPTIONS else [name]:
            try:
                estimator(text).coefficients(N)
            except LabError:
                continue
            names.append(text)
    recipes = [
        each.format(name="{name}", N=N, twice=2 * N, half=max(2, N // 2)) for each in RECIPES
    ]
    dropped, *others = recipes
    return names + [dropped.format(name=name) for name in names] + others


def knows_pass_rates(name: str) -> bool:
    """Whether a recipe follows each problem's own p, which a run has to estimate first."""
    return "chance=" in name or ("allocation=" in name and "by_last_rate" not in name)


class Row(NamedTuple):
    """One rank: the recipes that share it, with scores relative to the best one's.

    `score` is the gain for each unit of noise at equal rollouts, with its interval [low, high], and
    `verdict` "best", "worse", "better" or "undecided". Where the resamples are all alike they say
    nothing of the uncertainty: the ends are nan, and every row is undecided. `per_visit` compares
    at equal numbers of problems instead, and `rollouts` is the mean cost of a visit. `steeper` is
    the score under that model, relative to its own best. `elsewhere` holds the score at further
    group sizes, nan where the recipe does not exist.
    """

    names: list[str]
    score: float
    low: float
    high: float
    verdict: str
    per_visit: float
    rollouts: float
    steeper: float
    elsewhere: dict[int, float]


def rank(
    metric: str,
    N: int,
    p: ArrayLike,
    masses: ArrayLike,
    sizes: tuple[int, ...] = (),
    names: list[str] | None = None,
) -> list[Row]:
    """The recipes `names`, by default all `candidates`, from the best to the worst.

    | argument | shape | meaning |
    |---|---|---|
    | `p` | "points" | pass rates |
    | `masses` | "one_and_draws points" | the shares of problems; of resampled problems after that |
    | `sizes` | | further group sizes, for `Row.elsewhere` |

    Each resample compares every recipe with the one that is best in the first row of masses, those
    apart that must know p (`knows_pass_rates`). The intervals hold together: score ± c deviations,
    with c the 95% quantile over resamples of the largest deviation of all. Recipes that agree in
    every resample share a row. LabError: no recipe gains anything.
    """
    p, masses = check_pass_rates(p), np.asarray(masses, dtype=np.float64)
    chosen = metric_of(metric)
    names = candidates(N, _order_of(metric)) if names is None else names
    found = [predict(name, N, chosen, p, masses) for name in names]
    scores = np.stack([each.per_rollout for each in found])
    steep = np.array(
        [predict(name, N, chosen, p, masses[0], steeper).per_rollout for name in names]
    )
    eligible = np.array([not knows_pass_rates(name) for name in names])
    best = int(np.where(eligible, scores[:, 0], -np.inf).argmax())
    if scores[best, 0] <= 0:
        raise LabError(
            f"no estimator is predicted to raise {metric}: every problem is solved always or never,"
            " so add problems of middling difficulty"
        )
    relative = scores / np.where(scores[best] > 0, scores[best], np.inf)
    resamples_differ = bool((np.ptp(masses, axis=0) > SAME).any())
    low, high = _joint_interval(relative) if resamples_differ else np.full((2, len(names)), np.nan)
    visits = np.array([each.per_visit[0] for each in found]) / found[best].per_visit[0]
    rows: list[Row] = []
    merged: list[int] = []  # the first name of each row
    for i in np.argsort(-relative[:, 0], kind="stable"):
        agrees = merged and np.allclose(relative[i], relative[merged[-1]], rtol=0, atol=SAME)
        if agrees and found[i].cost[0] == found[merged[-1]].cost[0]:
            rows[-1].names.append(names[i])
            continue
        merged.append(i)
        verdict = "worse" if high[i] < 1 else "better" if low[i] > 1 else "undecided"
        if i == best and resamples_differ:
            verdict = "best"
        rows.append(
            Row(
                names=[names[i]],
                score=float(relative[i, 0]),
                low=float(low[i]),
                high=float(high[i]),
                verdict=verdict,
                per_visit=float(visits[i]),
                rollouts=float(found[i].cost[0]),
                steeper=float(steep[i] / steep[eligible].max()),
                elsewhere={},
            )
        )
    for row in rows:
        row.names.sort(key=names.index)
        for size in sizes:
            row.elsewhere[size] = _score_at(row.names[0], size, chosen, p, masses[:1])
            row.elsewhere[size] /= scores[best, 0]
    return rows


def _joint_interval(
    relative: Float[np.ndarray, "recipes one_and_draws"],
) -> tuple[Float[np.ndarray, " recipes"], Float[np.ndarray, " recipes"]]:
    """The ends of the intervals of all recipes together; see `rank`."""
    point, draws = relative[:, 0], relative[:, 1:]
    deviation = draws.std(axis=1)
    steady = deviation < SAME
    distance = np.abs(draws - point[:, None]) / np.where(steady, np.inf, deviation)[:, None]
    half = np.quantile(distance.max(axis=0), LEVEL) * deviation
    return point - half, point + half


def _order_of(metric: str) -> int:
    """The k of pass@k; 8 for other metrics."""
    matched = re.fullmatch(r"pass@(\d+)", metric)
    return int(matched[1]) if matched else 8


def _score_at(name: str, N: int, metric: Objective, p: Array, mass: Array) -> float:
    """The score per rollout at another group size; nan where the recipe has no such groups."""
    if "allocation=" in name:
        return np.nan  # its groups have sizes of their own
    try:
        return float(predict(name, N, metric, p, mass).per_rollout[0])
    except LabError:
        return np.nan
