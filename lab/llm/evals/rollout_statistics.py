"""Statistics of one set of rollouts: gradient norms by problem, diversity of right answers.

MaxRL Figure 6 and PACS Table 3, for one model and without training. For each problem the three
moments of `lab.llm.evals.gradient_norms` are recorded, from which the gradient norm follows for
every group estimator, including estimators invented later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import torch

from lab.configurations.language_models import RolloutStatisticsConfig
from lab.judge.verifier import Verifier
from lab.llm.data.problem_sets import problem_set as load_problem_set
from lab.llm.data.prompts import load_prompt
from lab.llm.engines.base import Completion, Sampling
from lab.llm.engines.transformers_engine import TransformersEngine
from lab.llm.evals.diversity import distances, embedder
from lab.llm.evals.gradient_norms import moments, norms
from lab.mathematics.estimators import estimator
from lab.training.records import Record


def preflight(config: RolloutStatisticsConfig) -> list[str]:
    """Check the settings before a model is loaded; returns the lines of the run's header."""
    load_prompt(config.prompt)
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
    table = measured(config)
    live = table["K"].between(0, table["N"], inclusive="neither")
    metrics = {"pass@1": (table["K"] / table["N"]).mean(), "live": live.mean()}
    for name, found in norms(table, config.estimators).groupby("estimator", sort=False):
        of_live = found["gradient_norm"].to_numpy()[live]
        metrics[f"gradient norm {name}"] = of_live.mean() if len(of_live) else 0.0
    scored = table.dropna(subset="distance")
    metrics |= {"S_div": scored["distance"].mean(), "right answers": scored["K"].sum()}
    groups = table.rename(columns={"N": "n", "K": "right"})
    yield Record(
        0,
        {name: float(value) for name, value in metrics.items()},
        lambda: {"step": torch.tensor(0)},
        {name: groups[name].to_numpy() for name in groups},
    )


def measured(config: RolloutStatisticsConfig) -> pd.DataFrame:
    """Rollouts of every problem, sampled, judged and measured: problem, N, K, distance, moments."""
    lm = TransformersEngine(config.model)  # the engine whose model has gradients
    prompt = load_prompt(config.prompt)
    problems = load_problem_set(config.problem_set, config.problems).problems
    texts = [prompt.render(problem.question, lm.tokenizer) for problem in problems]
    sampling = Sampling(config.rollouts, 1.0, 1.0, config.max_tokens, config.seed)
    sampled = lm.sample(texts, sampling)
    golds = [problem.answer for problem in problems for _ in range(config.rollouts)]
    with Verifier() as verifier:
        verdicts = iter(verifier.check([one.text for group in sampled for one in group], golds))
    rows, right_texts = [], []
    for problem, text, group in zip(problems, texts, sampled, strict=True):
        answers: dict[bool, list[Completion]] = {True: [], False: []}
        for answer in group:
            answers[next(verdicts).outcome == "right"].append(answer)
        prompt_ids = lm.tokenizer(text, add_special_tokens=False).input_ids
        right, wrong = ([answer.ids for answer in answers[kind]] for kind in (True, False))
        found = moments(lm.model, problem.id, prompt_ids, right, wrong)
        rows.append({"problem": problem.id, "N": len(group), "K": len(right)} | found)
        right_texts.append([answer.text for answer in answers[True]])
    table = pd.DataFrame(rows)
    table.insert(3, "distance", distances(right_texts, embedder(config.embedding)))
    return table
