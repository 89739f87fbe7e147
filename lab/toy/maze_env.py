"""Mazes as in MaxRL (2602.02710, section 6.2 and appendix E.1): made, written as tokens, walked.
Floor 2.

A maze is a uniform-frontier Prim tree over the cells at odd coordinates of an odd square grid, with
the start in one corner and the goal in the opposite one. The official generator grows it cell by
cell: a uniformly chosen cell of the frontier joins through a uniformly chosen grown neighbour. Here
all mazes of a batch grow at once: give each cell a clock, Exp(1), that starts when its first
neighbour has joined; as an exponential clock has no memory, the next to ring is uniform over the
frontier. So the times of joining solve t[cell] = clock[cell] + min over neighbours t, a
shortest-path equation that whole-array sweeps settle, on a CPU or a GPU, bit for bit alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import numpy as np
import torch

from lab.errors import LabError
from lab.rng import generator

VOCABULARY = (
    "<pad>",
    "<bos>",
    "<eos>",
    "<unk>",
    "GRID_START",
    "GRID_END",
    "PATH_START",
    "DONE",
    "PATH",
    "WALL",
    "GOAL",
    "START",
    "NEWLINE",
    "UP",
    "DOWN",
    "LEFT",
    "RIGHT",
    "\n",
)  # the published vocabulary: 18 words of 32 places
VOCABULARY_SIZE = 32
PAD, BOS, EOS, _, GRID_START, GRID_END, PATH_START, DONE, PATH, WALL, GOAL, START, NEWLINE, UP = (
    range(14)
)
OUTCOMES = ("right", "wall", "short", "endless", "garbled")
TICKS, NEVER = 2**20, 2**30  # of a clock in a unit of time; the time outside the grid
HELD_OUT = 32  # one maze in so many is never trained on
AHEAD = 64  # steps whose mazes are made at once


@dataclass(frozen=True)
class Mazes:
    """A batch of mazes with their only shortest paths.

    | field | shape | meaning |
    |---|---|---|
    | `walls` | "mazes size size" | boolean |
    | `path` | "mazes longest" | int64: 0 to 3 for up, down, left, right from start to goal, then -1 |
    """

    walls: torch.Tensor
    path: torch.Tensor

    def __len__(self) -> int:
        return len(self.walls)

    def __getitem__(self, which) -> Mazes:
        return Mazes(self.walls[which], self.path[which])

    @property
    def size(self) -> int:
        return self.walls.shape[1]

    def prompts(self) -> torch.Tensor:
        """Int32 "mazes prompt": <bos> GRID_START, the rows each ended by NEWLINE, GRID_END
        PATH_START (E.1.2).
        """
        count, size = len(self), self.size
        tokens = self.walls.new_empty(count, prompt_length(size), dtype=torch.int8)
        tokens[:, 0], tokens[:, 1], tokens[:, -2], tokens[:, -1] = (
            BOS,
            GRID_START,
            GRID_END,
            PATH_START,
        )
        grid = tokens[:, 2:-2].view(count, size, size + 1)
        torch.add(
            self.walls.view(torch.int8), PATH, out=grid[:, :, :-1]
        )  # WALL is the word after PATH
        grid[:, :, -1], grid[:, 1, 1], grid[:, -2, -3] = NEWLINE, START, GOAL
        return tokens.int()

    def answers(self) -> torch.Tensor:
        """Int64 "mazes longest+2": the shortest path, DONE, <eos>, then <pad>: the target of
        supervised training.
        """
        moves = torch.nn.functional.pad(self.path, (0, 2), value=-1)
        tokens = torch.where(moves >= 0, moves + UP, PAD)
        length = (moves >= 0).sum(1, keepdim=True)
        return tokens.scatter_(1, length, DONE).scatter_(1, length + 1, EOS)


def prompt_length(size: int) -> int:
    """Tokens of the prompt of a maze: 310 at 17x17."""
    return size * (size + 1) + 4


def count_mazes(size: int) -> int:
    """How many mazes of this size there are, the spanning trees of its cells (Kirchhoff), to float
    precision.

    >>> [count_mazes(size) for size in (5, 7, 9, 11)]
    [4, 192, 100352, 557568000]
    """
    cells = check_size(size) // 2
    angle = np.arange(cells) * math.pi / cells
    eigenvalues = (4 - 2 * np.cos(angle)[:, None] - 2 * np.cos(angle)).ravel()[1:]
    return round(Decimal(np.log(eigenvalues).sum() - 2 * math.log(cells)).exp())


def check_size(size: int) -> int:
    """`size`, refused unless it is odd and at least 5."""
    if size < 5 or size % 2 == 0:
        raise LabError(
            f"size = {size}: a maze has walls between its cells, so its side is odd and at least 5"
            " (17 as published)"
        )
    return size


def grow(clocks: torch.Tensor, choices: torch.Tensor) -> Mazes:
    """Mazes from their randomness.

    | argument | shape | meaning |
    |---|---|---|
    | `clocks` | "cells cells mazes" | Exp(1) variates: how long each cell waits after its first neighbour joined |
    | `choices` | "cells cells mazes" | uniform in [0, 1): through which of the neighbours that had joined |
    """
    cells, _, count = clocks.shape
    clocks = (
        clocks * TICKS
    ).int() + 1  # whole numbers add exactly, so a cell joins after its parent however fast
    times = clocks.new_full((cells + 2, cells + 2, count), NEVER)
    times[1, 1] = 0
    here, up, down = times[1:-1, 1:-1], times[:-2, 1:-1], times[2:, 1:-1]
    left, right = times[1:-1, :-2], times[1:-1, 2:]
    settled, swept = False, torch.empty_like(clocks)
    while not settled:
        for _ in range(4):  # comparing costs as much as a sweep
            torch.minimum(up, down, out=swept)
            torch.minimum(swept, torch.minimum(left, right), out=swept).add_(clocks)
            swept[0, 0] = 0
            last, here[:] = here.clone(), swept
        settled = torch.equal(last, swept)
    upto = [(up < here).to(torch.int8)]
    for neighbour in (down, left, right):
        upto.append(upto[-1] + (neighbour < here))
    nth = torch.minimum(
        (choices * upto[-1]).to(torch.int8), upto[-1] - 1
    )  # a product may round up to a whole number
    parent = sum((joined <= nth).to(torch.int8) for joined in upto[:-1])
    parent[0, 0] = -1
    return Mazes(_walls(parent), _path(parent))


def _walls(parent: torch.Tensor) -> torch.Tensor:
    """Boolean "mazes size size" from each cell's way to its parent, "cells cells mazes"."""
    cells, _, count = parent.shape
    walls = torch.ones(2 * cells + 1, 2 * cells + 1, count, dtype=torch.bool, device=parent.device)
    walls[1::2, 1::2] = False
    walls[2:-1:2, 1::2] = (parent[1:] != 0) & (parent[:-1] != 1)
    walls[1::2, 2:-1:2] = (parent[:, 1:] != 2) & (parent[:, :-1] != 3)
    return walls.permute(2, 0, 1).contiguous()


