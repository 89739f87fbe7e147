"""What the page asks of the lab: every number that a notebook draws. Floor 3."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lab.errors import LabError, unknown, whole
from lab.estimators import Estimator, estimator
from lab.objectives import Array
from lab.pass_rates import mixing
from lab.show.audit import SLACK, Counts, read_counts
from lab.weights import efficiency, finite_objective, induced_weight, signal_mass

POINTS = 241
AHEAD = 0.3  # seconds that a kernel is kept from other work for sizes that may never be looked at
AXES: dict[
    str, Callable[[Array], Array]
] = {  # pass rates from a share of the axis in [0, 1]; the page has the same
    "linear": lambda share: (share * (POINTS - 1) + 0.5) / POINTS,
    "log": lambda share: 10 ** (-4 + 4 * share) * 0.9999**share,
    "logit": lambda share: 1 / (1 + np.exp(np.log(9999) * (1 - 2 * share))),
}
QUANTITIES: dict[str, Callable[[Estimator, int, Array], Array]] = {
    "weight": induced_weight,
    "objective": lambda chosen, N, p: (
        finite_objective(chosen, N, p) - finite_objective(chosen, N, 0.5)
    ),
    "efficiency": efficiency,
    "mass": signal_mass,
    "contrast": lambda chosen, N, p: p * (1 - p) * induced_weight(chosen, N, p),
}


def pass_rates(axis: str) -> Array:
    """The pass rates that are drawn at: "points"."""
    if axis not in AXES:
        raise unknown("axis", axis, AXES)
    return AXES[axis](np.linspace(0, 1, POINTS))


def curves(
    specs: list[str], N: int, quantity: str, axis: str, own: dict[str, Estimator]
) -> list[Array]:
    """One quantity of each estimator at the points of the axis."""
    if quantity not in QUANTITIES:
        raise unknown("quantity", quantity, QUANTITIES)
    p = pass_rates(axis)
    return [QUANTITIES[quantity](find_estimator(spec, own), whole("N", N), p) for spec in specs]


def estimator_curves(
    spec: str, N: int, axis: str, own: dict[str, Estimator]
) -> tuple[str, list[Array]]:
    """Its label; gap and offset at N, and its limit at the points of the axis where it has one."""
    chosen = find_estimator(spec, own)
    limit = [] if chosen.limit is None else [chosen.limit.weight(pass_rates(axis))]
    return chosen.label, [*chosen.coefficients(whole("N", N)), *limit]


def coefficients_by_size(
    spec: str, most: int, own: dict[str, Estimator]
) -> tuple[list[int], list[Array]]:
    """Sizes up to `most`, as many as the kernel makes in `AHEAD` seconds, and at each gap and
    offset, one array.
    """
    chosen, arrays, end = find_estimator(spec, own), {}, time.monotonic() + AHEAD
    for N in range(max(2, chosen.least), whole("most", most) + 1):
        if time.monotonic() > end:
            break
        arrays[N] = np.concatenate(chosen.coefficients(N))
    return list(arrays), list(arrays.values())


def find_estimator(spec: str, own: dict[str, Estimator]) -> Estimator:
    """An estimator by its spec: the notebook's own first, then the catalogue."""
    return own[spec] if spec in own else estimator(spec)


def dropped_file(name: str, content: bytes) -> Counts:
    """The counts of a file whose bytes came from the page."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"dropped{Path(name).suffix}"
        path.write_bytes(content)
        try:
            return read_counts(path)
        except LabError as error:
            raise LabError(str(error).replace(str(path), Path(name).name)) from error


def counts_answer(found: Counts) -> tuple[dict[str, Any], list[Array]]:
    """Counts as what the page takes: exact pass rates; or n, correct, and the points and shares of
    p without noise.
    """
    if found.exact is not None:
        return {"notes": found.notes, "exact": True}, [found.exact]
    fit = mixing(found.n, found.correct, slack=SLACK)
    return {"notes": found.notes, "exact": False}, [found.n, found.correct, fit.p, fit.mass]
