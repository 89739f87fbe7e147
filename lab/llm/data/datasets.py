"""The data sets for language models, pinned and checked, from the hub or a folder.

They are listed in datasets.toml. The page `data/datasets.md` shows the same table and how each
revision was established.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.errors import LabError, unknown
from lab.llm.data import readers
from lab.project import read_toml
from lab.training.rng import generator

# A gold that a set's tolerance is for.
NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# The columns of GPQA with the wrong options.
WRONG = ("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")


@dataclass(frozen=True)
class Problem:
    """A question with its gold answer as text.

    `id` is the source and the row number, such as "gsm8k/17"; `source` names the data set.
    """

    id: str
    question: str
    answer: str
    source: str


@dataclass(frozen=True)
class ProblemSet:
    """The problems that `load` read, and the ids of the rows that it skipped.

    A row without a question, or without a usable answer, is skipped.
    """

    source: str
    problems: tuple[Problem, ...]
    skipped: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.source}: {len(self.problems)} problems, {len(self.skipped)} skipped"


@dataclass(frozen=True)
class DatasetSpec:
    """A data set of the table.

    | `gold` | the gold answer is |
    |---|---|
    | "field" | the field as it stands; 27.0 becomes 27 |
    | "####" | what follows the last ####, without commas (GSM8K) |
    | "letter" | the letter of the right option of four (GPQA); the question seeds their order |

    `tolerance`: how far from a gold that is a number an answer may be, relative to it. `rows`: 0 is
    any number.
    """

    name: str
    hub: str = ""
    config: str = ""
    revision: str = ""
    split: str = ""
    rows: int = 0
    question: str = "question"
    answer: str = "answer"
    gold: str = "field"
    licence: str = "not stated here: see the card"
    gated: bool = False
    tolerance: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that are read, and no others: the question first, then the answers."""
        return self.question, self.answer, *(WRONG if self.gold == "letter" else ())

    @property
    def heads(self) -> tuple[str, ...]:
        """How its file names begin in a folder that holds other splits too."""
        return tuple(head for head in (self.config, self.split) if head)

    @property
    def pin(self) -> str:
        """The pinned revision, for messages."""
        return f"pinned {self.revision[:12]}" if self.revision else "not pinned"


DATASETS = {
    name: DatasetSpec(name, **line)
    for name, line in read_toml(Path(__file__).with_name("datasets.toml")).items()
}


def load(
    name: str, folder: str | Path = "", columns: tuple[str, str] = ("question", "answer")
) -> ProblemSet:
    """The problems of one set of the table, or of a file of your own, in row order.

    `folder` is an offline folder, see `readers.find_files`; if it is empty, the set comes from the
    hub at its pinned revision. A `name` that ends in .parquet, .jsonl, .json or .csv is a file of
    your own, of any length; `columns` are those of its questions and answers.

    LabError: a missing file, a missing column, or, for a set of the table, a wrong number of rows.
    """
    if Path(name).suffix in readers.KINDS:
        if folder:
            raise LabError(
                f"{name} is a file of your own and {folder} an offline folder: give only the file"
            )
        spec = DatasetSpec(Path(name).name, question=columns[0], answer=columns[1])
        return _checked_problems(spec, readers.read_files([Path(name)], spec.fields), name)
    if name not in DATASETS:
        raise unknown("data set", name, DATASETS)
    spec = DATASETS[name]
    if not folder:
        login = "accept its terms on the hub and log in, " if spec.gated else ""
        cure = f"{login}check the network, or name a folder"
        table = readers.download(spec.hub, spec.config, spec.revision, spec.split, cure)
        return _checked_problems(spec, table, spec.hub)
    paths = readers.find_files(name, Path(folder), spec.heads)
    if not paths:
        raise LabError(
            f"{folder} holds no data set {name}: put {name}.parquet, {name}.jsonl or a folder"
            f" {name} there, or leave the folder empty to take {spec.hub} from the hub"
        )
    table = readers.read_files(paths, spec.fields)
    return _checked_problems(spec, table, readers.describe_files(paths))


def describe_datasets(
    folder: str | Path = "", more: Callable[[ProblemSet], list[str]] | None = None
) -> list[str]:
    """What `lab data check` prints: what the offline folder holds of each set, and its revision.

    Every file is read and checked as by `load`; the network is never used. `more` gives the lines
    that follow that of a set.
    """
    lines = []
    for name, spec in DATASETS.items():
        loaded, status = None, f"{name}: not offline"
        try:
            if folder and readers.find_files(name, Path(folder), spec.heads):
                loaded = load(name, folder)
                status = str(loaded)
        except LabError as error:
            status = f"{name}: {error}"
        gated = ", gated" if spec.gated else ""
        lines.append(f"{status}; {spec.rows} rows expected, {spec.pin}{gated}")
        if more and loaded:
            lines += [f"    {line}" for line in more(loaded)]
    return lines


def _checked_problems(spec: DatasetSpec, table: Any, source: str) -> ProblemSet:
    """The rows of a table as problems, once its columns and its length are checked."""
    missing = [field for field in spec.fields if field not in table.column_names]
    if missing:
        raise LabError(
            f"{source} lacks the column {missing[0]!r} of {spec.name} and has "
            f"{', '.join(table.column_names)}: take the original file, or rename the column"
        )
    if spec.rows and len(table) != spec.rows:
        raise LabError(
            f"{source} holds {len(table)} rows and {spec.name} has {spec.rows}: take the whole"
            f" split {spec.split!r} of {spec.hub} ({spec.pin}), or load a selection as a file of"
            " your own"
        )
    rows = table.select_columns(list(spec.fields))
    return numbered(spec.name, (_question_and_answer(values, spec) for values in rows))


def numbered(source: str, rows: Iterable[tuple[str, str]]) -> ProblemSet:
    """A set of pairs (question, answer), each under its number."""
    problems, skipped = [], []
    for number, (question, answer) in enumerate(rows):
        problem_id = f"{source}/{number}"
        if question.strip() and answer:
            problems.append(Problem(problem_id, question, answer, source))
        else:
            skipped.append(problem_id)
    return ProblemSet(source, tuple(problems), tuple(skipped))


def _question_and_answer(values: dict[str, Any], spec: DatasetSpec) -> tuple[str, str]:
    """The question and the gold answer of one row; empty text for what is missing."""
    question = readers.cell_text(values[spec.question])
    answers = [readers.cell_text(values[field]).strip() for field in spec.fields[1:]]
    if spec.gold == "####":
        _, mark, final = answers[0].rpartition("####")
        return question, final.strip().replace(",", "") if mark else ""
    if spec.gold == "letter" and all(answers):
        # The order depends on the question alone, so it is the same wherever the row stands.
        order = generator(0, question).permutation(4).tolist()
        options = "\n".join(
            f"({letter}) {answers[index]}" for letter, index in zip("ABCD", order, strict=True)
        )
        # The right answer is the first of `answers`.
        return f"{question.strip()}\n\n{options}", "ABCD"[order.index(0)]
    answer = answers[0] if all(answers) else ""
    if spec.tolerance and NUMBER.fullmatch(answer):
        answer += f" [within {spec.tolerance} of it]"  # as lab.judge.equality reads it
    return question, answer
