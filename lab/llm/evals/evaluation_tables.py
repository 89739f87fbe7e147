"""Tables of evaluations, in Markdown and LaTeX.

A cell is `value [low, high]`. The number of problems stands in the row, and everything else that a
reader needs to reproduce the number stands in the caption.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lab.errors import LabError
from lab.latex import escaped
from lab.llm.engines.base import Sampling
from lab.mathematics.stats import Interval

UNITS = {"length": "length, tokens", "entropy": "entropy, nats per token"}


class Row(NamedTuple):
    """One row of a table; `metrics` are those of `evaluation_metrics.summary`, and more."""

    model: str
    set: str
    metrics: Mapping[str, Interval]


def caption(sampling: Sampling, prompt: str, style: str, reward: str = "") -> str:
    """The caption of a table: how answers were sampled and judged, and what the brackets mean."""
    judged = f"judged by {reward}" if reward else f"extracted in {style} style"
    return (
        f"n = {sampling.n} answers per problem at temperature {sampling.temperature:g}, top-p"
        f" {sampling.top_p:g}, at most {sampling.max_tokens} tokens, seed {sampling.seed}; prompt"
        f" {prompt}; answers {judged}, truncated ones judged like others; means over"
        " problems with 95% t intervals over problems"
    )


def markdown(rows: Sequence[Row], caption: str, columns: Sequence[str] = ()) -> str:
    """The table in Markdown; `columns`: names of metrics, empty for all. Missing values are "-"."""
    lines = [[re.sub(r"([|\\])", r"\\\1", cell) for cell in line] for line in _cells(rows, columns)]
    lines.insert(1, ["---"] * 2 + ["---:"] * (len(lines[0]) - 2))
    return "\n".join([caption, "", *(f"| {' | '.join(line)} |" for line in lines)])


def latex(rows: Sequence[Row], caption: str, columns: Sequence[str] = ()) -> str:
    r"""The table in LaTeX, for \usepackage{booktabs}; names and caption are escaped."""
    lines = [[escaped(cell) for cell in line] for line in _cells(rows, columns)]
    for line in lines:
        # A [ or * at the start of a line would be read as an argument of the \\ before it.
        line[0] = re.sub(r"^(?=[\[*])", "{}", line[0])
    head, *body = (rf"{' & '.join(line)} \\" for line in lines)
    return rf"""\begin{{table}}
\centering
\caption{{{escaped(caption)}}}
\begin{{tabular}}{{ll{"r" * (len(lines[0]) - 2)}}}
\toprule
{head}
\midrule
{chr(10).join(body)}
\bottomrule
\end{{tabular}}
\end{{table}}"""


def cell(interval: Interval, digits: int = 3) -> str:
    """A number with its interval, as it stands in a table."""
    return f"{interval.point:.{digits}f} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"


def _cells(rows: Sequence[Row], columns: Sequence[str]) -> list[list[str]]:
    """The text of the header row and of all other rows; no cell holds a line break."""
    metrics = list(dict.fromkeys(metric for row in rows for metric in row.metrics))
    for column in columns:
        if column not in metrics:
            raise LabError(f"no row has the metric {column!r}: take one of {', '.join(metrics)}")
    columns = list(columns) or metrics
    lines = [["model", "set", "problems", *(UNITS.get(column, column) for column in columns)]]
    for row in rows:
        cells = [
            cell(row.metrics[column], 1 if column == "length" else 3)
            if column in row.metrics
            else "-"
            for column in columns
        ]
        problems = next(iter(row.metrics.values())).n["problems"]
        lines.append([row.model, row.set, str(problems), *cells])
    return [[" ".join(text.split()) for text in line] for line in lines]
