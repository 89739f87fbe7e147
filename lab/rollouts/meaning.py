"""What the columns of a table of rollouts mean: names hint (lab.rollouts.names), values decide."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from lab.errors import LabError
from lab.rollouts.names import (
    HINTS,
    KEPT,
    LISTED,
    OWN,
    RATE_OF,
    RATIO,
    ROLLOUTS,
    SHORT,
    SIZES,
    SUMMARY,
    has_role,
    hinted,
    may_outcome,
    may_reward,
)
from lab.rollouts.structure import (
    Row,
    identity,
    is_outcome,
    missing,
    number,
    reader_of,
    short,
    verdict,
)

FILE = "(file)"  # a column of the names of several files, without their numbers

Kind = Literal["reward", "ratio", "rate", "counts"]
Cells = Mapping[str, Sequence[Any]]  # the cells of each column, each once or as often as it stands


@dataclass(frozen=True)
class Choice:
    """What the user says of a file: its columns, and which rewards are right.

    A rollout is right if its reward is at least `threshold`, or is `success`, a number or a text.
    Without either, rewards must be 0 and 1, or -1 and 1. `n` are the rollouts behind a count or a
    rate.

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
    n: int | None = None

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
        if self.n is not None and self.n < 1:
            raise LabError(f"n = {self.n}: it must be a whole number of at least 1")

    @property
    def chosen(self) -> list[tuple[str, str]]:
        """The columns of `only`, and the value of the rows that are read."""
        return [(name, value) for name, _, value in (text.partition("=") for text in self.only)]

    @property
    def columns(self) -> list[str]:
        """All columns that are named."""
        of_rows = [name for name, _ in self.chosen]
        named = (self.problem, self.reward, *of_rows, *self.within, *self.pooled)
        return [name for name in named if name is not None]


class Outcome(NamedTuple):
    """Where a table says what was right: `names` are columns that say it, the strongest first.

    Of counts and rates `size` is the column of n, a number, or None where n is not told.
    """

    kind: Kind
    names: list[str]
    size: str | int | None = None


@dataclass(frozen=True)
class Wanted:
    """The columns of a table: `all`, and the `names` of those that are read: of `long`, texts, as
    hashes, of `lists` as lengths, and `labels`, short ones of no known meaning.
    """

    all: list[str]
    names: list[str]
    long: list[str]
    lists: list[str]
    labels: list[str]
    signature: str


def wanted(first: Sequence[Row], choice: Choice, several: bool = False) -> Wanted:
    """The columns to read, by the first rows, with the names of `several` files. LabError: they
    hold no outcome, or one is missing.
    """
    cells = _told(first, choice, several)
    names = list(cells)
    scalar = {
        name: told
        for name, told in cells.items()
        if not any(isinstance(cell, (list, dict)) or len(str(cell)) > SHORT for cell in told)
    }
    chosen = {name: cells[name] for name in choice.columns if name in cells}
    known = (*ROLLOUTS, *HINTS["text"], *HINTS["answer"])
    lists = [
        name
        for name in names
        if name.lower() in known and name not in chosen and {*map(type, cells[name])} == {list}
    ]
    outcome = outcome_of(scalar | chosen, choice, lists)
    if outcome is None:
        raise LabError(unclear(_outermost(first), cells, choice))
    problems = [*hinted(scalar, "problem"), *hinted(names, "prompt")[:2]]
    lengths = [outcome.size] if outcome.size in lists else []
    used = {*problems, *lengths, *choice.columns}
    texts = [name for name in names if name not in used and {*map(type, cells[name])} - {float}]
    long = [*hinted(texts, "text")[:1], *hinted(texts, "answer")[:1]]
    known_scalars = [*filter(may_outcome, scalar), *hinted(scalar, *KEPT)]
    kept = [*choice.columns, *problems, *outcome.names, *known_scalars]
    kept = [name for name in dict.fromkeys(kept) if name not in (*long, *lengths)]
    used = {*kept, *long}
    labels = [name for name in [*scalar, *[FILE] * several] if name not in used]
    signature = f"columns {', '.join([*problems[:1], outcome.names[0]])}"
    compared = long[:1] if hinted(names, "sample", "trace", "advantage") else []
    read = [*kept, *compared, *lengths, *labels]
    return Wanted(_outermost(first), read, long, lengths, labels, signature)


