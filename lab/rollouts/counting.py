"""Rollouts counted: how often each problem of a file was tried, and how often it was solved.

docs/rollouts.md says by which rules; lab/explorer/front/rollouts.js follows the same ones.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lab.errors import LabError
from lab.rollouts.columns import Codes, Columns, identity, numbered
from lab.rollouts.containers import open_table, table_files
from lab.rollouts.labels import counts_up, division
from lab.rollouts.meaning import (
    Choice,
    Wanted,
    candidates,
    is_binary,
    listed,
    outcome_of,
    wanted,
)
from lab.rollouts.names import OF_ROWS, OWN, hinted, rank
from lab.rollouts.structure import RATIO, missing, number, short, verdict

LARGEST_N = 10_000  # rollouts a problem; above it the audit takes minutes, and a claim of 10^9 all
RATE_SLACK = 1e-3  # how far k = rate * n may be from a whole number

__all__ = ["Choice", "Counts", "identity", "read_table_counts"]


class Counts(NamedTuple):
    """How often each problem was tried and solved.

    `n` and `correct` are "problems", as is `exact`: the pass rates of a run that computed them, in
    which case n and correct are empty. `meaning` says what the file was taken for, `notes` what
    else is to be known. `rollouts` is the N of a run of the lab. `advantages` is "problems 2": what
    a right and a wrong rollout got in training, nan where the file does not say; `steps` is
    "problems": the steps they belong to, "" for none.
    """

    problems: list[str]
    n: np.ndarray
    correct: np.ndarray
    notes: list[str]
    rollouts: int | None = None
    exact: np.ndarray | None = None
    meaning: dict[str, str] = {}
    advantages: np.ndarray | None = None
    steps: list[str] | None = None


def read_table_counts(path: Path, choice: Choice | None = None) -> Counts:
    """The counts of a file, or of all files of a folder. LabError, which begins with the path: what
    is no table of rollouts, in one sentence.
    """
    choice = choice or Choice()
    columns: Columns | None = None
    left_out: list[str] = []
    files = table_files(path)
    for file in files:
        table = open_table(file)
        try:
            found = wanted(table.first, choice, several=len(files) > 1)
        except LabError as error:
            if len(files) == 1:
                raise LabError(f"{file}: {error}") from error
            left_out.append(file.name)
            refusal = error
            continue
        if columns is None:
            what, columns = found, Columns(found)
        elif what.signature != found.signature:
            raise LabError(
                f"{path}: {file.name} is read by {found.signature}, the files before it by"
                f" {what.signature}: give files of one kind"
            )
        alike = re.sub(r"[-_.\s\d]+", " ", file.name).strip()
        for chunk in table.chunks(what.names):
            columns.add(chunk, step_of_path(file, path), alike)
        columns.end_file()
    if columns is None:
        raise LabError(f"{path}: {refusal}")
    try:
        counts = Reading(columns, what, choice).counts()
    except LabError as error:
        raise LabError(f"{path}: {error}") from error
    if left_out:
        counts.notes.append(
            f"{len(left_out)} of {len(files)} files hold no rollouts and are left out:"
            f" {', '.join(left_out[:3])}{', ...' if len(left_out) > 3 else ''}"
        )
    return counts


def step_of_path(file: Path, root: Path) -> str | None:
    """The step that a folder or file below `root` is named for: step_12/..., step-12.jsonl."""
    for part in reversed(file.relative_to(root if root.is_dir() else root.parent).parts):
        if match := re.search(r"step[-_]?(\d+)", part):
            return str(int(match[1]))
    return None


def is_success(cell: Any, success: str) -> bool:
    """Whether a cell is the value that means right, as a number or as text in any case."""
    value, right = number(cell), number(success)
    if value is not None and right is not None:
        return value == right
    return str(cell).strip().lower() == success.strip().lower()


def smallest_n(rates: np.ndarray) -> int | None:
    """The smallest n of which all rates are counts; None: none, or all are 0 or 1."""
    if not ((rates > 0) & (rates < 1)).any():
        return None
    for n in range(2, 1025):
        if (np.abs(rates * n - np.round(rates * n)) <= n * 1e-4 + RATE_SLACK).all():
            return n
    return None


def span(values: np.ndarray) -> str:
    """The smallest and the largest of some numbers, in words."""
    low, high = values.min(), values.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def wilson(right: int, n: int) -> str:
    """An accuracy in words, with Wilson's 95% interval."""
    z, p = 1.959964, right / n
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    return f"{right:,} of {n:,}, {p:.3f} [{low:.3f}, {high:.3f}]"


