"""TensorBoard and Weights & Biases show what metrics.jsonl holds; neither needs the network."""

import json

import pytest

from lab.cli import main
from lab.errors import LabError
from lab.runs import Run
from lab.runs.experiments import configure
from lab.runs.training import train

SMALL = {"scale": "smoke", "steps": 4, "log_every": 2}


def shown_by_tensorboard(run: Run) -> dict[int, float]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run.path / "tensorboard"))
    events.Reload()
    return {event.step: event.value for event in events.Scalars("pass@1")}


def test_tensorboard_shows_the_records(runs):
    pytest.importorskip("tensorboard")
    assert (
        main(["train", "tabular", "scale=smoke", "steps=4", "log_every=2", "--view", "tensorboard"])
        == 0
    )
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


def test_an_unknown_view_is_refused_before_anything_runs(runs):
    with pytest.raises(LabError, match="it must be one of"):
        train(configure("tabular", **SMALL), view="tensorbord")
    assert not runs.exists()
