"""`lab WORDS`, or code, in a process that begins as a copy of one that has imported what it needs.

Torch and what stands on it take two to ten seconds of CPU time to import, a smoke training takes
one. So one process imports all that the lab's commands and notebooks need and nothing more, and
each command is a fork of it: a process of its own, with its own environment, folder, exit code and
signals, which ends as `python -m lab WORDS` or `python -c CODE` would. So is each process in turn
that such a command starts with subprocess, where it is `lab` or the kernel of a notebook.
"""

import asyncio
import atexit
import faulthandler
import gc
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import thread as pools
from contextlib import suppress
from importlib import import_module
from multiprocessing import resource_tracker
from pathlib import Path

import psutil

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        *"lab.runs.training lab.runs.notebooks lab.show.plots lab.toy.images lab.toy.maze".split(),
        *"lab.llm.train.trainer lab.llm.train.trl_trainer torchvision.models.resnet".split(),
        *"sklearn.datasets sklearn.model_selection papermill ipykernel.kernelapp".split(),
    ]
)
# What a fork runs where a command starts Python with -m.
MODULES = ("lab", "lab.runs.processes", "lab.runs.measurements", "ipykernel_launcher")
# What Popen calls to start a process; its arguments are the same in all versions from 3.11 on.
fork_exec = subprocess._fork_exec


def _run(words: list[str], cwd: str, env: dict[str, str], out: str, err: str, stacks: str) -> None:
    """`lab WORDS`, `-m MODULE WORDS` or `-c CODE` here, in a session of its own, with its output
    in two files; a third one takes the stacks of this process and its forks, on SIGUSR1.
    """
    global _stacks
    _stacks = stacks
    gc.freeze()  # as in conftest.py
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for path, stream in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    subprocess._fork_exec = _fork_or_exec
    try:
        _begin(cwd, env)
        if words[0] == "-c":
            sys.argv = ["-c", *words[2:]]
            exec(words[1], {"__name__": "__main__"})
        elif words[0] == "-m":
            _run_module(words[1], words[2:])
        else:
            _run_module("lab", words)
    finally:
        atexit._run_exitfuncs()  # which a fork leaves out


def _begin(cwd: str, env: dict[str, str]) -> None:
    # The descriptors may be pipes now, where they were files in which a stream has a place.
    sys.stdout, sys.stderr = (open(number, "w", buffering=1, closefd=False) for number in (1, 2))
    os.environ.clear()
    os.environ.update(env)
    faulthandler.register(signal.SIGUSR1, open(_stacks, "a"))
    os.chdir(cwd)
    sys.path.insert(0, cwd)


def _run_module(name: str, words: list[str]) -> None:
    """`python -m NAME WORDS` here."""
    sys.argv = [name, *words]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _fork_or_exec(args, executables, close_fds, kept, cwd, env, *rest):
    """As `fork_exec`, but a fork of this process where Python is to run one of `MODULES`."""
    python, *words = [os.fsdecode(word) for word in args if word not in ("-u", b"-u")]
    if python != sys.executable or words[:1] != ["-m"] or words[1] not in MODULES:
        return fork_exec(args, executables, close_fds, kept, cwd, env, *rest)
    streams, failed, session = (rest[0], rest[3], rest[5]), rest[7], rest[9]
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # else both processes would write what is held back
    if pid := os.fork():
        return pid
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for stream, given in enumerate(streams):  # stdin, stdout, stderr
            if given != -1:
                os.dup2(given, stream)
        if session:
            os.setsid()
        tracker = resource_tracker._resource_tracker._fd
        for found in map(int, os.listdir("/dev/fd")):
            if found > 2 and found != tracker and found not in kept:
                _close(found)
        os.close(failed)  # nothing was written there: Popen returns
        given = [os.fsdecode(line).partition("=") for line in env or ()]
        variables = {name: value for name, _, value in given} if given else dict(os.environ)
        code = _exit_code(lambda: _as_if_new(words[1:], os.fsdecode(cwd or os.getcwd()), variables))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _close(number: int) -> None:
    try:
        os.close(number)
    except OSError:  # it was open for the listing itself
        pass


