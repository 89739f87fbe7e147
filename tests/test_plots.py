"""Figures are saved with their data and with what they were drawn from."""

import json
import re
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from lab.runs import results
from lab.show import figure_files, plots

# --- Saving -------------------------------------------------------------------------------------


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


TABLE = pd.DataFrame({"p": [0.1, 0.2], "w": [1 / 3, 2.0]})


def draw_and_save() -> None:
    figure, axes = plots.panels()
    axes.plot(TABLE["p"], TABLE["w"], label="w")
    figure_files.kept_data("one", TABLE)
    figure_files.save(figure, "one", "A\n   caption.")


def test_a_figure_is_saved_with_its_data_and_where_it_comes_from(folders):
    draw_and_save()
    out = folders / "figures"
    found = sorted(str(path.relative_to(out)) for path in files_in(out))
    assert found == "one.csv one.json one.pdf one.png provenance/one.json".split()
    assert (out / "one.csv").read_text() == "p,w\n0.1,0.3333333333\n0.2,2\n"
    assert (out / "one.pdf").read_bytes().startswith(b"%PDF") and (out / "one.png").read_bytes()[
        1:4
    ] == b"PNG"
    told = json.loads((out / "one.json").read_text())
    expected = {"figure": "one", "caption": "A caption.", "command": "lab figures one"}
    assert (expected | {"data": "one.csv", "runs": {}}).items() <= told.items()
    origin = json.loads((out / "provenance" / "one.json").read_text())
    assert {"python", "numpy", "matplotlib"} <= set(origin["versions"])
    assert origin["commit"] is None or re.fullmatch(r"[0-9a-f]{40}(\+changes)?", origin["commit"])


def test_the_same_inputs_give_the_same_bytes(folders):
    out = folders / "figures"
    draw_and_save()
    first = {path: path.read_bytes() for path in files_in(out)}
    plt.rcParams.update({"font.size": 20, "lines.linewidth": 9})  # whatever was set before
    draw_and_save()
    assert {path: path.read_bytes() for path in files_in(out)} == first
    assert not any(b"CreationDate" in content for content in first.values())


def test_what_git_tracks_of_a_figure_does_not_change_with_commit_device_or_time(
    folders, monkeypatch
):
    recorded, out = results("maze", "maze"), folders / "figures"

    def draw(commit: str, device: str, seconds: float) -> dict[Path, bytes]:
        origin = {"commit": commit, "device": device, "command": "as typed"}
        runs = {
            id: run | {"provenance": run["provenance"] | origin, "seconds": seconds}
            for id, run in recorded.runs.items()
        }
        monkeypatch.setattr("lab.runs.results", lambda *_: replace(recorded, runs=runs))
        monkeypatch.setattr(figure_files, "commits", lambda: {"commit": commit})
        monkeypatch.setattr(figure_files, "versions", lambda: {"numpy": commit})
        assert figure_files.draw_figures(["maze_walks"]) == {}
        return {path: path.read_bytes() for path in files_in(out) if path.parent == out}

    assert draw("a" * 40, "one processor", 1.5) == draw("b" * 40, "another", 99.0)
    assert "another" in (out / "provenance" / "maze_walks.json").read_text()
