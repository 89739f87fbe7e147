"""Training into a run folder: killed and resumed gives what it would have given uninterrupted."""

import json
import shutil
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from forked import wait
from safetensors import safe_open
from toy_trainings import ALWAYS, NEVER, Crash, left_behind

import lab
from lab.cli import main
from lab.errors import LabError
from lab.runs import Run, configure, train, training
from lab.runs.experiments import experiment
from lab.training import checkpoint

SMALL = {
    "tabular": {"steps": 6, "log_every": 1, "problems": 8},
    "digits": {"steps": 4, "log_every": 1, "rollouts": 8},
}


def small(name: str, folder: str, minutes: float | None = None) -> Run:
    config = configure(name, scale="smoke", **SMALL[name])
    return train(config, folder=folder, checkpoint_minutes=minutes)


def assert_same(run: Run, reference: Run) -> None:
    assert left_behind(run) == left_behind(reference)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The same run, never disturbed, in a folder of its own; made once for the same parameters."""
    made = {}

    def reference(name: str, **given) -> Run:
        key = name, *given.items()
        if key not in made:
            folder = tmp_path_factory.mktemp("reference")
            made[key] = train(
                configure(name, scale="smoke", **given),
                folder=str(folder),
                checkpoint_minutes=NEVER,
            )
        return made[key]

    return reference


def crash_at(patch, owner, name: str, call: int, after: bool = False) -> None:
    """Make the `call`-th call of owner.name crash, before or after it has done its work."""
    calls, real = iter(range(10**6)), getattr(owner, name)

    def crashing(*args, **options):
        here = next(calls) == call
        if here and not after:
            raise Crash
        result = real(*args, **options)
        if here:
            raise Crash
        return result

    patch.setattr(owner, name, crashing)


def break_trainer(patch, name: str, records: int) -> None:
    """Let the trainer tell so many records and crash where it would go on."""
    module, function = experiment(name).trainer.split(":")
    module = import_module(module)

    real = getattr(module, function)

    def broken(config, state):
        for told, record in enumerate(real(config, state)):
            if told == records:
                raise Crash
            yield record
        raise Crash

    patch.setattr(module, function, broken)


# --- Stopped at every possible place, in this process -------------------------------------------


def test_stopped_after_any_record_a_run_goes_on_to_the_same_result(
    monkeypatch, uninterrupted, tmp_path
):
    reference = uninterrupted("tabular", **SMALL["tabular"])
    for records in range(len(reference.records()) + 1):
        folder = str(tmp_path / str(records))
        with monkeypatch.context() as patch, pytest.raises(Crash):
            break_trainer(patch, "tabular", records)
            small("tabular", folder, ALWAYS)
        assert len(Run(Path(folder)).records()) == records and not Run(Path(folder)).finished
        assert_same(small("tabular", folder), reference)


@pytest.mark.parametrize(
    "owner, method",
    [
        (training, "_write_groups"),
        (training, "_save_checkpoint"),
        (checkpoint, "save_tensors"),
        (checkpoint, "_pieces"),
        (training, "write_atomically"),
        (training, "_line"),
    ],
)
@pytest.mark.parametrize("after", [False, True])
def test_stopped_anywhere_in_the_writing_a_run_goes_on_to_the_same_result(
    monkeypatch, uninterrupted, tmp_path, owner, method, after
):
    reference = uninterrupted("tabular", **SMALL["tabular"])
    for call in (0, 1, 6):  # the first two, and one of the last
        folder = str(tmp_path / str(call))
        with monkeypatch.context() as patch, pytest.raises(Crash):
            crash_at(patch, owner, method, call, after)
            small("tabular", folder, ALWAYS)
        assert_same(small("tabular", folder), reference)


def test_stopped_again_and_again_with_records_past_the_checkpoint(
    monkeypatch, uninterrupted, tmp_path
):
    reference, folder = uninterrupted("digits", **SMALL["digits"]), str(tmp_path)
    for records, minutes in (
        (1, NEVER),
        (2, ALWAYS),
        (2, NEVER),
        (0, NEVER),
        (1, ALWAYS),
        (2, NEVER),
    ):
        with monkeypatch.context() as patch, pytest.raises(Crash):
            break_trainer(patch, "digits", records + bool(Run(tmp_path).checkpoints))
            small("digits", folder, minutes)
    assert_same(small("digits", folder), reference)


def test_a_resumed_run_starts_from_its_checkpoint_and_not_from_the_beginning(monkeypatch, tmp_path):
    with monkeypatch.context() as patch, pytest.raises(Crash):
        break_trainer(patch, "tabular", 4)
        small("tabular", str(tmp_path), ALWAYS)
    began, real = [], lab.toy.tabular.Tabular.loss
    monkeypatch.setattr(
        lab.toy.tabular.Tabular, "loss", lambda self, step: began.append(step) or real(self, step)
    )
    small("tabular", str(tmp_path))
    assert began == [3, 4, 5]


def test_a_run_stopped_after_its_last_checkpoint_is_finished_without_training(monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_at(patch, Run, "finish", 0)
        train(configure("tabular", scale="smoke"))
    monkeypatch.setattr(lab.toy.tabular.Tabular, "loss", lambda *_: pytest.fail("it trained again"))
    assert train(configure("tabular", scale="smoke")).done["records"] == 3


# --- Killed for real ----------------------------------------------------------------------------

SCRIPT = (
    "import sys, json; from lab.runs import configure, train;"
    " config = configure(sys.argv[1], scale='smoke', **json.loads(sys.argv[3]));"
    " train(config, checkpoint_minutes=float(sys.argv[2]))"
)


def kill_after(started, run: Run, lines: int) -> None:
    """SIGKILL as soon as the run has told so many records."""
    path = run.path / "metrics.jsonl"
    wait(lambda: path.exists() and path.read_bytes().count(b"\n") >= lines, started.process)
    started.kill()
    assert started.process.returncode == -9 and not run.finished


def test_killed_before_the_first_checkpoint_the_command_starts_again_to_the_same_bytes(
    fork, capsys, uninterrupted
):
    given = {"steps": 700, "log_every": 10, "seed": 3}
    words = ["train", "tabular", "scale=smoke", *(f"{key}={value}" for key, value in given.items())]
    run = Run.of(experiment("tabular").configure("smoke", given))
    kill_after(fork(*words), run, 5)
    assert not (run.path / "checkpoints").exists()
    assert main(words) == 0 and "finished in " in capsys.readouterr().out
    assert_same(run, uninterrupted("tabular", **given))


def test_two_processes_that_start_the_same_run_do_it_once(fork, uninterrupted):
    given = {"steps": 500, "log_every": 5}
    both = [fork("-c", SCRIPT, "tabular", 0.05, json.dumps(given)) for _ in range(2)]
    assert [one.finish().returncode for one in both] == [0, 0]
    run = Run.of(experiment("tabular").configure("smoke", given))
    assert run.finished and len(list(run.path.parent.iterdir())) == 1
    assert_same(run, uninterrupted("tabular", **given))


# --- What a checkpoint is, and what is refused --------------------------------------------------


def test_a_checkpoint_is_one_safetensors_file_of_weights_optimiser_and_step():
    run = train(configure("digits", scale="smoke", **SMALL["digits"]), checkpoint_minutes=ALWAYS)
    (path,) = (run.path / "checkpoints").iterdir()
    with safe_open(path, "pt") as file:
        names = set(file.keys())
        assert int(file.get_tensor("step")) == 4 and path.name == "step-00000004.safetensors"
    assert {"model/0.weight", "model/1.running_mean", "model/1.num_batches_tracked"} <= names
    assert "optimizer/0/momentum_buffer" in names


def test_a_checkpoint_of_another_model_is_refused(trained):
    run, other = trained("tabular"), trained("tabular", problems=8)
    (run.path / "done.json").unlink()
    shutil.copy(other.checkpoints[-1], run.checkpoints[-1])
    for name in ("metrics.jsonl", "groups.parquet"):  # else these are refused first
        shutil.copy(other.path / name, run.path)
    with pytest.raises(LabError, match=r"^the checkpoint is of another model \(.*\): remove the"):
        train(configure("tabular", scale="smoke"))
    assert not run.finished


@pytest.fixture
def trainer(invent, tmp_path, monkeypatch):
    """A trainer of the test's own: a module with this body for `train(config, state)`."""

    def make(body: str) -> str:
        (tmp_path / "my_trainer.py").write_text(
            "import numpy as np\nfrom lab.training.records import Record\n"
            f"def preflight(config):\n    return []\ndef train(config, state):\n    {body}\n"
        )
        return invent(
            'trainer = "my_trainer:train"\n[laptop]\nsteps = 3\n',
            settings="steps: int = setting('')",
        )

    monkeypatch.syspath_prepend(tmp_path)
    yield make
    import sys

    sys.modules.pop("my_trainer", None)


