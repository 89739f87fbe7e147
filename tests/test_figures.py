"""Every figure is drawn again from the recorded runs and judged by its data."""

import json
from dataclasses import replace
from pathlib import Path
from shutil import copy

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import picture_checks
import pytest
from recorded_runs import write_recorded_runs

from lab.cli import main
from lab.project import project
from lab.runs import sweep_results
from lab.show import figure_files

FIGURES = pytest.mark.parametrize("name", figure_files.figure_names())
OUT = figure_files.scripts() / "out"
LAPTOP = project().sweeps / "laptop.toml"


@pytest.fixture(scope="module")
def drawing(tmp_path_factory):
    """(folder, {name: figure}) of all figures, drawn once; no pictures are written of them."""
    out, kept = tmp_path_factory.mktemp("figures"), {}

    def keep(figure, name):
        kept[name] = figure
        plt.close(figure)
        return {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_FIGURES", str(out))
        patch.setattr(figure_files, "picture_files", keep)
        assert figure_files.draw_figures() == {}
    return out, kept


@pytest.fixture(scope="module")
def drawn(drawing):
    """The folder of all figures, drawn once."""
    return drawing[0]


# --- As they lie in the repository --------------------------------------------------------------


@FIGURES
def test_the_data_of_a_figure_are_what_its_script_computes_from_the_recorded_runs(drawn, name):
    kept, now = pd.read_csv(OUT / f"{name}.csv"), pd.read_csv(drawn / f"{name}.csv")
    near = getattr(figure_files.load(name), "AGREES_TO", figure_files.AGREEMENT)
    assert figure_files.agree(kept, now, near), f"its data have changed: lab figures {name}"


@FIGURES
def test_what_is_said_of_a_figure_is_said_of_these_data_and_records(drawn, name):
    kept, now = (json.loads((out / f"{name}.json").read_text()) for out in (OUT, drawn))
    assert kept == now, f"draw it again: lab figures {name}"
    of_runs = hasattr(figure_files.load(name), "records")
    assert bool(now["runs"]) == of_runs
    assert str(Path.home()) not in json.dumps(kept)


def test_the_figures_in_the_repository_are_those_of_the_scripts_and_complete():
    for kind in ("pdf", "png", "csv", "json"):
        assert sorted(path.stem for path in OUT.glob(f"*.{kind}")) == figure_files.figure_names(), (
            kind
        )


@FIGURES
def test_no_words_are_cut_or_meet_and_no_data_are_cut_or_covered(drawing, name):
    assert picture_checks.words_astray(drawing[1][name]) == []


# --- Recorded runs and own ones -----------------------------------------------------------------


def test_in_a_clean_clone_drawing_changes_no_number(folders, runs):
    """Whatever runs there are besides: these have other numbers than the recorded ones."""
    clone = folders / "figures"
    clone.mkdir(parents=True)
    for file in OUT.glob("tabular.*"):
        copy(file, clone)

    def said() -> dict[str, str]:
        kinds = (".csv", ".json")
        return {path.name: path.read_text() for path in clone.iterdir() if path.suffix in kinds}

    def halved(metrics):
        return metrics.assign(**{"hard pass@1": metrics["hard pass@1"] / 2})

    before = said()
    write_recorded_runs(LAPTOP, "tabular", halved)
    assert figure_files.draw_figures(["tabular"]) == {}
    assert said() == before
    assert figure_files.draw_figures(["tabular"], own=True) == {}
    assert said()["tabular.csv"] != before["tabular.csv"]


def test_another_processors_last_digits_change_no_data(folders):
    script, data = figure_files.load("maze_entropy"), folders / "figures" / "maze_entropy.csv"
    now = figure_files.kept_data("maze_entropy", script.table(script.records()))
    before, recorded = data.read_bytes(), script.records()
    for change, redrawn in ((1e-9, False), (1e-3, True)):
        changed = recorded.metrics.assign(entropy=recorded.metrics["entropy"] * (1 + change))
        kept = figure_files.kept_data(
            "maze_entropy", script.table(replace(recorded, metrics=changed))
        )
        assert (data.read_bytes() != before) == redrawn == (not kept.equals(now))


def test_a_column_with_an_infinite_number_hides_no_change_of_the_others():
    table = pd.DataFrame({"N": [np.inf, 8.0], "weight": [1.0, 2.0]})
    assert figure_files.agree(table, table * (1 + 1e-9))
    assert not figure_files.agree(table, table.assign(N=[np.inf, 9.0]))
    assert not figure_files.agree(table, table.assign(N=[7.0, 8.0]))
    assert not figure_files.agree(table, table.assign(weight=["1", "2"]))
    assert not figure_files.agree(table, table[:1]) and not figure_files.agree(table, table[["N"]])


# --- Refusals -----------------------------------------------------------------------------------


def test_figures_without_recorded_runs_are_refused_by_a_sentence_and_the_others_drawn(
    capsys, folders, monkeypatch
):
    monkeypatch.setattr(sweep_results, "recorded_folder", folders.joinpath)
    assert main(["figures", "tabular", "weights", "digits"]) == 1
    said = capsys.readouterr()
    assert said.err.splitlines() == [
        f"lab: figure {name} not drawn: no runs of {name} are recorded for sweeps/laptop.toml: run"
        " lab sweep sweeps/laptop.toml --train, then lab record sweeps/laptop.toml"
        for name in ("tabular", "digits")
    ]
    assert said.out == f"weights: {folders / 'figures' / 'weights'}.pdf\n"
    written = [path for path in (folders / "figures").rglob("*") if path.is_file()]
    assert {path.stem for path in written} == {"weights"}


def test_a_figure_with_one_own_run_missing_is_refused(runs, capsys):
    write_recorded_runs(LAPTOP, "digits")
    next(runs.rglob("done.json")).unlink()
    assert main(["figures", "--own", "digits"]) == 1
    assert capsys.readouterr().err == (
        "lab: figure digits not drawn: 1 of 35 runs of digits in sweeps/laptop.toml have not"
        " finished: run lab sweep sweeps/laptop.toml --train\n"
    )


def test_an_unknown_figure_is_refused_before_any_is_drawn(refused, folders):
    assert refused("figures", "weights", "weigths").startswith(
        "unknown figure 'weigths': did you mean 'weights'?"
    )
    assert not (folders / "figures").exists()
