"""One test a line of docs/silent_failures.md: every one is a silent failure that somebody reported
in another system.
"""

import ast
import json
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

import lab
from lab.cli import main
from lab.errors import LabError
from lab.judge.verifier import Verifier
from lab.mathematics import metrics, stats
from lab.mathematics.groups import shares
from lab.runs import Run, configure, train
from lab.runs.experiments import experiment
from lab.show import plots

ROOT = Path(__file__).parents[1]


# --- Rewards and groups -------------------------------------------------------------------------


@pytest.mark.parametrize("reward", [0.5, -1.0, 2.0, np.nan, np.inf, 1 - 1e-10])
def test_a_reward_that_is_not_0_or_1_is_an_error_naming_the_problem_the_rollout_and_the_cure(
    reward,
):
    """'A reward that is not 0 or 1 is an error naming the problem, the rollout and the cure'"""
    import torch

    rewards = np.zeros((3, 4))
    rewards[1, 2] = reward
    for kind in (rewards, torch.tensor(rewards)):
        with pytest.raises(
            LabError, match="in problem 1, rollout 2: a reward must be 0 or 1; use lab.binarize"
        ):
            lab.advantages("rloo", kind)
    must = "0 or 1" if np.isfinite(reward) else "a finite number"
    with pytest.raises(LabError, match=f"in problem 'x', rollout 7: a reward must be {must}"):
        lab.advantages("maxrl", [lab.Group("x", (lab.Rollout("x", 7, reward),))])


def test_binarising_is_a_visible_act():
    """'binarising is a visible act': there is one function for it, and it asks for the
    threshold.
    """
    with pytest.raises(TypeError, match="threshold"):
        lab.binarize([0.2, 0.8])
    assert lab.binarize([0.2, 0.5, 0.8], threshold=0.5).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "objective, rules",
    [
        ("rloo", "group of one: error; all wrong: zero; all right: zero; zero mean in every group"),
        (
            "rloo(singleton='zero')",
            "group of one: zero; all wrong: zero; all right: zero; zero mean in every group",
        ),
        (
            "reinforce",
            "group of one: scored; all wrong: zero; all right: kept; not zero mean in every group",
        ),
        (
            "maxrl_eq7",
            "group of one: scored; all wrong: kept; all right: zero; not zero mean in every group",
        ),
        (
            "grpo(ddof=1, eps=1e-6)",
            (
                "group of one: error; all wrong: zero; all right: zero; zero mean in every group, "
                "eps 1e-06, ddof 1"
            ),
        ),
    ],
)
def test_the_rules_for_odd_groups_are_fields_of_the_estimator_and_head_every_run(
    objective, rules, capsys
):
    """'... each follow a rule that is a field of the estimator and is printed in the
    run's header'
    """
    assert str(lab.estimator(objective).rules) == rules
    assert main(["train", "tabular", "scale=smoke", "steps=1", f"estimator={objective}"]) == 0
    assert f"  rules: {rules}\n" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["rloo", "grpo", "maxrl", "pacs_anchor", "dgpo"])
def test_a_group_of_one_an_all_wrong_and_an_all_right_group_do_what_their_rule_says(name):
    """'A group of one, an all-wrong group and an all-right group each follow a rule'"""
    with pytest.raises(LabError, match="needs groups of at least 2 rollouts, found N = 1"):
        lab.advantages(name, np.ones((1, 1)))
    assert lab.advantages(f"{name}(singleton='zero')", np.array([[0.0], [1.0]])).tolist() == [
        [0],
        [0],
    ]
    assert np.all(lab.advantages(name, np.zeros((2, 5))) == 0) and np.all(
        lab.advantages(name, np.ones((2, 5))) == 0
    )


def test_groups_are_made_by_identity_never_by_text():
    """'Groups are made by rollout identity, never by prompt text': two problems may have one
    prompt.
    """
    rollouts = [
        lab.Rollout(problem, index, float(problem == "a"))
        for index in range(2)
        for problem in ("a", "b")
    ]
    groups = lab.make_groups(rollouts, truncation="score")
    assert [(group.problem, group.N, group.K) for group in groups] == [("a", 2, 2), ("b", 2, 0)]
    with pytest.raises(LabError, match="rollout 0 of problem 'a' appears twice"):
        lab.make_groups([rollouts[0], rollouts[0]], truncation="score")


