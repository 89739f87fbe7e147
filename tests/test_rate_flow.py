"""Pictures of the flow of exact pass rates."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from lab.show import rate_flow


@pytest.fixture(autouse=True)
def closed():
    plt.switch_backend("agg")
    yield
    plt.close("all")


def flow() -> pd.DataFrame:
    """Three mazes at two steps: two of 8 moves rise and fall, one of 12 moves rises."""
    rates = {0: [0.5, 0.1, 1e-20], 10: [0.9, 0.01, 1e-3]}
    return pd.DataFrame(
        [
            {"step": step, "problem": problem, "moves": (8, 8, 12)[problem], "pass_rate": p}
            for step, row in rates.items()
            for problem, p in enumerate(row)
        ]
    )


def test_log_odds_are_symmetric_and_finite():
    odds = rate_flow.log_odds(np.array([0.5, 0.9, 0.1, 1e-6, 0.0, 1.0]))
    np.testing.assert_allclose(odds[:4], [0, np.log10(9), -np.log10(9), -6], atol=1e-6)
    assert np.isfinite(odds).all() and odds[4] == -300 and odds[5] > 14


def test_fallen_mazes_are_those_below_their_own_start_run_by_run():
    rates = {"a": [[0.5, 0.2], [0.4, 0.2], [0.6, 0.1]], "b": [[0.1, 0.1], [0.1, 0.0], [0.0, 0.0]]}
    rows = [
        {"run": run, "step": 10 * record, "problem": problem, "pass_rate": p}
        for run, records in rates.items()
        for record, row in enumerate(records)
        for problem, p in enumerate(row)
    ]
    found = rate_flow.fallen(pd.DataFrame(rows).sample(frac=1, random_state=0))
    assert found.to_numpy().tolist() == [
        ["a", 0, 0], ["a", 10, 1], ["a", 20, 1], ["b", 0, 0], ["b", 10, 1], ["b", 20, 2]
    ]  # fmt: skip
