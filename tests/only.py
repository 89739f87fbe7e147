"""Run a module as if only some packages were installed: those named and what they need.

    python tests/only.py torch,numpy lab train maze scale=smoke

Every other package that the environment holds is not found, as where it is not installed.
"""

import importlib.metadata as metadata
import re
import runpy
import sys


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(names: list[str]) -> set[str]:
    """The distributions `names` and all that they require, without extras, as installed here."""
    found, waiting = set(), [normal(name) for name in names]
    while waiting:
        name = waiting.pop()
        try:
            required = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        found.add(name)
        needed = {
            normal(re.match(r"[\w.-]+", each)[0]) for each in required if "extra ==" not in each
        }
        waiting += needed - found
    return found


class Only:
    """One of Python's finders, which does not find the modules of `refused` (top-level names)."""

    def __init__(self, finder, refused: set[str]) -> None:
        self.finder, self.refused = finder, refused

    def find_spec(self, name, path=None, target=None):
        return (
            None
            if name.partition(".")[0] in self.refused
            else self.finder.find_spec(name, path, target)
        )


if __name__ == "__main__":
    allowed = closure(sys.argv[1].split(",")) | {"rlvr-lab"}
    refused = {
        module
        for module, brought in metadata.packages_distributions().items()
        if not allowed & {normal(each) for each in brought}
    } - sys.stdlib_module_names
    sys.meta_path[:] = [Only(finder, refused) for finder in sys.meta_path]
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
