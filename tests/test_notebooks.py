"""Notebooks executed into finished run folders, and lessons written from them.

Every lesson, with the settings of its outputs: test_lesson_outputs.py.
"""

import ast
import asyncio
import json
import os
import sys
import time
from pathlib import Path

import nbformat
import pytest
import zmq.asyncio
from forked import wait
from jupyter_client.session import Session
from lesson_differences import differences
from notebook_cells import code_cells

from lab.cli import main
from lab.errors import LabError
from lab.runs import Run, configure, train
from lab.runs.experiments import experiment
from lab.runs.lessons import is_lesson, lesson_configuration, lessons, write_lesson
from lab.runs.notebooks import answering_channel, run_notebook

# --- Executed -----------------------------------------------------------------------------------


@pytest.fixture
def executed(command, runs):
    """The finished run of a notebook; executed once."""

    def run(name: str, scale: str = "laptop") -> Run:
        made = Run.of(configure(name, scale=scale))
        if not made.finished:
            done = command("run", name, f"scale={scale}", JUPYTER_PATH="")
            assert done.returncode == 0, done.stderr
        return made

    return run


def test_a_notebook_trains_what_the_command_trains(executed, tmp_path):
    alone = train(configure("tabular", scale="smoke"), folder=str(tmp_path))
    for file in ("metrics.jsonl", "groups.parquet"):
        ours, theirs = (run.path / file for run in (executed("tabular", "smoke"), alone))
        assert ours.read_bytes() == theirs.read_bytes()


def test_a_finished_notebook_is_not_run_again(executed, monkeypatch):
    run = executed("weights")
    files = [path for path in run.path.iterdir() if path.suffix != ".lock"]
    before = [(path.stat().st_mtime_ns, path.read_bytes()) for path in files]
    monkeypatch.setattr("papermill.execute_notebook", lambda *_, **__: pytest.fail("it ran again"))
    assert run_notebook(configure("weights")).path == run.path
    assert [(path.stat().st_mtime_ns, path.read_bytes()) for path in files] == before


def test_plain_papermill_runs_a_notebook_too(fork, runs, tmp_path):
    words = "-p steps 10 -p problems 8 -p estimator rloo -k python3 --cwd notebooks".split()
    paths = "notebooks/03_tabular.ipynb", tmp_path / "out.ipynb"
    kernels = str(Path(sys.prefix) / "share" / "jupyter")
    done = fork("-m", "papermill", *paths, *words, JUPYTER_PATH=kernels).finish()
    assert done.returncode == 0, done.stderr
    (place,) = (runs / "tabular").iterdir()
    assert Run(place).finished and Run(place).params["parameters"]["estimator"] == "rloo"
    assert Run(place).done["last"]["step"] == 10
    assert "error" not in [
        output.output_type for cell in code_cells(tmp_path / "out.ipynb") for output in cell.outputs
    ]


PRESET = "[laptop]\nsteps = 3\n"
PARAMETERS = 'scale = "laptop"\nsteps = 3\nfolder = ""'


@pytest.fixture
def make(tmp_path) -> str:
    """The cell that makes the configuration of an invented experiment, also in a kernel."""
    return (
        "import importlib, pathlib, sys\nfrom lab import runs\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "experiments = importlib.import_module('lab.runs.experiments')\n"
        f"experiments.PRESETS = pathlib.Path({str(tmp_path)!r}, 'presets')\n"
        'config = runs.configure("tiny", globals())'
    )


def said(run: Run) -> str:
    cells = code_cells(run.path / "notebook.ipynb")
    return "".join(output.get("text", "") for cell in cells for output in cell.outputs)


# --- Writing lessons ----------------------------------------------------------------------------

DRAWN = """import matplotlib.pyplot as plt
_ = plt.plot([0, config.steps], [0, {height}])
plt.show()
print("height", {height})"""


def test_a_notebook_becomes_a_lesson_and_changed_code_is_seen(
    invent, make, capsys, monkeypatch, tmp_path
):
    monkeypatch.setenv("JUPYTER_PATH", "")
    name = invent(PRESET, make, DRAWN.format(height=1), parameters=PARAMETERS)
    path = experiment(name).notebook
    assert not is_lesson(path) and lessons() == []
    assert main(["lessons", name]) == 0 and capsys.readouterr().out == f"{path}\n"
    lesson = nbformat.read(path, as_version=4)
    assert lessons() == [name] and len(lesson.cells) == 3  # no injected parameters
    assert {"papermill", "widgets"} & lesson.metadata.keys() == set()
    assert all(cell.execution_count is None for cell in lesson.cells)
    (picture, text) = lesson.cells[-1].outputs
    assert text.text == "height 1\n" and len(picture.data["image/png"]) < 30_000
    assert invent(PRESET, make, DRAWN.format(height=2), parameters=PARAMETERS) == name
    changed = nbformat.read(write_lesson(name), as_version=4)
    assert differences(lesson, lesson) == []
    assert differences(lesson, changed) == [
        "cell 2: another picture",
        "cell 2: 'height 1\\n', not 'height 2\\n'",
    ]
    lesson.cells[-1].outputs.pop()
    assert differences(lesson, changed) == ["cell 2: 1 outputs, not 2"]


