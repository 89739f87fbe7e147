"""Who judges the answers of a training: the verifier, or a reward function that may grade them.

An estimator of real rewards (`lab.lift`) trains on the grades as they are. What a run records of
them is the mean reward, and the share of groups whose rewards all agree; a pass rate is recorded
only of the held-out sets, where an answer is right whose reward reaches `right_from`.
"""

from __future__ import annotations

from lab.configurations.language_models import LanguageModelConfig
from lab.errors import LabError
from lab.judge.rewards import Judge, judge
from lab.mathematics.estimators import estimator as find_estimator
from lab.mathematics.memories import has_memory


def takes_real_rewards(config: LanguageModelConfig) -> bool:
    """Whether the estimator takes rewards other than 0 and 1; none with a memory does."""
    spec = config.estimator
    return not has_memory(spec) and find_estimator(spec).real is not None


def judge_of(config: LanguageModelConfig) -> Judge:
    """The judge of a training's answers, in a `with`: it may hold worker processes."""
    right_from = config.right_from if takes_real_rewards(config) else None
    return judge(config.style, config.reward, config.error_limit, right_from)


def check_grading(config: LanguageModelConfig) -> None:
    """LabError: a setting that needs real rewards without them, or one that needs right or wrong.

    Both smoothing and the greedy filter tell right answers from wrong ones.
    """
    graded = takes_real_rewards(config)
    if not (graded and config.reward) and config.right_from != config.defaults()["right_from"]:
        raise LabError(
            f"right_from = {config.right_from}: answers are right or wrong here; leave it out, or"
            " give a reward function and an estimator of real rewards, such as lift(maxrl)"
        )
    if not graded:
        return
    for name in ("smoothing", "greedy_filter"):
        if value := getattr(config, name):
            raise LabError(
                f"{name} = {value}: it needs right and wrong answers, and {config.estimator} takes"
                f" real rewards; set it to {type(value)()}"
            )
