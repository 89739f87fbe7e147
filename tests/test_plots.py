"""House style: one line style an objective, told apart in grey; figures saved with their data."""

import hashlib
import itertools
import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

import lab
from lab.errors import LabError
from lab.runs import Results, configure, train
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


def lightness(color: str) -> float:
    """CIE L*, 0 to 100: what is left of a colour in grey."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    Y = float(np.dot([0.2126, 0.7152, 0.0722], linear))
    return 116 * Y ** (1 / 3) - 16 if Y > 0.008856 else 903.3 * Y


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


def test_a_band_is_a_line_and_a_fill_in_one_look():
    figure, axes = plots.panels()
    plots.band(axes, [0, 1], [0, 0], [1, 2], [3, 3], "maxrl")
    (line,), (fill,) = axes.lines, axes.collections
    assert line.get_label() == "MaxRL" and list(line.get_ydata()) == [1, 2]
    assert (
        to_rgb(line.get_color())
        == to_rgb(plots.line_style("maxrl").color)
        == tuple(fill.get_facecolor()[0][:3])
    )
    plt.close(figure)


def test_figures_are_as_wide_as_a_column_or_the_page_of_the_paper():
    for width in (plots.COLUMN, plots.PAGE):
        figure, axes = plots.panels(columns=3, width=width)
        assert figure.get_size_inches()[0] == width and axes.shape == (3,)
        plt.close(figure)
    assert (plots.COLUMN, plots.PAGE) == (3.25, 6.75)


# --- Saving -------------------------------------------------------------------------------------

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
    assert sorted(path.name for path in out.iterdir()) == [
        "one.csv",
        "one.json",
        "one.pdf",
        "one.png",
        "one.txt",
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
    assert {"python", "numpy", "matplotlib"} <= set(told["versions"])
    assert told["data_sha256"] == hashlib.sha256((out / "one.csv").read_bytes()).hexdigest()
    assert told["commit"] is None or re.fullmatch(r"[0-9a-f]{40}(\+changes)?", told["commit"])


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
    assert list(told) == sorted(run.id for run in runs)
    for run in runs:
        assert told[run.id] == {
            "commit": run.provenance["commit"],
            "device": run.provenance["device"],
            "command": run.provenance["command"],
            "seed": run.params["parameters"]["seed"],
            "scale": "smoke",
            "seconds": run.done["seconds"],
        }


def test_the_caption_file_states_scale_seeds_n_device_and_commit(folders):
    runs, found = trained()
    draw_and_save(found=found)
    text = (folders / "figures" / "one.txt").read_text()
    problems = runs[0].params["parameters"]["problems"]
    assert text.startswith("A caption.\n") and "lab figures one at commit " in text
    for words in (
        "Scale: smoke.",
        "Runs: 2.",
        "Seeds: 0, 1.",
        f"n: {problems} problems a run.",
        f"Device: {runs[0].provenance['device']}.",
        f"made at commit {runs[0].provenance['commit']}.",
    ):
        assert words in text, words
    draw_and_save()
    assert "formulas and no runs" in (folders / "figures" / "one.txt").read_text()


@pytest.mark.parametrize("venue, widths", plots.VENUES.items())
def test_a_figure_has_the_widths_of_its_venue(folders, venue, widths):
    assert plots.draw_figures(["weights", "finite"], venue) == {}
    out = folders / "figures" / ("" if venue == "icml" else venue)
    for name, width in zip(
        ("weights", "finite"), widths, strict=True
    ):  # one column, and the width of the text
        box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ", (out / f"{name}.pdf").read_bytes())
        assert float(box[1]) == pytest.approx(72 * width, abs=0.01)


def test_an_unknown_venue_is_refused_with_the_nearest(folders):
    with pytest.raises(LabError, match="unknown venue 'icmll': did you mean 'icml'?"):
        plots.draw_figures(["weights"], "icmll")
    assert not (folders / "figures").exists()


def test_the_same_inputs_give_the_same_bytes(folders):
    out = folders / "figures"
    draw_and_save()
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    plt.rcParams.update({"font.size": 20, "lines.linewidth": 9})  # whatever was set before
    draw_and_save()
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first


def test_a_saved_figure_is_closed():
    before = len(plt.get_fignums())
    draw_and_save()
    assert len(plt.get_fignums()) == before


def test_no_file_of_a_figure_holds_a_date_or_a_path(folders):
    draw_and_save()
    for path in (folders / "figures").iterdir():
        content = path.read_bytes()
        assert b"CreationDate" not in content
        assert str(plots.ROOT).encode() not in content and str(folders).encode() not in content


def test_figures_go_where_the_variable_says_and_otherwise_into_the_project(monkeypatch):
    monkeypatch.delenv("LAB_FIGURES")
    assert plots.out_folder() == plots.ROOT / "figures" / "out"
