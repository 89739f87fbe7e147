"""A figure is stale if something that it uses has changed, and only then."""

import re
from shutil import copytree, ignore_patterns

import numpy as np
import pandas as pd
import pytest

from lab.runs import Results, results, sweep_results
from lab.runs.provenance import ROOT
from lab.show import plots, staleness

ALL = set(plots.figure_names())
LISTING = """
import lab
from lab.show import plots

def table():
    return [*lab.estimator_names(), *lab.objective_names(), *plots.LINE_STYLES]
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A copy of what figures are made from, which a test may change."""
    copytree(ROOT / "lab", tmp_path / "lab", ignore=ignore_patterns("__pycache__", "*.js"))
    copytree(ROOT / "figures", tmp_path / "figures", ignore=ignore_patterns("out"))
    copytree(ROOT / "data" / "published", tmp_path / "data" / "published")
    monkeypatch.setattr(staleness, "ROOT", tmp_path)
    return tmp_path


def hashes(project) -> dict[str, dict[str, str]]:
    """The inputs of every figure, without the records that it draws."""
    scripts = sorted((project / "figures").glob("*.py"))
    return {script.stem: staleness.input_hashes(script) for script in scripts}


def changed_by(project, file: str, *changes: tuple[str, str]) -> dict[str, set[str]]:
    """The figures that are stale after a file was changed, each with the inputs that differ."""
    before = hashes(project)
    path = project / file
    text = path.read_text()
    for old, new in changes:
        assert text.count(old) == 1, (old, text.count(old))
        text = text.replace(old, new)
    path.write_text(text)
    differences = {}
    for name, now in hashes(project).items():
        keys = now.keys() | before[name].keys()
        differences[name] = {key for key in keys if now.get(key) != before[name].get(key)}
    return {name: keys for name, keys in differences.items() if keys}


# --- Looks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, figures",
    [
        ("reinforce", {"stopping_images", "stopping_spent"}),
        ("from_weight", {"design"}),
        ("truncated", {"weights"}),
        ("pkpo", {"maze_baselines", "maze_training", "real_rewards"}),
        ("maxrl_loo", {"efficiency", "order"}),
        (
            "reinforce_mean",
            {"digits", *(name for name in ALL if name.startswith("images_"))},
        ),
        (
            "pacs",
            {"arithmetic", "gsm8k_dynamics", "gsm8k_solved"}
            | {
                "images_best",
                "maze_best",
                "pacs_beta",
                "pacs_parts",
                "pacs_reference",
                "pacs_reformulation",
            },
        ),
    ],
)
def test_a_new_colour_makes_stale_the_figures_that_show_its_name(project, name, figures):
    text = (project / "lab/show/line_styles.py").read_text()
    (line,) = re.findall(rf'^    "{name}": LineStyle.*$', text, re.MULTILINE)
    other = re.sub(r'(LineStyle\("[^"]*", )[A-Z]+', r'\1"#123456"', line)
    changes = changed_by(project, "lab/show/line_styles.py", (line, other))
    assert set(changes) == figures
    assert all(f"look {name}" in keys for keys in changes.values())


def test_a_colour_that_looks_share_counts_for_each_of_them(project):
    changes = changed_by(
        project, "lab/show/line_styles.py", ('INDIGO = "#1e0a5a"', 'INDIGO = "#1e0a5b"')
    )
    mazes = ("maze_baselines", "maze_exact", "maze_flow", "maze_training")
    shows_it = ("efficiency", *mazes, "order", "real_rewards")
    assert changes == {name: {"lab.show.line_styles.INDIGO"} for name in shows_it}


def test_how_a_missing_look_is_made_up_counts_where_a_name_has_none(project):
    listing = 'from lab.show import plots\n\ndef draw(_):\n    plots.line_style("NAME")\n'
    for name in ("maxrl", "mapo"):
        (project / "figures" / f"{name}.py").write_text(listing.replace("NAME", name))
    changes = changed_by(project, "lab/show/line_styles.py", ('"vD<>pXh"', '"vD<>pX"'))
    assert changes.keys() == {"mapo", "family"}  # which names the objective power


# --- The catalogue ------------------------------------------------------------------------------

NEW = """
@register("another", label="twice RLOO", citation="none", limit=2 * objective("rl"), least=2)
def twice(N):
    gap, offset = rloo(N)
    return 2 * gap, 2 * offset
"""


def test_a_new_estimator_with_a_look_makes_only_figures_stale_that_list_all_names(project):
    (project / "figures" / "listing.py").write_text(LISTING)
    before = hashes(project)
    catalogue = project / "lab/catalogue.py"
    catalogue.write_text(catalogue.read_text() + NEW)
    look = '    "twice": LineStyle("twice", BLUE),\n    "rl": LineStyle('
    changes = changed_by(project, "lab/show/line_styles.py", ('    "rl": LineStyle(', look))
    assert changes == {"listing": {"look twice"}}
    after = hashes(project)
    assert after.pop("listing").keys() - before.pop("listing").keys() == {
        "lab.catalogue.twice",
        "look twice",
    }
    assert after == before


def test_an_estimator_counts_for_whoever_writes_its_name_or_alias_and_for_what_stands_on_it(
    project,
):
    changes = changed_by(
        project, "lab/catalogue.py", ("_inverse(2 * _std(N) ** 2)", "_inverse(3 * _std(N) ** 2)")
    )
    # dgpo is drawn by none; pacs, alias pacs_anchor, is made from it
    assert set(changes) == {"finite", "lm_gradients", "maze_theory", "pacs_reformulation"}
    assert all(keys == {"lab.catalogue.dgpo"} for keys in changes.values())


