r"""Right, wrong, or error: does a response give the gold answer?

| outcome | reason | when |
|---|---|---|
| right | exact | `equality.settle` finds the same meaning, or the same text |
| right | equivalent | math-verify finds them equal, for a gold that `settle` cannot read |
| wrong | different | they have two meanings, or math-verify does not find them equal |
| wrong | no answer | no \boxed{...}, or its braces are not balanced, or nothing is in it |
| wrong | too long | over 500 characters |
| wrong | unreadable | not mathematics that is known, too deep, or too large to compute |
| wrong | timeout, crash, memory | the comparison was late, died, or ran out of memory |
| error | unreadable gold | a fault of the data; `Verifier.unparsable` finds it beforehand |

Whatever an answer does to a gold that can be read is wrong, so that baffling the judge gains
nothing and ends no run. An error is a fault of the gold alone: one that nothing reads, or that is
not found equal to itself in time. It says nothing about the answer: the rollout is lost
(`Verdict.reward` is None). Nothing that breaks can become right.

Nearly all pairs are decided here, by exact arithmetic; the rest go to math-verify 0.9 (Kydlicek,
Hugging Face), which `lab.judge.worker_pool` holds in processes that end when a comparison has
used up its CPU time. How no response can run as code: `lab.judge.sympy_worker`. How often the
judge errs, on labelled pairs: `docs/judge.md`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from lab.errors import LabError, one_of, real, whole
from lab.judge.equality import is_endless, read_gold, settle, split_tolerance
from lab.judge.extract import (
    MAX_LENGTH,
    comparison_key,
    extract,
    is_readable,
    normalize,
)
from lab.judge.spelling import spell
from lab.judge.worker_pool import Pair, WorkerPool

OUTCOMES = {
    "exact": "right",
    "equivalent": "right",
    "different": "wrong",
    "no answer": "wrong",
    "too long": "wrong",
    "unreadable": "wrong",
    "timeout": "wrong",
    "crash": "wrong",
    "memory": "wrong",
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
    """Checks responses against gold answers, in a `with`: it may hold worker processes.

    | setting | meaning |
    |---|---|
    | `style` | how the answer is found: "strict" or "lenient" (`extract.extract`) |
    | `seconds` | CPU time of one comparison; a busy machine changes no verdict |
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
        self._golds: dict[str, bool] = {}  # whether math-verify finds a gold equal to itself
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
            self._compare(pairs, reasons)
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
        texts = [_bare_gold(_text("gold", i, gold)) for i, gold in enumerate(golds)]
        forms = [normalize(spell(split_tolerance(text)[0])) for text in texts]
        reasons = dict.fromkeys(forms, "unreadable gold")
        for text, form in zip(texts, forms, strict=True):
            if read_gold(split_tolerance(text)[0]) is not None:
                reasons[form] = "exact"
        pairs = [
            (form, form)
            for form, reason in reasons.items()
            if reason != "exact" and is_readable(form)
        ]
        with self._turn, closing(self._pool.compare(pairs)) as replies:
            for (form, _), reason in replies:
                reasons[form] = reason if OUTCOMES[reason] == "right" else "unreadable gold"
        return {
            i: reasons[form] for i, form in enumerate(forms) if OUTCOMES[reasons[form]] != "right"
        }

    def _compare(self, pairs: list[Pair], reasons: dict[str | Pair, str]) -> None:
        """Add math-verify's reason for each pair; one that failed is the answer's fault.

        Unless the gold, compared with itself, fails too: then it is unreadable.
        """
        with closing(self._pool.compare(pairs)) as replies:
            reasons.update(replies)
        # A process that died may have been killed by others: once more.
        crashed = [pair for pair in pairs if reasons[pair] == "crash"]
        with closing(self._pool.compare(crashed)) as replies:
            reasons.update(replies)
        failed = [pair for pair in pairs if reasons[pair] in ("timeout", "crash", "memory")]
        unknown = dict.fromkeys(gold for _, gold in failed if gold not in self._golds)
        with closing(self._pool.compare([(gold, gold) for gold in unknown])) as replies:
            for (gold, _), reason in replies:
                self._golds[gold] = OUTCOMES[reason] == "right"
        for pair in failed:
            if not self._golds[pair[1]]:
                reasons[pair] = "unreadable gold"

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
    Verdict(outcome='right', reason='exact', answer='\\frac{6}{8}', grade=None)
    """
    with Verifier(style, seconds, workers=1) as verifier:
        return verifier.check([response], [gold])[0]


def decide_exactly(answer: str | None, gold: str) -> str | Pair:
    """The reason, if exact arithmetic gives one; else the pair that algebra must compare."""
    if answer is None:
        return "no answer"
    if len(answer) > MAX_LENGTH:
        return "too long"
    gold = _bare_gold(gold)
    reason = settle(answer, gold)
    if reason in ("exact", "different"):
        return reason
    form = normalize(spell(answer))
    if not comparison_key(form):
        return "no answer"
    if reason is not None:
        return reason
    gold = normalize(spell(split_tolerance(gold)[0]))
    if comparison_key(form) == comparison_key(gold):
        return "exact"
    if not is_readable(gold):
        return "unreadable gold"
    return (form, gold) if is_readable(form) and not is_endless(answer) else "unreadable"


def _bare_gold(gold: str) -> str:
    """What stands in the box of a gold answer, if it has one."""
    inside = extract(gold, "strict")
    return gold if inside is None else inside


def _text(kind: str, index: int, value: object) -> str:
    if not isinstance(value, str):
        raise LabError(f"{kind} {index} is {value!r}: it must be text; leave lost rollouts out")
    return value


def _short(text: str | None) -> str:
    return repr(text) if text is None or len(text) <= 60 else f"{text[:60]!r}..."
