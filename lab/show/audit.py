"""What a file of rollouts says of training: its pass rates, gradients, dead groups, and other N.
Floor 3.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lab.errors import LabError, whole
from lab.estimators import estimator
from lab.groups import Rollout, make_groups
from lab.metrics import pass_at_k
from lab.pass_rates import dead_share, expected_gradient, intervals, mixing, share_by_bin
from lab.runs.run_folder import Run
from lab.show import plots
from lab.stats import bootstrap_each

IDS, TEXTS = (
    ("problem", "uid", "prompt_id", "index"),
    ("prompt", "input"),
)  # the texts are TRL's and verl's
READERS = {
    ".csv": lambda path: pd.read_csv(path, dtype=dict.fromkeys(IDS, str)),
    ".parquet": pd.read_parquet,
    ".jsonl": lambda path: pd.read_json(path, lines=True, dtype=False),
}
SIZES, RIGHT = ("n", "N", "rollouts", "samples"), ("k", "K", "correct", "right")
REWARDS = ("correct", "acc", "reward", "score")
NAIVE = {"without noise": "K/n as p", "dead": "dead, K/n as p"}
BLACK = {
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
EDGES, SLACK = (0.01, 0.1, 0.3, 0.7, 0.9, 0.99), 1.0


class Counts(NamedTuple):
    """How often each of `problems` was tried, `n`, and solved, `correct`; `notes` say how the file
    was read. Where a run computed its pass rates they are `exact`, n and correct empty; `rollouts`
    is the N of a run of ours.
    """

    problems: list[str]
    n: np.ndarray
    correct: np.ndarray
    notes: list[str]
    rollouts: int | None = None
    exact: np.ndarray | None = None


def read_counts(path: str | Path, reward: str | None = None) -> Counts:
    """Read a run folder of ours (its last step), a .csv, .parquet or .jsonl file, or a folder of
    such files.

    A table of counts has a column n, N, rollouts or samples and one k, K, correct or right; its
    last step counts. A table of rollouts has a column problem, uid, prompt_id or index, or the text
    prompt or input, and a reward of 0 or 1: correct, acc, reward, score, or `reward`. TRL's
    completions/ and verl's rollout_data_dir are such folders.
    """
    path = Path(path)
    run = Run(path) if (path / "groups.parquet").exists() else None
    table, rollouts = (
        (run.groups(), run.params["parameters"].get("rollouts")) if run else (_table(path), None)
    )
    size, right, name, judged = (
        next((one for one in names if one in table), None)
        for names in (SIZES, RIGHT, IDS + TEXTS, REWARDS)
    )
    exact = bool(run) and size is None and "pass_rate" in table
    try:
        if reward or not (size and right or exact):
            return _rollouts(table, name, reward or judged)
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
            return Counts(
                problems.tolist(),
                *np.zeros((2, 0), int),
                notes,
                rollouts,
                table["pass_rate"].to_numpy(),
            )
        pass_at_k(table[size], table[right], 1)  # refuses what is not a count
        return Counts(problems.tolist(), *table[[size, right]].to_numpy(np.int64).T, [], rollouts)
    except LabError as error:
        raise LabError(f"{path}: {error}") from error


def _table(path: Path) -> pd.DataFrame:
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
    """Counts of rows that are one rollout each. The problems of every step are kept apart, and
    counted once.
    """
    numbers = table.select_dtypes("number").columns.difference(["step", "advantage"])
    reward = (
        numbers[0] if reward is None and len(numbers) == 1 else reward
    )  # TRL names it after the function
    if name is None or reward not in table or table[name].isna().any():
        raise LabError(
            f"found columns {', '.join(map(str, table))}: give {'|'.join(SIZES)} and"
            f" {'|'.join(RIGHT)}, or {'|'.join(IDS + TEXTS)} in every row and {'|'.join(REWARDS)}"
            " or the column that reward= names"
        )
    notes, steps = [f"problems from column {name}, rewards from column {reward}"], ""
    if "step" in table and (logged := table["step"].nunique()) > 1:
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
    ids, index = table[name].map(str), pd.Series(range(len(table)), table.index)
    verl = ids.str.extract(r"^(.+)_(\d+)_\d+$")  # its uid is problem_rollout_output
    if name == "uid" and ids.is_unique and verl.notna().all(axis=None):
        ids, index = verl[0], verl[1].map(int)
    if name in TEXTS:
        ids = "prompt " + pd.Series(pd.factorize(ids)[0], ids.index).map(str)
    kept = table[reward].notna()
    groups = make_groups(
        map(Rollout, (ids + steps)[kept], index[kept], table[reward][kept]), "score"
    )
    n, correct = np.array([(group.N, group.K) for group in groups]).reshape(-1, 2).T
    if (n <= 1).all():
        raise LabError(
            f"column {name} gives every rollout a problem of its own: name the problems in a column"
            " problem"
        )
    if not kept.all():
        notes.append(f"{(~kept).sum()} of {len(kept)} rollouts have no reward and are left out")
    if name in TEXTS:
        notes.append(
            f"equal prompts are one problem: {(n > np.median(n)).sum()} of {len(n)} have more rows"
            " than most"
        )
    return Counts([group.problem for group in groups], n, correct, notes)


@dataclass(frozen=True)
class Audit:
    """One number a row of `table`: what, by, at (a bin of p in %, or N), value, low, high; `reach`
    is the largest n.
    """

    notes: list[str]
    reach: float
    table: pd.DataFrame

    def lines(self) -> list[str]:
        """The report, line by line."""
        told = list(self.notes)
        for what, part in self.table.groupby("what", sort=False):
            cells = [
                f"{x:.3f}" + (f" [{a:.3f}, {b:.3f}]" if a <= b else "")
                for *_, x, a, b in part.to_numpy()
            ]
            wide = part.assign(cell=cells).pivot(index="at", columns="by", values="cell").fillna("")
            wide = wide.loc[part["at"].unique(), part["by"].unique()].rename_axis(
                index=None, columns="p in %, or N"
            )
            told += ["", what, *wide.to_string().splitlines()]
        return told


def audit(
    path: str | Path,
    objectives: tuple[str, ...] = ("rloo", "grpo", "maxrl", "pacs_anchor"),
    rollouts: int | None = None,
    reward: str | None = None,
) -> Audit:
    """Audit what `read_counts` reads, for groups of `rollouts` (default: the N of the run, or the
    commonest n).

    Every number is that of the estimated distribution of pass rates, with its 95% interval over
    problems, or under "K/n as p" that of K/n taken for p. Gradients are `expected_gradient` of the
    estimators `objectives`.
    """
    _, n, correct, notes, usual, exact = read_counts(path, reward)
    m, reach, common = (
        (len(n), n.max(), np.bincount(n).argmax()) if exact is None else (len(exact), np.inf, None)
    )
    N = whole(
        "rollouts", next((x for x in (rollouts, usual, common) if x is not None), None), least=2
    )
    edges = [
        0,
        *(edge for edge in EDGES if min(edge, 1 - edge) >= 0.5 / reach),
        1,
    ]  # finer ones cannot be told apart
    bins = [f"{100 * low:g}-{100 * high:g}" for low, high in zip(edges, edges[1:], strict=False)]
    sizes = sorted({N, *(2**i for i in range(1, (4 * N).bit_length()))})
    keys = [("share of problems", "without noise", x) for x in bins]
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
        shares = [
            part / np.maximum(part.sum(axis=-1, keepdims=True), 1e-6) for part in parts
        ]  # 0 where all are dead
        wrong, right = np.stack([dead_share(p, mass, size) for size in sizes], axis=-1)
        signal = [expected_gradient(p, mass, name, size).sum(axis=-1) for _, name, size in signals]
        return np.hstack(
            (
                share_by_bin(p, mass, edges),
                *shares,
                wrong + right,
                wrong,
                right,
                np.stack(signal, -1),
            )
        )

    notes = [f"{path}: {m} problems; in brackets 95% intervals over problems", *notes]
    if exact is None:
        found, top = intervals(n, correct, summary, SLACK), mixing(n, correct)
        notes += [
            (
                f"{correct.sum()} of {n.sum()} rollouts are right, {n.min()} to {reach} a problem:"
                f" {((correct == 0) | (correct == n)).mean():.1%} of groups are dead; larger N is"
                " extrapolated"
            ),
            (
                f"noise removed: smooth, and {SLACK} below the highest log-likelihood,"
                f" {top.log_likelihood:.2f}"
            ),
        ]
        naive = zip(keys, summary(correct / n, np.full((1, m), 1 / m))[0], strict=False)
        plain = [
            (what, NAIVE[by], at, x, np.nan, np.nan) for (what, by, at), x in naive if by in NAIVE
        ]
    else:
        found, plain = (
            bootstrap_each(
                np.arange(m),
                "problems",
                lambda sample, axis: summary(
                    exact,
                    np.stack([np.bincount(row.astype(int), minlength=m) / m for row in sample]),
                ),
                draws=200,
            ),
            [],
        )
    rows = [(*key, x.point, x.low, x.high) for key, x in zip(keys + signals, found, strict=True)]
    return Audit(
        notes,
        reach,
        pd.DataFrame(rows + plain, columns=["what", "by", "at", "value", "low", "high"]),
    )


def draw(audit: Audit):
    """The picture of an audit: a matplotlib figure of four panels."""
    figure, _ = plots.panels(2, 2, plots.PAGE, 5.0)
    for axes, (what, part) in zip(
        figure.axes, audit.table.groupby("what", sort=False), strict=True
    ):
        ticks, lines = part["at"].unique(), list(part.groupby("by", sort=False))
        binned = isinstance(ticks[0], str)
        place = dict(
            zip(ticks, range(len(ticks)) if binned else np.log2(ticks.astype(float)), strict=True)
        )
        if "gradient, N" in what:
            axes.bar(
                place.values(),
                audit.table.query("by == 'without noise'")["value"],
                color="0.9",
                label="problems",
            )
        for i, (by, one) in enumerate(lines):
            x, low, high = one[["value", "low", "high"]].to_numpy().T
            style = {"label": by, "yerr": np.maximum((x - low, high - x), 0)} | BLACK.get(by, {})
            if by not in BLACK:
                style |= {
                    "label": estimator(by).label,
                    "marker": plots.line_style(by).marker,
                    **plots.line_style(by).line,
                }
            if "width" in style:
                axes.bar(one["at"].map(place) - 0.8 * (i + 0.5) / len(lines) + 0.4, x, **style)
            elif binned:
                axes.errorbar(
                    one["at"].map(place) + 0.8 * (i + 0.5) / len(lines) - 0.4,
                    x,
                    **style | {"linestyle": ""},
                )
            else:
                axes.errorbar(one["at"].map(place), x, **style)
        axes.set(xlabel="pass rate p, %" if binned else "rollouts N", ylabel=what, ylim=(0, None))
        if not binned and audit.reach < ticks[-1]:
            axes.axvspan(np.log2(audit.reach), np.log2(ticks[-1]) + 0.2, color="0.93")
            axes.set_xlabel("rollouts N (grey: extrapolated)")
        axes.set_xticks(list(place.values()), ticks)
        axes.legend()
    return figure
