"""Arithmetic: short generated problems with whole-number answers, for tiny models.

There are five levels, each a finite list of distinct questions with worked solutions: expressions
("3+4=?"), most of them also as word problems ("Tom has 3 pens and buys 4. How many?").

| level | operations | numbers | questions | train | test | longest, in characters |
|---|---|---|---|---|---|---|
| 1 | one | 2 to 9 | 1,148 | 980 | 168 | 37 |
| 2 | one | 10 to 49, products with 2 to 9 | 19,180 | 15,449 | 3,731 | 39 |
| 3 | two, brackets | 2 to 9 | 11,728 | 9,443 | 2,285 | 47 |
| 4 | two, brackets | 10 to 29 with 2 to 9 | 30,720 | 24,447 | 6,273 | 48 |
| 5 | three, brackets | 2 to 9 | 78,555 | 63,262 | 15,293 | 57 |

No intermediate result is negative. A hash of a question's content, its numbers and operators in any
order, puts about one in five into the test split: a test sum such as 3+4 is never trained on as 4+3
or as a word problem.
"""

from __future__ import annotations

import hashlib
import operator
import re
from functools import cache
from itertools import product

from lab.errors import LabError, one_of, whole
from lab.llm.data.datasets import Problem
from lab.training.rng import generator

SHARE = 5  # one content in so many belongs to the test split
# What is computed first, second and last: brackets, products, sums from the left.
RULES = (r"\((\d+)([-+])(\d+)\)", r"(\d+)(\*)(\d+)", r"^(\d+)([-+])(\d+)")
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
NAMES = ("Tom", "Ann")
THINGS = ("pens", "nuts", "eggs")
# The ranges of the numbers.
ONE = range(2, 10)
TEN = range(10, 30)
MANY = range(10, 50)
# The expressions that are also asked as word problems.
STORIES = {
    "a+b": "{who} has {a} {items} and buys {b}. How many?",
    "a-b": "{who} has {a} {items} and loses {b}. How many?",
    "a*b": "{who} has {a} bags of {b} {items}. How many?",
    "a+b-c": "{who} has {a} {items}, buys {b}, loses {c}. How many?",
    "a*b+c": "{who} has {a} bags of {b} {items} and buys {c}. How many?",
    "a*b-c": "{who} has {a} bags of {b} {items} and loses {c}. How many?",
    "a*b+c-d": "{who} has {a} bags of {b} {items}, buys {c}, loses {d}. How many?",
    "a*b+c*d": "{who} has {a} bags of {b} {items} and buys {c} bags of {d}. How many?",
    "a*b-c*d": "{who} has {a} bags of {b} {items} and loses {c} bags of {d}. How many?",
}
TWO = ("a+b-c", "a*b+c", "a*b-c", "a+b*c", "(a+b)*c", "(a-b)*c")  # of two operations
THREE = ("a*b+c-d", "a*b+c*d", "a*b-c*d", "(a+b)*c-d", "(a+b)*(c-d)")
# The expressions of each level, with the ranges of a, b, c, d.
LEVELS: dict[int, dict[str, tuple[range, ...]]] = {
    1: {"a+b": (ONE, ONE), "a-b": (ONE, ONE), "a*b": (ONE, ONE)},
    2: {"a+b": (MANY, MANY), "a-b": (MANY, MANY), "a*b": (MANY, ONE)},
    3: dict.fromkeys(TWO, (ONE, ONE, ONE)),
    4: dict.fromkeys(TWO, (TEN, ONE, ONE)),
    5: dict.fromkeys(THREE, (ONE, ONE, ONE, ONE)),
}


def problems(count: int, level: int, seed: int, split: str) -> list[Problem]:
    """`count` different problems of one level and split, in an order drawn by the seed.

    A longer list begins with the shorter one.

    LabError: the split has fewer problems than `count`; see `available`.

    >>> drawn = problems(2, level=1, seed=0, split="train")
    >>> [(problem.question, problem.answer) for problem in drawn]
    [('Tom has 7 bags of 3 eggs. How many?', '21'), ('4+7=?', '11')]
    """
    whole("count", count)
    whole("seed", seed, 0)
    candidates = _split(level, split)
    if count > len(candidates):
        raise LabError(
            f"count = {count}: level {level} has {len(candidates)} different problems for {split},"
            " so ask for at most that many, or take another level"
        )
    order = generator(seed, f"arithmetic {level} {split}").permutation(len(candidates))[:count]
    return [candidates[index] for index in order]


def available(level: int, split: str) -> int:
    """How many different problems a level has in a split."""
    return len(_split(level, split))


def solution(problem: Problem) -> str:
    r"""The worked solution, for supervised training: one operation a step, then the boxed answer.

    LabError: the problem is not one of this module's.

    >>> print(solution(Problem("", "2+3*4=?", "14", "")))
    2+3*4=2+12=14. \boxed{14}
    """
    for level in LEVELS:
        if expression := _questions(level).get(problem.question):
            steps = _steps(expression)
            return f"{'='.join(steps)}. \\boxed{{{steps[-1]}}}"
    raise LabError(
        f"problem {problem.id!r}: {problem.question!r} is no question of lab.llm.data.arithmetic,"
        " and only those have a worked solution"
    )


@cache
def _split(level: int, split: str) -> tuple[Problem, ...]:
    """Every problem of one level and split, in a fixed order."""
    one_of("split", split, ("train", "test"))
    one_of("level", level, tuple(LEVELS))
    return tuple(
        Problem(f"arithmetic/{level}/{index}", question, _steps(expression)[-1], "arithmetic")
        for index, (question, expression) in enumerate(_questions(level).items())
        if _is_test(expression) == (split == "test")
    )


@cache
def _questions(level: int) -> dict[str, str]:
    """Every question of a level with its expression, in a fixed order."""
    expressions = {}
    for form, ranges in LEVELS[level].items():
        for numbers in product(*ranges):
            values = dict(zip("abcd", map(str, numbers), strict=False))
            expression = "".join(values.get(letter, letter) for letter in form)
            if not _steps(expression):
                continue
            expressions[f"{expression}=?"] = expression
            stories = product(NAMES, THINGS) if form in STORIES else ()
            for who, items in stories:
                question = STORIES[form].format(who=who, items=items, **values)
                expressions[question] = expression
    return expressions


@cache
def _is_test(expression: str) -> bool:
    """Whether an expression's content, its numbers and operators in any order, is for the test."""
    content = " ".join(sorted(re.findall(r"\d+|\D", expression)))
    return hashlib.sha256(content.encode()).digest()[0] % SHARE == 0


@cache
def _steps(expression: str) -> tuple[str, ...]:
    """The expression after each operation, up to the result; empty if a result is negative."""
    steps = [expression]
    while not steps[-1].isdecimal():
        # The first rule that matches: brackets go before products, products before sums.
        step = next(filter(None, (re.search(rule, steps[-1]) for rule in RULES)))
        result = OPERATORS[step[2]](int(step[1]), int(step[3]))
        if result < 0:
            return ()
        steps.append(f"{steps[-1][: step.start()]}{result}{steps[-1][step.end() :]}")
    return tuple(steps)
