"""What a trainer of language models tells of a step's rollouts, to be stored with the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


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