def _path(parent: torch.Tensor) -> torch.Tensor:
    """The moves from start to goal, "mazes longest": the goal's ancestors, read backwards."""
    cells, _, count = parent.shape
    parent = parent.reshape(cells * cells, count)
    step = torch.tensor(
        [-cells, cells, -1, 1, 0], device=parent.device
    )  # -1 stays: the start has no parent
    place, back = torch.full((1, count), cells * cells - 1, device=parent.device), []
    while place.any():
        back.append(parent.gather(0, place))
        place = place + step[back[-1].long()]
    back = torch.cat(back).T
    length = (back >= 0).sum(1, keepdim=True)
    order = length - 1 - torch.arange(back.shape[1], device=back.device)
    cells_moved = torch.where(
        order >= 0, back.gather(1, order.clamp_min(0)) ^ 1, -1
    )  # ^ 1 turns a move around
    return cells_moved.repeat_interleave(2, dim=1).long()


def draw(size: int, count: int, seed: int, stream: str, number: int, device: torch.device) -> Mazes:
    """`count` mazes, a function of the seed, the stream's name and the number: the same on every
    device.
    """
    random, cells = generator(seed, stream, number), check_size(size) // 2
    clocks = random.standard_exponential((cells, cells, count), dtype=np.float32)
    choices = random.random((cells, cells, count), dtype=np.float32)
    return grow(torch.from_numpy(clocks).to(device), torch.from_numpy(choices).to(device))


def is_held_out(mazes: Mazes) -> torch.Tensor:
    """Boolean "mazes": whether a maze is kept for evaluation. It follows from the walls alone, so
    no maze is both.
    """
    odd = np.random.default_rng(0).integers(1, 2**62, mazes.size**2) | 1
    weights = torch.from_numpy(odd).to(mazes.walls.device)
    # A sum, since CUDA has no product of whole-number matrices; it wraps around, as meant.
    key = torch.where(mazes.walls.flatten(1), weights, 0).sum(1)
    return (key >> 32) % HELD_OUT == 0


