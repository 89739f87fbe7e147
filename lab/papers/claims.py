"""The claims of a sweep file: their verdicts, and whether they were written before the runs.

`lab record` keeps the claims beside the measurements that they are about. From then on a claim may
change only with a reason, in its key `changed`, which is told beside the verdict.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.papers.measured import Measured, exactly, measured_in, parts_of
from lab.papers.registry import Claim
from lab.papers.verdicts import steps
from lab.runs import sweep_file
from lab.runs.provenance import git
from lab.runs.run_folder import write_json
from lab.runs.sweep_file import read_sweep
from lab.runs.sweep_results import Results, claims_file, record, results_of_sweep

REASON = "changed"


def claims_of_sweep(path: str | Path) -> list[Claim]:
    """The claims of a sweep file, as one family, over its runs: your own, else the recorded ones.

    LabError: a claim that cannot be read, or whose order names a label that `ours` lacks.
    """
    path = Path(path)
    results: dict[str, Results] = {}

    def read(place: str) -> Measured:
        experiment = parts_of(place)[0]
        if experiment not in results:
            results[experiment] = results_of_sweep(path, experiment)
        return measured_in(results[experiment], place)

    family: list[Claim] = []
    for number, table in enumerate(sweep_file.claims(path), 1):
        for place in table["ours"].values():
            parts_of(place)
        if not steps(table["expects"], dict.fromkeys(table["ours"], exactly(0.0))):
            raise LabError(
                f"claim {number} of {path.name}: expects = {table['expects']!r} orders nothing:"
                " write two labels with <, > or = between them"
            )
        fields = {key: value for key, value in table.items() if key != REASON}
        family.append(Claim(published="", family=family, world="", read=read, **fields))
    return family


def verdict_lines(path: Path) -> Iterator[str]:
    """Every claim of a sweep file in words: its verdict, our numbers, the differences tested.

    LabError: a run that a claim is about has not finished, and nothing is recorded.
    """
    tables = sweep_file.claims(path)
    for number, (claim, table) in enumerate(zip(claims_of_sweep(path), tables, strict=True), 1):
        yield f"claim {number} {claim.verdict}: {claim.claim}"
        yield from (f"  {label} {value}" for label, value in (claim.numbers or {}).items())
        yield from (f"  {difference}" for difference in claim.differences)
        if claim.remark:
            yield f"  {claim.remark}"
        if REASON in table:
            yield f"  changed after the runs were recorded: {table[REASON]}"
    if tables and (file := claims_file(path)).exists():
        stood = json.loads(file.read_text())["before_the_runs"]
        yield (
            "these claims stood in the commit that every run was made from"
            if stood
            else "no commit shows that these claims were written before the runs"
        )


def record_with_claims(path: Path) -> list[Path]:
    """Write the measurements of a sweep and its claims into the project's results; the files.

    LabError: a run has not finished; claims were changed, added or taken out after runs of the
    sweep were recorded, without a reason.
    """
    claims_of_sweep(path)  # refuses what is no claim before anything is written
    claims = sweep_file.claims(path)
    file = claims_file(path)
    kept = _recorded_claims(file)
    if kept:
        _refuse_changes(path, kept["claims"], claims)
    record(path)
    if claims:
        former = (
            kept["former"] + [one for one in kept["claims"] if one not in claims] if kept else []
        )
        commits = {item.run.provenance["commit"] for item in read_sweep(path)}
        before = _stood_in(path, claims, commits)
        write_json(file, {"claims": claims, "former": former, "before_the_runs": before})
    return sorted(file.parent.iterdir())


def _recorded_claims(file: Path) -> dict[str, Any] | None:
    """The claims as they were recorded; None if no run of the sweep was."""
    if file.exists():
        return json.loads(file.read_text())
    return {"claims": [], "former": []} if any(file.parent.glob("*.json")) else None


def _refuse_changes(path: Path, kept: list[dict[str, Any]], claims: list[dict[str, Any]]) -> None:
    if len(claims) < len(kept):
        raise LabError(
            f"{path.name} has {len(claims)} claims and {len(kept)} were recorded with its runs:"
            " write the others again, a claim that was tested stays"
        )
    for number, claim in enumerate(claims, 1):
        before = kept[number - 1] if number <= len(kept) else None
        if claim != before and not claim.get(REASON):
            what = "is not the one that was" if before else "was not there when the claims were"
            raise LabError(
                f"claim {number} of {path.name} {what} recorded with its runs: write it as it was,"
                f' or say why in the claim ({REASON} = "the reason")'
            )


def _stood_in(path: Path, claims: list[dict[str, Any]], commits: set[str | None]) -> bool:
    """Whether these claims stood in every one of the commits that the runs were made from.

    False, too, where nobody can tell: no repository, or files that were changed since a commit.
    """
    written = [{key: one[key] for key in one if key != REASON} for one in claims]
    texts = [git(path.resolve().parent, "show", f"{commit}:./{path.name}") for commit in commits]
    return all(text is not None and tomllib.loads(text).get("claims") == written for text in texts)
