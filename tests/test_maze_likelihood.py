"""Exact pass rates of mazes: all walks enumerated, rollouts, gradients, runs without sampling."""

import itertools
import math
from collections import Counter

import pytest
import slow_maze
import torch
from refusals import refusal
from test_tree_sampling import perturbed
from torch.nn.functional import pad
from toy_trainings import configured, start_records, taken_up_anywhere

import lab
from lab.configurations.toy_worlds import MazeConfig
from lab.errors import LabError
from lab.runs import Run, experiment
from lab.toy import maze_likelihood, maze_policy
from lab.toy.maze import MazeExactRL, MazeRL
from lab.toy.maze_env import (
    DONE,
    UP,
    Mazes,
    MazeStream,
    draw,
    evaluation_mazes,
    is_held_out,
    moves_to_goal,
    walk,
)
from lab.toy.maze_likelihood import find_right_answers, log_pass_rates, pass_rates
from lab.toy.maze_policy import MazePolicy, load_policy
from lab.toy.transformer import Transformer, TransformerConfig, fresh_transformer

CPU = torch.device("cpu")
TINY = TransformerConfig(16, 2, 4, 2, 24, 32, 160)
LONG = {"length": 32, "samples": 1, "pass_rates": "sampled"}
pytestmark = pytest.mark.usefixtures("cpu")
LENGTH = 8  # of every right answer of 5x5 that is enumerated


def config_of(**given) -> MazeConfig:
    return configured("maze", **given)


def grid(mazes: Mazes, which: int) -> tuple:
    return tuple(map(tuple, mazes.walls[which].tolist()))


def small_mazes() -> Mazes:
    """The four trees of 5x5, and the grid without inner walls, in which two ways are right."""
    trees = evaluation_mazes(5, 4, CPU, held_out=False)
    open_grid = draw(5, 1, 0, "a", 0, CPU, loops=1)
    return Mazes(torch.cat((trees.walls, open_grid.walls)), torch.cat((trees.path, open_grid.path)))


@pytest.fixture(scope="module")
def every_answer() -> list[list[tuple[int, ...]]]:
    """All right answers of each of `small_mazes`, by the slow verifier."""
    said = [
        (*moves, DONE)
        for length in range(LENGTH)
        for moves in itertools.product(slow_maze.MOVES, repeat=length)
    ]
    mazes = small_mazes()
    grids = [grid(mazes, which) for which in range(len(mazes))]
    return [[one for one in said if slow_maze.verify(walls, one) == "right"] for walls in grids]


def whole_sequences(model: Transformer, prompt: torch.Tensor, answers) -> torch.Tensor:
    """The log-probability of each answer, every one from a sequence of its own."""
    by_length: dict[int, list[tuple[int, ...]]] = {}
    for said in answers:
        by_length.setdefault(len(said), []).append(said)
    logp = []
    for group in by_length.values():
        said = torch.tensor(group)
        sequence = torch.cat((prompt.long().expand(len(said), -1), said), 1)
        rows = model.logits(model.prefill(sequence)[0])[:, len(prompt) - 1 : -1].log_softmax(-1)
        logp.append(rows.gather(2, said[:, :, None])[..., 0].sum(1))
    return torch.cat(logp)


def read(model: Transformer, mazes: Mazes):
    return model.read(mazes.prompts())


@pytest.fixture(scope="module")
def taught(cpu) -> tuple[Transformer, Mazes]:
    """A model that solves some of four mazes of 9x9 often and others rarely; the last two have
    loops.

    How fast it learns depends on the processor's rounding, so it learns until it can do enough.
    """
    trees = draw(9, 64, 1, "taught", 0, CPU)
    moves = (trees.path >= 0).sum(1).tolist()
    mazes = (
        trees[torch.tensor([moves.index(12), moves.index(16)])],
        draw(9, 2, 2, "taught", 0, CPU, 0.3),
    )
    longest = max(part.path.shape[1] for part in mazes)
    paths = [pad(part.path, (0, longest - part.path.shape[1]), value=-1) for part in mazes]
    both = Mazes(torch.cat([part.walls for part in mazes]), torch.cat(paths))
    model = fresh_transformer(0, TINY)
    policy = MazePolicy(model, both, config_of(**LONG))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(400):
        if step >= 130 and step % 10 == 0 and pass_rates(model, both, 32, 0.1)[0].min() > 0.015:
            return model, both
        optimizer.zero_grad()
        policy.cross_entropy(both).backward()
        optimizer.step()
    raise AssertionError("after 400 steps the model does not solve all four mazes now and then")


