"""A sweep on a real Ray cluster of this machine: same folders, same numbers, failures, kills and
resume.
"""

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest
from forked import wait

from lab.runs.sweep_file import read_sweep

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
LOCAL = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # the second: 127.0.0.1 stays that
    "RAY_worker_niceness": "0",
}  # else 15: on a busy machine a run would stand still
START = (
    "-m ray.scripts.scripts start --head --block --node-ip-address=127.0.0.1 --port=0 --num-cpus=2"
    " --num-gpus=0 --include-dashboard=false --no-monitor --object-store-memory=80000000"
)
FILE = """
[[runs]]
experiment = "tabular"
scale = "smoke"
set = { log_every = 5, estimator = "maxrl" }
grid = { steps = STEPS, seed = [1] }
"""


@pytest.fixture(scope="module")
def cluster():
    """The address of a Ray cluster with two cores, on 127.0.0.1 alone."""
    with tempfile.TemporaryDirectory(prefix="ray") as folder, open(f"{folder}/log", "w") as log:
        head = subprocess.Popen(
            [sys.executable, *START.split(), f"--temp-dir={folder}"],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            env=os.environ | LOCAL,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # Ray cancels by it
        place = Path(folder) / "ray_current_cluster"
        try:
            # The file of the address may come after the line that says so.
            wait(
                lambda: "Ray runtime started" in Path(log.name).read_text() and place.exists(), head
            )
            yield place.read_text()
        finally:
            # A head that could not start has ended by itself: the test says why.
            ended = head.poll() is not None
            started = [] if ended else psutil.Process(head.pid).children(recursive=True)
            head.terminate()
            for process in psutil.wait_procs(started, 15)[1]:
                process.kill()
            head.wait()


@pytest.fixture
def sweep(cluster, start, tmp_path):
    """Start `lab sweep` on the cluster for runs of so many steps; returns the process
    and the runs.
    """

    def begin(steps: list[int]):
        path = tmp_path / "small.toml"
        path.write_text(FILE.replace("STEPS", str(steps)))
        runs = [item.run for item in read_sweep(path).items]
        return (
            start(
                "-m", "lab", "sweep", path, "executor=ray", "--train", RAY_ADDRESS=cluster, **LOCAL
            ),
            runs,
        )

    return begin


def processes(run) -> list[psutil.Process]:
    """The training process of a run: it writes its log, and is a fork of one that does."""
    found = []
    for one in psutil.process_iter():
        with suppress(psutil.Error):
            files = [file.path for file in one.open_files()]
            if str(run.path / "log.txt") in files and not one.children():
                found.append(one)
    return found


def told(run, lines: int) -> bool:
    path = run.path / "metrics.jsonl"
    return path.exists() and path.read_bytes().count(b"\n") >= lines


def test_on_ray_a_killed_run_is_listed_and_goes_on_to_the_numbers_of_an_undisturbed_one(
    sweep, tmp_path
):
    steps = [1500, 50]
    first, (killed, other) = sweep(steps)
    wait(lambda: told(killed, 2), first.process)
    (process,) = processes(killed)
    process.send_signal(signal.SIGKILL)
    done = first.finish()
    assert done.stdout.endswith("0 finished before, 1 now, 1 failed\n") and done.returncode == 1, (
        done.stderr
    )
    assert f"failed: {killed.path / 'log.txt'}: " in done.stderr and not killed.finished
    before = (other.path / "metrics.jsonl").stat().st_mtime_ns

    done = sweep(steps)[0].finish()
    assert (
        done.stdout.startswith("1 finished before, 1 now, 0 failed\n") and done.returncode == 0
    ), done.stderr
    assert (other.path / "metrics.jsonl").stat().st_mtime_ns == before
    from lab.runs import configure, train

    for run in (killed, other):
        whole = train(
            configure("tabular", scale="smoke", **run.params["parameters"]),
            folder=str(tmp_path / run.path.name),
            checkpoint_minutes=1e9,
        )
        assert (run.path / "metrics.jsonl").read_bytes() == (
            whole.path / "metrics.jsonl"
        ).read_bytes()
        assert "rules: group of one" in (run.path / "log.txt").read_text()
    assert (killed.path / "log.txt").read_text().count("\n--- 20") == 1


def test_workers_on_ray_know_the_estimator_of_a_plugin(cluster, start, tmp_path, runs):
    (tmp_path / "pyproject.toml").write_text('[tool.lab]\nplugins = ["mine.py"]\n')
    (tmp_path / "mine.py").write_text(
        "import lab\n\n\n@lab.register(least=2)\ndef twice(N):\n"
        '    gap, offset = lab.estimator("rloo").coefficients(N)\n    return 2 * gap, 2 * offset\n'
    )
    text = FILE.replace("STEPS", "[10]").replace("maxrl", "twice")
    (tmp_path / "small.toml").write_text(text)
    words = ("-m", "lab", "sweep", "small.toml", "executor=ray", "--train")
    done = start(*words, cwd=tmp_path, RAY_ADDRESS=cluster, LAB_RUNS=str(runs), **LOCAL).finish(300)
    assert done.stdout.startswith("0 finished before, 1 now, 0 failed\n"), done.stderr


def test_ctrl_c_stops_the_runs_on_the_cluster_too(sweep):
    started, (run,) = sweep([1000000])
    wait(lambda: told(run, 2), started.process)
    started.kill_group(signal.SIGINT)
    done = started.finish()
    assert done.returncode == 130
    assert done.stderr.endswith("lab: stopped; the same command goes on from here\n")
    wait(lambda: not processes(run), seconds=30)
    assert not run.finished


def test_what_the_cluster_cannot_give_is_refused(monkeypatch, refused, tmp_path):
    import ray

    (tmp_path / "small.toml").write_text(FILE.replace("STEPS", "[10]"))
    words = "sweep", str(tmp_path / "small.toml"), "gpus=2"
    assert "did you mean 'executor'" in refused(*words, "executer=ray")
    assert (
        refused(*words)
        == "gpus = 2: only Ray assigns GPUs to runs; add executor=ray, or leave gpus out"
    )
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    for name, value in (
        ("init", None),
        ("shutdown", None),
        ("cluster_resources", {"CPU": 64.0, "GPU": 1.0}),
    ):
        monkeypatch.setattr(ray, name, lambda value=value, **_: value)
    assert (
        refused(*words, "executor=ray")
        == "the Ray cluster has 64 cores and 1 GPUs, and a run needs 1 and 2: ask for fewer, or add"
        " nodes"
    )


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere", "ray://127.0.0.1:1"])
def test_without_a_cluster_the_sentence_comes_at_once_and_says_what_to_start(
    monkeypatch, refused, tmp_path, address, ends
):
    monkeypatch.setenv("RAY_ADDRESS", address)
    (tmp_path / "small.toml").write_text(FILE.replace("STEPS", "[10]"))

    def sweep():
        said = refused("sweep", str(tmp_path / "small.toml"), "executor=ray")
        assert said.startswith(f"no Ray cluster answers at RAY_ADDRESS={address} (")
        assert said.endswith(
            "set it to the address of one, or start one here with ray start --head"
        )

    ends(sweep)
