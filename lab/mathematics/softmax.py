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
    | `lost` | " answers" | the chance that a rollout with this answer is lost; default: 0 |

    Its parameters are the logits, one for each beginning of an answer, in the order of
    `beginnings`; of answers of one token, one each. LabError: lists of other lengths, chances out
    of range, an answer that begins another.

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
        lost: Sequence[float] | None = None,
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
        self.lost = read("lost", [0.0] * count if lost is None else lost)
        names = [chr(97 + i) for i in range(count)] if answers is None else list(answers)
        self.answers: list[str] = names
        if len(set(names)) != count or not all(names):
            raise LabError(f"answers {names}: give {count} different texts")
        for one in names:
            if any(other != one and other.startswith(one) for other in names):
                raise LabError(f"answer {one!r} begins another: end each with a token, as 'a.'")

    # --- The tree of tokens -----------------------------------------------------------------------

    @cached_property
    def beginnings(self) -> list[str]:
        """What a parameter stands for: beginnings of answers, those with one parent together."""
        found = {one[: t + 1] for one in self.answers for t in range(len(one))}
        return sorted(found, key=lambda text: (len(text), text[:-1], self.first(text)))

    def first(self, beginning: str) -> int:
        """The place of the first answer that begins like this."""
        return next(i for i, one in enumerate(self.answers) if one.startswith(beginning))

    @cached_property
    def starts(self) -> Int[np.ndarray, " contexts"]:
        """Where the parameters of each context, a beginning that goes on, start."""
        parents = [text[:-1] for text in self.beginnings]
        return np.array([k for k, text in enumerate(parents) if text not in parents[:k]])

    @cached_property
    def context(self) -> Int[np.ndarray, " parameters"]:
        """The number of each parameter's context."""
        return np.searchsorted(self.starts, np.arange(len(self.beginnings)), side="right") - 1

    @cached_property
    def path(self) -> Float[np.ndarray, "answers longest parameters"]:
        """1 where the token at this place of an answer is that of the parameter; rows of 0 pad."""
        found = np.zeros((len(self.answers), int(self.lengths.max()), len(self.beginnings)))
        for i, one in enumerate(self.answers):
            for t in range(len(one)):
                found[i, t, self.beginnings.index(one[: t + 1])] = 1
        return found

    @cached_property
    def lengths(self) -> Int[np.ndarray, " answers"]:
        """The number of tokens of each answer."""
        return np.array([len(one) for one in self.answers])

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

    def log_answers(
        self, logp: Float[np.ndarray, "*g parameters"]
    ) -> Float[np.ndarray, "*g answers"]:
        """The log-probability of each answer from those of its tokens."""
        return logp @ self.path.sum(1).T

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