def test_lost_rollouts_make_a_smaller_group_never_a_shifted_one():
    """'lost rollouts make a smaller group, never a shifted one'"""
    rewards = {"a": [1, None, 0, 1], "b": [0, 0, 1, 0]}
    rollouts = [lab.Rollout(name, i, r) for name, row in rewards.items() for i, r in enumerate(row)]
    groups = lab.make_groups(rollouts, truncation="score")
    assert [group.rewards.tolist() for group in groups] == [[1, 0, 1], [0, 0, 1, 0]]
    first, second = lab.advantages("maxrl", groups)
    assert first.tolist() == pytest.approx([0.5, -1, 0.5]) and second.tolist() == [-1, -1, 3, -1]


def test_truncated_rollouts_follow_a_stated_policy_and_their_share_is_counted():
    """'Truncated rollouts follow a stated policy (score / zero / mask) and their share
    is logged'
    """
    rollouts = [
        lab.Rollout("a", 0, 1.0, truncated=True),
        lab.Rollout("a", 1, 1.0),
        lab.Rollout("a", 2, None),
    ]
    found = {
        policy: lab.make_groups(rollouts, truncation=policy)[0].rewards.tolist()
        for policy in ("score", "zero", "mask")
    }
    assert found == {"score": [1, 1], "zero": [0, 1], "mask": [1]}
    with pytest.raises(TypeError, match="truncation"):
        lab.make_groups(rollouts)
    with pytest.raises(
        LabError, match="truncation = 'drop': it must be one of 'score', 'zero', 'mask'"
    ):
        lab.make_groups(rollouts, truncation="drop")
    assert shares(rollouts) == {"lost": pytest.approx(1 / 3), "truncated": pytest.approx(1 / 3)}


# --- Parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word, sentence",
    [
        ("rollout=4", "unknown parameter of tabular 'rollout': did you mean 'rollouts'?"),
        ("rollouts=4.0", "rollouts = 4.0 is float, it must be int like 16"),
        ("rollouts=0", "rollouts = 0 is out of range, it must be in [1, 4096]"),
    ],
)
def test_an_unknown_parameter_a_wrong_type_or_a_value_out_of_range_is_an_error(
    refused, word, sentence
):
    """'An unknown parameter (papermill only warns) ... is an error that names the nearest valid
    name'
    """
    assert sentence in refused("run", "tabular", "scale=smoke", word)


def test_a_parameter_that_no_cell_reads_is_an_error(invent, capsys, runs):
    """'a parameter no cell reads'"""
    invent(
        "[laptop]\nsteps = 1\n",
        'config = runs.configure("tiny", globals())',
        "print('steps')",
        parameters='scale = "laptop"\nsteps = 1\nfolder = ""',
    )
    assert main(["run", "tiny"]) == 1 and not runs.exists()
    assert (
        capsys.readouterr().err
        == "lab: tiny.ipynb: no cell reads the parameter steps: use it, or remove it\n"
    )


# --- Runs ---------------------------------------------------------------------------------------


def test_only_done_json_makes_a_run_finished(monkeypatch):
    """'done.json is written last, atomically, and only it makes a run finished'"""

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Run, "finish", crash)
        train(configure("tabular", scale="smoke"))
    run = Run.of(experiment("tabular").configure("smoke"))
    assert {"params.json", "provenance.json", "metrics.jsonl", "groups.parquet", "checkpoints"} <= {
        path.name for path in run.path.iterdir()
    }
    assert len(run.records()) == 3 and not run.finished
    assert train(configure("tabular", scale="smoke")).finished


def test_a_stopped_run_gives_the_curve_it_would_have_given(monkeypatch, tmp_path):
    """'A killed run resumes from its checkpoint ... and gives the curve it would have given
    uninterrupted'
    """
    given = {"scale": "smoke", "steps": 4, "log_every": 1, "rollouts": 4}
    whole = train(configure("digits", **given), folder=str(tmp_path / "whole"))

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("lab.runs.training._Groups.add", stop)
        train(configure("digits", **given), folder=str(tmp_path / "stopped"), checkpoint_minutes=0)
    stopped = train(configure("digits", **given), folder=str(tmp_path / "stopped"))
    for name in ("metrics.jsonl", "groups.parquet"):
        assert (stopped.path / name).read_bytes() == (whole.path / name).read_bytes()


