"""What a file of rollouts tells about training: pass rates, gradients, dead groups, other N."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab.errors import LabError, whole
from lab.estimators import estimator
from lab.groups import Rollout, make_groups
from lab.metrics import pass_at_k
from lab.pass_rates import dead_share, expected_gradient, intervals, mixing, share_by_bin
from lab.runs.run_folder import Run
from lab.show import plots
from lab.stats import bootstrap_each

# The columns that are recognised. Prompts as texts are what TRL and verl write.
IDS = ("problem", "uid", "prompt_id", "index")
TEXTS = ("prompt", "input")
SIZES = ("n", "N", "rollouts", "samples")
RIGHT = ("k", "K", "correct", "right")
REWARDS = ("correct", "acc", "reward", "score")
READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": lambda path: pd.read_csv(path, dtype=dict.fromkeys(IDS, str)),
    ".parquet": pd.read_parquet,
    ".jsonl": lambda path: pd.read_json(path, lines=True, dtype=False),
}
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


class Counts(NamedTuple):
    """How often each problem was tried and solved.

    `n` and `correct` are "problems", as is `exact`: the pass rates of a run that computed them, in
    which case n and correct are empty. `notes` say how the file was read. `rollouts` is the N of a
    run of the lab.
    """

    problems: list[str]
    n: np.ndarray
    correct: np.ndarray
    notes: list[str]
    rollouts: int | None = None
    exact: np.ndarray | None = None


def read_counts(path: str | Path, reward: str | None = None) -> Counts:
    """Read the last step of a run folder, a .csv, .parquet or .jsonl file, or a folder of files.

    A table of counts has a column n, N, rollouts or samples and a column k, K, correct or right;
    its last step is read. A table of rollouts has a column problem, uid, prompt_id or index, or the
    text prompt or input, and a reward of 0 or 1 in the column correct, acc, reward, score, or the
    one that `reward` names. TRL's completions/ and verl's rollout_data_dir are folders of such
    tables. LabError: no such columns, problems with several rows of counts, numbers that are not
    counts.
    """
    path = Path(path)
    run = Run(path) if (path / "groups.parquet").exists() else None
    table = run.groups() if run else _table(path)
    rollouts = run.params["parameters"].get("rollouts") if run else None
    size, right, name, reward_column = (
        next((column for column in names if column in table), None)
        for names in (SIZES, RIGHT, IDS + TEXTS, REWARDS)
    )
    exact = bool(run) and size is None and "pass_rate" in table
    try:
        if reward or not (size and right or exact):
            return _rollouts(table, name, reward or reward_column)
        table = table[table["step"] == table["step"].max()] if "step" in table else table
        problems = table[name].map(str) if name else "row " + table.index.map(str).to_series()
        if problems.duplicated().any():
            raise LabError(
                f"problem {problems[problems.duplicated()].iloc[0]} has several rows of counts: add"
                " them up"
            )
        if exact:
            notes = [
                "the run computed its pass rates and did not sample them: there is no noise to"
                " remove"
            ]
            empty = np.zeros(0, int)
            pass_rates = table["pass_rate"].to_numpy()
            return Counts(problems.tolist(), empty, empty, notes, rollouts, pass_rates)
        pass_at_k(table[size], table[right], 1)  # an error if these are not counts
        n, correct = table[[size, right]].to_numpy(np.int64).T
        return Counts(problems.tolist(), n, correct, [], rollouts)
    except LabError as error:
        raise LabError(f"{path}: {error}") from error


def _table(path: Path) -> pd.DataFrame:
    """A file, or all readable files of a folder, as one table."""
    files = [
        file
        for file in (sorted(path.iterdir()) if path.is_dir() else [path])
        if file.suffix in READERS
    ]
    try:
        return pd.concat([READERS[file.suffix](file) for file in files], ignore_index=True)
    except (ValueError, OSError) as error:
        raise LabError(
            f"{path} cannot be read ({error}): give a run, or files of {', '.join(READERS)}"
        ) from error


def _rollouts(table: pd.DataFrame, name: str | None, reward: str | None) -> Counts:
    """The counts of a table with one rollout a row; problems of different steps are kept apart."""
    # TRL names the column of rewards after the reward function: take the only column of numbers.
    numbers = table.select_dtypes("number").columns.difference(["step", "advantage"])
    if reward is None and len(numbers) == 1:
        reward = str(numbers[0])
    if name is None or reward not in table or table[name].isna().any():
        raise LabError(
            f"found columns {', '.join(map(str, table))}: give {'|'.join(SIZES)} and"
            f" {'|'.join(RIGHT)}, or {'|'.join(IDS + TEXTS)} in every row and {'|'.join(REWARDS)}"
            " or the column that reward= names"
        )
    notes = [f"problems from column {name}, rewards from column {reward}"]
    steps: pd.Series | str = ""
    if "step" in table and (logged := table["step"].nunique()) > 1:
        # A step that repeats another one word for word was logged twice: it counts once.
        parts = {
            repr(part.drop(columns="step").to_numpy().tolist()): part
            for _, part in table.groupby("step")
        }
        table = pd.concat(parts.values())
        steps = " of step " + table["step"].map(str)
        notes.append(
            f"{logged} steps, their problems kept apart; {logged - len(parts)} repeat another and"
            " are dropped"
        )
    ids = table[name].map(str)
    index = pd.Series(range(len(table)), table.index)
    verl = ids.str.extract(r"^(.+)_(\d+)_\d+$")  # its uid is problem_rollout_output
    if name == "uid" and ids.is_unique and verl.notna().all(axis=None):
        ids, index = verl[0], verl[1].map(int)
    if name in TEXTS:
        ids = "prompt " + pd.Series(pd.factorize(ids)[0], ids.index).map(str)
    has_reward = table[reward].notna()
    problems = (ids + steps)[has_reward]
    rewards = table[reward][has_reward]
    groups = make_groups(map(Rollout, problems, index[has_reward], rewards), "score")
    n, correct = np.array([(group.N, group.K) for group in groups]).reshape(-1, 2).T
    if (n <= 1).all():
        raise LabError(
            f"column {name} gives every rollout a problem of its own: name the problems in a column"
            " problem"
        )
    if not has_reward.all():
        missing = (~has_reward).sum()
        notes.append(f"{missing} of {len(has_reward)} rollouts have no reward and are left out")
    if name in TEXTS:
        notes.append(
            f"equal prompts are one problem: {(n > np.median(n)).sum()} of {len(n)} have more rows"
            " than most"
        )
    return Counts([group.problem for group in groups], n, correct, notes)


@dataclass(frozen=True)
class Audit:
    """The numbers of an audit.

    `table` has one number a row. Columns: what is measured, by which estimator or quantity, at a
    bin of p in % or at an N, value, low, high. `reach` is the largest n.
    """

    notes: list[str]
    reach: float
    table: pd.DataFrame

    def lines(self) -> list[str]:
        """The report, line by line."""
        lines = list(self.notes)
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
    reward: str | None = None,
) -> Audit:
    """Audit what `read_counts` reads, for groups of `rollouts`.

    The default of `rollouts` is the N of the run, or the most frequent n. Every number belongs to
    the estimated distribution of pass rates and has its 95% interval over problems; under "K/n as
    p" it belongs to K/n taken for p. Gradients are `expected_gradient` of the estimators in
    `objectives`.
    """
    _, n, correct, notes, run_rollouts, exact = read_counts(path, reward)
    if exact is None:
        m, reach, most_frequent = len(n), float(n.max()), int(np.bincount(n).argmax())
    else:
        m, reach, most_frequent = len(exact), np.inf, None
    sizes_by_priority = (rollouts, run_rollouts, most_frequent)
    N = whole("rollouts", next((x for x in sizes_by_priority if x is not None), None), least=2)
    edges, bins = pass_rate_bins(reach)
    sizes = sorted({N, *(2**i for i in range(1, (4 * N).bit_length()))})
    keys: list[tuple[str, str, Any]] = [("share of problems", "without noise", x) for x in bins]
    keys += [(f"share of gradient, N = {N}", name, x) for name in objectives for x in bins]
    keys += [
        ("share of groups", by, size) for by in ("dead", "all wrong", "all right") for size in sizes
    ]
    signals = [
        ("mean gradient", name, x)
        for name in objectives
        for x in sizes
        if x >= estimator(name).least
    ]

    def summary(p: np.ndarray, mass: np.ndarray) -> np.ndarray:
        """The numbers of `keys` and `signals`, "draws numbers"."""
        parts = [share_by_bin(p, expected_gradient(p, mass, name, N), edges) for name in objectives]
        # Where all groups are dead there is no gradient to share: 0, not 0/0.
        shares = [part / np.maximum(part.sum(axis=-1, keepdims=True), 1e-6) for part in parts]
        wrong, right = np.stack([dead_share(p, mass, size) for size in sizes], axis=-1)
        signal = [expected_gradient(p, mass, name, size).sum(axis=-1) for _, name, size in signals]
        problems = share_by_bin(p, mass, edges)
        return np.hstack((problems, *shares, wrong + right, wrong, right, np.stack(signal, -1)))

    notes = [f"{path}: {m} problems; in brackets 95% intervals over problems", *notes]
    if exact is None:
        estimates = intervals(n, correct, summary, SLACK)
        best_fit = mixing(n, correct)
        dead = ((correct == 0) | (correct == n)).mean()
        notes += [
            (
                f"{correct.sum()} of {n.sum()} rollouts are right, {n.min()} to {n.max()} a"
                f" problem: {dead:.1%} of groups are dead; larger N is"
                " extrapolated"
            ),
            (
                f"noise removed: smooth, and {SLACK} below the highest log-likelihood,"
                f" {best_fit.log_likelihood:.2f}"
            ),
        ]
        naive = zip(keys, summary(correct / n, np.full((1, m), 1 / m))[0], strict=False)
        plain = [
            (title, NAIVE[by], place, value, np.nan, np.nan)
            for (title, by, place), value in naive
            if by in NAIVE
        ]
    else:
        pass_rates = exact

        def resampled_summary(sample: np.ndarray, axis: int | tuple[int, ...]) -> np.ndarray:
            """The summary of resampled problems, "draws problems", weighted by their counts."""
            counts = [np.bincount(row.astype(int), minlength=m) for row in sample]
            return summary(pass_rates, np.stack(counts) / m)

        estimates = bootstrap_each(np.arange(m), "problems", resampled_summary, draws=200)
        plain = []
    rows = [
        (*key, interval.point, interval.low, interval.high)
        for key, interval in zip(keys + signals, estimates, strict=True)
    ]
    table = pd.DataFrame(rows + plain, columns=["what", "by", "at", "value", "low", "high"])
    return Audit(notes, reach, table)


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
