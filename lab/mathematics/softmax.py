"""A softmax policy over a few answers to one problem: small enough to sum over everything it does.

An answer is a text, and its characters are its tokens: after each beginning of an answer the policy
chooses the next token by a softmax of its own. So answers may have different lengths, a token may
be forced (it is then the only one), and ratios may be those of tokens or of whole answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from lab.errors import LabError
from lab.mathematics.practice import Sampler
from lab.shapes import Array, Bool, Float, Int


class SoftmaxPolicy:
    """A policy over a few answers, what the answers are worth, and what the judge makes of them.

    | argument | shape | meaning |
    |---|---|---|
    | `probabilities` | " answers" | positive, summing to 1 |
    | `right` | " answers" | True for a right answer |
    | `accepted` | " answers" | the chance that the judge accepts it; default: `right` |
    | `answers` | " answers" | texts whose characters are tokens; default: one token each |
    | `reference` | " answers" | probabilities of the reference policy of a KL term |

    Its parameters are the logits, one for each beginning of an answer, the shorter ones first and
    those with one parent together; of answers of one token, one each. LabError: lists of other
    lengths, chances out of range, an answer that begins another.

    >>> policy = SoftmaxPolicy([0.25, 0.75], [True, False])
    >>> policy.p, policy.grad_p
    (0.25, array([ 0.1875, -0.1875]))
    """

    def __init__(
        self,
        probabilities: Sequence[float],
        right: Sequence[bool],
        accepted: Sequence[float] | None = None,
        *,
        answers: Sequence[str] | None = None,
        reference: Sequence[float] | None = None,
    ) -> None:
        count = len(probabilities)

        def read(name: str, given: Sequence[float] | Sequence[bool]) -> Array:
            values = np.asarray(given, dtype=np.float64)
            if values.shape != (count,) or not ((values >= 0) & (values <= 1)).all():
                raise LabError(f"{name} {values.tolist()}: give {count} numbers in [0, 1]")
            if name in ("probabilities", "reference") and (
                (values == 0).any() or abs(values.sum() - 1) > 1e-9
            ):
                raise LabError(f"{name} {values.tolist()}: they must be positive and sum to 1")
            if name == "right" and not np.isin(values, (0, 1)).all():
                raise LabError(f"right {values.tolist()}: an answer is right or not, 1 or 0")
            return values

        self.probabilities = read("probabilities", probabilities)
        self.right = read("right", right).astype(bool)
        self.accepted = read("accepted", right if accepted is None else accepted)
        self.reference = read("reference", probabilities if reference is None else reference)
        names = [chr(97 + i) for i in range(count)] if answers is None else list(answers)
        if len(set(names)) != count or not all(names):
            raise LabError(f"answers {names}: give {count} different texts")
        for one in names:
            if any(other != one and other.startswith(one) for other in names):
                raise LabError(f"answer {one!r} begins another: end each with a token, as 'a.'")
        self.lengths: Int[np.ndarray, " answers"] = np.array([len(one) for one in names])
        # The beginnings that each beginning goes on to: the tokens of one softmax.
        children: dict[str, list[str]] = {}
        for t in range(max(self.lengths)):
            for start in dict.fromkeys(one[: t + 1] for one in names if len(one) > t):
                children.setdefault(start[:-1], []).append(start)
        sizes = [len(tokens) for tokens in children.values()]
        beginnings = [start for tokens in children.values() for start in tokens]
        self.starts = np.append(0, np.cumsum(sizes[:-1])).astype(int)  # of each softmax
        self.context = np.repeat(np.arange(len(sizes)), sizes)  # the softmax of each parameter
        # "answers longest parameters": 1 where an answer has the parameter's token at this place
        self.path = np.zeros((count, max(self.lengths), len(beginnings)))
        for i, one in enumerate(names):
            for t in range(len(one)):
                self.path[i, t, beginnings.index(one[: t + 1])] = 1

    def sums(
        self, values: Float[np.ndarray, "*g parameters"]
    ) -> Float[np.ndarray, "*g parameters"]:
        """For each parameter the sum over those of its context."""
        return np.add.reduceat(values, self.starts, axis=-1)[..., self.context]

    def log_softmax(
        self, logits: Float[np.ndarray, "*g parameters"]
    ) -> Float[np.ndarray, "*g parameters"]:
        """The log-probability of each token in its context."""
        return logits - np.logaddexp.reduceat(logits, self.starts, axis=-1)[..., self.context]

    def token_log_probabilities(
        self, probabilities: Float[np.ndarray, " answers"]
    ) -> Float[np.ndarray, " parameters"]:
        """Logits of the policy that gives the answers these probabilities."""
        return self.log_softmax(np.log(probabilities @ (self.path.sum(1) > 0)))

    @cached_property
    def logits(self) -> Float[np.ndarray, " parameters"]:
        """The parameters."""
        return self.token_log_probabilities(self.probabilities)

    def drawn(self, sampler: Sampler) -> Float[np.ndarray, " answers"]:
        """The chance of each answer when its tokens are drawn by `sampler`."""
        chances = [sampler.of(part) for part in np.split(np.exp(self.logits), self.starts[1:])]
        with np.errstate(divide="ignore"):
            log = np.log(np.concatenate(chances))
        return np.exp([log[row > 0].sum() for row in self.path.sum(1)])

    # --- What it is worth -------------------------------------------------------------------------

    def gradient(
        self, worth: Float[np.ndarray, " answers"] | Bool[np.ndarray, " answers"]
    ) -> Float[np.ndarray, " parameters"]:
        """The gradient of the expected worth of an answer: E[worth S]."""
        C = (self.probabilities * worth) @ self.path.sum(1)
        return C - np.exp(self.logits) * self.sums(C)

    @property
    def p(self) -> float:
        """The pass rate."""
        return float(self.probabilities @ self.right)

    @property
    def grad_p(self) -> Array:
        """The gradient of the pass rate, " parameters"."""
        return self.gradient(self.right)
