import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from lab.cli import main
from lab.errors import LabError
from lab.mathematics import forecast
from lab.mathematics.forecast import LOG_ODDS, P, fit
from lab.project import CHECKOUT
from lab.runs import Run, configure, train, training
from lab.runs.progress import say
from lab.show.forecast import Watch, draw, mean_draws, measured, visits_of
from lab.show.forecast import forecast as report


def simulated(problems=150, visits=24, n=8, shift=0.1, spread=0.15, seed=0):
    """Counts of a training whose log-odds move by the model, all problems alike."""
    draws = np.random.default_rng(seed)
    x = draws.normal(-1, 1.5, problems)
    right = np.empty((problems, visits), int)
    for visit in range(visits):
        right[:, visit] = draws.binomial(n, 1 / (1 + np.exp(-x)))
        outward = spread**2 * (1 / (1 + np.exp(-x)) - 0.5)
        x = x + shift + outward + spread * draws.normal(size=problems)
    return np.full_like(right, n), right


def table(n, right):
    problem, visit = np.indices(n.shape)
    columns = {"problem": problem, "step": visit, "n": n, "n_correct": right}
    return pd.DataFrame({name: of.ravel() for name, of in columns.items()})


def test_the_filter_is_the_sum_over_all_paths(monkeypatch):
    """Three visits of two problems on five points, by enumeration of every path of x."""
    monkeypatch.setattr(forecast, "LOG_ODDS", np.linspace(-2, 2, 5))
    monkeypatch.setattr(forecast, "P", 1 / (1 + np.exp(-forecast.LOG_ODDS)))
    right = np.array([[0, 1, 2], [1, 1, 0]])
    chance, cell = forecast.chances(np.full_like(right, 2), right)
    start, drift, spread, shifts = np.full(5, 0.2), np.ones(5), 0.6, np.array([0.3, -0.2])
    likelihood, mass, *_ = forecast.filtered(cell, chance, start, drift, spread, shifts)
    moves = [forecast.move(shift, drift, spread) for shift in shifts]
    first, last = np.zeros((2, 5)), np.zeros((2, 5))
    for path in itertools.product(range(5), repeat=3):
        step = start[path[0]] * moves[0][path[0], path[1]] * moves[1][path[1], path[2]]
        for problem in range(2):
            joint = step * np.prod(chance[cell[problem], path])
            first[problem, path[0]] += joint
            last[problem, path[2]] += joint
    assert likelihood == pytest.approx(np.log(last.sum(axis=1)).sum(), abs=1e-10)
    np.testing.assert_allclose(mass, last / last.sum(axis=1, keepdims=True), atol=1e-12)
    back = start * forecast.backward(cell, chance, drift, spread, shifts)
    ratios = first / back  # one factor for each problem
    np.testing.assert_allclose(ratios, ratios[:, :1] * np.ones(5), rtol=1e-9)


def test_a_pass_rate_without_a_shift_is_a_martingale():
    move = forecast.move(0.0, np.ones(len(P)), 0.27)
    inner = np.abs(LOG_ODDS) < 6
    np.testing.assert_allclose((move @ P)[inner], P[inner], atol=1e-3)


def test_later_visits_of_simulated_trainings_are_covered():
    """90% of the integral transform, and the mean curve at the end in 5 of 6 trainings or more."""
    covered, inside = [], 0
    for seed in range(6):
        n, right = simulated(seed=seed)
        for later in fit(n[:, :10], right[:, :10]).later(14):
            chance = later.mass @ binom.pmf(np.arange(9), 8, P[:, None])
            at = np.arange(len(n)), right[:, later.visit - 1]
            upper, each = chance.cumsum(axis=1)[at], chance[at]
            share = (np.minimum(upper, 0.95) - np.maximum(upper - each, 0.05)) / each
            covered.append(np.maximum(share, 0).mean())
        draws = mean_draws(later.mass, later.population @ P, n[:, -1])
        low, high = np.quantile(draws, (0.05, 0.95))
        inside += low <= right[:, -1].mean() / 8 <= high
    assert np.mean(covered) == pytest.approx(0.9, abs=0.03)
    assert inside >= 5


