"""Parameters keep working under the names they had when runs were recorded, and so do
those runs.
"""

import json
import shlex

import pytest

from lab.errors import LabError
from lab.project import project
from lab.runs.experiments import experiment, read_assignments
from lab.runs.former_names import params_of_today, without_gone
from lab.runs.run_folder import Run


def recorded_runs():
    """Every recorded run: its id, experiment and parameters as the project holds them."""
    paths = sorted(project().results.glob("*/*.json"))
    kept = (
        path for path in paths if path.stem not in ("claims", "rates") and path.parent.name != "gpu"
    )
    for path in kept:
        for name, run in json.loads(path.read_text()).items():
            params = params_of_today(run["params"])
            contents = run["provenance"].get("contents", {})
            yield name, params["experiment"], params["parameters"], contents


def test_every_recorded_run_keeps_its_identity():
    """The folder of a recorded run, asked for in present names, is the recorded one."""
    checked = 0
    for name, kind, parameters, contents in recorded_runs():
        chosen = experiment(kind)
        defaults = chosen.configuration.defaults()
        # A run's identity leaves out what was added with a default and stands at it.
        later = {key for key, value in defaults.items() if parameters.get(key, value) == value}
        parameters = without_gone(parameters, chosen.rules)
        if parameters.keys() | defaults.keys() != chosen.rules.keys():
            continue  # recorded before the experiment had a parameter without a default
        present = {key: parameters[key] for key in chosen.rules.keys() - later}
        run = Run.place(kind, present, contents)
        assert f"{run.path.parent.name}/{run.path.name}" == name
        checked += 1
    assert checked >= 50, checked


def test_the_command_of_a_recorded_run_gives_its_parameters_again():
    """By their present names; one that came later is at its default, whatever the preset sets."""
    commands = set()
    for _, kind, parameters, _ in recorded_runs():
        chosen = experiment(kind)
        words = shlex.split(chosen.command("laptop", parameters))
        assert words[:4] == ["lab", "train", kind, "scale=laptop"]
        given = read_assignments(words[4:])
        assert given.keys() <= chosen.rules.keys()
        values = chosen.configuration.defaults() | chosen.scales["laptop"] | given
        held = chosen.configuration.defaults() | without_gone(parameters, values)
        assert {key: values[key] for key in held} == held
        commands.add(shlex.join(words))
    assert "lab train tabular scale=laptop 'estimator=0.25 * log_odds' gradient=exact" in commands
    smoke = experiment("tabular").configure("smoke", {"seed": 3}).settings()
    assert experiment("tabular").command("smoke", smoke) == "lab train tabular scale=smoke seed=3"


def test_objective_is_another_name_of_estimator():
    chosen = experiment("tabular")
    values = chosen.configure("smoke", {"objective": "rloo"})
    assert values == chosen.configure("smoke", {"estimator": "rloo"})
    assert values.estimator == "rloo" and "objective" not in values.settings()


def test_language_models_take_the_former_names_of_their_limits():
    chosen = experiment("gsm8k")
    former = {"limit": 20, "prompt_limit": 30, "at_once": 8}
    present = {"max_tokens": 20, "max_prompt_tokens": 30, "micro_batch": 8}
    assert chosen.configure("smoke", former) == chosen.configure("smoke", present)


def test_both_names_at_once_are_refused():
    with pytest.raises(LabError, match="estimator is given twice, also as objective: keep one"):
        experiment("tabular").configure("smoke", {"objective": "rloo", "estimator": "rloo"})


def test_a_parameter_that_is_no_more_is_passed_over_at_its_recorded_value_alone():
    chosen = experiment("maze")
    assert chosen.configure("smoke", {"start_from": ""}) == chosen.configure("smoke")
    with pytest.raises(LabError, match="start_from"):
        chosen.configure("smoke", {"start_from": "folder"})
