"""The problems of a training: which of a set can be used, and which of them make up each batch."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from lab.configurations.language_models import LanguageModelConfig
from lab.judge.rewards import Judge
from lab.llm.data.datasets import ProblemSet
from lab.llm.train.task import Task, Usable
from lab.training.rng import generator


def training_problems(
    config: LanguageModelConfig, tokenizer: Any, verifier: Judge
) -> tuple[Usable, int]:
    """The usable problems of the training set, and how many were left out.

    Left out are problems without a readable gold answer, and those with too long a prompt.
    LabError: fewer than two are usable.
    """
    return _usable(config, config.train_set, "train", tokenizer, verifier)


def held_out_problems(
    config: LanguageModelConfig, tokenizer: Any, verifier: Judge
) -> dict[str, Usable]:
    """The usable problems of each evaluation set. LabError: as for the training set."""
    return {
        name: _usable(config, name, "test", tokenizer, verifier)[0] for name in config.eval_sets
    }


def _usable(
    config: LanguageModelConfig, name: str, split: str, tokenizer: Any, verifier: Judge
) -> tuple[Usable, int]:
    loaded = loaded_set(config, name, split)
    usable = Task.of(config).usable(loaded, tokenizer, verifier)
    return usable, len(loaded.problems) - len(usable)


def loaded_set(config: LanguageModelConfig, name: str, split: str) -> ProblemSet:
    """The problems of a set for "train" or "test"; see `lab.llm.data.problem_sets.problem_set`."""
    limit = config.problems if split == "train" else config.eval_problems
    return Task.of(config).problem_set(name, limit, split)


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
