"""TensorBoard and Weights & Biases show what metrics.jsonl holds; neither needs the network."""

import json
import re
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from lab.cli import main
from lab.errors import LabError
from lab.runs import Run
from lab.runs.experiments import configure
from lab.runs.loggers import view
from lab.runs.progress import Speed
from lab.runs.training import train
from lab.training.records import Pause, Record

SMALL = {"scale": "smoke", "steps": 4, "log_every": 2}


def shown_by_tensorboard(run: Run) -> dict[int, float]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run.path / "tensorboard"))
    events.Reload()
    return {event.step: event.value for event in events.Scalars("pass@1")}


def test_tensorboard_shows_the_records(runs):
    pytest.importorskip("tensorboard")
    words = "train tabular scale=smoke steps=4 log_every=2 --view tensorboard"
    assert main(words.split()) == 0
    [folder] = (runs / "tabular").iterdir()
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert shown_by_tensorboard(Run(folder)) == pytest.approx(
        {line["step"]: line["pass@1"] for line in lines}
    )


def test_a_view_made_later_changes_nothing_of_the_run(trained):
    pytest.importorskip("tensorboard")
    plain = trained("tabular", steps=4, log_every=2)
    before = (plain.path / "metrics.jsonl").read_bytes()
    assert train(configure("tabular", **SMALL), view="tensorboard").path == plain.path
    assert (plain.path / "metrics.jsonl").read_bytes() == before


def test_weights_and_biases_writes_offline(monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    run = train(configure("tabular", **SMALL), view="wandb")
    [written] = run.path.glob("wandb/offline-run-*/*.wandb")
    assert written.stat().st_size > 0 and run.finished


@pytest.mark.parametrize("key, mode", [("", "offline"), ("k" * 40, None)])
def test_weights_and_biases_is_online_for_who_is_logged_in(monkeypatch, capsys, key, mode):
    """wandb itself reads its other variables; WANDB_MODE goes before a key."""
    wandb = pytest.importorskip("wandb")
    given, logged = {}, []

    @contextmanager
    def init(**options):
        given.update(options)
        yield SimpleNamespace(log=lambda metrics, step: logged.append((step, metrics)))

    monkeypatch.setattr(wandb, "init", init)
    monkeypatch.setattr(wandb, "api", SimpleNamespace(api_key=key))
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setenv("WANDB_PROJECT", "thesis")
    answers = {"question": ["1+1=?"] * 20, "text": ["<b>2</b>"] * 20}
    with view("wandb", Run.of(configure("tabular", **SMALL)), {}, -1) as show:
        show(Record(2, {"pass@1": 0.5}, dict, rollouts=answers), {"seconds a step": 3.0})
    assert given["mode"] == mode and given["project"] == "thesis"
    assert ("kept offline" in capsys.readouterr().err) == (mode == "offline")
    [(step, shown)] = logged
    table = shown.pop("answers")
    assert (step, shown) == (2, {"pass@1": 0.5, "seconds a step": 3.0})
    assert table.columns == ["question", "text"] and len(table.data) == 16


def test_output_that_is_no_terminal_has_a_line_at_each_record(runs, capsys):
    assert main(["train", "tabular", "scale=smoke", "steps=4", "log_every=2"]) == 0
    said = re.findall(r"^step (\d)/4: pass@1 0\.\d+, .*", capsys.readouterr().out, re.MULTILINE)
    assert said == ["0", "2", "4"]
    [file] = runs.glob("tabular/*/times.jsonl")
    first, *others = [json.loads(line) for line in file.read_text().splitlines()]
    assert first == {"step": 0} and all(line["seconds a step"] > 0 for line in others)


def test_speed_is_that_of_the_steps_without_an_evaluation():
    speed, rollouts = Speed(), {"tokens": [30, 70]}
    speed.add(Record(0, {}, dict, groups={"n": np.ones(1)}), 50.0)
    assert speed.take() == {}
    speed.add(Pause(1, dict, rollouts), 2.0)
    speed.add(Record(2, {}, dict, {"n": np.ones(1)}, rollouts), 9.0)
    assert speed.take() == {"seconds a step": 2.0, "tokens a second": 50.0}
    speed.add(Record(3, {}, dict, {"n": np.ones(1)}), 9.0)
    assert speed.take() == {"seconds a step": 9.0}


def test_an_unknown_view_is_refused_before_anything_runs(runs):
    with pytest.raises(LabError, match="it must be one of"):
        train(configure("tabular", **SMALL), view="tensorbord")
    assert not runs.exists()
