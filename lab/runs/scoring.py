"""Scores of an evaluation: the verdict on every answer, in one file per judge.

Equal answers to the same problem are judged once, whatever the text around them; a reward function
is asked once about equal texts. A score file records the version of the judge that wrote it;
another version writes the file anew.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from tqdm.auto import tqdm

from lab.errors import LabError
from lab.judge import verifier as verifier_module
from lab.judge.extract import extract
from lab.judge.rewards import Judge
from lab.judge.verifier import MIN_CHECKS, Verdict, Verifier
from lab.llm.evals import evaluation_metrics
from lab.llm.train.task import Task
from lab.runs.contents import reward_digest
from lab.runs.evaluation_folder import Evaluation

# Texts repeat often (few answers, three verdicts), so they are stored as categories.
CATEGORY = pa.dictionary(pa.int32(), pa.string())
SCORE_SCHEMA = pa.schema(
    {
        "problem": CATEGORY,
        "index": pa.int32(),
        "answer": CATEGORY,
        "verdict": CATEGORY,
        "reason": CATEGORY,
    }
)


def score(evaluation: Evaluation, task: Task | None = None) -> pd.DataFrame:
    """The verdicts of a finished evaluation by the judge of a task, in the order of its samples.

    Columns: problem, index, answer (missing where none was extracted), verdict (right, wrong,
    error), reason (see `lab.judge.verifier`); texts are categories. Where the reference answer
    is unreadable, every answer to that problem is an error, which does not count towards the error
    rate. Stored scores of the same version of the judge are read back instead of judged again.

    LabError: an unknown style; an evaluation that is not finished; an error rate above the task's
    `error_limit`, among the distinct answers of a part (raised by the judge as soon as it is
    certain) or, of the verifier, among all answers; the errors of a reward function.
    """
    task = task or Task()
    with task.judge() as judge:
        path = evaluation.path / f"scores-{_name_and_version(task)[0]}.parquet"
        metadata = {
            "judge": _name_and_version(task)[1],
            "answers": str(evaluation.done["answers"]),
        }
        if not metadata.items() <= _stored_metadata(path).items():
            # Written beside the file and then renamed, so that a kill leaves no partial scores.
            draft = path.with_name(f".{path.name}.{os.getpid()}")
            try:
                _judge(evaluation, judge, draft, metadata)
                os.replace(draft, path)
            finally:
                draft.unlink(missing_ok=True)
    return pq.read_table(path).unify_dictionaries().to_pandas()


def judged_samples(
    evaluation: Evaluation, task: Task | None = None, columns: Sequence[str] | None = None
) -> Iterator[pd.DataFrame]:
    """`Evaluation.samples`, part by part, with answer, verdict and reason from `score`."""
    scores = score(evaluation, task)[["answer", "verdict", "reason"]]
    start = 0
    for part in evaluation.samples(columns):
        end = start + len(part)
        yield part.join(scores.iloc[start:end].set_axis(part.index))
        start = end


def problem_counts(
    evaluation: Evaluation, task: Task | None = None, truncation: str = "score"
) -> pd.DataFrame:
    """`lab.llm.evals.evaluation_metrics.counts` of all answers: one row per problem."""
    # Each part holds whole problems, so counting part by part is exact.
    parts = judged_samples(evaluation, task, ["problem", "tokens", "logp", "finish"])
    tables = [evaluation_metrics.counts(part, truncation) for part in parts]
    return pd.concat(tables, ignore_index=True)


def version() -> str:
    """A hash of the code that decides a verdict."""
    files = sorted(Path(verifier_module.__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _name_and_version(task: Task) -> tuple[str, str]:
    """What the score file of a task's judge is called, and which code decides its verdicts."""
    if not task.reward:
        return task.style, version()
    threshold = "" if task.right_from is None else f" from {task.right_from}"
    return re.sub(r"[^\w.-]+", "_", task.reward), reward_digest(task.reward) + threshold