def test_the_weight_of_the_recipe_is_found_where_it_moves_the_problems():
    draws = np.random.default_rng(1)
    x, right = draws.normal(-1, 2, 200), []
    for _ in range(10):
        p = 1 / (1 + np.exp(-x))
        right.append(draws.binomial(16, p))
        x = x + 2 * p * (1 - p)  # RLOO: w = 1
    right = np.stack(right, axis=1)
    assert fit(np.full_like(right, 16), right, "rloo").weighted
    n, right = simulated()
    assert not fit(n, right, "rloo").weighted


def test_visits_are_in_the_order_of_steps_and_may_be_ragged():
    n, right = visits_of(
        np.array([7, 7, 3, 3, 3]), np.array([10, 9, 1, 2, 3]), np.array([4, 8, 4, 4, 4]),
        np.array([1, 2, 0, 1, 2]),
    )  # fmt: skip
    assert n.tolist() == [[4, 4], [8, 4]] and right.tolist() == [[0, 1], [2, 1]]


def test_a_report_of_a_file_with_mixed_sizes(tmp_path):
    n, right = simulated(problems=40, visits=6)
    n[::2], right[::2] = 4, right[::2] // 2
    table(n, right).to_csv(tmp_path / "training.csv", index=False)
    found = report(tmp_path / "training.csv", ahead=3, rollouts=4)
    assert found.table["visit"].max() == 9 and "not known" in found.lines()[-1]
    assert found.stop is None and "go on" not in "".join(found.lines())
    later = found.table[found.table["visit"] > 6]
    assert (later["low"] <= later["mean"]).all() and (later["mean"] <= later["high"]).all()
    rows = pd.DataFrame(json.loads(found.json())["problems"])
    assert rows["n"].sum() == n.sum() and rows["right"].sum() == right.sum() and len(rows) == 40
    assert ((rows["low"] <= rows["high"]) & (rows["high"] <= 4) & (rows["none"] <= 1)).all()
    assert ((rows["none"] > 0.05) == (rows["low"] == 0)).mean() > 0.95


def test_the_rule_stops_where_the_gain_that_is_left_is_small(tmp_path):
    """A training that has ended and one that still rises; the rest is where the chance says."""
    still, rising = tmp_path / "still.csv", tmp_path / "rising.csv"
    table(*simulated(shift=0.0, spread=0.05, visits=12)).to_csv(still, index=False)
    table(*simulated(shift=0.15, spread=0.05, visits=12)).to_csv(rising, index=False)
    ended, goes_on = report(still, ahead=3, least=0.05), report(rising, ahead=6, least=0.05)
    assert ended.stop and "stop: no gain above 0.05" in "\n".join(ended.lines())
    assert not goes_on.stop and "go on: " in "\n".join(goes_on.lines())
    told = json.loads(ended.json())["stop"]
    assert told == {"least": 0.05, "gain": ended.gain, "stop": True} and ended.gain <= 0.05
    assert report(still, ahead=3, least=ended.gain - 1e-6).stop is False
    with pytest.raises(LabError, match="stop_when = 2"):
        report(still, least=2.0)


def test_what_is_told_of_the_measurement_is_what_the_page_says():
    page = (CHECKOUT / "docs" / "forecast.md").read_text(encoding="utf-8")
    again = page.split("<!-- again -->")[1].split("<!-- end -->")[0]
    inside = re.findall(r"\| (\d+%) \| lab forecast \|.* (\d+ of \d+) \| \d+ of \d+ \|", again)
    assert len(inside) == 3
    assert all(f"{held} after {part} of the visits" in measured()["held"] for part, held in inside)
    rule = page.split("<!-- stopping -->")[1]
    for least, stopped, gained in re.findall(
        r"\| again \| (\S+) \| (\d+) of \d+ \| (\d+) \|", rule
    ):
        assert f"with {least} {stopped}, of which {gained} gained more" in measured()["stopped"]


def test_a_training_tells_its_fan_to_the_end_and_is_what_it_is_without(runs, capsys):
    """Of a run that computes its pass rates groups are drawn, as it would sample."""
    given = {"estimator": "rloo", "steps": 40, "log_every": 10, "problems": 60, "scale": "smoke"}
    plain = train(configure("tabular", **given)).table()
    words = [f"{key}={value}" for key, value in given.items()]
    assert main(["--runs", str(runs / "watched"), "train", "tabular", *words, "--forecast"]) == 0
    said = capsys.readouterr().out
    told = re.findall(r"│.* at visit (\d), forecast .* at visit (\d)", said)
    assert told == [("4", "5")] and said.count("the rest is not known before visit 4") == 2
    assert said.count("no forecast yet: ") == 1  # before the second visit
    (path,) = (runs / "watched" / "tabular").iterdir()
    pd.testing.assert_frame_equal(Run(path).table(), plain)


