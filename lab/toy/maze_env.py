"""Mazes as in MaxRL (2602.02710, section 6.2 and appendix E.1): generation, tokens, verification.

A maze is a uniform-frontier Prim tree over the cells at odd coordinates of an odd square grid, with
the start in one corner and the goal in the opposite one. The official generator grows it cell by
cell: a uniformly chosen cell of the frontier joins the tree through a uniformly chosen neighbour
that has already joined.

Here all mazes of a batch grow at once. Give each cell a clock, Exp(1), that starts when its first
neighbour joins. An exponential clock has no memory, so the next clock to ring is uniform over the
frontier. The times of joining therefore solve t[cell] = clock[cell] + min over neighbours t. This
is a shortest-path equation, which sweeps over the whole grid solve, with the same bits on a CPU and
a GPU.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from lab.errors import LabError
from lab.shapes import Bool, Float, Int
from lab.training.rng import generator

# As published. The model's vocabulary has 32 tokens; those after these 18 are never used.
WORDS = "<pad> <bos> <eos> <unk> GRID_START GRID_END PATH_START DONE PATH WALL GOAL START NEWLINE"
VOCABULARY = (*WORDS.split(), "UP", "DOWN", "LEFT", "RIGHT", "\n")
PAD, BOS, EOS, _, GRID_START, GRID_END, PATH_START, DONE, PATH, WALL, GOAL, START, NEWLINE, UP = (
    range(14)
)
OUTCOMES = ("right", "wall", "short", "endless", "garbled")
TICKS = 2**20  # of a clock in a unit of time
NEVER = 2**30  # the time, in ticks, at which places outside the grid join
HELD_OUT = 32  # one maze in 32 is never trained on
STEPS_PER_DRAW = 64  # training steps whose mazes are generated together


@dataclass(frozen=True)
class Mazes:
    """A batch of mazes and their paths; in a tree the path from start to goal is unique.

    `path` is int64: 0 to 3 for up, down, left, right, then -1 after the goal.
    """

    walls: Bool[Tensor, "mazes size size"]
    path: Int[Tensor, "mazes longest"]

    def __len__(self) -> int:
        return len(self.walls)

    def __getitem__(self, index: slice | Tensor) -> Mazes:
        return Mazes(self.walls[index], self.path[index])

    @property
    def size(self) -> int:
        return self.walls.shape[1]

    def prompts(self) -> Int[Tensor, "mazes prompt_length"]:
        """As int32 (E.1.2): <bos> GRID_START, the rows, each with NEWLINE, GRID_END PATH_START."""
        count, size = len(self), self.size
        tokens = self.walls.new_empty(count, prompt_length(size), dtype=torch.int8)
        for place, token in ((0, BOS), (1, GRID_START), (-2, GRID_END), (-1, PATH_START)):
            tokens[:, place] = token
        grid = tokens[:, 2:-2].view(count, size, size + 1)
        # WALL is the token after PATH.
        torch.add(self.walls.view(torch.int8), PATH, out=grid[:, :, :-1])
        grid[:, :, -1] = NEWLINE
        grid[:, 1, 1] = START
        grid[:, -2, -3] = GOAL
        return tokens.int()

    def answers(self) -> Int[Tensor, "mazes longest_plus_2"]:
        """The targets of supervised training, int64: the path, DONE, <eos>, then <pad>."""
        moves = F.pad(self.path, (0, 2), value=-1)
        tokens = torch.where(moves >= 0, moves + UP, PAD)
        length = (moves >= 0).sum(1, keepdim=True)
        return tokens.scatter_(1, length, DONE).scatter_(1, length + 1, EOS)


def prompt_length(size: int) -> int:
    """The number of tokens in the prompt of a maze: 310 at 17x17."""
    return size * (size + 1) + 4


def count_mazes(size: int) -> int:
    """The number of mazes of this size, to float precision.

    They are the spanning trees of the grid of cells, counted by Kirchhoff's theorem.

    >>> [count_mazes(size) for size in (5, 7, 9, 11)]
    [4, 192, 100352, 557568000]
    """
    cells = check_size(size) // 2
    angle = np.arange(cells) * math.pi / cells
    eigenvalues = (4 - 2 * np.cos(angle)[:, None] - 2 * np.cos(angle)).ravel()[1:]
    return round(Decimal(np.log(eigenvalues).sum() - 2 * math.log(cells)).exp())


def check_size(size: int) -> int:
    """Return `size`; LabError unless it is odd and at least 5."""
    if size < 5 or size % 2 == 0:
        raise LabError(
            f"size = {size}: a maze has walls between its cells, so its side is odd and at least 5"
            " (17 as published)"
        )
    return size


def grow(
    clocks: Float[Tensor, "cells cells mazes"], choices: Float[Tensor, "cells cells mazes"]
) -> Mazes:
    """Mazes from random numbers.

    `clocks` are Exp(1), the time from the first neighbour's joining to a cell's own; `choices` are
    uniform in [0, 1), and select a neighbour that had joined.
    """
    cells, _, count = clocks.shape
    # Integers add exactly. Adding 1 makes every cell join after its parent.
    ticks = (clocks * TICKS).int() + 1
    times = ticks.new_full((cells + 2, cells + 2, count), NEVER)
    times[1, 1] = 0
    inner = times[1:-1, 1:-1]
    up = times[:-2, 1:-1]
    down = times[2:, 1:-1]
    left = times[1:-1, :-2]
    right = times[1:-1, 2:]
    swept = torch.empty_like(ticks)
    settled = False
    while not settled:
        for _ in range(4):  # comparing costs as much as a sweep, so compare after every fourth
            torch.minimum(up, down, out=swept)
            torch.minimum(swept, torch.minimum(left, right), out=swept).add_(ticks)
            swept[0, 0] = 0
            last = inner.clone()
            inner[:] = swept
        settled = torch.equal(last, swept)

    # Of the neighbours that joined earlier: how many there are among the first 1, 2, 3 and 4.
    earlier = [(up < inner).to(torch.int8)]
    for neighbour in (down, left, right):
        earlier.append(earlier[-1] + (neighbour < inner))
    # Rounding may bring the product up to the number of candidates itself.
    candidate = torch.minimum((choices * earlier[-1]).to(torch.int8), earlier[-1] - 1)
    # The direction of the parent: 0 to 3 for up, down, left, right, and -1 for the start.
    parent = torch.zeros_like(candidate)
    for number in earlier[:-1]:
        parent += (number <= candidate).to(torch.int8)
    parent[0, 0] = -1
    return Mazes(_walls(parent), _path(parent))


def _walls(parent: Int[Tensor, "cells cells mazes"]) -> Bool[Tensor, "mazes size size"]:
    """The walls, from each cell's direction to its parent."""
    cells, _, count = parent.shape
    walls = torch.ones(2 * cells + 1, 2 * cells + 1, count, dtype=torch.bool, device=parent.device)
    walls[1::2, 1::2] = False
    walls[2:-1:2, 1::2] = (parent[1:] != 0) & (parent[:-1] != 1)
    walls[1::2, 2:-1:2] = (parent[:, 1:] != 2) & (parent[:, :-1] != 3)
    return walls.permute(2, 0, 1).contiguous()


