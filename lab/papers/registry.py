"""The figures and tables of the papers: claim, command, ours, published, verdict.

They are listed in figures/papers.toml. Our numbers are never typed there: each is named as a cell
of a figure's table (figures/out/NAME.csv) or of a recorded sweep (data/results), and the verdict is
computed from the numbers.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lab.errors import LabError, unknown
from lab.papers.published import contradictions, printed
from lab.runs.sweep_results import RECORDED, Results, results
from lab.show import plots

if TYPE_CHECKING:
    import pandas as pd

REGISTRY = plots.SCRIPTS / "papers.toml"
HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "not yet measured"
MEANS, OPEN = "holds in the means; intervals overlap", "does not show; intervals overlap"


@dataclass(frozen=True)
class Number:
    """A measured number with its interval; without an interval, low and high equal the point."""

    point: float
    low: float
    high: float

    def __str__(self) -> str:
        size = abs(self.point)
        return self.text(4 if size < 0.01 else 3 if size < 10 else 1)

    def text(self, digits: int, unit: float = 1) -> str:
        """Point and interval times `unit`, with `digits` after the decimal point."""
        point, low, high = (
            f"{value * unit:.{digits}f}" for value in (self.point, self.low, self.high)
        )
        return point if self.low == self.high else f"{point} [{low}, {high}]"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper beside what was measured here.

    `ours` says where each of our numbers is recorded; `expects` is the order claimed for them. The
    numbers are read once: `items` makes claims that read them anew.
    """

    claim: str
    published: str | list[str]
    ours: dict[str, str]
    expects: str
    remark: str = ""

    @cached_property
    def numbers(self) -> dict[str, Number] | None:
        """Our numbers by label; None if any of them is not recorded."""
        numbers = {}
        for label, place in self.ours.items():
            number = number_at(place)
            if number is None:
                return None
            numbers[label] = number
        return numbers

    @property
    def verdict(self) -> str:
        """Whether our numbers stand in the expected order."""
        return UNKNOWN if self.numbers is None else judge(self.expects, self.numbers)


@dataclass(frozen=True)
class Item:
    """A figure or table of a paper; figures/papers.toml explains the fields."""

    paper: str
    item: str
    title: str
    commands: list[str]
    figures: list[str] = field(default_factory=list)
    also: list[str] = field(default_factory=list)
    setting: str = ""
    missing: str = ""
    printed: str = ""
    layout: dict[str, list[str]] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, dict[str, Any]] = field(default_factory=dict)
    compare: list[Claim] = field(default_factory=list)

    @property
    def key(self) -> str:
        """A name for files and links: maxrl_figure_3."""
        return f"{self.paper} {self.item}".lower().replace(" ", "_")

    @property
    def drawn(self) -> list[str]:
        """Its figures that were drawn here."""
        return [name for name in self.figures if plots.figure_record(name) is not None]

    @property
    def not_drawn(self) -> list[str]:
        """Its figures that could not be drawn: a script or its runs are missing."""
        return [name for name in self.figures if plots.figure_record(name) is None]

    @property
    def notes(self) -> list[str]:
        """Where the paper contradicts itself about it."""
        return contradictions(self.paper, self.item)

    @property
    def verdict(self) -> str:
        """The verdict on all its claims together.

        If the published setting was not reproduced, a verdict in another setting says so.
        """
        verdicts = [claim.verdict for claim in self.compare if claim.verdict != UNKNOWN]
        if not verdicts:
            return "shown" if self.drawn and not self.missing else UNKNOWN
        if len(set(verdicts)) == 1:
            summary = verdicts[0]
        else:
            holding = sum(verdict in (HOLDS, MEANS) for verdict in verdicts)
            summary = f"{holding} of {len(verdicts)} claims hold"
        return f"{UNKNOWN} as published; in another setting: {summary}" if self.missing else summary

    @property
    def runs(self) -> dict[str, dict[str, Any]]:
        """The runs behind its figures, by id."""
        runs: dict[str, dict[str, Any]] = {}
        for name in self.figures:
            if (record := plots.figure_record(name)) is not None:
                runs |= record["runs"]
        return runs

    def published_text(self, claim: Claim) -> str:
        """What the paper says on a claim: a quotation, or cells of its table."""
        if isinstance(claim.published, str):
            return claim.published
        table = printed(self.paper, self.item)
        cells = {f"{row.method}, {row.metric}": row.text for row in table.itertuples()}
        for name in claim.published:
            if name not in cells:
                raise unknown(f"cell of {self.paper}'s {self.item}", name, cells)
        return "; ".join(f"{name} {cells[name]}" for name in claim.published)


