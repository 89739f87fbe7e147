"""The loop of a worker process: requests come on a socket, replies go back, and nothing else does.

    python -P worker.py DESCRIPTOR SCRIPT ARGUMENTS...

The script is `reward_worker.py`. Its `work(*arguments)` is a generator that yields "ready", then
the reply to each request that it is sent. `lab.judge.worker_pool` has the
other end of the socket. This file runs by itself: it imports nothing of the lab.

What the work runs must not speak for it, since that may be a program that a model wrote. A program
does not inherit the socket, a fork closes it, and descriptors 0 to 2 are of no use: the pool gives
the worker no input, and takes nothing printed for a reply. A reply carries the number of its
request, drawn at random, which only this loop has read.
"""

import importlib.util
import json
import os
import signal
import sys
from contextlib import suppress
from typing import Any


def serve(descriptor: int, script: str, arguments: list[str]) -> None:
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
    work = loaded(script).work(*arguments)
    number, reply = 0, next(work)
    with suppress(OSError):  # this is a fork that returned from the work, or nobody listens
        while True:
            print(json.dumps([number, reply]), file=replies, flush=True)
            if not (line := requests.readline()):
                os.killpg(0, signal.SIGKILL)
            number, request = json.loads(line)
            reply = work.send(request)


def loaded(script: str) -> Any:
    """The module in a file, which need not lie where modules are looked for."""
    spec = importlib.util.spec_from_file_location("work", script)
    assert spec is not None and spec.loader is not None  # as for every name that ends in .py
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
