"""Sweeps for real: processes, failures, kills. What is finished is never done again, and nothing
changes a curve.
"""

import os
import signal
import time

import psutil
import pytest
from forked import wait

from lab.cli import main
from lab.mathematics.estimators import estimator
from lab.runs import Run
from lab.runs.processes import Worker
from lab.runs.sweep import visible_gpus
from lab.runs.sweep_file import read_sweep

GPUS = "CUDA_VISIBLE_DEVICES"
FILE = """
[[runs]]
experiment = "tabular"
scale = "smoke"
set = { steps = 400, log_every = 5, hardest = 1e-3, learning_rate = 1 }
grid = { estimator = ["rloo", "grpo(ddof=1)", "grpo"], seed = [1] }
"""


@pytest.fixture
def write(tmp_path):
    def make(text: str):
        path = tmp_path / "small.toml"
        path.write_text(text)
        return path

    return make


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The metrics that every run of a sweep file should have, trained one by one in
    this process.
    """
    from lab.runs import configure, train

    made = {}

    def reference(path) -> dict[str, bytes]:
        for item in read_sweep(path).items:
            if item.run.id not in made:
                run = train(
                    configure(item.experiment, scale=item.scale, **item.given),
                    folder=str(tmp_path_factory.mktemp("reference")),
                    checkpoint_minutes=1e9,
                )
                made[item.run.id] = (run.path / "metrics.jsonl").read_bytes()
        return {item.run.id: made[item.run.id] for item in read_sweep(path).items}

    return reference


def metrics(path) -> dict[str, bytes]:
    runs = [item.run for item in read_sweep(path).items]
    return {run.id: (run.path / "metrics.jsonl").read_bytes() for run in runs}


def finished(path) -> list[Run]:
    return [item.run for item in read_sweep(path).items if item.run.finished]


def files(runs: list[Run]) -> dict:
    return {
        file: (file.stat().st_mtime_ns, file.read_bytes())
        for run in runs
        for file in run.path.rglob("*")
        if file.is_file() and file.suffix != ".lock"
    }


def told(path, lines: int = 1) -> bool:
    """Some run that is not finished has told so many records."""
    places = [
        item.run.path / "metrics.jsonl" for item in read_sweep(path).items if not item.run.finished
    ]
    return any(place.exists() and place.read_bytes().count(b"\n") >= lines for place in places)


# --- Reading ------------------------------------------------------------------------------------


def test_a_grid_is_every_combination_and_a_set_is_in_each(write):
    items = read_sweep(write(FILE.replace("seed = [1]", "seed = [1, 2]"))).items
    assert [(item.given["estimator"], item.given["seed"]) for item in items] == [
        ("rloo", 1),
        ("rloo", 2),
        ("grpo(ddof=1)", 1),
        ("grpo(ddof=1)", 2),
        ("grpo", 1),
        ("grpo", 2),
    ]
    assert all(item.given["steps"] == 400 and item.scale == "smoke" for item in items)
    assert len({item.run.path for item in items}) == 6


def test_a_run_named_twice_is_one_run_and_scale_is_laptop_without_a_word(write):
    items = read_sweep(write(FILE + FILE + '[[runs]]\nexperiment = "weights"\n')).items
    assert len(items) == 4 and items[-1].scale == "laptop" and items[-1].given == {}


ONE = "[[runs]]\nexperiment = 'tabular'\n"


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("", "small.toml holds no runs: write at least one [[runs]] table"),
        ("[[runs]]\n", "[[runs]] in small.toml lacks 'experiment'"),
        (ONE.replace("[[runs]]", "[runs]"), "must be tables in double brackets"),
        (ONE.replace("runs", "run"), "unknown key of small.toml 'run': did you mean 'runs'?"),
        (ONE + "scales = 'smoke'\n", "unknown key of [[runs]] in small.toml 'scales': did you"),
        (ONE.replace("bul", "bull"), "unknown experiment 'tabullar': did you mean 'tabular'?"),
        (ONE + "scale = 'smok'\n", "unknown scale of tabular 'smok'"),
        (ONE + "set = { step = 1 }\n", "unknown parameter of tabular 'step': did you mean 'st"),
        (ONE + "set = 3\n", "small.toml: set = 3 must be a table"),
        (ONE + "grid = { seed = 1 }\n", "grid.seed = 1 must be a list of at least one value"),
        (ONE + "grid = { seed = [1, -1] }\n", "tabular: seed = -1 is out of range"),
        (ONE + "set = { seed = 1 }\ngrid = { seed = [1] }\n", "seed is both in set and in gr"),
        ("[[runs]\n", "small.toml is no TOML file: Expected ']]' at the end of an array"),
    ],
)
def test_a_fault_in_a_sweep_file_stops_it_before_anything_runs(write, refused, text, sentence):
    text = FILE + text if text.startswith("[[runs]]") else text
    assert sentence in refused("sweep", str(write(text)))


def test_a_missing_sweep_file_and_no_processes_are_refused(refused, write):
    assert refused("sweep", "nowhere.toml").startswith(
        "no sweep file nowhere.toml: give the path of a TOML file"
    )
    said = refused("sweep", str(write(FILE)), "--jobs", "0")
    assert said == "--jobs 0: at least one process is needed"


# --- Running ------------------------------------------------------------------------------------


def spoil(path, which: int) -> Run:
    """Make one run of the file fail: its folder holds a params.json that cannot be read."""
    run = read_sweep(path).items[which].run
    run.path.mkdir(parents=True)
    (run.path / "params.json").write_text("{")
    return run


def test_a_sweep_keeps_going_lists_failures_can_be_mended_and_then_does_nothing(
    command, write, undisturbed
):
    path = write(FILE.replace(', "grpo"', ""))
    run = spoil(path, 0)
    first = command("sweep", path, "--train", "--jobs", 1)  # the second starts after the failure
    assert first.returncode == 1 and first.stdout == "0 finished before, 1 now, 1 failed\n"
    (line,) = [line for line in first.stderr.splitlines() if line.startswith(f"failed: {run.path}")]
    words = (run.path / "log.txt").read_text().splitlines()[-1]
    assert line == f"failed: {run.path / 'log.txt'}: {words}" and words.startswith("lab: ")
    assert "params.json cannot be read" in words and not run.finished
    others = finished(path)
    for item in read_sweep(path).items[1:]:
        log = (item.run.path / "log.txt").read_text()
        assert log.startswith("--- 20") and "rules: group of one" in log and "finished in " in log
        assert f"  {estimator(item.given['estimator']).label} [" in log and item.run in others
    before = files(others)

    (run.path / "params.json").unlink()
    second = command("sweep", path, "--train", "--jobs", 2)
    assert second.returncode == 0 and second.stdout.startswith(
        "1 finished before, 1 now, 0 failed\n"
    ), second.stderr
    assert files(others) == before and metrics(path) == undisturbed(path)

    before = files(finished(path))
    third = command("sweep", path, "--train", "--jobs", 2)
    assert third.returncode == 0
    assert third.stdout.startswith("2 finished before, 0 now, 0 failed\n")
    assert files(finished(path)) == before


def test_a_run_that_is_killed_ends_no_other(fork, write):
    path = write(FILE.replace("steps = 400", "steps = 800").replace(', "grpo"', ""))
    started = fork("sweep", path, "--train", "--jobs", 1)
    wait(lambda: told(path), started.process)
    (worker,) = psutil.Process(started.process.pid).children()
    worker.children()[0].kill()
    done = started.finish()
    assert done.stdout == "0 finished before, 1 now, 1 failed\n", done.stderr
    assert "ended by SIGKILL (often for want of memory)" in done.stderr


# --- GPUs ---------------------------------------------------------------------------------------


@pytest.fixture
def has_gpus(tmp_path, monkeypatch):
    """A machine on which the driver's tool lists so many GPUs."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("LAB_DEVICE", raising=False)

    def install(count: int, fails: bool = False) -> None:
        lines = "NVIDIA H200, 580.65.06\\n" * count
        tool = tmp_path / "bin" / "nvidia-smi"
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(f"#!/bin/sh\nprintf '{lines}'\nexit {int(fails)}\n")
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")

    return install