def _path(parent: Int[Tensor, "cells cells mazes"]) -> Int[Tensor, "mazes longest"]:
    """The moves from start to goal: the goal's line of parents, read backwards."""
    cells, _, count = parent.shape
    parent = parent.reshape(cells * cells, count)
    # By direction. The last entry is for direction -1, the start, which has no parent.
    offsets = torch.tensor([-cells, cells, -1, 1, 0], device=parent.device)
    cell = torch.full((1, count), cells * cells - 1, device=parent.device)
    directions = []
    while cell.any():
        directions.append(parent.gather(0, cell))
        cell = cell + offsets[directions[-1].long()]
    back = torch.cat(directions).T
    length = (back >= 0).sum(1, keepdim=True)
    order = length - 1 - torch.arange(back.shape[1], device=back.device)
    # ^ 1 reverses a move: up and down, left and right.
    moves = torch.where(order >= 0, back.gather(1, order.clamp_min(0)) ^ 1, -1)
    return moves.repeat_interleave(2, dim=1).long()  # cells are two places apart


def moves_to_goal(walls: Bool[Tensor, "mazes size size"]) -> Int[Tensor, "mazes size size"]:
    """The moves from each place to the goal, int32; NEVER in walls and where no way leads.

    >>> moves_to_goal(draw(5, 1, 0, "example", 0, torch.device("cpu")).walls)[0, 1, 1].item()
    4
    """
    count, size, _ = walls.shape
    moves = walls.new_full((count, size + 2, size + 2), NEVER, dtype=torch.int32)
    moves[:, size - 1, size - 1] = 0  # the goal is (size - 2, size - 2); here with a margin of 1
    inner = moves[:, 1:-1, 1:-1]
    settled = False
    while not settled:
        last = inner.clone()
        vertical = torch.minimum(moves[:, :-2, 1:-1], moves[:, 2:, 1:-1])
        horizontal = torch.minimum(moves[:, 1:-1, :-2], moves[:, 1:-1, 2:])
        nearer = (torch.minimum(vertical, horizontal) + 1).clamp_max(NEVER)
        inner[:] = torch.minimum(last, torch.where(walls, NEVER, nearer))
        settled = torch.equal(last, inner)
    return inner


