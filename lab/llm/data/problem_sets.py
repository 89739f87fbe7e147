"""Problems by the name that a command gives: arithmetic, a set of the table, or a file of your own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lab.errors import LabError, parse_call, unknown, whole
from lab.llm.data import arithmetic
from lab.llm.data.datasets import DATASETS, ProblemSet, load
from lab.llm.data.readers import KINDS


def problem_set(
    name: str, problems: int | None = None, folder: str = "", split: str = "test"
) -> ProblemSet:
    """The first `problems` problems of a set, or all of them.

    `name`: arithmetic or arithmetic(level=2), level 1 unless told, then `split` in the order of
    seed 0; else as `lab.llm.data.datasets.load`, which looks into `folder` for a set of its table.
    LabError: fewer than two gold answers.
    """
    if name.startswith("arithmetic") and Path(name).suffix not in KINDS:
        level = _level(name)
        there = arithmetic.problems(arithmetic.available(level, split), level, 0, split)
        found = ProblemSet(f"arithmetic(level={level})", tuple(there), ())
    else:
        found = load(name, "" if Path(name).suffix in KINDS else folder)
    if problems is not None:
        found = replace(found, problems=found.problems[: whole("problems", problems, 2)])
    if sum(bool(problem.answer) for problem in found.problems) < 2:
        raise LabError(
            f"{found}, fewer than two of them with a gold answer: take a set that can be scored"
            " here"
        )
    return found


def _level(name: str) -> int:
    word, options = parse_call(name)
    if word != "arithmetic":
        raise unknown("data set", word, ["arithmetic", *DATASETS])
    for key in options.keys() - {"level"}:
        raise unknown("option of arithmetic", key, ["level"])
    return options.get("level", 1)