@pytest.mark.parametrize(
    "allowed, seen",
    [
        (None, ["0", "1", "2"]),
        ("2,0", ["2", "0"]),
        ("GPU-1", ["GPU-1"]),
        ("1,-1,2", ["1"]),
        ("", []),
        ("-1", []),
    ],
)
def test_the_visible_gpus_are_the_drivers_unless_the_environment_names_some(
    has_gpus, monkeypatch, allowed, seen
):
    has_gpus(3)
    if allowed is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", allowed)
    assert visible_gpus() == seen
    monkeypatch.setenv("LAB_DEVICE", "cpu")
    assert visible_gpus() == []


def test_without_a_driver_or_with_one_that_fails_no_gpu_is_visible(has_gpus, monkeypatch):
    has_gpus(2, fails=True)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert visible_gpus() == []
    has_gpus(0)
    assert visible_gpus() == []
    monkeypatch.setenv("PATH", "")
    assert visible_gpus() == []


def what_each_run_saw(write, monkeypatch, *options: str) -> list[str]:
    """What the processes of a sweep of three runs are given."""
    seen = []

    def run(worker, words, log):
        time.sleep(0.1)  # or else one worker would do all
        keys = (GPUS, "OMP_NUM_THREADS")
        seen.append(" ".join(str(worker.environment.get(key)) for key in keys))
        return ""

    monkeypatch.setattr(Worker, "run", run)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    main(["sweep", str(write(FILE)), "--train", *options])
    return seen


