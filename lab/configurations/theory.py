"""Experiments without a trainer: theory, and what is read from finished runs."""

from dataclasses import dataclass

from lab.configurations.settings import Config, setting


@dataclass(frozen=True, kw_only=True)
class WeightsConfig(Config):
    """Which problems an objective counts (notebook 00)."""

    orders: list[int] = setting("truncation orders T of MaxRL to plot", least=1, most=4096)
    lowest: float = setting("lowest pass rate to plot", least=1e-6, most=0.1)
    reference: float = setting("pass rate that others are compared with", least=0.01, most=0.99)
    hard: float = setting("pass rate of a hard problem", least=1e-6, most=0.5)
    easy: float = setting("pass rate of an easy problem", least=0.5, most=0.999999)
    rollouts: int = setting("N of the explorer", least=2, most=4096)


@dataclass(frozen=True, kw_only=True)
class FiniteConfig(Config):
    """What N rollouts optimise (notebook 01)."""

    estimators: list[str] = setting(
        "estimators to set side by side, each with a limit (lab.estimator_names())"
    )
    sizes: list[int] = setting("group sizes N to plot", least=2, most=4096)
    group_size: int = setting("N of the efficiencies", least=2, most=4096)
    enumerate_up_to: int = setting(
        "largest N for which all 2^N reward vectors are enumerated", least=2, most=10
    )
    pass_rate: float = setting(
        "pass rate at which the theorems are checked", least=1e-6, most=0.999999
    )
    lowest: float = setting("lowest pass rate of the efficiencies", least=1e-6, most=0.1)


@dataclass(frozen=True, kw_only=True)
class DesignConfig(Config):
    """Training with a weight that was drawn (notebook 02)."""

    points_p: list[float] = setting(
        "pass rates of the points that the weight curve passes through, increasing",
        least=0.0,
        most=1.0,
    )
    points_w: list[float] = setting("weights at those points", least=-1000.0, most=1000.0)
    rollouts: int = setting("N, rollouts per problem", least=3, most=512)
    steps: int = setting("steps of tabular training", least=1, most=100_000)
    learning_rate: float = setting("learning rate of tabular training", least=1e-6, most=1000.0)
    seed: int = setting("random seed of the rollouts", least=0, most=2**31 - 1)


@dataclass(frozen=True, kw_only=True)
class FromZeroConfig(Config):
    """The score function, baselines, groups and a training loop, from zero (notebook 05)."""

    probabilities: list[float] = setting(
        "the policy by hand: probabilities of three answers, in proportion, the first one right",
        least=1e-6,
        most=1.0,
    )
    group_size: int = setting("N of the groups of which every outcome is counted", least=2, most=8)
    rollouts: int = setting("N, rollouts per problem and step in training", least=2, most=4096)
    problems: int = setting("number of problems, each with its own softmax", least=4, most=100_000)
    answers: int = setting("answers per problem, one of them right", least=2, most=10_000)
    learning_rate: float = setting("learning rate of gradient ascent", least=1e-6, most=1000.0)
    steps: int = setting("gradient steps", least=1, most=100_000)
    seed: int = setting("random seed of the rollouts", least=0, most=2**31 - 1)


@dataclass(frozen=True, kw_only=True)
class LemmasConfig(Config):
    """The eight lemmas, derived and counted (notebook 06)."""

    probabilities: list[float] = setting(
        "the policy: a probability for each answer, in proportion", least=1e-6, most=1.0
    )
    right_answers: int = setting("number of answers that are right, the first ones", least=1)
    group_size: int = setting("N of the groups of which every outcome is counted", least=2, most=8)
    order: int = setting("order T of the truncated estimator, at most N", least=1, most=8)
    sizes: list[int] = setting("values of N whose reach is drawn", least=2, most=64)
    estimators: list[str] = setting("estimators to set side by side (lab.estimator_names())")
    seed: int = setting("random seed of the advantages", least=0, most=2**31 - 1)


@dataclass(frozen=True, kw_only=True)
class DynamicSamplingConfig(Config):
    """Groups that are thrown away: what they weigh, counted and trained (notebook 07)."""

    estimators: list[str] = setting("estimators to set side by side (lab.estimator_names())")
    group_size: int = setting("N of the groups of which every outcome is counted", least=2, most=6)
    low: float = setting("least share of right rollouts that a gate keeps", least=0.0, most=1.0)
    high: float = setting("largest share of right rollouts that a gate keeps", least=0.0, most=1.0)
    trained: str = setting("the estimator that is trained", content="estimator")
    rollouts: int = setting("N, rollouts per group in training", least=2, most=256)
    problems: int = setting("number of problems, and of groups that fill a batch", least=4)
    learning_rate: float = setting("learning rate of gradient ascent", least=1e-6, most=1000.0)
    steps: int = setting("gradient steps", least=1, most=100_000)
    seeds: int = setting("number of seeds, 0, 1, ..", least=2, most=1000)


@dataclass(frozen=True, kw_only=True)
class StoppingRulesConfig(Config):
    """Drawing until something happens: weight, cost, efficiency, training (notebook 08)."""

    cap: int = setting("cap of the rules of which every outcome is counted", least=2, most=12)
    round_size: int = setting("rollouts between two looks, a divisor of the cap", least=1, most=12)
    pass_rate: float = setting("pass rate at which rules are tabulated", least=1e-6, most=0.999999)
    baseline: float = setting("the constant b of the advantages r - b", least=-10.0, most=10.0)
    rollouts: int = setting("N of MaxRL beside the rules", least=3, most=256)
    problems: int = setting("number of problems, each with its own softmax", least=4)
    learning_rate: float = setting("learning rate of gradient ascent", least=1e-6, most=1000.0)
    steps: int = setting("gradient steps", least=1, most=100_000)
    seeds: int = setting("number of seeds, 0, 1, ..", least=2, most=1000)