def _stored_metadata(path: Path) -> dict[str, str]:
    """The metadata of a score file; empty if the file is missing or damaged."""
    try:
        stored = pq.read_schema(path).metadata
        return {key.decode(): value.decode() for key, value in stored.items()}
    except (FileNotFoundError, pa.ArrowInvalid):
        return {}


def _judge(evaluation: Evaluation, judge: Judge, draft: Path, metadata: dict[str, str]) -> None:
    """Write the scores of all parts to `draft`, one row group per part."""
    problems = evaluation.problems()
    golds = dict(zip(problems["id"], problems["answer"], strict=True))
    # Problems whose reference answer cannot be read, with the reason.
    unreadable = {
        problems["id"][row]: reason
        for row, reason in judge.unparsable([*problems["answer"]]).items()
    }
    outcomes: Counter[str] = Counter()
    schema = SCORE_SCHEMA.with_metadata(metadata)
    said = judge.style if isinstance(judge, Verifier) else judge.spec
    bar = tqdm(total=evaluation.done["answers"], unit="answer", desc=f"scores, {said}")
    with open(draft, "wb") as file:
        with pq.ParquetWriter(file, schema, compression="zstd") as writer, bar:
            for part in evaluation.samples(["problem", "index", "text"]):
                table = _score_table(part, golds, unreadable, judge)
                outcomes.update(table["verdict"].to_numpy()[~part["problem"].isin(unreadable)])
                writer.write_table(table)
                bar.update(len(part))
        file.flush()
        os.fsync(file.fileno())
    total = outcomes.total()
    limit = judge.error_limit if isinstance(judge, Verifier) else 1.0  # a reward may be None
    if total >= MIN_CHECKS and outcomes["error"] > limit * total:
        raise LabError(
            f"{outcomes['error']} of {total} answers in {evaluation.path} could not be judged: the"
            f" limit is {limit:.1%}; raise error_limit to see in the scores which"
            " answers, and why"
        )


def _score_table(
    part: pd.DataFrame, golds: Mapping[str, str], unreadable: Mapping[str, str], judge: Judge
) -> pa.Table:
    """The scores of one part; each distinct answer to a problem is judged once."""
    problem_codes, _ = pd.factorize(part["problem"])
    text_codes, texts = pd.factorize(part["text"])
    # A reward function may look at all of a text, the verifier at the answer alone.
    looked_at = texts
    if isinstance(judge, Verifier):
        looked_at = np.array([extract(text, judge.style) for text in texts], dtype=object)
    answer_codes, answers = pd.factorize(looked_at)
    # One number per pair of problem and answer; the code of a missing answer is -1.
    pairs = problem_codes * (len(answers) + 1) + answer_codes[text_codes] + 1
    _, first_rows, pair_of_row = np.unique(pairs, return_index=True, return_inverse=True)
    pair_problems = part["problem"].iloc[first_rows].tolist()
    pair_texts = part["text"].iloc[first_rows].tolist()

    verdicts = [Verdict("error", unreadable.get(problem, ""), None) for problem in pair_problems]
    readable = [i for i, problem in enumerate(pair_problems) if problem not in unreadable]
    judged = judge.check(
        [pair_texts[i] for i in readable], [golds[pair_problems[i]] for i in readable]
    )
    for i, verdict in zip(readable, judged, strict=True):
        verdicts[i] = verdict

    def per_row(values: list[str | None]) -> pa.Array:
        """One value per pair, repeated for every row of the part that holds this pair."""
        return pa.array(values, pa.string()).dictionary_encode().take(pa.array(pair_of_row))

    def vote(verdict: Verdict) -> str | None:
        """The answer that takes part in a majority vote; an empty box is none."""
        return None if verdict.reason == "no answer" else verdict.answer

    return pa.table(
        {
            "problem": pa.array(part["problem"], pa.string()).dictionary_encode(),
            "index": part["index"],
            "answer": per_row([vote(verdict) for verdict in verdicts]),
            "verdict": per_row([verdict.outcome for verdict in verdicts]),
            "reason": per_row([verdict.reason for verdict in verdicts]),
        },
        schema=SCORE_SCHEMA,
    )
