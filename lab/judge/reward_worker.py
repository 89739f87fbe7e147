"""A worker's work: a user's reward function on batches of completions.

It runs in a process of its own (`lab.judge.worker`), needs nothing of the lab, and runs no
text of a model. Its arguments are the function, as "FILE.py:NAME" or "MODULE:NAME", the folder that
modules are looked for in, and whether rewards are "binary" or "graded".
"""

import importlib
import importlib.util
import math
import signal
import sys
import traceback
from collections.abc import Generator
from pathlib import Path
from typing import Any

SHOWN = 300  # characters of what a function gave or raised


def work(spec: str, folder: str, rewards: str) -> Generator[Any, Any, None]:
    """Yields "ready", then a reply to each request (seconds, completions, answers).

    That is {"rewards": [...]}, or {"fault": "..."} if the function fails or gives something else. A
    function that cannot be loaded is a fault in place of "ready". Whatever it raises is a fault,
    `SystemExit` and others that are no `Exception` too.
    """
    reply: Any = "ready"
    try:
        function = load(spec, folder)
    except BaseException as error:
        reply = {"fault": f"cannot be loaded: {described(error)}"}
    while True:
        seconds, completions, answers = yield reply
        signal.setitimer(signal.ITIMER_REAL, seconds + 1)  # should nobody be left to kill us
        try:
            reply = checked(function(completions, answers), completions, rewards == "graded")
        except BaseException as error:
            reply = {"fault": f"failed: {described(error)}"}
        signal.setitimer(signal.ITIMER_REAL, 0)


def load(spec: str, folder: str) -> Any:
    """The function that `spec` names."""
    place, _, name = spec.rpartition(":")
    if place.endswith(".py"):
        file = importlib.util.spec_from_file_location(Path(place).stem, place)
        assert file is not None and file.loader is not None  # as for every name that ends in .py
        module = importlib.util.module_from_spec(file)
        file.loader.exec_module(module)
    else:
        sys.path.insert(0, folder)
        module = importlib.import_module(place)
    return getattr(module, name)


def checked(rewards: Any, completions: list[str], graded: bool) -> dict[str, Any]:
    """The reply: the rewards as 0, 1 or None (as numbers or None), or what is wrong with them."""
    try:
        values = list(rewards)
    except TypeError:
        return {"fault": f"returned {rewards!r:.{SHOWN}}, which is no list"}
    if len(values) != len(completions):
        return {"fault": f"returned {len(values)} rewards for {len(completions)} completions"}
    for value, completion in zip(values, completions, strict=True):
        # Whatever is a number counts, from bool to NumPy and torch; text never does.
        number = float(value) if hasattr(value, "__float__") else math.nan
        if value is not None and not (math.isfinite(number) if graded else number in (0, 1)):
            return {"fault": f"returned {value!r:.{SHOWN}} for the completion {completion[:60]!r}"}
    return {"rewards": [None if value is None else float(value) for value in values]}


def described(error: BaseException) -> str:
    """An exception on one line, with the place it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if not frame.filename.startswith("<")][-1]  # as <frozen site>
    text = " ".join(str(error).split())[:SHOWN]
    return f"{type(error).__name__}: {text} ({Path(last.filename).name}, line {last.lineno})"