def test_the_outputs_of_a_lesson_are_of_the_settings_in_its_table_and_of_one_machine(
    invent, make, monkeypatch
):
    """Bars of progress are left out, and other words to standard error are not."""
    monkeypatch.setenv("JUPYTER_PATH", "")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("LAB_DEVICE", raising=False)
    told = "print('steps', config.steps, *map(os.environ.get, ('LAB_DEVICE', 'OMP_NUM_THREADS')))"
    say = "import os\ndef say(words): print(words, end='', file=sys.stderr, flush=True)"
    bar = "say('\\rLoading   0%|')\nsay('\\rLoading 100%|')\nsay('\\n')"
    cells = [make, say, f"{bar}\n{told}\nsay('stale')"]
    name = invent(f"{PRESET}[lesson]\nsteps = 2\n", *cells, parameters=PARAMETERS)
    lesson = nbformat.read(write_lesson(name), as_version=4)
    assert lesson.cells[0].source == PARAMETERS and "steps = 3" in PARAMETERS
    (header,), *_, last = [cell.outputs for cell in lesson.cells if cell.outputs]
    assert "  scale laptop\n  steps = 2\n" in header.text
    said = {output.name: output.text.strip() for output in last}
    assert said == {"stdout": "steps 2 cpu 1", "stderr": "stale"}
    assert os.environ["OMP_NUM_THREADS"] == "3" and "LAB_DEVICE" not in os.environ
    assert experiment(name).configure().steps == 3 and lesson_configuration(name).steps == 2
    invent(f"{PRESET}[lesson]\nsteps = 0\n", *cells, parameters=PARAMETERS)
    with pytest.raises(LabError, match="^tiny: steps = 0 is out of range"):
        write_lesson(name)


def test_a_failing_lesson_stays_as_it_was(invent, monkeypatch):
    name = invent(PRESET, "print(config.steps / 0)", parameters=PARAMETERS)
    before = experiment(name).notebook.read_bytes()

    def fails(config):
        raise LabError("cell 4 failed")

    monkeypatch.setattr("lab.runs.lessons.run_notebook", fails)
    with pytest.raises(LabError, match="cell 4 failed"):
        write_lesson(name)
    assert experiment(name).notebook.read_bytes() == before


# --- Kernels, failures, kills -------------------------------------------------------------------


def test_a_notebook_runs_in_this_interpreter_whatever_kernels_the_machine_knows(
    invent, make, tmp_path, monkeypatch
):
    cell = "print('interpreter', sys.executable, config.steps)"
    name = invent(PRESET, make, cell, parameters=PARAMETERS)
    places = {
        "JUPYTER_PATH": tmp_path / "path",
        "JUPYTER_DATA_DIR": tmp_path / "data",
        "HOME": tmp_path / "home" / ".local" / "share" / "jupyter",
    }
    for place in places.values():
        (place / "kernels" / "python3").mkdir(parents=True)
        argv = [sys.executable, "-c", "raise SystemExit('the bogus kernel')"]
        kernel = {"argv": argv, "display_name": "bogus", "language": "python"}
        (place / "kernels" / "python3" / "kernel.json").write_text(json.dumps(kernel))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTER_PATH", str(places["JUPYTER_PATH"]))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(places["JUPYTER_DATA_DIR"]))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    run = run_notebook(experiment(name).configure())
    assert run.finished and f"interpreter {sys.executable} 3\n" in said(run)


