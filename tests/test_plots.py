"""House style: one line style an objective, told apart in grey; figures saved with their data."""

import hashlib
import itertools
import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import copy

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from picture_checks import lightness

import lab
from lab.errors import LabError
from lab.papers import pages
from lab.runs import Results, configure, results, train
from lab.show import plots

FAMILIES = {
    "RL": ("rl", "rloo", "reinforce_mean"),
    "GRPO": ("arcsine", "grpo"),
    "MaxRL": ("maxrl", "truncated"),
    "ML": ("ml",),
    "PACS": ("log_odds", "pacs_anchor", "pacs"),
    "PKPO": ("pkpo",),
    "drawn": ("from_weight",),
}


SAME = [
    {"rl", "rloo"},
    {"arcsine", "grpo"},
    {"maxrl", "truncated"},
    {"log_odds", "pacs_anchor", "pacs"},
]
DIFFERENT = [
    pair
    for pair in itertools.combinations(plots.LINE_STYLES, 2)
    if not any(set(pair) <= names for names in SAME)
]


def test_a_lifted_estimator_looks_like_its_own_under_its_own_label():
    own, lifted = plots.line_style("maxrl"), plots.line_style("lift(maxrl)")
    assert lifted == own._replace(label="lifted MaxRL")
    assert plots.line_style("lift(pkpo(k=4), low=0, high=1)").label == "lifted PKPO k=4"


@pytest.mark.parametrize(
    "multiple, base, label",
    [
        ("0.25*log_odds", "log_odds", "0.25 log-odds"),
        ("2 * ml", "ml", "2 ML"),
        ("ml * 2", "ml", "2 ML"),
        ("ml * -0.5", "ml", "-0.5 ML"),
        ("2 * ml * 3", "ml", "3 (2 ML)"),
        ("2 * pass_at(k=4)", "pass_at(k=4)", "2 pass@4"),
        ("pass_at(k=4) * 2", "pass_at(k=4)", "2 pass@4"),
        ("2 * (rl + ml)", "rl + ml", "2 (RL + ML)"),
        ("(rl + ml) * 2", "rl + ml", "2 (RL + ML)"),
    ],
)
def test_a_multiple_looks_like_what_it_multiplies_in_either_order(multiple, base, label):
    assert plots.line_style(multiple) == plots.line_style(base)._replace(label=label)


def test_a_mixture_looks_like_none_of_its_parts():
    mixture = plots.line_style("rl + 0.5 * ml")
    assert mixture.label == "RL + 0.5 ML"
    assert mixture[1:] not in [plots.line_style(name)[1:] for name in ("rl", "ml")]
    with pytest.raises(LabError, match="unknown objective 'mll'"):
        plots.line_style("rl + mll")
    with pytest.raises(LabError, match="cannot read 'ml \\* rl'"):
        plots.line_style("ml * rl")


def test_every_look_is_of_something_in_the_catalogue():
    aliases = {"pacs_anchor"}  # in recorded runs
    known = {*lab.estimator_names(), *lab.objective_names(), *aliases}
    assert set(plots.LINE_STYLES) - {"from_weight"} <= known


def test_one_colour_a_family_and_one_family_a_colour():
    colors = {
        family: {plots.LINE_STYLES[name].color for name in names}
        for family, names in FAMILIES.items()
    }
    assert all(len(found) == 1 for found in colors.values())
    assert len(set.union(*colors.values())) == len(FAMILIES)


def test_two_looks_differ_in_dash_or_marker_so_that_grey_is_enough():
    for a, b in DIFFERENT:
        look, other = plots.LINE_STYLES[a], plots.LINE_STYLES[b]
        assert look.label != other.label and (look.dash, look.marker) != (
            other.dash,
            other.marker,
        ), (a, b)


def test_lines_without_marks_differ_in_dash_or_in_lightness():
    for a, b in DIFFERENT:
        look, other = plots.LINE_STYLES[a], plots.LINE_STYLES[b]
        assert look.dash != other.dash or abs(lightness(look.color) - lightness(other.color)) > 8, (
            a,
            b,
        )


def test_every_colour_stands_out_from_white():
    assert {name for name, look in plots.LINE_STYLES.items() if lightness(look.color) > 75} == set()


def test_an_objective_and_the_estimator_that_tends_to_it_look_alike():
    for names in SAME:
        assert len({plots.LINE_STYLES[name]._replace(label="") for name in names}) == 1
    assert plots.line_style("grpo(ddof=1)") == plots.line_style("grpo") and plots.line_style(
        "truncated(order=8)"
    ) == plots.line_style("maxrl")


def test_a_name_without_a_look_is_refused_with_the_nearest():
    with pytest.raises(LabError, match="unknown estimator 'grop': did you mean 'grpo'?"):
        plots.line_style("grop")


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


