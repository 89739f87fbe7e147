"""Inside one set of rollouts of a language model: gradient norms by problem, diversity of right
answers. Floor 2.

MaxRL Figure 6 and PACS Table 3, for one model and no training. What is recorded of a problem are
the three moments of `lab.llm.evals.gradient_norms`, which hold the norm under every group
estimator, one thought of later too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lab.estimators import estimator
from lab.llm.data import prompts as templates
from lab.llm.data.problem_sets import problem_set as chosen_problems
from lab.llm.engines.base import Sampling
from lab.llm.engines.factory import engine
from lab.llm.evals import diversity, gradient_norms
from lab.llm.verify.verifier import Verifier
from lab.records import Record

MOMENTS = ["right_sq", "wrong_sq", "cross"]


def preflight(
    *, rollouts: int, limit: int, prompt: str, objectives: Sequence[str], seed: int, **_: Any
) -> list[str]:
    """Refuse unknown names before a model is loaded; returns the header's lines."""
    Sampling(rollouts, 1.0, 1.0, limit, seed)
    templates.prompt(prompt)
    return [f"  {estimator(name).label}, N = {rollouts}" for name in objectives]


def measure(
    *,
    model: str,
    problem_set: str,
    problems: int,
    rollouts: int,
    limit: int,
    prompt: str,
    objectives: Sequence[str],
    embedding: str,
    seed: int,
    state: dict[str, Any] | None = None,
) -> Iterator[Record]:
    """One record. Metrics: pass@1, "live" (the share of problems with right and wrong answers), the
    mean gradient norm of each objective over those, "S_div" and how many "right answers" it is of.

    Groups: problem, n, right, distance (the mean cosine distance between its right answers, nan
    where there are fewer than two), and right_sq, wrong_sq, cross of
    `lab.llm.evals.gradient_norms.moments`.
    """
    if state is not None:  # told already
        return
    answerer, written = engine("transformers", model), templates.prompt(prompt)
    asked = chosen_problems(problem_set, problems).problems
    texts = [written.render(problem.question, answerer.tokenizer) for problem in asked]
    answers = answerer.sample(texts, Sampling(rollouts, 1.0, 1.0, limit, seed))
    with Verifier() as verifier:
        verdicts = verifier.check(
            [one.text for group in answers for one in group],
            [problem.answer for problem in asked for _ in range(rollouts)],
        )
    right = np.reshape([verdict.outcome == "right" for verdict in verdicts], (len(asked), rollouts))
    prompt_ids = [answerer.tokenizer(text, add_special_tokens=False).input_ids for text in texts]
    table = gradient_norms.moments(
        answerer.model,
        [
            gradient_norms.Sampled(
                problem.id, ids, [one.ids for one in group], rewards.astype(float).tolist()
            )
            for problem, ids, group, rewards in zip(asked, prompt_ids, answers, right, strict=True)
        ],
    )
    live = right.any(1) & ~right.all(1)
    metrics = {"pass@1": right.mean(), "live": live.mean()}
    for name, part in gradient_norms.norms(table, objectives).groupby("objective", sort=False):
        metrics[f"gradient norm {name}"] = (
            part["gradient_norm"].to_numpy()[live].mean() if live.any() else 0.0
        )
    found = diversity.diversity(
        [
            [one.text for one, good in zip(group, row, strict=True) if good]
            for group, row in zip(answers, right, strict=True)
        ],
        diversity.embedder(embedding),
    )
    metrics |= {"S_div": found.score.point, "right answers": sum(found.responses)}
    distance = np.full(len(asked), np.nan)
    distance[found.problems] = found.distances
    groups = {
        "problem": np.array([problem.id for problem in asked]),
        "n": np.full(len(asked), rollouts),
        "right": right.sum(1),
        "distance": distance,
    } | {name: table[name].to_numpy() for name in MOMENTS}
    yield Record(0, {name: float(value) for name, value in metrics.items()}, _nothing, groups)


def _nothing() -> dict[str, Any]:
    """There is nothing to go on from: the one record is all."""
    import torch

    return {"step": torch.tensor(0)}