def items() -> list[Item]:
    """Every figure and table of the registry, in its order."""
    return [
        Item(**table | {"compare": [Claim(**claim) for claim in table.get("compare", [])]})
        for table in tomllib.loads(REGISTRY.read_text())["items"]
    ]


def number_at(place: str) -> Number | None:
    """The number at a place such as "FIGURE: COLUMN where KEY=VALUE; ..."; None if not recorded.

    SWEEP/EXPERIMENT in the place of FIGURE names a recorded sweep. "COLUMN of the largest KEY"
    takes the row with the largest KEY. LabError: not one row, or an unknown column.
    """
    match = re.fullmatch(r"([\w/]+): (.+?) where (.+)", place)
    if not match:
        raise LabError(f"cannot read {place!r}: write FIGURE: COLUMN where KEY=VALUE; KEY=VALUE")
    source, column = match[1], match[2]
    conditions = dict(condition.split("=", 1) for condition in match[3].split("; "))
    if "/" in source:
        sweep, experiment = source.split("/")
        table = _last_step(sweep, experiment, column, list(conditions))
    else:
        table = _figure_table(source)
    if table is None:
        return None
    for key, value in conditions.items():
        if key not in table:
            raise unknown(f"column of {source}", key, table.columns)
        table = table[table[key].map(_equals(value))]
    if largest := re.fullmatch(r"(.+) of the largest (.+)", column):
        column, table = largest[1], table.nlargest(1, largest[2])
    if len(table) != 1 or column not in table:
        raise LabError(
            f"{place!r} names {len(table)} rows of {', '.join(table.columns)}: it must name one"
            " number"
        )
    row = table.iloc[0]
    point = float(row[column])
    low = float(row.get("low", point))
    high = float(row.get("high", point))
    if math.isnan(low):  # one seed has no interval
        low = high = point
    return Number(point, low, high)


def judge(expects: str, numbers: dict[str, Number]) -> str:
    """The verdict on an expected order, for example "MaxRL > GRPO > 0.1" or "MaxRL = ML".

    Equality holds if the intervals overlap. An order holds if no two neighbours' intervals overlap.
    If some do, the verdict depends on the order of the means. It does not hold if two neighbours
    stand the other way round and their intervals do not overlap.

    >>> judge("a > b", {"a": Number(0.5, 0.4, 0.6), "b": Number(0.3, 0.2, 0.45)})
    'holds in the means; intervals overlap'
    """
    tokens = re.split(r" ([<>=]) ", expects)  # label, sign, label, sign, ..., label
    verdicts = set()
    for left, sign, right in zip(tokens[::2], tokens[1::2], tokens[2::2], strict=False):
        if sign == "<":
            left, right = right, left
        a = _number(left, numbers)
        b = _number(right, numbers)
        overlap = a.low <= b.high and b.low <= a.high
        ordered = a.point > b.point
        if sign == "=":
            verdicts.add(HOLDS if overlap else FAILS)
        elif overlap:
            verdicts.add(MEANS if ordered else OPEN)
        else:
            verdicts.add(HOLDS if ordered else FAILS)
    # The weakest pair decides.
    return next(verdict for verdict in (FAILS, OPEN, MEANS, HOLDS) if verdict in verdicts)


def _number(name: str, numbers: dict[str, Number]) -> Number:
    """A number by its label, or a constant such as "0.1"."""
    if name in numbers:
        return numbers[name]
    try:
        value = float(name)
    except ValueError:
        raise unknown("label among ours,", name, numbers) from None
    return Number(value, value, value)


def _equals(text: str) -> Callable[[Any], bool]:
    """Whether a cell equals a value written as text: as a number if the text is one."""
    try:
        value: float | str = float(text)
    except ValueError:
        value = text
    return lambda cell: cell == value


def _figure_table(name: str) -> pd.DataFrame | None:
    """The data of a figure; None if it was not drawn."""
    import pandas as pd

    path = plots.out_folder() / f"{name}.csv"
    return pd.read_csv(path) if path.exists() else None


def _last_step(
    sweep: str, experiment: str, metric: str, parameters: list[str]
) -> pd.DataFrame | None:
    """The last step of a recorded sweep, a mean over seeds for each combination of `parameters`."""
    if not (RECORDED / sweep / f"{experiment}.json").exists():
        return None
    recorded = results(sweep, experiment)
    measured = recorded.metrics[recorded.metrics[metric].notna()]
    last = measured[measured["step"] == measured["step"].max()]
    return Results(last, recorded.groups, recorded.runs).over_seeds(metric, parameters)
