"""The printed values: as many as the tables have, alike where papers agree, apart where the notes
say so.
"""

import numpy as np
import pytest

from lab.errors import LabError
from lab.papers.published import PAPERS, contradictions, printed, printed_share

CELL = ["item", "model", "method", "benchmark", "metric"]


def tables(paper: str):
    found = printed(paper)
    return found[found["item"].str.startswith("Table")]


@pytest.mark.parametrize("paper", PAPERS)
def test_no_cell_of_a_table_is_there_twice(paper):
    assert not tables(paper).duplicated(CELL).any()


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


@pytest.mark.parametrize("paper", PAPERS)
def test_pass_at_k_never_falls_with_k(paper):
    cells = tables(paper)
    cells = cells[cells["metric"].str.fullmatch(r"pass@\d+")]
    for cell, part in cells.groupby(CELL[:-1]):
        ks = part["metric"].str.removeprefix("pass@").astype(int)
        assert (np.diff(part["value"].to_numpy()[np.argsort(ks)]) >= 0).all(), cell


def test_a_cell_that_two_tables_share_is_the_same_but_for_the_one_that_a_note_names():
    values = tables("PACS").groupby(CELL[1:])["value"]
    different = [cell for cell, part in values if part.nunique() > 1]
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
