"""The command: help, exit codes, what it prints, what it refuses."""

import os
import re
import subprocess
import sys
from importlib import import_module, metadata

import pytest

import rlvr_lab
from lab.cli import main
from lab.runs import experiments
from lab.runs.experiments import experiment

VERBS = ("run", "train", "sweep", "figures", "check", "explain")


def test_help_names_every_command_and_every_command_has_help(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    said = capsys.readouterr().out
    assert all(re.search(rf"^    {verb} ", said, re.M) for verb in VERBS) and "--runs" in said
    for verb in VERBS:
        with pytest.raises(SystemExit, match="0"):
            main([verb, "--help"])
        assert f"usage: lab {verb}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["trian"],
        ["train", "--fast"],
        ["sweep"],
        ["sweep", "a.toml", "--jobs", "two"],
        ["explain", "rloo", "--rollouts", "x"],
    ],
)
def test_a_wrong_call_exits_with_two_and_the_usage(words, capsys, runs):
    with pytest.raises(SystemExit) as exit:
        main(words)
    said = capsys.readouterr()
    assert exit.value.code == 2 and said.err.startswith("usage: lab") and not runs.exists()


@pytest.mark.parametrize("verb", ["run", "train"])
def test_without_a_name_all_experiments_are_listed_with_their_questions(verb, capsys, runs):
    assert main([verb]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == experiments()
    assert all(experiment(line.split()[0]).title in line and line.endswith("?") for line in lines)
    assert not runs.exists()


def test_show_prints_values_and_meanings_of_the_scale_and_runs_nothing(capsys, runs):
    assert main(["run", "digits", "scale=smoke", "seed=4", "--show"]) == 0
    said = capsys.readouterr().out
    assert "scales: smoke, laptop; here smoke" in said and "seed = 4" in said
    for key, rule in experiment("digits").rules.items():
        assert re.search(rf"^  {key} = .+ {re.escape(rule.help)}$", said, re.M)
    assert not runs.exists()


def test_train_prints_values_rules_result_and_place_and_does_it_once(capsys, runs):
    words = ["train", "tabular", "scale=smoke", "estimator=grpo", "rollouts=8"]
    assert main(words) == 0
    said = capsys.readouterr().out
    (folder,) = (runs / "tabular").iterdir()
    assert said.startswith("tabular: Softmax problems") and "  rollouts = 8\n" in said
    assert (
        "  rules: group of one: error; all wrong: zero; all right: zero; zero mean in every group,"
        " eps 0, ddof 0" in said
    )
    assert re.search(r"  pass@1: 0\.\d+\n", said) and re.search(
        rf"finished in \d+\.\d+ s: {folder}\nreport: lab report {folder}\n$", said
    )
    before = (folder / "done.json").stat().st_mtime_ns
    assert main(words) == 0
    again = capsys.readouterr().out
    said = re.sub(r"step \d+/20: .*\n", "", said)  # where there is no terminal
    assert again.replace("already finished, nothing trained; its last record:\n", "") == said
    assert again != said
    assert (folder / "done.json").stat().st_mtime_ns == before


def test_runs_are_kept_where_the_option_says(tmp_path, monkeypatch, runs, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["--runs", "here", "train", "tabular", "scale=smoke"]) == 0
    assert len(list((tmp_path / "here" / "tabular").glob("*/done.json"))) == 1 and not runs.exists()


def test_ctrl_c_exits_with_130_and_says_how_to_go_on(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("lab.show.explain.explain", interrupt)
    assert main(["explain", "rloo"]) == 130
    assert capsys.readouterr().err == "lab: stopped; the same command goes on from here\n"


def test_a_fault_of_the_program_is_not_dressed_up_as_a_refusal(monkeypatch):
    def fault(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("lab.show.explain.explain", fault)
    with pytest.raises(ZeroDivisionError):
        main(["explain", "rloo"])


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["explain", "maxlr"], "unknown estimator or objective 'maxlr': did you mean 'maxrl'?"),
        (
            ["explain", "rloo", "--rollouts", "1"],
            "rloo needs groups of at least 2 rollouts, found N = 1",
        ),
        (["explain", "truncated"], "estimator 'truncated' needs order: write truncated(order=...)"),
        (["explain", "grpo(ddof=2)"], "ddof = 2: it must be one of 0, 1"),
        (["figures", "weigths"], "unknown figure 'weigths': did you mean 'weights'?"),
        (["eval", "m", "aime2024", "temprature=1"], "did you mean 'temperature'?"),
        (["run", "tabular", "tabular"], "cannot read 'tabular': write key=value"),
    ],
)
def test_a_refusal_is_one_line_and_exit_code_one(refused, words, sentence):
    assert sentence in refused(*words)


def test_training_what_trains_nothing_is_refused_without_a_folder(capsys, runs):
    assert main(["train", "weights", "scale=smoke"]) == 1 and not runs.exists()
    assert capsys.readouterr().err == "lab: weights trains nothing: use lab run weights\n"


