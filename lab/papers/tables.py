"""The papers' tables, published values beside ours, in Markdown and LaTeX."""

from __future__ import annotations

from lab.llm.evals.evaluation_tables import escaped
from lab.papers.measured import measured_at
from lab.papers.published import PAPERS, printed
from lab.papers.registry import Item

Lines = list[list[str]]


def lines(item: Item) -> Lines:
    """Head and rows of a table: the printed rows in their order, ours below each if measured."""
    table = printed(item.paper, item.item)
    by, across = item.layout["rows"], item.layout["columns"]
    table = table.assign(
        column=table[across].agg(", ".join, axis=1), row=table[by].agg(" | ".join, axis=1)
    )
    ours = item.ours or {"rows": {}, "columns": {}}
    # The order of the columns is that of the row with the most cells.
    fullest = max((list(part) for _, part in table.groupby("row", sort=False)["column"]), key=len)
    columns = list(dict.fromkeys([*fullest, *table["column"], *ours["columns"]]))
    if ours["columns"]:
        # Published and our columns are pass@k at different k: sort them by k.
        columns.sort(key=lambda name: int(name.split("@")[1]))
    rows: Lines = [[*by, "", *columns]]
    for row, part in table.groupby("row", sort=False):
        keys = row.split(" | ")
        cells = dict(zip(part["column"], part["text"], strict=True))
        rows.append([*keys, "published", *(cells.get(column, "") for column in columns)])
        if row in ours["rows"]:
            rows.append([*keys, "ours", *(_our_cell(item, row, column) for column in columns)])
    return rows


def _our_cell(item: Item, row: str, column: str) -> str:
    """Our value as a percentage with its interval; empty if we measured no such column."""
    if column not in item.ours["columns"]:
        return ""
    place = (
        item.ours["cell"]
        .replace("ROW", item.ours["rows"][row])
        .replace("COLUMN", item.ours["columns"][column])
    )
    value = measured_at(place)
    return "not yet measured" if value is None else value.text(1, unit=100)


def caption(item: Item) -> str:
    """The caption: the table's name, its paper, our setting, and what is missing."""
    in_percent = (printed(item.paper, item.item)["unit"] == "percent").all()
    unit = "in percent" if in_percent else "as printed"
    ours = f"Ours: {item.setting}." if item.ours else "Ours: not yet measured."
    missing = [f"Missing: {item.missing}."] if item.missing else []
    return " ".join(
        [f"{item.title} ({item.paper} {item.item}, {PAPERS[item.paper]}), {unit}.", ours, *missing]
    )


def markdown(item: Item) -> str:
    """The table in Markdown, with its caption and the notes on the paper."""
    head, *body = ([cell.replace("|", r"\|") for cell in line] for line in lines(item))
    keys = len(item.layout["rows"]) + 1
    rule = ["---"] * keys + ["---:"] * (len(head) - keys)
    notes = [f"- {note}" for note in item.notes]
    page = [caption(item), "", *(f"| {' | '.join(line)} |" for line in (head, rule, *body))]
    if notes:
        page += ["", "The paper on this:", "", *notes]
    return "\n".join(page) + "\n"


def latex(item: Item) -> str:
    r"""The table in LaTeX, for a document with \usepackage{booktabs}."""
    table = lines(item)
    head, *body = (rf"{' & '.join(map(escaped, line))} \\" for line in table)
    keys = len(item.layout["rows"]) + 1
    alignment = "l" * keys + "r" * (len(table[0]) - keys)
    notes = [r"\par\footnotesize", *(escaped(note) for note in item.notes)] if item.notes else []
    return (
        "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                r"\small",
                rf"\caption{{{escaped(caption(item))}}}",
                rf"\begin{{tabular}}{{{alignment}}}",
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