def _told(first: Sequence[Row], choice: Choice, several: bool) -> dict[str, list[Any]]:
    """The cells of each column that are not empty, also of those in an object and of those that
    the user names. LabError: one of these is not there.
    """
    cells: dict[str, list[Any]] = {}
    for row in first:
        for name, cell in row.items():
            inner = cell if isinstance(cell, dict) else {}
            places = {name: cell} | {f"{name}.{key}": value for key, value in inner.items()}
            for place, value in places.items():
                cells.setdefault(place, []).extend([] if missing(value) else [value])
    for name in choice.columns:
        if name not in cells and not (several and name == FILE):
            told = [cell for cell in map(reader_of(name), first) if not missing(cell)]
            if not told:
                raise LabError(
                    f"found columns {listed(_outermost(first))}, and no {short(name)}: name one of"
                    " them"
                )
            cells[name] = told
    return cells


def _outermost(first: Sequence[Row]) -> list[str]:
    return [name for name in dict.fromkeys(itertools.chain(*first)) if name[:1] != "("]


# --- What says that a rollout is right ------------------------------------------------------------


def is_binary(cells: Sequence[Any]) -> bool:
    """Whether cells are rewards of which it is clear what is right: 0, 1, -1, or labels."""
    values = {verdict(cell) for cell in cells}
    return bool(values) and values <= {0, 1, -1} and not values >= {0, -1}


def _are_numbers(cells: Sequence[Any], fits: Callable[[float], bool] = math.isfinite) -> bool:
    values = [number(cell) for cell in cells]
    return bool(values) and all(value is not None and fits(value) for value in values)


def _are_rates(cells: Sequence[Any]) -> bool:
    return _are_numbers(cells, lambda value: 0 <= value <= 1)


def _are_ratios(cells: Sequence[Any]) -> bool:
    return bool(cells) and all(RATIO.fullmatch(str(cell)) for cell in cells)


def outcome_of(cells: Cells, choice: Choice, lists: Sequence[str] = ()) -> Outcome | None:
    """What says that rollouts are right; None: nothing does. LabError: it is unclear.

    `cells` are without empty ones; `lists` are columns of lists, whose lengths may be n.
    """
    names = list(cells)
    size = _size(names, choice, lists)
    if choice.reward:
        if choice.reward not in cells:  # it is empty
            return None
        return Outcome(_kind(choice.reward, cells, choice, size), [choice.reward], size)
    unfolded = "(row)" in names
    rights = [name for name in hinted(names, "right") if not unfolded and name != size]
    rights = [name for name in rights if {type(cell) for cell in cells[name]} != {bool}]
    if rights and size is not None:
        return Outcome("counts", rights[:1], size)
    graded = None
    for role in OWN:
        own = [name for name in hinted(names, role) if all(map(is_outcome, cells[name]))]
        binary = [name for name in own if is_binary(cells[name])]
        if binary:
            return Outcome("reward", binary)
        plain = [name for name in names if not {*map(type, cells[name])} & {list, dict}]
        graded = graded or next(iter(own or hinted(plain, role)), None)
    of_n = {name: int(match[1]) for name in names if (match := RATE_OF.fullmatch(name))}
    for name in (*of_n, *hinted(names, "rate")):
        known = of_n.get(name) or SIZES.get(name.lower()) or choice.n or size
        if _are_ratios(cells[name]):
            return Outcome("ratio", [name])
        if _are_rates(cells[name]) and not SUMMARY.fullmatch(name):
            if known or not is_binary(cells[name]):
                return Outcome("rate", [name], known)
    if graded:
        rate = choice.n and _are_rates(cells[graded]) and choice.threshold is None
        return Outcome("rate" if rate else "reward", [graded], choice.n)
    if hinted(names, "advantage"):
        unknown = [
            name for name in names if not has_role(name, *(HINTS.keys() - {"right", "rate"}))
        ]
        besides = [name for name in unknown if _are_numbers(cells[name])]
        return Outcome("reward", besides) if len(besides) == 1 else None
    may = [name for name in names if may_reward(name) or has_role(name, "rate")]
    weak = [name for name in may if is_binary(cells[name]) and not SUMMARY.fullmatch(name)]
    if rights and not weak:
        raise LabError(
            f"column {rights[0]} counts right rollouts and nothing says of how many: say --n N"
        )
    return Outcome("reward", weak) if weak else None


