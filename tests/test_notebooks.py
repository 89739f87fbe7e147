"""Notebooks: thin, without outputs, run at smoke scale into finished run folders."""

import ast
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from lab.cli import main
from lab.errors import LabError
from lab.runs import Run, configure, experiments, train
from lab.runs.experiments import NOTEBOOKS, experiment
from lab.runs.former_names import in_former_names
from lab.runs.notebooks import parameter_cell, run_notebook

BOOKS = sorted(NOTEBOOKS.glob("*.ipynb"))
BY_NAME = pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)


def code_cells(path: Path):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


# --- As they lie in the repository --------------------------------------------------------------


def test_there_is_one_notebook_an_experiment_and_one_experiment_a_notebook():
    assert sorted(experiment(name).notebook for name in experiments()) == BOOKS and len(BOOKS) >= 5


def test_notebooks_are_numbered_in_the_order_of_reading():
    """Tens are worlds (1x images), so numbers may be left out, but none is used twice."""
    numbers = [path.name[:3] for path in BOOKS]
    assert all(re.fullmatch(r"\d\d_", number) for number in numbers) and len(set(numbers)) == len(
        numbers
    )
    assert numbers[:5] == ["00_", "01_", "02_", "03_", "04_"] and "10_images.ipynb" in {
        path.name for path in BOOKS
    }


@BY_NAME
def test_a_notebook_is_valid_and_holds_no_outputs_and_no_counts(path):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    for cell in code_cells(path):
        assert cell.outputs == [] and cell.execution_count is None


