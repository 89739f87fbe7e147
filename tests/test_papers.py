"""The papers: registry, tables, gallery, mistakes: complete, in step with the numbers, honest about
what lacks.
"""

import inspect
import re
import shlex

import pytest

from lab.errors import LabError
from lab.llm.data.datasets import DATASETS
from lab.mathematics.estimators import estimator
from lab.papers import gallery, issues, measured, tables
from lab.papers.published import printed
from lab.papers.registry import items
from lab.papers.verdicts import FAILS, HOLDS, SHOWN, UNDECIDED, UNKNOWN
from lab.runs.cluster import job
from lab.runs.experiments import experiment, read_assignments
from lab.runs.model_evaluation import evaluate
from lab.runs.provenance import ROOT
from lab.show import plots

ITEMS = items()
BY_KEY = pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.key)
TABLES = [item for item in ITEMS if tables.has_table(item)]
RESULTS = [item for item in TABLES if item.layout]


@pytest.fixture
def kept(monkeypatch):
    """The figures as they lie in the repository, and no runs of one's own."""
    monkeypatch.delenv("LAB_FIGURES")


# --- The registry -------------------------------------------------------------------------------


def test_every_figure_and_every_table_has_its_place_in_order():
    places = {
        paper: [item.item for item in ITEMS if item.paper == paper] for paper in ("MaxRL", "PACS")
    }
    for paper, figures, tables_of_paper in (("MaxRL", 18, 7), ("PACS", 6, 13)):
        assert places[paper] == [f"Figure {n}" for n in range(1, figures + 1)] + [
            f"Table {n}" for n in range(1, tables_of_paper + 1)
        ]


@BY_KEY
def test_what_stands_for_an_item_exists_and_what_does_not_is_said_in_words(item):
    scripts = set(plots.figure_names())
    assert set(item.also) <= scripts and set(item.figures) <= scripts
    assert item.figures or item.missing or item.hyperparameters or item.weights
    assert item.commands or item.missing.startswith("everything")
    assert tables.has_table(item) == item.item.startswith("Table")
    for claim in item.compare:
        assert item.setting and claim.published and item.published_text(claim)


@pytest.mark.parametrize(
    "command", dict.fromkeys(command for item in ITEMS for command in item.commands)
)
def test_a_command_of_the_page_is_one_that_the_lab_would_accept(command):
    lab, verb, *words = shlex.split(command)
    assert lab == "lab"
    if verb in ("train", "run"):
        given = read_assignments(words[1:])
        assert experiment(words[0]).configure(given.pop("scale"), given)
    elif verb == "cluster":
        assert job(words[0], read_assignments(words[1:])).command
    elif verb == "eval":
        sets = [word for word in words[1:] if "=" not in word]
        assert set(sets) <= set(DATASETS) and sets
        assert set(read_assignments(words[1 + len(sets) :])) <= set(
            inspect.signature(evaluate).parameters
        )
    elif verb == "sweep":
        assert (ROOT / words[0]).exists()
    elif verb == "explain":
        assert all(estimator(name) for name in words)
    else:
        assert verb == "figures" and set(words) <= set(plots.figure_names())


@BY_KEY
def test_every_number_of_ours_is_found(kept, item):
    for claim in item.compare:
        assert claim.numbers and claim.verdict in (HOLDS, FAILS, UNDECIDED, SHOWN)
        assert (claim.verdict == SHOWN) == (not claim.expects)


def test_an_item_whose_own_world_is_missing_is_not_measured_whatever_stands_for_it():
    by_key = {item.key: item for item in items()}  # no figure is drawn here: not those of ITEMS
    for key in ("maxrl_figure_13", "pacs_figure_5", "maxrl_figure_5", "pacs_table_2"):
        assert by_key[key].missing and by_key[key].verdict.startswith(UNKNOWN)


# --- Tables -------------------------------------------------------------------------------------


@pytest.mark.parametrize("item", RESULTS, ids=lambda item: item.key)
def test_a_table_holds_every_printed_value_once(kept, item):
    head, *body = tables.lines(item)
    published = [line for line in body if line[len(item.layout["rows"])] == "published"]
    shown = [cell for line in published for cell in line[len(item.layout["rows"]) + 1 :] if cell]
    assert sorted(shown) == sorted(printed(item.paper, item.item)["text"])
    assert {len(line) for line in body} == {len(head)}
    assert tables.markdown(item).count("\n|") == len(body) + 2
    for word in ("published", item.item, "not yet measured" if not item.ours else "ours"):
        assert word in tables.markdown(item) and word in tables.latex(item)


def test_ours_stand_below_the_published_row_with_their_intervals(kept):
    (item,) = [item for item in RESULTS if item.ours]
    head, *body = tables.lines(item)
    assert item.key == "maxrl_table_3" and len(body) == 12
    for theirs, ours in zip(body[::2], body[1::2], strict=True):
        assert (theirs[0], theirs[1], ours[1]) == (ours[0], "published", "ours")
        for column in ("pass@1", "pass@32", "pass@128"):
            assert re.fullmatch(r"[\d.]+ \[[\d.]+, [\d.]+\]", ours[head.index(column)])
        assert ours[head.index("pass@256")] == "" == theirs[head.index("pass@32")]


def test_latex_tables_escape_what_latex_reads_as_code(kept):
    (item,) = [item for item in RESULTS if item.ours]
    text = tables.latex(item)
    assert r"paper\_issues" in text and r"[" in text and text.count("{") == text.count("}")
    columns = text.split(r"\begin{tabular}{")[1].split("}")[0]
    assert all(
        line.count(" & ") == len(columns) - 1 for line in text.splitlines() if line.endswith(r"\\")
    )


