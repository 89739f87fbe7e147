"""The loss of an optimiser step, a token at a time: what trainers do with advantages.

Off the policy that sampled, the ratio of a token is pi/pi_old, and that of an answer ("sequence",
GSPO) the geometric mean over its tokens. Only the slope with respect to the log-probability enters
a step. TRL's and verl's own functions are held to this file (tests/test_field_losses.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.errors import LabError, one_of, real
from lab.shapes import Array, Float, Num, Shaped


@dataclass(frozen=True, kw_only=True)
class Loss:
    """What is minimised: minus advantage times a ratio, and two terms of regularisation.

    | field | meaning |
    |---|---|
    | `loss` | "clip": PPO's minimum of ratio and clipped ratio; "cispo": the log-probability, |
    | | times the clipped ratio held fixed; "score": the log-probability alone |
    | `clip`, `clip_high` | ratios end at 1 - clip and 1 + clip_high; None: nowhere; |
    | | `clip_high` is `clip` where it is not given |
    | `dual` | with a negative advantage ratios end here: dual clip, TRL's `delta`; None: nowhere |
    | `ratio` | "token" or "sequence" |
    | `aggregation` | "sequence-sum": tokens are summed, answers averaged (Dr. GRPO, times its |
    | | constant); "sequence-mean": a mean over an answer's tokens first; "token-mean" |
    | `kl`, `kl_estimator` | beta times k1, k2 or k3 of a token, against the reference; |
    | | "k3_ratio" is k3 times the ratio, TRL's `use_bias_correction_kl` |
    | `entropy` | coefficient of the entropy of the tokens' distributions, averaged over tokens |
    """

    loss: str = "clip"
    clip: float | None = None
    clip_high: float | None = None
    dual: float | None = None
    ratio: str = "token"
    aggregation: str = "sequence-sum"
    kl: float = 0.0
    kl_estimator: str = "k3"
    entropy: float = 0.0

    def __post_init__(self) -> None:
        one_of("loss", self.loss, ("clip", "cispo", "score"))
        one_of("ratio", self.ratio, ("token", "sequence"))
        one_of("aggregation", self.aggregation, ("sequence-sum", "sequence-mean", "token-mean"))
        one_of("kl_estimator", self.kl_estimator, ("k1", "k2", "k3", "k3_ratio"))
        if self.clip is not None:
            real("clip", self.clip, 0)
        if self.clip_high is not None:
            real("clip_high", self.clip_high, -1)
        if self.dual is not None and real("dual", self.dual, 0) <= 1:
            raise LabError(f"dual = {self.dual:g}: a ratio is 1 at first; give a bound above 1")

    @property
    def bounds(self) -> tuple[float, float]:
        """Where ratios end, below and above."""
        low = -np.inf if self.clip is None else 1 - self.clip
        high = self.clip if self.clip_high is None else self.clip_high
        return low, np.inf if high is None else 1 + high

    def slope(
        self, log_ratio: Float[np.ndarray, "*tokens"], A: Num[np.ndarray, "*tokens"]
    ) -> Float[np.ndarray, "*tokens"]:
        """What multiplies the gradient of a token's log-probability, to be ascended."""
        low, high = self.bounds
        if self.loss == "score":
            return A * np.ones_like(log_ratio)
        ratio = np.exp(log_ratio)
        if self.loss == "cispo":
            return A * np.clip(ratio, low, high)
        ends = np.where(A > 0, ratio > high, ratio < low)
        if self.dual is not None:
            ends |= (A < 0) & (ratio > self.dual)
        return np.where(ends, 0.0, A * ratio)

    def kl_slope(
        self,
        log_ratio: Float[np.ndarray, "*rows longest"],
        above: Float[np.ndarray, "*rows longest"],
        mask: Shaped[np.ndarray, "rows longest"],
    ) -> Float[np.ndarray, "*rows longest"]:
        """The slope of the KL estimate; `above` is log pi - log pi_reference of a token."""
        if self.kl_estimator == "k1":
            return np.ones_like(above)
        if self.kl_estimator == "k2":
            return above
        slope = 1 - np.exp(-above)
        if self.kl_estimator == "k3":
            return slope
        return np.exp(log_ratio) * (slope + self.of_ratio(np.exp(-above) + above - 1, mask))

    def of_ratio(
        self, values: Float[np.ndarray, "*rows longest"], mask: Shaped[np.ndarray, "rows longest"]
    ) -> Float[np.ndarray, "*rows longest"]:
        """The value of each token, or the mean over its answer: as the ratio is taken."""
        if self.ratio == "token":
            return values
        mean = (values * mask).sum(-1) / mask.sum(-1)
        return np.broadcast_to(mean[..., None], values.shape)

    def shares(
        self, counts: Num[np.ndarray, "*g rows"], lengths: Num[np.ndarray, " rows"]
    ) -> Array:
        """What divides a token of each row, "*g rows", times how often the row is there."""
        counts = np.asarray(counts, dtype=np.float64)
        if self.aggregation == "token-mean":
            total = (counts * lengths).sum(-1, keepdims=True)
        else:
            total = counts.sum(-1, keepdims=True)
        by_row = lengths if self.aggregation == "sequence-mean" else np.ones_like(lengths)
        return np.divide(counts, total * by_row, out=np.zeros_like(counts), where=total > 0)