def test_nbstripout_finds_nothing_to_strip():
    done = subprocess.run(
        [sys.executable, "-m", "nbstripout", "--verify", *map(str, BOOKS)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


@BY_NAME
def test_a_notebook_is_short_and_its_code_cells_are_shorter(path):
    assert len(nbformat.read(path, as_version=4).cells) <= 25
    cells = [cell for cell in code_cells(path) if "parameters" not in cell.metadata.get("tags", [])]
    for cell in cells:
        # one line a statement: how the formatter breaks a long call says nothing of its length
        text = ast.unparse(ast.parse(cell.source))
        assert len(text.splitlines()) <= 12 and len(text) <= 12 * 100


@BY_NAME
def test_a_notebook_runs_in_the_kernel_called_python3(path):
    book = nbformat.read(path, as_version=4)
    assert (
        book.metadata.kernelspec.name == "python3" and book.metadata.kernelspec.language == "python"
    )


@BY_NAME
def test_a_notebook_asks_the_question_of_its_experiment_predicts_compares_and_leaves_things_to_try(
    path,
):
    cells = nbformat.read(path, as_version=4).cells
    (name,) = [name for name in experiments() if experiment(name).notebook == path]
    assert cells[0].cell_type == "markdown" and cells[0].source == f"# {experiment(name).title}"
    assert cells[0].source.endswith("?")
    words = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert "**Prediction.**" in words[1] and cells[-1].source.startswith("## Things to try")
    assert any("## Prediction against result" in text for text in words)


@BY_NAME
def test_the_first_code_cells_are_parameters_imports_and_the_check(path):
    (name,) = [name for name in experiments() if experiment(name).notebook == path]
    parameters, imports, check = code_cells(path)[:3]
    assert parameters.metadata.tags == ["parameters"] and parameter_cell(path)[0]
    assert all(
        isinstance(node, (ast.Import, ast.ImportFrom)) for node in ast.parse(imports.source).body
    )
    assert check.source == f'config = runs.configure("{name}", globals())'
    for cell in code_cells(path)[3:]:
        assert not any(
            isinstance(node, (ast.Import, ast.ImportFrom))
            for node in ast.walk(ast.parse(cell.source))
        )


@BY_NAME
def test_a_notebook_is_plain_python_without_shell_or_magic(path):
    for cell in code_cells(path):
        ast.parse(cell.source)


# --- Run at smoke scale -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs_of_notebooks(tmp_path_factory) -> Path:
    """The folder of the runs of `executed`."""
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture
def executed(runs_of_notebooks, fork, monkeypatch):
    """The finished run of each notebook at smoke scale; executed once."""

    def run(name: str) -> Run:
        with monkeypatch.context() as patch:
            patch.setenv("LAB_RUNS", str(runs_of_notebooks))
            made = Run.of(experiment(name).configure("smoke"))
        if not made.finished:
            words = ["run", name, "scale=smoke"]
            done = fork(*words, LAB_RUNS=str(runs_of_notebooks), JUPYTER_PATH="").finish(600)
            assert done.returncode == 0, done.stderr
        return made

    return run


@pytest.mark.parametrize("name", experiments())
def test_a_notebook_at_smoke_scale_gives_a_finished_run_with_its_outputs(executed, name):
    run, chosen = executed(name), experiment(name)
    assert run.finished and run.params["scale"] == "smoke"
    assert run.params["parameters"] == in_former_names(chosen.configure("smoke").settings())
    files = {path.name for path in run.path.iterdir() if path.suffix != ".lock"}
    made = {"metrics.jsonl", "groups.parquet", "checkpoints"} if chosen.trainer else set()
    if name in ("gsm8k", "pacs", "qwen3"):  # language models that are trained
        made |= {"rollouts"}
    assert files == {"params.json", "provenance.json", "notebook.ipynb", "done.json"} | made
    cells = code_cells(run.path / "notebook.ipynb")
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = [output.output_type for cell in cells for output in cell.outputs]
    assert "error" not in kinds and len(kinds) >= 3
    text = "".join(output.get("text", "") for cell in cells for output in cell.outputs)
    assert f"{name}: {chosen.title}\n  scale smoke\n" in text  # the header of configure
    assert not [
        output
        for cell in cells
        for output in cell.outputs
        if output.get("name") == "stderr" and ("Warning" in output.text or "Error" in output.text)
    ]


def test_a_notebook_trains_what_the_command_trains(executed, tmp_path):
    for name in ("tabular", "digits"):
        alone = train(configure(name, scale="smoke"), folder=str(tmp_path / name))
        for file in ("metrics.jsonl", "groups.parquet"):
            assert (alone.path / file).read_bytes() == (executed(name).path / file).read_bytes()


def test_a_finished_notebook_is_not_run_again(executed, monkeypatch):
    run = executed("weights")
    files = [path for path in run.path.iterdir() if path.suffix != ".lock"]
    before = [(path.stat().st_mtime_ns, path.read_bytes()) for path in files]
    monkeypatch.setenv("LAB_RUNS", str(run.path.parents[1]))
    monkeypatch.setattr("papermill.execute_notebook", lambda *_, **__: pytest.fail("it ran again"))
    assert run_notebook(experiment("weights").configure("smoke")).path == run.path
    assert [(path.stat().st_mtime_ns, path.read_bytes()) for path in files] == before


def test_running_a_notebook_leaves_the_one_in_the_repository_alone(executed):
    for path in BOOKS:
        (name,) = [name for name in experiments() if experiment(name).notebook == path]
        before = path.read_bytes()
        executed(name)
        assert path.read_bytes() == before and all(cell.outputs == [] for cell in code_cells(path))


def test_plain_papermill_runs_a_notebook_too(start, runs, tmp_path):
    done = start(
        "-m",
        "papermill",
        "notebooks/03_tabular.ipynb",
        tmp_path / "out.ipynb",
        "--cwd",
        "notebooks",
        "-p",
        "steps",
        10,
        "-p",
        "problems",
        8,
        "-p",
        "estimator",
        "rloo",
        "-k",
        "python3",
        JUPYTER_PATH=str(Path(sys.prefix) / "share" / "jupyter"),
    ).finish()
    assert done.returncode == 0, done.stderr
    (place,) = (runs / "tabular").iterdir()
    assert Run(place).finished and Run(place).params["parameters"]["objective"] == "rloo"
    assert Run(place).done["last"]["step"] == 10
    assert "error" not in [
        output.output_type for cell in code_cells(tmp_path / "out.ipynb") for output in cell.outputs
    ]


# --- Kernels, failures, kills -------------------------------------------------------------------

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
        (place / "kernels" / "python3" / "kernel.json").write_text(
            json.dumps(
                {
                    "argv": [sys.executable, "-c", "raise SystemExit('the bogus kernel')"],
                    "display_name": "bogus",
                    "language": "python",
                }
            )
        )
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
    assert main(["run", name]) == 0 and run.finished and "after" in said(run)


def test_a_kernel_that_dies_is_a_sentence_and_leaves_no_done(invent, make, monkeypatch, runs):
    monkeypatch.setenv("JUPYTER_PATH", "")
    cell = "import os; print(config.steps); os._exit(1)"
    name = invent(PRESET, make, cell, parameters=PARAMETERS)
    with pytest.raises(
        LabError, match="^the kernel of tiny.ipynb died, often because memory ran out; see "
    ):
        run_notebook(experiment(name).configure())
    assert not Run(next((runs / name).iterdir())).finished


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
    start, monkeypatch, runs, tmp_path
):
    # 400 steps are those of a laptop, and yet not those of the scale
    given = {"answers": 3, "steps": 400, "log_every": 1}
    words = ["run", "tabular", "scale=smoke", *(f"{key}={value}" for key, value in given.items())]
    run = Run.of(experiment("tabular").configure("smoke", given))
    started = start("-m", "lab", *words)
    while len(run.records()) < 5:
        assert started.process.poll() is None, started.process.stderr.read()
        time.sleep(0.01)
    started.kill_group()
    assert not run.finished and kernels(runs)
    monkeypatch.setenv("JUPYTER_PATH", "")
    assert main(words) == 0 and run.finished
    cells = code_cells(run.path / "notebook.ipynb")
    (inserted,) = [c for c in cells if "injected-parameters" in c.metadata.get("tags", [])]
    assert {
        node.targets[0].id: ast.literal_eval(node.value) for node in ast.parse(inserted.source).body
    } == {"scale": "smoke", "folder": str(run.path)} | given
    assert run.records()[-1]["step"] == 400 and run.params["parameters"]["answers"] == 3
    alone = train(configure("tabular", scale="smoke", **given), folder=str(tmp_path / "alone"))
    assert (run.path / "metrics.jsonl").read_bytes() == (alone.path / "metrics.jsonl").read_bytes()
    deadline = time.monotonic() + 30
    while kernels(runs):
        assert time.monotonic() < deadline, "a kernel outlived its parent"
        time.sleep(0.1)
