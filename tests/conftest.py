"""What every test stands on: its own folders for runs and figures, no network, one thread, no
process left behind.
"""

import concurrent.futures
import gc
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from textwrap import indent

import pytest
import shape_checks
from browser import FRONT, browser, served
from forked import Forked, group_lives

shape_checks.install()  # before anything imports the lab

ROOT = Path(__file__).parents[1]
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
os.environ.update(
    {name: "1" for name in THREADS}
)  # before anything imports torch; processes inherit it
# What jsonschema would import for seconds, see there.
LIGHTER = str(ROOT / "tests" / "lighter")
collect_ignore = ["lighter"]  # whose import fails, which is what it is for
sys.path.insert(0, LIGHTER)
os.environ["PYTHONPATH"] = os.pathsep.join([LIGHTER, os.environ.get("PYTHONPATH", "")]).strip(
    os.pathsep
)


@pytest.fixture(autouse=True)
def folders(tmp_path_factory, monkeypatch):
    """LAB_RUNS and LAB_FIGURES in a folder of the test's own, made only when something
    is written.
    """
    base = tmp_path_factory.getbasetemp() / f"lab-{os.urandom(6).hex()}"
    monkeypatch.setenv("LAB_RUNS", str(base / "runs"))
    monkeypatch.setenv("LAB_FIGURES", str(base / "figures"))
    return base


@pytest.fixture
def runs(folders) -> Path:
    """Where this test's runs land; the folder exists only after the first of them."""
    return folders / "runs"


ORIGINALS: dict[tuple, Path] = {}  # the folders that `trained` copies


@pytest.fixture
def trained(tmp_path_factory, runs):
    """`trained(EXPERIMENT, **settings)`: its finished run at scale smoke, in this test's folder of
    runs; trained once in a process, with a checkpoint after every step, and copied.
    """
    from lab.runs import Run, experiment, train

    def give(name: str, **given) -> Run:
        config, key = experiment(name).configure("smoke", given), (name, *given.items())
        if key not in ORIGINALS:
            ORIGINALS[key] = tmp_path_factory.mktemp("original")
            train(config, folder=str(ORIGINALS[key]), checkpoint_minutes=0).finish(1.0)
        return Run(shutil.copytree(ORIGINALS[key], Run.of(config).path))

    return give


@pytest.fixture(scope="module")
def cpu():
    """Runs are promised bit for bit on a CPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_DEVICE", "cpu")
        yield


@pytest.fixture(scope="module")
def chromium():
    """A running browser, see `browser`."""
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where the explorer's page lies, written anew."""
    page = import_module("lab.explorer.page")
    return page.write(tmp_path_factory.mktemp("page") / "explorer.html")


@pytest.fixture(scope="module")
def front(chromium):
    """Call `front(module, script, *arguments)`: the value of a script with a module of the
    explorer's front end as `m` and the arguments as `a`.
    """
    described = import_module("lab.explorer.page_catalogue").described
    with served(FRONT) as address:
        tab = chromium.new_page()
        tab.goto(address)
        learn = "async (a) => (await import('/given.js')).learn(a)"
        tab.evaluate(learn, described() | {"tables": []})

        def run(module: str, script: str, *arguments):
            text = f"async (a) => {{ const m = await import('/{module}.js'); {script} }}"
            return tab.evaluate(text, list(arguments))

        yield run
        tab.close()


