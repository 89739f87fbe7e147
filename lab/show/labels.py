"""The labels of a file of rollouts beside the judge of the lab, if it has answers and golds."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

from lab.rollouts.containers import rows_with, table_files
from lab.rollouts.counting import Choice, Counts, is_success
from lab.rollouts.structure import cell_of, identity, missing, number, verdict

MOST = 2000  # different pairs of answer and gold that are judged
SHOWN = 12  # disagreements that are listed
LONGEST = 80  # characters of an answer in the list


def judged_beside(path: Path, choice: Choice, counts: Counts) -> tuple[str, pd.DataFrame] | None:
    """A sentence on how often the file and the judge agree, and the commonest disagreements.

    The columns are those of the meaning of `counts`: an extracted answer is judged as
    if it stood in a box, else the text is searched for its answer. Columns of the table: gold,
    answer, file (right or wrong), judge (right, wrong or error), rollouts. None: the rows are no
    rollouts, the file does not say what was answered and what was right, or they are a training of
    ours, which was judged by this judge, or by a reward function of its own.
    """
    meaning = counts.meaning
    of_problems = {f"`{column}`" for column in counts.stated}
    if meaning.get("gold") not in of_problems or (path / "params.json").exists():
        return None
    from lab.judge.verifier import Verifier

    columns = {
        role: match[1]
        for role in ("reward", "answer", "text", "gold")
        if (match := re.match("`([^`]+)`", meaning.get(role, "")))
    }
    said = columns.get("answer") or columns.get("text")
    if not {"reward", "gold"} <= columns.keys() or not said or "rollout" not in meaning["row"]:
        return None
    names = [columns["reward"], said, columns["gold"], *(name for name, _ in choice.chosen)]
    pairs: Counter[tuple[str, str, bool]] = Counter()
    for row in (row for file in table_files(path) for row in rows_with(file, names)):
        label, answer, gold = (cell_of(row, name) for name in names[:3])
        chosen = all(is_success(cell_of(row, name), value) for name, value in choice.chosen)
        if chosen and not (missing(label) or missing(gold) or isinstance(answer, (list, dict))):
            pairs[
                identity(gold), "" if missing(answer) else str(answer), _right(label, choice)
            ] += 1
    judged = dict.fromkeys((gold, answer) for gold, answer, _ in pairs)
    judged = dict.fromkeys(list(judged)[:MOST])
    boxed = said == columns.get("answer")
    verdicts = Verifier("lenient", error_limit=1.0).check(
        [
            rf"\boxed{{{answer}}}" if boxed and r"\boxed" not in answer else answer
            for _, answer in judged
        ],
        [gold for gold, _ in judged],
    )
    outcomes = {pair: one.outcome for pair, one in zip(judged, verdicts, strict=True)}
    rows = [
        (gold, answer, "right" if right else "wrong", outcomes[gold, answer], times)
        for (gold, answer, right), times in pairs.most_common()
        if (gold, answer) in outcomes
    ]
    table = pd.DataFrame(rows, columns=["gold", "answer", "file", "judge", "rollouts"])
    if table.empty:
        return None
    unread = table["judge"] == "error"
    differ = table[(table["file"] != table["judge"]) & ~unread]
    kinds = differ.groupby(["file", "judge"])["rollouts"].sum()
    told = [f"file {file}, judge {judge}: {times:,}" for (file, judge), times in kinds.items()]
    more = f", the first {MOST:,} of more" if len(judged) == MOST else ""
    moved = kinds.get(("wrong", "right"), 0) - kinds.get(("right", "wrong"), 0)
    by_kind = f" ({'; '.join(told)})" if told else ""
    sentence = (
        f"the judge of the lab beside the file's labels (`{said}` against `{columns['gold']}`,"
        f" {len(judged):,} different pairs{more}): of {table['rollouts'].sum():,} rollouts it"
        f" disagrees on {differ['rollouts'].sum():,}{by_kind} and cannot"
        f" read {table['rollouts'][unread].sum():,}; by it the share right is"
        f" {moved / table['rollouts'].sum():+.3f} of the file's"
    )
    listed = pd.concat((differ, table[unread])).head(SHOWN).reset_index(drop=True)
    for name in ("gold", "answer"):
        listed[name] = [" ".join(text[-LONGEST:].split()) for text in listed[name]]
    return sentence, listed


def _right(label: Any, choice: Choice) -> bool:
    """Whether a file's label says right, by what the user says of labels."""
    if choice.success is not None:
        return is_success(label, choice.success)
    if choice.threshold is not None:
        return (number(label) or 0.0) >= choice.threshold
    return verdict(label) == 1
