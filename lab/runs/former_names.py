"""Parameters that had another name when the recorded runs were made.

The hash of a run is of the former names, so that recorded runs keep their identity; else nothing
writes them. They are accepted wherever a parameter can be given, and what was written under them
is read under the present ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from lab.errors import LabError

FORMER = {
    "estimator": "objective",
    "estimators": "objectives",
    "max_prompt_tokens": "prompt_limit",
    "max_tokens": "limit",
    "micro_batch": "at_once",
}
PRESENT = {former: present for present, former in FORMER.items()}
# Parameters that are no more, with the value that every recorded run has of them.
GONE: dict[str, Any] = {
    **dict.fromkeys("start_from start_sha256 stopping cache folder_of_data".split(), ""),
    "rewards": "binary",
}
# Those that the hash is of, by a parameter of the same experiment.
HASHED: dict[str, dict[str, Any]] = {
    "sets": {"folder_of_data": ""},
    "folder_of_images": {"cache": ""},
    "aggregation": {"folder_of_data": ""},
}


def without_gone(given: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """`given` without what is no more and changes nothing."""
    return {key: value for key, value in given.items() if key in known or GONE.get(key) != value}


def in_present_names(given: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """`given` under the names in `known`.

    LabError: a parameter is given under both of its names.

    >>> in_present_names({"objective": "maxrl", "seed": 1}, ["estimator", "seed"])
    {'estimator': 'maxrl', 'seed': 1}
    """
    renamed: dict[str, Any] = {}
    for key, value in without_gone(given, known).items():
        present = PRESENT.get(key, key)
        name = present if present in known and key not in known else key
        if name in renamed:
            raise LabError(f"{name} is given twice, also as {FORMER[name]}: keep one")
        renamed[name] = value
    return renamed


def present_names(names: Iterable[str]) -> dict[str, str]:
    """The present names of the parameters or columns in `names` that have another one today.

    All that was written under former names has an objective; elsewhere `limit` is of somebody else.

    >>> present_names(["objective", "limit", "seed"]), present_names(["limit"])
    ({'objective': 'estimator', 'limit': 'max_tokens'}, {})
    """
    known = {name: PRESENT[name] for name in names if name in PRESENT}
    return known if {"objective", "objectives"} & known.keys() else {}


def params_of_today(params: dict[str, Any]) -> dict[str, Any]:
    """The content of a params.json, with the parameters by their present names."""
    parameters = params.get("parameters", {})
    names = present_names(parameters)
    return params | {
        "parameters": {names.get(key, key): value for key, value in parameters.items()}
    }


def in_former_names(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """`parameters` as the hash of a run is of them.

    >>> in_former_names({"estimator": "maxrl", "seed": 1})
    {'objective': 'maxrl', 'seed': 1}
    """
    hashed = {FORMER.get(key, key): value for key, value in parameters.items()}
    for key in HASHED.keys() & parameters.keys():
        hashed |= HASHED[key]
    return hashed
