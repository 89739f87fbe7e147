"""What mazes and images ask of a GPU, against a review's counts, published times and by hand.

That every preset for a card fits it: test_readiness.py.
"""

from dataclasses import replace

import pytest
import torch

from lab.runs import configure, experiment, train
from lab.toy import images, maze
from lab.toy.transformer import Elementwise
from lab.toy.tree_sampling import sample_rows
from lab.training.budget import CARDS, GIB, GPU
from lab.training.gpu_counter import as_one_kernel, count


def budget_of(name: str, scale: str, **given):
    chosen = experiment(name)
    return chosen.module.budget(chosen.configure(scale, given))


@pytest.fixture(scope="module")
def h200():
    return budget_of("maze", "h200")


@pytest.mark.parametrize("scale, given, before", [("paper", {}, 84), ("h200", {"batch": 256}, 161)])
def test_the_published_maze_settings_fit_an_80_gb_card_in_parts_and_take_less_than_they_did_at_once(
    monkeypatch, scale, given, before
):
    """Before: what a review counted in GiB, with attention weights kept in float32."""
    config = experiment("maze").configure(scale, given)
    assert budget_of("maze", scale, **given).peak_memory < 20 < CARDS["h100"].memory
    monkeypatch.setattr(maze, "MICRO_BATCH_POSITIONS", 2**30)
    monkeypatch.setattr(maze, "_extrapolate", lambda counted, length: counted(2))
    at_once = maze.budget(config).memory["weights, gradients, activations"]
    assert 0.42 * before < at_once < 0.54 * before


def test_a_maze_step_moves_less_than_a_review_counted_for_the_same_arithmetic(h200):
    """121 GB of rollouts; 90 + 166 GB of scoring and gradient."""
    assert h200.step["rollouts"].bytes < 0.34 * 121e9
    assert h200.step["update"].bytes < 0.33 * (90 + 166) * 1e9
    flops = sum(work.flops for work in h200.step.values())
    assert flops == pytest.approx(7.5e-3 * CARDS["h200"].flops, rel=0.05)
    assert h200.checkpoint == pytest.approx(3 * 4 * 3_944_704 / GIB, rel=0.01)
    assert (h200.steps, h200.evaluations, h200.tokens) == (20000, 21, 32 * 128 * 48)


@pytest.mark.parametrize("prefixes", [1, 5])
def test_exact_pass_rates_are_counted_as_forward_passes_and_not_as_rollouts(monkeypatch, prefixes):
    """By hand: two FLOPs for every weight of a product and row, prompts included; a backward pass
    takes twice as many. Attention, which no weight counts, adds less than half.
    """
    monkeypatch.setattr(maze, "PREFIXES_A_TOKEN", prefixes)
    given = {"layers": 2, "mazes": 40, "pass_rates": "exact", "gradient": "expected"}
    budget = budget_of("maze", "laptop", **given)
    config = experiment("maze").configure("laptop", given)
    shape = maze.transformer_config(config.width, config.layers, config.positions)
    block, width = maze.Transformer(shape).model.layers[0], config.width
    products = sum(weight.numel() for weight in block.parameters() if weight.ndim == 2)
    rows = prefixes * config.length + 94  # of a maze of 9x9
    per_maze = 2 * config.layers * products * rows + 2 * 32 * width * prefixes * config.length
    assert 1 < budget.evaluation.flops / (40 * per_maze) < 1.5
    assert 1 < budget.step["right answers"].flops / (config.batch * per_maze) < 1.5
    search, update = budget.step["right answers"], budget.step["update"]
    assert update.flops == pytest.approx(3 * search.flops, rel=0.1)
    assert set(budget.step) == {"right answers", "update"} and budget.tokens == 0
    assert not any("rollouts" in part for part in budget.memory)


