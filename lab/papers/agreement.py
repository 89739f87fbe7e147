"""Whether the papers' tables of hyperparameters and of formulas are what the lab has.

A printed hyperparameter is compared with the setting of a preset at scale=paper, a printed formula,
by the weight that it means, with the lab's exact weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lab.mathematics.formula import formula_weight
from lab.mathematics.objectives import objective
from lab.mathematics.weights import induced_weight
from lab.papers.published import printed_hyperparameters
from lab.papers.registry import Item
from lab.runs.experiments import experiment

PASS_RATES = (0.001, 0.01, 0.1, 0.5, 0.9)  # where the weights of formulas are compared


def agreement(item: Item) -> str:
    """How many rows of a table of hyperparameters or formulas are as printed, and which are not."""
    rows = dict(_formulas(item) if item.weights else _hyperparameters(item))
    others = [f"{name}, {words}" for name, words in rows.items() if words]
    said = f"{len(rows) - len(others)} of {len(rows)} rows are as printed"
    return f"{said}; not {'; '.join(others)}" if others else said


def _hyperparameters(item: Item) -> Iterator[tuple[str, str]]:
    """Each printed parameter that is a setting, and how that differs, "" if it does not."""
    chosen = item.hyperparameters
    values = experiment(chosen["preset"]).at("paper")
    for row in printed_hyperparameters(item.paper, item.item).itertuples():
        if row.parameter in chosen["words"]:
            continue
        name, _, divisor = chosen["settings"][row.parameter].partition(" / ")
        value = values[name] // values[divisor] if divisor else values[name]
        printed = f"{row.value} ({row.remark})" if row.remark else row.value
        same = agrees(row.value, value)
        yield row.parameter, "" if same else f"printed {printed}, here {name} = {value}"


def agrees(text: str, value: Any) -> bool:
    """Whether a setting has the printed value.

    Names are compared without case, punctuation and the owner of a model. Of several printed names
    the setting may be any.

    >>> agrees("Qwen3-1.7B-Base, Qwen3-4B-Base", "Qwen/Qwen3-1.7B-Base"), agrees("1e-6", 1e-5)
    (True, False)
    """
    if text in ("True", "False"):
        return bool(value) == (text == "True")
    if isinstance(value, int | float):
        return float(text) == value
    names = value if isinstance(value, list) else [value]
    return {_plain(name) for name in names} <= {_plain(name) for name in text.split(", ")}


def _plain(name: str) -> str:
    return "".join(letter for letter in name.split("/")[-1].lower() if letter.isalnum())


def _formulas(item: Item) -> Iterator[tuple[str, str]]:
    """Each printed method, and which weight is not its own, "" if it is."""
    for method, row in item.weights.items():
        printed = formula_weight(row["formula"]).weight(PASS_RATES)
        if "objective" in row:
            ours, name = objective(row["objective"]).weight(PASS_RATES), row["objective"]
        else:
            ours, name = (
                induced_weight(row["estimator"], row["rollouts"], PASS_RATES),
                row["estimator"],
            )
        same = np.allclose(printed, ours, rtol=1e-9)
        yield method, "" if same else f"whose w(p) = {row['formula']} is not that of {name}"
