"""The data sets of the language world: one table, pinned and checked, from the hub or from an
offline folder.

`data/datasets.md` is the same table as a page, with how each revision was established. Of
LiveCodeBench only the questions are read: its private tests, which may hold a pickle, are never
decoded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.errors import LabError, unknown
from lab.llm.data import readers
from lab.rng import generator

WRONG = ("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")  # the fields of GPQA


@dataclass(frozen=True)
class Problem:
    """A question with its gold answer as text. `id` is the source and the number of the row;
    `source` names the set.
    """

    id: str
    question: str
    answer: str
    source: str


@dataclass(frozen=True)
class ProblemSet:
    """What `load` found: the problems, and the ids of the rows that were skipped: no question, or
    no usable answer.
    """

    source: str
    problems: tuple[Problem, ...]
    skipped: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.source}: {len(self.problems)} problems, {len(self.skipped)} skipped"


@dataclass(frozen=True)
class DatasetSpec:
    """One line of the table.

    `gold` says how the answer is taken: "field" as it stands, whole numbers without a decimal
    point; "####" what follows the last ####, without commas (GSM8K); "letter" the letter of the
    right one of four options (GPQA), in an order drawn from the question; "none" for a set that an
    external harness scores. `files` is for a repository whose loading script `datasets` no longer
    runs: its JSON lines are read instead. `rows` = 0 is not checked.
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

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that are read; no other one is."""
        answers = {"letter": (self.answer, *WRONG), "none": ()}.get(self.gold, (self.answer,))
        return self.question, *answers

    @property
    def heads(self) -> tuple[str, ...]:
        """How the names of its files begin where a folder holds those of other splits too."""
        return tuple(head for head in (self.config, self.split) if head)

    @property
    def pin(self) -> str:
        return f"pinned {self.revision[:12]}" if self.revision else "not pinned"


DATASETS = {
    one.name: one
    for one in (
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


def load(name: str, folder: str | Path = "") -> ProblemSet:
    """The problems of one set of the table, or of a file of your own, in the order of its rows.

    `folder` is an offline folder with `<name>.parquet` (or .jsonl, .json, .csv) or a sub-folder
    `<name>` of such files, or one such file; empty, the set comes from the hub at its pinned
    revision. A `name` that ends in .parquet, .jsonl, .json or .csv is a file of your own with the
    columns question and answer, of any length. Refuses a missing file, a missing column, and for a
    set of the table any other number of rows than it should have.
    """
    if Path(name).suffix in readers.KINDS:
        if folder:
            raise LabError(
                f"{name} is a file of your own and {folder} an offline folder: give only the file"
            )
        one = DatasetSpec(Path(name).name)
        return _problems(one, readers.read_files([Path(name)], one.fields), name)
    if name not in DATASETS:
        raise unknown("data set", name, DATASETS)
    one = DATASETS[name]
    if not folder:
        cure = (
            f"{'accept its terms on the hub and log in, ' if one.gated else ''}check the network,"
            " or name a folder"
        )
        return _problems(
            one,
            readers.download(one.hub, one.config, one.revision, one.split, one.files, cure),
            one.hub,
        )
    paths = readers.find_files(name, Path(folder), one.heads)
    if not paths:
        raise LabError(
            f"{folder} holds no data set {name}: put {name}.parquet, {name}.jsonl or a folder"
            f" {name} there, or leave the folder empty to take {one.hub} from the hub"
        )
    return _problems(one, readers.read_files(paths, one.fields), readers.describe_files(paths))


def describe_datasets(folder: str | Path = "") -> list[str]:
    """A line for every set of the table: what the offline folder holds of it, and whether it is
    pinned.

    For `lab data check`: every file that is there is read and checked as by `load`; the network is
    never touched.
    """
    lines = []
    for name, one in DATASETS.items():
        try:
            here = folder and readers.find_files(name, Path(folder), one.heads)
            found = str(load(name, folder)) if here else f"{name}: not offline"
        except LabError as error:
            found = f"{name}: {error}"
        lines.append(
            f"{found}; {one.rows} rows expected, {one.pin}{', gated' if one.gated else ''}"
        )
    return lines


def overlap(train: Iterable[Problem], test: Iterable[Problem]) -> list[tuple[str, str]]:
    """The (train id, test id) of every test question that the training set holds too.

    Two questions are the same when they are equal without white space, dollar signs and case. MaxRL
    (E.2.1) says that GSM8K-Platinum does not overlap with the training set of GSM8K: that this list
    is empty is the check.
    """
    seen: dict[str, str] = {}
    for problem in train:
        seen.setdefault(_bare(problem.question), problem.id)
    return [
        (seen[bare], problem.id) for problem in test if (bare := _bare(problem.question)) in seen
    ]


def _bare(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().replace("$", "").split())


def _problems(one: DatasetSpec, table: Any, where: str) -> ProblemSet:
    """The rows of a table, checked, as problems."""
    missing = [field for field in one.fields if field not in table.column_names]
    if missing:
        raise LabError(
            f"{where} lacks the column {missing[0]!r} of {one.name} and has "
            f"{', '.join(table.column_names)}: take the original file, or rename the column"
        )
    if one.rows and len(table) != one.rows:
        raise LabError(
            f"{where} holds {len(table)} rows and {one.name} has {one.rows}: take the whole split "
            f"{one.split!r} of {one.hub} ({one.pin}), or load a selection as a file of your own"
        )
    problems, skipped = [], []
    for row, values in enumerate(table.select_columns(list(one.fields))):
        question, answer = _taken(values, one)
        if question.strip() and (answer or one.gold == "none"):
            problems.append(Problem(f"{one.name}/{row}", question, answer, one.name))
        else:
            skipped.append(f"{one.name}/{row}")
    return ProblemSet(one.name, tuple(problems), tuple(skipped))


def _taken(values: dict[str, Any], one: DatasetSpec) -> tuple[str, str]:
    """The question and the gold answer of one row; an empty text for what is missing."""
    question, answers = (
        readers.cell_text(values[one.question]),
        [readers.cell_text(values[field]).strip() for field in one.fields[1:]],
    )
    if one.gold == "####":
        _, mark, after = answers[0].rpartition("####")
        return question, after.strip().replace(",", "") if mark else ""
    if one.gold == "letter" and all(answers):
        order = generator(0, question).permutation(4).tolist()  # the same wherever the row stands
        options = "\n".join(
            f"({letter}) {answers[at]}" for letter, at in zip("ABCD", order, strict=True)
        )
        return f"{question.strip()}\n\n{options}", "ABCD"[order.index(0)]
    return question, answers[0] if answers and all(answers) else ""