# --- Bounds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed, spread", [(0, 1.0), (1, 2.0)])
@pytest.mark.parametrize("tolerance", [0.3, 1e-2, 1e-9])
def test_the_bounds_hold_the_sum_over_every_walk_of_5x5(every_answer, seed, spread, tolerance):
    model, mazes = perturbed(fresh_transformer(0, TINY), seed, spread), small_mazes()
    low, high = pass_rates(model, mazes, LENGTH, tolerance)
    with torch.no_grad():
        exact = torch.stack(
            [
                whole_sequences(model, prompt, answers).double().exp().sum()
                for prompt, answers in zip(mazes.prompts(), every_answer, strict=True)
            ]
        )
    assert (low <= exact * (1 + 1e-5)).all() and (exact <= high * (1 + 1e-5)).all()
    assert (high - low <= tolerance * low).all() and (low > 0).all()
    if tolerance > 0.1:
        assert (high > low).any()  # something was dropped


def test_without_tolerance_the_right_answers_are_all_there_are(every_answer):
    model, mazes = perturbed(fresh_transformer(0, TINY)), small_mazes()
    found = find_right_answers(model, mazes, read(model, mazes), LENGTH, 1e-300).rollouts
    for which, answers in enumerate(every_answer):
        said = [
            tuple(tokens[mask].tolist())
            for tokens, mask in zip(found.tokens[which], found.mask[which], strict=True)
            if mask.any()
        ]
        assert sorted(said) == sorted(answers)
    assert len(every_answer[-1]) > len(every_answer[0]) > 2


@pytest.mark.parametrize("seed, spread", [(0, 1.0), (1, 2.0)])
def test_diversity_is_the_effective_number_of_right_answers(every_answer, seed, spread):
    model, mazes = perturbed(fresh_transformer(0, TINY), seed, spread), small_mazes()
    found = find_right_answers(model, mazes, read(model, mazes), LENGTH, 1e-300).diversity
    with torch.no_grad():
        for which, (prompt, answers) in enumerate(zip(mazes.prompts(), every_answer, strict=True)):
            share = whole_sequences(model, prompt, answers).double().softmax(0)
            expected = (-(share * share.log()).sum()).exp()
            assert 1 < expected < len(answers)
            assert float(found[which]) == pytest.approx(float(expected), rel=1e-4)
    unsolvable = find_right_answers(model, mazes, read(model, mazes), 4, 0.01)
    assert unsolvable.diversity.isnan().all() and (unsolvable.low == 0).all()


def test_every_prefix_is_read_once_those_of_the_shortest_path_at_once(taught, monkeypatch):
    model, mazes = taught
    read_tokens, forward = [], Transformer.forward
    prompts = read(model, mazes)
    monkeypatch.setattr(
        Transformer,
        "forward",
        lambda self, tokens, *given: (
            read_tokens.append(tokens.numel()) or forward(self, tokens, *given)
        ),
    )
    with torch.no_grad():
        found = find_right_answers(model, mazes, prompts, 32, 1e-3)
    steps = (mazes.path >= 0).sum(1)
    padding = int((steps.max() - steps).sum())
    assert sum(read_tokens) == int(found.prefixes.sum()) + padding
    assert read_tokens[0] == len(mazes) * int(steps.max())
    assert len(read_tokens) <= found.rollouts.tokens.shape[2]
    # The same logits as without sharing: the probability of the path from whole sequences.
    for which, prompt in enumerate(mazes.prompts()):
        path = [*(mazes.path[which, : steps[which]] + UP).tolist(), DONE]
        with torch.no_grad():
            expected = whole_sequences(model, prompt, [path]).double().exp()
        assert float(found.shortest[which]) == pytest.approx(float(expected), rel=1e-4)


def test_a_pass_rate_too_small_for_any_sampling_is_as_certain_as_a_large_one():
    model, mazes = fresh_transformer(0, TINY), draw(7, 6, 0, "a", 0, CPU)
    low, high = pass_rates(model, mazes, 14, 0.05)
    assert (low > 0).all() and low.max() < 1e-12 and (high <= 1.05 * low).all()