def test_the_command_is_installed_and_is_this_one():
    (entry,) = metadata.entry_points(group="console_scripts", name="lab")
    assert entry.load() is rlvr_lab.main


@pytest.mark.parametrize(
    "line, words",
    [
        ("lab tra", {"train "}),
        ("lab run gs", {"gsm8k "}),
        ("lab train gsm8k estimator=maxrl learning", {"learning_rate="}),
        ("lab train no_experiment scale=first lem", {"lemmas "}),
    ],
)
def test_a_shell_completes_commands_experiments_and_parameters(line, words, tmp_path):
    answer = tmp_path / "answer"
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "|", "COMP_TYPE": "9", "COMP_LINE": line}
    asked |= {"COMP_POINT": str(len(line)), "_ARGCOMPLETE_STDOUT_FILENAME": str(answer)}
    subprocess.run([sys.executable, "-m", "lab"], env=os.environ | asked, check=True)
    assert set(answer.read_text().split("|")) == words


def test_explaining_and_helping_load_neither_torch_nor_matplotlib():
    code = (
        "import sys; from lab.cli import main; main(['explain', 'grpo'])\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted({'torch', 'matplotlib', 'pandas', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")


# --- lab check ----------------------------------------------------------------------------------


def test_check_finds_no_fault_here_and_looks_at_everything(capsys):
    assert main(["check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "all is well" and all(line.startswith("ok    ") for line in lines[:-1])
    looked = {line.removeprefix("ok    ") for line in lines[:-1]}
    assert {"Python", "installed versions", "sweep laptop"} <= looked
    assert {
        f"{what} {name}" for what in ("preset", "notebook of") for name in experiments()
    } <= looked


@pytest.fixture
def faults(capsys):
    def found() -> list[str]:
        assert main(["check"]) == 1
        lines = capsys.readouterr().out.splitlines()
        wrong = [line.removeprefix("FAULT ") for line in lines if line.startswith("FAULT ")]
        assert lines[-1] == f"{len(wrong)} faults"
        return wrong

    return found


PRESET = "[laptop]\nsteps = 3\n"
PARAMETERS = 'scale = "laptop"\nsteps = 3\nfolder = ""'
CELLS = ['config = runs.configure("tiny", globals())', "print(config.steps)"]


def in_a_project(folder, monkeypatch):
    """This process works in a project of its own, which has no sweeps of the lab's."""
    (folder / "pyproject.toml").write_text("[tool.lab]\n")
    monkeypatch.chdir(folder)


@pytest.mark.parametrize(
    "preset, cells, fault",
    [
        (PRESET + "[smoke]\nsteps = 0\n", CELLS, "preset tiny: tiny: steps = 0 is out of range"),
        (PRESET, CELLS[:1], "notebook of tiny: tiny.ipynb: no cell reads the parameter steps"),
        *(
            (f'trainer = "{place}"\n{PRESET}', CELLS, f"preset tiny: tiny.toml: trainer '{place}'")
            for place in ("lab.toy.tabular", "lab.toy.tabular:trian", "lab.toy.nowhere:train")
        ),
    ],
)
def test_check_finds_a_fault_in_a_preset_or_its_notebook(
    faults, invent, monkeypatch, tmp_path, preset, cells, fault
):
    invent(preset, *cells, parameters=PARAMETERS)
    monkeypatch.setattr(import_module("lab.runs.checks"), "CHECKOUT", tmp_path)
    in_a_project(tmp_path, monkeypatch)
    (tmp_path / "constraints.txt").write_text("")
    assert any(fault in line for line in faults())


def test_check_compares_what_is_installed_with_the_constraints(
    faults, invent, monkeypatch, tmp_path
):
    invent(PRESET, *CELLS, parameters=PARAMETERS)
    monkeypatch.setattr(import_module("lab.runs.checks"), "CHECKOUT", tmp_path)
    in_a_project(tmp_path, monkeypatch)
    pins = "numpy==0.1\n# a note\nno-such-package-anywhere==1.0\n"
    (tmp_path / "constraints.txt").write_text(pins)
    said = f"numpy {metadata.version('numpy')} instead of 0.1: install with -c constraints.txt"
    assert faults() == [f"installed versions: {said}"]


def test_check_finds_a_fault_in_a_sweep_and_missing_data(faults, invent, monkeypatch, tmp_path):
    invent(PRESET, *CELLS, parameters=PARAMETERS)
    checks = import_module("lab.runs.checks")
    (tmp_path / "sweeps").mkdir()
    (tmp_path / "sweeps" / "mine.toml").write_text(
        '[[runs]]\nexperiment = "tiny"\nset = { step = 1 }\n'
    )
    (tmp_path / "constraints.txt").write_text("")
    monkeypatch.setattr(checks, "CHECKOUT", tmp_path)
    in_a_project(tmp_path, monkeypatch)
    (fault,) = faults()
    assert fault.startswith("sweep mine: unknown parameter of tiny 'step': did you mean 'steps'?")
