"""Scores: the verdict of every answer of an evaluation, in one file a style. Floor 3.

Equal answers to one problem, whatever the text around them, are judged once. A file of scores says
which verifier made it, and is made anew by one of another version.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from tqdm.auto import tqdm

from lab.errors import LabError
from lab.llm.evals import evaluation_metrics
from lab.llm.verify import verifier as code
from lab.llm.verify.extract import extract
from lab.llm.verify.verifier import FEW, Verdict, Verifier
from lab.runs.evaluation_folder import Evaluation

WORD = pa.dictionary(pa.int32(), pa.string())
SCORE = pa.schema(
    {"problem": WORD, "index": pa.int32(), "answer": WORD, "verdict": WORD, "reason": WORD}
)
PARTS = ("extract.py", "verifier.py", "sympy_worker.py", "worker_pool.py")  # what decides a verdict


def score(evaluation: Evaluation, style: str = "strict", error_limit: float = 0.02) -> pd.DataFrame:
    """The verdicts of a finished evaluation, in the order of its samples; the samples are only
    read.

    Columns: problem, index, answer (missing where none was found), verdict (right, wrong, error),
    reason (see `lab.llm.verify.verifier`), texts as categories. An unreadable gold makes an error
    of every answer to its problem, and is not counted in the rate. LabError: a style that is none;
    an evaluation that has not finished; above `error_limit`, among the different answers of a part
    (by the verifier, as soon as that is certain) or among all answers.
    """
    with Verifier(style, error_limit=error_limit) as verifier:
        path = evaluation.path / f"scores-{style}.parquet"
        judge = {"judge": version(), "answers": str(evaluation.done["answers"])}
        if not judge.items() <= _notes(path).items():
            draft = path.with_name(f".{path.name}.{os.getpid()}")
            try:
                _judge(evaluation, verifier, draft, judge)
                os.replace(draft, path)
            finally:
                draft.unlink(missing_ok=True)
    return pq.read_table(path).unify_dictionaries().to_pandas()


def judged_samples(
    evaluation: Evaluation, style: str = "strict", columns: Sequence[str] | None = None
) -> Iterator[pd.DataFrame]:
    """`Evaluation.samples`, part by part, with the columns answer, verdict and reason of `score`."""
    scores = score(evaluation, style)[["answer", "verdict", "reason"]]
    start = 0
    for part in evaluation.samples(columns):
        end = start + len(part)
        yield part.join(scores.iloc[start:end].set_axis(part.index))
        start = end


def problem_counts(
    evaluation: Evaluation, style: str = "strict", truncation: str = "score"
) -> pd.DataFrame:
    """`lab.llm.evals.evaluation_metrics.counts` of all answers: one row per problem."""
    # Each part holds whole problems, so counting part by part is exact.
    parts = judged_samples(evaluation, style, ["problem", "tokens", "logp", "finish"])
    tables = [evaluation_metrics.counts(part, truncation) for part in parts]
    return pd.concat(tables, ignore_index=True)


def version() -> str:
    """The version of math-verify, if it is there, and a hash of the code that decides a verdict."""
    sources = b"".join(Path(code.__file__).with_name(name).read_bytes() for name in PARTS)
    library = next((one.version for one in metadata.distributions(name="math-verify")), "absent")
    return f"math-verify {library}, {hashlib.sha256(sources).hexdigest()[:12]}"


def _notes(path: Path) -> dict[str, str]:
    """What a file of scores says of itself; nothing where it is not there or is damaged."""
    try:
        return {
            key.decode(): value.decode() for key, value in pq.read_schema(path).metadata.items()
        }
    except (FileNotFoundError, pa.ArrowInvalid):
        return {}


def _judge(evaluation: Evaluation, verifier: Verifier, draft: Path, judge: dict[str, str]) -> None:
    """Write the scores of all parts, one row group each."""
    problems = evaluation.problems()
    golds = dict(zip(problems["id"], problems["answer"], strict=True))
    unreadable = {
        problems["id"][at]: reason
        for at, reason in verifier.unparsable([*problems["answer"]]).items()
    }
    found: Counter[str] = Counter()
    with open(draft, "wb") as file:
        with (
            pq.ParquetWriter(file, SCORE.with_metadata(judge), compression="zstd") as writer,
            tqdm(
                total=evaluation.done["answers"], unit="answer", desc=f"scores, {verifier.style}"
            ) as bar,
        ):
            for part in evaluation.samples(["problem", "index", "text"]):
                table = _verdicts(part, golds, unreadable, verifier)
                found.update(table["verdict"].to_numpy()[~part["problem"].isin(unreadable)])
                writer.write_table(table)
                bar.update(len(part))
        file.flush()
        os.fsync(file.fileno())
    total = found.total()
    if total >= FEW and found["error"] > verifier.error_limit * total:
        raise LabError(
            f"{found['error']} of {total} answers in {evaluation.path} could not be judged: the"
            f" limit is {verifier.error_limit:.1%}; with a higher error_limit the scores say which"
            " and why"
        )


def _verdicts(
    part: pd.DataFrame, golds: Mapping[str, str], unreadable: Mapping[str, str], verifier: Verifier
) -> pa.Table:
    who, _ = pd.factorize(part["problem"])
    what, texts = pd.factorize(part["text"])
    found, answers = pd.factorize(
        np.array([extract(text, verifier.style) for text in texts], dtype=object)
    )
    _, first, back = np.unique(
        who * (len(answers) + 1) + found[what] + 1, return_index=True, return_inverse=True
    )
    owners, said = (part[name].iloc[first].tolist() for name in ("problem", "text"))
    asked = [at for at, owner in enumerate(owners) if owner not in unreadable]
    verdicts = [Verdict("error", unreadable.get(owner, ""), None) for owner in owners]
    checked = verifier.check([said[at] for at in asked], [golds[owners[at]] for at in asked])
    for at, verdict in zip(asked, checked, strict=True):
        verdicts[at] = verdict

    def spread(words: list[str | None]) -> pa.Array:
        return pa.array(words, pa.string()).dictionary_encode().take(pa.array(back))

    empty = "no answer"  # nothing in the box: not an answer that could have a vote
    return pa.table(
        {
            "problem": pa.array(part["problem"], pa.string()).dictionary_encode(),
            "index": part["index"],
            "answer": spread([None if one.reason == empty else one.answer for one in verdicts]),
            "verdict": spread([one.outcome for one in verdicts]),
            "reason": spread([one.reason for one in verdicts]),
        },
        schema=SCORE,
    )
