"""Evaluation folders: answers are sampled once and can be scored many times.

    provenance.json              commit, versions, device and command of the first session
    problems.parquet             id, question, answer (the reference answer), source
    settings.json                model, engine, set, prompt and sampling; written before any answer
    samples/part-00000.parquet   complete problems, one row per answer; written atomically
    done.json                    written last; only with it is the evaluation complete
    scores-STYLE.parquet         the verdict on each answer, in the order of the samples

A killed evaluation loses only the part that was being sampled. The size of a part follows from the
settings and not from the clock, so a resumed evaluation sends the engine exactly the requests that
an uninterrupted one sends.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tqdm.auto import tqdm

from lab.errors import LabError, whole
from lab.llm.data.datasets import Problem, ProblemSet
from lab.llm.data.prompts import Prompt
from lab.runs.contents import difference, digest
from lab.runs.provenance import provenance
from lab.runs.run_folder import write_atomically, write_json

if TYPE_CHECKING:  # importing it loads torch, which scoring does not need
    from lab.llm.engines.base import Completion, Engine, Sampling

# The most answers and tokens in a part. A part never holds less than one problem.
PART_ANSWERS = 8192
PART_TOKENS = 2**22
SAMPLE_SCHEMA = pa.schema(
    {
        "problem": pa.string(),
        "index": pa.int32(),
        "text": pa.string(),
        "tokens": pa.int32(),
        "logp": pa.float64(),
        "finish": pa.string(),
        "stop": pa.string(),
    }
)


@dataclass(frozen=True)
class Evaluation:
    """An evaluation folder. It is read from disk each time; nothing is cached in memory."""

    path: Path

    @property
    def settings(self) -> dict[str, Any]:
        return self._json("settings.json")

    @property
    def done(self) -> dict[str, Any]:
        """The numbers of answers and tokens of a finished evaluation."""
        return self._json("done.json")

    @property
    def finished(self) -> bool:
        return (self.path / "done.json").exists()

    def problems(self) -> pd.DataFrame:
        """One row per problem: id, question, answer, source."""
        return pd.read_parquet(self.path / "problems.parquet")

    def files(self) -> list[Path]:
        """The existing parts in order. LabError: a part is missing before the last one."""
        paths = sorted((self.path / "samples").glob("part-*.parquet"))
        for number, path in enumerate(paths):
            expected = self._part_path(number)
            if path != expected:
                raise LabError(
                    f"{expected} is missing, but later parts exist: remove those, and the same"
                    " command samples them again"
                )
        return paths

    def samples(self, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """The answers, part by part, one row per answer; `columns` of `SAMPLE_SCHEMA`, or all.

        `tokens` includes the end token. `logp` is the sum over all tokens, NaN where the engine
        returned no log-probabilities.
        """
        for path in self.files():
            yield _read(path).read(columns).to_pandas()

    def _open(self, settings: dict[str, Any], problems: Sequence[Problem]) -> None:
        """Create the folder, or check that an existing one has the same settings."""
        if not (self.path / "settings.json").exists():
            (self.path / "samples").mkdir(exist_ok=True)
            write_json(self.path / "provenance.json", provenance())
            table = pa.Table.from_pylist([asdict(problem) for problem in problems])
            _write(self.path / "problems.parquet", table)
            write_json(self.path / "settings.json", settings)
        stored = self.settings
        if key := difference(stored, settings):
            raise LabError(
                f"{self.path} holds answers sampled with {key} = {stored.get(key)!r}, but"
                f" {settings.get(key)!r} was requested: choose another folder, or request the"
                " stored settings"
            )

    def _complete(
        self,
        engine: Engine,
        problems: Sequence[Problem],
        prompts: Sequence[str],
        sampling: Sampling,
        part_answers: int,
    ) -> None:
        """Sample the missing answers, part by part, and write done.json."""
        n = sampling.n
        part_problems = max(1, part_answers // n)
        paths = self.files()
        # A part holds complete problems, so the rows say how many problems are finished.
        first = sum(_read(path).metadata.num_rows for path in paths) // n
        session_tokens = 0
        session_start = time.monotonic()
        with tqdm(
            total=len(prompts) * n,
            initial=first * n,
            unit="answer",
            desc=self.path.name,
            smoothing=0,
        ) as bar:
            starts = range(first, len(prompts), part_problems)
            for number, start in enumerate(starts, start=len(paths)):
                end = start + part_problems
                # The engine seeds each problem by its number in the whole set, not in the part.
                answers = engine.sample(prompts[start:end], sampling, start)
                table = _sample_table(problems[start:end], answers, n)
                _write(self._part_path(number), table)
                session_tokens += pc.sum(table["tokens"]).as_py()
                speed = session_tokens / (time.monotonic() - session_start)
                bar.set_postfix_str(f"{speed:.0f} tokens/s", refresh=False)
                bar.update(len(table))
        total_tokens = sum(int(part["tokens"].sum()) for part in self.samples(["tokens"]))
        write_json(self.path / "done.json", {"answers": len(prompts) * n, "tokens": total_tokens})

    def _part_path(self, number: int) -> Path:
        return self.path / "samples" / f"part-{number:05}.parquet"

    def _json(self, name: str) -> dict[str, Any]:
        path = self.path / name
        try:
            return json.loads(path.read_text())
        except (FileNotFoundError, NotADirectoryError):
            raise LabError(
                f"{path} is missing: {self.path} is not an evaluation folder, or the evaluation"
                " is not finished; in that case run the same command again to resume it"
            ) from None
        except ValueError as error:
            raise LabError(
                f"{path} cannot be read ({error}): remove the folder and evaluate again"
            ) from error


def sample(
    engine: Engine,
    loaded: ProblemSet,
    prompt: Prompt,
    sampling: Sampling,
    folder: str | Path,
    weights: str = "",
    part: int = PART_ANSWERS,
    more: Mapping[str, Any] | None = None,
) -> Evaluation:
    """Sample `sampling.n` answers to every problem into a folder, or resume an earlier session.

    Problems that already have answers are not sampled again: a killed evaluation continues with the
    problem after its last complete part. While one process samples into a folder, others wait.

    `weights` identifies the weights behind the model's name. `part` is the largest number of
    answers in a part; lower it where the engine is slow. PART_TOKENS / `sampling.max_tokens` bounds
    it too, and a part holds at least one problem. `more` are further settings to store.

    LabError: the folder has other settings (the first that differs is named); no problems, or an id
    that occurs twice; a damaged part.
    """
    prompts = [prompt.render(problem.question, engine.tokenizer) for problem in loaded.problems]
    settings = {
        "model": engine.name,
        "weights": weights,
        "engine": type(engine).__name__,
        **request_settings(loaded, prompt, sampling),
        "prompts": digest(prompts),
        **(more or {}),
    }
    part_answers = min(whole("part", part), PART_TOKENS // sampling.max_tokens)
    evaluation = Evaluation(Path(folder))
    evaluation.path.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(evaluation.path / ".sample.lock"):
        evaluation._open(settings, loaded.problems)
        if not evaluation.finished:
            evaluation._complete(engine, loaded.problems, prompts, sampling, part_answers)
    return evaluation


def request_settings(loaded: ProblemSet, prompt: Prompt, sampling: Sampling) -> dict[str, Any]:
    """The settings of an evaluation that do not depend on the model; texts as their `digest`.

    The names and the order of the keys are part of the folder names of stored evaluations.
    """
    ids = [problem.id for problem in loaded.problems]
    questions = [problem.question for problem in loaded.problems]
    golds = [problem.answer for problem in loaded.problems]
    if not ids or len(set(ids)) < len(ids):
        raise LabError(
            f"{loaded.source}: {len(ids)} problems with {len(set(ids))} different ids: give at"
            " least one problem, and every problem its own id"
        )
    return {
        "set": loaded.source,
        "problems": len(ids),
        "ids": digest(ids),
        "questions": digest(questions),
        "golds": digest(golds),
        "prompt": f"{prompt.name} {prompt.hash}",
        "n": sampling.n,
        "temperature": float(sampling.temperature),  # as a float, so that 1 and 1.0 are the same
        "top_p": float(sampling.top_p),
        "limit": sampling.max_tokens,
        "seed": sampling.seed,
    }


def _sample_table(
    problems: Sequence[Problem], answers: Sequence[Sequence[Completion]], n: int
) -> pa.Table:
    """One part: `n` answers to each problem, one row per answer."""
    sizes = [len(group) for group in answers]
    if sizes != [n] * len(problems):
        raise LabError(
            f"the engine returned {sizes[:9]} answers to {len(problems)} problems: it must return"
            f" {n} to each"
        )
    flat = [answer for group in answers for answer in group]
    return pa.table(
        {
            "problem": [problem.id for problem in problems for _ in range(n)],
            "index": [*range(n)] * len(problems),
            "text": [answer.text for answer in flat],
            "tokens": [len(answer.ids) for answer in flat],
            "logp": [sum(answer.logp) if answer.logp else None for answer in flat],
            "finish": [answer.finish for answer in flat],
            "stop": [answer.stop for answer in flat],
        },
        schema=SAMPLE_SCHEMA,
    )


def _write(path: Path, table: pa.Table) -> None:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    write_atomically(path, buffer.getvalue())


def _read(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise LabError(
            f"{path} cannot be read ({error}): remove it and the parts after it, and the same"
            " command samples them again"
        ) from error
