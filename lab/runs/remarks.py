"""What whoever reads the results of runs has to know: that a run learned nothing, or that the best
learning rate is at an end of those tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from lab.runs.rates import MORE_IS_BETTER
from lab.runs.run_folder import Run
from lab.runs.sweep_results import Results, results_of_runs

DEAD = "dead groups"
GRADIENT = "grad_norm"


def learned_nothing(records: Sequence[Mapping[str, float]]) -> str:
    """Why the training that gave these records cannot have learned anything; "" if it can.

    Such a run has finished like any other, and its exit code is 0: that is what it measured.

    >>> learned_nothing([{"step": 0, "pass@1": 0.0}, {"step": 9, "pass@1": 0.0, "dead groups": 1}])
    'no group had both right and wrong rollouts at any recorded step: nothing was trained'
    """
    measured = [
        {key: value for key, value in record.items() if key != "step" and not math.isnan(value)}
        for record in records
    ]
    dead = [record[DEAD] for record in measured if DEAD in record]
    if dead and min(dead) == 1:
        return (
            "no group had both right and wrong rollouts at any recorded step: nothing was trained"
        )
    norms = [record[GRADIENT] for record in measured if GRADIENT in record]
    if norms and max(norms) == 0:
        return "the gradient was 0 at every recorded step: nothing was trained"
    if not dead and len(measured) > 1 and all(record == measured[0] for record in measured):
        return "all records are the same to the last digit: nothing was trained"
    return ""


def remarks_on(runs: Sequence[Run]) -> Iterator[str]:
    """The `remarks` on finished runs, each with the name of their experiment."""
    of_experiment: dict[str, list[Run]] = {}
    for run in runs:
        if run.records():  # a notebook that trains nothing has none
            of_experiment.setdefault(run.params["experiment"], []).append(run)
    for name, trained in of_experiment.items():
        for remark in remarks(results_of_runs(trained)):
            yield f"{name}: {remark}"


def remarks(results: Results, metric: str = "") -> list[str]:
    """A sentence for every reason why some runs of `results` taught nothing, and each best rate at
    an end by a metric, usually pass@1; usually none.
    """
    told = {"run", *results.parameters} & set(results.metrics)
    measured = results.metrics.drop(columns=[*told])
    reasons: dict[str, list[str]] = {}
    for run, records in measured.groupby(results.metrics["run"], sort=False):
        if reason := learned_nothing(records.to_dict("records")):
            reasons.setdefault(reason, []).append(str(run))
    sentences = [
        f"{len(runs)} of {len(results.runs)} runs, {runs[0]} first: {reason}"
        for reason, runs in reasons.items()
    ]
    return [*sentences, *_rates_at_an_end(results, metric or results.usual_metric)]


def _rates_at_an_end(results: Results, metric: str) -> Iterator[str]:
    """A sentence for each setting whose best learning rate is the lowest or highest one tried.

    The best one has the highest `metric` at the last step, as a mean over seeds.
    """
    table = results.metrics
    if "learning_rate" not in table or metric not in table or not MORE_IS_BETTER.search(metric):
        return
    last = table[table[metric].notna()].sort_values("step").groupby("run", sort=False).tail(1)
    varied = results.varied(last, "learning_rate")
    settings = [", ".join(map(str, values)) for values in last[varied].astype(object).to_numpy()]
    for setting, part in last.groupby(settings, sort=False):
        means = part.groupby("learning_rate")[metric].mean()
        best, rates = means.idxmax(), means.index
        if len(means) > 1 and best in (rates.min(), rates.max()):
            end, other = ("lowest", "lower") if best == rates.min() else ("highest", "higher")
            yield (
                f"{setting and f'{setting}: '}{metric} is best at learning rate {best:g}, the {end}"
                f" of {len(means)} tried: a {other} one may be better"
            )