def test_figures_are_as_wide_as_a_column_or_the_page_of_the_paper():
    for width in (plots.COLUMN, plots.PAGE):
        figure, axes = plots.panels(columns=3, width=width)
        assert figure.get_size_inches()[0] == width and axes.shape == (3,)
        plt.close(figure)
    assert (plots.COLUMN, plots.PAGE) == (3.25, 6.75)


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
        "one.txt",
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


def test_the_caption_file_states_scale_seeds_and_n_and_where_the_rest_is(folders):
    runs, found = trained()
    draw_and_save(found=found)
    text = (folders / "figures" / "one.txt").read_text()
    problems = runs[0].params["parameters"]["problems"]
    assert text.startswith("A caption.\n") and text.endswith("\nDrawn by lab figures one.\n")
    for words in (
        "Scale: smoke.",
        "Runs: 2.",
        "Seeds: 0, 1.",
        f"n: {problems} problems a run.",
        "provenance/one.json",
        "data/results",
    ):
        assert words in text, words
    draw_and_save()
    assert "formulas and no runs" in (folders / "figures" / "one.txt").read_text()


def test_the_caption_file_counts_the_intervals_in_the_rows_drawn(folders):
    _, found = trained()
    table = pd.DataFrame({"low": [0.1, 0.2, np.nan], "seeds": [2, 3, 1]})
    figure, axes = plots.panels()
    plots.save(figure, "one", table, "A caption.", found)
    text = (folders / "figures" / "one.txt").read_text()
    assert "Rows drawn: 3, 2 with an interval, over 2 or 3 seeds." in text
    draw_and_save(found=found)
    assert "Rows drawn" not in (folders / "figures" / "one.txt").read_text()


def test_the_caption_for_latex_is_escaped_and_belongs_to_the_picture(folders):
    draw_and_save(caption="Half of a_b & 50%.")
    text = (folders / "figures" / "one.tex").read_text()
    assert text.splitlines() == [
        r"\begin{figure}[t]",
        r"\centering",
        r"\includegraphics{one.pdf}",
        r"\caption{Half of a\_b \& 50\%. Scale: none, formulas and no runs. Seeds: none. n: none."
        r" Device: any.}",
        r"\label{fig:one}",
        r"\end{figure}",
    ]


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


def test_drawing_on_another_machine_and_day_leaves_the_repository_clean(
    folders, tmp_path, monkeypatch
):
    """What git tracks of a figure and of the pages does not change with commit, device or time."""

    def git(*words: str) -> str:
        author = ("-c", "user.name=lab", "-c", "user.email=lab@example.org")
        command = ["git", "-C", str(tmp_path), *author, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def draw_all(commit: str, device: str, seconds: float) -> None:
        recorded = results("maze", "maze")
        origin = {"commit": commit, "device": device, "command": "as typed"}
        runs = {
            id: run | {"provenance": run["provenance"] | origin, "seconds": seconds}
            for id, run in recorded.runs.items()
        }
        monkeypatch.setattr("lab.runs.results", lambda *_: replace(recorded, runs=runs))
        monkeypatch.setattr(plots, "commit_of", lambda *_: commit)
        monkeypatch.setattr(plots, "versions", lambda: {"numpy": commit})
        assert plots.draw_figures(["maze_walks", "weights"]) == {}
        pages.write()

    shown = [item for item in pages.items() if "maze_walks" in item.figures]
    monkeypatch.setattr(pages, "items", lambda: shown)
    monkeypatch.setattr(pages, "own_claims", list)  # they are computed from other records
    git("init", "--quiet")
    copy(plots.ROOT / ".gitignore", tmp_path)
    out = tmp_path / "figures" / "out"
    monkeypatch.setenv("LAB_FIGURES", str(out))
    draw_all("a" * 40, "one processor", 1.5)
    git("add", ".")
    git("commit", "--quiet", "--message", "drawn")
    tracked = git("ls-files").split()
    assert {"figures/out/maze_walks.json", "figures/out/index.html"} <= set(tracked)
    draw_all("b" * 40, "another", 99.0)
    assert git("status", "--porcelain") == ""
    assert "another" in (out / "provenance" / "maze_walks.json").read_text()
    assert "maze/maxrl-seed0" in (out / "index.html").read_text()


def test_a_saved_figure_is_closed():
    before = len(plt.get_fignums())
    draw_and_save()
    assert len(plt.get_fignums()) == before


def test_no_file_of_a_figure_holds_a_date_or_a_path(folders):
    draw_and_save()
    for path in files_in(folders / "figures"):
        content = path.read_bytes()
        assert b"CreationDate" not in content
        assert str(plots.ROOT).encode() not in content and str(folders).encode() not in content


def test_figures_go_where_the_variable_says_and_otherwise_into_the_project(monkeypatch):
    monkeypatch.delenv("LAB_FIGURES")
    assert plots.out_folder() == plots.ROOT / "figures" / "out"
