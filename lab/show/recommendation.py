"""Which estimator for a run: `lab.mathematics.recommend` for a file of rollouts, as a table."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lab.errors import LabError, whole
from lab.mathematics.pass_rates import resampled_mixing
from lab.mathematics.recommend import Row, knows_pass_rates, metric_of, rank
from lab.rollouts.counting import Choice, Counts
from lab.show.audit import read_counts

DRAWS = 200  # resamples of the problems
LARGEST_SIZE = 256  # of the group sizes that a budget is tried with
NEARLY = 0.01  # a group size is as good as the best one if its score falls short by no more
MODEL = (
    "Model: a step for one problem moves only that problem's pass rate, and scores are alike in"
    " right and wrong rollouts and for all problems. Then |grad p|² is proportional to pq, q = 1-p;"
    " the column 'if (pq)²' takes that instead, as in one softmax over answers, and where it ranks"
    " otherwise the file does not decide. The model fails where problems share what they learn. It"
    " predicts one step, each method at the rate that makes its steps equally noisy;"
    " docs/recommend.md says how well it did."
)


@dataclass(frozen=True)
class Recommendation:
    """The ranking of estimators and recipes for the problems of a file.

    `sizes` are further group sizes whose scores the rows hold, the file's own first; `budget` is
    the number of rollouts in a step, if one was given.
    """

    notes: list[str]
    metric: str
    N: int
    rows: list[Row]
    sizes: tuple[int, ...]
    file_size: int | None
    budget: int | None

    def lines(self) -> list[str]:
        """The screen, line by line."""
        columns = ["rank", "score [95%]", "", "if (pq)²", "at equal problems", "rollouts"]
        cells = [self._cells(place, row) for place, row in enumerate(self.rows, start=1)]
        if self.file_size is not None and self.file_size != self.N:
            columns.append(f"at N={self.file_size}")
            for line, row in zip(cells, self.rows, strict=True):
                line.append(_number(row.elsewhere[self.file_size]))
        if self.budget is not None:
            columns += ["problems a step", "best N", "score"]
            for line, row in zip(cells, self.rows, strict=True):
                line += self._budget_cells(row)
        columns.append("estimator or recipe")
        for line, row in zip(cells, self.rows, strict=True):
            line.append(_names(row))
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in (columns, *cells)
        ]
        title = f"predicted gain of {self.metric} for each unit of noise, N = {self.N}, best = 1"
        return [
            *self.notes,
            "",
            title,
            *table,
            "",
            *textwrap.wrap(self._remarks(), 100),
            *textwrap.wrap(MODEL, 100),
        ]

    def _cells(self, place: int, row: Row) -> list[str]:
        """What every table shows of a row, without its names."""
        cost = "never ends" if math.isinf(row.rollouts) else f"{row.rollouts:.1f}"
        visits = "-" if math.isinf(row.rollouts) else f"{row.per_visit:.3f}"
        interval = f" [{row.low:.3f}, {row.high:.3f}]"
        if math.isnan(row.low):
            interval = " [not known]"
        elif row.verdict == "best":
            interval = ""
        return [
            str(place),
            f"{row.score:.3f}{interval}",
            row.verdict,
            _number(row.steeper),
            visits,
            cost,
        ]

    def _budget_cells(self, row: Row) -> list[str]:
        """Problems in a step of the budget, and the smallest N that is nearly the best for it."""
        assert self.budget is not None
        problems = "-" if math.isinf(row.rollouts) else f"{self.budget / row.rollouts:.0f}"
        tried = {N: score for N, score in row.elsewhere.items() if N <= self.budget}
        scores = {N: score for N, score in tried.items() if not math.isnan(score)}
        if not scores or max(scores.values()) <= 0:
            return [problems, "-", "-"]
        enough = (1 - NEARLY) * max(scores.values())
        best = min(N for N, score in scores.items() if score >= enough)
        return [problems, str(best), f"{scores[best]:.3f}"]

    def _remarks(self) -> str:
        known = any(knows_pass_rates(name) for row in self.rows for name in row.names)
        remarks = [
            "Score: the gain at equal rollouts and equal noise; intervals over problems, all rows"
            " together.",
            "gate=drop is listed alone only where it changes something.",
        ]
        if known:
            remarks.append(
                "A recipe marked * follows each problem's p as if it were known, and is not ranked"
                " as best."
            )
        if self.budget is not None:
            remarks.append(
                f"best N: the smallest power of two within {NEARLY:.0%} of the highest score, at"
                f" {self.budget} rollouts a step."
            )
        return " ".join(remarks)


def recommend(
    path: str | Path,
    metric: str = "pass@1",
    N: int | None = None,
    budget: int | None = None,
    choice: Choice | None = None,
) -> Recommendation:
    """Rank the estimators of the catalogue and some recipes for what `read_counts` reads.

    Pass rates are those of `resampled_mixing`, so that the noise of K/n is gone, or exact ones
    where the run computed them. The default of `N` is that of the run, or the most
    frequent n. With `budget`, the rollouts of a step, other group sizes are compared too. LabError:
    what cannot be counted, an unknown metric, a budget of fewer than N rollouts.
    """
    metric_of(metric)
    path = Path(path)
    counts = read_counts(path, choice)
    file_size = counts.rollouts
    if file_size is None and counts.exact is None:
        file_size = int(np.bincount(counts.n).argmax())
    chosen = N if N is not None else file_size
    if chosen is None:
        raise LabError(f"{path} does not say how many rollouts a group has: give N=16, for example")
    chosen = whole("N", chosen, least=2)
    sizes = [] if file_size is None or file_size < 2 else [file_size]
    if budget is not None:
        limit = whole("budget", budget, least=chosen)
        sizes += [2**i for i in range(1, 20) if 2**i <= min(limit, LARGEST_SIZE)]
    p, masses = _pass_rates(counts)
    rows = rank(metric, chosen, p, masses, tuple(sizes))
    notes = [f"{path}: {len(counts.problems)} problems", *counts.notes, *_cautions(counts, metric)]
    if math.isnan(rows[0].low):
        notes.append(
            "undecided: all rollouts or all problems are alike, and the file does not tell how"
            " certain a score is; add problems of other pass rates"
        )
    return Recommendation(notes, metric, chosen, rows, tuple(sizes), file_size, budget)


def _pass_rates(counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """The points and the masses that `rank` takes; without resamples where they would say nothing.

    If all rollouts are wrong, or all right, resamples differ at most in n.
    """
    if counts.exact is None:
        p, masses = resampled_mixing(counts.n, counts.correct, draws=DRAWS)
        return p, masses if 0 < counts.correct.sum() < counts.n.sum() else masses[:1]
    p, problems = np.unique(counts.exact, return_counts=True)
    total = problems.sum()
    resamples = np.random.default_rng(0).multinomial(total, problems / total, DRAWS)
    return p, np.vstack((problems, resamples)) / total


def _cautions(counts: Counts, metric: str) -> list[str]:
    """Where the file says little about the metric."""
    if counts.exact is not None:
        return []
    lines = [f"{counts.correct.sum()} of {counts.n.sum()} rollouts are right; noise of K/n removed"]
    unsolved = (counts.correct == 0).mean()
    order = metric.removeprefix("pass@")
    if order.isdigit() and int(order) > counts.n.max():
        lines.append(
            f"extrapolated: {metric} depends on pass rates that {counts.n.max()} rollouts do not"
            f" tell apart; {unsolved:.1%} of problems have no right one"
        )
    elif not order.isdigit() and unsolved > 0:
        lines.append(
            f"{unsolved:.1%} of problems have no right rollout: {metric} may depend on how rare"
            " right ones are there"
        )
    return lines


def _names(row: Row) -> str:
    """The names of a row, without those that only add gate=drop to another."""
    plain = set(row.names)
    kept = [name for name in row.names if name.removesuffix(", gate=drop") not in plain - {name}]
    return "; ".join(f"* {name}" if knows_pass_rates(name) else name for name in kept)


def _number(score: float) -> str:
    return "-" if math.isnan(score) else f"{score:.3f}"