@dataclass(frozen=True, kw_only=True)
class RealRewardsConfig(Config):
    """Rewards that are real numbers: lifts, counted and trained (notebook 09)."""

    rewards: list[float] = setting("rewards of the answers, increasing", least=-100.0, most=100.0)
    probabilities: list[float] = setting(
        "the policy: a probability for each answer, in proportion", least=1e-6, most=1.0
    )
    estimators: list[str] = setting("estimators to lift, side by side (lab.estimator_names())")
    best_of: int = setting("k of max@k", least=1, most=5)
    group_size: int = setting("N of the groups of which every outcome is counted", least=2, most=5)
    rollouts: int = setting("N, rollouts per problem in training", least=2, most=4096)
    steps: int = setting("gradient steps", least=1, most=100_000)
    seed: int = setting("random seed of the rollouts", least=0, most=2**31 - 1)


@dataclass(frozen=True, kw_only=True)
class VerdictsConfig(Config):
    """What a few seeds allow to say (notebook 91)."""

    level: float = setting("level of the intervals", least=0.5, most=0.999)
    margin: float = setting(
        "largest difference of two pass rates that counts as equal", least=1e-4, most=0.5
    )
    others: int = setting("tests in the family beside those of the six claims", least=0, most=1000)
    seeds: list[int] = setting("numbers of runs of a simulated experiment", least=2, most=100)
    problems: int = setting("problems of a simulated evaluation", least=2, most=10_000)
    runs_differ: float = setting(
        "standard deviation between simulated runs, in units of the pass rate", least=0.0, most=1.0
    )
    experiments: int = setting("simulated experiments", least=1000, most=1_000_000)
    power: float = setting("chance with which an effect should show", least=0.01, most=0.99)
    seed: int = setting("random seed of the simulations", least=0, most=2**31 - 1)


@dataclass(frozen=True, kw_only=True)
class ExactMazesConfig(Config):
    """The pass rate of a maze between certified bounds (notebook 22)."""

    length: int = setting("tokens of an answer, at most", least=6, most=10)
    tolerance: float = setting(
        "what the bounds leave open, as a share of the pass rate", least=1e-6, most=0.5
    )
    width: int = setting("width of the transformer, a multiple of 8", least=8, most=128)
    layers: int = setting("layers of the transformer", least=1, most=8)
    steps: int = setting("steps of exact maximum likelihood", least=4, most=10_000)
    learning_rate: float = setting("length of a step, at most", least=1e-6, most=10.0)
    rollouts: int = setting("rollouts that are sampled for comparison", least=2, most=100_000)
    seed: int = setting("random seed of the weights and the rollouts", least=0, most=2**31 - 1)


@dataclass(frozen=True, kw_only=True)
class JudgeConfig(Config):
    """How often a judge errs, and what that does to an objective (notebook 44)."""

    sample: int = setting("pairs of each part of the corpus to judge, at most", least=100)
    level: float = setting("level of the intervals", least=0.5, most=0.999)
    false_positive: float = setting(
        "share of wrong answers that a judge calls right", least=0.0, most=0.4
    )
    false_negative: float = setting(
        "share of right answers that a judge calls wrong", least=0.0, most=0.5
    )
    estimators: list[str] = setting("estimators to set side by side (lab.estimator_names())")
    rollouts: int = setting("N of the weights", least=2, most=4096)
    group_size: int = setting("N of the groups of which every outcome is counted", least=2, most=5)
    pass_rate: float = setting("pass rate of the hard problem", least=1e-5, most=0.05)
    seed: int = setting("random seed of the sampled pairs", least=0, most=2**31 - 1)


@dataclass(frozen=True, kw_only=True)
class AuditConfig(Config):
    """What rollouts say of their training (notebook 41)."""

    path: str = setting(
        "a run folder, or a table of counts or rollouts: from the lab, from TRL or verl, "
        "or a csv with columns n and k",
        content="rollouts",
    )
    reward: str = setting("name of the reward column; empty: one of the usual names")
    estimators: list[str] = setting(
        "estimators to compare: where their gradient goes (lab.estimator_names())"
    )
    rollouts: int = setting(
        "group size N used in the calculation; 0: the one in the file", least=0, most=65_536
    )
    slack: float = setting(
        "how far below the highest log-likelihood the estimated distribution stays",
        least=0.001,
        most=1000.0,
    )
    problems: int = setting("problems of the invented world", least=10, most=10_000)
    tries: int = setting("rollouts of each problem of the invented world", least=2, most=1024)
    rare: float = setting("pass rate of the rare problems of that world", least=0.0001, most=0.9)
    worlds: int = setting("how many such worlds are invented", least=2, most=1000)
    seed: int = setting("random seed of the worlds and of the resampling", least=0, most=2**31 - 1)


@dataclass(frozen=True, kw_only=True)
class ReportConfig(Config):
    """A page on finished runs (notebook 90)."""

    sources: list[str] = setting("a sweep file, or folders of finished runs, all of one experiment")
    experiment: str = setting(
        "which experiment of a sweep file; empty: the only one that it trains"
    )
    metric: str = setting("metric to plot and tabulate, by its name in the records")
    by: str = setting(
        "parameters that distinguish settings, separated by spaces; empty: all that vary,"
        " except the seed",
    )
    against: str = setting(
        "setting that the others are compared with, problem by problem, named as in the "
        "table; empty: the first",
    )
    seed: int = setting(
        "random seed of the lesson's halves of rollouts; the page has no chance in it",
        least=0,
        most=2**31 - 1,
    )
