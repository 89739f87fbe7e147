r"""Right, wrong, or error: does a response give the gold answer?

| outcome | reason | when |
|---|---|---|
| right | exact | the same text or the same plain number, after `extract.normalize` |
| right | equivalent | math-verify finds them equal |
| wrong | different | two plain numbers that differ, or math-verify does not find them equal |
| wrong | no answer | no \boxed{...}, or its braces are not balanced, or nothing is in it |
| wrong | too long | over 500 characters |
| wrong | unreadable | not mathematics that `extract.is_readable` knows, or too deep |
| error | timeout, crash, memory | the comparison was late, died, or ran out of memory |
| error | unreadable gold | a fault of the data; `Verifier.unparsable` finds it beforehand |

What the form of an answer decides is wrong, so that baffling the parser gains nothing. An error
says nothing about the answer: its rollout is lost (`Verdict.reward` is None). Nothing that breaks
can become right.

Most pairs are decided here, by exact arithmetic; the rest go to math-verify 0.9 (Kydlicek, Hugging
Face), which `lab.llm.verify.worker_pool` holds in processes that are killed when they are late. How
no response can run as code: `lab.llm.verify.sympy_worker`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from lab.errors import LabError, one_of, real, whole
from lab.llm.verify.extract import (
    MAX_LENGTH,
    comparison_key,
    exact_value,
    extract,
    is_readable,
    normalize,
)
from lab.llm.verify.worker_pool import Pair, WorkerPool

OUTCOMES = {
    "exact": "right",
    "equivalent": "right",
    "different": "wrong",
    "no answer": "wrong",
    "too long": "wrong",
    "unreadable": "wrong",
    "timeout": "error",
    "crash": "error",
    "memory": "error",
    "unreadable gold": "error",
}
MIN_CHECKS, RECENT_CHECKS = (
    50,
    1000,
)  # no error rate of fewer checks; earlier checks that count towards it


@dataclass(frozen=True)
class Verdict:
    """The judgement of one response.

    `outcome`: right, wrong or error. `reason`: a key of `OUTCOMES`. `answer`: the answer that was
    extracted from the response.
    """

    outcome: str
    reason: str
    answer: str | None

    @property
    def reward(self) -> float | None:
        """1 or 0, or None for an error, as `lab.Rollout` takes it."""
        return {"right": 1.0, "wrong": 0.0, "error": None}[self.outcome]


class Verifier:
    """Checks responses against gold answers, in a `with`: it may hold worker processes.

    | setting | meaning |
    |---|---|
    | `style` | how the answer is found: "strict" or "lenient" (`extract.extract`) |
    | `seconds` | wall time of one comparison |
    | `workers` | processes at most; None: one a core. They start when algebra is first needed |
    | `error_limit` | share of errors in a call and the 1,000 checks before it that `check` allows |
    | `memory` | MiB of address space a worker |
    """

    def __init__(
        self,
        style: str = "strict",
        seconds: float = 1.0,
        workers: int | None = None,
        error_limit: float = 0.02,
        memory: int = 512,
    ) -> None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self.style = one_of("style", style, ("strict", "lenient"))
        self.error_limit = real("error_limit", error_limit, 0, 1)
        self._pool = WorkerPool(
            whole("workers", cores if workers is None else workers),
            real("seconds", seconds, 0.01, 600),
            whole("memory", memory),
        )
        self._recent: list[str] = []  # one note a check, empty unless it was an error
        self._turn = threading.Lock()  # the threads of a reward loop take turns

    def __enter__(self) -> Verifier:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill the workers; a later check would start new ones."""
        self._pool.close()

    @property
    def error_rate(self) -> float:
        """The share of errors among the last 1,000 checks, 0 before the first."""
        return sum(map(bool, self._recent)) / max(len(self._recent), 1)

    def check(self, responses: Sequence[str], golds: Sequence[str]) -> list[Verdict]:
        """One verdict a response, in order; equal pairs are compared once.

        LabError: the lengths differ, something is not text, math-verify is needed and not
        installed, or more than `error_limit` of at least 50 checks are errors (raised as soon as
        that is certain).
        """
        if len(responses) != len(golds):
            raise LabError(
                f"{len(responses)} responses and {len(golds)} golds: give every response its gold"
                " answer"
            )
        rows = [
            (extract(_text("response", i, response), self.style), _text("gold", i, gold))
            for i, (response, gold) in enumerate(zip(responses, golds, strict=True))
        ]
        settled = {row: decide_exactly(*row) for row in dict.fromkeys(rows)}
        reasons: dict[str | Pair, str] = {reason: reason for reason in OUTCOMES}
        with self._turn:
            self._limited(rows, settled, reasons)
            pairs = [
                result for result in dict.fromkeys(settled.values()) if isinstance(result, tuple)
            ]
            with closing(self._pool.compare(pairs)) as replies:
                for pair, reasons[pair] in replies:
                    if OUTCOMES[reasons[pair]] == "error":
                        self._limited(rows, settled, reasons)
            self._recent = self._limited(rows, settled, reasons)[-RECENT_CHECKS:]
        row_reasons = [reasons[settled[row]] for row in rows]
        return [
            Verdict(OUTCOMES[reason], reason, answer)
            for reason, (answer, _) in zip(row_reasons, rows, strict=True)
        ]

    def unparsable(self, golds: Sequence[str]) -> dict[int, str]:
        """The gold answers that cannot be used, by index, with the reason.

        They are not readable, or were not found equal to themselves in time.
        """
        forms = [normalized_gold(_text("gold", i, gold)) for i, gold in enumerate(golds)]
        reasons = {
            form: "exact" if exact_value(form) is not None else "unreadable gold" for form in forms
        }
        pairs = [
            (form, form)
            for form, reason in reasons.items()
            if reason != "exact" and is_readable(form)
        ]
        with self._turn, closing(self._pool.compare(pairs)) as replies:
            for (form, _), reason in replies:
                reasons[form] = "unreadable gold" if OUTCOMES[reason] == "wrong" else reason
        return {
            i: reasons[form] for i, form in enumerate(forms) if OUTCOMES[reasons[form]] != "right"
        }

    def _limited(
        self,
        rows: list[tuple[str | None, str]],
        settled: dict[tuple[str | None, str], str | Pair],
        reasons: dict[str | Pair, str],
    ) -> list[str]:
        """A note on every recent check and on these rows; LabError if too many are errors."""
        notes = list(self._recent)
        for answer, gold in rows:
            reason = reasons.get(settled[answer, gold], "exact")  # nothing against it so far
            notes.append(
                f"{_short(answer)} against the gold {_short(gold)} ({reason})"
                if OUTCOMES[reason] == "error"
                else ""
            )
        errors = [note for note in notes if note]
        if len(notes) >= MIN_CHECKS and len(errors) > self.error_limit * len(notes):
            raise LabError(
                f"{len(errors)} of {len(notes)} answers could not be judged, for example"
                f" {errors[-1]}: the limit is {self.error_limit:.1%}; skip the golds that"
                " Verifier.unparsable names, give more seconds, or raise error_limit"
            )
        return notes