def test_groups_are_written_for_a_forecast_only_while_it_has_time(runs, monkeypatch):
    wrote, write = [], training._write_groups
    monkeypatch.setattr("lab.show.forecast.FREE", 0.0)
    monkeypatch.setattr("lab.show.forecast.OF_TIME", 0.0)
    monkeypatch.setattr(training, "_write_groups", lambda *given: wrote.append(write(*given)))
    given = {"steps": 8, "log_every": 1, "problems": 8, "scale": "smoke"}
    train(configure("tabular", **given), watch=Watch())
    assert len(wrote) == 2  # for the first record, and with the checkpoint at the end


def test_in_a_notebook_the_fan_stands_beside_the_bar():
    from tqdm.notebook import tqdm

    with tqdm(total=2) as bar:
        bar.set_postfix({"pass@1": "0.5"})
        say(bar, "▁▂│▃")
        assert bar.postfix == "pass@1=0.5; ▁▂│▃"


def test_a_file_that_grows_is_followed_until_ctrl_c(tmp_path, capsys, monkeypatch):
    n, right = simulated(problems=40, visits=6)
    path, looks = tmp_path / "training.csv", iter((6, 6))
    table(n[:, :1], right[:, :1]).to_csv(path, index=False)

    def sleep(seconds):
        if (visits := next(looks, None)) is None:
            raise KeyboardInterrupt
        table(n[:, :visits], right[:, :visits]).to_csv(path, index=False)

    monkeypatch.setattr("lab.show.forecast.time.sleep", sleep)
    assert main(["audit", str(path), "--follow"]) == 0
    first, line, again, *audit = capsys.readouterr().out.splitlines()
    assert first.startswith("no forecast yet: ") and len(audit) > 5
    assert line == again == report(path).line() and "at visit 12" in line
    assert main(["audit", str(tmp_path / "none"), "--follow"]) == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: rows.drop(columns="step"), "several rows of counts"),
        (lambda rows: rows[rows["step"] == 0], "have one visit"),
        (lambda rows: rows[(rows["step"] == 0) | (rows["problem"] == 0)], "have one visit"),
        (lambda rows: rows[(rows["problem"] < 20) | (rows["step"] < 3)], "as if chosen"),
        (lambda rows: rows.assign(n_correct=rows["n_correct"].clip(1, 7)), "had been left out"),
        (lambda rows: rows.assign(step="s" + rows["step"].astype(str)), "must be numbers"),
    ],
)
def test_what_cannot_be_forecast_is_refused(tmp_path, change, says):
    change(table(*simulated(problems=40, visits=8))).to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(LabError, match=says):
        report(tmp_path / "bad.csv")


def test_before_the_fourth_visit_the_rest_is_not_known(tmp_path):
    n, right = simulated(problems=40, visits=3)
    table(n, right).to_csv(tmp_path / "short.csv", index=False)
    found = report(tmp_path / "short.csv", least=0.02)
    assert "not known: how it goes on, before 4 visits" in "\n".join(found.lines())
    mean = right[:, -1].mean() / 8
    assert found.line().endswith(f"│ {mean:.3f} at visit 3, the rest is not known before visit 4")
    told = json.loads(found.json())
    assert len(told["numbers"]) == 3 and len(told["not known"]) == 2 and "stop" not in told
    assert {*told["problems"][0]} == {"problem", "n", "right"}
    assert draw(found).axes[0].get_legend_handles_labels()[1] == ["seen", "the rest is not known"]
    with pytest.raises(LabError, match="at most 4 times"):
        report(tmp_path / "short.csv", ahead=13)


@pytest.mark.parametrize("shape", [(1, 5), (5, 1)])
def test_one_visit_or_one_problem_is_refused(shape):
    with pytest.raises(LabError, match="two"):
        fit(np.full(shape, 4), np.ones(shape, int))
