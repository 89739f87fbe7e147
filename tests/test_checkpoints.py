"""Checkpoints: streamed to disk, between records, by time, on SIGTERM; the last stays whole."""

import errno
import os
import re
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from forked import wait
from safetensors import safe_open
from safetensors.torch import load_file
from toy_trainings import (
    ALWAYS,
    NEVER,
    Crash,
    configured,
    left_behind,
    start_records,
    told,
    trained,
)

import lab.training.checkpoint
from lab.errors import LabError
from lab.runs import Run, start_of, training
from lab.runs.experiments import configure, experiment
from lab.runs.run_folder import step_of
from lab.runs.training import Pace, load_checkpoint, train
from lab.training import termination
from lab.training.checkpoint import save_tensors

SMALL = {"problems": 8, "steps": 7, "log_every": 5}


@pytest.fixture(autouse=True)
def cpu(monkeypatch):
    """Runs are promised bit for bit on a CPU."""
    monkeypatch.setenv("LAB_DEVICE", "cpu")


def small(folder: Path, minutes: float | None = None) -> Run:
    config = configure("tabular", scale="smoke", **SMALL)
    return train(config, folder=str(folder), checkpoint_minutes=minutes)


@pytest.mark.parametrize("kept, steps", [("1", [7]), ("3", [5, 6, 7])])
def test_as_many_checkpoints_are_kept_as_were_asked_for(tmp_path, monkeypatch, kept, steps):
    monkeypatch.setenv("LAB_KEEP_CHECKPOINTS", kept)
    run = small(tmp_path, 0)
    assert [step_of(path) for path in run.checkpoints] == steps
    run.check()


@pytest.mark.parametrize("kept", ["0", "-1", "many"])
def test_no_checkpoint_at_all_is_refused(tmp_path, monkeypatch, kept):
    monkeypatch.setenv("LAB_KEEP_CHECKPOINTS", kept)
    with pytest.raises(LabError, match="whole number of at least 1"):
        small(tmp_path)


# --- The file -----------------------------------------------------------------------------------


def test_the_librarys_own_reader_reads_every_kind_of_tensor_bit_for_bit(tmp_path):
    torch.manual_seed(0)
    tensors = {
        "float32": torch.randn(3, 5),
        "float64": torch.randn(2, dtype=torch.float64),
        "bfloat16": torch.randn(7, 3).bfloat16(),
        "float16": torch.randn(3).half(),
        "int64": torch.tensor([-(2**62), 3]),
        "int32": torch.arange(3, dtype=torch.int32),
        "uint8": torch.arange(5, dtype=torch.uint8),
        "bool": torch.tensor([True, False, True]),
        "a single number": torch.tensor(7),
        "nothing": torch.zeros(0, 4),
        "turned": torch.randn(4, 6).T,
        "channels last": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
        "odd values": torch.tensor([float("nan"), float("inf"), -0.0]),
        'ünïcode/0/"name"': torch.ones(1),
    }
    save_tensors(tmp_path / "one.safetensors", tensors, {"records": "3"})
    found = load_file(tmp_path / "one.safetensors")
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype and found[name].shape == tensor.shape
        raw, expected = (
            one.contiguous().reshape(-1).view(torch.uint8) for one in (found[name], tensor)
        )
        assert torch.equal(raw, expected), name
    with safe_open(tmp_path / "one.safetensors", "pt") as file:
        assert file.metadata().keys() == {"records", "sha256"} and file.metadata()["records"] == "3"
    length = int.from_bytes((tmp_path / "one.safetensors").read_bytes()[:8], "little")
    assert length % 8 == 0 and os.listdir(tmp_path) == ["one.safetensors"]


def test_a_tensor_larger_than_a_piece_is_written_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(lab.training.checkpoint, "PIECE", 48)
    tensor = torch.randn(10, 7)
    save_tensors(tmp_path / "one.safetensors", {"a": tensor, "b": tensor.T}, {})
    found = load_file(tmp_path / "one.safetensors")
    assert torch.equal(found["a"], tensor) and torch.equal(found["b"], tensor.T)