def test_with_one_prefix_a_level_the_shortest_path_is_the_one_that_is_kept(monkeypatch, taught):
    model, mazes = taught
    with torch.no_grad():
        whole = find_right_answers(model, mazes, read(model, mazes), 32, 1e-3)
        monkeypatch.setattr(maze_likelihood, "MOST_PREFIXES", 1)
        narrow = find_right_answers(model, mazes, read(model, mazes), 32, 1e-4)
    assert (narrow.low >= whole.shortest * (1 - 1e-4)).all() and (narrow.low <= whole.high).all()
    assert (narrow.high >= whole.low).all() and (narrow.high - narrow.low).max() > 0.01
    assert (whole.prefixes > narrow.prefixes).all()


def test_a_maze_whose_shortest_answer_exceeds_the_length_cannot_be_solved(taught):
    model, mazes = taught
    steps = (mazes.path >= 0).sum(1)
    low, high = pass_rates(model, mazes, int(steps.min()), 0.01)
    assert (low == 0).all() and (high == 0).all()
    low, _ = pass_rates(model, mazes, int(steps.min()) + 1, 0.01)
    assert ((low > 0) == (steps == steps.min())).all()


def test_rollouts_are_right_as_often_as_the_bounds_say(taught):
    model, mazes = taught
    N, policy = 2000, MazePolicy(*taught, config_of(**LONG))
    low, high = pass_rates(model, mazes, 32, 1e-4)
    with torch.no_grad():
        blocks = [
            policy.sample_rollouts(read(model, mazes), 100, numbers).tokens
            for numbers in policy.uniforms("test", 0, 4, N).split(100, 1)
        ]
    share = walk(mazes, torch.cat(blocks, 1)).right.double().mean(1)
    z = (share - low) / (low * (1 - low) / N).sqrt()
    assert z.abs().max() < 4.5 and 0.01 < low.min() and low.max() < 0.99


# --- Gradients ----------------------------------------------------------------------------------


def gradient_of(model: Transformer, value: torch.Tensor) -> torch.Tensor:
    found = torch.autograd.grad(value, list(model.parameters()), retain_graph=True)
    return torch.cat([part.flatten() for part in found])


def test_the_gradient_of_log_p_is_that_of_the_sum_over_every_walk(every_answer):
    model, mazes = perturbed(fresh_transformer(0, TINY)), small_mazes()
    along = torch.tensor([1.0, -0.5, 2.0, 0.3, 1.5])
    prompts = read(model, mazes)
    answers = find_right_answers(model, mazes, prompts, LENGTH, 1e-9)
    log_p = log_pass_rates(model, prompts, answers)
    expected = torch.stack(
        [
            whole_sequences(model, prompt, said).logsumexp(0)
            for prompt, said in zip(mazes.prompts(), every_answer, strict=True)
        ]
    )
    assert torch.allclose(log_p, expected, atol=1e-4)
    assert torch.allclose(log_p.double(), answers.low.log(), atol=1e-4)
    ours, theirs = (gradient_of(model, (along * value).sum()) for value in (log_p, expected))
    assert (ours - theirs).norm() < 1e-4 * theirs.norm()


def world_of(taught, estimator: str, gradient: str, N: int, tolerance=1e-4) -> MazeRL | MazeExactRL:
    model, mazes = taught
    given = {"estimator": estimator, "gradient": gradient, "rollouts": N, "tolerance": tolerance}
    config = config_of(**LONG | given)
    stream = MazeStream(9, 4, 0, "unused", CPU)
    stream.at = lambda step: mazes
    kind = MazeRL if gradient == "sampled" else MazeExactRL
    return kind(MazePolicy(model, mazes, config), stream, config)


@pytest.mark.parametrize(
    "name, gradient",
    [("maxrl", "expected"), ("grpo", "expected"), ("ml", "exact"), ("rl", "exact")],
)
def test_the_loss_of_a_step_has_the_gradient_of_the_weighted_pass_rates(taught, name, gradient):
    """w(p) grad p, a mean over mazes and over the tokens of the shortest answers."""
    model, mazes = taught
    N = 8
    (loss,) = world_of(taught, name, gradient, N).losses(0)
    prompts = read(model, mazes)
    answers = find_right_answers(model, mazes, prompts, 32, 1e-4)
    p = log_pass_rates(model, prompts, answers).exp()
    rates = p.detach().double().numpy()
    exact = gradient == "exact"
    w = lab.objective(name).weight(rates) if exact else lab.induced_weight(name, N, rates)
    length = float(((mazes.path >= 0).sum(1) + 1).float().mean())
    expected = -(torch.tensor(w).float() * p).mean() / length
    ours, theirs = gradient_of(model, loss), gradient_of(model, expected)
    assert (ours - theirs).norm() < 1e-3 * theirs.norm()


