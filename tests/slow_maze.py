"""The maze world by the slowest obvious means: one cell, one move, one token at a time. Imports
nothing of the lab.

A maze is `walls`, a tuple of rows of booleans; a cell is (row, column) counted in cells, a place
(row, column) counted in squares of the grid. The walk from place (1, 1) to (size - 2, size - 2) is
written with tokens 13 to 16.
"""

import itertools
from collections import Counter, deque
from fractions import Fraction

DONE, UP, DOWN, LEFT, RIGHT = 7, 13, 14, 15, 16
MOVES = {UP: (-1, 0), DOWN: (1, 0), LEFT: (0, -1), RIGHT: (0, 1)}


# --- Growing ------------------------------------------------------------------------------------


def neighbours(cell, cells: int) -> list:
    near = [(cell[0] + row, cell[1] + column) for row, column in MOVES.values()]
    return [one for one in near if 0 <= one[0] < cells and 0 <= one[1] < cells]


def walls_of(passages, cells: int) -> tuple:
    """The grid in which cells are open, and the squares between the two of every passage."""
    size = 2 * cells + 1
    grid = [[True] * size for _ in range(size)]
    for row, column in itertools.product(range(cells), repeat=2):
        grid[2 * row + 1][2 * column + 1] = False
    for one, other in passages:
        grid[one[0] + other[0] + 1][one[1] + other[1] + 1] = False
    return tuple(map(tuple, grid))


def prim(size: int, random) -> tuple:
    """Prim's algorithm: `random` chooses a cell of the frontier, then a grown neighbour."""
    cells = size // 2
    grown, frontier, passages = set(), [], []
    cell = 0, 0
    while True:
        grown.add(cell)
        frontier += [
            one for one in neighbours(cell, cells) if one not in grown and one not in frontier
        ]
        if not frontier:
            return walls_of(passages, cells)
        cell = random.choice(frontier)
        frontier.remove(cell)
        passages.append(
            (cell, random.choice([one for one in neighbours(cell, cells) if one in grown]))
        )


def prim_chances(size: int) -> dict:
    """The exact probability of every maze: Prim's algorithm, all its choices followed."""
    cells = size // 2
    trees = {frozenset(): Fraction(1)}
    for _ in range(cells**2 - 1):
        larger = Counter()
        for passages, chance in trees.items():
            grown = {(0, 0)}.union(*passages)
            frontier = {one for cell in grown for one in neighbours(cell, cells)} - grown
            for cell in frontier:
                ways = [one for one in neighbours(cell, cells) if one in grown]
                for one in ways:
                    larger[passages | {(one, cell)}] += chance / len(frontier) / len(ways)
        trees = larger
    chances = Counter()
    for passages, chance in trees.items():  # the same tree may be grown in several directions
        chances[walls_of(passages, cells)] += chance
    return dict(chances)


def spanning_trees(size: int) -> set:
    """Every maze of this size: all sets of passages that connect all cells as a tree."""
    cells = size // 2
    everywhere = list(itertools.product(range(cells), repeat=2))
    edges = [(one, cell) for one in everywhere for cell in neighbours(one, cells) if one < cell]
    grids = (walls_of(chosen, cells) for chosen in itertools.combinations(edges, cells**2 - 1))
    return {walls for walls in grids if is_tree(walls)}


# --- Looking ------------------------------------------------------------------------------------


def is_tree(walls) -> bool:
    """Cells open, corners and border closed, one passage fewer than cells, all in reach."""
    size = len(walls)
    for row, column in itertools.product(range(size), repeat=2):
        odd = row % 2 + column % 2
        if odd == 2 and walls[row][column] or odd == 0 and not walls[row][column]:
            return False
        if (row in (0, size - 1) or column in (0, size - 1)) and not walls[row][column]:
            return False
    cells = (size // 2) ** 2
    is_open = sum(not wall for row in walls for wall in row)
    return is_open == 2 * cells - 1 == len(distances(walls, (1, 1)))


def distances(walls, start) -> dict:
    """Moves from `start` to every place within reach, breadth first."""
    found, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        for row, column in MOVES.values():
            place = here[0] + row, here[1] + column
            if not walls[place[0]][place[1]] and place not in found:
                found[place] = found[here] + 1
                queue.append(place)
    return found


def shortest_paths(walls) -> list:
    """Every shortest way from start to goal, as tokens."""
    to_goal = distances(walls, (len(walls) - 2,) * 2)
    ways = [((1, 1), [])]
    for _ in range(to_goal[1, 1]):
        ways = [
            ((here[0] + row, here[1] + column), [*said, token])
            for here, said in ways
            for token, (row, column) in MOVES.items()
            if to_goal.get((here[0] + row, here[1] + column)) == to_goal[here] - 1
        ]
    return [said for _, said in ways]


# --- Walking ------------------------------------------------------------------------------------


def verify(walls, tokens) -> str:
    """How a rollout ends, by the moves up to the wall, the goal or the first other token."""
    goal, place, met = (len(walls) - 2,) * 2, (1, 1), "short"
    for token in tokens:
        if token not in MOVES:
            break
        place = place[0] + MOVES[token][0], place[1] + MOVES[token][1]
        if walls[place[0]][place[1]]:
            met = "wall"
            break
        if place == goal:
            met = "right"
            break
    if DONE not in tokens:
        return "endless"
    if any(token not in MOVES for token in tokens[: tokens.index(DONE)]):
        return "garbled"
    return met