@pytest.fixture(scope="module", autouse=True)
def imports_are_no_garbage():
    """Garbage collections pass over what has been imported: TRL asks for one in every training, and
    looking at all of torch and TRL again takes longer than that.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def no_network():
    """Connections leave this process only for this machine."""

    def connect(self, address, real=socket.socket.connect):
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"a test reached for the network: {address}")
        return real(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        yield


@pytest.fixture(scope="session")
def vllm_installed():
    """A test that asks for this starts vLLM: where the engine is left out it is skipped, and named
    at the end.
    """
    if find_spec("vllm") is None:
        pytest.skip("vLLM is not installed (make setup-llm says why)")


# Files that ask for the same counts of the memory of language models, which take seconds each and
# are kept in a process: they run in the same one.
TOGETHER = dict.fromkeys(
    (
        f"tests/test_{name}.py"
        for name in ("cli", "experiments", "lm_on_gpus", "papers", "readiness")
    ),
    "counts of memory",
)
# Files that take half a minute and more, longest first: begun last, one of them would run alone.
LONGEST = (
    "figures readiness cuda_operators maze explorer_browser verifier lm_trainer notebooks loop"
    " progress ray_executor costs site toy maze_likelihood checkpoints"
    " explorer_accessibility training sweep catalogue explorer_story report engines cluster install"
    " gpu_configuration lessons"
).split()


def pytest_collection_modifyitems(items):
    """The files of LONGEST first, in its order."""
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem.removeprefix("test_"), len(place)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """`--dist loadfile`, with the files of TOGETHER as one."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False  # it would begin with those of the most tests

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return TOGETHER.get(file, file)

    return Together(config, log)


def pytest_terminal_summary(terminalreporter):
    """A line for each reason to skip, with how many tests it kept from running; none
    where all ran.
    """
    reasons = Counter(
        report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        for report in terminalreporter.stats.get("skipped", [])
    )
    for reason, times in sorted(reasons.items()):
        terminalreporter.write_line(
            f"NOT RUN ({times}): {reason.removeprefix('Skipped: ')}", yellow=True
        )


def environment(added: dict[str, str]) -> dict[str, str]:
    """The variables of a process that imports this checkout from any folder, and those added."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path} | added


class Started:
    """A process in a session of its own, so that it can be killed alone or with all that it
    started.
    """

    def __init__(self, words, cwd, env) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *map(str, words)],
            cwd=cwd,
            env=environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # heeds Ctrl-C

    @property
    def group_lives(self) -> bool:
        return group_lives(self.process.pid)

    def finish(self, timeout: float = 120) -> subprocess.CompletedProcess:
        out, err = self.process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, out, err)

    def kill(self) -> None:
        """SIGKILL to this process alone; what it started lives on."""
        self.process.kill()
        self.process.wait()

    def kill_group(self, how: int = signal.SIGKILL) -> None:
        try:
            os.killpg(self.process.pid, how)
        except ProcessLookupError:
            pass
        if how == signal.SIGKILL:
            self.process.wait()


@pytest.fixture
def start():
    """Start Python with the words given, in the project or in `cwd`, with `env` added.

    Whatever still runs when the test ends is killed.
    """
    started = []

    def begin(*words, cwd=ROOT, **env) -> Started:
        started.append(Started(words, cwd, env))
        return started[-1]

    yield begin
    for one in started:
        one.kill_group()
        for pipe in (one.process.stdout, one.process.stderr):
            pipe.close()


@pytest.fixture
def fork(tmp_path_factory):
    """Start `lab WORDS`, `-m MODULE WORDS` or `-c CODE` as `start` does, in a process that has
    imported already what the lab needs (`forked.py`).

    Whatever still runs when the test ends is killed.
    """
    started = []

    def begin(*words, cwd=ROOT, **env) -> Forked:
        folder = tmp_path_factory.mktemp("forked")
        started.append(Forked(words, cwd, environment(env), folder))
        return started[-1]

    yield begin
    for one in started:
        one.kill_group()


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """A folder of the user's, in which this process works; what it registers there is undone."""
    from lab import plugins
    from lab.mathematics import estimators

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAB_PLUGINS", "")
    monkeypatch.setattr(plugins, "_loaded", {})
    monkeypatch.setattr(estimators, "_CATALOGUE", dict(estimators._CATALOGUE))
    monkeypatch.setattr(estimators, "ALIASES", dict(estimators.ALIASES))
    estimators._named.cache_clear()
    yield tmp_path
    estimators._named.cache_clear()


@pytest.fixture
def command(fork):
    """`lab WORDS` as a process, waited for; returns its exit code, stdout and stderr."""
    return lambda *words, **env: fork(*words, **env).finish()