def test_the_lines_of_metrics_are_the_truth():
    """'JSONL in the run folder is the truth': all that is reported is read from it."""
    run = train(configure("tabular", scale="smoke"))
    lines = [json.loads(line) for line in (run.path / "metrics.jsonl").read_text().splitlines()]
    assert run.records() == lines and run.done["last"] == lines[-1]
    assert run.table()["pass@1"].tolist() == [line["pass@1"] for line in lines]


# --- Verifiers ----------------------------------------------------------------------------------


def test_a_verifier_answers_right_wrong_or_error_cannot_hang_and_stops_a_run_of_errors(
    tmp_path, ends
):
    """'A verifier answers right / wrong / error; it cannot hang, never runs model text as code, and
    a run stops when its error rate passes a stated limit. Unparsable gold answers are counted and
    skipped.'
    """
    trap = tmp_path / "ran"
    hostile = rf"\boxed{{__import__('pathlib').Path('{trap}').touch()}}"

    def check() -> None:
        with Verifier(error_limit=0.5) as verifier:
            found = verifier.check(
                [r"\boxed{\frac{1}{2}}", r"\boxed{3}", hostile, r"\boxed{2}"],
                ["0.5", "4", "1", "no answer that anyone could read: \\frac{"],
            )
            assert [verdict.outcome for verdict in found] == ["right", "wrong", "wrong", "error"]
            assert found[3].reason == "unreadable gold" and found[3].reward is None
            assert not trap.exists()
            slow = verifier.check([r"\boxed{(1+x)^{300}(1-x)^{300}}"], [r"(1-x^2)^{300}"])
            assert slow[0].outcome in ("right", "wrong", "error")
            assert verifier.unparsable(["7", "\\frac{"]) == {1: "unreadable gold"}

    ends(check)
    with (
        Verifier(error_limit=0.02) as verifier,
        pytest.raises(LabError, match="50 of 50 answers could not"),
    ):
        verifier.check([r"\boxed{2}"] * 50, ["\\frac{"] * 50)


# --- What is loaded and served ------------------------------------------------------------------

FORBIDDEN_MODULES = {
    "pickle",
    "cPickle",
    "_pickle",
    "dill",
    "cloudpickle",
    "joblib",
    "shelve",
    "marshal",
}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_METHODS = {
    ("torch", "load"),
    ("torch", "save"),
    ("os", "system"),
    ("os", "popen"),
    ("yaml", "load"),
    ("pd", "read_pickle"),
    ("pandas", "read_pickle"),
}
FORBIDDEN_WORDS = {"trust_remote_code", "allow_pickle", "shell", "weights_only"}


