"""The figures and tables of the papers: claim, command, ours, published, verdict. Floor 3.

figures/papers.toml holds them. A number of ours is never typed there: it is named as a cell of a
figure's own table (figures/out/NAME.csv) or of a recorded sweep (data/results), and the verdict
follows from the numbers.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lab.errors import LabError, unknown
from lab.papers.published import contradictions, printed
from lab.runs.sweep_results import RECORDED, results
from lab.show import plots

if TYPE_CHECKING:
    import pandas as pd

REGISTRY = plots.SCRIPTS / "papers.toml"
HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "not yet measured"
MEANS, OPEN = "holds in the means; intervals overlap", "does not show; intervals overlap"


@dataclass(frozen=True)
class Number:
    """A measured number; an exact one, or one without an interval, has low and high at the point."""

    point: float
    low: float
    high: float

    def __str__(self) -> str:
        return self.text(4 if abs(self.point) < 0.01 else 3 if abs(self.point) < 10 else 1)

    def text(self, digits: int, unit: float = 1) -> str:
        point, low, high = (
            f"{value * unit:.{digits}f}" for value in (self.point, self.low, self.high)
        )
        return point if self.low == self.high else f"{point} [{low}, {high}]"


@dataclass(frozen=True)
class Claim:
    """One claim of a paper beside what was measured here. `ours`: where each number is; `expects`:
    their order.
    """

    claim: str
    published: str | list[str]
    ours: dict[str, str]
    expects: str
    remark: str = ""

    def numbers(self) -> dict[str, Number] | None:
        """Ours, by label; None where one is not recorded."""
        found = {label: number_at(where) for label, where in self.ours.items()}
        return None if None in found.values() else found

    @property
    def verdict(self) -> str:
        found = self.numbers()
        return UNKNOWN if found is None else judge(self.expects, found)


@dataclass(frozen=True)
class Item:
    """One figure or table of a paper; the fields are explained at the top of figures/papers.toml."""

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
    compare: list[Claim] = field(default_factory=list)

    @property
    def key(self) -> str:
        """A name for files and links: maxrl_figure_3."""
        return f"{self.paper} {self.item}".lower().replace(" ", "_")

    @property
    def drawn(self) -> list[str]:
        return [name for name in self.figures if plots.figure_record(name) is not None]

    @property
    def not_drawn(self) -> list[str]:
        return [name for name in self.figures if plots.figure_record(name) is None]

    @property
    def notes(self) -> list[str]:
        return contradictions(self.paper, self.item)

    @property
    def verdict(self) -> str:
        """The verdict on the whole item: that of its claims; what is missing is not outweighed by
        another world.
        """
        found = [claim.verdict for claim in self.compare if claim.verdict != UNKNOWN]
        if not found:
            return "shown" if self.drawn and not self.missing else UNKNOWN
        here = (
            found[0]
            if len(set(found)) == 1
            else (f"{sum(one in (HOLDS, MEANS) for one in found)} of {len(found)} claims hold")
        )
        return f"{UNKNOWN} as published; in another setting: {here}" if self.missing else here

    @property
    def runs(self) -> dict[str, dict[str, Any]]:
        """The runs behind its figures, by id."""
        return {
            run: facts
            for name in self.drawn
            for run, facts in plots.figure_record(name)["runs"].items()
        }

    def published_text(self, claim: Claim) -> str:
        """What the paper says to a claim: a quotation, or cells of its table."""
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


def number_at(where: str) -> Number | None:
    """The number at a place such as "FIGURE: COLUMN where KEY=VALUE; ..."; None where nothing is
    recorded there.
    """
    match = re.fullmatch(r"([\w/]+): (.+?) where (.+)", where)
    if not match:
        raise LabError(f"cannot read {where!r}: write FIGURE: COLUMN where KEY=VALUE; KEY=VALUE")
    source, column, kept = (
        match[1],
        match[2],
        dict(one.split("=", 1) for one in match[3].split("; ")),
    )
    table = _last(*source.split("/"), column, kept) if "/" in source else _drawn(source)
    if table is None:
        return None
    for key, value in kept.items():
        if key not in table:
            raise unknown(f"column of {source}", key, table.columns)
        table = table[table[key].map(_same(value))]
    if largest := re.fullmatch(r"(.+) of the largest (.+)", column):
        column, table = largest[1], table.nlargest(1, largest[2])
    if len(table) != 1 or column not in table:
        raise LabError(
            f"{where!r} names {len(table)} rows of {', '.join(table.columns)}: it must name one"
            " number"
        )
    row = table.iloc[0]
    point = float(row[column])
    low, high = (float(row.get(key, point)) for key in ("low", "high"))
    return Number(
        point, *((low, high) if low == low else (point, point))
    )  # nan: one seed, no interval


def judge(expects: str, found: dict[str, Number]) -> str:
    """Whether numbers stand in the order that is expected, for example "MaxRL > GRPO > 0.1" or
    "MaxRL = ML".

    "=" holds where the intervals touch. An order holds where no two neighbours' intervals touch;
    where some do, the means decide what is said; it does not hold where two neighbours stand the
    other way round and do not touch.

    >>> judge("a > b", {"a": Number(0.5, 0.4, 0.6), "b": Number(0.3, 0.2, 0.45)})
    'holds in the means; intervals overlap'
    """
    words, seen = re.split(r" ([<>=]) ", expects), set()
    for left, sign, right in zip(words[::2], words[1::2], words[2::2], strict=False):
        a, b = (_number(name, found) for name in ((right, left) if sign == "<" else (left, right)))
        touch, ordered = a.low <= b.high and b.low <= a.high, a.point > b.point
        if sign == "=":
            seen.add(HOLDS if touch else FAILS)
        elif touch:
            seen.add(MEANS if ordered else OPEN)
        else:
            seen.add(HOLDS if ordered else FAILS)
    return next(verdict for verdict in (FAILS, OPEN, MEANS, HOLDS) if verdict in seen)


def _number(name: str, found: dict[str, Number]) -> Number:
    if name in found:
        return found[name]
    try:
        return Number(*3 * [float(name)])
    except ValueError:
        raise unknown("label among ours,", name, found) from None


def _same(value: str):
    try:
        wanted = float(value)
        return lambda cell: cell == wanted
    except ValueError:
        return lambda cell: cell == value


def _drawn(name: str) -> pd.DataFrame | None:
    import pandas as pd

    path = plots.out_folder() / f"{name}.csv"
    return pd.read_csv(path) if path.exists() else None


def _last(sweep: str, experiment: str, metric: str, kept: dict[str, str]) -> pd.DataFrame | None:
    """The last step of a recorded sweep, a row for each combination of the parameters in `kept`,
    over seeds.
    """
    if not (RECORDED / sweep / f"{experiment}.json").exists():
        return None
    found = results(sweep, experiment)
    told = type(found)(found.metrics[found.metrics[metric].notna()], found.groups, found.runs)
    curve = told.over_seeds(metric, list(kept))
    return curve[curve["step"] == curve["step"].max()]
