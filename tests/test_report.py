"""A report gathers the runs given, tells what varies, compares on the same problems, and is one
page of its own.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from lab.cli import main
from lab.errors import LabError
from lab.runs import Run, configure, train
from lab.runs.provenance import ROOT
from lab.show import report

SWEEP = """
[[runs]]
experiment = "tabular"
scale = "smoke"
grid = { estimator = ["rloo", "maxrl"], seed = [0, 1] }
"""


@pytest.fixture
def four(runs) -> list[Run]:
    return [
        train(configure("tabular", scale="smoke", estimator=name, seed=seed))
        for name in ("rloo", "maxrl")
        for seed in (0, 1)
    ]


@pytest.fixture
def sweep(tmp_path, four) -> Path:
    (tmp_path / "tiny.toml").write_text(SWEEP)
    return tmp_path / "tiny.toml"


def test_a_sweep_file_and_its_run_folders_gather_the_same_runs(four, sweep):
    by_file, by_folder = report.gather([sweep]), report.gather([run.path for run in four])
    assert set(by_file.runs) == set(by_folder.runs) == {run.id for run in four}
    assert by_file.metrics.equals(by_folder.metrics)


def test_a_recorded_sweep_is_gathered_in_a_fresh_clone():
    found = report.gather([ROOT / "sweeps" / "maze.toml"])
    assert len(found.runs) == 8 and report.settings(found) == ["objective"]


def test_settings_are_what_varies_but_the_seed(four):
    found = report.gather([run.path for run in four])
    assert report.settings(found) == ["objective"]
    assert report.settings(found, "rollouts objective") == ["rollouts", "objective"]
    assert report.settings(found, "rollouts estimator") == ["rollouts", "objective"]
    assert report.settings(report.gather([four[0].path])) == ["objective"]
    with pytest.raises(LabError, match="unknown parameter 'objectiv': did you mean 'objective'"):
        report.settings(found, "objectiv")


def test_the_last_step_is_the_mean_over_seeds_with_its_interval_best_first(four):
    found = report.gather([run.path for run in four])
    table = report.final(report.curves(found, "pass@1", ["objective"]), "pass@1")
    last = {run.params["parameters"]["objective"]: [] for run in four}
    for run in four:
        last[run.params["parameters"]["objective"]].append(run.done["last"]["pass@1"])
    for row in table.itertuples():
        assert row[3] == pytest.approx(np.mean(last[row.setting])) and row.seeds == 2
        low, high = map(float, re.findall(r"[\d.]+", row.interval))
        assert (low, high) == (
            pytest.approx(min(last[row.setting]), abs=1e-3),
            pytest.approx(max(last[row.setting]), abs=1e-3),
        )
    assert table["pass@1"].is_monotonic_decreasing


def test_one_seed_has_no_interval(four):
    found = report.gather([four[0].path])
    assert report.final(report.curves(found, "pass@1", ["objective"]), "pass@1")[
        "interval"
    ].tolist() == ["one seed"]


def test_the_comparison_is_paired_on_the_same_problems_and_seeds(four):
    found = report.gather([run.path for run in four])
    (row,) = report.paired(found, ["objective"], "rloo").itertuples()
    rates = {
        name: part.sort_values(["seed", "problem"])["pass_rate"].to_numpy()
        for name, part in found.groups.groupby("objective")
    }
    assert row[1] == "maxrl" and row[2] == pytest.approx((rates["maxrl"] - rates["rloo"]).mean())
    assert row[4] == pytest.approx(np.mean(np.sign(rates["maxrl"] - rates["rloo"]) / 2 + 0.5))
    assert row.seeds == 2 and row.problems == len(rates["rloo"]) / 2
    with pytest.raises(LabError, match="unknown setting 'maxlr': did you mean 'maxrl'"):
        report.paired(found, ["objective"], "maxlr")


def test_runs_that_do_not_belong_together_are_refused(four, sweep, tmp_path):
    other = train(configure("digits", scale="smoke"))
    with pytest.raises(LabError, match="runs of digits, tabular: a report is on one experiment"):
        report.gather([four[0].path, other.path])
    with pytest.raises(LabError, match="2 paths, the first a sweep file"):
        report.gather([sweep, four[0].path])
    with pytest.raises(LabError, match="laptop.toml trains digits, tabular: name one experiment"):
        report.gather([ROOT / "sweeps" / "laptop.toml"])
    with pytest.raises(LabError, match="unknown trained experiment of tiny.toml 'tabula'"):
        report.gather([sweep], "tabula")
    (four[0].path / "done.json").unlink()
    with pytest.raises(LabError, match=f"{four[0].path} has not finished"):
        report.gather([run.path for run in four])


def test_settings_that_do_not_tell_runs_apart_and_unknown_metrics_are_refused(four):
    found = report.gather([run.path for run in four])
    with pytest.raises(
        LabError, match="runs differ in more than rollouts and the seed: add objective"
    ):
        report.curves(found, "pass@1", ["rollouts"])
    with pytest.raises(LabError, match="unknown metric 'pass@2'"):
        report.curves(found, "pass@2", ["objective"])
    with pytest.raises(LabError, match="unknown metric 'steps'"):
        report.curves(found, "steps", ["objective"])


def test_every_setting_has_a_line_of_its_own_look(four):
    found = report.gather([ROOT / "sweeps" / "laptop.toml"], "tabular")
    (axes,) = report.draw(report.curves(found, "pass@1", report.settings(found)), "pass@1").axes
    looks = {(line.get_color(), str(line._dash_pattern)) for line in axes.lines}
    assert len(axes.lines) == len(looks) == 12


def test_the_command_writes_one_page_with_everything_in_it(
    four, sweep, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("JUPYTER_PATH", "")
    page = tmp_path / "page.html"
    assert main(["report", str(sweep), "--against", "rloo", "--out", str(page)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(page)
    text = page.read_text(encoding="utf-8")
    assert "data:image/png;base64," in text or "image/png" in text
    assert (
        "minus rloo" in text
        and all(run.id in text for run in four)
        and "95% bootstrap intervals" in text
    )
    assert not re.search(r"https?://|<script|@import", text)
    assert str(ROOT) not in text


def test_a_report_is_written_anew_although_it_was_before(four, sweep, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "run_notebook", lambda config: seen.append(config) or place)
    monkeypatch.setattr(report, "_html", lambda notebook: "page")
    seen, place = [], Run(tmp_path / "place")
    place.path.mkdir()
    first = report.report([sweep])
    assert report.report([sweep]) == first and len(seen) == 2
    assert first.read_text() == "page" and not Path(seen[0].sources[0]).is_absolute()


def test_a_path_that_is_not_there_is_refused_with_an_example(refused):
    assert refused("report", "sweeps/none.toml") == (
        "no sweeps/none.toml: give a sweep file, for example sweeps/laptop.toml, or run folders"
    )
