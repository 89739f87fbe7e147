"""Pictures of mazes and of what rollouts do in them (MaxRL figure 10). Floor 3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from lab.show.plots import BLUE, GREEN, RED

MOVES = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def read_grid(text: str) -> np.ndarray:
    """Boolean walls "size size" from rows of '#' and '.' joined by '/', as the maze world records
    them.
    """
    return np.array([[cell == "#" for cell in row] for row in text.split("/")])


def cells_of(walls: np.ndarray, walk: str) -> np.ndarray:
    """The cells, "cells 2", that a walk in letters U, D, L, R visits from the start: to the goal,
    or into a wall.
    """
    goal, cells = (len(walls) - 2, len(walls) - 2), [(1, 1)]
    for letter in walk:
        if letter not in MOVES or cells[-1] == goal or walls[cells[-1]]:
            break
        cells.append((cells[-1][0] + MOVES[letter][0], cells[-1][1] + MOVES[letter][1]))
    return np.array(cells)


def draw_maze(axes, grid: str) -> np.ndarray:
    """Walls, the start (S) and the goal (G). Returns the walls."""
    walls = read_grid(grid)
    axes.imshow(np.where(walls, 0.35, 1.0), cmap="gray", vmin=0, vmax=1)
    for row, letter in ((1, "S"), (len(walls) - 2, "G")):
        axes.text(
            row, row, letter, ha="center", va="center", fontsize=7, fontweight="bold", color=BLUE
        )
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    axes.spines[:].set_visible(False)
    return walls


def draw_walks(axes, grid: str, walks: Iterable[str]) -> dict[str, int]:
    """Many rollouts on one maze: a step is as wide as it is frequent, a cross where some die as
    large as they are many.

    Steps of rollouts that reach the goal are green, those of the others red. Returns how many were
    right and wrong.
    """
    walls = draw_maze(axes, grid)
    goal, steps, deaths, ended = (len(walls) - 2,) * 2, Counter(), Counter(), Counter()
    for walk in walks:
        cells = list(map(tuple, cells_of(walls, walk)))
        right = cells[-1] == goal and set(walk.partition(".")[0]) <= MOVES.keys() and "." in walk
        ended["right" if right else "wrong"] += 1
        deaths[cells[-1]] += not right
        steps.update((right, *step) for step in zip(cells, cells[1:], strict=False))
    total = max(1, ended.total())
    for (right, (r0, c0), (r1, c1)), count in sorted(steps.items()):
        shift = -0.12 if right else 0.12  # right and wrong side by side
        axes.plot(
            [c0 + shift, c1 + shift],
            [r0 + shift, r1 + shift],
            color=GREEN if right else RED,
            linewidth=0.6 + 4 * count / total,
            linestyle="-" if right else (0, (2, 0.6)),
            solid_capstyle="round",
        )
    for (row, column), count in deaths.items():
        if count:
            axes.plot(
                column,
                row,
                "x",
                color=RED,
                markersize=3 + 9 * (count / total) ** 0.5,
                markeredgewidth=1.2,
            )
    return {"right": ended["right"], "wrong": ended["wrong"]}