@pytest.fixture
def run_here(monkeypatch):
    """Run cells in this process, without a kernel; gives their variables."""
    monkeypatch.chdir(ROOT / "notebooks")
    monkeypatch.setattr("matplotlib.figure.Figure.show", lambda *_, **__: None)

    def run(cells: list[str]) -> dict:
        variables = {"display": lambda *_: None}
        for cell in cells:
            exec(compile(cell, "a cell", "exec"), variables)
        import_module("matplotlib.pyplot").close("all")
        return variables

    return run


@pytest.fixture(scope="session")
def ends():
    """Call a function without arguments in a fork of this process. Where it does not end, the fork
    is killed and the test fails as hung; where it fails, its words are in the captured output.
    """

    def call(function, seconds: float = 300) -> None:
        child = multiprocessing.get_context("fork").Process(target=function)
        child.start()
        child.join(seconds)
        hangs = child.is_alive()
        child.kill()
        child.join()
        assert not hangs, f"hung: it had not ended after {seconds} s"
        assert child.exitcode == 0

    return call


@pytest.fixture(scope="session")
def returned():
    """What a function without arguments returns, called in a thread: for one that waits for other
    processes. Where it does not return, the test fails as hung.
    """

    def call(function, seconds: float = 600):
        outcome = concurrent.futures.Future()

        def run() -> None:
            try:
                outcome.set_result(function())
            except BaseException as error:
                outcome.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        done, _ = concurrent.futures.wait([outcome], seconds)
        assert done, f"hung: it had not returned after {seconds} s"
        return outcome.result()

    return call


@pytest.fixture
def refused(runs, capsys):
    """`lab WORDS` is refused before anything runs; returns its sentence without the leading "lab:
    ".
    """
    from lab.cli import main

    def refuse(*words: str) -> str:
        capsys.readouterr()
        code = main(list(words))
        said = capsys.readouterr()
        assert code == 1 and said.out == "" and said.err.count("\n") == 1, (code, said)
        assert said.err.startswith("lab: ") and not runs.exists()
        return said.err.removeprefix("lab: ").rstrip("\n")

    return refuse


@pytest.fixture
def invent(tmp_path, monkeypatch):
    """Make an experiment of the test's own in tmp_path: a preset, a notebook (the source of its
    cells), and the class of its settings (the lines of its body; those of `start` in a base class).
    The preset may call the module of the classes INVENTED.
    """
    import nbformat

    monkeypatch.syspath_prepend(tmp_path)

    monkeypatch.setattr(import_module("lab.runs.experiments"), "PRESETS", tmp_path / "presets")
    monkeypatch.setattr(import_module("lab.runs.experiments"), "NOTEBOOKS", tmp_path / "notebooks")

    def make(
        preset: str,
        *cells: str,
        settings: str = "steps: int = setting('steps', least=1)",
        start: str = "pass",
        parameters: str | None = None,
        name: str = "tiny",
    ) -> str:
        for folder in ("presets", "notebooks"):
            (tmp_path / folder).mkdir(exist_ok=True)
        module = f"invented_{os.urandom(6).hex()}"  # a new one every time: modules are cached
        frozen = "@dataclass(frozen=True, kw_only=True)\n"
        (tmp_path / f"{module}.py").write_text(
            "from dataclasses import dataclass\nfrom lab.configurations import Config, setting\n"
            f"{frozen}class Start(Config):\n{indent(start, '    ')}\n"
            f"{frozen}class Settings(Start):\n{indent(settings, '    ')}\n"
        )
        head = (
            f'title = "Does it work?"\nnotebook = "{name}.ipynb"\n'
            f'configuration = "{module}:Settings"\n'
        )
        text = head + preset.replace("INVENTED", module)
        (tmp_path / "presets" / f"{name}.toml").write_text(text)
        book = nbformat.v4.new_notebook(
            metadata={
                "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
            }
        )
        if parameters is not None:
            book.cells.append(
                nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]})
            )
        book.cells += [nbformat.v4.new_code_cell(cell) for cell in cells]
        nbformat.write(book, tmp_path / "notebooks" / f"{name}.ipynb")
        return name

    return make