def draw(
    size: int,
    count: int,
    seed: int,
    stream: str,
    number: int,
    device: torch.device,
    loops: float = 0,
) -> Mazes:
    """`count` mazes, a function of the seed, the stream's name and the number on every device.

    `loops` is the share of inner walls that `open_walls` opens.
    """
    random = generator(seed, stream, number)
    cells = check_size(size) // 2
    clocks = random.standard_exponential((cells, cells, count), dtype=np.float32)
    choices = random.random((cells, cells, count), dtype=np.float32)
    mazes = grow(torch.from_numpy(clocks).to(device), torch.from_numpy(choices).to(device))
    if not loops:
        return mazes
    chances = random.random((count, size, size), dtype=np.float32)
    return open_walls(mazes, torch.from_numpy(chances < loops).to(device))


def open_walls(mazes: Mazes, opened: Bool[Tensor, "mazes size size"]) -> Mazes:
    """The mazes without those walls between two of their cells that are in `opened`.

    `path` becomes one of the shortest paths: at every place the first move of up, down, left and
    right that leads nearer to the goal.
    """
    walls = mazes.walls.clone()
    walls[:, 2:-1:2, 1::2] &= ~opened[:, 2:-1:2, 1::2]
    walls[:, 1::2, 2:-1:2] &= ~opened[:, 1::2, 2:-1:2]
    size = mazes.size
    distance = moves_to_goal(walls).flatten(1)
    offsets = torch.tensor([-size, size, -1, 1], device=walls.device)
    place = torch.full((len(walls), 1), size + 1, device=walls.device)
    remaining = distance.gather(1, place)
    moves = []
    while remaining.any():
        move = distance.gather(1, place + offsets).argmin(1, keepdim=True)
        move = torch.where(remaining > 0, move, -1)
        moves.append(move)
        place = place + torch.where(move >= 0, offsets[move], 0)
        remaining = distance.gather(1, place)
    return Mazes(walls, torch.cat(moves, 1))


def is_held_out(mazes: Mazes) -> Bool[Tensor, " mazes"]:
    """Whether each maze is kept for evaluation alone, which depends on its walls alone."""
    odd = np.random.default_rng(0).integers(1, 2**62, mazes.size**2) | 1
    weights = torch.from_numpy(odd).to(mazes.walls.device)
    # A sum, because CUDA has no product of integer matrices. Overflow wraps around, as intended.
    key = torch.where(mazes.walls.flatten(1), weights, 0).sum(1)
    return (key >> 32) % HELD_OUT == 0


@lru_cache(maxsize=8)
def evaluation_mazes(
    size: int, count: int, device: torch.device, loops: float = 0.0, held_out: bool = True
) -> Mazes:
    """`count` different mazes, `held_out` or any. LabError: there are fewer of this size."""
    # The streams' names are part of the random numbers and must stay as they are.
    stream, at_once = ("examination", HELD_OUT) if held_out else ("any", 16)
    cpu = torch.device("cpu")
    longest = 0
    distinct: dict[bytes, tuple[Tensor, Tensor]] = {}
    for number in range(64):
        mazes = draw(size, at_once * max(count, 64), 0, stream, number, cpu, loops)
        if held_out:
            mazes = mazes[is_held_out(mazes)]
        longest = max(longest, mazes.path.shape[1])
        for maze in zip(mazes.walls, mazes.path, strict=True):
            distinct.setdefault(maze[0].numpy().tobytes(), maze)
        if len(distinct) >= count:
            break
    else:
        every = "many" if loops else count_mazes(size)
        kept = f", of which {len(distinct)} are held out" if held_out else ""
        cure = ", or set measure = 'fit' to evaluate on mazes that are trained on"
        raise LabError(
            f"size = {size} has {every} mazes{kept}: {count} were requested; request fewer or use"
            f" a larger size{cure if held_out else ''}"
        )
    chosen = list(distinct.values())[:count]
    walls = torch.stack([walls for walls, _ in chosen])
    paths = [F.pad(path, (0, longest - len(path)), value=-1) for _, path in chosen]
    return Mazes(walls.to(device), torch.stack(paths).to(device))


