"""Figures are saved with their data and with what they were drawn from."""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import picture_checks
import pytest
from matplotlib.colors import to_rgb

from lab.errors import LabError
from lab.runs import Results, configure, results, train
from lab.show import plots


def test_a_curve_is_a_line_and_a_thin_one_for_each_seed_in_one_look():
    figure, axes = plots.panels()
    rows = pd.DataFrame({"step": [0, 1], "mean": [1, 2], "seed 0": [0, 1], "seed 7": [2, 3]})
    plots.curve(axes, rows, "step", "mean", plots.line_style("maxrl"))
    line, *thin = axes.lines
    assert line.get_label() == "MaxRL" and list(line.get_ydata()) == [1, 2]
    assert [list(one.get_ydata()) for one in thin] == [[0, 1], [2, 3]]
    assert {to_rgb(one.get_color()) for one in axes.lines} == {
        to_rgb(plots.line_style("maxrl").color)
    }
    assert all(one.get_linewidth() < line.get_linewidth() / 2 for one in thin)
    plt.close(figure)


def test_labels_at_the_ends_of_lines_are_moved_apart_and_stay_in_order():
    figure, (left, _) = plots.panels(columns=2)
    left.set_ylim(0, 1)
    heights = {"maxrl": 0.5, "grpo": 0.51, "rloo": 0.52, "pacs": 0.9}
    looks = {name: plots.line_style(name) for name in heights}
    plots.label_ends(left, [(looks[name].label, heights[name], looks[name]) for name in heights])
    assert picture_checks.words_astray(figure) == []
    places = {text.get_text(): text.get_window_extent().y0 for text in left.texts}
    assert sorted(places, key=places.get) == ["MaxRL", "GRPO", "RLOO", "PACS"]
    alone = left.transData.transform((0, 0.9))[1]
    (box,) = (text.get_window_extent() for text in left.texts if text.get_text() == "PACS")
    assert (box.y0 + box.y1) / 2 == pytest.approx(alone, abs=1.5)
    plt.close(figure)


# --- Saving -------------------------------------------------------------------------------------


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


TABLE = pd.DataFrame({"p": [0.1, 0.2], "w": [1 / 3, 2.0]})


def draw_and_save(
    name: str = "one", caption: str = "A\n   caption.", found: Results | None = None
) -> None:
    figure, axes = plots.panels()
    axes.plot(TABLE["p"], TABLE["w"], label="w")
    axes.legend()
    plots.save(figure, name, TABLE, caption, found)


def test_a_figure_is_saved_with_its_data_and_where_it_comes_from(folders):
    draw_and_save()
    out = folders / "figures"
    assert sorted(str(path.relative_to(out)) for path in files_in(out)) == [
        "one.csv",
        "one.json",
        "one.pdf",
        "one.png",
        "one.tex",
        "provenance/one.json",
    ]
    assert (out / "one.csv").read_text() == "p,w\n0.1,0.3333333333\n0.2,2\n"
    assert (out / "one.pdf").read_bytes().startswith(b"%PDF") and (out / "one.png").read_bytes()[
        1:4
    ] == b"PNG"
    told = json.loads((out / "one.json").read_text())
    assert (
        told["figure"] == "one"
        and told["caption"] == "A caption."
        and told["command"] == "lab figures one"
    )
    assert told["data"] == "one.csv" and told["runs"] == {}
    assert told["data_sha256"] == hashlib.sha256((out / "one.csv").read_bytes()).hexdigest()
    origin = json.loads((out / "provenance" / "one.json").read_text())
    assert {"python", "numpy", "matplotlib"} <= set(origin["versions"])
    assert origin["commit"] is None or re.fullmatch(r"[0-9a-f]{40}(\+changes)?", origin["commit"])


def trained() -> tuple[list, Results]:
    runs = [train(configure("tabular", scale="smoke", seed=seed)) for seed in (1, 0)]
    facts = {
        run.id: {"params": run.params, "provenance": run.provenance, "seconds": run.done["seconds"]}
        for run in runs
    }
    return runs, Results(
        pd.concat([run.table() for run in runs]),
        pd.concat([run.with_parameters(run.groups().query("step == step.max()")) for run in runs]),
        facts,
    )


def test_a_figure_names_the_runs_behind_it(folders):
    runs, found = trained()
    draw_and_save(found=found)
    told = json.loads((folders / "figures" / "one.json").read_text())["runs"]
    origins = json.loads((folders / "figures" / "provenance" / "one.json").read_text())["runs"]
    assert list(told) == list(origins) == sorted(run.id for run in runs)
    for run, command in zip(runs, ("scale=smoke seed=1", "scale=smoke"), strict=True):
        assert told[run.id] == {
            "scale": "smoke",
            "seed": run.params["parameters"]["seed"],
            "command": f"lab train tabular {command}",
        }
        assert origins[run.id] == run.provenance | {"seconds": run.done["seconds"]}


def test_the_caption_is_escaped_and_states_scale_seeds_n_and_intervals(folders):
    runs, found = trained()
    table = pd.DataFrame({"low": [0.1, 0.2, np.nan], "seeds": [2, 3, 1]})
    figure, _ = plots.panels()
    plots.save(figure, "one", table, "Half of a_b & 50%.", found)
    problems = runs[0].params["parameters"]["problems"]
    assert (
        rf"\caption{{Half of a\_b \& 50\%. Scale: smoke. Runs: 2. Seeds: 0, 1. n: {problems}"
        " problems a run. Rows drawn: 3, 2 with an interval, over 2 or 3 seeds.}"
    ) in (folders / "figures" / "one.tex").read_text()


@pytest.mark.parametrize("venue, widths", plots.VENUES.items())
def test_a_figure_has_the_widths_of_its_venue(folders, venue, widths):
    assert plots.draw_figures(["weights", "finite"], venue) == {}
    out = folders / "figures" / ("" if venue == "icml" else venue)
    for name, width in zip(
        ("weights", "finite"), widths, strict=True
    ):  # one column, and the width of the text
        box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ", (out / f"{name}.pdf").read_bytes())
        assert float(box[1]) == pytest.approx(72 * width, abs=0.01)
        spans_columns = venue == "icml" and width == plots.PAGE
        assert ("figure*" in (out / f"{name}.tex").read_text()) == spans_columns


def test_an_unknown_venue_is_refused_with_the_nearest(folders):
    with pytest.raises(LabError, match="unknown venue 'icmll': did you mean 'icml'?"):
        plots.draw_figures(["weights"], "icmll")
    assert not (folders / "figures").exists()


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
        monkeypatch.setattr(plots, "commit_of", lambda *_: commit)
        monkeypatch.setattr(plots, "versions", lambda: {"numpy": commit})
        assert plots.draw_figures(["maze_walks"]) == {}
        return {path: path.read_bytes() for path in files_in(out) if path.parent == out}

    assert draw("a" * 40, "one processor", 1.5) == draw("b" * 40, "another", 99.0)
    assert "another" in (out / "provenance" / "maze_walks.json").read_text()


def test_figures_go_where_the_variable_says_and_otherwise_into_the_project(monkeypatch):
    monkeypatch.delenv("LAB_FIGURES")
    assert plots.out_folder() == plots.ROOT / "figures" / "out"
