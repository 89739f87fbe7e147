"""Arithmetic: short problems made by us, with whole answers and worked solutions, for tiny models.

Five levels, each a finite list of different questions: expressions ("3+4=?"), and most of them told
in words as well, with two names and three things ("Tom has 3 pens and buys 4. How many?").

| level | operations | numbers | questions | train | test | longest, in characters |
|---|---|---|---|---|---|---|
| 1 | one | 2 to 9 | 1,148 | 980 | 168 | 37 |
| 2 | one | 10 to 49, products with 2 to 9 | 19,180 | 15,449 | 3,731 | 39 |
| 3 | two, brackets | 2 to 9 | 11,728 | 9,443 | 2,285 | 47 |
| 4 | two, brackets | 10 to 29 with 2 to 9 | 30,720 | 24,447 | 6,273 | 48 |
| 5 | three, brackets | 2 to 9 | 78,555 | 63,262 | 15,293 | 57 |

No number on the way is negative. A question belongs to the test if a hash of its content, the
numbers and signs in any order, says so, whatever its words and whatever the seed; one content in
five does. So the splits share no question, and no sum of the test, such as 3+4, is trained on as
4+3 or in words.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from itertools import product

from lab.errors import LabError, one_of, whole
from lab.llm.data.datasets import Problem
from lab.rng import generator

SHARE = 5  # one content in so many is for the test
RULES = (
    r"\((\d+)([-+])(\d+)\)",
    r"(\d+)(\*)(\d+)",
    r"^(\d+)([-+])(\d+)",
)  # what is reckoned first, second, last
NAMES, THINGS = ("Tom", "Ann"), ("pens", "nuts", "eggs")
ALPHABET = (  # of questions, plain prompts and solutions
    "\n ()*+,-.0123456789=?AHT\\abdefghlmnopstuwxy{}"
)

ONE, TEN, MANY = range(2, 10), range(10, 30), range(10, 50)
TOLD = {  # the expressions that are also told in words
    "a+b": "{who} has {a} {things} and buys {b}. How many?",
    "a-b": "{who} has {a} {things} and loses {b}. How many?",
    "a*b": "{who} has {a} bags of {b} {things}. How many?",
    "a+b-c": "{who} has {a} {things}, buys {b}, loses {c}. How many?",
    "a*b+c": "{who} has {a} bags of {b} {things} and buys {c}. How many?",
    "a*b-c": "{who} has {a} bags of {b} {things} and loses {c}. How many?",
    "a*b+c-d": "{who} has {a} bags of {b} {things}, buys {c}, loses {d}. How many?",
    "a*b+c*d": "{who} has {a} bags of {b} {things} and buys {c} bags of {d}. How many?",
    "a*b-c*d": "{who} has {a} bags of {b} {things} and loses {c} bags of {d}. How many?",
}
LEVELS = {  # the expressions of a level with the ranges of a, b, c, d
    1: {"a+b": (ONE, ONE), "a-b": (ONE, ONE), "a*b": (ONE, ONE)},
    2: {"a+b": (MANY, MANY), "a-b": (MANY, MANY), "a*b": (MANY, ONE)},
    3: dict.fromkeys(("a+b-c", "a*b+c", "a*b-c", "a+b*c", "(a+b)*c", "(a-b)*c"), (ONE, ONE, ONE)),
    4: dict.fromkeys(("a+b-c", "a*b+c", "a*b-c", "a+b*c", "(a+b)*c", "(a-b)*c"), (TEN, ONE, ONE)),
    5: dict.fromkeys(
        ("a*b+c-d", "a*b+c*d", "a*b-c*d", "(a+b)*c-d", "(a+b)*(c-d)"), (ONE, ONE, ONE, ONE)
    ),
}


def problems(count: int, level: int, seed: int, split: str) -> list[Problem]:
    """`count` different problems of one level and split, in an order drawn by the seed.

    A longer list begins with the shorter one. Refuses more than there are (`available`).

    >>> [(problem.question, problem.answer) for problem in problems(2, level=1, seed=0, split="train")]
    [('Tom has 7 bags of 3 eggs. How many?', '21'), ('4+7=?', '11')]
    """
    count, seed, there = whole("count", count), whole("seed", seed, 0), _split(level, split)
    if count > len(there):
        raise LabError(
            f"count = {count}: level {level} has {len(there)} different problems for {split}, so"
            " ask for at most that many, or take another level"
        )
    order = generator(seed, f"arithmetic {level} {split}").permutation(len(there))[:count]
    return [there[at] for at in order]


def available(level: int, split: str) -> int:
    """How many different problems a level has in a split."""
    return len(_split(level, split))


def solution(problem: Problem) -> str:
    r"""The worked solution, for supervised training: one operation a step, and the boxed answer at
    the end.

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
    one_of("split", split, ("train", "test"))
    one_of("level", level, tuple(LEVELS))
    return tuple(
        Problem(f"arithmetic/{level}/{at}", question, _steps(expression)[-1], "arithmetic")
        for at, (question, expression) in enumerate(_questions(level).items())
        if _tested(expression) == (split == "test")
    )


@cache
def _questions(level: int) -> dict[str, str]:
    """Every question of a level with its expression, in a fixed order."""
    found = {}
    for form, ranges in LEVELS[level].items():
        for numbers in product(*ranges):
            values = dict(zip("abcd", map(str, numbers), strict=False))
            expression = "".join(values.get(letter, letter) for letter in form)
            if not _steps(expression):
                continue
            found[f"{expression}=?"] = expression
            for who, things in product(NAMES, THINGS) if form in TOLD else ():
                found[TOLD[form].format(who=who, things=things, **values)] = expression
    return found


@cache
def _tested(expression: str) -> bool:
    """Whether the content of an expression, its numbers and signs in any order, belongs to the
    test.
    """
    content = " ".join(sorted(re.findall(r"\d+|\D", expression)))
    return hashlib.sha256(content.encode()).digest()[0] % SHARE == 0


@cache
def _steps(expression: str) -> tuple[str, ...]:
    """The expression after each operation, brackets first, then products, to the result; none if
    below zero.
    """
    steps = [expression]
    while not steps[-1].isdecimal():
        step = next(filter(None, (re.search(rule, steps[-1]) for rule in RULES)))
        left, sign, right = int(step[1]), step[2], int(step[3])
        result = left * right if sign == "*" else left + right if sign == "+" else left - right
        if result < 0:
            return ()
        steps.append(f"{steps[-1][: step.start()]}{result}{steps[-1][step.end() :]}")
    return tuple(steps)