@dataclass
class MazeStream:
    """Mazes to train on, `batch` a step: independent draws.

    Held-out mazes are left out where `measure` is "generalisation", as in `MazeStartConfig`. They
    are a function of the seed, the stream's name and the step. Independent draws may repeat:
    at 17x17, with about 1e26 mazes, in practice never; at 9x9 there are 100,352.
    """

    size: int
    batch: int
    seed: int
    stream: str
    device: torch.device
    loops: float = 0.0
    measure: str = "generalisation"
    _drawn: tuple[int, Mazes] | None = None  # the last draw and its number

    def __post_init__(self) -> None:
        check_size(self.size)

    def at(self, step: int) -> Mazes:
        """The mazes of one step."""
        number, place = divmod(step, STEPS_PER_DRAW)
        if self._drawn is None or number != self._drawn[0]:
            self._drawn = number, self._draw(number)
        first = place * self.batch
        return self._drawn[1][first : first + self.batch]

    def _draw(self, number: int) -> Mazes:
        count = needed = STEPS_PER_DRAW * self.batch
        if self.measure == "generalisation":
            count += needed // 8 + 64  # more than are needed, because one in 32 is held out
        mazes = draw(self.size, count, self.seed, self.stream, number, self.device, self.loops)
        if self.measure == "fit":
            return mazes
        mazes = mazes[~is_held_out(mazes)]
        if len(mazes) < needed:
            raise LabError(
                f"{len(mazes)} of {needed} mazes of size {self.size} may be trained on:"
                " use a larger size, of which fewer are held out"
            )
        return mazes


@dataclass(frozen=True)
class PathOutcome:
    """What became of rollouts in their mazes.

    Outcomes: 0 right; 1 met a wall; 2 DONE before the goal; 3 no DONE; 4 a token that is no move.
    """

    outcome: Int[Tensor, "mazes rollouts"]  # a place in OUTCOMES
    steps: Int[Tensor, "mazes rollouts"]  # moves before the goal, the wall or the end
    # Row and column after each move, valid up to `steps`.
    cells: Int[Tensor, "mazes rollouts length_plus_1 2"]

    @property
    def right(self) -> Bool[Tensor, "mazes rollouts"]:
        """Whether each rollout is a right answer."""
        return self.outcome == 0


def walk(mazes: Mazes, tokens: Int[Tensor, "mazes rollouts length"]) -> PathOutcome:
    """Follow rollouts through their mazes by the official rule, without a loop.

    The moves before the first DONE count up to the first wall or the goal, and the goal must come
    first. A rollout without DONE, or with anything but moves before it, is wrong.
    """
    length, device = tokens.shape[2], tokens.device
    done = _first_true(tokens == DONE)
    before_done = torch.arange(length, device=device) < done[:, :, None]
    moves = tokens - UP
    is_move = (moves >= 0) & (moves < 4)
    moves = torch.where(before_done, moves, -1)
    down = (moves == 1).int() - (moves == 0).int()
    across = (moves == 3).int() - (moves == 2).int()
    # The start is (1, 1).
    cells = F.pad(1 + torch.stack((down, across), -1).cumsum(2), (0, 0, 1, 0), value=1)
    # Beyond its first wall a path means nothing and may leave the grid.
    inside = cells.clamp(0, mazes.size - 1)
    maze = torch.arange(len(mazes), device=device)[:, None, None]
    first_wall = _first_true(mazes.walls[maze, inside[..., 0], inside[..., 1]])
    first_goal = _first_true((cells == mazes.size - 2).all(3))
    first_other = _first_true(before_done & ~is_move)
    outcome = torch.where(first_goal < first_wall, 0, torch.where(first_wall <= length, 1, 2))
    outcome = torch.where(done == length, 3, outcome)
    outcome = torch.where((first_other < length) & (done < length), 4, outcome)
    steps = torch.stack((first_wall, first_goal, done, first_other)).amin(0)
    return PathOutcome(outcome, steps, cells)


def _first_true(condition: Bool[Tensor, "mazes rollouts length"]) -> Int[Tensor, "mazes rollouts"]:
    """The first true index along the last axis; the length of that axis where there is none."""
    return F.pad(condition, (0, 1), value=True).to(torch.uint8).argmax(-1)
