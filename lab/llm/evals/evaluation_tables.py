r"""Tables of evaluations, in Markdown and LaTeX. Floor 2.

A cell is `value [low, high]`; the number of problems stands in its row, and everything else that a
reader needs to repeat the number stands in the caption.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lab.errors import LabError
from lab.stats import Interval

if TYPE_CHECKING:  # it loads torch
    from lab.llm.engines.base import Sampling

UNITS = {"length": "length, tokens", "entropy": "entropy, nats per token"}
DIGITS = {"length": 1}  # others 3
SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
} | {sign: f"\\{sign}" for sign in "&%$#_{}"}


class Row(NamedTuple):
    """One line of a table. `metrics`: `lab.llm.evals.evaluation_metrics.summary`, and any other
    intervals over the same problems.
    """

    model: str
    set: str
    metrics: Mapping[str, Interval]


def caption(
    sampling: Sampling, prompt: str, style: str, truncation: str = "score", level: float = 0.95
) -> str:
    """What stands above a table: how the answers were drawn, found and judged, and what the
    brackets mean.
    """
    policy = {"score": "judged like others", "zero": "counted as wrong"}[truncation]
    return (
        f"n = {sampling.n} answers a problem at temperature {sampling.temperature:g}, top-p"
        f" {sampling.top_p:g}, at most {sampling.limit} tokens, seed {sampling.seed}; prompt"
        f" {prompt}; answers read by the {style} style, truncated ones {policy}; means over"
        f" problems with {100 * level:g}% bootstrap intervals over problems"
    )


def markdown(rows: Sequence[Row], caption: str, columns: Sequence[str] = ()) -> str:
    """The table of some `columns`, by name of the metric; empty, all. A metric that a row lacks is
    a dash.
    """
    lines = [[re.sub(r"([|\\])", r"\\\1", cell) for cell in line] for line in _cells(rows, columns)]
    lines.insert(1, ["---"] * 2 + ["---:"] * (len(lines[0]) - 2))
    return "\n".join([caption, "", *(f"| {' | '.join(line)} |" for line in lines)])


def latex(rows: Sequence[Row], caption: str, columns: Sequence[str] = ()) -> str:
    r"""The same for LaTeX, with \usepackage{booktabs}; names and caption are escaped."""
    lines = [[escaped(cell) for cell in line] for line in _cells(rows, columns)]
    for line in lines:
        line[0] = re.sub(r"^(?=[\[*])", "{}", line[0])  # after \\ they would be its arguments
    head, *body = (rf"{' & '.join(line)} \\" for line in lines)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escaped(caption)}}}",
            rf"\begin{{tabular}}{{ll{'r' * (len(lines[0]) - 2)}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def escaped(text: str) -> str:
    r"""A text as LaTeX prints it letter by letter.

    >>> escaped("pass^8 of a_b & 95%")
    'pass\\textasciicircum{}8 of a\\_b \\& 95\\%'
    """
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def _cells(rows: Sequence[Row], columns: Sequence[str]) -> list[list[str]]:
    """The head and the rows, each cell on one line."""
    if not rows:
        raise LabError("a table of no rows: give at least one evaluation")
    there = list(dict.fromkeys(metric for row in rows for metric in row.metrics))
    for column in columns:
        if column not in there:
            raise LabError(f"no row has the metric {column!r}: take one of {', '.join(there)}")
    columns = list(columns) or there
    head = ["model", "set", "problems", *(UNITS.get(column, column) for column in columns)]
    body = [
        [row.model, row.set, _problems(row), *(_cell(row, column) for column in columns)]
        for row in rows
    ]
    return [[" ".join(cell.split()) for cell in line] for line in (head, *body)]


def _problems(row: Row) -> str:
    sizes = {interval.n["problems"] for interval in row.metrics.values()}
    if len(sizes) != 1:
        raise LabError(
            f"{row.model} on {row.set} has metrics over {sorted(sizes)} problems: give a row to"
            " each"
        )
    return str(sizes.pop())


def _cell(row: Row, column: str) -> str:
    if column not in row.metrics:
        return "-"
    value, digits = row.metrics[column], DIGITS.get(column, 3)
    return f"{value.point:.{digits}f} [{value.low:.{digits}f}, {value.high:.{digits}f}]"
