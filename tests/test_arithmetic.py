"""Arithmetic: right answers, short questions, and two splits that share no question and no sum."""

import re
from collections import Counter

import pytest

from lab.errors import LabError
from lab.llm.data.arithmetic import LEVELS, available, problems, solution
from lab.llm.data.datasets import Problem

SPLITS = ("train", "test")


def every(level, split):
    return problems(available(level, split), level, 0, split)


@pytest.fixture(scope="module")
def whole_family():
    """Every problem there is, by level and split."""
    return {(level, split): every(level, split) for level in LEVELS for split in SPLITS}


def in_words(question):
    """The expression that a question tells, reckoned from its words alone."""
    told = question.removesuffix(" How many?")
    a, *others = map(int, re.findall(r"\d+", told))
    value = a
    if match := re.match(r"\w+ has \d+ bags of (\d+)", told):
        value, others = a * int(match[1]), others[1:]
    for verb, _, more in re.findall(r"(buys|loses) (\d+)( bags of \d+)?", told):
        taken = others.pop(0) * (others.pop(0) if more else 1)
        value += taken if verb == "buys" else -taken
    return value


# --- Questions, answers, solutions --------------------------------------------------------------


def test_every_answer_is_the_whole_number_that_the_expression_or_the_words_say(whole_family):
    for problem in (problem for found in whole_family.values() for problem in found):
        asked = problem.question
        # Our own digits and signs.
        right = eval(asked.removesuffix("=?")) if asked.endswith("=?") else in_words(asked)
        assert problem.answer == str(right) and problem.answer.isdecimal(), asked


def test_every_solution_reckons_step_by_step_to_the_boxed_answer(whole_family):
    for problem in (problem for found in whole_family.values() for problem in found[:2000]):
        steps, boxed = solution(problem).split(". ")
        assert boxed == rf"\boxed{{{problem.answer}}}"
        first, *later = steps.split("=")
        assert {eval(step) for step in (first, *later)} == {int(problem.answer)}
        signs = [len(re.findall(r"[-+*]", step)) for step in (first, *later)]
        assert signs == list(range(signs[0], -1, -1)) and len(signs) > 1  # one operation a step


def test_solutions_of_questions_known_by_eye():
    def worked(question):
        return solution(Problem("", question, "", ""))

    assert worked("3+4=?") == worked("Ann has 3 nuts and buys 4. How many?") == r"3+4=7. \boxed{7}"
    assert worked("2+3*4=?") == r"2+3*4=2+12=14. \boxed{14}"
    assert worked("(9-4)*5=?") == r"(9-4)*5=5*5=25. \boxed{25}"
    assert worked("(2+3)*(9-4)=?") == r"(2+3)*(9-4)=5*(9-4)=5*5=25. \boxed{25}"
    assert (
        worked("Tom has 6 bags of 7 eggs and loses 3 bags of 4. How many?")
        == r"6*7-3*4=42-3*4=42-12=30. \boxed{30}"
    )


# --- Splits -------------------------------------------------------------------------------------


def test_no_question_appears_twice_in_any_level_or_split(whole_family):
    for part in ("question", "id"):
        counts = Counter(
            getattr(problem, part) for found in whole_family.values() for problem in found
        )
        assert max(counts.values()) == 1


def test_no_sum_of_the_test_is_trained_on_in_another_order_or_in_words(whole_family):
    def contents(split):
        solved = (solution(problem) for level in LEVELS for problem in whole_family[level, split])
        return {tuple(sorted(re.findall(r"\d+|\D", text.split("=")[0]))) for text in solved}

    trained, tested = contents("train"), contents("test")
    assert trained and tested and not trained & tested
    assert 0.17 < len(tested) / len(trained | tested) < 0.23


# --- Drawing ------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_problems_and_a_longer_list_begins_with_the_shorter():
    assert problems(30, 3, 7, "train")[:10] == problems(10, 3, 7, "train")
    assert problems(10, 3, 7, "train") != problems(10, 3, 8, "train")


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"count": 169}, "count = 169: level 1 has 168 different problems for test, so ask for at"),
        ({"count": 0}, "count = 0: it must be a whole number of at least 1"),
        ({"level": 6}, "level = 6: it must be one of 1, 2, 3, 4, 5"),
        ({"split": "dev"}, "split = 'dev': it must be one of 'train', 'test'"),
        ({"seed": -1}, "seed = -1: it must be a whole number of at least 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(options, sentence):
    with pytest.raises(LabError, match=sentence):
        problems(**{"count": 1, "level": 1, "seed": 0, "split": "test"} | options)


def test_a_problem_from_elsewhere_has_no_worked_solution():
    with pytest.raises(
        LabError, match="problem 'gsm8k/0': 'Why.' is no question of lab.llm.data.arithmetic"
    ):
        solution(Problem("gsm8k/0", "Why?", "9", "gsm8k"))
