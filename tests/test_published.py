"""The printed values: as many as the tables have, alike where papers agree, apart where the notes
say so.
"""

import numpy as np
import pytest

from lab.errors import LabError
from lab.papers.published import PAPERS, contradictions, printed, printed_share

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


def test_a_table_has_as_many_cells_as_are_printed_and_no_cell_twice():
    for (paper, item), cells in CELLS.items():
        table = printed(paper, item)
        assert len(table) == cells, item
        assert not table.duplicated(["model", "method", "benchmark", "metric"]).any(), item


def test_percentages_lie_between_0_and_100_and_the_text_is_the_number():
    for paper in PAPERS:
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


def test_pass_at_k_never_falls_with_k():
    other = {("PACS", "Table 1"), ("PACS", "Table 3"), ("MaxRL", "Table 7")}
    for paper, item in CELLS.keys() - other:
        for _, part in printed(paper, item).groupby(["model", "method", "benchmark"]):
            ks = part["metric"].str.removeprefix("pass@").astype(int)
            values = part["value"].to_numpy()[np.argsort(ks)]
            assert len(ks) >= 3 and (np.diff(values) >= 0).all(), item


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


def test_a_share_is_a_printed_percentage_over_100_and_an_unknown_cell_names_the_nearest():
    assert printed_share("MaxRL", "Table 3", "MaxRL", "pass@256") == 0.943
    with pytest.raises(LabError, match=r"'MaxRL, pass@255': did you mean 'MaxRL, pass@256'"):
        printed_share("MaxRL", "Table 3", "MaxRL", "pass@255")
    with pytest.raises(LabError, match=r"unknown paper 'PASC': did you mean 'PACS'"):
        printed("PASC")
    with pytest.raises(LabError, match=r"unknown item with printed values in MaxRL, 'Table 33'"):
        printed("MaxRL", "Table 33")
