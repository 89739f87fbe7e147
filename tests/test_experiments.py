"""Strict parameters: unknown, unread, of the wrong type or out of range is refused before a run."""

import re

import pytest

import lab
from lab.errors import LabError
from lab.runs import experiment, experiments
from lab.runs.experiments import PRESETS, SCALES, read_assignments, read_preset
from lab.runs.notebooks import check_notebook, parameter_cell, run_notebook

SCALED = [
    (path.stem, scale)
    for path in sorted(PRESETS.glob("*.toml"))
    for scale in read_preset(path).scales
]


def refusal(call, *args, **options) -> str:
    with pytest.raises(LabError) as error:
        call(*args, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


# --- Presets ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, scale", SCALED)
def test_every_preset_resolves_at_every_scale_with_every_parameter_explained(name, scale):
    chosen = experiment(name)
    values = chosen.configure(scale)
    assert values.keys() == chosen.rules.keys() == chosen.scales["laptop"].keys()
    assert all(rule["help"] for rule in chosen.rules.values())
    assert all(values[key] == value for key, value in chosen.scales[scale].items())
    assert all(type(values[key]) is type(value) for key, value in chosen.scales["laptop"].items())


def test_every_experiment_has_smoke_and_laptop_and_is_listed():
    assert experiments() == sorted({name for name, _ in SCALED}) and len(experiments()) >= 5
    assert all(
        {"smoke", "laptop"} <= set(experiment(name).scales) <= set(SCALES) for name in experiments()
    )


def test_scales_differ_only_by_what_they_list():
    chosen = experiment("tabular")
    smoke, laptop = chosen.configure("smoke"), chosen.configure("laptop")
    assert (
        {key for key in smoke if smoke[key] != laptop[key]}
        == chosen.scales["smoke"].keys()
        == {"problems", "steps"}
    )


@pytest.mark.parametrize(
    "preset, sentence",
    [
        ("[parameters]\na = {}\n", "no 'laptop'"),
        ("[laptop]\na = 1\n", "no 'parameters'"),
        (
            "[parameters]\na = {}\nb = {}\n[laptop]\na = 1\n",
            "tiny.toml [laptop], or one that it lacks: 'b'",
        ),
        (
            "[parameters]\na = {}\n[laptop]\na = 1\nb = 2\n",
            "tiny.toml [laptop], or one that it lacks: 'b'",
        ),
        (
            "[parameters]\nsteps = {}\n[laptop]\nsteps = 1\n[smoke]\nstep = 1\n",
            "did you mean 'steps'?",
        ),
        (
            "[parameters]\na = {}\n[laptop]\na = 1\n[lapptop]\na = 2\n",
            "unknown key of tiny.toml 'lapptop': did you mean",
        ),
        (
            "[parameters]\na = { leest = 1 }\n[laptop]\na = 1\n",
            "unknown rule of tiny.toml 'leest': did you mean 'least'?",
        ),
        (
            "[parameters]\na = {}\n[laptop]\na = \n",
            "tiny.toml: Invalid value (at line 6, column 5); fix the file",
        ),
    ],
)
def test_a_fault_in_a_preset_names_the_file_and_the_key(invent, preset, sentence):
    assert sentence in refusal(experiment, invent(preset))


@pytest.mark.parametrize(
    "smoke, sentence",
    [
        ("steps = 0", "steps = 0 is out of range, it must be in [1, 9]"),
        ("steps = 10", "steps = 10 is out of range, it must be in [1, 9]"),
        ("steps = 1.0", "steps = 1.0 is float, it must be int like 3"),
        ("steps = '1'", "steps = '1' is str, it must be int like 3"),
        ("steps = true", "steps = True is bool, it must be int like 3"),
        ("rate = nan", "rate = nan is out of range"),
        ("rate = -inf", "rate = -inf is out of range"),
        ("rate = true", "rate = True is bool, it must be float like 0.5"),
        ("kind = 'c'", "unknown value of tiny's kind 'c': Valid: hard, soft"),
        (
            "kind = 'sfot'",
            "unknown value of tiny's kind 'sfot': did you mean 'soft'? Valid: hard, soft",
        ),
        ("on = 1", "on = 1 is int, it must be bool like True"),
        ("sizes = 2", "sizes = 2 is int, it must be list like [2]"),
        ("sizes = []", "sizes = [] is empty: give at least one value"),
        ("sizes = [2, 0]", "sizes = 0 is out of range, it must be in [1, 9]"),
        ("sizes = [2, 2.5]", "sizes = 2.5 is float, it must be int like 2"),
        ("sizes = ['a']", "sizes = 'a' is str, it must be int like 2"),
        ("sizes = [[2]]", "sizes = [2] is list, it must be int like 2"),
    ],
)
def test_a_value_of_the_wrong_type_or_out_of_range_is_refused(invent, smoke, sentence):
    name = invent(
        "[parameters]\nsteps = { least = 1, most = 9 }\nrate = { least = 0.0 }\n"
        'kind = { choices = ["hard", "soft"] }\non = {}\nsizes = { least = 1, most = 9 }\n'
        '[laptop]\nsteps = 3\nrate = 0.5\nkind = "hard"\non = true\nsizes ='
        f" [2]\n[smoke]\n{smoke}\n"
    )
    assert sentence in refusal(experiment(name).parameters, "smoke")
    assert experiment(name).configure()["steps"] == 3
    given = read_assignments([smoke.replace(" = ", "=").replace("'", '"')])
    assert sentence in refusal(experiment(name).parameters, "laptop", given)


def test_a_whole_number_is_welcome_where_a_real_one_is_meant_and_becomes_one():
    assert (
        repr(experiment("tabular").configure(given={"learning_rate": 1})["learning_rate"]) == "1.0"
    )
    design = experiment("design").configure(given={"points_p": [0, 1], "points_w": [1, 2]})
    assert repr(design["points_w"]) == "[1.0, 2.0]"


def test_the_ends_of_a_range_belong_to_it():
    chosen = experiment("tabular")
    assert chosen.configure(given={"rollouts": 4096, "problems": 4})["problems"] == 4
    for given in ({"rollouts": 4097}, {"rollouts": 0}, {"problems": 3}):
        assert "out of range" in refusal(chosen.parameters, "laptop", given)


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"rollout": 4}, "unknown parameter of tabular 'rollout': did you mean 'rollouts'?"),
        ({"estimator": "maxlr"}, "unknown estimator 'maxlr': did you mean 'maxrl'?"),
        (
            {"estimator": "grpo(dof=1)"},
            "unknown option of estimator 'grpo' 'dof': did you mean 'ddof'?",
        ),
        ({"estimator": "maxrl", "gradient": "exact"}, "unknown objective 'maxrl'"),
        (
            {"gradient": "sampling"},
            "unknown value of tabular's gradient 'sampling': did you mean 'sampled'?",
        ),
        ({"rollouts": 1}, "maxrl needs groups of at least 2 rollouts, found N = 1"),
        (
            {"estimator": "truncated(order=32)"},
            "truncated(order=32) needs groups of at least 32 rollouts, found N = 16",
        ),
        ({"hardest": 0.9, "easiest": 0.5}, "hardest = 0.9 is not below easiest = 0.5: swap them"),
    ],
)
def test_what_a_trainer_cannot_run_is_refused_with_its_other_parameters(given, sentence):
    assert sentence in refusal(experiment("tabular").parameters, "smoke", given)


