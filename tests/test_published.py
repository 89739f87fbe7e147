"""The printed values: as many as the tables have, alike where papers agree, apart where the notes
say so.
"""

import tomllib

import numpy as np
import pytest

from lab.errors import LabError
from lab.papers.published import FOLDER, PAPERS, contradictions, printed, printed_share

CELLS = {
    ("MaxRL", "Table 3"): 18,
    ("MaxRL", "Table 4"): 18,
    ("MaxRL", "Table 7"): 15,
    ("PACS", "Table 1"): 86,
    ("PACS", "Table 2"): 120,
    ("PACS", "Table 3"): 8,
    ("PACS", "Table 6"): 120,
    ("PACS", "Table 7"): 30,
    ("PACS", "Table 8"): 30,
} | {("PACS", f"Table {n}"): 18 for n in range(9, 14)}


def cell(item: str, model: str, method: str, benchmark: str, metric: str) -> float:
    table = printed("PACS", item)
    return table[
        (table["model"] == model)
        & (table["method"] == method)
        & (table["benchmark"] == benchmark)
        & (table["metric"] == metric)
    ]["value"].item()


@pytest.mark.parametrize("paper, item", CELLS)
def test_a_table_has_as_many_cells_as_are_printed_and_no_cell_twice(paper, item):
    table = printed(paper, item)
    assert len(table) == CELLS[paper, item]
    assert not table.duplicated(["model", "method", "benchmark", "metric"]).any()


@pytest.mark.parametrize("paper", PAPERS)
def test_percentages_lie_between_0_and_100_and_the_text_is_the_number(paper):
    table = printed(paper)
    assert table[table["unit"] == "percent"]["value"].between(0, 100).all()
    assert (table["text"].astype(float) == table["value"]).all()


def test_the_averages_and_gains_of_pacs_table_1_follow_from_its_cells():
    table = printed("PACS", "Table 1")
    metrics = table[table["model"] != "Claude Opus 4.1"].pivot(
        index=["model", "method", "metric"], columns="benchmark", values="value"
    )
    assert len(metrics) == 14
    average = metrics.pop("Avg. (5 benchmarks)")
    np.testing.assert_allclose(metrics.mean(axis=1), average, atol=0.0101)  # all are rounded
    for model in ("Qwen3-4B", "Qwen3-8B"):
        rows = metrics.loc[model]
        np.testing.assert_allclose(
            rows.loc["PACS", "pass@1"] - rows.loc["Base", "pass@1"],
            rows.loc["PACS", "pass@1 gain over base"],
            atol=1e-9,
        )


@pytest.mark.parametrize(
    "paper, item",
    [
        key
        for key in CELLS
        if key not in {("PACS", "Table 1"), ("PACS", "Table 3"), ("MaxRL", "Table 7")}
    ],
)
def test_pass_at_k_never_falls_with_k(paper, item):
    table = printed(paper, item)
    for _, part in table.groupby(["model", "method", "benchmark"]):
        ks = part["metric"].str.removeprefix("pass@").astype(int)
        assert len(ks) >= 3 and (np.diff(part["value"].to_numpy()[np.argsort(ks)]) >= 0).all()


def test_a_cell_that_two_tables_share_is_the_same_but_for_the_one_that_a_note_names():
    table = printed("PACS")
    table = table[table["item"].str.startswith("Table")]
    different = [
        key
        for key, part in table.groupby(["model", "method", "benchmark", "metric"])["value"]
        if part.nunique() > 1
    ]
    assert different == [("Qwen3-4B", "Base", "MATH-500", "pass@1")]
    assert "91.01 in Table 1, 91.00 in Table 7" in contradictions("PACS", "Table 7")[0]


@pytest.mark.parametrize(
    "item, model, benchmark, k, better, worse",
    [
        *[("Table 6", "Qwen3-4B", "AIME 2024", k, "PPO", "PACS") for k in (16, 32, 64)],
        ("Table 6", "Qwen3-4B", "AIME 2025", 64, "PPO", "PACS"),
        ("Table 2", "Qwen3-8B", "AMC 23", 64, "PPO", "PACS"),
        *[
            ("Table 6", "Qwen3-4B", benchmark, k, "GRPO", "PACS")
            for benchmark in ("AMC 23", "AIME 2025")
            for k in (32, 64)
        ],
        *[("Table 2", "Qwen3-8B", "AMC 23", k, "GRPO", "PACS") for k in (32, 64)],
        ("Table 6", "Qwen3-4B", "AMC 23", 64, "Base", "PACS"),
        *[
            ("Table 6", "Qwen3-4B", "AIME 2024", k, "PACS w/o weight", "PACS")
            for k in (8, 16, 32, 64)
        ],
        ("Table 8", "Qwen3-8B", "MATH-500", 1, "PACS w/o weight", "PACS"),
        *[
            ("Table 2", "Qwen3-8B", benchmark, 1, "PACS w/o weight", "PACS")
            for benchmark in ("AMC 23", "AIME 2024")
        ],
        *[("Table 9", "Qwen3-4B", "MATH-500", k, "PACS w/ GRPO score", "PACS") for k in (8, 16)],
    ],
)
def test_the_exceptions_that_the_notes_name_are_in_the_tables(
    item, model, benchmark, k, better, worse
):
    assert cell(item, model, better, benchmark, f"pass@{k}") > cell(
        item, model, worse, benchmark, f"pass@{k}"
    )


def test_maze_coverage_is_no_share_of_256_mazes_where_the_note_says_so():
    table = printed("MaxRL", "Table 3")
    values = table[table["metric"] == "pass@256"]["value"].to_numpy()
    nearest = np.round(np.arange(257) / 256 * 100, 1)
    assert sorted(value for value in values if value not in nearest) == [54.0, 58.7, 77.9, 94.3]


def test_every_note_stands_on_a_page_of_a_known_paper_and_says_something_once():
    notes = tomllib.loads((FOLDER / "contradictions.toml").read_text())["notes"]
    assert len({note["note"] for note in notes}) == len(notes)
    for note in notes:
        assert (
            set(note) == {"paper", "items", "note"}
            and note["paper"] in PAPERS
            and note["note"].endswith(".")
        )
        assert all(item.startswith(("Figure ", "Table ")) for item in note["items"])


def test_a_share_is_a_printed_percentage_over_100_and_an_unknown_cell_names_the_nearest():
    assert printed_share("MaxRL", "Table 3", "MaxRL", "pass@256") == 0.943
    with pytest.raises(LabError, match=r"'MaxRL, pass@255': did you mean 'MaxRL, pass@256'"):
        printed_share("MaxRL", "Table 3", "MaxRL", "pass@255")
    with pytest.raises(LabError, match=r"unknown paper 'PASC': did you mean 'PACS'"):
        printed("PASC")
    with pytest.raises(LabError, match=r"unknown item with printed values in MaxRL, 'Table 33'"):
        printed("MaxRL", "Table 33")
