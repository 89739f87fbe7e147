"""Real rewards: an estimator of right and wrong is lifted to real rewards level by level.

A real reward is a stack of questions of right or wrong, "is r at least tau?", one for each level
tau. The lifted estimator answers each with the advantages of the binary one, and adds them up:

    A_i = integral over tau of (a1(K_tau) if r_i >= tau else a0(K_tau)),

where K_tau rollouts of the group reach tau. Its mean gradient is that of the integral of
J_N(P(r >= tau)) over tau (docs/mathematics.md, "Real-valued rewards"). The z-score that GRPO takes
of real rewards is no such sum (docs/real_rewards.md).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lab.errors import LabError, real, write_call
from lab.mathematics.estimators import OPERATIONS, Estimator, RealRewards, Sequences, estimator
from lab.mathematics.groups import check_real
from lab.mathematics.weights import finite_objective
from lab.shapes import Float

TAILRL = "Ramasubramanian et al. 2026, arXiv 2609.02987"


def lift(of: str | Estimator, *, low: float | None = None, high: float | None = None) -> Estimator:
    """The estimator `of`, for real rewards; "lift(maxrl)" wherever an estimator is named.

    With the rewards of a group sorted, r_(1) <= ... <= r_(N), and K_m = N-m+1,

        A_i = sum_{m=2..N} (r_(m) - r_(m-1)) (a1(K_m) if r_i >= r_(m) else a0(K_m))
              + (r_(1) - low) a1(N) + (high - r_(N)) a0(0).

    Rewards of 0 and 1 give the advantages of `of`, bit for bit. The last two terms are the levels
    that all rollouts reach and those that none does: an estimator that pays a group of right ones,
    a1(N) != 0, needs `low`, the least reward there is, and one that pays a group of wrong ones,
    a0(0) != 0, needs `high`. Others need no range; a declared one is checked all the same.

    lift("rloo") is RLOO of real rewards, lift("pkpo(k=4)") climbs the expected best of four, and
    lift("maxrl") is tail-likelihood RL (Ramasubramanian et al. 2026). Its gap, offset and weight
    are those of `of`, which every level has.

    LabError: a range that is needed and not declared, or is empty; `of` takes real rewards already.

    >>> from lab.mathematics.estimators import advantages
    >>> advantages(lift("maxrl"), np.array([0.0, 0.5, 1.0]))
    array([-1.  , -0.25,  1.25])
    """
    binary = estimator(of)
    if binary.real is not None:
        raise LabError(f"{binary.spec} takes real rewards already: lift an estimator that does not")
    ends = {"low": low, "high": high}
    range_ = {name: real(name, end) for name, end in ends.items() if end is not None}
    if len(range_) == 2 and not range_["low"] < range_["high"]:
        raise LabError(f"low = {low!r}, high = {high!r}: the range of rewards is empty")
    scored = partial(sum_of_levels, low=range_.get("low", 0.0), high=range_.get("high", 0.0))
    lifted = replace(
        binary,
        name="lift",
        sequences=partial(_sequences, binary, range_),
        label=f"lifted {binary.label}",
        citation=f"{binary.citation}; lifted to real rewards as in {TAILRL}",
        options={"of": write_call(binary.name, binary.options), **range_},
        about=f"{binary.about}\n\nLifted to real rewards: these advantages for each level of the"
        " reward, summed over the levels.",
        real=RealRewards(scored, **range_),
    )
    lifted.coefficients(binary.least + 6)  # refuses a range that is missing
    return lifted


OPERATIONS["lift"] = lift


def _sequences(binary: Estimator, range_: dict[str, float], N: int) -> Sequences:
    """Those of the binary estimator. LabError: its groups of N need a range that is not given."""
    a1, a0 = binary.success_failure(N)
    paid = {"low": a1[N], "high": a0[0]}  # of groups that are all right, and all wrong
    missing = [end for end in paid if paid[end] != 0 and end not in range_]
    if missing:
        spec = write_call(binary.name, binary.options)
        example = write_call("lift", {"of": spec, "low": 0, "high": 1})
        raise LabError(
            f"{spec} pays groups of {N} that agree: to lift it, declare {' and '.join(missing)} of"
            f" the rewards, for example {example}"
        )
    return binary.coefficients(N)


def sum_of_levels(
    a1: Float[Any, " N_plus_1"],
    a0: Float[Any, " N_plus_1"],
    rewards: Float[Any, "*batch N"],
    low: float,
    high: float,
) -> Float[Any, "*batch N"]:
    """The lifted advantages, for float64 arrays of NumPy or of torch.

    `low` counts only where a1[N] is not 0, `high` only where a0[0] is not 0. A sort and two sums
    along it: O(N log N).
    """
    # Step m leads from r_(m-1) to r_(m), which N, N-1 .. 1 rollouts reach; the first is 0.
    if isinstance(rewards, np.ndarray):
        order = rewards.argsort(-1)
        ordered = np.take_along_axis(rewards, order, -1)
        steps = np.diff(ordered, prepend=ordered[..., :1])
        right, wrong = a1[:0:-1], a0[:0:-1]
    else:
        ordered, order = rewards.sort(-1)
        steps = ordered.diff(dim=-1, prepend=ordered[..., :1])
        right, wrong = a1[1:].flip(0), a0[1:].flip(0)
    reached = (steps * right).cumsum(-1)
    missed = (steps * wrong).cumsum(-1)
    agreed = (ordered[..., :1] - low) * a1[-1] + (high - ordered[..., -1:]) * a0[0]
    A = reached + (missed[..., -1:] - missed) + agreed
    if isinstance(rewards, np.ndarray):
        result = np.empty_like(A)
        np.put_along_axis(result, order, A, -1)
        return result
    return A.scatter(-1, order, A)


def lifted_objective(
    name: str | Estimator, N: int, levels: ArrayLike, chances: ArrayLike
) -> Float[np.ndarray, "*batch"]:
    """What a lifted estimator climbs: the integral of J_N(P(r >= tau)) over the levels tau.

    | argument | shape | meaning |
    |---|---|---|
    | `name` | | the estimator, lifted or not |
    | `levels` | "levels" | all values that the reward can take, ascending |
    | `chances` | "*batch levels" | the probability of each; they sum to 1 |

    The integral begins at the estimator's `low`, or at the first level: where it begins changes the
    objective by a constant. LabError: other shapes, levels that do not ascend, no probabilities.

    >>> lifted_objective("rloo", 8, [0.0, 0.5, 1.0], [0.2, 0.3, 0.5]).round(12)  # E[r]
    np.float64(0.65)
    """
    chosen = estimator(name)
    if chosen.real is not None and chosen.name != "lift":
        raise LabError(f"{chosen.spec} is no sum over levels: name an estimator, or a lifted one")
    tau = np.asarray(levels, dtype=np.float64)
    pi = np.asarray(chances, dtype=np.float64)
    if tau.ndim != 1 or not tau.size or not np.isfinite(tau).all() or (np.diff(tau) <= 0).any():
        raise LabError(f"levels {tau.tolist()}: give the rewards as a list, ascending")
    if pi.shape[-1:] != tau.shape or (pi < 0).any() or (abs(pi.sum(-1) - 1) > 1e-9).any():
        raise LabError(
            f"chances of shape {pi.shape}: give one probability for each level, summing to 1"
        )
    start = tau[0]
    if chosen.real is not None:
        check_real(tau, None, chosen.real.low, chosen.real.high)
        start = chosen.real.low if np.isfinite(chosen.real.low) else start
    reaching = np.minimum(pi[..., ::-1].cumsum(-1)[..., ::-1], 1.0)  # P(r >= level)
    return finite_objective(chosen, N, reaching) @ np.diff(tau, prepend=start)