def test_an_objective_counts_where_an_estimator_that_is_drawn_tends_to_it(project):
    changes = changed_by(
        project, "lab/objectives.py", ("2 * np.arcsin(np.sqrt(p)),", "3 * np.arcsin(np.sqrt(p)),")
    )
    grpo = {"efficiency", "finite", "images_gradients", "lm_gradients", "maze_theory"}
    assert set(changes) == grpo | {"weights", "family"}
    assert all(keys == {"lab.objectives.arcsine"} for keys in changes.values())


def test_names_among_the_records_count_as_those_in_the_script(project):
    script = project / "figures" / "plain.py"
    script.write_text(
        "from lab.show import plots\n\ndef draw(table):\n    plots.line_style(*table)\n"
    )
    records = Results(
        pd.DataFrame({"objective": ["grpo(ddof=1)", "0.5 * ml"], "step": [0, 1]}),
        pd.DataFrame({"objective": ["rloo"]}),
        {},
    )
    looks = {key for key in staleness.input_hashes(script, records) if key.startswith("look ")}
    assert looks == {"look grpo", "look ml", "look rloo"}
    assert not any(key.startswith("look ") for key in staleness.input_hashes(script))


# --- Functions ----------------------------------------------------------------------------------


def test_a_function_two_calls_deep_counts_for_those_that_reach_it(project):
    changes = changed_by(project, "lab/weights.py", ("    exact = [1]\n", "    exact = [1.0]\n"))
    assert changes == {
        name: {"lab.weights.log_binomials"}
        for name in (
            "design",
            "efficiency",
            "finite",
            "images_gradients",
            "maze_theory",
            "order",
            "stopping",
            "stopping_spent",
        )
    }


def test_how_the_files_are_written_counts_for_all_and_what_is_written_beside_for_none(project):
    changes = changed_by(project, "lab/show/plots.py", ('"%.10g"', '"%.9g"'))
    assert changes.keys() == ALL
    assert changed_by(project, "lab/show/plots.py", ('"Drawn by', '"Drawn with')) == {}


def test_what_trains_and_what_loads_the_records_does_not_count(project):
    reached = {key for inputs in hashes(project).values() for key in inputs}
    trainers = {key for key in reached if key.startswith(("lab.toy.", "lab.llm."))}
    assert {key.rpartition(".")[0] for key in trainers} == {"lab.llm.evals.gradient_norms"}
    assert "lab.llm.evals.gradient_norms.norms" in trainers
    assert "lab.llm.evals.gradient_norms.moments" not in trainers
    assert {key for key in reached if key.startswith("lab.runs.")} == {
        "lab.runs.sweep_results.Results"
    }


def test_comments_docstrings_and_types_do_not_count(project):
    before = hashes(project)
    for path in [*(project / "lab").rglob("*.py"), *(project / "figures").glob("*.py")]:
        text = path.read_text()
        text = re.sub(r'^( *(?:@.*\n)?def .*:\n +""")', r"\1Other. ", text, flags=re.MULTILINE)
        path.write_text(text.replace(" -> str:", " -> object:") + "\n# A word.\n")
    assert "Other." in (project / "lab/weights.py").read_text()
    assert hashes(project) == before


def test_published_values_count_where_they_are_shown(project):
    file = "data/published/maxrl.csv"
    (project / file).write_text((project / file).read_text() + "\n")
    with_values = {name for name, inputs in hashes(project).items() if file in inputs}
    assert with_values == {"differences", "maze_baselines"}


def test_every_name_of_the_lab_in_what_is_reached_is_found(project):
    lab = staleness._Lab()
    for script in sorted((project / "figures").glob("*.py")):
        for definition in staleness.reached_by(script):
            lost = {
                name for name in definition.named if name.startswith("lab.") and not lab.find(name)
            }
            assert lost == set(), definition.name


# --- Records ------------------------------------------------------------------------------------


def test_a_figure_is_stale_after_a_change_of_the_recorded_numbers_and_not_of_their_provenance(
    tmp_path, monkeypatch
):
    copytree(sweep_results.RECORDED / "laptop", tmp_path / "laptop")
    monkeypatch.setattr(sweep_results, "RECORDED", tmp_path)
    plots.draw_figure("tabular")
    provenance = tmp_path / "laptop" / "tabular.json"
    provenance.write_text(provenance.read_text().replace("AMD", "another"))
    assert plots.stale("tabular") == []
    numbers = tmp_path / "laptop" / "tabular.parquet"
    table = pd.read_parquet(numbers)
    for factor, differing in ((1 + 1e-14, []), (1 + 1e-7, ["records"])):
        table.assign(**{"pass@1": table["pass@1"] * factor}).to_parquet(numbers, index=False)
        assert plots.stale("tabular") == differing


def test_numbers_count_to_ten_digits_and_a_nan_or_a_zero_is_like_any_other():
    def content(*values: float) -> bytes:
        return staleness._content(pd.DataFrame({"x": values}))

    assert content(1.0, 0.1) == content(1 - 1e-15, 0.1 + 1e-16)
    assert content(0.1) != content(0.1 + 1e-10) and content(1e-300) != content(1.0001e-300)
    assert content(np.nan, 0.0) == content(-np.nan, -0.0)
    assert content(np.inf) != content(-np.inf)


def test_texts_whole_numbers_and_names_of_columns_count():
    def content(**columns: list) -> bytes:
        return staleness._content(pd.DataFrame(columns))

    tables = [{"x": [1, 2]}, {"y": [1, 2]}, {"x": [2, 1]}, {"x": ["1", "3"]}, {"x": ["3", "1"]}]
    assert len({content(**table) for table in tables}) == len(tables)


def test_the_recorded_runs_name_their_estimators():
    assert {"rloo", "grpo", "maxrl", "pacs_anchor", "log_odds"} <= staleness._values(
        results("laptop", "tabular")
    )