def test_an_unknown_experiment_or_scale_names_the_nearest():
    assert refusal(experiment, "tabula").startswith(
        "unknown experiment 'tabula': did you mean 'tabular'?"
    )
    assert refusal(experiment("digits").parameters, "somke").startswith(
        "unknown scale of digits 'somke': did you mean 'smoke'? Valid:"
    )


# --- key=value ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word, key, value",
    [
        ("steps=20", "steps", 20),
        ("rate=1e-3", "rate", 1e-3),
        ("on=true", "on", True),
        ("sizes=[2, 4]", "sizes", [2, 4]),
        ("estimator=maxrl", "estimator", "maxrl"),
        ('estimator="maxrl"', "estimator", "maxrl"),
        ("estimator=grpo(ddof=1, eps=1e-6)", "estimator", "grpo(ddof=1, eps=1e-6)"),
        ("estimator=0.5 * ml", "estimator", "0.5 * ml"),
        ("name=", "name", ""),
    ],
)
def test_a_value_is_read_as_toml_and_as_plain_text_where_it_is_not(word, key, value):
    read = read_assignments([word])
    assert read == {key: value} and type(read[key]) is type(value)


@pytest.mark.parametrize("word", ["steps", "steps:20", "=20", "--steps=20", "2steps=1", ""])
def test_a_word_that_is_not_key_value_is_refused(word):
    assert (
        refusal(read_assignments, [word])
        == f"cannot read {word!r}: write key=value, for example rollouts=16"
    )


def test_a_value_given_twice_is_refused():
    assert (
        refusal(read_assignments, ["steps=1", "seed=2", "steps=1"])
        == "steps is given twice: keep one"
    )


