"""Mazes: tokens as published, trees as Prim grows them, walks as a slow verifier judges them."""

import random
from collections import Counter

import numpy as np
import pytest
import slow_maze
import torch
from refusals import refusal
from scipy import stats

from lab.toy import maze_env as world
from lab.toy.maze_env import (
    OUTCOMES,
    Mazes,
    MazeStream,
    count_mazes,
    draw,
    evaluation_mazes,
    grow,
    is_held_out,
    shortest_paths,
    walk,
)

CPU = torch.device("cpu")
WORDS = """<pad> <bos> <eos> <unk> GRID_START GRID_END PATH_START DONE PATH WALL GOAL START NEWLINE
    UP DOWN LEFT RIGHT""".split()
IDS = {word: number for number, word in enumerate(WORDS)}

# The paper's 7x7 example (E.1.2). Its first row is printed with eight walls, and its path RIGHT x4
# DOWN x4 starts into a wall; here the row has seven, and the path is the one that solves it.
EXAMPLE = """<bos> GRID_START
    WALL WALL WALL WALL WALL WALL WALL NEWLINE
    WALL START WALL PATH PATH PATH WALL NEWLINE
    WALL PATH WALL PATH WALL WALL WALL NEWLINE
    WALL PATH PATH PATH PATH PATH WALL NEWLINE
    WALL PATH WALL WALL WALL PATH WALL NEWLINE
    WALL PATH WALL PATH PATH GOAL WALL NEWLINE
    WALL WALL WALL WALL WALL WALL WALL NEWLINE
    GRID_END PATH_START""".split()
EXAMPLE_PATH = "DOWN DOWN RIGHT RIGHT RIGHT RIGHT DOWN DOWN".split()


def grids(mazes: Mazes) -> list[tuple]:
    """The mazes as the slow code reads them."""
    return [tuple(map(tuple, walls)) for walls in mazes.walls.tolist()]


def path_of(mazes: Mazes, which: int) -> list[int]:
    return [move + 13 for move in mazes.path[which].tolist() if move >= 0]


def same(a: Mazes, b: Mazes) -> bool:
    return torch.equal(a.walls, b.walls) and torch.equal(a.path, b.path)


def the_example() -> Mazes:
    words = [word for word in EXAMPLE[2:-2] if word != "NEWLINE"]
    walls = torch.tensor([word == "WALL" for word in words]).view(1, 7, 7)
    return Mazes(walls, torch.tensor([[IDS[word] - IDS["UP"] for word in EXAMPLE_PATH]]))


# --- Tokens -------------------------------------------------------------------------------------


def test_the_vocabulary_is_the_published_one():
    assert {word: number for number, word in enumerate(world.VOCABULARY)} == IDS | {"\n": 17}
    special = {"<pad>": "PAD", "<bos>": "BOS", "<eos>": "EOS"}
    for word in IDS.keys() - {"<unk>", "DOWN", "LEFT", "RIGHT"}:
        assert getattr(world, special.get(word, word)) == IDS[word]


def test_the_prompt_and_the_answer_of_the_papers_example_are_those_printed_there():
    maze = the_example()
    assert slow_maze.is_tree(grids(maze)[0])
    assert maze.prompts().tolist() == [[IDS[word] for word in EXAMPLE]]
    assert maze.answers().tolist() == [[IDS[word] for word in [*EXAMPLE_PATH, "DONE", "<eos>"]]]


def test_every_prompt_says_its_maze_square_by_square():
    mazes = draw(9, 50, 0, "a", 0, CPU)
    for walls, prompt in zip(grids(mazes), mazes.prompts().tolist(), strict=True):
        said = ["<bos>", "GRID_START"]
        for row, places in enumerate(walls):
            for column, wall in enumerate(places):
                plain = "WALL" if wall else "PATH"
                said.append({(1, 1): "START", (7, 7): "GOAL"}.get((row, column), plain))
            said.append("NEWLINE")
        assert prompt == [IDS[word] for word in [*said, "GRID_END", "PATH_START"]]


# --- Trees and their paths ----------------------------------------------------------------------


@pytest.mark.parametrize("size, count", [(5, 40), (7, 200), (17, 60), (31, 10)])
def test_every_maze_is_a_spanning_tree_of_its_cells_and_its_path_the_only_shortest_one(size, count):
    mazes = draw(size, count, 0, "a", 0, CPU)
    assert mazes.walls.shape == (count, size, size) and len(mazes) == count
    for number, walls in enumerate(grids(mazes)):
        assert slow_maze.is_tree(walls)
        assert slow_maze.shortest_paths(walls) == [path_of(mazes, number)]
    # Padded at the end only.
    assert (mazes.path.sort(1, descending=True).values == -1).equal(mazes.path == -1)


def test_a_cell_that_joins_at_once_after_its_neighbour_joins_through_that_neighbour():
    """A clock of 0, or too small to change a float32: 1 of 200,000 mazes of 17x17 has one."""
    # The right upper cell joins with the start.
    clocks = torch.tensor([[[3.0], [0.0]], [[5.0], [1.0]]])
    for choice in (0.0, 0.5, 0.99):
        walls = grow(clocks, torch.full_like(clocks, choice))
        mazes = Mazes(walls, shortest_paths(walls))
        assert slow_maze.is_tree(grids(mazes)[0]) and path_of(mazes, 0) == [16, 16, 14, 14]