def dangers(code: str) -> list[str]:
    """Whatever in the code could run what a file or a model says."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found += [
                alias.name for alias in node.names if alias.name.split(".")[0] in FORBIDDEN_MODULES
            ]
        elif isinstance(node, ast.ImportFrom):
            found += [node.module] if (node.module or "").split(".")[0] in FORBIDDEN_MODULES else []
            found += [
                alias.name for alias in node.names if (node.module, alias.name) in FORBIDDEN_METHODS
            ]
        elif isinstance(node, ast.Call):
            call = node.func
            if isinstance(call, ast.Name) and call.id in FORBIDDEN_CALLS:
                found.append(call.id)
            if (
                isinstance(call, ast.Attribute)
                and isinstance(call.value, ast.Name)
                and ((call.value.id, call.attr) in FORBIDDEN_METHODS)
            ):
                found.append(f"{call.value.id}.{call.attr}")
            if isinstance(call, ast.Attribute) and call.attr in ("read_pickle", "to_pickle"):
                found.append(call.attr)
            found += [word.arg for word in node.keywords if word.arg in FORBIDDEN_WORDS]
    return found


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from pickle import loads",
        "import joblib.externals",
        "eval('1')",
        "exec(open(path).read())",
        "torch.load(path)",
        "from torch import load",
        "np.load(path, allow_pickle=True)",
        "pd.read_pickle(path)",
        "table.to_pickle(path)",
        "f(trust_remote_code=False)",
        "subprocess.run(words, shell=True)",
    ],
)
def test_the_search_for_dangers_finds_them(code):
    assert dangers(code)
    assert not dangers(
        "model.eval()\nast.literal_eval(text)\nloader.exec_module(module)\nnp.load(file)\nre.compile(x)"
    )


def test_no_file_of_the_lab_loads_a_pickle_or_runs_text_as_code():
    """'Model files are safetensors; no pickle is loaded; trust_remote_code is never set'"""
    files = [
        *(ROOT / "lab").rglob("*.py"),
        *(ROOT / "figures").glob("*.py"),
        *(ROOT / "benchmarks").glob("*.py"),
    ]
    assert len(files) > 30
    found = {str(path): dangers(path.read_text()) for path in files}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = [
            cell.source
            for cell in nbformat.read(path, as_version=4).cells
            if cell.cell_type == "code"
        ]
        found[str(path)] = dangers("\n".join(cells))
    assert {path: words for path, words in found.items() if words} == {}


def test_a_checkpoint_is_safetensors_and_no_other_model_file_is_written():
    """'Model files are safetensors'"""
    run = train(configure("digits", scale="smoke", steps=1))
    kinds = {path.suffix for path in run.path.rglob("*") if path.is_file()}
    assert kinds == {".json", ".jsonl", ".parquet", ".safetensors", ".lock"}
    (checkpoint,) = (run.path / "checkpoints").iterdir()
    content = checkpoint.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert "model/0.weight" in header and header["step"]["shape"] == []


def test_servers_bind_to_this_machine_alone():
    """'servers bind 127.0.0.1'"""
    makefile = (ROOT / "Makefile").read_text()
    assert (
        re.findall(r"--ip=(\S+)", makefile) == ["127.0.0.1"]
        and "jupyter lab --ip=127.0.0.1" in makefile
    )
    written = [
        *(ROOT / "lab").rglob("*.py"),
        *(ROOT / "lab").rglob("*.toml"),
        *(ROOT / "notebooks").glob("*.ipynb"),
        ROOT / "Makefile",
        ROOT / "README.md",
    ]
    assert [
        str(path) for path in written if re.search(r"0\.0\.0\.0|--ip[= ]['\"]?\*", path.read_text())
    ] == []


# --- Numbers and figures ------------------------------------------------------------------------


def test_a_number_carries_its_n_its_interval_and_what_the_interval_is_over():
    """'A number in a table or figure carries its n and an interval, and says whether ... over
    problems or seeds'
    """
    values = np.random.default_rng(0).random((5, 40))
    assert re.fullmatch(
        r"0\.\d{3} \[0\.\d{3}, 0\.\d{3}\] \(95% over 40 problems\)",
        str(stats.mean_interval(values[0])),
    )
    assert str(stats.mean_interval(values.mean(1), over="seeds")).endswith("(95% over 5 seeds)")
    assert all(
        words in str(stats.mean_interval(values, over="both"))
        for words in ("(95% over ", "5 seeds", "40 problems")
    )
    one = stats.mean_interval(metrics.pass_at_k(8, np.arange(1, 9), 2))
    assert one.low <= one.point <= one.high and one.n == {"problems": 8} and one.over == "problems"


def test_a_figure_carries_its_data_its_commit_its_runs_and_its_versions(folders):
    """'A figure carries its data (csv), the commit, run ids and versions (json); ... the same
    bytes'
    """

    def draw() -> dict[str, bytes]:
        plots.draw_figure("weights")
        drawn = (path for path in (folders / "figures").iterdir() if path.is_file())
        return {path.name: path.read_bytes() for path in drawn}

    first = draw()
    assert set(first) == {f"weights.{kind}" for kind in ("pdf", "png", "csv", "json", "tex", "txt")}
    assert {"command", "runs", "data_sha256", "caption"} <= set(json.loads(first["weights.json"]))
    # What differs between machines and days stands in a file of its own.
    drawn_here = json.loads((folders / "figures/provenance/weights.json").read_text())
    assert {"commit", "versions"} <= set(drawn_here)
    assert draw() == first
