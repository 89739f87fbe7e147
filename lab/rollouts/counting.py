"""Rollouts counted: how often each problem of a file was tried, and how often it was solved.

docs/rollouts.md says by which rules; lab/explorer/front/files.js follows the same ones.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lab.errors import LabError
from lab.rollouts.containers import Row, Table, open_table, reader_of, short, table_files
from lab.rollouts.formats import (
    COUNTS,
    FORMATS,
    IDS,
    LARGEST_N,
    REWARDS,
    RIGHT,
    SIZES,
    TEXTS,
    Format,
)
from lab.rollouts.labels import CHUNK, Label, Labels, label_columns

ADVANTAGES = ("advantage", "advantages")
RATE_SLACK = 1e-3  # how far k = rate * n may be from a whole number
CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
BINARY = {"0", "1", "-1", "0.0", "1.0", "true", "false", "True", "False"}
LISTED = 20  # names in a sentence
NO_NUMBER = ("n/a", "na", "nan", "none", "null")


class Counts(NamedTuple):
    """How often each problem was tried and solved.

    `n` and `correct` are "problems", as is `exact`: the pass rates of a run that computed them, in
    which case n and correct are empty. `notes` say how the file was read. `rollouts` is the N of a
    run of the lab. `advantages` is "problems 2": what a right and a wrong rollout got in training,
    nan where the file does not say; `steps` is "problems": the steps they belong to, "" for none.
    """

    problems: list[str]
    n: np.ndarray
    correct: np.ndarray
    notes: list[str]
    rollouts: int | None = None
    exact: np.ndarray | None = None
    tool: str = ""
    advantages: np.ndarray | None = None
    steps: list[str] | None = None


@dataclass(frozen=True)
class Choice:
    """What the user says of a file: its columns, and which rewards are right.

    A rollout is right if its reward is at least `threshold`, or is `success`, a number or a text.
    Without either, rewards must be 0 and 1, or -1 and 1.

    Of columns that divide the rollouts of a problem, `only` holds texts "column=value": rows with
    other values are not read; problems that differ in a column of `within` are different ones; and
    the values of one of `pooled` make no difference.
    """

    problem: str | None = None
    reward: str | None = None
    threshold: float | None = None
    success: str | None = None
    only: Sequence[str] = ()
    within: Sequence[str] = ()
    pooled: Sequence[str] = ()

    def __post_init__(self) -> None:
        for text in self.only:
            if "=" not in text:
                raise LabError(f"only = {text!r}: write COLUMN=VALUE")
        if self.threshold is not None and self.success is not None:
            raise LabError(
                f"threshold = {self.threshold} and success = {self.success!r}: give one of them"
            )
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise LabError(f"threshold = {self.threshold}: it must be a finite number")


def read_table_counts(path: Path, choice: Choice = Choice()) -> Counts:
    """The counts of a file, or of all files of a folder. LabError, which begins with the path: what
    is no table of rollouts, in one sentence.
    """
    tally: Tally | None = None
    left_out: list[str] = []
    files = table_files(path)
    for file in files:
        table = open_table(file)
        try:
            layout = layout_of(table, choice)
        except LabError as error:
            if len(files) == 1:
                raise LabError(f"{file}: {error}") from error
            left_out.append(file.name)
            refusal = error
            continue
        if tally is None:
            tally = Tally(layout, choice)
        elif tally.layout.named != layout.named:
            raise LabError(
                f"{path}: {file.name} is read by {layout.named}, the files before it by"
                f" {tally.layout.named}: give files of one kind"
            )
        step = None if "step" in table.columns else step_of_path(file, path)
        try:
            tally.add(table.rows(tally.layout.wanted), step)
        except LabError as error:
            raise LabError(str(error) if str(file) in str(error) else f"{file}: {error}") from error
    if tally is None:
        raise LabError(f"{path}: {refusal}")
    try:
        found = tally.counts()
    except LabError as error:
        raise LabError(f"{path}: {error}") from error
    if left_out:
        found.notes.append(
            f"{len(left_out)} of {len(files)} files hold no rollouts and are left out:"
            f" {', '.join(left_out[:3])}{', ...' if len(left_out) > 3 else ''}"
        )
    return found


def step_of_path(file: Path, root: Path) -> str | None:
    """The step that a folder or file below `root` is named for: step_12/..., step-12.jsonl."""
    for part in reversed(file.relative_to(root if root.is_dir() else root.parent).parts):
        if match := re.search(r"step[-_]?(\d+)", part):
            return str(int(match[1]))
    return None


# --- Columns --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """Where a table holds what: columns by name, a dot leading into an object; "" for none."""

    format: Format
    problem: str
    reward: str
    within: tuple[str, ...] = ()
    size: str = ""
    advantage: str = ""
    only: tuple[tuple[str, str], ...] = ()  # columns, and the value of the rows that are read
    pooled: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()  # columns that may divide the rollouts of a problem

    @property
    def counted(self) -> bool:
        """Whether a row is a problem with its counts, and no rollout."""
        return self.format.cell == "counts"

    @property
    def named(self) -> str:
        """The tool and the columns, in words."""
        tool = f"{self.format.tool}: " if self.format.tool else ""
        return f"{tool}columns {', '.join(filter(None, (self.problem, self.size, self.reward)))}"

    @property
    def wanted(self) -> list[str]:
        """The columns that are read."""
        if self.format.logged_twice:
            return []  # all
        named = (self.problem, self.reward, *self.within, self.size, self.advantage)
        only = (name for name, _ in self.only)
        once = (self.format.one, self.format.once)
        return [*named, "step", *once, *only, *self.labels, *self.pooled]


def layout_of(table: Table, choice: Choice) -> Layout:
    """Recognise a table. LabError: its columns are unclear, with those that may be meant."""
    names = set(table.columns)
    for row in table.first:
        names.update(
            f"{outer}.{inner}"
            for outer, cells in row.items()
            if isinstance(cells, dict)
            for inner in cells
        )
    only = tuple((name, value) for name, _, value in (text.partition("=") for text in choice.only))
    chosen = [name for name, _ in only]
    for column in (choice.problem, choice.reward, *chosen, *choice.within, *choice.pooled):
        if column and column not in names:
            raise LabError(
                f"found columns {listed(table.columns)}, and no {short(column)}: name one of them"
            )
    first = lambda columns: next((name for name in columns if name in names), "")  # noqa: E731
    advantage = first(ADVANTAGES)
    size, right = first(SIZES), first(RIGHT)
    if size and right and holds_counts(table, size, right, choice):
        problem = choice.problem or first(COUNTS.problem)
        named = [name for name in table.columns if name not in (size, right, "step")]
        if named and not problem:
            raise LabError(
                f"found columns {listed(table.columns)}: name the problem with"
                f" --problem{_candidates(named)}"
            )
        return Layout(COUNTS, problem, right, tuple(choice.within), size, only=only)
    for form in FORMATS:
        if not all(column in names for column in form.columns):
            continue
        problem = choice.problem or first(form.problem)
        reward = choice.reward or first(form.reward)
        if not reward and not form.reward and advantage:
            others = (*form.besides, *form.problem, problem, *ADVANTAGES)
            numbers = [name for name in numeric_columns(table) if name not in others]
            reward = numbers[0] if len(numbers) == 1 else ""
        if not (problem and reward):
            continue
        if form.cell != "reward" and reward not in form.reward:
            continue  # the user's column holds something else
        if form.cell == "ratio" and not any("/" in str(row.get(reward)) for row in table.first):
            continue
        within = (*filter(None, [first(form.within)]), *choice.within)
        known = {"step", problem, reward, size, *within, *ADVANTAGES, *choice.pooled}
        known |= {*form.columns, *form.besides, form.one, form.once}
        # Of a ratio or a rate a row is a problem, and two that differ are refused.
        rows = [] if form.cell in ("ratio", "rate") else table.first
        labels = tuple(label_columns(rows, known))
        return Layout(
            form, problem, reward, within, size, advantage, only, tuple(choice.pooled), labels
        )
    raise LabError(unclear(table, choice))


def holds_counts(table: Table, size: str, right: str, choice: Choice) -> bool:
    """Whether a row counts the rollouts of a problem. LabError: it is unclear."""
    if choice.reward:  # `correct` may also be the reward of a rollout
        return choice.reward == right and any(
            (number(row.get(right)) or 0) > 1 for row in table.first
        )
    pairs = {(number(row.get(size)), number(row.get(right))) for row in table.first}
    n, k = min(pairs, key=str)
    if len(table.first) > 1 and len(pairs) == 1 and n and k and 0 < k < n:
        raise LabError(
            f"columns {size} and {right} are {n:g} and {k:g} in every row: name {right} with"
            f" --reward if that many of {size} rollouts were right, or the column of the reward"
        )
    return True


def numeric_columns(table: Table) -> list[str]:
    """The columns whose first cells are all numbers, truth values or missing."""
    return [
        name
        for name in table.columns
        if (cells := [row.get(name) for row in table.first])
        and all(missing(cell) or is_number(cell) for cell in cells)
        and not all(missing(cell) for cell in cells)
    ]


def unclear(table: Table, choice: Choice) -> str:
    """The sentence for columns that are unclear."""
    chart = any(name.endswith(("__MIN", "__MAX")) for name in table.columns)
    if chart or {"_step", "_runtime"} <= set(table.columns):
        return (
            "a history of metrics exported from W&B, which holds means and no rollouts: export the"
            " table of completions"
        )
    others = ("step", *ADVANTAGES, *IDS, *TEXTS, choice.problem)
    rewards = [name for name in numeric_columns(table) if name not in others]
    problems = []
    for name in table.columns:
        cells = [identity(row.get(name)) for row in table.first if not missing(row.get(name))]
        if name != "step" and len(set(cells)) < len(cells) and not set(cells) <= BINARY:
            problems.append(name)
    ask = []
    if not choice.problem and not set(table.columns) & {*IDS, *TEXTS}:
        ask.append(f"the problem with --problem{_candidates(problems)}")
    if not choice.reward and not set(table.columns) & {*REWARDS}:
        ask.append(f"the reward with --reward{_candidates(rewards)}")
    return (
        f"found columns {listed(table.columns)}: name {' and '.join(ask) or 'others'}; or give"
        f" {'|'.join(SIZES)} and {'|'.join(RIGHT)}, or {'|'.join(IDS + TEXTS)} in every row and"
        f" {'|'.join(REWARDS)}"
    )


def _candidates(names: list[str]) -> str:
    return f" ({listed(names, ' or ')}?)" if names else ""


def listed(names: Sequence[Any], between: str = ", ") -> str:
    """Names or values for a sentence, however many and long they are."""
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return between.join(short(identity(name)) for name in names[:LISTED]) + more


# --- Cells ----------------------------------------------------------------------------------------


def missing(cell: Any) -> bool:
    """Whether a cell is empty: none, nan, or a text that says so."""
    if cell is None:
        return True
    if isinstance(cell, str):
        return not cell.strip() or cell.strip().lower() in NO_NUMBER
    return isinstance(cell, float) and cell != cell


def is_number(cell: Any) -> bool:
    """Whether a cell is a number or a truth value, also one written as text."""
    return number(cell) is not None


def number(cell: Any) -> float | None:
    """A cell as a number: true and false are 1 and 0; None if it is none."""
    if isinstance(cell, (int, float)):
        return float(cell)
    if isinstance(cell, str):
        text = cell.strip().lower()
        if text in ("true", "false"):
            return float(text == "true")
        try:
            value = float(text) if "_" not in text else math.nan
        except ValueError:
            return None
        return value if math.isfinite(value) else None
    return None


def identity(cell: Any) -> str:
    """A problem's name as text: canonical JSON for what is no text or number.

    Canonical JSON has sorted keys, no spaces, no key whose value is null, and whole numbers without
    a point; so that one prompt is one text, whatever tool wrote it.

    >>> identity([{"role": "user", "content": "1+1?", "name": None}])
    '[{"content":"1+1?","role":"user"}]'
    >>> identity(7.0)
    '7'
    """
    if isinstance(cell, str):
        return cell
    return CANONICAL.encode(_plain(cell))


def _plain(cell: Any) -> Any:
    if isinstance(cell, dict):
        return {str(key): _plain(value) for key, value in cell.items() if value is not None}
    if isinstance(cell, (list, tuple)):
        return [_plain(value) for value in cell]
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if cell is None or isinstance(cell, (str, int, float)):
        return cell
    return str(cell)


# --- Counting -------------------------------------------------------------------------------------


@dataclass
class Tally:
    """The counts of the rows seen so far; the memory it takes grows with the problems, and with the
    rollouts only where each is named."""

    layout: Layout
    choice: Choice
    # (step, problem): rollouts, right ones, the advantage of a right and of a wrong one
    groups: dict[tuple[Any, str], list[Any]] = field(default_factory=dict)
    rows: int = 0
    lost: int = 0
    values: set[float] = field(default_factory=set)  # the rewards seen: some of -1, 0, 1
    shares: dict[tuple[Any, str], Any] = field(default_factory=dict)  # the ratio or rate of each
    others: dict[str, int] = field(default_factory=dict)  # values of `one` that are not read
    seen: set[str] = field(default_factory=set)  # the rollouts, where `once` names them
    repeated: int = 0
    digests: dict[Any, Any] = field(default_factory=dict)  # of the rows of each step
    last: Any = None  # the last step of a table of counts
    earlier: bool = False  # whether it has others
    labels: Labels = field(init=False)

    def __post_init__(self) -> None:
        self.labels = Labels(self.layout.labels)
        # the number of a problem of a step, and of what is pooled in it, in the order of the file
        self.numbers: defaultdict[Any, int] = defaultdict(itertools.count().__next__)

    def add(self, rows: Iterator[Row], step: str | None) -> None:
        """Count rows; `step` is that of rows that name none."""
        layout = self.layout
        if layout.counted:
            self._add_counts(rows)
            return
        outcome = self._outcome()
        get_problem, get_reward = reader_of(layout.problem), reader_of(layout.reward)
        get_within = [reader_of(name) for name in layout.within]
        get_pooled = [reader_of(name) for name in layout.pooled]
        get_advantage = reader_of(layout.advantage) if layout.advantage else None
        groups, one, logged_twice = self.groups, layout.format.one, layout.format.logged_twice
        once = layout.format.once
        kept = None
        before, text = None, ""
        looked_at: list[Row] = []
        places: list[int] = []
        for row in rows:
            self.rows += 1
            if layout.only and not self._is_chosen(row):
                continue
            if one:
                value = str(row.get(one))
                kept = value if kept is None else kept
                if value != kept:
                    self.others[value] = self.others.get(value, 0) + 1
                    continue
            if once:
                if row[once] in self.seen:
                    self.repeated += 1
                    continue
                self.seen.add(row[once])
            problem = get_problem(row)
            if problem is None or problem == "":
                raise LabError(
                    f"row {self.rows} has no {layout.problem}: every rollout needs its problem"
                )
            if type(problem) is not str:
                if problem != before:  # the rollouts of a prompt stand together
                    before, text = problem, identity(problem)
                problem = text
            for get in get_within:
                problem = f"{identity(get(row))} {problem}"
            at = row.get("step", step)
            if type(at) is not int:
                at = None if missing(at) else identity(at)
            key = (at, problem)
            if logged_twice:
                digest = self.digests.get(at)
                if digest is None:
                    digest = self.digests[at] = hashlib.sha256()
                digest.update(repr([row[name] for name in row if name != "step"]).encode())
            group = groups.get(key)
            if group is None:
                group = groups[key] = [0, 0, math.nan, math.nan]
            rollouts, right = group[0], group[1]
            outcome(get_reward(row), group, row, key)
            if get_advantage is not None and group[0] == rollouts + 1:
                advantage = number(get_advantage(row))
                if advantage is not None:
                    group[2 if group[1] > right else 3] = advantage
            looked_at.append(row)
            pooled = (identity(get(row)) for get in get_pooled)
            places.append(self.numbers[(*key, *pooled) if get_pooled else key])
            if len(places) == CHUNK:
                self.labels.add(looked_at, places)
                looked_at, places = [], []
        self.labels.add(looked_at, places)

    def _is_chosen(self, row: Row) -> bool:
        return all(is_success(reader_of(name)(row), value) for name, value in self.layout.only)

    def _add_counts(self, rows: Iterator[Row]) -> None:
        layout = self.layout
        for row in rows:
            self.rows += 1
            if not self._is_chosen(row):
                continue
            step = number(row.get("step")) if "step" in row else None
            if step is not None and step != self.last:
                self.earlier |= self.last is not None
                if self.last is not None and step < self.last:
                    continue
                self.last = step
                self.groups.clear()
            problem = f"row {self.rows - 1}"
            if layout.problem:
                names = (*reversed(layout.within), layout.problem)
                problem = " ".join(identity(reader_of(name)(row)) for name in names)
            if (None, problem) in self.groups:
                raise LabError(
                    f"problem {short(problem)} has several rows of counts: choose some with --only"
                    " COLUMN=VALUE, name what sets problems apart with --within, or add them up"
                )
            n, right = number(row.get(layout.size)), number(row.get(layout.reward))
            if n is None or right is None or n % 1 or right % 1 or n < 1 or not 0 <= right <= n:
                raise LabError(
                    f"problem {problem} has {layout.reward} = {row.get(layout.reward)} of"
                    f" {layout.size} = {row.get(layout.size)}: counts must be whole, with"
                    f" 0 <= {layout.reward} <= {layout.size}"
                )
            self._check_size(n, problem)
            self.groups[None, problem] = [int(n), int(right), math.nan, math.nan]

    def _check_size(self, n: float, problem: str) -> None:
        if n > LARGEST_N:
            raise LabError(
                f"problem {short(problem)} has n = {n:.0f} rollouts: the audit takes up to"
                f" {LARGEST_N} a problem; give fewer, or correct the file"
            )

    def _outcome(self) -> Callable[[Any, list[Any], Row, tuple[Any, str]], None]:
        """The function that adds a cell of the reward column to a group."""
        form, choice, values = self.layout.format, self.choice, self.values
        get_size = reader_of(self.layout.size) if self.layout.size else None

        def add_reward(cell: Any, group: list[Any], row: Row, key: tuple[Any, str]) -> None:
            if type(cell) is float and cell == cell:
                pass
            elif type(cell) is list:
                for each in cell:
                    add_reward(each, group, row, key)
                return
            elif missing(cell):
                self.lost += 1
                return
            group[0] += 1
            if choice.success is not None:
                group[1] += is_success(cell, choice.success)
                return
            value = cell if type(cell) is float or type(cell) is int else number(cell)
            if choice.threshold is not None and value is not None:
                group[1] += value >= choice.threshold
                return
            if value != 0 and value != 1 and value != -1:
                raise LabError(
                    f"reward {short(identity(cell))} in row {self.rows} ({self.layout.problem}"
                    f" {short(key[1])}): a reward must be 0 or 1, or -1 or 1; say from where it is"
                    " right with --threshold, or which value is with --success"
                )
            values.add(value)
            group[1] += value == 1

        def add_ratio(cell: Any, group: list[Any], row: Row, key: tuple[Any, str]) -> None:
            match = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", str(cell))
            if missing(cell):
                self.lost += 1
            elif self._told_before(key, cell):
                return
            elif match is None or int(match[1]) > int(match[2]) or not int(match[2]):
                raise LabError(
                    f"{self.layout.reward} {short(identity(cell))} in row {self.rows}: it must be"
                    " right of all, such as 5/8"
                )
            else:
                self._check_size(int(match[2]), key[1])
                group[0] += int(match[2])
                group[1] += int(match[1])

        def add_rate(cell: Any, group: list[Any], row: Row, key: tuple[Any, str]) -> None:
            rate = number(cell)
            if missing(cell):
                self.lost += 1
                return
            if rate is None or not 0 <= rate <= 1:
                raise LabError(
                    f"{self.layout.reward} {short(identity(cell))} in row {self.rows}: a pass rate"
                    " must be in [0, 1]"
                )
            n = number(get_size(row)) if get_size else form.n
            if not self._told_before(key, rate) and n:
                self._check_size(n, key[1])
                group[0] += int(n)
                group[1] += self._whole(rate, int(n), key[1])

        def add_metrics(cell: Any, group: list[Any], row: Row, key: tuple[Any, str]) -> None:
            for name, value in (cell if isinstance(cell, dict) else {}).items():
                match = re.fullmatch(r"(?:pass@k:k=1&n=|avg@n:n=)(\d+)", name)
                if value is not None and (match or name in ("extractive_match", "acc")):
                    n = int(match[1]) if match else 1
                    self._check_size(n, key[1])
                    group[0] += n
                    group[1] += self._whole(float(value), n, key[1])
                    return
            self.lost += 1

        cells = {"ratio": add_ratio, "rate": add_rate, "metrics": add_metrics}
        return cells.get(form.cell, add_reward)

    def _told_before(self, key: tuple[Any, str], share: Any) -> bool:
        """Whether a problem's ratio or rate was in a row before. LabError: it was another one."""
        before = self.shares.setdefault(key, share)
        if before != share:
            raise LabError(
                f"problem {short(key[1])} has {self.layout.reward} {before} and {share}: give each"
                " problem one"
            )
        return self.groups[key][0] > 0

    def _whole(self, rate: float, n: int, problem: str) -> int:
        right = round(rate * n)
        if abs(right - rate * n) > max(RATE_SLACK, n * 1e-4):
            raise LabError(
                f"problem {short(problem)} has the pass rate {rate:g}, which is no whole number of"
                f" {n} rollouts: look at the column {self.layout.reward}"
            )
        return right

    def counts(self) -> Counts:
        """All groups with a reward. LabError: no group has two."""
        layout, groups = self.layout, self.groups
        notes: list[str] = []
        if self.earlier:
            if not layout.problem and len(groups) == 1:
                raise LabError(
                    "every step has one row of counts, as a table of checkpoints has: give the"
                    " counts of each problem"
                )
            notes.append(f"only the last step is read: {self.last:g}")
        if not layout.counted:
            tool = f"{layout.format.tool}: " if layout.format.tool else ""
            notes.append(
                f"{tool}problems from column {layout.problem}, rewards from column {layout.reward}"
            )
        if layout.format.cell == "rate" and not (layout.size or layout.format.n):
            notes.append(self._add_rates())
        notes += self._divisions()
        if {0, -1} <= self.values:
            raise LabError(
                f"column {layout.reward} holds rewards of -1, 0 and 1: say from where one is right"
                " with --threshold"
            )
        if -1 in self.values:
            notes.append("a reward of -1 is wrong, 1 is right")
        if self.others:
            left = listed([f"{name} ({rows})" for name, rows in self.others.items()])
            notes.append(f"only the first {layout.format.one} is read; left out: {left} rows")
        if self.repeated:
            notes.append(f"{self.repeated} rollouts stand there twice and count once")
        steps = list(dict.fromkeys(step for step, _ in groups))
        if len(steps) > 1:
            said = f"{len(steps)} steps, their problems kept apart"
            if layout.format.logged_twice:
                twice = self._steps_logged_twice()
                groups = {key: group for key, group in groups.items() if key[0] not in twice}
                said += f"; {len(twice)} repeat another and are dropped"
            notes.append(said)
        groups = _merged_uids(layout, groups)
        names = self._names(groups, len(steps) > 1)
        kept = [
            (name, key, group)
            for name, (key, group) in zip(names, groups.items(), strict=True)
            if group[0]
        ]
        if not kept:
            if layout.only and not self.groups:
                raise LabError(f"no row has {listed(self.choice.only)}: choose another value")
            raise LabError(f"column {layout.reward} holds no reward: name another with --reward")
        n = np.array([group[0] for *_, group in kept], np.int64)
        for size, (name, *_) in zip(n, kept, strict=True):
            if size > LARGEST_N:
                self._check_size(int(size), name)
        if not layout.counted and (n <= 1).all():
            raise LabError(
                f"column {layout.problem} gives every rollout a problem of its own: name the"
                " problems in a column problem"
            )
        if self.lost:
            rollouts = self.lost + sum(group[0] for group in self.groups.values())
            of = f"{rollouts} rollouts" if layout.format.cell == "reward" else f"{self.rows} rows"
            notes.append(f"{self.lost} of {of} have no reward and are left out")
        if layout.problem in TEXTS and not layout.counted:
            more = int((n > np.median(n)).sum())
            notes.append(
                f"equal prompts are one problem: {more} of {len(n)} have more rows than most"
            )
        advantages = np.array([group[2:4] for *_, group in kept], np.float64)
        return Counts(
            [name for name, *_ in kept],
            n,
            np.array([group[1] for *_, group in kept], np.int64),
            notes,
            tool=layout.format.tool,
            advantages=None if np.isnan(advantages).all() else advantages,
            steps=["" if key[0] is None else str(key[0]) for _, key, _ in kept],
        )

    def _divisions(self) -> list[str]:
        """What is to be said of columns that divide problems. LabError: one that is not clear."""
        notes = [
            f"only rows with {name} = {short(value)} are read" for name, value in self.layout.only
        ]
        notes += [f"problems of different {name} are different" for name in self.choice.within]
        notes += [f"rollouts of different {name} are pooled" for name in self.choice.pooled]
        found = self.labels.dividing()
        unclear = [label for label in found if not (label.singles and label.counts)]
        # Of rollouts that are numbered and divided, the number is the lesser news.
        for label in sorted(unclear, key=lambda label: label.counts)[:1]:
            raise LabError(division_said(label))
        notes += [f"column {label.column} numbers the rollouts of a problem" for label in found]
        return notes

    def _add_rates(self) -> str:
        """Count the rates whose n no column gives: the smallest that all of them are counts of."""
        rates = np.array(list(self.shares.values()))
        n = next(
            (
                n
                for n in range(2, 1025)
                if (np.abs(rates * n - np.round(rates * n)) <= n * 1e-4 + RATE_SLACK).all()
                and ((rates > 0) & (rates < 1)).any()
            ),
            None,
        )
        if n is None or len(set(rates)) < 3 or n >= len(rates):
            raise LabError(
                f"column {self.layout.reward} gives rates and no column how many rollouts they are"
                f" of: add one named {'|'.join(SIZES)}"
            )
        for key, rate in self.shares.items():
            self.groups[key][0] += n
            self.groups[key][1] += round(rate * n)
        return f"n = {n} is the smallest of which all rates in {self.layout.reward} are counts"

    def _steps_logged_twice(self) -> set[Any]:
        seen: set[bytes] = set()
        twice = set()
        for step, digest in self.digests.items():
            if digest.digest() in seen:
                twice.add(step)
            seen.add(digest.digest())
        return twice

    def _names(self, groups: dict[tuple[Any, str], list[Any]], several: bool) -> list[str]:
        """How problems are called; prompts are numbered, and those of steps told apart."""
        numbers: dict[str, int] = {}
        names = []
        for step, problem in groups:
            if self.layout.problem in TEXTS:
                problem = f"prompt {numbers.setdefault(problem, len(numbers))}"
            names.append(f"{problem} of step {step}" if several else problem)
        return names