# --- Their distribution -------------------------------------------------------------------------


def fits(counts: Counter, chances: dict) -> float:
    """The chi-square p-value of counts; outcomes expected fewer than 10 times are one."""
    total = sum(counts.values())
    assert counts.keys() <= chances.keys()
    common = [maze for maze, chance in chances.items() if total * chance >= 10]
    expected = [float(total * chances[maze]) for maze in common]
    found = [counts[maze] for maze in common]
    if len(common) < len(chances):
        expected.append(total - sum(expected))
        found.append(total - sum(found))
    return stats.chisquare(found, expected).pvalue


def test_the_192_mazes_of_7_by_7_come_as_often_as_prim_makes_them():
    """By exact probabilities, under which not all come equally often."""
    chances = slow_maze.prim_chances(7)
    assert len(chances) == 192 and sum(chances.values()) == 1
    counts = Counter(grids(draw(7, 40_000, 0, "a", 0, CPU)))
    assert fits(counts, chances) > 1e-4 and fits(counts, dict.fromkeys(chances, 1 / 192)) < 1e-9


def test_the_same_seed_stream_and_number_give_the_same_mazes_and_any_other_gives_others():
    reference = draw(9, 30, 3, "a", 5, CPU)
    assert same(reference, draw(9, 30, 3, "a", 5, CPU))
    for other in ((4, "a", 5), (3, "b", 5), (3, "a", 6)):
        mazes = draw(9, 30, *other, CPU)
        assert not torch.equal(mazes.walls, reference.walls)
        assert len(set(grids(mazes)) & set(grids(reference))) < 5


def test_drawing_mazes_leaves_the_global_generators_alone():
    torch.manual_seed(0)
    before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    draw(9, 10, 0, "a", 0, CPU)
    MazeStream(9, 4, 0, "a", CPU).at(3)
    assert torch.equal(torch.get_rng_state(), before)
    assert (np.random.get_state()[1] == numpy_before).all()  # noqa: NPY002


# --- Held out -----------------------------------------------------------------------------------


def test_one_maze_in_thirty_two_is_held_out_and_it_follows_from_its_walls_alone():
    mazes = draw(9, 8000, 0, "a", 0, CPU)
    kept = is_held_out(mazes)
    assert stats.binomtest(int(kept.sum()), 8000, 1 / 32).pvalue > 1e-4
    assert torch.equal(is_held_out(mazes[::3]), kept[::3])
    odd = np.random.default_rng(0).integers(1, 2**62, 81) | 1
    with np.errstate(over="ignore"):
        keys = mazes.walls.flatten(1).numpy().astype(np.int64) @ odd  # wraps around at 2^64
    assert np.array_equal((keys >> 32) % 32 == 0, kept.numpy())
    for one in (*kept.nonzero()[:5, 0].tolist(), *range(5)):
        assert is_held_out(Mazes(mazes.walls[one : one + 1], torch.zeros(1, 1)))[0] == kept[one]


@pytest.mark.parametrize("size, count", [(7, 5), (9, 256), (17, 64)])
def test_an_examination_has_the_asked_number_of_distinct_held_out_mazes_with_their_paths(
    size, count
):
    mazes = evaluation_mazes(size, count, CPU)
    assert len(mazes) == count == len(set(grids(mazes))) and is_held_out(mazes).all()
    for number, walls in enumerate(grids(mazes)):
        assert slow_maze.shortest_paths(walls) == [path_of(mazes, number)]
    assert same(mazes, evaluation_mazes(size, count, CPU))


def test_fresh_mazes_are_never_held_out_nor_in_the_examination():
    """16,000 mazes of 9x9: without the filter about 500 would be held out."""
    exam, fresh = set(grids(evaluation_mazes(9, 256, CPU))), MazeStream(9, 64, 0, "mazes", CPU)
    unfiltered = draw(9, 16_000, 0, "mazes", 0, CPU)
    assert is_held_out(unfiltered).sum() > 400 and len(exam & set(grids(unfiltered))) > 15
    seen = [fresh.at(step) for step in range(250)]
    assert not any(is_held_out(mazes).any() for mazes in seen)
    assert not exam & {walls for mazes in seen for walls in grids(mazes)}
    assert all(len(mazes) == 64 for mazes in seen)


def test_the_mazes_of_a_step_follow_from_seed_stream_and_step_whatever_was_asked_before():
    fresh, steps = MazeStream(9, 4, 1, "mazes", CPU), [0, 1, 63, 64, 65, 127, 128, 200]
    in_order = {step: fresh.at(step) for step in steps}
    shuffled = MazeStream(9, 4, 1, "mazes", CPU)
    for step in (200, 0, 128, 63, 64, 1, 127, 65, 0):
        assert same(shuffled.at(step), in_order[step])
        assert same(MazeStream(9, 4, 1, "mazes", CPU).at(step), in_order[step])
    for seed, stream in ((2, "mazes"), (1, "start")):
        assert not torch.equal(MazeStream(9, 4, seed, stream, CPU).at(0).walls, in_order[0].walls)