RESIDENT = """
import resource, sys, torch
from pathlib import Path
from lab.training.checkpoint import save_tensors
tensors = {f"model/{at}": torch.full((2**21,), float(at)) for at in range(32)}  # 256 MiB
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
save_tensors(Path(sys.argv[1]), tensors, {})
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**10)
"""


def test_writing_a_quarter_of_a_gibibyte_adds_next_to_nothing_to_a_process(tmp_path, fork):
    done = fork("-c", RESIDENT, tmp_path / "one.safetensors").finish()
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.safetensors").stat().st_size > 2**28
    assert float(done.stdout) < 100  # MiB; with a copy of the state it would be 256
    (tmp_path / "one.safetensors").unlink()


# --- The disk -----------------------------------------------------------------------------------


def test_a_disk_that_refuses_in_the_middle_leaves_the_old_file_and_no_draft(tmp_path):
    path = tmp_path / "one.safetensors"
    save_tensors(path, {"a": torch.zeros(4)}, {})
    before, usual = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    # As a quota: no one can ask about it.
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, usual[1]))
    said = f"cannot be written \\({os.strerror(errno.EFBIG)}\\): make room"
    try:
        with pytest.raises(LabError, match=said):
            save_tensors(path, {"a": torch.zeros(4096)}, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["one.safetensors"]


def spy_on_saves(monkeypatch, seen) -> None:
    """Call `seen` with the path of each checkpoint, after it was written."""
    real = lab.training.checkpoint.save_tensors

    def save(path, *given):
        real(path, *given)
        seen(path)

    monkeypatch.setattr(lab.training.checkpoint, "save_tensors", save)


def test_at_most_two_checkpoints_are_on_disk(tmp_path, monkeypatch):
    counts = []  # drafts too
    spy_on_saves(monkeypatch, lambda path: counts.append(len(list(path.parent.glob("*step-*")))))
    small(tmp_path, ALWAYS)
    assert counts == [1] + [2] * 7 and len(os.listdir(tmp_path / "checkpoints")) == 1


def test_a_resumed_run_lets_go_of_the_file_it_came_from(tmp_path, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(Crash):
        stop_after(patch, step=3)
        small(tmp_path, ALWAYS)
    maps, mapped = Path("/proc/self/maps"), []
    spy_on_saves(monkeypatch, lambda _: mapped.append(str(tmp_path) in maps.read_text()))
    small(tmp_path, ALWAYS)
    assert mapped and not any(mapped)


# --- When one is written ------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """Time that stands still until it is set."""
    now = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(training.time, "monotonic", lambda: now.seconds)
    return now


def test_without_a_word_writing_takes_at_most_a_twentieth_of_the_time(clock):
    pace = Pace(None)
    clock.seconds += 19.9
    assert not pace.due
    clock.seconds += 0.2
    assert pace.due
    clock.seconds += 30
    pace.wrote(clock.seconds - 30)  # it took half a minute
    clock.seconds += 599
    assert not pace.due
    clock.seconds += 2
    assert pace.due


def test_minutes_are_kept_however_long_writing_takes(clock):
    pace = Pace(2)
    pace.wrote(clock.seconds - 100)
    clock.seconds += 119
    assert not pace.due
    clock.seconds += 1
    assert pace.due and Pace(0).due


def test_the_minutes_reach_a_training_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv(training.MINUTES, "0")
    written = []
    spy_on_saves(monkeypatch, lambda path: written.append(path.stem))
    train(configure("tabular", scale="smoke", **SMALL))
    assert written == [f"step-{step:08}" for step in range(8)]
    monkeypatch.setenv(training.MINUTES, "soon")
    said = "LAB_CHECKPOINT_MINUTES = 'soon': it must be a number of minutes"
    with pytest.raises(LabError, match=said):
        train(configure("tabular", scale="smoke", problems=4))
    with pytest.raises(LabError, match="checkpoint_minutes = -1"):
        train(configure("tabular", scale="smoke", problems=4), checkpoint_minutes=-1)


# --- The state is that of now -------------------------------------------------------------------


def test_a_state_asked_for_after_training_went_on_is_refused():
    chosen = experiment("tabular")
    told = list(chosen.train(chosen.configure("smoke", SMALL), None))
    for one in told[:-1]:
        said = f"the state after step {one.step} is asked for too late"
        with pytest.raises(LabError, match=said):
            one.state()
    assert int(told[-1].state()["step"]) == 7  # after the last step nothing moves


def stop_after(patch, step: int) -> None:
    """Crash as soon as the checkpoint of this step is written."""
    real = training._save_checkpoint

    def save(run, output, digests):
        real(run, output, digests)
        if output.step == step:
            raise Crash

    patch.setattr(training, "_save_checkpoint", save)


# --- Signals for real ---------------------------------------------------------------------------

WORLDS = {
    "tabular": {"steps": 400, "log_every": 399},
    "images": {"steps": 12, "log_every": 11},
    "maze": {"steps": 20, "log_every": 19, "start_steps": 1, "samples": 2, "smoothing": 0.1},
}
SENTENCE = (
    r"lab: stopped by SIGTERM at step (\d+), checkpoint written; "
    r"the same command goes on from here\n"
)


def words_of(given: dict) -> list[str]:
    return [f"{key}={value}" for key, value in given.items()]


def checkpointed(run: Run, step: int) -> bool:
    return any(
        int(path.stem.removeprefix("step-")) >= step
        for path in run.path.glob("checkpoints/step-*.safetensors")
    )


@pytest.mark.parametrize(
    "name, how, times",
    [
        ("tabular", signal.SIGTERM, 1),
        ("images", signal.SIGTERM, 5),  # a second one, within the same step, is like the first
        ("maze", signal.SIGKILL, 1),
    ],
)
def test_stopped_between_two_records_a_training_ends_as_the_one_that_was_not(
    fork, monkeypatch, tmp_path, name, how, times
):
    given = WORLDS[name]
    run = Run.of(experiment(name).configure("smoke", given))
    started = fork("train", name, "scale=smoke", "checkpoint_minutes=0", *words_of(given))
    wait(lambda: checkpointed(run, 3), started.process)
    for _ in range(times):
        started.process.send_signal(how)
        time.sleep(0.001)
    ended = started.finish()
    assert ended.returncode == (143 if how == signal.SIGTERM else -9), ended
    assert not run.finished and len(run.records()) == 1
    if how == signal.SIGTERM:
        told = re.search(SENTENCE, ended.stderr)
        assert told and "Traceback" not in ended.stderr
        assert load_checkpoint(run)[1] == int(told[1]) >= 3
    assert train(configure(name, scale="smoke", **given)).finished
    resumed = left_behind(run)
    monkeypatch.setenv("LAB_RUNS", str(tmp_path))
    assert resumed == left_behind(
        train(configure(name, scale="smoke", **given), checkpoint_minutes=NEVER)
    )


def test_the_maze_keeps_what_it_added_up_between_records():
    """Without it the means of a resumed run would be of the later steps alone."""
    config = configured("maze", steps=5, log_every=5, start_steps=1, samples=2)
    start = start_records(config)[-1][1]
    whole = told(experiment("maze").train(config, None, start=start))
    (end, last), third = whole[5], whole[3][1]
    assert all(len(third[key]) == 3 for key in third if key.startswith("seen/"))
    assert "seen/00/train pass@1" in third
    assert not any(key.startswith("seen/") for key in last)
    without = {key: value for key, value in third.items() if not key.startswith("seen/")}
    taken_up, bare = (trained(config, state, start=start)[-1][0] for state in (third, without))
    expected = list(end.metrics.items())
    assert list(taken_up.metrics.items()) == expected != list(bare.metrics.items())


def test_sigterm_during_the_start_of_a_maze_stops_it_too(fork, monkeypatch, tmp_path):
    given = {"steps": 1, "start_steps": 80, "start_log_every": 80, "samples": 2}
    config = configured("maze", **given)
    run = start_of(config)
    started = fork("train", "maze", "scale=smoke", "checkpoint_minutes=0", *words_of(given))
    wait(lambda: checkpointed(run, 2), started.process)
    started.process.terminate()
    ended = started.finish()
    assert ended.returncode == 143 and re.search(SENTENCE, ended.stderr) and not run.finished
    train(config)
    resumed = left_behind(run)
    monkeypatch.setenv("LAB_RUNS", str(tmp_path))
    train(config, checkpoint_minutes=NEVER)
    assert resumed == left_behind(start_of(config))


def test_sigterm_reaches_the_training_inside_a_notebook(fork, tmp_path):
    given = {"steps": 400, "log_every": 399}
    run = Run.of(experiment("tabular").configure("smoke", given))
    started = fork("run", "tabular", "scale=smoke", "checkpoint_minutes=0", *words_of(given))
    wait(lambda: checkpointed(run, 3), started.process)
    started.process.terminate()  # to `lab run` alone: its kernel is in a session of its own
    ended = started.finish()
    assert ended.returncode == 143, ended
    assert re.search(SENTENCE, ended.stderr), ended.stderr
    assert not run.finished and len(run.records()) == 1
    trained = train(configure("tabular", scale="smoke", **given), folder=str(run.path))
    reference = train(
        configure("tabular", scale="smoke", **given), folder=str(tmp_path), checkpoint_minutes=NEVER
    )
    assert left_behind(trained) == left_behind(reference)


def test_sigterm_in_a_cell_that_trains_nothing_ends_the_notebook_unfinished(
    fork, invent, runs, tmp_path
):
    """The kernel has no handler then and ends at once."""
    name = invent(
        "[laptop]\nseconds = 60\n",
        "import importlib, pathlib, sys, time\nfrom lab import runs",
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        f"importlib.import_module('lab.runs.experiments').PRESETS = pathlib.Path({str(tmp_path)!r},"
        " 'presets')\nconfig = runs.configure('tiny', globals())",
        f"pathlib.Path({str(runs)!r}, 'here').touch(); time.sleep(config.seconds)",
        settings="seconds: int = setting('seconds to sleep')",
        parameters='scale = "laptop"\nseconds = 60\nfolder = ""',
    )
    presets = sys.modules["lab.runs.experiments"].PRESETS
    runs.mkdir(parents=True)
    script = f"""
import pathlib, sys
from lab.cli import main
import lab.runs
module = sys.modules["lab.runs.experiments"]
module.PRESETS = pathlib.Path({str(presets)!r})
sys.path.insert(0, {str(tmp_path)!r})
module.NOTEBOOKS = module.PRESETS.parent / "notebooks"
sys.exit(main(["run", {name!r}]))
"""
    started = fork("-c", script)
    wait(lambda: (runs / "here").exists(), started.process)
    started.process.terminate()
    ended = started.finish()
    assert ended.returncode == 143, ended
    assert "lab: stopped by SIGTERM; the same command goes on from here\n" in ended.stderr
    assert not list(runs.glob("*/*/done.json"))


# --- The request itself -------------------------------------------------------------------------


def test_after_the_work_sigterm_is_what_it_was():
    called = []
    before = signal.signal(signal.SIGTERM, lambda *_: called.append(1))
    try:
        with termination.stopping_after_a_step() as request:
            assert not request.is_set()
        signal.raise_signal(signal.SIGTERM)
        assert called == [1]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_sigterm_after_the_last_step_is_not_swallowed_and_a_later_one_waits_for_the_exit_code():
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(termination.Terminated, match="after the last step"):
            with termination.stopping_after_a_step() as request:
                signal.raise_signal(signal.SIGTERM)
                assert request.is_set()
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN  # the process is on its way out
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_training_in_another_thread_leaves_signals_alone(monkeypatch):
    handlers, real = [], training._save_checkpoint

    def save(*given):
        handlers.append(signal.getsignal(signal.SIGTERM))
        real(*given)

    monkeypatch.setattr(training, "_save_checkpoint", save)
    config = configure("tabular", scale="smoke", steps=2)
    runs = []
    worker = threading.Thread(target=lambda: runs.append(train(config)))
    worker.start()
    worker.join()
    assert runs and runs[0].finished
    assert {*handlers, signal.getsignal(signal.SIGTERM)} == {signal.SIG_DFL}