@pytest.mark.parametrize("taken", ["steps", "run"])
def test_a_metric_with_the_name_of_a_parameter_stops_the_run_before_it_hides_it(trainer, taken):
    name = trainer(f"yield Record(0, {{'loss': 1.0, '{taken}': 2.0}}, dict)")
    with pytest.raises(LabError, match=f"^{taken} is measured and a parameter too: rename what is"):
        train(configure(name))


@pytest.mark.parametrize("bad", ["nan", "inf", "-inf"])
def test_a_metric_that_is_not_finite_stops_the_run_with_a_sentence(trainer, bad):
    name = trainer(
        "for step in range(config.steps):\n"
        "        yield Record(step, {'loss': 1.0, 'reward': [0.5, 0.5,"
        f" float('{bad}')][step]}}, dict)"
    )
    with pytest.raises(
        LabError, match=f"^reward = {bad} at step 2: training diverged, lower the learning rate or"
    ):
        train(configure(name))
    run = Run.of(experiment(name).configure())
    assert not run.finished and [record["step"] for record in run.records()] == [0, 1]


def test_a_trainer_that_tells_nothing_is_an_error(trainer):
    name = trainer("yield from ()")
    with pytest.raises(
        LabError, match="tiny gave no record: a trainer must yield at least its last step"
    ):
        train(configure(name))
    assert not Run.of(experiment(name).configure()).finished


