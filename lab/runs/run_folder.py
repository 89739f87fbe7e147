"""Run folders: one per run, with its parameters, provenance, records and checkpoints.

params.json        experiment, scale, parameters (by the names of lab.runs.former_names)
provenance.json    commit, versions, device, command
metrics.jsonl      the records, one per line; other logs are copies of it
groups.parquet     one row per group: step, problem, rollouts, right
rollouts/          the rollouts of each step of a language model, as parquet
checkpoints/       the newest checkpoint, as safetensors
notebook.ipynb     the executed notebook (lab run)
log.txt            the output of the process (lab sweep)
done.json          written last, atomically: a run is finished only if this file exists; it holds
                   the SHA-256 of the records, groups and rollouts, which every reader compares
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.errors import LabError
from lab.runs.former_names import in_former_names
from lab.runs.provenance import IN_CLONE, ROOT, provenance

if TYPE_CHECKING:
    import pandas as pd

    from lab.configurations import Config


def runs_root() -> Path:
    """The folder of all runs: the environment variable LAB_RUNS, else runs/.

    That is in the project, or in the working directory if the lab was installed from a wheel.
    """
    return Path(os.environ.get("LAB_RUNS") or (ROOT if IN_CLONE else Path.cwd()) / "runs")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """LabError instead of OSError: the disk is full, the folder read-only, a quota used up."""
    try:
        yield
    except OSError as error:
        raise LabError(
            f"{path} cannot be written ({error.strerror}): make room there, or choose another"
            " folder of runs (lab --runs FOLDER); the same command goes on from the last checkpoint"
        ) from error


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write a file so that it is either complete or absent, also after a kill.

    LabError: the disk refuses; an existing file of that name is unchanged.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with writing(path):
        try:
            with open(draft, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file atomically."""
    write_atomically(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


@dataclass(frozen=True)
class Run:
    """A run folder. Every property is read from disk; nothing is kept in memory."""

    path: Path

    @classmethod
    def place(cls, experiment: str, parameters: dict[str, Any]) -> Run:
        """The run with these parameters: runs/EXPERIMENT/ESTIMATOR-seedS-HASH.

        Creates nothing on disk.
        """
        parameters = in_former_names(parameters)
        identity = json.dumps([experiment, parameters], sort_keys=True)
        digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
        estimator = str(parameters.get("objective", ""))[:60]
        seed = f"seed{parameters['seed']}" if "seed" in parameters else ""
        name = "-".join(
            re.sub(r"[^a-z0-9_.]+", "_", part.lower()).strip("_")
            for part in (estimator, seed, digest)
            if part
        )
        return cls(runs_root() / experiment / name)

    @classmethod
    def of(cls, config: Config) -> Run:
        """The run with this configuration, see `place`."""
        return cls.place(config.name, config.identity())

    def open_for(self, config: Config) -> Run:
        """`open` for the run with this configuration."""
        return self.open(config.name, config.scale, config.settings(), config.defaults())

    def open(
        self,
        experiment: str,
        scale: str,
        parameters: dict[str, Any],
        defaults: Mapping[str, Any] | None = None,
    ) -> Run:
        """Create the folder if needed. LabError: it holds a run with other parameters.

        A run made before a parameter existed has it at its value in `defaults`.
        """
        parameters = in_former_names(parameters)
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        with self.lock("params"):
            if not (self.path / "params.json").exists():
                write_json(self.path / "provenance.json", provenance())
                params = {"experiment": experiment, "parameters": parameters, "scale": scale}
                write_json(self.path / "params.json", params)
            elif (
                self.params.get("experiment") != experiment
                or in_former_names(defaults or {}) | self.params.get("parameters", {}) != parameters
            ):
                raise LabError(
                    f"{self.path} holds a run with other parameters: choose another folder, or"
                    " remove it"
                )
        return self

    @property
    def params(self) -> dict[str, Any]:
        """The content of params.json."""
        return self._json("params.json")

    @property
    def provenance(self) -> dict[str, Any]:
        """The content of provenance.json."""
        return self._json("provenance.json")

    @property
    def done(self) -> dict[str, Any]:
        """The content of done.json. LabError: the run has not finished."""
        return self._json("done.json")

    @property
    def finished(self) -> bool:
        """Whether the run has finished."""
        return (self.path / "done.json").exists()

    @property
    def id(self) -> str:
        """EXPERIMENT/NAME, the last two parts of the path."""
        return f"{self.path.parent.name}/{self.path.name}"

    @contextmanager
    def lock(self, purpose: str) -> Iterator[None]:
        """A lock between processes; others wait, and the system frees it if its holder dies."""
        import filelock

        lock = filelock.FileLock(self.path / f".{purpose}.lock")
        with writing(self.path):  # the folder may be read-only
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def records(self) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl.

        A half-written last line, left by a kill, is ignored. LabError: any other unreadable line,
        or a finished run whose file was changed since.
        """
        path = self.path / "metrics.jsonl"
        content = path.read_bytes() if path.exists() else b""
        self._check_unchanged(path, content)
        try:
            complete = content[: content.rfind(b"\n") + 1]
            return [json.loads(line) for line in complete.splitlines()]
        except ValueError as error:
            raise self._unreadable(path, error) from error

    def table(self) -> pd.DataFrame:
        """The records as a table, with a column for every parameter and one for the run's id."""
        import pandas as pd

        return self.with_parameters(pd.DataFrame(self.records()))

    def with_parameters(self, table: pd.DataFrame) -> pd.DataFrame:
        """`table` with a column added for every parameter and one for the run's id.

        LabError: the table already has a column of that name.
        """
        if hidden := set(table.columns) & {"run", *self.params["parameters"]}:
            raise LabError(
                f"{self.id}: {min(hidden)} is measured and a parameter too: rename what is measured"
            )
        return table.assign(
            run=self.id,
            **{
                key: str(value) if isinstance(value, list) else value
                for key, value in self.params["parameters"].items()
            },
        )

    def groups(self) -> pd.DataFrame:
        """groups.parquet as a table: one row per group, with its step; empty if there are none.

        LabError: it cannot be read, or the run has finished and the file was changed since.
        """
        import pandas as pd
        import pyarrow

        path = self.path / "groups.parquet"
        # A trainer may measure no groups, and then the file is never written.
        content = path.read_bytes() if path.exists() else b""
        self._check_unchanged(path, content)
        if not content:
            return pd.DataFrame({"step": []}, dtype=int)
        try:
            return pd.read_parquet(io.BytesIO(content))
        except (pyarrow.ArrowException, OSError) as error:
            raise self._unreadable(path, error) from error

    def finish(self, seconds: float) -> None:
        """Write done.json: the last record, the seconds that the run took, digests of its files."""
        records = self.records()
        files = [self.path / name for name in ("metrics.jsonl", "groups.parquet")]
        rollouts = {"rollouts": self.rollouts_sha256()} if (self.path / "rollouts").exists() else {}
        write_json(
            self.path / "done.json",
            {
                "seconds": round(seconds, 2),
                "records": len(records),
                "last": records[-1] if records else {},
                "sha256": {file.name: _sha256(file.read_bytes()) for file in files if file.exists()}
                | rollouts,
            },
        )

    def rollouts_sha256(self, step: int | None = None) -> str:
        """The SHA-256 of the lines "NAME SHA-256" of the files in rollouts/, up to `step`."""
        files = sorted((self.path / "rollouts").glob("step-*.parquet"))
        lines = [line_of(file) for file in files if step is None or step_of(file) <= step]
        return _sha256("".join(lines).encode())

    def check_rollouts(self) -> None:
        """LabError: the run has finished, and its rollouts are not what they were then.

        Runs of earlier versions have no digest of them.
        """
        stored = self.done.get("sha256", {}).get("rollouts") if self.finished else None
        if stored is not None and stored != self.rollouts_sha256():
            raise LabError(
                f"{self.path / 'rollouts'} was changed after the run had finished: restore it from"
                " a copy, or remove the folder of the run and run it again"
            )

    def _check_unchanged(self, path: Path, content: bytes) -> None:
        """LabError: the run has finished, and `content` is not what `path` held then.

        Runs of earlier versions have no digest.
        """
        stored = self.done.get("sha256", {}).get(path.name) if self.finished else None
        if stored is not None and stored != _sha256(content):
            raise LabError(
                f"{path} was changed after the run had finished: restore it from a copy, or remove"
                " the folder and run it again"
            )

    def _json(self, name: str) -> dict[str, Any]:
        path = self.path / name
        try:
            return json.loads(path.read_text())
        except FileNotFoundError:
            raise LabError(
                f"{path} is missing: {self.path} is not a run folder, or its run has not finished"
            ) from None
        except ValueError as error:
            raise self._unreadable(path, error) from error

    def _unreadable(self, path: Path, error: Exception) -> LabError:
        return LabError(f"{path} cannot be read ({error}): remove the folder and run it again")


def step_of(path: Path) -> int:
    """The step of a file step-NNNNNNNN.*: a checkpoint, or the rollouts of a step."""
    return int(path.stem.removeprefix("step-"))


def line_of(file: Path) -> str:
    """The name of a file and the SHA-256 of its content, as a line."""
    return f"{file.name} {_sha256(file.read_bytes())}\n"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
