"""Statistics of one set of rollouts: gradient norms by problem, diversity of right answers.

MaxRL Figure 6 and PACS Table 3, for one model and without training. For each problem the three
moments of `lab.llm.evals.gradient_norms` are recorded, from which the gradient norm follows for
every group estimator, including estimators invented later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from lab.configurations.language_models import RolloutStatisticsConfig
from lab.judge.verifier import Verifier
from lab.llm.data import prompts as templates
from lab.llm.data.problem_sets import problem_set as load_problem_set
from lab.llm.engines.base import Sampling
from lab.llm.engines.transformers_engine import TransformersEngine
from lab.llm.evals import diversity, gradient_norms
from lab.mathematics.estimators import estimator
from lab.training.records import Record

MOMENTS = ["right_sq", "wrong_sq", "cross"]


def preflight(config: RolloutStatisticsConfig) -> list[str]:
    """Check the settings before a model is loaded; returns the lines of the run's header."""
    Sampling(config.rollouts, 1.0, 1.0, config.max_tokens, config.seed)
    templates.load_prompt(config.prompt)
    return [f"  {estimator(name).label}, N = {config.rollouts}" for name in config.estimators]


def measure(
    config: RolloutStatisticsConfig, state: dict[str, Any] | None = None
) -> Iterator[Record]:
    """One record about one set of rollouts.

    Metrics: pass@1; "live", the share of problems with both right and wrong answers; the mean
    gradient norm of each objective over the live problems; "S_div" and the number of "right
    answers" behind it. Groups: problem, n, right, distance (the mean cosine distance between the
    right answers, NaN where there are fewer than two), and right_sq, wrong_sq, cross of
    `lab.llm.evals.gradient_norms.moments`.
    """
    if state is not None:  # a finished run is resumed: its one record is written already
        return
    lm = TransformersEngine(config.model)  # the engine whose model has gradients
    template = templates.load_prompt(config.prompt)
    loaded = load_problem_set(config.problem_set, config.problems).problems
    texts = [template.render(problem.question, lm.tokenizer) for problem in loaded]
    rollouts = config.rollouts
    answers = lm.sample(texts, Sampling(rollouts, 1.0, 1.0, config.max_tokens, config.seed))
    with Verifier() as verifier:
        verdicts = verifier.check(
            [answer.text for group in answers for answer in group],
            [problem.answer for problem in loaded for _ in range(rollouts)],
        )
    outcomes = [verdict.outcome == "right" for verdict in verdicts]
    right = np.reshape(outcomes, (len(loaded), rollouts))

    # Gradient norms, of the problems that have both right and wrong answers.
    sampled_groups = [
        gradient_norms.SampledGroup(
            problem.id,
            lm.tokenizer(text, add_special_tokens=False).input_ids,
            [answer.ids for answer in group],
            rewards.astype(float).tolist(),
        )
        for problem, text, group, rewards in zip(loaded, texts, answers, right, strict=True)
    ]
    moments = gradient_norms.moments(lm.model, sampled_groups)
    live = right.any(1) & ~right.all(1)
    metrics = {"pass@1": right.mean(), "live": live.mean()}
    norms = gradient_norms.norms(moments, config.estimators)
    for name, table in norms.groupby("objective", sort=False):
        live_norms = table["gradient_norm"].to_numpy()[live]
        metrics[f"gradient norm {name}"] = live_norms.mean() if len(live_norms) else 0.0

    # Diversity of the right answers, of the problems that have at least two.
    right_texts = [
        [answer.text for answer, is_right in zip(group, row, strict=True) if is_right]
        for group, row in zip(answers, right, strict=True)
    ]
    spread = diversity.diversity(right_texts, diversity.embedder(config.embedding))
    metrics |= {"S_div": spread.score.point, "right answers": sum(spread.responses)}
    distance = np.full(len(loaded), np.nan)
    distance[spread.problems] = spread.distances

    groups = {
        "problem": np.array([problem.id for problem in loaded]),
        "n": np.full(len(loaded), rollouts),
        "right": right.sum(1),
        "distance": distance,
    } | {name: moments[name].to_numpy() for name in MOMENTS}
    yield Record(
        0,
        {name: float(value) for name, value in metrics.items()},
        lambda: {"step": torch.tensor(0)},
        groups,
    )
