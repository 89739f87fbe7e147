"""Every number of ours in the README's status and in docs/results.md is recorded."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

from lab.metrics import pass_at_k
from lab.runs import results
from lab.runs.provenance import ROOT
from lab.stats import bootstrap, compare

PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
STATUS = (ROOT / "README.md").read_text(encoding="utf-8").split("## Status: ")[1].split("\n## ")[0]
NUMBER = re.compile(r"-?\d+\.\d+(?: \[-?\d+\.\d+, -?\d+\.\d+\])?")  # alone or with its interval


def rows(page: str) -> list[list[str]]:
    """The cells of every row of the page's tables; "the same" gets the setting that it refers to.

    Cells: claim, setting and figure, ours, published, verdict.
    """
    found = []
    for line in page.splitlines():
        if line.startswith("| ") and not line.startswith("| claim |"):
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            if "](" not in cells[1] and cells[1].startswith("the same"):
                cells[1] = f"{found[-1][1]}; {cells[1]}"
            found.append(cells)
    return found


def numbers(text: str) -> list[tuple[float, ...]]:
    """The numbers of a cell with the decimals of their text: (value,) or (value, low, high)."""
    return [tuple(map(float, re.findall(r"-?\d+\.\d+", match))) for match in NUMBER.findall(text)]


@cache
def of_figure(name: str) -> np.ndarray:
    """The numbers that a figure draws, "rows columns"."""
    return pd.read_csv(ROOT / "figures" / "out" / f"{name}.csv").select_dtypes("number").to_numpy()


@cache
def of_problems(sweep: str, metric: str) -> np.ndarray:
    """Means over problems and seeds and their paired differences, each with its interval.

    These intervals are over problems and seeds, those of the curves in figures over seeds.
    """
    groups = results(sweep, sweep).groups
    k = int(metric.removeprefix("pass@"))
    groups = groups.assign(value=pass_at_k(groups["n"].to_numpy(), groups["right"].to_numpy(), k))
    values = {
        name: part.pivot(index="seed", columns="problem", values="value").to_numpy()
        for name, part in groups.groupby("objective")
    }
    intervals = [bootstrap(part, over="both") for part in values.values()]
    intervals += [
        compare(values["maxrl"], part, over="both").difference
        for name, part in values.items()
        if name != "maxrl"
    ]
    return np.array([(one.point, one.low, one.high) for one in intervals])


def recorded(row: list[str]) -> list[np.ndarray]:
    """The tables that a row's numbers may come from."""
    figures = re.findall(r"\[(\w+)\]\([./]*figures/out/", row[1])
    tables = [of_figure(name) for name in figures]
    for sweep, figure in (("gsm8k", "gsm8k_dynamics"), ("maze", "maze_coverage")):
        if figure in figures:
            tables += [of_problems(sweep, metric) for metric in ("pass@1", "pass@64")]
    return tables


def is_recorded(number: tuple[float, ...], decimals: int, tables: list[np.ndarray]) -> bool:
    """Whether one row of a table holds the number and both ends of its interval."""
    return any(
        all((np.round(row, decimals) == value).any() for value in number)
        for table in tables
        for row in table
    )


@pytest.mark.parametrize(
    "row", rows(STATUS) + rows(PAGE), ids=lambda row: re.sub(r"\W+", "-", row[0])[:50]
)
def test_every_number_of_ours_is_drawn_by_its_figure_or_follows_from_the_records(row):
    for text in NUMBER.findall(row[2]):
        decimals = len(text.split(" ")[0].split(".")[1])
        (number,) = numbers(text)
        assert is_recorded(number, decimals, recorded(row)), text


def test_the_check_finds_a_wrong_number():
    row = next(row for row in rows(PAGE) if "maze_dynamics" in row[1])
    (wrong,) = numbers("0.897")
    assert not is_recorded(wrong, 3, recorded(row)) and is_recorded((0.896,), 3, recorded(row))
    row = next(row for row in rows(PAGE) if "gsm8k_dynamics" in row[1])
    ((*_, high),) = found = numbers("0.130 [0.042, 0.224]")
    assert is_recorded(found[0], 3, recorded(row))
    assert not is_recorded((0.130, 0.042, high + 0.001), 3, recorded(row))


def test_the_readme_has_six_short_rows_some_of_them_negative_and_all_on_the_page():
    short, full = rows(STATUS), rows(PAGE)
    lines = [line for line in STATUS.splitlines() if line.startswith("| ")]
    assert len(short) == 6 and max(map(len, lines)) <= 300
    assert sum("does not hold" in row[4] for row in short) >= 2
    ours = {number for row in full for number in numbers(row[2])}
    for row in short:
        assert {number for number in numbers(row[2])} <= ours
    assert "(docs/results.md)" in STATUS


def test_the_page_is_grouped_and_links_to_files_that_exist():
    assert re.findall(r"^## (.+)", PAGE, re.M) == [
        "Theory",
        "Images",
        "Mazes",
        "Language models",
        "Not yet measured",
    ]
    assert len(rows(PAGE)) == 23 and len({row[0] for row in rows(PAGE)}) >= 22
    for page, folder in ((PAGE, ROOT / "docs"), (STATUS, ROOT)):
        for target in re.findall(r"\]\(([^)]+)\)", page):
            assert (folder / target).exists(), target