@lru_cache(maxsize=8)
def held_out_set(size: int, count: int, device: torch.device) -> Mazes:
    """`count` different held-out mazes, the same for every seed."""
    kept: dict[bytes, tuple[torch.Tensor, torch.Tensor]] = {}
    longest = 0
    for number in range(64):
        mazes = draw(size, HELD_OUT * max(count, 64), 0, "examination", number, torch.device("cpu"))
        mazes = mazes[is_held_out(mazes)]
        longest = max(longest, mazes.path.shape[1])
        for walls, path in zip(mazes.walls, mazes.path, strict=True):
            kept.setdefault(walls.numpy().tobytes(), (walls, path))
        if len(kept) >= count:
            walls, paths = zip(*list(kept.values())[:count], strict=True)
            paths = [
                torch.nn.functional.pad(path, (0, longest - len(path)), value=-1) for path in paths
            ]
            return Mazes(torch.stack(walls).to(device), torch.stack(paths).to(device))
    raise LabError(
        f"size = {size} has {count_mazes(size)} mazes, of which {len(kept)} are held out: {count}"
        " were asked for; ask for fewer or take a larger size"
    )


class MazeStream:
    """Mazes to train on, `batch` a step: independent draws, never a held-out one, a function of
    seed, stream and step.

    Independent draws may repeat: at 17x17, with about 1e26 mazes, in practice never; at 9x9 there
    are 100,352.
    """

    def __init__(self, size: int, batch: int, seed: int, stream: str, device: torch.device) -> None:
        self.size, self.batch, self.seed, self.stream, self.device = (
            check_size(size),
            batch,
            seed,
            stream,
            device,
        )
        self.number, self.made = -1, None

    def at(self, step: int) -> Mazes:
        """The mazes of one step; those of 64 steps are made together."""
        if step // AHEAD != self.number:
            self.number, needed = step // AHEAD, AHEAD * self.batch
            mazes = draw(
                self.size,
                needed + needed // 8 + 64,
                self.seed,
                self.stream,
                self.number,
                self.device,
            )
            self.made = mazes[~is_held_out(mazes)]
            if len(self.made) < needed:
                raise LabError(
                    f"{len(self.made)} of {needed} mazes of size {self.size} may be trained on:"
                    " take a larger size, of which fewer are held out"
                )
        first = step % AHEAD * self.batch
        return self.made[first : first + self.batch]


@dataclass(frozen=True)
class PathOutcome:
    """What rollouts did. Shapes "mazes rollouts", int64.

    `outcome`: 0 right; 1 met a wall; 2 said DONE before the goal; 3 never said DONE; 4 said
    something that is no move. `steps`: moves made before the goal, the wall or the end. `cells`:
    "mazes rollouts length+1 2", row and column after each move, true for the first `steps` of them.
    """

    outcome: torch.Tensor
    steps: torch.Tensor
    cells: torch.Tensor

    @property
    def right(self) -> torch.Tensor:
        return self.outcome == 0


def walk(mazes: Mazes, tokens: torch.Tensor) -> PathOutcome:
    """Follow rollouts, int64 "mazes rollouts length", by the official rule, without a loop.

    The moves before the first DONE are walked until the first wall or the goal; the goal must come
    first; without DONE, or with anything but moves before it, the rollout is wrong, even past the
    goal.
    """
    length, device = tokens.shape[2], tokens.device
    ends = tokens == DONE
    done = torch.where(ends.any(2), ends.to(torch.uint8).argmax(2), length)
    before = torch.arange(length, device=device) < done[:, :, None]
    moves = tokens - UP
    is_move = (moves >= 0) & (moves < 4)
    moves = torch.where(before, moves, -1)
    deltas = torch.stack(
        ((moves == 1).int() - (moves == 0).int(), (moves == 3).int() - (moves == 2).int()), -1
    )
    cells = torch.nn.functional.pad(1 + deltas.cumsum(2), (0, 0, 1, 0), value=1)
    inside = cells.clamp(
        0, mazes.size - 1
    )  # beyond the first wall a walk is not real and may leave the grid
    maze = torch.arange(len(mazes), device=device)[:, None, None]
    first_wall = _first(mazes.walls[maze, inside[..., 0], inside[..., 1]])
    first_goal = _first((cells == mazes.size - 2).all(3))
    first_other = _first(before & ~is_move)
    outcome = torch.where(first_goal < first_wall, 0, torch.where(first_wall <= length, 1, 2))
    outcome = torch.where(done == length, 3, outcome)
    outcome = torch.where((first_other < length) & (done < length), 4, outcome)
    steps = torch.stack((first_wall, first_goal, done, first_other)).amin(0)
    return PathOutcome(outcome, steps, cells)


def _first(where: torch.Tensor) -> torch.Tensor:
    """The first true index along the last axis; its length where there is none."""
    return torch.where(where.any(-1), where.to(torch.uint8).argmax(-1), where.shape[-1])
