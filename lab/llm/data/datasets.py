"""The data sets for language models: one table, pinned and checked, from the hub or a folder.

The page `data/datasets.md` shows the same table and how each revision was established. Of
LiveCodeBench only the questions are read: its private tests, which may contain a pickle, are never
decoded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.errors import LabError, unknown
from lab.llm.data import readers
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
    """One line of the table.

    | `gold` | the gold answer is |
    |---|---|
    | "field" | the field as it stands; 27.0 becomes 27 |
    | "####" | what follows the last ####, without commas (GSM8K) |
    | "letter" | the letter of the right option of four (GPQA); the question seeds their order |
    | "none" | absent: an external harness scores the set |

    `tolerance`: how far from a gold that is a number an answer may be, relative to it.
    `files` is for a repository whose loading script `datasets` no longer runs: its JSON lines are
    read instead. The number of rows is not checked where `rows` is 0.
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
    files: str = ""
    tolerance: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that are read, and no others: the question first, then the answers."""
        answers = {"letter": (self.answer, *WRONG), "none": ()}.get(self.gold, (self.answer,))
        return self.question, *answers

    @property
    def heads(self) -> tuple[str, ...]:
        """How its file names begin in a folder that holds other splits too."""
        return tuple(head for head in (self.config, self.split) if head)

    @property
    def pin(self) -> str:
        """The pinned revision, for messages."""
        return f"pinned {self.revision[:12]}" if self.revision else "not pinned"


DATASETS = {
    spec.name: spec
    for spec in (
        DatasetSpec(
            "gsm8k",
            "openai/gsm8k",
            "main",
            "740312add88f781978c0658806c59bc2815b9866",
            "train",
            7473,
            gold="####",
            licence="MIT",
        ),
        DatasetSpec(
            "gsm8k_platinum",
            "madrylab/gsm8k-platinum",
            "main",
            "e762492455a1cf7967de89f05b6bef72fc713b66",
            "test",
            1209,
            gold="####",
        ),
        DatasetSpec(
            "math500",
            "HuggingFaceH4/MATH-500",
            "",
            "6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be",
            "test",
            500,
            "problem",
            licence="none on the card; PRM800K, where it comes from, is MIT",
        ),
        DatasetSpec(
            "aime2024",
            "Maxwell-Jia/AIME_2024",
            "",
            "8d88b2876a82a080e2f172cc9b25d0d9d2cb4792",
            "train",
            30,
            "Problem",
            "Answer",
            licence="MIT on the card; the problems are the MAA's",
        ),
        DatasetSpec(
            "aime2025",
            "math-ai/aime25",
            "",
            "563bb8404243c5f09de6ec262f2db674fe5bce9b",
            "test",
            30,
            "problem",
        ),
        DatasetSpec(
            "beyondaime",
            "ByteDance-Seed/BeyondAIME",
            "",
            "c705198ae1043810b1e1693bd879250b51a7a523",
            "test",
            100,
            "problem",
            licence="CC0-1.0",
        ),
        DatasetSpec(
            "amc23",
            "zwhe99/amc23",
            "",
            "f9810c0439cd3c670ec885d328a2f06a87f3694a",
            "test",
            40,
            licence="none on the card; the problems are the MAA's",
        ),
        DatasetSpec(
            "minerva",
            "math-ai/minervamath",
            "",
            "ee46ddc498933b1977577953250ca5c66be64f96",
            "test",
            272,
            # Minerva's own check of numbers, numeric_equality(n1, n2, threshold=0.01) (2206.14858)
            tolerance="0.01",
        ),
        DatasetSpec(
            "polaris",
            "POLARIS-Project/Polaris-Dataset-53K",
            "",
            "296f8e34132e63f4a1d70e0dcc8bddebb43f03e4",
            "train",
            53291,
            "problem",
            licence="Apache-2.0",
        ),
        DatasetSpec(
            "deepscaler",
            "agentica-org/DeepScaleR-Preview-Dataset",
            "",
            "b6ae8c60f5c1f2b594e2140b91c49c9ad0949e29",
            "train",
            40315,
            "problem",
            licence="MIT",
        ),
        DatasetSpec(
            "gpqa",
            "Idavidrein/gpqa",
            "gpqa_diamond",
            "633f5ee89ab8ad4522a9f850766b73f62147ffdd",
            "train",
            198,
            "Question",
            "Correct Answer",
            gold="letter",
            licence="CC BY 4.0; do not publish its questions",
            gated=True,
        ),
        DatasetSpec(
            "livecodebench",
            "livecodebench/code_generation_lite",
            "",
            "0fe84c3912ea0c4d4a78037083943e8f0c4dd505",
            "test",
            1055,
            "question_content",
            "",
            gold="none",
            licence="cc, without a variant",
            files="test*.jsonl",
        ),
    )
}


def load(
    name: str, folder: str | Path = "", columns: tuple[str, str] = ("question", "answer")
) -> ProblemSet:
    """The problems of one set of the table, or of a file of your own, in row order.

    `folder` is an offline folder with `<name>.parquet` (or .jsonl, .json, .csv) or a sub-folder
    `<name>` of such files, or one such file. If it is empty, the set comes from the hub at its
    pinned revision. A `name` that ends in .parquet, .jsonl, .json or .csv is a file of your own,
    of any length; `columns` are those of its questions and answers.

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
        table = readers.download(spec.hub, spec.config, spec.revision, spec.split, spec.files, cure)
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
    """One line for each set of the table: what the offline folder holds of it, and its revision.

    `more` gives the lines that follow that of a set with gold answers.

    This is what `lab data check` prints. Every file of the folder is read and checked as by `load`;
    the network is never used.
    """
    lines = []
    for name, spec in DATASETS.items():
        loaded = None
        try:
            is_offline = folder and readers.find_files(name, Path(folder), spec.heads)
            loaded = load(name, folder) if is_offline else None
            status = str(loaded) if loaded else f"{name}: not offline"
        except LabError as error:
            status = f"{name}: {error}"
        gated = ", gated" if spec.gated else ""
        lines.append(f"{status}; {spec.rows} rows expected, {spec.pin}{gated}")
        if more and loaded and spec.gold != "none":
            lines += [f"    {line}" for line in more(loaded)]
    return lines


def overlap(train: Iterable[Problem], test: Iterable[Problem]) -> list[tuple[str, str]]:
    """The (train id, test id) of every test question that the training set holds too.

    Two questions are the same when they are equal up to white space, dollar signs and case. MaxRL
    (E.2.1) states that GSM8K-Platinum does not overlap with the training set of GSM8K; an empty
    list confirms it.
    """
    train_ids: dict[str, str] = {}
    for problem in train:
        train_ids.setdefault(_normalized(problem.question), problem.id)
    pairs = []
    for problem in test:
        question = _normalized(problem.question)
        if question in train_ids:
            pairs.append((train_ids[question], problem.id))
    return pairs


def _normalized(text: str) -> str:
    """A question without white space, dollar signs and case."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().replace("$", "").split())


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
    problems = []
    skipped = []
    for row, values in enumerate(table.select_columns(list(spec.fields))):
        problem_id = f"{spec.name}/{row}"
        question, answer = _question_and_answer(values, spec)
        if spec.tolerance and NUMBER.fullmatch(answer):
            answer += f" [within {spec.tolerance} of it]"  # as lab.judge.equality reads it
        if question.strip() and (answer or spec.gold == "none"):
            problems.append(Problem(problem_id, question, answer, spec.name))
        else:
            skipped.append(problem_id)
    return ProblemSet(spec.name, tuple(problems), tuple(skipped))


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
    return question, answers[0] if answers and all(answers) else ""