@pytest.mark.parametrize(
    "gpus, allowed, options, saw",
    [
        (2, None, [], {"0 None", "1 None"}),
        (2, "GPU-1,GPU-0", ["--jobs", "1"], {"GPU-1 None"}),
        (2, None, ["--jobs", "3"], {"0 None", "1 None"}),
        (0, None, [], {"None 1"}),
    ],
)
def test_each_process_of_a_sweep_sees_one_gpu_and_all_its_threads_or_none_and_one_thread(
    has_gpus, write, monkeypatch, capsys, runs, gpus, allowed, options, saw
):
    has_gpus(gpus)
    if allowed:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", allowed)
    seen = what_each_run_saw(write, monkeypatch, *options)
    assert len(seen) == 3 and set(seen) == saw


def test_sigterm_stops_every_run_after_its_step_and_starts_no_other(
    fork, command, write, undisturbed
):
    path = write(FILE.replace("steps = 400", "steps = 800").replace(', "grpo"', ""))
    started = fork("sweep", path, "--train", "--jobs", 1)
    wait(lambda: told(path), started.process)
    started.process.terminate()  # to it alone: it passes it on
    done = started.finish()
    assert done.returncode == 143, done
    said = "lab: stopped by SIGTERM with 0 of 2 runs finished; the same command goes on"
    assert said in done.stderr and "failed" not in done.stderr
    assert not started.group_lives and not finished(path)
    assert [item.run.path.exists() for item in read_sweep(path).items] == [True, False]
    first, *_ = read_sweep(path).items
    assert "lab: stopped by SIGTERM at step" in (first.run.path / "log.txt").read_text()
    assert list(first.run.path.glob("checkpoints/step-*"))
    assert command("sweep", path, "--train", "--jobs", 2).returncode == 0
    assert metrics(path) == undisturbed(path)


# --- Killed -------------------------------------------------------------------------------------


def test_killed_with_all_its_processes_a_sweep_goes_on_where_it_was(
    fork, command, write, undisturbed
):
    path = write(
        FILE.replace(
            '["rloo", "grpo(ddof=1)", "grpo"]', '["grpo(ddof=1)"], steps = [50, 1500]'
        ).replace("steps = 400, ", "")
    )
    started = fork("sweep", path, "--train", "--jobs", 1)
    # A short run is finished, a long one under way.
    wait(lambda: finished(path) and told(path), started.process)
    started.kill_group()
    done = finished(path)
    before = files(done)
    assert len(done) == 1
    again = command("sweep", path, "--train", "--jobs", 2)
    assert again.returncode == 0
    assert again.stdout.startswith(f"{len(done)} finished before, 1 now, 0 failed\n")
    assert files(done) == before and metrics(path) == undisturbed(path)


def test_killed_alone_a_sweep_run_again_at_once_shares_the_folder_with_its_orphan(
    fork, write, undisturbed
):
    path = write(FILE.replace("steps = 400", "steps = 800").replace('"rloo", "grpo(ddof=1)", ', ""))
    (run,) = [item.run for item in read_sweep(path).items]
    started = fork("sweep", path, "--train")
    wait(lambda: told(path), started.process)
    started.kill()
    assert started.group_lives and not run.finished  # its process lives on
    started.kill_group(signal.SIGSTOP)  # and holds the run until the next one has begun
    again = fork("sweep", path, "--train")
    log = run.path / "log.txt"
    wait(lambda: log.read_text().count("rules: group of one") == 2, again.process)
    assert not run.finished
    started.kill_group(signal.SIGCONT)
    done = again.finish()
    assert done.returncode == 0 and done.stdout.startswith(
        "0 finished before, 1 now, 0 failed\n"
    ), done.stderr
    assert metrics(path) == undisturbed(path) and len(run.records()) == run.done["records"] == 161


LATE = """import signal, sys, time
from lab.cli import main
signal.signal(signal.SIGINT, lambda *got: time.sleep(0.5) or signal.default_int_handler(*got))
sys.exit(main(sys.argv[1:]))
"""  # of the keys its runs hear first


def test_ctrl_c_ends_the_processes_and_starts_nothing_more(fork, write):
    path = write(FILE.replace("steps = 400", "steps = 800"))
    started = fork("-c", LATE, "sweep", path, "--train", "--jobs", 1)
    wait(lambda: told(path), started.process)
    started.kill_group(signal.SIGINT)
    done = started.finish()
    assert done.returncode == 130
    assert done.stderr.endswith("lab: stopped; the same command goes on from here\n")
    assert not started.group_lives and not finished(path)
    assert [item.run.path.exists() for item in read_sweep(path).items] == [True, False, False]
    assert "lab: stopped" in (read_sweep(path).items[0].run.path / "log.txt").read_text()
