"""Metrics with intervals, and comparisons of models, from a table of judged answers.

| metric | for a problem with n judged answers, c of them right |
|---|---|
| pass@k, pass^k | at least one of k answers, all k answers are right: `lab.metrics`, unbiased |
| majority | the right answer has the most votes of all n; answers not extracted have none |
| solved | c > 0 |
| length | tokens per answer, including the end token |
| truncated, lost | shares of answers that hit the token limit, that the verifier could not judge |
| entropy | minus the mean log-probability of a token, in nats |

The entropy is that of the sampling distribution, after temperature and top-p.

Every number is a mean over problems with an interval over problems. An answer that could not be
judged is lost: neither right nor wrong. So n may differ between problems; k goes up to the smallest
n, and problems that lost all their answers are left out.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.errors import LabError
from lab.judge.equality import rational
from lab.judge.spelling import letters
from lab.llm.data.prompts import LENGTH
from lab.mathematics.metrics import k_values, majority, pass_all_k, pass_at_k
from lab.mathematics.stats import Comparison, Interval, bootstrap, compare, mean_interval

REACH_DRAWS = 2000  # bootstrap draws where every draw needs the whole curve of pass@k
ROUNDING = 1e-12  # of a mean pass@k that is to reach its target
CURVE_BLOCK = 256  # values of k at a time, which bounds the memory


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """Counts of answers per problem, in order of first appearance: the input of all metrics.

    `table` has one row per answer: problem, tokens, logp (natural logarithm, sum over the answer;
    NaN where unknown), finish ("stop" or "length"), answer (missing where none was extracted),
    verdict (right, wrong, error).

    Columns: problem, n (judged), right, error, truncated, tokens and logp (sums over all answers),
    votes (how often each wrong answer occurs, in descending order). Two wrong answers are the same
    if they are the same number or the same text; all right answers are the same.
    """
    problem = table["problem"].astype(object)
    right, lost = table["verdict"] == "right", table["verdict"] == "error"
    columns = {
        "n": ~lost,
        "right": right,
        "error": lost,
        "truncated": table["finish"] == LENGTH,
        "tokens": table["tokens"],
    }
    sums = pd.DataFrame(columns).groupby(problem, sort=False).sum().astype(int)
    # pandas would leave out what is unknown; here one unknown makes the sum unknown.
    sums["logp"] = np.bincount(pd.factorize(problem)[0], table["logp"])
    wrong = table[~right & ~lost & table["answer"].notna()]
    keys = {answer: _vote_key(answer) for answer in wrong["answer"].unique()}
    votes: dict[str, list[int]] = {name: [] for name in sums.index}
    voted = wrong["answer"].astype(object).map(keys)
    for (name, _), size in voted.groupby([problem[wrong.index], voted]).size().items():
        votes[name].append(size)
    sums["votes"] = [tuple(sorted(sizes, reverse=True)) for sizes in votes.values()]
    return sums.reset_index(names="problem")


def _vote_key(answer: str) -> str:
    """Equal for answers that are one vote: its value if it is a number, else its letters."""
    value = rational(answer)
    return letters(answer) if value is None else str(value)


def summary(table: pd.DataFrame) -> dict[str, Interval]:
    """Every metric by name, such as "pass@8", with its 95% interval over problems.

    `table` comes from `counts`. The k are the `k_values` of the smallest n. Entropy is present only
    if all log-probabilities are known. LabError: fewer than two problems with judged answers.
    """
    judged = _judged(table)
    n, right = judged["n"].to_numpy(), judged["right"].to_numpy()
    answers = judged["n"] + judged["error"]
    ks = k_values(int(n.min()))
    columns: dict[str, ArrayLike] = {}
    for name, metric in (("pass@", pass_at_k), ("pass^", pass_all_k)):
        columns |= {
            f"{name}{k}": values for k, values in zip(ks, metric(n, right, ks).T, strict=True)
        }
    columns |= {
        "majority": [majority(c, votes) for c, votes in zip(right, judged["votes"], strict=True)],
        "solved": right > 0,
        "length": judged["tokens"] / answers,
        "truncated": judged["truncated"] / answers,
        "lost": judged["error"] / answers,
    }
    entropy = -judged["logp"] / judged["tokens"].clip(1)
    if entropy.notna().all():
        columns["entropy"] = entropy
    counted = {"length", "entropy"}  # all others are shares
    return {
        name: mean_interval(values, within=None if name in counted else (0, 1))
        for name, values in columns.items()
    }


def compare_models(a: pd.DataFrame, b: pd.DataFrame, k: int = 1) -> Comparison:
    """Pass@k of model a against model b, from `counts`, paired by problem: `lab.stats.compare`.

    LabError: a problem that only one of them has; a k above an n.
    """
    a, b = _paired(a, b)
    return compare(pass_at_k(a["n"], a["right"], k), pass_at_k(b["n"], b["right"], k))


def samples_ratio(base: pd.DataFrame, ours: pd.DataFrame, k: int) -> Interval:
    """How many times fewer samples ours needs to reach the mean pass@k of the base.

    MaxRL's "2.3x - 19.2x" against GRPO (Figure 5). Both, and so the target, are resampled on the
    same problems. The ratio is 0 where ours does not reach it with all its answers, and 1 where the
    base never succeeds.
    """
    base, ours = _paired(base, ours)
    pass_at_k(base["n"], base["right"], k)  # raises LabError for a k out of range
    curves = [_pass_curves(base), _pass_curves(ours)]

    def ratio(sample: NDArray, axis: int | tuple[int, ...]) -> NDArray:
        draws, problems = sample.shape
        occurrences = np.zeros((draws, problems))  # how often each problem occurs in each draw
        np.add.at(occurrences, (np.arange(draws)[:, None], sample.astype(int)), 1)
        shares = occurrences / problems
        of_base, of_ours = (shares @ curve for curve in curves)
        target = np.maximum(of_base[:, k - 1], ROUNDING)
        return _reach(of_base, target) / _reach(of_ours, target)

    return bootstrap(np.arange(len(base)), ratio, draws=REACH_DRAWS)


def _pass_curves(table: pd.DataFrame) -> NDArray:
    """Pass@k of each problem for all k up to the smallest n: "problems k"."""
    ks = np.arange(1, table["n"].min() + 1)
    blocks = np.split(ks, range(CURVE_BLOCK, len(ks), CURVE_BLOCK))
    return np.hstack([pass_at_k(table["n"], table["right"], block.tolist()) for block in blocks])


def _reach(curves: NDArray, target: NDArray) -> NDArray:
    """The smallest k at which each mean curve, "draws k", is at its target, "draws".

    It is made continuous by the straight line between k-1 and k. At least 1; infinite where the
    whole curve falls short.
    """
    # The index, k - 1, of the first k that reaches the target.
    first = (curves < target[:, None] - ROUNDING).sum(axis=1)
    draw = np.arange(len(curves))
    last = curves.shape[1] - 1
    # Interpolate linearly between that k and the one before it.
    below = curves[draw, np.maximum(first, 1) - 1]
    above = curves[draw, np.minimum(first, last)]
    step = np.divide(target - below, above - below, out=np.ones(len(curves)), where=above > below)
    interpolated = first + np.minimum(1.0, step)
    return np.where(first > last, np.inf, np.where(first == 0, 1.0, interpolated))


def _judged(table: pd.DataFrame) -> pd.DataFrame:
    """The problems that have at least one judged answer; an interval needs two of them."""
    judged = table[table["n"] > 0]
    if len(judged) < 2:
        raise LabError(
            f"{len(judged)} of {len(table)} problems have an answer that could be judged, but an"
            " interval needs two: look up the reasons in the scores, and give more problems or"
            " readable reference answers"
        )
    return judged


def _paired(a: pd.DataFrame, b: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The problems for which both have a judged answer, both tables in the order of a."""
    if unpaired := set(a["problem"]) ^ set(b["problem"]):
        raise LabError(
            f"problem {min(unpaired)!r} is in only one of two evaluations: compare evaluations on"
            " the same problems"
        )
    b = b.set_index("problem").loc[a["problem"]].reset_index()
    judged_in_both = (a["n"].to_numpy() > 0) & (b["n"].to_numpy() > 0)
    return _judged(a[judged_in_both]), b[judged_in_both]
