"""Problem sets by the name that a command gives: arithmetic, a set of the table, or your file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lab.errors import LabError, parse_call, unknown, whole
from lab.llm.data import arithmetic
from lab.llm.data.datasets import DATASETS, ProblemSet, load
from lab.llm.data.readers import KINDS


def problem_set(
    name: str,
    problems: int | None = None,
    folder: str = "",
    split: str = "test",
    columns: tuple[str, str] = ("question", "answer"),
) -> ProblemSet:
    """The first `problems` problems of a set, or all of them.

    `name` is "arithmetic" (level 1) or "arithmetic(level=2)", whose problems of `split` come in the
    order of seed 0. Any other name goes to `lab.llm.data.datasets.load`, which looks in `folder`
    for a set of its table; `columns` are those of a file's questions and answers.

    LabError: fewer than two of the problems have a gold answer.
    """
    if name.startswith("arithmetic") and not is_file(name):
        level = _level(name)
        generated = arithmetic.problems(arithmetic.available(level, split), level, 0, split)
        loaded = ProblemSet(f"arithmetic(level={level})", tuple(generated), ())
    else:
        loaded = load(name, "" if is_file(name) else folder, columns)
    if problems is not None:
        loaded = replace(loaded, problems=loaded.problems[: whole("problems", problems, 2)])
    # An interval over problems needs at least two that can be scored.
    if sum(bool(problem.answer) for problem in loaded.problems) < 2:
        raise LabError(
            f"{loaded}, fewer than two of them with a gold answer: take a set that can be scored"
            " here"
        )
    return loaded


def is_file(name: str) -> bool:
    """Whether a set's name is that of a file."""
    return Path(name).suffix in KINDS


def _level(name: str) -> int:
    """The level that a name such as "arithmetic(level=2)" asks for; 1 by default."""
    family, options = parse_call(name)
    if family != "arithmetic":
        raise unknown("data set", family, ["arithmetic", *DATASETS])
    for option in options.keys() - {"level"}:
        raise unknown("option of arithmetic", option, ["level"])
    return options.get("level", 1)
