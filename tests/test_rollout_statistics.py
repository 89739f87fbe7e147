"""Inside one set of rollouts: what is recorded is enough for every norm and every distance."""

import numpy as np
import pytest

from lab.errors import LabError
from lab.llm.evals import gradient_norms
from lab.runs import configure, train

SMALL = {"problems": 8, "rollouts": 8, "max_tokens": 48}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    return train(
        configure("inside", scale="smoke", **SMALL), folder=str(tmp_path_factory.mktemp("inside"))
    )


def test_one_record_tells_pass_rates_norms_and_diversity(measured):
    (record,), groups = measured.records(), measured.groups()
    assert len(groups) == 8 and (groups["n"] == 8).all() and groups["right"].between(0, 8).all()
    assert record["pass@1"] == pytest.approx((groups["right"] / groups["n"]).mean())
    live = (groups["right"] > 0) & (groups["right"] < 8)
    assert record["live"] == pytest.approx(live.mean()) and live.any()
    entered = groups["right"] >= 2
    assert (groups["distance"].notna() == entered).all() and groups["right"][
        entered
    ].sum() == record["right answers"]
    assert record["S_div"] == pytest.approx(groups["distance"].mean())


def test_the_recorded_moments_give_the_norms_of_objectives_that_were_not_asked_for(measured):
    (record,), groups = (
        measured.records(),
        measured.groups().rename(columns={"n": "N", "right": "K"}),
    )
    live = (groups["K"] > 0) & (groups["K"] < 8)
    norms = gradient_norms.norms(groups, ["maxrl", "rloo", "reinforce_mean"])
    mean = norms[np.tile(live, 3)].groupby("estimator")["gradient_norm"].mean()
    assert record["gradient norm maxrl"] == pytest.approx(mean["maxrl"])
    assert mean["reinforce_mean"] == pytest.approx(mean["rloo"] * 7 / 8)
    assert (norms["gradient_norm"][np.tile(~live, 3)] == 0).all()


def test_a_record_is_told_once_and_an_unknown_objective_refused_before_a_model_is_loaded(measured):
    before = (measured.path / "metrics.jsonl").read_bytes()
    train(configure("inside", scale="smoke", **SMALL), folder=str(measured.path))
    assert (measured.path / "metrics.jsonl").read_bytes() == before
    with pytest.raises(LabError, match="unknown estimator 'maxlr'"):
        train(configure("inside", scale="smoke", model="no/model", estimators=["maxlr"]))
