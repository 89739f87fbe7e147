"""What a terminal shows of runs, and what is printed where there is none."""

import json
import os

import pytest
from terminal import Screen, at_terminal

from lab.cli import main
from lab.runs import Run, configure, experiment
from lab.runs.progress import BAR, Board, SweepWatch, Watch, described, lines_of
from lab.runs.sweep_file import read_sweep


def put(run: Run, steps, cut: str = "") -> None:
    """Write metrics.jsonl with a record at each of `steps`, whose pass@1 is a thousandth of it."""
    run.path.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"step": step, "pass@1": step / 1000, "dead": 0.5}) for step in steps]
    (run.path / "metrics.jsonl").write_text("".join(f"{line}\n" for line in lines) + cut)


@pytest.fixture
def config():
    return configure("tabular", scale="smoke", steps=400, log_every=20)


def words(watch: Watch, now: float) -> str:
    watch.look(now)
    return watch.row(now)[1]


def test_the_time_left_is_that_of_the_steps_left_at_the_pace_of_the_records(config):
    watch = Watch(config)
    run = Run.of(config)
    assert words(watch, 0.0) == "starting"
    put(run, [0])
    assert words(watch, 10.0) == "step 0/400, pass@1 0"  # one record tells no pace
    put(run, [0, 100])  # 100 steps in 30 seconds: 300 take 90
    assert words(watch, 40.0) == "step 100/400, pass@1 0.1, 01:30 left"
    assert words(watch, 55.0) == "step 100/400, pass@1 0.1, 01:15 left"
    # The next record is late: nobody knows that its steps are done, and 200 remain.
    assert words(watch, 500.0) == "step 100/400, pass@1 0.1, 01:00 left"
    put(run, [0, 100, 200])  # 200 in 490 seconds
    assert words(watch, 500.0) == "step 200/400, pass@1 0.2, 08:10 left"
    put(run, [0, 100, 200, 400])
    assert words(watch, 501.0) == "step 400/400, pass@1 0.4" and watch.share == 1


def test_what_an_earlier_process_left_tells_no_pace_and_neither_does_a_step_back(config):
    run = Run.of(config)
    put(run, [0, 100, 200])
    watch = Watch(config)
    assert words(watch, 0.0) == "step 200/400, pass@1 0.2" and watch.share == 0.5
    put(run, [0, 100])  # the training goes on from a checkpoint before the last record
    assert words(watch, 50.0) == "step 100/400, pass@1 0.1"
    put(run, [0, 100, 200])
    assert words(watch, 60.0) == "step 200/400, pass@1 0.2, 00:20 left"


def test_a_half_written_line_is_not_read(config):
    put(Run.of(config), [0, 20], cut='{"step": 40, "pass')
    watch = Watch(config)
    assert words(watch, 0.0) == "step 20/400, pass@1 0.02"


def test_of_a_training_with_a_start_the_start_is_shown_until_it_records_itself():
    config = configure("maze", scale="smoke")
    before = experiment("maze").before.part_of(config)
    watch = Watch(config)
    put(Run.of(before), [1])
    assert words(watch, 0.0) == f"start: step 1/{config.start_steps}, pass@1 0.001"
    assert watch.share == 0
    put(Run.of(config), [1])
    assert words(watch, 0.0) == f"step 1/{config.steps}, pass@1 0.001"
    assert watch.share == 1 / config.steps


def test_a_line_names_estimator_and_learning_rate_and_a_narrow_one_goes_without_bar(config):
    assert described(config) == "tabular maxrl, learning rate 0.1"
    assert described(config, ["seed", "estimator"]) == "tabular maxrl, seed 0, learning rate 0.1"
    assert described(configure("weights")) == "weights"
    rows = [(0.25, "step 1/4", "tabular maxrl, learning rate 0.1"), (1.0, "step 12/12", "b, c")]
    wide = lines_of(rows, 80)
    assert [line.index("tabular") for line in wide[:1]] == [line.index("b, c") for line in wide[1:]]
    assert wide[0].startswith(" 25% ") and len(wide[0].split()[1]) == len(wide[1].split()[1]) == BAR
    assert lines_of(rows, 40) == [" 25% step 1/4    tabular maxrl", "100% step 12/12  b, c"]
    assert lines_of(rows, 12) == [" 25% step 1/", "100% step 12"]


FILE = """
[[runs]]
experiment = "tabular"
scale = "smoke"
set = { steps = 400 }
grid = { objective = ["rloo", "maxrl"], seed = [1, 2] }
"""


def test_a_sweep_adds_up_its_runs(tmp_path):
    (tmp_path / "two.toml").write_text(FILE)
    items = read_sweep(tmp_path / "two.toml")
    put(items[1].run, [0, 100])  # was interrupted after a quarter
    watch = SweepWatch("two", items)
    began = watch._began
    for item in items[:2]:
        watch.begin(item)
    put(items[0].run, [0, 200])
    put(items[1].run, [0, 100, 300])
    head, first, second = watch.lines(began + 60, 99)
    # A half of one and a half of the other in a minute; 4 runs less 0.5 and 0.75 remain.
    assert head == "two: 0 of 4 runs, 01:00 so far, about 02:45 left"
    assert first.split("  ")[-1] == "tabular rloo, seed 1, learning rate 0.1"  # all share the steps
    assert "step 300/400, pass@1 0.3" in second and second.startswith(" 75% ")
    items[0].run.finish(1.0)
    watch.end(items[0])
    watch.end(items[1])  # without done.json: it has failed
    watch.end(items[3])  # never begun
    (head,) = watch.lines(began + 60, 99)
    assert head == "two: 1 of 4 runs, 1 failed, 01:00 so far, about 02:00 left"