def _size(names: Sequence[str], choice: Choice, lists: Sequence[str]) -> str | int | None:
    """Where n is told: by the user, a column, the one column of lists, or k at last."""
    if choice.n:
        return choice.n
    sizes = [name for name in hinted(names, "size") if name.lower() != "k"]
    if len(lists) == 1:
        sizes.append(lists[0])
    if "k" in names and hinted(names, "right")[0] != "k":
        sizes.append("k")
    return sizes[0] if sizes else None


def _kind(name: str, cells: Cells, choice: Choice, size: str | int | None) -> Kind:
    """What the cells of a column are that the user has named."""
    told = cells[name]
    if choice.threshold is not None or choice.success is not None:
        return "reward"
    if _are_ratios(told):
        return "ratio"
    counted = choice.n or (has_role(name, "right") and size is not None)
    if counted and not is_binary(told) and _are_numbers(told, lambda x: x % 1 == 0 and x >= 0):
        return "counts"
    if _are_rates(told) and (choice.n or has_role(name, "rate") or RATE_OF.fullmatch(name)):
        return "rate"
    return "reward"


# --- Sentences ------------------------------------------------------------------------------------


def listed(names: Sequence[Any], between: str = ", ") -> str:
    """Names or values for a sentence, however many and long they are."""
    words = between.join(short(identity(name)) for name in names[:LISTED])
    return f"{words} and {len(names) - LISTED:,} more" if len(names) > LISTED else words


def options(names: Sequence[str]) -> str:
    """Names in brackets, as a question."""
    return f" ({listed(names, ' or ')}?)" if names else ""


def unclear(columns: Sequence[str], told: Cells, choice: Choice) -> str:
    """The sentence for columns that are unclear."""
    ends = any(name.endswith(("__MIN", "__MAX")) for name in columns)
    if ends or {"_step", "_runtime"} <= set(columns):
        return (
            "a history of metrics exported from W&B, which holds means and no rollouts: export the"
            " table of completions"
        )
    found = f"found columns {listed(columns)}"
    numbers = {name for name in columns if _are_numbers(told[name])}
    if "step" in columns and len(numbers) == len(columns) and not choice.columns:
        return (
            f"{found}: a history of metrics, one row a step, which holds means and no rollouts;"
            " give what the rollouts of each problem got"
        )
    if any(map(SUMMARY.fullmatch, columns)) and not hinted(columns, "problem"):
        return (
            f"{found}: means and other summaries and no rollouts; give what the rollouts of each"
            " problem got, or --reward and the --n that its means are of"
        )
    ask = []
    if not choice.problem and not hinted(columns, "problem", "prompt"):
        problems = [
            name
            for name in columns
            if name != "step"
            and len({identity(cell) for cell in told[name]}) < len(told[name])
            and not is_binary(told[name])
        ]
        ask.append(f"the problem with --problem{options(problems)}")
    if not choice.reward:
        known = ("step", "problem", "prompt", "advantage", "sample")
        rewards = [
            name
            for name in columns
            if name != choice.problem
            and not has_role(name, *known)
            and (name in numbers or is_binary(told[name]))
        ]
        none = " (none holds 0 and 1, true and false, or correct and wrong)"
        ask.append(f"the reward with --reward{options(rewards) or none}")
    return (
        f"{found}: name {' and '.join(ask) or 'others'}; or give n and k of each problem, or a"
        " problem and a reward in every row"
    )
