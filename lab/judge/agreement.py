"""Where two independent checkers differ over the same rollouts: verifier and numeric_checker."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from lab.errors import LabError
from lab.judge.numeric_checker import check_numerically
from lab.judge.verifier import Verifier


def compare_checkers(
    responses: Sequence[str], golds: Sequence[str], style: str = "strict"
) -> tuple[pd.DataFrame, Counter]:
    """Where `Verifier` and `check_numerically` differ, and how often each pair of results occurs.

    The table has a row a disagreement: `row` (its place in the input), `answer`, `gold`, `first`
    (right, wrong, error), `reason`, `second` (right, wrong). The counts are keyed by (first,
    second); a second result "unsure" is counted and is no disagreement. Errors: those of
    `Verifier.check`; errors of the first checker are counted, not limited.
    """
    first = Verifier(style, error_limit=1.0).check(responses, golds)
    second = [
        check_numerically(response, gold, style)
        for response, gold in zip(responses, golds, strict=True)
    ]
    table = pd.DataFrame(
        {
            "row": range(len(first)),
            "answer": [verdict.answer for verdict in first],
            "gold": list(golds),
            "first": [verdict.outcome for verdict in first],
            "reason": [verdict.reason for verdict in first],
            "second": second,
        }
    )
    differ = (table["second"] != "unsure") & (table["first"] != table["second"])
    return table[differ].reset_index(drop=True), Counter(
        zip(table["first"], table["second"], strict=True)
    )


def compare_checkers_in_file(
    path: str | Path, style: str = "strict"
) -> tuple[list[str], pd.DataFrame]:
    """`compare_checkers` on the rollouts of a .parquet, .jsonl or .csv file.

    The file has a column `gold` and a column `response` or `answer`. A `response` is searched for
    its answer; an `answer` is used as it is, as if it stood in a box.

    Returns the lines of a summary and the table. LabError: a file that cannot be read, a missing
    column, an empty cell.
    """
    path = Path(path)
    frame = _read(path)
    column = "response" if "response" in frame else "answer"
    if not {column, "gold"} <= set(frame):
        raise LabError(
            f"{path} has the columns {', '.join(map(repr, frame)) or 'none'}: an audit needs 'gold'"
            " and 'response' (or 'answer'); rename or add them"
        )
    for name in (column, "gold"):
        if (empty := frame[name].isna()).any():
            raise LabError(
                f"{path}, row {int(empty.to_numpy().argmax())}: no {name}; fill it or leave the"
                " row out"
            )
    responses = frame[column].astype(str)
    if column == "answer":
        responses = responses.where(
            responses.str.contains(r"\boxed{", regex=False), r"\boxed{" + responses + "}"
        )
    table, counts = compare_checkers(responses.tolist(), frame["gold"].astype(str).tolist(), style)
    unsure = sum(counts[pair] for pair in counts if "unsure" in pair)
    error = sum(counts[pair] for pair in counts if "error" in pair)
    kinds = [
        f"{n} {first} / {second}"
        for (first, second), n in sorted(counts.items())
        if second not in (first, "unsure")
    ]
    return [
        f"{counts.total()} rollouts in {path}, answers found by {style!r}",
        (
            f"both right {counts['right', 'right']}, both wrong {counts['wrong', 'wrong']}, first"
            f" in error {error}, second unsure {unsure}"
        ),
        f"{len(table)} disagreements" + (f" (first / second): {', '.join(kinds)}" if kinds else ""),
    ], table


def _read(path: Path) -> pd.DataFrame:
    """The rows of a file. LabError: another format, or a file that cannot be read."""
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        if path.suffix == ".csv":
            return pd.read_csv(path, dtype=str, keep_default_na=False)
        if path.suffix in (".jsonl", ".json"):
            return pd.DataFrame(
                [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]
            )
    except Exception as error:  # each reader has its own; the cure is the same
        message = str(error).partition("\n")[0]
        raise LabError(
            f"cannot read {path} ({message}): give rollouts as .parquet, .jsonl or .csv"
        ) from error
    raise LabError(f"{path} ends in {path.suffix!r}: give rollouts as .parquet, .jsonl or .csv")