class Reading:
    """What the columns of a file mean, decided step by step; `kept` are the rows that count."""

    def __init__(self, columns: Columns, found: Wanted, choice: Choice) -> None:
        self.columns, self.found, self.choice = columns, found, choice
        self.names = [name for name in columns.held if columns.has(name)]
        self.notes: list[str] = []
        self.kept = self._chosen()
        cells = {name: columns.cells(name) for name in self.names if name not in found.long}
        outcome = outcome_of(cells, choice, found.lists)
        if outcome is None:
            raise LabError(f"{found.signature} hold no reward: name another with --reward")
        self.kind, self.outcomes, self.size = outcome
        self.step_name = self._hinted("step")
        if not self.step_name and self.kind == "rate" and self.outcomes == ["(value)"]:
            self.step_name = "(position)"
        self.within = [*hinted(self.names, "within")[:1], *choice.within]
        self.problem = choice.problem or self._problem()
        self.problems = list(map(identity, columns.cells(self.problem))) if self.problem else []
        self.of_problem = columns.codes(self.problem) if self.problem else None
        self.group = np.zeros(columns.rows, np.int64)
        self._number_groups()

    def _hinted(self, role: str) -> str:
        """The strongest column of a role that is there, "" for none."""
        return next(iter(hinted(self.names, role)), "")

    def _codes(self, name: str) -> Codes:
        return self.columns.codes(name)[self.kept]

    def _cell(self, name: str, row: int) -> Any:
        return self.columns.cells(name)[self.columns.codes(name)[self.kept[row]]]

    def _values(self, name: str) -> np.ndarray:
        """The cells of the rows as numbers, labels as 1 and 0, nan for none."""
        cells = [None if missing(cell) else verdict(cell) for cell in self.columns.cells(name)]
        return np.array(cells, float)[self._codes(name)]

    def _chosen(self) -> Codes:
        """The rows that `only` leaves, and of those judged several times the first judgement."""
        chosen = np.ones(self.columns.rows, bool)
        for name, value in self.choice.chosen:
            fits = np.array([is_success(cell, value) for cell in self.columns.cells(name)])
            chosen &= fits[self.columns.codes(name)]
            self.notes.append(f"only rows with {name} = {short(value)} are read")
        if not chosen.any():
            raise LabError(f"no row has {listed(self.choice.only)}: choose another value")
        name = self._hinted("filter")
        if name and self._hinted("problem"):
            codes, cells = self.columns.codes(name), self.columns.cells(name)
            first = codes == codes[chosen][0]
            others = np.bincount(codes[chosen & ~first], minlength=len(cells))
            left = [f"{cell} ({rows})" for cell, rows in zip(cells, others, strict=True) if rows]
            if left:
                self.notes.append(f"only the first {name} is read; left out: {listed(left)} rows")
            chosen &= first
        return np.flatnonzero(chosen)

    # --- Problems ---------------------------------------------------------------------------------

    def _steps(self) -> Codes:
        return self.columns.codes(self.step_name)[self.kept]

    def _apart(self) -> list[Codes]:
        """What sets problems of equal names apart."""
        return [self._steps(), *map(self._codes, self.within)]

    def _problem(self) -> str:
        """The column of the problem, "" where each row is one. LabError: there is none, or two."""
        named = [*hinted(self.names, "problem"), *hinted(self.names, "prompt")]
        if self.kind != "reward":
            return self._problem_of_counts(named)
        full = [name for name in named if not any(map(missing, self.columns.cells(name)))]
        found = (full or named) + ["(row)"] * ("(row)" in self.names)
        if not found:
            self._refuse_nameless("")
        groups = {name: numbered(*self._apart(), self._codes(name)) for name in found}
        several = [name for name in found if groups[name].max() + 1 < len(self.kept)]
        if not several or found[0] not in (*several, *OF_ROWS):
            return found[0]
        first = several[0]
        others = [name for name in found if name in several or first in OF_ROWS and name in named]
        for other in others:
            joint = numbered(groups[first], groups[other])
            cells, problems = int(joint.max()) + 1, int(groups[first].max()) + 1
            # another spelling, a coarser name, or a number of the rollouts
            numbers = cells == len(joint) and not (rank(other, "prompt") >= 0 and first in OF_ROWS)
            if other == "(row)" or cells == problems or numbers:
                continue
            of = groups[first][np.unique(joint, return_index=True)[1]]
            few = (np.bincount(of) > 1).mean() < 0.05 and rank(other, "prompt") >= 0
            if not few:
                raise LabError(
                    f"the problem may be {first} ({problems:,} values) or {other}"
                    f" ({int(groups[other].max()) + 1:,}), which divides it: say --problem {first},"
                    f" --problem {other}, or --problem {first} --within {other} if both name it"
                )
            self.notes.append(f"some problems of one {first} differ in {other}")
        return first

    def _problem_of_counts(self, named: list[str]) -> str:
        """The column of the problem where a row has all its rollouts. LabError: it has none."""
        policies = [
            name
            for name in hinted(self.names, "policy")
            if 1 < len(self.kept) == len(np.unique(self._codes(name)))
        ]
        if named and not (policies and named[0] in OF_ROWS):
            return named[0]
        known = {*self.outcomes, self.size, "step", "k"}
        if {*self.found.all} - known:
            self._refuse_nameless(
                f"; the rows differ in {policies[0]}, as checkpoints or models do, and a mean over"
                " all problems says nothing of single ones"
                if policies
                else ""
            )
        return ""

    def _refuse_nameless(self, why: str) -> None:
        known = {*self.outcomes, self.size, "step"}
        others = [name for name in self.found.all if name not in known]
        raise LabError(
            f"found columns {listed(self.found.all)}: name the problem with"
            f" --problem{candidates(others)}{why}"
        )

    def _number_groups(self) -> None:
        """Number the groups, each a problem of a step, in the order of the file."""
        if self.of_problem is None:
            self.group = np.arange(len(self.kept))
            return
        empty = np.array(list(map(missing, self.columns.cells(self.problem))))
        lost = empty[self._codes(self.problem)]
        if lost.any():
            row = int(self.kept[lost.argmax()]) + 1
            raise LabError(f"row {row} has no {self.problem}: every rollout needs its problem")
        codes = self.of_problem[self.kept]
        self.group = numbered(*self._apart(), codes)
        parts = [re.fullmatch(r"(.+)_(\d+)_\d+", name) for name in self.problems]
        if self.problem != "uid" or self.group.max() + 1 < len(codes) or not all(parts):
            return
        # verl's uid is problem_rollout_output where every rollout has its own
        rollouts = [(match[1], match[2]) for match in parts if match]
        if len(set(rollouts)) < len(rollouts):
            twice = next(each for i, each in enumerate(rollouts) if each in rollouts[:i])
            raise LabError(
                f"rollout {twice[1]} of problem {twice[0]!r} appears twice: give every rollout of a"
                " problem its own index"
            )
        numbers = {name: i for i, name in enumerate(dict.fromkeys(name for name, _ in rollouts))}
        self.problems = list(numbers)
        self.of_problem = np.array([numbers[name] for name, _ in rollouts])[self.of_problem]
        self.group = numbered(*self._apart(), self.of_problem[self.kept])

    def _keep(self, rows: np.ndarray) -> None:
        """Leave only some of the rows."""
        self.kept, self.group = self.kept[rows], numbered(self.group[rows])

    def _name(self, row: int) -> str:
        """The name of the problem of a row."""
        if self.of_problem is None:
            return f"row {int(self.kept[row])}"
        within = [identity(self._cell(name, row)) for name in reversed(self.within)]
        return " ".join([*within, self.problems[self.of_problem[self.kept[row]]]])

    # --- Rollouts ---------------------------------------------------------------------------------

    def _drop_repeated(self) -> None:
        """Leave out rollouts that stand in two files, and steps that repeat another word for word.

        LabError: many numbers of rollouts stand there twice, with different texts.
        """
        texts = [name for name in self.found.long if name in self.names]
        text = next((name for name in texts if rank(name, "text") >= 0), "")
        said = [self._codes(name) for name in (text, self.outcomes[0]) if name]
        name = self._hinted("trace") or (self._hinted("sample") if text else "")
        if name:
            rollout = numbered(self.group, self._codes(name))
            first = np.unique(rollout, return_index=True)[1]
            twice = len(rollout) - len(first)
            if twice and numbered(rollout, *said).max() == rollout.max():
                self._keep(np.sort(first))
                self.notes.append(f"{twice} rollouts stand there twice and count once")
            elif 2 * twice >= len(first) and name not in ("(position)", *self.choice.pooled):
                raise LabError(
                    f"column {name} numbers rollouts and says the same of {twice:,} with different"
                    " texts or rewards, as if several policies were in the file: name what sets"
                    f" them apart with --only or --within, or say --pooled {name}"
                )
        steps = np.unique(self._steps())
        if text and len(steps) > 1 and self.step_name and self._hinted("advantage"):  # TRL's
            rows = numbered(*map(self._codes, (self.problem, text, self.outcomes[0])))
            first_of: dict[bytes, int] = {}
            for step in steps:
                first_of.setdefault(rows[self._steps() == step].tobytes(), step)
            self._keep(np.isin(self._steps(), list(first_of.values())))
            repeated = len(steps) - len(first_of)
            if repeated:
                self.notes.append(f"{repeated} steps repeat another and are dropped")

    def _rewards(self) -> tuple[np.ndarray, np.ndarray]:
        """How many rewards each row has, and how many of them are right."""
        self._drop_repeated()
        name, choice = self.outcomes[0], self.choice
        cells, codes = self.columns.cells(name), self._codes(name)
        told = ~np.array(list(map(missing, cells)))[codes]
        values = self._values(name)
        if choice.success is not None:
            right = np.array([is_success(cell, choice.success) for cell in cells])[codes]
        elif choice.threshold is not None:
            right = np.nan_to_num(values, nan=-math.inf) >= choice.threshold
        else:
            right = values == 1
        singles = np.bincount(self.group, told).max() <= 1
        if singles and told.any():
            self._refuse_singles(values[told], right[told])
        self._check_one_reward(values)
        known = [cells[code] for code in np.unique(codes[told])]
        if choice.success is None and choice.threshold is None and known:
            self._check_binary(known, values)
        return told.astype(int), (right & told).astype(int)

    def _refuse_singles(self, values: np.ndarray, right: np.ndarray) -> None:
        """LabError: each problem has one rollout; with what can be said of all."""
        name, steps = " or ".join(self.outcomes), len(np.unique(self._steps()))
        clear = self.choice.success is not None or self.choice.threshold is not None
        if clear or (self.kind == "counts" or is_binary(values.tolist())):
            said = f"the accuracy by {name} is {wilson(int(right.sum()), len(right))}"
        else:
            known = values[np.isfinite(values)]
            said = f"the mean of {name} is {known.mean():.3f}" if len(known) else "no number"
        raise LabError(
            f"column {self.problem} gives every rollout a problem of its own"
            f"{f', at {steps} steps' if steps > 1 else ''}: one rollout a problem tells no pass"
            f" rates, and {said}; give several rollouts of a problem, or name it with --problem"
        )

    def _check_one_reward(self, values: np.ndarray) -> None:
        """LabError: several columns may be the reward and say different things."""
        for other in self.outcomes[1:]:
            others = self._values(other)
            both = np.isfinite(values) & np.isfinite(others)
            differ = int(((values == 1) != (others == 1))[both].sum())
            if differ:
                raise LabError(
                    f"columns {self.outcomes[0]} and {other} may both be the reward and differ in"
                    f" {differ:,} of {int(both.sum()):,} rows: name the reward with"
                    f" --reward{candidates(self.outcomes)}"
                )

    def _check_binary(self, known: list[Any], values: np.ndarray) -> None:
        """LabError: it is not clear which rewards are right."""
        name, different = self.outcomes[0], {verdict(cell) for cell in known}
        if different == {0, 1, -1} or different == {0, -1}:
            raise LabError(
                f"column {name} holds rewards of -1, 0 and 1: say from where one is right with"
                " --threshold"
            )
        if -1 in different:
            self.notes.append("a reward of -1 is wrong, 1 is right")
        if different <= {0, 1, -1}:
            return
        cells = self.columns.cells(name)
        bad = np.array([not missing(x) and verdict(x) not in (0, 1, -1) for x in cells])
        row = int(bad[self._codes(name)].argmax())
        rates = np.unique(values[np.isfinite(values)])
        words = ""
        if len(rates) and 0 <= rates[0] and rates[-1] <= 1:
            n = smallest_n(rates)
            of = n if n and n < np.isfinite(values).sum() else "N"
            words = f"; if it is the rate of several rollouts, say of how many with --n {of}"
        raise LabError(
            f"reward {short(identity(self._cell(name, row)))} in row {int(self.kept[row]) + 1}"
            f" ({self.problem} {short(self._name(row))}): a reward must be 0 or 1, or -1 or 1; say"
            " from where it is right with --threshold, or which value is with --success" + words
        )

    # --- Counts and rates -------------------------------------------------------------------------

    def _shares(self) -> tuple[np.ndarray, np.ndarray]:
        """n and the right ones of each row that counts all rollouts of a problem, 0 for none."""
        name, counted = self.outcomes[0], self.kind == "counts"
        if counted:
            self._keep_last_step()
        cells, codes = self.columns.cells(name), self._codes(name)
        told = counted | ~np.array(list(map(missing, cells)))[codes]
        rows = np.flatnonzero(told)
        groups, first = np.unique(self.group[rows], return_index=True)
        of_group = np.zeros(int(self.group.max()) + 1, np.int64)
        of_group[groups] = rows[first]
        again = np.setdiff1d(rows, rows[first])
        differ = again[(codes[again] != codes[of_group[self.group[again]]]) | counted]
        if len(differ):
            row, before = int(differ[0]), int(of_group[self.group[differ[0]]])
            raise LabError(
                f"problem {short(self._name(row))} has {name} {self._cell(name, before)} and"
                f" {self._cell(name, row)}, several rows of counts: choose some with --only"
                " COLUMN=VALUE, name what sets problems apart with --within, or add them up"
            )
        told[again] = False  # a data set repeats a problem's rate beside each of its answers
        if self.kind == "ratio":
            parts = [RATIO.fullmatch(str(cell)) for cell in cells]
            pairs = [(int(match[2]), int(match[1])) if match else (0, 0) for match in parts]
            n, right = np.array(pairs)[codes].T.astype(float)
        else:
            right = self._values(name)
            n = (
                self._values(self.size)
                if isinstance(self.size, str)
                else np.full(len(right), self.size or 0.0)
            )
        if self.kind == "rate":
            rates = right
            if self.size is None:
                n = np.full(len(rates), float(self._inferred(rates[told])))
            right = np.round(rates * n)
            slack = np.maximum(RATE_SLACK, n * 1e-4)
            broken = told & ~(np.abs(right - rates * n) <= slack)
            if broken.any():
                row = int(broken.argmax())
                raise LabError(
                    f"problem {short(self._name(row))} has the pass rate {self._cell(name, row)},"
                    f" which is no whole number of {n[row]:g} rollouts: look at the column {name}"
                )
        with np.errstate(invalid="ignore"):
            fits = (n % 1 == 0) & (right % 1 == 0) & (n >= 1) & (right >= 0) & (right <= n)
        if not fits[told].all():
            row = int((told & ~fits).argmax())
            size = self._cell(self.size, row) if isinstance(self.size, str) else n[row]
            raise LabError(
                f"problem {short(self._name(row))} has {name} = {self._cell(name, row)} of"
                f" {self.size or 'n'} = {size}: counts must be whole, with 0 <= {name} <="
                f" {self.size or 'n'}"
            )
        if counted and name.lower() == "k" and not self.choice.reward and len(n) > 1:
            if len({*n}) == len({*right}) == 1 and 0 < right[0] < n[0]:
                raise LabError(
                    f"columns {self.size} and {name} are {n[0]:g} and {right[0]:g} in every row:"
                    f" name {name} with --reward if that many of {self.size} rollouts were right,"
                    " or the column of the reward"
                )
        if counted and n.max() == 1:
            self._refuse_singles(right, right)
        return np.where(told, n, 0), np.where(told, right, 0)

    def _keep_last_step(self) -> None:
        steps = self._values(self.step_name) if self.step_name else np.zeros(0)
        if not len(steps) or not np.nanmin(steps) < np.nanmax(steps):
            return
        self._keep(steps == np.nanmax(steps))
        if not self.problem and len(self.kept) == 1:
            raise LabError(
                "every step has one row of counts, as a table of checkpoints has: give the counts"
                " of each problem"
            )
        self.notes.append(f"only the last step is read: {np.nanmax(steps):g}")

    def _inferred(self, rates: np.ndarray) -> int:
        """The smallest n that all rates are counts of. LabError: they are too few to tell."""
        name, different = self.outcomes[0], np.unique(rates)
        n = smallest_n(different)
        if n is None or len(different) < 3 or n >= len(rates):
            raise LabError(
                f"column {name} gives rates and no column how many rollouts they are of: say --n N,"
                " or add a column n"
            )
        self.notes.append(f"n = {n} is the smallest of which all rates in {name} are counts")
        return n

    # --- All together -----------------------------------------------------------------------------

    def counts(self) -> Counts:
        """All groups with a reward."""
        is_reward = self.kind == "reward"
        before, self.notes = self.notes, []
        tried, right = self._rewards() if is_reward else self._shares()
        self.notes = [*before, *self._divisions(), *self.notes]
        n = np.bincount(self.group, tried).astype(np.int64)
        correct = np.bincount(self.group, right).astype(np.int64)
        first = np.unique(self.group, return_index=True)[1]
        if not n.any():
            raise LabError(f"column {self.outcomes[0]} holds no reward: name another with --reward")
        steps = [self.columns.cells(self.step_name)[code] for code in self._steps()[first]]
        names = list(map(self._name, first.tolist()))
        if rank(self.problem, "prompt") >= 0:
            numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
            names = [f"prompt {numbers[name]}" for name in names]
            if self.kind != "counts":
                more = int((n[n > 0] > np.median(n[n > 0])).sum())
                self.notes.append(
                    f"equal prompts are one problem: {more} of {(n > 0).sum()} have more rows than"
                    " most"
                )
        if len(set(steps)) > 1:
            self.notes.append(f"{len(set(steps))} steps, their problems kept apart")
            names = [
                f"{name} of step {identity(at)}" for name, at in zip(names, steps, strict=True)
            ]
        if n.max() > LARGEST_N:
            raise LabError(
                f"problem {short(names[int(n.argmax())])} has n = {n.max()} rollouts: the audit"
                f" takes up to {LARGEST_N} a problem; give fewer, or correct the file"
            )
        lost = (
            int((tried == 0).sum()) if is_reward else len(self.kept) - len(n) + int((n == 0).sum())
        )
        if is_reward or (n == 0).any():
            lost = int((tried == 0).sum()) if is_reward else int((n == 0).sum())
            if lost:
                of = f"{len(tried)} {'rollouts' if is_reward else 'rows'}"
                self.notes.append(f"{lost} of {of} have no reward and are left out")
        self._compare_totals(correct, first)
        mixed = np.flatnonzero((correct > 0) & (correct < n))
        if is_reward and not len(mixed) and len(n) > 3 and 0 < correct.sum() < n.sum():
            self.notes.append(
                f"all rollouts of each problem have the same {self.outcomes[0]}: see that it is"
                " theirs, and not their problem's"
            )
        advantages = np.full((len(n), 2), math.nan)
        advantage = self._hinted("advantage")
        if advantage and is_reward:
            judged = np.flatnonzero(tried)
            advantages[self.group[judged], 1 - right[judged]] = self._values(advantage)[judged]
        kept = np.flatnonzero(n)
        return Counts(
            [names[i] for i in kept],
            n[kept],
            correct[kept],
            self.notes,
            meaning=self._meaning(n[kept], correct[kept]),
            advantages=None if np.isnan(advantages).all() else advantages[kept],
            steps=["" if missing(steps[i]) else identity(steps[i]) for i in kept],
        )

    def _divisions(self) -> list[str]:
        """What is to be said of columns that divide problems. LabError: one that is not clear."""
        pooled, within = self.choice.pooled, self.choice.within
        notes = [f"problems of different {name} are different" for name in within]
        notes += [f"rollouts of different {name} are pooled" for name in pooled]
        self.sample = ""
        if self.kind != "reward":
            return notes
        problems = numbered(self.group, *map(self._codes, pooled))
        known = {self.problem, self.step_name, *self.within, *pooled, *self.outcomes}
        roles = ("trace", "filter", "advantage", "prompt", "size", "right", "rate", *OWN)
        unclear = []
        for name in self.names:
            if name in known or name in self.found.long or name in ("(row)", "(position)"):
                continue
            if any(rank(name, role) >= 0 for role in roles):
                continue
            codes = numbered(self._codes(name))
            kind = division(problems, codes) if codes.max() else ""
            counting = counts_up(self.columns.cells(name)) and rank(name, "policy") < 0
            if kind == "singles" and counting:
                self.sample = name
                notes.append(f"column {name} numbers the rollouts of a problem")
            elif kind:
                unclear.append((counting, name))
        if unclear:  # of rollouts that are numbered and divided, the number is the lesser news
            name = min(unclear, key=lambda each: each[0])[1]
            values = self.columns.cells(name)
            last, name = short(identity(values[-1])), short(name)
            raise LabError(
                f"the rollouts of a problem differ in column {name}, whose {len(values)} values"
                f" ({listed(values)}) stand in the same problems: say --only {name}={last} to read"
                f" one of them, such as one policy, --within {name} if they are of different"
                f" problems, or --pooled {name} if it makes no difference"
            )
        return notes

    def _compare_totals(self, correct: np.ndarray, first: np.ndarray) -> None:
        """Compare the rollouts with what their problem says of them, where it does."""
        name = self._hinted("right")
        if "(row)" in self.names and name and name not in self.outcomes:
            said = self._values(name)[first]
            differ = int((np.isfinite(said) & (said != correct)).sum())
            self.notes.append(
                f"{name} says another number of right rollouts in {differ or 'none'} of"
                f" {len(said):,} problems"
            )

    def _meaning(self, n: np.ndarray, correct: np.ndarray) -> dict[str, str]:
        """What the file was taken for, with the columns that say so."""
        row = "a rollout" if self.kind == "reward" else f"a problem and its {self.kind}"
        if "(row)" in self.names:
            held = int(self._values("(row)").max()) + 1
            row += f", unfolded from {held:,} rows that hold several"
        problem = "each row"
        if self.of_problem is not None:
            rows = np.unique(self.of_problem[self.kept], return_counts=True)[1]
            problem = f"`{self.problem}`, {len(rows):,} values, {span(rows)} rows each"
        values = self._values(self.outcomes[0])
        reward = f"`{self.outcomes[0]}`"
        if np.isfinite(values).any():
            reward += f", {span(values[np.isfinite(values)])}"
        if self.size is not None and self.kind != "reward":
            reward += (
                f" of n = `{self.size}`" if isinstance(self.size, str) else f" of n = {self.size}"
            )
        if self.choice.threshold is not None:
            reward += f", right from {self.choice.threshold:g}"
        if self.choice.success is not None:
            reward += f", right if {self.choice.success}"
        steps = len(np.unique(self._steps()))
        step = f"`{self.step_name}`" if self.step_name else "names of files"
        a_group = "a problem of a step" if steps > 1 else "a problem"
        meaning = {
            "row": row,
            "problem": problem,
            "sample": f"`{self.sample}`" if self.sample else "by its place",
            "reward": f"{reward}; {correct.sum():,} of {n.sum():,} rollouts right",
            "group": f"{a_group}: {len(n):,} of {span(n)} rollouts",
            "step": f"{step}, {steps:,} values" if self.step_name or steps > 1 else "none",
        }
        for role in ("text", "answer", "length", "truncated"):
            of_role = hinted([*self.found.long, *self.names], role)
            meaning[role] = f"`{of_role[0]}`" if of_role else "none"
        told = " ".join(meaning.values())
        unused = [name for name in self.found.all if f"`{name}`" not in told]
        return meaning | {"not used": listed(unused) if unused else "none"}