def test_sampled_gradients_are_on_average_the_expected_one(taught):
    """MaxRL with N = 64, by the mean of 25 steps; each is scaled back from its mean length."""
    model, mazes = taught
    world = world_of(taught, "maxrl", "sampled", 64)
    sampled = []
    for step in range(25):
        (loss,) = world.losses(step)
        sampled.append(gradient_of(model, loss * world.step_statistics["mean length"][-1]))
    length = float(((mazes.path >= 0).sum(1) + 1).float().mean())
    (loss,) = world_of(taught, "maxrl", "expected", 64).losses(0)
    expected = gradient_of(model, loss * length)
    along = torch.stack(sampled) @ expected / expected.square().sum()
    error = along.std() / math.sqrt(len(along))
    assert abs(along.mean() - 1) < 4.5 * error < 0.6


# --- Mazes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("loops", [0.1, 1.0])
def test_mazes_with_loops_have_a_shortest_path_and_the_walls_of_a_tree_but_for_some(loops):
    trees, looped = (draw(9, 40, 0, "a", 0, CPU, share) for share in (0.0, loops))
    assert (looped.walls <= trees.walls).all()
    opened = (trees.walls & ~looped.walls).sum((1, 2)).float()
    inner = 9  # of the 24 walls between cells a tree leaves 9
    assert opened.mean() == pytest.approx(inner * loops, abs=0.5)
    assert opened.max() <= inner and looped.walls[:, 2::2, 2::2].all()
    for which in range(40):
        path = [int(move) + UP for move in looped.path[which] if move >= 0]
        assert path in slow_maze.shortest_paths(grid(looped, which))
        distances = slow_maze.distances(grid(looped, which), (7, 7))
        found = moves_to_goal(looped.walls)[which]
        assert all(found[place] == moves for place, moves in distances.items())
        assert (found < 10**6).sum() == len(distances)


def test_fit_at_7x7_means_all_192_mazes_and_training_on_all_of_them():
    mazes = evaluation_mazes(7, 192, CPU, held_out=False)
    assert {grid(mazes, which) for which in range(192)} == slow_maze.spanning_trees(7)
    lengths = Counter((mazes.path >= 0).sum(1).tolist())
    assert lengths == {8: 170, 12: 20, 16: 2}
    seen = MazeStream(7, 64, 0, "a", CPU, measure="fit").at(0)
    assert is_held_out(seen).any() and not is_held_out(MazeStream(7, 64, 0, "a", CPU).at(0)).any()
    with pytest.raises(LabError, match="^size = 7 has 192 mazes: 193 were requested"):
        evaluation_mazes(7, 193, CPU, held_out=False)


# --- Runs ---------------------------------------------------------------------------------------

EXACT = {"pass_rates": "exact", "measure": "fit", "mazes": 3}


@pytest.fixture(scope="module")
def started(cpu) -> dict[str, torch.Tensor]:
    return start_records(config_of(measure="fit"))[-1][1]


def test_an_exact_evaluation_says_what_each_maze_holds(taught):
    model, mazes = taught
    policy = MazePolicy(model, mazes, config_of(**LONG | {"samples": 64, "pass_rates": "exact"}))
    metrics, groups = policy.evaluate()
    low, high = pass_rates(model, mazes, 32, 0.01)
    assert groups["pass_rate"].tolist() == pytest.approx(low.tolist())
    assert groups["pass_rate_high"].tolist() == pytest.approx(high.tolist())
    for k in (1, 8, 2048):
        assert metrics[f"pass@{k}"] == pytest.approx(float((1 - (1 - low) ** k).mean()))
    assert metrics["log-likelihood"] == pytest.approx(float(low.log().mean()))
    classes = set(groups["moves"].tolist())
    for moves in classes:
        mean = low[torch.tensor(groups["moves"] == moves)].log().mean()
        assert metrics[f"log-likelihood, {moves} moves"] == pytest.approx(float(mean))
    assert len(classes) > 1 and 0 < metrics["unknown pass@k"] < 0.02
    shortest = find_right_answers(model, mazes, read(model, mazes), 32, 0.01).shortest
    assert groups["shortest_path_share"].tolist() == pytest.approx((shortest / low).tolist())
    assert groups["moves"].tolist() == (mazes.path >= 0).sum(1).tolist() and "n" not in groups
    assert metrics["shortest path share"] == pytest.approx(float((shortest / low).mean()))
    assert metrics["diversity"] == pytest.approx(float(groups["diversity"].mean()))
    assert (groups["diversity"] >= 1).all()
    sampled, _ = MazePolicy(model, mazes, config_of(**LONG | {"samples": 64})).evaluate()
    assert sampled["pass@1"] == pytest.approx(metrics["pass@1"], abs=0.15)
    assert "log-likelihood" not in sampled and "wall" not in metrics