def _as_if_new(words: list[str], cwd: str, env: dict[str, str]) -> None:
    """`python -m WORDS` in a fork: nothing here that the process before it had begun."""
    gc.freeze()  # its objects are never freed: their files would be closed here by number
    atexit._clear()
    pools._threads_queues.clear()  # threads that do not exist here, or that have become this one
    asyncio.set_event_loop_policy(None)
    if "tqdm.std" in sys.modules:  # another thread may have held its locks
        tqdm = sys.modules["tqdm.std"]
        tqdm.TqdmDefaultWriteLock.th_lock = threading.RLock()
        for owner, lock in ((tqdm.TqdmDefaultWriteLock, "mp_lock"), (tqdm.tqdm, "_lock")):
            if hasattr(owner, lock):
                delattr(owner, lock)
    if words[0] == "ipykernel_launcher":  # matplotlib asks for it when it is imported
        pyplot = import_module("matplotlib.pyplot")
        pyplot.close("all")
        pyplot.rcParams["backend"] = "module://matplotlib_inline.backend_inline"
        pyplot._backend_mod = None  # chosen at the next figure, as if none had been drawn
    _begin(cwd, env)
    _run_module(words[0], words[1:])


def _exit_code(run: Callable[[], None]) -> int:
    """The exit code of a process that does this and ends, its threads and exit functions too."""
    code: object = 0
    try:
        run()
    except SystemExit as stop:
        code = stop.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return (code or 0) & 0xFF


class Process:
    """What `subprocess.Popen` offers, of a process that the forkserver has started."""

    def __init__(self, process, errors: Path) -> None:
        self.pid, self._process, self._errors = process.pid, process, errors

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        return self.returncode

    def send_signal(self, how: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, how)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    @property
    def stderr(self):
        """What it has written there until now, as a file."""
        return self._errors.open()


def wait(condition: Callable, process=None, seconds: float = 120):
    """The first true value of `condition()`, which must come while the process lives."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert process is None or process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)
    return value


def group_lives(leader: int) -> bool:
    """Whether a process lives in the group that this one leads, or led."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True


class Started:
    """A process in a session of its own, so that it can be killed alone or with all that it
    started.
    """

    pipes: tuple = ()

    def __init__(self, words, cwd: Path, env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *map(str, words)],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # heeds Ctrl-C
        self.pipes = self.process.stdout, self.process.stderr

    @property
    def group_lives(self) -> bool:
        return group_lives(self.process.pid)

    def finish(self, timeout: float = 120) -> subprocess.CompletedProcess:
        out, err = self.process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, out, err)

    def kill(self) -> None:
        """SIGKILL to this process alone; what it started lives on."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def kill_group(self, how: int = signal.SIGKILL) -> None:
        """A signal to the process and all that it started."""
        try:
            os.killpg(self.process.pid, how)
        except ProcessLookupError:  # it has ended, or leads no group yet
            self.process.send_signal(how)
        if how == signal.SIGKILL:
            self.process.wait()


class Forked(Started):
    """As `Started`, of the forkserver; `folder` is an empty one, for its output if that
    does not go to a terminal.
    """

    def __init__(
        self, words, cwd: Path, env: dict[str, str], folder: Path, terminal: str | None = None
    ) -> None:
        self.words = list(map(str, words))
        self.outputs = [Path(terminal or folder / name) for name in ("out", "err")]
        self._stacks = folder / "stacks"
        process = CONTEXT.Process(
            target=_run, args=(self.words, str(cwd), env, *map(str, [*self.outputs, self._stacks]))
        )
        process.start()
        self.process = Process(process, self.outputs[1])

    def finish(self, timeout: float = 120) -> subprocess.CompletedProcess:
        if self.process.wait(timeout) is None:
            raise AssertionError(
                f"hung: {self.words} had not ended after {timeout} s\n{self.stacks()}"
                + "".join(path.read_text() for path in self.outputs if path.is_file())
            )
        out, err = (path.read_text() if path.exists() else "" for path in self.outputs)
        return subprocess.CompletedProcess(self.words, self.process.returncode, out, err)

    def stacks(self) -> str:
        """Where the threads of this process are, and of its forks, and theirs."""
        own = psutil.Process(self.process.pid)
        for one in (own, *own.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # zombies too
                if one.cmdline() == own.cmdline():  # a fork: another program would die of it
                    one.send_signal(signal.SIGUSR1)
                    time.sleep(1)  # one after the other into the file
        return self._stacks.read_text()