def verify(response: str, gold: str, style: str = "strict", seconds: float = 1.0) -> Verdict:
    r"""One verdict. Where it needs algebra it starts a worker (about a second): for many answers
    use `Verifier`.

    >>> verify(r"so it is \boxed{\frac{6}{8}}", "0.75")
    Verdict(outcome='right', reason='exact', answer='\\frac{6}{8}')
    """
    with Verifier(style, seconds, workers=1) as verifier:
        return verifier.check([response], [gold])[0]


def decide_exactly(answer: str | None, gold: str) -> str | Pair:
    """The reason, if exact arithmetic gives one; else the pair that algebra must compare."""
    if answer is None:
        return "no answer"
    if len(answer) > MAX_LENGTH:
        return "too long"
    answer, gold = normalize(answer), normalized_gold(gold)
    if not comparison_key(answer):
        return "no answer"
    if comparison_key(answer) == comparison_key(gold):
        return "exact"
    values = exact_value(answer), exact_value(gold)
    if None not in values:
        return "exact" if values[0] == values[1] else "different"
    if not is_readable(gold):
        return "unreadable gold"
    return (answer, gold) if is_readable(answer) else "unreadable"


def normalized_gold(gold: str) -> str:
    """A gold answer as `extract.normalize` writes it; what stands in its box if it has one."""
    inside = extract(gold, "strict")
    return normalize(gold if inside is None else inside)


def _text(kind: str, index: int, value: object) -> str:
    if not isinstance(value, str):
        raise LabError(f"{kind} {index} is {value!r}: it must be text; leave lost rollouts out")
    return value


def _short(text: str | None) -> str:
    return repr(text) if text is None or len(text) <= 60 else f"{text[:60]!r}..."