def test_an_evaluation_in_blocks_counts_what_one_block_counts(taught, monkeypatch):
    policy = MazePolicy(*taught, config_of(**LONG | {"samples": 60}))
    whole, groups = policy.evaluate()
    monkeypatch.setattr(maze_policy, "EVALUATION_BLOCK", 25)
    blocks, groups_too = policy.evaluate()
    assert whole == blocks and groups["right"].tolist() == groups_too["right"].tolist()


@pytest.mark.parametrize("gradient", ["expected", "exact"])
def test_a_run_without_sampling_resumes_to_the_same_numbers(started, gradient, monkeypatch):
    monkeypatch.setattr(maze_likelihood, "MOST_PREFIXES", 4)  # hardly trained: it needs thousands
    estimator = "ml" if gradient == "exact" else "maxrl"
    config = config_of(**EXACT, gradient=gradient, estimator=estimator, log_every=1)
    chosen = experiment("maze")
    whole = taken_up_anywhere(lambda state: chosen.train(config, state, start=started))
    assert whole[4][0].metrics["train log-likelihood"] < 0


def test_new_settings_leave_recorded_runs_where_they_are_and_exact_ones_elsewhere(runs):
    plain = Run.of(config_of()).path
    assert Run.of(config_of(gradient="sampled", pass_rates="sampled", loops=0.0)).path == plain
    others = {"gradient": "expected", "pass_rates": "exact", "measure": "fit", "loops": 0.1}
    paths = {Run.of(config_of(**{name: value})).path for name, value in others.items()}
    assert len(paths - {plain}) == 4


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"gradient": "expected", "entropy_bonus": 0.1}, "entropy_bonus = 0.1: gradient"),
        ({"gradient": "exact", "estimator": "ml", "greedy_filter": True}, "greedy_filter = True"),
        ({"gradient": "exact", "estimator": "grpo"}, "unknown objective 'grpo'"),
        ({"estimator": "ml"}, "unknown estimator 'ml'"),
        ({"measure": "fit", "mazes": 193}, "size = 7 has 192 mazes"),
    ],
)
def test_what_cannot_run_is_refused_in_one_sentence(given, sentence):
    assert sentence in refusal(config_of, **given)


def test_a_step_of_which_no_maze_fits_the_length_is_refused_in_one_sentence(started):
    config = config_of(**EXACT, length=8, gradient="exact", estimator="ml")
    world = MazeExactRL(load_policy(started, config), MazeStream(7, 4, 0, "a", CPU), config)
    with pytest.raises(LabError, match="^no maze of step 0 can be solved within length = 8"):
        world.losses(0)


# --- Which evaluation, which start --------------------------------------------------------------


@pytest.mark.parametrize(
    "given, kind",
    [
        ({"samples": 64}, "exact"),
        ({"samples": 63}, "sampled"),
        ({"samples": 2048, "precision": "bfloat16"}, "sampled"),
        ({"samples": 64, "pass_rates": "sampled"}, "sampled"),
        ({"samples": 8, "pass_rates": "exact"}, "exact"),
    ],
)
def test_an_evaluation_is_exact_where_that_is_cheaper_and_the_run_says_so(runs, given, kind):
    config = config_of(**given)
    assert config.pass_rates == kind
    said = "certified bounds" if kind == "exact" else f"{config.samples} rollouts a maze"
    assert f"evaluation: pass rates from {said}" in experiment("maze").header(config)
    run = Run.of(config).open(config)
    assert run.params["parameters"]["pass_rates"] == kind
    assert run.path == Run.of(config_of(**given | {"pass_rates": kind})).path
    other = "sampled" if kind == "exact" else "exact"
    assert run.path != Run.of(config_of(**given | {"pass_rates": other})).path
