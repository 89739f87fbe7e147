"""Evaluation: from a table of judged answers to metrics with intervals, comparisons and tables.
Floor 2.

| metric | of a problem with n judged answers, c of them right |
|---|---|
| pass@k, pass^k | at least one, all of k are right: `lab.metrics`, unbiased |
| maj@k, majority | the right answer wins a vote among k of them, among all n: `majority` |
| solved | c > 0 |
| length | tokens of an answer, its end token included |
| truncated, lost | shares of the answers that hit the limit, and that the verifier could not judge |
| entropy | minus the log-probability of a token, in nats |

Entropy, the mean of -log q over draws from q, estimates the entropy per token of the distribution
that was sampled, after temperature and top-p: it lies below that of the model itself.

A number is a mean over problems, with its interval over problems. An answer that could not be
judged is lost, neither right nor wrong: n may differ by problem, k goes to the smallest n, and a
problem that lost all of them is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lab.errors import LabError, one_of, real
from lab.llm.data.prompts import LENGTH
from lab.llm.verify.extract import key, normal, number
from lab.metrics import majority_at_k, pass_all_k, pass_at_k
from lab.stats import Comparison, Interval, bootstrap, compare

REACH_DRAWS = 2000  # of the intervals that need the whole curve in every draw
ROUNDING = 1e-12  # as in `lab.metrics.samples_to_reach`


def grid(n: int) -> list[int]:
    """The powers of two below n, and n.

    >>> grid(6)
    [1, 2, 4, 6]
    """
    return [2**i for i in range((n - 1).bit_length())] + [n]


def counts(table: pd.DataFrame, truncation: str = "score") -> pd.DataFrame:
    """One row a problem, in order of first appearance; what all metrics are made of.

    `table` has one row an answer: problem, tokens, logp (natural, of the whole answer; NaN where
    unknown), finish ("stop" or "length"), answer (missing where none was found), verdict (right,
    wrong, error). `truncation` is the policy for truncated answers: "score" judges them like
    others, "zero" counts them as wrong and without an answer.

    Columns: problem, n (judged), right, error, truncated, silent (judged, without an answer),
    tokens and logp (sums over all answers), votes (how often each wrong answer came, most first).
    Wrong answers are the same if they are the same number or agree letter by letter
    (`answers.number`, `answers.key`); right ones are all the same.
    """
    one_of("truncation", truncation, ("score", "zero"))
    at, problems = pd.factorize(table["problem"])
    verdict, late = np.asarray(table["verdict"]), np.asarray(table["finish"] == LENGTH)
    judged, void = verdict != "error", late & (truncation == "zero")
    right = (verdict == "right") & ~void
    given, answers = pd.factorize(table["answer"])
    ballots, _ = pd.factorize(np.array([_ballot(answer) for answer in answers], dtype=object))
    wrong = judged & ~right & ~void & (given >= 0)
    cast, often = np.unique(
        np.stack([at[wrong], ballots[given[wrong]]]), axis=1, return_counts=True
    )
    votes = np.split(often, np.searchsorted(cast[0], np.arange(1, len(problems))))

    def add(values: NDArray) -> NDArray:
        return np.bincount(at, values, len(problems))

    whole = {
        "n": judged,
        "right": right,
        "error": ~judged,
        "truncated": late,
        "silent": judged & ~right & ~wrong,
        "tokens": table["tokens"],
    }
    return pd.DataFrame(
        {"problem": np.asarray(problems)}
        | {name: add(of).astype(int) for name, of in whole.items()}
        | {
            "logp": add(table["logp"]),
            "votes": [tuple(sorted(one.tolist())[::-1]) for one in votes],
        }
    )


def _ballot(answer: str) -> str:
    value = number(text := normal(answer))
    return key(text) if value is None else str(value)


def majority(right: int, votes: Sequence[int], silent: int, k: int) -> float:
    """Maj@k of one problem, where an answer that was not found does not vote.

    The mean of `lab.metrics.majority_at_k` over how many of the k drawn answers vote
    (hypergeometric): exact to 1e-9. At k = n it is one vote; a smaller k takes up to seconds a
    problem where n is large and many answers differ.

    >>> majority(1, [1], 2, 4), majority(1, [], 3, 1)  # two voters, a tie; one draw is the pass rate
    (0.5, 0.25)
    """
    cast = [right, *votes]
    voters = sum(cast)
    pass_at_k(voters + silent, right, k)  # refuses a k that is not there
    drawn, chances = np.arange(max(0, k - silent), min(k, voters) + 1), np.ones(1)
    if len(drawn) > 1:
        from scipy.stats import hypergeom

        chances = hypergeom.pmf(drawn, voters + silent, voters, k)
    return float(
        sum(
            chance * majority_at_k(cast, int(m))
            for m, chance in zip(drawn, chances, strict=True)
            if right and m and chance > ROUNDING
        )
    )


def summary(
    table: pd.DataFrame, ks: Sequence[int] = (), votes: Sequence[int] = ()
) -> dict[str, Interval]:
    """Every metric by name, such as "pass@8", with its 95% interval over problems.

    `table`: `counts`. `ks`: of pass@k and pass^k; empty, `grid` of the smallest n. `votes`: of
    maj@k. Entropy is only there where every log-probability is. LabError: fewer than two problems
    with judged answers; a k above an n.
    """
    kept = _judged(table)
    n, right, least = kept["n"].to_numpy(), kept["right"].to_numpy(), int(kept["n"].min())
    answers, ks = kept["n"] + kept["error"], list(ks) or grid(least)
    columns = {}
    for name, metric in (("pass@", pass_at_k), ("pass^", pass_all_k)):
        columns |= {
            f"{name}{k}": values for k, values in zip(ks, metric(n, right, ks).T, strict=True)
        }
    drawn = {f"maj@{k}": np.full(len(n), k) for k in votes} | {"majority": n}
    for name, sizes in drawn.items():
        columns[name] = [
            majority(*row) for row in zip(right, kept["votes"], kept["silent"], sizes, strict=True)
        ]
    columns |= {
        "solved": right > 0,
        "length": kept["tokens"] / answers,
        "truncated": kept["truncated"] / answers,
        "lost": kept["error"] / answers,
    }
    entropy = -kept["logp"] / kept["tokens"].clip(1)
    columns |= {"entropy": entropy} if entropy.notna().all() else {}
    return dict(zip(columns, bootstrap(np.array([*columns.values()], dtype=float).T), strict=True))


def compare_models(a: pd.DataFrame, b: pd.DataFrame, k: int = 1) -> Comparison:
    """Pass@k of a against b, paired over the same problems: `lab.stats.compare`.

    `a` and `b`: `counts`, in any order of problems. LabError: a problem that only one of them has;
    k above an n.
    """
    ours, theirs = _paired(a, b)
    return compare(*(pass_at_k(one["n"], one["right"], k) for one in (ours, theirs)))


def samples_to_reach(table: pd.DataFrame, target: float) -> Interval:
    """How many samples a problem bring the mean pass@k to `target`: `lab.metrics.samples_to_reach`,
    and its interval.

    An end of it is infinite where resampled problems do not reach the target with the answers there
    are.
    """
    target, curve = real("target", target, ROUNDING, 1), _Curve(_judged(table))
    return bootstrap(
        np.arange(curve.problems),
        statistic=lambda x, axis: _reach(curve(x), target),
        draws=REACH_DRAWS,
    )


def samples_ratio(base: pd.DataFrame, ours: pd.DataFrame, k: int) -> Interval:
    """How many times fewer samples ours needs for what the base reaches with k, paired over the
    same problems.

    MaxRL's "2.3x - 19.2x" against GRPO (Figure 5). The target is the mean pass@k of the base,
    estimated anew in every resample. 0 where ours does not reach it with the answers there are; 1
    where the base never succeeds.
    """
    base, ours = _paired(base, ours)
    pass_at_k(base["n"], base["right"], k)  # refuses a k that is not there
    curves = _Curve(base), _Curve(ours)

    def ratio(sample: NDArray, axis: int) -> NDArray:
        low, high = (curve(sample) for curve in curves)
        target = np.maximum(low[:, k - 1], ROUNDING)
        return _reach(low, target) / _reach(high, target)

    return bootstrap(np.arange(len(base)), statistic=ratio, draws=REACH_DRAWS)


class _Curve:
    """Mean pass@k for every k from 1 to the smallest n, of resampled problems: "draws problems" to
    "draws k".
    """

    def __init__(self, table: pd.DataFrame) -> None:
        kinds, self.kind = np.unique(table[["n", "right"]].to_numpy(), axis=0, return_inverse=True)
        top, self.problems = int(kinds[:, 0].min()), len(table)
        blocks = [
            range(first, min(first + 256, top + 1)) for first in range(1, top + 1, 256)
        ]  # bounds the memory
        self.curves = np.hstack([pass_at_k(kinds[:, 0], kinds[:, 1], block) for block in blocks])

    def __call__(self, sample: NDArray) -> NDArray:
        kinds, draws = len(self.curves), len(sample)
        flat = self.kind[sample.astype(int)] + kinds * np.arange(draws)[:, None]
        return (
            np.bincount(flat.ravel(), minlength=kinds * draws).reshape(draws, kinds)
            @ self.curves
            / self.problems
        )


def _reach(curves: NDArray, target: NDArray | float) -> NDArray:
    """`lab.metrics.samples_to_reach` for each mean curve, "draws k"."""
    target = np.broadcast_to(target, len(curves))
    first = (curves < target[:, None] - ROUNDING).sum(
        axis=1
    )  # the index, k - 1, of the first k that reaches it
    draw, last = np.arange(len(curves)), curves.shape[1] - 1
    below, here = curves[draw, np.maximum(first, 1) - 1], curves[draw, np.minimum(first, last)]
    step = np.divide(target - below, here - below, out=np.ones(len(curves)), where=here > below)
    return np.where(first > last, np.inf, np.where(first == 0, 1.0, first + np.minimum(1.0, step)))


def _judged(table: pd.DataFrame) -> pd.DataFrame:
    kept = table[table["n"] > 0]
    if len(kept) < 2:
        raise LabError(
            f"{len(kept)} of {len(table)} problems have an answer that could be judged, and an"
            " interval needs two: see the reasons in the scores, and give more problems, or"
            " readable golds"
        )
    return kept


def _paired(a: pd.DataFrame, b: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both in the order of a, without the problems of which either has no judged answer."""
    if lone := set(a["problem"]) ^ set(b["problem"]):
        raise LabError(
            f"problem {min(lone)!r} is in only one of two evaluations: compare them on the same"
            " problems"
        )
    b = b.set_index("problem").loc[a["problem"]].reset_index()
    both = (a["n"].to_numpy() > 0) & (b["n"].to_numpy() > 0)
    return _judged(a[both]), b[both]