def division_said(label: Label) -> str:
    """The sentence for a column that may mean another policy or another problem."""
    name, value = short(label.column), short(identity(label.values[-1]))
    return (
        f"the rollouts of a problem differ in column {name}, whose {len(label.values)} values"
        f" ({listed(label.values)}) stand in the same problems: say --only {name}={value} to read"
        f" one of them, such as one policy, --within {name} if they are of different problems, or"
        f" --pooled {name} if it makes no difference"
    )


def is_success(cell: Any, success: str) -> bool:
    """Whether a cell is the value that means right, as a number or as text in any case."""
    value, wanted = number(cell), number(success)
    if value is not None and wanted is not None:
        return value == wanted
    return str(cell).strip().lower() == success.strip().lower()


def _merged_uids(
    layout: Layout, groups: dict[tuple[Any, str], list[Any]]
) -> dict[tuple[Any, str], list[Any]]:
    """verl's uid is problem_rollout_output where every rollout has its own: groups by problem."""
    if layout.problem != "uid" or any(group[0] > 1 for group in groups.values()):
        return groups
    merged: dict[tuple[Any, str], list[Any]] = {}
    seen: set[tuple[Any, str, str]] = set()
    for key, group in groups.items():
        match = re.fullmatch(r"(.+)_(\d+)_\d+", key[1])
        if match is None:
            return groups
        if (key[0], match[1], match[2]) in seen:
            raise LabError(
                f"rollout {match[2]} of problem {match[1]!r} appears twice: give every rollout of a"
                " problem its own index"
            )
        seen.add((key[0], match[1], match[2]))
        sums = merged.setdefault((key[0], match[1]), [0, 0, math.nan, math.nan])
        sums[0] += group[0]
        sums[1] += group[1]
    return merged
