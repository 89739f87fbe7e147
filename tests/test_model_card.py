"""The card of an exported model, read as the hub reads it, without a network."""

import shlex

import pytest

from lab.runs import Run, experiment
from lab.runs.experiments import read_assignments
from lab.show.model_card import card, results


@pytest.fixture
def hub(monkeypatch):
    """huggingface_hub's reader of cards."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return pytest.importorskip("huggingface_hub").ModelCard


def finished(name: str, scale: str = "smoke", problems=((0, 4), (1, 4), (4, 4)), **given) -> Run:
    """A run folder as a training leaves it, of the counts (right, n) at its last step."""
    import pandas as pd

    config = experiment(name).configure(scale, given)
    run = Run.of(config).open(config)
    (run.path / "metrics.jsonl").write_text('{"step": 0, "pass@1": 0}\n{"step": 2, "pass@1": 0}\n')
    rows = [(0, f"p{i}", 4, 0) for i in range(3)]  # of an earlier step: not in the card
    rows += [(2, f"p{i}", n, right) for i, (right, n) in enumerate(problems)]
    table = pd.DataFrame(rows, columns=["step", "problem", "n", "right"]).assign(set="arithmetic")
    table.to_parquet(run.path / "groups.parquet")
    run.finish(1.0)
    return run


def test_the_hub_reads_licence_base_model_data_set_and_results(hub):
    given = {"model": "Qwen/Qwen3-1.7B-Base", "train_set": "gsm8k", "estimator": "grpo"}
    run = finished("gsm8k", **given)
    read = hub(card(run))
    data = read.data
    assert data.base_model == "Qwen/Qwen3-1.7B-Base" and data.datasets == "openai/gsm8k"
    assert data.license == "other" and data.license_name and data.library_name == "transformers"
    assert "grpo" in data.tags and data.pipeline_tag == "text-generation"
    (result,) = data.eval_results
    # 0, 1/4 and 1: a mean of 5/12
    assert result.metric_type == "pass@1" and result.metric_value == pytest.approx(5 / 12)
    for words in (
        "GRPO",
        "4 rollouts a problem",
        "openai/gsm8k, revision 740312add88f781978c0658806c59bc2815b9866; MIT",
        f"commit of the lab: {run.provenance['commit'] or 'none, not in a clone'}",
        "arithmetic, pass@1: 0.417 [0.000, 1.000] (95% over 3 problems)",
        'AutoModelForCausalLM.from_pretrained("FOLDER")',
    ):
        assert words in read.text, words


def test_an_interval_is_students_over_the_problems_of_the_last_step_without_unjudged_ones():
    run = finished("gsm8k", problems=[(0, 8), (2, 8), (8, 8), (0, 0)])
    (_, first, one), (_, eighth, eight) = results(run)
    assert (first, eighth) == ("pass@1", "pass@8")
    assert one.n == {"problems": 3} and one.point == pytest.approx((0 + 1 / 4 + 1) / 3)
    # t of two degrees of freedom is 4.303; 0, 1/4 and 1 have the variance 13/48
    half = 4.302653 * (13 / 48 / 3) ** 0.5
    assert one.low == 0 and one.high == pytest.approx(min(1, 5 / 12 + half))
    assert eight.point == pytest.approx(2 / 3)  # of eight tries, one right is enough
    assert not list(results(finished("gsm8k", problems=[(1, 4)])))  # one problem: no interval


def test_the_command_makes_the_same_run_again_of_a_model_that_names_no_base(hub):
    run = finished("gsm8k", learning_rate=0.00025, train_set="arithmetic(level=2)", seed=3)
    read = hub(card(run))
    assert read.data.license == "apache-2.0" and read.data.base_model is None
    (command,) = [line for line in read.text.splitlines() if line.startswith("- made by")]
    _, _, name, *assignments = shlex.split(command.split("`")[1])
    given = read_assignments(assignments)
    scale = given.pop("scale")
    assert Run.of(experiment(name).configure(scale, given)).path == run.path
