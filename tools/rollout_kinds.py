"""The table of docs/rollouts.md: which kinds of files are read, and why the others are refused.

python tools/rollout_kinds.py
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import fields
from pathlib import Path

from lab.errors import LabError
from lab.rollouts.counting import Choice, read_table_counts

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs" / "rollouts.md"
CASES = ROOT / "tests" / "data" / "rollouts" / "cases.json"
BEGIN, END = "<!-- kinds -->\n", "<!-- end of kinds -->\n"


def row(case: dict, folder: Path) -> str:
    """What is read of a case, or the sentence by which it is refused."""
    choice = Choice(**{each.name: case[each.name] for each in fields(Choice) if each.name in case})
    path = folder / case["file"]
    path.write_text(case["text"], encoding="utf-8")
    try:
        found = read_table_counts(path, choice)
        said = "; ".join(
            f"{role}: {found.meaning[role]}" for role in ("problem", "reward", "group")
        )
    except LabError as error:
        said = "refused: " + str(error).removeprefix(f"{path}: ").removeprefix(f"{path} ")
    given = [f"--{name} {value}" for name in ("n", "problem") if (value := case.get(name))]
    given += [f"--within {name}" for name in case.get("within", ())]
    flags = f" (`{' '.join(given)}`)" if given else ""
    return f"| {case['kind']}{flags} | {said.replace('|', chr(92) + '|')} |\n"


def table() -> str:
    """All kinds, one a row."""
    cases = [case for case in json.loads(CASES.read_text(encoding="utf-8")) if "kind" in case]
    with tempfile.TemporaryDirectory() as folder:
        rows = "".join(row(case, Path(folder)) for case in cases)
    return f"| a file | how it is read |\n|---|---|\n{rows}"


def document() -> str:
    """The text of docs/rollouts.md with the table of today."""
    pattern = re.compile(f"(?<={BEGIN}).*(?={END})", re.DOTALL)
    return pattern.sub(lambda _: table(), DOCS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    DOCS.write_text(document(), encoding="utf-8")
