"""`make gpu` runs here on the CPU with the scales shrunk, so that on a rented card only the numbers
are new.
"""

import json
import re
from pathlib import Path

import pytest

from lab.cli import main
from lab.errors import LabError
from lab.runs import rehearsal
from lab.runs.experiments import experiment, experiments
from lab.runs.rehearsal import WAITING, Part, filled, measured_folder, parts, rehearse

README = Path(__file__).parents[1] / "README.md"


def test_all_parts_of_the_maze_are_measured_on_a_cpu_and_recorded(runs, fork):
    code = (
        "import json; from lab.runs.rehearsal import rehearse\n"
        "print(json.dumps(rehearse(only='maze')['parts']))"
    )
    done = fork("-c", code, LAB_DEVICE="cpu").finish(600)
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout.splitlines()[-1])
    assert list(measured) == [part.name for part in parts("smoke") if "maze" in part.name]
    assert measured["maze: device against CPU"]["largest_difference"] == 0.0
    resumed = measured["maze: killed and resumed"]
    assert resumed["records_equal"] is True and resumed["largest_difference_of_a_weight"] == 0.0
    steps = measured["maze smoke"]
    assert 0 < steps["seconds_a_step"] <= steps["slowest_step"] and steps["steps"] == 20
    assert steps["log_probability_mismatch"] < 1e-4
    (path,) = (runs / "rehearsal").glob("*.json")
    written = json.loads(path.read_text())
    assert written["parts"] == measured and written["commit"] and written["versions"]["torch"]
    assert str(path) in done.stdout


def test_every_preset_of_a_card_is_measured_at_its_scale():
    names = [part.name for part in parts("h200")]
    trained = [name for name in experiments() if experiment(name).trainer]
    trained = [name for name in trained if "h200" in experiment(name).scales and name != "inside"]
    assert {"maze", "images", "gsm8k", "qwen3", "pacs"} <= set(trained)
    assert {f"{name} h200" for name in trained} <= set(names)
    assert len(set(names)) == len(names)
    assert all(experiment(part.experiment).trainer for part in parts("h200"))


@pytest.mark.parametrize("scale", ["gpu24", "h100", "h200"])
def test_the_parameters_of_every_part_are_those_of_its_preset(scale):
    trained = [part for part in parts(scale) if part.kind == "steps"]
    assert len(trained) >= 3
    for part in trained:
        chosen = experiment(part.experiment)
        config = chosen.configure(scale, rehearsal._cut(part.experiment, scale, 3))
        assert config.steps == 3


def test_a_part_that_fails_is_named_and_recorded_with_its_last_words_and_tried_again(
    runs, monkeypatch, capsys
):
    monkeypatch.setenv("LAB_DEVICE", "cpu")
    monkeypatch.setattr(
        rehearsal, "parts", lambda scale: [Part("broken", "steps", "digits", "nowhere")]
    )
    before = README.read_text()
    assert main(["rehearse"]) == 1
    assert "failed: broken: lab: unknown scale" in capsys.readouterr().err
    assert README.read_text() == before
    (path,) = (runs / "rehearsal").glob("*.json")
    failed = json.loads(path.read_text())["parts"]["broken"]["failed"]
    assert failed.startswith("lab: unknown scale of digits 'nowhere'")
    monkeypatch.setattr(
        rehearsal, "parts", lambda scale: [Part("broken", "steps", "tabular", "smoke")]
    )
    assert rehearse()["parts"]["broken"]["steps"] == 20


def test_a_name_that_no_part_has_is_refused(runs, monkeypatch):
    monkeypatch.setenv("LAB_DEVICE", "cpu")
    with pytest.raises(LabError, match="no part is called 'mase': .*maze smoke"):
        rehearse(only="mase")


def test_a_cell_holds_what_was_measured_and_waits_where_nothing_was():
    page = f"| <!-- gpu: maze -->{WAITING}<!-- end --> | <!-- gpu: pacs -->old<!-- end --> |"
    part = {"seconds_a_step": 0.1234, "memory_reserved": 31.4, "steps": 20}
    file = {"device": "NVIDIA H200", "commit": "0123456789", "parts": {"maze h200": part}}
    assert (
        filled(page, [file])
        == "| <!-- gpu: maze -->0.123 s a step, 31 GiB on one NVIDIA H200 (20 steps, commit"
        f" 0123456)<!-- end --> | <!-- gpu: pacs -->{WAITING}<!-- end --> |"
    )


def test_the_readme_says_what_the_files_say():
    files = [json.loads(path.read_text()) for path in sorted(measured_folder().glob("*.json"))]
    text = README.read_text()
    assert len(re.findall("<!-- gpu: ", text)) >= 3
    assert filled(text, files) == text