COMMANDS = [
    (["tabular", "rollout=4"], "unknown parameter of tabular 'rollout': did you mean 'rollouts'?"),
    (["tabular", "steps=ten"], "tabular: steps = 'ten' is str, it must be int like 400"),
    (["tabular", "steps=0"], "tabular: steps = 0 is out of range"),
    (["tabular", "gradient=sampling"], "did you mean 'sampled'?"),
    (["tabular", "steps=1", "steps=2"], "steps is given twice: keep one"),
    (["tabular", "steps", "1"], "cannot read 'steps': write key=value"),
    (
        ["tabular", "scale=smok"],
        "unknown scale of tabular 'smok': did you mean 'smoke'? Valid: laptop, smoke",
    ),
    (["tabular", "scale="], "unknown scale of tabular ''"),
    (
        ["tabular", "scale=smoke", "estimator=maxlr"],
        "unknown estimator 'maxlr': did you mean 'maxrl'?",
    ),
    (["tabular", "scale=smoke", "folder=x"], "unknown parameter of tabular 'folder'"),
    (["tabular", "scale=smoke", "state=1"], "unknown parameter of tabular 'state'"),
    (["tabullar", "scale=smoke"], "unknown experiment 'tabullar': did you mean 'tabular'?"),
    (["digits", "scale=smoke", "batch=1438"], "digits: batch = 1438 is out of range"),
]


@pytest.mark.parametrize("verb", ["run", "train"])
@pytest.mark.parametrize("words, sentence", COMMANDS)
def test_the_command_refuses_in_one_line_and_makes_no_folder(refused, verb, words, sentence):
    assert sentence in refused(verb, *words)


def test_the_process_exits_with_one_and_one_line(command, runs):
    done = command("train", "tabular", "scale=smoke", "rollout=4")
    assert done.returncode == 1 and done.stdout == "" and not runs.exists()
    assert re.fullmatch(
        r"lab: unknown parameter of tabular 'rollout': did you mean 'rollouts'\?.*\n", done.stderr
    )


def test_an_experiment_that_trains_nothing_cannot_be_trained_and_leaves_no_folder(runs):
    assert (
        refusal(lab.runs.train, "weights", scale="smoke")
        == "weights trains nothing: use lab run weights"
    )
    assert not runs.exists()


# --- Notebooks against their presets ------------------------------------------------------------

PRESET = "[parameters]\nsteps = { least = 1 }\nrates = {}\n[laptop]\nsteps = 3\nrates = [0.5]\n"
PARAMETERS = "steps = 3\nrates = [0.5]"


@pytest.mark.parametrize(
    "parameters, cells, sentence",
    [
        (
            "steps = 3\nrates = [0.5]\nseed = 1",
            ["print(steps, rates, seed)"],
            "in only one of tiny.ipynb and its preset",
        ),
        ("steps = 3", ["print(steps)"], "in only one of tiny.ipynb and its preset, 'rates'"),
        ("step = 3\nrates = [0.5]", ["print(step, rates)"], "did you mean 'steps'?"),
        (
            PARAMETERS,
            ["print(steps)"],
            "tiny.ipynb: no cell reads the parameter rates: use it, or remove it",
        ),
        (PARAMETERS, ["rates = 1; print(steps)"], "no cell reads the parameter rates"),
        (
            PARAMETERS,
            ["print(steps)  # rates", "print('rates')"],
            "no cell reads the parameter rates",
        ),
        (
            "steps = 4\nrates = [0.5]",
            ["print(steps, rates)"],
            "tiny.ipynb: steps = 4, but the preset says 3",
        ),
        (
            "steps = 3\nrates = [0.5, 0.6]",
            ["print(steps, rates)"],
            "rates = [0.5, 0.6], but the preset says [0.5]",
        ),
        (
            "steps: int = 3\nrates = [0.5]",
            ["print(steps, rates)"],
            "'steps: int = 3' in the parameters cell: write name =",
        ),
        (
            "steps = 1 + 2\nrates = [0.5]",
            ["print(steps, rates)"],
            "'steps = 1 + 2' is not a plain value: write a number",
        ),
        (
            "steps = int(3)\nrates = [0.5]",
            ["print(steps, rates)"],
            "'steps = int(3)' is not a plain value",
        ),
        (
            "steps = n = 3\nrates = [0.5]",
            ["print(steps, rates)"],
            "'steps = n = 3' in the parameters cell",
        ),
        (
            "steps, n = 3, 4\nrates = [0.5]",
            ["print(steps, rates)"],
            "in the parameters cell: write name = value",
        ),
        (
            "steps += 3\nrates = [0.5]",
            ["print(steps, rates)"],
            "'steps += 3' in the parameters cell",
        ),
        (
            "import os\nsteps = 3\nrates = [0.5]",
            ["print(steps, rates)"],
            "'import os' in the parameters cell",
        ),
        (
            "steps = 3\nsteps = 3\nrates = [0.5]",
            ["print(steps, rates)"],
            "steps is given twice in the parameters cell",
        ),
        (
            "steps = \nrates = [0.5]",
            ["print(steps, rates)"],
            "tiny.ipynb: invalid syntax in 'steps =': fix the cell",
        ),
        (PARAMETERS, ["print(steps, rates", "print(steps)"], "tiny.ipynb: '(' was never closed in"),
        (None, ["print(1)"], "tiny.ipynb has 0 cells tagged 'parameters': tag exactly one"),
    ],
)
def test_a_notebook_that_is_not_its_preset_is_refused_before_it_runs(
    invent, runs, parameters, cells, sentence
):
    name = invent(PRESET, *cells, parameters=parameters)
    assert sentence in refusal(run_notebook, name)
    assert not runs.exists()