def test_a_trainer_without_groups_leaves_no_groups_file(trainer):
    run = train(configure(trainer("yield Record(config.steps, {'loss': np.float32(1.5)}, dict)")))
    assert run.finished and run.records() == [{"step": 3, "loss": 1.5}]
    assert not (run.path / "groups.parquet").exists()


def test_a_trainer_that_fails_leaves_its_records_and_no_done(trainer):
    name = trainer("yield Record(0, {'loss': 1.0}, dict)\n    raise ZeroDivisionError('a bug')")
    with pytest.raises(ZeroDivisionError):
        train(configure(name))
    run = Run.of(experiment(name).configure())
    assert run.records() == [{"step": 0, "loss": 1.0}] and not run.finished


def test_a_run_at_a_rate_that_diverges_stops_with_a_sentence_and_no_done():
    wild = {
        "estimator": "nsr",
        "rollouts": 1,
        "learning_rate": 1000.0,
        "log_every": 1,
        "problems": 16,
        "steps": 40,
    }
    with pytest.raises(
        LabError, match=r"^[\w@\- ]+ = (-inf|nan) at step \d+: training diverged, lower"
    ):
        train(configure("tabular", **wild))
    run = Run.of(experiment("tabular").configure(given=wild))
    assert not run.finished
    assert np.isfinite([list(record.values()) for record in run.records()]).all()


# --- What is trained ----------------------------------------------------------------------------


def test_the_last_step_is_always_told_and_saved():
    run = train(configure("tabular", scale="smoke", steps=7, log_every=5))
    assert [record["step"] for record in run.records()] == [0, 5, 7]
    assert training.load_checkpoint(run)[1] == 7
