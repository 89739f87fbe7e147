r"""The papers' tables, published beside ours, in Markdown and LaTeX. Floor 3."""

from __future__ import annotations

from lab.llm.evals.evaluation_tables import escaped
from lab.papers.published import PAPERS, printed
from lab.papers.registry import Item, number_at

Lines = list[list[str]]


def lines(item: Item) -> Lines:
    """Head and rows of a table: what is printed, in its order, and below each row ours where it is
    measured.
    """
    table = printed(item.paper, item.item)
    by, across = item.layout["rows"], item.layout["columns"]
    table = table.assign(
        column=table[across].agg(", ".join, axis=1), row=table[by].agg(" | ".join, axis=1)
    )
    ours = item.ours or {"rows": {}, "columns": {}}
    fullest = max((list(part) for _, part in table.groupby("row", sort=False)["column"]), key=len)
    columns = list(dict.fromkeys([*fullest, *table["column"], *ours["columns"]]))
    if ours["columns"]:
        columns.sort(
            key=lambda name: int(name.split("@")[1])
        )  # theirs and ours are pass@k at different k
    found: Lines = [[*by, "", *columns]]
    for row, part in table.groupby("row", sort=False):
        cells = dict(zip(part["column"], part["text"], strict=True))
        found.append(
            [*row.split(" | "), "published", *(cells.get(column, "") for column in columns)]
        )
        if row in ours["rows"]:
            found.append(
                [*row.split(" | "), "ours", *(_ours(item, row, column) for column in columns)]
            )
    return found


def _ours(item: Item, row: str, column: str) -> str:
    """A share as a percentage with its interval; empty where ours has no such column."""
    if column not in item.ours["columns"]:
        return ""
    place = (
        item.ours["cell"]
        .replace("ROW", item.ours["rows"][row])
        .replace("COLUMN", item.ours["columns"][column])
    )
    value = number_at(place)
    return "not yet measured" if value is None else value.text(1, unit=100)


def caption(item: Item) -> str:
    """What stands above: the table's name, its paper, what ours is, and what is missing."""
    unit = (
        "in percent"
        if (printed(item.paper, item.item)["unit"] == "percent").all()
        else "as printed"
    )
    ours = f"Ours: {item.setting}." if item.ours else "Ours: not yet measured."
    missing = [f"Missing: {item.missing}."] if item.missing else []
    return " ".join(
        [f"{item.title} ({item.paper} {item.item}, {PAPERS[item.paper]}), {unit}.", ours, *missing]
    )


def markdown(item: Item) -> str:
    head, *body = ([cell.replace("|", r"\|") for cell in line] for line in lines(item))
    keys = len(item.layout["rows"]) + 1
    rule = ["---"] * keys + ["---:"] * (len(head) - keys)
    notes = [f"- {note}" for note in item.notes]
    return (
        "\n".join(
            [
                caption(item),
                "",
                *(f"| {' | '.join(line)} |" for line in (head, rule, *body)),
                *(["", "The paper on this:", "", *notes] if notes else []),
            ]
        )
        + "\n"
    )


def latex(item: Item) -> str:
    r"""The same for LaTeX, with \usepackage{booktabs}."""
    head, *body = (rf"{' & '.join(map(escaped, line))} \\" for line in lines(item))
    keys = len(item.layout["rows"]) + 1
    shape = "l" * keys + "r" * (len(lines(item)[0]) - keys)
    notes = [r"\par\footnotesize", *(escaped(note) for note in item.notes)] if item.notes else []
    return (
        "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                r"\small",
                rf"\caption{{{escaped(caption(item))}}}",
                rf"\begin{{tabular}}{{{shape}}}",
                r"\toprule",
                head,
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                *notes,
                r"\end{table}",
            ]
        )
        + "\n"
    )
