"""Evaluation folders: answers sampled once, scored as often as wanted. Floor 3.

    provenance.json              commit, versions, device, command of the first session
    problems.parquet             id, question, answer (the gold), source
    settings.json                model, engine, set, prompt and sampling: there before any answer, never mixed
    samples/part-00000.parquet   whole problems, one row an answer; every file is put in place whole
    done.json                    written last: only with it are all answers there
    scores-STYLE.parquet         the verdict of each answer, in the order of the samples

A kill loses the part that is being sampled, no more. Its size follows from the settings and not
from the clock, so a resumed evaluation asks the engine exactly what an uninterrupted one asks.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Iterator, Sequence
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
from lab.llm.data.datasets import Loaded, Problem
from lab.llm.data.prompts import Prompt
from lab.runs.provenance import provenance
from lab.runs.run_folder import write_atomically, write_json

if TYPE_CHECKING:  # it loads torch, which scoring does not need
    from lab.llm.engines.base import Answer, Engine, Sampling

ANSWERS, TOKENS = 8192, 2**22  # of a part at most, where that is more than one problem
SAMPLE = pa.schema(
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
    """An evaluation folder; nothing is held in memory."""

    path: Path

    @property
    def settings(self) -> dict[str, Any]:
        return self._json("settings.json")

    @property
    def done(self) -> dict[str, Any]:
        """How many answers and tokens there are, once all are."""
        return self._json("done.json")

    @property
    def finished(self) -> bool:
        return (self.path / "done.json").exists()

    def problems(self) -> pd.DataFrame:
        """One row a problem: id, question, answer, source."""
        return pd.read_parquet(self.path / "problems.parquet")

    def files(self) -> list[Path]:
        """The parts that are there, in order; refuses a gap."""
        found = sorted((self.path / "samples").glob("part-*.parquet"))
        if gaps := [due for at, path in enumerate(found) if path != (due := self._part(at))]:
            raise LabError(
                f"{gaps[0]} is missing, and parts after it are there: remove those, and the same"
                " command samples them again"
            )
        return found

    def samples(self, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """The answers part by part, one row each, with some or all `columns` of `SAMPLE`.

        `tokens` counts the end token, `logp` is the sum over all tokens, NaN where the engine gave
        none.
        """
        for path in self.files():
            yield _read(path).read(columns).to_pandas()

    def _open(self, settings: dict[str, Any], problems: Sequence[Problem]) -> None:
        """Make the folder if it is not there; refuse one that holds answers under other settings."""
        if not (self.path / "settings.json").exists():
            (self.path / "samples").mkdir(exist_ok=True)
            write_json(self.path / "provenance.json", provenance())
            _write(
                self.path / "problems.parquet",
                pa.Table.from_pylist([asdict(one) for one in problems]),
            )
            write_json(self.path / "settings.json", settings)
        there = self.settings
        for key in there | settings:
            if there.get(key) != settings.get(key):
                raise LabError(
                    f"{self.path} holds answers with {key} = {there.get(key)!r}, and"
                    f" {settings.get(key)!r} was asked for: choose another folder, or ask for the"
                    " same"
                )

    def _complete(
        self,
        engine: Engine,
        problems: Sequence[Problem],
        prompts: Sequence[str],
        sampling: Sampling,
        part: int,
    ) -> None:
        """Sample what is missing, part by part, and write done.json."""
        n, parts, tokens, began = sampling.n, len(self.files()), 0, time.monotonic()
        first, size = (
            sum(_read(path).metadata.num_rows for path in self.files()) // n,
            max(1, part // n),
        )
        with tqdm(
            total=len(prompts) * n,
            initial=first * n,
            unit="answer",
            desc=self.path.name,
            smoothing=0,
        ) as bar:
            for at in range(first, len(prompts), size):
                drawn = _table(
                    problems[at : at + size],
                    engine.sample(prompts[at : at + size], sampling, at),
                    n,
                )
                _write(self._part(parts), drawn)
                parts, tokens = parts + 1, tokens + pc.sum(drawn["tokens"]).as_py()
                bar.set_postfix_str(
                    f"{tokens / (time.monotonic() - began):.0f} tokens/s", refresh=False
                )
                bar.update(len(drawn))
        tokens = sum(int(part["tokens"].sum()) for part in self.samples(["tokens"]))
        write_json(self.path / "done.json", {"answers": len(prompts) * n, "tokens": tokens})

    def _part(self, at: int) -> Path:
        return self.path / "samples" / f"part-{at:05}.parquet"

    def _json(self, name: str) -> dict[str, Any]:
        path = self.path / name
        try:
            return json.loads(path.read_text())
        except FileNotFoundError:
            raise LabError(
                f"{path} is missing: {self.path} is no evaluation, or has not finished, and then"
                " the same command goes on with it"
            ) from None
        except ValueError as error:
            raise LabError(
                f"{path} cannot be read ({error}): remove the folder and evaluate again"
            ) from error


def sample(
    engine: Engine,
    loaded: Loaded,
    prompt: Prompt,
    sampling: Sampling,
    folder: str | Path,
    weights: str = "",
    part: int = ANSWERS,
) -> Evaluation:
    """`sampling.n` answers to every problem, in a folder; problems whose answers are there are not
    asked again.

    A killed evaluation goes on with the problem after its last part. `part`: the most answers in
    one, also at most TOKENS / `sampling.limit`, and never less than those to one problem; lower it
    where the engine is slow. While one process samples into a folder, another waits. `weights` says
    which weights the model's name stood for. LabError: a folder with other settings, of which it
    names the first; no problems, or one twice; a damaged part.
    """
    prompts = [prompt.render(problem.question, engine.tokenizer) for problem in loaded.problems]
    settings = {
        "model": engine.name,
        "weights": weights,
        "engine": type(engine).__name__,
        **asked(loaded, prompt, sampling),
        "prompts": digest(prompts),
    }
    made, part = Evaluation(Path(folder)), whole("part", part)
    made.path.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(made.path / ".sample.lock"):
        made._open(settings, loaded.problems)
        if not made.finished:
            made._complete(
                engine, loaded.problems, prompts, sampling, min(part, TOKENS // sampling.limit)
            )
    return made


def asked(loaded: Loaded, prompt: Prompt, sampling: Sampling) -> dict[str, Any]:
    """The settings that do not depend on the model; texts as their `digest`."""
    ids, questions, golds = (
        [getattr(one, name) for one in loaded.problems] for name in ("id", "question", "answer")
    )
    if not ids or len(set(ids)) < len(ids):
        raise LabError(
            f"{loaded.source}: {len(ids)} problems with {len(set(ids))} ids: give problems, each"
            " its own id"
        )
    return {
        "set": loaded.source,
        "problems": len(ids),
        "ids": digest(ids),
        "questions": digest(questions),
        "golds": digest(golds),
        "prompt": f"{prompt.name} {prompt.hash}",
        **asdict(sampling),
        "temperature": float(sampling.temperature),
        "top_p": float(sampling.top_p),
    }  # 1 and 1.0 are the same


def digest(value: Any) -> str:
    """The first 12 hexadecimal digits of the SHA-256 of a value as JSON."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:12]


def _table(problems: Sequence[Problem], answers: Sequence[Sequence[Answer]], n: int) -> pa.Table:
    if (sizes := [len(group) for group in answers]) != [n] * len(problems):
        raise LabError(
            f"the engine gave {sizes[:9]} answers to {len(problems)} problems: it must give {n} to"
            " each"
        )
    drawn = [answer for group in answers for answer in group]
    return pa.table(
        {
            "problem": [problem.id for problem in problems for _ in range(n)],
            "index": [*range(n)] * len(problems),
            "text": [answer.text for answer in drawn],
            "tokens": [len(answer.ids) for answer in drawn],
            "logp": [sum(answer.logp) if answer.logp else None for answer in drawn],
            "finish": [answer.finish for answer in drawn],
            "stop": [answer.stop for answer in drawn],
        },
        schema=SAMPLE,
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
