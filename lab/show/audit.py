"""What a file of rollouts tells about training: pass rates, gradients, dead groups, other N."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab.errors import whole
from lab.mathematics.estimators import estimator
from lab.mathematics.pass_rates import (
    dead_share,
    equal_shares,
    expected_gradient,
    intervals,
    mixing,
    share_by_bin,
)
from lab.mathematics.stats import bootstrap_each
from lab.rollouts.counting import Choice, Counts, read_table_counts
from lab.rollouts.names import HINTS
from lab.runs.rollout_store import FOLDER
from lab.runs.run_folder import Run
from lab.shapes import Array
from lab.show import plots
from lab.show.weighting import TITLE, trained_weighting, weight_shares

# Numbers that are also shown with K/n taken for p, and the names of those.
NAIVE = {"without noise": "K/n as p", "dead": "dead, K/n as p"}
# How quantities that belong to no estimator are drawn.
GREY_STYLES: dict[str, dict[str, Any]] = {
    "without noise": {"color": "0.5", "width": 0.4},
    "K/n as p": {"color": "white", "edgecolor": "0.4", "hatch": "///", "width": 0.4},
    "dead": {"color": "black", "marker": "o"},
    "all wrong": {"color": "black", "marker": "v", "linestyle": "--"},
    "all right": {"color": "black", "marker": "^", "linestyle": ":"},
    "dead, K/n as p": {
        "color": "0.5",
        "marker": "s",
        "mfc": "white",
        "linestyle": "-.",
        "zorder": 1,
    },
}
EDGES = (0.01, 0.1, 0.3, 0.7, 0.9, 0.99)  # of the bins of pass rates
SLACK = 1.0  # how far below the highest log-likelihood the smooth distribution may be


def read_counts(path: str | Path, choice: Choice | None = None) -> Counts:
    """The counts of a run folder, or of a file or folder that `lab.rollouts` reads.

    Of a run that stored its rollouts these are read, each step's problems kept apart; of another
    run the groups of its last record. LabError: what cannot be counted, in one sentence.
    """
    path, choice = Path(path), choice or Choice()
    if not any((path / name).exists() for name in ("params.json", "groups.parquet", "done.json")):
        return read_table_counts(path, choice)
    _ = Run(path).finished  # refuses one that was changed since
    rollouts = Run(path).params["parameters"].get("rollouts")
    if (path / FOLDER).exists():
        Run(path).check("rollouts")
        return read_table_counts(path / FOLDER, choice)._replace(rollouts=rollouts)
    groups = path / "groups.parquet"
    table = Run(path).groups()
    if "pass_rate" in table and not {*HINTS["size"]} & {*table}:
        last = table[table["step"] == table["step"].max()]
        notes = [
            "the run computed its pass rates and did not sample them: there is no noise to remove"
        ]
        empty = np.zeros(0, int)
        return Counts(
            last["problem"].map(str).tolist(),
            empty,
            empty,
            notes,
            rollouts,
            last["pass_rate"].to_numpy(),
        )
    return read_table_counts(groups, choice)._replace(rollouts=rollouts)


def population(path: str | Path, problems: int, choice: Choice | None = None) -> Array:
    """Pass rates of some problems that stand for those of a file or run, the hardest first.

    They are `equal_shares` of the distribution without sampling noise, or of the pass rates of a
    run that computed them. LabError: as `read_counts`.
    """
    counts = read_counts(path, choice)
    if counts.exact is not None:
        return equal_shares(counts.exact, np.ones(len(counts.exact)), problems)
    fit = mixing(counts.n, counts.correct, slack=SLACK)
    return equal_shares(fit.p, fit.mass, problems)


@dataclass(frozen=True)
class Audit:
    """The numbers of an audit.

    `table` has one number a row. Columns: what is measured, by which estimator or quantity, at a
    bin of p in % or at an N, value, low, high. `reach` is the largest n. `weights` are
    `weight_shares` of the estimator that the rollouts were trained with, first, and of the others;
    None where the file does not say how they were weighted. `meaning` says what the columns of the
    file were taken for; it is empty for a run that computed its pass rates.
    """

    notes: list[str]
    reach: float
    table: pd.DataFrame
    weights: pd.DataFrame | None = None
    meaning: dict[str, str] = field(default_factory=dict)

    def json(self) -> str:
        """All of it, as a JSON document."""
        parts = {"meaning": self.meaning, "notes": self.notes}
        parts["numbers"] = self.table.replace({np.nan: None}).to_dict("records")
        if self.weights is not None:
            parts["weights"] = self.weights.to_dict()
        return json.dumps(parts, indent=1, ensure_ascii=False)

    def lines(self) -> list[str]:
        """The report, line by line."""
        lines = [f"{role:<10}{said}" for role, said in self.meaning.items()]
        lines += ["", *self.notes] if lines else self.notes
        for title, part in self.table.groupby("what", sort=False):
            cells = [
                f"{x:.3f}" + (f" [{a:.3f}, {b:.3f}]" if a <= b else "")
                for *_, x, a, b in part.to_numpy()
            ]
            wide = part.assign(cell=cells).pivot(index="at", columns="by", values="cell").fillna("")
            wide = wide.loc[part["at"].unique(), part["by"].unique()].rename_axis(
                index=None, columns="p in %, or N"
            )
            lines += ["", str(title), *wide.to_string().splitlines()]
        if self.weights is not None:
            shares = self.weights.rename_axis(index=None, columns="K/n in %")
            lines += ["", TITLE, *shares.to_string(float_format="{:.3f}".format).splitlines()]
        return lines


def pass_rate_bins(n: float) -> tuple[list[float], list[str]]:
    """The edges of bins of pass rates that n rollouts tell apart, and the bins' names in percent.

    A bin includes its upper edge, and the first one 0 too. Edges nearer to 0 or 1 than 1/(2n) are
    left out; n is infinite where pass rates are exact.

    >>> pass_rate_bins(8)
    ([0, 0.1, 0.3, 0.7, 0.9, 1], ['0-10', '10-30', '30-70', '70-90', '90-100'])
    """
    edges = [0, *(edge for edge in EDGES if min(edge, 1 - edge) >= 0.5 / n), 1]
    names = [f"{100 * low:g}-{100 * high:g}" for low, high in zip(edges, edges[1:], strict=False)]
    return edges, names


def audit(
    path: str | Path,
    objectives: tuple[str, ...] = ("rloo", "grpo", "maxrl", "pacs_anchor"),
    rollouts: int | None = None,
    choice: Choice | None = None,
) -> Audit:
    """Audit what `read_counts` reads, for groups of `rollouts`.

    The default of `rollouts` is the N of the run, or the most frequent n. Every number belongs to
    the estimated distribution of pass rates and has its 95% interval over problems; under "K/n as
    p" it belongs to K/n taken for p. Gradients are `expected_gradient` of the estimators in
    `objectives`.
    """
    path = Path(path)
    counts = read_counts(path, choice)
    n, correct, notes, exact = counts.n, counts.correct, counts.notes, counts.exact
    if exact is None:
        m, reach, most_frequent = len(n), float(n.max()), int(np.bincount(n).argmax())
    else:
        m, reach, most_frequent = len(exact), np.inf, None
    problems = m if counts.of_problem is None else len(set(counts.of_problem))
    is_again = problems < m  # a training tries a problem at several steps
    groups = f"{m} groups of {problems} problems" if is_again else f"{m} problems"
    sizes_by_priority = (rollouts, counts.rollouts, most_frequent)
    N = whole("rollouts", next((x for x in sizes_by_priority if x is not None), None), least=2)
    edges, bins = pass_rate_bins(reach)
    sizes = sorted({N, *(2**i for i in range(1, (4 * N).bit_length()))})

    def quantities(p: np.ndarray, mass: np.ndarray) -> list[tuple[str, str, list[Any], np.ndarray]]:
        """What is measured, by which quantity, at which places, and the numbers "draws places"."""
        found = [("share of problems", "without noise", bins, share_by_bin(p, mass, edges))]
        for name in objectives:
            part = share_by_bin(p, expected_gradient(p, mass, name, N), edges)
            # Where all groups are dead there is no gradient to share: 0, not 0/0.
            share = part / np.maximum(part.sum(axis=-1, keepdims=True), 1e-6)
            found.append((f"share of gradient, N = {N}", name, bins, share))
        wrong, right = np.stack([dead_share(p, mass, size) for size in sizes], axis=-1)
        dead = {"dead": wrong + right, "all wrong": wrong, "all right": right}
        found += [("share of groups", by, sizes, share) for by, share in dead.items()]
        for name in objectives:
            large = [size for size in sizes if size >= estimator(name).least]
            sums = [expected_gradient(p, mass, name, size).sum(axis=-1) for size in large]
            found.append(("mean gradient", name, large, np.stack(sums, axis=-1)))
        return found

    def summary(p: np.ndarray, mass: np.ndarray) -> np.ndarray:
        """The numbers of all quantities, "draws numbers"."""
        return np.hstack([numbers for *_, numbers in quantities(p, mass)])

    notes = [f"{path}: {groups}; in brackets 95% intervals over problems", *notes]
    if exact is None:
        estimates = intervals(n, correct, summary, SLACK, of_problem=counts.of_problem)
        best_fit = mixing(n, correct)
        dead = ((correct == 0) | (correct == n)).mean()
        notes += [
            (
                f"{correct.sum()} of {n.sum()} rollouts are right, {n.min()} to {n.max()} a"
                f" {'group' if is_again else 'problem'}: {dead:.1%} of groups are dead; larger N is"
                " extrapolated"
            ),
            (
                f"noise removed: smooth, and {SLACK} below the highest log-likelihood,"
                f" {best_fit.log_likelihood:.2f}"
            ),
        ]
        naive = quantities(correct / n, np.full((1, m), 1 / m))
        plain = [
            (what, NAIVE[by], at, number, np.nan, np.nan)
            for what, by, places, numbers in naive
            if by in NAIVE
            for at, number in zip(places, numbers[0], strict=True)
        ]
    else:
        pass_rates = exact

        def resampled_summary(sample: np.ndarray, axis: int | tuple[int, ...]) -> np.ndarray:
            """The summary of resampled problems, "draws problems", weighted by their counts."""
            counts = [np.bincount(row.astype(int), minlength=m) for row in sample]
            return summary(pass_rates, np.stack(counts) / m)

        estimates = bootstrap_each(np.arange(m), resampled_summary, draws=200)
        plain = []
    named = quantities(np.ones(1), np.ones((1, 1)))
    keys = [(what, by, at) for what, by, places, _ in named for at in places]
    rows = [
        (*key, interval.point, interval.low, interval.high)
        for key, interval in zip(keys, estimates, strict=True)
    ]
    table = pd.DataFrame(rows + plain, columns=["what", "by", "at", "value", "low", "high"])
    weights = None
    run = path / "params.json"
    parameters = Run(path).params["parameters"] if run.exists() else None
    if exact is None and (parameters is None or (path / FOLDER).exists()):
        trained = trained_weighting(path, counts, parameters)
        if trained is not None:
            notes.append(trained.note)
            specs = list(dict.fromkeys(filter(None, (trained.spec, *objectives))))
            weights = weight_shares(counts, specs, edges, bins)
    return Audit(notes, reach, table, weights, counts.meaning)


def draw(audit: Audit) -> Figure:
    """A figure of four panels, one for each quantity of the audit."""
    figure, _ = plots.panels(2, 2, plots.PAGE, 5.0)
    by_title = audit.table.groupby("what", sort=False)
    for axes, (title, part) in zip(figure.axes, by_title, strict=True):
        ticks = part["at"].unique()
        lines = list(part.groupby("by", sort=False))
        binned = isinstance(ticks[0], str)  # bins of p, or else sizes N on a logarithmic axis
        positions = np.arange(len(ticks)) if binned else np.log2(ticks.astype(float))
        place = dict(zip(ticks, positions, strict=True))
        if "gradient, N" in title:
            axes.bar(
                positions,
                audit.table.query("by == 'without noise'")["value"],
                color="0.9",
                label="problems",
            )
        for i, (by, line) in enumerate(lines):
            values, low, high = line[["value", "low", "high"]].to_numpy().T
            errors = np.maximum((values - low, high - values), 0)
            style: dict[str, Any] = {"label": by, "yerr": errors}
            if by in GREY_STYLES:
                style |= GREY_STYLES[by]
            else:
                look = plots.line_style(by)
                style |= {"label": estimator(by).label, "marker": look.marker, **look.line}
            position = line["at"].map(place)
            # The marks of a bin stand side by side, so that none hides another.
            shift = 0.8 * (i + 0.5) / len(lines) - 0.4
            if "width" in style:
                axes.bar(position - shift, values, **style)
            elif binned:
                axes.errorbar(position + shift, values, **style | {"linestyle": ""})
            else:
                axes.errorbar(position, values, **style)
        axes.set(xlabel="pass rate p, %" if binned else "rollouts N", ylabel=title, ylim=(0, None))
        if not binned and audit.reach < ticks[-1]:
            axes.axvspan(np.log2(audit.reach), np.log2(ticks[-1]) + 0.2, color="0.93")
            axes.set_xlabel("rollouts N (grey: extrapolated)")
        axes.set_xticks(positions, ticks)
        axes.legend()
    return figure