# --- Pages --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path, made",
    [
        ("docs/papers.md", lambda: gallery.markdown(ITEMS)),
        ("docs/paper_issues.md", issues.page),
        ("figures/out/index.html", lambda: gallery.page(ITEMS)),
    ],
)
def test_the_pages_in_the_repository_are_what_is_written_now(kept, path, made):
    assert (ROOT / path).read_text(encoding="utf-8") == made(), "write them again: lab figures"


@pytest.mark.parametrize("item", TABLES, ids=lambda item: item.key)
def test_the_tables_in_the_repository_are_what_is_written_now(kept, item):
    for kind, made in (("md", tables.markdown), ("tex", tables.latex)):
        assert (ROOT / f"figures/out/table_{item.key}.{kind}").read_text(encoding="utf-8") == made(
            item
        )


def test_the_links_of_the_page_lead_somewhere(kept):
    text = gallery.markdown(ITEMS)
    headings = {
        re.sub(r"[^\w -]", "", line[4:].lower()).replace(" ", "-")
        for line in text.splitlines()
        if line.startswith("### ")
    }
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert {target[1:] for target in targets if target.startswith("#")} == headings
    assert all(
        (ROOT / "docs" / target).exists() for target in targets if not target.startswith("#")
    )


def test_every_run_behind_a_figure_is_named_on_its_page(kept):
    text, page = gallery.markdown(ITEMS), gallery.page(ITEMS)
    (maze,) = [item for item in ITEMS if item.key == "maxrl_figure_17"]
    assert len(maze.runs) == 8
    for run in maze.runs:
        assert f"`{run}`" in text and f"<code>{run}</code>" in page


def test_every_note_on_a_contradiction_stands_on_the_page_of_its_figure(kept):
    text = gallery.markdown(ITEMS)
    sections = {part.split(":")[0]: part for part in text.split("\n### ")[1:]}
    for item in ITEMS:
        for note in item.notes:
            assert f"- **The paper.** {note}" in sections[f"{item.paper} {item.item}"]


def test_without_any_figure_the_pages_say_in_words_what_is_missing(folders, monkeypatch):
    monkeypatch.setattr(measured, "RECORDED", folders / "none")
    nothing = items()
    text, page = gallery.markdown(nothing), gallery.page(nothing)
    assert "<img" not in page and "![" not in text
    of_runs = [item for item in nothing if not (item.hyperparameters or item.weights)]
    assert (
        text.count(f"| {UNKNOWN} |") >= len(of_runs) - 2
        and "**Not recorded.** `maze_walks`" in text
    )
    assert "0 of" not in text


def test_the_command_writes_tables_gallery_and_pages(folders, monkeypatch, capsys):
    from lab.cli import main

    draw = plots.draw_figures  # all of them take half a minute
    monkeypatch.setattr(plots, "draw_figures", lambda names, *style: draw(["weights"], *style))
    assert main(["figures"]) == 0
    out = folders / "figures"
    assert {"index.html", "papers.md", "results.md", "README.md", "table_maxrl_table_3.md"} <= {
        path.name for path in out.iterdir()
    }
    assert str(out / "index.html") in capsys.readouterr().out.splitlines()


# --- The papers' own mistakes -------------------------------------------------------------------


def test_the_numbers_of_the_page_are_those_known_from_the_mathematics():
    found = {name: function() for name, function in issues.NUMBERS.items()}
    assert found["code_baselines"]["maclaurin"] == pytest.approx(2.748, abs=5e-4)
    assert found["code_baselines"]["order_4"] == pytest.approx(3.710, abs=5e-4)
    assert found["scale_and_shape"]["maxrl"] == pytest.approx(641, abs=0.5)
    assert found["averaged_baseline"]["average"] < 1e-12 < found["averaged_baseline"]["one"]
    assert "| 0.1457 | 0.1802 | 0.1113 |" in found["control_variate"]["enumerated"]
    assert found["mapo"]["apart"] < 1e-12 and found["actor_term"]["mean"] < 1e-12
    assert found["token_mean"]["n_short"] == pytest.approx(found["token_mean"]["n_long"])
    assert found["token_mean"]["tokens_short"] > 2 * found["token_mean"]["tokens_long"]
    assert found["derivative_signs"]["printed"] == pytest.approx(
        -found["derivative_signs"]["quotient"], rel=1e-6
    )
    assert found["gibbs"]["total"] > 4 and found["grpo_score"]["times"] > 1e5
    assert "| 2 | 1.9 | 1.9 | 1 | 1.9 | 1.9 | 1 |" in found["one_order_short"]["table"]
    assert (
        "| 0.0001 |" in found["control_variate"]["table"]
        and "| 0.025 |" in found["control_variate"]["table"]
    )


def test_no_number_on_the_page_of_mistakes_is_left_over_and_every_function_is_used():
    used = set(re.findall(r"\{(\w+)\.\w+\}", issues.TEMPLATE.read_text(encoding="utf-8")))
    assert used == set(issues.NUMBERS)
    assert not re.search(r"\{\w+\.\w+\}", issues.page())


def test_a_name_in_the_words_that_nothing_computes_is_refused(tmp_path, monkeypatch):
    (tmp_path / "issues.md").write_text("It is {ddof.tabel}.")
    monkeypatch.setattr(issues, "TEMPLATE", tmp_path / "issues.md")
    with pytest.raises(
        LabError, match="unknown number in issues.md 'ddof.tabel': did you mean 'ddof.table'"
    ):
        issues.page()