def test_a_failing_cell_is_named_leaves_no_done_and_can_be_mended(
    invent, make, capsys, monkeypatch, runs
):
    monkeypatch.setenv("JUPYTER_PATH", "")
    name = invent(
        PRESET,
        make,
        "print('before', config.steps)",
        "raise ValueError('a bug\\nin two lines')",
        "print('after')",
        parameters=PARAMETERS,
    )
    assert main(["run", name]) == 1
    line = capsys.readouterr().err.splitlines()[-1]
    (place,) = (runs / name).iterdir()
    run = Run(place)
    assert (
        line == "lab: cell 5 of tiny.ipynb failed: ValueError: a bug in two lines; see"
        f" {place / 'notebook.ipynb'}"
    )
    assert not run.finished and "before 3" in said(run) and "after" not in said(run)
    invent(PRESET, make, "print(config.steps)", "print('after')", parameters=PARAMETERS)
    assert main(["run", name]) == 0
    (mended,) = (Run(path.parent) for path in (runs / name).glob("*/done.json"))
    assert mended != run and "after" in said(mended)  # another notebook is another run


def test_a_cell_that_calls_sys_exit_is_no_finished_run(invent, make, runs):
    leaves = "import sys\nif config.steps: sys.exit(0)"
    name = invent(PRESET, make, leaves, parameters=PARAMETERS)
    with pytest.raises(LabError, match="called sys.exit, so the cells after it did not run"):
        run_notebook(experiment(name).configure())
    assert not list(runs.rglob("done.json"))


def test_a_kernel_that_dies_is_a_sentence_and_leaves_no_done(invent, make, monkeypatch, runs):
    monkeypatch.setenv("JUPYTER_PATH", "")
    cell = "import os; print(config.steps); os._exit(1)"
    name = invent(PRESET, make, cell, parameters=PARAMETERS)
    with pytest.raises(
        LabError, match="^the kernel of tiny.ipynb died, often because memory ran out; see "
    ):
        run_notebook(experiment(name).configure())
    assert not Run(next((runs / name).iterdir())).finished


def test_a_reply_that_comes_while_a_widget_is_answered_is_not_missed():
    async def reply_while_sending() -> dict:
        context, session = zmq.asyncio.Context(), Session(key=b"key")
        kernel = zmq.Context.shadow(context.underlying).socket(zmq.ROUTER)
        client = context.socket(zmq.DEALER)
        address = f"tcp://127.0.0.1:{kernel.bind_to_random_port('tcp://127.0.0.1')}"
        client.connect(address)
        channel = answering_channel()(client, session)
        channel.send(session.msg("execute_request"))
        (identity, *_) = kernel.recv_multipart()
        waiting = asyncio.create_task(channel.get_msg())
        await asyncio.sleep(0.1)  # it waits
        session.send(kernel, "execute_reply", ident=identity)
        time.sleep(0.1)  # the reply has arrived, and asyncio has not looked yet
        channel.send(session.msg("comm_msg"))
        try:
            return await asyncio.wait_for(waiting, 60)
        finally:
            kernel.close(linger=0)
            context.destroy(linger=0)

    assert asyncio.run(reply_while_sending())["msg_type"] == "execute_reply"


def kernels(runs: Path) -> list[int]:
    """The kernels that write to this folder of runs."""
    import psutil

    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        facts = process.info
        if "ipykernel_launcher" in (facts["cmdline"] or []) and (facts["environ"] or {}).get(
            "LAB_RUNS"
        ) == str(runs):
            found.append(process.pid)
    return found


def test_a_killed_notebook_goes_on_in_the_same_folder_and_its_kernel_ends(
    start, monkeypatch, runs, tmp_path, request
):
    # 400 steps are those of a laptop, and yet not those of the scale
    given = {"answers": 3, "steps": 400, "log_every": 1}
    words = ["run", "tabular", "scale=smoke", *(f"{key}={value}" for key, value in given.items())]
    run = Run.of(experiment("tabular").configure("smoke", given))
    started = start("-m", "lab", *words)
    wait(lambda: len(run.records()) >= 5, started.process)
    assert kernels(runs)
    started.kill_group()  # the kernel is in another, and sees within a second that it is alone
    assert not run.finished
    monkeypatch.setenv("JUPYTER_PATH", "")
    request.getfixturevalue("forks")  # only the kernel above is seen by `kernels`
    assert main(words) == 0 and run.finished
    cells = code_cells(run.path / "notebook.ipynb")
    (inserted,) = [c for c in cells if "injected-parameters" in c.metadata.get("tags", [])]
    assert {
        node.targets[0].id: ast.literal_eval(node.value) for node in ast.parse(inserted.source).body
    } == {"scale": "smoke", "folder": str(run.path)} | given
    assert run.records()[-1]["step"] == 400 and run.params["parameters"]["answers"] == 3
    alone = train(configure("tabular", scale="smoke", **given), folder=str(tmp_path / "alone"))
    assert (run.path / "metrics.jsonl").read_bytes() == (alone.path / "metrics.jsonl").read_bytes()
    wait(lambda: not kernels(runs), seconds=30)
