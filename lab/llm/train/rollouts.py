"""A step's rollouts: asked for in rounds, judged, measured, and told to be stored with the run."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
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
from lab.mathematics.estimators import Estimator
from lab.mathematics.groups import Group, Rollout, make_groups, shares

Answered = tuple[Completion, Verdict]


def ask(
    config: LanguageModelConfig,
    credit: Credit,
    engine: Engine,
    verifier: Judge,
    step: int,
    prompts: Sequence[str],
    golds: Sequence[str],
) -> list[list[Answered]]:
    """The answers to each prompt, each with its verdict: N, or until a stopping rule is met.

    Where every answer was cut it warns, and `truncation` says what they count. LabError: none could
    be judged.
    """
    size = credit.round
    sampling = Sampling(size, config.temperature, config.top_p, config.max_tokens, config.seed)
    rounds = config.rollouts // size
    answered: list[list[Answered]] = [[] for _ in prompts]
    asked = list(range(len(prompts)))
    for number in range(step * rounds, (step + 1) * rounds):
        # Every round of every step has random numbers of its own.
        sampled = engine.sample([prompts[i] for i in asked], sampling, first=number * len(prompts))
        verdicts = iter(
            verifier.check(
                [answer.text for group in sampled for answer in group],
                [golds[i] for i in asked for _ in range(size)],
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
    if all(rollout.truncated for rollout in rollouts):
        warnings.warn(
            f"all {len(rollouts)} rollouts of step {step} were cut at {config.max_tokens} tokens:"
            " allow longer ones, or look at why none ends",
            stacklevel=1,
        )
    if all(rollout.reward is None for rollout in rollouts):
        raise LabError(f"no rollout of step {step} could be judged: see lab data check")
    return answered


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
    mixed = sum(np.ptp(group.rewards) > 0 for group in groups)
    mean_reward = np.mean([r.reward for r in rollouts if r.reward is not None])
    metrics = shares(rollouts) | {
        "lost": 1 - sum(group.N for group in groups) / len(rollouts),
        "dead groups": 1 - mixed / len(answered),
        "mean length": np.mean([len(answer.ids) for each in answered for answer, _ in each]),
    }
    if estimator.real is not None:
        return metrics | {"mean reward": mean_reward}
    solved = sum(group.K > 0 for group in groups) / len(answered)
    return metrics | {"train pass@1": mean_reward, "solved": solved}


def columns_of(
    problems: Sequence[Problem], answered: Sequence[Sequence[Answered]]
) -> dict[str, list[Any]]:
    """`rollout_columns` of the answers to each problem."""
    answers = [answer for each in answered for answer, _ in each]
    return rollout_columns(
        [problem.id for problem in problems],
        [len(each) for each in answered],
        [answer.text for answer in answers],
        [len(answer.ids) for answer in answers],
        [verdict.reward for each in answered for _, verdict in each],
        [answer.finish == LENGTH for answer in answers],
    )


def rollout_columns(
    problems: Sequence[str],
    drawn: Sequence[int],
    texts: Sequence[str],
    tokens: Sequence[int],
    rewards: Sequence[float | None],
    truncated: Sequence[bool],
) -> dict[str, list[Any]]:
    """The columns of `lab.training.records.Record.rollouts`: one row a rollout.

    Those of a problem stand in a row; `drawn` is how many each has.

    | column | meaning |
    |---|---|
    | `problem` | the problem's id |
    | `index` | which of the problem's rollouts it is |
    | `text` | the answer |
    | `tokens` | its tokens, the end token included |
    | `length` | its characters |
    | `reward` | the verifier's, before the truncation policy; None where it gave none |
    | `truncated` | whether the answer reached the limit before it ended |
    """
    return {
        "problem": [problem for problem, n in zip(problems, drawn, strict=True) for _ in range(n)],
        "index": [i for n in drawn for i in range(n)],
        "text": list(texts),
        "tokens": list(tokens),
        "length": [len(text) for text in texts],
        "reward": list(rewards),
        "truncated": list(truncated),
    }