def test_a_board_draws_over_itself_says_lines_above_and_leaves_nothing(monkeypatch, capsys):
    monkeypatch.setattr("lab.runs.progress.on_terminal", lambda: True)
    monkeypatch.setenv("LINES", "4")
    screen = Screen()
    with Board(lambda now, width: [f"run {place}" for place in range(5)]) as board:
        while not (drawn := capsys.readouterr().err):
            pass
        screen.write(drawn.replace("\n", "\r\n"))  # as a terminal does
        assert screen.lines == ["run 0", "run 1", "... and 3 more"]
        board.say("one is finished")
    screen.write(capsys.readouterr().err.replace("\n", "\r\n"))
    assert screen.lines == ["one is finished", ""]


def test_without_a_terminal_a_run_and_a_sweep_print_whole_lines(command, tmp_path):
    (tmp_path / "two.toml").write_text(FILE.replace("400", "20").replace(", 2]", "]"))
    run = command("run", "tabular", "scale=smoke", "objective=rloo", "seed=9")
    sweep = command("sweep", tmp_path / "two.toml", "--train", "--jobs", 1)
    for done in (run, sweep):
        assert done.returncode == 0, done.stderr
        assert not {"\r", "\x1b", "%", "█"} & set(done.stdout + done.stderr)
    assert run.stderr == "" and "[y/N]" not in run.stdout + sweep.stdout
    made = [item.run for item in read_sweep(tmp_path / "two.toml")]
    assert sweep.stderr.splitlines() == [f"{n} of 2: {run.id}" for n, run in enumerate(made, 1)]
    assert f"report: lab report {tmp_path / 'two.toml'}\n" in sweep.stdout


def test_a_report_names_a_metric_that_the_run_has(capsys, runs):
    words = ["train", "tabular", "scale=smoke"]
    assert main(words) == 0
    (folder,) = (runs / "tabular").iterdir()
    (folder / "done.json").unlink()
    (folder / "metrics.jsonl").write_text('{"step": 20, "mean reward": 0.5}\n')
    Run(folder).finish(1.0)
    capsys.readouterr()
    assert main(words) == 0
    assert f"report: lab report {folder} --metric 'mean reward'\n" in capsys.readouterr().out


def test_of_a_sweep_each_trained_experiment_has_a_report_and_options_are_handed_on(
    tmp_path, capsys
):
    digits = (
        FILE.replace("tabular", "digits").replace("400", "6, log_every = 3").replace("1, 2", "1")
    )
    weights = '[[runs]]\nexperiment = "weights"\nscale = "smoke"\n'
    path = tmp_path / "both.toml"
    path.write_text(FILE.replace("400", "20").replace("1, 2", "1") + digits + weights)
    for item in read_sweep(path):  # as if each had been run
        put(item.run, [20])
        config = experiment(item.experiment).configure(item.scale, item.given)
        item.run.open_for(config).finish(1.0)
    assert main(["--runs", os.environ["LAB_RUNS"], "sweep", str(path)]) == 0
    said = capsys.readouterr().out.splitlines()
    before = f"report: lab --runs {os.environ['LAB_RUNS']} report {path} --experiment"
    assert [line for line in said if line.startswith("report")] == [
        f"{before} tabular",
        f"{before} digits",
    ]


def test_at_a_terminal_a_run_is_seen_to_go_on_and_its_report_is_offered_and_opened(tmp_path, runs):
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    code, seen = at_terminal(
        "run",
        "tabular",
        "scale=smoke",
        answers={"[y/N] ": "y"},
        DISPLAY=":0",
        BROWSER=str(browser),
    )
    (folder,) = (runs / "tabular").iterdir()
    *_, last = seen
    assert code == 0, last
    shown = [line for lines in seen for line in lines]
    start = "  0% ░░░░░░░░░░ starting  tabular maxrl, learning rate 0.1"
    assert any(line.startswith(start) for line in shown), shown
    assert any("cell " in line for line in shown)
    assert not [line for line in last if "░" in line or "█" in line or "WARNING" in line]
    page = next((runs / "report").glob("*/report.html"))
    assert (tmp_path / "opened").read_text() == f"{page.as_uri()}\n"
    place = last.index(f"report: lab report {folder}")
    assert last[place + 1 :] == [
        f"  writes {page}",
        "write and open it now? [y/N] y",
        page.as_uri(),
        "",
    ]


def test_at_a_terminal_without_a_display_nothing_is_offered():
    code, seen = at_terminal("train", "tabular", "scale=smoke")
    assert code == 0 and seen[-1][-2].startswith("  writes ") and seen[-1][-1] == ""