def test_a_notebook_equal_to_its_preset_passes_magics_included(invent):
    name = invent(
        PRESET, "%matplotlib inline\n!true\nprint(steps)", "print(rates)", parameters=PARAMETERS
    )
    assert check_notebook(experiment(name)) is None


def test_two_cells_tagged_parameters_are_refused(invent, runs, tmp_path):
    import nbformat

    name = invent(PRESET, "print(steps, rates)", parameters=PARAMETERS)
    path = tmp_path / "notebooks" / "tiny.ipynb"
    book = nbformat.read(path, as_version=4)
    book.cells[1].metadata["tags"] = ["parameters"]
    nbformat.write(book, path)
    assert (
        refusal(run_notebook, name) == "tiny.ipynb has 2 cells tagged 'parameters': tag exactly one"
    )
    assert not runs.exists()


def test_a_missing_notebook_and_one_that_is_no_notebook_are_refused(invent, runs, tmp_path):
    name = invent(PRESET, "print(steps, rates)", parameters=PARAMETERS)
    (tmp_path / "notebooks" / "tiny.ipynb").write_text("{ not json")
    assert refusal(run_notebook, name).startswith("tiny.ipynb is not a notebook: ")
    (tmp_path / "notebooks" / "tiny.ipynb").unlink()
    assert "tiny.ipynb is missing: run from a clone of the project" in refusal(run_notebook, name)
    assert not runs.exists()


def test_the_notebook_of_a_trainer_also_takes_a_folder_and_must_read_it(invent):
    preset = 'trainer = "lab.toy.tabular:train"\n' + PRESET
    name = invent(preset, "print(steps, rates)", parameters=PARAMETERS)
    assert "in only one of tiny.ipynb and its preset, 'folder'" in refusal(
        check_notebook, experiment(name)
    )
    invent(preset, "print(steps, rates)", parameters=PARAMETERS + '\nfolder = ""')
    assert "no cell reads the parameter folder" in refusal(check_notebook, experiment(name))
    invent(preset, "print(steps, rates, folder)", parameters=PARAMETERS + '\nfolder = "x"')
    assert "folder = 'x', but the preset says ''" in refusal(check_notebook, experiment(name))
    invent(preset, "print(steps, rates, folder)", parameters=PARAMETERS + '\nfolder = ""')
    assert check_notebook(experiment(name)) is None


@pytest.mark.parametrize("name", sorted({name for name, _ in SCALED}))
def test_the_notebooks_of_the_lab_have_the_parameters_of_their_presets(name):
    chosen = experiment(name)
    check_notebook(chosen)
    values, _ = parameter_cell(chosen.notebook)
    assert [key for key in values if key != "folder"] == list(chosen.scales["laptop"])
    assert ("folder" in values) == bool(chosen.trainer)


def test_preflight_in_a_notebook_refuses_and_otherwise_prints_the_header(capsys):
    assert "out of range" in refusal(lab.runs.preflight, "weights", orders=[0])
    assert refusal(lab.runs.preflight, "weights", order=[2]).startswith(
        "unknown parameter of weights 'order'"
    )
    assert capsys.readouterr().out == ""
    lab.runs.preflight("tabular", estimator="grpo", rollouts=8)
    said = capsys.readouterr().out
    assert (
        said.startswith("tabular: Softmax problems")
        and "  rollouts = 8\n" in said
        and "ddof 0" in said
    )
