"""Every lesson executed: at the settings of its committed outputs, as `lab run` does, and far from
them, in this process.

Minutes of training that test nothing which smaller runs elsewhere do not test too, but what is
committed and read: `make test-lessons` runs this file, `make test` does not.
"""

import json

import nbformat
import pytest
from lesson_differences import differences
from notebook_cells import BY_NAME, code_cells, name_of, turned

from lab.runs import Run
from lab.runs.experiments import experiment
from lab.runs.lessons import MACHINE, lesson_configuration, lessons, with_outputs


@BY_NAME
def test_a_lesson_executed_anew_is_a_finished_run_with_the_committed_outputs(path, fork, runs):
    name, committed = name_of(path), path.read_bytes()
    chosen, config = experiment(name), lesson_configuration(name)
    given = [f"{key}={json.dumps(value)}" for key, value in chosen.changed(config).items()]
    words = ["run", name, f"scale={config.scale}", *given]
    done = fork(*words, **MACHINE | {"LAB_RUNS": str(runs), "JUPYTER_PATH": ""}).finish(600)
    assert done.returncode == 0, done.stderr
    run = Run.of(config)
    assert run.finished and run.params["scale"] == config.scale
    assert run.params["parameters"] == config.settings()
    files = {path.name for path in run.path.iterdir() if path.suffix != ".lock"}
    made = {"metrics.jsonl", "times.jsonl", "groups.parquet", "checkpoints"}
    made = made if chosen.trainer else set()
    if name in ("gsm8k", "pacs", "qwen3"):  # language models that are trained
        made |= {"rollouts"}
    assert files == {"params.json", "provenance.json", "notebook.ipynb", "done.json"} | made
    cells = code_cells(run.path / "notebook.ipynb")
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = [output.output_type for cell in cells for output in cell.outputs]
    assert "error" not in kinds and len(kinds) >= 3
    text = "".join(output.get("text", "") for cell in cells for output in cell.outputs)
    # The header of configure.
    assert f"{name}: {chosen.title}\n  scale {config.scale}\n" in text
    assert not [
        output
        for cell in cells
        for output in cell.outputs
        if output.get("name") == "stderr" and ("Warning" in output.text or "Error" in output.text)
    ]
    assert path.read_bytes() == committed  # the run is written elsewhere
    changed = differences(
        nbformat.read(path, as_version=4), with_outputs(path, run.path / "notebook.ipynb")
    )
    assert changed == [], f"run lab lessons {name}"


# What each lesson that trains takes too: an objective that is no estimator, groups of one, few of
# everything, two sets of problems, records of the first and the last step alone.
ALONE = dict(estimator="reinforce", rollouts=1)
EXACT = dict(estimator="0.25 * log_odds", gradient="exact", rollouts=1)
SHORT = dict(
    rollouts=2, prompts=2, micro_batch=4, updates=1, steps=1, log_every=1, samples=2,
    eval_problems=2, eval_sets=["arithmetic(level=2)", "arithmetic(level=3)"],
)  # fmt: skip
FAR = {
    "tabular": [EXACT | dict(steps=1500, log_every=1499), ALONE],
    "digits": [EXACT | dict(steps=1, log_every=1), ALONE],
    "images": [EXACT | dict(steps=1, log_every=1, classes=10), ALONE],
    "maze": [EXACT | dict(steps=1, log_every=1, mazes=1, samples=1), ALONE],
    "maze_gradients": [
        dict(estimators=["reinforce"], group_sizes=[1], groups=2, mazes=1, start_steps=1),
        dict(estimators=["pkpo(k=2)"], group_sizes=[4, 2], groups=40, learning_rates=[1e-2, 1e-9]),
    ],
    "inside": [dict(problems=12, rollouts=4, estimators=["reinforce"])],
    "gsm8k": [SHORT | dict(estimator="reinforce", trainer="loop")],
    "qwen3": [SHORT | dict(estimator="reinforce", eval_sets=["arithmetic(level=1)"])],
    "pacs": [SHORT | dict(score="grpo", balanced=False)],
}


def test_every_lesson_that_trains_is_run_far_from_its_settings():
    assert FAR.keys() == {name for name in lessons() if experiment(name).trainer}


@pytest.mark.parametrize("name, given", [(name, given) for name in FAR for given in FAR[name]])
def test_a_lesson_ends_with_whatever_its_training_takes(name, given, run_here, runs):
    """What a lesson shows beside its training must not end a run that was good."""
    shown = run_here(turned(experiment(name).notebook, dict(scale="smoke") | given))
    assert shown["run"].finished
    assert {key: getattr(shown["config"], key) for key in given} == given
