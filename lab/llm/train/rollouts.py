"""A step's rollouts: asked for in rounds, judged, measured, and told to be stored with the run."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError
from lab.judge.rewards import Judge
from lab.judge.verifier import Verdict
from lab.llm.data.datasets import Problem
from lab.llm.data.prompts import LENGTH
from lab.llm.engines.base import Completion, Engine, Sampling
from lab.llm.train.credit import Credit
from lab.llm.train.task import judged
from lab.mathematics.estimators import Estimator
from lab.mathematics.groups import Group, Rollout, make_groups, shares

Answered = tuple[Completion, Verdict]


def ask(
    config: LanguageModelConfig,
    credit: Credit,
    engine: Engine,
    verifier: Judge,
    step: int,
    problems: Sequence[tuple[Problem, str]],
) -> list[list[Answered]]:
    """The answers to each problem, each with its verdict: N, or until a stopping rule is met.

    Where every answer was cut it warns, and `truncation` says what they count. LabError: none could
    be judged.
    """
    size = credit.round
    sampling = Sampling(size, config.temperature, config.top_p, config.max_tokens, config.seed)
    rounds = config.rollouts // size
    answered: list[list[Answered]] = [[] for _ in problems]
    asked = list(range(len(problems)))
    for number in range(step * rounds, (step + 1) * rounds):
        # Every round of every step has random numbers of its own.
        prompts = [problems[i][1] for i in asked]
        sampled = engine.sample(prompts, sampling, first=number * len(problems))
        verdicts = iter(
            judged(
                verifier,
                [answer.text for group in sampled for answer in group],
                [problems[i][0] for i in asked for _ in range(size)],
            )
        )
        for i, group in zip(asked, sampled, strict=True):
            answered[i] += [(answer, next(verdicts)) for answer in group]
        groups = make_groups(rollouts_of(answered), config.truncation)
        met = {int(group.problem) for group in groups if credit.enough(group)}
        asked = [i for i in asked if i not in met]
        if not asked:
            break
    rollouts = rollouts_of(answered)
    warn_if_all_cut([rollout.truncated for rollout in rollouts], step, config.max_tokens)
    if all(rollout.reward is None for rollout in rollouts):
        raise LabError(f"no rollout of step {step} could be judged: see lab data check")
    return answered


def warn_if_all_cut(cut: Sequence[bool], step: int, limit: int) -> None:
    """Warn that all rollouts of a step reached the limit of tokens before they ended."""
    if all(cut):
        warnings.warn(
            f"all {len(cut)} rollouts of step {step} were cut at {limit} tokens: allow longer ones,"
            " or look at why none ends",
            stacklevel=2,
        )


def rollouts_of(answered: Sequence[Sequence[Answered]]) -> list[Rollout]:
    """The rollouts of a step as groups are made of them; a problem's name is its place."""
    return [
        Rollout(str(problem), i, verdict.reward, truncated=answer.finish == LENGTH)
        for problem, answers in enumerate(answered)
        for i, (answer, verdict) in enumerate(answers)
    ]


def measured(
    answered: Sequence[Sequence[Answered]], groups: Sequence[Group], estimator: Estimator
) -> dict[str, float]:
    """What is recorded of a step's rollouts, and of the groups that they make.

    Where the estimator takes real rewards, no answer is right or wrong.
    """
    rollouts = rollouts_of(answered)
    reward = "train pass@1" if estimator.real is None else "mean reward"
    return {
        **shares(rollouts),
        **group_metrics(estimator, groups, len(answered), len(rollouts)),
        "mean length": float(np.mean([len(answer.ids) for each in answered for answer, _ in each])),
        reward: float(np.mean([r.reward for r in rollouts if r.reward is not None])),
    }


def group_metrics(
    estimator: Estimator, groups: Sequence[Group], problems: int, rollouts: int
) -> dict[str, float]:
    """What is recorded of the groups that so many rollouts of so many problems make."""
    mixed = sum(np.ptp(group.rewards) > 0 for group in groups)
    metrics = {
        "dead groups": 1 - mixed / problems,
        "lost": 1 - sum(group.N for group in groups) / rollouts,
    }
    if estimator.real is None:
        metrics["solved"] = sum(group.K > 0 for group in groups) / problems
    return metrics


def rollout_columns(
    rows: Iterable[tuple[Problem, int, str, int, float | None, float, bool]],
) -> dict[str, list[Any]]:
    """The columns of `lab.training.records.Record.rollouts`: one row a rollout.

    | column | meaning |
    |---|---|
    | `problem`, `question`, `gold` | the problem's id, question and gold answer |
    | `index` | which of the problem's rollouts it is |
    | `text` | the answer |
    | `tokens` | its tokens, the end token included |
    | `length` | its characters; this one is no part of `rows` |
    | `reward` | the verifier's, before the truncation policy; None where it gave none |
    | `advantage` | what the estimator gave the answer; 0 of one that it did not see |
    | `truncated` | whether the answer reached the limit before it ended |
    """
    problems, index, text, tokens, reward, advantage, truncated = map(list, zip(*rows, strict=True))
    return {
        "problem": [problem.id for problem in problems],
        "question": [problem.question for problem in problems],
        "gold": [problem.answer for problem in problems],
        "index": index,
        "text": text,
        "tokens": tokens,
        "length": [len(answer) for answer in text],
        "reward": reward,
        "advantage": np.asarray(advantage, np.float32).tolist(),
        "truncated": truncated,
    }
