"""Metrics with intervals, and comparisons of models, from a table of judged answers.

| metric | for a problem with n judged answers, c of them right |
|---|---|
| pass@k, pass^k | at least one of k answers, all k answers are right: `lab.metrics`, unbiased |
| maj@k, majority | the right answer wins a vote among k answers, among all n: `majority` |
| solved | c > 0 |
| length | tokens per answer, including the end token |
| truncated, lost | shares of answers that hit the token limit, that the verifier could not judge |
| entropy | minus the mean log-probability of a token, in nats |

The entropy, a mean of -log q over samples from q, estimates the entropy per token of the sampling
distribution, after temperature and top-p. It lies below that of the model itself.

Every number is a mean over problems with an interval over problems. An answer that could not be
judged is lost: it is neither right nor wrong. So n may differ between problems; k goes up to the
smallest n, and problems that lost all their answers are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.errors import LabError, one_of
from lab.judge.equality import rational
from lab.judge.spelling import letters
from lab.llm.data.prompts import LENGTH
from lab.mathematics.metrics import majority_at_k, pass_all_k, pass_at_k
from lab.mathematics.stats import Comparison, Interval, bootstrap, compare, mean_interval

REACH_DRAWS = 2000  # bootstrap draws where every draw needs the whole curve of pass@k
ROUNDING = 1e-12  # as in `lab.metrics.samples_to_reach`


def k_values(n: int) -> list[int]:
    """The values of k that are reported for n answers: the powers of two below n, and n.

    >>> k_values(6)
    [1, 2, 4, 6]
    """
    return [2**i for i in range((n - 1).bit_length())] + [n]


def counts(table: pd.DataFrame, truncation: str = "score") -> pd.DataFrame:
    """Counts of answers per problem, in order of first appearance: the input of all metrics.

    `table` has one row per answer: problem, tokens, logp (natural logarithm, sum over the answer;
    NaN where unknown), finish ("stop" or "length"), answer (missing where none was extracted),
    verdict (right, wrong, error). `truncation` says what happens to truncated answers: "score"
    judges them like others, "zero" counts them as wrong and without an answer.

    Columns: problem, n (judged), right, error, truncated, no_answer (judged, no answer extracted),
    tokens and logp (sums over all answers), votes (how often each wrong answer occurs, in
    descending order). Two wrong answers are the same if they are the same number or the same text
    (`number` and `key` of `lab.judge.extract`); all right answers are the same.
    """
    one_of("truncation", truncation, ("score", "zero"))
    truncated = table["finish"] == LENGTH
    zeroed = truncated & (truncation == "zero")
    judged = table["verdict"] != "error"
    right = (table["verdict"] == "right") & ~zeroed
    silent = table["answer"].isna() | zeroed
    columns = {
        "n": judged,
        "right": right,
        "error": ~judged,
        "truncated": truncated,
        "no_answer": judged & ~right & silent,
        "tokens": table["tokens"],
    }
    problem = table["problem"].astype(object)
    sums = pd.DataFrame(columns).groupby(problem, sort=False).sum().astype(int)
    # pandas would leave out what is unknown; here one unknown makes the sum unknown.
    sums["logp"] = np.bincount(pd.factorize(problem)[0], table["logp"])
    wrong = table[judged & ~right & ~silent]
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


def majority(right: int, votes: Sequence[int], no_answer: int, k: int) -> float:
    """Maj@k of one problem, where responses without an answer abstain.

    The mean of `lab.metrics.majority_at_k` over the number of voters among the k drawn responses,
    which is hypergeometric; exact to 1e-9. At k = n there is a single vote. A smaller k takes up to
    seconds per problem where n is large and there are many different answers.

    >>> majority(1, [1], 2, 4), majority(1, [], 3, 1)  # a tie of two; one draw is the pass rate
    (0.5, 0.25)
    """
    vote_counts = [right, *votes]
    voters = sum(vote_counts)
    pass_at_k(voters + no_answer, right, k)  # raises LabError for a k out of range
    drawn_voters = np.arange(max(0, k - no_answer), min(k, voters) + 1)
    probabilities = np.ones(1)
    if len(drawn_voters) > 1:
        from scipy.stats import hypergeom

        probabilities = hypergeom.pmf(drawn_voters, voters + no_answer, voters, k)
    return float(
        sum(
            probability * majority_at_k(vote_counts, int(m))
            for m, probability in zip(drawn_voters, probabilities, strict=True)
            # The right answer cannot win without a vote; negligible terms are expensive.
            if right and m and probability > ROUNDING
        )
    )


def summary(
    table: pd.DataFrame, ks: Sequence[int] = (), votes: Sequence[int] = ()
) -> dict[str, Interval]:
    """Every metric by name, such as "pass@8", with its 95% interval over problems.

    `table` comes from `counts`. `ks` are the k of pass@k and pass^k; if empty, `k_values` of the
    smallest n. `votes` are the k of maj@k. Entropy is present only if all log-probabilities are
    known. LabError: fewer than two problems with judged answers; a k above an n.
    """
    judged = _judged(table)
    n = judged["n"].to_numpy()
    right = judged["right"].to_numpy()
    answers = judged["n"] + judged["error"]
    ks = list(ks) or k_values(int(n.min()))
    columns: dict[str, ArrayLike] = {}
    for name, metric in (("pass@", pass_at_k), ("pass^", pass_all_k)):
        values = metric(n, right, ks)  # "problems k"
        columns |= {f"{name}{k}": values[:, i] for i, k in enumerate(ks)}
    sample_sizes = {f"maj@{k}": np.full(len(n), k) for k in votes} | {"majority": n}
    for name, sizes in sample_sizes.items():
        rows = zip(right, judged["votes"], judged["no_answer"], sizes, strict=True)
        columns[name] = [majority(*row) for row in rows]
    columns["solved"] = right > 0
    columns["length"] = judged["tokens"] / answers
    columns["truncated"] = judged["truncated"] / answers
    columns["lost"] = judged["error"] / answers
    entropy = -judged["logp"] / judged["tokens"].clip(1)
    if entropy.notna().all():
        columns["entropy"] = entropy
    counted = {"length", "entropy"}  # all others are shares
    return {
        name: mean_interval(values, within=None if name in counted else (0, 1))
        for name, values in columns.items()
    }


def compare_models(a: pd.DataFrame, b: pd.DataFrame, k: int = 1) -> Comparison:
    """Pass@k of model a against model b, paired by problem: `lab.stats.compare`.

    `a` and `b` come from `counts`; their problems may be in any order. LabError: a problem that
    only one of them has; a k above an n.
    """
    a, b = _paired(a, b)
    return compare(pass_at_k(a["n"], a["right"], k), pass_at_k(b["n"], b["right"], k))


def samples_ratio(base: pd.DataFrame, ours: pd.DataFrame, k: int) -> Interval:
    """How many times fewer samples ours needs to reach the mean pass@k of the base.

    MaxRL's "2.3x - 19.2x" against GRPO (Figure 5). Both are resampled on the same problems, and the
    target, the mean pass@k of the base, is estimated anew in every resample. The ratio is 0 where
    ours does not reach it with all its answers, and 1 where the base never succeeds.
    """
    base, ours = _paired(base, ours)
    pass_at_k(base["n"], base["right"], k)  # raises LabError for a k out of range
    base_curve = _MeanPassCurve(base)
    our_curve = _MeanPassCurve(ours)

    def ratio(sample: NDArray, axis: int | tuple[int, ...]) -> NDArray:
        base_means = base_curve(sample)
        our_means = our_curve(sample)
        target = np.maximum(base_means[:, k - 1], ROUNDING)
        return _reach(base_means, target) / _reach(our_means, target)

    rows = np.arange(len(base))
    return bootstrap(rows, ratio, draws=REACH_DRAWS)


class _MeanPassCurve:
    """Mean pass@k of resampled problems for all k up to the smallest n.

    Called with the rows of resampled problems, "draws problems", it returns "draws k". Problems
    with the same n and number of right answers share one curve, which saves time and memory.
    """

    def __init__(self, table: pd.DataFrame) -> None:
        pairs, self.pair_of_problem = np.unique(
            table[["n", "right"]].to_numpy(), axis=0, return_inverse=True
        )
        largest_k = int(pairs[:, 0].min())
        # 256 values of k at a time bound the memory.
        blocks = [
            range(first, min(first + 256, largest_k + 1)) for first in range(1, largest_k + 1, 256)
        ]
        self.problems = len(table)
        self.curves = np.hstack([pass_at_k(pairs[:, 0], pairs[:, 1], block) for block in blocks])

    def __call__(self, sample: NDArray) -> NDArray:
        pairs = len(self.curves)
        draws = len(sample)
        # How often each pair occurs in each draw, counted by one bincount over all draws.
        flat = self.pair_of_problem[sample.astype(int)] + pairs * np.arange(draws)[:, None]
        occurrences = np.bincount(flat.ravel(), minlength=pairs * draws).reshape(draws, pairs)
        return occurrences @ self.curves / self.problems


def _reach(curves: NDArray, target: NDArray) -> NDArray:
    """`lab.metrics.samples_to_reach` of a target for each mean curve, "draws" of "draws k"."""
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
