"""A worker process: a user's reward function on batches of completions.

    python -P reward_worker.py DESCRIPTOR FUNCTION FOLDER REWARDS

Requests come on a socket, replies go back, and nothing else does; `lab.judge.rewards` has the other
end. FUNCTION is "FILE.py:NAME" or "MODULE:NAME", FOLDER is where modules are looked for, and
REWARDS is "binary" or "graded". This file runs by itself: it imports nothing of the lab, and runs
no text of a model.

What the function runs must not speak for it, since that may be a program that a model wrote. A
program does not inherit the socket, a fork closes it, and descriptors 0 to 2 are of no use: there
is no input, and nothing printed is taken for a reply. A reply carries the number of its request,
drawn at random, which only this loop has read.
"""

import importlib
import importlib.util
import inspect
import json
import math
import os
import signal
import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

SHOWN = 300  # characters of what a function gave or raised


def serve(descriptor: int, arguments: list[str]) -> None:
    """Answer requests until the socket is closed; a line is [number, request] or [number, reply].

    The first reply, to no request, has the number 0. At the end every process of the worker's group
    is killed, this one too.
    """
    os.set_inheritable(descriptor, False)
    os.register_at_fork(after_in_child=lambda: os.close(descriptor))
    # A signal to a whole job does not end the work under way; the end of the socket does.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # whole lines, so that none is lost where the process ends at once
    requests = open(descriptor, encoding="utf-8", closefd=False)
    replies = open(descriptor, "w", encoding="utf-8", closefd=False)
    replied = work(*arguments)
    number, reply = 0, next(replied)
    with suppress(OSError):  # this is a fork that returned from the work, or nobody listens
        while True:
            print(json.dumps([number, reply]), file=replies, flush=True)
            if not (line := requests.readline()):
                os.killpg(0, signal.SIGKILL)
            number, request = json.loads(line)
            reply = replied.send(request)


def work(spec: str, folder: str, rewards: str) -> Generator[Any, Any, None]:
    """Yields the function's parameters, then a reply to each request (seconds, size, columns).

    That is {"rewards": [...]}, or {"fault": "..."} if the function fails or gives something else;
    what is wrong with a function that cannot be loaded comes in place of the parameters. Whatever
    it raises is a fault, `SystemExit` and others that are no `Exception` too.
    """
    try:
        function = load(spec, folder)
        reply: Any = parameters(function)
    except BaseException as error:
        reply = f"cannot be loaded: {described(error)}"
    while True:
        seconds, size, columns = yield reply
        signal.setitimer(signal.ITIMER_REAL, seconds + 1)  # should nobody be left to kill us
        try:
            given = columns.get("completions", range(size))
            reply = checked(function(**columns), given, rewards == "graded")
        except BaseException as error:
            reply = {"fault": f"failed: {described(error)}"}
        signal.setitimer(signal.ITIMER_REAL, 0)


def load(spec: str, folder: str) -> Any:
    """The function that `spec` names."""
    place, _, name = spec.rpartition(":")
    if place.endswith(".py"):
        # Bytecode is trusted by second and size: it would hide an edit made at once after a run.
        sys.dont_write_bytecode = True
        file = importlib.util.spec_from_file_location(Path(place).stem, place)
        assert file is not None and file.loader is not None  # as for every name that ends in .py
        module = importlib.util.module_from_spec(file)
        file.loader.exec_module(module)
    else:
        sys.path.insert(0, folder)
        module = importlib.import_module(place)
    return getattr(module, name)


def parameters(function: Any) -> dict[str, bool]:
    """The names by which a function is called, and whether each has no default; "**" for any."""
    names = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise TypeError(f"its parameter {name} cannot be given by name")
        if parameter.kind is parameter.VAR_KEYWORD:
            names["**"] = False
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            names[name] = parameter.default is parameter.empty
    return names


def checked(rewards: Any, completions: Sequence[Any], graded: bool) -> dict[str, Any]:
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
            return {
                "fault": f"returned {value!r:.{SHOWN}} for the completion {str(completion)[:60]!r}"
            }
    return {"rewards": [None if value is None else float(value) for value in values]}


def described(error: BaseException) -> str:
    """An exception on one line, with the place it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if not frame.filename.startswith("<")][-1]  # as <frozen site>
    text = " ".join(str(error).split())[:SHOWN]
    return f"{type(error).__name__}: {text} ({Path(last.filename).name}, line {last.lineno})"


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2:])
