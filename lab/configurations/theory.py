"""Experiments without a trainer: theory, and what is read from finished runs."""

from dataclasses import dataclass

from lab.configurations.settings import Config, setting


@dataclass(frozen=True, kw_only=True)
class WeightsConfig(Config):
    """Which problems an objective counts (notebook 00)."""

    orders: list[int] = setting("truncation orders T of MaxRL to plot", least=1, most=4096)
    lowest: float = setting("lowest pass rate to plot", least=1e-6, most=0.1)


@dataclass(frozen=True, kw_only=True)
class FiniteConfig(Config):
    """What N rollouts optimise (notebook 01)."""

    sizes: list[int] = setting("group sizes N to plot", least=2, most=4096)
    enumerate_up_to: int = setting(
        "largest N for which all 2^N reward vectors are enumerated", least=2, most=10
    )
    pass_rate: float = setting(
        "pass rate at which the theorems are checked", least=1e-6, most=0.999999
    )


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
    seed: int = setting("random seed of the rollouts", least=0, most=2**31 - 1)


@dataclass(frozen=True, kw_only=True)
class AuditConfig(Config):
    """What rollouts say of their training (notebook 41)."""

    path: str = setting(
        "a run folder, or a table of counts or rollouts: from the lab, from TRL or verl, "
        "or a csv with columns n and k",
    )
    reward: str = setting("name of the reward column; empty: one of the usual names")
    estimators: list[str] = setting(
        "estimators to compare: where their gradient goes (lab.estimator_names())"
    )
    rollouts: int = setting(
        "group size N used in the calculation; 0: the one in the file", least=0, most=65_536
    )


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
