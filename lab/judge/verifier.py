r"""Right, wrong, or error: does a response give the gold answer?

| outcome | reason | when |
|---|---|---|
| right | exact | `equality.settle` finds the same meaning, or the texts are the same |
| wrong | different | they have two meanings |
| wrong | no answer | no \boxed{...}, or its braces are not balanced, or nothing is in it |
| wrong | too long | over 500 characters |
| wrong | unreadable | not mathematics that is known, too deep, or too large to compute |
| error | unreadable gold | a fault of the data; `Verifier.unparsable` finds it beforehand |

An answer that cannot be compared with a readable gold is wrong, so that nothing is gained by one
that the judge cannot read, and no run ends. An error is a fault of the gold alone. It says nothing
about the answer: the rollout is lost (`Verdict.reward` is None). Nothing that breaks can become
right.

Every pair is decided in the caller's process by exact arithmetic whose work is bounded: nothing
that a response says is run, or takes longer than some milliseconds. No algebra system is asked
about what is left: of 22,000 labelled pairs there were three. How often the judge errs on them, and
how often others do: `docs/judge.md`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from lab.errors import LabError, one_of, real
from lab.judge.equality import read_gold, settle, split_tolerance
from lab.judge.extract import MAX_LENGTH, extract
from lab.judge.spelling import letters

OUTCOMES = {
    "exact": "right",
    "different": "wrong",
    "no answer": "wrong",
    "too long": "wrong",
    "unreadable": "wrong",
    "unreadable gold": "error",
}
MIN_CHECKS = 50  # no error rate of fewer checks
RECENT_CHECKS = 1000  # earlier checks that count towards it


@dataclass(frozen=True)
class Verdict:
    """The judgement of one response.

    `outcome`: right, wrong or error. `reason`: a key of `OUTCOMES`. `answer`: the answer that was
    extracted from the response. `grade`: the reward that a function of real rewards gave.
    """

    outcome: str
    reason: str
    answer: str | None
    grade: float | None = None

    @property
    def reward(self) -> float | None:
        """The grade, or else 1 or 0; None for an error. As `lab.Rollout` takes it."""
        if self.grade is not None:
            return self.grade
        return {"right": 1.0, "wrong": 0.0, "error": None}[self.outcome]


class Verifier:
    """Checks responses against gold answers.

    | setting | meaning |
    |---|---|
    | `style` | how the answer is found: "strict" or "lenient" (`extract.extract`) |
    | `error_limit` | share of errors in a call and the 1,000 checks before it that `check` allows |

    A `with` around it changes nothing; `RewardFunction`, which needs one, may take its place.
    """

    def __init__(self, style: str = "strict", error_limit: float = 0.02) -> None:
        self.style = one_of("style", style, ("strict", "lenient"))
        self.error_limit = real("error_limit", error_limit, 0, 1)
        self._recent: deque[bool] = deque(maxlen=RECENT_CHECKS)  # whether each was an error
        self._turn = threading.Lock()  # the threads of a reward loop take turns

    def __enter__(self) -> Verifier:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def require(self, columns: Collection[str]) -> None:
        """Nothing: no other column than the gold is read."""

    def check(
        self, responses: Sequence[str], golds: Sequence[str], rows: Sequence[Any] = ()
    ) -> list[Verdict]:
        """One verdict a response, in order; `rows`, for reward functions, are not read.

        LabError: the lengths differ, something is not text, or more than `error_limit` of at least
        50 checks are errors.
        """
        rows = [
            (extract(_text("response", i, response), self.style), _text("gold", i, gold))
            for i, (response, gold) in enumerate(paired(responses, golds))
        ]
        reasons = {row: decide(*row) for row in dict.fromkeys(rows)}
        errors = [row for row in rows if OUTCOMES[reasons[row]] == "error"]
        with self._turn:
            n = len(rows) + len(self._recent)
            total = len(errors) + sum(self._recent)
            if errors and n >= MIN_CHECKS and total > self.error_limit * n:
                answer, gold = errors[-1]
                raise LabError(
                    f"{total} of {n} answers could not be judged, for example {answer!r:.60}"
                    f" against the gold {gold!r:.60}: the limit is {self.error_limit:.1%}; skip"
                    " the golds that Verifier.unparsable names, or raise error_limit"
                )
            self._recent.extend(OUTCOMES[reasons[row]] == "error" for row in rows)
        return [Verdict(OUTCOMES[reasons[row]], reasons[row], row[0]) for row in rows]

    def unparsable(self, golds: Sequence[str]) -> dict[int, str]:
        """The gold answers that cannot be used, by index, with the reason: they are not read."""
        bare = (split_tolerance(_bare(_text("gold", i, gold)))[0] for i, gold in enumerate(golds))
        return {i: "unreadable gold" for i, gold in enumerate(bare) if read_gold(gold) is None}


def paired(responses: Sequence[str], golds: Sequence[str]) -> list[tuple[str, str]]:
    """Each response with its gold. LabError: the lengths differ."""
    if len(responses) != len(golds):
        raise LabError(
            f"{len(responses)} responses and {len(golds)} golds: give every response its gold"
            " answer"
        )
    return list(zip(responses, golds, strict=True))


def verify(response: str, gold: str, style: str = "strict") -> Verdict:
    r"""One verdict.

    >>> verify(r"so it is \boxed{\frac{6}{8}}", "0.75")
    Verdict(outcome='right', reason='exact', answer='\\frac{6}{8}', grade=None)
    """
    return Verifier(style).check([response], [gold])[0]


def decide(answer: str | None, gold: str) -> str:
    """The reason of a verdict on an extracted answer."""
    if answer is None:
        return "no answer"
    if len(answer) > MAX_LENGTH:
        return "too long"
    gold = _bare(gold)
    reason = settle(answer, gold)
    if reason in ("exact", "different"):
        return reason
    if not letters(answer):
        return "no answer"
    return reason or ("exact" if letters(answer) == letters(gold) else "unreadable gold")


def _bare(gold: str) -> str:
    """What stands in the box of a gold answer, if it has one."""
    inside = extract(gold, "strict")
    return gold if inside is None else inside


def _text(kind: str, index: int, value: object) -> str:
    if not isinstance(value, str):
        raise LabError(f"{kind} {index} is {value!r}: it must be text; leave lost rollouts out")
    return value
