"""Run folders. Floor 3.

params.json        experiment, scale, parameters (by the names of lab.runs.former_names)
provenance.json    commit, versions, device, command
metrics.jsonl      the truth: one record a line
groups.parquet     one row a group: step, problem, rollouts, right
checkpoints/       the newest state, safetensors
notebook.ipynb     the executed notebook (lab run)
log.txt            what the process said (lab sweep)
done.json          written last, atomically: only with it is the run finished
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import filelock

from lab.errors import LabError
from lab.runs.former_names import in_former_names
from lab.runs.provenance import ROOT, provenance


def runs_root() -> Path:
    """Where runs are kept: the folder named by the variable LAB_RUNS, else runs/ in the project."""
    return Path(os.environ.get("LAB_RUNS") or ROOT / "runs")


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write a file that is either whole or not there."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with open(draft, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)


def write_json(path: Path, content: Any) -> None:
    write_atomically(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


@dataclass(frozen=True)
class Run:
    """A run folder; nothing is held in memory."""

    path: Path

    @classmethod
    def place(cls, experiment: str, parameters: dict[str, Any]) -> Run:
        """Where the run with these parameters belongs: runs/EXPERIMENT/ESTIMATOR-seedS-HASH.

        Makes nothing.
        """
        parameters = in_former_names(parameters)
        digest = hashlib.sha256(
            json.dumps([experiment, parameters], sort_keys=True).encode()
        ).hexdigest()[:8]
        words = [
            str(parameters.get("objective", ""))[:60],
            f"seed{parameters['seed']}" if "seed" in parameters else "",
            digest,
        ]
        name = "-".join(
            re.sub(r"[^a-z0-9_.]+", "_", word.lower()).strip("_") for word in words if word
        )
        return cls(runs_root() / experiment / name)

    def open(self, experiment: str, scale: str, parameters: dict[str, Any]) -> Run:
        """Make the folder if it is not there; refuse one that holds a run with other parameters."""
        identity = {"experiment": experiment, "parameters": in_former_names(parameters)}
        self.path.mkdir(parents=True, exist_ok=True)
        with self.lock("params"):
            if not (self.path / "params.json").exists():
                write_json(self.path / "provenance.json", provenance())
                write_json(self.path / "params.json", identity | {"scale": scale})
            elif {key: self.params.get(key) for key in identity} != identity:
                raise LabError(
                    f"{self.path} holds a run with other parameters: choose another folder, or"
                    " remove it"
                )
        return self

    @property
    def params(self) -> dict[str, Any]:
        return self._json("params.json")

    @property
    def provenance(self) -> dict[str, Any]:
        return self._json("provenance.json")

    @property
    def done(self) -> dict[str, Any]:
        return self._json("done.json")

    @property
    def finished(self) -> bool:
        return (self.path / "done.json").exists()

    @property
    def id(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"

    def lock(self, what: str) -> filelock.BaseFileLock:
        """A lock that one process at a time holds, waited for, and freed by the system if its
        holder dies.
        """
        return filelock.FileLock(self.path / f".{what}.lock")

    def records(self) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl. A half-written last line, left by a kill, does not count;
        another is an error.
        """
        path = self.path / "metrics.jsonl"
        if not path.exists():
            return []
        content = path.read_bytes()
        try:
            return [json.loads(line) for line in content[: content.rfind(b"\n") + 1].splitlines()]
        except ValueError as error:
            raise self._unreadable(path, error) from error

    def table(self):
        """The records as a pandas table, with a column for every parameter and one for the run's
        id.
        """
        import pandas as pd

        return self.with_parameters(pd.DataFrame(self.records()))

    def with_parameters(self, table):
        """A pandas table with a column added for every parameter and one for the run's id; none may
        hide another.
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

    def groups(self):
        """groups.parquet as a pandas table: one row a group, with its step."""
        import pandas as pd

        return pd.read_parquet(self.path / "groups.parquet")

    def finish(self, seconds: float) -> None:
        """Write done.json: the last record and how long it took."""
        records = self.records()
        write_json(
            self.path / "done.json",
            {
                "seconds": round(seconds, 2),
                "records": len(records),
                "last": records[-1] if records else {},
            },
        )

    def _json(self, name: str) -> dict[str, Any]:
        path = self.path / name
        try:
            return json.loads(path.read_text())
        except FileNotFoundError:
            raise LabError(
                f"{path} is missing: {self.path} is no run folder, or its run has not finished"
            ) from None
        except ValueError as error:
            raise self._unreadable(path, error) from error

    def _unreadable(self, path: Path, error: ValueError) -> LabError:
        return LabError(f"{path} cannot be read ({error}): remove the folder and run it again")