def test_what_an_evaluation_samples_counts_where_it_samples_and_only_there():
    given = {"layers": 1, "mazes": 40, "gradient": "expected"}
    exact, other = (
        budget_of("maze", "laptop", **given, pass_rates="exact", samples=n) for n in (2048, 8)
    )
    assert exact.evaluation == other.evaluation
    few, many = (
        budget_of("maze", "laptop", **given, pass_rates="sampled", samples=n) for n in (64, 128)
    )
    assert many.evaluation.flops == pytest.approx(2 * few.evaluation.flops)
    assert many.step == few.step and many.step == exact.step


def test_a_depth_of_the_captured_graph_has_fewer_kernels_than_a_review_counted():
    """It counted 15,300 for 48 depths."""

    @torch.no_grad()
    def sample(length: int):
        model = maze.Transformer(maze.transformer_config(256, 4, 512))
        model.elementwise = Elementwise().map(as_one_kernel)
        policy = maze._BlankPolicy(model, length, "bfloat16")
        uniforms = torch.zeros(2, 3, length)
        with policy.autocast():
            prompts = policy.prefill(maze._blank_mazes(17, 2, length))
            attention = policy.attention(prompts[1])
            sample_rows(policy.model, *prompts, 3, length, [7, 2], uniforms, attention)

    shorter, longer = count(lambda: sample(4)), count(lambda: sample(5))
    assert longer.launches - shorter.launches < 0.4 * 15_300 / 48


def test_rollouts_of_any_length_are_counted_from_three_short_ones():
    def sample(length: int):
        def work():
            model = maze.Transformer(maze.transformer_config(16, 2, 96))
            with torch.no_grad():
                policy = maze._BlankPolicy(model, length, "float32")
                first, memory = policy.prefill(maze._blank_mazes(7, 4, length))
                uniforms = torch.zeros(4, 8, length)
                return sample_rows(model, first, memory, 8, length, [7, 2], uniforms)

        return count(work)

    extrapolated, whole = maze._extrapolate(sample, 14), sample(14)
    assert extrapolated.launches == whole.launches
    assert extrapolated.flops == whole.flops
    assert extrapolated.bytes == pytest.approx(whole.bytes, rel=0.01)
    assert extrapolated.peak == pytest.approx(whole.peak, rel=0.05)


def test_a_resnet_50_takes_the_arithmetic_that_everyone_counts_and_an_a100s_published_time():
    """4.09e9 multiply-adds an image and pass, three passes; NVIDIA trains 2,470 images a second."""
    budget = budget_of("images", "paper")
    assert budget.step["update"].flops == pytest.approx(256 * 3 * 2 * 4.09e9, rel=0.02)
    a100 = GPU("A100", 39.4, 312e12, 1.555e12)
    assert budget.step_seconds(a100) == pytest.approx(256 / 2470, rel=0.1)
    assert budget.disk["cache of pictures"] * GIB == pytest.approx(1331167 * 3 * 224**2)
    assert (budget.steps, budget.evaluations) == (100080, 68)


def test_twice_the_batch_takes_twice_the_activations_and_no_more_weights():
    small, large = (budget_of("images", "laptop", batch=batch) for batch in (512, 1024))
    part = "weights, gradients, activations"
    assert large.memory[part] == pytest.approx(2 * small.memory[part], rel=0.1)
    assert large.checkpoint == small.checkpoint
    assert large.step["update"].flops == 2 * small.step["update"].flops


@pytest.mark.parametrize("data", ["digits", "procedural", "imagenet"])
def test_every_source_of_pictures_can_be_counted(data):
    size = 8 if data == "digits" else 32
    config = replace(experiment("images").configure("smoke"), data=data, size=size)
    budget = images.budget(config)
    assert budget.step["update"].flops > 0 and bool(budget.disk) == (data == "imagenet")


def test_counting_leaves_nothing_fake_behind(monkeypatch, tmp_path):
    """Estimators keep tables of advantages: those made while counting would hold no numbers."""
    monkeypatch.setenv("LAB_RUNS", str(tmp_path))
    for name, given in (
        ("maze", {"estimator": "maxrl", "rollouts": 7}),
        ("images", {"rollouts": 17}),
    ):
        budget_of(name, "smoke", **given)
        assert train(configure(name, scale="smoke", **given)).finished
