"""The command `lab`: it makes sure that the package `lab` is this project's, then runs it.

The package index has another project called lab, whose package has the same name. Where both are
installed, one hides the other. This module has a name of its own, so it is always found.
"""

from __future__ import annotations

import sys
from importlib import metadata, util
from pathlib import Path

# What the first line of our `lab/__init__.py` says, and no other project's.
MARK = "reinforcement learning from verifiable rewards"


def shadowed() -> str:
    """What hides this project's package `lab`, as a sentence; "" if nothing does."""
    found = util.find_spec("lab")
    file = Path(found.origin) if found and found.origin else None
    if file and MARK in file.read_text(encoding="utf-8"):
        return ""
    try:
        other = f"the project lab {metadata.version('lab')}"
        cure = "pip uninstall lab, then pip install --force-reinstall --no-deps rlvr-lab"
    except metadata.PackageNotFoundError:
        other, cure = "another package", "remove it, or run from another folder"
    where = file.parent if file else "a folder without __init__.py"
    return f"`import lab` finds {other} in {where} instead of rlvr-lab: {cure}"


def main() -> int:
    """Run the command `lab` and return its exit code."""
    if fault := shadowed():
        print("lab:", fault, file=sys.stderr)
        return 1
    from lab.cli import main as run

    return run()
