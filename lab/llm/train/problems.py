"""The problems of a training: which of a set can be used, and which of them make up each batch."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError
from lab.judge.rewards import Judge
from lab.llm.data.datasets import Problem, ProblemSet
from lab.llm.data.problem_sets import problem_set
from lab.llm.data.prompts import load_prompt
from lab.training.rng import generator

Usable = list[tuple[Problem, str]]  # problems, each with its prompt


def training_problems(
    config: LanguageModelConfig, tokenizer: Any, verifier: Judge
) -> tuple[Usable, int]:
    """The usable problems of the training set, and how many were left out.

    Left out are problems without a readable gold answer, and those with too long a prompt.
    LabError: fewer than two are usable.
    """
    return _usable(config, config.train_set, config.problems, "train", tokenizer, verifier)


def held_out_problems(
    config: LanguageModelConfig, tokenizer: Any, verifier: Judge
) -> dict[str, Usable]:
    """The usable problems of each evaluation set. LabError: as for the training set."""
    return {
        name: _usable(config, name, config.eval_problems, "test", tokenizer, verifier)[0]
        for name in config.eval_sets
    }


def _usable(
    config: LanguageModelConfig,
    name: str,
    limit: int,
    split: str,
    tokenizer: Any,
    verifier: Judge,
) -> tuple[Usable, int]:
    prompt = load_prompt(config.prompt)
    problems = loaded_set(config, name, limit, split).problems
    unreadable = verifier.unparsable([problem.answer for problem in problems])
    rendered = [
        (problem, prompt.render(problem.question, tokenizer))
        for row, problem in enumerate(problems)
        if problem.answer and row not in unreadable
    ]
    token_ids = tokenizer([text for _, text in rendered], add_special_tokens=False)["input_ids"]
    usable = [
        pair
        for pair, ids in zip(rendered, token_ids, strict=True)
        if len(ids) <= config.max_prompt_tokens
    ]
    if len(usable) < 2:
        raise LabError(
            f"{name}: {len(usable)} of {len(problems)} problems have a usable gold answer and a"
            f" prompt of at most {config.max_prompt_tokens} tokens: raise max_prompt_tokens, or"
            " take another set"
        )
    return usable, len(problems) - len(usable)


def loaded_set(config: LanguageModelConfig, name: str, limit: int, split: str) -> ProblemSet:
    """The first `limit` problems of a set, 0: all; see `lab.llm.data.problem_sets.problem_set`."""
    columns = config.question_column, config.answer_column
    return problem_set(name, limit or None, config.folder_of_data, split, columns)


def problems_of_step(seed: int, step: int, prompts: int, problems: int) -> list[int]:
    """The problem numbers of a step's batch.

    Every problem comes once per epoch, in an order that is drawn anew for each epoch. A batch may
    span two epochs.

    >>> sorted(problems_of_step(0, 0, 2, 4) + problems_of_step(0, 1, 2, 4))
    [0, 1, 2, 3]
    """
    places = (divmod(place, problems) for place in range(step * prompts, (step + 1) * prompts))
    return [int(_epoch_order(seed, epoch, problems)[row]) for epoch, row in places]


@lru_cache(maxsize=2)
def _epoch_order(seed: int, epoch: int, problems: int) -> np.ndarray:
    return generator(seed, "order", epoch).permutation(problems)
