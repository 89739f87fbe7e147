"""`lab WORDS`, or code, in a process that begins as a copy of one that has imported what it needs.

Transformers, TRL and torch take ten seconds of CPU time to import, a smoke training takes one. So
one process imports them and nothing more, and each command is a fork of it: a process of its own,
with its own environment, folder, exit code and signals, which ends as `python -m lab WORDS` or
`python -c CODE` would.
"""

import atexit
import gc
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    ["lab.runs.training", "lab.llm.train.trainer", "lab.llm.train.trl_trainer"]
)


def _run(words: list[str], cwd: str, env: dict[str, str], out: str, err: str) -> None:
    """`lab WORDS` or `-c CODE` here, in a session of its own, with its output in two files."""
    gc.freeze()  # as in conftest.py
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for path, stream in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.path.insert(0, cwd)
    try:
        if words[0] == "-c":
            sys.argv = ["-c", *words[2:]]
            exec(words[1], {"__name__": "__main__"})
        else:
            sys.argv = ["lab", *words]
            runpy.run_module("lab", run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()  # which a fork leaves out


class Forked:
    """What was started; `folder` is an empty one, for its output."""

    def __init__(self, words, cwd: Path, env: dict[str, str], folder: Path) -> None:
        self.words, self.outputs = list(map(str, words)), [folder / "out", folder / "err"]
        self.process = CONTEXT.Process(
            target=_run, args=(self.words, str(cwd), env, *map(str, self.outputs))
        )
        self.process.start()

    def finish(self, timeout: float = 120) -> subprocess.CompletedProcess:
        self.process.join(timeout)
        if self.process.is_alive():
            raise subprocess.TimeoutExpired(self.words, timeout)
        out, err = (path.read_text() if path.exists() else "" for path in self.outputs)
        return subprocess.CompletedProcess(self.words, self.process.exitcode, out, err)

    def kill_group(self, how: int = signal.SIGKILL) -> None:
        """A signal to the process and all that it started."""
        try:
            os.killpg(self.process.pid, how)
        except ProcessLookupError:  # it has ended, or leads no group yet
            if self.process.is_alive():
                os.kill(self.process.pid, how)
        if how == signal.SIGKILL:
            self.process.join()
