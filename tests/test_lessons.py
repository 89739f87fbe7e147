"""Lessons as they lie in the repository, their cells run in this process: no kernel, no run folder.

test_lesson_outputs.py executes them as `lab run` does.
"""

import ast
import re
import symtable
from pathlib import Path

import nbformat
import numpy as np
import pytest
from notebook_cells import BOOKS, BY_NAME, code_cells, markdown, name_of, turned

from lab.runs import configure, experiments
from lab.runs.experiments import NOTEBOOKS, experiment
from lab.runs.lessons import is_lesson
from lab.toy import tabular
from lab.training.records import records

# --- As they lie in the repository --------------------------------------------------------------


def test_every_notebook_is_a_lesson():
    assert all(is_lesson(path) for path in BOOKS)


def test_there_is_one_notebook_an_experiment_and_one_experiment_a_notebook():
    assert sorted(experiment(name).notebook for name in experiments()) == BOOKS and len(BOOKS) >= 5


@BY_NAME
def test_a_notebook_is_valid_and_holds_no_counts(path):
    nbformat.validate(nbformat.read(path, as_version=4))
    assert all(cell.execution_count is None for cell in code_cells(path))


@BY_NAME
def test_a_notebook_asks_the_question_of_its_experiment(path):
    (first, *_) = nbformat.read(path, as_version=4).cells
    assert first.cell_type == "markdown"
    assert first.source == f"# {experiment(name_of(path)).title}" and first.source.endswith("?")


@BY_NAME
def test_the_parameters_of_a_notebook_are_those_of_a_laptop(path):
    (cell,) = [one for one in code_cells(path) if "parameters" in one.metadata.get("tags", [])]
    lines = ast.parse(cell.source).body
    given = {line.targets[0].id: ast.literal_eval(line.value) for line in lines}
    usual = {"scale": "laptop", "folder": ""} | experiment(name_of(path)).at("laptop")
    assert usual | given == usual and {"scale", "folder"} <= given.keys()


# --- Lessons as they lie in the repository ------------------------------------------------------


@BY_NAME
def test_the_links_of_a_lesson_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)\)", "\n".join(markdown(path))):
        assert target.startswith("https://") or (path.parent / target).exists(), target


def solutions(path: Path) -> list[str]:
    """The code of the folded solutions."""
    folded = re.findall(r"<details>(.*?)</details>", "\n".join(markdown(path)), re.DOTALL)
    return [code for text in folded for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]


def defined(code: str) -> set[str]:
    """The names that the statements of a cell assign or define."""
    found = set()
    for node in ast.parse(code).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            names = [each for target in node.targets for each in ast.walk(target)]
            found |= {each.id for each in names if isinstance(each, ast.Name)}
    return found


def names_of(code: str) -> tuple[set[str], set[str]]:
    """The variables of the notebook that a cell binds, and those of other cells that it reads."""
    cell = symtable.symtable(code, "a cell", "exec")
    bound = {each.get_name() for each in cell.get_symbols() if each.is_assigned()}
    bound |= {each.get_name() for each in cell.get_symbols() if each.is_imported()}

    def read(scope: symtable.SymbolTable) -> set[str]:
        names = {each.get_name() for each in scope.get_symbols() if each.is_global()}
        return names.union(*(read(inner) for inner in scope.get_children()))

    return bound, read(cell) - bound


def cells_behind(cells: list[str], wanted: list[str]) -> list[str]:
    """Those of `cells` that the cells `wanted` rest on, with these, in their order."""
    kept: list[str] = []
    needed: set[str] = set()
    for cell in reversed(cells):
        bound, read = names_of(cell)
        if cell in wanted or bound & needed:
            kept.insert(0, cell)
            needed = needed - bound | read
    return kept


@BY_NAME
def test_the_folded_solutions_solve_the_exercises(path, capsys, run_here, runs):
    """Of the lesson's other cells those run that an exercise rests on; no training does."""
    cells = turned(path, experiment(name_of(path)).lesson)
    answers = solutions(path)
    assert len(answers) == 2
    committed = "".join(
        output.get("text", "") for cell in code_cells(path) for output in cell.outputs
    )
    assert committed.count("fill in the cell above") >= 2
    for answer in answers:
        (place,) = [at for at, cell in enumerate(cells) if defined(cell) == defined(answer)]
        cells[place] = answer
    checks = [cell for cell in cells if "fill in the cell above" in cell]
    run_here(cells_behind(cells, [*answers, *checks]))
    said = capsys.readouterr().out
    assert "fill in the cell above" not in said and "not yet" not in said
    assert said.count("right") >= 2
    assert not runs.exists()


def test_a_lesson_of_a_track_has_five_small_exercises_along_the_way_each_with_its_answer():
    tracks = re.findall(r"^- \*\*.*$", (NOTEBOOKS / "README.md").read_text("utf-8"), re.M)
    names = set(re.findall(r"\]\((\w+\.ipynb)\)", "\n".join(tracks)))
    small = re.compile(
        r"\*\*Try it\.\*\* .+\n*.*\n\n<details><summary>Answer</summary>\n\n.+\n*.*\n</details>"
    )
    asked = {name: len(small.findall("\n".join(markdown(NOTEBOOKS / name)))) for name in names}
    assert len(tracks) == 3 and {name: n for name, n in asked.items() if n < 5} == {}


@pytest.mark.parametrize("name", ["rloo", "grpo", "maxrl"])
def test_the_loop_of_notebook_05_trains_what_the_lab_trains(name, run_here):
    """The pass rates, to the last bit of single precision; other settings than its own."""
    cells = [cell.source for cell in code_cells(NOTEBOOKS / "05_from_zero.ipynb")]
    (last,) = [place for place, cell in enumerate(cells) if "train" in defined(cell)]
    lesson = run_here(cells[: last + 1])
    given = dict(rollouts=7, problems=12, answers=5, learning_rate=0.5, steps=60, seed=3)
    history = lesson["train"](lesson[name], configure("from_zero", **given))
    config = configure("tabular", estimator=name, log_every=1, **given)
    told = [record.groups["pass_rate"] for record in records(tabular.train(config))]
    assert history.shape == (61, 12) and history[-1].mean() > history[0].mean()
    np.testing.assert_array_equal(np.float32(history), np.float32(told))


@pytest.mark.parametrize(
    "lesson, given",
    [
        (
            "07_dynamic_sampling",
            dict(group_size=4, low=0.25, high=0.5, estimators=["grpo", "reinforce"]),
        ),
        ("08_stopping_rules", dict(cap=6, round_size=3, pass_rate=0.4, baseline=-0.5)),
        (
            "09_real_rewards",
            dict(rewards=[-1.0, 0.5, 2.0], probabilities=[0.2, 0.5, 0.3], best_of=2, group_size=3),
        ),
    ],
)
def test_what_a_lesson_asserts_holds_at_other_settings(lesson, given, run_here):
    """Up to its training, which asserts nothing."""
    cells = turned(NOTEBOOKS / f"{lesson}.ipynb", given)
    (last,) = [place for place, cell in enumerate(cells) if "train" in defined(cell)]
    assert sum("assert" in cell for cell in cells[:last]) >= 2
    run_here(cells[:last])
