"""What a trainer of language models tells of a step's rollouts, to be stored with the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def rollout_columns(
    problems: Sequence[str],
    N: int,
    texts: Sequence[str],
    tokens: Sequence[int],
    rewards: Sequence[float | None],
    truncated: Sequence[bool],
) -> dict[str, list[Any]]:
    """The columns of `lab.records.Record.rollouts`: one row a rollout, N in a row for each problem.

    | column | meaning |
    |---|---|
    | `problem` | the problem's id |
    | `index` | which of the problem's N rollouts it is |
    | `text` | the answer |
    | `tokens` | its tokens, the end token included |
    | `length` | its characters |
    | `reward` | the verifier's, before the truncation policy; None where it gave none |
    | `truncated` | whether the answer reached the limit before it ended |
    """
    return {
        "problem": [problem for problem in problems for _ in range(N)],
        "index": [i % N for i in range(len(texts))],
        "text": list(texts),
        "tokens": list(tokens),
        "length": [len(text) for text in texts],
        "reward": list(rewards),
        "truncated": list(truncated),
    }