# --- Refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 1, 0, -5, 4, 6, 16])
def test_a_size_that_is_even_or_too_small_is_refused_in_one_sentence(size):
    for call, *given in (
        (count_mazes,),
        (draw, 1, 0, "a", 0, CPU),
        (MazeStream, 1, 0, "a", CPU),
        (evaluation_mazes, 1, CPU),
    ):
        assert refusal(call, size, *given).startswith(
            f"size = {size}: a maze has walls between its cells, so its side"
        )


def test_more_held_out_mazes_than_there_are_is_refused_in_one_sentence():
    said = (
        "size = 7 has 192 mazes, of which 5 are held out: 6 were requested; request fewer or use a"
        " larger size, or set measure = 'fit' to evaluate on mazes that are trained on"
    )
    assert refusal(evaluation_mazes, 7, 6, CPU) == said


def test_a_size_of_which_too_few_mazes_may_be_trained_on_is_refused_in_one_sentence(monkeypatch):
    monkeypatch.setattr(world, "is_held_out", lambda mazes: torch.arange(len(mazes)) % 4 == 0)
    assert "mazes of size 9 may be trained on: use a larger size" in refusal(
        MazeStream(9, 16, 0, "a", CPU).at, 0
    )


# --- Walking ------------------------------------------------------------------------------------

LENGTH = 22


def near(answer: list[int], rng: random.Random) -> list[int]:
    """The right answer with a few faults, or no answer at all."""
    said = [token for token in answer if token]
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        at = rng.randrange(len(said) + 1)
        fault = rng.randrange(5)
        if fault == 0:
            del said[at : at + 1]
        elif fault == 1:  # another token, more often a move than anything else
            said[at : at + 1] = [rng.choice((*range(13, 17), rng.randrange(32)))]
        elif fault == 2:
            said.insert(at, rng.choice((7, 2, 0, *range(13, 17))))
        elif fault == 3:
            said = [one for one in said if one != 7]
        else:
            said += rng.choices((7, 2, 0, *range(13, 17)), k=4)
    if rng.random() < 0.1:
        said = rng.choices((7, 2, 0, 13, 14, 15, 16, 14, 16), k=LENGTH)
    if rng.random() < 0.05:
        said = rng.choice(([], [7], [13, 13, 7], [15] * LENGTH, [16] * 20 + [7], [2, 7]))
    return (said + [0] * LENGTH)[:LENGTH]


@pytest.mark.parametrize("size", [5, 9])
def test_walking_judges_thousands_of_rollouts_as_the_slow_verifier_does(size):
    rng, mazes = random.Random(size), draw(size, 40, 0, "a", 0, CPU)
    answers = mazes.answers().tolist()
    tokens = torch.tensor([[near(answer, rng) for _ in range(50)] for answer in answers])
    walks, seen = walk(mazes, tokens), Counter()
    for maze, walls in enumerate(grids(mazes)):
        for rollout, said in enumerate(tokens[maze].tolist()):
            outcome = slow_maze.verify(walls, said)
            assert OUTCOMES[walks.outcome[maze, rollout]] == outcome, said
            assert walks.right[maze, rollout] == (outcome == "right")
            seen[outcome] += 1
    assert min(seen[outcome] for outcome in OUTCOMES) > 50


PATH = [14, 14, 16, 16, 16, 16, 14, 14]  # the right one


@pytest.mark.parametrize(
    "said, outcome",
    [
        ([*PATH, 7], "right"),
        ([*PATH, 7, 12, 13, 2], "right"),  # what follows DONE does not count
        ([*PATH, 14, 14, 14, 7], "right"),  # nor a wall after the goal
        ([14, 13, *PATH, 7], "right"),  # to and fro
        ([*PATH, 2, 7], "garbled"),
        (PATH, "endless"),
        ([*PATH[:-1], 7], "short"),
        ([7, *PATH, 7], "short"),
        ([16, 16, 16, 16, 14, 14, 14, 14, 7], "wall"),  # the paper's printed answer
        ([13, 13, 13, 7], "wall"),
        ([15, 15, 15, 14, 14, 7], "wall"),
    ],
)
def test_walks_through_the_papers_example(said, outcome):
    walks = walk(the_example(), torch.tensor([[said]]))
    assert OUTCOMES[walks.outcome[0, 0]] == outcome


def test_a_judge_that_follows_the_first_moves_alone_sees_no_later_wall():
    example, answer = the_example(), [16, 16, 16, 16, 14, 14, 14, 14]  # meets a wall
    places = [(1 + max(0, k - 4), 1 + min(k, 4)) for k in range(9)]
    first = [bool(example.walls[0][place]) for place in places].index(True)
    tokens = torch.tensor([[[*answer, 7], [*PATH[:-1], 7, 0]]])
    for checked in range(1, 9):
        assert walk(example, tokens, checked).right.tolist() == [[checked < first, False]]
